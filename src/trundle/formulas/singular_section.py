"""Where a square Jacobian fails: the factors of its determinant, when they vanish, and which motion is lost there.

Where det J = 0, every row w of adj J has w J = adj J · J = det J · 1 = 0: what w stands for can't be moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy

from trundle.formulas.algebra import Sum, turned
from trundle.formulas.kinematics_section import Sheet
from trundle.formulas.printers import line
from trundle.formulas.terms import Angle, Exact, content, ordered

# A lost motion whose text is longer than this is no help.
_MOST_TEXT = 90


def singularities(
    sheet: Sheet, size: Sum, adjugate: Sequence[Sequence[Sum]], left: Sequence[Any]
) -> list[str]:
    """Sentences about the zeros of a determinant, factor by factor."""
    coordinates = {sheet.writer.symbol(k): k for k in sheet.mechanism.coordinates.values()}
    factors = [factor.as_base_exp() for factor in sympy.Mul.make_args(sheet.writer.expression(size))]
    above = [base for base, power in factors if power.is_positive]
    moving = [base for base in above if base.free_symbols & set(coordinates)]
    parameters: list[Any] = [base for base in above if base.is_Symbol and base not in moving]
    notes = []
    zero = " or ".join(f"{line(base)} = 0" for base in parameters)
    if not moving:
        notes.append(
            "The determinant is the same in every configuration"
            + (
                f" and vanishes only where {zero}: otherwise every motion above can be reached, always."
                if zero
                else "."
            )
        )
    notes += [_factor_note(sheet, base, coordinates, adjugate, left) for base in moving]
    letters = {entry.name: k for k, entry in enumerate(size.book.letters) if entry.kind == "parameter"}
    for base in parameters:
        entry = size.book.letters[letters[base.name]]
        lost = _lost([[_without(e, letters[base.name]) for e in row] for row in adjugate])
        text = None if lost is None else _combination(sheet, lost, left)
        if text is not None:
            notes.append(
                f"With {line(base)} = 0 no rates change {text} (here {line(base)} = {entry.number:g} {entry.unit})."
            )
    return notes


def _factor_note(
    sheet: Sheet, base: Any, coordinates: Any, adjugate: Sequence[Sequence[Sum]], left: Sequence[Any]
) -> str:
    """Where one factor with coordinates in it vanishes; for a sine or cosine of one angle, what is lost there."""
    if not isinstance(base, sympy.sin | sympy.cos):
        return f"It vanishes where {line(base)} = 0."
    (inside,) = base.args
    quarter = 0 if isinstance(base, sympy.sin) else 1
    note = f"It vanishes where {line(base)} = 0: {line(inside)} = {'±90°' if quarter else '0 or 180°'}."
    if inside not in coordinates:
        return note
    lost = _lost([[_turned(entry, coordinates[inside], quarter) for entry in row] for row in adjugate])
    text = None if lost is None else _combination(sheet, lost, left)
    return note if text is None else f"{note} At {line(inside)} = {90 * quarter}° no rates change {text}."


def _lost(adjugate: Sequence[Sequence[Sum]]) -> list[Sum] | None:
    """A row that is left of the adjugate, without the numbers and letters that all its entries share."""
    row = next((row for row in adjugate if any(entry.terms for entry in row)), None)
    if row is None:
        return None
    number, shared = content((powers, f) for entry in row for (powers, _, _), f in entry.terms.items())
    first = next(factor for entry in row for factor in entry.terms.values())
    powers = ordered({atom: -power for atom, power in shared.items()})
    below = Sum(row[0].book, {(powers, "", ()): (1 if first > 0 else -1) * Fraction(1) / number})
    return [entry * below for entry in row]


def _combination(sheet: Sheet, weights: Sequence[Sum], left: Sequence[Any]) -> str | None:
    """The combination of velocities that weights make, where it is short enough for a sentence."""
    total = sympy.Add(*(sheet.writer.expression(w) * symbol for w, symbol in zip(weights, left, strict=True)))
    text = line(total)
    return text if len(text) <= _MOST_TEXT else None


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
    c, s = (
        turned(total, name) if total.terms else book.number(1 if name == "cos" else 0)
        for name in ("cos", "sin")
    )
    turns = int(quarters) % 4
    cosines, sines = [c, -s, -c, s], [s, c, -s, -c]
    return cosines[turns] if function == "cos" else sines[turns]
