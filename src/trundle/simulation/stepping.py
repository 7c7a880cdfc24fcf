"""Runs of plants that go by steps of their own: from step to step in native code, and what is seen at stored times."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, NumericsError, warn
from trundle.model.arguments import named
from trundle.model.placed import require_undriven, warn_of_references
from trundle.model.plant import REMEMBERED, STEP, Plant, Steps
from trundle.model.sampled import DUE
from trundle.model.symbols import INPUT, PARAMETER
from trundle.program import Program, compile_program
from trundle.program.rollout import rollout as native
from trundle.progress import Progress, Stopwatch
from trundle.results import Run
from trundle.simulation.draws import noise_of
from trundle.simulation.events import worn
from trundle.simulation.ground_energy import COLUMNS, EnergyBooks
from trundle.simulation.options import initial_numbers, positive, whole
from trundle.simulation.outcome import run_of
from trundle.simulation.problem import signals_of
from trundle.simulation.references import with_references
from trundle.simulation.sampling import (
    NEXT_INPUT,
    due_after,
    sampled_start,
    stepped_program,
    steps_of,
    warn_of_period,
)
from trundle.simulation.signals import Inputs, Signal
from trundle.simulation.start_pose import warn_of_start
from trundle.simulation.unstable_loops import unstable_loops

# How near to a whole number of steps a duration must be.
_WHOLE = 1e-9
# What every step leaves, inputs and energies, takes some 100 bytes.
_MOST = 100_000_000
# Steps that are taken and looked at together.
_BLOCK = 4096


@dataclass(frozen=True)
class SteppedProblem:
    """A run by steps, ready to go: who, by which inputs, from where, how many steps of what length (s).

    given: the initial values that were asked for by name. every: how many steps lie between stored times.
    """

    system: Plant
    signals: Mapping[str, Signal]
    parameters: Mapping[str, float]
    given: Mapping[str, float]
    start: FloatArray
    step: float
    steps: int
    every: int

    @property
    def motion(self) -> Steps:
        """How it goes on."""
        assert isinstance(self.system.motion, Steps)
        return self.system.motion

    @cached_property
    def ending(self) -> Program:
        """A step, then what is sampled where it ends."""
        ending = stepped_program(self.system)
        assert ending is not None
        return ending

    @property
    def end(self) -> float:
        """The last time (s)."""
        return self.steps * self.step

    @property
    def count(self) -> int:
        """How many times are stored."""
        return -(-self.steps // self.every) + 1

    @property
    def numbers(self) -> FloatArray:
        """The parameters in order."""
        return np.array(list(self.parameters.values()))

    def inputs_at(self, times: FloatArray) -> FloatArray:
        """The inputs (times, inputs), held over a step."""
        rows = [
            self.signals[name].sample(times) if name in self.signals else np.zeros(times.shape)
            for name in self.system.inputs
        ]
        return np.array(rows).T.reshape(times.size, len(rows))

    def solve(self, progress: bool | Callable[[float], None]) -> Run:
        """The run; raises NumericsError with time and wheel where numbers fail."""
        clock = Stopwatch()
        clock.begin("compile_seconds")
        inputs = self.inputs_at(self.step * np.arange(self.steps + 1, dtype=float))
        inputs = inputs if np.ptp(inputs, axis=0).any() else inputs[:1]
        self._advanced(self.start, inputs, 0, min(len(inputs), 2), lambda _: None)
        clock.begin("simulate_seconds")
        with Progress(progress, self.steps, f"driving {self.system.name}", "steps") as bar:
            rows, books, unsolved = self._driven(inputs, bar.fraction)
        time = self.step * np.minimum(self.every * np.arange(self.count, dtype=float), self.steps)
        clock.begin("")
        loops = unstable_loops(self, *rows[:2])
        if unsolved:
            doubt = "what must be zero where they end isn't; shorter steps, or smoother laws, are solved more easily"
            warn(f"{unsolved} of {self.steps} steps are unsolved: {doubt}")
            loops = {**loops, "unsolved_steps": unsolved}
        return self._run(time, rows, books, {**clock.seconds(), **loops})

    def _run(
        self,
        time: FloatArray,
        rows: tuple[FloatArray, FloatArray, FloatArray],
        books: EnergyBooks | None,
        more: Mapping[str, object],
    ) -> Run:
        """States, inputs and outputs as a run, with its energy where forces moved it; not what steps remember."""
        plant = self.system
        values = {
            name: row
            for names, group in zip((plant.states, plant.inputs, plant.outputs), rows, strict=True)
            for name, row in zip(names, group, strict=True)
            if not name.startswith(REMEMBERED)
        }
        known, checks = {name: plant.quantities[name] for name in values}, dict[str, object]()
        if books is not None:
            checks, known = (
                books.summary(plant.fastest_rate(values)),
                known | {each.name: each for each in COLUMNS},
            )
            values |= books.stored
        summary = {
            **self.motion.about,
            "method": self.motion.method.format(self.step),
            "steps": self.steps,
            "derive_seconds": plant.derive_seconds,
            **more,
            **checks,
            **plant.run_findings(time, values, self.step * self.every),
            **self._wear(time, values),
        }
        return run_of(plant, time, values, known, self.parameters, summary)

    def _wear(self, time: FloatArray, values: Mapping[str, FloatArray]) -> dict[str, object]:
        """What its batteries came to, as far as the times that are stored tell."""
        if self.system.robot is None:
            return {}
        return worn(
            self.system.robot,
            self.parameters,
            lambda fall: fall.fallen(time, values[fall.column]) if fall.column in values else None,
        )

    def _driven(
        self, inputs: FloatArray, fraction: Callable[[float], None]
    ) -> tuple[tuple[FloatArray, FloatArray, FloatArray], EnergyBooks | None, int]:
        """States, inputs and outputs (rows, times) that are stored, what energy did in every step, and how many steps
        are unsolved.

        One step more than there are is taken: what the ground does at the last time is that of the step that begins
        there.
        """
        state, found, energy = self.start, list[tuple[FloatArray, ...]](), list[FloatArray]()
        begin = unsolved = 0
        while begin <= self.steps:
            left = self.steps + 1 - begin
            count = left if left <= _BLOCK + 1 else _BLOCK  # a single step would be other code
            given = inputs[begin : begin + count] if len(inputs) > 1 else inputs
            done = begin / (self.steps + 1)
            passed = self._advanced(
                state, inputs, begin, count, lambda part, done=done: fraction(done + part * (1 - done))
            )
            given = np.broadcast_to(given.T, (given.shape[1], count))
            outputs = self._observed(passed, given)
            self._check(begin, passed, given, outputs)
            taken = min(count, self.steps - begin)  # not the one that is looked at alone
            if taken:
                unsolved += self.system.unsolved_steps(
                    passed[:, : taken + 1], given[:, :taken], self.numbers, self.step
                )
            number = begin + np.arange(count)
            stored = (number % self.every == 0) | (number == self.steps)
            found.append((passed[:, :-1][:, stored], given[:, stored], outputs[:, stored]))
            if EnergyBooks.are_of(self.system.outputs):
                energy.append(EnergyBooks.read(self.system.outputs, outputs))
            state, begin = passed[:, -1], begin + count
        states, told, outputs = (np.concatenate(parts, axis=1) for parts in zip(*found, strict=True))
        books = EnergyBooks.of(self.step, self.every, energy) if energy else None
        return (states, told, outputs), books, unsolved

    def _check(self, begin: int, passed: FloatArray, given: FloatArray, outputs: FloatArray) -> None:
        """Raise InputError where a wheel has left all maps, NumericsError where states are no numbers; `passed` are the
        states from step `begin` on, inputs and outputs those of the steps between them.
        """
        lost = min(_first_lost(passed), outputs.shape[1])
        time = self.step * np.arange(begin, begin + lost, dtype=np.float64)
        self.system.check_motion(time, passed, outputs[:, :lost])
        if lost < outputs.shape[1]:
            unstable_loops(self, passed[:, :lost], given[:, :lost])
            why = self.system.explain(passed[:, :lost], outputs[:, :lost])
            raise NumericsError(
                f"'{self.system.name}' has no more finite numbers after t = {time[-1]:g} s{why}"
            )

    def _advanced(
        self,
        start: FloatArray,
        inputs: FloatArray,
        begin: int,
        steps: int,
        fraction: Callable[[float], None],
    ) -> FloatArray:
        """The states before and after every step from `begin` on (states, steps + 1); inputs of all steps (all,
        inputs), or (1, inputs) that stay.

        Two lanes in place of one, and inputs that stay without an axis of time: then it is one code for all.
        """
        model = self.system
        own, later = (
            inputs[first : first + steps] if len(inputs) > 1 else inputs for first in (begin, begin + 1)
        )
        if len(later) < len(own):  # the last step goes on
            later = np.concatenate([later, inputs[-1:]])
        of_lanes = {
            name: np.repeat(rows[:, :, None], 2, axis=2) for name, rows in ((INPUT, own), (NEXT_INPUT, later))
        }
        given = of_lanes if model.inputs else dict.fromkeys(of_lanes, np.zeros(0))
        groups = {INPUT: given[INPUT], PARAMETER: self.numbers, STEP: [self.step]}
        if model.sampling is not None:
            groups |= {NEXT_INPUT: given[NEXT_INPUT], DUE: due_after(model, self.step, steps, begin)}
        found = native(
            self.motion.still, np.repeat(start[:, None], 2, axis=1), groups, dt=1.0, steps=steps,
            progress=fraction, projection=self.ending, quick=True,
        )  # fmt: skip
        return found.states[:, :, 0].T

    def _observed(self, passed: FloatArray, inputs: FloatArray) -> FloatArray:
        """The outputs (outputs, steps) of steps between states (states, steps + 1) that were passed."""
        model = self.system
        groups = [
            np.ascontiguousarray(passed[:, :-1]),
            np.ascontiguousarray(inputs),
            self.numbers,
            np.array([self.step]),
        ]
        if len(model.observe.inputs) > len(groups):
            rows = [model.state_index[name] for name in model.observe.inputs[-1].labels]
            groups.append(np.ascontiguousarray(passed[rows, 1:]))
        return compile_program(model.observe)(*groups, often=False)[0]


def _first_lost(states: FloatArray) -> int:
    """The first time at which a state isn't finite, or how many times there are."""
    lost = ~np.isfinite(states).all(axis=0)
    return int(np.argmax(lost)) if lost.any() else states.shape[1]


