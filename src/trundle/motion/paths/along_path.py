"""A piece of a motion: a section of a path of poses, followed by a scaling of time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import BoolArray, ComplexArray, FloatArray
from trundle.motion.drive.drive import Drive
from trundle.motion.paths.path_rates import local_velocities, module_rates, twists
from trundle.motion.paths.path_scaling import Scaling, carried
from trundle.motion.paths.pose_paths import Section
from trundle.motion.pieces.motion import Piece, Samples, sampled

# Looks along a section between which no wheel turns by half a turn; steering is counted up from look to look.
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
class AlongPath(Piece):
    """A piece of a motion: a section of a path, followed by a scaling, its modules at angles that begin at `angles`."""

    drive: Drive
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
        steering, rolling = module_rates(self.drive, self.section, length, self.forward)
        angle = self.angles + self._turned(length)
        twist = carried(twists(self.section, length)[:3], moved)
        return sampled(self.drive, twist, (angle, *carried(steering, moved)), carried(rolling, moved))

    def when(self, length: float) -> float:
        """The time at which a length from the section's begin is passed."""
        z = np.linspace(0.0, 1.0, _LOOKS)
        return self.scaling.when(float(np.interp(length, self.stretched.at(z)[0], z)))

    def _turned(self, length: FloatArray) -> FloatArray:
        """How far the modules have been steered since the section's begin."""
        looks, turned = self._looks
        near = np.clip(np.searchsorted(looks, length, "right") - 1, 0, len(looks) - 1)
        first, last = (local_velocities(self.drive, self.section, at) for at in (looks[near], length))
        # from the look before it the angle is exact: only whole turns come out of the table
        return turned[near] + _turn(first, last, self._steers)

    @property
    def _steers(self) -> BoolArray:
        return self.drive.points & (self.forward != 0)

    @cached_property
    def _looks(self) -> tuple[FloatArray, FloatArray]:
        """Lengths along the section, (_LOOKS,), and how far the modules have been steered there, (_LOOKS, m)."""
        looks = self.stretched.at(np.linspace(0.0, 1.0, _LOOKS))[0]
        steps = steered_by(local_velocities(self.drive, self.section, looks), self._steers)
        return looks, np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])


def steered_by(u: ComplexArray, steers: BoolArray) -> FloatArray:
    """How far modules are steered from one of their velocities (n, m) to the next, (n − 1, m)."""
    return _turn(u[:-1], u[1:], steers)


def _turn(first: ComplexArray, last: ComplexArray, steers: BoolArray) -> FloatArray:
    """The angle from one velocity to another, arg(u₂ ū₁); 0 of modules that aren't steered."""
    return np.where(steers, np.angle(np.where(steers, last * np.conj(first), 1.0)), 0.0)
