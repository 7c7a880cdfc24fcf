"""What a path of poses asks of the modules: how far they roll and how they steer, by the length along the path.

By length, as by time, the base has a twist in its axes: (p′ e^{−iθ}, θ′). So all laws of a drive hold along a path,
a metre of it in a second's place.
"""

from __future__ import annotations

from math import comb

import numpy as np

from trundle.arrays import BoolArray, ComplexArray, FloatArray
from trundle.mechanics.steering import STILL
from trundle.motion.drive.drive import Drive, log_rates
from trundle.motion.paths.pose_paths import Section

# Where a module stands at a section's end, its direction is that at this share of the length from it: there u/|u| is
# numbers again, and by a smooth path it is off by as little.
_BESIDE = 1e-5


def twists(section: Section, lengths: FloatArray) -> FloatArray:
    """(4, n, 3): the base's twist by length in its axes, (p′ e^{−iθ}, θ′), and three derivatives of it there."""
    poses = [section.at(lengths, order) for order in range(5)]
    velocities = [pose[:, 0] + 1j * pose[:, 1] for pose in poses[1:]]
    one, two, three = (pose[:, 2] for pose in poses[1:4])
    # the derivatives of e^{−iθ} as multiples of it
    turns = (np.ones_like(one), -1j * one, -(one**2) - 1j * two, 1j * one**3 - 3 * one * two - 1j * three)
    back = np.exp(-1j * poses[0][:, 2])
    local = [
        back * np.sum([comb(k, j) * velocities[k - j] * turns[j] for j in range(k + 1)], axis=0)
        for k in range(4)
    ]
    return np.array(
        [np.stack([v.real, v.imag, pose[:, 2]], axis=1) for v, pose in zip(local, poses[1:], strict=True)]
    )


def local_velocities(drive: Drive, section: Section, lengths: FloatArray) -> ComplexArray:
    """The modules' u by length, (n, m), in the base's axes; beside an end at which one stands, its u farther in."""
    exact, inner = (drive.velocities(twists(section, at)[0]) for at in (lengths, _inside(section, lengths)))
    return np.where(_stands(drive, section, lengths), inner, exact)


def _stands(drive: Drive, section: Section, lengths: FloatArray) -> BoolArray:
    """Where modules are beside an end at which they stand on the centre of rotation, (n, m)."""
    ends = np.abs(drive.velocities(twists(section, np.array([0.0, section.length]))[0])) < STILL
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
    u, inner = drive.velocities(twist), drive.velocities(twists(section, _inside(section, lengths)))
    still = forward == 0
    # in place of the velocities that are zero: the logarithm's rates of 1 are zeros, not 0/0
    ones = np.array([1.0, 0.0, 0.0, 0.0])[:, None, None]
    directed = np.where(still, ones, np.where(_stands(drive, section, lengths), inner, u))
    turning = np.where(still, 0.0, log_rates(directed).steering)
    # along the angle α: σ = Re(u e^{−iα}), σ′ = Re(u′ e^{−iα}), σ″ = Re(u″ e^{−iα}) + α′ Im(u′ e^{−iα})
    along = u[:3] * (forward * np.conj(directed[0]) / np.abs(directed[0]))
    rolling = along.real + np.array([np.zeros_like(turning[0])] * 2 + [turning[0] * along[1].imag])
    # a wheel beside its pivot is carried forward or back by it, as fast as the whole module turns in the world
    left = np.array([float(module.offset[1]) if module.pivots else 0.0 for module in drive.modules])
    rolling = rolling - left * np.where(still, 0.0, turning + twist[:3, :, 2:])
    held = (np.conj(drive.rolling_axes(drive.headings)) * u[:3]).real
    return np.where(drive.points, turning, 0.0), np.where(drive.points, rolling, held)
