"""Numbers of sums and of SymPy's expressions, for many points at once: what ranks and comparisons are decided on."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, reduce

import numpy as np
import sympy

from trundle.arrays import Floats
from trundle.errors import NumericsError
from trundle.formulas.algebra.polynomials import SymbolTable, TrigPolynomial
from trundle.formulas.algebra.terms import AngleSum
from trundle.formulas.equation import Expression, SymbolicMatrix
from trundle.scalars import Scalar

# By the names that `trundle.scalars` and SymPy have for them.
_FUNCTIONS = {
    **{name: getattr(np, name) for name in ("sin", "cos", "tan", "sqrt", "exp", "log", "tanh")},
    **dict.fromkeys(("absolute", "Abs"), np.abs),
    **dict.fromkeys(("minimum", "Min"), lambda *each: reduce(np.minimum, each)),
    **dict.fromkeys(("maximum", "Max"), lambda *each: reduce(np.maximum, each)),
    "asin": np.arcsin,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "pow": np.power,
    "sinc": lambda x: np.sinc(np.asarray(x) / np.pi),
}
_RELATIONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "!=": np.not_equal}


class SymbolValues:
    """Sums and expressions at numbers of symbols, and of symbols that have no symbol: floats, or arrays of points.

    Symbols with a definition follow from it. Each symbol and each subexpression is computed once.
    """

    def __init__(
        self, table: SymbolTable, drawn: Mapping[int, Floats], symbols: Mapping[str, Floats] | None = None
    ) -> None:
        self.table = table
        self.symbols = dict(symbols or {})
        self._numbers = dict(drawn)
        self._known: dict[sympy.Basic, Floats] = {}

    @cached_property
    def _by_name(self) -> dict[str, int]:
        return {entry.name: k for k, entry in enumerate(self.table.symbols) if entry.name}

    def polynomial(self, value: Scalar) -> Floats:
        """The number of a scalar of the derivation."""
        return sum(self._terms(value), 0.0) if isinstance(value, TrigPolynomial) else float(value)

    def _terms(self, value: TrigPolynomial) -> Iterator[Floats]:
        for (powers, function, angle), factor in value.terms.items():
            part: Floats = float(factor)
            for atom, power in powers:
                number = self.symbol(atom) if isinstance(atom, int) else self._trig(*atom)
                part = part * number ** float(power)
            yield part * self._trig(function, angle) if function else part

    def _trig(self, function: str, angle: AngleSum) -> Floats:
        turn = sum(float(multiple) * self.symbol(symbol) for symbol, multiple in angle)
        return _FUNCTIONS[function](turn)

    def symbol(self, index: int) -> Floats:
        """The number of a symbol: as given, as described, or by its definition."""
        if index not in self._numbers:
            entry = self.table.symbols[index]
            if entry.definition is not None:
                arguments = [self.polynomial(argument) for argument in entry.definition.arguments]
                function = entry.definition.function
                self._numbers[index] = self._called(function)(*arguments) if function else arguments[0]
            elif entry.number is not None:
                self._numbers[index] = entry.number
            else:
                raise NumericsError(f"the equations use {entry.name}, which nothing has a number for")
        return self._numbers[index]

    def symbol_size(self, index: int) -> Floats:
        """The terms of what a symbol stands for, each taken as positive; see `size`."""
        definition = self.table.symbols[index].definition
        if definition is None or definition.function:
            return np.abs(self.symbol(index))
        return self.polynomial_size(definition.arguments[0])

    def polynomial_size(self, value: Scalar) -> Floats:
        """The terms of a scalar of the derivation, each taken as positive."""
        return (
            sum(map(np.abs, self._terms(value)), 0.0)
            if isinstance(value, TrigPolynomial)
            else abs(float(value))
        )

    def __call__(self, expression: sympy.Basic) -> Floats:
        """The number of an expression."""
        known = self._known.get(expression)
        if known is None:
            known = self._known[expression] = self._value(expression)
        return known

    def matrix(self, rows: SymbolicMatrix) -> np.ndarray:
        """A matrix's numbers, of shape (rows, columns, points)."""
        numbers = np.broadcast_arrays(
            np.zeros(1), *(np.asarray(self(entry), dtype=float) for entry in rows.flat())
        )
        return np.array(numbers[1:]).reshape(*rows.shape, -1)

    def size(self, expression: sympy.Basic) -> Floats:
        """What rounding is measured against: the expression with every term of its sums taken as positive.

        Where terms cancel, their rounding stays, so the value alone is no measure; so do those of what a symbol stands
        for. A power has its base's rounding in proportion: near where a denominator vanishes, size(1/d) = size(d)/d².
        """
        if expression.is_Add:
            return sum(self.size(term) for term in expression.args)
        if expression.is_Mul:
            return reduce(lambda product, factor: product * self.size(factor), expression.args, 1.0)
        if isinstance(expression, sympy.Pow) and expression.exp.is_number:
            least = np.finfo(float).tiny
            share = self.size(expression.base) / np.maximum(np.abs(self(expression.base)), least)
            return np.abs(self(expression)) * share
        if isinstance(expression, sympy.Symbol) and expression.name not in self.symbols:
            return np.maximum(np.abs(self(expression)), self.symbol_size(self._by_name[expression.name]))
        return np.abs(self(expression))

    def _value(self, expression: sympy.Basic) -> Floats:
        """The number of an expression by its head and the numbers of its arguments."""
        match expression:
            case sympy.Symbol():
                return self._symbol(expression.name)
            case sympy.Number() | sympy.NumberSymbol():
                return float(expression)
            case sympy.Add():
                return sum(self(argument) for argument in expression.args)
            case sympy.Mul():
                return reduce(lambda product, factor: product * self(factor), expression.args, 1.0)
            case sympy.Pow():
                return np.asarray(self(expression.base), dtype=float) ** self(expression.exp)
            case sympy.Piecewise():
                return self._cases(expression)
        return self._called(type(expression).__name__)(*(self(argument) for argument in expression.args))

    def _cases(self, expression: Expression) -> Floats:
        """Cases: the first whose condition holds."""
        *cases, (otherwise, _) = expression.args
        value = self(otherwise)
        for case, asked in reversed(cases):
            holds = _RELATIONS[asked.rel_op](self(asked.lhs), self(asked.rhs))
            value = np.where(holds, self(case), value)
        return value

    def _called(self, function: str) -> Callable[..., Floats]:
        """A function by its name, also one of the description's own."""
        own = self.table.functions.get(function)
        return _FUNCTIONS[function] if own is None else own.at

    def _symbol(self, name: str) -> Floats:
        if name in self.symbols:
            return self.symbols[name]
        if name not in self._by_name:
            raise NumericsError(f"the equations show the symbol {name}, which nothing has a number for")
        return self.symbol(self._by_name[name])
