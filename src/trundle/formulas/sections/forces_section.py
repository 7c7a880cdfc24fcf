"""Sections on forces: motors, springs and friction, slipping contacts and their loads, in the words of their kinds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import fields, replace
from typing import TypeVar

import numpy as np
import sympy

from trundle.formulas.algebra.polynomials import TooLong, TrigPolynomial
from trundle.formulas.derivation.dynamics import Dynamics, NamedForce, slip_symbols
from trundle.formulas.equation import Equation, Section
from trundle.formulas.symbols.names import Note, rate_of
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.actuation import Actuator, Element, SoftStop, Supply
from trundle.mechanics.inverse_dynamics import needed_wrenches
from trundle.mechanics.linear import adjugate, determinant, dot
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.wheels import WheelModel, contact_rows, load_shares
from trundle.model.forces import (
    base_frames,
    carried_by,
    contact_place,
    contact_span,
    ground_height,
    shared_weight,
    sharing_wheels,
    wheel_loads,
)
from trundle.model.load_shift import at_ground, axle_moment, shifts_load
from trundle.robot.kinds import ask
from trundle.robot.motor import Drive
from trundle.scalars import AnyRows, Scalar, maximum, minimum

_Source = TypeVar("_Source", Actuator, Element, Supply, WheelModel, SoftStop)
# The symbols of a battery's states.
_STATES = {"charge": "s", "relay": "sigma", "relay_lock": "lambda"}


def motor_section(sheet: Sheet, dynamics: Dynamics) -> Section | None:
    """What the motors' torques follow from: commands, currents, and the rates of what is a state."""
    equations: list[Equation] = []
    notes: list[Note] = []
    for push in dynamics.motors:
        assert isinstance(push.source, Actuator)
        if push.source.motor.holds:
            notes.append(_holding(sheet, push, push.source))
        else:
            equations += _motor(sheet, push, push.source)
    return Section("dynamics", "Motors", tuple(equations), tuple(notes)) if equations or notes else None


def _holding(sheet: Sheet, push: NamedForce, source: Actuator) -> Note:
    """What a motor that holds a rate does; no equation gives its torque."""
    actuator = _written(sheet, source)
    target = sheet.names.target(actuator.motor.drives)
    symbol = actuator.motor.letters.get(actuator.command.label, actuator.command.label)
    command = _quantity_symbol(sheet, symbol, target, actuator.command)
    rate = sheet.symbol(sheet.assembly.speeds[actuator.shaft])
    wanted = actuator.acceleration(Drive(command, 0, rate, {}))
    torque = sheet.writer.symbol(push.symbol)
    start, taken = f"{actuator.name} gives ", ". Its torque "
    end = " is what that takes: the equations of motion have it as one more unknown."
    return Note(start, sympy.Symbol(rate_of(str(rate))), " = ", wanted, taken, torque, end)


def _motor(sheet: Sheet, push: NamedForce, source: Actuator) -> list[Equation]:
    """The motor's torque, then what it follows from: each of its outputs, or the rate of one that is a state."""
    actuator = _written(sheet, source)
    motor, name = actuator.motor, actuator.name
    target = sheet.names.target(motor.drives)
    turned = next(axis for axis in sheet.assembly.axes.values() if axis.column == actuator.shaft)
    position = sheet.expression(sheet.at.values[turned.coordinate])
    rate = sheet.symbol(sheet.assembly.speeds[actuator.shaft])

    def symbol(quantity: Quantity) -> sympy.Expr:
        return _quantity_symbol(sheet, motor.letters.get(quantity.label, quantity.label), target, quantity)

    command, own, outputs = symbol(actuator.command), actuator.states, actuator.outputs
    shown = {what: symbol(quantity) for what, quantity in {**outputs, **own}.items()}
    feeding = next((source for source in sheet.assembly.supplies if name in source.feeds), None)
    supply = None if feeding is None else _quantity_symbol(sheet, "V", feeding.name, feeding.voltage)
    torque = motor.effort(Drive(command, position, rate, shown, supply), actuator.read).torque
    left = sheet.writer.symbol(push.symbol)
    equations = [Equation(f"{name}.torque", left, torque, meaning=f"torque of {name}")]
    drive = Drive(command, position, rate, {what: shown[what] for what in own}, supply)
    if feeding is not None:
        relay = {
            state.name: _quantity_symbol(sheet, _STATES[what], feeding.name, state)
            for what, state in feeding.states.items()
        }
        drive = feeding.switched(actuator, drive, relay)
    effort, held = motor.effort(drive, actuator.read), _winding_parts(sheet, actuator, drive, target)
    equations += held.values()
    parts = {part: equation.left for part, equation in held.items()}
    for what in outputs:
        right, words = effort.outputs[what].xreplace(parts), f"{what} of {name}"
        equations.append(Equation(f"{name}.{what}", shown[what], right, meaning=words))
    return equations + _rates(
        name, shown, {what: rate.xreplace(parts) for what, rate in effort.rates.items()}
    )


