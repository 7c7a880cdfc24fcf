"""Zoe and Rocky 7 by forces over a height map, at steps of 0.04 s: one vehicle, and lanes on one core.

CPU seconds against simulated ones, without deriving and compiling. Targets are those of the issue: of one vehicle on a
core that issues 28 G products/s, of lanes on one of 65 G, and in proportion.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import trundle
from benchmarks.limit import issue_loop
from benchmarks.measure import Row
from trundle.model.ground_model import derive_on
from trundle.model.plant import STEP as STEP_LENGTH
from trundle.model.plant import Steps
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program.rollout import rollout
from trundle.robot import Robot
from trundle.robot.terrain import Terrain, parse_terrain
from trundle.simulation.rollout import MANY
from trundle.simulation.rollout_inputs import RolloutInputs, rollout_inputs

STEP = 0.04
# Points a side, and how far they are apart (m): seven waves of 4 m, 10 cm high, so that the map repeats itself.
COUNT, SPACING, WAVE, HEIGHT = 280, 0.1, 4.0, 0.1
# A vehicle alone still is two lanes, so that it runs by the same code as more.
ALONE, LANES = 2, 256
# times real time: alone where a core issues 28 G products/s, in lanes where it issues 65 G
TARGETS = {"zoe": (8_000, 60_000), "rocky7": (4_000, 25_000)}
ALONE_LIMIT, LANES_LIMIT, NEAR = 28e9, 65e9, 0.15


def map_ground() -> Terrain:
    """A height map of waves."""
    along = 2 * np.pi / WAVE * SPACING * np.arange(COUNT)
    heights = HEIGHT * np.cos(along)[:, None] * np.sin(along)[None, :]
    surface = {"type": "grid", "heights": heights.tolist(), "spacing": SPACING, "edge": "repeat"}
    return parse_terrain({"surfaces": {"ground": surface}})


def speeds(quick: bool) -> list[Row]:
    """Times real time of one vehicle, and of lanes in total on one core."""
    call, products = issue_loop()
    limit = products / _cpu(call, 20)
    rows: list[Row] = []
    for name, (alone, together) in TARGETS.items():
        robot, ground = trundle.catalog.robot(name), map_ground()
        steps = 500 if quick else 2500
        one = _rate(_robots(robot, ground, ALONE), steps, quick) / ALONE
        near = abs(limit / ALONE_LIMIT - 1) < NEAR
        told = f"≥ {alone:,} × at {ALONE_LIMIT / 1e9:.0f} G products/s; here {limit / 1e9:.0f} G"
        rows.append(
            Row(f"{name} over a map, one", f"{one:,.0f} ×", target=told, met=one >= alone if near else None)
        )
        whole = _rate(_robots(robot, ground, LANES), steps // 5, quick)
        least = together * limit / LANES_LIMIT
        target = f"≥ {least:,.0f} ×, {together:,} at {LANES_LIMIT / 1e9:.0f} G products/s"
        rows.append(Row(f"  {LANES} on one core", f"{whole:,.0f} ×", target=target, met=whole >= least))
    return rows


def _robots(robot: Robot, ground: Terrain, lanes: int) -> RolloutInputs:
    """Vehicles that start in different directions."""
    return rollout_inputs(derive_on(robot, ground), {"yaw": np.linspace(-3, 3, lanes)}, {}, {})


def _rate(robots: RolloutInputs, steps: int, quick: bool) -> float:
    """Simulated seconds of all lanes in a second of CPU."""
    motion, start = robots.plant.motion, robots.starts()
    assert isinstance(motion, Steps)
    groups = {
        INPUT: robots.inputs or np.zeros(0), PARAMETER: robots.parameters or np.zeros(0), STEP_LENGTH: [STEP],
    }  # fmt: skip

    def run() -> object:
        return rollout(
            motion.still, start, groups, dt=1.0, steps=steps, every=None, count=robots.count, threads=1,
            projection=motion.step, quick=steps * robots.count < MANY,
        )  # fmt: skip

    run()  # compiles
    return robots.count * steps * STEP / _cpu(run, 3 if quick else 10)


def _cpu(work: Callable[[], object], tries: int) -> float:
    """CPU seconds of a call, the least of several."""
    best = float("inf")
    for _ in range(tries):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best
