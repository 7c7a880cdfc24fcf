"""Commands: what a drive is asked to do over time, in Trundle's YAML and in that of the swerve simulator
basic-swerve-sim.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationError, model_validator

from trundle.documents.document import read_text
from trundle.documents.runspec import ReadsConstant
from trundle.documents.writer import to_yaml
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError
from trundle.expected import came
from trundle.files import path_of
from trundle.robot import units
from trundle.robot.component import Component, default, plain
from trundle.robot.problems import Path, problems_of, report
from trundle.robot.values import Value, describe, problem

_Length = Annotated[Value, ReadsConstant(units.LENGTH)]
_Angle = Annotated[Value, ReadsConstant(units.ANGLE)]
_Speed = Annotated[Value, ReadsConstant(units.SPEED)]
_Rate = Annotated[Value, ReadsConstant(units.RATE)]


def _positive(time: Value) -> Value:
    """The time itself; an error where nothing could be done in it."""
    if time.number <= 0:
        raise problem(f"expected a time above zero, got {time.source}", "give the time to get there, in s")
    return time


_Time = Annotated[Value, ReadsConstant(units.TIME), AfterValidator(_positive)]

# Twists and poses as numbers: v_x, v_y (m/s), ω (rad/s); x, y (m), θ (rad).
Three = tuple[float, float, float]


def _check_one(key: str, whole: object, modules: object) -> None:
    """An error where a command says how the base moves and what its modules do, or neither."""
    if (whole is None) == (modules is None):
        came = "neither" if whole is None else "both"
        raise problem(f"a command has a {key} or modules, this one has {came}", "give one of them")


class ModuleCommand(Component):
    """What a module does: the angle along which its wheel rolls, in the body's frame, and how fast."""

    called: ClassVar[str] = "module's command"

    angle: _Angle = Field(description="In the body's frame (rad).")
    speed: _Speed = default(0.0, "Along that angle (m/s), negative backward. Default 0.")


class TwistCommand(Component):
    """How the body moves, in its own frame."""

    called: ClassVar[str] = "twist"

    v_x: _Speed = default(0.0, "Forward (m/s).")
    v_y: _Speed = default(0.0, "To the left (m/s).")
    omega: _Rate = default(0.0, "Turning to the left (rad/s).")

    @property
    def numbers(self) -> Three:
        """v_x, v_y (m/s), ω (rad/s)."""
        return self.v_x.number, self.v_y.number, self.omega.number


class StartPose(Component):
    """Where the body begins, in the world."""

    called: ClassVar[str] = "pose"

    x: _Length = default(0.0, "In the world (m).")
    y: _Length = default(0.0, "In the world (m).")
    theta: _Angle = default(0.0, "Heading in the world (rad).")

    @property
    def numbers(self) -> Three:
        """x, y (m), θ (rad)."""
        return self.x.number, self.y.number, self.theta.number


class Start(Component):
    """The state at time 0."""

    called: ClassVar[str] = "start"

    pose: StartPose = default({}, "Where the body is. Default: at the origin.")
    twist: TwistCommand = default({}, "How it moves. Default: at rest.")
    modules: dict[str, ModuleCommand] = default({}, "What the modules do. Default: what the twist needs.")


class Command(Component):
    """What is to be reached at the end of a time: a twist of the body, or angles and speeds of all modules."""

    called: ClassVar[str] = "command"

    duration: _Time = Field(description="How long it takes to get there (s).")
    twist: TwistCommand | None = default(None, "The body's motion at the end.")
    modules: dict[str, ModuleCommand] | None = default(None, "What the modules do at the end.")

    @model_validator(mode="after")
    def _one_of_both(self) -> Command:
        _check_one("twist", self.twist, self.modules)
        return self


class Commands(Component):
    """A start and what is to be done from there, one command after the other."""

    called: ClassVar[str] = "motion"

    name: str = Field(min_length=1, description="Names the folder of the results.")
    description: str = default("", "What it is, for people.")
    start: Start = default({}, "The state at time 0. Default: at rest at the origin.")
    commands: tuple[Command, ...] = Field(min_length=1, description="One after the other.")

    @property
    def duration(self) -> float:
        """The sum of the commands' times, in s."""
        return sum(command.duration.number for command in self.commands)


