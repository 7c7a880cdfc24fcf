"""Slopes of what the ground does to contacts, as a round of the search for speeds takes them, over these speeds."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.linear import dot, transpose
from trundle.scalars import Rows, Scalar, is_zero, maximum, plus, times, where
from trundle.spatial.vectors import Vector, cross
from trundle.terrain.balance import Slopes


def damper(moved: Sequence[Scalar], pushed: Sequence[Scalar]) -> Scalar:
    """The strength of a damper (N s/m) whose force takes what a contact's friction does at its slips: −f · v/v²."""
    *slip, _, _ = moved
    square = sum(v * v for v in slip) + _NO_SLIP
    return maximum(-dot(pushed[: len(slip)], slip), 0) / square


# The square of a slip that is none (m²/s²).
_NO_SLIP = 1e-20


def chosen(slopes: Rows, strength: Scalar, taken: Slopes) -> Rows:
    """Slopes of a contact's forces (slips, normal, axle) as a round takes them: tangents, of which those by the speed
    of the normal, which the load follows, may not count; or friction a damper of a strength, and the load's own.
    """
    normal = len(slopes) - 2

    def entry(i: int, j: int, slope: Scalar) -> Scalar:
        """The slope of row i by column j as this round takes it."""
        if i == j == normal:
            return slope
        if j == normal:
            return times(taken.coupled, slope)
        return (
            where(taken.tangent, slope, times(-1, strength))
            if i == j < normal
            else times(taken.tangent, slope)
        )

    return [[entry(i, j, slope) for j, slope in enumerate(line)] for i, line in enumerate(slopes)]


def add_products(matrix: Rows, own: Rows, slopes: Rows, arm: Vector) -> None:
    """Add Jᵀ S J to a matrix, J the rows of what a contact moves at `arm` (base axes, m) from the base's origin.

    The base's speeds stand first. A row d of its origin's velocity is arm × d of its rate, for all rows alike: so
    products with its rate are those with the velocity, turned, which saves a quarter of them.
    """
    straight = transpose([[*row[:3], *row[6:]] for row in own])
    along = [[dot(line, column) for column in straight] for line in slopes]
    small = [[dot(column, part) for part in transpose(along)] for column in straight]
    wide = [_with_turns(row, arm) for row in small]
    full = transpose([_with_turns(column, arm) for column in transpose(wide)])
    for row, line in zip(matrix, full, strict=True):
        row[:] = [m if is_zero(entry) else plus(m, entry) for m, entry in zip(row, line, strict=True)]


def _with_turns(line: Sequence[Scalar], arm: Vector) -> list[Scalar]:
    """Entries of the base's velocity, of its rate, and the others, by the first and the last."""
    x, y, z, *others = line
    if is_zero(x) and is_zero(y) and is_zero(z):
        return [0, 0, 0, 0, 0, 0, *others]
    return [x, y, z, *cross(arm, (x, y, z)), *others]
