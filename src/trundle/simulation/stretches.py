"""Inputs that are smooth on stretches of time and may jump between them: cubic splines, asked for together."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from trundle.arrays import FloatArray
from trundle.simulation.signals import Signal

# What signals change by from one stretch to the next that is rounding, as a part of their largest value: an integrator
# that stopped there would start anew for nothing.
_SAME = 1e-6


def smooth_between(nodes: Sequence[FloatArray], values: Sequence[FloatArray]) -> list[Signal]:
    """Signals by what they are on stretches of time, smooth inside: cubic splines that may jump from one to the next.

    nodes: times (n,) of every stretch, where the last one ends and the next begins; values: (n, signals) there. What is
    between nodes is taken for smooth: no step has to stop for it.
    """
    from scipy.interpolate import CubicSpline

    starts = np.concatenate([*(times[:-1] for times in nodes), nodes[-1][-1:]])
    pieces = np.concatenate([CubicSpline(*stretch).c for stretch in zip(nodes, values, strict=True)], axis=1)
    scale = _SAME * np.max([np.abs(rows).max(axis=0) for rows in values], axis=0)
    jumps = [np.abs(b[0] - a[-1]) > scale for a, b in pairwise(values)]
    steps = np.array(jumps, dtype=bool).reshape(-1, len(scale))
    begins = np.array([times[0] for times in nodes[1:]])
    spline = _Splines(starts, pieces)
    return [
        Signal(spline.one(k), tuple(begins[steps[:, k]].tolist()), slope=spline.slope(k), many=spline.many(k))
        for k in range(len(scale))
    ]


class _Splines:
    """Cubic pieces between times (k + 1,) of several signals, coefficients (4, k, signals), highest power first.

    They are asked for one by one, at one time after another: all are computed at once, and kept until the next time.
    """

    def __init__(self, times: FloatArray, coefficients: FloatArray) -> None:
        self._times, self._starts = times, times.tolist()
        self._pieces = np.ascontiguousarray(coefficients.transpose(1, 0, 2))
        self._time, self._values = math.nan, list[float]()

    def one(self, place: int) -> Callable[[float], float]:
        """The value of one of them at a time (s); beyond both ends that at the end."""

        def value(time: float) -> float:
            if time != self._time:
                (a, b, c, d), s = self._piece(time)
                self._time, self._values = time, (((a * s + b) * s + c) * s + d).tolist()
            return self._values[place]

        return value

    def slope(self, place: int) -> Callable[[float], float]:
        """Its derivative."""

        def slope(time: float) -> float:
            (a, b, c, _), s = self._piece(time)
            inside = self._starts[0] <= time <= self._starts[-1]
            return float((3 * a[place] * s + 2 * b[place]) * s + c[place]) if inside else 0.0

        return slope

    def many(self, place: int) -> Callable[[FloatArray], FloatArray]:
        """Its values at many times."""

        def many(times: FloatArray) -> FloatArray:
            pieces = np.clip(np.searchsorted(self._times, times, "right") - 1, 0, len(self._pieces) - 1)
            a, b, c, d = self._pieces[pieces, :, place].T
            s = np.clip(times, self._times[0], self._times[-1]) - self._times[pieces]
            return ((a * s + b) * s + c) * s + d

        return many

    def _piece(self, time: float) -> tuple[FloatArray, float]:
        place = min(max(bisect_right(self._starts, time) - 1, 0), len(self._pieces) - 1)
        return self._pieces[place], min(max(time, self._starts[0]), self._starts[-1]) - self._starts[place]
