"""Symmetric 6×6 inertias, one triangle computed: what the articulated-body algorithm carries from link to link.

In blocks, for momenta (f, n) of motions (v, ω):  f = M v + C ω,  n = Cᵀ v + J ω, with M and J symmetric. A rigid
body has M = m 1 and C = −[h]×.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trundle.scalars import Scalar, is_zero, minus, plus, times
from trundle.spatial.motions import Force, Inertia, Motion, Pose
from trundle.spatial.vectors import (
    IDENTITY,
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    multiply,
    transpose,
)


class Articulated(NamedTuple):
    """The blocks M (linear, kg), C (coupling, kg m) and J (rotational, kg m²)."""

    linear: Matrix
    coupling: Matrix
    rotational: Matrix


def of_body(inertia: Inertia) -> Articulated:
    """A rigid body's own: M = m 1, C = −[h]×, J about the frame's origin."""
    m, (x, y, z) = inertia.mass, inertia.first_moment
    linear = ((m, 0, 0), (0, m, 0), (0, 0, m))
    nx, ny, nz = minus(0, x), minus(0, y), minus(0, z)
    return Articulated(linear, ((0, z, ny), (nz, 0, x), (y, nx, 0)), inertia.rotational)


def momentum_of(inertia: Articulated, m: Motion) -> Force:
    """I m."""
    return Force(
        add(apply(inertia.linear, m.linear), apply(inertia.coupling, m.angular)),
        add(apply_transposed(inertia.coupling, m.linear), apply(inertia.rotational, m.angular)),
    )


def add_articulated(a: Articulated, b: Articulated) -> Articulated:
    """a + b."""
    coupling = tuple(add(x, y) for x, y in zip(a.coupling, b.coupling, strict=True))
    return Articulated(
        _symmetric(lambda i, j: plus(a.linear[i][j], b.linear[i][j])),
        (coupling[0], coupling[1], coupling[2]),
        _symmetric(lambda i, j: plus(a.rotational[i][j], b.rotational[i][j])),
    )


def less_outer(inertia: Articulated, u: Force, gain: Force) -> Articulated:
    """I − u gainᵀ where gain is a multiple of u, so that the difference is symmetric."""

    def rest(block: Matrix, x: Vector, y: Vector, i: int, j: int) -> Scalar:
        return minus(block[i][j], times(x[i], y[j]))

    coupling = [[rest(inertia.coupling, u.force, gain.moment, i, j) for j in range(3)] for i in range(3)]
    return Articulated(
        _symmetric(lambda i, j: rest(inertia.linear, u.force, gain.force, i, j)),
        _matrix(coupling),
        _symmetric(lambda i, j: rest(inertia.rotational, u.moment, gain.moment, i, j)),
    )


def without_direction(inertia: Articulated, index: int) -> Articulated:
    """The inertia with row and column `index` (0 to 2 linear, 3 to 5 angular) exactly zero.

    That is what a free joint along this direction leaves: (I − U D⁻¹ Uᵀ) S = 0 where D = Sᵀ I S. Known beforehand,
    it saves the row's arithmetic in everything that follows.
    """
    k = index % 3
    if index < 3:
        coupling = _matrix([[0 if i == k else x for x in row] for i, row in enumerate(inertia.coupling)])
        return Articulated(_cleared(inertia.linear, k), coupling, inertia.rotational)
    coupling = _matrix([[0 if j == k else x for j, x in enumerate(row)] for row in inertia.coupling])
    return Articulated(inertia.linear, coupling, _cleared(inertia.rotational, k))


def to_parent(pose: Pose, inertia: Articulated) -> Articulated:
    """XᵀIX: the inertia given in frame b, about the origin and in the axes of frame a, for T_a_b = (R, p).

    First the axes, M′ = R M Rᵀ and so on, then the point (Featherstone 2008, eq. 2.66 in blocks):
    C = C′ − M′[p]×, J = J′ − C′ᵀ[p]× + [p]×C.
    """
    rotation, p = pose
    linear = rotate(rotation, inertia.linear, symmetric=True)
    before = rotate(rotation, inertia.coupling)
    rotational = rotate(rotation, inertia.rotational, symmetric=True)
    if all(is_zero(x) for x in p):
        return Articulated(linear, before, rotational)
    after = _matrix([list(add(row, cross(p, m))) for row, m in zip(before, linear, strict=True)])
    moved = [cross(p, column) for column in transpose(before)]  # rows of −C′ᵀ[p]×
    lifted = [cross(p, column) for column in transpose(after)]  # columns of [p]×C
    return Articulated(
        linear, after, _symmetric(lambda i, j: plus(rotational[i][j], plus(moved[i][j], lifted[j][i])))
    )


def rotate(rotation: Matrix, a: Matrix, *, symmetric: bool = False) -> Matrix:
    """R A Rᵀ, of a symmetric A one triangle computed; about a coordinate axis with a dozen products."""
    if rotation is IDENTITY or _vanishes(a):
        return a
    turn = principal_turn(rotation)
    if turn is not None:
        return _turned(turn, a)
    half = multiply(rotation, a)
    return (
        _symmetric(lambda i, j: dot(half[i], rotation[j]))
        if symmetric
        else multiply(half, transpose(rotation))
    )


class PrincipalTurn(NamedTuple):
    """A rotation about coordinate axis `axis` with this cosine and sine."""

    axis: int
    cos: Scalar
    sin: Scalar


def principal_turn(rotation: Matrix) -> PrincipalTurn | None:
    """The rotation as one about a coordinate axis, if its zeros and ones say that it is one."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        if _is_one(rotation[k][k]) and all(
            is_zero(rotation[k][m]) and is_zero(rotation[m][k]) for m in (i, j)
        ):
            return PrincipalTurn(k, rotation[i][i], rotation[j][i])
    return None


