"""A piece of a motion: a section of a path of poses, followed by a scaling of time; and what the path asks of modules.

By length, as by time, the base has a twist in its axes: (p′ e^{−iθ}, θ′). So all laws of a drive hold along a path,
a metre of it in a second's place.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb

import numpy as np

from trundle.arrays import BoolArray, ComplexArray, FloatArray, IntArray
from trundle.mechanics.steering import STILL
from trundle.motion.drive.drive import Drive, log_rates
from trundle.motion.paths.path_scaling import Scaling, chain_rule
from trundle.motion.paths.pose_paths import Section
from trundle.motion.pieces.motion import Piece, Samples, sampled

# Where a module stands at a section's end, its direction is that at this share of the length from it: there u/|u| is
# numbers again, and by a smooth path it is off by as little.
_BESIDE = 1e-5
# Looks along a section, halved so often at most until no wheel turns by more than this (rad) from one to the next:
# one that passes the centre of rotation at a millimetre turns by half a turn on as little. Steering is counted up from
# look to look.
_LOOKS, _HALVED, _STEP = 2001, 24, 0.1
# Newton's steps from an interpolated place to the exact one: every step doubles its right digits.
_NEWTON = 4


def twists(section: Section, lengths: FloatArray, orders: int = 4) -> FloatArray:
    """(orders, n, 3): the base's twist by length in its axes, (p′ e^{−iθ}, θ′), and derivatives of it there."""
    poses = [section.at(lengths, order) for order in range(orders + 1)]
    velocities = [pose[:, 0] + 1j * pose[:, 1] for pose in poses[1:]]
    back = np.exp(-1j * poses[0][:, 2])
    # the derivatives of e^{−iθ}: each is that of −iθ′ e^{−iθ}
    turns = [back]
    for k in range(orders - 1):
        parts = [comb(k, j) * turns[k - j] * poses[j + 1][:, 2] for j in range(k + 1)]
        turns.append(-1j * np.sum(parts, axis=0))
    local = [sum(comb(k, j) * velocities[k - j] * turns[j] for j in range(k + 1)) for k in range(orders)]
    return np.array(
        [np.stack([v.real, v.imag, pose[:, 2]], axis=1) for v, pose in zip(local, poses[1:], strict=True)]
    )


def local_velocities(drive: Drive, section: Section, lengths: FloatArray) -> ComplexArray:
    """The modules' u by length, (n, m), in the base's axes; beside an end at which one stands, its u farther in."""
    exact, stands = drive.velocities(twists(section, lengths, 1)[0]), _stands(drive, section, lengths)
    beside = stands.any(axis=1)
    if beside.any():
        inner = drive.velocities(twists(section, _inside(section, lengths[beside]), 1)[0])
        exact[beside] = np.where(stands[beside], inner, exact[beside])
    return exact


def _stands(drive: Drive, section: Section, lengths: FloatArray) -> BoolArray:
    """Where modules are beside an end at which they stand on the centre of rotation, (n, m)."""
    ends = np.abs(drive.velocities(twists(section, np.array([0.0, section.length]), 1)[0])) < STILL
    beside = _BESIDE * section.length
    first, last = lengths < beside, lengths > section.length - beside
    return (first[:, None] & ends[0]) | (last[:, None] & ends[1])


def _inside(section: Section, lengths: FloatArray) -> FloatArray:
    """The same lengths, those beside an end moved away from it."""
    beside = _BESIDE * section.length
    return np.clip(lengths, beside, section.length - beside)


