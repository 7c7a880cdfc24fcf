"""Where a model is linearised: a state, inputs and parameters by name, and the outputs that are asked for; checked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.errors import InputError, require_known
from trundle.expected import names_of
from trundle.mechanics.elimination import ZERO
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
        require_known(name, commands, f"'{name}' is not an input of '{model.name}'", key=name)
        commands[name] = number(value, name, model.units.get(name, ""))
    x = model.quantities.normalised(model.states, np.array(model.state_vector(given, values)))
    return OperatingPoint(x, np.array(list(commands.values())), values)


def chosen_outputs(model: Model, outputs: Sequence[str] | None) -> tuple[str, ...]:
    """Names of y: states and outputs as asked for, or all of the model's outputs that have slopes."""
    if outputs is None:
        # Residuals only where they are asked for: the largest has a kink exactly where it is 0.
        return tuple(name for name in model.outputs if model.quantities[name].kind != "residual")
    outputs = names_of(outputs, "outputs")
    for name in outputs:
        require_known(
            name,
            (*model.states, *model.outputs),
            f"'{name}' is neither a state nor an output of '{model.name}'",
            key="outputs",
        )
    twice = next((name for k, name in enumerate(outputs) if name in outputs[:k]), None)
    if twice is not None:
        raise InputError(f"'{twice}' comes twice among the outputs", key="outputs", hint="leave one of them")
    return outputs


# States at which dependence is asked for: general ones, as a slope may vanish at a special one.
_LOOKS, _SPREAD = 3, 1.0


def moving_on(model: Model, p: npt.NDArray[np.float64]) -> frozenset[str]:
    """The coordinates that may move on in a steady motion: a pose on level ground, a wheel's angle.

    The largest set of coordinates that no rate of a state outside it depends on, and no constraint, by the slopes at
    general states; `p` are the parameters. While everything outside it holds still, the motion is a relative
    equilibrium: the same again from wherever it has come to.
    """
    rng, n = np.random.default_rng(0), len(model.states)
    paths = np.zeros((n, n), dtype=bool)
    for _ in range(_LOOKS):
        x = model.quantities.normalised(model.states, rng.uniform(-_SPREAD, _SPREAD, n))
        u = rng.uniform(-_SPREAD, _SPREAD, len(model.inputs))
        _, slope, _ = model.rate_slopes.evaluate(x, u, p)
        paths |= _depends(slope.reshape(n, n))
        if model.manifold_jacobian is not None:
            held = _depends(model.manifold_jacobian.evaluate(x, u, p)[0].reshape(-1, n)).any(axis=0)
            paths |= held  # constraints may be about anything
    free = np.array([name in model.coordinates for name in model.states])
    while (bound := free & paths[~free].any(axis=0)).any():
        free &= ~bound
    return frozenset(name for name, is_free in zip(model.states, free, strict=True) if is_free)


def _depends(slope: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Which entries are more than rounding beside the largest of their row, where all are finite."""
    slope = np.nan_to_num(np.abs(slope), nan=np.inf)
    return slope > ZERO * slope.max(axis=1, keepdims=True, initial=0.0)
