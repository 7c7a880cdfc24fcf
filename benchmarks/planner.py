"""How long the coordinated planner takes for one transition, over random pairs of twists."""

from __future__ import annotations

import time

import numpy as np

from benchmarks.measure import Row

MEDIAN, WORST = 5e-3, 50e-3


def transitions(quick: bool) -> list[Row]:
    """Seconds a transition of four modules under all limits: the best of several tries of each pair counts, as other
    processes disturb what takes milliseconds.
    """
    import trundle
    from trundle.motion.planning.search import transition

    square = trundle.kinematics(trundle.catalog.swerve())
    drive = square.drive.limited(trundle.Limits(2, 10, 75, 1, 5, 10))
    rng = np.random.default_rng(12)
    pairs = [(_twist(square.matrix, rng), _twist(square.matrix, rng)) for _ in range(50 if quick else 500)]
    seconds = np.full(len(pairs), np.inf)
    for _ in range(5):
        for place, (start, end) in enumerate(pairs):
            angles = np.angle(drive.velocities(start))
            started = time.perf_counter()
            transition(drive, start, end, angles)
            seconds[place] = min(seconds[place], time.perf_counter() - started)
    median, worst = float(np.median(seconds)), float(seconds.max())
    what = "one coordinated transition planned, {} of " + f"{len(pairs)} random pairs"
    return [
        Row(what.format("median"), f"{median * 1e3:.1f} ms", target="≤ 5 ms", met=median <= MEDIAN),
        Row(what.format("worst"), f"{worst * 1e3:.1f} ms", target="≤ 50 ms", met=worst <= WORST),
    ]


def _twist(matrix: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Uniform over the twists whose fastest module is within 1 m/s."""
    while True:
        twist = rng.uniform(-1, 1, 3) * [1, 1, 1.5]
        if np.hypot(*(matrix @ twist).reshape(-1, 2).T).max() <= 1:
            return twist
