"""One run of a model: states, outputs, and the two checks that every run carries, constraint residual and energy
balance.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from trundle.errors import InputError, NumericsError, TrundleError, suggest
from trundle.model import Model
from trundle.program import compile_program
from trundle.results import Run
from trundle.simulate.integrate import Rate, Settings, choose_method, integrate, tolerances
from trundle.simulate.progress import Progress
from trundle.simulate.signals import Signal, as_signal, longest_step

Buffers = tuple[np.ndarray, np.ndarray, np.ndarray]


def simulate(
    model: Model,
    duration: float = 10.0,
    inputs: Mapping[str, Any] | None = None,
    *,
    initial: Mapping[str, float] | None = None,
    parameters: Mapping[str, Any] | None = None,
    samples: int = 1001,
    times: Sequence[float] | None = None,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Run:
    """Integrate ẋ = f(x, u(t), p) over [0, duration] s and observe it at `samples` equal times, or at `times`.

    inputs: by name, each a number, a function of time, or a table (times, values, interpolation); those not given
    are 0.
    initial: states by name, 0 where not given. parameters: changed values by name (numbers in SI, or text with
    units); nothing is derived or compiled again for them. method: auto, lsoda, radau, bdf, dop853 or rk45; auto
    takes LSODA for models with electrical states, slipping wheels, joints with dry friction or stops, and
    Dormand-Prince 8(5,3) for the others. rtol, atol bound each step's error; by default 1e-11 and a tenth of it
    with Dormand-Prince 8(5,3), 1e-9 and a tenth of it with the others.

    The run's `constraint_residual` is max |A ν| in m/s, its `energy.imbalance` (where the model comes from a
    description) the work put in − losses − change of
    the stored energy in J, with work and losses integrated beside the states. Raises InputError for names and values
    that don't fit, NumericsError where the numbers fail, saying when.
    """
    at = sample_times(duration, samples, times)
    signals = named_signals(model.inputs, inputs or {}, model.name)
    values = model.parameter_values(parameters)
    start = np.array([*model.state_vector(initial, values), *(0.0 for _ in model.audit)])
    if not np.isfinite(start).all():
        raise InputError("the initial state holds something that is not a finite number", key="run.initial")
    chosen = choose_method(method, model.stiff)
    settings = Settings(chosen, *tolerances(chosen, rtol, atol), longest_step(signals.values(), at))
    p = np.array(list(values.values()))

    began = time.perf_counter()
    kernel, observer = compile_program(model.audited), compile_program(model.observe)
    kernel.prepare()
    slope = None
    if settings.method in ("lsoda", "radau", "bdf"):
        slope = compile_program(model.audited_jacobian)
        slope.prepare()
    observer.prepare(2, 2 if signals else 1, 1)
    compiled = time.perf_counter()

    with Progress(progress, at[-1], f"simulating {model.name}") as bar:
        names = [*model.states, *model.audit]
        make = _pieces(kernel, slope, list(signals.values()), p, len(start), bar)
        breaks = [b for s in signals.values() for b in (*s.jumps, *s.kinks)]
        states = integrate(make, start, at, breaks, settings, names)
    commands = np.array([s.sample(at) for s in signals.values()]).reshape(len(signals), at.size)
    own = np.ascontiguousarray(states[: len(model.states)])
    (outputs,) = observer(own, commands if signals else np.zeros(0), p)
    finished = time.perf_counter()
    return _run(
        model, at, states, commands, outputs, values,
        {"method": settings.method, "compile_seconds": compiled - began, "simulate_seconds": finished - compiled},
    )  # fmt: skip


def sample_times(duration: float, samples: int, times: Sequence[float] | None) -> np.ndarray:
    """The times of a run: as given (s, increasing from 0), or `samples` equal ones from 0 to `duration`."""
    if times is not None:
        at = np.asarray(times, dtype=float)
        if at.ndim != 1 or at.size < 2 or not np.isfinite(at).all() or at[0] < 0 or (np.diff(at) <= 0).any():
            raise InputError("times must be two or more increasing finite numbers from 0 on", key="times")
        return at if at[0] == 0 else np.concatenate([[0.0], at])
    if not (np.isfinite(duration) and duration > 0):
        raise InputError(
            f"the duration must be a positive number of seconds, not {duration}", key="run.duration"
        )
    if samples < 2:
        raise InputError(f"a run needs at least 2 samples, not {samples}", key="run.samples")
    return np.linspace(0.0, duration, samples)


def named_signals(known: Sequence[str], given: Mapping[str, Any], name: str) -> dict[str, Signal]:
    """A signal for every input, in the model's order; zero where none is given. Raises InputError for unknown names."""
    for each in given:
        if each not in known:
            raise InputError(
                f"'{each}' is not an input of '{name}'", key=f"run.inputs.{each}", hint=suggest(each, known)
            )
    result = {}
    for each in known:
        try:
            result[each] = as_signal(given.get(each, 0.0))
        except InputError as error:
            raise error.at(key=f"run.inputs.{each}") from None
    return result


