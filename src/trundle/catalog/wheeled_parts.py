"""What the robots on wheels share beside their sizes: motors with their limits, a battery, where the mass is.

Measures that several robots take are keys of one `TypedDict`; `entry` shows them with the robot's own.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypedDict

from trundle.catalog.entry import (
    Data,
    MeasureLike,
    Size,
    described,
    drive,
    keys_given,
    number_of,
    scaled,
    servo,
    sweep,
)
from trundle.errors import InputError
from trundle.robot import units
from trundle.robot.description import Robot

# The corners of a rectangle: front left, front right, rear left, rear right.
CORNERS: dict[str, list[MeasureLike]] = {
    f"{end}_{side}": [f"{x}wheelbase/2", f"{y}track/2", 0]
    for end, x in (("front", ""), ("rear", "-"))
    for side, y in (("left", ""), ("right", "-"))
}
# The two ends of an axle.
AXLE: dict[str, list[MeasureLike]] = {"right": [0, "-track/2", 0], "left": [0, "track/2", 0]}


class Power(TypedDict, total=False):
    """Limits of the motors that drive, and the battery that feeds all motors."""

    current_limit: MeasureLike | None
    supply_current_limit: MeasureLike | None
    battery: MeasureLike | None
    battery_resistance: MeasureLike | None
    battery_capacity: MeasureLike | None


class Chassis(Power, total=False):
    """Where the mass is, too."""

    robot_mass: MeasureLike | None
    robot_inertia: MeasureLike | None
    body_inertia: MeasureLike | None
    center_height: MeasureLike | None


class SteeredChassis(Chassis, total=False):
    """A real motor on every steering, too."""

    steering_motor: str | None
    steering_ratio: MeasureLike | None
    steering_current_limit: MeasureLike | None
    steering_supply_current_limit: MeasureLike | None


# WPILib's BatterySim takes 0.02 ohm for a 12 V battery with its cables; 18 Ah are a competition battery's
# (MK ES17-12, 20 hours' rate).
_BATTERY: Data = {"battery_resistance": 0.02, "battery_capacity": "18 Ah"}
# Swerve Drive Specialties' MK4i: 150/7 turns of the motor a turn of the module.
_STEERING_RATIO = 150 / 7


def driving(target: str, gear_ratio: MeasureLike, motor: str | None, power: Mapping[str, object]) -> Data:
    """A motor that drives, as `entry.drive` has it, within its limits and fed by the battery."""
    return fed(drive(target, gear_ratio, motor), power)


def fed(motor: Data, power: Mapping[str, object], prefix: str = "") -> Data:
    """A motor within its limits on currents; fed by a battery it has no limit on voltage but that."""
    limits = {name: power.get(prefix + name) for name in ("current_limit", "supply_current_limit")}
    if power.get("battery") is not None:
        motor = {name: value for name, value in motor.items() if name != "voltage_limit"}
    return motor | keys_given(**limits)


def batteries(power: Mapping[str, object]) -> dict[str, Data]:
    """The `batteries` of a robot: one, or none."""
    voltage = power.get("battery")
    if voltage is None:
        for name in _BATTERY:
            if power.get(name) is not None:
                raise InputError(
                    f"there is no battery to have a {name}", key=name, hint="add battery, 12 V say"
                )
        return {}
    rest = _BATTERY | {name: power[name] for name in _BATTERY if power.get(name) is not None}
    resistance, capacity = rest.values()
    battery = {"open_circuit_voltage": voltage, "internal_resistance": resistance, "capacity": capacity}
    return {"batteries": {"battery": battery}}


def steering(target: str, power: SteeredChassis) -> Data:
    """What steers: a servo, or a real motor behind a gear, told its voltage."""
    motor = power.get("steering_motor")
    if motor is None:
        for name in ("steering_ratio", "steering_current_limit", "steering_supply_current_limit"):
            if power.get(name) is not None:
                message = f"a servo steers, and it has no {name.removeprefix('steering_')}"
                raise InputError(message, key=name, hint="add steering_motor, kraken_x60 say")
        return servo(target)
    ratio = power.get("steering_ratio")
    return fed(drive(target, _STEERING_RATIO if ratio is None else ratio, motor), power, "steering_")


def steered(robot: Robot, angles: Mapping[str, float]) -> Data:
    """Inputs that bring steerings to angles (degrees) within a second, by the names of their motors.

    A servo is told the angle. Any other motor turns for a second at the voltage of that rate without load.
    """
    inputs: Data = {}
    for name, angle in angles.items():
        motor = robot.motors[name]
        rate = motor.rate_at(1.0, robot.number)
        if rate is None:
            inputs[f"{name}.angle"] = sweep(f"{angle:g} deg")
        else:
            volts = float(f"{math.radians(angle) / float(rate):.3g}")
            inputs[f"{name}.voltage"] = {"times": [0, 1], "values": [volts, 0.0], "interpolation": "previous"}
    return inputs


def chassis(
    mass: MeasureLike,
    usual: float,
    inertia: float,
    center: list[MeasureLike],
    *sizes: Size,
    measures: Chassis,
    rest: Sequence[MeasureLike],
) -> Data:
    """The base's body: its mass, where its centre is, and the inertia that goes with its mass and its sizes.

    `rest` are the masses of everything else, for a body of which the whole robot's mass is known.
    """
    whole, own = measures.get("robot_mass"), measures.get("body_inertia")
    height = measures.get("center_height")
    if whole is not None:
        if mass != usual:
            message = "the whole robot's mass and its body's are both given"
            raise InputError(message, key="robot_mass", hint="leave body_mass out")
        numbers = sum(part for part in rest if not isinstance(part, str))
        _require_more(whole, numbers)
        mass = " - ".join(
            [str(whole), f"{numbers:g}", *(f"({part})" for part in rest if isinstance(part, str))]
        )
    if height is not None:
        _require_above(height)
        # wheels stand on the ground, their centres at the base's own height
        center = [*center[:2], f"{height} - r"]
    moment = scaled(inertia, usual, mass, *sizes) if own is None else own
    return {"mass": mass, "center_of_mass": center, "inertia": about_all(moment)}


def weighed(
    measures: Chassis, name: str, parameters: Mapping[str, MeasureLike], **parts: Mapping[str, object]
) -> Robot:
    """A robot of these parts; where the whole's inertia is known, its base has what the others leave of that."""
    robot, whole = described(name, parameters, **parts), measures.get("robot_inertia")
    if whole is None:
        return robot
    if measures.get("body_inertia") is not None:
        raise InputError("body_inertia is given beside it", key="robot_inertia", hint="leave one of them out")
    least = _least_inertia(robot)
    total = number_of(whole, units.INERTIA)
    if total is not None and total <= least:
        message = f"{total:g} kg m^2 leave its body none: where the masses are, they have {least:.4g} kg m^2 already"
        raise InputError(message, key="robot_inertia", hint=f"write more than {least:.4g} kg m^2")
    moment = f"{whole} - {least!r} kg m^2" if total is None else total - least
    return described(name, parameters, **parts | {"body": {**parts["body"], "inertia": about_all(moment)}})


