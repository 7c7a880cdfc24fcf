"""A kinematic run: the base's path from wheel rates or wheel angles over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import assemble
from trundle.mechanics.quantities import Quantities
from trundle.model.configuration import independent_coordinates
from trundle.model.kinematics import Kinematics, derive_kinematics, rate_names
from trundle.model.manifold import on_manifold, settle
from trundle.program import compile_program, feed
from trundle.results import Run
from trundle.simulation.arguments import (
    check_tolerances,
    initial_numbers,
    named,
    require_robot,
    sample_times,
    step_limit,
)
from trundle.simulation.dynamic import describe, finder, moved_guesses, named_signals, prepared
from trundle.simulation.integrate import Settings, choose_method, integrate
from trundle.simulation.pieces import make_pieces
from trundle.simulation.progress import Progress
from trundle.simulation.signals import Signal

if TYPE_CHECKING:
    from trundle.robot import Robot


def roll(
    robot: Any,
    duration: float | str = 10.0,
    inputs: Mapping[str, Any] | None = None,
    *,
    initial: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    samples: int = 1001,
    times: Sequence[float] | np.ndarray | None = None,
    method: str = "auto",
    rtol: float = 1e-12,
    atol: float = 1e-12,
    max_step: float | str | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Run:
    """The motion of a robot whose wheels turn as given: q̇ = g(q, k(t)), least squares where the wheels
    over-determine it.

    inputs: rates by name (`left.rate` in rad/s, `front.steering_rate`), or angles (`left.angle` in rad,
    `front.steering`), each a number, a table or a function of time; an angle is differentiated, and sets the start
    of its coordinate. initial, parameters, samples, times, method, rtol, atol and max_step are those of `simulate`:
    a pulse of a function that is shorter than max_step (by default a thousandth of the run) may be missed. Raises
    InputError where the given motions don't determine the base's. The run's
    `slip_residual` is the largest contact velocity (m/s) that no motion of the base could remove.
    """
    began = time.perf_counter()
    require_robot(robot, "roll")
    asked = sample_times(duration, samples, times)
    at = asked if asked[0] == 0 else np.concatenate([[0.0], asked])
    check_tolerances(rtol, atol)
    limit = step_limit(max_step)
    known_inputs = kinematic_inputs(robot)
    rates, angles = _split(robot, known_inputs, named(inputs, "inputs"))
    kinematics = derive_kinematics(robot, [*rates, *(known_inputs.rate_of(name) for name in angles)])
    derived = time.perf_counter()
    known, longest = prepared(
        named_signals([*rates, *angles], {**rates, **angles}, robot.name, known_inputs.units),
        float(at[-1]),
        limit,
    )
    values = robot.parameter_values(named(parameters, "parameters"))
    p = np.array(list(values.values()))
    begin = initial_numbers(initial, kinematics.coordinates, kinematics.units, robot.name, kind="coordinate")
    state = _start(kinematics.coordinates, begin, {name: known[name] for name in angles})
    start = dict(zip(kinematics.coordinates, state, strict=True))
    state = settle(kinematics, start, (*begin, *angles), values)
    kernel = compile_program(kinematics.program)
    kernel.prepare()
    compiled = time.perf_counter()

    signals = [*((known[n], False) for n in rates), *((known[n], True) for n in angles)]
    breaks = [b for s, _ in signals for b in (*s.jumps, *s.kinks)]
    settings = Settings(choose_method(method, stiff=True), rtol, atol, longest)
    with Progress(progress, float(at[-1]), f"rolling {robot.name}") as bar:
        program = kinematics.program
        guided = program if kinematics.projection is None else feed(program, kinematics.projection)
        make = make_pieces(guided, guided.jacobian("rate", "state"), _sources(signals, bar.end), p, bar)
        states = integrate(make, state, at, breaks, settings, kinematics.coordinates, finder(known.values()))
    given = np.array([_sampled(s, differentiate, at) for s, differentiate in signals]).reshape(
        len(signals), at.size
    )
    states = on_manifold(kinematics, states, given, p)
    _, outputs = kernel(states, given, p)
    finished = time.perf_counter()
    skip = at.size - asked.size

    columns = dict(zip(kinematics.coordinates, states, strict=True))
    columns |= dict(zip(kinematics.given, given, strict=True))
    columns |= dict(zip(kinematics.outputs, outputs, strict=True))
    seconds = {
        "derive_seconds": derived - began,
        "compile_seconds": compiled - derived,
        "simulate_seconds": finished - compiled,
    }
    kept = {each: series[skip:] for each, series in columns.items()}
    moved = moved_guesses(begin, dict(zip(kinematics.coordinates, state, strict=True)))
    return _run(kinematics, asked, kept, values, {"method": settings.method, **seconds, **moved})


def _run(
    kinematics: Kinematics,
    asked: np.ndarray,
    columns: Mapping[str, np.ndarray],
    values: Mapping[str, float],
    summary: Mapping[str, Any],
) -> Run:
    residual = float(columns["slip_residual"].max())
    return Run(
        name=kinematics.name,
        time=asked,
        values=columns,
        units={name: unit for name, unit in kinematics.units.items() if name in columns},
        description=describe(kinematics, values),
        summary={
            "mode": "kinematic",
            "operations": kinematics.program.operations,
            "slip_residual": residual,
            "constraint_residual": residual,
            **summary,
        },
        groups={
            "coordinates": kinematics.coordinates,
            "speeds": (),
            "currents": (),
            "inputs": kinematics.given,
            "outputs": kinematics.outputs,
        },
    )


def kinematic_inputs(robot: Any) -> Quantities:
    """What a kinematic run can be given: rates, and the coordinates whose rates they are, which stand for them."""
    quantities = assemble(robot, robot.resolver()).quantities
    rates = rate_names(robot)
    return quantities.only((*rates, *(quantities.coordinate_of(rate) for rate in rates)))


def _split(robot: Any, known: Quantities, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Given rates, and given coordinates."""
    named_signals(tuple(known), inputs, robot.name, known.units)
    rates = {name: given for name, given in inputs.items() if known[name].kind == "speed"}
    angles = {name: given for name, given in inputs.items() if name not in rates}
    for name in angles:
        if known.rate_of(name) in rates:
            raise InputError(
                f"both '{name}' and '{known.rate_of(name)}' are given",
                key=f"run.inputs.{name}",
                hint="keep one of them",
            )
    return rates, angles


