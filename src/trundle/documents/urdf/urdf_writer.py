"""Writing URDF: the elements a robot came from with what has changed, or new ones; everything else is kept.

What a file says of a robot is put as the texts of its attributes, once for the robot that the file holds and once for
the robot to be written. Only attributes whose texts differ are touched, so that all else stays in the file's own words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from trundle.documents.urdf.added import Said, UrdfComponents, given_by, said_of_additions
from trundle.documents.urdf.additions import AS_GIVEN, EXTENSION, TAGS, in_attribute
from trundle.documents.urdf.elements import GROUND, NOUNS, default_base
from trundle.documents.urdf.urdf_reader import UrdfReading, read
from trundle.documents.urdf.xml_tree import XmlElement, write_xml
from trundle.errors import InputError
from trundle.expected import check_type
from trundle.robot.bodies import MOMENTS, Body, Inertia, Joint
from trundle.robot.couplings import gears
from trundle.robot.description import Robot
from trundle.robot.parameters import Resolver
from trundle.robot.structure import base_bodies, body_names
from trundle.robot.values import Value

# Fields of a joint with a place of their own in URDF; all others go into Trundle's own element.
_OWN = frozenset({"type", "parent", "at", "rpy", "axis", "body", "damping", "coulomb", "lower", "upper"})
# Elements that may stand without the attributes that Trundle reads, for the sake of others.
_OPTIONAL = ("origin", "dynamics", "limit")
# Whole numbers below it are written without a point.
_MOST_WHOLE = 1e6
# How URDF files say that a joint has no limit.
_UNLIMITED = 1e16


@dataclass(frozen=True)
class _Names:
    """The file's names: of joints by Trundle's, and of the links that are their bodies (or the base's)."""

    joints: Mapping[str, str]
    links: Mapping[str, str]
    given: UrdfComponents = field(default_factory=UrdfComponents)


@dataclass(frozen=True)
class _UrdfFile:
    """What a file says of a robot: of itself, of its links and joints by their names in the file, and what Trundle adds
    by its element and its name there; `components` are all that the robot has besides, by family and name.
    """

    robot: Said = field(default_factory=dict)
    links: Mapping[str, Said] = field(default_factory=dict)
    joints: Mapping[str, Said] = field(default_factory=dict)
    added: Mapping[str, Mapping[str, Said]] = field(default_factory=dict)
    components: frozenset[tuple[str, str]] = frozenset()


def dump_urdf(robot: Robot) -> str:
    """URDF text of a robot.

    For a robot that was read from URDF these are the file's own elements, with new numbers where they have changed
    since; other tools' tags, visuals and comments stay. Any other robot is written anew: joints without stops are
    `continuous`, joints' and bodies' formulas become numbers. What URDF has no words for (wheels, motors, batteries,
    loops, couplings, springs) goes into elements <trundle ...>, which other readers skip. Gears between two joints
    become <mimic>. Numbers read back exactly.

    Parameters
    ----------
    robot : Robot
        SI and radians, as in URDF.

    Returns
    -------
    str

    Raises
    ------
    InputError
        For joints that URDF has no words for, and changes that it can't hold.

    Examples
    --------
    >>> import trundle
    >>> from trundle.documents import dump_urdf
    >>> text = dump_urdf(trundle.catalog.pendulum(links=1, mass=0.9))
    >>> [line.strip() for line in text.splitlines() if "<mass" in line]
    ['<mass value="0.9" />']
    """
    root, before, there, wanted = _start(check_type(robot, Robot, "robot", "trundle.load(path) reads one"))
    _update(root, there.robot, wanted.robot)
    _update_all(root, "link", there.links, wanted.links)
    _update_all(root, "joint", there.joints, wanted.joints)
    for tag in TAGS:
        old, new = there.added.get(tag, {}), wanted.added.get(tag, {})
        if old or new:
            _update_all(_at(root, EXTENSION), tag, old, new)
    written = write_xml(root, before)
    _verify(_read_back(read(written, again=True)), wanted)
    return written


def _start(robot: Robot) -> tuple[XmlElement, str, _UrdfFile, _UrdfFile]:
    """The file that a robot came from, or a new one: root, what stands before it, what it says, what it shall say."""
    if robot.urdf is not None:
        reading = read(robot.urdf, again=True)
        return reading.root, reading.before, _read_back(reading), _said(robot, _names(robot, reading))
    root = XmlElement("robot")
    if any(isinstance(component, Inertia) and component.as_given for _, component in robot.every_component):
        _at(root, EXTENSION).set("inertia", AS_GIVEN)
    return root, '<?xml version="1.0"?>\n', _UrdfFile(), _said(robot, _names(robot))


def _read_back(reading: UrdfReading) -> _UrdfFile:
    return _said(reading.robot, _names(reading.robot, reading))


def _names(robot: Robot, reading: UrdfReading | None = None) -> _Names:
    """The names in the file that the robot was read from, and for what is new its own."""
    joints = {name: name for name in robot.joints}
    links = {place: name for name, place in body_names(robot).items()}  # a body's own name comes last
    if reading is None:
        return _Names(
            joints, links | ({"base": GROUND} if robot.base == "fixed" and robot.body is None else {})
        )
    for name, ours in reading.names.joints.items():
        joints[ours] = name
        links[ours] = reading.urdf.joints[name].child
    return _Names(joints, links | {"base": reading.names.root}, given_by(reading))


def _verify(back: _UrdfFile, wanted: _UrdfFile) -> None:
    """What was written must read back as the same robot; anything else is refused rather than handed out."""
    if back == wanted:
        return
    joints = {*wanted.joints, *back.joints}
    differ = sorted(name for name in joints if back.joints.get(name) != wanted.joints.get(name))
    components = sorted(f"{family}.{name}" for family, name in back.components ^ wanted.components)
    what = f"the joints {', '.join(differ)}" if differ else "its name, base, gravity or bodies"
    what = ", ".join(components) or what
    hint = "write YAML (trundle.documents.dump), or robot.model_copy(update={'urdf': None}) to start afresh"
    raise InputError(f"URDF can't hold this change of {what}", hint=hint)


def _update_all(root: XmlElement, tag: str, old: Mapping[str, Said], new: Mapping[str, Said]) -> None:
    """Change the links or joints of a file; those that are gone leave it, those that are new stand at its end."""
    elements = {part.get("name"): part for part in root if part.tag == tag and isinstance(part, XmlElement)}
    for name in old.keys() & elements.keys() - new.keys():
        root.remove(elements[name])
    for name, said in new.items():
        if (
            name in old and name not in elements
        ):  # the mass of a wheel beside its middle, which other links say
            continue
        _update(elements[name] if name in elements else _added(root, tag), old.get(name, {}), said)


def _update(element: XmlElement, old: Said, new: Said) -> None:
    """Change what an element says; attributes that say the same as before stay as they were written."""
    changed = {key for key in old.keys() | new.keys() if old.get(key) != new.get(key)}
    for path, name in changed - new.keys():
        _at(element, path).attrib.pop(name, None)
    moments = {key for key in new if key[0] == "inertial/inertia"}
    if moments & changed & old.keys():  # from now on in the link's axes, all six of them
        changed |= moments
        for origin in element.iterfind("inertial/origin"):
            origin.attrib.pop("rpy", None)
    for path in sorted(_paths(old) - _paths(new), reverse=True):  # what is inside goes first
        above, _, tag = path.rpartition("/")
        outer, inner = _at(element, above), _at(element, path)
        if tag == EXTENSION and len(inner):  # what Trundle adds stands there
            continue
        if tag not in _OPTIONAL or not inner.attrib:
            outer.remove(inner)
    for path, name in [key for key in new if key in changed]:
        _at(element, path).set(name, new[path, name])
    if ("limit", "lower") in changed & new.keys():  # URDF wants all four
        for name in ("effort", "velocity"):
            _at(element, "limit").attrib.setdefault(name, _text(_UNLIMITED))


def _paths(said: Said) -> set[str]:
    """The elements that something is said of, and those around them."""
    paths = {path for path, _ in said}
    return paths | {path.rpartition("/")[0] for path in paths}


def _at(element: XmlElement, path: str) -> XmlElement:
    """The element at a path below, made where it isn't there."""
    for tag in path.split("/") if path else ():
        inner = element.find(tag)
        element = inner if isinstance(inner, XmlElement) else _added(element, tag)
    return element


def _added(element: XmlElement, tag: str) -> XmlElement:
    made = XmlElement(tag)
    element.append(made)
    return made


def _said(robot: Robot, names: _Names) -> _UrdfFile:
    """What a file says of a robot; raises InputError where URDF has no words for it."""
    resolve, on, mimics = robot.resolver(), body_names(robot), _mimics(robot, names)
    links = {names.links["base"]: _of_link(names.links["base"], robot.body, resolve)}
    joints: dict[str, Said] = {}
    for name, joint in robot.joints.items():
        if joint.type not in NOUNS:
            raise InputError(f"URDF has no {joint.type} joints", key=f"robot.joints.{name}.type")
        parent, child = names.links[on[joint.parent]], names.links[name]
        links[child] = _of_link(child, joint.body, resolve)
        said: Said = {("", "name"): names.joints[name], ("parent", "link"): parent, ("child", "link"): child}
        joints[names.joints[name]] = said | _of_joint(joint, resolve) | mimics.get(name, {})
    added, components = said_of_additions(robot, names.given, frozenset(mimics))
    return _UrdfFile(_of_robot(robot, names.links["base"], resolve), links, joints, added, components)


def _of_robot(robot: Robot, root: str, resolve: Resolver) -> Said:
    """What <trundle> says of the robot as a whole, where it differs from what a reader would take without it."""
    said: Said = {("", "name"): robot.name}
    if robot.base != default_base(
        root, any(_weighs(body, resolve) for body in base_bodies(robot)), bool(robot.wheels)
    ):
        said[EXTENSION, "base"] = robot.base
    if "gravity" in robot.model_fields_set:
        x, y, z = (float(part) + 0.0 for part in resolve.gravity())  # -0 is 0
        said[EXTENSION, "gravity"] = _text(-z + 0.0) if x == y == 0.0 else _text(x, y, z)
    if robot.speeds is not None:
        said[EXTENSION, "speeds"] = in_attribute(robot.speeds)
    return said


def _moments(body: Body, resolve: Resolver) -> dict[str, float]:
    return {axes: float(resolve(getattr(body.inertia, axes))) for axes in MOMENTS}


def _weighs(body: Body, resolve: Resolver) -> bool:
    """Whether a body resists any motion."""
    return resolve(body.mass) != 0.0 or any(_moments(body, resolve).values())


def _of_link(name: str, body: Body | None, resolve: Resolver) -> Said:
    """What a link's attributes say of a body; a body without mass and inertia says its name only."""
    said: Said = {("", "name"): name}
    if body is None:
        return said
    said |= _vector("inertial/origin", "xyz", body.center_of_mass, resolve)
    if len(said) > 1 or _weighs(body, resolve):
        said["inertial/mass", "value"] = _text(resolve(body.mass))
        moments = _moments(body, resolve).items()
        said |= {("inertial/inertia", f"i{axes}"): _text(moment) for axes, moment in moments}
    return said


def _of_joint(joint: Joint, resolve: Resolver) -> Said:
    """What a joint's attributes say; what URDF has no attribute for goes into Trundle's own element."""
    said: Said = {("", "type"): joint.type}
    said |= _vector("origin", "xyz", joint.at, resolve) | _vector("origin", "rpy", joint.rpy, resolve)
    values = {name: getattr(joint, name) for name in type(joint).model_fields}
    if "axis" in values:
        said |= _vector("axis", "xyz", values["axis"], resolve)
    for field_, name in (("damping", "damping"), ("coulomb", "friction")):
        if field_ in values and resolve(values[field_]):
            said["dynamics", name] = _text(resolve(values[field_]))
    if "lower" in values:
        stops = {
            name: None if values[name] is None else float(resolve(values[name]))
            for name in ("lower", "upper")
        }
        if joint.type == "revolute" and stops["lower"] is stops["upper"] is None:
            said["", "type"] = "continuous"
        else:
            said["limit", "lower"] = _text(-_UNLIMITED if stops["lower"] is None else stops["lower"])
            said["limit", "upper"] = _text(_UNLIMITED if stops["upper"] is None else stops["upper"])
    written = {name: values[name] for name in values if name in joint.model_fields_set - _OWN}
    numbers = {name: value for name, value in written.items() if isinstance(value, Value)}
    return said | {(EXTENSION, name): _text(resolve(value)) for name, value in numbers.items()}


def _mimics(robot: Robot, names: _Names) -> dict[str, Said]:
    """What follows what, by the follower: of gears between two joints; the others are couplings of Trundle's own."""
    said: dict[str, Said] = {}
    resolve = robot.resolver()
    for gear in gears(robot.couplings).values():
        ((leader, ratio), *more) = gear.follows.items()
        if more or not {gear.joint, leader} <= robot.joints.keys():
            continue
        said[gear.joint] = {
            ("mimic", "joint"): names.joints.get(leader, leader),
            ("mimic", "multiplier"): _text(resolve(ratio)),
            ("mimic", "offset"): _text(resolve(gear.offset)),
        }
    return said


def _vector(path: str, name: str, values: Sequence[Value], resolve: Resolver) -> Said:
    numbers = [float(resolve(value)) for value in values]
    return {(path, name): _text(*numbers)} if any(numbers) else {}


def _text(*numbers: float) -> str:
    """Numbers that read back exactly; whole ones without a point (and -0 as 0)."""
    return " ".join(
        str(int(number)) if abs(number) < _MOST_WHOLE and number == int(number) else repr(float(number))
        for number in numbers
    )
