"""Writing URDF: the text a robot came from, changed where the robot has changed and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trundle.documents.urdf.edits import Edits
from trundle.documents.urdf.elements import AS_GIVEN, EXTENSION, LIMITED
from trundle.documents.urdf.measures import Follow, Mass, Measure, Measures, measures, takes_on_trust
from trundle.documents.urdf.part import Part
from trundle.documents.urdf.texts import (
    extension_text,
    follow_of,
    gravity_text,
    inertial_text,
    joint_text,
    limits_of,
    link_text,
    moments,
    number_text,
    robot_text,
    three,
)
from trundle.documents.urdf.urdf_reader import Reading, read
from trundle.documents.urdf.xmltext import Element, tag_text
from trundle.errors import InputError
from trundle.robot.description import Robot
from trundle.robot.structure import body_names


def dump_urdf(robot: Robot) -> str:
    """URDF text of a robot.

    A robot that was read from URDF is written as it stood, byte for byte; where its numbers have changed since, only
    their elements are new, and visuals, meshes, limits, mimics, comments and other tools' tags stay. Any other robot
    is written anew: joints without stops are `continuous`, formulas become numbers. What URDF has no words for (base,
    gravity, springs, armatures) goes into elements <trundle .../>, which other readers skip. Numbers are written so
    that they read back exactly. Gears that follow one joint become <mimic>. Raises InputError on all other couplings,
    on wheels, motors and loops.
    """
    wanted = measures(robot)
    if robot.urdf is None:
        written = _anew(robot, wanted)
        _verify(written, wanted, strict=True)
        return written
    trusts = takes_on_trust(robot)
    reading = read(robot.urdf, strict=not trusts)
    there = measures(reading.robot)
    if there == wanted:
        return robot.urdf
    edits = Edits(robot.urdf)
    _robot(edits, reading, there, wanted)
    _joints(edits, reading, robot, there, wanted)
    written = edits.apply()
    _verify(written, wanted, strict=not trusts)
    return written


def _anew(robot: Robot, wanted: Measures) -> str:
    """A robot that came from elsewhere."""
    own_names = {place: name for name, place in body_names(robot).items()}  # a body's own name comes last
    if robot.base == "fixed" and robot.body is None:
        own_names["base"] = "world"
    weighs = own_names["base"] != "world" and not wanted.mass.is_weightless
    said = {} if wanted.base == ("floating" if weighs else "fixed") else {"base": wanted.base}
    if wanted.gravity is not None:
        said["gravity"] = gravity_text(wanted.gravity)
    if takes_on_trust(robot):
        said["inertia"] = AS_GIVEN
    inside = [tag_text(EXTENSION, said)] if said else []
    inside.append(link_text(own_names["base"], wanted.mass))
    for name, joint in wanted.joints.items():
        inside.append(link_text(own_names[name], joint.mass))
        leader = joint.follows and joint.follows.leader  # joints are called as they are here
        inside.append(joint_text(name, joint, own_names[joint.parent], own_names[name], leader))
    return robot_text(wanted.name, inside)


def _verify(text: str, wanted: Measures, *, strict: bool) -> None:
    """What was written must read back as the same robot; anything else is refused rather than handed out."""
    back = measures(read(text, strict=strict).robot)
    if back == wanted:
        return
    names = [
        name for name in {**wanted.joints, **back.joints} if wanted.joints.get(name) != back.joints.get(name)
    ]
    differs = f"the joints {', '.join(names)}" if names else "its name, base, gravity or body"
    raise InputError(
        f"URDF can't hold this change of {differs}",
        hint="write YAML (trundle.robot.dump), or robot.model_copy(update={'urdf': None}) to start afresh",
    )


def _robot(edits: Edits, reading: Reading, there: Measures, wanted: Measures) -> None:
    """Name, base, gravity and the root link's mass."""
    root = reading.urdf.part.element
    if wanted.name != there.name:
        edits.attributes(root, {"name": wanted.name})
    said: dict[str, str] = {}
    floats = reading.names.root != "world" and not wanted.mass.is_weightless
    if reading.urdf.base is not None or wanted.base != ("floating" if floats else "fixed"):
        said["base"] = wanted.base
    if wanted.gravity is not None and (wanted.gravity != there.gravity or reading.urdf.gravity is not None):
        said["gravity"] = gravity_text(wanted.gravity)
    if reading.urdf.as_given:
        said["inertia"] = AS_GIVEN
    if said:
        edits.children(root, {EXTENSION: tag_text(EXTENSION, said)})
    elif wanted.gravity is None and reading.urdf.gravity is not None:
        edits.children(root, {EXTENSION: None})
    if wanted.mass != there.mass:
        _mass(edits, reading.urdf.links[reading.names.root].part, there.mass, wanted.mass)


