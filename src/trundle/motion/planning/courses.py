"""Courses of a twist's direction: how the instantaneous centre of rotation moves, and how fast along it.

A module's velocity w is a complex number (`Drive.map`): (ln w)′ holds its steering rate as imaginary part, (ln w)″ its
acceleration and so on. They don't depend on the twist's length nor on its sign: a course is a curve d(t) of directions,
on [0, 1].

Along it the twist is ξ = r d. A module's speed r |w| is linear in r, and so are its acceleration and jerk: r comes by
weighted least squares. A negative r drives backward; where r changes its sign the wheels reverse without steering.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.motion.drive.drive import Drive, LogRates, log_rates, product_rates
from trundle.motion.planning.splines import (
    CUBIC,
    INTERVALS,
    QUADRATIC,
    UnitGrid,
    adjacent,
    crossing_power,
    sampling,
    windows,
)

Crossing = tuple[tuple[int, int], ...]
"""(module, knot) wherever the centre of rotation passes exactly through a module's axis, or comes to it at the end."""


# Where the control points of the K intervals have their coordinates in a flat course, (K, 12).
_COORDINATES = (3 * windows(4)[:, :, None] + np.arange(3)).reshape(INTERVALS, 12)


def end_points(drive: Drive) -> int:
    """How many control points at both ends of a course are its ends, so that it begins and ends smoothly enough.

    The twist and the angles rest there: a limited jerk of steering asks for a second derivative of zero, its
    limited acceleration or a limited jerk of drives for a first one.
    """
    smooth = np.isfinite(drive.steering[1]).any() or np.isfinite(drive.rolling[2]).any()
    return 3 if np.isfinite(drive.steering[2]).any() else 2 if smooth else 1


def order_at(drive: Drive, knot: int) -> int:
    """The order of the zero of a module's velocity where its axis is met at a knot."""
    return 1 if 0 < knot < INTERVALS else end_points(drive)


def waves(drive: Drive, controls: FloatArray, crossings: Sequence[Crossing], grid: UnitGrid) -> ComplexArray:
    """(4, c, K, n, m): w of c courses and three derivatives; beside a crossing w/(t* − t) in its place."""
    local = controls[:, windows(4)]
    count = len(grid.inside)
    values = grid.cubic.reshape(INTERVALS, -1, 4) @ local @ drive.map
    for course, crossing in enumerate(crossings):
        for module, knot in crossing:
            near = adjacent(knot)
            matrix = grid.divided(knot, order_at(drive, knot))
            quotients = matrix.reshape(len(matrix), -1, 4) @ local[course, near] @ drive.map[:, module]
            values[course, near, :, module] = quotients
    shape = (len(controls), INTERVALS, 4, count, len(drive.places))
    return values.reshape(shape).transpose(2, 0, 1, 3, 4)


def least_duration(drive: Drive, rates: LogRates) -> FloatArray:
    """(c,): how long courses must take for their steering; `rates` are those of [0, 1], (3, c, K, n, m)."""
    ratios = np.abs(rates.steering).max(axis=(2, 3)) / drive.steering[:, None]
    return (ratios.max(axis=2) ** np.array([[1.0], [1 / 2], [1 / 3]])).max(axis=0)


def polish(
    drive: Drive, controls: FloatArray, crossings: Sequence[Crossing], powers: Sequence[float]
) -> tuple[FloatArray, FloatArray]:
    """Courses (c, K + 3, 3) that take less time, and how long (c,): Newton's steps on growing norms of what is limited.

    Σ |y|^p over steering rates, accelerations and jerks by their limits; a step solves the least squares weighted with
    |y|^(p − 2), of which 1/(p − 1) is Newton's step.
    """
    best, times = controls, np.full(len(controls), np.inf)
    freedom = _freedom(drive, crossings)
    for power in (*powers, None):
        rates = log_rates(waves(drive, controls, crossings, sampling()))
        needed = least_duration(drive, rates)
        better = needed < times
        best, times = np.where(better[:, None, None], controls, best), np.where(better, needed, times)
        if power is not None:
            controls = controls + _step(drive, freedom, rates, times, power)
    return best, times


