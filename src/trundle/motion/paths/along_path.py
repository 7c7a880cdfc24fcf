"""A piece of a motion: a section of a path of poses, followed in a given time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.paths.path_rates import ComplexArray, carried, local_velocities, module_rates
from trundle.motion.paths.path_scaling import Scaling
from trundle.motion.paths.pose_paths import Section
from trundle.motion.pieces.motion import Samples
from trundle.motion.pieces.motion_pieces import slips, velocities
from trundle.results.arrays import FloatArray

_LOOKS = 2001


@dataclass(frozen=True, eq=False)
class Stretched:
    """s(z) on [0, 1], a section's length from a parameter at which an end at rest is passed at a speed: s ~ z^order."""

    length: float
    order: int
    begins_at_rest: bool
    ends_at_rest: bool

    def at(self, z: FloatArray) -> list[FloatArray]:
        """s and its first three derivatives: s′ = c z^i (1 − z)^k, in factors, so that it is exact beside its zeros."""
        i = self.order - 1 if self.begins_at_rest else 0
        k = self.order - 1 if self.ends_at_rest else 0
        whole = (np.poly1d([1.0, 0.0]) ** i * np.poly1d([-1.0, 1.0]) ** k).integ()
        c = self.length / whole(1.0)
        return [
            c * whole(z),
            c * _power(z, i) * _power(1 - z, k),
            c * (_power(z, i, 1) * _power(1 - z, k) - _power(z, i) * _power(1 - z, k, 1)),
            c
            * (
                _power(z, i, 2) * _power(1 - z, k)
                - 2 * _power(z, i, 1) * _power(1 - z, k, 1)
                + _power(z, i) * _power(1 - z, k, 2)
            ),
        ]


def _power(z: FloatArray, exponent: int, order: int = 0) -> FloatArray:
    """A derivative of z^exponent."""
    if order > exponent:
        return np.zeros_like(z)
    return math.perm(exponent, order) * z ** (exponent - order)


@dataclass(frozen=True, eq=False)
class AlongPath:
    """A piece of a motion: a section of a path, followed by a scaling, its modules at angles that begin at `angles`."""

    kinematics: Kinematics
    section: Section
    stretched: Stretched
    scaling: Scaling
    angles: FloatArray
    forward: FloatArray

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return float(self.scaling.times[-1])

    @property
    def breaks(self) -> FloatArray:
        """When the scaling passes its knots."""
        return self.scaling.times

    def samples(self, times: FloatArray) -> Samples:
        """Twist and modules at times (n,)."""
        z, *speeds = self.scaling.at(times)
        length, *slopes = self.stretched.at(z)
        moved = carried(slopes, speeds)
        poses = [self.section.at(length, order) for order in range(5)]
        steering, rolling = module_rates(self.kinematics, self.section, length, self.forward)
        steering, rolling = carried(steering, moved), carried(rolling, moved)
        angle = self.angles + self._turned(length)
        twist = _twists(poses, moved)
        slip = slips(self.kinematics, velocities(self.kinematics, twist[0]), angle, rolling[0])
        columns = (*twist, angle, *steering, *rolling, slip)
        return Samples(*columns)

    def when(self, length: float) -> float:
        """The time at which a length from the section's begin is passed."""
        z = np.linspace(0.0, 1.0, _LOOKS)
        return self.scaling.when(float(np.interp(length, self.stretched.at(z)[0], z)))

    def _turned(self, length: FloatArray) -> FloatArray:
        """How far the modules have been steered since the section's begin."""
        looks, turned = self._looks
        near = np.clip(np.searchsorted(looks, length, "right") - 1, 0, len(looks) - 1)
        ends = [local_velocities(self.kinematics, self.section, each) for each in (looks[near], length)]
        return turned[near] + _turn(ends[0], ends[1], self._steers)

    @property
    def _steers(self) -> np.ndarray:
        return np.array([module.points for module in self.kinematics.modules]) & (self.forward != 0)

    @cached_property
    def _looks(self) -> tuple[FloatArray, FloatArray]:
        looks = self.stretched.at(np.linspace(0.0, 1.0, _LOOKS))[0]
        steps = steered_by(local_velocities(self.kinematics, self.section, looks), self._steers)
        return looks, np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])


def steered_by(u: ComplexArray, steers: np.ndarray) -> FloatArray:
    """How far modules are steered from one of their velocities (n, m) to the next, (n − 1, m)."""
    return _turn(u[:-1], u[1:], steers)


def _turn(first: ComplexArray, last: ComplexArray, steers: np.ndarray) -> FloatArray:
    return np.where(steers, np.angle(np.where(steers, last * np.conj(first), 1.0)), 0.0)


def _twists(poses: Sequence[FloatArray], moved: Sequence[FloatArray]) -> list[FloatArray]:
    """The twist in the base's frame and its first two derivatives there, (n, 3)."""
    velocity, acceleration, jerk = carried([each[:, 0] + 1j * each[:, 1] for each in poses[1:4]], moved)
    omega, alpha, change = carried([each[:, 2] for each in poses[1:4]], moved)
    back = np.exp(-1j * poses[0][:, 2])
    local = [
        velocity * back,
        (acceleration - 1j * omega * velocity) * back,
        (jerk - 2j * omega * acceleration - (1j * alpha + omega**2) * velocity) * back,
    ]
    return [
        np.stack([each.real, each.imag, turning], axis=1)
        for each, turning in zip(local, (omega, alpha, change), strict=True)
    ]
