"""Uniform clamped splines on [0, 1]: what planned curves are made of, as matrices from their control points.

A plan's direction is a cubic spline (its third derivative is what a limited jerk allows to jump), its speed a quadratic
one. All curves share their knots, so values at fixed times are products with matrices that are made once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from math import comb, perm

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.motion.pieces.profiles import differentiated

INTERVALS = 12
"""Between knots: 16 gain less than 2 % of a plan's time and cost half as much again."""

CUBIC = INTERVALS + 3
QUADRATIC = INTERVALS + 2

DEGREE = 18
"""Of the polynomials that a certificate compares: D³ of the certificate, D = |w|² with w cubic."""


@dataclass(frozen=True, eq=False)
class UnitGrid:
    """Values at the same times of all intervals: `inside` (n,) are the times within one, as shares of it.

    cubic: (K, 4, n, 4) and quadratic: (K, 3, n, 3): on the K intervals a spline and its derivatives by [0, 1],
    from the control points that it hangs on there.
    """

    inside: FloatArray

    @cached_property
    def times(self) -> FloatArray:
        """All times on [0, 1], (K, n)."""
        return (np.arange(INTERVALS)[:, None] + self.inside) / INTERVALS

    @cached_property
    def cubic(self) -> FloatArray:
        """The matrices of direction splines, (K, 4, n, 4)."""
        return self._values(3)

    @cached_property
    def quadratic(self) -> FloatArray:
        """The matrices of speed splines, (K, 3, n, 3)."""
        return self._values(2)

    def _values(self, degree: int) -> FloatArray:
        """(K, degree + 1, n, degree + 1): a spline and its derivatives at the times, by control points."""
        powers = self.inside[:, None] ** np.arange(degree + 1)
        local = np.array([series[:, i : i + degree + 1] for i, series in enumerate(power_series(degree))])
        orders = [local]
        for _ in range(degree):
            orders.append(differentiated(orders[-1], 1) * INTERVALS)
        return np.stack([powers[:, : terms.shape[1]] @ terms for terms in orders], axis=1)

    @lru_cache  # noqa: B019 - grids are few and live as long as the process
    def divided(self, knot: int, order: int) -> FloatArray:
        """w/(t* − t)^order and its derivatives in the intervals beside a knot t* where w has a zero of that order.

        (1 or 2, 4, n, 4): there w = Σ_p a_p (t − t*)^p from p = order on, of either side. At the start it is
        w/(t − t*)^order, so that the divisor is positive.
        """
        # the series about the knot begins with (t − t*)^order: dropping those terms divides without a quotient 0/0
        parts = []
        for interval in range(INTERVALS)[adjacent(knot)]:
            start = float(knot - interval)
            local = power_series(3)[interval][:, interval : interval + 4]
            shifted = [
                sum(comb(k, p) * start ** (k - p) * local[k] for k in range(p, 4)) * float(INTERVALS) ** p
                for p in range(4)
            ]
            kept = np.array(shifted[order:])[None] * sign_of(knot, order)
            since = (self.inside[:, None] - start) / INTERVALS
            slopes = [differentiated(kept, k)[0] for k in range(4)]
            parts.append([since ** np.arange(len(slope)) @ slope for slope in slopes])
        return np.array(parts)


def adjacent(knot: int) -> slice:
    """The intervals that meet at a knot: two, or one at an end."""
    return slice(max(0, knot - 1), min(INTERVALS, knot + 1))


def sign_of(knot: int, order: int) -> float:
    """The factor s in (t* − t)^order = s (t − t*)^order; 1 at the start, where (t − t*)^order itself divides."""
    return 1.0 if knot == 0 else (-1.0) ** order


def crossing_power(knot: int, order: int, since: FloatArray) -> list[FloatArray]:
    """(t* − t)^order and its first two derivatives, of times `since` a knot t*."""
    return [sign_of(knot, order) * perm(order, k) * since ** max(0, order - k) for k in range(3)]


@lru_cache
def power_series(degree: int) -> FloatArray:
    """(K, degree + 1, K + degree): power coefficients, of the share of an interval, from control points."""
    knots = _knots(degree)
    series = np.zeros((INTERVALS, degree + 1, INTERVALS + degree))
    for interval in range(INTERVALS):
        # de Boor's recursion on the values of the basis, at as many points as fix the polynomial
        nodes = (np.arange(degree + 1) + 0.5) / (degree + 1)
        values = np.array([_basis(knots, degree, interval, interval + node) for node in nodes])
        series[interval] = np.linalg.solve(nodes[:, None] ** np.arange(degree + 1), values)
    return series


def _knots(degree: int) -> FloatArray:
    """The knots in intervals; those at the ends stand there degree + 1 times, which clamps the spline."""
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


@lru_cache
def greville(degree: int) -> FloatArray:
    """The times at which control points are best laid, (K + degree,)."""
    knots = _knots(degree)
    means = [float(knots[i + 1 : i + 1 + degree].mean()) for i in range(INTERVALS + degree)]
    return np.array(means) / INTERVALS


@lru_cache
def windows(size: int) -> IntArray:
    """(K, size): the control points that the spline hangs on in the intervals, four of a cubic one."""
    return np.arange(INTERVALS)[:, None] + np.arange(size)


@lru_cache
def sampling() -> UnitGrid:
    """Where candidates are compared: ends of the intervals from within, where jumps are, and between."""
    return UnitGrid(np.array([0.0, 0.5, 1.0]))


@lru_cache
def nodes() -> UnitGrid:
    """Where a certificate's polynomials are evaluated: as many points as fix them, Chebyshev's."""
    return UnitGrid(0.5 - 0.5 * np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE))


@lru_cache
def to_bernstein() -> FloatArray:
    """(19, 19): a polynomial's coefficients in Bernstein's form from its values at the nodes.

    Columns are Lagrange's polynomials Π (x − xᵢ)/(xⱼ − xᵢ), factors −xᵢ (1 − x) + (1 − xᵢ) x: all terms of a product's
    coefficient have one sign, so that none loses digits. An inverse of the nodes' matrix loses half of them.
    """
    x = nodes().inside
    binomials = np.array([comb(DEGREE, power) for power in range(DEGREE + 1)], dtype=float)
    columns = np.empty((DEGREE + 1, DEGREE + 1))
    for j, own in enumerate(x):
        product = np.ones(1)
        for other in np.delete(x, j):
            product = np.convolve(product, np.array([-other, 1 - other]) / (own - other))
        columns[:, j] = product / binomials
    return columns
