"""Initial-value problems ẋ = f(x, u(t), p): `simulate` and `roll` state them, here they are solved and make a Run."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError, counted, suggest
from trundle.frozen import Deferred
from trundle.model import Model
from trundle.model.arguments import named
from trundle.model.health import without_value
from trundle.model.rolling_motion import RollingMotion
from trundle.program import Kernel, Program, compile_program, feed
from trundle.program.kernel import FEW, QUICK
from trundle.progress import Doing, Progress
from trundle.results import Run
from trundle.results.columns import Column
from trundle.results.run import GROUPS
from trundle.robot import Robot
from trundle.robot.problems import Mistake, report
from trundle.simulation.culprit import AXLES, Make, with_culprit
from trundle.simulation.events import falling, first_falls, told
from trundle.simulation.extremes import Extremes
from trundle.simulation.feedback import Fill, commands, filler
from trundle.simulation.integrate import IMPLICIT, MOST_DECAY, LongError, Settings, integrate, tolerances
from trundle.simulation.jumps import closer_look, longest_step, with_jumps
from trundle.simulation.observed import (
    STORED_ENERGY,
    between_of,
    columns_of,
    is_whole,
    look_of,
    observed,
    peaks_of,
)
from trundle.simulation.options import RunOptions
from trundle.simulation.pieces import make_pieces
from trundle.simulation.signals import Inputs, Signal, as_signal, together
from trundle.simulation.stability import decay_rate, eigenvalues

# Operations of the rates times states up to which their slopes are compiled: the matrix has about half as many, at
# 80 µs apiece. One of a humanoid (77 states) has 1.5 million and takes three minutes; its differences take 2 ms.
MOST_SLOPE = 50_000
# Initial values that constraints moved by less than this are as they were given.
_SAME = 1e-9


@dataclass(frozen=True)
class Problem:
    """ẋ = f(x, u(t), p) from x(0), and what a run shows of it.

    system: whose motion it is. rate: (state, input, parameter) -> ẋ first, with the states of the energy account behind
    the system's own; observe: the same -> outputs last. given: the initial values that were asked for by name, start:
    x(0), which may differ from them where constraints hold it. stiff: whether stiff formulas are needed; None where
    only a look at the start can tell. options: when it is stored and how it is integrated. summary: what the run's own
    begins with.
    """

    system: Model | RollingMotion
    rate: Program
    observe: Program
    signals: Mapping[str, Signal]
    parameters: Mapping[str, float]
    given: Mapping[str, float]
    start: Sequence[float]
    stiff: bool | None
    options: RunOptions
    summary: Mapping[str, object]

    @property
    def numbers(self) -> FloatArray:
        """p in order."""
        return np.array(list(self.parameters.values()))


def solve(problem: Problem, progress: bool | Callable[[float], None]) -> Run:
    """The run of a problem."""
    import scipy.integrate  # noqa: F401  the slowest import of a run, here so that its seconds are its own

    began = time.perf_counter()
    options, signals = problem.options, list(problem.signals.values())
    system, p = problem.system, problem.numbers
    guided = _guided(problem)
    fill = filler(signals, system.states, problem.observe, p)
    doing = "simulating" if isinstance(system, Model) else "rolling"
    still = all(signal.held and signal.feedback is None for signal in signals)
    moving = None if still else filler(signals, system.states, problem.observe, p, held=False)
    with Doing(progress, f"compiling {system.name}", "operations") as made:
        made.at(counted(guided.operations, "operation"), guided.operations)
        _require_rates(problem, fill, compile_program(guided))
        method = _method(problem, guided, moving)
        slope = slope_of(problem, guided) if method in IMPLICIT else None
        if slope is not None:
            made.at("", slope.operations)
        if not is_whole(guided):
            made.at("outputs", problem.observe.operations)
            compile_program(problem.observe).prepare(2, 2 if signals else 1, 1)
    compiled = time.perf_counter()
    with Progress(progress, options.end, f"{doing} {system.name}", "simulated s") as bar:
        names = guided.inputs[guided.input_index("state")].labels
        watched = list[Extremes]()

        def watch() -> Extremes:
            """What sees the steps; a run that starts over starts anew."""
            falls = [columns_of(problem).index(name) for name in falling(system)]
            watched[:] = [Extremes(look_of(problem, guided, fill), options.stored, falls)]
            return watched[0]

        make = make_pieces(guided, slope, signals, moving, p, bar)
        states = _integrated(problem, make, method, names, fill, watch)
    commanded = commands(signals, fill, options.times, states)
    outputs = observed(problem, guided, states, commanded)
    seconds = {"compile_seconds": compiled - began, "simulate_seconds": time.perf_counter() - compiled}
    summary = {**problem.summary, "method": method, **seconds, **_settled(problem)}
    return run_of(problem, (states, commanded, outputs), summary, watched[0])


def _integrated(
    problem: Problem, make: Make, method: str, names: Sequence[str], fill: Fill, watch: Callable[[], Extremes]
) -> FloatArray:
    """The states (called `names`) at the problem's times; NumericsError says what made the run stop."""
    options, signals = problem.options, list(problem.signals.values())
    bounds = tolerances(method, options.rtol, options.atol)
    settings = Settings(method, *bounds, longest_step(signals, options.end, options.max_step))
    breaks = [t for signal in signals for t in (*signal.jumps, *signal.kinks)]
    look = closer_look(signals)

    def integrated(make: Make) -> FloatArray:
        x, times = problem.start, options.times
        return integrate(
            make, x, times, breaks=breaks, settings=settings, names=names, find=look, watch=watch
        )

    try:
        return integrated(make)
    except LongError as error:
        raise NumericsError(str(error)) from None
    except NumericsError as error:
        raise with_culprit(error, problem.system, problem.parameters, fill, make, integrated) from None


