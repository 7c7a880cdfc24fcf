"""The part of a joint's wrench that acts along its freedoms: what muscles, motors, springs and friction give."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.scalars import Scalar, is_zero
from trundle.spatial.motions import Motion
from trundle.spatial.vectors import Vector


def along_freedoms(columns: Sequence[Motion], wrench: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sᵀ W, (k, n), and the wrench (6, n) that does the same work along S and holds nothing: forces along what slides,
    moments about what turns. A screw is turned, not pushed.

    `columns` are S in the frame of W, whose first three rows are its force.
    """
    count = wrench.shape[1]
    linear = _stacked([column.linear for column in columns], count)
    angular = _stacked([column.angular for column in columns], count)
    work = np.einsum("nik,in->kn", linear, wrench[:3]) + np.einsum("nik,in->kn", angular, wrench[3:])
    return work, doing(columns, work)


def doing(columns: Sequence[Motion], work: FloatArray) -> FloatArray:
    """The wrench (6, n) along the k freedoms that does this work (k, n) along them."""
    count = work.shape[1]
    slides = [all(is_zero(x) for x in column.angular) for column in columns]
    linear = _stacked([column.linear for column in columns], count)
    angular = _stacked([column.angular for column in columns], count)
    along, about = np.flatnonzero(slides), np.flatnonzero(~np.array(slides, dtype=bool))
    force = _spanned(linear[:, :, along], work[along])
    left = work[about] - np.einsum("nik,in->kn", linear[:, :, about], force)
    return np.vstack([force, _spanned(angular[:, :, about], left)])


def _stacked(vectors: Sequence[Vector], count: int) -> FloatArray:
    """(n, 3, k), one column a vector of scalars or batches."""
    table = np.empty((count, 3, len(vectors)))
    for k, vector in enumerate(vectors):
        for axis in range(3):
            entry: Scalar = vector[axis]
            table[:, axis, k] = entry
    return table


def _spanned(vectors: FloatArray, products: FloatArray) -> FloatArray:
    """The x (3, n) in the span of the vectors with vectorₖ · x = productₖ: A (AᵀA)⁻¹ p."""
    if not vectors.shape[2]:
        return np.zeros((3, len(vectors)))
    gram = np.swapaxes(vectors, 1, 2) @ vectors
    return (vectors @ np.linalg.solve(gram, products.T[:, :, None]))[:, :, 0].T