def _least_inertia(robot: Robot) -> float:
    """The inertia (kg m²) about the vertical through the centre of mass without the base body's own: Σ I + m d²."""
    number, body = robot.number, robot.body
    assert body is not None
    points = [(number(body.mass), complex(*map(number, body.center_of_mass[:2])), 0.0)]
    for wheel in robot.wheels.values():
        at = complex(*map(number, wheel.at[:2]))
        points += [(mass, at + beside, moment) for mass, beside, moment in wheel.plane_masses(number)]
    whole, first = sum(m for m, _, _ in points), sum(m * at for m, at, _ in points)
    return sum(own + m * abs(at) ** 2 for m, at, own in points) - abs(first) ** 2 / whole


# Moments about x and y over that about the vertical: a square plate has 0.5, its height makes it more.
_FLAT = 0.55


def about_all(moment: MeasureLike) -> Data:
    """Moments of inertia of a flat body by that about the vertical: over terrain it pitches and rolls, too."""
    flat = f"({moment})*{_FLAT}" if isinstance(moment, str) else float(f"{_FLAT * moment:.12g}")
    return {"xx": flat, "yy": flat, "zz": moment}


def on_balls(casters: object, ahead: str, behind: str) -> Data:
    """Two balls that a base on one axle stands on, at these places along x, where it has `casters`."""
    if not isinstance(casters, bool):
        raise InputError(f"expected True or False, got {casters!r}", key="casters")
    places = {"front_ball": ahead, "rear_ball": behind} if casters else {}
    return {name: {"type": "ball", "at": [x, 0, "-r/2"], "radius": "r/2"} for name, x in places.items()}


def _require_more(whole: MeasureLike, rest: float) -> None:
    """InputError for a robot that weighs no more than its wheels and what holds them."""
    mass = number_of(whole, units.MASS)
    if mass is not None and mass <= rest:
        message = f"the robot weighs {mass:g} kg, and its wheels with what holds them {rest:g} kg already"
        raise InputError(message, key="robot_mass", hint="write the description's masses yourself")


def _require_above(height: MeasureLike) -> None:
    """InputError for a centre of mass below the ground."""
    above = number_of(height, units.LENGTH)
    if above is not None and above < 0:
        message = f"the body's centre of mass lies {-above:g} m below the ground"
        raise InputError(message, key="center_height", hint="heights count from the ground up")
