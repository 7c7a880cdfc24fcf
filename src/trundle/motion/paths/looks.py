"""What a path takes of motors and floor at the nodes of its intervals, and between: shares of what there is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.polynomial import chebyshev

from trundle.arrays import BoolArray, FloatArray, IntArray
from trundle.motion.constraints.constraint import Moving, shares
from trundle.motion.constraints.real_limits import actuation
from trundle.motion.constraints.slowdown import NODES, SERIES, most_between
from trundle.motion.forces.demand import Demand
from trundle.motion.paths.along_path import WISHES, wishing
from trundle.motion.paths.path_scaling import Scaling

# `WEIGHTS` make integrals of shares at the nodes, `WISHED` what they are at the places of wishes.
WEIGHTS = SERIES @ [0.0 if k % 2 else 1 / (1 - k * k) for k in range(8)]
WISHED = SERIES @ chebyshev.chebvander(2 * WISHES - 1, 7).T
# Where a polynomial's last terms are above this, the terms that it hasn't may be so many times as large.
_SMOOTH, _HIDDEN = 1e-3, 10.0

# The largest shares on intervals by name, and what stands in them for the terms that polynomials haven't.
_Most = dict[str, tuple[FloatArray, FloatArray]]


class Forced(NamedTuple):
    """How fast a path is followed, and what is wished of the contacts' forces at `WISHES`, (intervals, 3, forces)."""

    scaling: Scaling
    pushes: FloatArray


@dataclass(frozen=True, eq=False)
class Bound:
    """What binds a path beside declared limits: what it takes at z (n,), and the share of friction to plan with.

    passed: (z, ż² at most) where the path is to be passed slowly.
    """

    demand: Callable[[FloatArray], Demand]
    grip: float
    passed: tuple[tuple[float, float], ...] = ()


@dataclass(frozen=True, eq=False)
class Looks:
    """What a path takes at the nodes of all intervals, or of so many `parts` of them, for shares there and between."""

    knots: FloatArray
    z: FloatArray
    demand: Demand
    bound: Bound
    places: IntArray
    parts: int = 1

    @classmethod
    def on(cls, knots: FloatArray, bound: Bound, parts: int = 1, places: IntArray | None = None) -> Looks:
        """The looks at what binds a path, on the intervals between knots (K + 1,), or those at `places` alone."""
        places = np.arange(len(knots) - 1) if places is None else places
        z = (knots[places, None] + np.diff(knots)[places, None] * _within(parts)).ravel()
        return cls(knots, z, bound.demand(z), bound, places, parts)

    def closer(self, forced: Forced, parts: int) -> Looks | None:
        """Looks at so many parts of the intervals on which these don't show how much binds; None where all do."""
        return self._at_parts(self._unsure(self._most(forced)), parts)

    def _at_parts(self, unsure: BoolArray, parts: int) -> Looks | None:
        return Looks.on(self.knots, self.bound, parts, self.places[unsure]) if unsure.any() else None

    def nothing(self) -> Forced:
        """A pace of 1 and no wishes: forces of least norm are as good as any."""
        count = len(self.knots) - 1
        scaling = Scaling(self.knots, np.tile([1.0, 0.0, 0.0], (count, 1)))
        return Forced(scaling, np.zeros((count, len(WISHES), self.demand.balance.rows.shape[1])))

    def nodes(self, forced: Forced) -> dict[str, FloatArray]:
        """The shares of all that binds at the nodes of the intervals, (K, nodes)."""
        within = _within(self.parts)
        piece = np.repeat(self.places, len(within))
        inside = np.tile(within, len(self.places)) * np.diff(self.knots)[piece]
        b, a, _ = forced.scaling.squared(piece, inside)
        wished = np.einsum("nj,kjf->knf", wishing(within), forced.pushes[self.places])
        moving = Moving(forces=self.demand.forces(a, b, wished.reshape(len(b), -1)))
        taken = shares(actuation(self.bound.grip), moving)
        return {name: share.reshape(-1, len(NODES)) for name, share in taken.items()}

    def worst(self, forced: Forced) -> dict[str, FloatArray]:
        """The largest share of all that binds on the intervals, (K,)."""
        return {name: most for name, (most, _) in self._most(forced).items()}

    def closely(self, forced: Forced, parts: int) -> dict[str, FloatArray]:
        """The same, by looks at so many parts of those intervals on which these don't show how much binds."""
        found = self._most(forced)
        worst = {name: most for name, (most, _) in found.items()}
        if closer := self._at_parts(self._unsure(found), parts):
            for name, share in closer.worst(forced).items():
                np.maximum.at(worst[name], closer.places.repeat(parts), share)
        return worst

    def _unsure(self, found: _Most) -> BoolArray:
        """Where (K,) a share bends too sharply for its polynomial to say whether it is above 1."""
        sharp = [(rest > _SMOOTH) & (most + _HIDDEN * rest > 1) for most, rest in found.values()]
        return np.any(sharp, axis=0).reshape(-1, self.parts).any(axis=1)

    def _most(self, forced: Forced) -> _Most:
        """The largest shares on the intervals, and what stands in them for the terms that a polynomial hasn't."""
        return {name: most_between(share) for name, share in self.nodes(forced).items()}


def _within(parts: int) -> FloatArray:
    """The nodes of equal parts of an interval, from 0 to 1."""
    return ((np.arange(parts)[:, None] + NODES) / parts).ravel()
