"""Accelerations under constraints by Lagrange's multipliers: M u̇ − Aᵀλ = f, A u̇ = b."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from trundle.mechanics.linear import apply, product, transpose
from trundle.mechanics.reactions import constraint_forces, undetermined_rows
from trundle.model.guided import independent_rows, is_positive, solve_guided
from trundle.model.samples import SymbolSamples
from trundle.scalars import Rows, Scalar, minus, plus

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
