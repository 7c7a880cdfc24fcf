"""Motions of inputs that robots choose among by a number: plans that trackers follow, sensors' noise by its seed.

They lie in a table once, whatever the number of robots: native code looks them up by the robot's choice and the step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, Json, as_numbers
from trundle.errors import InputError, suggest
from trundle.model.plant import Plant
from trundle.model.terrain_numbers import check_seeds
from trundle.scalars import Scalar, lookup, minimum
from trundle.simulation.draws import noise_of
from trundle.simulation.rollout_inputs import inputs_told
from trundle.simulation.signals import table
from trundle.sweeps.variation import Grid, Variation, variation
from trundle.tables import Table

NOISE = "noise.seed"
"""What varies where robots differ in what their sensors' noise is."""

_INPUTS = "inputs."
# Numbers of all motions of a name: half a gigabyte.
_MOST = 2**26
# How far behind the begin of a step its draw is read, in steps: rounding may put a draw a little later than that.
_BEHIND = 1e-6


@dataclass(frozen=True, eq=False)
class Cases:
    """Values (cases, steps, inputs) of inputs, held over a step; a robot has those of its place among `numbers`."""

    inputs: tuple[str, ...]
    numbers: FloatArray
    values: FloatArray

    @cached_property
    def table(self) -> Table:
        """All values in a row."""
        return Table(np.ascontiguousarray(self.values).reshape(-1), len(self.inputs) - 1)

    def places(self, column: FloatArray) -> FloatArray:
        """Which case robots have."""
        return np.searchsorted(self.numbers, column).astype(np.float64)

    def at(self, column: FloatArray, step: int) -> dict[str, FloatArray]:
        """The inputs (robots,) of a step."""
        rows = self.values[self.places(column).astype(int), step]
        return dict(zip(self.inputs, np.ascontiguousarray(rows.T), strict=True))

    def of(self, number: float) -> dict[str, FloatArray]:
        """The inputs (steps, 1) of a robot."""
        (rows,) = self.values[self.places(np.array([number])).astype(int)]
        return {name: rows[:, k : k + 1] for k, name in enumerate(self.inputs)}

    @property
    def plain(self) -> dict[str, Json]:
        """As JSON holds it, but for the values."""
        numbers = self.numbers.tolist()
        return {"inputs": list(self.inputs), "numbers": numbers, "digest": self.table.digest}

    @staticmethod
    def from_plain(given: Mapping[str, Any], values: FloatArray) -> Cases:
        """What `plain` says, with its values."""
        found = Cases(tuple(given["inputs"]), np.array(given["numbers"], dtype=np.float64), values)
        if found.table.digest != given["digest"]:
            raise InputError("the sweep's inputs are damaged: their checksum differs")
        return found


def chosen(
    cases: Mapping[str, Cases], inputs: Mapping[str, Scalar], which: Mapping[str, Scalar], step: Scalar
) -> list[Scalar]:
    """The inputs of a step, with those that robots have by their choices."""
    found = dict(inputs)
    for name, case in cases.items():
        _, steps, wide = case.values.shape
        place = (which[name] * steps + minimum(step, steps - 1.0)) * wide
        found |= {label: lookup(case.table, place, k) for k, label in enumerate(case.inputs)}
    return list(found.values())


def cases_of(
    model: Plant, over: Mapping[str, object], steps: int, dt: float
) -> tuple[dict[str, Cases], dict[str, object]]:
    """The cases among what varies, by name, and all that varies with their numbers."""
    cases, numbers = dict[str, Cases](), dict(over)
    for name, given in over.items():
        label = name.removeprefix(_INPUTS)
        if name == NOISE:
            numbers[name] = grid = _seeds(given)
            cases[name] = _noise(model, grid, steps, dt)
        elif name.startswith(_INPUTS) and _is_motions(model, label, given):
            cases[name] = found = _motions(model, label, given, steps, dt)
            numbers[name] = Grid(tuple(found.numbers.tolist()))
    return cases, numbers


