"""Linear systems with scalars of any kind, the order of elimination decided on numbers.

`samples` are the values of the matrix at a few states, (s, rows, columns). Positive-definite matrices are solved
without pivots, small square ones by cofactors, which divide by the determinant only; for the others
`mechanics.elimination` picks pivots that are far from zero at every sample. Accelerations under constraints come with
Lagrange's multipliers: M u̇ − Aᵀλ = f, A u̇ = b.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.elimination import (
    ZERO,
    constraint_forces,
    eliminate,
    generic_rank,
    plan_pivots,
    undetermined_rows,
)
from trundle.mechanics.linear import adjugate, apply, dot, product, solve_positive, transpose
from trundle.model.symbols import SymbolSamples
from trundle.scalars import AnyRows, Rows, Scalar, is_zero, minus, plus

# Asymmetry, relative to the largest entry, that is rounding of unsimplified expressions.
_SYMMETRIC = 1e-10
# Least eigenvalue of a positive-definite matrix, relative to its diagonal's scale: below, digits run out.
_POSITIVE = 1e-12

_NO_MASS = "does a mass or an inertia resist them? (a point on the axis resists no turning)"


def solve_guided(
    a: AnyRows, right: AnyRows, samples: np.ndarray, names: Sequence[str], what: str
) -> list[list[Scalar]]:
    """X with A X = B for square A (n, n) and B (n, m) as rows.

    Raises InputError with the `names` of the unknowns that no row of A determines, where A is singular at every
    sample.
    """
    if not a:
        return []
    regular = samples[_ranks(samples) == len(a)]
    if len(regular) and is_positive(regular):
        return solve_positive(a, right)
    if not len(regular):
        raise InputError(
            f"{what} can't be found for {', '.join(_undetermined(samples, names))}: their equations are singular",
            hint=_NO_MASS if what == "accelerations" else None,
        )
    if len(a) <= 3:
        return _by_cofactors(a, right)
    pivots = plan_pivots(samples, range(len(a)))
    if len(pivots) < len(a):  # no order serves all samples: serve the generic ones
        pivots = plan_pivots(regular, range(len(a)))
    if len(pivots) < len(a):
        raise InputError(f"{what} can't be found: no order of elimination is safe at generic states")
    count = len(a)
    reduced = eliminate([[*row, *extra] for row, extra in zip(a, right, strict=True)], pivots)
    result: list[list[Scalar]] = [[] for _ in range(count)]
    for row, column in pivots:
        result[column] = reduced[row][count:]
    return result


def is_positive(samples: np.ndarray) -> bool:
    """Whether A is symmetric and positive definite at every sample, after scaling its diagonal to 1."""
    size = np.abs(samples).max()
    if np.abs(samples - samples.transpose(0, 2, 1)).max() > _SYMMETRIC * size:
        return False
    diagonal = np.diagonal(samples, axis1=1, axis2=2)
    if (diagonal <= 0).any():
        return False
    scale = 1 / np.sqrt(diagonal)
    scaled = samples * scale[:, :, None] * scale[:, None, :]
    return bool(np.linalg.eigvalsh(scaled).min() > _POSITIVE)


def independent_rows(samples: np.ndarray, zero: float = ZERO) -> tuple[int, ...]:
    """Rows that are independent at generic samples, the first ones where there is a choice."""
    chosen: list[int] = []
    for row in range(samples.shape[1]):
        if generic_rank(samples[:, [*chosen, row], :], zero) > len(chosen):
            chosen.append(row)
    return tuple(chosen)


def _ranks(samples: np.ndarray) -> np.ndarray:
    return np.array([generic_rank(each[None]) for each in samples])


def _undetermined(samples: np.ndarray, names: Sequence[str]) -> list[str]:
    """Names of the unknowns that a null vector of A touches at the sample of largest rank."""
    best = samples[int(np.argmax(_ranks(samples)))]
    scaled = best / np.maximum(np.abs(best).max(axis=1, keepdims=True), 1e-300)
    _, values, right = np.linalg.svd(scaled)
    null = right[values <= ZERO * max(values.max(), 1e-300)]
    return [name for name, column in zip(names, null.T, strict=True) if np.abs(column).max(initial=0) > 1e-6]


def _by_cofactors(a: AnyRows, right: AnyRows) -> list[list[Scalar]]:
    """X = adj(A) B / det(A), for n ≤ 3: no pivot that could vanish where A is regular."""
    cofactors = adjugate(a)
    determinant = dot(a[0], [row[0] for row in cofactors])
    columns = list(zip(*right, strict=True))
    return [[_over(dot(row, column), determinant) for column in columns] for row in cofactors]


def _over(x: Scalar, y: Scalar) -> Scalar:
    return 0 if is_zero(x) else x / y


# Columns of M⁻¹T for those of T, where M is known to be positive definite.
MassInverse = Callable[[Sequence[Sequence[Scalar]]], list[list[Scalar]]]


@dataclass(frozen=True)
class Solution:
    """u̇ and λ of all rows, the rows that are independent, and those whose λ redundancy leaves open."""

    rates: list[Scalar]
    multipliers: list[Scalar]
    kept: tuple[int, ...]
    undetermined: tuple[int, ...] = ()


def solve_with_multipliers(
    mass: Rows | MassInverse,
    force: Sequence[Scalar],
    rows: Rows,
    right: Sequence[Scalar],
    samples: SymbolSamples,
    names: tuple[Sequence[str], Sequence[str]],
) -> Solution:
    """u̇ and λ by positive-definite solves, which need no pivots; `names` of the speeds and of the multipliers.

    Where M itself is only positive on the directions that A leaves free, M + w AᵀA is positive and has the same
    solution with f + w Aᵀb on the right (Benzi, Golub & Liesen 2005, sec. 5.3). `mass` may be a function that solves
    with M, where it is positive definite. Redundant rows are left out, and their multipliers split by least norm.
    Raises InputError where the equations are singular at every sample.
    """
    speeds, labels = names
    numbers = samples.of_constraints(rows)
    kept = independent_rows(numbers, samples.zero)
    a, b = [rows[i] for i in kept], [right[i] for i in kept]
    if callable(mass):
        free, *columns = mass([force, *a])
        response = transpose(columns)
    else:
        free, response = _solved(mass, force, a, b, samples, speeds)
    if not kept:
        return Solution(free, [0] * len(rows), (), tuple(range(len(rows))))
    schur = product(a, response)
    gap = [[minus(v, w)] for v, w in zip(b, apply(a, free), strict=True)]
    forces = [v for (v,) in solve_guided(schur, gap, samples.of(schur), labels, "multipliers")]
    rates = [plus(v, w) for v, w in zip(free, apply(response, forces), strict=True)]
    if len(kept) == len(rows):
        return Solution(rates, forces, kept)
    # Aᵀλ of the independent rows, shared out among all of them.
    multipliers = constraint_forces(rows, kept, apply(transpose(a), forces))
    return Solution(rates, multipliers, kept, tuple(undetermined_rows(numbers, samples.zero)))


def _solved(
    mass: Rows,
    force: Sequence[Scalar],
    a: Rows,
    b: Sequence[Scalar],
    samples: SymbolSamples,
    speeds: Sequence[str],
) -> tuple[list[Scalar], Rows]:
    """M⁻¹f and M⁻¹Aᵀ by the matrix M itself, or by M + AᵀA."""
    heavy, driven = mass, force
    if a and not is_positive(samples.of(mass)):
        heavy = [
            [plus(m, g) for m, g in zip(*pair, strict=True)]
            for pair in zip(mass, product(transpose(a), a), strict=True)
        ]
        driven = [plus(f, g) for f, g in zip(force, apply(transpose(a), b), strict=True)]
    across = transpose(a) if a else [[] for _ in force]
    columns = [[f, *column] for f, column in zip(driven, across, strict=True)]
    solved = solve_guided(heavy, columns, samples.of(heavy), speeds, "accelerations")
    return [row[0] for row in solved], [row[1:] for row in solved]
