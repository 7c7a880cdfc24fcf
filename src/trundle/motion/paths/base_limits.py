"""Limits of the base itself along a path: what moves within them, and the limits of that."""

from __future__ import annotations

import numpy as np

from trundle.arrays import ComplexArray, FloatArray

# Accelerations are held in so many directions, a regular polygon within their circle.
DIRECTIONS = 12
# A regular polygon about a circle is so many times as large as the one within it.
OUTSIDE = 1 / np.cos(np.pi / 2 / DIRECTIONS)
_WAYS = np.exp(-1j * np.pi * np.arange(DIRECTIONS) / DIRECTIONS)


def base_moves(origin: ComplexArray, heading: FloatArray) -> FloatArray:
    """A derivative of the origin in all directions, its length, and that of the heading (n,): (n, DIRECTIONS + 2)."""
    return np.column_stack([(origin[:, None] * _WAYS).real, np.abs(origin), heading])


def base_bounds(most: FloatArray) -> FloatArray:
    """Their limits by derivative, (3, n, DIRECTIONS + 2), of the greatest velocity, acceleration, rate and its change,
    (n, 4); infinite where there is none.
    """
    bounds = np.full((3, len(most), DIRECTIONS + 2), np.inf)
    # the polygon about the circle, made smaller until its corners lie on the circle
    bounds[1, :, :DIRECTIONS] = most[:, 1:2] / OUTSIDE
    bounds[0, :, DIRECTIONS] = most[:, 0]
    bounds[:2, :, DIRECTIONS + 1] = most[:, 2:].T
    return bounds
