"""What inputs that follow the motion see of it, f(t, state), and the inputs u(t, x) of a run."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.program import Program, compile_program
from trundle.program.simplify import only_elements
from trundle.simulation.signals import Signal

# Writes into u the inputs at t for the state x.
Fill = Callable[[float, FloatArray, FloatArray], None]


class NoValueError(InputError, KeyError):
    """A name that an input can't follow; a KeyError, too, so that `state.get` and `in` work."""


class RunState(Mapping[str, float]):
    """The states and outputs of a robot by name at one instant; outputs are computed when one is first asked for.

    Outputs that hang on the very inputs that are being asked for have no value yet: InputError.
    """

    def __init__(
        self, states: Mapping[str, float], look: Callable[[], FloatArray], names: Sequence[str]
    ) -> None:
        self._values = dict(states)
        self._look, self._names = look, names

    def __getitem__(self, name: str) -> float:
        if name not in self._values and name in self._names:
            self._values |= dict(zip(self._names, self._look().tolist(), strict=True))
        if name not in self._values:
            hint = "forces and powers that hang on these inputs have no value before them; " + suggest(
                name, self
            )
            raise NoValueError(f"there is no '{name}' for an input to follow", hint=hint)
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._values, *self._names)))

    def __len__(self) -> int:
        return len(list(iter(self)))


def filler(
    signals: Sequence[Signal],
    states: Sequence[str],
    observe: Program,
    parameters: FloatArray,
    held: bool = True,
) -> Fill:
    """`fill(t, x, u)` for all inputs, or for those alone that aren't `held`; x may go on behind the `states`."""
    closed = [(k, signal.feedback) for k, signal in enumerate(signals) if signal.feedback is not None]
    moving = [(k, s.value) for k, s in enumerate(signals) if s.feedback is None and (held or not s.held)]

    def fill(t: float, x: FloatArray, u: FloatArray) -> None:
        for place, value in moving:
            u[place] = value(t)

    if not closed:
        return fill
    seen = _seen(observe, {place for place, _ in closed})
    names, look = seen.outputs[0].labels, compile_program(seen).single()

    def follow(t: float, x: FloatArray, u: FloatArray) -> None:
        fill(t, x, u)
        own, given = np.array(x[: len(states)]), u.copy()
        known = dict(zip(states, own.tolist(), strict=True))
        state = RunState(known, lambda: look(own, given, parameters)[0], names)
        for place, value in closed:
            u[place] = value(t, state)

    return follow


def commands(signals: Sequence[Signal], fill: Fill, times: FloatArray, states: FloatArray) -> FloatArray:
    """All inputs at all times, (inputs, times), `fill` being of all of them; states: (states, times)."""
    if not any(signal.feedback for signal in signals):
        return np.array([signal.sample(times) for signal in signals]).reshape(len(signals), times.size)
    values = np.zeros((len(signals), times.size))
    for t, x, u in zip(times, states.T, values.T, strict=True):
        fill(float(t), x, u)
    return values


def commands_inside(
    signals: Sequence[Signal], fill: Fill, times: FloatArray, states: FloatArray, edges: FloatArray
) -> FloatArray:
    """All inputs at times on pieces between `edges` (2, times), which jump at neither: as on the piece itself."""
    inside = np.minimum(times, np.nextafter(edges[1], edges[0]))
    values = commands(signals, fill, inside, states)
    middles, piece = np.unique(edges.mean(axis=0), return_inverse=True)
    for row, signal in zip(values, signals, strict=True):
        if signal.held and signal.feedback is None:
            row[:] = signal.sample(middles)[piece]
    return values


def _seen(observe: Program, fed: set[int]) -> Program:
    """The part of `observe` that gives the outputs which don't hang on the inputs `fed`."""
    group = observe.input_index("input")
    hang: list[bool] = []
    for step in observe.instructions:
        own = step.op == "input" and step.source[0] == group and step.source[1] in fed
        hang.append(own or any(hang[arg] for arg in step.args))
    results = zip(observe.outputs[-1].labels, observe.results[-1], strict=True)
    return only_elements(observe, [label for label, result in results if not hang[result]])
