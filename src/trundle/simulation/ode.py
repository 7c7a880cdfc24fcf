"""A model's equations of motion as SciPy's integrators take them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.frozen import Brief
from trundle.model import Model
from trundle.model.arguments import Given, model_of, named
from trundle.program import Kernel, Program, compile_program, feed
from trundle.robot.values import describe
from trundle.simulation.feedback import Fill, filler
from trundle.simulation.options import initial_numbers
from trundle.simulation.problem import signals_of
from trundle.simulation.signals import Inputs, Signal, constant


@dataclass(frozen=True, repr=False)
class Ode(Brief):
    """ẋ = f(t, x) of a model under its inputs: what `scipy.integrate.solve_ivp` and its like take, with its Jacobian.

    states: the names of x; x0: where it starts; signals: the inputs over time, in order; parameters: p in order;
    program: ẋ of (state, input, parameter); `fill(t, x, u)` puts the inputs' values into u. Where constraints aren't
    solved for, it is f(P(x)), with P one Newton step back onto them, as in `trundle.simulate`: what it is integrated to
    may leave them by the integrator's error.
    """

    states: tuple[str, ...]
    x0: FloatArray
    signals: tuple[Signal, ...]
    parameters: FloatArray
    program: Program
    fill: Fill
    made_from: tuple[object, ...] = field(default=(), repr=False, compare=False)

    def __reduce__(self) -> tuple[Callable[..., Ode], tuple[object, ...]]:
        """How it pickles: by the model and what was given beside it; functions among the inputs pickle as they can."""
        return _rebuild, self.made_from

    def __call__(self, t: float, x: ArrayLike) -> FloatArray:
        """ẋ, (n,), or (n, count) for as many states."""
        x = self._state(x)
        (rate,) = self._rate(x, self.inputs(t, x), self.parameters)
        return rate

    def jacobian(self, t: float, x: ArrayLike) -> FloatArray:
        """∂f/∂x, (n, n); raises InputError where an input follows the state: its own slope isn't known."""
        following = [k for k, signal in enumerate(self.signals) if signal.feedback is not None]
        if following:
            raise InputError(
                f"the Jacobian needs inputs of time alone, and {len(following)} follow the state",
                hint="leave jac out: integrators take differences then",
            )
        x = self._state(x)
        (slope,) = self._slope(x, self.inputs(t, x), self.parameters)
        return slope.reshape(len(self.states), len(self.states))

    def inputs(self, t: float, x: ArrayLike) -> FloatArray:
        """u(t) in the model's order, (m,), or (m, count) where they follow as many states."""
        x = self._state(x)
        if x.ndim == 2 and any(signal.feedback is not None for signal in self.signals):
            return np.array([self.inputs(t, state) for state in x.T]).T
        u = np.zeros(len(self.signals))
        self.fill(float(t), x, u)
        return u

    def _state(self, x: ArrayLike) -> FloatArray:
        """The state as an array: (n,) of one robot or (n, count) of many."""
        size, hint = len(self.states), f"in order: {', '.join(self.states)}"
        try:
            array = as_numbers(x, "x")
        except InputError:
            raise InputError(f"x must hold {size} numbers, got {describe(x)}", key="x", hint=hint) from None
        if array.ndim not in (1, 2) or len(array) != size:
            message = f"x must have shape ({size},) or ({size}, count), got {array.shape}"
            raise InputError(message, key="x", hint=hint)
        return array

    @cached_property
    def _rate(self) -> Kernel:
        return compile_program(self.program)

    @cached_property
    def _slope(self) -> Kernel:
        return compile_program(self.program.jacobian("rate", "state"))


def ode(
    model: Given,
    inputs: Inputs | None = None,
    *,
    initial: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    base: str | None = None,
) -> Ode:
    """The equations of motion as a function of (t, x), for integrators from elsewhere.

    Parameters
    ----------
    model : Model, Robot, Document, path or mapping
        What moves; what is no model is derived first.
    inputs : mapping of str to number, str, function, Signal or tuple; or function
        By name, as in `trundle.simulate`; those not given are 0. Steps don't end at their jumps: that is the
        integrator's business, with `max_step` or piece by piece.
    initial : mapping of str to number or str
        States by name; those not given are 0, or what constraints make them.
    parameters : mapping of str to number or str
        Changed values by name.
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Ode
        Called with t (s) and x, shape (n,), it gives ẋ; with `x0`, `jacobian(t, x)` and the names of `states`.

    Raises
    ------
    InputError
        For names and values that don't fit, and robots that can't be derived.

    Examples
    --------
    >>> import trundle
    >>> from scipy.integrate import solve_ivp
    >>> ode = trundle.ode(trundle.catalog.pendulum(links=1), initial={"link_1.angle": 0.5})
    >>> solution = solve_ivp(ode, (0, 1), ode.x0, jac=ode.jacobian, method="Radau")
    >>> dict(zip(ode.states, solution.y[:, -1].round(2)))  # doctest: +ELLIPSIS
    {'link_1.angle': ...
    """
    model = model_of(model, "ode", base)
    model.require_continuous("ode")
    values = model.parameter_values(named(parameters, "parameters"))
    signals = signals_of(inputs, {name: model.units.get(name, "") for name in model.inputs}, model.name)
    ordered = tuple(signals.get(name, constant(0.0)) for name in model.inputs)
    numbers = np.array(list(values.values()))
    return Ode(
        model.states,
        np.array(model.state_vector(initial_numbers(initial, model), values)),
        ordered,
        numbers,
        model.dynamics if model.projection is None else feed(model.dynamics, model.projection),
        filler(ordered, model.states, model.observe, numbers),
        (
            model,
            dict(inputs) if isinstance(inputs, Mapping) else inputs,
            dict(named(initial, "initial")),
            dict(named(parameters, "parameters")),
        ),
    )


def _rebuild(
    model: Model,
    inputs: Inputs | None,
    initial: Mapping[str, float | str],
    parameters: Mapping[str, float | str],
) -> Ode:
    """The equations that were pickled."""
    return ode(model, inputs, initial=initial, parameters=parameters)
