"""How fast a path is followed: z(t) from b(z) = ż², a spline of degree 2 on intervals, and what moves along with it.

With F(z) what moves, Ḟ² = F′² b, F̈ = F″ b + F′ b′/2 and F⃛ = √b (F‴ b + 3/2 F″ b′ + F′ b″/2), and T = ∫ dz/√b
(Verscheure et al. 2009, "Time-optimal path tracking for robots"; Debrouwere et al. 2013 for jerks).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.motion.pieces.motion import Samples

# Newton's steps to z(t) at most; the share of an interval below which they are rounding.
_NEWTON, _EXACT = 12, 1e-15
# Below this root artanh(r)/r and arctan(r)/r are taken from their series, whose next term is of order r⁶.
_STRAIGHT = 1e-4


def chain_rule(rates: Sequence[FloatArray] | FloatArray, inner: Sequence[FloatArray]) -> list[FloatArray]:
    """The first three derivatives of F(s(t)): of F by s, and of s by t (Faà di Bruno)."""
    one, two, three = rates
    a, b, c = (speed.reshape(-1, *(1,) * (one.ndim - 1)) for speed in inner)
    return [one * a, two * a**2 + one * b, three * a**3 + 3 * two * a * b + one * c]


# What `chain_rule` makes of samples.
MOVED = (
    ("twist", "twist_rate", "twist_jerk"),
    ("steering_rate", "steering_acceleration", "steering_jerk"),
    ("drive_speed", "drive_acceleration", "drive_jerk"),
)


def passed(unit: Samples, b: FloatArray, slope: FloatArray, bend: FloatArray) -> Samples:
    """Samples at ż = 1 and z̈ = z⃛ = 0, passed with b, b′/2 and b″/2 (n,)."""
    speeds, moved = _speeds(b, slope, bend), dict[str, FloatArray]()
    for names in MOVED:
        moved |= zip(names, chain_rule([getattr(unit, name) for name in names], speeds), strict=True)
    return replace(unit, **moved)


def _speeds(b: FloatArray, slope: FloatArray, bend: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """ż, z̈ and z⃛ from b, b′/2 and b″/2."""
    return np.sqrt(b), slope, bend * np.sqrt(b)


@dataclass(frozen=True, eq=False)
class Scaling:
    """z(t) from b(z) = ż² on pieces between knots: `squares` (K, 3) are b's coefficients, the constant first."""

    knots: FloatArray
    squares: FloatArray

    @cached_property
    def times(self) -> FloatArray:
        """When the knots are passed, (K + 1,) in s."""
        piece = np.arange(len(self.squares))
        return np.concatenate([[0.0], np.cumsum(self._spent(piece, np.diff(self.knots)))])

    def at(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """z, ż, z̈, z⃛ at times (n,)."""
        piece, inside = self.within(times)
        return self.knots[piece] + inside, *_speeds(*self.squared(piece, inside))

    def within(self, times: FloatArray) -> tuple[IntArray, FloatArray]:
        """The pieces at times (n,), where one begins that one, and how far inside of them z is."""
        piece = np.clip(np.searchsorted(self.times, times, "right") - 1, 0, len(self.squares) - 1)
        width, since = np.diff(self.knots)[piece], times - self.times[piece]
        inside = width * since / np.diff(self.times)[piece]
        for _ in range(_NEWTON):  # t(z) is smooth and rises, with t′ = 1/√b
            step = (self._spent(piece, inside) - since) * np.sqrt(self.squared(piece, inside)[0])
            inside = np.clip(inside - step, 0.0, width)
            if np.all(np.abs(step) <= _EXACT * width):
                break
        return piece, inside

    def when(self, z: float) -> float:
        """The time at which z is passed."""
        piece, inside = self.placed(np.array([z]))
        return float((self.times[piece] + self._spent(piece, inside))[0])

    def placed(self, z: FloatArray) -> tuple[IntArray, FloatArray]:
        """The pieces at z (n,), where one begins that one, and how far inside of them it is."""
        piece = np.clip(np.searchsorted(self.knots, z, "right") - 1, 0, len(self.squares) - 1)
        return piece, z - self.knots[piece]

    def slowed(self, factor: float) -> Scaling:
        """The same with b times a factor."""
        return Scaling(self.knots, self.squares * factor)

    def squared(self, piece: IntArray, inside: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """b, b′/2 and b″/2, so far inside of pieces."""
        zero, one, two = self.squares[piece].T
        return zero + inside * (one + inside * two), one / 2 + inside * two, two

    def _spent(self, piece: IntArray, inside: FloatArray) -> FloatArray:
        """∫ dz/√b from a piece's begin: 2/√c artanh(√c z/(√b(0) + √b(z))) with b's coefficient c of z².

        In that form nothing cancels where b begins or ends at zero; c < 0 makes it an arctan.
        """
        ends = np.sqrt(self.squares[piece, 0]) + np.sqrt(self.squared(piece, inside)[0])
        bent = self.squares[piece, 2] * (inside / ends) ** 2
        root = np.sqrt(np.abs(bent))
        with np.errstate(divide="ignore", invalid="ignore"):
            curved = np.where(bent > 0, np.arctanh(root), np.arctan(root)) / root
        return 2 * inside / ends * np.where(root > _STRAIGHT, curved, 1 + bent / 3 + bent**2 / 5)


@dataclass(frozen=True, eq=False)
class Squares:
    """Splines b of degree 2 on intervals between knots, whose slope may jump there, as forces do, or not (`smooth`).

    Three coefficients count on every interval, `columns` (K, 3); `onto` (K, 3, 3) makes Bernstein's of them there.
    `pairs` (N, 2) are where the polar forms of b are the coefficients.
    """

    knots: FloatArray
    columns: IntArray
    onto: FloatArray
    pairs: FloatArray

    @classmethod
    def on(cls, knots: FloatArray, smooth: bool) -> Squares:
        """All splines on these knots."""
        widths, count = np.diff(knots), len(knots) - 1
        onto = np.tile(np.eye(3), (count, 1, 1))
        if not smooth:
            pairs = np.stack(
                [knots[:-1].repeat(2), np.stack([knots[:-1], knots[1:]], axis=1).ravel()], axis=1
            )
            columns = 2 * np.arange(count)[:, None] + np.arange(3)
            return cls(knots, columns, onto, np.concatenate([pairs, knots[[-1], None].repeat(2, axis=1)]))
        before, after = (np.concatenate(each) for each in (([0.0], widths[:-1]), (widths[1:], [0.0])))
        onto[:, 0, 1], onto[:, 2, 1] = before / (before + widths), after / (after + widths)
        onto[:, 0, 0], onto[:, 2, 2] = 1 - onto[:, 0, 1], 1 - onto[:, 2, 1]
        full = np.concatenate([knots[:1], knots, knots[-1:]])
        return cls(
            knots, np.arange(count)[:, None] + np.arange(3), onto, np.stack([full[:-1], full[1:]], axis=1)
        )

    def values(self, share: FloatArray, orders: int) -> FloatArray:
        """b, b′/2 and b″/2, so many, at shares (P,) of all intervals by their coefficients, (K, P, orders, 3)."""
        t, one = share, np.ones_like(share)
        bernstein = np.array(
            [
                [(1 - t) ** 2, 2 * t * (1 - t), t**2],
                [t - 1, 1 - 2 * t, t],
                [one, -2 * one, one],
            ]
        )[:orders].transpose(2, 0, 1)
        scaled = bernstein / np.diff(self.knots)[:, None, None, None] ** np.arange(orders)[:, None]
        return scaled @ self.onto[:, None]

    def scaling(self, b: FloatArray) -> Scaling:
        """z(t) by coefficients (N,)."""
        first, middle, last = (self.onto @ b[self.columns][:, :, None])[:, :, 0].T
        widths = np.diff(self.knots)
        return Scaling(
            self.knots,
            np.stack([first, 2 * (middle - first) / widths, (first - 2 * middle + last) / widths**2], axis=1),
        )

    def coefficients(self, scaling: Scaling) -> FloatArray:
        """Those of b on other knots: its polar forms c₀ + c₁ (u + v)/2 + c₂ u v.

        b's values would do for splines on even knots; beside a dip they tilt b, and start with wheels off the ground.
        """
        begins, ends = self.pairs.T
        piece, inside = scaling.placed((begins + ends) / 2)
        zero, one, two = scaling.squares[piece].T
        u, v = begins - scaling.knots[piece], ends - scaling.knots[piece]
        polar = zero + one * (u + v) / 2 + two * u * v
        # beside a knot that has been left out the form of one piece alone is none of b's, and may be negative
        return np.where(polar > 0, polar, scaling.squared(piece, inside)[0])
