"""A step by forces: the speeds at its end at which all forces, taken there, balance (Seegmiller & Kelly 2016).

e(ν) = A ν + b − τ(ν) = 0 over the speeds that are sought, A = M/h and b those of a kind of step (`model/`), M where the
step begins, τ what contacts, motors and springs do at its end. A spring's stretch and a contact's depth are those at
the end, too, so that a step is stable however stiff they are. Newton's method with K = A − ∂τ/∂ν; where τ is linear one
round is exact.

There is always such a ν: friction takes power, a contact's normal force is bounded by its depth, and carried momenta
are turned, which takes none. But there may be several, as friction's limit hangs on loads and Pacejka's curves fall
again, and Newton's method then circles or runs away. What it hasn't found in `FIRST` rounds is sought by secants
(`Search.round`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from trundle.mechanics.linear import dot, solve_general
from trundle.scalars import AnyRows, Rows, Scalar, absolute, less, maximum, minimum, minus, plus, times, where

# A share of a change Δ is taken where what is left, e · Δ, has fallen or turned back by no more than this share of what
# it was: e is about the slope of an energy, and the energy falls. Or where the share is below the least: there e has a
# kink, such as a wheel that begins to stick, and only the slopes behind it lead on. Of 250 Zoes over random ground with
# waves of one and three radii, steps of 0.2 s, all stay finite so; with |e| in place of e · Δ 30 didn't.
_FALLS, _LEAST = 0.9, 0.05
# A step that leaves less than this share of e · Δ leads on as Newton's steps do.
_QUICK = 0.1
# Rounds of Newton's method before secants; an ordinary step takes at most seven. With 12 in place of 30, loose soil
# leaves 40 % more steps unbalanced.
FIRST = 30.0
# Secants between two looks whether Newton's method leads on, from how near (|e| over the weight's tolerance, 1e-3 of
# the weight), and what it must leave of |e| to go on. Of 572 steps on stairs with Pacejka's curves that Newton's method
# alone didn't balance, these leave 60 in 100 rounds, secants alone 135; without "near" 104.
_EVERY, _NEAR, _LEAVES = 4.0, 1e7, 0.5
# Shares of a secant's change: halved down to the least where e turned back along it, as loads and friction that lead
# each other would swing for ever, else more by this factor up to 1.
_SWINGS, _SMALLEST, _GROWS = 0.5, 0.05, 1.3


class Balance(NamedTuple):
    """A and b of e(ν) = A ν + b − τ(ν), with A = M/h and what hangs on ν by a factor (N, N m), speeds to begin with,
    and what may be left of every force (N, N m).
    """

    mass: Rows
    drift: Sequence[Scalar]
    start: Sequence[Scalar]
    tolerance: Sequence[Scalar]


class Slopes(NamedTuple):
    """Which slopes of forces a round takes: 1 for friction's tangents or 0 for its secants, and 1 where friction's
    slopes by the load count.
    """

    tangent: Scalar
    coupled: Scalar


# Worse than anything.
_WORST = 1e300


class _Way(NamedTuple):
    """How a search goes on: whether what was tried is taken, the slopes at it, the next share, what secants keep."""

    taken: Scalar
    slopes: Slopes
    share: Scalar
    secants: Scalar = 0.0
    damped: Scalar = 1.0


class Search(NamedTuple):
    """Where a search for the speeds stands: the best ones, the change that is tried, whether the slopes of friction by
    the load count in it, the share of it, e · Δ where that share is 0 (of secants the error there), how many rounds are
    done, how many secants since Newton's method was tried (below 0: this change is Newton's), and a secant's share.
    """

    best: Sequence[Scalar]
    change: Sequence[Scalar]
    coupled: Scalar
    share: Scalar
    promise: Scalar
    rounds: Scalar
    secants: Scalar
    damped: Scalar

    @classmethod
    def of(cls, values: Sequence[Scalar], count: int) -> Search:
        """The search whose numbers stand in a row, as `flat` puts them there."""
        return cls(values[:count], values[count : 2 * count], *values[2 * count :])

    @classmethod
    def labels(cls, speeds: Sequence[str]) -> tuple[str, ...]:
        """What the numbers in a row are called."""
        return (*speeds, *(f"{name}.change" for name in speeds), *cls._fields[2:])

    @property
    def flat(self) -> list[Scalar]:
        """All numbers in a row."""
        return [*self.best, *self.change, *self[2:]]

    @staticmethod
    def starting(balance: Balance) -> list[Scalar]:
        """Where every search begins: at the speeds at which the step does, and worse than anything."""
        still = [0.0] * len(balance.start)
        return Search(balance.start, still, 1.0, 1.0, _WORST, 0.0, 0.0, 1.0).flat

    @property
    def tried(self) -> list[Scalar]:
        """The speeds that this round looks at."""
        return [plus(b, times(self.share, c)) for b, c in zip(self.best, self.change, strict=True)]

    def round(
        self, balance: Balance, forces: Sequence[Scalar], slopes: Callable[[Slopes], AnyRows]
    ) -> tuple[Scalar, list[Scalar]]:
        """The error of the speeds that are tried, at most 1 where forces balance, and the search's next numbers.

        `forces` are τ, `slopes` ∂τ/∂ν at these speeds. The error is the sum of the squares of e over the tolerances.
        Two searches follow each other: Newton's method for `FIRST` rounds, then secants, from where the step begins.
        """
        tried = self.tried
        left = [
            minus(force, plus(rest, dot(row, tried)))
            for force, rest, row in zip(forces, balance.drift, balance.mass, strict=True)
        ]
        shares = [force / allowed for force, allowed in zip(left, balance.tolerance, strict=True)]
        error = dot(shares, shares)
        along = dot(self.change, left)
        first = less(self.rounds, FIRST)
        quick, slow = self._newton(along), self._secant(error, along)
        ways = [where(first, a, b) for a, b in zip(quick.slopes, slow.slopes, strict=True)]
        matrix = [
            [minus(m, k) for m, k in zip(*pair, strict=True)]
            for pair in zip(balance.mass, slopes(Slopes(*ways)), strict=True)
        ]
        # What stands late in a tree goes first: a contact's rows hold nothing but what carries its wheel.
        change = solve_general([list(reversed(row)) for row in reversed(matrix)], list(reversed(left)))
        new = list(reversed(change))
        promise = where(first, absolute(dot(new, left)), error)
        restart = first * less(FIRST - 1.5, self.rounds)
        taken = where(first, quick.taken, slow.taken)
        best = [where(taken, a, b) for a, b in zip(tried, self.best, strict=True)]
        return error, Search(
            [where(restart, a, b) for a, b in zip(balance.start, best, strict=True)],
            [where(taken, a, b) for a, b in zip(new, self.change, strict=True)],
            where(taken, quick.slopes.coupled, self.coupled),
            where(restart, 0.0, where(first, quick.share, slow.share)),
            where(restart, _WORST, where(taken, promise, self.promise)),
            self.rounds + 1.0,
            where(first, 0.0, slow.secants),
            where(first, 1.0, slow.damped),
        ).flat

    def _newton(self, along: Scalar) -> _Way:
        """Newton's method, a share of its change taken where e · Δ falls, else halved.

        Without the slopes of friction by the load K is about symmetric, as that of a convex energy, and finds its way
        where wheels lift and slide at once; with them, at the end, steps are Newton's. So they count until a whole step
        fails, and again after a whole step that leads on well.
        """
        falls = less(along, self.promise) * less(-_FALLS * self.promise, along)
        taken = maximum(falls, less(self.share, _LEAST))
        well = where(less(absolute(along), _QUICK * self.promise), 1.0, self.coupled)
        coupled = where(less(self.share, 1.0), 0.0, well)
        return _Way(taken, Slopes(1.0, coupled), where(taken, 1.0, self.share / 2))

    def _secant(self, error: Scalar, along: Scalar) -> _Way:
        """Friction by a damper whose force at this slip is the law's (Kačanov's method), however much it falls with it.

        Where a law's force over its slip falls as the slip grows, as that of all here, such a damper is at least as
        strong as the law's energy needs, and so its change leads down. Near a solution Newton's method is tried now and
        then; where it doesn't lead on by much, its change is forgotten.
        """
        newton = less(self.secants, 0)
        failed = newton * (1 - less(error, _LEAVES**2 * self.promise))
        due = less(_EVERY - 0.5, self.secants) * less(error, _NEAR**2)
        onward = (1 - failed) * maximum(newton, due)
        swung = where(
            less(along, 0),
            maximum(_SWINGS * self.damped, _SMALLEST),
            minimum(_GROWS * self.damped, 1.0),
        )
        damped = where(newton, self.damped, swung)
        share = (1 - failed) * where(onward, 1.0, damped)
        secants = where(onward, -1.0, (1 - failed) * maximum(self.secants, 0) + 1.0 - failed)
        return _Way(1 - failed, Slopes(onward, onward), share, secants, damped)
