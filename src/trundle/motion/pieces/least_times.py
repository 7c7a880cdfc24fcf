"""The least times of one value under limits of its derivatives, in closed form, and the motions that take them.

Of Biagiotti & Melchiorri 2008, "Trajectory planning for automatic machines and robots", sections 3.2 and 3.4: from rest
to rest the seven phases are symmetric, so that nothing has to be searched for.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.motion.pieces.profiles import Profile


def change_time(change: npt.ArrayLike, acceleration: npt.ArrayLike, jerk: npt.ArrayLike) -> FloatArray:
    """The least time of a change of speed: 2 √(Δ/j), or Δ/a + a/j where that is more."""
    change, a, j = np.broadcast_arrays(
        *(np.asarray(x, dtype=float) for x in (np.abs(change), acceleration, jerk))
    )
    with np.errstate(invalid="ignore", over="ignore"):
        limited = change / a + np.where(np.isinf(j), 0.0, a / j)
        return np.where(change * j <= a * a, 2 * np.sqrt(change / j), limited)


def move_time(
    distance: npt.ArrayLike, speed: npt.ArrayLike, acceleration: npt.ArrayLike, jerk: npt.ArrayLike
) -> FloatArray:
    """The least time of a distance from rest to rest."""
    distance = np.abs(np.asarray(distance, dtype=float))
    peak = np.minimum(speed, _peak(distance, acceleration, jerk))
    ramp = change_time(peak, acceleration, jerk)
    with np.errstate(divide="ignore", invalid="ignore"):
        cruise = np.where(np.isinf(peak), 0.0, np.maximum(0.0, distance / peak - ramp))
    return np.where((distance > 0) & np.isfinite(peak), 2 * ramp + cruise, 0.0)


def _peak(distance: FloatArray, acceleration: npt.ArrayLike, jerk: npt.ArrayLike) -> FloatArray:
    """The speed in the middle, where only acceleration and jerk are limited."""
    a, j = np.asarray(acceleration, dtype=float), np.asarray(jerk, dtype=float)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        rounded = np.where(np.isinf(j), 0.0, a * a / j)
        straight = (np.sqrt(rounded**2 + 4 * a * distance) - rounded) / 2
        curved = (distance * np.sqrt(j) / 2) ** (2 / 3)
        peak = np.where(np.isinf(a), curved, np.where(distance * j * j <= 2 * a**3, curved, straight))
    return np.where(np.isinf(a) & np.isinf(j), np.inf, peak)


def move(distance: float, speed: float, acceleration: float, jerk: float) -> Profile:
    """The motion of least time over a distance, from rest to rest."""
    if not distance:
        return Profile(np.zeros(2), np.zeros((1, 1)))
    length = abs(distance)
    peak = min(speed, _middle(length, acceleration, jerk))
    if math.isinf(peak):
        return Profile(np.zeros(2), np.array([[distance]]))
    up = _ramp(peak, acceleration, jerk)
    cruise = max(0.0, length / peak - sum(span for span, _, _ in up))
    phases = [*up, (cruise, 0.0, 0.0), *((span, -a, -j) for span, a, j in _backward(up))]
    jumps = math.isinf(acceleration) and math.isinf(jerk)
    return _joined(phases, math.copysign(1.0, distance), peak if jumps else 0.0)


def _middle(distance: float, acceleration: float, jerk: float) -> float:
    """`_peak` of one distance."""
    if math.isinf(acceleration) or distance * jerk * jerk <= 2 * acceleration**3:
        return math.inf if math.isinf(jerk) else (distance * math.sqrt(jerk) / 2) ** (2 / 3)
    rounded = acceleration * acceleration / jerk
    return (math.sqrt(rounded**2 + 4 * acceleration * distance) - rounded) / 2


def change(start: float, end: float, acceleration: float, jerk: float) -> Profile:
    """The position during the fastest change from a speed to another one, from acceleration zero to zero."""
    sign = math.copysign(1.0, end - start)
    return _joined(_ramp(abs(end - start), acceleration, jerk), sign, start * sign)


def _ramp(speed: float, acceleration: float, jerk: float) -> list[tuple[float, float, float]]:
    """Spans of a change of speed, with the accelerations at their starts and the jerks in them."""
    if math.isinf(acceleration) and math.isinf(jerk):
        return [(0.0, 0.0, 0.0)]
    if math.isinf(jerk):
        return [(speed / acceleration, acceleration, 0.0)]
    top = min(acceleration, math.sqrt(speed * jerk))
    if not top:
        return [(0.0, 0.0, 0.0)]
    rise = top / jerk
    return [(rise, 0.0, jerk), (max(0.0, speed / top - rise), top, 0.0), (rise, top, -jerk)]


def _backward(ramp: list[tuple[float, float, float]]) -> list[tuple[float, float, float]]:
    """The phases of a ramp in the other order of time: accelerations begin where they ended."""
    return [(span, a + j * span, -j) for span, a, j in reversed(ramp)]


def _joined(phases: list[tuple[float, float, float]], sign: float, speed: float) -> Profile:
    """The position through phases (span, acceleration, jerk) from 0 at a speed, x += Δt (v + Δt (a/2 + Δt j/6)).

    Phases without a span are left out; `sign` turns all of it round.
    """
    rows, breaks, x, v = [], [0.0], 0.0, speed
    for span, a, j in phases:
        if span > 0:
            rows.append([x, v, a / 2, j / 6])
            breaks.append(breaks[-1] + span)
            x, v = x + span * (v + span * (a / 2 + span * j / 6)), v + span * (a + span * j / 2)
    if not rows:
        return Profile(np.zeros(2), np.array([[0.0, speed * sign]]))
    return Profile(np.array(breaks), sign * np.array(rows))
