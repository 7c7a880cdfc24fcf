"""A piece of a motion at ξ = r(t) d(t): directions and speeds along them as polynomials between breaks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev

from trundle.arrays import BoolArray, ComplexArray, FloatArray, IntArray
from trundle.mechanics.modules import SLACK
from trundle.mechanics.steering import STILL
from trundle.motion.drive.drive import Drive, log_rates, product_rates
from trundle.motion.paths.along_path import wishes_at
from trundle.motion.paths.path_scaling import Scaling, carried
from trundle.motion.pieces.motion import Piece, Samples, sampled
from trundle.motion.pieces.profiles import PiecewisePolynomial

# Rates are bounded by Chebyshev series through so many points, on parts that are halved so often at most until the
# last terms are less than this share of a limit.
_POINTS, _HALVINGS, _RESOLVED = 8, 12, 1e-5
# What a wheel's velocity is divided by where it stands on the centre of rotation: there it holds its angle.
_HELD = np.array([1.0, 0.0, 0.0, 0.0])[:, None, None]


@dataclass(frozen=True, eq=False)
class Directed(Piece):
    """ξ = r(t) d(t) with d (3 values) and r piecewise polynomials, the modules beginning at `angles` (m,).

    Steering hangs on d alone, so that r may pass through zero while d goes on.
    """

    drive: Drive
    direction: PiecewisePolynomial
    speed: PiecewisePolynomial
    angles: FloatArray

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return self.direction.duration

    @property
    def breaks(self) -> FloatArray:
        """Where the polynomials change."""
        return self.direction.breaks

    def slowed(self, factor: float) -> Directed:
        """The same way, so many times as long."""

        def stretched(parts: PiecewisePolynomial, more: int) -> PiecewisePolynomial:
            powers = factor ** -(np.arange(parts.coefficients.shape[1]) + more)
            return PiecewisePolynomial(
                parts.breaks * factor,
                parts.coefficients * powers.reshape(-1, *(1,) * (parts.coefficients.ndim - 2)),
            )

        return replace(self, direction=stretched(self.direction, 0), speed=stretched(self.speed, 1))

    def samples(self, times: FloatArray) -> Samples:
        """Twist and modules at times (n,)."""
        return self.on(np.asarray(times, dtype=float), self.direction.piece_at(times))

    def on(self, times: FloatArray, interval: IntArray) -> Samples:
        """The same, of the polynomials of these intervals (n,)."""
        d, r = self._parts(times, interval)
        w = self.drive.velocities(d)
        still = self._still(w[0])
        begins, forward = self._begins
        turned = np.where(still, 0.0, np.angle(w[0] * self._at_begins[interval].conj()))
        angle = np.where(self.drive.points, begins[interval] + turned, self.angles)
        rates = log_rates(np.where(still, _HELD, w))
        size, (first, second) = np.where(still, 0.0, np.abs(w[0])) * forward, rates.growth
        rolling = product_rates(r[:3, :, None], (size, size * first, size * second))
        twists = product_rates(d[:3], r[:3, :, None])
        along = np.conj(self.drive.rolling_axes(self.angles))
        held = [(along * self.drive.velocities(twist)).real for twist in twists]
        points = self.drive.points
        steering = (angle, *(np.where(points, rate, 0.0) for rate in rates.steering))
        speeds = [np.where(points, a, b) for a, b in zip(rolling, held, strict=True)]
        return sampled(self.drive, twists, steering, speeds)

    def room(self, asked: FloatArray | None = None) -> float:
        """How many times as fast it may be taken, all limits held at every instant; 0 where nothing bounds its rates.

        asked (intervals, 4): the base's greatest speed, acceleration, rate and its change, if these are limited.
        """
        worst = self._worst(asked)
        powers = [share ** (-1 / order) for order, share in worst.items() if order and share > 0]
        return min(powers, default=np.inf)

    @cached_property
    def swung(self) -> float:
        """The largest share of half of a steering range that a module is away from its middle."""
        return self._worst(None)[0]

    def _worst(self, asked: FloatArray | None) -> dict[int, float]:
        """The largest share of limits at any instant, by the power of the pace that it goes with.

        Bounds on Chebyshev series through points of parts of the intervals, which are halved until the series die out:
        beside a wheel that stands on the centre of rotation they don't, and shares are infinite.
        """
        begin, end = self.breaks[:-1], self.breaks[1:]
        worst = dict.fromkeys(range(5), 0.0)
        for _ in range(_HALVINGS):
            series = self._series(begin, end, asked)
            tails = np.max([terms[-2:].max(axis=(0, 2), initial=0.0) for _, terms in series], axis=0)
            done = (tails <= _RESOLVED) & self._turning(begin, end)
            for order, terms in series:
                # the sum of all terms, and twice the last ones for those that are left out
                share = float((terms.sum(axis=0) + 2 * terms[-2:].sum(axis=0))[done].max(initial=0.0))
                worst[order] = max(worst[order], share)
            if done.all():
                return worst
            middle = (begin + end)[~done] / 2
            begin, end = (
                np.stack(pair, axis=1).ravel() for pair in ((begin[~done], middle), (middle, end[~done]))
            )
        return dict.fromkeys(worst, np.inf)

    def _turning(self, begin: FloatArray, end: FloatArray) -> BoolArray:
        """On which parts no wheel whose steering is limited turns by more than a quarter: none passes w = 0 there."""
        held = self.drive.points & np.isfinite(self.drive.steering).any(axis=0)
        interval = self.direction.piece_at((begin + end) / 2)
        first, last = (self.drive.velocities(self.direction.at(at, 0, interval)) for at in (begin, end))
        turned = (first * last.conj()).real > STILL * np.abs(first).max(axis=1, keepdims=True) ** 2
        return (turned | (self._still(first) & self._still(last)))[:, held].all(axis=1)

    def _series(
        self, begin: FloatArray, end: FloatArray, asked: FloatArray | None
    ) -> list[tuple[int, FloatArray]]:
        """Sizes of Chebyshev terms (points, parts, ·) of shares of limits, with the power of the pace they go with."""
        nodes = chebyshev.chebpts1(_POINTS)
        found = self.samples((begin[:, None] + (end - begin)[:, None] * (1 + nodes) / 2).ravel())
        steering, rolling = self.drive.steering, self.drive.rolling
        ranged = np.isfinite(self.drive.ranges).all(axis=0)
        low, high = np.where(ranged, self.drive.ranges, 0.0)
        shares: list[tuple[int, FloatArray, FloatArray]] = [
            (
                0,
                found.angle - (low + high) / 2,
                np.where(ranged, np.maximum((high - low) / 2, SLACK), np.inf),
            ),
            (1, found.steering_rate, steering[0]),
            (1, found.drive_speed, rolling[0]),
            (2, found.steering_acceleration, steering[1]),
            (2, found.drive_acceleration, rolling[1]),
            (3, found.steering_jerk, steering[2]),
            (3, found.drive_jerk, rolling[2]),
        ]
        if asked is not None:
            limits = asked[self.direction.piece_at((begin + end) / 2)].repeat(_POINTS, axis=0)
            squares = _base_squares(found)
            shares += [(2, squares[:, ::2], limits[:, ::2] ** 2), (4, squares[:, 1::2], limits[:, 1::2] ** 2)]
        series = (
            chebyshev.chebvander(nodes, _POINTS - 1).T * (2 - (np.arange(_POINTS) == 0))[:, None] / _POINTS
        )
        terms = []
        for order, rate, limit in shares:
            finite = np.isfinite(limit)
            share = np.where(finite, rate, 0.0) / np.where(finite, limit, 1.0)
            parts = share.reshape(len(begin), _POINTS, -1)
            terms.append((order, np.abs(np.einsum("kj,pjc->kpc", series, parts))))
        return terms

    def _parts(self, times: FloatArray, interval: IntArray) -> tuple[FloatArray, FloatArray]:
        """d (4, n, 3) and r (4, n) with their derivatives."""
        return (
            np.array([self.direction.at(times, order, interval) for order in range(4)]),
            np.array([self.speed.at(times, order, interval) for order in range(4)]),
        )

    def _still(self, w: ComplexArray) -> BoolArray:
        """Which modules stand on the centre of rotation."""
        sizes = np.abs(w)
        return sizes <= STILL * sizes.max(axis=-1, keepdims=True)

    @cached_property
    def _at_begins(self) -> ComplexArray:
        """w at the begins of the intervals (K, m); of a wheel that stands then, in the middle."""
        return self._at(0.0)

    def _at(self, share: float) -> ComplexArray:
        """w at a share of all intervals (K, m); where a wheel stands then, that in the middle."""
        interval = np.arange(len(self.breaks) - 1)
        places = [
            self.drive.velocities(
                self.direction.at(self.breaks[:-1] + part * np.diff(self.breaks), 0, interval)
            )
            for part in (share, 0.5)
        ]
        return np.where(self._still(places[0]), places[1], places[0])

    @cached_property
    def _begins(self) -> tuple[FloatArray, FloatArray]:
        """The angles at the begins of the intervals (K, m), and +1 or −1 as wheels roll along w or against it."""
        first, last = self._at_begins, self._at(1.0)
        begin = np.angle(first[0])
        forward = np.where(np.cos(self.angles - begin) >= 0, 1.0, -1.0)
        begin = begin + np.where(forward < 0, np.pi, 0.0)
        begin = begin + 2 * np.pi * np.round((self.angles - begin) / (2 * np.pi))
        # on an interval and from it to the next one w turns by less than half a turn
        steps = np.angle(last * first.conj())
        steps[:-1] += np.angle(first[1:] * last[:-1].conj())
        return begin + np.concatenate([np.zeros((1, len(begin))), np.cumsum(steps, axis=0)[:-1]]), forward


def _base_rates(found: Samples) -> tuple[ComplexArray, ComplexArray]:
    """The origin's velocity and acceleration in the base's axes, (n,): v and v̇ + i ω v."""
    velocity, change = (twist[:, 0] + 1j * twist[:, 1] for twist in (found.twist, found.twist_rate))
    return velocity, change + 1j * found.twist[:, 2] * velocity


def _base_squares(found: Samples) -> FloatArray:
    """(n, 4): squares of the base's speed, acceleration, rate and its change."""
    velocity, acceleration = _base_rates(found)
    rates = found.twist[:, 2], found.twist_rate[:, 2]
    return np.stack([np.abs(velocity), np.abs(acceleration), *rates], axis=1) ** 2


