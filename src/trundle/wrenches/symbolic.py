"""What is asked of SymPy's expressions, and only of them: rates, values somewhere, sums of sines and cosines."""

from __future__ import annotations

import random
from collections.abc import Sequence

import sympy
from sympy.core.function import AppliedUndef
from sympy.physics.vector import dynamicsymbols
from sympy.simplify.fu import TR8

from trundle.errors import InputError
from trundle.scalars import Scalar


def time_symbol(given: Scalar | None) -> sympy.Symbol:
    """The letter of time: what was given, or that of SymPy's `dynamicsymbols`."""
    time = getattr(dynamicsymbols, "_t") if given is None else given  # noqa: B009 (SymPy hangs it on a function)
    if not isinstance(time, sympy.Symbol):
        raise InputError(f"time must be a SymPy symbol, got {time!r}", hint="Frame(name, time=Symbol('t'))")
    return time


def rates(expression: sympy.Basic, time: sympy.Expr) -> tuple[Scalar, Scalar]:
    """The first and second derivative by time, of an expression of that time's letter."""
    for letter in expression.free_symbols:
        # Letters of one name and different assumptions are different letters: the rate would be a silent zero.
        if letter != time and letter.name == str(time):  # type: ignore[attr-defined]
            raise InputError(
                f"{expression} holds a symbol '{letter}' that is not the time '{time}': their assumptions differ",
                hint=f"give yours to the root frame: Frame(name, time={letter})",
            )
    first = sympy.diff(expression, time)
    second = sympy.diff(first, time)
    return tuple(0 if rate == 0 else rate for rate in (first, second))  # type: ignore[return-value]  # plain 0 folds


def evaluated_anywhere(expressions: Sequence[sympy.Basic]) -> list[float] | None:
    """The expressions' values with random numbers for all letters, functions of time and their derivatives; None where
    these aren't real.
    """
    draw = random.Random(13)
    unknown: set[sympy.Basic] = set()
    for expression in expressions:
        unknown |= (
            expression.atoms(sympy.Derivative) | expression.atoms(AppliedUndef) | expression.free_symbols
        )
    # Derivatives first, then functions, then letters, so that nothing is replaced inside another.
    order = sorted(unknown, key=lambda x: (isinstance(x, sympy.Symbol), isinstance(x, AppliedUndef), str(x)))
    # Small enough for the roots of 1 less some squares, as in unit quaternions.
    values = [(x, sympy.Float(draw.uniform(0.1, 0.5))) for x in order]
    try:
        return [float(expression.subs(values)) for expression in expressions]  # type: ignore[arg-type]
    except TypeError:
        return None


def expanded(expression: Scalar) -> Scalar:
    """The expression multiplied out, products of sines and cosines as sums: Σ c sin(kt) rather than c s₁ s₂."""
    if not isinstance(expression, sympy.Basic):
        return expression
    before, after = None, sympy.expand(expression)
    while after != before:  # powers take a turn each
        before, after = after, sympy.expand(TR8(after))
    return after
