"""A model linearised about one state, in independent coordinates, by automatic differentiation of its programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trundle.control.tangent import Array, Tangent, constraint_gradient, tangent_at
from trundle.errors import InputError, NumericsError, suggest
from trundle.model import Model
from trundle.model.arguments import Given, model_of, named, number
from trundle.shown import Shown

if TYPE_CHECKING:
    from control import StateSpace  # pyright: ignore[reportMissingImports]
    from scipy.signal import StateSpace as SciPyStateSpace

    from trundle.control.linear_control import Controllability


# A state this close (relative to 1 + |x|) is the same state: what vanishes within it, vanishes.
NEAR = 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class Linearization(Shown):
    """ż = ż₀ + A z + B δu and y = y₀ + C z + D δu, for small motions δx = T z about one state x₀ with inputs u₀.

    A (n, n), B (n, m), C (r, n), D (r, m). `states` names z: the model's states, less those that constraints make
    dependent, and with a small rotation about the body's own axes (rad) in place of a quaternion. SI `units` by name.

    `rate` is ż₀ by state: zero at an equilibrium. About a state that moves, z are the coordinates of δx in the basis
    T(x₀(t)) that goes along with it, so A and B are those of the variational equation at that moment. `basis` is T,
    from z to all states of the model; `dependent` are those that follow from the others by the constraints.
    """

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: Mapping[str, str]
    A: Array
    B: Array
    C: Array
    D: Array
    state: Mapping[str, float]
    input: Mapping[str, float]
    output: Mapping[str, float]
    rate: Mapping[str, float]
    basis: Array
    dependent: tuple[str, ...]
    parameters: Mapping[str, float]
    model: Model

    @cached_property
    def poles(self) -> npt.NDArray[np.complex128]:
        """Eigenvalues of A (1/s), the slowest first, (n,)."""
        found: npt.NDArray[np.complex128] = np.linalg.eigvals(self.A).astype(complex)
        return found[np.lexsort((-found.imag, np.abs(found.imag), -found.real))]

    @cached_property
    def drifting(self) -> tuple[str, ...]:
        """States z whose rate ż₀ isn't zero: by more than a change of x₀ and u₀ by 1e-9 would cause."""
        near = NEAR * (1 + np.abs(list(self.state.values())))
        moved = np.abs(self.A) @ (np.abs(np.linalg.pinv(self.basis)) @ near)
        moved += np.abs(self.B) @ (NEAR * (1 + np.abs(list(self.input.values())))) if self.inputs else 0.0
        rates = np.array(list(self.rate.values()))
        return tuple(
            name for name, r, m in zip(self.states, rates, moved, strict=True) if abs(r) > m + NEAR**2
        )

    @property
    def is_equilibrium(self) -> bool:
        """Whether nothing moves on its own at x₀ and u₀."""
        return not self.drifting

    @property
    def is_steady(self) -> bool:
        """Whether the motion at x₀ and u₀ goes on as it is: only coordinates drift."""
        return not set(self.drifting) & {*self.model.speeds, *self.model.currents}

    @cached_property
    def controllability(self) -> Controllability:
        """The directions that no input moves, and why (`trundle.control.linear_control`)."""
        from trundle.control.linear_control import examine

        return examine(self)

    def to_control(self) -> StateSpace:
        """The same as python-control's StateSpace, named alike but with "_" for each dot, which it doesn't allow.

        Raises InputError where python-control isn't installed.
        """
        try:
            import control  # pyright: ignore[reportMissingImports]
        except ImportError:
            raise InputError(
                "python-control isn't installed",
                hint="pip install control; SciPy's systems need nothing more: .to_scipy()",
            ) from None
        names = {
            kind: [name.replace(".", "_") for name in getattr(self, kind)]
            for kind in ("states", "inputs", "outputs")
        }
        return control.StateSpace(self.A, self.B, self.C, self.D, **names, name=self.name.replace(".", "_"))

    def to_scipy(self) -> SciPyStateSpace:
        """The same as `scipy.signal.StateSpace`, which knows no names."""
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)


@dataclass(frozen=True)
class Point:
    """A state x (n,), the inputs u and the parameters p there, checked."""

    x: Array
    u: Array
    p: Array


