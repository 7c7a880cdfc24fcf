"""Outputs of a rollout, computed from its stored states: a few robots at a time, so that little memory is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.model import Model
from trundle.model.lanes import lane_numbers
from trundle.model.plant import STEP, Plant, Rates
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program import Kernel, Program, compile_program
from trundle.program.llvm.llvm_rollout import ITERATE
from trundle.program.simplify import only_elements

if TYPE_CHECKING:
    from trundle.simulation.gradients import Tangents

# Robots looked at together: 4096 with a hundred numbers a robot are 3 MB.
ROBOTS_AT_ONCE = 4096

# One number for all robots, (count,), or (steps, 1 or count).


@dataclass(frozen=True)
class Stored:
    """What a rollout stored and was given: values (saved, n_state, count), the steps they belong to and their length
    (s), inputs and parameters as `rollout` takes them.
    """

    plant: Plant
    values: FloatArray
    steps: np.ndarray
    length: float
    inputs: Mapping[str, Floats]
    parameters: Mapping[str, Floats]

    def observed(self, kernel: Kernel, element: int = 0) -> Iterator[tuple[slice, slice, FloatArray]]:
        """Rows, robots, and an element of what a program of one output gives for them, part by part.

        Of few robots many rows are looked at together: a call from Python costs as much as a thousand states.
        """
        saved, _, count = self.values.shape
        for begin in range(0, count, ROBOTS_AT_ONCE):
            lanes = slice(begin, min(begin + ROBOTS_AT_ONCE, count))
            width = lanes.stop - begin
            p, together = lane_numbers(self.parameters, 0, lanes), ROBOTS_AT_ONCE // width
            for first in range(0, saved, together):
                rows = slice(first, min(first + together, saved))
                size = rows.stop - first
                x = np.moveaxis(self.values[rows, :, lanes], 1, 0).reshape(-1, size * width)
                own = p if p.ndim == 1 else np.tile(p, (1, size))
                given = (np.ascontiguousarray(x), self._inputs_at(rows, lanes), own)
                further = step_groups(self.plant, kernel.program, *given, self.length)
                (numbers,) = kernel(*given, *further)
                yield rows, lanes, numbers[element].reshape(size, width)

    def output(self, name: str) -> FloatArray:
        """An output (saved, count) of all robots."""
        return self.gathered(_single(self.plant.observe, name))

    def gathered(self, kernel: Kernel, element: int = 0) -> FloatArray:
        """An element of a program's output group for all robots, (saved, count)."""
        result = np.empty((self.values.shape[0], self.values.shape[2]))
        for rows, lanes, numbers in self.observed(kernel, element):
            result[rows, lanes] = numbers
        return result

    def _inputs_at(self, rows: slice, lanes: slice) -> FloatArray:
        """The inputs in order at these rows, one after the other, and robots; (m,) where they are always the same."""
        if not any(np.ndim(value) == 2 for value in self.inputs.values()):
            given = lane_numbers(self.inputs, 0, lanes)
            return given if given.ndim == 1 else np.tile(given, (1, rows.stop - rows.start))
        shape = len(self.inputs), lanes.stop - lanes.start
        parts = (lane_numbers(self.inputs, int(step), lanes) for step in self.steps[rows])
        return np.hstack([np.broadcast_to(part.reshape(shape[0], -1), shape) for part in parts])


def step_groups(
    plant: Plant, program: Program, x: FloatArray, u: FloatArray, p: FloatArray, length: float
) -> list[FloatArray]:
    """What `program`, a part of `observe`, reads of the step (s) that begins at states (states, count): its length, and
    what it finds, for which it is taken.
    """
    if isinstance(plant.motion, Rates):
        return []
    if program.inputs[-1].name != ITERATE:
        return [np.array([length])]
    from trundle.program.rollout import rollout as native  # late: runs read this file, too

    groups = {
        INPUT: dict(zip(plant.inputs, u, strict=True)) or np.zeros(0),
        PARAMETER: dict(zip(program.inputs[2].labels, p, strict=True)) or np.zeros(0),
        STEP: [length],
    }
    after = native(
        plant.motion.still, x, groups, dt=1.0, steps=1, every=None, count=x.shape[1],
        projection=plant.motion.step, quick=True,
    ).final  # fmt: skip
    rows = [plant.state_index[name] for name in program.inputs[-1].labels]
    return [np.array([length]), np.ascontiguousarray(after[rows])]


def slope_of(tangents: Tangents, whole: Stored) -> Callable[[str, str], FloatArray]:
    """Computes the derivative of an output by a direction, both by name, (saved, count); `whole` holds x, then S."""
    return partial(_slope, tangents, whole)


def _slope(tangents: Tangents, whole: Stored, of: str, by: str) -> FloatArray:
    place = 1 + [each.name for each in tangents.directions].index(by)
    return whole.gathered(compile_program(tangents.observing(of)), place)


def worst_residual(stored: Stored) -> float:
    """The largest constraint residual of all stored states that are finite; 0 without constraints."""
    model = stored.plant
    assert isinstance(model, Model)
    if "constraint_residual" not in model.outputs or model.constraints.rows == 0:
        return 0.0
    parts = stored.observed(_single(model.observe, "constraint_residual"))
    return max(float(np.max(size, where=np.isfinite(size), initial=0.0)) for _, _, size in parts)


def _single(observe: Program, name: str) -> Kernel:
    """The part of `observe` that one output needs."""
    return compile_program(only_elements(observe, [name]))
