"""Along a course: the piece of a plan in which the instantaneous centre of rotation moves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import factorial

import numpy as np

from trundle.arrays import ComplexArray, FloatArray, IntArray
from trundle.mechanics.modules import SLACK
from trundle.motion.drive.drive import Drive, log_rates, product_rates
from trundle.motion.pieces.motion import Piece, Samples, sampled
from trundle.motion.pieces.profiles import PiecewisePolynomial
from trundle.motion.planning.courses import Crossing, order_at
from trundle.motion.planning.splines import INTERVALS, adjacent, crossing_power, power_series, sign_of

# Splines run over intervals here: knots are whole numbers, and derivatives by the share of the course have factors K.
_KNOTS = np.arange(INTERVALS + 1.0)


@dataclass(frozen=True, eq=False)
class AlongCourse(Piece):
    """ξ = r(t) d(t) over a time: d a cubic spline (K + 3, 3), r a quadratic one (K + 2,), from module angles on."""

    drive: Drive
    controls: FloatArray
    crossing: Crossing
    r: FloatArray
    time: float
    angles: FloatArray

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return self.time

    @property
    def breaks(self) -> FloatArray:
        """The splines' knots."""
        return _KNOTS / INTERVALS * self.time

    def slower(self, factor: float) -> AlongCourse:
        """The same twists over so many times the time."""
        return replace(self, time=self.time * factor)

    def out_of_range(self) -> int | None:
        """The first module whose steering range the course leaves, or may leave.

        Between knots an angle is no farther from theirs than the largest rate of steering lets it come.
        """
        lower, upper = self.drive.ranges
        if np.isinf(lower).all() and np.isinf(upper).all():
            return None
        knots = np.concatenate([self._at_knots[0], self.end_angles[None]])
        # out and back within an interval at the full rate: half the interval reaches farthest
        room = self.drive.steering[0] * self.time / (2 * INTERVALS)
        middle, half = (knots[1:] + knots[:-1]) / 2, np.abs(np.diff(knots, axis=0)) / 2
        beyond = np.maximum(half, room)
        out = (middle - beyond < lower - SLACK) | (middle + beyond > upper + SLACK)
        return int(np.flatnonzero(out.any(axis=0))[0]) if out.any() else None

    @cached_property
    def _at_knots(self) -> tuple[FloatArray, FloatArray]:
        """The angles at the starts of the intervals (K, m), and +1 or −1 as the wheels first roll forward along w."""
        interval = np.arange(INTERVALS)
        begin, end = (self._local(interval, _KNOTS[interval + side])[0][0] for side in (0, 1))
        # a wheel rolls along w or against it, whichever is nearer to the angle that it has, whose whole turns stay
        first = np.angle(begin[0])
        forward = np.where(np.cos(self.angles - first) >= 0, 1.0, -1.0)
        first = first + np.where(forward < 0, np.pi, 0.0)
        first = first + 2 * np.pi * np.round((self.angles - first) / (2 * np.pi))
        # on one interval w is taken to turn by less than half a turn: the angles between its ends add up
        turned = np.cumsum(np.angle(end * begin.conj()), axis=0)
        return first + np.concatenate([np.zeros((1, len(first))), turned[:-1]]), forward

    def samples(self, times: FloatArray) -> Samples:
        """All that the course is at times."""
        along = np.clip(np.asarray(times, dtype=float) / self.time, 0.0, 1.0) * INTERVALS
        interval = np.minimum(along.astype(int), INTERVALS - 1)
        w, f = self._local(interval, along)
        d, r = self._splines(interval, along)
        start, forward = self._at_knots
        begin = self._local(interval, _KNOTS[interval])[0][0]
        angle = start[interval] + np.angle(w[0] * begin.conj())
        rates = log_rates(w)
        size, (first, second) = np.abs(w[0]) * forward, rates.growth
        one, two, three = self.time ** -np.arange(1.0, 4)
        twist, twist_rate, twist_jerk = product_rates(d, r[:, :, None])
        twists = (twist, twist_rate * one, twist_jerk * two)
        speeds = (
            size * f[0],
            size * (f[1] + first * f[0]) * one,
            size * (f[2] + 2 * first * f[1] + second * f[0]) * two,
        )
        steering = (
            angle,
            *(rate * scale for rate, scale in zip(rates.steering, (one, two, three), strict=True)),
        )
        return sampled(self.drive, twists, steering, speeds)

    def _splines(self, interval: IntArray, along: FloatArray) -> tuple[FloatArray, FloatArray]:
        """d (4, n, 3) and r (3, n), with derivatives on [0, 1]."""
        d = [self._direction.at(along, order, interval) * INTERVALS**order for order in range(4)]
        r = [self._speed.at(along, order, interval) * INTERVALS**order for order in range(3)]
        return np.array(d), np.array(r)

    @cached_property
    def _direction(self) -> PiecewisePolynomial:
        return PiecewisePolynomial(_KNOTS, power_series(3) @ self.controls)

    @cached_property
    def _speed(self) -> PiecewisePolynomial:
        return PiecewisePolynomial(_KNOTS, power_series(2) @ self.r)

    def _local(self, interval: IntArray, along: FloatArray) -> tuple[ComplexArray, FloatArray]:
        """w (4, n, m) and f (3, n, m) with u = f w: where a module's axis is crossed, w/(t* − t) and (t* − t) r."""
        d, r = self._splines(interval, along)
        w = self.drive.velocities(d)
        f = np.repeat(r[:, :, None], w.shape[2], axis=2)
        for module, knot in self.crossing:
            # behind the crossing both signs change, so that u = f w stays and the wheel rolls on at its angle
            passed = interval > knot if 0 < knot < INTERVALS else np.zeros(len(interval), dtype=bool)
            w[:, passed, module] *= -1
            f[:, passed, module] *= -1
            near = np.isin(interval, np.arange(INTERVALS)[adjacent(knot)])
            w[:, near, module], power = self._divided(module, knot, interval[near], along[near])
            f[:, near, module] = product_rates(power, r[:, near])
        return w, f

    def _divided(
        self, module: int, knot: int, interval: IntArray, along: FloatArray
    ) -> tuple[ComplexArray, FloatArray]:
        """w/(t* − t)^order (4, n) and that power (3, n), with derivatives, from w's at t* from either side."""
        order = order_at(self.drive, knot)
        at_knot = np.full(len(interval), _KNOTS[knot])
        series = [
            self.drive.velocities(self._direction.at(at_knot, k, interval))[:, module]
            * (INTERVALS**k / factorial(k))
            for k in range(4)
        ]
        sign = sign_of(knot, order)
        since = (along - knot) / INTERVALS
        kept = [sign * term for term in series[order:]]
        derivatives = []
        for _ in range(4):
            derivatives.append(sum(term * since**p for p, term in enumerate(kept)) + 0j * since)
            kept = [p * term for p, term in enumerate(kept)][1:]
        return np.array(derivatives), np.array(crossing_power(knot, order, since))
