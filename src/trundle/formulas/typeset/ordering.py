"""In which order a person writes factors and terms: numbers, parameters, what moves; what is added before what is
taken away, the short before the long. SymPy's own order is the alphabet's.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

import sympy

from trundle.formulas.equation import Expression

_SortKey = tuple[object, ...]
# Symbols of speeds and forces, where nothing says what a symbol is.
_MOVING = frozenset(["v", "omega", "tau", "F", "i", "V"])


class Split(NamedTuple):
    """A product: its sign, the factors above the fraction line and those below."""

    negative: bool
    above: list[Expression]
    below: list[Expression]

    @property
    def quotient(self) -> Expression:
        """All factors as one expression, without the sign."""
        return sympy.Mul(*self.above, *(1 / factor for factor in self.below))


class Order:
    """The order of factors and terms, by the symbols' ranks; symbols without one come last."""

    def __init__(self, ranks: Mapping[Expression, int] | None = None) -> None:
        self._ranks = ranks or {}
        # Formulas share most of their parts: each part is looked at once.
        self.split = cache(self._split)
        self._term = cache(self._term_key)
        self._size = cache(self._counted)

    def _split(self, expression: Expression) -> Split:
        """The factors of a product, or of what stands alone, in order: sign, those above and those below the fraction
        line; whole numbers come first.
        """
        number, rest = expression.as_coeff_Mul()
        above, below = [], []
        if number.is_Rational:
            above += [sympy.Integer(abs(number.p))] if abs(number.p) != 1 else []
            below += [sympy.Integer(number.q)] if number.q != 1 else []
        else:
            above.append(abs(number))
        factors: list[Expression] = sorted(sympy.Mul.make_args(rest), key=self._factor)
        for factor in factors:
            power = factor.exp if factor.is_Pow else sympy.S.One
            if power.is_Rational and power.is_negative:
                below.append(factor.base**-power)
            elif factor != 1:
                above.append(factor)
        return Split(bool(number.is_negative), above, below)

    def terms(self, total: Expression) -> list[Expression]:
        """The terms of a sum in order."""
        return sorted(sympy.Add.make_args(total), key=self._term)

    def arguments(self, function: Expression) -> list[Expression]:
        """The arguments of a minimum or maximum: plain ones before what has functions in it, −a before b."""
        return sorted(
            function.args,
            key=lambda each: (
                each.has(sympy.Function, sympy.Max, sympy.Min),
                each.is_Symbol,
                self._term(each),
            ),
        )

    def _factor(self, factor: Expression) -> _SortKey:
        base = factor.base if factor.is_Pow else factor
        if base.is_Number:
            return (0,)
        if base.is_Symbol:
            return (1, self._rank(base), base.name)
        if base.is_Add:
            return (2, len(base.args), self._inside(base))
        return (3, self._inside(base), type(base).__name__)

    def _inside(self, expression: Expression) -> _SortKey:
        return tuple(sorted((self._rank(symbol), symbol.name) for symbol in expression.free_symbols))

    def _term_key(self, term: Expression) -> _SortKey:
        negative, above, below = self.split(term)
        factors = [*above, *below]
        size = sum(1 if factor.is_Number else 2 + self._size(factor) for factor in factors)
        return (negative, size, [self._factor(factor) for factor in factors])

    def _counted(self, factor: Expression) -> int:
        """Operations of a factor, by those of its arguments; a quotient counts once, at its product."""
        if factor.is_Symbol or factor.is_Number:
            return int(factor.is_Rational is True and factor.q != 1)
        inside = sum(map(self._size, factor.args))
        if factor.is_Add:
            return inside + len(factor.args) - 1
        if not factor.is_Mul:
            return inside + 1
        quotients = sum(
            argument.is_Pow and argument.exp == -1 for argument in factor.args
        )  # x/y: the line is the product
        return inside + len(factor.args) - 1 - quotients - (abs(factor.args[0]) == 1)

    def _rank(self, symbol: Expression) -> int:
        """A symbol's place among all; symbols without one come last, those that move after the others."""
        rank = self._ranks.get(symbol)
        head = symbol.name.partition("_")[0]
        return len(self._ranks) + (head.endswith("dot") or head in _MOVING) if rank is None else rank
