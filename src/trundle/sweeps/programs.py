"""The programs of a sweep: the plant's own, with the measures' sums carried along as further states.

Rates: measures look where a step ends. Steps: forces are known for the step that begins at a time alone; so measures
look there, and robots take one step more than was asked for, which leads nowhere.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.model.lanes import lane_numbers
from trundle.model.model import Model
from trundle.model.outcomes import late
from trundle.model.plant import DIVERGED, STEP, Plant, Rates, still
from trundle.model.symbols import INPUT, PARAMETER, STATE
from trundle.program import Program, Tracer, compile_program
from trundle.program.llvm.llvm_rollout import ITERATE
from trundle.program.rollout import GroupInput
from trundle.program.simplify import only_elements
from trundle.program.tracer import Node, traced
from trundle.scalars import less, minimum, where
from trundle.simulation.rollout import MANY
from trundle.simulation.rollout_inputs import RolloutInputs
from trundle.simulation.sampling import NEXT_INPUT, later_inputs, stepped_groups, stepped_program
from trundle.sweeps.cases import Cases, chosen
from trundle.sweeps.measures import Measure

TIMES = "sweep"
"""The group of how many steps there are, and of the one where the last part of a run begins."""
# The label of the count of steps, for measures that ask when.
_STEP = "sweep step"


class Roll(NamedTuple):
    """How native code rolls robots: x(0) and sums (n, count), groups beside the parameters, its dt, how many steps."""

    start: FloatArray
    groups: Mapping[str, GroupInput]
    dt: float
    steps: int


@dataclass(frozen=True)
class SweepPrograms(ABC):
    """Programs whose state is the plant's, then sums by `labels`.

    rates: the states' derivatives, those of sums 0. ending: what ends a step, with the sums carried on.
    """

    plant: Plant
    measures: tuple[Measure, ...]
    cases: Mapping[str, Cases]
    labels: tuple[str, ...]
    rates: Program
    ending: Program

    @abstractmethod
    def roll(
        self, robots: RolloutInputs, start: FloatArray, choices: Sequence[FloatArray], steps: int, dt: float
    ) -> Roll:
        """How robots roll that begin at these states and have chosen these cases."""

    @abstractmethod
    def ended(
        self, robots: RolloutInputs, final: FloatArray, last: Mapping[str, Floats], steps: int, dt: float
    ) -> tuple[dict[str, FloatArray], dict[str, np.ndarray]]:
        """Measures (robots,) by their texts, and truths of what became of robots; `last` are the inputs of cases in the
        last step.
        """

    def is_quick(self, robot_steps: int) -> bool:
        """Whether to compile quickly what takes so many steps of robots."""
        return False


def sweep_programs(plant: Plant, measures: Sequence[Measure], cases: Mapping[str, Cases]) -> SweepPrograms:
    """The programs of these measures of a plant, whose robots choose among `cases` of inputs."""
    made = _rate_programs if isinstance(plant.motion, Rates) else _step_programs
    return made(plant, tuple(measures), cases)


def _seen(
    plant: Plant, measures: Sequence[Measure], nodes: Mapping[str, Sequence[Node]], after: Sequence[Node] = ()
) -> list[Node]:
    """What every measure looks at, on scalars of a tracer; forces of steps hang on the state `after` them."""
    states = dict(zip(plant.states, nodes[STATE], strict=False))
    outputs = list(dict.fromkeys(each.of for each in measures if each.of not in states))
    if not outputs:
        return [states[each.of] for each in measures]
    program = only_elements(plant.observe, outputs)
    own = {group.name: nodes[group.name][: group.size] for group in program.inputs if group.name in nodes}
    if program.inputs[-1].name == ITERATE:  # not what a round tries, but what was found
        ended = dict(zip(plant.states, after, strict=True))
        own[ITERATE] = [ended[name] for name in program.inputs[-1].labels]
    (values,) = traced(program, own).values()
    known = states | dict(zip(program.outputs[0].labels, values, strict=True))
    return [known[each.of] for each in measures]


# Rates: measures look where a step ends.


@dataclass(frozen=True)
class _RatePrograms(SweepPrograms):
    """looking: what the measures look at, from state, input and parameter."""

    looking: Program

    def roll(
        self, robots: RolloutInputs, start: FloatArray, choices: Sequence[FloatArray], steps: int, dt: float
    ) -> Roll:
        """From the measures' beginnings at t = 0, after the first sample."""
        assert isinstance(self.plant, Model)
        x = robots.sampled(start, often=True)
        seen = self._look(x, *(self._numbers(robots, each) for each in (robots.inputs, robots.parameters)))
        sums = [row for measure, v in zip(self.measures, seen, strict=True) for row in measure.begun(v)]
        sums += [*choices, *[np.zeros(robots.count)] * (self.labels[-1:] == (_STEP,))]
        groups: dict[str, GroupInput] = {INPUT: robots.inputs or np.zeros(0)}
        groups |= {
            NEXT_INPUT: later_inputs(robots.inputs),
            **stepped_groups(self.plant, robots.inputs, dt, steps),
        }
        return Roll(np.vstack([x, *sums]), groups, dt, steps)

    def ended(
        self, robots: RolloutInputs, final: FloatArray, last: Mapping[str, Floats], steps: int, dt: float
    ) -> tuple[dict[str, FloatArray], dict[str, np.ndarray]]:
        """By what there is at the last time."""
        place, rows = len(self.plant.states), dict[str, FloatArray]()
        u = self._numbers(robots, {**robots.inputs, **last}, max(steps - 1, 0))
        seen = self._look(final[:place], u, self._numbers(robots, robots.parameters))
        outcomes = {DIVERGED: np.asarray(~np.isfinite(final[:place]).all(axis=0))}
        for measure, v in zip(self.measures, seen, strict=True):
            sums = final[place : place + len(measure.sums)]
            place += len(measure.sums)
            rows[measure.text] = measure.ended(list(sums), v, steps, dt)
        return rows, outcomes

    @staticmethod
    def _numbers(robots: RolloutInputs, given: Mapping[str, Floats], step: int = 0) -> FloatArray:
        return lane_numbers(given, step, slice(0, robots.count))

    def _look(self, x: FloatArray, u: FloatArray, p: FloatArray) -> FloatArray:
        (values,) = compile_program(self.looking)(np.ascontiguousarray(x), u, p, often=True)
        return np.broadcast_to(values, (len(self.measures), x.shape[1]))


