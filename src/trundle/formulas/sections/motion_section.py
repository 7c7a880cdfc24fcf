"""Sections on motion: M, h, B and G, and the explicit accelerations."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from fractions import Fraction
from typing import TypeGuard

import sympy

from trundle.formulas.algebra.forms import best, cost
from trundle.formulas.algebra.polynomials import TooLong, TrigPolynomial
from trundle.formulas.derivation.dynamics import Dynamics, NamedForce, blocks
from trundle.formulas.derivation.named_constants import constants, symbols_of
from trundle.formulas.equation import ACCELERATION, Equation, Section, SymbolicMatrix
from trundle.formulas.symbols.names import Note, listed, rate_of
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.actuation import Element
from trundle.scalars import AnyRows, Scalar, is_zero

MOTION = "Equations of motion"
ACCELERATIONS = "Accelerations"
# An entry of M with more operations than this gets a symbol and a line of its own.
_MOST_ENTRY = 30
# An acceleration with more operations is written with symbols for M and the forces.
_MOST_EXPLICIT = 70


def motion_section(sheet: Sheet, dynamics: Dynamics, rows: AnyRows = ()) -> Section:
    """M u̇ + h = B τ + G f, and what each of these is; with loops also the rows A of their constraints, whose
    multipliers λ push along Aᵀ.
    """
    every = range(len(dynamics.labels))
    names = [sheet.names.unique(*each) for each in _NAMES]
    u, tau, f, _, mass, bias, motors, forces, loops = map(sympy.Symbol, names)
    entries = [[_entry(sheet, dynamics, i, j) for j in every] for i in every]
    speeds = sheet.column(dynamics.labels)
    pushes, others = dynamics.motors, dynamics.others
    parts = [
        ("speeds", u, speeds, "independent speeds"),
        ("torques", tau, _column(sheet, pushes), "torques of the motors"),
        ("forces", f, _column(sheet, others), f"forces of {_kinds(dynamics)}"),
        ("mass_matrix", mass, sheet.matrix(entries), "mass matrix of the independent speeds"),
        (
            "bias",
            bias,
            sheet.matrix([[_bias_entry(sheet, dynamics, k)] for k in every]),
            _bias_words(sheet, dynamics),
        ),
        (
            "input_matrix",
            motors,
            sheet.matrix(dynamics.matrix(pushes)),
            "how these torques act on the speeds",
        ),
        (
            "force_matrix",
            forces,
            sheet.matrix(dynamics.matrix(others)),
            "how these forces act on the speeds",
        ),
        ("loop_rows", loops, sheet.matrix(rows), "rows of the loops: A u = 0, with the multipliers λ"),
    ]
    central = _balance(names, len(speeds), (len(pushes), len(others), len(rows)))
    shown = (
        Equation(name, left, own, None, words, given=True) for name, left, own, words in parts if own.rows
    )
    return Section("dynamics", MOTION, (central, *shown), _inertia_notes(sheet, dynamics))


# Names of u, τ, f, λ and the matrices, and what they are called where parameters have these.
_NAMES = (
    ("u", "u_"), ("tau", "tau_all"), ("f", "f_all"), ("lamda", "lamda_"),
    ("M", "M_"), ("h", "h_"), ("B", "B_"), ("G", "G_"), ("A", "A_"),
)  # fmt: skip


def _column(sheet: Sheet, pushes: Sequence[NamedForce]) -> SymbolicMatrix:
    return SymbolicMatrix([sheet.writer.symbol(push.symbol) for push in pushes])


def _balance(names: Sequence[str], n: int, sizes: tuple[int, int, int]) -> Equation:
    """The central equation, in symbols that stand for whole matrices, of as many torques, forces and rows of loops."""
    u, tau, f, multipliers, mass, bias, motors, forces, loops = names
    symbol = sympy.MatrixSymbol
    pushes = [
        symbol(motors, n, sizes[0]) * symbol(tau, sizes[0], 1),
        symbol(forces, n, sizes[1]) * symbol(f, sizes[1], 1),
        symbol(loops, sizes[2], n).T * symbol(multipliers, sizes[2], 1),
    ]
    present = [push for push, size in zip(pushes, sizes, strict=True) if size]
    left = sympy.MatAdd(symbol(mass, n, n) * symbol(rate_of(u), n, 1), symbol(bias, n, 1))
    right = sympy.MatAdd(*present) if len(present) > 1 else present[0] if present else sympy.Integer(0)
    return Equation("motion", left, right, meaning="equations of motion", given=True)


def _kinds(dynamics: Dynamics) -> str:
    """What kinds of forces f has, in words."""
    elements = [push.source for push in dynamics.others if isinstance(push.source, Element)]
    kinds = {
        "springs": any(not is_zero(element.stiffness) for element in elements),
        "dampers": any(not is_zero(element.damping) for element in elements),
        "dry friction": any(not is_zero(element.coulomb) for element in elements),
        "stops": any(element.stops for element in elements),
        "contacts": len(elements) < len(dynamics.others),
    }
    return listed([words for words, present in kinds.items() if present])


def _bias_words(sheet: Sheet, dynamics: Dynamics) -> str:
    """What is in h, as far as there is something."""
    inside = set().union(*(symbols_of(entry) for entry in dynamics.bias if isinstance(entry, TrigPolynomial)))
    weight = set().union(
        *(symbols_of(each) for each in sheet.assembly.tree.gravity if isinstance(each, TrigPolynomial))
    )
    turning = inside & {*sheet.speeds.values()}
    parts = [
        *(["centrifugal and Coriolis terms"] if turning else []),
        *(["gravity"] if inside & weight else []),
    ]
    return f"forces at constant speeds{': ' if parts else ''}{', '.join(parts)}"


def _entry(sheet: Sheet, dynamics: Dynamics, i: int, j: int) -> Scalar:
    """An entry of M, with a symbol where it is long, or where the accelerations have one for it."""
    value = dynamics.mass[max(i, j)][min(i, j)]
    named = _is_long(value) or sheet.table.defined_symbol(value) is not None
    return _named_entry(sheet, dynamics, i, j) if named else value


def _is_long(value: Scalar) -> TypeGuard[TrigPolynomial]:
    """Whether an entry has more operations than one that stands in a matrix."""
    return isinstance(value, TrigPolynomial) and bool(value.terms) and cost(best(value)) > _MOST_ENTRY


def _bias_entry(sheet: Sheet, dynamics: Dynamics, k: int) -> Scalar:
    """An entry of h, by its symbol where the accelerations have one for it."""
    value = dynamics.bias[k]
    known = isinstance(value, TrigPolynomial) and sheet.table.defined_symbol(value) is not None
    return sheet.table.named(value) if known else value


def _named_entry(sheet: Sheet, dynamics: Dynamics, i: int, j: int) -> TrigPolynomial:
    """The symbol M_ij, with what it means."""
    low, high = sorted((i + 1, j + 1))
    mark = "" if len(dynamics.labels) < 10 else "_"
    a, b = (sheet.symbol(dynamics.labels[k]) for k in (i, j))
    words = _inertia_words(sheet, dynamics, i) if i == j else f"inertial coupling of {a} and {b}"
    value = dynamics.mass[max(i, j)][min(i, j)]
    return sheet.named(value, words, "", f"M_{low}{mark}{high}", f"M_{low}_{high}")


def _inertia_words(sheet: Sheet, dynamics: Dynamics, k: int) -> str:
    """What a diagonal entry of M is: by the motion that its speed stands for, alone."""
    label, base = dynamics.labels[k], sheet.assembly.base_columns
    symbol = sheet.symbol(label)
    unit = sheet.unit(label)
    moved = {j for j, row in enumerate(dynamics.basis.matrix) if j not in base and not is_zero(row[k])}
    others = {sheet.assembly.speeds[j] for j in moved} - {label}
    rolling = ", the wheels that roll with it included" if others else ""
    if len(base) == 3 and any(not is_zero(dynamics.basis.matrix[j][k]) for j in base):
        v_x, v_y, omega = (dynamics.basis.matrix[j][k] for j in base)
        if is_zero(omega):
            return f"effective mass for {symbol}: the robot's{rolling}"
        if is_zero(v_x) and is_zero(v_y):
            return f"moment of inertia of the robot about the base's origin, which stands while it turns{rolling}"
        kind = "mass" if unit == "m/s" else "moment of inertia"
        return f"effective {kind} for {symbol}, the base turning about its instantaneous centre{rolling}"
    if unit == "m/s":
        return f"mass along {symbol} of all that it moves"
    wheel = sheet.wheels_by("spin").get(label)
    if wheel is not None:
        rotor = ", its motor's rotor included" if sheet.has_rotor(label) else ""
        return f"moment of inertia of {wheel} about its axle{rotor}"
    return f"moment of inertia about the axis of {sheet.owner(label)} of all that turns with it"


def _inertia_notes(sheet: Sheet, dynamics: Dynamics) -> tuple[str, ...]:
    """What the diagonal of M means; entries that mean alike together."""
    alike: dict[str, list[tuple[sympy.Symbol, str]]] = {}
    for k, label in enumerate(dynamics.labels):
        value = dynamics.mass[k][k]
        if isinstance(value, TrigPolynomial) and len(value.terms) > 1:
            words = _inertia_words(sheet, dynamics, k)
            owner = next(name for name in (str(sheet.symbol(label)), sheet.owner(label), "") if name in words)
            before, own, after = words.partition(owner) if owner else (words, "", "")
            mark = "" if len(dynamics.labels) < 10 else "_"
            place = sympy.Symbol(f"M_{k + 1}{mark}{k + 1}")
            alike.setdefault(f"{before}\0{after}", []).append((place, own))
    notes = []
    for words, members in alike.items():
        places = [part for place, _ in members for part in (", ", place)][1:]
        owners = ", ".join(dict.fromkeys(owner for _, owner in members))
        notes.append(Note(*places, f": {words.replace(chr(0), owners)}."))
    return tuple(notes)


def acceleration_section(sheet: Sheet, dynamics: Dynamics) -> Section | None:
    """u̇ one by one, for speeds that go alone or in pairs; larger groups stay M u̇ = …"""
    drive = dynamics.drive(sheet.table)
    equations: list[Equation] = []
    left: list[str] = []
    for group in blocks(dynamics.mass):
        rates = _explicit(sheet, dynamics, group, [drive[k] for k in group])
        for k, right in zip(group, rates, strict=False):
            label = dynamics.labels[k]
            symbol = sympy.Symbol(rate_of(str(sheet.symbol(label))))
            equations.append(Equation(f"{ACCELERATION}{label}", symbol, right))
        left += [] if rates else [dynamics.labels[k] for k in group]
    if not equations:
        return None
    rates = ", ".join(str(sheet.symbol(label)) for label in left)
    note = f"The rates of {rates} depend on each other: the equations of motion have them together."
    return Section("dynamics", ACCELERATIONS, tuple(equations), (note,) if left else ())


def _explicit(
    sheet: Sheet, dynamics: Dynamics, group: Sequence[int], drive: Sequence[TrigPolynomial]
) -> list[sympy.Expr]:
    """The accelerations of a group of speeds that go together; nothing where that is long."""
    with suppress(TooLong):
        if len(group) == 1:
            return [_alone(sheet, dynamics, group[0], drive[0])]
        if len(group) == 2:
            return _pair(sheet, dynamics, group, drive)
    return []


def _alone(sheet: Sheet, dynamics: Dynamics, k: int, force: TrigPolynomial) -> sympy.Expr:
    """The acceleration of a speed that goes alone: force over mass."""
    writer, mass = sheet.writer, sheet.table.polynomial(dynamics.mass[k][k])
    if len(force.terms) + len(mass.terms) <= _MOST_EXPLICIT:
        times, rest = _divided(force, mass)
        right = writer.expression(times) + writer.fraction(rest, mass)
        if sympy.count_ops(right) <= _MOST_EXPLICIT:
            return right
    above, below = _force(sheet, dynamics, k, force), _named_entry(sheet, dynamics, k, k)
    return writer.expression(above) / writer.expression(below)


def _divided(force: TrigPolynomial, mass: TrigPolynomial) -> tuple[TrigPolynomial, TrigPolynomial]:
    """(a, b) of force = a · mass + b: what a robot's whole mass stands before, as in m v_y ω, needs no fraction."""
    table = force.table
    times, rest = table.number(0), table.number(0)
    for key, constant in constants(table, force).items():
        term, number = next(iter(constant.terms.items()))
        ratio = Fraction(number) / mass.terms[term] if term in mass.terms else Fraction(0)
        if ratio and not (constant - mass * ratio).terms:
            times = times + table.term(key) * ratio
        else:
            rest = rest + constant * table.term(key)
    return times, rest


