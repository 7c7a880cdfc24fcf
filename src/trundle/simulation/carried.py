"""Derivatives that one run carries along: ẋ and Ṡ in one program, S behind x, and what a run shows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError
from trundle.program import Program, Tracer, compile_program, feed
from trundle.simulation.gradients import Tangents
from trundle.simulation.sampling import sampling_of
from trundle.simulation.signals import Signal


@dataclass(frozen=True)
class SensitivityProblem:
    """What a run's states are differentiated by, and how it starts.

    start: S(0), (directions, states). rows: how many numbers are integrated beside it: the states, and the energy
    account's. values: what the directions' own numbers are, for the size of a step's error.
    """

    tangents: Tangents
    start: FloatArray
    rows: int
    values: FloatArray

    def augment(self, x: FloatArray) -> FloatArray:
        """X (rows,), then every S_j (rows,); the energy account starts at 0, wherever the motion does."""
        columns = np.zeros((len(self.start), self.rows))
        columns[:, : self.start.shape[1]] = self.start
        return np.concatenate([x, columns.reshape(-1)])

    def rate(self, guided: Program) -> Program:
        """ẋ and Ṡ of what is integrated."""
        return self.tangents.of("run", guided)

    def sampling(self, labels: tuple[str, ...]) -> Program:
        """What is sampled, of x (called `labels`) and of S; the energy account's numbers pass."""
        model = self.tangents.model
        assert model.sampling is not None
        own = sampling_of(model)
        groups = {group.name: group.labels for group in own.inputs} | {"state": labels}
        tracer = Tracer(*groups)
        states = tracer.inputs("state", len(labels))
        for name in groups.keys() - {"state"}:
            tracer.inputs(name, len(groups[name]))
        whole = tracer.program("passing", groups, {"state": (labels, states)})
        return self.tangents.of("run's samples", feed(whole, own))

    def bounds(self, absolute: float) -> FloatArray:
        """What a step may be off by: that of θ_j S_j is that of x."""
        scale = np.where(self.values == 0, 1.0, np.abs(self.values))
        return absolute / np.repeat(np.append(1.0, scale), self.rows)

    def project(self, whole: FloatArray, commands: FloatArray, numbers: FloatArray) -> FloatArray:
        """Of all rows (…, times) the states' own and their derivatives', moved onto the constraints as a run's are."""
        model, n = self.tangents.model, self.start.shape[1]
        parts = whole.reshape(len(self.start) + 1, self.rows, -1)[:, :n]
        own = np.ascontiguousarray(parts.reshape((len(self.start) + 1) * n, -1))
        if model.projection is not None:
            kernel = compile_program(self.tangents.of("projection", model.projection))
            for _ in range(2):
                (own,) = kernel(own, commands if commands.size else np.zeros(0), numbers, often=False)
        return own


@dataclass(frozen=True)
class Sensitivities:
    """Derivatives along a run: x and S (rows, times), the inputs (m, times) and the parameters that they hang on."""

    tangents: Tangents
    states: FloatArray
    commands: FloatArray
    numbers: FloatArray

    def gradients(self) -> dict[str, FloatArray]:
        """Those of all states, (times, states), by what they are taken by."""
        n = len(self.tangents.model.states)
        parts = self.states.reshape(len(self.tangents.directions) + 1, n, -1)
        return {each.name: part.T for each, part in zip(self.tangents.directions, parts[1:], strict=True)}

    def of_output(self, of: str, by: str) -> FloatArray:
        """That of an output, (times,)."""
        place = 1 + [each.name for each in self.tangents.directions].index(by)
        kernel = compile_program(self.tangents.observing(of))
        u = self.commands if self.commands.size else np.zeros(0)
        (rows,) = kernel(np.ascontiguousarray(self.states), u, self.numbers, often=False)
        return rows[place]

    def after(self, skip: int) -> Sensitivities:
        """Without the first times."""
        states, commands = (np.ascontiguousarray(rows[:, skip:]) for rows in (self.states, self.commands))
        return Sensitivities(self.tangents, states, commands, self.numbers)


def carried_of(
    tangents: Tangents,
    start: FloatArray,
    given: Mapping[str, float],
    signals: Mapping[str, Signal],
    parameters: Mapping[str, float],
    rows: int,
) -> SensitivityProblem | None:
    """What a run carries along from a start (states,) on; None where nothing is asked for."""
    if not tangents.directions:
        return None
    _require_known(signals)
    model = tangents.model
    x = dict(zip(model.states, start.tolist(), strict=True))
    floats: dict[str, Floats] = dict(x)
    numbers: dict[str, Floats] = dict(parameters)
    columns = tangents.completed_start(floats, given, numbers, 1)[:, :, 0]
    commands = {name: signal.value(0.0) for name, signal in signals.items()}
    own = {"parameter": parameters, "initial": x, "input": commands}
    values = np.array([own[each.kind][each.label] for each in tangents.directions])
    return SensitivityProblem(tangents, columns, rows, values)


def _require_known(signals: Mapping[str, Signal]) -> None:
    """Raise InputError where an input follows the motion, as nobody knows its slope."""
    for name, signal in signals.items():
        if signal.feedback is not None:
            raise InputError(
                f"'{name}' follows the motion as a Python function, of which no derivatives are known",
                key="gradients",
                hint="make it a controller of the robot: those are differentiated, too",
            )
