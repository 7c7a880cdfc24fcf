"""Where a model is linearised: a state, inputs and parameters by name, and the outputs that are asked for; checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.model import Model
from trundle.model.arguments import named, number


@dataclass(frozen=True)
class OperatingPoint:
    """A state x (n,), the inputs u (m,) and the parameters p there, and these by name."""

    x: FloatArray
    u: FloatArray
    parameters: Mapping[str, float]

    @cached_property
    def p(self) -> FloatArray:
        """The parameters' values."""
        return np.array(list(self.parameters.values()))


def point_of(
    model: Model,
    state: Mapping[str, float | str] | None,
    inputs: Mapping[str, float | str] | None,
    parameters: Mapping[str, float | str] | None,
) -> OperatingPoint:
    """The numbers of a state, inputs and parameters given by name; raises InputError."""
    values = model.parameter_values(named(parameters, "parameters"))
    given = {
        name: number(value, name, model.units.get(name, "")) for name, value in named(state, "state").items()
    }
    commands = dict.fromkeys(model.inputs, 0.0)
    for name, value in named(inputs, "inputs").items():
        if name not in commands:
            raise InputError(
                f"'{name}' is not an input of '{model.name}'", key=name, hint=suggest(name, commands)
            )
        commands[name] = number(value, name, model.units.get(name, ""))
    x = model.quantities.normalised(model.states, np.array(model.state_vector(given, values)))
    return OperatingPoint(x, np.array(list(commands.values())), values)


def chosen_outputs(model: Model, outputs: Sequence[str] | None) -> tuple[str, ...]:
    """Names of y: states and outputs as asked for, or all of the model's outputs that have slopes."""
    if outputs is None:
        # Residuals only where they are asked for: the largest has a kink exactly where it is 0.
        return tuple(name for name in model.outputs if model.quantities[name].kind != "residual")
    if isinstance(outputs, str):
        raise InputError(f"outputs are a list of names, not the text {outputs!r}", key="outputs")
    outputs = tuple(outputs)
    for name in outputs:
        if name not in (*model.states, *model.outputs):
            raise InputError(
                f"'{name}' is neither a state nor an output of '{model.name}'",
                key="outputs",
                hint=suggest(str(name), (*model.states, *model.outputs)),
            )
    twice = next((name for k, name in enumerate(outputs) if name in outputs[:k]), None)
    if twice is not None:
        raise InputError(f"'{twice}' comes twice among the outputs", key="outputs", hint="leave one of them")
    return outputs
