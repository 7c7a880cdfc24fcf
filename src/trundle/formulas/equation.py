"""Equations in sections, as SymPy objects, and what their symbols and definitions mean."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy

# A SymPy expression or matrix: its stubs know too little of either for what is asked of them.
Expression = Any
SymbolicMatrix = sympy.ImmutableDenseMatrix
# What the names of accelerations' equations begin with, before the speed's name; symbols of accelerations have them.
ACCELERATION = "acceleration."


@dataclass(frozen=True)
class Equation:
    """left = right, or left = right · vector where a matrix is meant to be read with what it multiplies.

    `left` is a symbol, an expression or a column of them. `given` equations name a part of another one (M, h, B).
    """

    name: str
    left: Expression
    right: Expression
    vector: SymbolicMatrix | None = None
    meaning: str = ""
    given: bool = False

    @property
    def whole(self) -> Expression:
        """The right side as one SymPy object, a matrix not multiplied out."""
        if self.vector is None:
            return self.right
        return sympy.MatMul(self.right, self.vector, evaluate=False)

    @cached_property
    def operations(self) -> int:
        """Operations of the right side (and of the left one, where that is an expression)."""
        counted = (s.flat() if isinstance(s, sympy.MatrixBase) else s for s in self.sides)
        return int(sum(map(sympy.count_ops, counted)))

    @property
    def sides(self) -> tuple[Expression, ...]:
        """Left, right and, where there is one, the vector that the right side multiplies."""
        return self.left, self.right, *([] if self.vector is None else [self.vector])

    @property
    def free_symbols(self) -> set[sympy.Symbol]:
        """All symbols on both sides."""
        return set().union(*(side.free_symbols for side in self.sides))

    def __str__(self) -> str:
        return self._written("text")

    def _repr_latex_(self) -> str:
        return self._written("latex")

    def _repr_html_(self) -> str:
        return self._written("html")

    def _written(self, form: str) -> str:
        from trundle import format_equations

        return format_equations(self, form)

    @cached_property
    def lines(self) -> tuple[tuple[Expression, Expression], ...]:
        """The same, row by row, products multiplied out, with what all terms share before a bracket."""
        return tuple(self._rows())

    def _rows(self) -> Iterator[tuple[Expression, Expression]]:
        """The rows of an equation of columns as equations of scalars; a plain equation as it is."""
        if not isinstance(self.left, sympy.MatrixBase):
            yield self.left, self.right
            return
        for i, left in enumerate(self.left.flat()):
            if self.vector is None:
                yield left, self.right[i]
            else:
                terms = (self.right[i, j] * self.vector[j] for j in range(self.right.cols))
                yield left, sympy.factor_terms(sympy.Add(*terms))


@dataclass(frozen=True)
class Section:
    """Equations that belong together; `note` lines say what they say about the robot."""

    key: str
    title: str
    equations: tuple[Equation, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class SymbolInfo:
    """What a symbol stands for: the description's keys (or the model's name), unit, number, words."""

    symbol: sympy.Symbol
    kind: str
    meaning: str
    unit: str = ""
    number: float | None = None
    keys: tuple[str, ...] = ()


@dataclass(frozen=True)
class Definition:
    """An intermediate quantity: a symbol that other equations use, and what it is."""

    symbol: sympy.Symbol
    expression: sympy.Expr
    meaning: str
    unit: str = ""
