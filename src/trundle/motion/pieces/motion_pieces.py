"""Pieces of motions: the twist along a straight line, and each module by itself.

Velocities in the plane are complex numbers here, u = u_x + i u_y. Where a wheel turns so as to roll along its place's
velocity u, its angle and speed are those of log u = ln |u| + iα, and so are their rates (`rates_of`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.pieces.motion import Samples
from trundle.motion.pieces.profiles import Profile
from trundle.results.arrays import FloatArray

ComplexArray = npt.NDArray[np.complex128]
# A wheel whose velocity passes zero nearer than this share of its change passes through it (its angle is then held):
# the slip that this neglects is of the same size.
_THROUGH = 1e-13


def velocities(kinematics: Kinematics, twists: FloatArray) -> ComplexArray:
    """u = v + ω × r at each module's place, (..., m) of twists (..., 3)."""
    x, y = kinematics.places.T
    turning = twists[..., 2:]
    return (twists[..., :1] - turning * y) + 1j * (twists[..., 1:2] + turning * x)


@dataclass(frozen=True)
class Rates:
    """Derivatives of a wheel's angle and of its speed relative to itself, from those of log u."""

    first: ComplexArray
    second: ComplexArray
    third: ComplexArray

    @property
    def steering(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Rate, acceleration and jerk of the angle."""
        return self.first.imag, self.second.imag, self.third.imag

    def drive(self, speed: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Acceleration and jerk along the wheel: ṡ = s Re w, s̈ = s (Re ẇ + (Re w)²), w = u̇/u."""
        return speed * self.first.real, speed * (self.second.real + self.first.real**2)


def rates_of(u: Sequence[ComplexArray]) -> Rates:
    """The first three derivatives of log u, from u and its own, where u ≠ 0.

    w = u̇/u (its imaginary part is (u × u̇)/|u|², its real one u·u̇/|u|²), ẇ = ü/u − w², ẅ = u⃛/u − 3 w ü/u + 2 w³.
    """
    first, second, third = (each / u[0] for each in u[1:4])
    return Rates(first, second - first**2, third - 3 * first * second + 2 * first**3)


@dataclass(frozen=True, eq=False)
class TwistLine:
    """ξ(t) = ξ₀ + p(t) Δξ: the twist on a straight line, p from 0 to 1.

    Each module's velocity is on a straight line then, too: it turns by less than half a turn, or it passes through zero
    at an angle that it holds.

    Parameters
    ----------
    kinematics : Kinematics
        Of modules that are fixed or steer about their centres.
    twist, change : array (3,)
        ξ₀ and Δξ (m/s, m/s, rad/s).
    profile : Profile
        p.
    angles : array (m,), rad
        Of the modules at the start: each along its velocity, or against it where it rolls backward.
    """

    kinematics: Kinematics
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
        """The profile's, and when each module's velocity is least, where its rates peak."""
        return np.unique(np.concatenate([self.profile.breaks, self._nearest]))

    @property
    def end(self) -> FloatArray:
        """The twist at the end."""
        return self.twist + self.change

    @cached_property
    def _line(self) -> tuple[ComplexArray, ComplexArray]:
        """Each module's velocity at the start, and its change, (m,)."""
        return velocities(self.kinematics, self.twist), velocities(self.kinematics, self.change)

    @cached_property
    def _turns(self) -> npt.NDArray[np.bool_]:
        """Which modules turn."""
        start, change = self._line
        across = np.abs((np.conj(start) * change).imag)
        swings = across > _THROUGH * np.abs(change) * (np.abs(start) + np.abs(change))
        return swings & np.array([module.points for module in self.kinematics.modules])

    @cached_property
    def _nearest(self) -> FloatArray:
        """When the modules that turn are slowest, by bisection: p never falls."""
        start, change = (each[self._turns] for each in self._line)
        share = -(np.conj(change) * start).real / np.abs(change) ** 2
        share = share[(share > 0) & (share < 1)]
        low, high = np.zeros_like(share), np.full_like(share, self.duration)
        for _ in range(60):
            middle = (low + high) / 2
            below = self.profile.at(middle) < share
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        return low

    def angles_at(self, times: FloatArray) -> FloatArray:
        """Of the modules, (n, m) in rad, without jumps."""
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
        along = rolling_axes(self.kinematics, angle)
        drive = [(np.conj(along) * each).real for each in u[:3]]
        rates = rates_of(
            [np.where(self._turns, u[0], 1.0), *(np.where(self._turns, each, 0.0) for each in u[1:])]
        )
        acceleration, jerk = rates.drive(drive[0])
        return Samples(
            self.twist + self.change * shares[0],
            self.change * shares[1],
            self.change * shares[2],
            angle,
            *rates.steering,
            drive[0],
            np.where(self._turns, acceleration, drive[1]),
            np.where(self._turns, jerk, drive[2]),
            slips(self.kinematics, u[0], angle, drive[0]),
        )


@dataclass(frozen=True, eq=False)
class ModulePiece:
    """Each module's angle and speed by a profile of its own; the base moves as least squares over them say.

    ξ = A⁺ w with w_i = s_i e^{iα_i}, and ξ̇, ξ̈ likewise; what is left, A ξ − w, slips.
    """

    kinematics: Kinematics
    angles: tuple[Profile, ...]
    speeds: tuple[Profile, ...]

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return max(profile.duration for profile in (*self.angles, *self.speeds))

    @property
    def breaks(self) -> FloatArray:
        """Those of all profiles."""
        found = np.concatenate([profile.breaks for profile in (*self.angles, *self.speeds)])
        return np.unique(np.append(found, self.duration))

    def samples(self, times: FloatArray) -> Samples:
        """Twist and modules at times (n,)."""
        angle, rate, acceleration, jerk = (_stacked(self.angles, times, order) for order in range(4))
        speed, drive_acceleration, drive_jerk = (_stacked(self.speeds, times, order) for order in range(3))
        turn = np.exp(1j * angle)
        w = [
            speed * turn,
            (drive_acceleration + 1j * speed * rate) * turn,
            (drive_jerk - speed * rate**2 + 1j * (2 * drive_acceleration * rate + speed * acceleration))
            * turn,
        ]
        twist, twist_rate, twist_jerk = (agreed(self.kinematics, each) for each in w)
        slip = slips(self.kinematics, velocities(self.kinematics, twist), angle, speed)
        steering = (angle, rate, acceleration, jerk)
        return Samples(twist, twist_rate, twist_jerk, *steering, speed, drive_acceleration, drive_jerk, slip)


def _stacked(profiles: Sequence[Profile], times: FloatArray, order: int) -> FloatArray:
    """A derivative of several profiles, (n, m); behind its end each stays."""
    columns = []
    for profile in profiles:
        value = profile.at(np.minimum(times, profile.duration), order)
        columns.append(value if order == 0 else np.where(times > profile.duration, 0.0, value))
    return np.stack(columns, axis=1)


def rolling_axes(kinematics: Kinematics, angle: FloatArray) -> ComplexArray:
    """What a module's velocity u is multiplied with for its speed, s = Re(k* u): along it, or along its rollers' axes
    seen from there, k = e^{iα} (1 + i b/a).
    """
    slopes = [
        float(module.rollers[1]) / float(module.rollers[0]) if module.rollers else 0.0
        for module in kinematics.modules
    ]
    return np.exp(1j * angle) * (1 + 1j * np.array(slopes))


def slips(kinematics: Kinematics, u: ComplexArray, angle: FloatArray, speed: FloatArray) -> FloatArray:
    """How fast each wheel slides in the directions in which the ground holds it, (n, m) in m/s."""
    relative = (u - speed * np.exp(1j * angle)) * np.exp(-1j * angle)
    found = np.abs(relative)
    for i, module in enumerate(kinematics.modules):
        if module.rollers:
            a, b = map(float, module.rollers)
            found[:, i] = np.abs(a * relative[:, i].real + b * relative[:, i].imag)
    return found


def agreed(kinematics: Kinematics, w: ComplexArray) -> FloatArray:
    """The twists (n, 3) at which the wheels slip least, of their rims' velocities w (n, m)."""
    rows = kinematics.matrix.reshape(-1, 2, 3)
    given = np.stack([w.real, w.imag], axis=-1)
    kept, known = [], []
    for i, module in enumerate(kinematics.modules):
        if module.rollers is None:
            kept.append(rows[i])
            known.append(given[:, i])
            continue
        a, b = map(float, module.rollers)
        turn = np.exp(1j * float(module.heading)) * (a + 1j * b)
        across = np.array([turn.real, turn.imag])
        kept.append((across @ rows[i])[None])
        known.append((given[:, i] @ across)[:, None])
    return np.concatenate(known, axis=1) @ np.linalg.pinv(np.concatenate(kept)).T
