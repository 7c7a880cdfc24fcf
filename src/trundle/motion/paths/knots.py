"""Where the law of b = ż² may change along a path: knots, and finer ones where much happens on little."""

from __future__ import annotations

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray

# Knots nearer to a mark than this share of a mean interval are left out.
_BESIDE = 0.3
# An interval is cut in so many parts at most.
_PARTS = 4
# Intervals are at most so many times as wide as their neighbours: what binds beside a sharp bend is sharp, too.
_GRADED = 4.5


class Knots(NamedTuple):
    """Where b's law may change, from 0 to 1; of these `marks` are where the path or a limit does."""

    every: FloatArray
    marks: FloatArray


def merged(even: FloatArray, marks: FloatArray) -> FloatArray:
    """0, 1, the marks, and those of the others that don't lie right beside a mark."""
    marks = np.concatenate([[0.0], marks, [1.0]])
    near = np.abs(even[:, None] - marks).min(axis=1)
    return np.unique(np.concatenate([marks, even[near > _BESIDE / len(even)]]))


def graded(knots: FloatArray) -> FloatArray:
    """The same, intervals halved until none is many times as wide as a neighbour."""
    while True:
        widths = np.diff(knots)
        beside = np.concatenate([[np.inf], widths, [np.inf]])
        wide = widths > _GRADED * np.minimum(beside[:-2], beside[2:])
        if not wide.any():
            return knots
        knots = np.sort(np.concatenate([knots, (knots[:-1] + knots[1:])[wide] / 2]))


def cut(knots: FloatArray, many: FloatArray) -> FloatArray:
    """Intervals cut in so many parts (K,)."""
    parts = np.clip(many, 1, _PARTS).astype(int)
    pieces = [np.linspace(a, b, n, endpoint=False) for (a, b), n in zip(pairwise(knots), parts, strict=True)]
    return np.concatenate([*pieces, knots[-1:]])