def _rate_programs(plant: Plant, measures: tuple[Measure, ...], cases: Mapping[str, Cases]) -> SweepPrograms:
    assert isinstance(plant, Model)
    counted = bool(cases) or any(measure.kind == "first" for measure in measures)
    labels = [label for measure in measures for label in measure.sums]
    labels += [f"sweep {name}" for name in cases] + [_STEP] * counted
    return _RatePrograms(
        plant, measures, cases, tuple(labels), _rates(plant, labels, cases),
        _rates_ending(plant, measures, labels, cases), _looking(plant, measures),
    )  # fmt: skip


def _looking(model: Model, measures: Sequence[Measure]) -> Program:
    """From state, input and parameter to the `seen` values, one a measure."""
    groups = (STATE, INPUT, PARAMETER)
    tracer = Tracer(*groups)
    given = {group.name: group.labels for group in model.dynamics.inputs}
    inputs = {group: given.get(group, ()) for group in groups}
    nodes = {group: tracer.inputs(group, len(inputs[group])) for group in groups}
    texts = tuple(measure.text for measure in measures)
    return tracer.program(
        f"{model.name}, looked at", inputs, {"seen": (texts, _seen(model, measures, nodes))}
    )


def _by_choice(
    cases: Mapping[str, Cases],
    labels: Sequence[str],
    inputs: Sequence[Node],
    sums: Sequence[Node],
    step: Node,
) -> list[Node]:
    """The inputs of a step, by what a robot has chosen."""
    which = dict(zip(cases, sums[-1 - len(cases) : -1], strict=True))
    return chosen(cases, dict(zip(labels, inputs, strict=True)), which, step)


def _rates(model: Model, labels: Sequence[str], cases: Mapping[str, Cases]) -> Program:
    """ẋ of the model, with the inputs of its cases, and 0 for the sums that stand behind the states."""
    dynamics = model.dynamics
    tracer = Tracer(*(group.name for group in dynamics.inputs))
    nodes = {group.name: tracer.inputs(group.name, group.size) for group in dynamics.inputs}
    inputs = {group.name: group.labels for group in dynamics.inputs}
    inputs[STATE] = (*inputs[STATE], *labels)
    given: dict[str, list[Node]] = dict(nodes)
    if cases:
        sums = tracer.inputs(STATE, len(inputs[STATE]))[len(model.states) :]
        given[INPUT] = _by_choice(cases, inputs[INPUT], nodes[INPUT], sums, sums[-1])
    (rates,) = traced(dynamics, given).values()
    rate = dynamics.outputs[0]
    whole = [*rates, *[0.0] * len(labels)]
    return tracer.program(dynamics.name, inputs, {rate.name: ((*rate.labels, *labels), whole)})


