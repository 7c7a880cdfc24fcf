"""What a path of poses asks of the modules: how far each rolls and how it steers, by the length along the path.

A module at r (complex, in the base's frame) is at P = p + r e^{iθ}. Along the path it moves by P′: where its wheel
steers, it rolls σ = ±|P′| a metre and points along arg P′ − θ in the base: log P′ = ln |σ| + i (α + θ) has all rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.paths.pose_paths import Section
from trundle.motion.pieces.motion_pieces import ComplexArray, rates_of, rolling_axes
from trundle.results.arrays import FloatArray

# A module with less of the path's velocity stands; its direction at a section's end is that at this share of the length
# from it, where the limit is numbers again.
_STILL, _BESIDE = 1e-9, 1e-5
_Array = TypeVar("_Array", FloatArray, ComplexArray)


def carried(rates: Sequence[_Array], inner: Sequence[FloatArray]) -> list[_Array]:
    """The first three derivatives of F(s(t)): of F by s, and of s by t (Faà di Bruno)."""
    one, two, three = rates
    a, b, c = (each.reshape(-1, *(1,) * (one.ndim - 1)) for each in inner)
    return [one * a, two * a**2 + one * b, three * a**3 + 3 * two * a * b + one * c]


def velocities(kinematics: Kinematics, poses: Sequence[FloatArray]) -> list[ComplexArray]:
    """P′ … P⁗ of each module, (4, n, m), in the world's axes; of poses and their first four derivatives, (5, n, 3)."""
    places = kinematics.places[:, 0] + 1j * kinematics.places[:, 1]
    theta = [each[:, 2] for each in poses]
    spun = places * np.exp(1j * theta[0])[:, None]
    one, two, three, four = (1j * each for each in theta[1:])
    turns = [
        one,
        two + one**2,
        three + 3 * one * two + one**3,
        four + 4 * one * three + 3 * two**2 + 6 * one**2 * two + one**4,
    ]
    return [
        (each[:, 0] + 1j * each[:, 1])[:, None] + turn[:, None] * spun
        for each, turn in zip(poses[1:], turns, strict=True)
    ]


def local_velocities(kinematics: Kinematics, section: Section, lengths: FloatArray) -> ComplexArray:
    """P′ e^{−iθ} of each module at lengths, (n, m): where it moves in the base's frame."""
    own, inner = (_local(kinematics, _poses(section, each)) for each in (lengths, _inside(section, lengths)))
    return np.where(_stands(kinematics, section, lengths), inner, own)


def _stands(kinematics: Kinematics, section: Section, lengths: FloatArray) -> npt.NDArray[np.bool_]:
    """Where modules are beside an end at which they stand on the centre of rotation, (n, m)."""
    ends = np.abs(_local(kinematics, _poses(section, np.array([0.0, section.length])))) < _STILL
    beside = _BESIDE * section.length
    first, last = lengths < beside, lengths > section.length - beside
    return (first[:, None] & ends[0]) | (last[:, None] & ends[1])


def _inside(section: Section, lengths: FloatArray) -> FloatArray:
    beside = _BESIDE * section.length
    return np.clip(lengths, beside, section.length - beside)


def _poses(section: Section, lengths: FloatArray) -> list[FloatArray]:
    return [section.at(lengths, order) for order in range(5)]


def _local(kinematics: Kinematics, poses: Sequence[FloatArray]) -> ComplexArray:
    return velocities(kinematics, poses)[0] * np.exp(-1j * poses[0][:, 2:])


def module_rates(
    kinematics: Kinematics, section: Section, lengths: FloatArray, forward: FloatArray
) -> tuple[list[FloatArray], list[FloatArray]]:
    """The first three derivatives by s of each module's angle, and of the length that its wheel rolls, each (n, m).

    `forward`: +1 or −1 for wheels that roll forward or backward along the path, 0 for those that stand still.
    """
    poses, inner = _poses(section, lengths), _poses(section, _inside(section, lengths))
    u = velocities(kinematics, poses)
    stands = _stands(kinematics, section, lengths)
    beside = [np.where(stands, a, b) for a, b in zip(velocities(kinematics, inner), u, strict=True)]
    still = forward == 0
    safe = [np.where(still, float(order == 0), each) for order, each in enumerate(beside)]
    rates = rates_of(safe)
    steers = np.array([module.points for module in kinematics.modules])
    headed = [each.imag for each in (rates.first, rates.second, rates.third)]
    steering = [
        np.where(steers & ~still, heading - turn[:, 2:], 0.0)
        for heading, turn in zip(headed, poses[1:4], strict=True)
    ]
    # along the heading ψ: σ = Re(u e^{−iψ}), σ′ = Re(u′ e^{−iψ}), σ″ = Re(u″ e^{−iψ}) + ψ′ Im(u′ e^{−iψ})
    back = forward * np.conj(safe[0]) / np.abs(safe[0])
    along = [each * back for each in u[:3]]
    left = np.array([float(module.offset[1]) if module.pivots else 0.0 for module in kinematics.modules])
    rolling = [along[0].real, along[1].real, along[2].real + headed[0] * along[1].imag]
    rolling = [each - left * np.where(still, 0.0, turn) for each, turn in zip(rolling, headed, strict=True)]
    held = _held(kinematics, u, poses)
    return steering, [np.where(steers, a, b) for a, b in zip(rolling, held, strict=True)]


def _held(kinematics: Kinematics, u: Sequence[ComplexArray], poses: Sequence[FloatArray]) -> list[FloatArray]:
    """How wheels roll whose angle is fixed: their velocity in the base's frame along them, or their rollers' axes."""
    one, two = (1j * each[:, 2:] for each in poses[1:3])
    back = np.exp(-1j * poses[0][:, 2:])
    local = [u[0] * back, (u[1] - one * u[0]) * back, (u[2] - 2 * one * u[1] - (two - one**2) * u[0]) * back]
    along = rolling_axes(kinematics, kinematics.headings)
    return [(np.conj(along) * each).real for each in local]
