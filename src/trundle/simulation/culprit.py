"""Which motor or contact law gave no number where a run stopped: looked for by running it again, once it has failed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import numpy as np

from trundle.errors import NumericsError
from trundle.model.own_kinds import without_value
from trundle.results.arrays import FloatArray
from trundle.robot import Robot
from trundle.simulation.feedback import Fill
from trundle.simulation.integrate import Rate

# A rate and its Jacobian on a piece of the run.
Make = Callable[[float, float], tuple[Rate, Rate | None]]


def with_culprit(
    error: NumericsError,
    robot: Robot | None,
    names: tuple[Sequence[str], Sequence[str]],
    parameters: Mapping[str, float],
    fill: Fill,
    make: Make,
    again: Callable[[Make], object],
) -> NumericsError:
    """The error of a run, with the law and the time where the rates were first no numbers at a state of numbers.

    names: of states and inputs; `again` integrates once more.
    """
    found = _first_without_rate(make, again)
    if robot is None or found is None:
        return error
    t, x = found
    u = np.zeros(len(names[1]))
    fill(t, x, u)
    values = dict(zip(names[0], x.tolist(), strict=False)) | dict(zip(names[1], u.tolist(), strict=True))
    words = without_value(robot, parameters, values)
    return type(error)(f"{error}\n  at t = {t:.6g} s {words}") if words else error


def _first_without_rate(make: Make, again: Callable[[Make], object]) -> tuple[float, FloatArray] | None:
    found: list[tuple[float, FloatArray]] = []

    def watching(a: float, b: float) -> tuple[Rate, Rate | None]:
        rate, slope = make(a, b)

        def watched(t: float, x: FloatArray) -> FloatArray:
            rates = rate(t, x)
            if not found and np.isfinite(x).all() and not np.isfinite(rates).all():
                found.append((t, np.array(x)))
            return rates

        return watched, slope

    with suppress(NumericsError):
        again(watching)
    return found[0] if found else None