def module_rates(
    drive: Drive, section: Section, lengths: FloatArray, forward: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The first three derivatives by length of the modules' angles and of how far their wheels roll, both (3, n, m).

    `forward`: +1 or −1 for wheels that roll forward or backward along the path, 0 for those that stand still.
    """
    twist = twists(section, lengths)
    u, stands = drive.velocities(twist), _stands(drive, section, lengths)
    inner = drive.velocities(twists(section, _inside(section, lengths))) if stands.any() else u
    still = forward == 0
    # in place of the velocities that are zero: the logarithm's rates of 1 are zeros, not 0/0
    ones = np.array([1.0, 0.0, 0.0, 0.0])[:, None, None]
    directed = np.where(still, ones, np.where(stands, inner, u))
    turning = np.where(still, 0.0, log_rates(directed).steering)
    # along the angle α: σ = Re(u e^{−iα}), σ′ = Re(u′ e^{−iα}), σ″ = Re(u″ e^{−iα}) + α′ Im(u′ e^{−iα})
    along = u[:3] * (forward * np.conj(directed[0]) / np.abs(directed[0]))
    rolling = along.real + np.array([np.zeros_like(turning[0])] * 2 + [turning[0] * along[1].imag])
    # a wheel beside its pivot is carried forward or back by it, as fast as the whole module turns in the world
    left = np.array([float(module.offset[1]) if module.pivots else 0.0 for module in drive.modules])
    rolling = rolling - left * np.where(still, 0.0, turning + twist[:3, :, 2:])
    held = (np.conj(drive.rolling_axes(drive.headings)) * u[:3]).real
    turning, rolling = np.where(drive.points, turning, 0.0), np.where(drive.points, rolling, held)
    return turning, rolling


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

    def reached(self, lengths: FloatArray) -> FloatArray:
        """z at lengths (n,), by Newton's method from a table of them."""
        looks = np.linspace(0.0, 1.0, _LOOKS)
        inside = (lengths > 0) & (lengths < self.length)
        z = np.where(lengths > 0, 1.0, 0.0)
        asked = lengths[inside]
        at = np.interp(asked, self.at(looks)[0], looks)
        for _ in range(_NEWTON):
            here, slope, *_ = self.at(at)
            at = np.clip(at - (here - asked) / slope, 0.0, 1.0)
        z[inside] = at
        return z


def _power(z: FloatArray, exponent: int, order: int = 0) -> FloatArray:
    """A derivative of z^exponent."""
    if order > exponent:
        return np.zeros_like(z)
    return math.perm(exponent, order) * z ** (exponent - order)


# Shares of an interval at which a plan wishes for forces: Chebyshev's points.
WISHES = (1 + np.cos(np.pi * np.array([5, 3, 1]) / 6)) / 2


def wishing(share: FloatArray) -> FloatArray:
    """(n, 3): what the wishes of an interval count at these shares of it; Lagrange's parabolas."""
    a, b, c = WISHES
    x = share
    return np.stack(
        [
            (x - b) * (x - c) / ((a - b) * (a - c)),
            (x - a) * (x - c) / ((b - a) * (b - c)),
            (x - a) * (x - b) / ((c - a) * (c - b)),
        ],
        axis=1,
    )


def wishes_within(scaling: Scaling, wished: FloatArray, piece: IntArray, inside: FloatArray) -> FloatArray:
    """Wishes (K, 3, forces) on a scaling's intervals, so far inside of some, (n,) both: (n, forces)."""
    share = inside / np.diff(scaling.knots)[piece]
    return np.einsum("nj,njf->nf", wishing(share), wished[piece])


class ScaledPiece(Piece):
    """A way that is followed by a scaling of time.

    `wished` are the contacts' forces that the plan chose, at the `WISHES` of the scaling's intervals, (K, 3, forces).
    """

    scaling: Scaling
    wished: FloatArray | None

    @property
    def duration(self) -> float:
        """How long it takes, in s."""
        return float(self.scaling.times[-1])

    def pushes(self, times: FloatArray) -> FloatArray | None:
        """What the plan wishes of the contacts' forces, (n, forces) in N; parabolas in z on intervals."""
        if self.wished is None:
            return None
        return wishes_within(self.scaling, self.wished, *self.scaling.within(np.asarray(times, dtype=float)))


@dataclass(frozen=True, eq=False)
class AlongPath(ScaledPiece):
    """A piece of a motion: a section of a path, followed by a scaling, its modules at angles that begin at `angles`."""

    drive: Drive
    section: Section
    stretched: Stretched
    scaling: Scaling
    angles: FloatArray
    forward: FloatArray
    wished: FloatArray | None = None

    @property
    def breaks(self) -> FloatArray:
        """When the scaling passes its knots."""
        return self.scaling.times

    def samples(self, times: FloatArray) -> Samples:
        """Twist and modules at times (n,)."""
        z, *speeds = self.scaling.at(times)
        return self.passed(z, speeds)

    def passed(self, z: FloatArray, speeds: Sequence[FloatArray]) -> Samples:
        """Twist and modules at z (n,) that are passed with these three derivatives by time."""
        length, *slopes = self.stretched.at(z)
        moved = chain_rule(slopes, speeds)
        steering, rolling = module_rates(self.drive, self.section, length, self.forward)
        angle = self.angles + self._turned(length)
        twist = chain_rule(twists(self.section, length)[:3], moved)
        return sampled(self.drive, twist, (angle, *chain_rule(steering, moved)), chain_rule(rolling, moved))

    def at_unit_pace(self, z: FloatArray) -> Samples:
        """The same at ż = 1 and z̈ = z⃛ = 0."""
        none = np.zeros_like(z)
        return self.passed(z, (np.ones_like(z), none, none))

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
        z, steps = steered_along(self.drive, self.section, self.stretched, self._steers, _LOOKS)
        turned = np.concatenate([np.zeros((1, steps.shape[1])), np.cumsum(steps, axis=0)])
        return self.stretched.at(z)[0], turned


def steered_along(
    drive: Drive, section: Section, stretched: Stretched, steers: BoolArray, count: int
) -> tuple[FloatArray, FloatArray]:
    """Looks at z (n,), so many and more where modules turn much, and how far these are steered between, (n − 1, m)."""
    z = np.linspace(0.0, 1.0, count)
    u = local_velocities(drive, section, stretched.at(z)[0])
    for _ in range(_HALVED):
        steep = np.flatnonzero(np.abs(steered_by(u, steers)).max(axis=1) > _STEP)
        if not steep.size:
            break
        between = (z[steep] + z[steep + 1]) / 2
        u = np.insert(u, steep + 1, local_velocities(drive, section, stretched.at(between)[0]), axis=0)
        z = np.insert(z, steep + 1, between)
    return z, steered_by(u, steers)


def steered_by(u: ComplexArray, steers: BoolArray) -> FloatArray:
    """How far modules are steered from one of their velocities (n, m) to the next, (n − 1, m)."""
    return _turn(u[:-1], u[1:], steers)


def _turn(first: ComplexArray, last: ComplexArray, steers: BoolArray) -> FloatArray:
    """The angle from one velocity to another, arg(u₂ ū₁); 0 of modules that aren't steered."""
    return np.where(steers, np.angle(np.where(steers, last * np.conj(first), 1.0)), 0.0)
