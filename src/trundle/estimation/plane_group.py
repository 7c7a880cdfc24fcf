"""The group of motions in the plane, SE(2), in CasADi's symbols: its adjoint, logarithm and right Jacobian.

A twist d = (forward, left, turned) stands in the base's own axes; exp is `odometry.displacement.advance` from the
origin. Solà, Deray & Atchuthan 2018, sec. 10.
"""

from __future__ import annotations

from collections.abc import Sequence

import casadi as ca

from trundle.model.symbols import column, entries
from trundle.motion.odometry.displacement import advance
from trundle.scalars import Scalar, atan2, cos, sin, sinc


def right_jacobian(d: ca.SX) -> ca.SX:
    """B(d): exp(d + e) = exp(d) exp(B e) to first order in e (Solà et al. 2018, eq. 67).

    Read off `advance` by differentiation, whose quotient sin(x)/x is exact at 0, too.
    """
    steps = ca.SX.sym("d", 3)
    slope = ca.jacobian(column(list(advance((0, 0, 0), entries(steps)))), steps)
    return ca.substitute(turned(steps[2]).T @ slope, steps, d)


def left_out(d: ca.SX) -> ca.SX:
    """B(d)⁻¹: log(exp(d) exp(e)) = d + B⁻¹ e to first order in e. B's last row is (0, 0, 1)."""
    slope = right_jacobian(d)
    a, b, c, e = slope[0, 0], slope[0, 1], slope[1, 0], slope[1, 1]
    upper = ca.SX(2, 2)
    upper[0, 0], upper[0, 1], upper[1, 0], upper[1, 1] = e, -b, -c, a
    upper = upper / (a * e - b * c)
    inverse = ca.SX.eye(3)
    inverse[:2, :2], inverse[:2, 2] = upper, -upper @ slope[:2, 2]
    return inverse


def adjoint(d: ca.SX) -> ca.SX:
    """Ad(exp(−d)): exp(−d) exp(ξ) exp(d) = exp(Ad ξ)."""
    x, y, turn = advance((0, 0, 0), entries(d))
    shift = ca.SX.eye(3)
    shift[0, 2], shift[1, 2] = -y, x
    return turned(turn).T @ shift


def logarithm(before: Sequence[Scalar], after: Sequence[Scalar]) -> ca.SX:
    """The twist d with after = before exp(d), turned by (−π, π]."""
    c, s = cos(before[2]), sin(before[2])
    east, north, turn = (new - old for new, old in zip(after, before, strict=True))
    x, y, turn = c * east + s * north, c * north - s * east, atan2(sin(turn), cos(turn))
    half = turn / 2
    along = cos(half) / sinc(half)
    return column([along * x + half * y, along * y - half * x, turn])


def turned(heading: Scalar) -> ca.SX:
    """diag(R(θ), 1)."""
    c, s = cos(heading), sin(heading)
    matrix = ca.SX.eye(3)
    matrix[0, 0], matrix[0, 1], matrix[1, 0], matrix[1, 1] = c, -s, s, c
    return matrix
