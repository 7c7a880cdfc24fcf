"""Pieces of motions: the twist along a straight line, and modules by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.arrays import BoolArray, ComplexArray, FloatArray
from trundle.mechanics.steering import STILL
from trundle.motion.drive.drive import Drive, log_rates
from trundle.motion.pieces.motion import Piece, Samples, sampled
from trundle.motion.pieces.profiles import Profile, move


@dataclass(frozen=True, eq=False)
class TwistLine(Piece):
    """ξ(t) = ξ₀ + p(t) Δξ: the twist on a straight line, p from 0 to 1.

    A module's velocity is on a straight line then, too: it turns by less than half a turn, or it passes through zero
    at an angle that it holds.

    Parameters
    ----------
    drive : Drive
        Of modules that are fixed or steer about their centres.
    twist, change : array (3,)
        ξ₀ and Δξ (m/s, m/s, rad/s).
    profile : Profile
        p.
    angles : array (m,), rad
        Of the modules at the start: along their velocities, or against them where they roll backward.
    """

    drive: Drive
    twist: FloatArray
    change: FloatArray
    profile: Profile
    angles: FloatArray

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return self.profile.duration

    @property
    def breaks(self) -> FloatArray:
        """The profile's, and when the modules' velocities are least, where rates peak."""
        return np.unique(np.concatenate([self.profile.breaks, self._nearest]))

    @property
    def end(self) -> FloatArray:
        """The twist at the end."""
        return self.twist + self.change

    @cached_property
    def end_angles(self) -> FloatArray:
        """Where the modules' angles arrive, (m,) in rad."""
        return self.angles_at(np.array([self.duration]))[0]

    @cached_property
    def _line(self) -> tuple[ComplexArray, ComplexArray]:
        """The modules' velocities at the start, and their changes, (m,)."""
        return self.drive.velocities(self.twist), self.drive.velocities(self.change)

    @cached_property
    def _turns(self) -> BoolArray:
        """Which modules turn: those whose velocity passes zero farther away than a wheel that stands still."""
        start, change = self._line
        across = np.abs((np.conj(start) * change).imag)
        swings = across > STILL * np.abs(change) * (np.abs(start) + np.abs(change))
        return swings & self.drive.points

    @cached_property
    def _nearest(self) -> FloatArray:
        """When the modules that turn are slowest, by bisection: p never falls."""
        start, change = (u[self._turns] for u in self._line)
        share = -(np.conj(change) * start).real / np.abs(change) ** 2
        share = share[(share > 0) & (share < 1)]
        if not len(share):
            return share
        low, high = np.zeros_like(share), np.full_like(share, self.duration)
        for _ in range(60):  # halvings: as many as a double has digits, and some
            middle = (low + high) / 2
            below = self.profile.at(middle) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low

    def slower(self, factor: float) -> TwistLine:
        """The same twists over so many times the time."""
        return replace(self, profile=self.profile.slower(factor))

    def angles_at(self, times: FloatArray) -> FloatArray:
        """The modules' angles (n, m) at times (n,), in rad, without jumps."""
        start, change = self._line
        safe = np.where(self._turns, start, 1.0)
        turned = np.angle(1 + np.where(self._turns, change, 0.0) / safe * self.profile.at(times)[:, None])
        return self.angles + turned

    def samples(self, times: FloatArray) -> Samples:
        """Twist and modules at times (n,)."""
        shares = [self.profile.at(times, order)[:, None] for order in range(4)]
        start, change = self._line
        u = [start + change * shares[0], *(change * share for share in shares[1:])]
        angle = self.angles_at(times)
        along = np.conj(self.drive.rolling_axes(angle))
        held = [(along * velocity).real for velocity in u[:3]]
        # 1 and its derivatives in place of the velocities of those that hold their angle, for the logarithm's sake
        rates = log_rates([np.where(self._turns, x, float(order == 0)) for order, x in enumerate(u)])
        turning = [held[0], *(held[0] * growth for growth in rates.growth)]
        rolling = [np.where(self._turns, a, b) for a, b in zip(turning, held, strict=True)]
        twists = (self.twist + self.change * shares[0], self.change * shares[1], self.change * shares[2])
        return sampled(self.drive, twists, (angle, *rates.steering), rolling)


def straight(drive: Drive, direction: FloatArray, profile: Profile, angles: FloatArray) -> TwistLine:
    """ξ = d ṗ(t): a direction and the modules' angles held, the speed along it the rate of a profile."""
    return TwistLine(drive, np.zeros(3), direction, profile.derivative(), angles)


@dataclass(frozen=True, eq=False)
class ModulePiece(Piece):
    """Angles and speeds of modules by a profile for every one; the base moves as least squares over them say.

    ξ = A⁺ w with w_i = s_i e^{iα_i}, and ξ̇, ξ̈ likewise; what is left, A ξ − w, slips.
    """

    drive: Drive
    angles: tuple[Profile, ...]
    speeds: tuple[Profile, ...]

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return max(profile.duration for profile in (*self.angles, *self.speeds))

    @property
    def breaks(self) -> FloatArray:
        """The breaks of all profiles, and the end of the last."""
        breaks = np.concatenate([profile.breaks for profile in (*self.angles, *self.speeds)])
        return np.unique(np.append(breaks, self.duration))

    def slower(self, factor: float) -> ModulePiece:
        """The same angles and speeds over so many times the time."""
        angles, speeds = (tuple(p.slower(factor) for p in part) for part in (self.angles, self.speeds))
        return ModulePiece(self.drive, angles, speeds)

    @cached_property
    def end_angles(self) -> FloatArray:
        """Where the modules' angles arrive, (m,) in rad."""
        return np.array([float(profile.at(profile.duration)) for profile in self.angles])

    def samples(self, times: FloatArray) -> Samples:
        """Twist and modules at times (n,)."""
        angle, rate, acceleration, jerk = (_stacked(self.angles, times, order) for order in range(4))
        speed, drive_acceleration, drive_jerk = (_stacked(self.speeds, times, order) for order in range(3))
        turn = np.exp(1j * angle)
        rims = [
            speed * turn,
            (drive_acceleration + 1j * speed * rate) * turn,
            (drive_jerk - speed * rate**2 + 1j * (2 * drive_acceleration * rate + speed * acceleration))
            * turn,
        ]
        twists = [self.drive.agreed(w) for w in rims]
        steering = (angle, rate, acceleration, jerk)
        return sampled(self.drive, twists, steering, (speed, drive_acceleration, drive_jerk))


def turning(drive: Drive, angles: FloatArray, turns: FloatArray) -> tuple[ModulePiece, ...]:
    """At rest all modules steer by their turns, as fast as their limits let them."""
    if not np.abs(turns).max():
        return ()
    moves = [move(float(turn), *limits) for turn, limits in zip(turns, drive.steering.T, strict=True)]
    turned = tuple(profile.shifted(float(angle)) for profile, angle in zip(moves, angles, strict=True))
    still = Profile(np.zeros(2), np.zeros((1, 1)))
    return (ModulePiece(drive, turned, (still,) * len(turned)),)


def _stacked(profiles: Sequence[Profile], times: FloatArray, order: int) -> FloatArray:
    """A derivative of several profiles, (n, m); behind their ends they stay."""
    return np.stack([profile.at_or_end(times, order) for profile in profiles], axis=1)
