"""A kinematic run: the base's path from wheel rates or wheel angles over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from trundle.errors import InputError
from trundle.mechanics.quantities import Quantities
from trundle.model.arguments import Given, named, number, robot_of
from trundle.model.manifold import settle
from trundle.model.mechanism import mechanism
from trundle.model.rolling_motion import derive_rolling, rate_names, twist_names
from trundle.results import Run
from trundle.robot import Robot
from trundle.simulation.options import RunOptions, Times, initial_numbers, options_of
from trundle.simulation.problem import Problem, named_signals, solve
from trundle.simulation.signals import Input, Signal
from trundle.simulation.twists import ROUNDING, with_twist

# The tolerances of a kinematic run, tighter than a dynamic one's: its rates cost next to nothing.
TOLERANCE = 1e-12


def roll(
    robot: Given,
    duration: float | str | None = None,
    inputs: Mapping[str, Input] | None = None,
    *,
    initial: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, float | str] | None = None,
    samples: int = 1001,
    times: Times | None = None,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | str | None = None,
    base: str | None = None,
    progress: bool | Callable[[float], None] = True,
) -> Run:
    """The motion of a robot whose wheels turn as given: q̇ = g(q, k(t)), without forces.

    Where the wheels over-determine the motion it is that of least squares. The run's `slip_residual` is the largest
    contact velocity (m/s) that no motion of the base could remove.

    Parameters
    ----------
    robot : Robot, Model, Document, path or mapping
        What rolls; of a model the robot that it was derived from.
    duration : float or str, s
        How long, from t = 0; without it 10, or as long as `times` are.
    inputs : mapping of str to number, str, function, Signal or tuple
        Rates by name (`left.rate` in rad/s, `front.steering_rate`), or angles (`left.angle` in rad, `front.steering`),
        as in `simulate`; an angle is differentiated, and sets the start of its coordinate. Wheels whose rates aren't
        given roll freely, steering and joints are held. Or the twist of a planar base, `v_x`, `v_y` (m/s) and `omega`
        (rad/s), in its own frame: what isn't given of it follows from wheels that can't steer or is 0, and wheels turn
        and steer so as to roll, from where the first twist needs them.
    initial : mapping of str to number or str
        Coordinates by name, in SI or as text with units.
    parameters : mapping of str to number or str
        Changed values by name.
    samples : int
        How many equal times to store, from 0 to `duration`.
    times : array_like, shape (n,), s
        The times to store, in place of `duration` and `samples`.
    method : {"auto", "lsoda", "radau", "bdf", "dop853", "rk45", "rk23"}
        The integrator; auto takes LSODA.
    rtol, atol : float
        Bounds on a step's error; 1e-12 by default.
    max_step : float or str, s
        The longest step, as in `simulate`.
    progress : bool or callable
        Whether to show progress after a second's work where a person watches (a terminal or a notebook), or what to
        call with the share done (0 to 1).
    base : {"fixed", "planar", "floating"}, optional
        How the base moves, in place of what the description says.

    Returns
    -------
    Run
        Coordinates, given rates, the speeds that follow and the slip residual over time.

    Raises
    ------
    InputError
        For names and values that don't fit, and where the given motions don't determine the base's.
    NumericsError
        Where the numbers fail, saying when.

    Examples
    --------
    >>> import trundle
    >>> robot = trundle.catalog.differential_drive(radius=0.15)
    >>> run = trundle.roll(robot, 2.0, {"left.rate": 2.0, "right.rate": "2 rad/s"})
    >>> round(float(run["x"][-1]), 9)
    0.6
    """
    robot = robot_of(robot, "roll", "it has no wheels to roll on", base)
    bounds = {"rtol": rtol, "atol": atol, "tolerance": TOLERANCE}
    options = options_of(duration, samples, times=times, method=method, max_step=max_step, **bounds)
    return solve(kinematic_problem(robot, inputs, initial, parameters, options), progress)


def kinematic_problem(
    robot: Robot,
    inputs: Mapping[str, Input] | None,
    initial: Mapping[str, float | str] | None,
    parameters: Mapping[str, float | str] | None,
    options: RunOptions,
) -> Problem:
    """The motion of a robot from its wheels' as an initial-value problem; the arguments are those of `roll`."""
    began = time.perf_counter()
    known = kinematic_inputs(robot)
    asked = named_signals(named(inputs, "inputs"), known.units, robot.name, options)
    starts = {
        name: number(value, f"run.initial.{name}", known.units[name])
        for name, value in named(initial, "initial").items()
        if name in known and name not in asked
    }
    values = robot.parameter_values(named(parameters, "parameters"))
    signals = with_twist(mechanism(robot, values), asked, starts, options.end)
    angles = _angles(known, signals)
    # Rates first: the order of the program's inputs.
    names = sorted(signals, key=lambda name: name in angles)
    kinematics = derive_rolling(robot, [known.rate_of(name) or name for name in names])
    derived = time.perf_counter() - began
    given = initial_numbers(initial, kinematics)
    begins = {name: signal.value(0.0) for name, signal in angles.items()}
    _require_one_start(given, begins)
    start = {name: begins.get(name, given.get(name, 0.0)) for name in kinematics.coordinates}
    rates = {
        rate: signals[name].rate(options.end) if name in angles else signals[name]
        for rate, name in zip(kinematics.inputs, names, strict=True)
    }
    return Problem(
        kinematics,
        kinematics.program,
        kinematics.program,
        rates,
        values,
        given,
        settle(kinematics, start, (*given, *angles), values),
        stiff=True,
        options=options,
        summary={
            "mode": "kinematic",
            "operations": kinematics.program.operations,
            "derive_seconds": derived,
        },
    )


def _require_one_start(given: Mapping[str, float], begins: Mapping[str, float]) -> None:
    """Raise InputError where an initial value is another one than where its input begins."""
    for name in given.keys() & begins.keys():
        if abs(begins[name] - given[name]) > ROUNDING:
            message = f"'{name}' starts at {given[name]:g}, and its input at {begins[name]:g}"
            raise InputError(message, key=f"run.initial.{name}", hint="keep one of them")


def kinematic_inputs(robot: Robot) -> Quantities:
    """What a kinematic run can be given: rates, the coordinates whose rates they are, which stand for them, and the
    twist of a planar base.
    """
    assembly = mechanism(robot).assembly
    quantities, rates = assembly.quantities, rate_names(assembly)
    coordinates = [quantities.coordinate_of(rate) for rate in rates]
    return quantities.only((*rates, *coordinates, *twist_names(assembly)))


def _angles(known: Quantities, signals: Mapping[str, Signal]) -> dict[str, Signal]:
    """The given signals that are coordinates over time, which no wheel can make jump."""
    angles = {name: signal for name, signal in signals.items() if known[name].kind != "speed"}
    for name, signal in angles.items():
        key, rate = f"run.inputs.{name}", known.rate_of(name)
        if rate in signals:
            raise InputError(f"both '{name}' and '{rate}' are given", key=key, hint="keep one of them")
        if signal.feedback is not None:
            raise InputError(
                f"'{name}' can't follow the motion", key=key, hint=f"give a function for '{rate}'"
            )
        if signal.jumps:
            hint = "use linear or cubic interpolation, or a function without jumps"
            raise InputError(f"'{name}' jumps, which no wheel can", key=key, hint=hint)
    return angles
