"""Small dense linear algebra on scalars of any kind, with structural zeros left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.scalars import AnyRows, Scalar, is_zero, minus, plus, times


def product(a: AnyRows, b: AnyRows) -> list[list[Scalar]]:
    """A B."""
    columns = list(zip(*b, strict=True))
    return [[dot(row, column) for column in columns] for row in a]


def apply(a: AnyRows, x: Sequence[Scalar]) -> list[Scalar]:
    """A x."""
    return [dot(row, x) for row in a]


def transpose(a: AnyRows) -> list[list[Scalar]]:
    """Aᵀ."""
    return [list(column) for column in zip(*a, strict=True)]


def dot(a: Sequence[Scalar], b: Sequence[Scalar]) -> Scalar:
    """Σ a_i b_i over the pairs without a structural zero."""
    total: Scalar = 0
    for x, y in zip(a, b, strict=True):
        if not (is_zero(x) or is_zero(y)):
            total = plus(total, times(x, y))
    return total


def table(rows: AnyRows, count: int, width: int) -> np.ndarray:
    """Rows of numbers and of batches (count,) as one array, (count, rows, width)."""
    result = np.zeros((count, len(rows), width))
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            if not is_zero(entry):
                result[:, i, j] = entry
    return result


def solve_positive(a: AnyRows, right: AnyRows) -> list[list[Scalar]]:
    """X with A X = B for symmetric positive-definite A, by A = L D Lᵀ without pivoting (Golub & Van Loan 2013, alg.
    4.1.2).

    A of shape (n, n), B of shape (n, m), both as rows. No square roots, so symbolic scalars stay rational.
    """
    n = len(a)
    lower: list[list[Scalar]] = [[0] * n for _ in range(n)]
    diagonal: list[Scalar] = [0] * n
    for j in range(n):
        scaled = [lower[j][k] * diagonal[k] if not is_zero(lower[j][k]) else 0 for k in range(j)]
        diagonal[j] = a[j][j] - dot(lower[j][:j], scaled)
        for i in range(j + 1, n):
            rest = a[i][j] - dot(lower[i][:j], scaled)
            lower[i][j] = 0 if is_zero(rest) else rest / diagonal[j]
    return transpose([_substitute(lower, diagonal, column) for column in zip(*right, strict=True)])


def solve_general(a: AnyRows, right: Sequence[Scalar]) -> list[Scalar]:
    """x with A x = b for a matrix (n, n) whose leading parts are regular, by elimination without pivoting.

    Good where the diagonal outweighs the rest, as in an implicit step whose masses stand on it. No order of rows is
    chosen: what hangs on little else should stand first, so that few zeros are lost.
    """
    rows = [[*row, value] for row, value in zip(a, right, strict=True)]
    n = len(rows)
    for k in range(n):
        pivot = rows[k]
        inverse = 1 / pivot[k]
        for i in range(k + 1, n):
            if is_zero(rows[i][k]):
                continue
            share = times(rows[i][k], inverse)
            rows[i] = [
                *rows[i][: k + 1],
                *(minus(x, times(share, y)) for x, y in zip(rows[i][k + 1 :], pivot[k + 1 :], strict=True)),
            ]
    x: list[Scalar] = []
    for k in range(n - 1, -1, -1):
        known = dot(rows[k][k + 1 : n], x)
        x.insert(0, times(minus(rows[k][n], known), 1 / rows[k][k]))
    return x


def _substitute(lower: AnyRows, diagonal: Sequence[Scalar], right: Sequence[Scalar]) -> list[Scalar]:
    """x of L D Lᵀ x = b: forward, divided by D, backward."""
    n = len(right)
    y: list[Scalar] = []
    for i in range(n):
        y.append(right[i] - dot(lower[i][:i], y))
    x: list[Scalar] = [0 if is_zero(value) else value / d for value, d in zip(y, diagonal, strict=True)]
    for i in range(n - 1, -1, -1):
        column = [lower[k][i] for k in range(i + 1, n)]
        x[i] = x[i] - dot(column, x[i + 1 :])
    return x


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


def _signed(value: Scalar, place: int) -> Scalar:
    return value if place % 2 == 0 or is_zero(value) else -value


def _without(rows: AnyRows, row: int, column: int) -> list[list[Scalar]]:
    return [[*line[:column], *line[column + 1 :]] for i, line in enumerate(rows) if i != row]