class MotionFile(Component):
    """A motion of a drive, for Trundle."""

    called: ClassVar[str] = "file of a motion"

    trundle: Literal[1] = Field(description="Version of this format: 1.")
    motion: Commands = Field(description="The motion.")


class _Plane(Component):
    x: _Length
    y: _Length


class _Velocity(Component):
    x: _Speed
    y: _Speed


class _Heading(Component):
    z: _Angle


class _Turning(Component):
    z: _Rate


class _BodyVelocity(Component):
    called: ClassVar[str] = "body"

    linear_velocity_in_meters_per_second: _Velocity
    angular_velocity_in_radians_per_second: _Turning

    @property
    def twist(self) -> dict[str, object]:
        linear = self.linear_velocity_in_meters_per_second
        turning = self.angular_velocity_in_radians_per_second
        return {"v_x": linear.x, "v_y": linear.y, "omega": turning.z}


class _BodyState(_BodyVelocity):
    position_in_meters_relative_to_world: _Plane
    orientation_in_radians_relative_to_world: _Heading

    @property
    def pose(self) -> dict[str, object]:
        place = self.position_in_meters_relative_to_world
        return {"x": place.x, "y": place.y, "theta": self.orientation_in_radians_relative_to_world.z}


class _NamedModule(Component):
    called: ClassVar[str] = "module"

    name: str
    orientation_in_radians_relative_to_body: _Angle
    velocity_in_meters_per_second: _Speed


def _distinct(modules: tuple[_NamedModule, ...]) -> tuple[_NamedModule, ...]:
    """The modules themselves; an error where two have one name."""
    names = [_identifier(module) for module in modules]
    for place, name in enumerate(names):
        if name in names[:place]:
            raise problem(f"the module {modules[place].name!r} stands twice", "keep one of them", (place,))
    return modules


_Modules = Annotated[tuple[_NamedModule, ...], Field(min_length=1), AfterValidator(_distinct)]


def _identifier(module: _NamedModule) -> str:
    """A module's name as an identifier: left-front is left_front."""
    return module.name.replace("-", "_")


def _by_name(modules: Sequence[_NamedModule]) -> dict[str, object]:
    """The modules' commands by their names."""
    return {
        _identifier(module): {
            "angle": module.orientation_in_radians_relative_to_body,
            "speed": module.velocity_in_meters_per_second,
        }
        for module in modules
    }


class _SimulatorStart(Component):
    called: ClassVar[str] = "start_state"

    body: _BodyState
    modules: _Modules


class _SimulatorCommand(Component):
    called: ClassVar[str] = "command"

    time_span: _Time
    body: _BodyVelocity | None = None
    modules: _Modules | None = None

    @model_validator(mode="after")
    def _one_of_both(self) -> _SimulatorCommand:
        _check_one("body", self.body, self.modules)
        return self

    @property
    def command(self) -> dict[str, object]:
        target = {"twist": self.body.twist} if self.body else {"modules": _by_name(self.modules or ())}
        return {"duration": self.time_span, **target}


class _SimulatorPlan(Component):
    called: ClassVar[str] = "plan"

    name: str = Field(min_length=1)
    description: str = ""
    start_state: _SimulatorStart
    commands: Annotated[tuple[_SimulatorCommand, ...], Field(min_length=1)]

    @property
    def motion(self) -> Commands:
        start = self.start_state
        body, modules = start.body, _by_name(start.modules)
        data: dict[str, object] = {"name": self.name, "description": self.description}
        data["start"] = {"pose": body.pose, "twist": body.twist, "modules": modules}
        data["commands"] = tuple(command.command for command in self.commands)
        return Commands.model_validate(data)


class _SimulatorFile(Component):
    called: ClassVar[str] = "file of a motion"

    plan: _SimulatorPlan


