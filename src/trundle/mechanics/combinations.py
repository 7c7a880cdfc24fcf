"""Linear combinations Σ w_k z_k of named quantities: their span in its most readable form, and these as text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.elimination import ZERO

# Entries of orthonormal rows below this are no pivots: Gauss-Jordan would divide rounding by rounding.
_PIVOT = 1e-6


def echelon(rows: FloatArray, scale: FloatArray) -> FloatArray:
    """The same span in reduced row echelon form from the last state on, (k, n): its rows in as few states as possible,
    its last one times 1.

    `rows` (k, n) are independent; pivots are decided on rows · `scale`. From the last state on, because the pose of a
    base stands first: then what is said of the pose alone is a row of its own.
    """
    work = np.linalg.qr((rows * scale).T)[0].T if len(rows) else rows.copy()
    row = 0
    for column in reversed(range(work.shape[1])):
        if row == len(work):
            break
        pivot = row + int(np.argmax(np.abs(work[row:, column])))
        if abs(work[pivot, column]) <= _PIVOT:
            continue
        work[[row, pivot]] = work[[pivot, row]]
        work[row] /= work[row, column]
        others = [k for k in range(len(work)) if k != row]
        work[others] -= np.outer(work[others, column], work[row])
        row += 1
    work[np.abs(work) <= ZERO * np.abs(work).max(axis=1, keepdims=True, initial=0.0)] = 0.0
    result = work / scale
    last = [np.flatnonzero(row)[-1] for row in result]
    return (result / result[range(len(result)), last][:, None])[::-1]


def modulo(rows: FloatArray, known: FloatArray, scale: FloatArray) -> FloatArray:
    """What `rows` say beyond `known`, both (·, n), as an echelon form without the last states of `known`'s rows.

    `known` is an echelon form in the span of `rows`.
    """
    if len(known) == len(rows):
        return rows[:0]
    last = [np.flatnonzero(row)[-1] for row in known]
    rest = (rows - rows[:, last] @ known) * scale
    right = np.linalg.svd(rest, full_matrices=False)[2][: len(rows) - len(known)]
    return echelon(right / scale, scale)


def null_rows(matrix: FloatArray) -> FloatArray:
    """Orthonormal combinations of rows that vanish to 1e-9, (k, m) for a matrix (m, n) with entries of about 1."""
    if not matrix.size:
        return np.eye(len(matrix))
    left, values, _ = np.linalg.svd(matrix)
    return left[:, int((values > ZERO).sum()) :].T


def combination(terms: Iterable[tuple[str, float]]) -> str:
    """'8 theta - right.angle + left.angle'."""
    text = ""
    for name, coefficient in terms:
        sign = ("- " if coefficient < 0 else "+ ") if text else ("-" if coefficient < 0 else "")
        factor = f"{abs(coefficient):.4g} ".removeprefix("1 ")
        text += f"{' ' if text else ''}{sign}{factor}{name}"
    return text
