"""Small matrices of sums: determinant, inverse by cofactors, least squares."""

from __future__ import annotations

import math

from trundle.formulas.algebra.polynomials import TooLong, TrigPolynomial
from trundle.mechanics.linear import adjugate, determinant, product, transpose
from trundle.scalars import AnyRows, Scalar, is_zero

# Cofactors cost n!; kinematic matrices that a person reads are no larger.
MOST = 4


def inverse(rows: AnyRows, most_terms: float = math.inf) -> list[list[Scalar]]:
    """A⁻¹ = adj A/det A; TooLong where det A has more terms: each entry would be as long."""
    size = determinant(rows)
    if isinstance(size, TrigPolynomial) and len(size.terms) > most_terms:
        raise TooLong
    return [[0 if is_zero(entry) else entry / size for entry in row] for row in adjugate(rows)]


def least_squares(rows: AnyRows, right: AnyRows, most_terms: float) -> list[list[Scalar]]:
    """X = (AᵀA)⁻¹ Aᵀ B; TooLong as in `inverse`."""
    turned = transpose(rows)
    return product(inverse(product(turned, rows), most_terms), product(turned, right))
