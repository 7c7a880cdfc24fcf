"""Speeds that follow from the independent ones, step by step: each from those before it, as one would by hand.

ν = S(q) u holds every dependent speed over u alone, which fills pages where trailers follow a car. A row of the
constraints that holds one speed more than is known gives that speed in a line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trundle.formulas.algebra.forms import best, cost
from trundle.formulas.algebra.polynomials import TrigPolynomial
from trundle.formulas.algebra.rates import rate, symbol_rate, vanishes
from trundle.formulas.derivation.carriages import Carriage, ColumnRow, carriages, hitched, own_rows
from trundle.formulas.derivation.named_constants import symbols_of
from trundle.formulas.symbols.names import rate_of
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.elimination import ZERO
from trundle.mechanics.linear import dot
from trundle.mechanics.rolling import SpeedBasis
from trundle.model.constraints import coordinate_rates, coupled_coordinates, coupling_rows, ideal_wheels
from trundle.scalars import Scalar, is_zero

# An entry of S of more operations that changes with the configuration gets a symbol.
_MOST_ENTRY = 2

# Entries of so few terms are brought into lowest terms before they are looked at.
_SHORT = 2


class SpeedStep(NamedTuple):
    """A speed's column (see `ColumnRow`), and its factors over the speeds of steps before it; over u, as S has them,
    where no row gives it.
    """

    column: int
    before: ColumnRow
    over_u: Sequence[Scalar]


@dataclass(frozen=True)
class Following:
    """All speeds in an order in which each follows from those before it, with the trailers' twists."""

    basis: SpeedBasis
    carriages: list[Carriage]
    steps: list[SpeedStep]


def following(sheet: Sheet, basis: SpeedBasis) -> Following:
    """The steps from the independent speeds to all."""
    parts, moving = carriages(sheet, basis), {*sheet.coordinates.values()}
    rows = [*_rows(sheet, basis, parts)]
    width = len(sheet.assembly.speeds)
    left = dict.fromkeys([*range(width), *(column for part in parts[1:] for column in part.twist)])
    matrix = [[_lowered(sheet, entry) for entry in row] for row in basis.matrix]
    steps = [SpeedStep(j, {}, matrix[j]) for j in range(width) if _is_fixed(matrix[j], moving)]
    for step in steps:
        del left[step.column]
    while left:
        found = next(_solvable(sheet, rows, left), None)
        if found is None:
            # The base's twist first, its shortest part (ω before v) before the others: all else hangs on it.
            here = [j for j in sheet.assembly.base_columns if j in left] or [*left]
            column = min((j for j in here if j < width), key=lambda j: (_terms(matrix[j]), -j))
            step = SpeedStep(column, {}, matrix[column])
        else:
            column, before = found
            own = matrix[column] if column < width else None
            longer = own is not None and _terms(own) < _terms([*before.values()])
            step = SpeedStep(column, {}, own or ()) if longer else SpeedStep(column, before, ())
        del left[step.column]
        steps.append(step)
    return Following(basis, parts, steps)


def _lowered(sheet: Sheet, entry: Scalar) -> Scalar:
    """A short entry in lowest terms: what is a constant is seen to be one."""
    short = isinstance(entry, TrigPolynomial) and 0 < len(entry.terms) <= _SHORT
    return sheet.writer.lowest(entry) if short else entry


class _SpeedRow(NamedTuple):
    """A row, and the size of its entries in the description's numbers, by column, where they aren't all ±1."""

    entries: ColumnRow
    sizes: Mapping[int, float]


def _rows(sheet: Sheet, basis: SpeedBasis, parts: Sequence[Carriage]) -> Iterator[_SpeedRow]:
    """The rows that S is the null space of, and those of hitches; a trailer's wheels have them over its own twist."""
    used, k = set(basis.elimination.independent_rows), 0
    least = np.abs(sheet.here.rolling.samples).min(axis=0)
    owners = {link: part for part in parts for link in part.links}
    by_part = {
        part.owner: [_SpeedRow(row, {}) for row in (hitched(part) if part.owner else ())] for part in parts
    }
    for wheel in ideal_wheels(sheet.assembly):
        part = owners[wheel.link]
        for row in own_rows(part, wheel):
            # A trailer turns by its hitch's rate: in both the row has the same entry.
            turning = {part.twist[2]: least[k, part.hitch]} if part.owner else {}
            if k in used:
                by_part[part.owner].append(_SpeedRow(row, dict(enumerate(least[k])) | turning))
            k += 1
    for row in coupling_rows(sheet.assembly, sheet.at)[0]:
        if k in used:
            entries = {j: entry for j, entry in enumerate(row) if not is_zero(entry)}
            yield _SpeedRow(entries, dict(enumerate(least[k])))
        k += 1
    for part in parts:
        yield from by_part[part.owner]


def _solvable(
    sheet: Sheet, rows: Sequence[_SpeedRow], left: Mapping[int, object]
) -> Iterator[tuple[int, ColumnRow]]:
    """Columns that a row gives in what is known, by a factor that is the same in every configuration and not zero; the
    base's twist by no length, as that of one wheel from another may be short.
    """
    moving, base = {*sheet.coordinates.values()}, sheet.assembly.base_columns
    for row, sizes in rows:
        unknown = [j for j in row if j in left]
        if len(unknown) != 1 or not _is_fixed([row[unknown[0]]], moving):
            continue
        (column,) = unknown
        own = sheet.table.polynomial(row[column])
        long = own.number is None and (column in base or sizes.get(column, 0.0) <= ZERO)
        if not long:
            yield column, {j: -1 * entry / own for j, entry in row.items() if j != column}


