"""Rates of sums, by those of their symbols, and symbols replaced by sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from trundle.formulas.algebra.polynomials import SymbolDefinition, SymbolTable, TooLong, TrigPolynomial
from trundle.formulas.algebra.terms import AngleSum, Atom, Exact, Powers, ordered, tidy
from trundle.scalars import Scalar

SymbolRates = Mapping[int, Scalar]


def rate(value: TrigPolynomial, rates: SymbolRates) -> TrigPolynomial:
    """dv/dt, by the rates of the symbols; those that are defined follow their definitions."""
    table = value.table
    total = table.zero
    for (powers, function, angle), factor in value.terms.items():
        for atom, power in powers:
            change = (
                symbol_rate(table, atom, rates) if isinstance(atom, int) else _turning(table, *atom, rates)
            )
            if change.terms:
                left = ordered({**dict(powers), atom: power - 1})
                total = total + table.term((left, function, angle), factor * power) * change
        if function:
            total = total + _turning(table, function, angle, rates, powers, factor)
    return total


def _turning(
    table: SymbolTable,
    function: str,
    angle: AngleSum,
    rates: SymbolRates,
    powers: Powers = (),
    factor: Exact = 1,
) -> TrigPolynomial:
    """The rate of a sine or cosine, times factor · powers."""
    total = table.zero
    turned, sign = ("cos", 1) if function == "sin" else ("sin", -1)
    for symbol, multiple in angle:
        change = symbol_rate(table, symbol, rates)
        if change.terms:
            total = total + table.term((powers, turned, angle), tidy(factor * multiple * sign)) * change
    return total


def symbol_rate(table: SymbolTable, symbol: int, rates: SymbolRates) -> TrigPolynomial:
    """The rate of a symbol: as given, or by its definition."""
    if symbol in rates:
        return table.polynomial(rates[symbol])
    definition = table.symbols[symbol].definition
    if definition is None:
        return table.zero
    below = _reciprocal(table, definition)
    if below is not None:
        number, divisor = below
        return -(table.symbol(symbol) ** 2) * rate(divisor, rates) / number
    changes = [rate(argument, rates) for argument in definition.arguments]
    if not any(change.terms for change in changes):
        return table.zero
    if f"d{definition.function}" in table.functions:
        return table.call(f"d{definition.function}", *definition.arguments) * changes[0]
    return _function_rate(table.symbol(symbol), definition, changes)


def _reciprocal(table: SymbolTable, definition: SymbolDefinition) -> tuple[Exact, TrigPolynomial] | None:
    """(c, D) of a definition that is c/D with D a divisor's sum: its rate is −(c/D)² Ḋ/c, in the symbol itself."""
    terms = definition.arguments[0].terms
    if definition.function or len(terms) != 1:
        return None
    ((powers, function, _), factor), *_ = terms.items()
    if function or len(powers) != 1 or powers[0][1] != -1:
        return None
    divisor = table.divisor(powers[0][0])
    return None if divisor is None else (factor, divisor)


def _function_rate(
    value: TrigPolynomial, definition: SymbolDefinition, changes: Sequence[TrigPolynomial]
) -> TrigPolynomial:
    """The rate of a defined symbol from those of its arguments."""
    match definition.function:
        case "":
            return changes[0]
        case "sqrt":
            return changes[0] / (2 * value)
        case "exp":
            return value * changes[0]
        case "log":
            return changes[0] / definition.arguments[0]
        case "tanh":
            return (1 - value * value) * changes[0]
        case "atan":
            return changes[0] / (1 + definition.arguments[0] ** 2)
        case "asin":
            return changes[0] / (1 - definition.arguments[0] ** 2) ** Fraction(1, 2)
        case "atan2":
            (y, x), (dy, dx) = definition.arguments, changes
            return (x * dy - y * dx) / (x * x + y * y)
    raise TooLong  # no constraint has a rate through any other function


def vanishes(value: TrigPolynomial) -> bool:
    """Whether a sum is zero, also where sines below fraction lines hide it: sin 2α/cos α − 2 sin α."""
    below: dict[Atom, int] = {}
    for powers, _, _ in value.terms:
        for atom, power in powers:
            if isinstance(atom, tuple):
                below[atom] = max(below.get(atom, 0), -power)
    if not below:
        return not value.terms
    return not (value * value.table.product(ordered(below))).terms


def put(value: TrigPolynomial, chosen: Mapping[int, Scalar]) -> TrigPolynomial:
    """A sum with some symbols (in whole powers, in no sine) replaced by sums."""
    table = value.table
    total = table.zero
    for (powers, function, angle), factor in value.terms.items():
        kept = tuple((atom, power) for atom, power in powers if atom not in chosen)
        part = table.term((kept, function, angle), factor)
        for atom, power in powers:
            if isinstance(atom, int) and atom in chosen:
                part = part * table.polynomial(chosen[atom]) ** power
        total = total + part
    return total
