"""SymPy expressions at many points at once, without compiling or evaluating text."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import sympy

_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sympy.sin: np.sin,
    sympy.cos: np.cos,
    sympy.tan: np.tan,
    sympy.atan2: np.arctan2,
    sympy.Abs: np.abs,
    sympy.Min: lambda *each: np.minimum.reduce(np.broadcast_arrays(*each)),
    sympy.Max: lambda *each: np.maximum.reduce(np.broadcast_arrays(*each)),
}


class Point:
    """Numbers for symbols, and what expressions are there; each subexpression is computed once."""

    def __init__(self, number_of: Callable[[Any], Any]) -> None:
        self._number_of = number_of
        self._known: dict[Any, Any] = {}

    def __call__(self, expression: Any) -> Any:
        """The value of an expression: a number, or an array of one for each point."""
        known = self._known.get(expression)
        if known is None:
            known = self._known[expression] = self._value(expression)
        return known

    def matrix(self, rows: Any) -> np.ndarray:
        """A matrix's values, of shape (rows, columns, points)."""
        values = [
            [np.asarray(self(rows[i, j]), dtype=float) for j in range(rows.cols)] for i in range(rows.rows)
        ]
        shape = np.broadcast_shapes(*(v.shape for row in values for v in row), (1,))
        return np.array([[np.broadcast_to(v, shape) for v in row] for row in values])

    def size(self, expression: Any) -> Any:
        """Σ of the sizes of the terms: what rounding is measured against."""
        return sum(np.abs(self(term)) for term in sympy.Add.make_args(expression))

    def _value(self, expression: Any) -> Any:
        if expression.is_Symbol:
            return self._number_of(expression)
        if expression.is_Number or expression.is_NumberSymbol:
            return float(expression)
        if expression.is_Add:
            return sum(self(each) for each in expression.args)
        if expression.is_Mul:
            product: Any = 1.0
            for each in expression.args:
                product = product * self(each)
            return product
        if expression.is_Pow:
            return np.asarray(self(expression.base), dtype=float) ** self(expression.exp)
        return _FUNCTIONS[expression.func](*(self(each) for each in expression.args))
