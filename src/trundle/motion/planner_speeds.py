"""How fast along a course: the twist is ξ = r d, r a quadratic spline, found by weighted least squares.

Each module's speed is s = r |w|, linear in r, and so are its acceleration and jerk. A negative r drives backward; where
r changes its sign the wheels reverse without steering.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.motion.planner_courses import ComplexArray, Crossing, SteeredDrive, log_rates, waves
from trundle.motion.planner_splines import QUADRATIC, Grid, sampling
from trundle.results.arrays import FloatArray

_POWERS = (2, 4, 6, 8, 8)
_ROOM = 0.9  # of the speed limit, from which on a course's speed counts


def speed_rows(w: ComplexArray, crossings: Sequence[Crossing], grid: Grid, places: int) -> FloatArray:
    """(3, c, n, m, K + 2): speed, acceleration and jerk of modules from the control points of r, times of [0, 1]."""
    _, rates = log_rates(w)
    size = np.abs(w[0])[..., None]
    first = rates[0].real[..., None]
    second = rates[1].real[..., None] + first**2
    basis = np.broadcast_to(
        grid.quadratic[:, None, :, None, :], (3, w.shape[1], len(grid.times), places, QUADRATIC)
    )
    if any(crossings):
        basis = basis.copy()
        for course, crossing in enumerate(crossings):
            for module, knot in crossing:
                rows, _ = grid.divided(knot)
                factor = (knot / (grid.cubic.shape[2] - 3) - grid.times[rows])[:, None]
                plain = grid.quadratic[:, rows]
                basis[0, course, rows, module] = factor * plain[0]
                basis[1, course, rows, module] = factor * plain[1] - plain[0]
                basis[2, course, rows, module] = factor * plain[2] - 2 * plain[1]
    return np.array(
        [
            size * basis[0],
            size * (basis[1] + first * basis[0]),
            size * (basis[2] + 2 * first * basis[1] + second * basis[0]),
        ]
    )


def fit_speeds(
    drive: SteeredDrive,
    controls: FloatArray,
    crossings: Sequence[Crossing],
    ends: FloatArray,
    times: FloatArray,
    smooth: tuple[bool, bool] = (True, True),
) -> tuple[FloatArray, FloatArray]:
    """Control points of r (c, K + 2) between given ends (c, 2), and how long the drives need (c,).

    Σ |y|^p over accelerations and jerks by their limits, as in `polish`; speeds count where they come near their limit.
    """
    grid = sampling()
    w = waves(drive, controls, crossings, grid)
    rows = speed_rows(w, crossings, grid, len(drive.places))
    held = 2 if np.isfinite(drive.rolling[2]).any() else 1
    base = np.zeros((len(controls), QUADRATIC))
    base[:, :held], base[:, QUADRATIC - held :] = ends[:, :1], ends[:, 1:]
    free = slice(held, QUADRATIC - held)
    r, best, needed = base, base, np.full(len(controls), np.inf)
    times = times.copy()
    for power in (*_POWERS, None):
        values = (rows @ r[None, :, None, :, None])[..., 0]
        if power is None or power > 2:
            found = drive_duration(drive, values)
            worst = (np.abs(values[0]) / drive.rolling[0]).max(axis=(1, 2))
            score = np.where(worst > 1 + 1e-9, found + 10 * worst, found)
            better = score < needed
            best, needed = np.where(better[:, None], r, best), np.where(better, score, needed)
            times = np.maximum(times, found)
        if power is None:
            break
        r = r.copy()
        r[:, free] += _fitted(drive, rows[..., free], values, times, power)
    return best, needed


def drive_duration(drive: SteeredDrive, values: FloatArray) -> FloatArray:
    """(c,): how long it must take for the drives' accelerations and jerks, `values` (3, c, n, m) on [0, 1]."""
    ratios = np.abs(values).max(axis=2) / drive.rolling[:, None]
    return np.maximum(ratios[1], np.sqrt(ratios[2])).max(axis=1)


def _fitted(
    drive: SteeredDrive, rows: FloatArray, values: FloatArray, times: FloatArray, power: float
) -> FloatArray:
    """The change of the free control points, one Newton's step."""
    c, variables = rows.shape[1], rows.shape[-1]
    scale = 1 / (
        drive.rolling[:, None, None] * times[:, None, None] ** np.array([0, 1, 2])[:, None, None, None]
    )
    y = (values * scale).transpose(1, 0, 2, 3).reshape(c, -1)
    x = (rows * scale[..., None]).transpose(1, 0, 2, 3, 4).reshape(c, -1, variables)
    weights = (np.abs(y) + 1e-3) ** (power - 2)
    speeds = weights.reshape(c, 3, -1)[:, 0]
    speeds *= np.abs(y.reshape(c, 3, -1)[:, 0]) > _ROOM
    weighted = x * weights[..., None]
    normal = weighted.transpose(0, 2, 1) @ x
    normal += (1e-9 * np.trace(normal, axis1=1, axis2=2) + 1e-12)[:, None, None] * np.eye(variables)
    gradient = weighted.transpose(0, 2, 1) @ y[..., None]
    return -np.linalg.solve(normal, gradient)[..., 0] / (power - 1)
