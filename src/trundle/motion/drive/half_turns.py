"""Half turns: a wheel rolls along its line either way, so its angle may differ by 180°, within its range.

A wheel on a pivot rolls along its velocity either way, so it may turn by t or by t ± 180°. By itself it would take the
way below 90°; but of two wheels that have to turn by 88° and 92° one would then turn left and the other right,
which yaws the robot on the way. So ways up to `MARGIN` longer than the shortest are considered, and of these the one
where the turns differ least is taken: the points t_i on a circle of 180° are cut where the gap between them is widest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.scalars import Scalar, absolute, less, maximum, minimum, where

# How much farther than need be a wheel may turn for the sake of the others, or so as not to reverse (rad). Wheels whose
# angles lie within it of one another always turn the same way. It is what teams' drives need at their quickest yaw
# while driving straight, and costs at most 0.2 s at a slow steering rate of 2 rad/s.
MARGIN = math.radians(20.0)
# What a reversal and a longer turn count (rad) between choices that are as good otherwise.
_REVERSAL, _LONGER = 1e-6, 1e-9
# The cost of a choice that is barred (rad): above any difference between turns, 3π, with all that reversals add.
_NEVER = 1e3
SLACK = 1e-9
"""An angle may be beyond an end of its range by this (rad): ranges are written in degrees, angles come out of sums."""
# Whole periods that an angle may be moved by to come into its range: four turns either way, as cables allow at most.
_PERIODS = np.arange(-8, 9)[:, None]
ALIGNED = 1e-12
"""A turn below this needs no time of its own (rad): it is the rounding of an angle of a few turns."""


def turns_into_range(
    turns: FloatArray,
    now: FloatArray,
    ranges: FloatArray,
    period: float = math.pi,
    swing: tuple[FloatArray, FloatArray] | None = None,
) -> FloatArray:
    """The least turns (m,) of wheels from where they are `now` that differ by whole periods and end in range (2, m).

    A period is half a turn, where wheels may roll backward, or a whole one. `swing`: the least and the greatest that a
    wheel turns from there on, which the range has to hold, too. NaN where a range holds none of them.
    """
    near = turns - period * np.round(turns / period)
    options = near + period * _PERIODS
    low, high = (np.zeros_like(turns),) * 2 if swing is None else swing
    ends = now + options
    outside = (ends + np.minimum(low, 0) < ranges[0] - SLACK) | (
        ends + np.maximum(high, 0) > ranges[1] + SLACK
    )
    sizes = np.where(outside, np.inf, np.abs(options))
    best = sizes.argmin(axis=0)[None]
    least = np.take_along_axis(options, best, axis=0)[0]
    return np.where(np.isinf(np.take_along_axis(sizes, best, axis=0)[0]), np.nan, least)


def chosen_halves(
    turns: Sequence[Scalar], moving: Sequence[Scalar], reverses: Sequence[Scalar], margin: Scalar = MARGIN
) -> list[Scalar]:
    """The half turns (−1, 0 or 1) that the wheels make beyond their shortest turns t_i, |t_i| ≤ π/2.

    `moving`: 1 where the wheel has a velocity to follow, else 0; `reverses`: 1 where the shortest turn changes the sign
    of its speed. Of the choices whose largest turn is at most `margin` above the smallest possible one, the one with
    the least difference between turns, then with the fewest reversals.
    """
    none: list[Scalar] = [0] * len(turns)
    shortest = _largest(turns, moving)
    best, halves = _cost(turns, moving, reverses, none, shortest + margin), none
    # the circle is cut above wheel k or below it: wheels up to k go half a turn on, or those from k on half a turn back
    for k, edge in enumerate(turns):
        low = [1 if i == k else moving[i] * (1 - less(edge, turn)) for i, turn in enumerate(turns)]
        high = [-1 if i == k else moving[i] * (less(turn, edge) - 1) for i, turn in enumerate(turns)]
        for tried in (low, high):
            cost = _cost(turns, moving, reverses, tried, shortest + margin)
            cost = where(moving[k], cost, _NEVER)
            better = less(cost, best)
            best = minimum(best, cost)
            halves = [where(better, new, old) for new, old in zip(tried, halves, strict=True)]
    return halves


def _largest(turns: Sequence[Scalar], moving: Sequence[Scalar]) -> Scalar:
    """The largest turn of those wheels that move (rad)."""
    worst: Scalar = 0
    for turn, moves in zip(turns, moving, strict=True):
        worst = maximum(worst, absolute(turn) * moves)
    return worst


def _cost(
    turns: Sequence[Scalar],
    moving: Sequence[Scalar],
    reverses: Sequence[Scalar],
    halves: Sequence[Scalar],
    bound: Scalar,
) -> Scalar:
    """What a choice of half turns costs (rad): the difference between the turns; `_NEVER` beyond the bound."""
    made = [turn + math.pi * half for turn, half in zip(turns, halves, strict=True)]
    highest: Scalar = -math.pi
    lowest: Scalar = math.pi
    count: Scalar = 0
    for turn, moves, half, reverse in zip(made, moving, halves, reverses, strict=True):
        highest = maximum(highest, where(moves, turn, -math.pi))
        lowest = minimum(lowest, where(moves, turn, math.pi))
        count = count + moves * absolute(reverse - absolute(half))
    largest = _largest(made, moving)
    cost = highest - lowest + _REVERSAL * count + _LONGER * largest
    return where(less(bound, largest), _NEVER, cost)
