"""`trundle.drive`: commands to a motion of a drive, at a control level and with a shape of profiles."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Literal

import numpy as np

from trundle.arrays import FloatArray
from trundle.catalog.steered import limited_swerve
from trundle.choices import LEVELS, PROFILES, Level, ProfileShape
from trundle.errors import InputError, choose, counted, no_attribute, require_known, suggest
from trundle.model.arguments import Given, robot_of
from trundle.motion.commands.commands import Command, CommandFile, GivenCommands, ModuleCommand, read_commands
from trundle.motion.commands.control_levels import (
    agreeing_state,
    by_body,
    by_modules,
    check_agreement,
    coordinated,
    smooth_shape,
)
from trundle.motion.commands.steps import Control, Goal, Maneuver, Setpoint, Slowdown
from trundle.motion.constraints.real_limits import of_pace, planned_with
from trundle.motion.drive.drive import Limits
from trundle.motion.drive.kinematics import Kinematics, kinematics, planned
from trundle.motion.forces.motor_limits import implied
from trundle.motion.pieces.extremes import ModulePeak, peaks
from trundle.motion.pieces.motion import Motion
from trundle.progress import Doing
from trundle.results import Run
from trundle.robot import Robot

if TYPE_CHECKING:
    from trundle.motion.commands.binding import LimitUsage

# A wheel without steering may be asked for an angle that differs from its heading by this (rad), as files round them.
_SAME = 1e-6


# What makes a command's pieces, by level.
_STEPS = {"module": by_modules, "body": by_body, "limited": by_body, "coordinated": coordinated}


_GONE = dict.fromkeys(("bound", "gap"), "tests compare times with dense solves; fastest has .candidates")


@dataclass(frozen=True, eq=False, repr=False)
class Driven:
    """A drive's motion, what it was asked for, and what was changed of it.

    Parameters
    ----------
    name : str
        Of the plan or the path.
    requested_duration : float or None, s
        How long it was to take; None where nothing says so.
    level, profile : str
        The control level, and the shape of profiles as asked for; "path" or "fastest", and "quickest", of what
        no commands say.
    motion : Motion
        Pieces, exact functions of time.
    ends : array (commands,), s
        When the commands are done, or the sections of a path.
    limits : tuple of Limits
        Of the modules, in the motion's order.
    slowdowns : tuple of Slowdown
        Which commands take longer than asked, and why.
    notes : tuple of str
        What else was changed, in sentences.
    events : tuple of (str, float)
        What is to happen when (s), as a path's file says.
    zones : tuple of (float, float, mapping of str to float)
        From when to when (s) a path's file limits the base's "velocity" (m/s), "acceleration" (m/s^2), turning "rate"
        (rad/s) or "rate_change" (rad/s^2), and to what.
    file : CommandFile or None
        The commands and where they stand; None of a path.
    grip : float or None
        The share of friction that it was planned with; None where motors and floor didn't count.
    margin : float
        The share of motors' and batteries' volts that it leaves.
    """

    name: str
    requested_duration: float | None
    level: Level | Literal["path", "fastest"]
    profile: ProfileShape | Literal["quickest"]
    motion: Motion
    ends: FloatArray
    limits: tuple[Limits, ...]
    slowdowns: tuple[Slowdown, ...]
    notes: tuple[str, ...]
    events: tuple[tuple[str, float], ...] = ()
    zones: tuple[tuple[float, float, Mapping[str, float]], ...] = ()
    file: CommandFile | None = None
    grip: float | None = None
    margin: float = 0.0

    @property
    def robot(self) -> Robot:
        """Who drives."""
        return self.motion.kinematics.robot

    @property
    def names(self) -> tuple[str, ...]:
        """The modules' names."""
        return self.motion.kinematics.names

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Say the nearest name, or what does the job of one that is gone; a property that failed fails again."""
            if name.startswith("_") or hasattr(type(self), name):
                return object.__getattribute__(self, name)
            raise no_attribute("what is driven", name, dir(self), _GONE.get(name, ""))

    @property
    def search(self) -> dict[str, object]:
        """What a summary has of the search that led to it; nothing where none did."""
        return {}

    @property
    def kept_out(self) -> tuple[tuple[FloatArray, float], ...]:
        """Where it was told not to go: corners (c, 2) in the world, and how much around them (m)."""
        return ()

    def __repr__(self) -> str:
        return (
            f"<Driven {self.name!r}: {self.robot.name}, {self.level}, {self.profile}, "
            f"{self.motion.duration:.4g} s in {counted(len(self.motion.pieces), 'piece')}>"
        )

    @cached_property
    def peaks(self) -> tuple[ModulePeak, ...]:
        """The largest magnitudes of all quantities of all modules, between samples too."""
        return tuple(peaks(self.motion, steady=self.level != "path"))

    @cached_property
    def limit_usage(self) -> LimitUsage:
        """What it takes of declared limits, motors, batteries and floor, and what binds when."""
        from trundle.motion.commands.binding import limit_usage

        return limit_usage(self)

    def run(self, rate: float = 100.0) -> Run:
        """The motion as a run: labelled samples with units, which figures and files take.

        Parameters
        ----------
        rate : float, 1/s
            Samples a second; the end is one more.

        Returns
        -------
        Run
            Poses, speeds, accelerations and jerks of the body and of the modules; its `summary` as `summary()` has it.

        Raises
        ------
        InputError
            The rate is not positive.

        Examples
        --------
        >>> import trundle
        >>> turn = {"name": "turn", "commands": [{"duration": 1, "twist": {"omega": 1}}]}
        >>> trundle.drive({"motion": turn}, level="body").run().final["theta"]
        0.5
        """
        from trundle.motion.commands.record import to_run

        return to_run(self, rate)

    def summary(self) -> dict[str, object]:
        """What came out, as plain data.

        Returns
        -------
        dict
            Duration, final pose, the largest of the quantities and of slip, which limits were broken and which were
            used to the full when, how much longer it took than asked, and why.

        Raises
        ------
        NumericsError
            The motion is too rough to be integrated.

        Examples
        --------
        >>> import trundle
        >>> turn = {"name": "turn", "commands": [{"duration": 1, "twist": {"omega": 1}}]}
        >>> trundle.drive({"motion": turn}, level="limited").summary()["exceeded"]
        []
        """
        from trundle.motion.commands.record import summary

        return summary(self)


def drive(
    commands: GivenCommands,
    robot: Given | None = None,
    *,
    level: Level = "limited",
    profile: ProfileShape = "scurve",
    limits: Limits | Mapping[str, Limits] | None = None,
    grip: float | None = 0.95,
    progress: bool = True,
) -> Driven:
    """The motion of a drive under commands.

    Parameters
    ----------
    commands : path, mapping or Commands
        What it is asked to do (`trundle.motion.commands.commands`).
    robot : Robot, Model, path or mapping, optional
        Who drives; by default `trundle.catalog.limited_swerve()`.
    level : str
        "module": every module by itself; "body": the twist by a profile, limits aside; "limited": the same with all
        limits held; "coordinated": as fast as the limits allow, by the planner. Limits are declared ones, and what
        motors, battery and floor give where the description tells them.
    profile : str
        "linear", "trapezoidal" or "scurve".
    limits : Limits, or mapping of them by module, optional
        Default: those that the description declares.
    grip : float or None, optional
        The share of every wheel's friction that limited motions use at most. None: only declared limits count, as if
        motors and floor gave anything.
    progress : bool, optional
        Whether work of more than a second is told of.

    Returns
    -------
    Driven
        The motion, and what was changed of the commands.

    Raises
    ------
    InputError
        With file, line and key: unknown or missing modules, modules that contradict one rigid motion, twists that the
        wheels can't follow, twists that motors and floor lead to at no pace; a wheel without friction.

    Examples
    --------
    >>> import trundle
    >>> turn = {"name": "turn", "commands": [{"duration": 1.99, "twist": {"omega": 1}}]}
    >>> driven = trundle.drive({"motion": turn}, level="body", profile="linear")
    >>> driven.motion.poses([driven.motion.duration]).round(6).tolist()  # x, y (m), θ (rad)
    [[0.0, 0.0, 0.995]]
    """
    _check_choices(level, profile)
    file = read_commands(commands)
    driver = _default() if robot is None else robot_of(robot, "drive", "it has no wheels")
    who = driven_modules(kinematics(driver))
    held = who.drive.limited(limits)
    within = level in ("limited", "coordinated")
    real = planned_with(who, grip) if within else None
    bounded = held if real is None else implied(held, real.driven)
    shape = smooth_shape(profile, bounded.limits) if within else profile
    control = Control(who, held, bounded, shape, of_pace(held, real), within, real)
    begin = _start(control, file, level)
    with Doing(progress, f"planning {file.motion.name}"):
        steps = _steps(control, file, level, begin)
    notes = [f"command {place + 1}: {note}" for place, step in enumerate(steps) for note in step.notes]
    if shape != profile:
        forbidding = (
            "the declared limits forbid" if real is None else "declared limits or steering motors forbid"
        )
        notes.insert(0, f"profiles are {shape}, not {profile}, whose impulses {forbidding}")
    pieces = tuple(piece for step in steps for piece in step.pieces)
    motion = Motion(who, pieces, file.motion.start.pose.numbers, begin.angles)
    ends = np.cumsum([sum(piece.duration for piece in step.pieces) for step in steps])
    slowdowns = tuple(slowdown for step in steps for slowdown in step.slowdowns)
    told = slowdowns, tuple(notes)
    used = None if real is None else real.grip
    name, asked = file.motion.name, file.motion.duration
    return Driven(name, asked, level, profile, motion, ends, held.limits, *told, file=file, grip=used)


@lru_cache
def _default() -> Robot:
    """Who drives where nobody is named, read once."""
    return limited_swerve()


def _check_choices(level: str, profile: str) -> None:
    for key, choice, known in (("level", level, LEVELS), ("profile", profile, PROFILES)):
        require_known(choice, known, f"there is no {key} {choice!r}", key=key, hint=choose)


def driven_modules(who: Kinematics) -> Kinematics:
    """The wheels that commands are planned for; InputError for one beside its pivot."""
    who = planned(who)
    for module in who.modules:
        if module.is_steered and float(module.offset[1]):
            raise InputError(
                f"the wheel {module.name!r} stands beside its pivot, and rolls as it is steered",
                key=f"robot.wheels.{module.name}",
                hint="motions are planned for wheels that are fixed or steered about their centres",
            )
    if not who.modules:
        raise InputError(f"'{who.name}' has no wheel that drives it", key="robot.wheels")
    return who


def _steps(control: Control, file: CommandFile, level: Level, state: Setpoint) -> list[Maneuver]:
    """The steps of all commands, errors with their places in the file."""
    targets = [_target(control, file, command, k) for k, command in enumerate(file.motion.commands)]
    steps: list[Maneuver] = []
    try:
        steps.extend(_STEPS[level](control, state, targets))
    except InputError as error:
        if (error.key or "").startswith("robot."):  # what is wrong is the robot, not the command
            raise
        raise file.error(error.message, len(steps), error.hint) from None
    return steps


def _target(control: Control, file: CommandFile, command: Command, place: int) -> Goal:
    """A command in numbers, its modules in the kinematics' order."""
    duration = command.duration.number
    if command.twist is not None:
        return Goal(place, duration, command.twist.numbers)
    return Goal(place, duration, modules=_in_order(control, file, command.modules or {}, place))


