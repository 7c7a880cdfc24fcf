"""Splines through all samples.

SciPy's are the same to rounding (`tests/limbs/test_smoothing.py`), but importing scipy.interpolate takes half a second.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Spline:
    """Σ c_j B_j with coefficients c (m, k) of B-splines of a degree on knots (m + degree + 1,)."""

    knots: FloatArray
    coefficients: FloatArray
    degree: int

    def __call__(self, places: FloatArray, order: int = 0) -> FloatArray:
        """Its values, or a derivative's, at places (n,) within the knots: (n, k)."""
        knots, degree, c = self.knots, self.degree, self.coefficients
        for _ in range(order):
            # c′_j = d (c_{j+1} − c_j)/(t_{j+d+1} − t_{j+1}) (de Boor 2001, eq. X.15)
            widths = knots[degree + 1 : -1] - knots[1 : -degree - 1]
            c, knots, degree = degree * np.diff(c, axis=0) / widths[:, None], knots[1:-1], degree - 1
        first, basis = _basis(knots, degree, places)
        result = np.zeros((len(places), c.shape[1]))
        for k in range(degree + 1):
            result += basis[:, k : k + 1] * c[first + k]
        return result


def interpolation(time: FloatArray, table: FloatArray, degree: int) -> Spline:
    """The spline of an odd degree, or a line or parabola, through samples (n, k) at times (n,), not-a-knot at its ends.

    n > degree. An even degree has its knots midway between samples.
    """
    side = (degree + 1) // 2
    inner = time[side:-side] if degree % 2 else ((time[1:] + time[:-1]) / 2)[side:-side]
    knots = np.concatenate([np.full(degree + 1, time[0]), inner, np.full(degree + 1, time[-1])])
    first, basis = _basis(knots, degree, time)
    return Spline(knots, _solved(first, basis, table), degree)


def _basis(knots: FloatArray, degree: int, places: FloatArray) -> tuple[IntArray, FloatArray]:
    """Of all B-splines that aren't zero at places (n,) the first (n,), and their values (n, degree + 1).

    B_{j,d} = (x − t_j)/(t_{j+d} − t_j) B_{j,d−1} + (t_{j+d+1} − x)/(t_{j+d+1} − t_{j+1}) B_{j+1,d−1}, from one on.
    """
    inside = np.searchsorted(knots, places, side="right") - 1
    inside = np.clip(inside, degree, len(knots) - degree - 2)
    values = np.zeros((len(places), degree + 1))
    values[:, 0] = 1.0
    for d in range(1, degree + 1):
        passed = np.zeros(len(places))
        for k in range(d):
            low, high = knots[inside + k + 1 - d], knots[inside + k + 1]
            part = values[:, k] / (high - low)
            values[:, k] = passed + (high - places) * part
            passed = (places - low) * part
        values[:, d] = passed
    return inside - degree, values


def _solved(first: IntArray, basis: FloatArray, right: FloatArray) -> FloatArray:
    """Coefficients c (n, k) with Σ_j basis_ij c_{first_i + j} = right_i."""
    from scipy.linalg import solve_banded

    count, width = basis.shape
    reach, rows = width - 1, np.arange(count)
    diagonals = np.zeros((2 * reach + 1, count))
    for k in range(width):
        diagonals[reach + rows - first - k, first + k] = basis[:, k]
    return np.asarray(solve_banded((reach, reach), diagonals, right), dtype=np.float64)
