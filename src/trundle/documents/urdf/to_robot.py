"""From the links and joints of a URDF file, one tree, to the plain data of a Robot: names that Trundle can take, and
where every piece stands in the file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from trundle.documents.urdf.actuators import DEFAULT, UrdfActuator, actuators
from trundle.documents.urdf.additions import EXTENSION
from trundle.documents.urdf.elements import NOUNS, ONE_AXIS, Urdf, UrdfData, UrdfJoint, read_elements
from trundle.documents.urdf.wheel_joints import WheelJoints, wheel_joints
from trundle.documents.urdf.xml_tree import XmlPart, read_xml
from trundle.errors import suggest
from trundle.robot.bodies import MOMENTS
from trundle.robot.checks import inertia_problem
from trundle.robot.component import RESERVED
from trundle.robot.motors import MOTORS
from trundle.robot.problems import CircleError, Path, in_order

# As many letters as a description's names may have; eight are left for endings that keep names apart.
_LONGEST = 60
# As many as a Robot may have.
_MOST_JOINTS = 1000


@dataclass(frozen=True)
class UrdfNames:
    """URDF's names and Trundle's: `joints` and `links` map the former to the latter, `mimics` the joints that follow
    others to the names of the couplings that make them.

    The root link is "base" where its own name means something else in Trundle. `wheels` have taken joints and links;
    a joint that is a wheel's has the name of what a motor drives there. `motors` are the file's own by their names.
    """

    root: str
    links: Mapping[str, str]
    joints: Mapping[str, str]
    mimics: Mapping[str, str]
    wheels: WheelJoints
    motors: Mapping[str, UrdfActuator]

    def drives(self, actuator: UrdfActuator) -> str:
        """What a motor of the file drives, by Trundle's name."""
        return self.joints[actuator.joint]

    def given_motor(self, name: str, kind: str) -> UrdfData:
        """What the file says of one of its motors, for one of a kind."""
        actuator = self.motors[name]
        return actuator.keys(kind, self.drives(actuator), self.wheels.sense(actuator.joint))


def check_tree(urdf: Urdf) -> str:
    """The root link's name; raises InputError where links are missing, have two parents, or form no single tree."""
    if not urdf.links:
        raise urdf.part.fail("has no links", hint='write <link name="base_link"/>')
    if len(urdf.joints) > _MOST_JOINTS:
        raise urdf.part.fail(f"{len(urdf.joints)} joints; a description may have {_MOST_JOINTS}")
    carried: dict[str, UrdfJoint] = {}
    for joint in urdf.joints.values():
        for role, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in urdf.links:
                hint = suggest(link, urdf.links)
                raise joint.part.near(role).fail(f"there is no link {link!r}", "link", hint)
        if joint.parent == joint.child:
            raise joint.part.fail(f"its parent and its child are the same link, {joint.child!r}")
        if joint.child in carried:
            message = f"the link {joint.child!r} hangs on the joint {carried[joint.child].name!r} already"
            hint = "a link has one parent; URDF describes trees, no loops"
            raise joint.part.near("child").fail(message, "link", hint)
        carried[joint.child] = joint
    for joint in urdf.joints.values():
        _check_mimic(urdf, joint)
    try:
        in_order({name: [joint.mimic.joint] for name, joint in urdf.joints.items() if joint.mimic})
    except CircleError as error:
        message = f"the joints mimic each other in a circle: {error}"
        part = urdf.joints[error.circle[0]].part.near("mimic")
        raise part.fail(message, "joint", "one of them must be free") from None
    return _root(urdf, carried)


def _check_mimic(urdf: Urdf, joint: UrdfJoint) -> None:
    """Raise where a joint follows what isn't there, what has no single axis, or itself."""
    if joint.mimic is None:
        return
    leader, part = joint.mimic.joint, joint.part.near("mimic")
    if leader not in urdf.joints:
        others = set(urdf.joints) - {joint.name}
        raise part.fail(f"there is no joint {leader!r}", "joint", suggest(leader, others))
    if leader == joint.name:
        raise part.fail("a joint can't mimic itself", "joint")
    kind = urdf.joints[leader].type
    if kind not in ONE_AXIS:
        nothing = "holds still" if kind == "fixed" else "has no single axis"
        hint = f"name a joint of type {', '.join(ONE_AXIS)}, or take the mimic away"
        raise part.fail(f"the joint {leader!r} is {kind}: it {nothing}", "joint", hint)


def _root(urdf: Urdf, carried: Mapping[str, UrdfJoint]) -> str:
    """The one link that no joint carries; refuses several of them, and links in a circle."""
    roots = [name for name in urdf.links if name not in carried]
    if len(roots) > 1:
        listed = ", ".join(repr(name) for name in roots[:8]) + (", ..." if len(roots) > 8 else "")
        message = f"there are {len(roots)} roots: no joint carries {listed}"
        hint = "all links but one must be the child of a joint"
        raise urdf.links[roots[1]].part.fail(message, hint=hint)
    try:
        in_order({name: [joint.parent] for name, joint in carried.items()})
    except CircleError as error:
        message = f"the links hang on each other in a circle: {error}"
        hint = "one link must be the root, the child of no joint"
        raise carried[error.circle[0]].part.fail(message, hint=hint) from None
    return roots[0]


