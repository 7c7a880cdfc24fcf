"""A component multiplied out: exact sums of products with at most one sine or cosine each, which are equal where their
terms are.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import sympy

from trundle.formulas.algebra.sums import Book, Letter, Sum, TooLong
from trundle.formulas.algebra.terms import exact
from trundle.formulas.algebra.writing import Writer
from trundle.limbs.loads.letters import evaluated
from trundle.program import Program

# Terms are few enough to be read by far below this; a chain of 50 in letters has millions, and is refused.
_MOST_WORK = 2_000_000
_MOST_TERMS = 20_000


def expansion(program: Program, letters: Sequence[sympy.Expr], place: int) -> sympy.Expr | None:
    """A result of a program's first group multiplied out; None where that would be too long to be of use."""
    book = Book(most_terms=_MOST_TERMS, most_work=_MOST_WORK)
    inputs = [_sum(book, k, letter) for k, letter in enumerate(letters)]
    try:
        (value,) = evaluated(program, inputs, [place], lambda x: book.number(exact(x)[0]))
    except TooLong:
        return None
    writer = Writer(book)
    expression = _written(writer, book.sum(value))
    put = {sympy.Symbol(f"letter_{k}"): letter for k, letter in enumerate(letters)}
    for letter, definition in reversed(writer.shown.items()):
        expression = expression.xreplace({writer.symbol(letter): definition})
    return expression.xreplace(put)  # pyright: ignore[reportReturnType]  # SymPy says Basic of an Expr's


def _sum(book: Book, place: int, letter: sympy.Expr) -> Sum:
    if isinstance(letter, sympy.Rational):
        return book.number(Fraction(int(letter.p), int(letter.q)))
    return book.add(Letter(f"letter_{place}", "parameter", number=1.0))


def _written(writer: Writer, value: Sum) -> sympy.Expr:
    """Write a sum in SymPy: Σ factor · Π atomᵖ · sin or cos(angle)."""
    terms: list[sympy.Expr] = []
    for (powers, function, angle), factor in value.terms.items():
        factors: list[sympy.Expr] = [sympy.Rational(factor.numerator, factor.denominator)]
        for atom, power in powers:
            base = writer.symbol(atom) if isinstance(atom, int) else _turn(writer, *atom)
            factors.append(base**power)
        if function:
            factors.append(_turn(writer, function, angle))
        terms.append(sympy.Mul(*factors))
    return sympy.Add(*terms)


def _turn(writer: Writer, function: str, angle: tuple[tuple[int, int | Fraction], ...]) -> sympy.Expr:
    parts = [
        sympy.Rational(multiple.numerator, multiple.denominator) * writer.symbol(letter)
        for letter, multiple in angle
    ]
    return (sympy.sin if function == "sin" else sympy.cos)(sympy.Add(*parts))
