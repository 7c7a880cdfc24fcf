"""A step by forces: the speeds at its end at which all forces, taken there, balance (Seegmiller & Kelly 2016).

e(ν) = M (ν − ν₀)/h + c − τ(ν) = 0 over the speeds that are sought, M and c where the step begins, τ what contacts,
motors and springs do at its end. A spring's stretch and a contact's depth are those at the end, too, so that a step is
stable however stiff they are. Newton's method with K = M/h − ∂τ/∂ν; where τ is linear one round is exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trundle.mechanics.linear import dot, solve_general
from trundle.scalars import AnyRows, Rows, Scalar, less, maximum, minus, plus, times, where

# A step is taken where the error falls by this share of what its slope promises (Armijo), or where it has been halved
# to the least: there the error has a kink that no direction leads down from.
_FALLS, _LEAST = 1e-4, 1e-3


class Balance(NamedTuple):
    """M/h, c − M ν₀/h (N, N m), the speeds ν₀ where the step begins, and what may be left of the forces (N)."""

    mass: Rows
    drift: Sequence[Scalar]
    start: Sequence[Scalar]
    tolerance: Scalar


class Search(NamedTuple):
    """Where a search for the speeds stands: the best ones, the change that Newton's method asks for, the share of it
    that is tried, and the square of the best ones' error.
    """

    best: Sequence[Scalar]
    change: Sequence[Scalar]
    share: Scalar
    error: Scalar

    @classmethod
    def of(cls, values: Sequence[Scalar], count: int) -> Search:
        """The search whose numbers stand in a row, as `flat` puts them there."""
        return cls(values[:count], values[count : 2 * count], values[-2], values[-1])

    @property
    def flat(self) -> list[Scalar]:
        """All numbers in a row."""
        return [*self.best, *self.change, self.share, self.error]

    @staticmethod
    def starting(balance: Balance) -> list[Scalar]:
        """Where every search begins: at the speeds at which the step does, and worse than anything."""
        return Search(balance.start, [0.0] * len(balance.start), 1.0, 1e300).flat

    @property
    def tried(self) -> list[Scalar]:
        """The speeds that this round looks at."""
        return [plus(b, times(self.share, c)) for b, c in zip(self.best, self.change, strict=True)]

    def round(
        self, balance: Balance, forces: Sequence[Scalar], slopes: AnyRows
    ) -> tuple[Scalar, list[Scalar]]:
        """The error of the speeds that are tried, at most 1 where forces balance, and the search's next numbers.

        `forces` are τ, `slopes` ∂τ/∂ν at these speeds. The error is |e|² over the square of the tolerance.
        """
        tried = self.tried
        left = [
            minus(force, plus(rest, dot(row, tried)))
            for force, rest, row in zip(forces, balance.drift, balance.mass, strict=True)
        ]
        error = dot(left, left) / (balance.tolerance * balance.tolerance)
        taken = less(error, self.error * (1 - _FALLS * self.share))
        taken = maximum(taken, less(self.share, _LEAST))
        matrix = [
            [minus(m, k) for m, k in zip(*pair, strict=True)]
            for pair in zip(balance.mass, slopes, strict=True)
        ]
        # What stands late in a tree goes first: a contact's rows hold nothing but what carries its wheel.
        change = solve_general([list(reversed(row)) for row in reversed(matrix)], list(reversed(left)))
        after = Search(tried, list(reversed(change)), 1.0, error)
        before = Search(self.best, self.change, self.share / 2, self.error)
        return error, [where(taken, a, b) for a, b in zip(after.flat, before.flat, strict=True)]
