"""From a Robot to the links and joints of a URDF file, in the words of the file that it came from.

What a file can say in several ways (an inertia in a frame of its own, a joint without stops) stays said as it was as
long as it means the same, so that only what changed is written anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from trundle.documents.urdf.nouns import (
    DEFAULT_AXIS,
    GROUND,
    LIMITED,
    NO_FILE,
    NOUNS,
    UNLIMITED,
    ZERO,
    Inertial,
    Joint,
    Limit,
    Link,
    Mimic,
    Urdf,
    default_base,
)
from trundle.documents.urdf.part import Numbers
from trundle.documents.urdf.to_robot import robot_name, within_a_turn
from trundle.documents.urdf.tree_structure import Names
from trundle.errors import InputError
from trundle.robot import bodies
from trundle.robot.couplings import gears
from trundle.robot.description import Robot
from trundle.robot.parameters import Resolver
from trundle.robot.structure import body_names
from trundle.robot.values import Value

# Fields with a place of their own in URDF; all others go into Trundle's own element.
_OWN = frozenset({"type", "parent", "at", "rpy", "axis", "body", "damping", "coulomb", "lower", "upper"})
_INSTEAD = "write YAML (trundle.documents.dump), or take "
_NO_NAMES = Names("", {}, {}, {})


def from_robot(robot: Robot, old: Urdf = NO_FILE, names: Names = _NO_NAMES) -> Urdf:
    """What a file says of this robot; `old` and `names` are those of the file that it came from.

    Raises InputError where the robot has something that URDF has no words for.
    """
    for family in ("wheels", "motors", "loops"):
        there = ", ".join(getattr(robot, family))
        if there:
            hint = f"{_INSTEAD}them away"
            raise InputError(f"URDF has no word for {family}: {there}", key=f"robot.{family}", hint=hint)
    read = robot.resolver()
    links = _link_names(robot, old, names)
    joint_names = {identifier: name for name, identifier in names.joints.items()}
    mimics = _mimics(robot, read, joint_names)
    made_links = [Link(links["base"], _inertial(robot.body, read, old.links.get(links["base"])))]
    made_joints: list[Joint] = []
    on = body_names(robot)
    for identifier, joint in robot.joints.items():
        name, child = joint_names.get(identifier, identifier), links[identifier]
        made_links.append(Link(child, _inertial(joint.body, read, old.links.get(child))))
        placed = Joint(
            name,
            _type(identifier, joint, old.joints.get(name)),
            links[on[joint.parent]],
            child,
            *_numbers(joint, read),
            limit=None,
            mimic=mimics.get(identifier),
            extension=_extension(joint, read),
        )
        made_joints.append(_as_before(placed, _stops(joint, read), old.joints.get(name)))
    root = made_links[0]
    return Urdf(
        old.name if old.links and robot_name(old.name) == robot.name else robot.name,
        {link.name: link for link in made_links},
        {joint.name: joint for joint in made_joints},
        robot.base if old.base is not None or robot.base != default_base(root) else None,
        _gravity(robot, read, old),
        old.as_given if old.links else _takes_on_trust(robot),
    )


def _link_names(robot: Robot, old: Urdf, names: Names) -> dict[str, str]:
    """The link that stands for each joint's body (and the base's): the file's, or one called as the body."""
    links = {place: name for name, place in body_names(robot).items()}  # a body's own name comes last
    if robot.base == "fixed" and robot.body is None:
        links["base"] = GROUND
    if old.links:
        links["base"] = names.root
    return links | {names.joints[name]: joint.child for name, joint in old.joints.items()}


def _mimics(robot: Robot, read: Resolver, names: Mapping[str, str]) -> dict[str, Mimic]:
    """What follows what, by the follower; a <mimic> has one leader."""
    found: dict[str, Mimic] = {}
    for name, gear in gears(robot.couplings).items():
        if len(gear.follows) > 1:
            message = (
                f"URDF's <mimic> follows one joint, and the gear {name!r} follows {', '.join(gear.follows)}"
            )
            raise InputError(message, key=f"robot.couplings.{name}.follows", hint=f"{_INSTEAD}it away")
        ((leader, ratio),) = gear.follows.items()
        found[gear.joint] = Mimic(names.get(leader, leader), _float(ratio, read), _float(gear.offset, read))
    return found


