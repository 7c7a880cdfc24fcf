"""Random numbers of sensors by a seed: every name has a stream of its own, whatever else is drawn, and however long."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from trundle.arrays import FloatArray
from trundle.model.placed import placed
from trundle.robot import Robot
from trundle.simulation.signals import Signal, table


def _stream(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(name.encode())])


def normals(seed: int, name: str, count: int) -> FloatArray:
    """So many unit normals."""
    return _stream(seed, name).standard_normal(count)


def uniforms(seed: int, name: str, count: int) -> FloatArray:
    """So many numbers from 0 to 1, 1 excluded."""
    return _stream(seed, name).random(count)


def noise_of(robot: Robot | None, seed: int, end: float) -> dict[str, Signal]:
    """The inputs of a robot that are noise of its sensors, by a seed, up to the end (s)."""
    found: dict[str, Signal] = {}
    for each in placed(robot) if robot is not None and robot.controllers else ():
        for name, draw in each.noise.items():
            times = draw.period * np.arange(int(end / draw.period) + 2)
            values = (uniforms if draw.even else normals)(seed, draw.stream, times.size)
            found[name] = table(times, values, "previous")
    return found
