"""Small matrices of sums: determinant, inverse by cofactors, least squares."""

from __future__ import annotations

import math

from trundle.formulas.algebra.sums import Sum, TooLong
from trundle.mechanics.linear import product, transpose
from trundle.scalars import AnyRows, Scalar, is_zero, minus, plus, times

# Cofactors cost n!; kinematic matrices that a person reads are no larger.
MOST = 4


def determinant(rows: AnyRows) -> Scalar:
    """By the first row, zeros left out."""
    if not rows:
        return 1
    total: Scalar = 0
    for j, entry in enumerate(rows[0]):
        if not is_zero(entry):
            part = times(entry, determinant(_without(rows, 0, j)))
            total = plus(total, part) if j % 2 == 0 else minus(total, part)
    return total


def adjugate(rows: AnyRows) -> list[list[Scalar]]:
    """adj A, with A adj A = det A · 1."""
    count = len(rows)
    return [[_signed(determinant(_without(rows, j, i)), i + j) for j in range(count)] for i in range(count)]


def inverse(rows: AnyRows, most_terms: float = math.inf) -> list[list[Scalar]]:
    """A⁻¹ = adj A/det A; TooLong where det A has more terms: each entry would be as long."""
    size = determinant(rows)
    if isinstance(size, Sum) and len(size.terms) > most_terms:
        raise TooLong
    return [[0 if is_zero(entry) else entry / size for entry in row] for row in adjugate(rows)]


def least_squares(rows: AnyRows, right: AnyRows, most_terms: float) -> list[list[Scalar]]:
    """X = (AᵀA)⁻¹ Aᵀ B; TooLong as in `inverse`."""
    turned = transpose(rows)
    return product(inverse(product(turned, rows), most_terms), product(turned, right))


def _signed(value: Scalar, place: int) -> Scalar:
    return value if place % 2 == 0 or is_zero(value) else -value


def _without(rows: AnyRows, row: int, column: int) -> list[list[Scalar]]:
    return [[*line[:column], *line[column + 1 :]] for i, line in enumerate(rows) if i != row]
