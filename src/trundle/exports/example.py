"""What the examples of packages move a robot by."""

from __future__ import annotations

import numpy as np

from trundle.documents import Document, Table
from trundle.model import Model
from trundle.robot.values import Value
from trundle.simulation.signals import as_signal


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
