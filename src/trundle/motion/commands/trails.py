"""Commands of bases on wheels that trail: how these begin, what can't be told of them, and how far they may swing."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.motion.commands.commands import CommandFile
from trundle.motion.drive.drive import Drive, Limits
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.drive.trailing import settled
from trundle.motion.pieces.motion import Piece

# Looks between two breaks of a piece, which lie as near as wheels swing fast.
_LOOKS = 9


def powered(who: Kinematics) -> Kinematics:
    """The wheels that plans are made for: those that trail and that no motor moves go where they are drawn."""
    driven = {motor.drives for motor in who.robot.motors.values()}
    kept = tuple(m for m in who.modules if not m.trails or {m.name, f"{m.name}.steering"} & driven)
    return replace(who, modules=kept)


def refuse_modules(drive: Drive, file: CommandFile, level: str) -> None:
    """InputError for commands of modules that trail: how they stand hangs on where the base went before."""
    if not drive.trails.any():
        return
    name = drive.names[int(drive.trails.argmax())]
    message = f"a motor drives the caster {name!r}: how it stands hangs on where the base went before"
    hint = "give a twist of the body"
    if level == "module":
        hint += ", with the level body, limited or coordinated"
        raise InputError(message, key="level", hint=hint)
    for place, command in enumerate(file.motion.commands):
        if command.modules:
            raise file.error(message, place, hint, at="modules")


def begun(drive: Drive, file: CommandFile, angles: FloatArray) -> FloatArray:
    """The modules' angles at the start, (m,): those that trail behind their pivots, as the first twist draws them."""
    twists = [file.motion.start.twist.numbers]
    twists += [command.twist.numbers for command in file.motion.commands if command.twist is not None]
    for twist in reversed(twists):
        angles = settled(drive, np.array(twist), angles)
    return angles


def smoothness(drive: Drive) -> list[Limits]:
    """The limits that say how smooth profiles are: a module's own, and those of one that trails as what it does.

    Its angle's rate goes with the twist, not with the twist's rate: of its steering the jerk is one of the drive's.
    """
    return [
        Limits(drive_jerk=min(own.drive_jerk, own.steering_jerk)) if trails else own
        for own, trails in zip(drive.limits, drive.trails.tolist(), strict=True)
    ]


def require_ranges(drive: Drive, piece: Piece) -> None:
    """InputError where a module that trails leaves its steering range on a piece."""
    ranges = np.where(drive.trails, drive.ranges, np.array([[-np.inf], [np.inf]]))
    if np.isinf(ranges).all():
        return
    breaks = piece.breaks
    times = (breaks[:-1, None] + np.diff(breaks)[:, None] * np.linspace(0, 1, _LOOKS)).ravel()
    angles = piece.samples(np.minimum(times, piece.duration)).angle
    outside = np.maximum(ranges[0] - angles, angles - ranges[1]).max(axis=0)
    if outside.max() > 0:
        place = int(outside.argmax())
        low, high = (f"{math.degrees(end):.4g}°" for end in ranges[:, place])
        raise InputError(
            f"{drive.names[place]} trails its pivot, and would swing out of its range from {low} to {high}",
            hint="a wider range of its limits (lower, upper), or another command",
        )
