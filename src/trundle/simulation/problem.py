"""Initial-value problems ẋ = f(x, u(t), p): `simulate` and `roll` state them, here they are solved and make a Run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError, counted, suggest
from trundle.model import Model
from trundle.model.arguments import named
from trundle.model.health import without_value
from trundle.model.model import SYMPYS_PIVOTS
from trundle.model.rolling_motion import RollingMotion
from trundle.program import Kernel, Program, compile_program, feed
from trundle.program.kernel import FEW, QUICK
from trundle.progress import Doing, Progress, Stopwatch
from trundle.results import Run
from trundle.robot import Robot
from trundle.robot.problems import Mistake, report
from trundle.simulation.carried import Sensitivities, SensitivityProblem
from trundle.simulation.culprit import Make, with_culprit
from trundle.simulation.events import falling
from trundle.simulation.extremes import Extremes, Fall, Sampler
from trundle.simulation.feedback import Fill, commands, filler
from trundle.simulation.integrate import (
    IMPLICIT,
    MOST_DECAY,
    SAME_TIME,
    LongError,
    Settings,
    integrate,
    tolerances,
)
from trundle.simulation.jumps import closer_look, longest_step, with_jumps
from trundle.simulation.native import LateExtremes, native_run
from trundle.simulation.observed import (
    columns_of,
    is_whole,
    look_of,
    observed,
)
from trundle.simulation.options import RunOptions
from trundle.simulation.outcome import integrated_run, start_changes
from trundle.simulation.pieces import make_pieces
from trundle.simulation.sampling import Instants, jumping, sampling_of
from trundle.simulation.signals import Inputs, Signal, as_signal, together
from trundle.simulation.stability import decay_rate, eigenvalues

# Operations of the rates times states up to which their slopes are compiled: the matrix has about half as many, at
# 80 µs apiece. One of a humanoid (77 states) has 1.5 million and takes three minutes; its differences take 2 ms.
MOST_SLOPE = 50_000
_AXLES = (
    "steered wheels whose axles lie on one line do that; choose other angles or other independent speeds "
    "(robot.speeds), or give wheels contact: slip"
)


@dataclass(frozen=True)
class Problem:
    """ẋ = f(x, u(t), p) from x(0), and what a run shows of it.

    system: whose motion it is. rate: (state, input, parameter) -> ẋ first, with the states of the energy account behind
    the system's own; observe: the same -> outputs last. given: the initial values that were asked for by name, start:
    x(0), which may differ from them where constraints hold it. stiff: whether stiff formulas are needed; None where
    only a look at the start can tell. options: when it is stored and how it is integrated. summary: what the run's own
    begins with. carried: the derivatives that go along, if any. law: (state, input, parameter) -> the system's inputs,
    where `signals` only lead it: in their places, and behind them what else it hangs on.
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
    carried: SensitivityProblem | None = None
    law: Program | None = None

    @property
    def end(self) -> float:
        """The last time (s)."""
        return self.options.end

    @property
    def count(self) -> int:
        """How many times are stored."""
        return self.options.stored.size

    def solve(self, progress: bool | Callable[[float], None]) -> Run:
        """The run; raises NumericsError where numbers fail."""
        return solve(self, progress)

    @property
    def numbers(self) -> FloatArray:
        """p in order."""
        return np.array(list(self.parameters.values()))

    @property
    def whole_start(self) -> FloatArray:
        """x(0), and S(0) behind it where derivatives go along."""
        start = np.array(self.start, dtype=float)
        return start if self.carried is None else self.carried.augment(start)

    def sampling(self) -> Program:
        """What samples do to x, and to S."""
        if self.carried is None:
            return sampling_of(self.system)
        return self.carried.sampling(self.rate.inputs[self.rate.input_index("state")].labels)

    def bounds(self, method: str) -> tuple[float, float | FloatArray]:
        """What a step may be off by, relative and absolute."""
        relative, absolute = tolerances(method, self.options.rtol, self.options.atol)
        return relative, absolute if self.carried is None else self.carried.bounds(absolute)

    def inputs_of(self, states: FloatArray, led: FloatArray) -> FloatArray:
        """The system's inputs (inputs, count) at states (n, count) and what leads them."""
        if self.law is None:
            return led
        own = np.ascontiguousarray(states[: len(self.system.states)])
        return compile_program(self.law)(own, led, self.numbers, often=False)[0]


