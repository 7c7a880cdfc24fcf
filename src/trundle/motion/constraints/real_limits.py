"""What binds a robot's motions beside declared limits: motors, batteries and the floor, as the description has them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.errors import InputError
from trundle.expected import check_float
from trundle.mechanics.wheels import WheelModel
from trundle.model.health import check_loads
from trundle.motion.constraints.constraint import Constraints, MotionConstraint
from trundle.motion.constraints.described import Described
from trundle.motion.constraints.friction import Friction, Load
from trundle.motion.constraints.motors import BatteryPower, MotorLimits
from trundle.motion.constraints.wheels import WheelLimits
from trundle.motion.constraints.zones import ZoneLimits
from trundle.motion.drive.drive import Drive
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import motion_forces
from trundle.motion.pieces.pieces import TwistLine
from trundle.motion.pieces.profiles import shaped
from trundle.robot import Robot

# Rates (rad/s) at which a motor may be left with some torque; dry friction is whole by the first one.
_RATES = 2.0 ** np.arange(-2.0, 10.0)


@dataclass(frozen=True, eq=False)
class ActuationLimits:
    """The robot of a plan with motors and floor, the share of friction to plan with, and that of volts to leave."""

    driven: DrivenRobot
    grip: float
    margin: float = 0.0


def actuation(grip: float, margin: float = 0.0) -> tuple[MotionConstraint, ...]:
    """Motors, batteries and floor: `grip` is the share of friction to plan with, `margin` that of volts to leave."""
    return Friction(grip), Load(), BatteryPower(), MotorLimits(1 - margin)


def of_reach(drive: Drive, real: ActuationLimits | None) -> Constraints:
    """The same of a robot, where they count, and what its description limits beside."""
    own = (Described.of(drive),) if drive.robot is not None and drive.robot.constraints else ()
    if real is None:
        return Constraints(own)
    return Constraints((*actuation(real.grip, real.margin), *own), real.driven)


def of_pace(drive: Drive, real: ActuationLimits | None) -> Constraints:
    """All that limits the pace of motions whose twists are given: the wheels' speeds hang on these alone."""
    limits, more = [replace(own, drive_speed=math.inf) for own in drive.limits], of_reach(drive, real)
    return replace(more, each=(WheelLimits(drive.names, limits), *more.each))


def of_motion(
    drive: Drive, real: ActuationLimits | None, zones: Sequence[tuple[float, float, Mapping[str, float]]] = ()
) -> Constraints:
    """All that limits a motion, with zones from where to where in what its places are told by."""
    more = of_reach(drive, real)
    return replace(more, each=(WheelLimits(drive.names, drive.limits), ZoneLimits(zones), *more.each))


def real_limits(who: Kinematics, grip: float, margin: float = 0.0) -> ActuationLimits | None:
    """What motors and floor let a robot's motions do; None where nothing limits the motors of its wheels, and on a
    slope whose loads nobody knows.
    """
    driven = DrivenRobot(who.robot, who.names)
    if not _masses(who.robot) or (driven.sloped and not driven.here.assembly.heights):
        return None
    rest = np.zeros(1)
    limited = [np.isfinite(driven.greatest_torque(column, rest)).all() for column, _ in _moved(driven)]
    if not limited or not all(limited):
        return None
    return ActuationLimits(driven, grip, margin)


def _moved(driven: DrivenRobot) -> list[tuple[int, WheelModel]]:
    """The wheels that motors spin, with the columns of their rates."""
    return [(w.spin, w) for w in driven.wheels if w.spin is not None and w.spin in driven.actuators]


def planned_with(who: Kinematics, grip: float | None, margin: float = 0.0) -> ActuationLimits | None:
    """What motions are planned within beside declared limits: nothing on a slope, and nothing of wheels that slide to
    turn, as no forces but those of sliding turn the base.
    """
    if not 0 <= check_float(margin, "margin") < 1:
        raise InputError(f"expected a margin from 0 to below 1, got {margin!r}", key="margin")
    real = (
        None if grip is None else real_limits(who, check_float(grip, "grip", above=0) * (1 - margin), margin)
    )
    if real is None or who.drive.slides or real.driven.sloped:
        real = None
    else:
        _check(real)
    if who.robot.constraints:
        _check_described(who.drive, real)
    return real


def _check_described(drive: Drive, real: ActuationLimits | None) -> None:
    """InputError where a constraint of the description fails, at rest or ahead at 1 m/s and 1 m/s²."""
    ahead = np.array([1.0, 0.0, 0.0])
    line = TwistLine(
        drive, np.zeros(3), ahead, shaped("linear", 0.0, 1.0, 1.0), drive.pointed(ahead.tolist())[0]
    )
    samples = line.samples(np.array([0.0, 1.0]))
    Described.of(drive).check(samples, None if real is None else motion_forces(real.driven, samples))


def _check(real: ActuationLimits) -> None:
    """InputError for a wheel without friction or load, and for one that its motors can't move."""
    driven = real.driven
    check_loads(driven.here)
    for wheel, friction in zip(driven.wheels, driven.friction, strict=True):
        if not friction > 0:
            raise InputError(
                f"the wheel '{wheel.name}' has no friction: the floor gives it no force",
                key=f"robot.wheels.{wheel.name}.friction",
                hint="give it friction; a wheel that only carries weight has contact: free",
            )
    for column, wheel in _moved(driven):
        _require_motion(driven, column, wheel)


def _require_motion(driven: DrivenRobot, column: int, wheel: WheelModel) -> None:
    """InputError where a wheel's motors can't overcome its own friction at any rate."""
    left = driven.greatest_torque(column, _RATES)
    for element in driven.here.assembly.elements:
        if element.column == column:
            left = left + np.array([float(element.effort(0.0, rate).torque) for rate in _RATES.tolist()])
    if not (left > 0).any():
        motors = [motor.name for motor in driven.actuators[column]]
        raise InputError(
            f"{', '.join(motors)} can't move the wheel '{wheel.name}': friction takes more than there is at every rate",
            key=f"robot.motors.{motors[0]}",
            hint="give it a stronger motor, more voltage or current, or a larger gear_ratio",
        )


def _masses(robot: Robot) -> bool:
    """Whether the description says what the base weighs."""
    return robot.body is not None and bool(robot.number(robot.body.mass))