def _is_motions(model: Plant, label: str, given: object) -> bool:
    """Whether an input is given motions, and not numbers."""
    if model.robot is not None and label in model.robot.controllers:
        return True
    return (
        isinstance(given, Sequence)
        and not isinstance(given, str)
        and any(np.ndim(cast(npt.ArrayLike, each)) for each in given)
    )


def _motions(model: Plant, label: str, given: object, steps: int, dt: float) -> Cases:
    """What an input, or a tracker, has to follow in every case."""
    key = f"over.{_INPUTS}{label}"
    listed = [part.strip() for part in given.split(",")] if isinstance(given, str) else given
    if not isinstance(listed, Sequence) or not listed:
        hint = "a list of what the input takes, such as [way_1, way_2], or files with commas between them"
        raise InputError("expected motions", key=key, hint=hint)
    found = [_motion(model, label, each, steps, dt, f"{key}[{k}]") for k, each in enumerate(listed)]
    inputs = tuple(found[0])
    _require_room(len(found) * steps * len(inputs), key)
    if any(set(each) != set(inputs) for each in found):
        raise InputError(
            "these motions say different things", key=key, hint=f"the first says {', '.join(inputs)}"
        )
    values = np.array([np.column_stack([np.ravel(each[name]) for name in inputs]) for each in found])
    return Cases(inputs, np.arange(len(found), dtype=np.float64), values)


def _motion(model: Plant, label: str, given: Any, steps: int, dt: float, key: str) -> dict[str, FloatArray]:
    """The inputs (steps, 1) of one motion."""
    if model.robot is not None and label in model.robot.controllers:
        told = inputs_told(model, {label: given}, steps, dt)
        return {name: np.asarray(value, dtype=np.float64) for name, value in told.items()}
    if label not in model.inputs:
        message = f"'{model.name}' has nothing called '{_INPUTS}{label}' that can vary"
        raise InputError(message, key=f"over.{_INPUTS}{label}", hint=suggest(label, model.inputs))
    if isinstance(given, tuple):
        return {label: table(*given).sample(dt * np.arange(steps, dtype=np.float64))[:, None]}
    values = as_numbers(given, key)
    if values.shape not in ((steps,), (steps, 1)):
        hint = f"give {steps} values, one a step, or (times, values)"
        raise InputError(f"expected a motion, got an array of shape {values.shape}", key=key, hint=hint)
    return {label: values.reshape(steps, 1)}


def _seeds(given: object) -> Grid:
    """Whole numbers."""
    found: Variation = variation(given, NOISE)
    if not isinstance(found, Grid):
        hint = "such as 0:99:100, a hundred runs of noise"
        raise InputError("seeds are whole numbers: give their values", key=f"over.{NOISE}", hint=hint)
    check_seeds(np.array(found.values), f"over.{NOISE}")
    return found


def _noise(model: Plant, seeds: Grid, steps: int, dt: float) -> Cases:
    """What the sensors draw by these seeds."""
    numbers, times = np.unique(seeds.values), dt * (np.arange(steps, dtype=np.float64) + _BEHIND)
    drawn = [noise_of(model.control_description, int(seed), steps * dt) for seed in numbers]
    inputs = tuple(drawn[0])
    if not inputs:
        hint = "robots with sensors and an estimator have: robot.with_sensors(…)"
        raise InputError(f"'{model.name}' has no noise", key=f"over.{NOISE}", hint=hint)
    _require_room(len(numbers) * steps * len(inputs), f"over.{NOISE}")
    values = np.array([np.column_stack([each[name].sample(times) for name in inputs]) for each in drawn])
    return Cases(inputs, numbers, values)


def _require_room(count: int, key: str) -> None:
    if count > _MOST:
        message = f"{count:,} numbers are too many: every process has all of them"
        raise InputError(message, key=key, hint="vary fewer, or take fewer steps")
