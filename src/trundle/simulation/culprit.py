"""Why a run stopped, looked for by running it again once it has failed: a motor or contact law that gave no number."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.model import Model
from trundle.model.health import without_value
from trundle.model.rolling_motion import RollingMotion
from trundle.simulation.feedback import Fill
from trundle.simulation.integrate import RateFunction

# A rate and its Jacobian on a piece of the run.
Make = Callable[[float, float], tuple[RateFunction, RateFunction | None]]
# A time (s) and a state.
Instant = tuple[float, FloatArray]


def with_culprit(
    error: NumericsError,
    system: Model | RollingMotion,
    parameters: Mapping[str, float],
    fill: Fill,
    make: Make,
    again: Callable[[Make], object],
) -> NumericsError:
    """The error of a run, with the law that failed and when.

    The time is the first at which the rates were no numbers although the state was; `again` integrates once more.
    """
    lost = _first_lost(make, again)
    if system.robot is None or lost is None:
        return error
    t, x = lost
    u = np.zeros(len(system.inputs))
    fill(t, x, u)
    values = dict(zip(system.states, x.tolist(), strict=False))
    words = without_value(
        system.robot, parameters, values | dict(zip(system.inputs, u.tolist(), strict=True))
    )
    return type(error)(f"{error}\n  at t = {t:.6g} s {words}") if words else error


def _first_lost(make: Make, again: Callable[[Make], object]) -> Instant | None:
    """Where a run's rates were first no numbers at a state of numbers."""
    lost: list[Instant] = []

    def watching(a: float, b: float) -> tuple[RateFunction, RateFunction | None]:
        """The rates over [a, b], which also note the state when they first aren't finite."""
        rate, slope = make(a, b)

        def watched(t: float, x: FloatArray) -> FloatArray:
            rates = rate(t, x)
            if not lost and np.isfinite(x).all() and not np.isfinite(rates).all():
                lost.append((t, np.array(x)))
            return rates

        return watched, slope

    with suppress(NumericsError):
        again(watching)
    return next(iter(lost), None)
