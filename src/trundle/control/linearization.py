"""A model linearised about one state, in independent coordinates, by automatic differentiation of its programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.control.deviation import DeviationMap
from trundle.control.operating_point import OperatingPoint, chosen_outputs, moving_on, point_of
from trundle.control.tangent import TangentSpace, constraint_gradient, tangent_at
from trundle.errors import NumericsError, warn
from trundle.extras import load
from trundle.model import Model
from trundle.model.arguments import Given, model_of
from trundle.model.model import SYMPYS_PIVOTS
from trundle.shown import Displayable

if TYPE_CHECKING:
    from scipy.signal import StateSpace as SciPyStateSpace

    from control import StateSpace  # pyright: ignore[reportMissingImports]
    from trundle.control.closing import Realisation
    from trundle.control.linear_control import Controllability
    from trundle.robot import Controller


# A state this close (relative to 1 + |x|) is the same state: what vanishes within it, vanishes.
NEAR = 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class Linearization(Displayable):
    """ż = ż₀ + A z + B δu and y = y₀ + C z + D δu, for small motions δx = T z about one state x₀ with inputs u₀.

    A (n, n), B (n, m), C (r, n), D (r, m). `states` names z: the model's states, less those that constraints make
    dependent, with a moving base's `x`, `y` as the error of its position along its own axes, and with a small rotation
    about the body's own axes (rad) in place of a quaternion. SI `units` by name.

    `rate` is ż₀ by state: zero at an equilibrium. About a state that moves, z are the coordinates of δx in the basis
    T(x₀(t)) that goes along with it, so A and B are those of the variational equation at that moment; where the motion
    `is_steady`, they stay what they are. `basis` is T, from z to all states of the model, `dual` is L, back from them;
    `dependent` are those that follow from the others by the constraints. `whole` is the linearisation that this is a
    part of, where states were left out (`reduced`, `with_states`), whose z are `embedding` times these.
    """

    name: str
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    units: Mapping[str, str]
    A: FloatArray
    B: FloatArray
    C: FloatArray
    D: FloatArray
    state: Mapping[str, float]
    input: Mapping[str, float]
    output: Mapping[str, float]
    rate: Mapping[str, float]
    basis: FloatArray
    dual: FloatArray
    dependent: tuple[str, ...]
    parameters: Mapping[str, float]
    model: Model
    whole: Linearization | None = None
    embedding: FloatArray | None = None

    @cached_property
    def poles(self) -> npt.NDArray[np.complex128]:
        """Eigenvalues of A (1/s), the slowest first, (n,)."""
        eigenvalues: npt.NDArray[np.complex128] = np.linalg.eigvals(self.A).astype(complex)
        return eigenvalues[np.lexsort((-eigenvalues.imag, np.abs(eigenvalues.imag), -eigenvalues.real))]

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

    @cached_property
    def is_steady(self) -> bool:
        """Whether the motion at x₀ and u₀ goes on as it is, a relative equilibrium: only coordinates drift, and nothing
        but themselves depends on them. Elsewhere A and B are those of one moment.
        """
        return set(self.drifting) <= self.free_moving

    @cached_property
    def free_moving(self) -> frozenset[str]:
        """Coordinates among z on which nothing but other such coordinates depends: a pose on level ground, a wheel's
        angle. They may be left out without a change of what is left.
        """
        moving = moving_on(self.model, np.array(list(self.parameters.values())))
        support = [{self.model.states[k] for k in np.flatnonzero(column)} for column in self.basis.T]
        return frozenset(name for name, own in zip(self.states, support, strict=True) if own <= moving)

    @cached_property
    def controllability(self) -> Controllability:
        """The directions that no input moves, and why (`trundle.control.linear_control`)."""
        from trundle.control.linear_control import examine

        return examine(self)

    @cached_property
    def _deviations(self) -> DeviationMap:
        return DeviationMap(self)

    def _warn(self) -> None:
        for caveat in self.caveats:
            warn(f"{self.name}: {caveat}")

    @cached_property
    def caveats(self) -> tuple[str, ...]:
        """Why a regulator designed on A and B would be wrong or not exist; none where it is right near x₀."""
        from trundle.control.parts import caveats

        return caveats(self)

    def reduced(self, without: Sequence[str] = ()) -> Linearization:
        """The same of what inputs move alone, in fewer of the states: a controllable system (`trundle.control.parts`).

        Parameters
        ----------
        without : sequence of str, optional
            States to leave out besides, on which nothing that is kept depends: of `free_moving` those whose place
            doesn't matter, as wheels' angles.

        Returns
        -------
        Linearization
            Each direction that no input moves takes a state away, a coordinate on which nothing depends if it can: what
            is left out then stays what it is, 0 or a combination of what is kept.

        Raises
        ------
        InputError
            Where there are no inputs, for names that aren't states, and where a kept state depends on one in `without`.

        Examples
        --------
        >>> import trundle
        >>> about = trundle.derive(trundle.catalog.differential_drive()).linearize({"v_x": 1.0})
        >>> about.reduced().states
        ('x', 'y', 'theta', 'v_x', 'omega', 'right_motor.current', 'left_motor.current')
        """
        from trundle.control.parts import reachable_part

        return reachable_part(self, without)

    def with_states(self, states: Sequence[str]) -> Linearization:
        """The same of some of the states, on which nothing but what is left out depends (`trundle.control.parts`).

        Parameters
        ----------
        states : sequence of str
            What to keep. Outputs that show what is left out go with it.

        Returns
        -------
        Linearization
            Exact: no rate of what is kept depends on what is left out.

        Raises
        ------
        InputError
            For names that aren't states, and where a kept one depends on one that isn't.

        Examples
        --------
        >>> import trundle
        >>> about = trundle.derive(trundle.catalog.pendulum(links=1)).linearize()
        >>> about.with_states(["link_1.rate", "link_1.angle"]).states
        ('link_1.rate', 'link_1.angle')
        """
        from trundle.control.parts import chosen_part

        return chosen_part(self, states)

    def deviation(self, state: Mapping[str, float], time: float = 0.0) -> FloatArray:
        """Find z, (n,), of a state of the model beside the motion that x₀ goes on with.

        Parameters
        ----------
        state : mapping of str to float
            All states of the model by name, in SI.
        time : float, s
            How long ago the motion was at x₀: its pose, and what else only drifts, have moved on since.

        Returns
        -------
        ndarray (n,)
            z in the order of `states`; angles of the pose and rotations of up to half a turn.

        Raises
        ------
        InputError
            Where x₀ is not on a steady motion and `time` isn't 0, or a state is missing.

        Examples
        --------
        >>> import trundle
        >>> about = trundle.derive(trundle.catalog.pendulum(links=1)).linearize()
        >>> about.deviation({"link_1.angle": 0.1, "link_1.rate": 0.0})
        array([0.1, 0. ])
        """
        return self._deviations.deviation(state, time)

    def controller(self, law: npt.ArrayLike | Realisation, period: float | None = None) -> Controller:
        """A gain or a linear system, python-control's too, as a part of the robot that holds x₀ with inputs u₀.

        u = u₀ − K z of a gain K; of a system (A, B, C, D) on y, ξ' = A ξ + B (y − y₀) and u = u₀ − (C ξ + D (y − y₀)),
        as python-control's `feedback(plant, system)` closes a loop.

        Parameters
        ----------
        law : array_like (m, n), or what has A, B, C, D
            A gain by `inputs` and `states`; or a system by `inputs` and `outputs`, such as `control.StateSpace`.
        period : float, s, optional
            Between samples of a gain; a system has its own, `dt`. Default: it acts at every instant.

        Returns
        -------
        Controller
            For `trundle.derive(robot, controllers={"hold": …})`.

        Raises
        ------
        InputError
            Where shapes don't fit, where what is read moves on in this motion or is a rotation in space, and for models
            that were not described.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> about = model.trim({"v_x": 1.0}).linearize(outputs=["v_x", "omega"])
        >>> speed = np.array([[0.0, 0, 0, 0, 0, 20, 0, 0, 0]] * 2)  # volts by v_x, on both motors
        >>> closed = trundle.derive(model.robot, controllers={"hold": about.controller(speed)})
        >>> closed.inputs
        ()
        """
        from trundle.control.closing import controller_of

        return controller_of(self, law, period)

    def to_control(self) -> StateSpace:
        """The same as python-control's StateSpace, named alike but with "_" for each dot, which it doesn't allow.

        Warns where regulators of it would be wrong or don't exist (`caveats`). Raises InputError where python-control
        isn't installed.
        """
        control = load("control", "to_control needs python-control", instead="to_scipy needs nothing more")
        self._warn()
        names = {
            kind: [name.replace(".", "_") for name in getattr(self, kind)]
            for kind in ("states", "inputs", "outputs")
        }
        return control.StateSpace(self.A, self.B, self.C, self.D, **names, name=self.name.replace(".", "_"))

    def to_scipy(self) -> SciPyStateSpace:
        """The same as `scipy.signal.StateSpace`, which knows no names. Warns like `to_control`."""
        self._warn()
        from scipy.signal import StateSpace

        return StateSpace(self.A, self.B, self.C, self.D)


def linearize(
    model: Given,
    state: Mapping[str, float | str] | None = None,
    inputs: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    outputs: Sequence[str] | None = None,
    *,
    base: str | None = None,
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
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

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
    model = model if isinstance(model, Model) and base is None else model_of(model, "linearize", base)
    model.require_continuous("linearize")
    point = point_of(model, state, inputs, parameters)
    shown = chosen_outputs(model, outputs)
    slopes = model.rate_slopes.evaluate(point.x, point.u, point.p)
    gradient = constraint_gradient(model, point.x, point.u, point.p)
    seen = model.output_slopes.evaluate(point.x, point.u, point.p)
    return linearized(model, point, tangent_at(model, point.x, slopes[0], gradient), slopes, seen, shown)


def along_tangent(
    tangent: TangentSpace, by_state: FloatArray, by_input: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """A = L J T + L̇ T and B = L J_u from ∂ẋ/∂x and ∂ẋ/∂u, flat and row-major as programs give them."""
    n = len(tangent.basis)
    a = tangent.dual @ by_state.reshape(n, n) @ tangent.basis + tangent.dual_rate @ tangent.basis
    return a, tangent.dual @ by_input.reshape(n, -1)


def linearized(
    model: Model,
    point: OperatingPoint,
    tangent: TangentSpace,
    slopes: Sequence[FloatArray],
    seen: Sequence[FloatArray],
    shown: Sequence[str],
) -> Linearization:
    """The linearisation with its names, frozen, in the coordinates of a tangent.

    `slopes`: ẋ, ∂ẋ/∂x and ∂ẋ/∂u; `seen`: the same of all outputs, row-major as programs give them; `shown`: names of
    y. Raises NumericsError where numbers aren't finite.
    """
    n, m = len(model.states), len(model.inputs)
    rate, y = slopes[0], np.concatenate([seen[0], point.x])
    a, b = along_tangent(tangent, *slopes[1:])
    rows = [(*model.outputs, *model.states).index(name) for name in shown]
    c = np.concatenate([seen[1].reshape(-1, n), np.eye(n)])[rows] @ tangent.basis
    d = np.concatenate([seen[2].reshape(len(model.outputs), m), np.zeros((n, m))])[rows]
    if not all(np.isfinite(matrix).all() for matrix in (a, b, c, d, rate)):
        why = "it is singular there, or kinked (dry friction without a width)"
        why = f"it is singular there\n  {SYMPYS_PIVOTS}" if model.robot is None else why
        raise NumericsError(f"'{model.name}' has no finite rates or slopes at this state: {why}")
    # A linearisation is a value: what poles and controllability were worked out from must not change under them.
    for matrix in (a, b, c, d, tangent.basis, tangent.dual):
        matrix.setflags(write=False)
    names = (*tangent.names, *model.inputs, *shown)
    units = {**model.units, **dict(zip(tangent.names, tangent.units, strict=True))}
    return Linearization(
        model.name,
        tangent.names,
        model.inputs,
        tuple(shown),
        {name: units.get(name, "") for name in names},
        a,
        b,
        c,
        d,
        state=dict(zip(model.states, point.x.tolist(), strict=True)),
        input=dict(zip(model.inputs, point.u.tolist(), strict=True)),
        output=dict(zip(shown, y[rows].tolist(), strict=True)),
        rate=dict(zip(tangent.names, (tangent.dual @ rate).tolist(), strict=True)),
        basis=tangent.basis,
        dual=tangent.dual,
        dependent=tangent.dependent,
        parameters=point.parameters,
        model=model,
    )