@dataclass(frozen=True, eq=False)
class _Freedom:
    """How courses may change: `directions` (c, variables, 3 (K + 3)), and of the intervals' control points (c, K,
    variables, 12); `values` (4, c or 1, K, n, m or 1, 4): w and its derivatives by the values of those control points.
    """

    directions: FloatArray
    local: FloatArray
    values: list[FloatArray]


def _freedom(drive: Drive, crossings: Sequence[Crossing]) -> _Freedom:
    """The freedom of courses: made once, as it hangs on ends and crossings only, and not on the steps."""
    directions = _directions(drive, crossings)
    local = directions[:, :, _COORDINATES].swapaxes(1, 2)
    return _Freedom(directions, local, [_values(drive, crossings, order) for order in range(4)])


def _step(drive: Drive, freedom: _Freedom, rates: LogRates, times: FloatArray, power: float) -> FloatArray:
    """The change of control points: normal equations of the intervals, gathered, in the directions that are free."""
    c = len(times)
    times = np.where(times > 0, times, 1.0)  # in none nothing steers, and no scale matters
    scale = 1 / (drive.steering[:, None] * times[:, None] ** np.array([1, 2, 3])[:, None, None])
    y = (rates.steering * scale[:, :, None, None]).transpose(1, 2, 3, 4, 0).reshape(c, INTERVALS, -1)
    x = _slopes(drive, freedom.values, rates, scale)
    # 1e-3 of a limit beside |y|: weights of values near zero would make the normal equations singular
    weighted = x * ((np.abs(y) + 1e-3) ** (power - 2))[..., None]
    local = weighted.swapaxes(2, 3) @ np.concatenate([x, y[..., None]], axis=3)
    moved = freedom.local @ local
    variables = moved.shape[2]
    flat = freedom.local.swapaxes(2, 3).reshape(c, -1, variables)
    normal = moved[..., :12].swapaxes(1, 2).reshape(c, variables, -1) @ flat
    # Levenberg and Marquardt's: d times a real function steers the same, so the equations leave that free
    damping = 1e-3 * np.trace(normal, axis1=1, axis2=2) / variables + 1e-12
    normal += damping[:, None, None] * np.eye(variables)
    solution = np.linalg.solve(normal, moved[..., 12:].sum(axis=1))
    return (solution.swapaxes(1, 2) @ freedom.directions).reshape(c, CUBIC, 3) / (1 - power)


def _slopes(drive: Drive, values: list[FloatArray], rates: LogRates, scale: FloatArray) -> FloatArray:
    """(c, K, n m 3, 12): what the coordinates of an interval's control points change of its steering's derivatives.

    The change dw of w changes ln w by dw/w: its derivatives by Leibniz's rule.
    """
    first, second, third = rates.orders
    h0 = rates.inverse
    h1 = -h0 * first
    h2 = -h1 * first - h0 * second
    h3 = -h2 * first - 2 * h1 * second - h0 * third
    h = np.array([h0, h1, h2, h3])[..., None]
    slopes: ComplexArray = np.stack(
        [
            h[1] * values[0] + h[0] * values[1],
            h[2] * values[0] + 2 * h[1] * values[1] + h[0] * values[2],
            h[3] * values[0] + 3 * (h[2] * values[1] + h[1] * values[2]) + h[0] * values[3],
        ],
        axis=4,
    )
    slopes *= scale.transpose(1, 2, 0)[:, None, None, :, :, None]
    parts = np.stack([slopes.imag, slopes.real, (slopes * drive.places[:, None, None]).real], axis=-1)
    return parts.reshape(*parts.shape[:2], -1, 12)


def _values(drive: Drive, crossings: Sequence[Crossing], order: int) -> FloatArray:
    """(c or 1, K, n, m or 1, 4): a derivative of w by the values of an interval's control points."""
    grid = sampling()
    plain = grid.cubic[None, :, order, :, None]
    if not any(crossings):
        return plain
    values = np.repeat(np.repeat(plain, len(crossings), axis=0), len(drive.places), axis=3)
    for course, crossing in enumerate(crossings):
        for module, knot in crossing:
            values[course, adjacent(knot), :, module] = grid.divided(knot, order_at(drive, knot))[:, order]
    return values


