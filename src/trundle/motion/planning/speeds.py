"""How fast along a course: the twist is ξ = r d, r a quadratic spline, found by weighted least squares.

Each module's speed is s = r |w|, linear in r, and so are its acceleration and jerk. A negative r drives backward; where
r changes its sign the wheels reverse without steering.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.motion.drive.drive import Drive, log_rates
from trundle.motion.planning.courses import Crossing, order_at, waves
from trundle.motion.planning.splines import INTERVALS, QUADRATIC, Grid, beside, sampling, sign_of, windows

QUICK = (2, 4, 6, 8)
THOROUGH = (2, 3, 4, 6, 8, 12, 16)
"""Powers of the norm, one Newton's step each: grown slowly they come within a percent of the least largest value."""
_ROOM = 0.9  # of the speed limit, from which on a course's speed counts


def speed_rows(drive: Drive, w: ComplexArray, crossings: Sequence[Crossing], grid: Grid) -> FloatArray:
    """(3, c, K, n, m, 3): modules' speeds and derivatives on [0, 1], by each interval's control points of r."""
    size = np.abs(w[0])[..., None]
    first, second = (growth[..., None] for growth in log_rates(w).growth)
    r = factors(drive, crossings, grid)
    return np.array(
        [
            size * r[0],
            size * (r[1] + first * r[0]),
            size * (r[2] + 2 * first * r[1] + second * r[0]),
        ]
    )


def factors(drive: Drive, crossings: Sequence[Crossing], grid: Grid) -> FloatArray:
    """(3, c, K, n, m, 3): r and its derivatives by its control points, beside a crossing times (t* − t)^order."""
    plain = grid.quadratic.transpose(1, 0, 2, 3)[:, None, :, :, None]
    if not any(crossings):
        return plain
    found = np.repeat(np.repeat(plain, len(crossings), axis=1), len(drive.places), axis=4)
    for course, crossing in enumerate(crossings):
        for module, knot in crossing:
            near, order = beside(knot), order_at(drive, knot)
            since = (grid.times[near] - knot / INTERVALS)[..., None]
            power = sign_of(knot, order) * since**order
            slope = sign_of(knot, order) * order * since ** (order - 1)
            bend = sign_of(knot, order) * order * (order - 1) * since ** max(0, order - 2)
            r0, r1, r2 = plain[:, 0, near, :, 0]
            found[:, course, near, :, module] = (
                power * r0,
                power * r1 + slope * r0,
                power * r2 + 2 * slope * r1 + bend * r0,
            )
    return found


def fit_speeds(
    drive: Drive,
    controls: FloatArray,
    crossings: Sequence[Crossing],
    ends: FloatArray,
    times: FloatArray,
    powers: Sequence[float] = QUICK,
) -> tuple[FloatArray, FloatArray]:
    """Control points of r (c, K + 2) between given ends (c, 2), and how long the drives need (c,).

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
            found = np.maximum(peaks[:, 1], np.sqrt(peaks[:, 2])).max(axis=1)
            worst = peaks[:, 0].max(axis=1)
            score = np.where(worst > 1 + 1e-9, found + 10 * worst, found)
            better = score < needed
            best, needed = np.where(better[:, None], r, best), np.where(better, score, needed)
            times = np.maximum(times, found)
        if power is not None:
            scale = 1 / (drive.rolling * times[:, None, None] ** np.array([[0], [1], [2]]))
            scale = np.repeat(scale[:, None, :, None], n, axis=3).reshape(c, 1, -1)
            r = r.copy()
            r[:, free] += _change(rows, values, scale, power, n * m, free)
    return best, needed


def _change(
    rows: FloatArray, values: FloatArray, scale: FloatArray, power: float, speeds: int, free: slice
) -> FloatArray:
    """Of the free control points, one Newton's step; `speeds` rows come first that count near their limit only."""
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
    """Which of an interval's control points are which free one, (K, variables, 3), and the same as (3 K, variables)."""
    found = np.eye(QUADRATIC)[held : QUADRATIC - held, windows(3)].swapaxes(0, 1)
    return found, found.swapaxes(1, 2).reshape(-1, found.shape[1])
