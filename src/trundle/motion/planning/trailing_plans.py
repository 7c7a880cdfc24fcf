"""Plans of bases on casters that motors drive: lines of twists, at the least time at which their casters may swing.

No angle has to be reached before such a base moves, and none follows from a twist: how casters stand hangs on the way
and its pace. So ways from a twist to another one are straight or through rest, and the paces of both are tried.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from trundle.arrays import FloatArray
from trundle.choices import Shape
from trundle.errors import InputError
from trundle.motion.drive.drive import Drive
from trundle.motion.forces.real_limits import RealLimits
from trundle.motion.forces.trailing_pace import quickest, slowed
from trundle.motion.pieces.motion import Piece, total
from trundle.motion.pieces.pieces import TwistLine, straight
from trundle.motion.pieces.profiles import Profile, move, shaped
from trundle.motion.planning.search import Candidate, Transition, decided, transition

# What the search begins with (m/s²): from there it goes either way.
_GUESS = 3.0
# Lines begin in parts at these shares of their twists: near to a twist that takes nearly all that there is only slow
# changes are left.
_PARTS = (0.0, 0.1, 0.35, 0.65, 0.9)


def between(
    drive: Drive, start: FloatArray, end: FloatArray, angles: FloatArray, real: RealLimits | None = None
) -> Transition:
    """The fastest of all ways from a twist to another one; motors and floor count where modules trail."""
    if not drive.trails.any():
        return transition(drive, start, end, angles)
    if drive.still(drive.velocities(end - start)).all():
        return Transition((), angles, (Candidate("straight", 0.0, "chosen"),), 0.0)
    ways = {"straight line of twists": [start, end]}
    if start.any() and end.any():
        ways["stop: brake, then go"] = [start, np.zeros(3), end]
    options: list[tuple[str, tuple[Piece, ...]]] = []
    lost: list[Candidate] = []
    limit = math.inf
    for name, twists in ways.items():
        pieces, reached = _lines(drive, twists if _jerks(drive) else _parted(twists), angles, real, limit)
        if reached:
            options.append((name, pieces))
            limit = min(limit, total(pieces))
        else:
            spent = total(pieces)
            why = (
                f"takes {spent - limit:.3g} s longer at least"
                if spent >= limit
                else "limits give it at no pace"
            )
            lost.append(Candidate(name, spent if spent >= limit else math.inf, why))
    if not options:
        message = "what limits it gives the way to this twist at no pace that was tried"
        raise InputError(message, hint="a slower twist, wider limits, or grip=None")
    # how fast contacts may follow where angles hang on the way nothing says in general: the bound is 0 s
    return decided(options, lost, angles, 0.0)


def _lines(
    drive: Drive, twists: Sequence[FloatArray], angles: FloatArray, real: RealLimits | None, limit: float
) -> tuple[tuple[Piece, ...], bool]:
    """Straight lines from twist to twist in their least times, and whether they come to the last one in less than a
    limit (s).
    """
    pieces: list[Piece] = []
    rate = _GUESS
    for start, end in pairwise(twists):
        over = _line(drive, start, end - start, angles, rate)
        factor, _ = quickest(over, real)
        if math.isinf(factor):
            return tuple(pieces), False
        rate /= factor
        pieces.append(over(factor))
        if total(pieces) >= limit:
            return tuple(pieces), False
        angles = pieces[-1].end_angles
    return tuple(pieces), True


def _parted(twists: Sequence[FloatArray]) -> list[FloatArray]:
    """The same lines in parts."""
    parts = [start + share * (end - start) for start, end in pairwise(twists) for share in _PARTS]
    return [*parts, twists[-1]]


def _line(
    drive: Drive, start: FloatArray, change: FloatArray, angles: FloatArray, rate: float
) -> Callable[[float], TwistLine]:
    """A line of twists by how many times slower it is than the fastest module's velocity at a rate (m/s²)."""
    shape: Shape = "trapezoidal" if _jerks(drive) else "linear"
    guess = float(np.abs(drive.velocities(change)).max()) / rate
    return lambda factor: TwistLine(drive, start, change, shaped(shape, 0.0, 1.0, guess * factor), angles)


def _jerks(drive: Drive) -> bool:
    """Whether a twist's rate must not jump: steering's acceleration goes with that of casters, so only for jerks."""
    return bool((np.isfinite(drive.steering[2]) | np.isfinite(drive.rolling[2])).any())


def trailing_arc(drive: Drive, twist: FloatArray, angles: FloatArray, limit: float) -> Piece | None:
    """The arc of a twist in 1 s from rest to rest, in the least time that limits leave; None where they leave none, or
    none below a limit (s).

    The way is the same at every pace, and so is how casters stand on it.
    """
    sizes = np.abs(drive.velocities(twist))
    moving = ~drive.still(drive.velocities(twist))
    speed, acceleration, jerk = (drive.rolling[:, moving] / sizes[moving]).min(axis=1)
    going = move(1.0, speed, acceleration, jerk)
    if going.duration >= limit:
        return None  # an arc that hardly bends has no end: its casters aren't asked for

    def over(factor: float) -> Piece:
        coefficients = going.coefficients / factor ** np.arange(going.coefficients.shape[1])
        return straight(drive, twist, Profile(going.breaks * factor, coefficients), angles)

    factor, _ = slowed(over, None)
    return None if math.isinf(factor) else over(factor)
