"""Sections on forces and motion: motors, springs, slipping contacts, M, h, B, and the explicit accelerations."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import sympy

from trundle.formulas.algebra import Letter, Sum, TooLong
from trundle.formulas.dynamics import Dynamics, Push, blocks, slip_letters
from trundle.formulas.forms import best, cost
from trundle.formulas.kinematics_section import Sheet
from trundle.formulas.loads_section import readable_loads
from trundle.formulas.names import rate_of
from trundle.formulas.sections import Equation, Section
from trundle.formulas.whole import constants
from trundle.mechanics.linear import dot
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.wheels import WheelModel, contact_rows
from trundle.robot.motors import Drive
from trundle.scalars import Scalar, is_zero

# An entry of M with more operations than this gets a letter and a line of its own.
_MOST_ENTRY = 30
# An acceleration with more operations is written with letters for M and the forces.
_MOST_EXPLICIT = 70


def motor_section(sheet: Sheet, dynamics: Dynamics) -> Section | None:
    """τ of each motor, and di/dt where a current is a state."""
    equations = []
    for push in dynamics.motors:
        equations += _motor(sheet, push)
    return Section("dynamics", "Motors", tuple(equations)) if equations else None


def _motor(sheet: Sheet, push: Push) -> list[Equation]:
    """The motor's torque, then what it follows from: each of its outputs, or the rate of one that is a state."""
    mechanism = sheet.mechanism
    actuator = _written(sheet, push.source)
    motor, name = actuator.motor, actuator.name
    target = mechanism.names.target(motor.drives)
    position = sheet.writer.expression(mechanism.at.values[mechanism.assembly.axes[motor.drives].coordinate])
    rate = sheet.symbol(mechanism.assembly.speeds[actuator.column])

    def symbol(quantity: Quantity) -> Any:
        return _known(
            sheet, mechanism.names.force(motor.letters.get(quantity.label, quantity.label), target), quantity
        )

    command, own = symbol(actuator.command), actuator.states
    shown = {what: symbol(quantity) for what, quantity in {**actuator.outputs, **own}.items()}
    torque = motor.effort(Drive(command, position, rate, shown), actuator.read).torque
    equations = [
        Equation(f"{name}.torque", sheet.writer.symbol(push.letter), torque, meaning=f"torque of {name}")
    ]
    states = {what: shown[what] for what in own}
    effort = motor.effort(Drive(command, position, rate, states), actuator.read)
    for what in actuator.outputs:
        words = f"{what} of {name}"
        equations.append(Equation(f"{name}.{what}", shown[what], effort.outputs[what], meaning=words))
    return equations + [_rate(name, what, shown[what], change) for what, change in effort.rates.items()]


def _rate(owner: str, what: str, symbol: Any, change: Scalar) -> Equation:
    """The rate of a state that a motor or a contact brings along."""
    words = f"rate of the {what.replace('_', ' ')} of {owner}"
    return Equation(f"{owner}.{what}_rate", sympy.Symbol(rate_of(symbol.name)), change, meaning=words)


def _known(sheet: Sheet, stem: str, quantity: Quantity) -> Any:
    """The symbol of something that a run knows by its name: a command, a state, an output."""
    book = sheet.mechanism.book
    book.add(Letter(stem, "input", quantity.name, quantity.unit, source=quantity.name))
    return sheet.writer.symbol(len(book.letters) - 1)


def _written(sheet: Sheet, source: Any) -> Any:
    """An actuator, element or wheel with its numbers as expressions."""
    changed: dict[str, Any] = {}
    for each in dataclasses.fields(source):
        value = getattr(source, each.name)
        if each.name == "read":
            changed["read"] = lambda written: _expression(sheet, source.read(written))
        elif isinstance(value, tuple) and value and dataclasses.is_dataclass(value[0]):
            changed[each.name] = tuple(_written(sheet, part) for part in value)
        elif isinstance(value, (float, Sum)):
            changed[each.name] = _expression(sheet, value)
    return dataclasses.replace(source, **changed)


def _expression(sheet: Sheet, value: Scalar) -> Any:
    """A number or a sum of letters as SymPy writes it."""
    value = sheet.mechanism.book.number(value) if isinstance(value, float) else value
    return sheet.writer.expression(value) if isinstance(value, Sum) else value


def passive_section(sheet: Sheet, dynamics: Dynamics) -> Section | None:
    """Springs, dampers, dry friction, stops; the friction of slipping contacts."""
    equations = []
    mechanism = sheet.mechanism
    names = {axis.column: axis.coordinate for axis in mechanism.assembly.axes.values()}
    for push in dynamics.others:
        if push.what:
            continue
        element = _written(sheet, push.source)
        speed = mechanism.assembly.speeds[element.column]
        at = mechanism.at.values[names[element.column]] if element.column in names else 0
        effort = element.effort(sheet.writer.expression(at), sheet.symbol(speed))
        words = mechanism.book.letters[push.letter].meaning
        equations.append(
            Equation(f"passive.{speed}", sheet.writer.symbol(push.letter), effort.torque, meaning=words)
        )
    return Section("dynamics", "Springs and friction", tuple(equations)) if equations else None