def _joints(edits: Edits, reading: Reading, robot: Robot, there: Measures, wanted: Measures) -> None:
    urdf, names = reading.urdf, reading.names
    joints = {identifier: urdf.joints[name] for name, identifier in names.joints.items()}
    kept = [
        name
        for name in joints
        if name in wanted.joints
        and (wanted.joints[name].type, wanted.joints[name].parent)
        == (there.joints[name].type, there.joints[name].parent)
    ]
    links = {"base": names.root} | {
        name: joint.child for name, joint in joints.items() if name in wanted.joints
    }
    for name in _only(joints, kept):
        edits.remove(joints[name].part.element)
        if name not in wanted.joints:
            edits.remove(urdf.links[joints[name].child].part.element)
    urdf_names = {identifier: name for name, identifier in names.joints.items()}
    for name in kept:
        _joint(edits, joints[name].part, there.joints[name], wanted.joints[name], urdf_names)
    for name in links:
        if name in there.joints and there.joints[name].mass != wanted.joints[name].mass:
            part = urdf.links[joints[name].child].part
            _mass(edits, part, there.joints[name].mass, wanted.joints[name].mass)
    fresh: list[str] = []
    own_names = {place: name for name, place in body_names(robot).items()}  # a body's own name comes last
    for name in _only(wanted.joints, links):
        links[name] = own_names[name]
        fresh.append(link_text(links[name], wanted.joints[name].mass))
    for name in _only(wanted.joints, kept):
        joint = wanted.joints[name]
        leader = None if joint.follows is None else urdf_names.get(joint.follows.leader, joint.follows.leader)
        fresh.append(joint_text(urdf_names.get(name, name), joint, links[joint.parent], links[name], leader))
    edits.append(urdf.part.element, fresh)


def _only(names: Iterable[str], without: Iterable[str]) -> list[str]:
    others = set(without)
    return [name for name in names if name not in others]


def _joint(edits: Edits, part: Part, there: Measure, wanted: Measure, urdf_names: Mapping[str, str]) -> None:
    """Change one joint's elements where its numbers differ."""
    element = part.element
    texts: dict[str, str | None] = {}
    if (wanted.at, wanted.rpy) != (there.at, there.rpy):
        changed = {}
        if wanted.at != there.at:
            changed["xyz"] = three(wanted.at)
        if wanted.rpy != there.rpy:
            changed["rpy"] = three(wanted.rpy)
        texts["origin"] = _renewed(element, "origin", changed)
    if wanted.axis != there.axis:
        texts["axis"] = _renewed(element, "axis", {"xyz": three(wanted.axis)})
    if (wanted.damping, wanted.friction) != (there.damping, there.friction):
        numbers = {"damping": number_text(wanted.damping), "friction": number_text(wanted.friction)}
        texts["dynamics"] = _renewed(element, "dynamics", numbers)
    if wanted.follows != there.follows:
        texts["mimic"] = _mimic(element, there.follows, wanted.follows, urdf_names)
    is_limited = element.attributes["type"] in LIMITED
    if is_limited and wanted.limits != there.limits:
        texts["limit"] = _renewed(element, "limit", limits_of(wanted.limits))
    elsewhere = ({}, {}) if is_limited else (wanted.limits, there.limits)
    if {**wanted.extension, **elsewhere[0]} != {**there.extension, **elsewhere[1]}:
        texts[EXTENSION] = extension_text({**wanted.extension, **elsewhere[0]}) or None
    edits.children(element, texts)


def _mimic(
    element: Element, there: Follow | None, wanted: Follow | None, urdf_names: Mapping[str, str]
) -> str | None:
    """The <mimic> of a joint, what didn't change in it as it stood."""
    if wanted is None:
        return None
    said = follow_of(wanted, urdf_names.get(wanted.leader, wanted.leader))
    if there is not None:
        before = follow_of(there, urdf_names.get(there.leader, there.leader))
        said = {name: text for name, text in said.items() if text != before[name]}
    return _renewed(element, "mimic", said)


def _renewed(element: Element, tag: str, changed: Mapping[str, str]) -> str:
    """A child's text with some attributes changed."""
    old = element.all(tag)
    return tag_text(tag, {**(old[0].attributes if old else {}), **changed})


def _mass(edits: Edits, link: Part, there: Mass, wanted: Mass) -> None:
    """Change a link's <inertial>; the inertial frame's own rotation stays as long as the inertia does."""
    inertial = link.child("inertial")
    if inertial is None or wanted.is_empty:
        edits.children(link.element, {"inertial": inertial_text(wanted) or None})
        return
    texts: dict[str, str | None] = {}
    changed: dict[str, str] = {}
    if wanted.mass != there.mass:
        texts["mass"] = _renewed(inertial.element, "mass", {"value": number_text(wanted.mass)})
    if wanted.center != there.center:
        changed["xyz"] = three(wanted.center)
    if wanted.inertia != there.inertia:
        if inertial.element.all("origin"):
            changed["rpy"] = "0 0 0"
        texts["inertia"] = _renewed(inertial.element, "inertia", moments(wanted))
    if changed:
        texts["origin"] = _renewed(inertial.element, "origin", changed)
    edits.children(inertial.element, texts)