def _winding_parts(sheet: Sheet, actuator: Actuator, drive: Drive, target: str) -> dict[sympy.Expr, Equation]:
    """The parts of a motor's effort that stand in lines of their own, by what they stand for in others."""
    name, parts = actuator.name, ask(actuator.motor, actuator.key, actuator.motor.parts, drive, actuator.read)
    return {
        part: Equation(
            f"winding.{name}.{stem}",
            sympy.Symbol(sheet.names.indexed(stem, target)),
            part,
            meaning=f"{words} {name}",
        )
        for stem, (part, words) in parts.items()
    }


def battery_section(sheet: Sheet) -> Section | None:
    """The batteries' voltages and currents, which follow from one another, and the rates of their charges."""
    equations = [equation for supply in sheet.assembly.supplies for equation in _battery(sheet, supply)]
    return Section("dynamics", "Batteries", tuple(equations)) if equations else None


def _battery(sheet: Sheet, plain: Supply) -> list[Equation]:
    """A battery's voltage, its current by the power that its motors draw, and the rate of its charge."""
    supply, name = _written(sheet, plain), plain.name
    voltage, current = (
        _quantity_symbol(sheet, stem, name, of) for stem, of in (("V", supply.voltage), ("i", supply.current))
    )
    states = {
        what: _quantity_symbol(sheet, _STATES[what], name, state) for what, state in supply.states.items()
    }
    battery, read = supply.battery, supply.read
    drawn = sympy.Add(*(_drawn(sheet, motor) for motor in supply.feeds))
    left = battery.source(states["charge"], read) - read(battery.internal_resistance) * current
    rates = {"charge": -current / read(battery.capacity), **battery.relay_rates(states, voltage, read)}
    return [
        Equation(supply.voltage.name, voltage, left, meaning=f"voltage of {name}"),
        Equation(supply.current.name, current, drawn / voltage, meaning=f"current of {name}"),
        *_rates(name, states, rates),
    ]


def _drawn(sheet: Sheet, motor: str) -> sympy.Expr:
    """The symbol of the power that a motor takes."""
    actuator = next(actuator for actuator in sheet.assembly.actuators if actuator.name == motor)
    return _quantity_symbol(sheet, "P", sheet.names.target(actuator.motor.drives), actuator.power)


def _rates(owner: str, symbols: Mapping[str, sympy.Expr], rates: Mapping[str, Scalar]) -> list[Equation]:
    """The rates of the states that a motor or a contact brings along."""
    equations = []
    for what, change in rates.items():
        words = f"rate of the {what.replace('_', ' ')} of {owner}"
        left = sympy.Symbol(rate_of(str(symbols[what])))
        equations.append(Equation(f"{owner}.{what}_rate", left, change, meaning=words))
    return equations


def _quantity_symbol(sheet: Sheet, stem: str, target: str, quantity: Quantity) -> sympy.Expr:
    return sheet.quantity_symbol(stem, target, quantity.name, quantity.unit)


def _written(sheet: Sheet, source: _Source) -> _Source:
    """An actuator, element or wheel with its numbers as expressions."""

    def written(value: Scalar) -> Scalar:
        if isinstance(value, tuple) and value and isinstance(value[0], SoftStop):
            return tuple(_written(sheet, part) for part in value)
        value = sheet.table.number(value) if isinstance(value, float) else value
        return sheet.expression(value) if isinstance(value, TrigPolynomial) else value

    changed = {field.name: written(getattr(source, field.name)) for field in fields(source)}
    if isinstance(source, Actuator | Supply | WheelModel):
        changed["read"] = lambda value: written(source.read(value))
    return replace(source, **changed)


