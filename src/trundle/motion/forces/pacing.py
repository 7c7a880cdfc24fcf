"""How slow a motion has to run for motors, battery and floor to give it, its twists as they are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace

import numpy as np

from trundle.arrays import BoolArray, FloatArray
from trundle.motion.forces.forces import motion_forces
from trundle.motion.forces.real_limits import RealLimits, planned_use
from trundle.motion.pieces.motion import Piece, Samples

# Looks at a stretch between breaks, about a peak of them, how often these close in on it, and how often what peaks
# between looks adds some.
_LOOKS, _FINER, _CLOSER, _ROUNDS = 33, 17, 4, 6
# A look that takes less than this share has no peak beside it that is above 1.
_ALMOST = 0.97
# The least pace that is tried, as a share of what was asked for, and how near to the greatest one it is found.
_LEAST, _NEAR = 2.0**-20, 1e-4
# Twists that are held take this share of what may be taken at most: with nothing left no pace leads to them.
HELD = 0.95
# Shares of a twist that are looked at at once, twice.
_SHARES = 65
# Shares above 1 by this are rounding.
_ROUNDING = 1e-9


def slower(pieces: Sequence[Piece], real: RealLimits) -> tuple[float, str | None]:
    """How many times slower pieces have to run, and what asks for it ("grip of rear_left"); inf where no pace does.

    At a pace x twists stay as they are, their rates are x times and steering's accelerations x² times as large.
    """
    looks = [piece.samples(_times(piece)) for piece in pieces if piece.duration > 0]
    if not looks:
        return 1.0, None
    samples, pace, why = Samples.joined(looks), 1.0, None
    for _ in range(_ROUNDS):
        pace, name = _greatest_pace(samples, real, pace)
        why = name or why
        if not pace:
            break
        finer = Samples.joined([_between(piece, real, pace) for piece in pieces if piece.duration > 0])
        if _most(_paced(finer, pace), real)[0] <= 1 + _ROUNDING:
            break
        samples = Samples.joined([samples, finer])
    return (1 / pace if pace else math.inf), why


def most_used(piece: Piece, real: RealLimits) -> tuple[float, str]:
    """The largest share of what may be planned with that a piece takes, and of what: between looks too, where these
    show no more than there is.
    """
    looks = piece.samples(_times(piece))
    most = _most(looks, real)
    return (
        most if most[0] > 1 + _ROUNDING else _most(Samples.joined([looks, _between(piece, real, 1.0)]), real)
    )


def held_share(steady: Samples, real: RealLimits) -> tuple[float, str]:
    """The greatest share of a steady twist (one sample) that motors and floor hold, and what binds at more; 1 where
    all of it is held.
    """
    low, high, name = 0.0, 1.0, ""
    for _ in range(2):
        tried = np.linspace(low, high, _SHARES)
        uses = _uses(_quicker(steady, tried), real)
        worst = np.max(list(uses.values()), axis=0)
        over = np.flatnonzero(worst[1:] > HELD)
        if not len(over):
            return 1.0, ""
        name = max(uses, key=lambda each: uses[each][over[0] + 1])
        low, high = tried[over[0]], tried[over[0] + 1]
    return float(low), name


def _times(piece: Piece) -> FloatArray:
    """Looks between all breaks, and both sides of these."""
    breaks = piece.breaks
    inside = breaks[:-1, None] + np.diff(breaks)[:, None] * np.linspace(0, 1, _LOOKS)
    return np.unique(np.minimum(inside, np.nextafter(breaks[1:, None], 0)))


def _between(piece: Piece, real: RealLimits, pace: float) -> Samples:
    """Looks about all peaks of shares that are near to what there is, ever closer: kinks and jumps peak, too."""
    times = _times(piece)
    for _ in range(_CLOSER):
        shares = np.array(list(_uses(_paced(piece.samples(times), pace), real).values()))
        low, high = (
            np.pad(shares, ((0, 0), (1, 1)), mode="edge")[:, k : k + shares.shape[1]] for k in (0, 2)
        )
        # of a stretch that is level but for rounding the ends alone
        higher = (shares > low + _ROUNDING) | (shares > high + _ROUNDING)
        peaks = (shares >= low) & (shares >= high) & higher & (shares > _ALMOST)
        best = np.flatnonzero(peaks.any(axis=0))
        if not len(best):
            break
        # two looks to either side: the next one may be the other side of a break
        ends = times[np.maximum(best - 2, 0)], times[np.minimum(best + 2, len(times) - 1)]
        times = np.union1d(times[best], np.linspace(*ends, _FINER))
    return piece.samples(times)


def _greatest_pace(samples: Samples, real: RealLimits, pace: float) -> tuple[float, str]:
    """The greatest pace up to one at which nothing takes more than there is, by bisection; 0 where none does.

    What is given at one pace is at slower ones: only what isn't stays to be looked at.
    """
    low, high, name = 0.0, pace, ""
    while not low or high > low * (1 + _NEAR):
        over, worst = _over(_paced(samples, pace), real)
        if not over.any():
            low = pace
        elif pace < _LEAST:
            return 0.0, worst
        else:
            high, name, samples = pace, worst, _chosen(samples, over)
        if low == high:
            break
        pace = (low + high) / 2
    return low, name


def _chosen(samples: Samples, which: BoolArray) -> Samples:
    return Samples(**{field.name: getattr(samples, field.name)[which] for field in fields(samples)})


def _paced(samples: Samples, pace: float) -> Samples:
    """The same twists at a share of the pace."""
    return replace(
        samples,
        twist_rate=samples.twist_rate * pace,
        twist_jerk=samples.twist_jerk * pace**2,
        steering_rate=samples.steering_rate * pace,
        steering_acceleration=samples.steering_acceleration * pace**2,
        steering_jerk=samples.steering_jerk * pace**3,
        drive_acceleration=samples.drive_acceleration * pace,
        drive_jerk=samples.drive_jerk * pace**2,
    )


def _quicker(steady: Samples, shares: FloatArray) -> Samples:
    """Shares (n,) of a steady twist."""
    many = Samples.joined([steady] * len(shares))
    return replace(many, twist=many.twist * shares[:, None], drive_speed=many.drive_speed * shares[:, None])


def _over(samples: Samples, real: RealLimits) -> tuple[BoolArray, str]:
    """At which samples something takes more than there is, and what does so most."""
    uses = _uses(samples, real)
    shares = np.array(list(uses.values()))
    return shares.max(axis=0) > 1, list(uses)[int(shares.max(axis=1).argmax())]


def _most(samples: Samples, real: RealLimits) -> tuple[float, str]:
    """The largest share of what may be planned with, and of what."""
    largest = {name: float(use.max()) for name, use in _uses(samples, real).items()}
    name = max(largest, key=lambda each: largest[each])
    return largest[name], name


def _uses(samples: Samples, real: RealLimits) -> dict[str, FloatArray]:
    """Shares of what may be planned with, by what binds."""
    return planned_use(motion_forces(real.driven, samples).use, real.grip)