def contact_section(sheet: Sheet, dynamics: Dynamics) -> Section | None:
    """Slip, load and forces of each wheel whose contact law gives forces."""
    mechanism = sheet.mechanism
    wheels = [wheel for wheel in mechanism.assembly.wheels if wheel.law.pushes and wheel.directions]
    if not wheels:
        return None
    loads = readable_loads(mechanism)
    shared = len({mechanism.book.sum(loads[wheel.name]).key for wheel in wheels}) == 1 < len(wheels)
    equations: list[Equation] = []
    for wheel in wheels:
        load = _load(sheet, wheel.name, loads[wheel.name], shared)
        equations += _contact(sheet, dynamics, wheel, load)
    return Section("dynamics", "Slipping contacts", tuple(equations))


def _contact(sheet: Sheet, dynamics: Dynamics, wheel: WheelModel, load: Any) -> list[Equation]:
    """A wheel's slip, its forces, and the rates of the states that its law brings along."""
    mechanism, assembly, name = sheet.mechanism, sheet.mechanism.assembly, wheel.name
    rows = contact_rows(assembly.tree, mechanism.at.poses, wheel, len(assembly.speeds))
    slips = [sheet.writer.symbol(letter) for letter in slip_letters(mechanism, wheel)]
    nu, equations = mechanism.all_speeds(), []
    for symbol, row, direction in zip(slips, rows, wheel.directions, strict=True):
        words, right = f"{direction.what} slip of {name}", sheet.writer.expression(dot(row, nu))
        equations.append(Equation(f"{name}.{direction.what}_slip", symbol, right, meaning=words))
    label = mechanism.names.label(name)
    own = {
        state.name: _known(sheet, mechanism.names.force(what, label), state)
        for what, state in wheel.states.items()
    }
    rate = 0 if wheel.spin is None else sheet.symbol(assembly.speeds[wheel.spin])
    push = _written(sheet, wheel).push(slips, load, rate, own)
    letters = [each.letter for each in dynamics.others if each.source is wheel]
    for letter, force, direction in zip(letters, push.forces, wheel.directions, strict=False):
        left, words = sheet.writer.symbol(letter), mechanism.book.letters[letter].meaning
        equations.append(Equation(f"{name}.{direction.force}", left, force, meaning=words))
    return equations + [_rate(name, what, own[f"{name}.{what}"], rate) for what, rate in push.rates.items()]


def _load(sheet: Sheet, wheel: str, load: Scalar, shared: bool) -> Any:
    """The symbol of a wheel's load; one for all wheels that carry the same."""
    value = sheet.mechanism.book.sum(load)
    if value.is_letter and value.terms:
        ((powers, _, _),) = value.terms
        entry = sheet.mechanism.book.letters[powers[0][0]]
        if entry.definition is not None and not entry.name:
            entry.name = sheet.mechanism.names.force(
                "N", "" if shared else sheet.mechanism.names.label(wheel)
            )
            entry.meaning = "load of each wheel" if shared else f"load of {wheel}, its share of the weight"
            entry.source, entry.unit = f"{wheel}.load", "N"
    return sheet.writer.expression(value)


def motion_section(sheet: Sheet, dynamics: Dynamics, rows: Sequence[Sequence[Scalar]] = ()) -> Section:
    """M, h, B and G; with loops also the rows A of their constraints, whose multipliers λ push along Aᵀ."""
    mechanism = sheet.mechanism
    mass = [
        [_entry(sheet, dynamics, i, j) for j in range(len(dynamics.labels))]
        for i in range(len(dynamics.labels))
    ]
    names = mechanism.names.names
    symbols = {name: sympy.Symbol(names.unique(name, f"{name}_")) for name in ("M", "h", "B", "G", "A")}
    equations = [
        Equation(
            "mass_matrix",
            symbols["M"],
            sheet.matrix(mass),
            meaning="mass matrix of the independent speeds",
            given=True,
        ),
        Equation(
            "bias",
            symbols["h"],
            sympy.ImmutableMatrix([sheet.writer.expression(entry) for entry in dynamics.bias]),
            meaning="forces that it takes to keep the speeds: centrifugal and Coriolis terms, gravity",
            given=True,
        ),
    ]
    for key, pushes in (("B", dynamics.motors), ("G", dynamics.others)):
        equations += [_pushing(sheet, dynamics, key, symbols[key])] if pushes else []
    if rows:
        matrix = sheet.matrix(rows)
        equations.append(
            Equation("loop_rows", symbols["A"], matrix, meaning="rows of the loops: A u = 0", given=True)
        )
    notes = (_balance(sheet, dynamics, symbols, bool(rows)), *_inertia_notes(sheet, dynamics))
    return Section("dynamics", "Equations of motion", tuple(equations), notes)


