"""A sweep's work, and a chunk of it: the same rows for a robot, whoever rolls it and beside whomever."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError
from trundle.gpu.devices import CPU, Device
from trundle.model.lanes import NumbersLike
from trundle.model.plant import DIVERGED, Plant, Steps
from trundle.model.symbols import PARAMETER
from trundle.program import Program
from trundle.program.plain import to_plain
from trundle.program.rollout import rollout as program_rollout
from trundle.simulation.rollout_inputs import RolloutInputs, inputs_told, rollout_inputs
from trundle.simulation.sampling import steps_of
from trundle.sweeps.cases import Cases
from trundle.sweeps.design import Design
from trundle.sweeps.measures import Measure
from trundle.sweeps.places import placed, unvaried
from trundle.sweeps.programs import SweepPrograms, sweep_programs

if TYPE_CHECKING:
    from trundle.results import Run

# Robots whose starts are brought onto constraints or ground together, counted from the first: a robot's last digits
# hang on who else is there, and so not on chunks.
BLOCK = 4096
# Robots without a meaningful motion have no measures.
_LOST = (DIVERGED, "beyond_map", "unsettled")
# Kernels are always compiled for many robots (often=True): else which code runs would hang on what ran before.


@dataclass(frozen=True)
class Work:
    """What a sweep does: which robots roll, for how long, and what is kept of them.

    initial, inputs, parameters: what all robots have, as `rollout` takes it, but for what the design varies.
    device: what rolls them. cases: the inputs that they choose among, by what varies. equations: digest of the programs
    of whoever began the sweep; "" where nobody has yet, or where the programs themselves are kept.
    """

    plant: Plant
    design: Design
    measures: tuple[Measure, ...]
    initial: Mapping[str, NumbersLike]
    inputs: Mapping[str, NumbersLike]
    parameters: Mapping[str, NumbersLike]
    steps: int
    dt: float
    device: Device = CPU
    cases: Mapping[str, Cases] = field(default_factory=dict)
    equations: str = ""

    def __post_init__(self) -> None:
        for name in self.design.over:
            if name not in self.cases:
                self.place(name)
        if isinstance(self.plant.motion, Steps):
            steps_of(self.plant.clocks, self.dt, "dt", "step")

    @property
    def name(self) -> str:
        """The plant's."""
        return self.plant.name

    @property
    def outcomes(self) -> tuple[str, ...]:
        """What may become of a robot, beside its measures."""
        return self.plant.outcomes

    @cached_property
    def units(self) -> dict[str, str]:
        """The units of what varies, where they are known."""
        known = units_of(self.plant)
        return {name: known.get(name, "") for name in self.design.over}

    @cached_property
    def programs(self) -> SweepPrograms:
        """Its programs."""
        return sweep_programs(self.plant, self.measures, self.cases)

    @cached_property
    def digest(self) -> str:
        """Of the programs, with their tables."""
        known = {"step": self.programs.ending, **self.plant.start_programs}
        plain = {name: _with_digests(each) for name, each in known.items()}
        return hashlib.sha256(json.dumps(plain).encode()).hexdigest()

    @cached_property
    def common_inputs(self) -> Mapping[str, NumbersLike]:
        """The inputs that all robots have, with those of trackers."""
        return inputs_told(self.plant, self.inputs, self.steps, self.dt)

    def check(self) -> None:
        """Raise InputError where what the first robots are given can't be."""
        count = min(BLOCK, self.design.count)
        self._robots(self.design.columns(0, count), count)

    def rows(
        self, first: int, count: int, threads: int | None = 1, progress: Callable[[float], None] | None = None
    ) -> dict[str, FloatArray]:
        """What is kept of `count` robots from the one with the number `first`: the values that they have, the measures,
        and 1 for what outcomes_of of a robot; without a meaningful motion its measures are NaN.
        """
        if self.equations and self.equations != self.digest:
            hint = "go on with the version of Trundle that began it"
            raise InputError("the sweep was begun with other equations than these", hint=hint)
        columns = self.design.columns(first, count)
        wide = columns
        if count == 1:  # of one robot nothing would differ between lanes, and other code would run
            wide = {name: np.repeat(values, 2) for name, values in columns.items()}
        robots = self._robots(wide, max(count, 2))
        start, lost = self._started(robots, first, count)
        measured, outcomes = self._measured(robots, start, wide, threads, progress)
        outcomes = {name: truths[:count] & ~lost for name, truths in outcomes.items()}
        outcomes |= {"unsettled": lost} if "unsettled" in self.outcomes else {}
        none = np.any([outcomes[name] for name in _LOST if name in outcomes], axis=0)
        rows = {name: np.where(none, np.nan, row[:count]) for name, row in measured.items()}
        return columns | rows | {name: truths.astype(float) for name, truths in outcomes.items()}

    def arguments(self, robot: int) -> dict[str, dict[str, NumbersLike]]:
        """What `rollout` and `simulate` take for a robot: initial, inputs, those (steps, 1) that it has chosen among
        them, and parameters.
        """
        columns = {name: float(values[0]) for name, values in self.design.columns(robot, 1).items()}
        given = self._apart(columns, self.inputs)
        for name, case in self.cases.items():
            given["inputs"].update(case.of(columns[name]))
        return given

    def run(self, robot: int, **options: Any) -> Run:
        """A robot's whole run: with a controlled error, or by the sweep's own steps."""
        from trundle.simulation import simulate

        given = self.arguments(robot)
        inputs = signals_told(given["inputs"], self.dt)
        how = {**self.plant.simulate_arguments(self.dt), **given, "inputs": inputs, **options}
        return simulate(how.pop("model"), self.steps * self.dt, **how)

    def place(self, name: str) -> tuple[str, str]:
        """Where a varied name belongs, and its own name there."""
        plant = self.plant
        if (found := placed(name, plant)) is not None:
            return found
        known = [*plant.parameters, *(f"initial.{each}" for each in plant.start_names)]
        known += [f"inputs.{each}" for each in plant.inputs]
        raise unvaried(name, plant.name, plant.robot, known)

    def _apart(
        self, columns: Mapping[str, Floats], inputs: Mapping[str, NumbersLike]
    ) -> dict[str, dict[str, NumbersLike]]:
        """What robots have by their columns, and what all have: initial, inputs and parameters."""
        given: dict[str, dict[str, NumbersLike]] = {
            "initial": dict(self.initial), "inputs": dict(inputs), "parameters": dict(self.parameters)
        }  # fmt: skip
        for name, values in columns.items():
            if name not in self.cases:
                place, label = self.place(name)
                given[place][label] = values
        return given

    def _robots(self, columns: Mapping[str, FloatArray], count: int) -> RolloutInputs:
        given = self._apart(columns, self.common_inputs)
        for name, case in self.cases.items():
            given["inputs"].update(case.at(columns[name], 0))
        return rollout_inputs(self.plant, given["initial"], given["inputs"], given["parameters"], count)

    def _started(self, robots: RolloutInputs, first: int, count: int) -> tuple[FloatArray, np.ndarray]:
        """Where the robots begin (states, robots), and for whom of the `count` there is no start."""
        if not self.plant.start_is_searched:
            return robots.starts(often=True), np.zeros(count, dtype=bool)
        blocks = [self._block(begin) for begin in range(first // BLOCK * BLOCK, first + count, BLOCK)]
        states, lost = (
            np.concatenate(parts, axis=-1)[..., first % BLOCK :][..., :count]
            for parts in zip(*blocks, strict=True)
        )
        return (states if count > 1 else np.repeat(states, 2, axis=1)), lost

    def _block(self, begin: int) -> tuple[FloatArray, np.ndarray]:
        """The starts of a whole block (states, robots), and who has none."""
        count = min(BLOCK, self.design.count - begin)
        lost = np.zeros(count, dtype=bool)
        robots = self._robots(self.design.columns(begin, count), count)
        return robots.starts(often=True, lost=lost if "unsettled" in self.outcomes else None), lost

    def _measured(
        self, robots: RolloutInputs, start: FloatArray, columns: Mapping[str, FloatArray], threads: int | None,
        progress: Callable[[float], None] | None,
    ) -> tuple[dict[str, FloatArray], dict[str, np.ndarray]]:  # fmt: skip
        """The measures of robots, and truths of what outcomes_of of them."""
        programs, choices = self.programs, [case.places(columns[name]) for name, case in self.cases.items()]
        roll = programs.roll(robots, start, choices, self.steps, self.dt)
        result = program_rollout(
            programs.rates, roll.start, {PARAMETER: robots.parameters or np.zeros(0), **roll.groups}, dt=roll.dt,
            steps=roll.steps, every=None, count=robots.count, threads=threads, progress=progress,
            projection=programs.ending, quick=programs.is_quick(self.steps * self.design.count),
            run=self.device.run,
        )  # fmt: skip
        last = max(self.steps - 1, 0)
        ending = {
            label: row for n, case in self.cases.items() for label, row in case.at(columns[n], last).items()
        }
        return programs.ended(robots, result.final, ending, self.steps, self.dt)


def units_of(plant: Plant) -> dict[str, str]:
    """The units of what can vary, by name, where they are known."""
    own = {} if plant.robot is None else dict(plant.robot.parameter_units())
    own |= {name: each.unit for name, each in plant.parameter_readers.items()}
    places = {"initial": plant.start_names, "inputs": plant.inputs}
    return own | {
        f"{place}.{name}": plant.units.get(name, "rad") for place, names in places.items() for name in names
    }


def _with_digests(program: Program) -> dict[str, object]:
    """A program as plain data, with its tables' digests in place of their numbers."""
    tables = list(dict.fromkeys(each.table for each in program.instructions if each.table is not None))
    return {**to_plain(program), "tables": [table.digest for table in tables]}


def signals_told(inputs: Mapping[str, NumbersLike], dt: float) -> dict[str, object]:
    """Inputs as single runs take them: those of steps (steps, 1) as signals that are held."""
    return {
        name: (dt * np.arange(np.size(value)), np.ravel(value), "previous") if np.ndim(value) == 2 else value
        for name, value in inputs.items()
    }
