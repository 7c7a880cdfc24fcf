"""A sweep's work, and a chunk of it: the same rows for a robot, whoever rolls it and beside whomever."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.gpu.devices import CPU, Device
from trundle.model import Model
from trundle.program import compile_program
from trundle.simulation.lanes import Lanes, NumbersLike, given_lanes, inputs_told
from trundle.simulation.observing import lane_numbers
from trundle.simulation.sampling import NEXT_INPUT, stepped_groups
from trundle.sweeps.cases import Cases
from trundle.sweeps.design import Design
from trundle.sweeps.measures import Measure
from trundle.sweeps.places import placed, unvaried
from trundle.sweeps.programs import Measured

if TYPE_CHECKING:
    from trundle.results import Run

# Robots whose starts are brought onto constraints together, counted from the first: a robot's last digits hang on
# who else is there, and so not on chunks.
BLOCK = 4096
DIVERGED = "diverged"
# Kernels are always compiled for many robots (often=True): else which code runs would hang on what ran before.

_PLACES = ("initial", "inputs")


@dataclass(frozen=True)
class Work:
    """What a sweep does: which robots roll, for how long, and what is kept of them.

    initial, inputs, parameters: what all robots have, as `rollout` takes it, but for what the design varies.
    device: what rolls them. cases: the inputs that they choose among, by what varies.
    """

    model: Model
    design: Design
    measures: tuple[Measure, ...]
    initial: Mapping[str, NumbersLike]
    inputs: Mapping[str, NumbersLike]
    parameters: Mapping[str, NumbersLike]
    steps: int
    dt: float
    device: Device = CPU
    cases: Mapping[str, Cases] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.design.over:
            if name not in self.cases:
                self.place(name)

    @property
    def name(self) -> str:
        """The model's."""
        return self.model.name

    @property
    def fates(self) -> tuple[str, ...]:
        """What may become of a robot, beside its measures."""
        return (DIVERGED,)

    @cached_property
    def units(self) -> dict[str, str]:
        """The units of what varies, where they are known."""
        known = units_of(self.model)
        return {name: known.get(name, "") for name in self.design.over}

    @cached_property
    def programs(self) -> Measured:
        """Its programs."""
        return Measured.of(self.model, self.measures, self.cases)

    @cached_property
    def told(self) -> Mapping[str, NumbersLike]:
        """The inputs that all robots have, with those of trackers."""
        return inputs_told(self.model, self.inputs, self.steps, self.dt)

    def check(self) -> None:
        """Raise InputError where what the first robots are given can't be."""
        count = min(BLOCK, self.design.count)
        self._unsettled(self.design.columns(0, count), count)

    def rows(
        self, first: int, count: int, threads: int | None = 1, progress: Callable[[float], None] | None = None
    ) -> dict[str, FloatArray]:
        """What is kept of `count` robots from the one with the number `first`: the values that they have, the measures,
        and `diverged`, 1 where a robot's numbers ceased to be finite; its measures are NaN.
        """
        alone = count == 1  # of one robot nothing would differ between lanes, and other code would run
        columns = self.design.columns(first, count)
        if alone:
            columns = {name: np.repeat(values, 2) for name, values in columns.items()}
        lanes = self._lanes(columns, first, 2 if alone else count)
        measured = self._measured(lanes, columns, threads, progress)
        rows = columns | measured
        return {name: values[:count] for name, values in rows.items()}

    def given(self, robot: int) -> dict[str, dict[str, NumbersLike]]:
        """What `rollout` and `simulate` take for a robot: initial, inputs and parameters."""
        return given_to(self, robot)

    def run(self, robot: int, **options: Any) -> Run:
        """A robot's whole run, with a controlled error."""
        from trundle.simulation import simulate

        given: dict[str, Any] = self.given(robot)
        given["inputs"] = signals_told(given["inputs"], self.dt)
        return simulate(self.model, self.steps * self.dt, **{**given, **options})

    def _lanes(self, columns: Mapping[str, FloatArray], first: int, count: int) -> Lanes:
        """The robots, with their starts on the constraints."""
        lanes = self._unsettled(columns, count)
        if self.model.manifold is None:
            return lanes.settled(often=True)
        states = [self._block(begin) for begin in range(first // BLOCK * BLOCK, first + count, BLOCK)]
        cut = np.hstack(states)[:, first % BLOCK :][:, :count]
        if cut.shape[1] < count:  # the last robot alone, twice
            cut = np.repeat(cut[:, -1:], count, axis=1)
        return replace(lanes, states=dict(zip(self.model.states, cut, strict=True)))

    def _block(self, begin: int) -> FloatArray:
        """The starts of a whole block, (states, robots)."""
        count = min(BLOCK, self.design.count - begin)
        settled = self._unsettled(self.design.columns(begin, count), count).settled(often=True)
        return np.array([np.broadcast_to(settled.states[name], (count,)) for name in self.model.states])

    def _unsettled(self, columns: Mapping[str, FloatArray], count: int) -> Lanes:
        given = told_apart(self, columns, self.told)
        for name, case in self.cases.items():
            given["inputs"].update(case.at(columns[name], 0))
        return given_lanes(self.model, given["initial"], given["inputs"], given["parameters"], count)

    def place(self, name: str) -> tuple[str, str]:
        """Where a varied name belongs, and its own name there."""
        model = self.model
        if (found := placed(name, model, model.states)) is not None:
            return found
        known = [*model.parameters, *(f"initial.{each}" for each in model.states)]
        known += [f"inputs.{each}" for each in model.inputs]
        raise unvaried(name, model.name, model.robot, known)

    def _measured(
        self, lanes: Lanes, columns: Mapping[str, FloatArray], threads: int | None,
        progress: Callable[[float], None] | None,
    ) -> dict[str, FloatArray]:  # fmt: skip
        robots = slice(0, lanes.count)
        u, p = (lane_numbers(numbers, 0, robots) for numbers in (lanes.inputs, lanes.parameters))
        start = lanes.start(often=True)
        further = stepped_groups(self.model, lanes.inputs, self.dt, self.steps)
        further.setdefault(NEXT_INPUT, _later(lanes.inputs))
        choices = [case.places(columns[name]) for name, case in self.cases.items()]
        sums = self._begun(self._seen(start, u, p), choices)
        result = self.device.rollout(
            self.programs.rates,
            np.vstack([start, *sums]),
            {"input": lanes.inputs or np.zeros(0), "parameter": lanes.parameters, **further},
            dt=self.dt, steps=self.steps, every=None, count=lanes.count, threads=threads,
            progress=progress, projection=self.programs.ending,
        )  # fmt: skip
        final = result.final
        last = max(self.steps - 1, 0)
        ending = {
            label: row for n, case in self.cases.items() for label, row in case.at(columns[n], last).items()
        }
        u = lane_numbers({**lanes.inputs, **ending}, last, robots)
        return self._ended(final, self._seen(final[: len(start)], u, p))

    def _seen(self, states: FloatArray, u: FloatArray, p: FloatArray) -> FloatArray:
        (values,) = compile_program(self.programs.looking)(np.ascontiguousarray(states), u, p, often=True)
        return np.broadcast_to(values, (len(self.measures), states.shape[1]))

    def _begun(self, seen: FloatArray, choices: list[FloatArray]) -> list[FloatArray]:
        sums = [row for measure, v in zip(self.measures, seen, strict=True) for row in measure.begun(v)]
        return sums + choices + [np.zeros(seen.shape[1])] * self.programs.counted

    def _ended(self, final: FloatArray, seen: FloatArray) -> dict[str, FloatArray]:
        place = len(self.model.states)
        diverged = ~np.isfinite(final[:place]).all(axis=0)
        rows: dict[str, FloatArray] = {}
        for measure, v in zip(self.measures, seen, strict=True):
            sums = final[place : place + len(measure.sums)]
            place += len(measure.sums)
            rows[measure.text] = np.where(diverged, np.nan, measure.ended(list(sums), v, self.steps, self.dt))
        return rows | {DIVERGED: diverged.astype(float)}


class _Placed(Protocol):
    """Work that knows where what varies belongs."""

    @property
    def design(self) -> Design: ...

    @property
    def initial(self) -> Mapping[str, NumbersLike]: ...

    @property
    def inputs(self) -> Mapping[str, NumbersLike]: ...

    @property
    def parameters(self) -> Mapping[str, NumbersLike]: ...

    @property
    def cases(self) -> Mapping[str, Cases]: ...

    def place(self, name: str) -> tuple[str, str]: ...


def told_apart(
    work: _Placed, columns: Mapping[str, Floats], inputs: Mapping[str, NumbersLike]
) -> dict[str, dict[str, NumbersLike]]:
    """What robots have by their columns, and what all have: initial, inputs and parameters."""
    given: dict[str, dict[str, NumbersLike]] = {
        "initial": dict(work.initial), "inputs": dict(inputs), "parameters": dict(work.parameters)
    }  # fmt: skip
    for name, values in columns.items():
        if name not in work.cases:
            place, label = work.place(name)
            given[place][label] = values
    return given


def given_to(work: _Placed, robot: int) -> dict[str, dict[str, NumbersLike]]:
    """What one robot has: initial, inputs, those (steps, 1) that it has chosen among them, and parameters."""
    columns = {name: float(values[0]) for name, values in work.design.columns(robot, 1).items()}
    given = told_apart(work, columns, work.inputs)
    for name, case in work.cases.items():
        given["inputs"].update(case.of(columns[name]))
    return given


def units_of(model: Model) -> dict[str, str]:
    """The units of what can vary, by name, where they are known."""
    own = {} if model.robot is None else dict(model.robot.parameter_units())
    places = {"initial": model.states, "inputs": model.inputs}
    return own | {f"{place}.{name}": model.units[name] for place, names in places.items() for name in names}


def signals_told(inputs: Mapping[str, Any], dt: float) -> dict[str, Any]:
    """Inputs as single runs take them: those of steps (steps, 1) as signals that are held."""
    return {
        name: (dt * np.arange(len(value)), np.ravel(value), "previous") if np.ndim(value) == 2 else value
        for name, value in inputs.items()
    }


def stepped_on(inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Inputs with one step more, the last one again."""
    arrays = {name: np.asarray(value) for name, value in inputs.items()}
    return {
        name: np.concatenate([array, array[-1:]]) if array.ndim == 2 else inputs[name]
        for name, array in arrays.items()
    }


def _later(inputs: Mapping[str, Floats]) -> dict[str, Floats]:
    """Inputs one step later; the last step goes on."""
    return {
        name: value[1:] if isinstance(value, np.ndarray) and value.ndim == 2 else value
        for name, value in stepped_on(inputs).items()
    }
