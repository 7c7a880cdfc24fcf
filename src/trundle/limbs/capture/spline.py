"""Smoothing splines: the least of Σ |y − s|² + λ ∫ |s⁽ᵐ⁾|² dt over all functions, of degree 2m − 1.

B-splines with a knot at every sample make banded equations of it, (G + λ Ω) c = Bᵀy with G = BᵀB and Ω = DᵀD, exact by
Gauss points (de Boor 2001, ch. XIV; Woltring 1986). Time is counted in mean steps, so that λ has no unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.interpolate import BSpline
from scipy.linalg import get_lapack_funcs, solveh_banded
from scipy.optimize import minimize_scalar

from trundle.arrays import FloatArray

# λ times the largest entry of Ω. Beyond it the equations would have more digits than numbers have; the spline then
# bends no more than a hundredth of the sampling rate can show.
_STIFFEST = 1e13
# Rounds of iterative refinement: at the stiffest a round leaves a hundredth of the error, and all end as good as by QR;
# to choose between weights two will do.
_ROUNDS, _ROUGH = 5, 2
# λ's exponents at which a score is looked at before its least is refined; at 1e-8 the spline goes through all samples.
_LEAST, _LOOKS = -8.0, 45
# Rows that are solved for at once.
_ROWS = 256
# Relative step of the complex derivative; nothing is subtracted, so it may be as small as numbers get.
_STEP = 1e-30


@dataclass(frozen=True, eq=False)
class SplineEquations:
    """What a smoothing spline's equations are at given times, whatever the data.

    Time in steps; `knots` of a spline of that `degree`; B (its values at the times) and D (its m-th derivative at Gauss
    points, times the roots of their weights) as sparse matrices; G and Ω as lower bands.
    """

    steps: FloatArray
    degree: int
    knots: FloatArray
    values: sparse.csr_array
    bends: sparse.csr_array
    gram: FloatArray
    stiffness: FloatArray

    def coefficients(self, weight: float, block: FloatArray, rounds: int = _ROUNDS) -> FloatArray:
        """c of (G + λ Ω) c = Bᵀy for columns y (n, k), refined by residuals that know B and D apart."""
        matrix = self.gram + weight * self.stiffness
        solution = np.zeros((matrix.shape[1], block.shape[1]))
        for _ in range(rounds):
            bent = weight * (self.bends.T @ (self.bends @ solution))
            solution = solution + solveh_banded(
                matrix, self.values.T @ (block - self.values @ solution) - bent, lower=True
            )
        return solution

    def freedom(self, weight: float) -> float:
        """tr B (G + λ Ω)⁻¹ Bᵀ, how many numbers the spline takes from the data.

        That is d ln det(G + λ Ω + ε G)/dε at ε = 0: by a complex step through one banded elimination.
        """
        lower, width = (1 + 1j * _STEP) * self.gram + weight * self.stiffness, self.degree
        size = lower.shape[1]
        banded = np.zeros((3 * width + 1, size), dtype=complex)
        for j in range(width + 1):
            banded[2 * width + j, : size - j] = lower[j, : size - j]
            banded[2 * width - j, j:] = lower[j, : size - j]
        (eliminate,) = get_lapack_funcs(("gbtrf",), dtype=np.complex128)
        pivots = eliminate(banded, width, width)[0][2 * width]
        return float(np.sum(pivots.imag / pivots.real)) / _STEP

    def left_open(self, weight: float) -> FloatArray:
        """λ (D (G + λ Ω)⁻¹ bᵢ) · (D (G + λ Ω)⁻¹ bⱼ), (n, 3, 3), b those of values and two derivatives at the times.

        Splines are the most likely ones where m-th derivatives are white noise of a size that λ tells. The variance
        that is then left, b (G + λ Ω)⁻¹ bᵀ, has that of the samples' noise in it, and this: what the spline may have
        smoothed away (Wahba 1983), all by the noise's variance and in steps.
        """
        matrix, count = self.gram + weight * self.stiffness, self.steps.size
        left = np.empty((count, 3, 3))
        rows = [_derivatives(self.steps, self.knots, self.degree, order) for order in range(3)]
        for start in range(0, count, _ROWS):
            at = slice(start, min(start + _ROWS, count))
            solved = [solveh_banded(matrix, each[at].T.toarray(), lower=True) for each in rows]
            bent = np.array([self.bends @ each for each in solved])
            left[at] = weight * np.einsum("agn,bgn->nab", bent, bent)
        return left

    def spline(self, weight: float, block: FloatArray) -> BSpline:
        """The spline of columns (n, k), over steps."""
        return BSpline(self.knots, self.coefficients(weight, block), self.degree)

    def cross_validated(self, blocks: Sequence[FloatArray]) -> float:
        """λ with the least n Σ|y − s|²/(n − tr)², generalised cross-validation (Craven & Wahba 1979).

        Of several blocks (n, k) the mean logarithm by columns is made least: it asks for no unit and no size of noise.
        """
        counts = [block.shape[1] for block in blocks]
        table, starts = np.concatenate(blocks, axis=1), np.cumsum([0, *counts[:-1]])
        # What is met exactly has rounding left, which tells nothing.
        least = np.finfo(float).eps ** 2 * np.add.reduceat((table**2).sum(axis=0), starts)
        shares = np.where(least > 0, counts, 0) / max(1, np.array(counts)[least > 0].sum())

        def score(exponent: float) -> float:
            weight = 10.0**exponent
            left = table - self.values @ self.coefficients(weight, table, _ROUGH)
            squares = np.maximum(np.add.reduceat((left**2).sum(axis=0), starts), least)
            told = shares @ np.log(np.where(least > 0, squares, 1.0))
            return float(told - 2 * np.log(self.steps.size - self.freedom(weight)))

        return 10.0 ** _least(score, _LEAST, math.log10(_STIFFEST / self.stiffness.max()))


def spline_equations(time: FloatArray, degree: int) -> SplineEquations:
    """The equations at times (n,), of odd degree."""
    order = (degree + 1) // 2
    steps = (time - time[0]) * ((time.size - 1) / (time[-1] - time[0]))
    knots = np.concatenate([[steps[0]] * degree, steps, [steps[-1]] * degree])
    points, weights = np.polynomial.legendre.leggauss(degree - order + 1)
    half = np.diff(steps)[:, None] / 2
    places = (steps[:-1, None] + half * (1 + points)).ravel()
    roots = sparse.diags_array(np.sqrt(half * weights).ravel())
    bends = sparse.csr_array(roots @ _derivatives(places, knots, degree, order))
    values = sparse.csr_array(BSpline.design_matrix(steps, knots, degree))
    gram, stiffness = (_lower_bands(matrix.T @ matrix, degree) for matrix in (values, bends))
    return SplineEquations(steps, degree, knots, values, bends, gram, stiffness)


def _derivatives(places: FloatArray, knots: FloatArray, degree: int, order: int) -> sparse.csr_array:
    """From a spline's coefficients to its derivative of this order at some places."""
    inner = knots[order : knots.size - order]
    basis = BSpline.design_matrix(places, inner, degree - order)
    return sparse.csr_array(basis @ _differences(knots, degree, order))