@dataclass(frozen=True)
class CommandFile:
    """Commands with the file they came from, as it was written.

    Parameters
    ----------
    motion : Commands
        What is asked for.
    document : MotionFile or the simulator's
        The same as the file has it; it is written back in that format, names unchanged.
    file : str, optional
        Where it was read.
    lines : mapping of key paths to int
        The lines of its keys there.
    """

    motion: Commands
    document: Component
    file: str | None = None
    lines: Mapping[Path, int] = field(default_factory=dict)

    def text(self) -> str:
        """The file again: the same data in the same format."""
        return to_yaml(plain(self.document))

    def error(self, message: str, place: int | None, hint: str | None = None, *, at: str = "") -> InputError:
        """An error at a command, by its place, or at the start (None), with file and line."""
        simulator = isinstance(self.document, _SimulatorFile)
        top: Path = ("plan",) if simulator else ("motion",)
        start = "start_state" if simulator else "start"
        path: Path = (*top, start) if place is None else (*top, "commands", place)
        # keys that the file doesn't have are reported at what should hold them
        path = (*path, at) if at and (*path, at) in self.lines else path
        return InputError(
            message, file=self.file, line=self.lines.get(path), key=".".join(map(str, path)), hint=hint
        )


# Commands as callers have them: a path, what a file would hold, or commands themselves.
GivenCommands = str | os.PathLike[str] | Mapping[str, object] | Commands | CommandFile


# Files of paths: `trundle.follow` drives along them.
_PATHS = (".path", ".traj")


def read_commands(source: GivenCommands) -> CommandFile:
    """The commands in a file: Trundle's `motion:`, or basic-swerve-sim's `plan:`. Nothing in it is ever executed.

    Parameters
    ----------
    source : str, path, mapping or Commands
        A YAML file, or the plain data that one would hold.

    Returns
    -------
    CommandFile
        `motion`, and where it stands.

    Raises
    ------
    InputError
        With file, line and key of what is wrong.

    Examples
    --------
    >>> from trundle.motion.commands.commands import read_commands
    >>> turn = {"name": "turn", "commands": [{"duration": "2 s", "twist": {"omega": "90 deg/s"}}]}
    >>> read_commands({"motion": turn}).motion.duration
    2.0
    """
    if isinstance(source, CommandFile):
        return source
    if isinstance(source, Commands):
        return CommandFile(source, MotionFile(trundle=1, motion=source))
    if isinstance(source, Mapping):
        return _checked(source if "plan" in source else {"trundle": 1, **source}, None, {})
    if not isinstance(source, (str, os.PathLike)):
        hint = "a YAML file or a mapping of its keys; trundle.follow(path) drives along a path"
        raise InputError(f"drive takes commands, not {came(source)}", key="commands", hint=hint)
    path = path_of(source, "drive")
    if path.suffix in _PATHS:
        hint = f"trundle.follow({str(source)!r}) drives along it"
        raise InputError("is a path, and drive takes commands", file=str(path), hint=hint)
    file = str(path)
    if path.suffix not in (".yaml", ".yml"):
        from trundle.documents.json_files import refuse_no_motion  # late: most commands are YAML

        refuse_no_motion(path)
    data, lines = read_yaml(read_text(path), file)
    return _checked(data, file, lines)


def _checked(data: object, file: str | None, lines: Mapping[Path, int]) -> CommandFile:
    """Commands from plain data of either format; InputError with file and line of the first key that is wrong."""
    if not isinstance(data, Mapping) or not {"plan", "motion"} & set(data):
        there = f"the keys {', '.join(map(str, data))}" if isinstance(data, Mapping) else describe(data)
        hint = "a motion starts with 'trundle: 1' and 'motion:', the simulator's with 'plan:'"
        raise InputError(f"expected a motion, got {there}", file=file, line=lines.get(()), hint=hint)
    try:
        if "plan" in data:
            theirs = _SimulatorFile.model_validate(data)
            return CommandFile(theirs.plan.motion, theirs, file, lines)
        document = MotionFile.model_validate(data)
        return CommandFile(document.motion, document, file, lines)
    except ValidationError as error:
        raise report(problems_of(error), file=file, lines=lines) from None
