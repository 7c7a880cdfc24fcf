"""What a path takes of motors and floor at the nodes of its intervals, and between: shares of what there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from trundle.arrays import BoolArray, FloatArray, IntArray
from trundle.errors import NumericsError
from trundle.motion.constraints.constraint import Constraints, Moving, shares
from trundle.motion.constraints.slowdown import NODES, SERIES, most_between
from trundle.motion.forces.forces import Demand
from trundle.motion.paths.along_path import WISHES, wishing
from trundle.motion.paths.path_scaling import MOVED, Scaling, passed
from trundle.motion.pieces.motion import Samples

# `WEIGHTS` make integrals of shares at the nodes, `WISHED` what they are at the places of wishes.
WEIGHTS = SERIES @ [0.0 if k % 2 else 1 / (1 - k * k) for k in range(8)]
WISHED = SERIES @ chebyshev.chebvander(2 * WISHES - 1, 7).T
# Where a polynomial's last terms are above this, the terms that it hasn't may be so many times as large.
_SMOOTH, _HIDDEN = 1e-3, 10.0
# Ends of intervals count this share of one inside.
_INSIDE = 1e-9
# Rounds in which ż² is guessed, by how much at most in one, and the share of it that is a crawl.
_GUESSES, _FAR, _CRAWL = 7, 1e3, 1e-6

# The largest shares on intervals by name, and what stands in them for the terms that polynomials haven't.
_Most = dict[str, tuple[FloatArray, FloatArray]]


class TimedPath(NamedTuple):
    """How fast a path is followed, and what is wished of the contacts' forces at `WISHES`, (intervals, 3, forces)."""

    scaling: Scaling
    pushes: FloatArray


@dataclass(frozen=True, eq=False)
class PathProblem:
    """What is passed along z from 0 to 1, by its samples at ż = 1 and z̈ = z⃛ = 0, and what limits it.

    passed: (z, ż² at most) where the path is to be passed slowly; `jerks`: whether any limit is one of jerks.
    """

    samples: Callable[[FloatArray], Samples]
    constraints: Constraints
    jerks: bool
    passed: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, eq=False)