def _rates_ending(
    model: Model, measures: Sequence[Measure], labels: Sequence[str], cases: Mapping[str, Cases]
) -> Program:
    """Measures look at the inputs of the step that follows, as outputs of stored states do."""
    own = stepped_program(model)
    groups = {group.name: group.labels for group in model.dynamics.inputs}
    inputs = {
        STATE: (*model.states, *labels),
        INPUT: groups.get(INPUT, ()),
        PARAMETER: groups[PARAMETER],
    }
    inputs[NEXT_INPUT] = inputs[INPUT]
    for group in own.inputs if own else ():
        inputs.setdefault(group.name, group.labels)
    tracer = Tracer(*inputs)
    nodes = {name: tracer.inputs(name, len(inputs[name])) for name in inputs}
    states, sums = nodes[STATE][: len(model.states)], nodes[STATE][len(model.states) :]
    if cases:
        nodes[INPUT] = _by_choice(cases, inputs[INPUT], nodes[INPUT], sums, sums[-1])
        nodes[NEXT_INPUT] = _by_choice(cases, inputs[INPUT], nodes[NEXT_INPUT], sums, sums[-1] + 1.0)
    if own is not None:
        given = {group.name: nodes[group.name][: group.size] for group in own.inputs}
        (states,) = traced(own, given).values()
    at_end = {STATE: states, INPUT: nodes[NEXT_INPUT], PARAMETER: nodes[PARAMETER]}
    after = _sums_at_end(measures, sums, _seen(model, measures, at_end), labels)
    return tracer.program("ending", inputs, {STATE: (inputs[STATE], [*states, *after])})


def _sums_at_end(
    measures: Sequence[Measure], sums: Sequence[Node], seen: Sequence[Node], labels: Sequence[str]
) -> list[Node]:
    counted = [sums[-1] + 1.0] if labels and labels[-1] == _STEP else []
    step, after, place = counted[0] if counted else None, list[Node](), 0
    for measure, value in zip(measures, seen, strict=True):
        own = sums[place : place + len(measure.sums)]
        place += len(measure.sums)
        after += measure.advance(own, value, step)
    return after + list(sums[len(after) : len(sums) - len(counted)]) + counted