def _balance(sheet: Sheet, dynamics: Dynamics, symbols: Mapping[str, Any], loops: bool) -> str:
    """How M, h, B and G go together, and what u, τ and f are."""
    forces, legend = [], [f"u = ({', '.join(dynamics.labels)})"]
    if dynamics.motors:
        forces.append(f"{symbols['B']} τ")
        legend.append(f"τ = torques of ({', '.join(push.source.name for push in dynamics.motors)})")
    if dynamics.others:
        forces.append(f"{symbols['G']} f")
        words = (sheet.mechanism.book.letters[push.letter].meaning for push in dynamics.others)
        legend.append(f"f = ({', '.join(words)})")
    if loops:
        forces.append(f"{symbols['A']}ᵀ λ")
    return f"{symbols['M']} u̇ + {symbols['h']} = {' + '.join(forces) or '0'},  {';  '.join(legend)}."


def _pushing(sheet: Sheet, dynamics: Dynamics, key: str, symbol: Any) -> Equation:
    """B or G: what motors, or all other forces, put on the speeds."""
    if key == "B":
        name, pushes, words = "input_matrix", dynamics.motors, "what the motors' torques τ put on the speeds"
    else:
        name, pushes, words = (
            "force_matrix",
            dynamics.others,
            "what springs, friction and contacts f put on the speeds",
        )
    return Equation(name, symbol, sheet.matrix(dynamics.matrix(pushes)), meaning=words, given=True)


def _entry(sheet: Sheet, dynamics: Dynamics, i: int, j: int) -> Scalar:
    """An entry of M, with a letter where it is long."""
    value = dynamics.mass[max(i, j)][min(i, j)]
    if not isinstance(value, Sum) or not value.terms or cost(best(value)) <= _MOST_ENTRY:
        return value
    return named_entry(sheet, dynamics, i, j)


def named_entry(sheet: Sheet, dynamics: Dynamics, i: int, j: int) -> Sum:
    """The letter M_ij, with what it means."""
    value = sheet.mechanism.book.sum(dynamics.mass[max(i, j)][min(i, j)])
    low, high = sorted((i + 1, j + 1))
    mark = "" if len(dynamics.labels) < 10 else "_"
    known = sheet.mechanism.book.known(value)
    if known is not None:
        return known
    name = sheet.mechanism.names.names.unique(f"M_{low}{mark}{high}", f"M_{low}_{high}")
    words = (
        inertia_words(sheet, dynamics, i)
        if i == j
        else f"inertial coupling of {dynamics.labels[i]} and {dynamics.labels[j]}"
    )
    return sheet.mechanism.book.named(value, name, words)


def inertia_words(sheet: Sheet, dynamics: Dynamics, k: int) -> str:
    """What a diagonal entry of M is: by the motion that its speed stands for, alone."""
    mechanism = sheet.mechanism
    label, base = dynamics.labels[k], mechanism.assembly.base_columns
    unit = mechanism.unit(label)
    others = [
        j
        for j, row in enumerate(dynamics.basis.matrix)
        if j not in base and not is_zero(row[k]) and mechanism.assembly.speeds[j] != label
    ]
    rolling = ", the wheels that roll with it included" if others else ""
    if len(base) == 3 and any(not is_zero(dynamics.basis.matrix[j][k]) for j in base):
        v_x, v_y, omega = (dynamics.basis.matrix[j][k] for j in base)
        if is_zero(omega):
            return f"effective mass for {label}: the robot's{rolling}"
        if is_zero(v_x) and is_zero(v_y):
            return f"moment of inertia of the robot about the base's origin, which stands while it turns{rolling}"
        kind = "mass" if unit == "m/s" else "moment of inertia"
        return f"effective {kind} for {label}, the base turning about its instantaneous centre{rolling}"
    owner = label.rpartition(".")[0]
    if unit == "m/s":
        return f"mass along {label} of all that it moves"
    if owner in mechanism.robot.wheels and label.endswith(".rate"):
        return f"moment of inertia of {owner} about its axle, its motor's rotor included"
    return f"moment of inertia about the axis of {owner or label} of all that turns with it"


