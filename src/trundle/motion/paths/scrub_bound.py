"""A time that no motion of a base beats whose wheels slide to turn: the phase plane of its true laws.

How the wheels slide follows from z̈ and b = ż², so that no force is free: at a place and a b the laws leave some z̈.
With the greatest, b′ ≤ 2 z̈⁺(z, b); with the least, b′ ≥ 2 z̈⁻(z, b). So no b is above a curve that begins as high as
laws leave any z̈ at all, and rises no faster; nor above one that does so from the end. The laws are asked on a grid,
so the curves are as good as that. Bobrow, Dubowsky & Gibson 1985, "Time-optimal control of robotic manipulators along
specified paths".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.forces.demand import Demand, affine
from trundle.motion.forces.real_limits import planned_use

# Times of a plan's b at which laws are asked, and how many z̈ beside the plan's own, as far as all friction goes.
_LEVELS = np.array([1.0, 1.04, 1.15, 1.5, 2.5])
_TRIED = 10
# b in a cell's middle hangs on b at its end: so often it is put in, with what is left of 1 by slopes at least.
_AGAIN, _STEEP = 4, 0.1
# What z̈ counts at least, as a share of all friction: where it moves nothing it may be anything.
_NOTHING = 1e-18
# Shares above 1 by this are rounding, and what plans leave.
_ROUNDING = 1e-6
# Times of a plan's b at its ends, from or to rest, up to which laws are asked there.
_AT_REST = np.geomspace(1.0, 20.0, 301)


class Asked(NamedTuple):
    """What laws say: the demand at z (n,), shares of declared limits (n,) at z, z̈ and b, and the grip planned with."""

    demand: Callable[[FloatArray], Demand]
    declared: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    grip: float

    def worst(self, z: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
        """The largest share (n,) of what may be planned with."""
        use = planned_use(self.demand(z).forces(a, b).use, self.grip)
        return np.maximum(np.max(list(use.values()), axis=0), self.declared(z, a, b))

    def at_rest(self, z: float, planned: float) -> float:
        """The most b at an end of a path where it rests, whatever z̈ is there."""
        b = planned * _AT_REST
        held = self.worst(np.full(len(b), z), np.zeros(len(b)), b) <= 1 + _ROUNDING
        return float(b[min(int(np.flatnonzero(held).max(initial=0)) + 1, len(b) - 1)])


@dataclass(frozen=True, eq=False)
class PhasePlane:
    """In cells of `widths` (K,): b at levels (K, L), the least and the greatest z̈ there, (K, L), and the most b, (K,).

    What is above the most has the z̈ of the level below; above the last level z̈ goes on linearly, as from rest.
    """

    widths: FloatArray
    levels: FloatArray
    least: FloatArray
    greatest: FloatArray
    most: FloatArray

    @classmethod
    def of(cls, z: FloatArray, plan: tuple[FloatArray, FloatArray], asked: Asked) -> PhasePlane:
        """Of cells between z (K + 1,), with a plan's b and z̈ in their middles (K,)."""
        middles = (z[1:] + z[:-1]) / 2
        levels = plan[0][:, None] * _LEVELS
        places, b = np.repeat(middles, len(_LEVELS)), levels.ravel()
        tried = _tried(asked.demand(places), b, np.repeat(plan[1], len(_LEVELS)))
        many = tried.shape[1]
        every, a, b = np.repeat(places, many), tried.ravel(), np.repeat(b, many)
        worst = asked.worst(every, a, b).reshape(tried.shape)
        shape = levels.shape
        least, greatest = (edge.reshape(shape) for edge in _edges(tried, worst))
        return cls(np.diff(z), levels, *_kept(levels, least, greatest, worst.min(axis=1).reshape(shape)))

    def above(self, ends: tuple[float, float]) -> FloatArray:
        """b between cells, (K + 1,), that no motion is above of, with b at the ends at most."""
        cells = list(zip(self.levels, self.greatest, self.widths.tolist(), self.most.tolist(), strict=True))
        back = list(zip(self.levels, -self.least, self.widths.tolist(), self.most.tolist(), strict=True))
        return np.minimum(_swept(cells, ends[0]), _swept(back[::-1], ends[1])[::-1])


_Cell = tuple[FloatArray, FloatArray, float, float]


