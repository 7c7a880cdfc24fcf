"""Where a sweep on a cluster ends: a scheduler that is a queue, workers that are others, and what is measured here.

`python -m benchmarks.scale` prints the tables of docs/scale.md.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass

# Chunks under way for a worker's thread, as `trundle.sweeps.cluster` has it.
_AHEAD = 3


@dataclass(frozen=True)
class Costs:
    """Seconds: of the scheduler and the client for a task, of a worker for a chunk beside its robots, for a robot's
    step and for a robot's row.
    """

    task: float = 1.5e-3
    chunk: float = 0.03
    step: float = 4.3e-9
    row: float = 0.35e-6


def efficiency(costs: Costs, robots: int, steps: int, chunk: int, workers: int) -> tuple[float, float]:
    """Share of the workers' time that rolls robots, and how long all takes (s), by events.

    The scheduler serves one message after another; a worker takes the next chunk that waits for it.
    """
    tasks = -(-robots // chunk)
    work = chunk * (steps * costs.step + costs.row) + costs.chunk
    free, served = [0.0] * workers, 0.0
    ends: list[float] = []
    for number in range(tasks):
        if number >= _AHEAD * workers:  # a task is submitted when one of those under way has ended
            served = max(served, heapq.heappop(ends))
        served += costs.task
        begin = max(served, heapq.heappop(free))
        heapq.heappush(free, begin + work)
        heapq.heappush(ends, begin + work)
    whole = max(free)
    return robots * steps * costs.step / (whole * workers), whole


def measured_task(tasks: int = 2000) -> float:
    """Seconds of client and scheduler for a task that does nothing, on two worker processes of this machine."""
    from distributed import Client, LocalCluster, as_completed

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        began = time.process_time()
        running = as_completed(loop=client.loop)
        for number in range(tasks):
            running.add(client.submit(abs, number, key=f"sweep-0-{number}", pure=False))
            if number >= 6:
                next(running).release()
        for future in running:
            future.release()
        return (time.process_time() - began) / tasks


def _tables(costs: Costs) -> None:
    print(f"a task costs client and scheduler {1e3 * costs.task:.2f} ms\n")
    for robots, steps in ((10**6, 1000), (10**8, 100), (10**8, 1000), (10**9, 1000)):
        print(f"{robots:,} robots, {steps:,} steps")
        for workers in (2, 16, 100, 1000):
            parts = []
            for chunk in (4096, 16384, 65536, 131072, 1048576):
                share, whole = efficiency(costs, robots, steps, chunk, workers)
                parts.append(f"{chunk:>8,}: {share:4.0%} {whole:9.1f} s")
            print(f"  {workers:>5,} workers  " + "   ".join(parts))


if __name__ == "__main__":
    _tables(Costs(task=measured_task()))