def solve(problem: Problem, progress: bool | Callable[[float], None]) -> Run:
    """The run of a problem."""
    clock = Stopwatch()
    guided = _guided(problem)
    fill = filler(list(problem.signals.values()), problem.system.states, problem.observe, problem.numbers)
    _compile(problem, guided, fill, progress, clock)
    look = look_of(problem, guided, fill)
    doing = "simulating" if isinstance(problem.system, Model) else "rolling"
    with Progress(progress, problem.options.end, f"{doing} {problem.system.name}", "simulated s") as bar:
        clock.begin("simulate_seconds")
        driven = guided if problem.carried is None else problem.carried.rate(guided)
        seen: Extremes
        seen = late = LateExtremes(look, problem.options.stored, falls_of(problem), len(problem.start))
        native = native_run(problem, driven, late, bar)
        if native is None:
            method, whole, seen = _by_scipy(problem, _Motion(guided, driven, fill, look), bar, clock)
        else:
            method, whole = "dop853", native.stored
    states = whole[: len(problem.start)]
    led = commands(list(problem.signals.values()), fill, problem.options.times, states)
    commanded = problem.inputs_of(states, led)
    slopes = _slopes(problem, whole, commanded)
    outputs = observed(problem, guided, states, commanded)
    summary = {**problem.summary, "method": method, **clock.seconds(), **start_changes(problem)}
    if native is not None:
        summary["steps"] = native.steps
    return integrated_run(problem, (states, commanded, outputs), summary, seen, slopes)


def _slopes(problem: Problem, whole: FloatArray, commanded: FloatArray) -> Sensitivities | None:
    """The derivatives along the run, if any."""
    carried = problem.carried
    if carried is None:
        return None
    return Sensitivities(
        carried.tangents, carried.project(whole, commanded, problem.numbers), commanded, problem.numbers
    )


def _compile(
    problem: Problem,
    guided: Program,
    fill: Fill,
    progress: bool | Callable[[float], None],
    clock: Stopwatch,
) -> None:
    """Make native code of the rates and the outputs; NumericsError where there are no rates at the start."""
    clock.begin("compile_seconds")
    with Doing(progress, f"compiling {problem.system.name}") as made:
        made.at(counted(guided.operations, "operation"))
        _require_rates(problem, fill, compile_program(guided))
        if not is_whole(guided):
            made.at("outputs")
            compile_program(problem.observe).prepare(2, 2 if problem.signals else 1, 1)


class _Motion(NamedTuple):
    """What is integrated, and what is seen of it.

    guided: ẋ; driven: the same, with Ṡ behind it where derivatives go along. fill: the commands at a time and a state.
    """

    guided: Program
    driven: Program
    fill: Fill
    look: Sampler


def _by_scipy(
    problem: Problem, motion: _Motion, bar: Progress, clock: Stopwatch
) -> tuple[str, FloatArray, Extremes]:
    """The method, the states at the problem's times, and what saw the steps, by one of SciPy's integrators."""
    clock.begin("")
    import scipy.integrate  # noqa: F401  the slowest import of a run, here so that its seconds are in no part

    clock.begin("compile_seconds")
    guided, driven, fill, look = motion
    signals, p = list(problem.signals.values()), problem.numbers
    still = all(signal.held and signal.feedback is None for signal in signals)
    moving = None if still else filler(signals, problem.system.states, problem.observe, p, held=False)
    method = _method(problem, guided, moving)
    slope = slope_of(problem, driven) if method in IMPLICIT else None
    clock.begin("simulate_seconds")
    names, rows = driven.inputs[driven.input_index("state")].labels, len(problem.start)

    def look_at_states(times: FloatArray, states: FloatArray, edges: FloatArray) -> FloatArray:
        """The look without the rows of derivatives."""
        return look(times, states[:rows], edges)

    watched = list[Extremes]()

    def watch() -> Extremes:
        """What sees the steps; a run that starts over starts anew."""
        watched[:] = [Extremes(look_at_states, problem.options.stored, falls_of(problem))]
        return watched[0]

    make = make_pieces(driven, slope, signals, moving, p, bar)
    return method, _integrated(problem, make, method, names, fill, watch), watched[0]


