"""Where a square Jacobian fails: the factors of its determinant, when they vanish, and which motion is lost there.

Where det J = 0, every row w of adj J has w J = adj J · J = det J · 1 = 0: what w stands for can't be moved.
"""

from __future__ import annotations

from collections.abc import Sequence

import sympy

from trundle.formulas.algebra.sums import Sum
from trundle.formulas.letters.notes import Note, inline
from trundle.formulas.letters.sheet import Sheet
from trundle.formulas.sections import SymbolicMatrix

# A lost motion whose text is longer than this is no help.
_MOST_TEXT = 90


def singularities(
    sheet: Sheet, size: Sum, adjugate: Sequence[Sequence[Sum]], left: Sequence[sympy.Symbol]
) -> list[Note]:
    """Sentences about the zeros of a determinant, factor by factor."""
    coordinates = {sheet.writer.symbol(k) for k in sheet.coordinates.values()}
    factors = [factor.as_base_exp() for factor in sympy.Mul.make_args(sheet.expression(size))]
    above = [base for base, power in factors if power.is_positive]
    moving = [base for base in above if base.free_symbols & coordinates]
    parameters = [base for base in above if isinstance(base, sympy.Symbol) and base not in moving]
    motions = sheet.matrix(adjugate) * sympy.ImmutableMatrix(list(left))
    notes: list[Note] = []
    if not moving:
        zero = [part for base in parameters for part in (" or ", base, " = 0")][1:]
        only = (" and vanishes only where ", *zero, ": otherwise every motion above can be reached, always.")
        notes.append(Note("The determinant is the same in every configuration", *(only if zero else ".")))
    notes += [_factor_note(base, coordinates, motions, left) for base in moving]
    letters = {entry.name: entry for entry in size.book.letters if entry.kind == "parameter"}
    for base in parameters:
        lost, entry = _lost(motions.subs(base, 0), left), letters[base.name]
        if lost is not None:
            here = f" = {entry.number:g} {entry.unit})."
            notes.append(Note("With ", base, " = 0 no rates change ", lost, " (here ", base, here))
    return notes


def _factor_note(
    base: sympy.Expr, coordinates: set[sympy.Expr], motions: SymbolicMatrix, left: Sequence[sympy.Symbol]
) -> Note:
    """Where one factor with coordinates in it vanishes; for a sine or cosine of one angle, what is lost there."""
    if not isinstance(base, sympy.sin | sympy.cos):
        return Note("It vanishes where ", base, " = 0.")
    (inside,) = base.args
    quarter = 0 if isinstance(base, sympy.sin) else 1
    parts = ["It vanishes where ", base, " = 0: ", inside, " = ±90°." if quarter else " = 0 or 180°."]
    lost = _lost(motions.subs(inside, sympy.pi * quarter / 2), left) if inside in coordinates else None
    if lost is not None:
        parts += [" At ", inside, f" = {90 * quarter}° no rates change ", lost, "."]
    return Note(*parts)


def _lost(motions: SymbolicMatrix, left: Sequence[sympy.Symbol]) -> sympy.Expr | None:
    """The first combination of velocities that a row of the adjugate makes, without the factors that its entries share;
    nothing where it is too long for a sentence.
    """
    for motion in motions:
        total = sympy.factor(motion).as_independent(*left, as_Add=False)[1]
        if total != 0 and total != 1:
            total = -total if total.could_extract_minus_sign() else total
            return total if len(inline(total)) <= _MOST_TEXT else None
    return None
