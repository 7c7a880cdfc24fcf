"""Random numbers of sensors by a seed: every name has a stream of its own, whatever else is drawn, and however long."""

from __future__ import annotations

from zlib import crc32

import numpy as np

from trundle.arrays import FloatArray
from trundle.model import Model
from trundle.model.placed import placed
from trundle.simulation.options import RunOptions
from trundle.simulation.signals import Signal, table


def _stream(seed: int, name: str) -> np.random.Generator:
    return np.random.default_rng([seed, crc32(name.encode())])


def normals(seed: int, name: str, count: int) -> FloatArray:
    """So many unit normals."""
    return _stream(seed, name).standard_normal(count)


def uniforms(seed: int, name: str, count: int) -> FloatArray:
    """So many numbers from 0 to 1, 1 excluded."""
    return _stream(seed, name).random(count)


def noise_of(model: Model, options: RunOptions) -> dict[str, Signal]:
    """The inputs of a model that are noise of its sensors, by the seed."""
    found: dict[str, Signal] = {}
    for each in placed(model.robot) if model.robot is not None and model.robot.controllers else ():
        for name, draw in each.noise.items():
            times = draw.period * np.arange(int(options.end / draw.period) + 2)
            values = (uniforms if draw.even else normals)(options.seed, draw.stream, times.size)
            found[name] = table(times, values, "previous")
    return found
