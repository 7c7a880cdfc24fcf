"""What plans are made of: along a course, straight with the wheels' angles held, and at rest while the wheels turn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import factorial, perm

import numpy as np
import numpy.typing as npt

from trundle.motion.pieces.motion import Samples
from trundle.motion.pieces.profiles import Profile
from trundle.motion.planning.courses import ComplexArray, Crossing, SteeredDrive, log_rates
from trundle.motion.planning.splines import INTERVALS, beside, differentiated, pieces, sign_of
from trundle.results.arrays import FloatArray

IntArray = npt.NDArray[np.int64]
_EVEN = np.linspace(0.0, 1.0, INTERVALS + 1)


@dataclass(frozen=True, eq=False)
class AlongCourse:
    """ξ = r(t) d(t) over a duration: d a cubic spline (K + 3, 3), r a quadratic one (K + 2,), from module angles on."""

    drive: SteeredDrive
    controls: FloatArray
    crossing: Crossing
    r: FloatArray
    duration: float
    angles: FloatArray

    @property
    def breaks(self) -> FloatArray:
        """The splines' knots."""
        return _EVEN * self.duration

    @cached_property
    def end_angles(self) -> FloatArray:
        """Where the modules' angles arrive, (m,)."""
        return self.samples(np.array([self.duration])).angle[0]

    def out_of_range(self) -> int | None:
        """The first module whose steering range the course leaves, or may leave: between knots an angle is no farther
        from theirs than the largest rate of steering lets it come.
        """
        lower, upper = self.drive.ranges
        if np.isinf(lower).all() and np.isinf(upper).all():
            return None
        knots = np.concatenate([self._at_knots[0], self.end_angles[None]])
        room = self.drive.steering[0] * self.duration / (2 * INTERVALS)
        middle, half = (knots[1:] + knots[:-1]) / 2, np.abs(np.diff(knots, axis=0)) / 2
        beyond = np.maximum(half, room)
        out = (middle - beyond < lower - 1e-9) | (middle + beyond > upper + 1e-9)
        return int(np.flatnonzero(out.any(axis=0))[0]) if out.any() else None

    @cached_property
    def _at_knots(self) -> tuple[FloatArray, FloatArray]:
        """The angle at the start of each interval (K, m), and +1 or −1 as the wheels first roll forward along w."""
        interval = np.arange(INTERVALS)
        begin, end = (self._local(interval, np.full(INTERVALS, share))[0][0] for share in (0.0, 1.0))
        first = np.angle(begin[0])
        forward = np.where(np.cos(self.angles - first) >= 0, 1.0, -1.0)
        first = first + np.where(forward < 0, np.pi, 0.0)
        first = first + 2 * np.pi * np.round((self.angles - first) / (2 * np.pi))
        turned = np.cumsum(np.angle(end * begin.conj()), axis=0)
        return first + np.concatenate([np.zeros((1, len(first))), turned[:-1]]), forward

    def samples(self, times: FloatArray) -> Samples:
        """All that the course is at times."""
        along = np.clip(np.asarray(times, dtype=float) / self.duration, 0.0, 1.0) * INTERVALS
        interval = np.minimum(along.astype(int), INTERVALS - 1)
        w, f = self._local(interval, along - interval)
        d, r = self._splines(interval, along - interval)
        start, forward = self._at_knots
        begin = self._local(interval, np.zeros(len(along)))[0][0]
        angle = start[interval] + np.angle(w[0] * begin.conj())
        _, rates = log_rates(w)
        size, first = np.abs(w[0]) * forward, rates[0].real
        second = rates[1].real + first**2
        scale = self.duration ** -np.arange(1.0, 4)
        twist = r[0, :, None] * d[0]
        return _sampled(
            self.drive,
            (
                twist,
                (r[1, :, None] * d[0] + r[0, :, None] * d[1]) * scale[0],
                (r[2, :, None] * d[0] + 2 * r[1, :, None] * d[1] + r[0, :, None] * d[2]) * scale[1],
            ),
            angle,
            rates.imag * scale[:, None, None],
            (
                size * f[0],
                size * (f[1] + first * f[0]) * scale[0],
                size * (f[2] + 2 * first * f[1] + second * f[0]) * scale[1],
            ),
        )

    def _splines(self, interval: IntArray, share: FloatArray) -> tuple[FloatArray, FloatArray]:
        """d (4, n, 3) and r (3, n), with derivatives on [0, 1]."""
        powers = share[:, None] ** np.arange(4)
        d = [_evaluated(each, interval, powers) for each in self._coefficients[0]]
        r = [_evaluated(each, interval, powers)[:, 0] for each in self._coefficients[1]]
        return np.array(d), np.array(r)

    @cached_property
    def _coefficients(self) -> tuple[list[FloatArray], list[FloatArray]]:
        """(K, power, ·) of each derivative of d and r."""
        d = pieces(3) @ self.controls
        r = pieces(2) @ self.r[:, None]
        return [differentiated(d, order) for order in range(4)], [
            differentiated(r, order) for order in range(3)
        ]

    def _local(self, interval: IntArray, share: FloatArray) -> tuple[ComplexArray, FloatArray]:
        """w (4, n, m) and f (3, n, m) with u = f w: where a module's axis is crossed, w/(t* − t) and (t* − t) r."""
        d, r = self._splines(interval, share)
        w = d @ self.drive.map
        f = np.repeat(r[:, :, None], w.shape[2], axis=2)
        for module, knot in self.crossing:
            passed = interval > knot if 0 < knot < INTERVALS else np.zeros(len(interval), dtype=bool)
            w[:, passed, module] *= -1
            f[:, passed, module] *= -1
            near = np.isin(interval, np.arange(INTERVALS)[beside(knot)])
            w[:, near, module], power = self._divided(module, knot, interval[near], share[near])
            r0, r1, r2 = r[:, near]
            f[:, near, module] = (
                power[0] * r0,
                power[0] * r1 + power[1] * r0,
                power[0] * r2 + 2 * power[1] * r1 + power[2] * r0,
            )
        return w, f

    def _divided(
        self, module: int, knot: int, interval: IntArray, share: FloatArray
    ) -> tuple[ComplexArray, FloatArray]:
        """w/(t* − t)^order (4, n) and that power (3, n), with derivatives, from w's at t* from either side."""
        order = self.drive.order(knot)
        at_knot = (knot - interval).astype(float)[:, None] ** np.arange(4.0)
        slopes = [
            _evaluated(each, interval, at_knot) @ self.drive.map[:, module] / factorial(k)
            for k, each in enumerate(self._coefficients[0])
        ]
        sign = sign_of(knot, order)
        since = (interval + share - knot) / INTERVALS
        kept = [sign * each for each in slopes[order:]]
        derivatives = []
        for _ in range(4):
            derivatives.append(sum(each * since**p for p, each in enumerate(kept)) + 0j * since)
            kept = [p * each for p, each in enumerate(kept)][1:]
        powers = [sign * perm(order, k) * since ** max(0, order - k) for k in range(3)]
        return np.array(derivatives), np.array(powers)