def _start(
    coordinates: Sequence[str], initial: Mapping[str, float], angles: Mapping[str, Signal]
) -> list[float]:
    start = {each: float(initial.get(each, 0.0)) for each in coordinates}
    for each, signal in angles.items():
        if signal.jumps:
            raise InputError(
                f"'{each}' jumps, which no wheel can",
                key=f"run.inputs.{each}",
                hint="use linear or cubic interpolation, or a function without jumps",
            )
        if each in start:
            start[each] = signal.value(0.0)
    return [start[each] for each in coordinates]


def _sampled(signal: Signal, differentiate: bool, at: np.ndarray) -> np.ndarray:
    if not differentiate:
        return signal.sample(at)
    return np.array([signal.derivative(float(t), 0.0, float(at[-1])) for t in at])


def _sources(
    signals: Sequence[tuple[Signal, bool]], end: float
) -> list[tuple[Callable[[float], float], bool]]:
    """Each given rate at t (s): a rate's own value, an angle's derivative; and whether it changes between jumps."""
    return [
        ((lambda t, s=s: s.derivative(t, 0.0, end)) if derived else s.value, not (s.steady or s.held))
        for s, derived in signals
    ]


def kinematic_names(robot: Robot) -> tuple[dict[str, str], dict[str, str]]:
    """Names and units of what a kinematic run can be given, and of the states it starts from."""
    assembly = assemble(robot, robot.resolver())
    states = assembly.quantities.only(independent_coordinates(assembly))
    return kinematic_inputs(robot).units, states.units
