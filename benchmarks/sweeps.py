"""What a sweep costs beside the rollout that it consists of: on this machine's threads, and on two Dask workers.

In seconds of processors, those of all processes, so that what else the machine does counts for nothing.
"""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import cast

from benchmarks.measure import Row

# Shares of a rollout's time that a sweep may take (issue of sweeps), on threads and on workers.
_MOST_HERE, _MOST_THERE = 1.05, 1.1
_MEASURES = ["final.x", "max(energy.kinetic)", "mean(v_x)", "rms(omega)"]
_STEPS, _ROBOTS = 1000, 1_000_000
_VOLTS = {"left_motor.voltage": 20.0, "right_motor.voltage": 24.0}


def beside_rollouts(quick: bool) -> list[Row]:
    """Differential drives over 1,000 steps, four measures, by turns with `rollout`, which stores nothing."""
    import numpy as np

    import trundle

    robots = _ROBOTS // 10 if quick else _ROBOTS
    model = trundle.derive(trundle.catalog.differential_drive())
    over = {"r": "uniform(0.14, 0.16)", "body.mass": "normal(50, 2)"}
    given = {"samples": robots, "inputs": _VOLTS, "steps": _STEPS, "progress": False}
    varied = trundle.sweep(model, over=over, measures=["final.x"], **{**given, "steps": 1})
    parameters = {name: np.array(varied[name]) for name in over}

    def rolled() -> None:
        trundle.rollout(
            model, parameters=parameters, inputs=_VOLTS, steps=_STEPS, every=_STEPS, threads=2, progress=False
        )

    def swept(folder: Path, client: object = None) -> None:
        store = folder / "sweep.zarr"
        trundle.sweep(model, over=over, measures=_MEASURES, **given, threads=2, store=store, client=client)
        shutil.rmtree(store)

    with tempfile.TemporaryDirectory() as name:
        folder, tries = Path(name), 2 if quick else 4
        plain, here = _by_turns(rolled, lambda: swept(folder), time.process_time, tries)
        rows = [_row(f"a sweep of {robots:,} robots, threads", here, plain, _MOST_HERE)]
        return rows + _on_workers(rolled, swept, folder, tries, robots)


def _on_workers(
    rolled: Callable[[], None], swept: Callable[[Path, object], None], folder: Path, tries: int, robots: int
) -> list[Row]:
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        return []
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        swept(folder, client)  # workers have compiled it then

        def spent() -> float:
            return time.process_time() + sum(cast("dict[str, float]", client.run(time.process_time)).values())

        plain, there = _by_turns(rolled, lambda: swept(folder, client), spent, tries)
    return [_row(f"a sweep of {robots:,} robots, two Dask workers", there, plain, _MOST_THERE)]


def _by_turns(
    one: Callable[[], None], other: Callable[[], None], clock: Callable[[], float], tries: int
) -> tuple[float, float]:
    """The least times of both on a clock, in turn."""
    best = [math.inf, math.inf]
    for _ in range(tries):
        for place, work in enumerate((one, other)):
            began = clock()
            work()
            best[place] = min(best[place], clock() - began)
    return best[0], best[1]


def _row(what: str, ours: float, plain: float, most: float) -> Row:
    share = ours / plain
    note = f"rollout {plain:.2f} s, {share:.3f} of it"
    return Row(what, f"{ours:.2f} s of a core", target=f"≤ {most} × rollout", met=share <= most, note=note)
