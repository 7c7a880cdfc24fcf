"""Least sums of squares of many robots' gaps at once, each lane by itself: Gauss and Newton's steps that never lead up.

Gaps are smooth but for kinks, where the deepest point of a wheel jumps or its spline's curvature does. There a step may
lead up at any length, and the search goes on along one unknown alone. It ends where neither leads down.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray

# Steps at most, and by how much the longest one turns anything (rad).
_STEPS, _LONGEST = 100, 0.3
# What a step may still change of the gaps where the search ends (m).
_DONE = 1e-13
# A step that brings nothing is tried at this share, until it is shorter than this (rad or m): then gaps have a kink.
_SHARE, _SHORTEST = 0.25, 1e-9
# So many steps that lessen the gaps by no more than rounding are as good as one that brings nothing.
_STALE = 4
# How far to look along one unknown (rad or m), and to what share of themselves the gaps must fall to go on so.
_LOOK, _GAINS = 1e-3, 0.999


class GaussNewtonStep(NamedTuple):
    """A step of Gauss and Newton of robots.

    gaps : where they are (gaps, robots) in m
    change : of their unknowns (unknowns, robots), NaN where slopes are no numbers
    left : by how much it changes any gap (robots,), as slopes say (m)
    down : the one unknown whose small change lessens the gaps most, ±1 (unknowns, robots); 0 where none does
    off : whether they are where no pose may be (robots,)
    """

    gaps: FloatArray
    change: FloatArray
    left: FloatArray
    down: FloatArray
    off: np.ndarray


def least_gaps(
    step: Callable[[FloatArray, np.ndarray], GaussNewtonStep],
    start: FloatArray,
    lanes: np.ndarray,
    finest: FloatArray,
    width: FloatArray,
) -> tuple[FloatArray, np.ndarray]:
    """Unknowns (unknowns, robots) with the least gaps, and which robots (robots,) of these lanes got there.

    step : the step of candidates (unknowns, lanes) for lanes; the first unknown is a height, others may be angles
    finest : what rounding leaves of gaps (robots,) in m
    width : half the width of the differences that slopes come from (robots,)
    """
    descent = _Descent(start, finest, width)
    for _ in range(_STEPS):
        if not lanes.size:
            break
        lanes = lanes[~descent.ended(step(descent.tried(lanes), lanes), lanes)]
    return descent.best, descent.settled


class _Descent:
    """Where the robots of a search stand: the best unknowns, what gaps these leave, and what is tried next."""

    def __init__(self, start: FloatArray, finest: FloatArray, width: FloatArray) -> None:
        count = start.shape[1]
        self.best, self.finest, self.width = start.copy(), finest, width
        self.change, self.down = np.zeros_like(start), np.zeros_like(start)
        self.size, self.before, self.share = np.full(count, np.inf), np.full(count, np.inf), np.ones(count)
        self.stale, self.edge = np.zeros(count, dtype=int), np.zeros(count, dtype=bool)
        self.settled = np.zeros(count, dtype=bool)

    def tried(self, lanes: np.ndarray) -> FloatArray:
        """What robots try next."""
        return np.asarray(self.best[:, lanes] + self.share[lanes] * self.change[:, lanes])

    def ended(self, step: GaussNewtonStep, lanes: np.ndarray) -> np.ndarray:
        """Whether the searches of lanes end with what they tried; where it is better, it is the best."""
        size = np.sqrt((step.gaps**2).sum(axis=0))
        self.edge[lanes] |= step.off
        better = (size <= self.size[lanes] + self.finest[lanes]) & np.isfinite(step.change).all(axis=0)
        # What stays of gaps that can't vanish is known as well as slopes are.
        enough = np.maximum(_DONE, self.finest[lanes] * np.maximum(1.0, size / self.width[lanes]))
        arrived = better & (step.left <= enough)
        gains = self.size[lanes] - size > self.finest[lanes]
        self.stale[lanes] = np.where(gains, 0, self.stale[lanes] + better)
        self._take(step, size, better, lanes)
        self.share[lanes[~better]] *= _SHARE
        length = self.share[lanes] * np.abs(self.change[:, lanes]).max(axis=0)
        short = (~better & (length < _SHORTEST)) | (~arrived & (self.stale[lanes] > _STALE))
        stops = short & ~self._turned(short, lanes)
        self.settled[lanes] = arrived | (stops & np.isfinite(self.size[lanes]) & ~self.edge[lanes])
        return arrived | stops

    def _take(self, step: GaussNewtonStep, size: FloatArray, better: np.ndarray, lanes: np.ndarray) -> None:
        """Take what was tried where it is better."""
        best, lanes = self.tried(lanes)[:, better], lanes[better]
        self.best[:, lanes], self.change[:, lanes] = best, step.change[:, better]
        self.down[:, lanes] = step.down[:, better]
        self.size[lanes] = np.minimum(self.size[lanes], size[better])
        turns = np.abs(self.change[1:, lanes]).max(axis=0)
        self.share[lanes] = np.minimum(1.0, _LONGEST / np.maximum(turns, _LONGEST))

    def _turned(self, short: np.ndarray, lanes: np.ndarray) -> np.ndarray:
        """Turn steps that have become short along the one unknown that leads down; which of the lanes have one."""
        leads = short & self.down[:, lanes].any(axis=0)
        leads &= self.size[lanes] < _GAINS * self.before[lanes]
        self.before[lanes[short]] = self.size[lanes[short]]
        self.stale[lanes[short]] = 0
        self.change[:, lanes[leads]], self.share[lanes[leads]] = _LOOK * self.down[:, lanes[leads]], 1.0
        return leads
