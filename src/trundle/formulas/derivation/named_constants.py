"""What the equations of a robot on steered wheels are made of: the mass and moments of inertia of the whole.

Before ν = S(q) u goes in, the entries of M and of the bias c(q, ν) are sums of constants times a few sines and speeds.
A sum of constants that stands on M's diagonal is a quantity with a name (the mass of the whole robot, its moment of
inertia about the base's origin, a wheel's with its motor's rotor), and so it gets a symbol wherever it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trundle.formulas.algebra.polynomials import SymbolTable, TrigPolynomial, without_content
from trundle.formulas.algebra.rates import put
from trundle.formulas.algebra.terms import ONE, Exact, Powers, Term, Terms
from trundle.formulas.derivation.carriages import Carriage
from trundle.formulas.symbols.names import common, listed
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import apply
from trundle.mechanics.momentum import mass_matrix
from trundle.scalars import Rows, Scalar, is_zero, plus

# A sum of constants but for its content: what makes it the same quantity.
Core = frozenset[tuple[Term, Exact]]


def by_parts(
    sheet: Sheet, part: Carriage, alone: bool, nu: Sequence[Scalar], drift: Sequence[Scalar]
) -> tuple[Rows, list[Scalar]]:
    """M of a carriage with the constants named, and M Ṡu + c(q, ν)."""
    table, width = sheet.table, len(sheet.assembly.speeds)
    # Symbols for its speeds until ν goes in; a trailer's twist has no others.
    places: list[int] = []
    for column, name in zip(part.columns, part.speeds, strict=False):
        if column < width:
            sheet.speed(name)
        places.append(sheet.speeds[name] if column < width else sheet.new_symbol("", "speed", ""))
    symbols = [table.symbol(place) for place in places]
    mass = mass_matrix(part.tree, part.poses)
    bias = inverse_dynamics(part.tree, part.poses, symbols, [0] * len(symbols))
    base = range(len(sheet.assembly.base_columns))
    known = _name_constants(sheet, part, alone, mass, [(i, j) for i in base for j in base if i < j])
    mass = [[_referred(table, entry, known) for entry in row] for row in mass]
    bias = [_referred(table, entry, known) for entry in bias]
    chosen = dict(zip(places, nu, strict=True))
    moved = [put(table.polynomial(entry), chosen) for entry in bias]
    return mass, [plus(a, b) for a, b in zip(apply(mass, drift), moved, strict=True)]


def rotors_between(sheet: Sheet, parts: Sequence[Carriage]) -> list[tuple[int, Scalar]]:
    """The columns and inertias (kg m²) of rotors that no carriage holds: those of linkages and of hitches."""
    tree = sheet.assembly.tree
    hitches = [(part.hitch, tree.links[part.links[0]].armatures[0]) for part in parts if part.owner]
    linkages = [(linkage.column, linkage.armature) for linkage in sheet.assembly.linkages]
    return [(column, armature) for column, armature in [*hitches, *linkages] if not is_zero(armature)]


def with_wheels_named(sheet: Sheet, mass: Rows) -> Rows:
    """M with symbols for the wheels' moments of inertia, their motors' rotors included."""
    turning = {wheel.spin for wheel in sheet.assembly.wheels}
    wheels = [
        [entry if i == j and i in turning else 0 for j, entry in enumerate(row)] for i, row in enumerate(mass)
    ]
    whole = Carriage("", (), sheet.assembly.tree, [], (), sheet.assembly.speeds)
    known = _name_constants(sheet, whole, True, wheels)
    return [[_referred(sheet.table, entry, known) for entry in row] for row in mass]


def newton_euler(sheet: Sheet, nu: Sequence[Scalar]) -> list[Scalar]:
    """c(q, ν), what the speeds need where their rates are zero; a coupling's own speed needs nothing."""
    tree = sheet.assembly.tree
    count = tree.speed_count
    needed = inverse_dynamics(tree, sheet.at.poses, nu[:count], [0] * count)
    return [*needed, *([0] * (len(sheet.assembly.speeds) - count))]


def symbols_of(value: TrigPolynomial) -> set[int]:
    """All symbols in a sum, those in definitions included."""
    symbols: set[int] = set()
    for powers, _, angle in value.terms:
        angles = [angle, *(atom[1] for atom, _ in powers if isinstance(atom, tuple))]
        inside = {k for angle in angles for k, _ in angle} | {k for k, _ in powers if isinstance(k, int)}
        for symbol in inside - symbols:
            symbols.add(symbol)
            definition = value.table.symbols[symbol].definition
            for argument in definition.arguments if definition is not None else ():
                symbols |= symbols_of(argument)
    return symbols


class NamedConstant(NamedTuple):
    """A named constant: its symbol over the number and powers that its sum without content lacks."""

    symbol: TrigPolynomial
    number: Exact
    powers: Powers


class _Standing(NamedTuple):
    """A constant where it stands in M: its row and column, what it stands before, whether it is the only one there."""

    row: str
    column: str
    before: Term
    alone: bool
    constant: TrigPolynomial


# What the base's mass matrix holds beside its diagonal: M[v_x, omega] = -m y_c, M[v_y, omega] = m x_c.
_FIRST_MOMENTS = {("v_x", "omega"): ("y", -1), ("v_y", "omega"): ("x", 1)}