def passive_section(sheet: Sheet, dynamics: Dynamics) -> Section | None:
    """Springs, dampers, dry friction, stops."""
    equations = []
    names = {axis.column: axis.coordinate for axis in sheet.assembly.axes.values()}
    for push in dynamics.others:
        if isinstance(push.source, Element):
            element = _written(sheet, push.source)
            speed = sheet.assembly.speeds[element.column]
            at = sheet.at.values[names[element.column]] if element.column in names else 0
            torque = element.effort(sheet.expression(at), sheet.symbol(speed)).torque
            left, words = sheet.writer.symbol(push.symbol), sheet.table.symbols[push.symbol].meaning
            equations.append(Equation(f"passive.{speed}", left, torque, meaning=words))
    return Section("dynamics", "Springs and friction", tuple(equations)) if equations else None


def contact_section(sheet: Sheet, dynamics: Dynamics) -> Section | None:
    """Slip, load and forces of the wheels whose contact law gives forces."""
    wheels = [wheel for wheel in sheet.assembly.wheels if wheel.acts]
    if not wheels:
        return None
    loads = readable_loads(sheet, dynamics)
    shared = len({sheet.table.polynomial(loads[wheel.name]).key for wheel in wheels}) == 1 < len(wheels)
    equations: list[Equation] = []
    for wheel in wheels:
        load = _load(sheet, wheel.name, loads[wheel.name], shared)
        equations += _contact(sheet, dynamics, wheel, load)
    return Section("dynamics", "Slipping contacts", tuple(equations), _load_notes(sheet, loads))


def _load_notes(sheet: Sheet, loads: Mapping[str, Scalar]) -> tuple[str, ...]:
    """What is to be known of loads that motion shifts."""
    if not shifts_load(sheet.assembly):
        return ()
    own = [wheel.name for wheel in sheet.assembly.wheels if wheel.acts and wheel.load is None]
    symbols = [
        sheet.table.symbols[symbol]
        for name in own
        if (symbol := sheet.table.polynomial(loads[name]).symbol) is not None
    ]
    if any(symbol.definition is None for symbol in symbols):
        return ("The loads depend on the accelerations. They are not written out; runs have them.",)
    return (
        "The loads depend on the accelerations, and these by friction on the loads: the program solves for both. "
        "The equations hold as long as all wheels stand.",
    )


def _contact(sheet: Sheet, dynamics: Dynamics, wheel: WheelModel, load: sympy.Expr) -> list[Equation]:
    """A wheel's slip, its forces, and the rates of the states that its law brings along."""
    assembly, name = sheet.assembly, wheel.name
    rows = contact_rows(assembly.tree, sheet.at.poses, wheel, len(assembly.speeds))
    slips = [sheet.writer.symbol(index) for index in slip_symbols(sheet, wheel)]
    nu, equations = sheet.all_speeds(), []
    for symbol, row, direction in zip(slips, rows, wheel.pushed, strict=False):
        words, right = f"{direction.what} slip of {name}", sheet.expression(dot(row, nu))
        equations.append(Equation(f"{name}.{direction.what}_slip", symbol, right, meaning=words))
    label = sheet.names.label(name)
    own = {what: _quantity_symbol(sheet, what, label, state) for what, state in wheel.states.items()}
    states = {state.name: own[what] for what, state in wheel.states.items()}
    rate = 0 if wheel.spin is None else sheet.symbol(assembly.speeds[wheel.spin])
    push = _written(sheet, wheel).push(slips, load, rate, states)
    symbols = [other.symbol for other in dynamics.others if other.source is wheel]
    done = [
        (wheel.force(direction), force) for direction, force in zip(wheel.pushed, push.forces, strict=True)
    ]
    done += [(wheel.moment, push.moment)] if wheel.law.resists else []
    for index, (quantity, value) in zip(symbols, done, strict=True):
        left, words = sheet.writer.symbol(index), sheet.table.symbols[index].meaning
        equations.append(Equation(quantity.name, left, value, meaning=words))
    return equations + _rates(name, own, push.rates)