class CollocationGrid:
    """What a path takes at the nodes of all intervals, or of so many `parts` of them, for shares there and between."""

    knots: FloatArray
    problem: PathProblem
    places: IntArray
    parts: int = 1

    @classmethod
    def on(cls, knots: FloatArray, problem: PathProblem) -> CollocationGrid:
        """The grid on the intervals between knots (K + 1,)."""
        return cls(knots, problem, np.arange(len(knots) - 1))

    @cached_property
    def z(self) -> FloatArray:
        """The nodes, (n,); the ends of intervals from within, as limits and what is passed may jump there."""
        within = np.clip(_within(self.parts), _INSIDE, 1 - _INSIDE)
        return (self.knots[self.places, None] + np.diff(self.knots)[self.places, None] * within).ravel()

    @cached_property
    def unit(self) -> Samples:
        """What is passed there at ż = 1."""
        unit = self.problem.samples(self.z)
        if not all(np.isfinite(getattr(unit, name)).all() for names in MOVED for name in names):
            raise NumericsError("the path is too sharp or too long: what moves along it has no finite rates")
        return unit

    @cached_property
    def demand(self) -> Demand | None:
        """What that takes of motors and floor, where these count."""
        driven = self.problem.constraints.driven
        return None if driven is None else Demand.along(driven, self.unit)

    @property
    def pushes(self) -> int:
        """How many forces contacts have."""
        return 0 if self.demand is None else self.demand.balance.rows.shape[1]

    def closer(self, timed: TimedPath, parts: int) -> CollocationGrid | None:
        """The grid on so many parts of those intervals on which this one doesn't show what binds; or None."""
        return self._at_parts(self._unsure(self._most(timed)), parts)

    def _at_parts(self, unsure: BoolArray, parts: int) -> CollocationGrid | None:
        return CollocationGrid(self.knots, self.problem, self.places[unsure], parts) if unsure.any() else None

    def nothing(self) -> TimedPath:
        """A pace of 1 and no wishes: forces of least norm are as good as any."""
        count = len(self.knots) - 1
        scaling = Scaling(self.knots, np.tile([1.0, 0.0, 0.0], (count, 1)))
        return TimedPath(scaling, np.zeros((count, len(WISHES), self.pushes)))

    def nodes(self, timed: TimedPath) -> dict[str, FloatArray]:
        """The shares of all that binds at the nodes of the intervals, (K, nodes)."""
        within = _within(self.parts)
        piece = np.repeat(self.places, len(within))
        inside = np.tile(within, len(self.places)) * np.diff(self.knots)[piece]
        wished = np.einsum("nj,kjf->knf", wishing(within), timed.pushes[self.places])
        taken = self.shares(*timed.scaling.squared(piece, inside), wished.reshape(len(piece), -1))
        return {name: share.reshape(-1, len(NODES)) for name, share in taken.items()}

    def shares(
        self, b: FloatArray, slope: FloatArray, bend: FloatArray, wished: FloatArray | None = None
    ) -> dict[str, FloatArray]:
        """The same for b, b′/2 and b″/2 (n,), and for wishes (n, forces)."""
        moved = passed(self.unit, b, slope, bend)
        forces = {} if self.demand is None else {"forces": self.demand.forces(slope, b, wished)}
        return shares(self.problem.constraints.each, Moving(samples=moved, times=self.z, **forces))

    def expected(self) -> FloatArray:
        """About what ż² may be at most, (n,): where it stays as it is, and by what it can change to others."""
        most, none = np.ones((2, len(self.z))), np.zeros(len(self.z))
        for way, last in enumerate(most):
            for _ in range(_GUESSES):
                taken = self.shares(*((last, none, none) if not way else (_CRAWL * most[0], last, none)))
                # speeds go with the root, jerks with another one: what is off halves in its logarithm
                share = np.max([none, *taken.values()], axis=0)
                last *= 1 / np.clip(share, 1 / _FAR, _FAR)
        b, a = np.minimum(most, _FAR * np.median(most, axis=1, keepdims=True))
        # no step rises by more than all that there is: rounding would leave nothing of what is small
        rise = np.append(0.0, np.cumsum(np.minimum((a[1:] + a[:-1]) * np.diff(self.z), b.max())))
        b = rise + np.minimum.accumulate(b - rise)
        return np.minimum.accumulate((b + rise)[::-1])[::-1] - rise

    def worst(self, timed: TimedPath) -> dict[str, FloatArray]:
        """The largest share of all that binds on the intervals, (K,)."""
        return {name: most for name, (most, _) in self._most(timed).items()}

    def closely(self, timed: TimedPath, parts: int) -> dict[str, FloatArray]:
        """The same, by a grid on so many parts of those intervals on which this one doesn't show what binds."""
        found = self._most(timed)
        worst = {name: most for name, (most, _) in found.items()}
        if closer := self._at_parts(self._unsure(found), parts):
            for name, share in closer.worst(timed).items():
                np.maximum.at(worst[name], closer.places.repeat(parts), share)
        return worst

    def _unsure(self, found: _Most) -> BoolArray:
        """Where (K,) a share bends too sharply for its polynomial to say whether it is above 1."""
        sharp = [(rest > _SMOOTH) & (most + _HIDDEN * rest > 1) for most, rest in found.values()]
        return np.any(sharp, axis=0).reshape(-1, self.parts).any(axis=1)

    def _most(self, timed: TimedPath) -> _Most:
        """The largest shares on the intervals, and what stands in them for the terms that a polynomial hasn't."""
        return {name: most_between(share) for name, share in self.nodes(timed).items()}


def _within(parts: int) -> FloatArray:
    """The nodes of equal parts of an interval, from 0 to 1."""
    return ((np.arange(parts)[:, None] + NODES) / parts).ravel()
