"""A robot reduced to what URDF (with Trundle's own tag) can say, in numbers: for comparing and for writing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trundle.documents.urdf.elements import NOUNS, ZERO
from trundle.documents.urdf.part import Numbers
from trundle.errors import InputError
from trundle.robot.bodies import Body, Joint
from trundle.robot.couplings import gears
from trundle.robot.description import Robot
from trundle.robot.parameters import Resolver
from trundle.robot.structure import body_names
from trundle.robot.values import Value

_MOMENTS = ("xx", "xy", "xz", "yy", "yz", "zz")
# Fields with a place of their own in URDF; all others go into Trundle's tag.
_OWN = frozenset({"type", "parent", "at", "rpy", "axis", "body", "damping", "coulomb", "lower", "upper"})


@dataclass(frozen=True)
class Mass:
    """Mass (kg), centre of mass (m) and inertia about it (kg m²: xx, xy, xz, yy, yz, zz), in the link's axes."""

    mass: float = 0.0
    center: Numbers = ZERO
    inertia: tuple[float, ...] = (0.0,) * 6

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to say."""
        return self == Mass()

    @property
    def is_weightless(self) -> bool:
        """Whether it resists no motion."""
        return self.mass == 0.0 and not any(self.inertia)


@dataclass(frozen=True)
class Follow:
    """What a joint follows: q = multiplier · q_leader + offset."""

    leader: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Measure:
    """A joint and the mass of the link it carries; `parent` is the joint it hangs on, or "base"."""

    type: str
    parent: str
    at: Numbers
    rpy: Numbers
    axis: Numbers
    damping: float
    friction: float
    limits: Mapping[str, float]
    extension: Mapping[str, float]
    mass: Mass
    follows: Follow | None


@dataclass(frozen=True)
class Measures:
    """The whole robot."""

    name: str
    base: str
    gravity: Numbers | None
    mass: Mass
    joints: Mapping[str, Measure]


def measures(robot: Robot) -> Measures:
    """The robot in numbers; raises InputError where it has something that URDF can't say."""
    for family in ("wheels", "motors", "loops"):
        names = ", ".join(getattr(robot, family))
        if names:
            hint = "write YAML (trundle.robot.dump), or take them away"
            raise InputError(f"URDF has no word for {family}: {names}", key=f"robot.{family}", hint=hint)
    read = robot.resolver()
    owners = body_names(robot)
    gravity: Numbers | None = None
    if "gravity" in robot.model_fields_set:
        x, y, z = read.gravity()
        gravity = (float(x) + 0.0, float(y) + 0.0, float(z) + 0.0)
    follows = _follows(robot, read)
    joints = {
        name: _joint(name, joint, owners, read, follows.get(name)) for name, joint in robot.joints.items()
    }
    return Measures(robot.name, robot.base, gravity, _mass(robot.body, read), joints)


def _follows(robot: Robot, read: Resolver) -> dict[str, Follow]:
    """What follows what, by the follower; a <mimic> has one leader."""
    found: dict[str, Follow] = {}
    for name, gear in gears(robot.couplings).items():
        if len(gear.follows) > 1:
            message = (
                f"URDF's <mimic> follows one joint, and the gear {name!r} follows {', '.join(gear.follows)}"
            )
            hint = "write YAML (trundle.robot.dump), or take it away"
            raise InputError(message, key=f"robot.couplings.{name}.follows", hint=hint)
        ((leader, ratio),) = gear.follows.items()
        found[gear.joint] = Follow(leader, float(read(ratio)) + 0.0, float(read(gear.offset)) + 0.0)
    return found


def takes_on_trust(robot: Robot) -> bool:
    """Whether some body's moments of inertia are ones that no rigid body has."""
    bodies = [joint.body for joint in robot.joints.values()]
    return any(body.inertia.as_given for body in [robot.body, *bodies] if body is not None)


def _joint(
    name: str, joint: Joint, owners: Mapping[str, str], read: Resolver, follows: Follow | None
) -> Measure:
    if joint.type not in NOUNS.values():
        raise InputError(f"URDF has no {joint.type} joints", key=f"robot.joints.{name}.type")
    own = {field: getattr(joint, field, None) for field in ("axis", "damping", "coulomb")}
    extension = {
        field: float(read(value))
        for field in type(joint).model_fields
        if field in joint.model_fields_set - _OWN and isinstance(value := getattr(joint, field), Value)
    }
    limits = {
        field: float(read(value)) + 0.0
        for field in ("lower", "upper")
        if isinstance(value := getattr(joint, field, None), Value)
    }
    return Measure(
        joint.type,
        owners[joint.parent],
        _vector(joint.at, read),
        _vector(joint.rpy, read),
        ZERO if own["axis"] is None else _vector(own["axis"], read),
        0.0 if own["damping"] is None else float(read(own["damping"])),
        0.0 if own["coulomb"] is None else float(read(own["coulomb"])),
        limits,
        extension,
        _mass(joint.body, read),
        follows,
    )


def _vector(values: tuple[Value, Value, Value], read: Resolver) -> Numbers:
    x, y, z = read.vector(values)
    return float(x) + 0.0, float(y) + 0.0, float(z) + 0.0


def _mass(body: Body | None, read: Resolver) -> Mass:
    if body is None:
        return Mass()
    inertia = tuple(float(read(getattr(body.inertia, name))) + 0.0 for name in _MOMENTS)
    return Mass(float(read(body.mass)) + 0.0, _vector(body.center_of_mass, read), inertia)