def identifiers(urdf: Urdf, root: str) -> UrdfNames:
    """Names that Trundle takes (letters, digits and _; all different), the same for the same file.

    URDF's links and joints may share a name, and names may hold anything ("left/wheel-1"); Trundle's are parts of
    the names of coordinates and parameters. A link that is called as its own joint stays so.
    """
    wheels = wheel_joints(urdf, root)
    taken = {*RESERVED, *(addition.name for addition in urdf.extension.additions), *wheels.weights}
    free = [name for name in urdf.joints if not wheels.took(urdf.joints[name])]
    joints = {**wheels.called, **{name: free_name(clean(name), taken) for name in free}}
    on = {joint.child: joints[name] for name, joint in urdf.joints.items() if name in joints}
    links: dict[str, str] = {}
    for name in urdf.links:
        wished = clean(name)
        if name in wheels.links:
            links[name] = wheels.links[name]
        elif name == root and wished in RESERVED:
            links[name] = "base"
        else:
            links[name] = wished if on.get(name) == wished else free_name(wished, taken, f"{wished}_link")
    mimics = {
        name: free_name(f"{clean(name)}_mimic", taken) for name, joint in urdf.joints.items() if joint.mimic
    }
    described = {addition.name for addition in urdf.extension.additions if addition.family == "motors"}
    motors: dict[str, UrdfActuator] = {}
    for actuator in actuators(urdf).values():
        wished = clean(actuator.name)
        motors[wished if wished in described else free_name(wished, taken, f"{wished}_motor")] = actuator
    return UrdfNames(root, links, joints, mimics, wheels, motors)


def named(text: str) -> tuple[Urdf, UrdfNames]:
    """What a text says, and its names, without the numbers of a robot."""
    urdf = read_elements(read_xml(text)[0])
    return urdf, identifiers(urdf, check_tree(urdf))


def clean(name: str) -> str:
    """The nearest name of letters, digits and _."""
    better = re.sub(r"\W", "_", name.strip(), flags=re.ASCII)[: _LONGEST - 8] or "_"
    return f"_{better}" if better[0].isdigit() else better


def free_name(wished: str, taken: set[str], *others: str) -> str:
    """The first of the wished names that is free, else the first with a number; taken from now on."""
    number = 0
    candidates = [wished, *others]
    while candidates[0] in taken:
        candidates.pop(0)
        if not candidates:
            number += 1
            candidates = [f"{wished}_{number}"]
    taken.add(candidates[0])
    return candidates[0]


_TITLE = re.compile(r"\w[\w .+-]{0,79}")
# The element that says a field of a joint, or of the body of a link.
_JOINT_TAGS = {"at": "origin", "rpy": "origin", "axis": "axis", "damping": "dynamics"}
_BODY_TAGS = {"mass": "mass", "center_of_mass": "origin", "inertia": "inertia"}


def _robot_name(written: str) -> str:
    """A robot's name that titles and files can carry."""
    return written if _TITLE.fullmatch(written) else clean(written).lstrip("_") or "robot"


def robot_data(urdf: Urdf, names: UrdfNames, base: str, strict: bool) -> UrdfData:
    """A Robot's plain data. Unless `strict`, moments that no rigid body has are marked as taken on trust."""
    said, wheels = urdf.extension, names.wheels
    data: dict[str, object] = {"name": _robot_name(urdf.name), "base": base}
    data |= {
        key: given for key, given in (("gravity", said.gravity), ("speeds", said.speeds)) if given is not None
    }
    root_name = names.links[names.root]
    body = _body(urdf.links[names.root].body, strict)
    if body or root_name != "base":
        data["body"] = body if root_name == "base" else {"name": root_name, **body}
    free = [joint for joint in urdf.joints.values() if not wheels.took(joint)]
    data["joints"] = {names.joints[joint.name]: _joint(urdf, joint, names, strict) for joint in free}
    data["joints"] |= {name: _hung(weight, names) for name, weight in wheels.weights.items()}
    given = given_by_file(urdf, names, strict)
    for family, members in said.by_family().items():
        given.setdefault(family, {})
        given[family] |= {name: merged(given[family].get(name), own) for name, own in members.items()}
    given["motors"] = _motors(given, names)
    return data | {family: members for family, members in given.items() if members}


