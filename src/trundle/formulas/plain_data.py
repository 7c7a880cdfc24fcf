"""Equations as plain data for JSON: expressions as text for `read_expression`, with the operations of each."""

from __future__ import annotations

import sympy

from trundle.formulas.sections import Definition, Equation, Equations, Expression, SymbolInfo


def data(equations: Equations) -> dict[str, object]:
    """Everything that the equations hold."""
    return {
        "name": equations.name,
        "what": equations.what,
        "operations": equations.operations,
        "checked": {"points": equations.points, "largest_relative_error": equations.error},
        "sections": [
            {
                "key": section.key,
                "title": section.title,
                "notes": list(section.notes),
                "equations": [_equation(equation) for equation in section.equations],
            }
            for section in equations.sections
        ],
        "definitions": [_definition(definition) for definition in equations.definitions],
        "symbols": [_symbol(symbol) for symbol in equations.symbols],
    }


def _equation(equation: Equation) -> dict[str, object]:
    data = {
        "name": equation.name,
        "meaning": equation.meaning,
        "left": _entries(equation.left),
        "right": _entries(equation.right),
        "operations": equation.operations,
    }
    return data if equation.vector is None else data | {"vector": _entries(equation.vector)}


def _definition(definition: Definition) -> dict[str, object]:
    return {
        "symbol": definition.symbol.name,
        "expression": str(definition.expression),
        "operations": int(sympy.count_ops(definition.expression)),
        "meaning": definition.meaning,
        "unit": definition.unit,
    }


def _symbol(info: SymbolInfo) -> dict[str, object]:
    return {
        "symbol": info.symbol.name,
        "kind": info.kind,
        "meaning": info.meaning,
        "unit": info.unit,
        "value": info.number,
        "keys": list(info.keys),
    }


def _entries(side: Expression) -> Expression:
    """Text of an expression, a list of a column, lists of rows of a matrix."""
    if not isinstance(side, sympy.MatrixBase):
        return str(side)
    return [str(entry) for entry in side] if side.cols == 1 else [[*map(str, row)] for row in side.tolist()]