def _guided(problem: Problem) -> Program:
    """What is integrated: on constraints that aren't solved for f(P(x)), with P one Newton step back onto them.

    Where compiling takes longer than all else, P(x) and the outputs there come from the same program, too: with f they
    share most of what they compute. Others should do no more at a step than they need.
    """
    rate, projection = problem.rate, problem.system.projection
    if projection is None:
        return rate
    whole = rate.operations + projection.operations > QUICK and problem.options.times.size <= FEW
    return feed(rate, projection, seen=problem.observe if whole else None)


def slope_of(problem: Problem, guided: Program) -> Program | None:
    """∂f/∂x, compiled, or None for a method that takes differences.

    It is None where inputs follow the motion, as nobody knows their slopes. It is None too where compiling the matrix
    would take longer than its differences ever will.
    """
    feedback = any(signal.feedback for signal in problem.signals.values())
    if feedback or guided.operations * len(problem.start) > MOST_SLOPE:
        return None
    system = problem.system
    kept = system.audited_jacobian if isinstance(system, Model) and guided is system.audited else None
    slope = kept or guided.jacobian("rate", "state")
    compile_program(slope).prepare()
    return slope


def _method(problem: Problem, guided: Program, fill: Fill | None) -> str:
    """The method asked for; of itself LSODA, which switches to stiff formulas, or Dormand-Prince 8(5,3): by the
    eigenvalues at the start of what is integrated.
    """
    if problem.options.method != "auto":
        return problem.options.method
    if problem.stiff is not None:
        return "lsoda" if problem.stiff else "dop853"
    n, start = len(problem.system.states), np.array(problem.start)
    signals = list(problem.signals.values())
    end = problem.options.end
    quiet = Progress(False, end, "", "")
    rate, _ = make_pieces(guided, None, signals, fill, problem.numbers, quiet)(0.0, end)

    def rates(states: FloatArray) -> FloatArray:
        return np.array([rate(0.0, np.concatenate([x, start[n:]]))[:n] for x in states.T]).T

    return "lsoda" if decay_rate(eigenvalues(rates, start[:n])) * end > MOST_DECAY else "dop853"


def _require_rates(problem: Problem, fill: Fill, kernel: Kernel) -> None:
    """Raise NumericsError where no rates exist at the start, with the coordinates that make the robot singular."""
    start = np.array(problem.start)
    commands = np.zeros(len(problem.signals))
    fill(0.0, start, commands)
    rate, *_ = kernel(start, commands, problem.numbers)
    if np.isfinite(rate).all():
        return
    system = problem.system
    lost = [name for name, value in zip(system.states, rate, strict=False) if not np.isfinite(value)]
    values = dict(zip(system.states, start.tolist(), strict=False))
    values |= dict(zip(system.inputs, commands.tolist(), strict=True))
    words = without_value(system.robot, problem.parameters, values) if system.robot is not None else ""
    if words:
        raise NumericsError(f"at t = 0 s {', '.join(lost)} of '{system.name}' have no rates: {words}")
    raise NumericsError(
        f"at t = 0 s {', '.join(lost)} of '{problem.system.name}' have no rates: it is singular where it starts, or "
        f"its state is too large\n  {_singular_start(problem.system.robot)}"
    )


def _singular_start(robot: Robot | None) -> str:
    """What may be singular where a robot starts, and what helps."""
    if robot is not None and robot.loops:
        return (
            f"the loop{'s' if len(robot.loops) > 1 else ''} {', '.join(robot.loops)} may stand at a dead point, where "
            "bodies in line can fold either way; start from other angles"
        )
    if robot is not None and robot.wheels:
        return AXLES
    return "do two joints about one axis carry a body without inertia there? start from other angles"


def _settled(problem: Problem) -> dict[str, object]:
    """`settled`: the given initial values that closed loops or other constraints moved, as (given, used)."""
    used = dict(zip(problem.system.states, problem.start, strict=False))
    moved = {
        name: (value, used[name])
        for name, value in problem.given.items()
        if abs(used[name] - value) > _SAME * max(1.0, abs(value))
    }
    return {"settled": moved} if moved else {}