def _stepped_on(inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Inputs with one step more, the last one again."""
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    return {
        name: np.concatenate([array, array[-1:]]) if array.ndim == 2 else inputs[name]
        for name, array in arrays.items()
    }


# Steps: measures look where a step begins.


@dataclass(frozen=True)
class _StepPrograms(SweepPrograms):
    """The sums: of every measure its own and its last value, the plant's marks, choices, what is least, the step."""

    def roll(
        self, robots: RolloutInputs, start: FloatArray, choices: Sequence[FloatArray], steps: int, dt: float
    ) -> Roll:
        """From before the first look, one step more."""
        sums = np.zeros((len(self.labels), start.shape[1]))
        for name, places in zip(self.cases, choices, strict=True):
            sums[self.labels.index(f"sweep {name}")] = places
        sums[-1 - len(self.plant.minima) : -1] = 1.0
        times, inputs = dt * np.arange(steps + 1, dtype=np.float64), _stepped_on(robots.inputs)
        groups: dict[str, GroupInput] = {
            INPUT: inputs or np.zeros(0), STEP: [dt], TIMES: [float(steps), float(late(times))],
            **stepped_groups(self.plant, inputs, dt, steps + 1),
        }  # fmt: skip
        return Roll(np.vstack([robots.sampled(start), sums]), groups, 1.0, steps + 1)

    def ended(
        self, robots: RolloutInputs, final: FloatArray, last: Mapping[str, Floats], steps: int, dt: float
    ) -> tuple[dict[str, FloatArray], dict[str, np.ndarray]]:
        """By the sums alone."""
        states, sums = np.split(final, [len(self.plant.states)])
        rows, place = dict[str, FloatArray](), 0
        for measure in self.measures:
            own = sums[place : place + len(measure.sums)]
            place += len(measure.sums) + 1
            rows[measure.text] = measure.ended(list(own), sums[place - 1], steps, dt)
        kept = dict(zip(self.labels, sums, strict=True))
        marks = {name: kept[f"sweep {name}"] for name in self.plant.marked_states}
        least = {name: kept[f"sweep {name}"] for name in self.plant.minima}
        diverged = np.asarray(~np.isfinite(states).all(axis=0))
        ends = dict(zip(self.plant.states, states, strict=True))
        others = self.plant.outcomes_of(marks, ends, least).items()
        return rows, {DIVERGED: diverged} | {name: truths & ~diverged for name, truths in others}

    def is_quick(self, robot_steps: int) -> bool:
        """Implicit steps take long to compile."""
        return robot_steps < MANY


def _step_programs(plant: Plant, measures: tuple[Measure, ...], cases: Mapping[str, Cases]) -> SweepPrograms:
    """The programs of a plant by steps, which carry a sweep's sums as states of their own."""
    labels = [
        f"{each.text} {part}"
        for each in measures
        for part in (*(label.removeprefix(f"{each.text} ") for label in each.sums), "last")
    ]
    labels += [f"sweep {name}" for name in (*plant.marked_states, *cases, *plant.minima)] + [_STEP]
    whole = (*plant.states, *labels)
    return _StepPrograms(
        plant, measures, cases, tuple(labels), still(plant.name, whole),
        _steps_ending(plant, measures, cases, labels),
    )  # fmt: skip


def _steps_ending(
    plant: Plant, measures: Sequence[Measure], cases: Mapping[str, Cases], labels: Sequence[str]
) -> Program:
    """A step, and all sums carried on by what the state was where it began; the last one leaves the state there."""
    ending = stepped_program(plant)
    assert ending is not None
    inputs = {group.name: group.labels for group in ending.inputs}
    inputs[STATE] = (*plant.states, *labels)
    inputs[TIMES] = ("steps", "mark")
    tracer = Tracer(*inputs)
    nodes = {name: tracer.inputs(name, len(own)) for name, own in inputs.items()}
    states, sums = nodes[STATE][: len(plant.states)], nodes[STATE][len(plant.states) :]
    first = len(labels) - 1 - len(plant.minima) - len(cases)
    choices, lowest, step = sums[first : first + len(cases)], sums[-1 - len(plant.minima) : -1], sums[-1]
    if cases:
        which = dict(zip(cases, choices, strict=True))
        for group, at in ((INPUT, step), (NEXT_INPUT, step + 1.0)):
            if group in nodes:
                nodes[group] = chosen(cases, dict(zip(plant.inputs, nodes[group], strict=True)), which, at)
    found = traced(ending, {**nodes, STATE: states})
    steps, mark = nodes[TIMES]
    here = dict(zip(plant.states, states, strict=True))
    seen = _seen(plant, measures, {**nodes, STATE: states}, found[STATE])
    after = _sums_from_begin(measures, sums, seen, step)
    kept = sums[len(after) : first]
    after += [
        where(less(step, mark + 0.5), here[n], old) for n, old in zip(plant.marked_states, kept, strict=True)
    ]
    after += choices
    after += [minimum(old, of(here)) for old, of in zip(lowest, plant.minima.values(), strict=True)]
    after.append(step + 1.0)
    goes_on = less(step, steps - 0.5)
    led = [where(goes_on, new, old) for new, old in zip(found[STATE], states, strict=True)]
    groups = {group.name: (group.labels, found[group.name]) for group in ending.outputs}
    return tracer.program("ending", inputs, {**groups, STATE: (inputs[STATE], [*led, *after])})


def _sums_from_begin(
    measures: Sequence[Measure], sums: Sequence[Node], seen: Sequence[Node], step: Node
) -> list[Node]:
    """What is carried on: at the first time what a measure begins with."""
    begins, after, place = less(step, 0.5), list[Node](), 0
    for measure, value in zip(measures, seen, strict=True):
        own = sums[place : place + len(measure.sums)]
        place += len(measure.sums) + 1
        on = zip(measure.begun(value), measure.advance(own, value, step), strict=True)
        after += [*(where(begins, first, later) for first, later in on), value]
    return after
