"""Plans along a path of 10 m through five poses: within motors, battery and floor, and within declared limits alone."""

from __future__ import annotations

import time

from benchmarks.measure import Row
from benchmarks.tracking import COMPETITION

_POSES = [(0, 0, 0), (2, 1, 0.8), (4.5, 0.2, 1.5), (6.8, 1.2, 0.5), (9, 0, 0)]


def along_a_path(quick: bool) -> list[Row]:
    """`trundle.follow`, of a description that is read already."""
    import trundle

    robot = trundle.catalog.robot("swerve", **COMPETITION)
    path = trundle.pose_path(_POSES)
    declared = trundle.Limits(steering_rate=12, drive_speed=4, drive_acceleration=6)
    rows: list[Row] = []
    for words, target, options in (
        ("motors, battery and floor", 0.3, {}),
        ("declared limits alone", 0.1, {"grip": None, "limits": declared}),
    ):
        driven = trundle.follow(path, robot, progress=False, **options)
        seconds: list[float] = []
        for _ in range(1 if quick else 3):
            began = time.perf_counter()
            trundle.follow(path, robot, progress=False, **options)
            seconds.append(time.perf_counter() - began)
        rows.append(
            Row(
                f"swerve along {path.length:.1f} m through {len(_POSES)} poses: {words}",
                f"{min(seconds):.2f} s",
                target=f"≤ {target:g} s",
                met=min(seconds) <= target,
                note=f"a plan of {driven.motion.duration:.2f} s",
            )
        )
    return rows
