"""What the robots of the catalogue do when they are run as they come: something to see."""

from __future__ import annotations

from collections.abc import Callable

from trundle.catalog.entry import Data
from trundle.robot.description import Robot


def _volts(**names: float) -> Data:
    return {f"{name}.voltage": volts for name, volts in names.items()}


def _run(duration: float, inputs: Data, **more: Data) -> Data:
    return {"duration": duration, "inputs": inputs, **more}


def _sweep(angle: str) -> Data:
    """A steering angle that goes from 0 to `angle` and stays."""
    return {"times": [0, 1, 4], "values": [0, 0, angle], "interpolation": "linear"}


def _offset_drive(robot: Robot) -> Data:
    turning = {"times": [0, 10], "values": [0, "360 deg"], "interpolation": "linear"}
    return _run(10.0, _volts(right_motor=6.0, left_motor=5.0) | {"steering_servo.angle": turning})


def _swerve(robot: Robot) -> Data:
    targets = dict.fromkeys(robot.wheels, "60 deg")
    if len(robot.wheels) == 2:  # wheels that are parallel and abreast would leave the turn undetermined
        targets = {"front": "30 deg", "rear": "-20 deg"}
    inputs = _volts(**{f"{name}_drive": 8.0 for name in robot.wheels})
    return _run(8.0, inputs | {f"{name}_steer.angle": _sweep(angle) for name, angle in targets.items()})


def _mecanum(robot: Robot) -> Data:
    front = _volts(front_left_motor=10.0, front_right_motor=6.0)
    return _run(10.0, front | _volts(rear_left_motor=6.0, rear_right_motor=12.0))


def _ackermann(robot: Robot) -> Data:
    return _run(15.0, _volts(left_motor=12, right_motor=12) | {"steering_servo.angle": _sweep("20 deg")})


def _tricycle(robot: Robot) -> Data:
    return _run(15.0, _volts(front_drive=12) | {"front_steer.angle": _sweep("30 deg")})


def _skid_steer(robot: Robot) -> Data:
    return _run(10.0, _volts(**{name: 14 if "right" in name else 4 for name in robot.motors}))


def _four_bar(robot: Robot) -> Data:
    # the rocker's angle chooses the way of assembly, and needn't fit exactly
    return _run(5.0, _volts(motor=6.0), initial={"crank.angle": "60 deg", "rocker.angle": "95 deg"})


def _slider_crank(robot: Robot) -> Data:
    numbers = robot.parameter_values()
    return _run(2.0, _volts(motor=12.0), initial={"piston.position": numbers["a"] + numbers["l"]})


RUNS: dict[str, Callable[[Robot], Data]] = {
    "differential_drive": lambda robot: _run(30.0, _volts(right_motor=24, left_motor=20)),
    "offset_drive": _offset_drive,
    "swerve": _swerve,
    "ackermann": _ackermann,
    "mecanum": _mecanum,
    "three_omni": lambda robot: _run(10.0, _volts(left_motor=-8, rear_motor=1, right_motor=8)),
    "tricycle": _tricycle,
    "skid_steer": _skid_steer,
    "pendulum": lambda robot: {"duration": 10.0, "initial": {"link_1.angle": "90 deg"}},
    "four_bar": _four_bar,
    "slider_crank": _slider_crank,
}