@dataclass(frozen=True, eq=False)
class Repaced(Piece):
    """The way of a piece at another pace: z(t) in its time's place, by a scaling.

    `wished` are the contacts' forces that the plan chose, at the `WISHES` of the scaling's intervals, (K, 3, forces).
    """

    drive: Drive
    way: Directed
    scaling: Scaling
    wished: FloatArray | None = None

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return float(self.scaling.times[-1])

    @property
    def breaks(self) -> FloatArray:
        """When the scaling passes its knots, and the way's."""
        return self._breaks

    @cached_property
    def _breaks(self) -> FloatArray:
        inner = np.setdiff1d(self.way.breaks, self.scaling.knots)
        return np.unique(np.concatenate([self.scaling.times, [self.scaling.when(float(z)) for z in inner]]))

    def samples(self, times: FloatArray) -> Samples:
        """Twist and modules at times (n,)."""
        times = np.asarray(times, dtype=float)
        z, *speeds = self.scaling.at(times)
        # at a knot rounding must not take the way's polynomials from one side and the scaling's from the other
        piece, _ = self.scaling.within(times)
        middle = (self.scaling.knots[:-1] + self.scaling.knots[1:])[piece] / 2
        unit = self.way.on(z, self.way.direction.piece_at(middle))
        twist = carried([unit.twist, unit.twist_rate, unit.twist_jerk], speeds)
        steering = carried([unit.steering_rate, unit.steering_acceleration, unit.steering_jerk], speeds)
        rolling = carried([unit.drive_speed, unit.drive_acceleration, unit.drive_jerk], speeds)
        return sampled(self.drive, twist, (unit.angle, *steering), rolling)

    def pushes(self, times: FloatArray) -> FloatArray | None:
        """What the plan wishes of the contacts' forces, (n, forces) in N."""
        if self.wished is None:
            return None
        return wishes_at(self.scaling, self.wished, np.asarray(times, dtype=float))