def _load(sheet: Sheet, wheel: str, load: Scalar, shared: bool) -> sympy.Expr:
    """The symbol of a wheel's load; one for all wheels that carry the same."""
    value = sheet.table.polynomial(load)
    if value.symbol is not None:
        entry = sheet.table.symbols[value.symbol]
        if entry.definition is not None and not entry.name:
            entry.name = sheet.names.indexed("N", "" if shared else sheet.names.label(wheel))
            what = "what all carry" if shifts_load(sheet.assembly) else "the weight"
            entry.meaning = "load of each wheel" if shared else f"load of {wheel}, its share of {what}"
            entry.source, entry.unit = f"{wheel}.load", "N"
    return sheet.expression(value)


# Shares with more terms are written by their plane; moments of a motion with more aren't written out.
_MOST_TERMS = 30
_MOST_MOMENTS = 60
# Of the mean load: parameters are drawn a tenth off the description's.
_LEAST = 0.2
_SHAPES = ("", "x", "y")


def readable_loads(sheet: Sheet, dynamics: Dynamics) -> dict[str, Scalar]:
    """The load of each wheel (N), as the program has it: by the motion where that shifts it, else at rest."""
    span = contact_span(sheet.here.numbers.assembly)
    if shifts_load(sheet.assembly):
        return _moving_loads(sheet, dynamics, span)
    with suppress(TooLong):
        loads = wheel_loads(sheet.assembly, sheet.at, span)
        if _is_short(sheet, loads):
            return loads
    loads, resultant = shared_weight(sheet.assembly, sheet.at)
    shares = _by_plane(sheet, span, resultant, _AT_REST)
    return loads | {name: maximum(sheet.table.polynomial(share), 0) for name, share in shares.items()}


def _is_short(sheet: Sheet, loads: Mapping[str, Scalar]) -> bool:
    sizes = [len(a.terms) for value in loads.values() for a in _arguments(sheet.table.polynomial(value))]
    return max(sizes, default=0) <= _MOST_TERMS


def _arguments(value: TrigPolynomial) -> Sequence[TrigPolynomial]:
    """What a load is the positive part of."""
    definition = None if value.symbol is None else value.table.symbols[value.symbol].definition
    return (value,) if definition is None else definition.arguments


_AT_REST = ("weight that these wheels share", "its moment arm along x, times it", "the same along y")
_MOVING = (
    "what the wheels that share it carry, Σ N",
    "its moment along x, Σ N x",
    "its moment along y, Σ N y",
)


def _moving_loads(sheet: Sheet, dynamics: Dynamics, span: Sequence[int]) -> dict[str, Scalar]:
    """Loads by the accelerations: N_i = max(min(a + b x_i + c y_i, Σ N), 0). Where wheels or couplings bind the
    speeds, or too many terms are in them, symbols that runs have numbers for.
    """
    assembly, table = sheet.assembly, sheet.table
    with suppress(TooLong):
        if not sheet.here.constrained and _always_stands(sheet):
            frames = base_frames(assembly, sheet.at.poses)
            given, carried = _carried_together(sheet, dynamics)
            target = _named_target(sheet, carried, span, _MOVING)
            places = [contact_place(wheel, frames) for wheel in sharing_wheels(assembly)]
            names = [wheel.name for wheel in sharing_wheels(assembly)]
            shares = dict(zip(names, load_shares(places, target, span), strict=True))
            if not _is_short(sheet, shares):
                shares = _by_plane(sheet, span, target, _MOVING)
            held = {
                name: table.polynomial(minimum(table.polynomial(share), target[0]))
                for name, share in shares.items()
            }
            return given | {name: maximum(share, 0) for name, share in held.items()}
    return {wheel.name: _unwritten(sheet, wheel) for wheel in assembly.wheels if wheel.acts}


def _always_stands(sheet: Sheet) -> bool:
    """Whether wheels carry something wherever the robot stands still: equations are compared with the program there."""
    numbers = sheet.here.numbers
    q = np.random.default_rng(0).uniform(-1.2, 1.2, (len(numbers.names), 50))
    here = numbers.configured(list(numbers.assembly.quantities.normalised(numbers.names, q)))
    loads = wheel_loads(numbers.assembly, here.at, contact_span(numbers.assembly))
    sharing = [loads[wheel.name] for wheel in sharing_wheels(numbers.assembly)]
    return float(np.min(sharing)) > _LEAST * float(np.max(np.mean(sharing, axis=0)))


