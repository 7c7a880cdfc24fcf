"""Steps of an estimator, one robot from Python and many at once, beside the same filter in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.measure import Row, best_together, seconds_text

# Seconds of a step of three states, of one robot by a call from Python, and of one of many on a core.
CALL, LANE = 10e-6, 50e-9
RADIUS, TRACK, DT, LANES = 0.1, 0.5, 0.02, 4096
ENCODERS, GYRO = 0.02, 0.002


def filter_steps(quick: bool) -> list[Row]:
    """Seconds of a step by encoders and a gyro, with what the estimator checks and keeps."""
    rows: list[Row] = []
    for count, target, words in (
        (None, CALL, "one call from Python"),
        (LANES, LANE, f"{LANES} robots at once, a robot and core"),
    ):
        ours, numpys, apart = _filters(count)
        mine, peer = best_together(ours, numpys, tries=10 if quick else 60)
        mine, peer = mine / (count or 1), peer / (count or 1)
        name = f"an EKF step of a differential drive, encoders and gyro: {words}, against NumPy"
        note = f"poses apart by {apart:.0e}"
        texts = seconds_text(mine), seconds_text(peer)
        rows.append(Row(name, *texts, peer / mine, f"≤ {seconds_text(target)}", mine <= target, note))
    return rows


def _filters(count: int | None) -> tuple[Callable[[], Any], Callable[[], Any], float]:
    """A step of ours and of NumPy's as calls, and how far apart both are after a hundred."""
    import trundle

    robot = trundle.catalog.differential_drive(radius=RADIUS, track=TRACK)
    lanes = () if count is None else (count,)
    start = np.diag([0.1, 0.1, 0.05]) ** 2
    noise = {"encoders": ENCODERS, "gyro": GYRO}
    estimator = trundle.Estimator(robot, noise, pose=np.zeros((3, *lanes)), covariance=start)
    rng = np.random.default_rng(0)
    turns, rate = rng.uniform(0.0, 0.2, size=(2, *lanes)), rng.normal(size=lanes) * 0.1
    gyro = float(rate) if count is None else rate
    pose, spread = np.zeros((*lanes, 3)), np.broadcast_to(start, (*lanes, 3, 3))
    by_robot, rate = turns.T.copy(), np.asarray(rate)
    for _ in range(100):
        estimator.predict(turns, DT, gyro)
        pose, spread = _in_numpy(pose, spread, by_robot, rate)
    apart = max(np.abs(estimator.pose.T - pose).max(), _apart(estimator.covariance, pose, spread))
    return (
        lambda: estimator.predict(turns, DT, gyro),
        lambda: _in_numpy(pose, spread, by_robot, rate),
        float(apart),
    )


def _apart(world: np.ndarray, pose: np.ndarray, spread: np.ndarray) -> float:
    """Between covariances in the world's axes and in the base's own."""
    turn = _turn(pose[..., 2])
    return np.abs(np.moveaxis(world, (0, 1), (-2, -1)) - turn @ spread @ turn.swapaxes(-1, -2)).max()


def _turn(heading: np.ndarray) -> np.ndarray:
    turn = np.zeros((*heading.shape, 3, 3))
    turn[..., 0, 0] = turn[..., 1, 1] = np.cos(heading)
    turn[..., 1, 0] = np.sin(heading)
    turn[..., 0, 1], turn[..., 2, 2] = -turn[..., 1, 0], 1.0
    return turn


# Displacement by the angles of the right wheel and the left one.
_SLOPE = np.array([[RADIUS / 2, RADIUS / 2], [0.0, 0.0], [RADIUS / TRACK, -RADIUS / TRACK]])
_LEADS = _SLOPE @ _SLOPE.T


def _in_numpy(
    pose: np.ndarray, spread: np.ndarray, turns: np.ndarray, rate: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The step as one writes it: error in the base's axes, the gyro taken in before the pose moves."""
    d = turns @ _SLOPE.T
    noise = ENCODERS**2 * np.abs(turns).mean(axis=-1)[..., None, None] * _LEADS
    side = noise[..., :, 2]
    total = noise[..., 2, 2] + GYRO**2 * DT
    d = d + side * ((rate * DT - d[..., 2]) / total)[..., None]
    noise = noise - side[..., :, None] * side[..., None, :] / total[..., None, None]
    forward, angle = d[..., 0], d[..., 2]
    half = angle / 2
    chord, c, s = np.sinc(half / np.pi), np.cos(half), np.sin(half)
    rise = np.where(np.abs(half) < 1e-4, -half / 3, (c - chord) / np.where(half == 0, 1, half))
    x, y = chord * c * forward, chord * s * forward
    adjoint = _turn(-angle)
    adjoint[..., :2, 2] = (adjoint[..., :2, :2] @ np.stack([-y, x], axis=-1)[..., None])[..., 0]
    slope = np.zeros_like(adjoint)
    slope[..., 0, 0] = slope[..., 1, 1] = chord * c
    slope[..., 0, 1], slope[..., 1, 0], slope[..., 2, 2] = chord * s, -chord * s, 1.0
    along, across = rise / 2 * forward, chord / 2 * forward
    slope[..., 0, 2], slope[..., 1, 2] = c * along + s * across, c * across - s * along
    after = adjoint @ spread @ adjoint.swapaxes(-1, -2) + slope @ noise @ slope.swapaxes(-1, -2)
    heading = pose[..., 2] + half
    ahead = chord * forward
    moved = np.stack([ahead * np.cos(heading), ahead * np.sin(heading), angle], axis=-1)
    return pose + moved, after
