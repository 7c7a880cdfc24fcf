"""How much slower motions have to run for limits to hold at every instant, and what share of steady twists can be held.

At a pace x the rates of twists are x times as large, steering's rates x, its accelerations x² and its jerks x³ times.
Along a way twists are x times as large, too (`Samples.along_way`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.polynomial import chebyshev

from trundle.arrays import FloatArray, IntArray
from trundle.motion.constraints.constraint import Constraints
from trundle.motion.forces.forces import Demand
from trundle.motion.pieces.motion import Piece, Samples

# The least pace, or share of a twist, that is tried, and how near to the greatest one it is found.
_LEAST, _NEAR = 2.0**-20, 1e-8
# Shares above 1 by this are rounding, those so near to it bind, and of more than this it need not be known how much.
_ROUNDING, _BINDS, _FAR = 1e-9, 1e-3, 2.0
# A first step goes down by so much and what is too much at most, in logarithms.
_STRIDE, _STRIDES = 1.0, 3.0
# A stretch of which a polynomial's last terms are above this is cut in so many parts where that may hide a larger
# share: the terms that it hasn't may be so many times as large. Never finer than this (s).
_SMOOTH, _PARTS, _HIDDEN, _FINEST = 1e-7, 8, 10.0, 1e-12

# Chebyshev's points of an interval, both ends among them; shares are smooth there.
NODES = (1 + chebyshev.chebpts2(8)) / 2
SERIES = np.linalg.inv(chebyshev.chebvander(2 * NODES - 1, 7)).T
# What is below this, or its square, is no share that binds; and in place of no second difference.
_NOWHERE_NEAR = 0.25
_STRAIGHT = 1e-300
_BETWEEN = SERIES @ chebyshev.chebvander(np.linspace(-1, 1, 129), 7).T

_Reasons = npt.NDArray[np.object_]


class PaceLimit(NamedTuple):
    """How many times slower a motion has to run, inf where no pace does, and what asks for it; "" where nothing."""

    factor: float
    name: str


def slowdown(
    pieces: Sequence[Piece],
    constraints: Constraints,
    at_pace: Callable[[Samples, FloatArray], Samples] = Samples.at_pace,
) -> list[PaceLimit]:
    """How much slower pieces have to run, each by itself, for constraints to hold at every instant."""
    moving = [piece for piece in pieces if piece.duration > 0]
    paces = iter(_greatest(_Stretches(moving, constraints, at_pace).share, len(moving)) if moving else ())
    found = [next(paces) if piece.duration > 0 else (1.0, "") for piece in pieces]
    return [PaceLimit(1 / pace if pace else math.inf, name) for pace, name in found]


def most_taken(piece: Piece, constraints: Constraints) -> tuple[float, str]:
    """The largest share that a piece takes of constraints at any instant, and of what."""
    (share,), (name,) = _Stretches([piece], constraints).share(np.zeros(1, dtype=int), np.ones(1))
    return float(share), name


def hold(steady: Samples, constraints: Constraints, most: float) -> list[tuple[float, str]]:
    """The greatest shares up to 1 of steady twists (n,) at which constraints are taken up to so much at most, and what
    binds at more; 0 where none is held.
    """

    def shared(own: Samples, part: FloatArray) -> Samples:
        return replace(own, twist=own.twist * part[:, None], drive_speed=own.drive_speed * part[:, None])

    asked = _Paced(constraints, steady, shared)

    def share(which: IntArray, part: FloatArray) -> tuple[FloatArray, _Reasons]:
        found = asked.shares(which, part)
        return _largest(np.array([*found.values()]) / most, list(found))

    return _greatest(share, len(steady))


def _greatest(
    look: Callable[[IntArray, FloatArray], tuple[FloatArray, _Reasons]], count: int
) -> list[tuple[float, str]]:
    """Of each the greatest x up to 1 at which nothing takes more than there is, 0 where none does, and what does so
    above it: false position on the logarithms. What holds at one x is taken to hold below it.

    `look` says of some, at their x, the largest share and what takes it.
    """
    paces, names = np.ones(count), np.full(count, "", dtype=object)
    which: IntArray = np.arange(count)
    x, last = np.ones(count), np.zeros(count, dtype=bool)
    low, below, high, above = np.zeros((4, count))
    while len(which):
        worst, why = look(which, x)
        over, size = worst > 1 + _ROUNDING, np.log(np.clip(worst, _LEAST, 1 / _LEAST))
        binds = over | (x < 1) & (size > -_BINDS)
        names[which[binds]] = why[binds]
        # an end that stays a second time counts half, so that both move (Illinois)
        stays = np.where(over == last, 0.5, 1.0)
        low, below = np.where(over, (low, below * stays), (x, size))
        high, above = np.where(over, (x, size), (high, above * stays))
        paces[which] = low
        on = np.where(over, high > _LEAST, (x < 1) & (size < -_NEAR)) & (high > low * (1 + _NEAR))
        which, last = which[on], over[on]
        low, below, high, above = (part[on] for part in (low, below, high, above))
        with np.errstate(divide="ignore", invalid="ignore"):
            way = np.exp((np.log(high) * below - np.log(low) * above) / (below - above))
        down = high * np.exp(-_STRIDE - np.minimum(above, _STRIDES))
        x = np.where(low > 0, np.clip(way, low, high), down) * (1 - _ROUNDING)
    return list(zip(paces.tolist(), names.tolist(), strict=True))


def _largest(taken: FloatArray, names: Sequence[str]) -> tuple[FloatArray, _Reasons]:
    """The largest of shares (names, n), and what they are of: of those alike but for rounding the first."""
    most = taken.max(axis=0)
    return most, np.array(names, dtype=object)[(taken >= most * (1 - _ROUNDING)).argmax(axis=0)]


class _Paced:
    """What constraints ask at samples of which x is chosen, by `at(samples, x)`: forces are affine in (1, x, x²)."""

    def __init__(
        self,
        constraints: Constraints,
        samples: Samples,
        at: Callable[[Samples, FloatArray], Samples],
        times: FloatArray | None = None,
    ) -> None:
        self.constraints, self.samples, self.at, self.times = constraints, samples, at, times
        self.demand = self._demand(samples)

    def _demand(self, samples: Samples) -> Demand | None:
        if self.constraints.driven is None:
            return None
        return Demand.paced(self.constraints.driven, lambda x: self.at(samples, np.full(len(samples), x)))

    def add(self, samples: Samples, times: FloatArray) -> None:
        """More samples, and when they are."""
        self.samples = Samples.joined([self.samples, samples])
        self.times = None if self.times is None else np.append(self.times, times)
        if self.demand is not None and (further := self._demand(samples)) is not None:
            self.demand = Demand.joined(self.demand, further)

    def shares(self, which: IntArray, x: FloatArray) -> dict[str, FloatArray]:
        """By what binds, the share that samples (n,) at their x take of it; of "" 0 where nothing does."""
        samples, forces = self.at(self.samples.chosen(which), x), None
        if self.demand is not None:
            nu = self.demand.balance.driven.speeds(samples)
            forces = self.demand.chosen(which).forces_at(nu, x, x**2)
        times = None if self.times is None else self.times[which]
        return self.constraints.shares(samples, forces, times) or {"": np.zeros(len(x))}


class _Stretches:
    """Stretches of pieces, whose they are, and samples at their nodes; cut where these don't show how much binds."""

    def __init__(
        self,
        pieces: Sequence[Piece],
        constraints: Constraints,
        at_pace: Callable[[Samples, FloatArray], Samples] = Samples.at_pace,
    ) -> None:
        self.pieces, self.constraints, self.at_pace = pieces, constraints, at_pace
        self.owner, self.ends = np.zeros(0, dtype=int), np.zeros((0, 2))
        self.asked: _Paced | None = None
        # what follows a break counts there: a stretch ends one double before
        ends = [np.stack([p.breaks[:-1], np.nextafter(p.breaks[1:], 0)], axis=1) for p in pieces]
        self._add(np.repeat(np.arange(len(pieces)), list(map(len, ends))), np.concatenate(ends))

    def _add(self, owner: IntArray, ends: FloatArray) -> None:
        """More stretches, of whom and from when to when."""
        order = np.lexsort((ends[:, 0], owner))
        owner, ends = owner[order], ends[order]
        times = ends[:, :1] + np.diff(ends, axis=1) * NODES
        new = [self.pieces[k].samples(times[owner == k].ravel()) for k in np.unique(owner)]
        self.owner, self.ends = np.append(self.owner, owner), np.concatenate([self.ends, ends])
        if self.asked is None:
            self.asked = _Paced(self.constraints, Samples.joined(new), self.at_pace, times.ravel())
        else:
            self.asked.add(Samples.joined(new), times.ravel())

    def share(self, which: IntArray, pace: FloatArray) -> tuple[FloatArray, _Reasons]:
        """The largest share that pieces (q,) take at paces (q,), between nodes too, and of what."""
        on = np.flatnonzero(np.isin(self.owner, which))
        place = np.searchsorted(which, self.owner[on])
        nodes = (on[:, None] * len(NODES) + np.arange(len(NODES))).ravel()
        assert self.asked is not None
        found = self.asked.shares(nodes, np.repeat(pace[place], len(NODES)))
        most, rest = most_between(np.array([*found.values()]).reshape(len(found), -1, len(NODES)))
        every = np.zeros((len(which), len(found)))
        np.maximum.at(every, place, most.T)
        worst, names = _largest(every.T, list(found))
        near = np.maximum(worst, 1.0)[place]
        with np.errstate(invalid="ignore", over="ignore"):
            hides = (rest > _SMOOTH) & (most + _HIDDEN * rest > near) & (near < _FAR)
        unsure = hides.any(axis=0) & (np.diff(self.ends[on], axis=1)[:, 0] > _FINEST)
        if unsure.any():
            cut, again = on[unsure], np.unique(place[unsure])
            ends = np.linspace(self.ends[cut, 0], self.ends[cut, 1], _PARTS + 1)
            self._add(
                np.tile(self.owner[cut], _PARTS), np.stack([ends[:-1].ravel(), ends[1:].ravel()], axis=1)
            )
            self.owner[cut] = -1
            worst[again], names[again] = self.share(which[again], pace[again])
        return worst, names


