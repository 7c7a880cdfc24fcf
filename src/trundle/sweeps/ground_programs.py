"""The programs of a sweep over terrain: the model's steps, with measures' sums and what tells fates carried along.

Forces are those of the step that begins at a time. So measures look there, and robots take one step more than was asked
for, which leads nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.wheels import WheelModel
from trundle.model.ground_model import GroundModel
from trundle.model.mechanism import mechanism
from trundle.model.symbols import INPUT, STATE
from trundle.program import Program, Tracer
from trundle.program.simplify import only_elements
from trundle.program.tracer import Node, traced
from trundle.scalars import less, minimum, where
from trundle.simulation.beyond_maps import off_maps
from trundle.simulation.fates import gets_nowhere, upward
from trundle.sweeps.cases import Cases, chosen
from trundle.sweeps.measures import Measure

TIMES = "sweep"
"""The group of how many steps there are, and of the one where the last part of a run begins."""

_STEP, _UPWARD, _BEYOND = "sweep step", "sweep upward", "sweep beyond"
_PLACE = ("x", "y")


@dataclass(frozen=True)
class GroundMeasured:
    """Programs whose state is the model's, then sums by `labels`.

    rates: 0. ending: a step, and all sums carried on by what the state was where it began; the last one leaves the
    state where it is. `wheels` are those whose angles tell who is stuck.
    """

    model: GroundModel
    measures: tuple[Measure, ...]
    wheels: tuple[WheelModel, ...]
    labels: tuple[str, ...]
    rates: Program
    ending: Program

    @staticmethod
    def of(model: GroundModel, measures: Sequence[Measure], cases: Mapping[str, Cases]) -> GroundMeasured:
        """Of these measures of a model, whose robots choose among `cases` of inputs."""
        wheels = tuple(mechanism(model.robot, terrain=True).assembly.wheels)
        labels = [f"{each.text} {part}" for each in measures for part in (*_parts(each), "last")]
        marked = _marked(model, wheels)
        labels += [f"sweep {name}" for name in (*marked, *cases)] + [_UPWARD, _BEYOND, _STEP]
        return GroundMeasured(
            model, tuple(measures), wheels, tuple(labels),
            _still(model, labels), _ending(model, measures, marked, cases, labels),
        )  # fmt: skip

    def start(self, states: FloatArray, which: Mapping[str, FloatArray]) -> FloatArray:
        """States (states, robots) with what is carried, before the first step; `which` cases robots have."""
        sums = np.zeros((len(self.labels), states.shape[1]))
        for name, places in which.items():
            sums[self.labels.index(f"sweep {name}")] = places
        sums[self.labels.index(_UPWARD)] = 1.0
        return np.vstack([states, sums])

    def ended(
        self, final: FloatArray, steps: int, dt: float
    ) -> tuple[dict[str, FloatArray], dict[str, np.ndarray]]:
        """Measures (robots,) by their texts, and truths (robots,): diverged, overturned, stuck, beyond_map."""
        states, sums = np.split(final, [len(self.model.states)])
        rows, place = dict[str, FloatArray](), 0
        for measure in self.measures:
            own = sums[place : place + len(measure.sums)]
            place += len(measure.sums) + 1
            rows[measure.text] = measure.ended(list(own), sums[place - 1], steps, dt)
        return rows, self._fates(states, dict(zip(self.labels, sums, strict=True)))

    def _fates(self, states: FloatArray, sums: Mapping[str, FloatArray]) -> dict[str, np.ndarray]:
        last = dict(zip(self.model.states, states, strict=True))
        marked = {name: sums[f"sweep {name}"] for name in _marked(self.model, self.wheels)}
        diverged = np.asarray(~np.isfinite(states).all(axis=0))
        beyond = (sums[_BEYOND] > 0) & ~diverged
        there = ~(diverged | beyond)  # beyond its map a robot falls
        overturned = (sums[_UPWARD] <= 0) & there
        stuck = gets_nowhere(marked, last, self.wheels) & ~overturned & there
        return {"diverged": diverged, "overturned": overturned, "stuck": stuck, "beyond_map": beyond}


def _parts(measure: Measure) -> list[str]:
    return [label.removeprefix(f"{measure.text} ") for label in measure.sums]


def _marked(model: GroundModel, wheels: Sequence[WheelModel]) -> list[str]:
    """The states that tell how far a robot went, and how far its wheels rolled."""
    angles = (f"{wheel.name}.angle" for wheel in wheels)
    return [*_PLACE, *(name for name in angles if name in model.states)]


def _still(model: GroundModel, labels: Sequence[str]) -> Program:
    """Rates of zero: native rollouts integrate them before they take the step."""
    whole = (*model.states, *labels)
    return Tracer(STATE).program(model.name, {STATE: whole}, {"rate": (whole, [0.0] * len(whole))})


def _ending(
    model: GroundModel, measures: Sequence[Measure], marked: Sequence[str], cases: Mapping[str, Cases],
    labels: Sequence[str],
) -> Program:  # fmt: skip
    inputs = {group.name: group.labels for group in model.step.inputs}
    inputs[STATE] = (*model.states, *labels)
    inputs[TIMES] = ("steps", "mark")
    tracer = Tracer(*inputs)
    nodes = {name: tracer.inputs(name, len(own)) for name, own in inputs.items()}
    states, sums = nodes[STATE][: len(model.states)], nodes[STATE][len(model.states) :]
    choices = sums[-3 - len(cases) : -3]
    if cases:
        which = dict(zip(cases, choices, strict=True))
        nodes[INPUT] = chosen(cases, dict(zip(model.inputs, nodes[INPUT], strict=True)), which, sums[-1])
    found = traced(model.step, {**nodes, STATE: states})
    steps, mark = nodes[TIMES]
    here, step = dict(zip(model.states, states, strict=True)), sums[-1]
    seen = _seen(model, measures, {**nodes, STATE: states}, found[STATE])
    after = _carried(measures, sums, seen, step)
    kept = sums[len(after) : len(after) + len(marked)]
    after += [where(less(step, mark + 0.5), here[n], old) for n, old in zip(marked, kept, strict=True)]
    after += choices
    after.append(minimum(sums[-3], upward(here["q_x"], here["q_y"])))
    gone = off_maps(model.terrain, here["x"], here["y"])
    after += [1 - (1 - sums[-2]) * (1 - gone), step + 1.0]
    goes_on = less(step, steps - 0.5)
    led = [where(goes_on, new, old) for new, old in zip(found[STATE], states, strict=True)]
    groups = {group.name: (group.labels, found[group.name]) for group in model.step.outputs}
    return tracer.program("ending", inputs, {**groups, STATE: (inputs[STATE], [*led, *after])})


def _carried(
    measures: Sequence[Measure], sums: Sequence[Node], seen: Sequence[Node], step: Node
) -> list[Node]:
    """What is carried on: at the first time what a measure begins with."""
    begins, after, place = less(step, 0.5), list[Node](), 0
    for measure, value in zip(measures, seen, strict=True):
        own = sums[place : place + len(measure.sums)]
        place += len(measure.sums) + 1
        on = zip(measure.begun(value), measure.carried(own, value, step), strict=True)
        after += [*(where(begins, first, later) for first, later in on), value]
    return after


def _seen(
    model: GroundModel,
    measures: Sequence[Measure],
    nodes: Mapping[str, Sequence[Node]],
    after: Sequence[Node],
) -> list[Node]:
    """What every measure looks at where a step begins; forces hang on where it ends."""
    states = dict(zip(model.states, nodes[STATE], strict=True))
    ended = dict(zip(model.states, after, strict=True))
    outputs = list(dict.fromkeys(each.of for each in measures if each.of not in states))
    if outputs:
        program = only_elements(model.observe, outputs)
        given = {group.name: nodes[group.name] for group in program.inputs if group.name in nodes}
        if model.mode == "dynamic":
            last = program.inputs[-1]
            given = {**given, last.name: [ended[name] for name in last.labels]}
        (values,) = traced(program, given).values()
        states |= dict(zip(program.outputs[0].labels, values, strict=True))
    return [states[each.of] for each in measures]
