"""Where a square Jacobian fails: the factors of its determinant, when they vanish, and which motion is lost there.

Where det J = 0, every row w of adj J has w J = adj J · J = det J · 1 = 0: what w stands for can't be moved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction

import sympy

from trundle.algebra.sums import Sum, turned
from trundle.algebra.terms import Angle, Exact, content, ordered
from trundle.formulas.printers import line
from trundle.formulas.sheet import Sheet

# A lost motion whose text is longer than this is no help.
_MOST_TEXT = 90


def singularities(
    sheet: Sheet, size: Sum, adjugate: Sequence[Sequence[Sum]], left: Sequence[sympy.Symbol]
) -> list[str]:
    """Sentences about the zeros of a determinant, factor by factor."""
    coordinates: dict[sympy.Basic, int] = {sheet.writer.symbol(k): k for k in sheet.coordinates.values()}
    factors = [factor.as_base_exp() for factor in sympy.Mul.make_args(sheet.expression(size))]
    above = [base for base, power in factors if power.is_positive]
    moving = [base for base in above if base.free_symbols & set(coordinates)]
    parameters = [base for base in above if isinstance(base, sympy.Symbol) and base not in moving]
    notes = []
    zero = " or ".join(f"{line(base)} = 0" for base in parameters)
    if not moving:
        only = f" and vanishes only where {zero}: otherwise every motion above can be reached, always."
        notes.append(f"The determinant is the same in every configuration{only if zero else '.'}")
    notes += [_factor_note(sheet, base, coordinates, adjugate, left) for base in moving]
    letters = {entry.name: k for k, entry in enumerate(size.book.letters) if entry.kind == "parameter"}
    for base in parameters:
        entry = size.book.letters[letters[base.name]]
        text = _lost(sheet, [[_without(e, letters[base.name]) for e in row] for row in adjugate], left)
        if text:
            here = f"here {line(base)} = {entry.number:g} {entry.unit}"
            notes.append(f"With {line(base)} = 0 no rates change {text} ({here}).")
    return notes


def _factor_note(
    sheet: Sheet,
    base: sympy.Expr,
    coordinates: Mapping[sympy.Basic, int],
    adjugate: Sequence[Sequence[Sum]],
    left: Sequence[sympy.Symbol],
) -> str:
    """Where one factor with coordinates in it vanishes; for a sine or cosine of one angle, what is lost there."""
    if not isinstance(base, sympy.sin | sympy.cos):
        return f"It vanishes where {line(base)} = 0."
    (inside,) = base.args
    quarter = 0 if isinstance(base, sympy.sin) else 1
    note = f"It vanishes where {line(base)} = 0: {line(inside)} = {'±90°' if quarter else '0 or 180°'}."
    if inside not in coordinates:
        return note
    there = [[_turned(entry, coordinates[inside], quarter) for entry in row] for row in adjugate]
    text = _lost(sheet, there, left)
    return f"{note} At {line(inside)} = {90 * quarter}° no rates change {text}." if text else note


def _lost(sheet: Sheet, adjugate: Sequence[Sequence[Sum]], left: Sequence[sympy.Symbol]) -> str:
    """The combination of velocities that a row left of the adjugate makes, without the numbers and letters that its
    entries share; nothing where it is too long for a sentence.
    """
    row = next((row for row in adjugate if any(entry.terms for entry in row)), None)
    if row is None:
        return ""
    number, shared = content((powers, f) for entry in row for (powers, _, _), f in entry.terms.items())
    first = next(factor for entry in row for factor in entry.terms.values())
    powers = ordered({atom: -power for atom, power in shared.items()})
    below = Sum(row[0].book, {(powers, "", ()): (1 if first > 0 else -1) * Fraction(1) / number})
    weights = (sheet.expression(entry * below) for entry in row)
    text = line(sympy.Add(*(weight * symbol for weight, symbol in zip(weights, left, strict=True))))
    return text if len(text) <= _MOST_TEXT else ""


def _without(value: Sum, letter: int) -> Sum:
    """A sum at letter = 0."""
    return Sum(value.book, {key: f for key, f in value.terms.items() if all(k != letter for k, _ in key[0])})


def _turned(value: Sum, letter: int, quarter: int) -> Sum:
    """A sum with an angle at quarter · 90°."""
    total = value.book.number(0)
    for (powers, function, angle), factor in value.terms.items():
        multiple = dict(angle).get(letter, 0)
        rest = tuple(item for item in angle if item[0] != letter)
        total = total + Sum(value.book, {(powers, "", ()): factor}) * _at(
            value, function, rest, multiple * quarter
        )
    return total


def _at(value: Sum, function: str, rest: Angle, quarters: Exact) -> Sum:
    """sin or cos of rest + quarters · 90°."""
    book = value.book
    if not function:
        return book.number(1)
    total = book.number(0)
    for letter, multiple in rest:
        total = total + book.letter(letter) * multiple
    c, s = turned(total, "cos"), turned(total, "sin")
    turns = int(quarters) % 4
    cosines, sines = [c, -s, -c, s], [s, c, -s, -c]
    return cosines[turns] if function == "cos" else sines[turns]