def _is_fixed(row: Sequence[Scalar], moving: set[int]) -> bool:
    """Whether entries are the same in every configuration."""
    return not any(isinstance(entry, TrigPolynomial) and moving & symbols_of(entry) for entry in row)


def _terms(row: Sequence[Scalar]) -> int:
    return sum(len(e.terms) if isinstance(e, TrigPolynomial) else not is_zero(e) for e in row)


def in_symbols(sheet: Sheet, follows: Following) -> dict[int, list[Scalar]]:
    """S, and the rows of the trailers' twists, with symbols J for what is long and changes with the configuration:
    speeds for one unit of u.
    """
    matrix: dict[int, list[Scalar]] = {}
    moving = {*sheet.coordinates.values()}
    for step in follows.steps:
        entries = [*step.over_u] or [
            dot([*step.before.values()], [matrix[j][k] for j in step.before])
            for k in range(len(follows.basis.labels))
        ]
        several = sum(not is_zero(entry) for entry in entries) > 1
        own: list[Scalar] = []
        for k, entry in enumerate(entries):
            if isinstance(entry, TrigPolynomial) and entry.terms and step.over_u:
                entry = sheet.writer.lowest(entry)
            if isinstance(entry, TrigPolynomial) and moving & symbols_of(entry) and _is_long(entry):
                entry = _as_symbol(sheet, follows, step.column, k, entry, several)
            own.append(entry)
        matrix[step.column] = own
    return matrix


def _is_long(entry: TrigPolynomial) -> bool:
    """Whether an entry would make products of it long: it has several terms, a fraction line, or a symbol J already."""
    if entry.is_plain:
        return False
    ((powers, _, _), _), *others = entry.terms.items()
    divided = any(power < 0 for _, power in powers)
    return bool(others) or divided or any(True for _ in _defined(entry)) or cost(best(entry)) > _MOST_ENTRY


def _as_symbol(
    sheet: Sheet, follows: Following, column: int, k: int, entry: TrigPolynomial, several: bool
) -> TrigPolynomial:
    """The symbol J of an entry of S."""
    label, index, what = follows.basis.labels[k], *_called(sheet, follows, column)
    name = index + (f"_{k + 1}" if several else "")
    meaning = f"{what} for each {sheet.unit(label)} of {sheet.symbol(label)}"
    return sheet.table.named(entry, lambda: sheet.names.indexed("J", name), meaning)


def _called(sheet: Sheet, follows: Following, column: int) -> tuple[str, str]:
    """The index and the words of a speed."""
    speeds = sheet.assembly.speeds
    if column < len(speeds):
        return sheet.names.index(speeds[column]), str(sheet.symbol(speeds[column]))
    part, k = trailer(follows, column)
    return f"{('vx', 'vy', 'omega')[k]}_{sheet.names.label(part.owner)}", f"{TWIST[k]} of {part.owner}"


# What the parts of a trailer's twist are called, and their units.
TWIST = ("velocity along x", "velocity along y", "turning rate")


def trailer(follows: Following, column: int) -> tuple[Carriage, int]:
    """The trailer whose twist a column belongs to, and which part of it."""
    part = next(part for part in follows.carriages if column in part.twist)
    return part, part.twist.index(column)


def drift(sheet: Sheet, matrix: Mapping[int, Sequence[Scalar]], nu: Sequence[Scalar]) -> dict[int, Scalar]:
    """The rates of the symbols J, with symbols of their own, by ν = S u."""
    table = sheet.table
    q_dot = coordinate_rates(sheet.assembly, tuple(sheet.coordinates), sheet.at, nu)
    rates: dict[int, Scalar] = dict(zip(sheet.coordinates.values(), q_dot, strict=True))
    columns = {axis.coordinate: axis.column for axis in sheet.assembly.axes.values()}
    for name in coupled_coordinates(sheet.assembly):
        symbol = _defined_symbol(sheet.at.values[name])
        if symbol is not None:
            rates[symbol] = nu[columns[name]]
    # By their numbers: a symbol's definition has only symbols before it.
    for symbol in sorted({k for row in matrix.values() for entry in row for k in _defined(entry)}):
        if symbol in rates:
            continue
        known = table.symbols[symbol]
        change = symbol_rate(table, symbol, rates)
        # Zero by value, though not by form: a symbol for it would only be in the way.
        if vanishes(change):
            rates[symbol] = 0
            continue
        name = sheet.names.unique(rate_of(known.name))
        rates[symbol] = table.named(change, name, f"rate of {known.name}: {known.meaning}")
    return rates


def _defined_symbol(entry: Scalar) -> int | None:
    """The symbol that an entry is, if it has a definition."""
    symbol = entry.symbol if isinstance(entry, TrigPolynomial) else None
    return symbol if symbol is not None and entry.table.symbols[symbol].definition is not None else None


def _defined(entry: Scalar) -> Iterator[int]:
    """The symbols with a name and a definition among an entry's factors."""
    if isinstance(entry, TrigPolynomial):
        for powers, _, _ in entry.terms:
            for atom, _ in powers:
                if isinstance(atom, int):
                    known = entry.table.symbols[atom]
                    if known.definition is not None and known.name:
                        yield atom


def row_rates(sheet: Sheet, row: Sequence[Scalar], rates: Mapping[int, Scalar]) -> list[Scalar]:
    """The rates of entries of S."""
    changed = [rate(sheet.table.polynomial(entry), rates) for entry in row]
    return [0 if is_zero(value) else value for value in changed]
