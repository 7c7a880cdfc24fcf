"""How slow a motion has to run where wheels trail: how they stand hangs on the pace, so paces are tried one by one."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from trundle.motion.drive.drive import QUANTITIES
from trundle.motion.forces.pacing import most_used
from trundle.motion.forces.real_limits import RealLimits
from trundle.motion.pieces.extremes import peaks
from trundle.motion.pieces.motion import Piece

# What asks for a pace: a limit or "grip" and so on, and of which module, motor or battery.
Why = tuple[str, str]

# A pace is found to this share, or where something takes as nearly all that there is; in so many tries at most.
_NEAR, _TRIES = 2e-3, 14
# Shares above 1 by this are rounding.
_ROUNDING = 1e-9
# Slower than this no pace is tried; and none where so much slower changed a share by less than so much of itself.
_SLOWEST, _AT_MOST, _ALIKE = 2.0**8, 4.0, 0.01
# Paces are at least so much slower from step to step, by shares to this power at most, and a little farther than these
# ask for: so a step ends where the pace is held.
_LEAST, _STEEPEST, _FARTHER = 1.01, 8.0, 1.1
# A first guess is hastened so often at most.
_HASTENED = 20
# A share that counts as much as any greater one, and its inverse: of lifted wheels they are infinite, and a line to
# there says nothing.
_MOST = 4.0
# Steps of the search keep this share of what is left from both ends.
_INSIDE = 0.05


def quickest(over: Callable[[float], Piece], real: RealLimits | None) -> tuple[float, Why | None]:
    """The least factor, above 1 or below, at which a piece may run, and what asks for it; inf where none was found."""
    factor, first = 1.0, taken(over(1.0), real)
    held = first[0]
    if held > 1 + _ROUNDING:
        return _slowed(over, real, first)
    for _ in range(_HASTENED):
        share, why = taken(over(factor / _AT_MOST), real)
        if share > 1 + _ROUNDING:
            return _closed_in(over, real, (factor / _AT_MOST, share), (factor, held)), why
        factor, held = factor / _AT_MOST, share
    return factor, None


def slowed(over: Callable[[float], Piece], real: RealLimits | None) -> tuple[float, Why | None]:
    """How many times slower than at 1 a piece has to run, and what asks for it; inf where no pace was found.

    over: the piece at a pace, its limits those of its drive.
    """
    return _slowed(over, real, taken(over(1.0), real))


def _slowed(
    over: Callable[[float], Piece], real: RealLimits | None, first: tuple[float, Why]
) -> tuple[float, Why | None]:
    """The same, with what a piece takes at 1."""
    factor, why = 1.0, None
    share, name = first
    if share <= 1 + _ROUNDING:
        return factor, None
    low, above, power = factor, share, 1.0
    while share > 1 + _ROUNDING:
        low, above, why = factor, share, name
        if factor >= _SLOWEST:
            return math.inf, why
        factor *= min(max(min(share, _MOST) ** power, _LEAST), _AT_MOST)
        share, name = taken(over(factor), real)
        if factor / low >= _AT_MOST and share > above * (1 - _ALIKE):
            return math.inf, name
        # by how much shares fall with the pace the last step says
        fell = math.log(above / share) if share < above < math.inf else math.inf
        power = min(max(_FARTHER * math.log(factor / low) / fell, 1.0), _STEEPEST)
    return _closed_in(over, real, (low, above), (factor, share)), why


def _closed_in(
    over: Callable[[float], Piece],
    real: RealLimits | None,
    low: tuple[float, float],
    high: tuple[float, float],
) -> float:
    """The least factor between one whose largest share is above 1 and one whose isn't, by false position of logs."""
    (bad, above), (good, below) = low, high
    for _ in range(_TRIES):
        if good < bad * (1 + _NEAR) or below > 1 - _NEAR:
            break
        # shares go with powers of the pace: a line between logarithms
        over_it, under_it = math.log(min(above, _MOST)), math.log(max(below, 1 / _MOST))
        line = over_it / (over_it - under_it)
        at = bad * (good / bad) ** min(max(line * (1 + _INSIDE), _INSIDE), 1 - _INSIDE)
        share, _ = taken(over(at), real)
        if share > 1 + _ROUNDING:
            bad, above = at, share
        else:
            good, below = at, share
    return good


def taken(piece: Piece, real: RealLimits | None) -> tuple[float, Why]:
    """The largest share of what there is that a piece takes, speeds of wheels aside, and of what; of motors and floor
    where declared limits leave it.
    """
    largest, why = _declared(piece)
    if real is not None and largest <= 1 + _ROUNDING:
        share, name = most_used(piece, real)
        if share > largest:
            what, _, owner = name.partition(" of ")
            return share, (what, owner)
    return largest, why


def _declared(piece: Piece) -> tuple[float, Why]:
    """The largest share of declared limits, and of which one of which module."""
    drive = piece.drive
    bounds = np.concatenate([drive.steering, drive.rolling[1:]])
    if np.isinf(bounds).all():
        return 0.0, ("", "")
    largest, why = 0.0, ("", "")
    for peak in peaks(piece, steady=False):
        if QUANTITIES[peak.quantity][1]:
            share = peak.value / drive.limits[peak.module].of(peak.quantity)
            if share > largest:
                largest, why = share, (peak.quantity, drive.names[peak.module])
    return largest, why