def _differences(knots: FloatArray, degree: int, order: int) -> sparse.csr_array:
    """From a spline's coefficients to those of its derivative of this order (de Boor 2001, eq. X.15)."""
    size = knots.size - degree - 1
    differences = sparse.csr_array(sparse.eye_array(size))
    for lower in range(degree, degree - order, -1):
        size, knots = size - 1, knots[1:-1]
        slopes = lower / (knots[lower : lower + size] - knots[:size])
        shape = (size, size + 1)
        slanted = sparse.diags_array(slopes, offsets=1, shape=shape) - sparse.diags_array(slopes, shape=shape)
        differences = sparse.csr_array(slanted @ differences)
    return differences


def _lower_bands(matrix: sparse.csr_array, width: int) -> FloatArray:
    """The diagonals of a symmetric matrix from the main one down, as LAPACK keeps them."""
    rows = [np.pad(matrix.diagonal(-j), (0, j)) for j in range(width + 1)]
    return np.array(rows, dtype=np.float64)


def _least(score: Callable[[float], float], low: float, high: float) -> float:
    """Where a score that may have several valleys is least: the deepest of many looks, refined."""
    looks = np.linspace(low, high, _LOOKS)
    best = int(np.argmin([score(float(look)) for look in looks]))
    around = (float(looks[max(best - 1, 0)]), float(looks[min(best + 1, _LOOKS - 1)]))
    return float(minimize_scalar(score, bounds=around, method="bounded", options={"xatol": 1e-4}).x)  # pyright: ignore[reportAttributeAccessIssue]
