"""What the robots of the catalogue do when they are run as they come: something to see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trundle.robot.description import Robot

Data = dict[str, Any]


def _volts(names: Mapping[str, float]) -> Data:
    return {f"{name}.voltage": volts for name, volts in names.items()}


def _sweep(angle: str, until: float = 4.0) -> Data:
    """A steering angle that goes from 0 to `angle` and stays."""
    return {"times": [0, 1, until], "values": [0, 0, angle], "interpolation": "linear"}


def _offset_drive_run(robot: Robot) -> Data:
    turning = {"times": [0, 10], "values": [0, "360 deg"], "interpolation": "linear"}
    inputs = _volts({"right_motor": 6.0, "left_motor": 5.0}) | {"steering_servo.angle": turning}
    return {"duration": 10.0, "inputs": inputs}


def _swerve_run(robot: Robot) -> Data:
    targets = dict.fromkeys(robot.wheels, "60 deg")
    if len(robot.wheels) == 2:  # wheels that are parallel and abreast would leave the turn undetermined
        targets = {"front": "30 deg", "rear": "-20 deg"}
    inputs = _volts({f"{name}_drive": 8.0 for name in robot.wheels})
    return {
        "duration": 8.0,
        "inputs": inputs | {f"{name}_steer.angle": _sweep(angle) for name, angle in targets.items()},
    }


def _mecanum_run(robot: Robot) -> Data:
    volts = {
        "front_left_motor": 10.0,
        "front_right_motor": 6.0,
        "rear_left_motor": 6.0,
        "rear_right_motor": 12.0,
    }
    return {"duration": 10.0, "inputs": _volts(volts)}


def _pendulum_run(robot: Robot) -> Data:
    return {"duration": 10.0, "initial": {"link_1.angle": "90 deg"}}


RUNS: dict[str, Callable[[Robot], Data]] = {
    "differential_drive": lambda robot: {
        "duration": 30.0,
        "inputs": _volts({"right_motor": 24, "left_motor": 20}),
    },
    "offset_drive": _offset_drive_run,
    "swerve": _swerve_run,
    "ackermann": lambda robot: {
        "duration": 15.0,
        "inputs": _volts({"left_motor": 12, "right_motor": 12}) | {"steering_servo.angle": _sweep("20 deg")},
    },
    "mecanum": _mecanum_run,
    "three_omni": lambda robot: {
        "duration": 10.0,
        "inputs": _volts({"left_motor": -8, "rear_motor": 1, "right_motor": 8}),
    },
    "tricycle": lambda robot: {
        "duration": 15.0,
        "inputs": _volts({"front_drive": 12}) | {"front_steer.angle": _sweep("30 deg")},
    },
    "skid_steer": lambda robot: {
        "duration": 10.0,
        "inputs": _volts({name: 14 if "right" in name else 4 for name in robot.motors}),
    },
    "pendulum": _pendulum_run,
    # the rocker's angle chooses the way of assembly, and needn't fit exactly
    "four_bar": lambda robot: {
        "duration": 5.0,
        "inputs": _volts({"motor": 6.0}),
        "initial": {"crank.angle": "60 deg", "rocker.angle": "95 deg"},
    },
    "slider_crank": lambda robot: {
        "duration": 2.0,
        "inputs": _volts({"motor": 12.0}),
        "initial": {"piston.position": float(sum(robot.parameter_values()[name] for name in ("a", "l")))},
    },
}