def _force(sheet: Sheet, dynamics: Dynamics, k: int, force: TrigPolynomial) -> TrigPolynomial:
    """The symbol Q_k of what pushes a speed."""
    bias, symbol = dynamics.bias[k], sheet.symbol(dynamics.labels[k])
    if _is_long(bias):
        # It stands in h, too: a symbol says it once.
        words = f"forces on {symbol} at constant speeds"
        force = force + bias - sheet.named(bias, words, "", f"h_{k + 1}")
    words = f"generalized force of {symbol}: all forces, less those at constant speeds"
    return sheet.named(force, words, "", f"Q_{k + 1}")


def _pair(
    sheet: Sheet, dynamics: Dynamics, group: Sequence[int], drive: Sequence[TrigPolynomial]
) -> list[sympy.Expr]:
    """Two speeds by Cramer's rule, in symbols for M and the forces."""
    i, j = group
    m11, m12, m22 = entries = [_named_entry(sheet, dynamics, a, b) for a, b in ((i, i), (i, j), (j, j))]
    for entry in entries:  # so that they are told in this order
        sheet.expression(entry)
    f1, f2 = (_force(sheet, dynamics, k, force) for k, force in zip(group, drive, strict=True))
    below = m11 * m22 - m12 * m12
    return [sheet.writer.fraction(above, below) for above in (m22 * f1 - m12 * f2, m11 * f2 - m12 * f1)]