def _swept(cells: list[_Cell], first: float) -> FloatArray:
    """The curve (K + 1,) that begins in `first` and rises by twice the rates of cells at most."""
    curve = [first]
    for levels, rates, width, most in cells:
        begin = curve[-1] = min(curve[-1], most)
        after = begin
        for _ in range(_AGAIN):
            middle = (begin + after) / 2
            rate, slope = _line(levels, rates, middle)
            # after = begin + 2 h (rate + slope ((begin + after)/2 - middle)): b falls fast where it is high
            after = (begin + 2 * width * (rate + slope * (begin / 2 - middle))) / max(
                1 - width * slope, _STEEP
            )
            after = max(after, float(levels[0]))
        curve.append(min(after, most))
    return np.array(curve)


def _line(levels: FloatArray, rates: FloatArray, b: float) -> tuple[float, float]:
    """The rate at b, linear between levels and beyond the last, and its slope."""
    k = int(np.clip(np.searchsorted(levels, b) - 1, 0, len(levels) - 2))
    slope = float((rates[k + 1] - rates[k]) / (levels[k + 1] - levels[k]))
    return float(rates[k]) + slope * (b - float(levels[k])), slope


def _tried(demand: Demand, b: FloatArray, planned: FloatArray) -> FloatArray:
    """z̈ (n, tries), rising, beyond which all friction isn't enough, at b (n,); and the plan's own."""
    driven, balance = demand.driven, demand.balance
    base = list(driven.here.assembly.base_columns)
    lever = float(np.abs([complex(*map(float, wheel.position)) for wheel in driven.wheels]).max()) or 1.0
    loads = affine(demand.loads, np.zeros_like(b)[:, None], b[:, None])[:, balance.on]
    most = np.maximum(loads, 0.0) @ driven.friction
    low, high = np.full((2, len(b)), [[-np.inf], [np.inf]])
    for own, holds in ((base[:2], most), (base[2:], lever * most)):
        part = demand.needed[:, own]
        middle, half = _within(part[0] + part[2] * b, part[1], holds)
        low, high = np.maximum(low, middle - half), np.minimum(high, middle + half)
    high = np.maximum(low, high)
    tried = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, _TRIED)
    return np.sort(np.concatenate([tried, planned[:, None]], axis=1), axis=1)


def _within(p: FloatArray, q: FloatArray, most: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The middle and half of the x (n,) with |p + q x| ≤ most, p and q (k, n); none where no x has that."""
    square = np.maximum((q * q).sum(axis=0), _NOTHING * most**2)
    middle = -(p * q).sum(axis=0) / square
    left = most**2 - ((p + q * middle) ** 2).sum(axis=0)
    return middle, np.sqrt(np.maximum(left, 0.0) / square)


def _edges(tried: FloatArray, worst: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest z̈ (n,) whose share is 1, between tries; nan where all shares are above."""
    held = worst <= 1 + _ROUNDING
    rows = np.arange(len(tried))

    def edge(inside: np.ndarray, step: int) -> FloatArray:
        outside = np.clip(inside + step, 0, tried.shape[1] - 1)
        here, there = worst[rows, inside], worst[rows, outside]
        share = np.where(there > here, np.clip((1 - here) / np.maximum(there - here, 1e-12), 0, 1), 0.0)
        edges = tried[rows, inside] + share * (tried[rows, outside] - tried[rows, inside])
        return np.where(held.any(axis=1), edges, np.nan)

    last = tried.shape[1] - 1 - held[:, ::-1].argmax(axis=1)
    return edge(held.argmax(axis=1), -1), edge(last, 1)


def _kept(
    levels: FloatArray, least: FloatArray, greatest: FloatArray, share: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The z̈ of levels, those of the last known one where there are none, and the most b where shares (K, L) pass 1."""
    known = np.isfinite(greatest)
    known[:, 0] = True  # the plan itself goes there
    last = known.shape[1] - 1 - known[:, ::-1].argmax(axis=1)
    rows, count = np.arange(len(levels)), levels.shape[1]
    beyond = np.minimum(last + 1, count - 1)
    here, there = share[rows, last], share[rows, beyond]
    part = np.where(there > here, np.clip((1 - here) / np.maximum(there - here, 1e-12), 0, 1), 0.0)
    most = levels[rows, last] + part * (levels[rows, beyond] - levels[rows, last])
    most = np.where(last == count - 1, np.inf, most)
    filled = []
    for rates in (least, greatest):
        place = np.maximum.accumulate(np.where(np.isfinite(rates), np.arange(count), 0), axis=1)
        filled.append(np.nan_to_num(np.take_along_axis(rates, place, axis=1), nan=0.0))
    return filled[0], filled[1], most