def run_of(
    problem: Problem,
    solution: tuple[FloatArray, FloatArray, FloatArray],
    summary: Mapping[str, object],
    seen: Extremes | None = None,
) -> Run:
    """States, commands and outputs at all times as a Run: without the time 0, where that wasn't asked for.

    seen: what tells how it went between those times, if anything does.
    """
    system, options, states = problem.system, problem.options, solution[0]
    labels = (system.states, system.inputs, system.outputs)
    values = {
        name: row
        for names, rows in zip(labels, solution, strict=True)
        for name, row in zip(names, rows, strict=False)
    }
    _require_finite(values, options.times)
    account = _energy_account(states, values) if len(states) > len(system.states) else {}
    skip = options.times.size - options.stored.size
    values = {name: series[skip:] for name, series in {**values, **account}.items()}
    units = {**system.units, **dict.fromkeys(account, "J")}
    groups = {group: getattr(system, group, ()) for group in GROUPS}
    shown = columns_of(problem)
    falls = falling(system)
    times = {} if seen is None or not falls else {shown[k]: when for k, when in seen.fallen().items()}
    known = {name: system.quantities[name] for name in values if name in system.quantities}
    return Run(
        name=system.name,
        time=options.stored,
        values=values,
        units={name: unit for name, unit in units.items() if name in values},
        description=describe(system, problem.parameters),
        summary={
            **summary,
            **_worst(values),
            **told(system, first_falls(falls, times, values, options.stored), float(np.ptp(options.times))),
        },
        groups=groups | {"outputs": (*system.outputs, *account)},
        columns={name: Column(noun.owner, noun.label, noun.kind) for name, noun in known.items()},
        peaks={} if seen is None else Deferred(shown, lambda: peaks_of(problem, seen)),
        between={} if seen is None else Deferred(shown, lambda: between_of(problem, seen, values)),
    )


def _worst(values: Mapping[str, FloatArray]) -> dict[str, float]:
    """The largest residuals, and how far the energy is out of balance beside what passed through."""
    residuals = ("constraint_residual", "loop_residual", "slip_residual")
    largest = {name: float(values[name].max()) for name in residuals if name in values}
    # A kinematic run holds all other constraints by construction: only what its wheels can't do could be violated.
    if "slip_residual" in largest:
        largest["constraint_residual"] = largest["slip_residual"]
    if "energy.imbalance" in values:
        largest["energy_imbalance"] = float(np.abs(values["energy.imbalance"]).max())
        # What passed through (J): the largest of work, losses, and the travel of any kind of stored energy.
        kinds = ("kinetic", "potential", "internal", "work", "losses")
        largest["energy_turned_over"] = max(float(np.ptp(values[f"energy.{kind}"])) for kind in kinds)
    return largest


def _energy_account(states: FloatArray, values: Mapping[str, FloatArray]) -> dict[str, FloatArray]:
    """Stored energy, work, losses and what doesn't balance (J); work and losses are the last two states."""
    stored = np.sum([values[name] for name in STORED_ENERGY], axis=0)
    return {
        "energy.stored": stored,
        "energy.work": states[-2],
        "energy.losses": states[-1],
        "energy.imbalance": states[-2] - states[-1] - (stored - stored[0]),
    }


def describe(system: Model | RollingMotion, parameters: Mapping[str, float]) -> dict[str, object]:
    """What travels with a run: the description as text (or what else the model was made from), the parameters used."""
    return {**system.made_from, "parameters": dict(parameters)}


def _require_finite(values: Mapping[str, FloatArray], at: FloatArray) -> None:
    for name, series in values.items():
        for t in at[~np.isfinite(series)][:1]:
            raise NumericsError(f"'{name}' is not finite at t = {t:g} s: the robot is singular there")


def named_signals(
    given: Inputs | None, units: Mapping[str, str], name: str, options: RunOptions
) -> dict[str, Signal]:
    """Signals of these inputs by name, with the jumps of functions (see `signals_of`)."""
    return with_jumps(signals_of(given, units, name), options.end, options.max_step)


def signals_of(given: Inputs | None, units: Mapping[str, str], name: str) -> dict[str, Signal]:
    """Signals of these inputs by name, or of a function of all of them; `units` are those of all that exist.

    Raises InputError for unknown names and for what is no input, all mistakes at once.
    """
    signals: dict[str, Signal] = {}
    mistakes: list[Mistake] = []
    if callable(given):
        given = together(given, tuple(units))
    for key, value in named(given, "inputs").items():
        path = ("run", "inputs", key)
        if key not in units:
            hint = suggest(str(key), units)
            mistakes.append(Mistake(path, f"'{key}' is not an input of '{name}'", hint))
            continue
        try:
            signals[key] = as_signal(value, ".".join(path), units[key])
        except InputError as error:
            if error.file is not None:  # a table's file says where in it
                raise
            mistakes.append(Mistake(path, error.message, error.hint))
    if mistakes:
        raise report(mistakes)
    return signals
