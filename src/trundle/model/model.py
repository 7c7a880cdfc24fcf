"""Model: a robot's equations of motion as programs, with the names and units of everything in them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from trundle.documents import dump
from trundle.errors import InputError, suggest
from trundle.expected import a_text, by_name, names_of
from trundle.mechanics.mobility import Mobility
from trundle.model.manifold import Constrained, changed_numbers, settle
from trundle.model.mechanism import mechanism
from trundle.program import Program
from trundle.robot import Robot
from trundle.scalars import SX
from trundle.shown import Explained, Shown

if TYPE_CHECKING:
    from trundle.analysis.analyze import Analysis
    from trundle.arrays import FloatArray
    from trundle.control.kalman import Kalman
    from trundle.control.linear_trajectory import LinearTrajectory
    from trundle.control.linearization import Linearization
    from trundle.control.regulator import Regulator
    from trundle.control.regulator_along import RegulatorAlong
    from trundle.control.trim import Trim
    from trundle.exports.package import Package
    from trundle.formulas import Equations
    from trundle.model.model_program import ModelProgram
    from trundle.model.moving import MovingMechanism
    from trundle.model.programs import FrameMotion, WholeMomentum
    from trundle.motion.drive.kinematics import Kinematics
    from trundle.motion.odometry.odometry import Odometry
    from trundle.results import Run
    from trundle.simulation.ode import Ode
    from trundle.simulation.signals import Inputs

# Largest contact velocity (m/s) at speeds of about 1 that counts as rounding: constraints that are solved leave 1e-16.
_RESIDUAL = 1e-7


@dataclass(frozen=True)
class ConstraintSummary(Explained):
    """The velocity constraints: how many rows, their rank, and the forces that redundancy leaves undetermined."""

    rows: int
    rank: int
    undetermined: tuple[str, ...] = ()


@dataclass(frozen=True, repr=False, kw_only=True)
class Model(Constrained, Shown):
    """ẋ = f(x, u, p) and y = g(x, u, p) of one robot.

    States x are coordinates, then independent speeds, then the motors' currents (those with an inductance) or other
    extra states; SI units, angles in radians, speeds of a moving base in the base's own frame. `dynamics` maps groups
    (state, input, parameter) to `rate`; `observe` maps the same to `output`: dependent speeds, motor and contact
    forces, energies, the constraint residual. `audited` is `dynamics` with two more states, the work put in and the
    energy lost (J), so a run can balance its energy.

    A model that isn't made from a description has no `robot`, its `audited` may be `dynamics` itself, and `origin` says
    what it was made from. `formed` holds what it brings along in place of a mechanism: "mass_matrix", "bias" and the
    frames of named points, as programs.

    Where controllers sample, `clocks` are their periods and first instants (s) by name. `sampling` maps (state, input,
    parameter, due) to the `state` after an instant, by which of them are due (1, else 0).
    """

    robot: Robot | None
    mobility: Mobility | None
    constraints: ConstraintSummary
    dynamics: Program
    audited: Program
    observe: Program
    stiff: bool
    derive_seconds: float = field(compare=False)
    notes: tuple[str, ...] = ()
    origin: Mapping[str, str] = field(default_factory=dict)
    formed: Mapping[str, Program] = field(default_factory=dict)
    sampling: Program | None = None
    clocks: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def made_from(self) -> Mapping[str, str]:
        """What a run keeps of where the model came from: its description as text, or what a SymPy model was."""
        return {**self.origin, **({} if self.robot is None else {"yaml": dump(self.robot)})}

    @cached_property
    def initial(self) -> Mapping[str, float]:
        """Where each state starts when nothing else is said: 0, and quaternions upright."""
        return dict(zip(self.states, self.quantities.starts(self.states), strict=True))

    @property
    def audit(self) -> tuple[str, ...]:
        """Names of the states that `audited` has beside x: the energy account, or nothing."""
        return self.audited.outputs[0].labels[len(self.states) :]

    @cached_property
    def held(self) -> tuple[str, ...]:
        """The states that stand still between samples, those of controllers that sample."""
        names = {name.partition(".")[0] for name in self.clocks}
        return tuple(name for name in self.currents if name.partition(".")[0] in names)

    def require_continuous(self, needed_by: str) -> None:
        """Raise InputError where controllers sample, for what needs a motion without jumps.

        Parameters
        ----------
        needed_by : str
            What does, to begin the message with.

        Raises
        ------
        InputError
            Some controller has a period.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.differential_drive()).require_continuous("linearize")
        """
        if not self.clocks:
            return
        names = ", ".join(dict.fromkeys(name.partition(".")[0] for name in self.clocks))
        raise InputError(
            f"{needed_by} needs a model that moves on at every instant; controllers of '{self.name}' sample: {names}",
            key="model",
            hint="derive the robot without its controllers, robot.plant, or leave their periods away",
        )

    @property
    def operations(self) -> int:
        """Arithmetic instructions of one evaluation of `dynamics`."""
        return self.dynamics.operations

    @property
    def freedoms(self) -> int:
        """Degrees of freedom: how many speeds can be chosen at once."""
        if self.robot is None:
            return len(self.speeds) - self.constraints.rank
        return sum(name not in self.dependent for name in self.speeds)

    @cached_property
    def audited_jacobian(self) -> Program:
        """∂(rate)/∂(state) of `audited`, by automatic differentiation; row-major."""
        return self.audited.jacobian("rate", "state")

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the description (or of what else the model was made from) and of Trundle's version."""
        from trundle.model.archive import digest_of

        return digest_of(self)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: object) -> Model:
        return self  # nothing in it changes

    def __reduce__(self) -> tuple[Callable[[str], Model], tuple[str]]:
        from trundle.model.archive import reduced

        return reduced(self)

    def parameter_values(self, changes: Mapping[str, float | str] | None = None) -> dict[str, float]:
        """All parameters in order, some of them changed.

        Parameters
        ----------
        changes : mapping of str to float or str, optional
            New values by name: numbers in SI, or text with units ("6 in").

        Returns
        -------
        dict of str to float
            Every parameter and its number in SI.

        Raises
        ------
        InputError
            A name or a value doesn't fit; the changed numbers make constraints independent that were derived as
            redundant, or make a state vanish.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("differential_drive"))
        >>> model.parameter_values({"r": "6 in"})["r"]
        0.1524
        """
        changes = {} if changes is None else by_name(changes, "parameters")
        if self.robot is None:
            return changed_numbers(self, changes, self.constraints.rows, self.constraints.rank)
        if not changes:
            return dict(self._own_values)
        return self._checked_values(self.robot, changes)

    @cached_property
    def _own_values(self) -> Mapping[str, float]:
        """The parameters as they are without changes, checked once and not in every run."""
        assert self.robot is not None
        return self._checked_values(self.robot, {})

    def _checked_values(self, robot: Robot, changes: Mapping[str, float | str]) -> dict[str, float]:
        values = robot.parameter_values(changes)
        _check_states(self, robot, values)
        if self.constraints.rows and values != self.parameters:
            _check_rank(self, values)
        return values

    def state_vector(
        self, values: Mapping[str, float] | None = None, parameters: Mapping[str, float] | None = None
    ) -> list[float]:
        """A state x from some of its values; the others start where `initial` says, or where constraints need it.

        Parameters
        ----------
        values : mapping of str to float, optional
            States by name (SI). Of a robot with loops they stay as given where the loops can be closed at them.
        parameters : mapping of str to float, optional
            All parameters, at which the loops are closed; by default the model's own.

        Returns
        -------
        list of float
            x in the order of `states`.

        Raises
        ------
        InputError
            A name is no state, a value no number, a quaternion not of length 1; or the constraints can't be met.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("pendulum", links=1))
        >>> model.state_vector({"link_1.angle": 0.5})
        [0.5, 0.0]
        """
        start = dict(self.initial)
        values = {} if values is None else by_name(values, "values")
        parameters = self.parameters if parameters is None else by_name(parameters, "parameters")
        for name, value in values.items():
            if name not in start:
                hint = suggest(name, start)
                raise InputError(f"'{name}' is not a state of '{self.name}'", key=name, hint=hint)
            try:
                start[name] = float(value)
            except (TypeError, ValueError):
                raise InputError(f"expected a number, got {value!r}", key=name) from None
        self.quantities.check_quaternions(start)
        return settle(self, start, tuple(values), parameters or self.parameters)

    @cached_property
    def moving(self) -> MovingMechanism:
        """The mechanism in CasADi's symbols, from which further programs are made; raises InputError without a
        description.
        """
        from trundle.model.programs import symbolic_mechanism

        return symbolic_mechanism(self)

    @cached_property
    def kept_programs(self) -> dict[tuple[object, ...], object]:
        """Programs that were asked for by a link's name, by what was asked."""
        return {}

    @cached_property
    def rhs(self) -> ModelProgram[FloatArray]:
        """ẋ = f(x, u, p), called: `model.rhs(x, u)`, x and u by name or in order, one state or many.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.pendulum(links=1))
        >>> model.rhs({"link_1.rate": 0.5})[0]
        np.float64(0.5)
        """
        from trundle.model.programs import rhs

        return rhs(self)

    @cached_property
    def mass_matrix(self) -> ModelProgram[FloatArray]:
        """SᵀMS of the independent speeds (kg, kg m, kg m²), (n, n) when called: `model.mass_matrix(q)`.

        As a program: (coordinate, speed, parameter) → `mass_matrix`, row-major. With loops the tree's.

        Raises
        ------
        InputError
            The model was not derived from a description.
        """
        from trundle.model.programs import mass_matrix

        return mass_matrix(self)

    @cached_property
    def bias(self) -> ModelProgram[FloatArray]:
        """h with M u̇ + h = the force on u (N, N m), (n,) when called: `model.bias(q, v)`.

        Gravity, Coriolis and centrifugal forces; motors, springs and friction are no part of it; with loops the tree's.

        Raises
        ------
        InputError
            The model was not derived from a description.
        """
        from trundle.model.programs import bias

        return bias(self)

    @cached_property
    def gravity(self) -> ModelProgram[FloatArray]:
        """The bias at rest, (n,) when called: what must be applied to u to hold the weight, `model.gravity(q)`.

        Raises
        ------
        InputError
            The model was not derived from a description.
        """
        from trundle.model.programs import gravity

        return gravity(self)

    @cached_property
    def momentum(self) -> ModelProgram[WholeMomentum]:
        """Momentum about the centre of mass: (coordinate, speed, parameter) → `center` (m), its `velocity` (m/s),
        `linear` (kg m/s) and `angular` (kg m²/s), in world axes; a tuple of these when called: `model.momentum(q, v)`.

        Raises
        ------
        InputError
            The model was not derived from a description.
        """
        from trundle.model.programs import momentum

        return momentum(self)

    def inverse_dynamics(self, pushed: Sequence[str] = ()) -> ModelProgram[FloatArray]:
        """The forces that accelerations need: (coordinate, speed, acceleration[, wrench], parameter) → `force`.

        Sᵀ(M (S u̇ + Ṡ u) + c − Σ Jᵀ w) on the independent speeds (N, N m), which motors, springs and friction together
        must give.

        Parameters
        ----------
        pushed : sequence of str, optional
            Links on which wrenches act: forces (N) and moments (N m) about the link's origin, in world axes.

        Returns
        -------
        ModelProgram
            Differentiable; called, the force (n,): `model.inverse_dynamics()(q, v, acceleration)`.

        Raises
        ------
        InputError
            A link has no such name; the model was not derived from a description.

        References
        ----------
        Featherstone 2008, table 5.1.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("differential_drive"))
        >>> model.inverse_dynamics().outputs[0].labels
        ('v_x', 'omega')
        """
        from trundle.model.programs import inverse_dynamics

        return inverse_dynamics(self, names_of(pushed, "pushed"))

    def forward_dynamics(self, pushed: Sequence[str] = ()) -> ModelProgram[FloatArray]:
        """The accelerations that forces give: (coordinate, speed, force[, wrench], parameter) → `acceleration`.

        Parameters
        ----------
        pushed : sequence of str, optional
            Links on which wrenches act, as in `inverse_dynamics`.

        Returns
        -------
        ModelProgram
            u̇ of the independent speeds (m/s², rad/s²), gravity included; differentiable. Called, an array (n,).

        Raises
        ------
        InputError
            A link has no such name; the model was not derived from a description.

        References
        ----------
        Featherstone 2008, table 7.1 for trees without constraints.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("pendulum", links=2))
        >>> model.forward_dynamics().outputs[0].labels
        ('link_1.rate', 'link_2.rate')
        """
        from trundle.model.programs import forward_dynamics

        return forward_dynamics(self, names_of(pushed, "pushed"))

    def frame(self, link: str, point: Sequence[float | str] = (0.0, 0.0, 0.0)) -> ModelProgram[FrameMotion]:
        """Where a point of a link is and how it moves: (coordinate, speed, parameter) → `position` (m), `rotation`
        (3×3), `velocity` (m/s, rad/s), `jacobian` (6×n) and `bias`, row-major, in world axes.

        velocity = jacobian · speed, acceleration = jacobian · (speed's rate) + bias.

        Parameters
        ----------
        link : str
            A joint's, a body's or a wheel's name, or "base". A wheel's frame doesn't spin with it, its velocity is
            that of the wheel's material.
        point : sequence of three numbers or str, optional
            (x, y, z) in the link's frame, in m or as text with units, by default its origin.

        Returns
        -------
        ModelProgram
            Differentiable; called, a tuple of these: `model.frame("hand")(q, v).position`.

        Raises
        ------
        InputError
            A link has no such name, a point is no three numbers; the model was not derived from a description.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.robot("differential_drive"))
        >>> [group.name for group in model.frame("base").outputs]
        ['position', 'rotation', 'velocity', 'jacobian', 'bias']
        """
        from trundle.model.programs import frame

        return frame(self, a_text(link, "link"), point)

    @cached_property
    def rate_slopes(self) -> Program:
        """`dynamics` with ∂(rate)/∂(state) and ∂(rate)/∂(input) beside the rate, row-major."""
        return self.dynamics.with_jacobians("rate", "state", "input")

    @cached_property
    def output_slopes(self) -> Program:
        """`observe` with ∂(output)/∂(state) and ∂(output)/∂(input) beside the outputs, row-major."""
        return self.observe.with_jacobians("output", "state", "input")

    # Doors: what other rooms do with a model, to be found by a dot.

    def analyze(
        self,
        at: Mapping[str, float | str] | None = None,
        *,
        frame: str | None = None,
        point: Sequence[float | str] | None = None,
        length: float | str | None = None,
        voltage: float | str | None = None,
    ) -> Analysis:
        """What the robot can and cannot do: base motions, singular configurations, where driving leads.

        Parameters
        ----------
        at : mapping of str to number or str
            The configuration; here and below as in `trundle.analyze`.
        frame, point : str, and sequence of three numbers or str, m
            A body, joint or wheel whose motion is the task, and the point of it.
        length, voltage : number or str, m and V
            What compares turning with moving; the greatest voltage of motors with no limit and no battery.

        Returns
        -------
        Analysis
            The answers, each computed when it is asked for.

        Raises
        ------
        InputError
            For what doesn't fit, and models without a description.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.differential_drive()).analyze().motions
        2
        """
        from trundle import analyze

        return analyze(self, at, frame=frame, point=point, length=length, voltage=voltage)

    def linearize(
        self,
        state: Mapping[str, float | str] | None = None,
        inputs: Mapping[str, float | str] | None = None,
        parameters: Mapping[str, float | str] | None = None,
        outputs: Sequence[str] | None = None,
    ) -> Linearization:
        """A, B, C, D about a state, along its constraints, in independent coordinates, by automatic differentiation.

        Parameters
        ----------
        state, inputs, parameters : mapping of str to number or str
            As in `trundle.linearize`.
        outputs : sequence of str
            Names of y.

        Returns
        -------
        Linearization
            The matrices with names and units.

        Raises
        ------
        InputError
            For what doesn't fit.
        NumericsError
            Where the model is singular.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum()).linearize().poles.size
        4
        """
        from trundle import linearize

        return linearize(self, state, inputs, parameters, outputs)

    def trim(
        self,
        targets: Mapping[str, float | str] | None = None,
        *,
        start: Mapping[str, float | str] | None = None,
        held: Sequence[str] = (),
        parameters: Mapping[str, float | str] | None = None,
        **values: float | str,
    ) -> Trim:
        """Find a steady motion in which states, inputs or outputs have given values: `model.trim(v_x=1, omega=0.5)`.

        Parameters
        ----------
        targets, start, parameters : mapping of str to number or str, optional
            As in `trundle.trim`.
        held : sequence of str, optional
            States that are taken as constant though they change slowly, as a battery's charge.
        **values : number or str
            More targets.

        Returns
        -------
        Trim
            State, inputs, and the directions that are left free.

        Raises
        ------
        InputError
            For what doesn't fit.
        NumericsError
            Where no such motion is found.

        Examples
        --------
        >>> import trundle
        >>> list(trundle.derive(trundle.catalog.differential_drive()).trim(v_x=1.0, omega=0.0).rate)
        ['x', 'right.angle', 'left.angle']
        """
        from trundle import trim

        return trim(self, targets, start=start, held=held, parameters=parameters, base=None, **values)

    @overload
    def lqr(
        self,
        at: Mapping[str, float | str] | Trim | Linearization | None = None,
        weights: Mapping[str, float | str] | None = None,
        *,
        period: float | str | None = None,
        parameters: Mapping[str, float | str] | None = None,
    ) -> Regulator: ...

    @overload
    def lqr(
        self,
        *,
        along: Run | LinearTrajectory,
        weights: Mapping[str, float | str] | None = None,
        final: Mapping[str, float | str] | None = None,
        period: float | str | None = None,
    ) -> RegulatorAlong: ...

    def lqr(
        self,
        at: Any = None,
        weights: Any = None,
        *,
        along: Any = None,
        final: Any = None,
        period: float | str | None = None,
        parameters: Any = None,
    ) -> Regulator | RegulatorAlong:
        """The linear-quadratic regulator about a steady motion, or along a run, from what may be off by how much.

        Parameters
        ----------
        at : mapping, Trim or Linearization, optional
            What is asked of the steady motion, or that motion; by default standing still.
        weights : mapping of str to number or str
            By state or input how far it may be off.
        along : Run or LinearTrajectory, optional
            A run of this model, or that linearised, in place of `at`.
        final : mapping of str to number or str, optional
            How far states may be off at the end of the run.
        period : number or str, s, optional
            The time between samples.
        parameters : mapping of str to number or str, optional
            Changed values by name.

        Returns
        -------
        Regulator or RegulatorAlong
            The gain with its names, poles, margins and cost; along a run gains over time.

        Raises
        ------
        InputError
            For what doesn't fit, and for states that no input moves.
        NumericsError
            Where no steady motion is found, or no stabilising solution.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": "6 V", "right_motor.voltage": "6 V"}
        >>> bool(model.lqr({"v_x": 1.0}, {"v_x": "5 cm/s", **volts}).poles.real.max() < 0)
        True
        """
        from trundle import lqr

        asked: dict[str, Any] = {"along": along, "final": final, "period": period, "parameters": parameters}
        return lqr(self, at, weights, **asked)

    def kalman(
        self,
        at: Mapping[str, float | str] | Trim | Linearization | None = None,
        noise: Mapping[str, float | str] | None = None,
        measured: Mapping[str, float | str] | None = None,
        *,
        period: float | str | None = None,
        parameters: Mapping[str, float | str] | None = None,
    ) -> Kalman:
        """The Kalman gain about a steady motion, from noise by name.

        Parameters
        ----------
        at : mapping, Trim or Linearization, optional
            What is asked of the steady motion, or that motion; by default standing still.
        noise : mapping of str to number or str
            By input or state what disturbs it, as in `trundle.kalman`.
        measured : mapping of str to number or str
            By state or output the standard deviation of its measurement.
        period : number or str, s, optional
            The time between samples.
        parameters : mapping of str to number or str, optional
            Changed values by name.

        Returns
        -------
        Kalman
            The gain with its names, poles and covariance.

        Raises
        ------
        InputError
            For what doesn't fit, and for states that no measurement sees.
        NumericsError
            Where no steady motion is found, or no stabilising solution.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> volts = {"left_motor.voltage": "1 V", "right_motor.voltage": "1 V"}
        >>> model.kalman({"v_x": 1.0}, volts, {"left.rate": 0.01, "right.rate": 0.01}).L.shape
        (4, 2)
        """
        from trundle import kalman

        return kalman(self, at, noise, measured, period=period, parameters=parameters)

    def linearize_along(self, run: Run, outputs: Sequence[str] | None = None) -> LinearTrajectory:
        """A(t), B(t), C(t), D(t) at every time of a run of this model, with the run's inputs and parameters.

        Parameters
        ----------
        run : Run
            Of this model.
        outputs : sequence of str
            Names of y, as in `trundle.linearize_along`.

        Returns
        -------
        LinearTrajectory
            The matrices over time.

        Raises
        ------
        InputError
            For what isn't a run of this model.
        NumericsError
            Where it is singular, saying when.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.pendulum())
        >>> len(model.linearize_along(trundle.simulate(model, 1.0, samples=11)))
        11
        """
        from trundle import linearize_along

        return linearize_along(self, run, outputs)

    def equations(self, what: str = "all") -> Equations:
        """The equations as SymPy objects that a person can read, checked against the model's programs.

        Parameters
        ----------
        what : {"all", "kinematics", "constraints", "dynamics", "state"}
            As in `trundle.equations`.

        Returns
        -------
        Equations
            With `text()`, `latex()` and `markdown()`.

        Raises
        ------
        InputError
            For other words, and models without a description.

        Examples
        --------
        >>> import trundle
        >>> model = trundle.derive(trundle.catalog.differential_drive())
        >>> print(model.equations("kinematics").text())  # doctest: +ELLIPSIS
        differential_drive
        ...
        """
        from trundle import equations

        return equations(self, what)

    def animate(self, path: str | os.PathLike[str] | None = None) -> Path | Shown:
        """A page that is alive: the robot, sliders for parameters, inputs and start, and the equations; or a film.

        Parameters
        ----------
        path : str or path
            As in `trundle.animate`; None: in a notebook.

        Returns
        -------
        Path or InlinePage
            The file or the folder; what a notebook shows.

        Raises
        ------
        InputError
            As in `trundle.animate`, and for models that no page can hold.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum()).animate()
        <page of 'pendulum': a notebook shows it; animate('page.html') writes it>
        """
        from trundle import animate

        return animate(self, path)

    def kinematics(self) -> Kinematics:
        """The wheels' angles and speeds from the base's twist, u = A ξ, and back by least squares.

        Returns
        -------
        Kinematics
            The wheels on the base, in numbers: of one twist or of many.

        Raises
        ------
        InputError
            The model was not derived from a description of a planar base with wheels.

        Examples
        --------
        >>> import trundle
        >>> kinematics = trundle.derive(trundle.catalog.swerve()).kinematics()
        >>> kinematics.module_states(0, 1.0, 0)["front_left"][0].round(3)
        np.float64(1.571)
        """
        from trundle import kinematics

        return kinematics(self)

    def odometry(self, given: Sequence[str] | None = None) -> Odometry:
        """The base's pose from increments of wheel and joint angles.

        Parameters
        ----------
        given : sequence of str
            The rates of those angles, as in `trundle.odometry`; by default of all that motors drive.

        Returns
        -------
        Odometry
            The program of one step, with its Jacobians.

        Raises
        ------
        InputError
            For unknown names, and where they don't determine the base's motion.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.differential_drive()).odometry().increments
        ('right.angle', 'left.angle')
        """
        from trundle import odometry

        return odometry(self, given)

    def ode(
        self,
        inputs: Inputs | None = None,
        *,
        initial: Mapping[str, float | str] | None = None,
        parameters: Mapping[str, float | str] | None = None,
    ) -> Ode:
        """The equations of motion as SciPy's `solve_ivp` takes them: `solve_ivp(ode, (0, 10), ode.x0)`.

        Parameters
        ----------
        inputs, initial, parameters : mapping
            By name, as in `trundle.ode`.

        Returns
        -------
        Ode
            A function of (t, x), with `x0` and `jacobian`.

        Raises
        ------
        InputError
            For what doesn't fit.

        Examples
        --------
        >>> import trundle
        >>> ode = trundle.derive(trundle.catalog.pendulum(links=1)).ode(initial={"link_1.rate": 0.5})
        >>> float(ode(0.0, ode.x0)[0])
        0.5
        """
        from trundle import ode

        return ode(self, inputs, initial=initial, parameters=parameters)

    def numpy(self, function: str = "dynamics") -> Callable[..., FloatArray | tuple[FloatArray, ...]]:
        """The equations as a plain function of NumPy arrays, without a compiler: `model.numpy()(x, u, p)`.

        Parameters
        ----------
        function : str
            Which, as in `trundle.to_numpy`.

        Returns
        -------
        callable
            Of groups (n,) or (n, count).

        Raises
        ------
        InputError
            For unknown functions.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum(links=1)).numpy()([0.0, 0.5])[0]
        np.float64(0.5)
        """
        from trundle import to_numpy

        return to_numpy(self, function)

    def jax(self, function: str = "dynamics") -> Callable[..., Any]:
        """The equations as a function that JAX's `jit`, `vmap` and `grad` take: `model.jax()(x, u, p)`.

        Parameters
        ----------
        function : str
            Which, as in `trundle.to_jax`.

        Returns
        -------
        callable
            Of JAX arrays.

        Raises
        ------
        InputError
            For unknown functions, and where JAX isn't installed.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum(links=1)).jax()([0.0, 0.5]).shape  # doctest: +SKIP
        (2,)
        """
        from trundle import to_jax

        return to_jax(self, function)

    def casadi(self, function: str = "dynamics") -> SX:
        """The equations as a `casadi.Function`, for optimal control: `model.casadi()(x, u, p)`.

        Parameters
        ----------
        function : str
            Which, as in `trundle.to_casadi`.

        Returns
        -------
        casadi.Function
            Of SX, with the groups' names.

        Raises
        ------
        InputError
            For unknown functions.

        Examples
        --------
        >>> import trundle
        >>> trundle.derive(trundle.catalog.pendulum(links=1)).casadi().size_out("rate")
        (2, 1)
        """
        from trundle import to_casadi

        return to_casadi(self, function)

    def export(
        self,
        to: str,
        what: str | Sequence[str] | None = None,
        *,
        output: str | os.PathLike[str] | None = None,
        name: str | None = None,
        precision: str | None = None,
        force: bool = False,
    ) -> Package:
        """The model in another language, as a folder that compiles as it stands: `model.export("c", output="robot")`.

        Parameters
        ----------
        to : str
            The language or target; here and below as in `trundle.export`.
        what : str or sequence of str
            Which parts; by default all that the model has.
        output : str or path
            The folder to write.
        name : str
            What stands in names of files, functions and classes.
        precision : {"double", "single"}
            Of the numbers.
        force : bool
            Replace what stands there.

        Returns
        -------
        Package
            The files by name.

        Raises
        ------
        InputError
            For what doesn't fit, and folders that hold something else.

        Examples
        --------
        >>> import trundle
        >>> "def dynamics(" in trundle.derive(trundle.catalog.pendulum()).export("numpy").files["pendulum.py"]
        True
        """
        from trundle import export

        return export(self, to, what, output=output, name=name, precision=precision, force=force)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write description, equations and names to one plain file, whole or not at all.

        Parameters
        ----------
        path : str or path
            Its name ends in .trundle.json.

        Returns
        -------
        Path
            The file, which `trundle.open` reads without deriving anything.

        Raises
        ------
        InputError
            For another suffix, and where the file can't be written.

        Examples
        --------
        >>> import trundle
        >>> path = trundle.derive(trundle.catalog.pendulum()).save("pendulum.trundle.json")
        >>> trundle.open(path).name
        'pendulum'
        """
        from trundle.model.archive import save_model

        return save_model(self, path)


def _check_states(model: Model, robot: Robot, values: Mapping[str, float]) -> None:
    """Raise InputError where parameters that became 0 make a state vanish: its rate would be divided by 0.

    So does a motor's current without inductance, which then follows at once.
    """
    zeros = [name for name, value in values.items() if value == 0.0 != model.parameters[name]]
    if not (zeros and model.currents):
        return
    left = {state.name for state in mechanism(robot, values).assembly.own_states}
    gone = [name for name in model.currents if name not in left]
    if gone:
        message = f"{' and '.join(zeros)} can't become 0: it is a divisor of the rate of '{gone[0]}'"
        hint = "derive robot.with_parameters(...) anew: what was a state then follows at once"
        raise InputError(message, key=zeros[0], hint=hint)


def _check_rank(model: Model, values: Mapping[str, float]) -> None:
    """Raise InputError where changed parameters make constraints independent that were derived as redundant, or
    singular.

    The derivation left out the rows that repeated others at the described numbers; at other numbers they may not.
    """
    state = np.random.default_rng(0).uniform(0.1, 0.5, len(model.states))
    start = dict(zip(model.states, state, strict=True))
    state = np.array(settle(model, start, (), values))
    (outputs,) = model.observe.evaluate(state, np.zeros(len(model.inputs)), np.array(list(values.values())))
    residual = outputs[list(model.outputs).index("constraint_residual")]
    if residual <= _RESIDUAL:
        return
    changed = ", ".join(name for name, value in values.items() if value != model.parameters[name])
    raise InputError(
        f"with {changed} changed, the rolling constraints of '{model.name}' are no longer those it was derived with "
        f"(rank {model.constraints.rank}): they would be broken by {residual:.2g} m/s",
        key=next((name for name, value in values.items() if value != model.parameters[name]), None),
        hint="wheels that shared an axle must go on sharing it; else derive robot.with_parameters(...) anew",
    )
