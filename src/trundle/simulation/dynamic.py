"""One run of a model: states, outputs, and the two checks that every run carries, constraint residual and energy
balance.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from trundle.errors import InputError, NumericsError, suggest
from trundle.model import Model
from trundle.model.manifold import on_manifold
from trundle.program import compile_program, feed
from trundle.results import Run
from trundle.simulation.arguments import (
    check_tolerances,
    dependents,
    initial_numbers,
    named,
    require_model,
    sample_times,
    step_limit,
)
from trundle.simulation.integrate import (
    MOST_DECAY,
    Settings,
    choose_method,
    decay_rate,
    integrate,
    tolerances,
)
from trundle.simulation.pieces import make_pieces
from trundle.simulation.progress import Progress
from trundle.simulation.signals import LOOKS, Signal, as_signal, find_jumps, longest_step, with_jumps

# Values of a function looked at to find its jumps, at most: a second's work.
MOST_LOOKS = 1_000_000
# Initial values that constraints moved by less than this are as they were given.
_SAME = 1e-9


def simulate(
    model: Model,
    duration: float | str = 10.0,
    inputs: Mapping[str, Any] | None = None,
    *,
    initial: Mapping[str, float | str] | None = None,
    parameters: Mapping[str, Any] | None = None,
    samples: int = 1001,
    times: Sequence[float] | np.ndarray | None = None,
    method: str = "auto",
    rtol: float | None = None,
    atol: float | None = None,
    max_step: float | str | None = None,
    progress: bool | Callable[[float], None] = False,
) -> Run:
    """Integrate ẋ = f(x, u(t), p) over [0, duration] s and observe it at `samples` equal times, or at `times` alone.

    inputs: by name, each a number, text with a unit, a function of time, or a table (times, values, interpolation);
    those not given are 0.
    initial: states by name (numbers in SI, or text with units), 0 where not given. parameters: changed values by
    name, likewise; nothing is derived or compiled again for them. method: auto, lsoda, radau, bdf, dop853 or rk45;
    auto takes LSODA for models with electrical states, slipping wheels, joints with dry friction or stops, and where
    the fastest decay at the start times the duration is above 1000, and Dormand-Prince 8(5,3) for the others. rtol,
    atol bound each step's error; by default 1e-11 and a tenth of it with Dormand-Prince 8(5,3), 1e-9 and a tenth of it
    with the others. max_step: the longest step (s); by default a thousandth of the run where inputs are functions, and
    none otherwise. Jumps of functions are found and steps end there, but a pulse shorter than max_step may be missed.

    The run's `constraint_residual` is max |A ν| in m/s, its `energy.imbalance` (where the model comes from a
    description) the work put in − losses − change of
    the stored energy in J, with work and losses integrated beside the states. Raises InputError for names and values
    that don't fit, NumericsError where the numbers fail, saying when.
    """
    require_model(model, "simulate")
    asked = sample_times(duration, samples, times)
    at = asked if asked[0] == 0 else np.concatenate([[0.0], asked])
    check_tolerances(rtol, atol)
    limit = step_limit(max_step)
    signals = named_signals(model.inputs, inputs, model.name, model.units)
    values = model.parameter_values(named(parameters, "parameters"))
    given = initial_numbers(initial, model.initial, model.units, model.name, dependent=dependents(model))
    start = np.array([*model.state_vector(given, values), *(0.0 for _ in model.audit)])
    p = np.array(list(values.values()))
    signals, longest = prepared(signals, float(at[-1]), limit)

    began = time.perf_counter()
    guided = model.audited if model.projection is None else feed(model.audited, model.projection)
    kernel, observer = compile_program(guided), compile_program(model.observe)
    kernel.prepare()
    _require_rates(model, kernel, [s.value(0.0) for s in signals.values()], p, start)
    with Progress(progress, at[-1], f"simulating {model.name}") as bar:
        used = choose_method(method, lambda: _is_stiff(model, signals.values(), p, start, bar))
        settings = Settings(used, *tolerances(used, rtol, atol), longest)
        slope = None
        if settings.method in ("lsoda", "radau", "bdf"):
            slope = (
                guided.jacobian("rate", "state") if guided is not model.audited else model.audited_jacobian
            )
            compile_program(slope).prepare()
        observer.prepare(2, 2 if signals else 1, 1)
        compiled = time.perf_counter()
        names = [*model.states, *model.audit]
        make = make_pieces(guided, slope, _sources(signals.values()), p, bar)
        breaks = [b for s in signals.values() for b in (*s.jumps, *s.kinks)]
        states = integrate(make, start, at, breaks, settings, names, finder(signals.values()))
    commands = np.array([s.sample(at) for s in signals.values()]).reshape(len(signals), at.size)
    own = on_manifold(model, states[: len(model.states)], commands, p)
    states[: len(model.states)] = own
    (outputs,) = observer(own, commands if signals else np.zeros(0), p)
    finished = time.perf_counter()
    return _run(
        model, at, states, commands, outputs, values,
        {"method": settings.method, "compile_seconds": compiled - began, "simulate_seconds": finished - compiled}
        | moved_guesses(given, dict(zip(model.states, start.tolist(), strict=False))),
        skip=at.size - asked.size,
    )  # fmt: skip


def moved_guesses(given: Mapping[str, float], start: Mapping[str, float]) -> dict[str, Any]:
    """`settled`: the given initial values that closed loops or other constraints moved, as (given, used)."""
    moved = {
        name: (value, start[name])
        for name, value in given.items()
        if abs(start[name] - value) > _SAME * max(1.0, abs(value))
    }
    return {"settled": moved} if moved else {}


def _require_rates(
    model: Model, kernel: Any, commands: Sequence[float], p: np.ndarray, start: np.ndarray
) -> None:
    """Raise NumericsError where no rates exist at the start, with the coordinates that make the robot singular."""
    (rate,) = kernel(start, np.array(commands), p)
    if np.isfinite(rate).all():
        return
    lost = [name for name, value in zip(model.states, rate, strict=False) if not np.isfinite(value)]
    raise NumericsError(
        f"at t = 0 s {', '.join(lost)} of '{model.name}' have no rates: it is singular where it starts, or its state "
        f"is too large\n  {_singular_start(model.robot)}"
    )


def _singular_start(robot: Any) -> str:
    """What may be singular where a robot starts, and what helps."""
    if robot is not None and robot.loops:
        return (
            f"the loop{'s' if len(robot.loops) > 1 else ''} {', '.join(robot.loops)} may stand at a dead point, where "
            "bodies in line can fold either way; start from other angles"
        )
    if robot is not None and robot.wheels:
        return (
            "steered wheels whose axles lie on one line do that; start from other angles, choose other independent "
            "speeds (robot.speeds), or give wheels contact: slip"
        )
    return "do two joints about one axis carry a body without inertia there? start from other angles"


def _is_stiff(
    model: Model, signals: Iterable[Signal], p: np.ndarray, start: np.ndarray, bar: Progress
) -> bool:
    """Whether the model says so, or the start shows a decay that an explicit method would follow in tiny steps."""
    if model.stiff:
        return True
    n = len(model.states)
    rate, _ = make_pieces(model.audited, None, _sources(signals), p, bar)(0.0, bar.end)

    def own(t: float, x: np.ndarray) -> np.ndarray:
        return rate(t, np.concatenate([x, start[n:]]))[:n]

    return decay_rate(own, start[:n]) * bar.end > MOST_DECAY


def prepared(
    signals: Mapping[str, Signal], end: float, asked: float | None
) -> tuple[dict[str, Signal], float]:
    """The signals with the jumps of functions found, and the longest step (s) that sees what they do."""
    # Twice as often as the longest step, so that what a step can see is seen.
    step = max((asked or end / LOOKS) / 2, end / MOST_LOOKS)
    found = {name: with_jumps(signal, end, step) for name, signal in signals.items()}
    return found, longest_step(found.values(), end, asked)


def finder(signals: Iterable[Signal]) -> Callable[[float, float], list[float]] | None:
    """What finds jumps of functions between two times more closely, where there are functions."""
    functions = [s for s in signals if s.resolution == math.inf]

    def find(a: float, b: float) -> list[float]:
        nodes = np.linspace(a, b, 2 * LOOKS).tolist()
        return [t for s in functions for t in find_jumps(s.value, nodes)]

    return find if functions else None


def named_signals(
    known: Sequence[str], given: Mapping[str, Any] | None, name: str, units: Mapping[str, str]
) -> dict[str, Signal]:
    """A signal for every input, in the model's order; zero where none is given. Raises InputError for unknown names."""
    given = named(given, "inputs")
    for each in given:
        if each not in known:
            raise InputError(
                f"'{each}' is not an input of '{name}'",
                key=f"run.inputs.{each}",
                hint=suggest(str(each), known),
            )
    result = {}
    for each in known:
        try:
            result[each] = as_signal(given.get(each, 0.0), units.get(each, ""))
        except InputError as error:
            raise error.at(key=f"run.inputs.{each}") from None
    return result


