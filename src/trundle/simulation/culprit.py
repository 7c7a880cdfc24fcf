"""Why a run stopped, looked for by running it again once it has failed: a motor or contact law that gave no number, or
wheels that stand where their rolling binds less than elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.model import Model
from trundle.model.constraints import ideal_wheels
from trundle.model.health import without_value
from trundle.model.mechanism import mechanism
from trundle.model.rolling_motion import RollingMotion
from trundle.robot import Robot
from trundle.simulation.feedback import Fill
from trundle.simulation.integrate import RateFunction

# A rate and its Jacobian on a piece of the run.
Make = Callable[[float, float], tuple[RateFunction, RateFunction | None]]
# A time (s) and a state.
Instant = tuple[float, FloatArray]
# How near zero, beside random configurations, a singular value counts as where a run got stuck.
NEAR = 1e-3
AXLES = (
    "steered wheels whose axles lie on one line do that; choose other angles or other independent speeds "
    "(robot.speeds), or give wheels contact: slip"
)


def with_culprit(
    error: NumericsError,
    system: Model | RollingMotion,
    parameters: Mapping[str, float],
    fill: Fill,
    make: Make,
    again: Callable[[Make], object],
) -> NumericsError:
    """The error of a run, with the law that failed and when, or with the angles at which the robot is singular.

    The time is the first at which the rates were no numbers although the state was; `again` integrates once more.
    """
    robot, (lost, last) = system.robot, _watched(make, again)
    if robot is None or last is None:
        return error

    def values(t: float, x: FloatArray) -> dict[str, float]:
        u = np.zeros(len(system.inputs))
        fill(t, x, u)
        states = dict(zip(system.states, x.tolist(), strict=False))
        return states | dict(zip(system.inputs, u.tolist(), strict=True))

    words = without_value(robot, parameters, values(*lost)) if lost else ""
    if lost and words:
        return type(error)(f"{error}\n  at t = {lost[0]:.6g} s {words}")
    where = _singular(robot, parameters, values(*last))
    if where:
        what = f"the integration stopped at t = {last[0]:.6g} s: '{robot.name}' is singular there"
        return type(error)(f"{what}, at {where}\n  {AXLES}")
    return error


def _singular(robot: Robot, parameters: Mapping[str, float], values: Mapping[str, float]) -> str:
    """The angles at which the wheels' rolling binds the robot less than at random ones, if it is near such; or nothing.

    The least singular value of A(q) that isn't zero in general is zero there.
    """
    numbers = mechanism(robot, parameters)
    assembly, quantities = numbers.assembly, numbers.assembly.quantities
    columns = [wheel.steering for wheel in ideal_wheels(assembly) if wheel.steering is not None]
    if not columns:
        return ""
    here = numbers.configured([values[name] for name in numbers.names])
    general, now = numbers.rolling.samples[:-1], np.array(here.rows(ideal_wheels(here.assembly)), dtype=float)
    rank = max(int(np.linalg.matrix_rank(matrix)) for matrix in general)
    least = [float(np.linalg.svd(matrix, compute_uv=False)[rank - 1]) for matrix in (*general, now)]
    if least[-1] > NEAR * float(np.median(least[:-1])):
        return ""
    angles = [quantities.coordinate_of(assembly.speeds[column]) for column in columns]
    return ", ".join(f"{name} = {math.degrees(values[name]):.4g} deg" for name in angles if name in values)


def _watched(make: Make, again: Callable[[Make], object]) -> tuple[Instant | None, Instant | None]:
    """Where a run's rates were first no numbers at a state of numbers, and where they were asked for last."""
    lost: list[Instant] = []
    last: list[Instant] = []

    def watching(a: float, b: float) -> tuple[RateFunction, RateFunction | None]:
        """The rates over [a, b], which also note the last finite state when they first aren't finite."""
        rate, slope = make(a, b)

        def watched(t: float, x: FloatArray) -> FloatArray:
            rates = rate(t, x)
            if np.isfinite(x).all():
                last[:] = [(t, np.array(x))]
                if not lost and not np.isfinite(rates).all():
                    lost[:] = last
            return rates

        return watched, slope

    with suppress(NumericsError):
        again(watching)
    return next(iter(lost), None), next(iter(last), None)
