"""A step by forces: the speeds at its end at which all forces, taken there, balance (Seegmiller & Kelly 2016).

e(ν) = M (ν − ν₀)/h + c − τ(ν) = 0 over the speeds that are sought, M and c where the step begins, τ what contacts,
motors and springs do at its end. A spring's stretch and a contact's depth are those at the end, too, so that a step is
stable however stiff they are. Newton's method with K = M/h − ∂τ/∂ν; where τ is linear one round is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from trundle.mechanics.linear import dot, solve_general
from trundle.scalars import AnyRows, Rows, Scalar, absolute, less, maximum, minus, plus, times, where

# A share of a change Δ is taken where what is left, e · Δ, has fallen or turned back by no more than this share of what
# it was: e is about the slope of an energy, and the energy falls. Or where the share is below the least: there e has a
# kink, such as a wheel that begins to stick, and only the slopes behind it lead on. Of 250 Zoes over random ground with
# waves of one and three radii, steps of 0.2 s, all stay finite so; with |e| in place of e · Δ 30 didn't.
_FALLS, _LEAST = 0.9, 0.05
# A step that leaves less than this share of e · Δ leads on as Newton's steps do.
_QUICK = 0.1


class Balance(NamedTuple):
    """M/h, c − M ν₀/h (N, N m), the speeds ν₀ where the step begins, and what may be left of the forces (N)."""

    mass: Rows
    drift: Sequence[Scalar]
    start: Sequence[Scalar]
    tolerance: Scalar


class Search(NamedTuple):
    """Where a search for the speeds stands: the best ones, the change that Newton's method asks for, whether the slopes
    of friction by the load count in it, the share of it that is tried, and e · Δ where that share is 0.
    """

    best: Sequence[Scalar]
    change: Sequence[Scalar]
    coupled: Scalar
    share: Scalar
    promise: Scalar

    @classmethod
    def of(cls, values: Sequence[Scalar], count: int) -> Search:
        """The search whose numbers stand in a row, as `flat` puts them there."""
        return cls(values[:count], values[count : 2 * count], *values[-3:])

    @property
    def flat(self) -> list[Scalar]:
        """All numbers in a row."""
        return [*self.best, *self.change, self.coupled, self.share, self.promise]

    @staticmethod
    def starting(balance: Balance) -> list[Scalar]:
        """Where every search begins: at the speeds at which the step does, and worse than anything."""
        return Search(balance.start, [0.0] * len(balance.start), 1.0, 1.0, 1e300).flat

    @property
    def tried(self) -> list[Scalar]:
        """The speeds that this round looks at."""
        return [plus(b, times(self.share, c)) for b, c in zip(self.best, self.change, strict=True)]

    def round(
        self, balance: Balance, forces: Sequence[Scalar], slopes: Callable[[Scalar], AnyRows]
    ) -> tuple[Scalar, list[Scalar]]:
        """The error of the speeds that are tried, at most 1 where forces balance, and the search's next numbers.

        `forces` are τ, `slopes` ∂τ/∂ν at these speeds, of which a factor takes friction's by the load. The error is
        |e|² over the square of the tolerance.

        Without these slopes K is symmetric and never singular, as that of a convex energy, and finds its way where
        wheels lift and slide at once; with them, at the end, steps are Newton's. So they count until a whole step
        fails, and again after a whole step that leads on well.
        """
        tried = self.tried
        left = [
            minus(force, plus(rest, dot(row, tried)))
            for force, rest, row in zip(forces, balance.drift, balance.mass, strict=True)
        ]
        error = dot(left, left) / (balance.tolerance * balance.tolerance)
        along = dot(self.change, left)
        falls = less(along, self.promise) * less(-_FALLS * self.promise, along)
        taken = maximum(falls, less(self.share, _LEAST))
        well = where(less(absolute(along), _QUICK * self.promise), 1.0, self.coupled)
        coupled = where(less(self.share, 1.0), 0.0, well)
        matrix = [
            [minus(m, k) for m, k in zip(*pair, strict=True)]
            for pair in zip(balance.mass, slopes(coupled), strict=True)
        ]
        # What stands late in a tree goes first: a contact's rows hold nothing but what carries its wheel.
        change = solve_general([list(reversed(row)) for row in reversed(matrix)], list(reversed(left)))
        new = list(reversed(change))
        after = Search(tried, new, coupled, 1.0, absolute(dot(new, left)))
        before = Search(self.best, self.change, self.coupled, self.share / 2, self.promise)
        return error, [where(taken, a, b) for a, b in zip(after.flat, before.flat, strict=True)]
