"""Motion without forces: the speeds at which every contact neither slips nor leaves the ground, by least squares.

Rows A ν = v say that a contact's point stands still, but for what leads its distance back: v_z = −(d − d₀)/T. So the
constraints are those of a differential-algebraic equation, stabilised as by Baumgarte (1972), and nothing drifts
(Seegmiller & Kelly, "Enhanced 3D Kinematic Modeling of Wheeled Mobile Robots", RSS 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trundle.mechanics.linear import dot, product, solve_positive, transpose
from trundle.scalars import Rows, Scalar, is_zero, minus


class Condition(NamedTuple):
    """Rows of A ν = v and their right side."""

    rows: Rows
    rates: list[Scalar]


def standing(rows: Rows, distance: Scalar, target: Scalar, time: Scalar) -> Condition:
    """That a contact neither slips nor leaves the ground, its distance led back to a target in a time T (s)."""
    return Condition(rows, [*([0] * (len(rows) - 1)), (target - distance) / time])


def least_squares(conditions: Sequence[Condition], known: Mapping[int, Scalar], width: int) -> list[Scalar]:
    """The speeds ν that break the conditions least, those in `known` (by column) given: A_f ν_f = v − A_k ν_k.

    By the normal equations AᵀA. Speeds that no condition touches stand still. What stands late in a tree is solved for
    first: a contact's row holds nothing but what carries its wheel, so few zeros are lost.
    """
    rows = [row for condition in conditions for row in condition.rows]
    rates = [rate for condition in conditions for rate in condition.rates]
    touched = [column for column in range(width) if not all(is_zero(row[column]) for row in rows)]
    free = [column for column in reversed(touched) if column not in known]
    columns, speeds = list(known), list(known.values())
    left = [
        minus(rate, dot([row[column] for column in columns], speeds))
        for row, rate in zip(rows, rates, strict=True)
    ]
    turned = transpose([[row[column] for column in free] for row in rows])
    solution = solve_positive(product(turned, transpose(turned)), [[dot(row, left)] for row in turned])
    result: list[Scalar] = [0] * width
    for column, speed in (*known.items(), *zip(free, (row[0] for row in solution), strict=True)):
        result[column] = speed
    return result
