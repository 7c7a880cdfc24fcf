"""What the examples of packages move a robot by, and with which steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.documents import Document, Table
from trundle.languages.package import USUAL_STEP, Entry
from trundle.model import Model
from trundle.robot.values import Value
from trundle.simulation.signals import as_signal
from trundle.simulation.stability import advised_step, stable_step


def example_inputs(source: object, model: Model) -> tuple[float, ...]:
    """The inputs of a document's run section: numbers, and of tables what they say in the middle; 1 for all others.

    They stay as they are while the example runs.
    """
    section = source.run.inputs if isinstance(source, Document) and source.run is not None else {}
    given: list[float] = []
    for name in model.inputs:
        signal = section.get(name)
        if isinstance(signal, Value):
            given.append(signal.number)
        elif isinstance(signal, Table):
            middle = (signal.times[0] + signal.times[-1]) / 2
            shape = as_signal((signal.times, signal.numbers, signal.interpolation), name)
            given.append(float(shape.sample(np.array([middle]))[0]))
        else:
            given.append(1.0)
    return tuple(given)


def example_step(model: Model, inputs: Sequence[float], chosen: Sequence[Entry]) -> float:
    """The step (s) that an example of these entries takes: a millisecond, or what `rollout` advises where that is too
    long.
    """
    if not any(entry.name == "dynamics" for entry in chosen):
        return USUAL_STEP
    x, p = np.array(model.state_vector()), np.array([*model.parameters.values()])
    longest, _ = stable_step(model.dynamics, x, np.array(inputs), p)
    return USUAL_STEP if longest >= USUAL_STEP else advised_step(longest)
