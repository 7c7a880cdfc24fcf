"""When the controllers of a model sample, and where its state goes then: in runs at instants, in rollouts at steps."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError, warn
from trundle.model.plant import Plant, Rates
from trundle.model.sampled import DUE
from trundle.model.symbols import INPUT, STATE
from trundle.program import Program, Tracer, compile_program, feed
from trundle.program.ir import Group
from trundle.program.tracer import traced
from trundle.simulation.feedback import Fill, commands_inside
from trundle.simulation.signals import Signal

# What `sampling` reads where a step ends: the inputs of the next one.
NEXT_INPUT = "next input"
# Times closer than this share of the shortest period are one.
_SAME = 1e-9

# Moves a state (n,) or longer across what happens at the beginning of a piece from a to b (s).
Jump = Callable[[float, float, FloatArray], FloatArray]


@dataclass(frozen=True)
class Instants:
    """The times (s) at which clocks are due, (count,), and which, (count, clocks); nearer than `apart` they are one."""

    times: FloatArray
    due: FloatArray
    apart: float

    @staticmethod
    def between(
        clocks: Mapping[str, tuple[float, float]], begin: float, end: float, apart: float | None = None
    ) -> Instants:
        """All from the beginning to the end (s), both included."""
        shortest = min(period for period, _ in clocks.values())
        tolerance = _SAME * shortest
        series = list[FloatArray]()
        for period, first in clocks.values():
            least = max(0, math.ceil((begin - tolerance - first) / period))
            most = math.floor((end + tolerance - first) / period)
            series.append(first + period * np.arange(least, most + 1, dtype=np.float64))
        which = np.repeat(np.arange(len(series)), [times.size for times in series])
        times = np.concatenate(series)
        order = np.argsort(times, kind="stable")
        times, which = times[order], which[order]
        begins = np.append(True, np.diff(times) > tolerance)[: times.size]
        due = np.zeros((int(begins.sum()), len(clocks)))
        due[np.cumsum(begins) - 1, which] = 1.0
        return Instants(times[begins], due, tolerance if apart is None else apart)

    def at(self, time: float) -> FloatArray | None:
        """Which clocks are due then, (clocks,), if any is."""
        place = int(np.searchsorted(self.times, time - self.apart))
        near = place < self.times.size and abs(self.times[place] - time) <= self.apart
        return self.due[place] if near else None


def warn_of_period(plant: Plant, end: float, unless: str) -> None:
    """A warning where a controller samples once alone in a run to the end (s)."""
    for name, (period, first) in plant.clocks.items():
        if period > end * (1 + _SAME) and not first:
            warn(
                f"the controller '{name}' samples every {period:g} s: once, at t = 0, in {unless} of {end:g} s"
            )


def sampling_of(plant: Plant) -> Program:
    """What samples do to a state, which an integrator only brought near the constraints."""
    assert plant.sampling is not None
    back = plant.motion.projection if isinstance(plant.motion, Rates) else None
    return plant.sampling if back is None else feed(plant.sampling, back)


def stepped_program(plant: Plant) -> Program | None:
    """What ends a step of a rollout: back onto the constraints or the plant's own step, then what is sampled."""
    motion = plant.motion
    if plant.sampling is None:
        return motion.projection if isinstance(motion, Rates) else motion.step
    whole = sampling_of(plant)
    groups = [Group(NEXT_INPUT, group.labels) if group.name == INPUT else group for group in whole.inputs]
    sampled = replace(whole, inputs=tuple(groups), function=None)
    return sampled if isinstance(motion, Rates) else _after(sampled, motion.step)


def _after(sampled: Program, step: Program) -> Program:
    """A step, then samples at the state where it ends; what a search goes by stays the step's."""
    labels = {group.name: group.labels for program in (step, sampled) for group in program.inputs}
    tracer = Tracer(*labels)
    nodes = {name: tracer.inputs(name, len(own)) for name, own in labels.items()}
    found = traced(step, nodes)
    found |= traced(sampled, {**nodes, STATE: found[STATE]})
    groups = {group.name: (group.labels, found[group.name]) for group in step.outputs}
    return tracer.program(step.name, labels, groups)


