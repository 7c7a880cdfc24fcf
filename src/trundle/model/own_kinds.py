"""A first look at motors and contact laws in plain numbers: do they give some, at rest and in motion?

What users bring may divide by a slip or a rate that is zero at rest. In a program that would be a NaN somewhere in a
run; here it is said with the class that did it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.wheels import WheelModel
from trundle.model.forces import applied_forces, contact_span
from trundle.model.mechanism import mechanism
from trundle.robot import Robot
from trundle.robot.contact import Push
from trundle.robot.kinds import ask
from trundle.robot.motors import Effort

# Where they are asked: at rest, and in a motion of no particular kind (m/s, rad/s, rad; loads in N).
_RATES = {"at rest": 0.0, "in motion": 1.3}
_LOAD = 10.0


def check_own_kinds(numeric: Assembly) -> None:
    """Raise InputError where a motor or a contact law of an assembly in numbers gives no finite number."""
    for actuator in numeric.actuators:
        _check_motor_names(actuator)
    for wheel in numeric.wheels:
        _check_law_names(wheel, {*numeric.coordinates, *numeric.speeds})
    for where, rate in _RATES.items():
        for actuator in numeric.actuators:
            _check(actuator.motor, actuator.key, where, partial(_motor, actuator, rate))
        for wheel in numeric.wheels:
            if wheel.acts:
                _check(wheel.law, wheel.key, where, partial(_contact, wheel, rate))


def _check_motor_names(actuator: Actuator) -> None:
    others = {each.name for each in (actuator.command, actuator.torque, actuator.power)}
    _check_names(actuator.motor, actuator.key, {**actuator.states, **actuator.outputs}, others)


def _check_law_names(wheel: WheelModel, others: set[str]) -> None:
    others |= {wheel.pressed.name, wheel.moment.name}
    others |= {each(d).name for d in wheel.directions for each in (wheel.force, wheel.slip)}
    _check_names(wheel.law, wheel.key, wheel.states, others)
    outputs = {name: wheel.output(name) for name in wheel.law.outputs}
    _check_names(wheel.law, wheel.key, outputs, others | {each.name for each in wheel.states.values()})


def _check_names(kind: object, key: str, own: Mapping[str, Quantity], others: set[str]) -> None:
    """Refuse names of states and outputs that another part has, and starts that are no numbers."""
    for name, quantity in own.items():
        if quantity.name in others:
            taken = sorted(each for each in others if each.startswith(f"{quantity.owner}."))
            raise InputError(
                f"{type(kind).__name__} calls a state or an output {name!r}, but there is a {quantity.name} already",
                key=key,
                hint=f"call it otherwise; taken are {', '.join(taken)}",
            )
        if not math.isfinite(quantity.start):
            raise InputError(
                f"{type(kind).__name__} starts its state {name!r} at {quantity.start:g}",
                key=key,
                hint="a start must be a finite number",
            )


def _motor(actuator: Actuator, rate: float) -> Iterable[object]:
    states = {state.name: state.start + rate for state in actuator.states.values()}
    effort: Effort = actuator.effort(actuator.drive(rate, rate, rate, states))
    armature = ask(actuator.motor, actuator.key, actuator.motor.armature, actuator.read)
    return (*effort[:4], armature, *effort.rates.values(), *effort.outputs.values())


def _contact(wheel: WheelModel, rate: float) -> Iterable[object]:
    states = {state.name: state.start + 1e-3 * rate for state in wheel.states.values()}
    slip = [rate / (k + 2) for k in range(len(wheel.pushed))]
    push: Push = wheel.push(slip, _LOAD, rate, states)
    rest = (push.moment, 0.0 if push.loss is None else push.loss, push.stored)
    return (*push.forces, *rest, *push.rates.values(), *push.outputs.values())


def _check(kind: object, key: str, where: str, values: Callable[[], Iterable[object]]) -> None:
    """Raise InputError where a kind's values aren't finite numbers; `where` says in which situation."""
    try:
        found = [float(value) for value in values()]  # type: ignore[arg-type]
        if _finite(found):
            return
        came = f"gives {', '.join(f'{value:g}' for value in found)}"
    except InputError as error:
        if not isinstance(error.__cause__, (ArithmeticError, ValueError)):
            raise
        came = f"has no value ({error.__cause__})"  # a division by zero, a root of what is negative
    except (TypeError, ValueError) as error:  # what is given is no number
        came = f"has no value ({error})"
    raise InputError(
        f"{type(kind).__name__} {came} {where}",
        key=key,
        hint="every force, rate and output must be a finite number there: round quotients off, as v/sqrt(v*v + e*e)",
    )


def without_value(robot: Robot, parameters: Mapping[str, float], values: Mapping[str, float]) -> str:
    """Which motor or contact law of a robot gives no finite number, in words; "" where all do.

    values: coordinates, speeds, states of motors and contacts, and inputs by name, where a run stopped.
    """
    here = mechanism(robot, parameters)
    if not {*here.names, *here.basis.labels} <= values.keys():  # rolled: nothing there gives a force
        return ""
    here = here.configured([values[name] for name in here.names])
    assembly, nu = here.assembly, here.speeds([values[name] for name in here.basis.labels])
    try:
        found = applied_forces(assembly, here.at, nu, values, values, contact_span(assembly))
    except InputError as error:  # a root of what is negative, say, with the class and the line
        return f"{error.message} ({error.key})"
    for actuator in assembly.actuators:
        effort = found.efforts[actuator.name]
        if not _finite([*effort[:4], *effort.rates.values(), *effort.outputs.values()]):
            return f"{type(actuator.motor).__name__} gives no finite number for the motor '{actuator.name}'"
    for wheel in assembly.wheels:
        own = [value for quantity, value in found.contacts.items() if quantity.owner == wheel.name]
        own += [found.rates[state.name] for state in wheel.states.values()]
        if wheel.acts and not _finite(own):
            return f"{type(wheel.law).__name__} gives no finite number for the wheel '{wheel.name}'"
    return ""


def _finite(values: Iterable[float]) -> bool:
    return all(math.isfinite(value) for value in values)
