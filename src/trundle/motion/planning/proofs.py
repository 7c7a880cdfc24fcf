"""What is proven of a plan: that all limits hold at every instant.

The certificate bounds a course's rates between knots, from Bernstein coefficients.

On an interval w (a module's velocity by the course's direction) and r are polynomials, so with D = |w|² the steering
rate, acceleration and jerk are N₁/D, N₂/D² and N₃/D³, and the drive's are numerators over D^(1/2) and D^(3/2). A
quotient of polynomials lies between the least and the greatest quotient of their coefficients in Bernstein's form where
the denominator's are positive: N = Σ nₖ Bₖ ≤ max(nₖ/dₖ) Σ dₖ Bₖ (Farouki 2012, "The Bernstein polynomial basis").
Roots of D follow from below: x^(3/2) is convex, so D^(3/2) ≥ √D₀ (3 D − D₀)/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.motion.drive.drive import Drive
from trundle.motion.pieces.profiles import change_time, move_time
from trundle.motion.planning.courses import Crossing, factors, inner, waves
from trundle.motion.planning.splines import DEGREE, INTERVALS, UnitGrid, nodes, to_bernstein, windows

# Intervals are cut in halves so many times where a coefficient of D isn't positive, though D is: the coefficients come
# near to D with the square of the width. A level costs twice the one before; what stays open counts as unbounded, and
# the course is left.
_HALVINGS = 3
# A jump of a course's steering acceleration below this is rounding (rad, on [0, 1]).
_SMOOTH = 1e-6
# Of the largest values, what evaluating and changing the basis may have lost: 1e5, its condition, times rounding.
_ROUNDING = 2e-11


@dataclass(frozen=True, eq=False)
class Bounds:
    """What a course on [0, 1] doesn't exceed: (3, m) rates, accelerations and jerks of steering, and of drives."""

    steering: FloatArray
    rolling: FloatArray

    def duration(self, drive: Drive) -> float:
        """The least time in which the course may be taken; inf where it is too fast at any time."""
        if (self.rolling[0] > drive.rolling[0] * (1 + 1e-9)).any():
            return np.inf
        steering = _shares(self.steering, drive.steering) ** np.array([[1.0], [1 / 2], [1 / 3]])
        rolling = _shares(self.rolling[1:], drive.rolling[1:]) ** np.array([[1.0], [1 / 2]])
        return float(max(steering.max(), rolling.max()))


def _shares(largest: FloatArray, limits: FloatArray) -> FloatArray:
    """Values by their limits: what has none takes no time, though nothing bounds the value either."""
    return np.divide(largest, limits, out=np.zeros_like(largest), where=np.isfinite(limits))


def bounds(drive: Drive, controls: FloatArray, crossing: Crossing, r: FloatArray) -> Bounds:
    """Bounds of a course (K + 3, 3) with speed r (K + 2,): the intervals whole, or in halves where D's are too wide."""
    steering = np.full((3, INTERVALS, len(drive.places)), np.inf)
    rolling = steering.copy()
    for level in range(_HALVINGS + 1):
        parts = [_quotients(drive, controls, crossing, r, grid) for grid in _grids(level)]
        steering = np.minimum(steering, np.max([part[0] for part in parts], axis=0))
        rolling = np.minimum(rolling, np.max([part[1] for part in parts], axis=0))
        if np.isfinite(steering).all() and np.isfinite(rolling).all():
            break
    largest = steering.max(axis=1)
    for module, knot in inner(crossing):
        largest[2, module] = max(largest[2, module], _impulse(drive, controls, module, knot))
    return Bounds(largest, rolling.max(axis=1))


def _impulse(drive: Drive, controls: FloatArray, module: int, knot: int) -> float:
    """inf where a wheel that passes through its axis at a knot has its steering's acceleration jump there, else 0.

    Its direction is that of w/(t − t*), whose second derivative there is w‴/3: what a cubic spline lets jump, by the
    fourth difference of its control points, is an impulse of the jerk.
    """
    around = controls[knot - 1 : knot + 4] @ drive.map[:, module]
    slope = (around[3] - around[1]) * INTERVALS / 2
    jump = np.array([1, -4, 6, -4, 1]) @ around * INTERVALS**3 / 3 / slope
    return np.inf if abs(jump.imag) > _SMOOTH and np.isfinite(drive.steering[2, module]) else 0.0