def _directions(drive: Drive, crossings: Sequence[Crossing]) -> FloatArray:
    """(c, variables, 3 (K + 3)): the free control points' coordinates move one by one, as far as crossings stay."""
    free = slice(3 * end_points(drive), 3 * (CUBIC - end_points(drive)))
    plain = np.eye(3 * CUBIC)[free]
    moves = np.repeat(plain[None], len(crossings), axis=0)
    for course, crossing in enumerate(crossings):
        if rows := _conditions(drive, crossing):
            fixed = np.array(rows)[:, free]
            moves[course] -= fixed.T @ np.linalg.solve(fixed @ fixed.T, fixed) @ plain
    return moves


def _conditions(drive: Drive, crossing: Crossing) -> list[FloatArray]:
    """Rows (3 (K + 3),) whose products with the control points are zero where w is at the knots of a crossing.

    At a knot w is (a + 4 b + c)/6 of three control points. The wheel's direction there is that of w/(t − t*), so its
    second derivative is w‴/3: where the jerk of steering is limited it must not jump, nor may the fourth difference of
    the control points that it jumps by.
    """
    rows = []
    for module, knot in inner(crossing):
        kinds: list[tuple[int, tuple[int, ...]]] = [(knot, (1, 4, 1))]
        if np.isfinite(drive.steering[2, module]):
            kinds.append((knot - 1, (1, -4, 6, -4, 1)))
        for first, weights in kinds:
            for part in (drive.map[:, module].real, drive.map[:, module].imag):
                row = np.zeros((CUBIC, 3))
                row[first : first + len(weights)] = np.array(weights)[:, None] * part
                rows.append(row.ravel())
    return rows


def inner(crossing: Crossing) -> Crossing:
    """The crossings at knots between the ends: at an end the course only comes to the axis."""
    return tuple((module, knot) for module, knot in crossing if 0 < knot < INTERVALS)


def pinned(drive: Drive, controls: FloatArray, crossing: Crossing) -> FloatArray:
    """The nearest control points, with the same ends, whose spline meets the axes at the knots of a crossing."""
    rows = _conditions(drive, crossing)
    if not rows:
        return controls
    free = slice(3 * end_points(drive), 3 * (CUBIC - end_points(drive)))
    fixed = np.array(rows)[:, free]
    moved = controls.ravel().copy()
    for _ in range(2):  # the second time for the rounding of the first
        moved[free] -= fixed.T @ np.linalg.solve(fixed @ fixed.T, np.array(rows) @ moved)
    return moved.reshape(controls.shape)


# Powers of the norm, one Newton's step a power. The larger they are, the more the largest value counts alone; grown
# slowly they come within a percent of the least largest value, as Newton's steps stay near their solution.
# QUICK serves courses at first; THOROUGH those whose drives, not whose steering, take too long.
QUICK = (2, 4, 6, 8)
THOROUGH = (2, 3, 4, 6, 8, 12, 16)
# A speed counts from this share of its limit on. Below, it would hold r back though it costs no time.
_ROOM = 0.9


def speed_rows(drive: Drive, w: ComplexArray, crossings: Sequence[Crossing], grid: UnitGrid) -> FloatArray:
    """(3, c, K, n, m, 3): modules' speeds and derivatives on [0, 1], by the intervals' control points of r."""
    size = np.abs(w[0])[..., None]
    first, second = (growth[..., None] for growth in log_rates(w).growth)
    r = factors(drive, crossings, grid)
    return np.array(
        [size * r[0], size * (r[1] + first * r[0]), size * (r[2] + 2 * first * r[1] + second * r[0])]
    )