def most_between(share: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The largest on intervals (…, K) of shares at their nodes (…, K, 8), and what stands in it for the terms that a
    polynomial hasn't, (…, K).
    """
    signed = np.asarray((share < 0).any(axis=(-2, -1), keepdims=True))
    nodes = np.where(signed, share, share**2)
    with np.errstate(invalid="ignore"):  # no grip at all is infinite use, and so is what follows of it
        terms = np.abs(nodes @ SERIES)
        rest = terms[..., -2:].max(axis=-1)
        # the sum of all terms is no less: that will do far below 1
        most = terms.sum(axis=-1) + rest
        near = ~(most < _NOWHERE_NEAR)
        # a peak between looks is that of a parabola with the largest second difference, and the larger of the last
        # terms bounds the rest: about a peak in the middle every other one is none
        looked = nodes[near] @ _BETWEEN
        bend = np.abs(np.diff(looked, 2, axis=1)).max(axis=1, keepdims=True) + _STRAIGHT
        higher = np.maximum(bend / 2 - np.abs(np.diff(looked, axis=1)), 0.0) ** 2 / (2 * bend)
        peaks = np.maximum(looked[:, :-1], looked[:, 1:]) + higher
        most[near] = np.nan_to_num(peaks.max(axis=1) + rest[near], nan=np.inf)
    return np.where(signed[..., 0], most, np.sqrt(np.maximum(most, 0))), np.nan_to_num(rest, nan=np.inf)