def _sources(signals: Iterable[Signal]) -> list[tuple[Callable[[float], float], bool]]:
    """Each input's value at t, and whether it changes between its jumps."""
    return [(s.value, not (s.steady or s.held)) for s in signals]


def _run(
    model: Model,
    at: np.ndarray,
    states: np.ndarray,
    commands: np.ndarray,
    outputs: np.ndarray,
    parameters: Mapping[str, float],
    summary: dict[str, Any],
    skip: int,
) -> Run:
    """The run without its first `skip` times: they start the energy account and weren't asked for."""
    values = dict(zip(model.states, states, strict=False))
    values |= dict(zip(model.inputs, commands, strict=True))
    values |= dict(zip(model.outputs, outputs, strict=True))
    _require_finite(values, at)
    account = _energy_account(model, states, values)
    values |= account
    at, values = at[skip:], {name: series[skip:] for name, series in values.items()}
    summary |= {
        name: float(values[name].max()) for name in ("constraint_residual", "loop_residual") if name in values
    }
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
    units = {**model.units, **dict.fromkeys(account, "J")}
    return Run(
        name=model.name,
        time=at,
        values=values,
        units={name: unit for name, unit in units.items() if name in values},
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
    from trundle.documents import dump
    from trundle.model.sketch import sketch_with

    described = all(parameters.get(name, value) == value for name, value in model.parameters.items())
    sketch = model.sketch if described else sketch_with(model.robot, {**model.parameters, **parameters})
    return {"yaml": dump(model.robot), "parameters": dict(parameters), "sketch": dict(sketch)}


def _require_finite(values: Mapping[str, np.ndarray], at: np.ndarray) -> None:
    for name, series in values.items():
        bad = ~np.isfinite(series)
        if bad.any():
            raise NumericsError(
                f"'{name}' is not finite at t = {at[int(np.argmax(bad))]:g} s: the robot is singular there"
            )