@lru_cache
def _grids(level: int) -> tuple[UnitGrid, ...]:
    """The nodes on all 2^level parts of the intervals."""
    parts = 2**level
    return tuple(UnitGrid((nodes().inside + part) / parts) for part in range(parts))


def _quotients(
    drive: Drive, controls: FloatArray, crossing: Crossing, r: FloatArray, grid: UnitGrid
) -> tuple[FloatArray, FloatArray]:
    """(3, K, m) of steering and of drives: bounds of their sizes on the intervals of a grid."""
    w = waves(drive, controls[None], [crossing], grid)[:, 0]
    by_control = factors(drive, [crossing], grid)[:, 0]
    f = np.einsum("aknmx,kx->aknm", by_control, r[windows(3)])
    square, turning = _numerators(w)
    slope, bend = _products(w)
    d1, d2, d3 = square, square * square, square**3
    root = np.sqrt(d1[:, DEGREE // 2 : DEGREE // 2 + 1])
    # tangent of x^(3/2) in the middle node's D: below it everywhere, whichever point is taken
    below = root * (1.5 * d1 - 0.5 * root**2)
    drives = [
        (f[1] * d1 + f[0] * slope) * d1,
        f[2] * d2 + 2 * f[1] * slope * d1 + f[0] * (bend * d1 - slope * slope),
    ]
    values = np.array([turning[0] * d2, turning[1] * d1, turning[2], *drives, f[0] ** 2 * d1, d3, below])
    coefficients = to_bernstein() @ values
    slack = _ROUNDING * np.abs(values).max(axis=2, keepdims=True)
    sizes, floors = np.abs(coefficients[:-2]) + slack[:-2], coefficients[-2:] - slack[-2:]
    with np.errstate(divide="ignore", invalid="ignore"):
        steering = np.where(floors[0] > 0, sizes[:3] / floors[0], np.inf).max(axis=2)
        rolling = np.where(floors[1] > 0, sizes[3:5] / floors[1], np.inf).max(axis=2)
    speed = np.sqrt(np.maximum(coefficients[5].max(axis=1), 0.0))
    return steering, np.concatenate([speed[None], rolling])


def _numerators(w: ComplexArray) -> tuple[FloatArray, list[FloatArray]]:
    """D, and N₁, N₂, N₃: N₁ = w × w′, Nₖ₊₁ = Nₖ′ D − k Nₖ D′."""
    conjugate = w[0].conj()
    square = (w[0] * conjugate).real
    along = [(conjugate * derivative) for derivative in w[1:]]
    # derivatives have their order behind the underscore: d_1 is D', n1_2 is N₁″
    d_1 = 2 * along[0].real
    d_2 = 2 * ((w[1].conj() * w[1]).real + along[1].real)
    n1, n1_1 = along[0].imag, along[1].imag
    n1_2 = (w[1].conj() * w[2]).imag + along[2].imag
    n2 = n1_1 * square - n1 * d_1
    n2_1 = n1_2 * square - n1 * d_2
    return square, [n1, n2, n2_1 * square - 2 * n2 * d_1]


def _products(w: ComplexArray) -> tuple[FloatArray, FloatArray]:
    """w·w′ and its derivative."""
    return (w[0].conj() * w[1]).real, (np.abs(w[1]) ** 2 + (w[0].conj() * w[2]).real)


def least_time(drive: Drive, start: FloatArray, end: FloatArray, angles: FloatArray) -> float:
    """The time (s) that some module takes by itself, alone among the others: forward, or with its wheel reversed.

    From the angles (m,) to those of the twist at the end; a wheel that stands there may have any angle.
    """
    u0, u1 = drive.velocities(start), drive.velocities(end)
    s0, s1 = np.real(u0 * np.exp(-1j * angles)), np.abs(u1)
    turn, steered = np.abs(np.angle(u1 * np.exp(-1j * angles))), ~drive.still(u1)
    ways = ((turn, s1 - s0), (np.pi - turn, s1 + s0))
    times = [
        np.maximum(
            np.where(steered, move_time(angle, *drive.steering), 0.0),
            change_time(change, *drive.rolling[1:]),
        )
        for angle, change in ways
    ]
    return float(np.minimum(*times).max())
