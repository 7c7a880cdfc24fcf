"""Uniform clamped splines on [0, 1]: what planned curves are made of, as matrices from their control points.

A plan's direction is a cubic spline (its third derivative is what a limited jerk allows to jump), its speed a quadratic
one. All curves share their knots, so values at fixed times are products with matrices that are made once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb

import numpy as np

from trundle.results.arrays import FloatArray

INTERVALS = 12
"""Between knots: 16 gain less than 2 % of a plan's time and cost half as much again."""

CUBIC = INTERVALS + 3
QUADRATIC = INTERVALS + 2

DEGREE = 18
"""Of the polynomials that a certificate compares: D³ of the certificate, D = |w|² with w cubic."""


@dataclass(frozen=True, eq=False)
class Grid:
    """Values at times of each interval: `inside` (n,) are the times within it, as shares of it.

    cubic: (4, K n, K + 3) and quadratic: (3, K n, K + 2): a spline's values and derivatives with respect to [0, 1].
    """

    inside: FloatArray

    @cached_property
    def times(self) -> FloatArray:
        """(K n,), interval by interval."""
        return ((np.arange(INTERVALS)[:, None] + self.inside) / INTERVALS).ravel()

    @cached_property
    def cubic(self) -> FloatArray:
        """Of direction splines."""
        return np.array([self._values(3, order) for order in range(4)])

    @cached_property
    def quadratic(self) -> FloatArray:
        """Of speed splines."""
        return np.array([self._values(2, order) for order in range(3)])

    def _values(self, degree: int, order: int) -> FloatArray:
        powers = self.inside[:, None] ** np.arange(degree + 1)
        local = differentiated(pieces(degree), order)
        return np.einsum("np,kpc->knc", powers[:, : local.shape[1]], local).reshape(-1, INTERVALS + degree)

    @lru_cache  # noqa: B019 - grids are few and live as long as the process
    def divided(self, knot: int) -> tuple[slice, FloatArray]:
        """w/(t* − t) and its derivatives in the two intervals beside the knot t* at which the spline w is zero.

        Their rows of the grid, and (4, 2 n, K + 3): there w = Σ_p a_p (t − t*)^p from p = 1 on, of either side.
        """
        count = len(self.inside)
        parts = []
        for interval, start in ((knot - 1, 1.0), (knot, 0.0)):
            local = pieces(3)[interval]
            shifted = np.array(
                [sum(comb(k, p) * start ** (k - p) * local[k] for k in range(p, 4)) for p in range(4)]
            )
            scaled = -shifted[1:] * INTERVALS ** np.arange(1, 4)[:, None]
            since = (self.inside - start) / INTERVALS
            a, b, c = scaled[:, None, :]
            t = since[:, None]
            zero = np.zeros((count, CUBIC))
            parts.append(np.array([a + b * t + c * t**2, b + 2 * c * t, 2 * c + zero, zero]))
        return slice((knot - 1) * count, (knot + 1) * count), np.concatenate(parts, axis=1)


@lru_cache
def pieces(degree: int) -> FloatArray:
    """(K, degree + 1, K + degree): power coefficients, of the share of each interval, from control points."""
    knots = _knots(degree)
    found = np.zeros((INTERVALS, degree + 1, INTERVALS + degree))
    for interval in range(INTERVALS):
        # de Boor's recursion on the values of the basis, at as many points as fix the polynomial
        nodes = (np.arange(degree + 1) + 0.5) / (degree + 1)
        values = np.array([_basis(knots, degree, interval, interval + node) for node in nodes])
        found[interval] = np.linalg.solve(nodes[:, None] ** np.arange(degree + 1), values)
    return found


def _knots(degree: int) -> FloatArray:
    """In intervals, those at the ends as often as clamps them."""
    return np.concatenate([np.zeros(degree), np.arange(INTERVALS + 1.0), np.full(degree, float(INTERVALS))])


def _basis(knots: FloatArray, degree: int, interval: int, time: float) -> FloatArray:
    """The values of all basis functions at a time (Cox & de Boor)."""
    values = np.zeros(INTERVALS + 2 * degree)
    values[interval + degree] = 1.0
    for d in range(1, degree + 1):
        raised = np.zeros(len(values))
        for i in range(len(knots) - d - 1):
            before, behind = knots[i + d] - knots[i], knots[i + d + 1] - knots[i + 1]
            if before:
                raised[i] += (time - knots[i]) / before * values[i]
            if behind:
                raised[i] += (knots[i + d + 1] - time) / behind * values[i + 1]
        values = raised
    return values[: INTERVALS + degree]


def differentiated(coefficients: FloatArray, order: int) -> FloatArray:
    """Coefficients (K, p, …) of a derivative with respect to the time of [0, 1]."""
    for _ in range(order):
        powers = np.arange(1, coefficients.shape[1])[:, None]
        coefficients = coefficients[:, 1:] * powers * INTERVALS
    return coefficients


@lru_cache
def greville(degree: int) -> FloatArray:
    """The times at which control points are best laid, (K + degree,)."""
    knots = _knots(degree)
    means = [float(knots[i + 1 : i + 1 + degree].mean()) for i in range(INTERVALS + degree)]
    return np.array(means) / INTERVALS


@lru_cache
def sampling() -> Grid:
    """Where candidates are compared: ends of the intervals from within, where jumps are, and between."""
    return Grid(np.array([0.0, 1 / 3, 2 / 3, 1.0]))


@lru_cache
def nodes() -> Grid:
    """Where a certificate's polynomials are evaluated: as many points as fix them, Chebyshev's."""
    return Grid(0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE))


@lru_cache
def to_bernstein() -> FloatArray:
    """(19, 19): a polynomial's coefficients in Bernstein's form from its values at the nodes."""
    x = nodes().inside[:, None]
    k = np.arange(DEGREE + 1)
    binomials = np.array([comb(DEGREE, int(each)) for each in k])
    return np.linalg.inv((binomials * x**k * (1 - x) ** (DEGREE - k)).astype(float))
