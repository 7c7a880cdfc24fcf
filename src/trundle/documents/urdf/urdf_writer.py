"""Writing URDF: the elements a robot came from with what has changed, or new ones; everything else is kept."""

from __future__ import annotations

from collections.abc import Mapping

from trundle.documents.urdf.from_robot import from_robot
from trundle.documents.urdf.nouns import AS_GIVEN, DEFAULT_AXIS, EXTENSION, NO_FILE, ZERO, Joint, Link, Urdf
from trundle.documents.urdf.part import Numbers
from trundle.documents.urdf.urdf_reader import read
from trundle.documents.urdf.xml_tree import Element, write_xml
from trundle.errors import InputError
from trundle.robot.description import Robot

# What an element's attributes shall say, by the path of the element below ("" for itself) and the attribute's name.
Said = dict[tuple[str, str], str]

_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
# Elements that may stand without the attributes that Trundle reads, for the sake of others.
_OPTIONAL = ("origin", "dynamics")
# Whole numbers below it are written without a point.
_MOST_WHOLE = 1e6


def dump_urdf(robot: Robot) -> str:
    """URDF text of a robot.

    For a robot that was read from URDF these are the file's own elements, with new numbers where they have changed
    since: visuals, meshes, efforts, transmissions, comments and other tools' tags stay. Any other robot is written
    anew: joints without stops are `continuous`, formulas become numbers. What URDF has no words for (base, gravity,
    springs, armatures) goes into elements <trundle .../>, which other readers skip. Gears that follow one joint become
    <mimic>. Numbers read back exactly.

    Parameters
    ----------
    robot : Robot
        A robot of bodies and joints. SI and radians, as in URDF.

    Returns
    -------
    str

    Raises
    ------
    InputError
        For wheels, motors and loops, other couplings and other joints, which URDF has no words for.

    Examples
    --------
    >>> from trundle.documents import dump_urdf, load_urdf
    >>> arm = load_urdf("examples/urdf/arm.urdf").with_parameters({"joints.elbow.body.mass": 0.9})
    >>> [line.strip() for line in dump_urdf(arm).splitlines() if "0.9" in line]
    ['<mass value="0.9" />']
    """
    if robot.urdf is None:
        root, before, old = Element("robot"), '<?xml version="1.0"?>\n', NO_FILE
        new = from_robot(robot)
    else:
        reading = read(robot.urdf, strict=False)
        root, before, old = reading.root, reading.before, reading.urdf
        new = from_robot(robot, old, reading.names)
    _update(root, _of_robot(old), _of_robot(new))
    _update_all(
        root, "link", *({name: _of_link(each) for name, each in urdf.links.items()} for urdf in (old, new))
    )
    _update_all(
        root, "joint", *({name: _of_joint(each) for name, each in urdf.joints.items()} for urdf in (old, new))
    )
    written = write_xml(root, before)
    _verify(written, new)
    return written


def _verify(written: str, new: Urdf) -> None:
    """What was written must read back as the same robot; anything else is refused rather than handed out."""
    back = read(written, strict=False).urdf
    if back == new:
        return
    joints = {*new.joints, *back.joints}
    names = sorted(name for name in joints if back.joints.get(name) != new.joints.get(name))
    differs = f"the joints {', '.join(names)}" if names else "its name, base, gravity or body"
    hint = "write YAML (trundle.documents.dump), or robot.model_copy(update={'urdf': None}) to start afresh"
    raise InputError(f"URDF can't hold this change of {differs}", hint=hint)


def _update_all(root: Element, tag: str, old: Mapping[str, Said], new: Mapping[str, Said]) -> None:
    """Change the links or joints of a file; those that are gone leave it, those that are new stand at its end."""
    elements = {each.get("name"): each for each in root if each.tag == tag and isinstance(each, Element)}
    for name in old.keys() - new.keys():
        root.remove(elements[name])
    for name, said in new.items():
        _update(elements[name] if name in elements else _added(root, tag), old.get(name, {}), said)


def _update(element: Element, old: Said, new: Said) -> None:
    """Change what an element says; attributes that say the same as before stay as they were written."""
    for path, name in old.keys() - new.keys():
        _at(element, path).attrib.pop(name, None)
    for path in sorted(_paths(old) - _paths(new), reverse=True):  # what is inside goes first
        above, _, tag = path.rpartition("/")
        outer, inner = _at(element, above), _at(element, path)
        if tag not in _OPTIONAL or not inner.attrib:
            outer.remove(inner)
    for (path, name), text in new.items():
        if old.get((path, name)) != text:
            _at(element, path).set(name, text)


def _paths(said: Said) -> set[str]:
    """The elements that something is said of, and those around them."""
    paths = {path for path, _ in said}
    return paths | {path.rpartition("/")[0] for path in paths}


def _at(element: Element, path: str) -> Element:
    """The element at a path below, made where it isn't there."""
    for tag in path.split("/") if path else ():
        found = element.find(tag)
        element = found if isinstance(found, Element) else _added(element, tag)
    return element


def _added(element: Element, tag: str) -> Element:
    made = Element(tag)
    element.append(made)
    return made


def _of_robot(urdf: Urdf) -> Said:
    said: Said = {("", "name"): urdf.name}
    if urdf.base is not None:
        said[EXTENSION, "base"] = urdf.base
    if urdf.gravity is not None:
        said[EXTENSION, "gravity"] = _text(urdf.gravity)
    if urdf.as_given:
        said[EXTENSION, "inertia"] = AS_GIVEN
    return said


def _of_link(link: Link) -> Said:
    said: Said = {("", "name"): link.name}
    if link.inertial is None:
        return said
    said |= _poses("inertial/origin", link.inertial.xyz, link.inertial.rpy)
    said["inertial/mass", "value"] = _text(link.inertial.mass)
    moments = zip(_MOMENTS, link.inertial.moments, strict=True)
    return said | {("inertial/inertia", name): _text(moment) for name, moment in moments}


def _of_joint(joint: Joint) -> Said:
    said: Said = {("", "name"): joint.name, ("", "type"): joint.type}
    said |= {("parent", "link"): joint.parent, ("child", "link"): joint.child}
    said |= _poses("origin", joint.xyz, joint.rpy)
    if joint.axis != DEFAULT_AXIS:
        said["axis", "xyz"] = _text(joint.axis)
    if joint.limit is not None:
        limit = joint.limit
        numbers = {"lower": limit.lower, "upper": limit.upper}
        numbers |= {"effort": limit.effort, "velocity": limit.velocity}
        said |= {("limit", name): _text(number) for name, number in numbers.items()}
    for name, number in (("damping", joint.damping), ("friction", joint.friction)):
        if number:
            said["dynamics", name] = _text(number)
    if joint.mimic is not None:
        said["mimic", "joint"] = joint.mimic.joint
        said["mimic", "multiplier"] = _text(joint.mimic.multiplier)
        said["mimic", "offset"] = _text(joint.mimic.offset)
    return said | {(EXTENSION, name): _text(number) for name, number in joint.extension.items()}


def _poses(path: str, xyz: Numbers, rpy: Numbers) -> Said:
    return {(path, name): _text(each) for name, each in (("xyz", xyz), ("rpy", rpy)) if each != ZERO}


def _text(number: float | Numbers) -> str:
    """Numbers that read back exactly; whole ones without a point."""
    if isinstance(number, tuple):
        return " ".join(_text(each) for each in number)
    return str(int(number)) if abs(number) < _MOST_WHOLE and number == int(number) else repr(number)
