"""How long one programme of a fastest motion takes: a swerve base on 100 intervals, from one start; Sleipnir on it."""

from __future__ import annotations

import math
import time
from dataclasses import replace

from benchmarks import sleipnir
from benchmarks.measure import Row

MOST = 1.0


def one_start(quick: bool) -> list[Row]:
    """Seconds from a guess to the optimum, the programme's derivatives included: the best of several tries."""
    import numpy as np

    import trundle
    from trundle.motion.fastest import programme
    from trundle.motion.fastest.guesses import guess_of
    from trundle.motion.fastest.problem import Problem, Stop
    from trundle.motion.fastest.starts import ways

    limits = trundle.Limits(steering_rate=6.0, drive_speed=4.0, drive_acceleration=6.0)
    drive = trundle.kinematics(trundle.catalog.swerve()).drive.limited(limits)
    stops = Stop(0.0, 0.0, 0.0), Stop(3.0, 2.0, math.pi / 2)
    problem = Problem(drive, stops, (), np.zeros((0, 2)))
    way = next(ways(problem))
    seconds, duration = math.inf, math.nan
    absent, peers = sleipnir.missing(), []
    for _ in range(2 if quick else 5):
        programme.forget()  # what another try had put together
        started = time.perf_counter()
        guess = guess_of(problem, (100,), way.poses((100,), problem.size))
        nodes, found = problem.solved((100,), guess)
        assert found
        seconds = min(seconds, time.perf_counter() - started)
        duration = 100 * float(nodes.durations[0]) * problem.second
        peers += [] if absent else [sleipnir.solved(problem, 100, guess)]
    what = "the fastest motion of a swerve base, 100 intervals, one start"
    row = Row(what, f"{seconds:.2f} s", target="≤ 1 s", met=seconds <= MOST)
    if absent:
        return [replace(row, note=f"Sleipnir is left out, its wheel is for glibc 2.39 and newer: {absent}")]
    theirs = min(peers, key=lambda peer: peer.seconds)
    note = f"Sleipnir, {theirs.solving:.2f} s of it the solve: {theirs.status}, {theirs.duration:.4f} s"
    return [
        replace(
            row,
            peer=f"{theirs.seconds:.2f} s",
            ratio=theirs.seconds / seconds,
            note=f"{note}; ours {duration:.4f} s",
        )
    ]
