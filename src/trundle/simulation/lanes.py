"""What the robots of a rollout begin with: states, inputs and parameters, one number for all or one a robot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, Floats, as_numbers
from trundle.errors import InputError, suggest
from trundle.model import Model
from trundle.model.arguments import named, number
from trundle.model.lanes import MOST_CHECKED, lane_parameters
from trundle.model.manifold import settle_batch
from trundle.model.placed import require_undriven
from trundle.simulation.dynamic import with_references
from trundle.simulation.observing import lane_numbers
from trundle.simulation.options import require_state
from trundle.simulation.sampling import sampled_start
from trundle.simulation.signals import Input, table

if TYPE_CHECKING:
    from trundle.model.ground_model import GroundModel

NumbersLike = float | str | npt.ArrayLike
_Told = tuple[list[float], list[float], str]


@dataclass(frozen=True)
class Lanes:
    """`count` robots of a model: states, inputs and parameters by name, numbers or (count,); inputs also (steps, 1) or
    (steps, count). `initial` names the states that were given.
    """

    model: Model
    states: Mapping[str, Floats]
    inputs: Mapping[str, Floats]
    parameters: Mapping[str, Floats]
    initial: tuple[str, ...]
    count: int

    def settled(self, often: bool | None = None) -> Lanes:
        """The same with states on the constraints; `often` as for a `Kernel`, here and below."""
        self.model.quantities.check_start(self.states)
        found = settle_batch(self.model, self.states, self.initial, self.parameters, often)
        return replace(self, states=found)

    def start(self, often: bool | None = None) -> FloatArray:
        """The states at t = 0, after what is sampled then, (states, count)."""
        x = np.array([np.broadcast_to(self.states[name], (self.count,)) for name in self.model.states])
        if self.model.sampling is None:
            return x
        robots = slice(0, self.count)
        u, p = (lane_numbers(numbers, 0, robots) for numbers in (self.inputs, self.parameters))
        return sampled_start(self.model, x, u, p, often=often)


def given_lanes(
    model: Model,
    initial: Mapping[str, NumbersLike] | None,
    inputs: Mapping[str, NumbersLike],
    parameters: Mapping[str, NumbersLike] | None,
    count: int | None = None,
    between: int = MOST_CHECKED,
) -> Lanes:
    """What was given, completed by the model's own values and checked robot by robot; see `lane_parameters`.

    Raises InputError for names or shapes that don't fit.
    """
    x = complete(dict(model.initial), named(initial, "initial"), "state", model)
    u = complete(dict.fromkeys(model.inputs, 0.0), inputs, "input", model)
    p = parameters_told(model, named(parameters, "parameters"), between)
    return Lanes(model, x, u, p, tuple(initial or ()), common_size(count, x, u, p))


def inputs_told(
    model: Model | GroundModel, inputs: Mapping[str, NumbersLike] | None, steps: int, dt: float
) -> Mapping[str, NumbersLike]:
    """Inputs with those of trackers, step by step, in place of the motions that they are given.

    Raises InputError for what a controller drives.
    """
    given = _with_references(model, named(inputs, "inputs"), steps, dt)
    require_undriven(model.robot, given)
    return given


def _with_references(
    model: Model | GroundModel, given: Mapping[str, NumbersLike], steps: int, dt: float
) -> Mapping[str, NumbersLike]:
    """Inputs with those of trackers, step by step, in place of the motions that they are given."""
    told, times = (
        with_references(model.robot, cast("Mapping[str, Input]", given)),
        dt * np.arange(steps, dtype=float),
    )
    found: dict[str, NumbersLike] = {}
    for name, signal in told.items():
        if name in given:
            found[name] = given[name]
        else:
            found[name] = table(*cast("_Told", signal)).sample(times)[:, None]
    return found


def complete(
    defaults: Mapping[str, float], given: Mapping[str, NumbersLike], kind: str, model: Model | GroundModel
) -> dict[str, Floats]:
    """A number or an array for every state or input, in the model's order."""
    for key in given:
        if kind == "state":
            require_state(key, model)
        if key not in defaults:
            hint = suggest(key, defaults)
            raise InputError(f"'{key}' is not an input of '{model.name}'", key=key, hint=hint)
    most = 1 if kind == "state" else 2
    return {
        key: column(key, given.get(key, value), model.units[key], most) for key, value in defaults.items()
    }


def column(name: str, given: NumbersLike, unit: str, most: int) -> Floats:
    """A number, or an array of at most `most` dimensions."""
    if isinstance(given, str):
        return number(given, name, unit)
    if callable(given):
        raise InputError(
            "a rollout takes no functions, but numbers and arrays",
            key=name,
            hint="give its value at each step: np.array([f(k * dt) for k in range(steps)])[:, None]",
        )
    values = as_numbers(given, f"'{name}'")
    if values.ndim > most:
        shapes = "a number or (count,)" if most == 1 else "a number, (count,), (steps, 1) or (steps, count)"
        raise InputError(f"expected {shapes}, got an array of shape {values.shape}", key=name)
    if values.ndim and not values.shape[-1]:
        raise InputError("an array without entries", key=name, hint="give one entry a robot")
    if not np.isfinite(values).all():
        robot = int(np.argwhere(~np.isfinite(values))[0][-1]) if values.ndim else 0
        raise InputError(f"'{name}' holds something that is not a finite number, for robot {robot}", key=name)
    return values if values.ndim else float(values)


def parameters_told(
    model: Model | GroundModel, given: Mapping[str, NumbersLike], between: int = MOST_CHECKED
) -> dict[str, Floats]:
    """Numbers and arrays as they are, after the robot's own checks robot by robot."""
    columns = {
        name: column(name, value, "", 1) if callable(value) or np.ndim(value) else cast("float | str", value)
        for name, value in given.items()
    }
    return lane_parameters(model, columns, "robot", between)


def common_size(count: int | None, *given: Mapping[str, Floats]) -> int:
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
