"""Constraint forces: the multipliers λ with M ν̇ + c − τ = Aᵀ λ, and which of them the motion determines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.mechanics.linear import apply, product, solve_positive, transpose
from trundle.scalars import Scalar, plus


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
