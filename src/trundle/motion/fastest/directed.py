"""A piece of a motion at ξ = r(t) d(t): directions and speeds along them as polynomials between breaks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.arrays import BoolArray, ComplexArray, FloatArray, IntArray
from trundle.mechanics.steering import STILL
from trundle.motion.drive.drive import Drive, log_rates, product_rates
from trundle.motion.paths.along_path import ScaledPiece
from trundle.motion.paths.path_scaling import Scaling, chain_rule
from trundle.motion.pieces.motion import Piece, Samples, sampled
from trundle.motion.pieces.profiles import PiecewisePolynomial

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

    @property
    def turning(self) -> bool:
        """Whether no wheel whose steering is limited turns by more than a quarter between breaks: none passes w = 0."""
        steers = self.drive.points & np.isfinite(self.drive.steering).any(axis=0)
        interval = np.arange(len(self.breaks) - 1)
        ends = (self.breaks[:-1], self.breaks[1:])
        first, last = (self.drive.velocities(self.direction.at(at, 0, interval)) for at in ends)
        onward = (first * last.conj()).real > -STILL * np.abs(first).max(axis=1, keepdims=True) ** 2
        return bool((onward & (self._still(first) == self._still(last)))[:, steers].all())

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


@dataclass(frozen=True, eq=False)
class Repaced(ScaledPiece):
    """The way of a piece at another pace: z(t) in its time's place, by a scaling."""

    drive: Drive
    way: Directed
    scaling: Scaling
    wished: FloatArray | None = None

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
        twist = chain_rule([unit.twist, unit.twist_rate, unit.twist_jerk], speeds)
        steering = chain_rule([unit.steering_rate, unit.steering_acceleration, unit.steering_jerk], speeds)
        rolling = chain_rule([unit.drive_speed, unit.drive_acceleration, unit.drive_jerk], speeds)
        return sampled(self.drive, twist, (unit.angle, *steering), rolling)
