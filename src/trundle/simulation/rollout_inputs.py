"""What the robots of a rollout begin with: states, inputs and parameters, one number for all or one a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError, suggest
from trundle.model.arguments import named
from trundle.model.lanes import MOST_CHECKED, NumbersLike, column, lane_numbers, lane_parameters
from trundle.model.placed import require_undriven
from trundle.model.plant import Plant
from trundle.simulation.options import require_state
from trundle.simulation.references import with_references
from trundle.simulation.sampling import sampled_start
from trundle.simulation.signals import Input, table

_Told = tuple[list[float], list[float], str]


@dataclass(frozen=True)
class RolloutInputs:
    """`count` robots of a plant: what starts are given by, all inputs and all parameters by name, numbers or (count,);
    inputs also (steps, 1) or (steps, count).
    """

    plant: Plant
    initial: Mapping[str, Floats]
    inputs: Mapping[str, Floats]
    parameters: Mapping[str, Floats]
    count: int

    def starts(self, often: bool | None = None, lost: np.ndarray | None = None) -> FloatArray:
        """The states (states, count) before the first sample; see `Plant.start`."""
        return self.plant.start(self.initial, self.parameters, self.count, often=often, lost=lost)

    def sampled(self, states: FloatArray, often: bool | None = None) -> FloatArray:
        """States at t = 0 after what is sampled then; `often` as for a `Kernel`."""
        if self.plant.sampling is None:
            return states
        robots = slice(0, self.count)
        u, p = (lane_numbers(numbers, 0, robots) for numbers in (self.inputs, self.parameters))
        return sampled_start(self.plant, states, u, p, often=often)


def rollout_inputs(
    plant: Plant,
    initial: Mapping[str, NumbersLike] | None,
    inputs: Mapping[str, NumbersLike],
    parameters: Mapping[str, NumbersLike] | None,
    count: int | None = None,
    between: int = MOST_CHECKED,
) -> RolloutInputs:
    """What was given, completed by the plant's own values and checked robot by robot; see `lane_parameters`.

    Raises InputError for names or shapes that don't fit.
    """
    starts = named(initial, "initial")
    for name in starts:
        require_state(name, plant)
    x = {name: column(name, value, plant.units.get(name, "rad"), 1) for name, value in starts.items()}
    u = _all_inputs(plant, inputs)
    p = _all_parameters(plant, named(parameters, "parameters"), between)
    return RolloutInputs(plant, x, u, p, _common_size(count, x, u, p))


def inputs_told(
    plant: Plant, inputs: Mapping[str, NumbersLike] | None, steps: int, dt: float
) -> Mapping[str, NumbersLike]:
    """Inputs with those of trackers, step by step, in place of the motions that they are given.

    Raises InputError for what a controller drives.
    """
    given = _with_references(plant, named(inputs, "inputs"), steps, dt)
    require_undriven(plant.control_description, given)
    return given


def _with_references(
    plant: Plant, given: Mapping[str, NumbersLike], steps: int, dt: float
) -> Mapping[str, NumbersLike]:
    """Inputs with those of trackers, step by step, in place of the motions that they are given."""
    told, times = (
        with_references(plant.control_description, cast("Mapping[str, Input]", given)),
        dt * np.arange(steps, dtype=float),
    )
    found: dict[str, NumbersLike] = {}
    for name, signal in told.items():
        if name in given:
            found[name] = given[name]
        else:
            found[name] = table(*cast("_Told", signal)).sample(times)[:, None]
    return found


def _all_inputs(plant: Plant, given: Mapping[str, NumbersLike]) -> dict[str, Floats]:
    """A number or an array for every input, in the plant's order."""
    for key in given:
        if key not in plant.inputs:
            hint = suggest(key, plant.inputs)
            raise InputError(f"'{key}' is not an input of '{plant.name}'", key=key, hint=hint)
    return {name: column(name, given.get(name, 0.0), plant.units[name], 2) for name in plant.inputs}


def _all_parameters(plant: Plant, given: Mapping[str, NumbersLike], between: int) -> dict[str, Floats]:
    """Numbers and arrays as they are, after the robot's own checks robot by robot; those of the ground behind."""
    columns = {
        name: column(name, value, "", 1) if callable(value) or np.ndim(value) else cast("float | str", value)
        for name, value in given.items()
        if name not in plant.parameter_readers
    }
    ground = {name: each.read(name, given[name]) for name, each in plant.parameter_readers.items()}
    return lane_parameters(plant, columns, "robot", between) | ground


def _common_size(count: int | None, *given: Mapping[str, Floats]) -> int:
    """How many robots there are, by `count` and by the arrays, which must agree."""
    sizes = {np.shape(v)[-1] for group in given for v in group.values() if np.ndim(v)} - {1}
    sizes |= set() if count is None else {count}
    if len(sizes) > 1:
        listed = ", ".join(map(str, sorted(sizes)))
        raise InputError(
            f"arrays of different numbers of robots{'' if count is None else ', or another count'}: {listed}",
            key="count",
            hint="give every array one entry a robot, or leave count out",
        )
    return sizes.pop() if sizes else 1
