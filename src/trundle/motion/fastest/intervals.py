"""What happens on one interval of a programme of `trundle.fastest`: where it leads, and what it asks of the wheels.

A base moves at ξ(t) = r(t) d(t), d in the space of twists that its held wheels allow; without wheels that steer r is 1.
Steering hangs on d alone, so r may pass through zero while d goes on (docs/planner.md). On an interval of a duration h
d and ρ = r h are polynomials of its share s whose highest derivatives are the controls, and the pose is the integral

    θ′ = ρ d_ω,   (x, y)′ = R(θ) ρ d_v   (Gauss's quadrature).

So time stands in the limits only. Lengths are counted in the robot's size, times in that by the greatest speed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.fastest.wheel_rates import WheelShape, wheel_rates
from trundle.motion.paths.pose_paths import LIMITS
from trundle.scalars import SX

# Gauss's nodes for the displacement on an interval: exact to rounding where the base turns by less than 0.3 rad.
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(4)
# What the squares of controls count beside the time: it chooses among motions that are as fast.
_SMOOTH = 1e-5


@dataclass(frozen=True)
class Layout:
    """All that a programme's formulas hang on; numbers of a robot or a problem are its parameters.

    `basis` (k rows of three) spans the directions; `degrees` are those of d and r, r's −1 where it is always 1;
    `phases` the intervals of the phases, one duration each; `obstacles` the obstacles' corners, `corners` the robot's;
    `asked` which of the base's `LIMITS` count somewhere, `gripping` whether the floor bounds accelerations.
    """

    wheels: tuple[WheelShape, ...]
    basis: tuple[tuple[float, float, float], ...]
    degrees: tuple[int, int]
    phases: tuple[int, ...]
    obstacles: tuple[int, ...] = ()
    corners: int = 0
    asked: tuple[bool, ...] = ()
    gripping: bool = False

    @property
    def intervals(self) -> int:
        """Of all phases."""
        return sum(self.phases)

    @property
    def steered(self) -> bool:
        """Whether directions and speeds along them are apart."""
        return self.degrees[1] >= 0

    @property
    def counts(self) -> tuple[int, int, int]:
        """Of a node: states (the pose, d and ρ with their derivatives), controls, and numbers of separating lines."""
        k, (p, q) = len(self.basis), self.degrees
        return 3 + k * p + max(q, 0), k + self.steered, 2 * len(self.obstacles)


Moved = Callable[[float], tuple[list[SX], list[SX]]]


def polynomial(terms: Sequence[SX], s: float) -> list[SX]:
    """Σ terms_j s^j/j! and its derivatives up to the third."""
    out = []
    for order in range(4):
        total, factor = 0 * terms[-1], 1.0
        for j, term in enumerate(terms[order:]):
            factor = factor / j if j else 1.0
            total = total + term * (factor * s**j)
        out.append(total)
    return out


class LimitRow(NamedTuple):
    """What is held on an interval: its name with the wheel's or obstacle's place, between the least and the most."""

    name: tuple[str, int]
    value: SX
    least: float
    most: float


# Rows that say how a programme is written down, not what is wished: no elastic solve gives way in them.
WRITTEN = ("next", "ahead", "unit")
# The rows of wheels' limits, in the order of their rates.
RATES = (
    "steering rate",
    "steering acceleration",
    "steering jerk",
    "drive speed",
    "drive acceleration",
    "drive jerk",
)


@dataclass(frozen=True, eq=False)
class Formulas:
    """One interval in symbols: its variables (its own nodes', the next states, two durations), the numbers it takes,
    its rows with what they are at least and at most, how many of these always count, and its share of the cost.

    Rows behind those belong to the obstacles, one block after the other: `blocks` has their lengths. `names` says what
    rows hold, of which wheel or obstacle.
    """

    local: SX
    numbers: SX
    rows: SX
    lower: FloatArray
    upper: FloatArray
    always: int
    blocks: tuple[int, ...]
    cost: SX
    names: tuple[tuple[str, int], ...]

    def between(self, shape: Layout, paces: tuple[FloatArray, FloatArray]) -> tuple[FloatArray, FloatArray]:
        """What rows are at least and at most on all intervals, (n, rows) each, with those of the base's own limits,
        which stand behind the differences between nodes.
        """
        at = shape.counts[0]
        ends = tuple(np.tile(end, (shape.intervals, 1)) for end in (self.lower, self.upper))
        for end, pace in zip(ends, paces, strict=True):
            end[:, at : at + pace.shape[1]] = pace
        return ends[0], ends[1]


@dataclass(frozen=True, eq=False)
class _Numbers:
    """A programme's parameters, in the order that `Problem.numbers` has."""

    places: SX
    limits: SX
    ranges: SX
    hold: SX
    outline: SX
    around: list[SX]

    @classmethod
    def of(cls, shape: Layout) -> _Numbers:
        """Symbols for a shape."""
        import casadi as ca

        m = len(shape.wheels)
        return cls(
            ca.SX.sym("at", m, 2),
            ca.SX.sym("most", m, 6),
            ca.SX.sym("range", m, 2),
            ca.SX.sym("hold", 2 * m if shape.gripping else 0, 3),
            ca.SX.sym("outline", shape.corners, 2),
            [ca.SX.sym(f"o{i}", count + 1, 2) for i, count in enumerate(shape.obstacles)],
        )

    @property
    def packed(self) -> SX:
        """One vector."""
        import casadi as ca

        parts = (self.places, self.limits, self.ranges, self.hold, self.outline, *self.around)
        return ca.vertcat(*(ca.vec(part) for part in parts))


@lru_cache(maxsize=16)
def formulas(shape: Layout) -> Formulas:
    """One interval of a programme of this shape, whose phases don't matter."""
    import casadi as ca

    states, controls, lines = shape.counts
    x, y, u, line = (
        ca.SX.sym(name, size) for name, size in zip("xyuc", (states, states, controls, lines), strict=True)
    )
    phase, ahead = ca.SX.sym("T"), ca.SX.sym("N")
    numbers = _Numbers.of(shape)
    moved = _moved(shape, x, u)
    ends = _ends(shape, x, u, moved, ahead / phase) - y
    rows = [LimitRow(("next", k), ends[k], 0.0, 0.0) for k in range(states)]
    rows += _base_rows(shape, phase, moved) + _limit_rows(shape, phase, moved, numbers)
    if shape.gripping:
        rows += _drawn(shape, phase, moved, numbers.hold)
    rows += _ahead(shape, moved, numbers.places)
    if shape.steered:
        rows.append(LimitRow(("unit", 0), ca.sumsqr(moved(0.0)[0][0]), 1.0, 1.0))
    apart = _apart((x, y), line, numbers.outline, numbers.around)
    always = len(rows)
    rows += [row for block in apart for row in block]
    return Formulas(
        ca.vertcat(x, u, line, y, phase, ahead),
        numbers.packed,
        ca.vertcat(*(row.value for row in rows)),
        np.array([row.least for row in rows]),
        np.array([row.most for row in rows]),
        always,
        tuple(len(block) for block in apart),
        phase + _SMOOTH * ca.sumsqr(u),
        tuple(row.name for row in rows),
    )


def _moved(shape: Layout, x: SX, u: SX) -> Moved:
    """d (3,) and ρ, with three derivatives by the share of an interval."""
    import casadi as ca

    k, (p, q) = len(shape.basis), shape.degrees
    basis = ca.DM(np.array(shape.basis).T)
    directions = [basis @ part for part in [*(x[3 + j * k : 3 + (j + 1) * k] for j in range(p)), u[:k]]]
    speeds = [*(x[3 + p * k + j] for j in range(q)), u[k]] if shape.steered else [ca.SX(1)]
    return lambda s: (polynomial(directions, s), polynomial(speeds, s))


def _ends(shape: Layout, x: SX, u: SX, moved: Moved, ratio: SX) -> SX:
    """The states where an interval leads, for a next one that is so many times as long."""
    import casadi as ca

    k, (p, q) = len(shape.basis), shape.degrees

    def twist(s: float) -> SX:
        d, rho = moved(s)
        return rho[0] * d[0]

    def heading(s: float) -> SX:
        """θ is a polynomial, of a degree for which Gauss's quadrature is exact."""
        return x[2] + sum(
            w * s / 2 * twist(s * (1 + n) / 2)[2] for n, w in zip(_NODES, _WEIGHTS, strict=True)
        )

    across, up = x[0], x[1]
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        s = (1 + node) / 2
        v, theta = twist(s), heading(s)
        across += weight / 2 * (ca.cos(theta) * v[0] - ca.sin(theta) * v[1])
        up += weight / 2 * (ca.sin(theta) * v[0] + ca.cos(theta) * v[1])
    # without r the direction is what moves by an interval, and grows with its duration
    more = 0 if shape.steered else 1
    directions = [*(x[3 + j * k : 3 + (j + 1) * k] for j in range(p)), u[:k]]
    ends = [part * ratio ** (j + more) for j, part in enumerate(polynomial(directions, 1.0)[:p])]
    if q > 0:
        speeds = polynomial([*(x[3 + p * k + j] for j in range(q)), u[k]], 1.0)[:q]
        ends += [part * ratio ** (j + 1) for j, part in enumerate(speeds)]
    return ca.vertcat(across, up, heading(1.0), *ends)


def _base_rows(shape: Layout, h: SX, moved: Moved) -> list[LimitRow]:
    """Squares of the base's speed, acceleration, rate and its change at both ends, those that are asked for."""
    import casadi as ca

    rows: list[LimitRow] = []
    for s in (0.0, 1.0) if any(shape.asked) else ():
        v, acceleration = _base(moved, s)
        squares = (ca.sumsqr(v[:2]), ca.sumsqr(acceleration[:2]), v[2] ** 2, acceleration[2] ** 2)
        rows += [
            LimitRow((name, 0), square / h ** (4 if place % 2 else 2), -np.inf, np.inf)
            for place, (name, square) in enumerate(zip(LIMITS, squares, strict=True))
            if shape.asked[place]
        ]
    return rows


def _base(moved: Moved, s: float) -> tuple[SX, SX]:
    """The base's twist by an interval, and its acceleration in its axes: ξ̇ + ω × v."""
    import casadi as ca

    d, rho = moved(s)
    v, change = rho[0] * d[0], rho[1] * d[0] + rho[0] * d[1]
    return v, ca.vertcat(change[0] - v[2] * v[1], change[1] + v[2] * v[0], change[2])


def _limit_rows(shape: Layout, h: SX, moved: Moved, numbers: _Numbers) -> list[LimitRow]:
    """Shares of the wheels' limits at both ends, within ±1, and directions within steering ranges."""
    import casadi as ca

    rows: list[LimitRow] = []
    smooth = _continuous(shape)
    places, limits, ranges = numbers.places, numbers.limits, numbers.ranges
    for s in (0.0, 1.0):
        d, rho = moved(s)
        for i, wheel in enumerate(shape.wheels):
            w = [(part[0] - part[2] * places[i, 1], part[1] + part[2] * places[i, 0]) for part in d]
            for order, rate in enumerate(wheel_rates(wheel, w, rho, d[0])):
                if wheel.limited[order] and not (s and smooth[order]):
                    share = rate / (limits[i, order] * h ** (order % 3 + 1))
                    rows.append(LimitRow((RATES[order], i), share, -1.0, 1.0))
            if wheel.ranged:
                for end, sign in ((0, 1), (1, -1)):
                    side = ca.cos(ranges[i, end]) * w[0][1] - ca.sin(ranges[i, end]) * w[0][0]
                    rows.append(LimitRow(("steering range", i), sign * side, 0.0, np.inf))
    return rows


def _ahead(shape: Layout, moved: Moved, places: SX) -> list[LimitRow]:
    """w(0)·w(1), from 0, of wheels whose steering is limited: none turns by more than a quarter, nor passes w = 0."""
    begin, end = (moved(s)[0][0] for s in (0.0, 1.0))
    rows: list[LimitRow] = []
    for i, wheel in enumerate(shape.wheels):
        if wheel.points and wheel.limited[0]:
            first, last = ((d[0] - d[2] * places[i, 1], d[1] + d[2] * places[i, 0]) for d in (begin, end))
            rows.append(LimitRow(("ahead", i), first[0] * last[0] + first[1] * last[1], 0.0, np.inf))
    return rows


def _drawn(shape: Layout, h: SX, moved: Moved, hold: SX) -> list[LimitRow]:
    """Squares of the wheels' forces by the base's acceleration, as shares of what the floor holds: |H (ξ̇ + ω × v)|²."""
    import casadi as ca

    rows: list[LimitRow] = []
    for s in (0.0, 1.0):
        forces = ca.mtimes(hold, _base(moved, s)[1])
        rows += [
            LimitRow(("grip", i), ca.sumsqr(forces[2 * i : 2 * i + 2]) / h**4, -np.inf, 1.0)
            for i in range(len(shape.wheels))
        ]
    return rows


def _continuous(shape: Layout) -> list[bool]:
    """Which of the six rates don't jump between intervals: one end of them is enough."""
    p, q = shape.degrees
    speeds = p if q < 0 else min(p, q)
    return [p > order + 1 for order in range(3)] + [speeds > order for order in range(3)]


def _apart(poses: Sequence[SX], line: SX, outline: SX, around: Sequence[SX]) -> list[list[LimitRow]]:
    """A line between the outline at both ends of the interval and every obstacle: what is on the wrong side is < 0."""
    import casadi as ca

    blocks: list[list[LimitRow]] = []
    for i, corners in enumerate(around):
        normal, level = (ca.cos(line[2 * i]), ca.sin(line[2 * i])), line[2 * i + 1]
        sides = [
            level - corners[-1, 0] - normal[0] * corners[j, 0] - normal[1] * corners[j, 1]
            for j in range(corners.shape[0] - 1)  # the last row holds the radius about the corners
        ]
        for pose in poses:
            cos, sin = ca.cos(pose[2]), ca.sin(pose[2])
            for j in range(outline.shape[0]):
                a, b = outline[j, 0], outline[j, 1]
                sides.append(
                    normal[0] * (pose[0] + cos * a - sin * b)
                    + normal[1] * (pose[1] + sin * a + cos * b)
                    - level
                )
        blocks.append([LimitRow(("keep_out", i), side, 0.0, np.inf) for side in sides])
    return blocks