def _unwritten(sheet: Sheet, wheel: WheelModel) -> Scalar:
    """A load as given, or as a symbol."""
    if wheel.load is not None:
        return wheel.load
    symbol, words = sheet.names.indexed("N", sheet.names.label(wheel.name)), f"load of {wheel.name}"
    return sheet.table.symbol(sheet.new_symbol(symbol, "force", words, "N", wheel.pressed.name))


def _carried_together(sheet: Sheet, dynamics: Dynamics) -> tuple[dict[str, Scalar], list[Scalar]]:
    """The given loads, and Σ N, Σ N x and Σ N y of the other wheels, by Newton-Euler with symbols for accelerations."""
    assembly, table = sheet.assembly, sheet.table
    frames = base_frames(assembly, sheet.at.poses)
    rates = [sheet.rate(name) for name in assembly.speeds]
    wrench, *_ = needed_wrenches(assembly.tree, sheet.at.poses, sheet.all_speeds(), rates)
    total = [*at_ground(wrench, ground_height(assembly, frames))]
    given: dict[str, Scalar] = {}
    for wheel in assembly.wheels:
        if wheel.load is not None:
            given[wheel.name] = wheel.load
            total = [t - wheel.load * arm for t, arm in zip(total, carried_by(wheel, frames), strict=True)]
        if wheel.acts and wheel.law.resists and wheel.spin is not None:
            symbol = [other.symbol for other in dynamics.others if other.source is wheel][-1]
            total = [
                t + table.symbol(symbol) * arm
                for t, arm in zip(total, axle_moment(wheel, frames), strict=True)
            ]
    if max(len(table.polynomial(each).terms) for each in total) > _MOST_MOMENTS:
        raise TooLong
    return given, total


def _named_target(
    sheet: Sheet, carried: Sequence[Scalar], span: Sequence[int], words: Sequence[str]
) -> tuple[Scalar, Scalar, Scalar]:
    """Σ N, Σ N x and Σ N y as symbols, where loads are made of them."""
    named = [
        sheet.named(value, words[k], "N m" if k else "N", f"W{_mark(_SHAPES[k])}")
        if k == 0 or k - 1 in span
        else 0
        for k, value in enumerate(carried)
    ]
    return named[0], named[1], named[2]


def _by_plane(
    sheet: Sheet, span: Sequence[int], carried: Sequence[Scalar], words: Sequence[str]
) -> dict[str, Scalar]:
    """N_i = a + b x_i + c y_i with Σ N = W, Σ N x = W_x and Σ N y = W_y, its sums as symbols."""
    assembly, named = sheet.assembly, sheet.named
    frames = base_frames(assembly, sheet.at.poses)
    wheels = sharing_wheels(assembly)
    kinds = [0, *(1 + k for k in span)]
    shapes = [[carried_by(wheel, frames)[k] for k in kinds] for wheel in wheels]
    target = [_named_target(sheet, carried, span, words)[k] for k in kinds]
    gram = [[_gram(sheet, shapes, kinds, i, j) for j in range(len(kinds))] for i in range(len(kinds))]
    size = named(determinant(gram), "determinant of the sums Q", "", "Q")
    of = "of the plane of the loads, N = a + b x + c y"
    plane = [
        named(dot(row, target) / size, of, "", f"{'abc'[k]}_N")
        for k, row in zip(kinds, adjugate(gram), strict=True)
    ]
    return {wheel.name: dot(plane, shape) for wheel, shape in zip(wheels, shapes, strict=True)}


def _mark(text: str) -> str:
    return f"_{text}" if text else ""


def _gram(sheet: Sheet, shapes: AnyRows, kinds: Sequence[int], i: int, j: int) -> Scalar:
    """Σ over the wheels of a product of their places, as a symbol."""
    total = sum((shape[i] * shape[j] for shape in shapes), sheet.table.number(0))
    what = _SHAPES[kinds[i]] + _SHAPES[kinds[j]]
    words = f"Σ {what or '1'} over the wheels that share the weight"
    return sheet.named(total, words, "", f"Q{_mark(what)}")
