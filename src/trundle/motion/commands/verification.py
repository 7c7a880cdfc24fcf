"""Verification: motions at every level and profile, judged against the exact motion and the declared limits."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field, ValidationError

from trundle.arrays import FloatArray
from trundle.catalog.steered import limited_swerve
from trundle.choices import LEVELS, PROFILES, Level, ProfileShape
from trundle.documents.document import read_text
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError, TrundleError
from trundle.files import path_of
from trundle.model.arguments import Given
from trundle.motion.commands.commands import CommandFile, Commands, read_commands
from trundle.motion.commands.drive import Driven, drive
from trundle.motion.commands.record import exceeded, sample_times
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.pieces.arcs import integrate
from trundle.motion.pieces.motion import Samples
from trundle.motion.pieces.profiles import Profile, shaped
from trundle.robot.component import Component
from trundle.robot.problems import Path, problems_of, report

# How far the end may be from the exact motion's (m, rad), and how fast wheels may slip that agree (m/s).
_POSE, _SLIP = 1e-6, 1e-9
# Module angles at which the standard motions start, in degrees; twists that they go to, m/s and rad/s.
_ANGLES = (0, 30, 45, 60, 90, 120, 150, 180)
_DIAGONAL = math.sqrt(0.5)
_TWISTS = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "diagonal": (_DIAGONAL, _DIAGONAL, 0.0),
    "rotation": (0.0, 0.0, 1.0),
    "x_rotation": (0.5, 0.0, 0.5),
    "y_rotation": (0.0, 0.5, 0.5),
}


@dataclass(frozen=True)
class Verdict:
    """How one motion did at a level with a profile: its duration (s), how far its end is from the exact one (m and
    rad, the larger), the largest slip (m/s), the limits it broke, and what is wrong; nothing where it passed.
    """

    plan: str
    level: Level
    profile: ProfileShape
    duration: float
    error: float
    slip: float
    exceeded: tuple[str, ...]
    wrong: tuple[str, ...]


class _Verification(Component):
    called: ClassVar[str] = "verification"

    name: str
    description: str = ""
    include: bool = True
    simulation_file: str


class _Verifications(Component):
    called: ClassVar[str] = "verification"

    verification_base_directory: str
    verifications: dict[str, Annotated[tuple[_Verification, ...], Field(min_length=1)]]


class _File(Component):
    called: ClassVar[str] = "file of verifications"

    verification: _Verifications


def standard_motions(robot: Given | None = None) -> Iterator[CommandFile]:
    """From rest with all modules at an angle: along x, y, diagonally, turning, and both at once, to and fro."""
    names = kinematics(limited_swerve() if robot is None else robot).names
    for degrees in _ANGLES:
        modules = {name: {"angle": f"{degrees} deg"} for name in names}
        for what, (v_x, v_y, omega) in _TWISTS.items():
            for sign, way in ((1, "forward"), (-1, "backward")):
                twist = {"v_x": sign * v_x, "v_y": sign * v_y, "omega": sign * omega}
                data: dict[str, object] = {
                    "name": f"{what}_{way}_from_{degrees}_deg",
                    "start": {"modules": modules},
                    "commands": [{"duration": 2, "twist": twist}],
                }
                yield read_commands(Commands.model_validate(data))


def verification_files(source: str | os.PathLike[str]) -> list[CommandFile]:
    """The motions that a file of verifications includes, or the one that it is."""
    path = path_of(source, "verify")
    data, lines = read_yaml(read_text(path), str(path))
    if not (isinstance(data, Mapping) and "verification" in data):
        return [read_commands(path)]
    return _included(path, data, lines)


def _included(path: FilePath, data: object, lines: Mapping[Path, int]) -> list[CommandFile]:
    """The motions that basic-swerve-sim's verifications include.

    Their files lie in BASE/FOLDER. The base is looked for in the working directory, as the simulator does, then in the
    file's folder and those above it.
    """
    try:
        listed = _File.model_validate(data).verification
    except ValidationError as error:
        raise report(problems_of(error), file=str(path), lines=lines) from None
    bases = [FilePath(listed.verification_base_directory)]
    bases += [folder / listed.verification_base_directory for folder in path.resolve().parents]
    base = next((folder for folder in bases if folder.is_dir()), None)
    if base is None:
        key = ("verification", "verification_base_directory")
        raise InputError(
            f"there is no folder {listed.verification_base_directory!r}",
            file=str(path),
            line=lines[key],
            key=".".join(key),
            hint="it is looked for from the working directory and from the file's folder upward",
        )
    return [
        read_commands(base / folder / verification.simulation_file)
        for folder, verifications in listed.verifications.items()
        for verification in verifications
        if verification.include
    ]


def verify(file: CommandFile, robot: Given | None = None) -> Iterator[Verdict]:
    """The verdicts on a motion at every level, with every profile; the planner, which chooses its profile, once."""
    for level in LEVELS:
        for profile in PROFILES if level != "coordinated" else PROFILES[-1:]:
            try:
                yield judge(file, robot, level, profile)
            except TrundleError as error:
                wrong = (str(error).partition("\n")[0],)
                yield Verdict(file.motion.name, level, profile, math.nan, math.nan, math.nan, (), wrong)


def judge(file: CommandFile, robot: Given | None, level: Level, profile: ProfileShape) -> Verdict:
    """What is wrong with a motion: numbers that aren't finite, an end elsewhere, slip, limits that don't hold."""
    driven = drive(file, robot, level=level, profile=profile)
    motion = driven.motion
    samples = motion.samples(sample_times(motion.duration))
    end = motion.poses([motion.duration])[0]
    error = float(np.abs(end - _odometry(driven)).max())
    if level == "body":
        error = max(error, float(np.abs(end - _commanded(driven, file, profile)).max()))
    slip = float(samples.slip.max())
    broken = tuple(dict.fromkeys(str(limit["limit"]) for limit in exceeded(driven)))
    wrong = []
    if not all(np.isfinite(getattr(samples, name)).all() for name in Samples.__dataclass_fields__):
        wrong.append("numbers that are not finite")
    if not error <= _POSE:  # NaN is no pass
        wrong.append(f"it ends {error:.2g} from the exact motion")
    if level != "module" and slip > _SLIP:
        wrong.append(f"wheels slip at {slip:.2g} m/s")
    if level in ("limited", "coordinated") and broken:
        wrong.append(f"beyond {', '.join(broken)}")
    return Verdict(file.motion.name, level, profile, motion.duration, error, slip, broken, tuple(wrong))


def _odometry(driven: Driven) -> FloatArray:
    """Where the modules' angles and speeds say that the body ends."""
    motion = driven.motion

    def twist(times: FloatArray) -> FloatArray:
        samples = motion.samples(times)
        return motion.kinematics.drive.agreeing(samples.angle, samples.drive_speed)

    return integrate(twist, motion.breaks, motion.start).at(np.array([motion.duration]))[0]


def _commanded(driven: Driven, file: CommandFile, kind: ProfileShape) -> FloatArray:
    """Where the commanded twists lead, on straight lines by the profile; commands of modules by their twist."""
    pose, twist = driven.motion.start, np.array(file.motion.start.twist.numbers)
    states = driven.motion.samples(driven.ends).twist
    for command, reached in zip(file.motion.commands, states, strict=True):
        target = reached if command.twist is None else np.array(command.twist.numbers)
        profile = shaped(kind, 0.0, 1.0, command.duration.number)
        along = partial(_line, profile, twist, target - twist)
        x, y, theta = integrate(along, profile.breaks, pose).at(np.array([profile.duration]))[0]
        pose, twist = (float(x), float(y), float(theta)), target
    return np.array(pose)


def _line(profile: Profile, twist: FloatArray, change: FloatArray, times: FloatArray) -> FloatArray:
    """Twists (n, 3) on the straight line that a profile goes along."""
    return twist + change * profile.at(times)[:, None]


def as_row(verdict: Verdict) -> Mapping[str, object]:
    """A verdict as plain data."""
    lists = {"exceeded": list(verdict.exceeded), "wrong": list(verdict.wrong)}
    return vars(verdict) | lists | {"passed": not verdict.wrong}