def _motors(given: Mapping[str, Mapping[str, object]], names: UrdfNames) -> dict[str, object]:
    """The motors: Trundle's own, with what the file says of those that it names, too; and of the file's others those
    whose joint nothing else drives or holds.
    """
    motors = dict(given.get("motors", {}))
    for name in names.motors.keys() & motors.keys():
        own = motors[name]
        kind = str(own.get("type", MOTORS.default)) if isinstance(own, Mapping) else MOTORS.default
        motors[name] = merged(names.given_motor(name, kind), own)
    driven = {str(motor.get("drives")) for motor in motors.values() if isinstance(motor, Mapping)}
    for coupling in given.get("couplings", {}).values():
        wheels = coupling.get("wheels") if isinstance(coupling, Mapping) else None
        driven |= {f"{wheel}.steering" for wheel in wheels} if isinstance(wheels, (list, tuple)) else set()
    for name, actuator in names.motors.items():
        if name not in motors and names.drives(actuator) not in driven:
            motors[name] = {"type": DEFAULT, **names.given_motor(name, DEFAULT)}
    return motors


def given_by_file(urdf: Urdf, names: UrdfNames, strict: bool) -> dict[str, dict[str, object]]:
    """What URDF's own elements say of wheels and couplings, by family and name, before Trundle's elements."""
    wheels: dict[str, object] = {}
    for name, data in names.wheels.given.items():
        fork = data.get("fork")
        own = {"fork": _body(fork, strict)} if isinstance(fork, Mapping) else {}
        wheels[name] = {**_hung(data, names), **own}
    follow = [joint for joint in urdf.joints.values() if joint.mimic]
    return {
        "wheels": wheels,
        "couplings": {names.mimics[joint.name]: _gear(joint, names) for joint in follow},
    }


def merged(given: object, own: object) -> object:
    """What a file says of a component, with its own keys in their place; inside limits and inertias, too."""
    if isinstance(given, Mapping) and isinstance(own, Mapping):
        return {**given, **{key: merged(given.get(key), value) for key, value in own.items()}}
    return own


def _hung(data: UrdfData, names: UrdfNames) -> UrdfData:
    """The same with its parent by Trundle's name."""
    parent = data["parent"]
    return {**data, "parent": "base" if parent == names.root else names.links[str(parent)]}


def _gear(joint: UrdfJoint, names: UrdfNames) -> UrdfData:
    """What follows what: q = multiplier q_joint + offset, in the sense of what wheels make of joints."""
    mimic, wheels = joint.mimic, names.wheels
    assert mimic is not None
    own, other = wheels.sense(joint.name), wheels.sense(mimic.joint)
    follows = {names.joints[mimic.joint]: own * other * mimic.multiplier}
    data = {"type": "gear", "joint": names.joints[joint.name], "follows": follows}
    return data | ({"offset": own * mimic.offset} if mimic.offset else {})


def _joint(urdf: Urdf, joint: UrdfJoint, names: UrdfNames, strict: bool) -> UrdfData:
    parent = "base" if joint.parent == names.root else names.links[joint.parent]
    data = {"type": NOUNS[joint.type], "parent": parent, **joint.data}
    name = names.links[joint.child]
    body = _body(urdf.links[joint.child].body, strict)
    if name != names.joints[joint.name]:
        body = {"name": name, **body}
    return data | ({"body": body} if body else {})


def _body(body: UrdfData, strict: bool) -> UrdfData:
    inertia = body.get("inertia")
    if strict or not (isinstance(inertia, dict) and on_trust(body)):
        return body
    return {**body, "inertia": {**inertia, "as_given": True}}


def on_trust(body: UrdfData) -> bool:
    """Whether no rigid body has a link's moments of inertia."""
    inertia = body.get("inertia")
    return isinstance(inertia, dict) and bool(inertia_problem(**dict.fromkeys(MOMENTS, 0.0) | inertia))


def places(urdf: Urdf, names: UrdfNames) -> Mapping[Path, XmlPart]:
    """The element that a key of the Robot comes from, for messages."""
    extension = urdf.part.near(EXTENSION)
    parts: dict[Path, XmlPart] = {(): urdf.part}
    parts.update(((key,), extension) for key in ("base", "gravity", "speeds"))
    bodies: dict[Path, XmlPart] = {("body",): urdf.links[names.root].part}
    for addition in urdf.extension.additions:
        parts[addition.family, addition.name] = addition.part
    for name, joint in urdf.joints.items():
        if joint.mimic is not None:
            parts.setdefault(("couplings", names.mimics[name]), joint.part.near("mimic"))
        if names.wheels.took(joint):
            continue
        path: Path = ("joints", names.joints[name])
        parts[path] = joint.part
        parts |= {(*path, field): joint.part.near(tag) for field, tag in _JOINT_TAGS.items()}
        bodies[*path, "body"] = urdf.links[joint.child].part
    for path, link in bodies.items():
        inertial = link.near("inertial")
        parts |= {path: link} | {(*path, field): inertial.near(tag) for field, tag in _BODY_TAGS.items()}
    return parts