def factors(drive: Drive, crossings: Sequence[Crossing], grid: UnitGrid) -> FloatArray:
    """(3, c, K, n, m, 3): r and its derivatives by its control points, beside a crossing times (t* − t)^order."""
    plain = grid.quadratic.transpose(1, 0, 2, 3)[:, None, :, :, None]
    if not any(crossings):
        return plain
    divided = np.repeat(np.repeat(plain, len(crossings), axis=1), len(drive.places), axis=4)
    for course, crossing in enumerate(crossings):
        for module, knot in crossing:
            near, order = adjacent(knot), order_at(drive, knot)
            since = (grid.times[near] - knot / INTERVALS)[..., None]
            power = crossing_power(knot, order, since)
            divided[:, course, near, :, module] = product_rates(power, plain[:, 0, near, :, 0])
    return divided


def fit_speeds(
    drive: Drive,
    controls: FloatArray,
    crossings: Sequence[Crossing],
    ends: FloatArray,
    times: FloatArray,
    powers: Sequence[float] = QUICK,
) -> tuple[FloatArray, FloatArray]:
    """Control points of r (c, K + 2) between its ends (c, 2), and how long the drives need (c,).

    Σ |y|^p over accelerations and jerks by their limits, as in `polish`; speeds count where they come near their limit.
    """
    grid = sampling()
    c, n, m = len(controls), len(grid.inside), len(drive.places)
    rows = speed_rows(drive, waves(drive, controls, crossings, grid), crossings, grid)
    rows = rows.transpose(1, 2, 0, 3, 4, 5).reshape(c, INTERVALS, -1, 3)
    held = 2 if np.isfinite(drive.rolling[2]).any() else 1
    r = np.zeros((c, QUADRATIC))
    r[:, :held], r[:, QUADRATIC - held :] = ends[:, :1], ends[:, 1:]
    free = slice(held, QUADRATIC - held)
    best, needed = r, np.full(c, np.inf)
    for power in (*powers, None):
        values = (rows @ r[:, windows(3)][..., None])[..., 0]
        if power is None or power > 2:
            peaks = np.abs(values).max(axis=1).reshape(c, 3, n, m).max(axis=2) / drive.rolling
            durations = np.maximum(peaks[:, 1], np.sqrt(peaks[:, 2])).max(axis=1)
            worst = peaks[:, 0].max(axis=1)
            # no longer time mends a speed above its limit: such a course counts 10 s more and upward
            score = np.where(worst > 1 + 1e-9, durations + 10 * worst, durations)
            better = score < needed
            best, needed = np.where(better[:, None], r, best), np.where(better, score, needed)
            times = np.maximum(times, durations)
        if power is not None:
            scale = 1 / (drive.rolling * times[:, None, None] ** np.array([[0], [1], [2]]))
            scale = np.repeat(scale[:, None, :, None], n, axis=3).reshape(c, 1, -1)
            r = r.copy()
            r[:, free] += _change(rows, values, scale, power, n * m, free)
    return best, needed


def _change(
    rows: FloatArray, values: FloatArray, scale: FloatArray, power: float, speeds: int, free: slice
) -> FloatArray:
    """One Newton's step of the free control points (c, variables).

    The first `speeds` rows are speeds, which count near their limit only.
    """
    y = np.abs(values) * scale
    weights = (y + 1e-3) ** (power - 2) * scale**2
    weights[:, :, :speeds] *= y[:, :, :speeds] > _ROOM
    local = (rows * weights[..., None]).swapaxes(2, 3) @ np.concatenate([rows, values[..., None]], axis=3)
    reach, flat = _reach(free.start)
    variables = reach.shape[1]
    moved = reach @ local
    normal = moved[..., :3].swapaxes(1, 2).reshape(len(rows), variables, -1) @ flat
    gradient = moved[..., 3:].sum(axis=1)
    normal += (1e-9 * np.trace(normal, axis1=1, axis2=2) + 1e-12)[:, None, None] * np.eye(variables)
    return -np.linalg.solve(normal, gradient)[..., 0] / (power - 1)


@lru_cache
def _reach(held: int) -> tuple[FloatArray, FloatArray]:
    """Ones where a free control point is one of an interval's three: (K, variables, 3), and flat (3 K, variables)."""
    reach = np.eye(QUADRATIC)[held : QUADRATIC - held, windows(3)].swapaxes(0, 1)
    return reach, reach.swapaxes(1, 2).reshape(-1, reach.shape[1])
