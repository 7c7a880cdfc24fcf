"""Rates of sums, by those of their letters, and letters replaced by sums."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

from trundle.formulas.algebra.sums import Book, LetterDefinition, Sum, TooLong
from trundle.formulas.algebra.terms import AngleSum, Atom, Exact, Powers, ordered, tidy
from trundle.scalars import Scalar

LetterRates = Mapping[int, Scalar]


def rate(value: Sum, rates: LetterRates) -> Sum:
    """dv/dt, by the rates of the letters; those that are defined follow their definitions."""
    book = value.book
    total = Sum(book, {})
    for (powers, function, angle), factor in value.terms.items():
        for atom, power in powers:
            change = letter_rate(book, atom, rates) if isinstance(atom, int) else _turning(book, *atom, rates)
            if change.terms:
                left = ordered({**dict(powers), atom: power - 1})
                total = total + Sum(book, {(left, function, angle): factor * power}) * change
        if function:
            total = total + _turning(book, function, angle, rates, powers, factor)
    return total


def _turning(
    book: Book, function: str, angle: AngleSum, rates: LetterRates, powers: Powers = (), factor: Exact = 1
) -> Sum:
    """The rate of a sine or cosine, times factor · powers."""
    total = Sum(book, {})
    turned, sign = ("cos", 1) if function == "sin" else ("sin", -1)
    for letter, multiple in angle:
        change = letter_rate(book, letter, rates)
        if change.terms:
            total = total + Sum(book, {(powers, turned, angle): tidy(factor * multiple * sign)}) * change
    return total


def letter_rate(book: Book, letter: int, rates: LetterRates) -> Sum:
    """The rate of a letter: as given, or by its definition."""
    if letter in rates:
        return book.sum(rates[letter])
    definition = book.letters[letter].definition
    if definition is None:
        return Sum(book, {})
    below = _reciprocal(book, definition)
    if below is not None:
        number, divisor = below
        return -(book.letter(letter) ** 2) * rate(divisor, rates) / number
    changes = [rate(argument, rates) for argument in definition.arguments]
    if not any(change.terms for change in changes):
        return Sum(book, {})
    if f"d{definition.function}" in book.functions:
        return book.call(f"d{definition.function}", *definition.arguments) * changes[0]
    return _function_rate(book.letter(letter), definition, changes)


def _reciprocal(book: Book, definition: LetterDefinition) -> tuple[Exact, Sum] | None:
    """(c, D) of a definition that is c/D with D a divisor's sum: its rate is −(c/D)² Ḋ/c, in the letter itself."""
    terms = definition.arguments[0].terms
    if definition.function or len(terms) != 1:
        return None
    ((powers, function, _), factor), *_ = terms.items()
    if function or len(powers) != 1 or powers[0][1] != -1:
        return None
    divisor = book.divisor(powers[0][0])
    return None if divisor is None else (factor, divisor)


def _function_rate(value: Sum, definition: LetterDefinition, changes: Sequence[Sum]) -> Sum:
    """The rate of a defined letter from those of its arguments."""
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


def vanishes(value: Sum) -> bool:
    """Whether a sum is zero, also where sines below fraction lines hide it: sin 2α/cos α − 2 sin α."""
    below: dict[Atom, int] = {}
    for powers, _, _ in value.terms:
        for atom, power in powers:
            if isinstance(atom, tuple):
                below[atom] = max(below.get(atom, 0), -power)
    if not below:
        return not value.terms
    return not (value * Sum(value.book, {(ordered(below), "", ()): 1})).terms


def put(value: Sum, chosen: Mapping[int, Scalar]) -> Sum:
    """A sum with some letters (in whole powers, in no sine) replaced by sums."""
    book = value.book
    total = Sum(book, {})
    for (powers, function, angle), factor in value.terms.items():
        kept = tuple((atom, power) for atom, power in powers if atom not in chosen)
        part = Sum(book, {(kept, function, angle): factor})
        for atom, power in powers:
            if isinstance(atom, int) and atom in chosen:
                part = part * book.sum(chosen[atom]) ** power
        total = total + part
    return total
