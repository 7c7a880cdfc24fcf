"""Motion without forces: the speeds at which every contact neither slips nor leaves the ground, by least squares.

Rows A ν = v say that a contact's point stands still, but for what leads its distance back: v_z = −(d − d₀)/T. So the
constraints are those of a differential-algebraic equation, stabilised as by Baumgarte (1972), and nothing drifts
(Seegmiller & Kelly, "Enhanced 3D Kinematic Modeling of Wheeled Mobile Robots", RSS 2014).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from trundle.mechanics.linear import dot, product, solve_positive, transpose
from trundle.scalars import Rows, Scalar, is_zero, less, maximum, minimum, minus, times


class Condition(NamedTuple):
    """Rows of A ν = v and their right side."""

    rows: Rows
    rates: list[Scalar]


def standing(
    rows: Sequence[Rows], distances: Sequence[Scalar], target: Scalar, time: Scalar
) -> list[Condition]:
    """That a wheel neither slips nor leaves the ground, its distance led back to a target in a time T (s).

    Of several grounds that it can touch the nearest counts. The others only push it out, and it slips along them: what
    rolls on two would stand still. They push fully where it is a `_PUSHES` of the target deeper than that.
    """
    nearest = distances[0]
    for distance in distances[1:]:
        nearest = minimum(nearest, distance)
    taken: Scalar = 0
    conditions: list[Condition] = []
    for own, distance in zip(rows, distances, strict=True):
        back = (target - distance) / time
        if len(distances) == 1:
            return [Condition(own, [*([0] * (len(own) - 1)), back])]
        counts = (1 - less(nearest, distance)) * (1 - taken)  # of two as near the first
        taken = taken + counts
        deeper = minimum(maximum((target - distance) / (-_PUSHES * target), 0), 1)
        weights = [*([counts] * (len(own) - 1)), maximum(counts, deeper)]
        weighted = [[times(weight, entry) for entry in row] for weight, row in zip(weights, own, strict=True)]
        conditions.append(Condition(weighted, [*([0] * (len(own) - 1)), times(weights[-1], back)]))
    return conditions


# The share of its depth by which a wheel must be deeper in a second ground for that to push it out fully.
_PUSHES = 0.1


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


class SlipGains(NamedTuple):
    """How a body slips: shares of its speed, and turning by speed (1/m), by forces over the load and without them."""

    pull_ahead: Scalar
    ahead: Scalar
    pull_left: Scalar
    pull_turn: Scalar
    turn: Scalar
    spin: Scalar


def body_slip(
    gains: SlipGains, speed: Scalar, rate: Scalar, pull: Sequence[Scalar]
) -> tuple[Scalar, Scalar, Scalar]:
    """What slip adds to the speeds ahead and to the left of a body's centre of mass (m/s), and to its turning rate.

    With the speed v_x, the rate ω, and the pull f/m = g − ω × v in the body's axes (m/s²):
    Δv_x = a (f_x/f_z) v_x + b v_x, Δv_y = c (f_y/f_z) v_x, Δω = d (f_y/f_z) v_x + e v_x + s ω
    (Seegmiller, CMU-RI-TR-14-27, 2014).
    """
    ahead, left = pull[0] / pull[2], pull[1] / pull[2]
    return (
        gains.pull_ahead * ahead * speed + gains.ahead * speed,
        gains.pull_left * left * speed,
        gains.pull_turn * left * speed + gains.turn * speed + gains.spin * rate,
    )