def stepped_problem(
    plant: Plant,
    inputs: Inputs | None,
    initial: Mapping[str, float | str] | None,
    parameters: Mapping[str, float | str],
    *,
    duration: float | str,
    step: float | str | None,
    samples: int,
    seed: int,
) -> SteppedProblem:
    """The motion of a plant by steps of its own, checked; the arguments are those of `simulate`."""
    assert isinstance(plant.motion, Steps)
    h = plant.motion.length if step is None else positive(step, "run.step", "s")
    seconds = positive(duration, "run.duration", "s")
    steps = _whole_steps(seconds, h)
    whole(samples, "samples", 2)
    if callable(inputs):
        hint = "give a mapping of inputs; what depends on the state is a controller: controllers="
        raise InputError(
            f"'{plant.name}' goes by steps, and takes its inputs by name, not by one function",
            key="inputs",
            hint=hint,
        )
    given = with_references(plant.control_description, named(inputs, "inputs"))
    require_undriven(plant.control_description, given, "run.inputs.")
    warn_of_references(plant.control_description, plant.inputs, given)
    units = {name: plant.units.get(name, "") for name in plant.inputs}
    steps_of(plant.clocks, h, "run.step", "step")
    warn_of_period(plant, seconds, "a run")
    signals = noise_of(plant.control_description, whole(seed, "seed", 0), seconds) | signals_of(
        given, units, plant.name
    )
    for name, signal in signals.items():
        if signal.feedback is not None:
            message = f"'{plant.name}' holds its inputs over a step, so they can't be functions of the state"
            raise InputError(message, key=f"run.inputs.{name}", hint="give the robot a controller")
    values = plant.parameter_values(parameters)
    starts = initial_numbers(initial, plant)
    start = plant.start(starts, values)[:, 0]
    plant.check_start(dict(zip(plant.states, start.tolist(), strict=True)), starts, values)
    warn_of_start(plant.control_description, signals, dict(zip(plant.states, start.tolist(), strict=True)))
    every = -(-steps // (samples - 1))
    problem = SteppedProblem(plant, signals, values, starts, start, h, steps, every)
    return replace(
        problem, start=sampled_start(plant, start, problem.inputs_at(np.zeros(1))[0], problem.numbers)
    )


def _whole_steps(seconds: float, h: float) -> int:
    """How many steps there are; InputError where no whole number makes the duration."""
    steps = round(seconds / h)
    if steps < 1 or abs(steps * h - seconds) > _WHOLE * seconds:
        near = max(steps, 1) * h
        message = f"{seconds:g} s is no whole number of steps of {h:g} s"
        raise InputError(message, key="run.duration", hint=f"the nearest is {near:g} s")
    if steps > _MOST:
        message = f"{seconds:g} s in steps of {h:g} s is {steps:.3g} steps, more than memory has room for"
        hint = f"take steps of at least {seconds / _MOST:.2g} s: they are implicit, and 0.02 s often does"
        raise InputError(message, key="run.step", hint=hint)
    return steps
