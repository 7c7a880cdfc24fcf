"""A kinematic run: the base's path from wheel rates or wheel angles over time."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from trundle.errors import InputError
from trundle.model.kinematics import derive_kinematics, rate_names
from trundle.program import compile_program
from trundle.results import Run
from trundle.simulate.dynamic import describe, named_signals, sample_times
from trundle.simulate.integrate import Rate, Settings, check_tolerances, choose_method, integrate
from trundle.simulate.progress import Progress
from trundle.simulate.signals import Signal, longest_step

# A coordinate given over time stands for its rate: the ending of the one, and of the other.
_RATES = {"angle": "rate", "position": "rate", "steering": "steering_rate"}


def roll(
    robot: Any,
    duration: float = 10.0,
    inputs: Mapping[str, Any] | None = None,
    *,
    initial: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    samples: int = 1001,
    times: Sequence[float] | None = None,
    method: str = "auto",
    rtol: float = 1e-12,
    atol: float = 1e-12,
    progress: bool | Callable[[float], None] = False,
) -> Run:
    """The motion of a robot whose wheels turn as given: q̇ = g(q, k(t)), least squares where the wheels
    over-determine it.

    inputs: rates by name (`left.rate` in rad/s, `front.steering_rate`), or angles (`left.angle` in rad,
    `front.steering`), each a number, a table or a function of time; an angle is differentiated, and sets the start
    of its coordinate. Raises InputError where the given motions don't determine the base's. The run's
    `slip_residual` is the largest contact velocity (m/s) that no motion of the base could remove.
    """
    began = time.perf_counter()
    at = sample_times(duration, samples, times)
    check_tolerances(rtol, atol)
    rates, angles = _split(robot, inputs or {})
    kinematics = derive_kinematics(robot, [*rates, *(rate_of(name) for name in angles)])
    derived = time.perf_counter()
    known = named_signals([*rates, *angles], {**rates, **angles}, robot.name)
    values = robot.parameter_values(parameters)
    p = np.array(list(values.values()))
    state = _start(kinematics.coordinates, initial or {}, {name: known[name] for name in angles}, robot.name)
    kernel = compile_program(kinematics.program)
    kernel.prepare()
    compiled = time.perf_counter()

    size = len(kinematics.coordinates)
    signals = [*((known[n], False) for n in rates), *((known[n], True) for n in angles)]
    breaks = [b for s, _ in signals for b in (*s.jumps, *s.kinks)]
    settings = Settings(choose_method(method, stiff=True), rtol, atol, longest_step(known.values(), at))
    with Progress(progress, float(at[-1]), f"rolling {robot.name}") as bar:
        make = _pieces(kernel, kinematics.program, signals, p, size, bar)
        states = integrate(make, state, at, breaks, settings, kinematics.coordinates)
    given = np.array([_sampled(s, differentiate, at) for s, differentiate in signals]).reshape(
        len(signals), at.size
    )
    _, outputs = kernel(np.ascontiguousarray(states), given, p)
    finished = time.perf_counter()

    columns = dict(zip(kinematics.coordinates, states, strict=True))
    columns |= dict(zip(kinematics.given, given, strict=True))
    columns |= dict(zip(kinematics.outputs, outputs, strict=True))
    summary = {
        "mode": "kinematic",
        "method": settings.method,
        "operations": kinematics.program.operations,
        "derive_seconds": derived - began,
        "compile_seconds": compiled - derived,
        "simulate_seconds": finished - compiled,
        "slip_residual": float(columns["slip_residual"].max()),
        "constraint_residual": float(columns["slip_residual"].max()),
    }
    return Run(
        name=robot.name,
        time=at,
        values=columns,
        units={name: unit for name, unit in kinematics.units.items() if name in columns},
        description=describe(kinematics, values),
        summary=summary,
        groups={
            "coordinates": kinematics.coordinates,
            "speeds": (),
            "currents": (),
            "inputs": kinematics.given,
            "outputs": kinematics.outputs,
        },
    )


def rate_of(name: str) -> str:
    """The rate that a given coordinate stands for (`left.angle`: `left.rate`); a rate stands for itself."""
    owner, _, what = name.rpartition(".")
    return f"{owner}.{_RATES.get(what, what)}"


def kinematic_inputs(robot: Any) -> tuple[str, ...]:
    """Names that a kinematic run can be given: rates, and the coordinates whose derivatives they are."""
    rates = rate_names(robot)
    coordinates = []
    for name in rates:
        owner, _, what = name.rpartition(".")
        if what == "steering_rate":
            coordinates.append(f"{owner}.steering")
        else:
            sliding = owner in robot.joints and robot.joints[owner].type == "prismatic"
            coordinates.append(f"{owner}.{'position' if sliding else 'angle'}")
    return (*rates, *coordinates)


def _split(robot: Any, inputs: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Given rates, and given coordinates."""
    named_signals(kinematic_inputs(robot), inputs, robot.name)
    rates = {name: given for name, given in inputs.items() if name.endswith("rate")}
    angles = {name: given for name, given in inputs.items() if name not in rates}
    for name in angles:
        if rate_of(name) in rates:
            raise InputError(
                f"both '{name}' and '{rate_of(name)}' are given",
                key=f"run.inputs.{name}",
                hint="keep one of them",
            )
    return rates, angles