def stepped_groups(
    plant: Plant, inputs: Mapping[str, Floats], dt: float, steps: int
) -> dict[str, FloatArray | dict[str, Floats]]:
    """The inputs of the step after every step, and which clocks are due between them."""
    if plant.sampling is None:
        return {}
    return {NEXT_INPUT: later_inputs(inputs) or np.zeros(0), DUE: due_after(plant, dt, steps)}


def later_inputs(inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Inputs one step later; the last step goes on."""
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    return {
        name: np.concatenate([array[1:], array[-1:]]) if array.ndim == 2 else inputs[name]
        for name, array in arrays.items()
    }


def due_after(plant: Plant, dt: float, steps: int, begin: int = 0) -> FloatArray:
    """Which clocks are due after every step from step `begin` on, (steps, clocks, 1); InputError where the step
    divides no period.
    """
    due, taken = np.zeros((steps, len(plant.clocks), 1)), begin + 1 + np.arange(steps)
    for place, (every, first) in enumerate(steps_of(plant.clocks, dt)):
        due[:, place, 0] = (taken >= first) & ((taken - first) % every == 0)
    return due


def steps_of(
    clocks: Mapping[str, tuple[float, float]], dt: float, key: str = "dt", called: str = "dt"
) -> list[tuple[int, int]]:
    """How many steps lie between the instants of a clock, and before its first; InputError where no whole number does.

    `key` and `called` are what the error calls the step.
    """
    found = list[tuple[int, int]]()
    for name, (period, first) in clocks.items():
        every, begin = _steps_in(period, dt), _steps_in(first, dt)
        if every is None or begin is None or not every:
            raise InputError(
                f"{called} = {dt:g} s doesn't divide the {'delay' if first else 'period'} of the controller "
                f"'{name.partition('.')[0]}', {first or period:g} s: its samples would fall between steps",
                key=key,
                hint=_hint(clocks, dt, called),
            )
        found.append((every, begin))
    return found


def _steps_in(time: float, dt: float) -> int | None:
    """How many steps make a time; None where no whole number does."""
    count = round(time / dt)
    return count if abs(count * dt - time) <= _SAME * max(time, dt) else None


def common_measure(clocks: Mapping[str, tuple[float, float]], near: float = np.inf) -> float | None:
    """The longest time that divides all periods and delays, or the one next to another; None where none is found."""
    shortest = min(time for clock in clocks.values() for time in clock if time)
    about = max(1, round(shortest / near))
    tried = sorted(range(1, about + 1000), key=lambda count: abs(shortest / count - min(near, shortest)))
    for count in tried:
        step = shortest / count
        if all(_steps_in(time, step) is not None for clock in clocks.values() for time in clock):
            return step
    return None


def _hint(clocks: Mapping[str, tuple[float, float]], dt: float, called: str) -> str:
    """The step next to dt that divides all periods."""
    step = common_measure(clocks, dt)
    if step is None:
        return "give the controllers periods and delays with a common measure"
    return f"the nearest that does is {called} = {step:.10g} s"


def sampled_start(
    plant: Plant,
    start: FloatArray,
    inputs: FloatArray,
    parameters: FloatArray,
    sampling: Program | None = None,
    often: bool | None = None,
) -> FloatArray:
    """States (n,) or (n, count) at t = 0 after their first sample; `sampling` in place of the plant's own. `often` is
    as for a `Kernel`.
    """
    sampling = sampling or plant.sampling
    if sampling is None:
        return start
    due = np.array([0.0 if first else 1.0 for _, first in plant.clocks.values()])
    (after,) = compile_program(sampling)(start, inputs, parameters, due, often=often)
    return np.array(np.broadcast_to(after, start.shape))


def jumping(
    sampling: Program, signals: Sequence[Signal], fill: Fill, parameters: FloatArray, instants: Instants
) -> Jump:
    """What samples do to the state at the beginning of every piece of a run; rows behind it stay."""
    n, kernel = sampling.inputs[sampling.input_index("state")].size, compile_program(sampling).single()

    def jump(begin: float, end: float, state: FloatArray) -> FloatArray:
        due = instants.at(begin)
        if due is None:
            return state
        edges = np.array([[begin], [end]])
        given = commands_inside(signals, fill, np.array([begin]), state[:, None], edges)[:, 0]
        moved = state.copy()
        (moved[:n],) = kernel(state[:n], given, parameters, due)
        return moved

    return jump