def _pieces(
    kernel: Any, slope: Any, signals: Sequence[Signal], p: np.ndarray, size: int, bar: Progress
) -> Callable[[float, float], tuple[Rate, Rate]]:
    """Rate and Jacobian (only where `slope` is there) on fixed buffers, for `integrate`: on a piece, jumping inputs
    keep the value they have inside it.
    """
    x, rate, matrix = np.zeros(size), np.zeros(size), np.zeros(size * size)
    u = np.zeros(len(signals))
    evaluate = kernel.bind(x, u, p, rate)
    differentiate = None if slope is None else slope.bind(x, u, p, matrix)
    square = matrix.reshape(size, size)

    def make(a: float, b: float) -> tuple[Rate, Rate]:
        middle = (a + b) / 2
        for k, signal in enumerate(signals):
            u[k] = signal.value(middle)
        moving = [(k, s.value) for k, s in enumerate(signals) if not s.steady and not s.jumps]

        def load(t: float, y: np.ndarray) -> None:
            x[:] = y
            for k, value in moving:
                u[k] = value(t)

        def f(t: float, y: np.ndarray) -> np.ndarray:
            x[:] = y
            for k, value in moving:
                u[k] = value(t)
            evaluate()
            bar.at(t)
            return rate.copy()

        def df(t: float, y: np.ndarray) -> np.ndarray:
            if differentiate is None:
                raise TrundleError("this method was prepared without a Jacobian")
            load(t, y)
            differentiate()
            return square.copy()

        return f, df

    return make


def _run(
    model: Model,
    at: np.ndarray,
    states: np.ndarray,
    commands: np.ndarray,
    outputs: np.ndarray,
    parameters: Mapping[str, float],
    summary: dict[str, Any],
) -> Run:
    values = dict(zip(model.states, states, strict=False))
    values |= dict(zip(model.inputs, commands, strict=True))
    values |= dict(zip(model.outputs, outputs, strict=True))
    _require_finite(values, at)
    account = _energy_account(model, states, values)
    values |= account
    summary |= {"constraint_residual": float(values["constraint_residual"].max())}
    if account:
        summary |= {
            "energy_imbalance": float(np.abs(values["energy.imbalance"]).max()),
            "energy_turned_over": energy_turned_over(values),
        }
    summary |= {
        "mobility": None
        if model.mobility is None
        else [model.mobility.mobility, model.mobility.steerability],
        "operations": model.operations,
        "derive_seconds": model.derive_seconds,
    }
    return Run(
        name=model.name,
        time=at,
        values=values,
        units={
            name: unit
            for name, unit in {**model.units, **dict.fromkeys(account, "J")}.items()
            if name in values
        },
        description=describe(model, parameters),
        summary=summary,
        groups={
            "coordinates": model.coordinates,
            "speeds": model.speeds,
            "currents": model.currents,
            "inputs": model.inputs,
            "outputs": (*model.outputs, *account),
        },
    )


def _energy_account(
    model: Model, states: np.ndarray, values: Mapping[str, np.ndarray]
) -> dict[str, np.ndarray]:
    """Stored energy, work, losses and what doesn't balance (J); nothing where the model keeps no account."""
    if not model.audit:
        return {}
    stored = values["energy.kinetic"] + values["energy.potential"] + values["energy.internal"]
    balance = states[-2] - states[-1] - (stored - stored[0])
    return {
        "energy.stored": stored,
        "energy.work": states[-2],
        "energy.losses": states[-1],
        "energy.imbalance": balance,
    }


def energy_turned_over(values: Mapping[str, np.ndarray]) -> float:
    """The energy that passed through the robot (J): the largest of work, losses, and the travel of each kind of
    stored energy.
    """
    spans = [
        float(np.ptp(values[f"energy.{kind}"]))
        for kind in ("kinetic", "potential", "internal", "work", "losses")
    ]
    return max(spans)


def describe(model: Any, parameters: Mapping[str, float]) -> dict[str, Any]:
    """What travels with a run: the description as text (or what else the model was made from), the parameters that
    were used, how to draw the robot.
    """
    if model.robot is None:
        return {**model.origin, "parameters": dict(parameters), "sketch": dict(model.sketch)}
    from trundle.robot import dump

    return {"yaml": dump(model.robot), "parameters": dict(parameters), "sketch": dict(model.sketch)}


def _require_finite(values: Mapping[str, np.ndarray], at: np.ndarray) -> None:
    for name, series in values.items():
        bad = ~np.isfinite(series)
        if bad.any():
            raise NumericsError(
                f"'{name}' is not finite at t = {at[int(np.argmax(bad))]:g} s: the robot is singular there"
            )
