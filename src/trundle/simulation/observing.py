"""Outputs of a rollout, computed from its stored states: a few robots at a time, so that little memory is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.model import Model
from trundle.program import Kernel, Program, compile_program
from trundle.program.simplify import only_elements

# Robots looked at together: 4096 with a hundred numbers a robot are 3 MB.
ROBOTS_AT_ONCE = 4096

# One number for all robots, (count,), or (steps, 1 or count).


@dataclass(frozen=True)
class Stored:
    """What a rollout stored and was given: values (saved, n_state, count), the steps they belong to, inputs and
    parameters as `rollout` takes them.
    """

    values: FloatArray
    steps: np.ndarray
    inputs: Mapping[str, Floats]
    parameters: Mapping[str, Floats]

    def observed(self, kernel: Kernel) -> Iterator[tuple[int, slice, FloatArray]]:
        """Row, robots, and what a program of one output gives for them, part by part."""
        count = self.values.shape[2]
        for begin in range(0, count, ROBOTS_AT_ONCE):
            lanes = slice(begin, min(begin + ROBOTS_AT_ONCE, count))
            p = lane_numbers(self.parameters, 0, lanes)
            for row, step in enumerate(self.steps):
                x = np.ascontiguousarray(self.values[row, :, lanes])
                (numbers,) = kernel(x, lane_numbers(self.inputs, int(step), lanes), p)
                yield row, lanes, numbers[0]


def observer_of(model: Model, stored: Stored) -> Callable[[str], FloatArray]:
    """Computes an output by name, (saved, count)."""
    return partial(_output, model, stored)


def worst_residual(model: Model, stored: Stored) -> float:
    """The largest constraint residual of all stored states that are finite; 0 without constraints."""
    if "constraint_residual" not in model.outputs or model.constraints.rows == 0:
        return 0.0
    parts = stored.observed(_single(model.observe, "constraint_residual"))
    return max(float(np.max(size, where=np.isfinite(size), initial=0.0)) for _, _, size in parts)


def _output(model: Model, stored: Stored, name: str) -> FloatArray:
    result = np.empty((stored.values.shape[0], stored.values.shape[2]))
    for row, lanes, numbers in stored.observed(_single(model.observe, name)):
        result[row, lanes] = numbers
    return result


def _single(observe: Program, name: str) -> Kernel:
    """The part of `observe` that one output needs."""
    return compile_program(only_elements(observe, [name]))


def lane_numbers(given: Mapping[str, Floats], step: int, lanes: slice) -> FloatArray:
    """Numbers in order, (n,) where they hold for all robots and (n, robots) else; inputs end with their last step."""
    rows: list[FloatArray] = []
    for value in given.values():
        array = np.asarray(value, dtype=float)
        if array.ndim == 2:
            array = array[min(step, array.shape[0] - 1)]
        rows.append(array[lanes] if array.size > 1 else array.reshape(-1))
    if all(row.size == 1 for row in rows):
        return np.array([row[0] for row in rows])
    return np.array([np.broadcast_to(row, (lanes.stop - lanes.start,)) for row in rows])