def _in_order(
    control: Control, file: CommandFile, modules: Mapping[str, ModuleCommand], place: int | None
) -> tuple[FloatArray, FloatArray]:
    """Angles and speeds of all modules; InputError for those that aren't there, and for those that are missing."""
    for name in modules:
        if name not in control.drive.names:
            hint = suggest(name, control.drive.names)
            raise file.error(f"the robot has no module {name!r}", place, hint, at="modules")
    missing = [name for name in control.drive.names if name not in modules]
    if missing:
        hint = "give the angle and the speed of every module, or a twist of the body"
        raise file.error(f"the modules lack {', '.join(missing)}", place, hint, at="modules")
    angles = np.array([modules[name].angle.number for name in control.drive.names])
    speeds = np.array([modules[name].speed.number for name in control.drive.names])
    for module, angle in zip(control.drive.modules, angles, strict=True):
        if not module.pivots and abs(math.remainder(angle - float(module.heading), math.pi)) > _SAME:
            raise file.error(f"the wheel {module.name!r} is not steered, and can't turn", place, at="modules")
    return angles, speeds


def _start(control: Control, file: CommandFile, level: Level) -> Setpoint:
    """The state at time 0: modules as the file has them, or as the twist needs them."""
    start = file.motion.start
    twist = np.array(start.twist.numbers)
    if not start.modules:
        state = Setpoint(twist, *control.drive.pointed(twist.tolist()))
        # where the twist points a module out of its range, all begin along their headings
        if control.drive.beyond(state.angles).any():
            state = replace(state, angles=control.drive.headings)
        return state
    angles, speeds = _in_order(control, file, start.modules, None)
    if level != "module":
        try:
            check_agreement(control.drive, twist, angles, speeds)
        except InputError as error:
            raise file.error(f"at the start {error.message}", None, error.hint, at="modules") from None
        return agreeing_state(control, twist, angles)
    return Setpoint(twist, angles, speeds)