@dataclass(frozen=True, eq=False)
class Straight:
    """ξ = d ṗ(t): the direction and the modules' angles held, the speed along it the first derivative of a profile."""

    drive: SteeredDrive
    direction: FloatArray
    profile: Profile
    angles: FloatArray

    @property
    def duration(self) -> float:
        """Of the profile."""
        return self.profile.duration

    @property
    def breaks(self) -> FloatArray:
        """Of the profile."""
        return self.profile.breaks

    @property
    def end_angles(self) -> FloatArray:
        """Those at the start."""
        return self.angles

    def samples(self, times: FloatArray) -> Samples:
        """All that it is at times."""
        speeds = [self.profile.at(times, order)[:, None] for order in (1, 2, 3)]
        along = np.real(self.drive.velocities(self.direction) * np.exp(-1j * self.angles))
        held = np.broadcast_to(self.angles, (len(times), len(self.angles)))
        return _sampled(
            self.drive,
            tuple(each * self.direction for each in speeds),
            held,
            np.zeros((3, *held.shape)),
            tuple(each * along for each in speeds),
        )


@dataclass(frozen=True, eq=False)
class Turning:
    """At rest: each module steers along its own profile from its angle, and holds the last one."""

    drive: SteeredDrive
    angles: FloatArray
    profiles: Sequence[Profile]

    @property
    def duration(self) -> float:
        """Of the longest."""
        return max(profile.duration for profile in self.profiles)

    @property
    def breaks(self) -> FloatArray:
        """Of all profiles."""
        return np.unique(np.concatenate([[0.0, self.duration], *(each.breaks for each in self.profiles)]))

    @cached_property
    def end_angles(self) -> FloatArray:
        """Where the angles arrive."""
        return self.angles + [float(each.at(each.duration)) for each in self.profiles]

    def samples(self, times: FloatArray) -> Samples:
        """All that it is at times."""
        values = np.array([_held(profile, times) for profile in self.profiles]).transpose(1, 2, 0)
        still = np.zeros((len(times), 3))
        zero = np.zeros(values.shape[1:])
        return _sampled(self.drive, (still,) * 3, self.angles + values[0], values[1:], (zero,) * 3)


PlannedPiece = AlongCourse | Straight | Turning


def standing(drive: SteeredDrive, twist: FloatArray, angles: FloatArray) -> PlannedPiece:
    """The twist at one moment: what a motion is made of that needs no time."""
    return Straight(drive, twist, Profile(np.zeros(2), np.array([[0.0, 1.0]])), angles)


def _held(profile: Profile, times: FloatArray) -> FloatArray:
    """(4, n): a profile and its derivatives, and its end behind it."""
    running = times < profile.duration
    inside = np.minimum(times, profile.duration)
    return np.array([profile.at(inside), *(profile.at(inside, order) * running for order in (1, 2, 3))])


def _evaluated(coefficients: FloatArray, interval: IntArray, powers: FloatArray) -> FloatArray:
    """(n, ·): polynomials of each interval by their coefficients (K, power, ·)."""
    return np.einsum("np,npx->nx", powers[:, : coefficients.shape[1]], coefficients[interval])


def _sampled(
    drive: SteeredDrive,
    twists: Sequence[FloatArray],
    angle: FloatArray,
    steering: FloatArray,
    rolling: Sequence[FloatArray],
) -> Samples:
    """From derivatives of the twist, of the angles and of the speeds."""
    slip = np.abs(drive.velocities(twists[0]) - rolling[0] * np.exp(1j * angle))
    (x, dx, ddx), (a, b, c), (s, ds, dds) = twists, steering, rolling
    return Samples(x, dx, ddx, angle, a, b, c, s, ds, dds, slip)
