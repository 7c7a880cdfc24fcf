"""Limits that runs went beyond: of joints, which without a stiffness stop nothing, as URDF's; of motors' commands."""

from __future__ import annotations

from collections.abc import Iterator

from trundle.results import Run
from trundle.robot import Robot
from trundle.robot.bodies import drive_axes
from trundle.robot.kinds import ask

# Beyond a limit by less than this (rad or m, relative to 1 + its value) is rounding.
_ROUNDING = 1e-6


def passed(robot: Robot, run: Run) -> Iterator[tuple[str, str, float, float]]:
    """Coordinate, "lower" or "upper", that limit, and how far the run went, of every limit that was passed."""
    read = robot.resolver(run.description["parameters"])
    for owner, joint in robot.joints.items():
        for axis, noun in drive_axes(joint).values():
            name = f"{owner}.{axis.coordinate}"
            if name not in run or float(read(noun.limit_stiffness)):
                continue
            for key, limit, side in (("lower", noun.lower, -1), ("upper", noun.upper, 1)):
                if limit is None:
                    continue
                peak = run.peaks[name]
                at, most = float(read(limit)), peak.highest if side > 0 else peak.lowest
                if side * (most - at) > _ROUNDING * (1 + abs(at)):
                    yield name, key, at, most


def clamped(robot: Robot, run: Run) -> Iterator[tuple[str, float, float]]:
    """Inputs whose motors were asked for more than they follow: name, the greatest that they follow, that asked for."""
    read = robot.resolver(run.description["parameters"])
    for owner, motor in robot.motors.items():
        name = f"{owner}.{motor.command}"
        limit = ask(motor, f"robot.motors.{owner}", motor.command_limit, read)
        if limit is None or name not in run:
            continue
        asked = max(-run.peaks[name].lowest, run.peaks[name].highest)
        if asked > float(limit) * (1 + _ROUNDING):
            yield name, float(limit), asked


def sags(robot: Robot, run: Run) -> Iterator[tuple[str, float, float, float]]:
    """Battery, its least voltage (V), when (s), and its greatest current (A)."""
    for name in robot.batteries:
        if f"{name}.voltage" in run:
            voltage, current = run.peaks[f"{name}.voltage"], run.peaks[f"{name}.current"]
            yield name, voltage.lowest, voltage.lowest_time, current.highest
