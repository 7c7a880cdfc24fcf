"""Rank-aware solution of velocity constraints A(q) ν = 0: which speeds depend on which, ν = S(q) u.

Which entries may be divided by is decided on numbers (samples of A at random admissible configurations); the
division itself is then done on scalars of any kind. Redundant rows are found by the numbers and left out, so a robot
isn't locked by a wheel that repeats another's constraint. Pivots that don't depend on the configuration are taken
first, so S is singular nowhere that the robot isn't.
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.mechanics.linear import apply, dot, product, solve_positive, transpose
from trundle.scalars import Scalar, is_zero, plus

# Samples are drawn anew at every call from this fixed seed, so that answers repeat; any other one would do.
SEED = 20260
# Entries below this, relative to the largest of their row, count as zero: rounding of a few dozen operations is
# 1e-14, and a geometry that is singular to 1e-9 is singular for every purpose of a robot.
ZERO = 1e-9


@dataclass(frozen=True)
class Elimination:
    """Pivots (row, column) in order; `rest`, independent rows beyond them that no constant pivot serves; rank of all
    of A. Where no fixed set of rows is independent everywhere, `rest` is short of the rank.
    """

    pivots: tuple[tuple[int, int], ...]
    rest: tuple[int, ...]
    rank: int

    @property
    def independent_rows(self) -> tuple[int, ...]:
        return (*(row for row, _ in self.pivots), *self.rest)

    @property
    def has_fixed_rows(self) -> bool:
        """Whether the independent rows are the same at every configuration."""
        return len(self.independent_rows) == self.rank


def generic_rank(samples: np.ndarray, zero: float = ZERO) -> int:
    """The largest rank that A reaches among samples of shape (s, rows, columns); singular values below `zero` times the
    largest don't count.
    """
    if samples.size == 0:
        return 0
    scaled = samples / np.maximum(np.abs(samples).max(axis=2, keepdims=True), 1e-300)
    values = np.linalg.svd(scaled, compute_uv=False)
    return int((values > zero * np.maximum(values[:, :1], 1e-300)).sum(axis=1).max())


def null_space(rows: np.ndarray, zero: float = ZERO) -> np.ndarray:
    """Orthonormal columns (n, k) that span all z with A z = 0, of rows A (m, n) that are alike in size."""
    if not rows.size:
        return np.eye(rows.shape[1])
    _, values, right = np.linalg.svd(rows)
    return right[int((values > zero * max(values[0], 1e-300)).sum()) :].T


def plan_constant_pivots(
    samples: np.ndarray, order: Sequence[int]
) -> tuple[list[tuple[int, int]], np.ndarray]:
    """Gauss-Jordan on samples (s, rows, columns), taking only pivots that are the same in every sample.

    Columns are tried in `order`. Returns the pivots and the reduced samples, whose rows without a pivot are what is
    left: 0 where they repeat others but for rounding.
    """
    work = samples.astype(float).copy()
    scale = np.maximum(np.abs(samples).max(axis=(0, 2)), 1e-300)
    pivots: list[tuple[int, int]] = []
    free = set(range(work.shape[1]))
    for column in order:
        best = max(free, key=lambda row: _constancy(work[:, row, column], scale[row]), default=None)
        if best is None or _constancy(work[:, best, column], scale[best]) <= 0:
            continue
        _reduce(work, best, column, scale)
        pivots.append((best, column))
        free.discard(best)
    work[:, np.abs(work).max(axis=(0, 2), initial=0.0) <= ZERO * scale] = 0.0  # these rows repeat others
    return pivots, work


def plan_pivots(samples: np.ndarray, columns: Sequence[int], zero: float = ZERO) -> list[tuple[int, int]]:
    """Gauss-Jordan on samples over `columns`, each pivot the one whose smallest size among the samples is largest.

    The last sample is the reference configuration, where robots start: a pivot that vanishes there is taken only where
    no other is left.
    """
    work = samples.astype(float).copy()
    scale = np.maximum(np.abs(samples).max(axis=(0, 2)), 1e-300)
    pivots: list[tuple[int, int]] = []
    rows, left = set(range(work.shape[1])), set(columns)
    while rows and left:
        cells = [(row, column) for row in sorted(rows) for column in sorted(left)]
        for samples in (work, work[:-1]):
            sizes = {(i, j): np.abs(samples[:, i, j]).min(initial=np.inf) / scale[i] for i, j in cells}
            row, column = max(cells, key=sizes.__getitem__)
            if sizes[row, column] > zero:
                break
        if not zero < sizes[row, column] < np.inf:
            break
        _reduce(work, row, column, scale)
        pivots.append((row, column))
        rows.discard(row)
        left.discard(column)
    return pivots


def plan_passive_pivots(
    samples: np.ndarray, driven: Container[int], zero: float = ZERO
) -> list[tuple[int, int]]:
    """Pivots of full rank in columns that nothing drives where there are such, else in any."""
    columns = range(samples.shape[2])
    pivots = plan_pivots(samples, [k for k in columns if k not in driven], zero)
    return pivots if len(pivots) >= generic_rank(samples, zero) else plan_pivots(samples, columns, zero)


def _constancy(values: np.ndarray, scale: float) -> float:
    """The size of an entry that is the same in all samples (relative to its row), or 0 if it varies or vanishes."""
    size = float(np.abs(values).min() / scale)
    return size if size > ZERO and float(np.ptp(values)) <= ZERO * scale else 0.0


def _reduce(work: np.ndarray, row: int, column: int, scale: np.ndarray) -> None:
    pivot_row = work[:, row, :] / work[:, row, column, None]
    work[:, row, :] = pivot_row
    for other in range(work.shape[1]):
        if other != row:
            work[:, other, :] -= work[:, other, column, None] * pivot_row
            work[:, other, :][np.abs(work[:, other, :]) < 1e-12 * scale[other]] = 0.0


def eliminate(rows: Sequence[Sequence[Scalar]], pivots: Sequence[tuple[int, int]]) -> list[list[Scalar]]:
    """The same Gauss-Jordan steps on scalars of any kind; exact structural zeros stay zero."""
    work = [list(row) for row in rows]
    for row, column in pivots:
        pivot = work[row][column]
        work[row] = [0 if is_zero(entry) else entry / pivot for entry in work[row]]
        work[row][column] = 1
        for other in range(len(work)):
            factor = work[other][column]
            if other == row or is_zero(factor):
                continue
            work[other] = [
                a if is_zero(b) else a - factor * b for a, b in zip(work[other], work[row], strict=True)
            ]
            work[other][column] = 0
    return work


def back_substitute(
    reduced: Sequence[Sequence[Scalar]],
    pivots: Sequence[tuple[int, int]],
    free: Sequence[int],
    basis: Sequence[Sequence[Scalar]],
) -> list[list[Scalar]]:
    """S as rows, one a speed: `basis` rows for the free columns, ν_pivot = −Σ reduced·ν_free for the others."""
    count = len(reduced[0]) if reduced else len(free)
    width = len(basis[0]) if basis else 0
    result: list[list[Scalar]] = [[0] * width for _ in range(count)]
    for column, row in zip(free, basis, strict=True):
        result[column] = list(row)
    for row, column in pivots:
        coefficients = [reduced[row][j] for j in free]
        result[column] = [-dot(coefficients, [line[k] for line in basis]) for k in range(width)]
    return result


def constraint_forces(
    rows: Sequence[Sequence[Scalar]], independent: Sequence[int], unbalanced: Sequence[Scalar]
) -> list[Scalar]:
    """λ for every row of A (N for rows of contact velocities), from the forces that the free motion leaves unbalanced.

    With independent rows A_I: A_I A_Iᵀ λ_I = A_I (M ν̇ + c − τ). Where rows are redundant, A = F A_I, and the split
    of least norm is λ = F (FᵀF)⁻¹ λ_I, for which Aᵀ λ = A_Iᵀ λ_I (Udwadia & Kalaba 1992 state the same by
    pseudo-inverse).
    """
    if not independent:
        return [0] * len(rows)
    chosen = [rows[i] for i in independent]
    gram = product(chosen, transpose(chosen))
    reaction = solve_positive(gram, [[value] for value in apply(chosen, unbalanced)])
    if len(independent) == len(rows):
        result: list[Scalar] = [0] * len(rows)
        for row, (value,) in zip(independent, reaction, strict=True):
            result[row] = value
        return result
    # Columns of F, by (A_I A_Iᵀ) Fᵀ = A_I Aᵀ; rows that are independent have unit rows in F, exactly.
    factor = transpose(solve_positive(gram, product(chosen, transpose(rows))))
    for place, row in enumerate(independent):
        factor[row] = [1 if k == place else 0 for k in range(len(independent))]
    split = solve_positive(product(transpose(factor), factor), reaction)
    return apply(factor, [value for (value,) in split])


def spread_forces(
    rows: Sequence[Sequence[Scalar]], motions: Sequence[Sequence[Scalar]], unbalanced: Sequence[Scalar]
) -> list[Scalar]:
    """The same split of least norm where no fixed set of rows is independent everywhere: λ = A y with
    (AᵀA + S Sᵀ) y = M ν̇ + c − τ.

    Aᵀλ = f leaves f no part along the motions, Sᵀf = 0, so that Sᵀy = 0 and Aᵀ(A y) = f; and A y is orthogonal to
    every λ with Aᵀλ = 0. The matrix is positive definite as S (`motions`, columns) spans all that A leaves.
    """
    gram = product(transpose(rows), rows)
    spread = product(motions, transpose(motions))
    total = [[plus(a, b) for a, b in zip(*pair, strict=True)] for pair in zip(gram, spread, strict=True)]
    solved = solve_positive(total, [[value] for value in unbalanced])
    return apply(rows, [value for (value,) in solved])


def undetermined_rows(samples: np.ndarray, zero: float = 1e-9) -> list[int]:
    """The rows whose multiplier redundancy leaves free: those that some null vector of Aᵀ touches. Samples (s, rows,
    columns).
    """
    if samples.size == 0:
        return []
    left, values, _ = np.linalg.svd(samples)
    touched = np.zeros(samples.shape[1], dtype=bool)
    for u, s in zip(left, values, strict=True):
        rank = int((s > zero * max(s.max(), 1e-300)).sum())
        touched |= np.abs(u[:, rank:]).max(axis=1, initial=0.0) > zero
    return [int(i) for i in np.flatnonzero(touched)]
