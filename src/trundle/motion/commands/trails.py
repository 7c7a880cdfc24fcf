"""Commands of bases on wheels that trail: how these begin, what can't be told of them, and how far they may swing."""

from __future__ import annotations

import math

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.motion.commands.commands import CommandFile
from trundle.motion.commands.steps import Control, State, Step, Target
from trundle.motion.drive.drive import Drive, Limits
from trundle.motion.drive.trailing import settled
from trundle.motion.forces.trailing_pace import taken
from trundle.motion.pieces.motion import Piece
from trundle.motion.pieces.pieces import TwistLine
from trundle.motion.pieces.profiles import shaped

# A twist that is held takes at most this share of what there is, but for rounding.
_HELD = 1 + 1e-9
# Looks between two breaks of a piece, which lie as near as wheels swing fast.
_LOOKS = 9


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


def quickest_trailing(
    control: Control, state: State, target: Target, twist: FloatArray, notes: tuple[str, ...]
) -> Step:
    """The least time to a twist that was found, which is then held to the end of the command's time."""
    from trundle.motion.planning.trailing_plans import between  # late: the other levels don't wait for it

    drive = control.drive
    way = between(drive, state.twist, twist, state.angles, control.real)
    pieces, spare = way.pieces, target.duration - way.duration
    if way.candidates[0].way.startswith("stop"):
        notes += ("goes through rest",)
    if spare > 0:
        held = shaped("linear", 0.0, 0.0, spare)
        hold = TwistLine(drive, twist, np.zeros(3), held, way.end_angles)
        share, (what, owner) = taken(hold, control.real)
        if share > _HELD:
            message = f"while casters settle the twist takes {share:.4g} times the {what} of {owner}"
            raise InputError(message, hint="a slower twist before, or here")
        pieces = (*pieces, hold)
    else:
        notes += (f"takes {way.duration:.4g} s, not {target.duration:g}",)
    for piece in pieces:
        require_ranges(drive, piece)
    last = pieces[-1].samples(np.array([pieces[-1].duration]))
    return Step(pieces, State(twist, last.angle[0], last.drive_speed[0]), (), notes)
