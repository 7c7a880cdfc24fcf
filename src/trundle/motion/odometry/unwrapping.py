"""Readings of encoders that begin anew after a turn, or after some counts, made to go on: for logs and for odometry.

columns ──► after how much they begin anew ──► of every step the whole turns that bring it nearest to a forecast
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.model.arguments import number
from trundle.motion.odometry.counts import TURN
from trundle.scalars import wrap

# By so many turns readings may lie beyond one: files have them rounded, to three digits and more.
_ROUNDED = 1e-3
# Steps farther than so many turns from their forecast are refused: the two nearest then differ by less than 10 %.
_SURE = 0.45
# Below so many turns stay the steps of a column that is taken to begin anew though nobody says so.
_SHORT = 0.25
_ANSWER = "say it: wraps: 360 deg of the encoders, wraps: 65536 with their ticks, or wraps: no"


@dataclass(frozen=True)
class Wraps:
    """After how much readings begin anew (rad): after `turns` where that is `declared`, else perhaps after one.

    Errors have the `key`, and columns are called by the `prefix` and a name.
    """

    turns: tuple[float, ...] = (TURN,)
    declared: bool = False
    key: str = "wraps"
    prefix: str = ""

    @staticmethod
    def of(given: float | str | None) -> Wraps:
        """As an argument says it: an angle, "no", or None."""
        if given is None or given == "no":
            return Wraps() if given is None else Wraps((), declared=True)
        turn = number(given, "wraps", "rad")
        if turn <= 0:
            raise InputError(f"expected an angle above 0, got {turn:g} rad", key="wraps")
        return Wraps((turn,), declared=True)

    def turn_of(self, name: str, angles: FloatArray, sure: bool) -> float | None:
        """After how much a column (n,) begins anew; None where it doesn't. InputError where that is doubtful, unless
        its steps are `sure`, or where readings don't fit what is declared.
        """
        steps = np.abs(np.diff(angles))
        for turn in self.turns:
            jumps, fits = steps > turn / 2, np.ptp(angles) <= (1 + _ROUNDED) * turn
            if self.declared and not fits:
                message = f"'{self.prefix}{name}' reads from {angles.min():.6g} to {angles.max():.6g} rad"
                message = f"{message}, and is to begin anew after {turn:.6g} rad"
                raise InputError(message, key=self.key, hint=_ANSWER)
            if self.declared or (fits and jumps.any()):
                taken = np.where(jumps, turn - steps, steps)
                if not (self.declared or sure) and (jumps.all() or taken.max() >= _SHORT * turn):
                    message = (
                        f"'{self.prefix}{name}' steps by up to {steps.max():.4g} rad within {turn:.4g} rad"
                    )
                    message = f"{message}: it may begin anew after that, or not"
                    raise InputError(message, key=self.key, hint=_ANSWER)
                return turn
        return None

    def refuse(self, name: str, step: float, turn: float, when: str = "") -> None:
        """Raise InputError for a step that may be another one."""
        other = f"{step - math.copysign(turn, step):.4g} rad{when}, and nothing says by which"
        message = f"'{self.prefix}{name}' turned by {step:.4g} or by {other}"
        hint = f"its readings begin anew after {turn:.4g} rad: take them more often, or log its rate, too"
        raise InputError(message, key=self.key, hint=hint)


def unwrap(
    series: Mapping[str, FloatArray],
    times: FloatArray,
    wraps: Wraps,
    steered: Collection[str],
    rates: Mapping[str, FloatArray],
) -> dict[str, FloatArray]:
    """Columns of encoders that go on where they began anew, by name.

    Parameters
    ----------
    series : mapping of str to array (n,)
        Angles (rad) at `times` (n,), s.
    wraps : Wraps
        After how much they begin anew.
    steered : collection of str
        Those that count within half a turn: of steering, and joints that it hangs on.
    rates : mapping of str to array (n,)
        Rates (rad/s) of columns that have some; NaN where there is none.

    Returns
    -------
    dict of str to array (n,)
        By name. The others' steps are those nearest to a forecast: by the rate, else what it turned in as long a time
        before, at first 0.

    Raises
    ------
    InputError
        Whether a column begins anew is doubtful, or by how much it stepped, or it doesn't fit what is declared.
    """
    found, counters = {}, replace(wraps, turns=tuple(t for t in wraps.turns if wraps.declared or t != TURN))
    for name, angles in series.items():
        turn = (counters if name in steered else wraps).turn_of(name, angles, name in rates)
        if turn is not None and name in steered:  # a counter of steering began near 0
            angles = np.unwrap(np.append(0.0, angles), period=turn)[1:]
        elif turn is not None:
            angles = _nearest(name, times, angles, turn, wraps, rates.get(name))
        found[name] = np.unwrap(angles, period=TURN) if name in steered else angles
    return found


def _nearest(
    name: str, times: FloatArray, angles: FloatArray, turn: float, wraps: Wraps, rate: FloatArray | None
) -> FloatArray:
    """A column whose steps are those nearest to their forecasts; InputError where two are about as near."""
    when, whole, spans = times.tolist(), angles[:1].tolist(), np.diff(times)
    told = np.full(spans.size, np.nan) if rate is None else (rate[1:] + rate[:-1]) / 2 * spans
    for angle, span, by_rate in zip(angles[1:].tolist(), spans.tolist(), told.tolist(), strict=True):
        before = whole[-1] - _at(when[len(whole) - 1] - span, when, whole)
        forecast = before if math.isnan(by_rate) else by_rate
        missing = angle - whole[-1] - forecast
        off = math.remainder(missing, turn)
        if abs(off) > _SURE * turn:
            wraps.refuse(name, forecast + off, turn, f" up to {when[len(whole)]:g} s")
        whole.append(angle - turn * round((missing - off) / turn))
    return np.array(whole)


def _at(time: float, times: Sequence[float], values: Sequence[float]) -> float:
    """A value at a time up to the last one's, on the line between its neighbours; before the first one that."""
    place = bisect_right(times, time, 0, len(values))
    if place in (0, len(values)):
        return values[max(place - 1, 0)]
    start, end = times[place - 1 : place + 1]
    return values[place - 1] + (time - start) / (end - start) * (values[place] - values[place - 1])


def reduced(
    increments: FloatArray, names: Sequence[str], wraps: Wraps, steered: Collection[str]
) -> FloatArray:
    """Increments (n, …) of readings that begin anew, the nearest to 0; InputError where two are about as near."""
    rows = np.array(increments, dtype=float)
    for turn in wraps.turns if wraps.declared else ():
        for name, row in zip(names, rows.reshape(len(names), -1), strict=True):
            wraps.turn_of(name, np.append(0.0, np.abs(row)), sure=True)
            row[:] = wrap(row, turn)
            near = row[np.abs(row).argmax()]
            if name not in steered and abs(near) > _SURE * turn:
                wraps.refuse(name, near, turn)
    return rows
