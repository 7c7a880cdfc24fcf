"""What motors and bearings react on: their mounts, and the shafts that turn between a mount and what is driven."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trundle.errors import suggest
from trundle.robot.bodies import FixedJoint, PrismaticJoint, RevoluteJoint
from trundle.robot.kinds import Read
from trundle.robot.parts import Parts
from trundle.robot.problems import Mistake
from trundle.robot.structure import base_bodies, body_names, chain
from trundle.robot.values import ValueVector
from trundle.robot.wheels import PivotedWheel, RollingWheel, Wheel
from trundle.spatial.vectors import Vector, add, apply, cross, dot, euler_rotation, scale

# Two axes are parallel where the sine of their angle, or 1 less its cosine, is below; and one by distance (m).
_ALIGNED = 1e-9


class Shaft(NamedTuple):
    """What turns between a mount and what is driven, by the driven's angle and the joints' times their signs."""

    driven: str
    mount: str
    signs: Mapping[str, int]

    @property
    def name(self) -> str:
        """Who owns its angle and rate."""
        return f"{self.driven}_on_{self.mount}"


def stance(robot: Parts, wheel: Wheel, number: Read) -> tuple[str, list[ValueVector]]:
    """The joint or base on which a wheel stands, and the steps from there to its centre (m).

    That is its parent. Of a planar base's wheel that turns about a hinge's own axis it is what the hinge hangs on: the
    hinge leaves the wheel where it is.
    """
    known, steps, offset = body_names(robot), [wheel.at], _vector(wheel.at, number)
    place, axle = known[wheel.parent], _axle(wheel, number)
    while axle and robot.base != "floating" and isinstance(hinge := robot.joints.get(place), RevoluteJoint):
        apart = (*cross(axle, _unit(hinge.axis, number)), *cross(axle, offset), *_vector(hinge.rpy, number))
        if any(abs(float(part)) > _ALIGNED for part in apart):
            break
        place, steps, offset = known[hinge.parent], [*steps, hinge.at], add(offset, _vector(hinge.at, number))
    return place, steps


def shafts(robot: Parts, number: Read) -> dict[str, Shaft]:
    """By motors that don't react on what carries the driven, and by wheels whose bearings don't, their shafts."""
    known, found = body_names(robot), dict[str, Shaft]()
    wanted = {name: (name, wheel.parent) for name, wheel in robot.rolling.items()}
    for name, motor in robot.motors.items():
        if mount := motor.mounted_on or wanted.get(motor.drives, ("", ""))[1]:
            wanted[name] = motor.drives, mount
    for name, (driven, mount) in wanted.items():
        if signs := _turning(robot, driven, known[mount], number):
            found[name] = Shaft(driven, known[mount], signs)
    return found


def check_mounts(robot: Parts, number: Read) -> Iterator[Mistake]:
    """Motors are mounted on links that are there and that they don't move; what lies between turns about one axis."""
    known = body_names(robot)
    for name, driven, mount in ((name, each.drives, each.mounted_on) for name, each in robot.motors.items()):
        if mount is None:
            continue
        others = [body for body in known if driven not in chain(robot, body)]
        turning = _turning(robot, driven, known[mount], number) if mount in others else {}
        hint = "leave it out, or drive a joint that a coupling of type gear ties to what turns"
        if mount not in known:
            message, hint = f"there is no body or joint {mount!r}", suggest(mount, others)
        elif mount not in others:
            message = f"{driven!r}, which it drives, moves {mount!r}: it can't push off from that"
            hint = suggest("", others)
        elif turning is None:
            message = f"only revolute joints and wheels that nothing steers have a mount, not {driven!r}"
        elif askew := [joint for joint, sign in turning.items() if not sign]:
            message = f"the joint {askew[0]!r} between it and {driven!r} turns about another axis"
        else:
            continue
        yield Mistake(("motors", name, "mounted_on"), message, hint)


def unbacked(robot: Parts, number: Read) -> Iterator[tuple[str, str]]:
    """Wheels' motors that push off from a base without mass, and a hinge on it whose body may be what holds them."""
    if any(number(body.mass) for body in base_bodies(robot)):
        return
    mounted = shafts(robot, number)
    for name, motor in robot.motors.items():
        if motor.drives in robot.rolling and motor.mounted_on is None and name not in mounted:
            for joint in robot.joints:
                turning = _turning(robot, motor.drives, joint, number) or {}
                if chain(robot, joint) == [joint] and turning.get(joint):
                    yield name, joint


def _turning(robot: Parts, driven: str, mount: str, number: Read) -> dict[str, int] | None:
    """How a revolute joint or a wheel that nothing steers turns against a mount as each joint between them turns: 1 or
    −1, 0 about another axis. Joints that hold or slide are left out; None of what else is driven.
    """
    joint, wheel = robot.joints.get(driven), robot.wheels.get(driven)
    if isinstance(joint, RevoluteJoint):
        carrier, axis = joint.parent, _axis(robot, driven, joint, number)
    elif wheel and (axle := _axle(wheel, number)):
        carrier = stance(robot, wheel, number)[0]
        axis = _in_base(robot, carrier, axle, number)
    else:
        return None
    below, above = chain(robot, carrier), chain(robot, mount)
    sides = dict.fromkeys(below, 1) | dict.fromkeys(above, -1)
    found: dict[str, int] = {}
    for name in [name for name in sides if (name in below) != (name in above)]:
        between = robot.joints[name]
        if not isinstance(between, (FixedJoint, PrismaticJoint)):
            turns = isinstance(between, RevoluteJoint)
            share = float(dot(_axis(robot, name, between, number), axis)) if turns else 0.0
            found[name] = sides[name] * round(share) if abs(abs(share) - 1) < _ALIGNED else 0
    return found


def _axis(robot: Parts, name: str, joint: RevoluteJoint, number: Read) -> Vector:
    """A joint's axis in the base's frame, every joint at its zero."""
    return _in_base(robot, name, _unit(joint.axis, number), number)


def _in_base(robot: Parts, place: str, vector: Vector, number: Read) -> Vector:
    """A vector of a link's frame in the base's, every joint at its zero."""
    for name in reversed(chain(robot, place)):
        vector = apply(euler_rotation(*_vector(robot.joints[name].rpy, number)), vector)
    return vector


def _axle(wheel: Wheel, number: Read) -> Vector | None:
    """The axle of a wheel that nothing steers, in its parent's frame."""
    if not isinstance(wheel, RollingWheel) or isinstance(wheel, PivotedWheel):
        return None
    heading = float(number(wheel.heading))
    return (-math.sin(heading), math.cos(heading), 0.0)


def _vector(values: ValueVector, number: Read) -> tuple[float, float, float]:
    x, y, z = (float(number(value)) for value in values)
    return x, y, z


def _unit(values: ValueVector, number: Read) -> Vector:
    vector = _vector(values, number)
    return scale(1 / math.hypot(*vector), vector)
