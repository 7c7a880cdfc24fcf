"""What is asked of a model: abilities, steady motions and linear systems, equations, kinematics and odometry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from trundle.model.doors import Doors

if TYPE_CHECKING:
    from trundle.analysis.analyze import Analysis
    from trundle.control.kalman import Kalman
    from trundle.control.linear_trajectory import LinearTrajectory
    from trundle.control.linearization import Linearization
    from trundle.control.regulator import Regulator
    from trundle.control.regulator_along import RegulatorAlong
    from trundle.control.trim import Trim
    from trundle.formulas import Equations
    from trundle.motion.drive.kinematics import Kinematics
    from trundle.motion.odometry.odometry import Odometry
    from trundle.results import Run


class Studied(Doors):
    """Doors to the study of a model; the functions behind them check their arguments."""

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

        return analyze(self._model, at, frame=frame, point=point, length=length, voltage=voltage)

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

        return linearize(self._model, state, inputs, parameters, outputs)

    def trim(
        self,
        targets: Mapping[str, float | str] | None = None,
        *,
        start: Mapping[str, float | str] | None = None,
        fixed: Sequence[str] = (),
        parameters: Mapping[str, float | str] | None = None,
        **values: float | str,
    ) -> Trim:
        """Find a steady motion in which states, inputs or outputs have given values: `model.trim(v_x=1, omega=0.5)`.

        Parameters
        ----------
        targets, start, parameters : mapping of str to number or str, optional
            As in `trundle.trim`.
        fixed : sequence of str, optional
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

        return trim(
            self._model, targets, start=start, fixed=fixed, parameters=parameters, base=None, **values
        )

    @overload
    def lqr(
        self,
        at: Mapping[str, float | str] | Trim | Linearization | None = None,
        tolerances: Mapping[str, float | str] | None = None,
        *,
        period: float | str | None = None,
        parameters: Mapping[str, float | str] | None = None,
    ) -> Regulator: ...

    @overload
    def lqr(
        self,
        *,
        along: Run | LinearTrajectory,
        tolerances: Mapping[str, float | str] | None = None,
        final: Mapping[str, float | str] | None = None,
        period: float | str | None = None,
    ) -> RegulatorAlong: ...

    def lqr(
        self,
        at: Mapping[str, float | str] | Trim | Linearization | None = None,
        tolerances: Mapping[str, float | str] | None = None,
        *,
        along: Run | LinearTrajectory | None = None,
        final: Mapping[str, float | str] | None = None,
        period: float | str | None = None,
        parameters: Mapping[str, float | str] | None = None,
    ) -> Regulator | RegulatorAlong:
        """The linear-quadratic regulator about a steady motion, or along a run, from what may be off by how much.

        Parameters
        ----------
        at : mapping, Trim or Linearization, optional
            What is asked of the steady motion, or that motion; by default standing still.
        tolerances : mapping of str to number or str
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
        return lqr(self._model, at, tolerances, **asked)

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

        return kalman(self._model, at, noise, measured, period=period, parameters=parameters)

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

        return linearize_along(self._model, run, outputs)

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

        return equations(self._model, what)

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

        return kinematics(self._model)

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

        return odometry(self._model, given)