def _inertia_notes(sheet: Sheet, dynamics: Dynamics) -> tuple[str, ...]:
    """What the diagonal of M means; entries that mean alike together."""
    found: dict[str, list[tuple[str, str]]] = {}
    for k, label in enumerate(dynamics.labels):
        value = dynamics.mass[k][k]
        if isinstance(value, Sum) and len(value.terms) > 1:
            words = inertia_words(sheet, dynamics, k)
            owner = next(each for each in (label, label.rpartition(".")[0], "") if each in words)
            before, own, after = words.partition(owner) if owner else (words, "", "")
            found.setdefault(f"{before}\0{after}", []).append((f"M[{k + 1}, {k + 1}]", own))
    notes = []
    for words, members in found.items():
        places, owners = (", ".join(dict.fromkeys(column)) for column in zip(*members, strict=True))
        notes.append(f"{places}: {words.replace(chr(0), owners)}.")
    return tuple(notes)


def acceleration_section(sheet: Sheet, dynamics: Dynamics) -> Section | None:
    """u̇ one by one, for speeds that go alone or in pairs; larger groups stay M u̇ = …"""
    drive = dynamics.drive(sheet.mechanism.book)
    equations: list[Equation] = []
    left: list[str] = []
    for group in blocks(dynamics.mass):
        found = _explicit(sheet, dynamics, group, drive)
        equations += found
        left += [] if found else [dynamics.labels[k] for k in group]
    if not equations:
        return None
    note = f"The rates of {', '.join(left)} depend on each other: they are left as M u̇ = B τ + G f − h."
    return Section("dynamics", "Accelerations", tuple(equations), (note,) if left else ())


def _explicit(sheet: Sheet, dynamics: Dynamics, group: Sequence[int], drive: Sequence[Sum]) -> list[Equation]:
    """The accelerations of a group of speeds that go together; nothing where that is long."""
    with suppress(TooLong):
        if len(group) == 1:
            return [_alone(sheet, dynamics, group[0], drive[group[0]])]
        if len(group) == 2:
            return _pair(sheet, dynamics, group, drive)
    return []


def _rate_symbol(sheet: Sheet, label: str) -> Any:
    return sympy.Symbol(rate_of(str(sheet.symbol(label))))


def _alone(sheet: Sheet, dynamics: Dynamics, k: int, force: Sum) -> Equation:
    book = sheet.mechanism.book
    mass = book.sum(dynamics.mass[k][k])
    label = dynamics.labels[k]
    left = _rate_symbol(sheet, label)
    if len(force.terms) + len(mass.terms) <= _MOST_EXPLICIT:
        times, rest = _divided(force, mass)
        right = sheet.writer.expression(times) + sheet.writer.fraction(rest, mass)
        if sympy.count_ops(right) <= _MOST_EXPLICIT:
            return Equation(f"acceleration.{label}", left, right)
    right = sheet.writer.expression(_force(sheet, dynamics, k, force)) / sheet.writer.expression(
        named_entry(sheet, dynamics, k, k)
    )
    return Equation(f"acceleration.{label}", left, right)


def _divided(force: Sum, mass: Sum) -> tuple[Sum, Sum]:
    """(a, b) of force = a · mass + b: what a robot's whole mass stands before, as in m v_y ω, needs no fraction."""
    book = force.book
    times, rest = book.number(0), book.number(0)
    for key, constant in constants(book, force).items():
        term, number = next(iter(constant.terms.items()))
        ratio = Fraction(number) / mass.terms[term] if term in mass.terms else Fraction(0)
        if ratio and not (constant - mass * ratio).terms:
            times = times + Sum(book, {key: 1}) * ratio
        else:
            rest = rest + constant * Sum(book, {key: 1})
    return times, rest


def _force(sheet: Sheet, dynamics: Dynamics, k: int, force: Sum) -> Sum:
    """The letter Q_k of what pushes a speed."""
    known = sheet.mechanism.book.known(force)
    if known is not None:
        return known
    name = sheet.mechanism.names.names.unique(f"Q_{k + 1}")
    return sheet.mechanism.book.named(
        force, name, f"what pushes {dynamics.labels[k]}: all forces, less the bias"
    )


def _pair(sheet: Sheet, dynamics: Dynamics, group: Sequence[int], drive: Sequence[Sum]) -> list[Equation]:
    """Two speeds by Cramer's rule, in letters for M and the forces."""
    i, j = group
    m11, m12, m22 = (named_entry(sheet, dynamics, a, b) for a, b in ((i, i), (i, j), (j, j)))
    f1, f2 = (_force(sheet, dynamics, k, drive[k]) for k in group)
    below = m11 * m22 - m12 * m12
    rights = [
        sheet.writer.fraction(m22 * f1 - m12 * f2, below),
        sheet.writer.fraction(m11 * f2 - m12 * f1, below),
    ]
    return [
        Equation(f"acceleration.{dynamics.labels[k]}", _rate_symbol(sheet, dynamics.labels[k]), right)
        for k, right in zip(group, rights, strict=True)
    ]