def _start(
    coordinates: Sequence[str], initial: Mapping[str, float], angles: Mapping[str, Signal], name: str
) -> list[float]:
    for each in initial:
        if each not in coordinates:
            from trundle.errors import suggest

            raise InputError(
                f"'{each}' is not a coordinate of '{name}'",
                key=f"run.initial.{each}",
                hint=suggest(each, coordinates),
            )
    start = {each: float(initial.get(each, 0.0)) for each in coordinates}
    for each, signal in angles.items():
        if signal.jumps:
            raise InputError(
                f"'{each}' jumps, which no wheel can",
                key=f"run.inputs.{each}",
                hint="use linear or cubic interpolation",
            )
        if each in start:
            start[each] = signal.value(0.0)
    return [start[each] for each in coordinates]


def _sampled(signal: Signal, differentiate: bool, at: np.ndarray) -> np.ndarray:
    if not differentiate:
        return signal.sample(at)
    return np.array([signal.derivative(float(t), 0.0, float(at[-1])) for t in at])


def _pieces(
    kernel: Any, program: Any, signals: Sequence[tuple[Signal, bool]], p: np.ndarray, size: int, bar: Progress
) -> Any:
    x, k, rate = np.zeros(size), np.zeros(len(signals)), np.zeros(size)
    outputs = np.zeros(program.outputs[1].size)
    evaluate = kernel.bind(x, k, p, rate, outputs)
    slope = compile_program(program.jacobian("rate", "state"))
    matrix = np.zeros(size * size)
    differentiate = slope.bind(x, k, p, matrix)

    def make(a: float, b: float) -> tuple[Rate, Rate]:
        middle, end = (a + b) / 2, bar.end
        k[:] = [s.derivative(middle, 0.0, end) if d else s.value(middle) for s, d in signals]
        moving = [(i, s, d) for i, (s, d) in enumerate(signals) if not s.steady and not s.jumps]

        def load(t: float, y: np.ndarray) -> None:
            x[:] = y
            inside = min(
                max(t, a), float(np.nextafter(b, a))
            )  # kinked slopes belong to the piece, not to its end
            for i, signal, derived in moving:
                k[i] = signal.derivative(inside, 0.0, end) if derived else signal.value(inside)

        def f(t: float, y: np.ndarray) -> np.ndarray:
            load(t, y)
            evaluate()
            bar.at(t)
            return rate.copy()

        def df(t: float, y: np.ndarray) -> np.ndarray:
            load(t, y)
            differentiate()
            return matrix.reshape(size, size).copy()

        return f, df

    return make