def _turned(turn: PrincipalTurn, a: Matrix) -> Matrix:
    """R A Rᵀ about a coordinate axis k, from the angle's c and s: with δ = A_jj − A_ii and e = A_ij + A_ji the block

    (i, j) changes by s(sδ − ce) on the diagonal, up and down, and by −s(se + cδ) off it; rows and columns k turn.
    """
    k, c, s = turn
    i, j = (k + 1) % 3, (k + 2) % 3
    delta, both = minus(a[j][j], a[i][i]), plus(a[i][j], a[j][i])
    along = times(s, minus(times(s, delta), times(c, both)))
    across = times(s, plus(times(s, both), times(c, delta)))
    result = [[0, 0, 0], [0, 0, 0], [0, 0, 0]]
    result[i][i], result[j][j], result[k][k] = plus(a[i][i], along), minus(a[j][j], along), a[k][k]
    result[i][j], result[j][i] = minus(a[i][j], across), minus(a[j][i], across)
    result[i][k], result[j][k] = _turn_pair(c, s, a[i][k], a[j][k])
    result[k][i], result[k][j] = _turn_pair(c, s, a[k][i], a[k][j])
    return _matrix(result)


def _turn_pair(c: Scalar, s: Scalar, x: Scalar, y: Scalar) -> tuple[Scalar, Scalar]:
    return minus(times(c, x), times(s, y)), plus(times(s, x), times(c, y))


def _cleared(block: Matrix, k: int) -> Matrix:
    return _matrix([[0 if k in (i, j) else x for j, x in enumerate(row)] for i, row in enumerate(block)])


def _symmetric(entry: Callable[[int, int], Scalar]) -> Matrix:
    rows: list[list[Scalar]] = [[0] * 3 for _ in range(3)]
    for i in range(3):
        for j in range(i, 3):
            rows[i][j] = rows[j][i] = entry(i, j)
    return _matrix(rows)


def _matrix(rows: list[list[Scalar]]) -> Matrix:
    return tuple(tuple(row) for row in rows)  # type: ignore[return-value]


def _vanishes(a: Matrix) -> bool:
    return all(is_zero(x) for row in a for x in row)


def _is_one(x: Scalar) -> bool:
    return isinstance(x, (int, float)) and x == 1
