"""The programs of a sweep: the model's own, with the measures' sums carried along as further states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trundle.model import Model
from trundle.program import Program, Tracer
from trundle.program.simplify import only_elements
from trundle.program.tracer import Node, traced
from trundle.simulation.sampling import NEXT_INPUT, stepped_program
from trundle.sweeps.cases import Cases, chosen
from trundle.sweeps.measures import Measure

# The label of the count of steps, for measures that ask when.
_STEP = "sweep step"


@dataclass(frozen=True)
class Measured:
    """Programs whose state is the model's, then the measures' sums.

    rates: the states' derivatives, those of sums 0. ending: what ends a step: the state brought back to the
    constraints and sampled, and sums carried on by what the measures look at there. looking: what they look at.
    """

    rates: Program
    ending: Program
    looking: Program
    counted: bool

    @staticmethod
    def of(model: Model, measures: Sequence[Measure], cases: Mapping[str, Cases]) -> Measured:
        """Of these measures of a model, whose robots choose among `cases` of inputs."""
        counted = bool(cases) or any(measure.kind == "first" for measure in measures)
        labels = [label for measure in measures for label in measure.sums]
        labels += [f"sweep {name}" for name in cases] + [_STEP] * counted
        return Measured(
            _rates(model, labels, cases), _ending(model, measures, labels, cases), _looking(model, measures),
            counted,
        )  # fmt: skip


def _looking(model: Model, measures: Sequence[Measure]) -> Program:
    """From state, input and parameter to the `seen` values, one a measure."""
    groups = ("state", "input", "parameter")
    tracer = Tracer(*groups)
    given = {group.name: group.labels for group in model.dynamics.inputs}
    inputs = {group: given.get(group, ()) for group in groups}
    nodes = {group: tracer.inputs(group, len(inputs[group])) for group in groups}
    values = _seen(model, measures, nodes)
    return tracer.program(f"{model.name}, looked at", inputs, {"seen": (_texts(measures), values)})


def _seen(model: Model, measures: Sequence[Measure], nodes: dict[str, list[Node]]) -> list[Node]:
    """What every measure looks at, on scalars of a tracer."""
    states = dict(zip(model.states, nodes["state"], strict=False))
    outputs = list(dict.fromkeys(each.of for each in measures if each.of not in states))
    if not outputs:
        return [states[each.of] for each in measures]
    program = only_elements(model.observe, outputs)
    own = {group.name: nodes[group.name][: group.size] for group in program.inputs}
    (values,) = traced(program, own).values()
    known = states | dict(zip(program.outputs[0].labels, values, strict=True))
    return [known[each.of] for each in measures]


def _told(
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
    dynamics = model.dynamics
    names = [group.name for group in dynamics.inputs]
    tracer = Tracer(*names)
    nodes = {group.name: tracer.inputs(group.name, group.size) for group in dynamics.inputs}
    inputs = {group.name: group.labels for group in dynamics.inputs}
    inputs["state"] = (*inputs["state"], *labels)
    given: dict[str, list[Node]] = dict(nodes)
    if cases:
        sums = tracer.inputs("state", len(inputs["state"]))[len(model.states) :]
        given["input"] = _told(cases, inputs["input"], nodes["input"], sums, sums[-1])
    (rates,) = traced(dynamics, given).values()
    rate = dynamics.outputs[0]
    whole = [*rates, *[0.0] * len(labels)]
    return tracer.program(dynamics.name, inputs, {rate.name: ((*rate.labels, *labels), whole)})


def _ending(
    model: Model, measures: Sequence[Measure], labels: Sequence[str], cases: Mapping[str, Cases]
) -> Program:
    """Measures look at the inputs of the step that follows, as outputs of stored states do."""
    own = stepped_program(model)
    groups = {group.name: group.labels for group in model.dynamics.inputs}
    inputs = {
        "state": (*model.states, *labels),
        "input": groups.get("input", ()),
        "parameter": groups["parameter"],
    }
    inputs[NEXT_INPUT] = inputs["input"]
    for group in own.inputs if own else ():
        inputs.setdefault(group.name, group.labels)
    tracer = Tracer(*inputs)
    nodes = {name: tracer.inputs(name, len(inputs[name])) for name in inputs}
    states, sums = nodes["state"][: len(model.states)], nodes["state"][len(model.states) :]
    if cases:
        nodes["input"] = _told(cases, inputs["input"], nodes["input"], sums, sums[-1])
        nodes[NEXT_INPUT] = _told(cases, inputs["input"], nodes[NEXT_INPUT], sums, sums[-1] + 1.0)
    if own is not None:
        given = {group.name: nodes[group.name][: group.size] for group in own.inputs}
        (states,) = traced(own, given).values()
    at_end = {"state": states, "input": nodes[NEXT_INPUT], "parameter": nodes["parameter"]}
    after = _carried(measures, sums, _seen(model, measures, at_end), labels)
    return tracer.program("ending", inputs, {"state": (inputs["state"], [*states, *after])})


def _carried(
    measures: Sequence[Measure], sums: Sequence[Node], seen: Sequence[Node], labels: Sequence[str]
) -> list[Node]:
    counted = [sums[-1] + 1.0] if labels and labels[-1] == _STEP else []
    step, after, place = counted[0] if counted else None, list[Node](), 0
    for measure, value in zip(measures, seen, strict=True):
        own = sums[place : place + len(measure.sums)]
        place += len(measure.sums)
        after += measure.carried(own, value, step)
    return after + list(sums[len(after) : len(sums) - len(counted)]) + counted


def _texts(measures: Sequence[Measure]) -> tuple[str, ...]:
    return tuple(measure.text for measure in measures)
