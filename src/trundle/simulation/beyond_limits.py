"""Limits that runs went beyond: of joints and steering, which without a stiffness stop nothing; of motors' commands.

URDF's are of positions, speeds and efforts. A wheel that took a joint's place has that joint's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from trundle.results import Run
from trundle.robot import Robot
from trundle.robot.bodies import drive_axes
from trundle.robot.kinds import Read, ask
from trundle.robot.values import Value
from trundle.robot.wheels import ModuleLimits, RollingWheel

if TYPE_CHECKING:
    from trundle.documents.urdf.urdf_reader import UrdfExtras

# Beyond a limit by less than this (rad or m, relative to 1 + its value) is rounding.
_ROUNDING = 1e-6
# From where on a number is a way to say that there is no limit.
_NO_LIMIT = 1e15


class Passed(NamedTuple):
    """A limit that a run went beyond: of which quantity, in words which one, its value, and how far the run went.

    `joint` is the joint of the robot's URDF file whose limit it is, "" without a file; `stops`: a joint's
    limit_stiffness would keep it.
    """

    name: str
    limit: str
    at: float
    furthest: float
    joint: str
    stops: bool = False


def passed(robot: Robot, run: Run) -> Iterator[Passed]:
    """Every limit of positions, speeds and efforts that a run went beyond."""
    read = robot.resolver(run.description["parameters"])
    file = _file(robot)
    called = {} if file is None else file.joints
    for owner, joint in robot.joints.items():
        for axis, noun in drive_axes(joint).values():
            if not float(read(noun.limit_stiffness)):
                name = f"{owner}.{axis.coordinate}"
                yield from _positions(
                    run, name, (noun.lower, noun.upper), read, called.get(owner, ""), stops=True
                )
    for owner, wheel in robot.rolling.items():
        yield from _of_wheel(run, owner, wheel, read, called)
    if file is not None:
        yield from _of_file(robot, run, file)


def _file(robot: Robot) -> UrdfExtras | None:
    """What the URDF file of a robot says beyond the robot's own nouns; None of one without."""
    if robot.urdf is None:
        return None
    from trundle.documents.urdf import urdf_extras

    return urdf_extras(robot)


def _of_wheel(
    run: Run, owner: str, wheel: RollingWheel, read: Read, called: Mapping[str, str]
) -> Iterator[Passed]:
    """The limits of a wheel and of its steering: those that plans keep, of speeds and angles."""
    limits, steering = wheel.limits, called.get(f"{owner}.steering", "")
    if limits.drive_speed is not None:
        rate = float(read(limits.drive_speed)) / float(read(wheel.radius))
        yield from _either_way(run, f"{owner}.rate", "limit drive_speed,", rate, called.get(owner, ""))
    if isinstance(limits, ModuleLimits):
        yield from _positions(run, f"{owner}.steering", (limits.lower, limits.upper), read, steering)
        if limits.steering_rate is not None:
            rate = float(read(limits.steering_rate))
            yield from _either_way(run, f"{owner}.steering_rate", "limit steering_rate,", rate, steering)


def _of_file(robot: Robot, run: Run, file: UrdfExtras) -> Iterator[Passed]:
    """The <limit velocity> of joints, and the <limit effort> of what motors drive."""
    for owner, joint in robot.joints.items():
        limit = file.limits.get(owner)
        if limit is None:
            continue
        for axis, _ in drive_axes(joint).values():
            name = f"{owner}.{'speed' if axis.sliding else 'rate'}"
            yield from _either_way(run, name, "<limit velocity>", limit.velocity, file.joints[owner])
    for motor, noun in robot.motors.items():
        limit = file.limits.get(noun.drives)
        if limit is not None:
            # Of a motor whose command is a torque, the one behind its gear and limit.
            name = f"{motor}.delivered" if f"{motor}.delivered" in run else f"{motor}.torque"
            yield from _either_way(run, name, "<limit effort>", limit.effort, file.joints[noun.drives])


def _positions(
    run: Run,
    name: str,
    limits: tuple[Value | None, Value | None],
    read: Read,
    joint: str,
    *,
    stops: bool = False,
) -> Iterator[Passed]:
    """The least and the greatest position that a coordinate went beyond."""
    for words, limit, side in (("lower limit", limits[0], -1), ("upper limit", limits[1], 1)):
        if limit is None or name not in run:
            continue
        at, most = float(read(limit)), run.peaks[name].lowest if side < 0 else run.peaks[name].highest
        if side * (most - at) > _ROUNDING * (1 + abs(at)):
            yield Passed(name, words, at, most, joint, stops)


def _either_way(run: Run, name: str, limit: str, at: float, joint: str) -> Iterator[Passed]:
    """A limit that holds forward and backward; zero and the very large mean that there is none."""
    if name in run and 0.0 < at < _NO_LIMIT:
        most = max(run.peaks[name].highest, -run.peaks[name].lowest)
        if most > at * (1 + _ROUNDING):
            yield Passed(name, limit, at, most, joint)


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
