"""A first look at motors and contact laws in plain numbers: do they give some, at rest and in motion?

What users bring may divide by a slip or a rate that is zero at rest. In a program that would be a NaN somewhere in a
run; here it is said with the class that did it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from functools import partial

from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.wheels import WheelModel
from trundle.robot.contact import Push
from trundle.robot.motors import Effort

# Where they are asked: at rest, and in a motion of no particular kind (m/s, rad/s, rad; loads in N).
_RATES = {"at rest": 0.0, "in motion": 1.3}
_LOAD = 10.0


def check_own_kinds(numeric: Assembly) -> None:
    """Raise InputError where a motor or a contact law of an assembly in numbers gives no finite number."""
    for where, rate in _RATES.items():
        for actuator in numeric.actuators:
            _check(actuator.motor, f"motors.{actuator.name}", where, partial(_motor, actuator, rate))
        for wheel in numeric.wheels:
            if wheel.acts:
                _check(wheel.law, f"wheels.{wheel.name}.contact", where, partial(_contact, wheel, rate))


def _motor(actuator: Actuator, rate: float) -> Iterable[object]:
    states = {state.name: state.start + rate for state in actuator.states.values()}
    effort: Effort = actuator.effort(rate, rate, rate, states)
    return (*effort[:4], *effort.rates.values(), *effort.outputs.values())


def _contact(wheel: WheelModel, rate: float) -> Iterable[object]:
    states = {state.name: state.start + 1e-3 * rate for state in wheel.states.values()}
    slip = [rate / (k + 2) for k in range(len(wheel.pushed))]
    push: Push = wheel.push(slip, _LOAD, rate, states)
    rest = (push.moment, 0.0 if push.loss is None else push.loss, push.stored)
    return (*push.forces, *rest, *push.rates.values(), *push.outputs.values())


def _check(kind: object, key: str, where: str, values: Callable[[], Iterable[object]]) -> None:
    try:
        found = [float(value) for value in values()]  # type: ignore[arg-type]
        if all(math.isfinite(value) for value in found):
            return
        came = f"gives {', '.join(f'{value:g}' for value in found)}"
    except (
        ArithmeticError,
        ValueError,
    ) as error:  # math's own: a division by zero, a root of what is negative
        came = f"has no value ({error})"
    raise InputError(
        f"{type(kind).__name__} {came} {where}",
        key=f"robot.{key}",
        hint="every force, rate and output must be a finite number there: round quotients off, as v/sqrt(v*v + e*e)",
    )