def _type(identifier: str, joint: bodies.Joint, old: Joint | None) -> str:
    if joint.type not in NOUNS:
        raise InputError(f"URDF has no {joint.type} joints", key=f"robot.joints.{identifier}.type")
    free = isinstance(joint, bodies.RevoluteJoint) and joint.lower is None and joint.upper is None
    if free and (old is None or old.type != "revolute"):
        return "continuous"
    return joint.type


def _numbers(joint: bodies.Joint, read: Resolver) -> tuple[Numbers, Numbers, Numbers, float, float]:
    """Place, angles, axis, damping and friction."""
    axis, damping, friction = (getattr(joint, field, None) for field in ("axis", "damping", "coulomb"))
    return (
        _vector(joint.at, read),
        _vector(joint.rpy, read),
        DEFAULT_AXIS if axis is None else _vector(axis, read),
        0.0 if damping is None else _float(damping, read),
        0.0 if friction is None else _float(friction, read),
    )


def _stops(joint: bodies.Joint, read: Resolver) -> dict[str, float]:
    given = {name: getattr(joint, name, None) for name in ("lower", "upper")}
    return {name: _float(value, read) for name, value in given.items() if isinstance(value, Value)}


def _extension(joint: bodies.Joint, read: Resolver) -> dict[str, float]:
    fields = [field for field in type(joint).model_fields if field in joint.model_fields_set - _OWN]
    return {
        field: _float(value, read) for field in fields if isinstance(value := getattr(joint, field), Value)
    }


def _as_before(new: Joint, stops: Mapping[str, float], old: Joint | None) -> Joint:
    """The joint with its limit, and with the file's own way to say its angles."""
    limit = None if old is None else old.limit
    if new.type in LIMITED and (limit is None or limit.stops != stops):
        effort, velocity = (UNLIMITED, UNLIMITED) if limit is None else (limit.effort, limit.velocity)
        limit = Limit(stops.get("lower", -UNLIMITED), stops.get("upper", UNLIMITED), effort, velocity)
    rpy = new.rpy if old is None or within_a_turn(old.rpy) != new.rpy else old.rpy
    return replace(new, limit=limit, rpy=rpy)


def _inertial(body: bodies.Body | None, read: Resolver, old: Link | None) -> Inertial | None:
    """The mass of a link. An inertia that didn't change stays in the file's own inertial frame."""
    before = old.inertial if old else None
    there = before or Inertial()
    if body is None:
        new = Inertial()
    else:
        xx, xy, xz, yy, yz, zz = (
            _float(getattr(body.inertia, name), read) for name in ("xx", "xy", "xz", "yy", "yz", "zz")
        )
        moments = (xx, xy, xz, yy, yz, zz)
        rpy, moments = (there.rpy, there.moments) if there.in_link == moments else (ZERO, moments)
        new = Inertial(_float(body.mass, read), _vector(body.center_of_mass, read), rpy, moments)
    return before if new == there else new


def _gravity(robot: Robot, read: Resolver, old: Urdf) -> float | Numbers | None:
    if "gravity" not in robot.model_fields_set:
        return None
    x, y, z = (float(each) + 0.0 for each in read.gravity())
    if isinstance(old.gravity, tuple) and old.gravity == (x, y, z):
        return old.gravity
    return -z + 0.0 if x == y == 0.0 else (x, y, z)


def _takes_on_trust(robot: Robot) -> bool:
    """Whether some body's moments of inertia are ones that no rigid body has."""
    bodies_ = [robot.body, *(joint.body for joint in robot.joints.values())]
    return any(body.inertia.as_given for body in bodies_ if body is not None)


def _float(value: Value, read: Resolver) -> float:
    return float(read(value)) + 0.0  # -0 is 0


def _vector(values: tuple[Value, Value, Value], read: Resolver) -> Numbers:
    x, y, z = (_float(value, read) for value in values)
    return x, y, z