def _name_constants(
    sheet: Sheet, part: Carriage, alone: bool, mass: Rows, others: Sequence[tuple[int, int]] = ()
) -> dict[Core, NamedConstant]:
    """Symbols of the constants on M's diagonal and in `others` of its entries, by their content."""
    table, speeds = sheet.table, part.speeds
    places = [(j, j) for j in range(len(mass))] + list(others)
    groups: dict[Core, list[_Standing]] = {}
    for i, j in places:
        parts = constants(table, mass[i][j])
        for key, constant in parts.items():
            _, _, core = without_content(table, constant.terms)
            beside = (speeds[i], speeds[j]) in _FIRST_MOMENTS and not key[0]
            if len(core) > 1 and (beside or (i == j and key == ONE)):
                place = _Standing(speeds[i], speeds[j], key, len(parts) == 1, constant)
                groups.setdefault(frozenset(core.items()), []).append(place)
    known = {}
    for key, members in groups.items():
        first = members[0]
        name, meaning, unit = _called(sheet, part, alone, members)
        value = first.constant * _FIRST_MOMENTS.get((first.row, first.column), ("", 1))[1]
        number, powers, _ = without_content(table, value.terms)
        symbol = table.named(value, sheet.names.unique(name), meaning, unit)
        known[key] = NamedConstant(symbol, number, powers)
    return known


def _called(sheet: Sheet, whole: Carriage, alone: bool, members: Sequence[_Standing]) -> tuple[str, str, str]:
    """Name, meaning and unit of a constant of M by the rows and columns where it stands."""
    first = members[0]
    part = "" if first.alone else ", the part that stays the same"
    index = f"_{sheet.names.label(whole.owner)}" if whole.owner else ""
    if first.row != first.column:
        return _first_moment(sheet, whole, alone, first, part)
    if first.row in ("v_x", "v_y", "v_z"):
        return f"m_all{index}" if whole.owner else "m", whole.of("mass", alone), "kg"
    if first.row == "omega":
        about = "its hitch" if whole.owner else "the base's origin"
        name = f"I{index}" if whole.owner else "I_O"
        return name, f"{whole.of('moment of inertia', alone)} about {about}{part}", "kg m^2"
    if sheet.unit(first.row) == "m/s":
        owner = sheet.owner(first.row)
        return f"m_{sheet.names.label(owner)}", f"mass of all that {owner} moves{part}", "kg"
    return _turned(sheet, [member.row for member in members], part)


def _first_moment(
    sheet: Sheet, whole: Carriage, alone: bool, place: _Standing, part: str
) -> tuple[str, str, str]:
    """Name, meaning and unit of a first moment (kg m): a carriage's, or that of what turns about a joint."""
    axis, _ = _FIRST_MOMENTS[place.row, place.column]
    if place.before == ONE:
        index = f"_{sheet.names.label(whole.owner)}" if whole.owner else ""
        words = f"{whole.of('first moment', alone)}{part}: its mass times {axis} of its centre"
        return f"S_{axis}{index}", words, "kg m"
    symbols = [symbol for symbol, _ in place.before[2]]
    turning, source = (
        [str(sheet.writer.symbol(each)) for each in symbols],
        sheet.table.symbols[symbols[-1]].source,
    )
    # an angle that is a multiple of another one, by a gear's ratio, has no part of its own
    label = sheet.names.label(sheet.owner(source)) if source else turning[-1]
    words = f"first moment of what turns by {listed(turning)}, about its axis"
    return f"S_{label}", words, "kg m"


def _turned(sheet: Sheet, speeds: Sequence[str], part: str) -> tuple[str, str, str]:
    """A moment of inertia about one axis, or about each of several."""
    owners = [sheet.owner(name) for name in speeds]
    spins = speeds[0] in sheet.wheels_by("spin")
    where = "the axle of " if spins else ""
    if speeds[0] in sheet.wheels_by("steering"):
        where = "the steering axis of "
    rotors = any(map(sheet.has_rotor, speeds))
    stem, _, label = sheet.names.index(speeds[0]).partition("_")
    if len(owners) > 1:
        label = (
            common(owners, {}) if set(common(owners, {}).split("_")) <= set(owners[0].split("_")) else label
        )
        label = "" if len(owners) == len(sheet.robot.wheels) or label == owners[0] else label
    name = "_".join(part for part in ("I", stem, label) if part)
    if spins and len(owners) == len(sheet.robot.wheels):
        included = ", its motor's rotor included" if rotors else ""
        return name, f"moment of inertia of a wheel about its axle{included}", "kg m^2"
    included = ", rotors included" if rotors else ""
    return name, f"moment of inertia about {where}{listed(owners)}{included}{part}", "kg m^2"


def constants(table: SymbolTable, entry: Scalar) -> dict[Term, TrigPolynomial]:
    """The constants of an entry, by the sine and the other symbols that they stand before."""
    if not isinstance(entry, TrigPolynomial):
        return {}
    groups: dict[Term, Terms] = {}
    for (powers, function, angle), factor in entry.terms.items():
        fixed = tuple(p for p in powers if isinstance(p[0], int) and _is_constant(table, p[0]))
        others = tuple(p for p in powers if p not in fixed)
        groups.setdefault((others, function, angle), {})[fixed, "", ()] = factor
    return {key: TrigPolynomial(table, terms) for key, terms in groups.items()}


def _is_constant(table: SymbolTable, symbol: int) -> bool:
    entry = table.symbols[symbol]
    if entry.definition is not None:
        return all(
            _is_constant(table, k) for argument in entry.definition.arguments for k in symbols_of(argument)
        )
    return entry.kind in ("parameter", "root")


def _referred(table: SymbolTable, entry: Scalar, known: dict[Core, NamedConstant]) -> Scalar:
    """An entry with the known constants' symbols put in."""
    if is_zero(entry) or not isinstance(entry, TrigPolynomial):
        return entry
    total = table.zero
    for key, constant in constants(table, entry).items():
        number, powers, core = without_content(table, constant.terms)
        named = known.get(frozenset(core.items()))
        value = constant
        if named is not None:
            own = table.product(named.powers, named.number)
            value = named.symbol * table.product(powers, number) / own
        total = total + value * table.term(key)
    return total