def falls_of(problem: Problem) -> dict[Fall, int]:
    """What is told when it first happens, and the places of its columns."""
    columns = columns_of(problem)
    return {fall: columns.index(fall.column) for fall in falling(problem.system, problem.parameters)}


def _integrated(
    problem: Problem, make: Make, method: str, names: Sequence[str], fill: Fill, watch: Callable[[], Extremes]
) -> FloatArray:
    """The states (called `names`) at the problem's times; NumericsError says what made the run stop."""
    options, signals = problem.options, list(problem.signals.values())
    settings = Settings(method, *problem.bounds(method), longest_step(signals, options.end, options.max_step))
    breaks = [t for signal in signals for t in (*signal.jumps, *signal.kinks)]
    look, jump, system = closer_look(signals), None, problem.system
    if system.sampling is not None:
        instants = Instants.between(system.clocks, 0.0, options.end, SAME_TIME * options.end)
        breaks += instants.times.tolist()
        jump = jumping(problem.sampling(), signals, fill, problem.numbers, instants)

    def integrated(make: Make) -> FloatArray:
        x, times = problem.whole_start, options.times
        return integrate(
            make, x, times, breaks=breaks, settings=settings, names=names, find=look, watch=watch, jump=jump
        )

    try:
        return integrated(make)
    except LongError as error:
        raise NumericsError(str(error)) from None
    except NumericsError as error:
        told = with_culprit(error, problem.system, problem.parameters, fill, make, integrated)
        robot = problem.system.robot
        if told is not error or robot is None or not any(wheel.is_steered for wheel in robot.wheels.values()):
            raise told from None
        raise NumericsError(f"{error}\n  {_AXLES}") from None


def _guided(problem: Problem) -> Program:
    """What is integrated: on constraints that aren't solved for f(P(x)), with P one Newton step back onto them.

    Where compiling takes longer than all else, P(x) and the outputs there come from the same program, too: with f they
    share most of what they compute. Others should do no more at a step than they need.
    """
    rate, projection = problem.rate, problem.system.projection
    if problem.law is not None:
        rate = feed(rate, problem.law, "input")
    if projection is None:
        return rate
    long = rate.operations + projection.operations > QUICK and problem.options.times.size <= FEW
    whole = long and problem.carried is None and problem.law is None
    return feed(rate, projection, seen=problem.observe if whole else None)


def slope_of(problem: Problem, guided: Program) -> Program | None:
    """∂f/∂x, compiled, or None for a method that takes differences.

    It is None where inputs follow the motion, as nobody knows their slopes. It is None too where compiling the matrix
    would take longer than its differences ever will.
    """
    feedback = any(signal.feedback for signal in problem.signals.values())
    if feedback or guided.operations * guided.outputs[0].size > MOST_SLOPE:
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
    values |= dict(zip(system.inputs, commands.tolist(), strict=False))  # of what leads a law more may follow
    words = without_value(system.robot, problem.parameters, values) if system.robot is not None else ""
    if words:
        raise NumericsError(f"at t = 0 s {', '.join(lost)} of '{system.name}' have no rates: {words}")
    raise NumericsError(
        f"at t = 0 s {', '.join(lost)} of '{problem.system.name}' have no rates: it is singular where it starts, or "
        f"its state is too large\n  {_singular_start(problem.system.robot)}"
    )


def _singular_start(robot: Robot | None) -> str:
    """What may be singular where a robot starts, and what helps."""
    if robot is None:
        return SYMPYS_PIVOTS
    if robot.loops:
        return (
            f"the loop{'s' if len(robot.loops) > 1 else ''} {', '.join(robot.loops)} may stand at a dead point, where "
            "bodies in line can fold either way; start from other angles"
        )
    if robot.wheels:
        return _AXLES
    return "do two joints about one axis carry a body without inertia there? start from other angles"


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
