"""Can a mechanism move as its equations will say: has every speed inertia, do the wheels carry the robot, and do
motors and contact laws give numbers, at rest and in motion?

What users bring may divide by a slip or a rate that is zero at rest. In a program that would be a NaN somewhere in a
run; here it is said with the class that did it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.elimination import null_space
from trundle.mechanics.momentum import center_of_mass
from trundle.mechanics.quantities import Quantities, Quantity
from trundle.mechanics.wheels import WheelModel
from trundle.model.constraints import ideal_wheels
from trundle.model.forces import (
    applied_forces,
    base_frames,
    contact_place,
    contact_span,
    ground_height,
    standing_loads,
    wheel_loads,
)
from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.moving import NO_INERTIA, at_generic, generic_values, scaled_mass
from trundle.program import Program
from trundle.program.tangents import once
from trundle.robot import Robot
from trundle.robot.contact import Push
from trundle.robot.kinds import ask
from trundle.robot.motor import Effort
from trundle.robot.structure import base_bodies, has_heights

# An acceleration as large (m/s², rad/s²) at speeds of about 1 is a quotient by rounding.
_NO_NUMBER = 1e15
# A wheel as near to the line between two others (m) stands on it.
_STRAIGHT = 1e-9


def check_inertia(numbers: Mechanism) -> bool:
    """Raise InputError naming the speeds that no mass opposes, before equations are formed that would divide by zero.

    Returns whether that is settled. Loops may hold what has no mass, so their robots are looked at when their equations
    are solved (`check_mass`). A base without mass is described for its kinematics, which need none: it derives, and its
    forces are not numbers.
    """
    assembly = numbers.assembly
    if not assembly.speeds:
        raise InputError(
            f"there is nothing that can move in '{numbers.robot.name}': a fixed base without a joint that moves",
            key="robot.joints",
            hint="give a joint a type that moves (revolute, prismatic, ...), or choose base: planar or floating",
        )
    if assembly.loops or (assembly.base_columns and not _base_weighs(numbers)):
        return False
    culprits = _unopposed(at_generic(numbers))
    if culprits:
        raise _without_inertia(numbers.robot, culprits)
    return True


def _base_weighs(numbers: Mechanism) -> bool:
    resolve = numbers.robot.resolver(numbers.parameters)
    return any(resolve(body.mass) for body in base_bodies(numbers.robot))


def check_mass(numbers: Mechanism, dynamics: Program, quantities: Quantities) -> None:
    """Raise InputError naming the speeds for which the program finds no acceleration at a generic state."""
    states, inputs, _ = dynamics.inputs
    state = generic_values(quantities, states.labels)
    parameters = np.array(list(numbers.parameters.values()), dtype=float)
    (rate,) = once(dynamics, state, np.zeros(inputs.size), parameters)
    if not np.isfinite(rate).all() or np.abs(rate).max(initial=0.0) >= _NO_NUMBER:
        raise _without_inertia(numbers.robot, _unopposed(at_generic(numbers)))


def _without_inertia(robot: Robot, culprits: Sequence[str]) -> InputError:
    """An error that names the speeds that nothing resists, and what gives them inertia."""
    what = ", ".join(culprits) or "some of its speeds"
    first = culprits[0].rpartition(".")[0] if culprits else ""
    kind = next((kind for kind in ("joints", "wheels") if first in getattr(robot, kind)), None)
    return InputError(
        f"'{robot.name}' has no inertia to resist {what}: its accelerations can't be found",
        key=f"robot.{kind}.{first}" if kind else "robot",
        hint="give the bodies and wheels that move so a mass or an inertia (a point on the axis resists no turning), "
        "a joint an armature, or the motor that drives it a rotor_inertia",
    )


def _unopposed(numbers: Mechanism) -> list[str]:
    """The speeds that can change, within the constraints, without moving any mass."""
    assembly = numbers.assembly
    mass, scale = scaled_mass(numbers)
    rows = numbers.rows(ideal_wheels(assembly))
    scaled = np.array(rows, dtype=float).reshape(len(rows), len(mass)) * scale
    scaled = scaled / np.maximum(np.abs(scaled).max(axis=1, keepdims=True, initial=0.0), 1e-300)
    motions = null_space(scaled)
    values, vectors = np.linalg.eigh(motions.T @ mass @ motions)
    empty = motions @ vectors[:, np.abs(values) <= NO_INERTIA]
    return [
        name for name, row in zip(assembly.speeds, empty, strict=True) if np.abs(row).max(initial=0.0) > 1e-6
    ]


def check_loads(numbers: Mechanism) -> None:
    """Raise InputError naming slipping wheels that would be pulled to the ground when the robot stands as
    described.
    """
    assembly, name = numbers.assembly, numbers.robot.name
    slipping = [wheel for wheel in assembly.wheels if wheel.acts and wheel.load is None]
    if not slipping:
        return
    if -assembly.tree.gravity[2] <= 0:
        message = f"the slipping wheels of '{name}' have no load: gravity doesn't press it to the ground"
        hint = "give gravity a positive number (m/s^2), or each slipping wheel a load (N)"
        raise InputError(message, key="robot.gravity", hint=hint)
    loads = wheel_loads(assembly, numbers.at, contact_span(assembly))
    lifted = [wheel.name for wheel in slipping if loads[wheel.name] <= 0]
    if lifted:
        raise InputError(
            f"'{name}' would tip: its centre of mass is so far outside its wheels that nothing loads "
            f"{', '.join(lifted)}, which can't grip then",
            key=f"robot.wheels.{lifted[0]}",
            hint="move body.center_of_mass between the wheels, or give the wheel a load (N)",
        )


@dataclass(frozen=True)
class Standing:
    """When a robot on wheels tips over while it stands: on slopes beyond `slope` (rad), over the line between the two
    wheels `over`; below zero it does so on level ground. `height` is that of its centre of mass above the ground (m).
    """

    height: float
    slope: float
    over: tuple[str, str]


def standing(robot: Robot) -> Standing | None:
    """tan a = b/h at the side of the wheels that its centre of mass is nearest to, b away and h high, every joint at
    its zero; None where no height is known, or the wheels stand on one line.
    """
    if len(robot.wheels) < 3 or not has_heights(robot):
        return None
    here = mechanism(robot)
    frames = base_frames(here.assembly, here.at.poses)
    if not sum(link.inertia.mass for link in here.assembly.tree.links):
        return None
    _, center = center_of_mass(here.assembly.tree, frames)
    places = {wheel.name: contact_place(wheel, frames) for wheel in here.assembly.wheels}
    sides = list(_sides(places))
    height = center[2] - ground_height(here.assembly, frames)
    if len(sides) < 3 or height <= 0:
        return None
    away, over = min((_left_of(center[:2], places[a], places[b]), (a, b)) for a, b in sides)
    return Standing(float(height), math.atan2(away, height), over)


def _left_of(point: Sequence[float], start: Sequence[float], end: Sequence[float]) -> float:
    """How far a point lies to the left of the way from one place to another (m)."""
    x, y = end[0] - start[0], end[1] - start[1]
    return (x * (point[1] - start[1]) - y * (point[0] - start[0])) / math.hypot(x, y)


def _sides(places: Mapping[str, tuple[float, float]]) -> Iterator[tuple[str, str]]:
    """The sides of the polygon around places, counter-clockwise, by the names at their ends (Andrew 1979)."""
    order = sorted({place: name for name, place in places.items()}.items())
    around: list[str] = []
    for way in (order, order[::-1]):
        half: list[str] = []
        for place, name in way:
            while len(half) > 1 and _left_of(place, places[half[-2]], places[half[-1]]) <= _STRAIGHT:
                half.pop()
            half.append(name)
        around += half[:-1]
    return zip(around, (*around[1:], *around[:1]), strict=True)


# Where they are asked: at rest, and in a motion of no particular kind (m/s, rad/s, rad; loads in N).
_RATES = {"at rest": 0.0, "in motion": 1.3}
_LOAD = 10.0


def check_own_kinds(numeric: Assembly) -> None:
    """Raise InputError where a motor or a contact law of an assembly in numbers gives no finite number."""
    for actuator in numeric.actuators:
        others = {each.name for each in (actuator.command, actuator.torque, actuator.power)}
        _check_names(actuator.motor, actuator.key, {**actuator.states, **actuator.outputs}, others)
    for wheel in numeric.wheels:
        others = {*numeric.coordinates, *numeric.speeds, wheel.pressed.name, wheel.moment.name}
        others |= {each(d).name for d in wheel.directions for each in (wheel.force, wheel.slip)}
        _check_names(wheel.law, wheel.key, wheel.states, others)
        outputs = {name: wheel.output(name) for name in wheel.law.outputs}
        _check_names(wheel.law, wheel.key, outputs, others | {each.name for each in wheel.states.values()})
    for where, rate in _RATES.items():
        for actuator in numeric.actuators:
            _check(actuator.motor, actuator.key, where, partial(_motor, actuator, rate))
        for wheel in numeric.wheels:
            if wheel.acts:
                _check(wheel.law, wheel.key, where, partial(_contact, wheel, rate))


def _check_names(kind: object, key: str, own: Mapping[str, Quantity], others: set[str]) -> None:
    """Refuse names of states and outputs that another part has, and starts that are no numbers."""
    for name, quantity in own.items():
        if quantity.name in others:
            taken = sorted(other for other in others if other.startswith(f"{quantity.owner}."))
            raise InputError(
                f"{type(kind).__name__} calls a state or an output {name!r}, but there is a {quantity.name} already",
                key=key,
                hint=f"call it otherwise; taken are {', '.join(taken)}",
            )
        if not math.isfinite(quantity.start):
            message = f"{type(kind).__name__} starts its state {name!r} at {quantity.start:g}"
            raise InputError(message, key=key, hint="a start must be a finite number")


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
        numbers = [float(value) for value in values()]  # type: ignore[arg-type]
        if _finite(numbers):
            return
        came = f"gives {', '.join(f'{value:g}' for value in numbers)}"
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

    values: coordinates, speeds, states of motors and contacts, and inputs by name, where a run stopped. Inputs that
    controllers drive aren't among them: then the words are of the controllers.
    """
    here = mechanism(robot, parameters)
    try:
        if not {*here.names, *here.basis.labels} <= values.keys():  # rolled: nothing there gives a force
            return ""
        here = here.configured([values[name] for name in here.names])
        assembly, nu = here.assembly, here.speeds([values[name] for name in here.basis.labels])
    except ZeroDivisionError:  # no S(q) has numbers there: the constraints are singular, whatever forces do
        return ""
    try:
        driven = [motor.command.name for motor in assembly.actuators if motor.command.name not in values]
        if driven:  # by controllers, whose commands are no inputs
            return f"a gain of its controllers may divide by 0; they drive {', '.join(driven)}"
        loads = standing_loads(assembly, here.at, contact_span(assembly))
        forces = applied_forces(assembly, here.at, nu, values, values, loads)
    except InputError as error:  # a root of what is negative, say, with the class and the line
        return f"{error.message} ({error.key})"
    for actuator in assembly.actuators:
        effort = forces.efforts[actuator.name]
        if not _finite([*effort[:4], *effort.rates.values(), *effort.outputs.values()]):
            return f"{type(actuator.motor).__name__} gives no finite number for the motor '{actuator.name}'"
    for wheel in assembly.wheels:
        own = [value for quantity, value in forces.contacts.items() if quantity.owner == wheel.name]
        own += [forces.rates[state.name] for state in wheel.states.values()]
        if wheel.acts and not _finite(own):
            return f"{type(wheel.law).__name__} gives no finite number for the wheel '{wheel.name}'"
    return ""


def _finite(values: Iterable[float]) -> bool:
    return all(math.isfinite(value) for value in values)
