"""Outputs of a rollout, computed from its stored states: a few robots at a time, so that little memory is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from trundle.model import Model
from trundle.program import compile_program
from trundle.program.ir import Group, Program
from trundle.program.simplify import without_dead

# Robots looked at together: 4096 with a hundred numbers each are 3 MB.
LANES_AT_ONCE = 4096


@dataclass(frozen=True)
class Stored:
    """What a rollout stored and was given: values (saved, n_state, count), the steps they belong to, inputs and
    parameters as `rollout` takes them.
    """

    values: np.ndarray
    steps: np.ndarray
    inputs: Mapping[str, Any]
    parameters: Mapping[str, Any]

    def parts(self) -> Iterator[tuple[int, slice, tuple[np.ndarray, np.ndarray, np.ndarray]]]:
        """Row, robots, and their (x, u, p), part by part."""
        count = self.values.shape[2]
        for begin in range(0, count, LANES_AT_ONCE):
            lanes = slice(begin, min(begin + LANES_AT_ONCE, count))
            p = _columns(self.parameters, 0, lanes)
            for row, step in enumerate(self.steps):
                x = np.ascontiguousarray(self.values[row, :, lanes])
                yield row, lanes, (x, _columns(self.inputs, int(step), lanes), p)


def observer_of(model: Model, stored: Stored) -> Callable[[str], np.ndarray]:
    """Computes an output by name, (saved, count)."""
    return partial(_output, model, stored)


def worst_residual(model: Model, stored: Stored) -> float:
    """The largest constraint residual of all stored states that are finite; 0 without constraints."""
    if "constraint_residual" not in model.outputs or model.constraints.rows == 0:
        return 0.0
    kernel = compile_program(_single(model.observe, "constraint_residual"))
    worst = 0.0
    for _, _, groups in stored.parts():
        (found,) = kernel(*groups)
        worst = max(worst, float(np.max(found, where=np.isfinite(found), initial=0.0)))
    return worst


def _output(model: Model, stored: Stored, name: str) -> np.ndarray:
    kernel = compile_program(_single(model.observe, name))
    result = np.empty((stored.values.shape[0], stored.values.shape[2]))
    for row, lanes, groups in stored.parts():
        (found,) = kernel(*groups)
        result[row, lanes] = found[0]
    return result


def _single(observe: Program, name: str) -> Program:
    """The part of `observe` that one output needs."""
    place = observe.outputs[0].labels.index(name)
    value = observe.results[0][place]
    one = replace(observe, outputs=(Group("output", (name,)),), results=((value,),), function=None)
    return without_dead(one)


def _columns(given: Mapping[str, Any], step: int, lanes: slice) -> np.ndarray:
    """Numbers in order, (n,) where each holds for all robots and (n, robots) else; inputs end with their last step."""
    rows = []
    for value in given.values():
        array = np.asarray(value, dtype=float)
        if array.ndim == 2:
            array = array[min(step, array.shape[0] - 1)]
        rows.append(array[lanes] if array.ndim and array.size > 1 else array.reshape(-1))
    if all(row.size == 1 for row in rows):
        return np.array([row[0] for row in rows])
    return np.array([np.broadcast_to(row, (lanes.stop - lanes.start,)) for row in rows])