def linearize(
    model: Given,
    state: Mapping[str, float | str] | None = None,
    inputs: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    outputs: Sequence[str] | None = None,
) -> Linearization:
    """A, B, C, D about a state, along the model's constraints, in independent coordinates.

    ż = ż₀ + A z + B δu and y = y₀ + C z + D δu for small motions δx = T z, by automatic differentiation of the model's
    programs; A = L J T + L̇ T with J = ∂f/∂x and L T = 1.

    Parameters
    ----------
    model : Model, Robot, path or mapping
        A model, from a description or from SymPy's equations; or what one is derived from here.
    state : mapping of str to number or str
        States by name, in SI or as text with units; those not given start as in a run: 0, an upright quaternion, or
        where constraints need them.
    inputs : mapping of str to number or str
        Inputs by name; those not given are 0.
    parameters : mapping of str to number or str
        Changed values by name.
    outputs : sequence of str
        Names of states and outputs to be y; by default all outputs that have slopes.

    Returns
    -------
    Linearization
        The matrices with names and units, and what can be asked of them: poles, controllability.

    Raises
    ------
    InputError
        For names and values that don't fit.
    NumericsError
        Where the model is singular at this state, or its constraints are.

    Examples
    --------
    >>> import trundle
    >>> model = trundle.derive(trundle.catalog.differential_drive())
    >>> about = trundle.linearize(model, {"v_x": 1.0}, outputs=["v_x", "omega"])
    >>> about.A.shape, about.C.shape
    ((9, 9), (2, 9))

    References
    ----------
    Small motions of quaternions: Sola, "Quaternion kinematics for the error-state Kalman filter", 2017, sec. 4.
    """
    model = model if isinstance(model, Model) else model_of(model, "linearize")
    point, values = point_of(model, state, inputs, parameters)
    shown = chosen_outputs(model, outputs)
    (rate, *slopes) = model.rate_slopes.evaluate(point.x, point.u, point.p)
    gradient = constraint_gradient(model, point.x, point.u, point.p)
    tangent = tangent_at(model, point.x, rate, gradient)
    a, b = reduced(tangent, *slopes)
    y, c, d = output_rows(model, point, shown, model.output_slopes.evaluate(point.x, point.u, point.p))
    return packed(model, point, values, tangent, rate, (a, b, c @ tangent.basis, d), (shown, y))


def point_of(
    model: Model,
    state: Mapping[str, float | str] | None,
    inputs: Mapping[str, float | str] | None,
    parameters: Mapping[str, float | str] | None,
) -> tuple[Point, dict[str, float]]:
    """The numbers of a state, inputs and parameters given by name, and all parameters; raises InputError."""
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
    return Point(x, np.array(list(commands.values())), np.array(list(values.values()))), values


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


def reduced(tangent: Tangent, by_state: Array, by_input: Array) -> tuple[Array, Array]:
    """A = L J T + L̇ T and B = L J_u from ∂ẋ/∂x and ∂ẋ/∂u, flat and row-major as programs give them."""
    n = len(tangent.basis)
    a = tangent.dual @ by_state.reshape(n, n) @ tangent.basis + tangent.dual_rate @ tangent.basis
    return a, tangent.dual @ by_input.reshape(n, -1)


def output_rows(
    model: Model, point: Point, shown: Sequence[str], slopes: Sequence[Array]
) -> tuple[Array, Array, Array]:
    """y₀, ∂y/∂x and ∂y/∂u of the names asked for, from those of all outputs."""
    n, m, r = len(model.states), len(model.inputs), len(model.outputs)
    y, by_state, by_input = slopes
    place = {name: k for k, name in enumerate((*model.outputs, *model.states))}
    rows = [place[name] for name in shown]
    values = np.concatenate([y, point.x])
    c = np.concatenate([by_state.reshape(r, n), np.eye(n)])
    d = np.concatenate([by_input.reshape(r, m), np.zeros((n, m))])
    return values[rows], c[rows], d[rows]


def packed(
    model: Model,
    point: Point,
    parameters: Mapping[str, float],
    tangent: Tangent,
    rate: Array,
    matrices: tuple[Array, Array, Array, Array],
    output: tuple[Sequence[str], Array],
) -> Linearization:
    """The linearisation with its names, frozen. Raises NumericsError where numbers aren't finite."""
    if not all(np.isfinite(each).all() for each in (*matrices, rate)):
        raise NumericsError(
            f"'{model.name}' has no finite rates or slopes at this state: it is singular there, or kinked "
            "(dry friction without a width)"
        )
    for each in (*matrices, tangent.basis):
        each.setflags(write=False)
    shown, y = output
    names = (*tangent.names, *model.inputs, *shown)
    units = {**model.units, **dict(zip(tangent.names, tangent.units, strict=True))}
    return Linearization(
        model.name,
        tangent.names,
        model.inputs,
        tuple(shown),
        {name: units.get(name, "") for name in names},
        *matrices,
        state=dict(zip(model.states, point.x.tolist(), strict=True)),
        input=dict(zip(model.inputs, point.u.tolist(), strict=True)),
        output=dict(zip(shown, y.tolist(), strict=True)),
        rate=dict(zip(tangent.names, (tangent.dual @ rate).tolist(), strict=True)),
        basis=tangent.basis,
        dependent=tangent.dependent,
        parameters=parameters,
        model=model,
    )


def slopes_near(about: Linearization) -> list[tuple[Array, Array]]:
    """A and B at a few states within 1e-9 of a linearisation's, in the same coordinates."""
    model = about.model
    x, u = np.array(list(about.state.values())), np.array(list(about.input.values()))
    p = np.array(list(about.parameters.values()))
    rng = np.random.default_rng(0)
    found = []
    for _ in range(3):
        near = x + NEAR * (1 + np.abs(x)) * rng.uniform(-1, 1, x.size)
        beside = u + NEAR * (1 + np.abs(u)) * rng.uniform(-1, 1, u.size)
        rate, *slopes = model.rate_slopes.evaluate(near, beside, p)
        gradient = constraint_gradient(model, near, beside, p)
        found.append(reduced(tangent_at(model, near, rate, gradient, about.dependent), *slopes))
    return found
