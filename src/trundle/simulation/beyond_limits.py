"""Limits that runs went beyond: of joints, which without a stiffness stop nothing, as URDF's; of motors' voltages."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trundle.results import Run
from trundle.robot import Robot
from trundle.robot.bodies import Sliding, Turning
from trundle.robot.motors import DCMotor

# Beyond a limit by less than this (rad or m, relative to 1 + its value) is rounding.
_ROUNDING = 1e-6


def passed(robot: Robot, run: Run) -> Iterator[tuple[str, str, float, float]]:
    """Coordinate, "lower" or "upper", that limit, and how far the run went, of each limit that was passed."""
    read = robot.resolver(run.description["parameters"])
    for owner, joint in robot.joints.items():
        if not isinstance(joint, Turning | Sliding) or float(read(joint.limit_stiffness)):
            continue
        name = f"{owner}.{joint.drives[0].coordinate}"
        for key, side, furthest in (("lower", -1, np.nanmin), ("upper", 1, np.nanmax)):
            limit = getattr(joint, key)
            if limit is None or name not in run:
                continue
            at = float(read(limit))
            most = float(furthest(run[name]))
            if side * (most - at) > _ROUNDING * (1 + abs(at)):
                yield name, key, at, most


def clamped(robot: Robot, run: Run) -> Iterator[tuple[str, float, float]]:
    """Input, its motor's voltage limit and the greatest voltage asked for (V), where that was more."""
    read = robot.resolver(run.description["parameters"])
    for owner, motor in robot.motors.items():
        name = f"{owner}.voltage"
        if not isinstance(motor, DCMotor) or motor.voltage_limit is None or name not in run:
            continue
        limit = float(read(motor.voltage_limit))
        asked = float(np.nanmax(np.abs(run[name])))
        if asked > limit * (1 + _ROUNDING):
            yield name, limit, asked


def sags(robot: Robot, run: Run) -> Iterator[tuple[str, float, float, float]]:
    """Battery, its least voltage (V), when (s), and its greatest current (A)."""
    for name in robot.batteries:
        if f"{name}.voltage" in run:
            voltage, current = run[f"{name}.voltage"], run[f"{name}.current"]
            least = int(np.argmin(voltage))
            yield name, float(voltage[least]), float(run.time[least]), float(np.max(current))
