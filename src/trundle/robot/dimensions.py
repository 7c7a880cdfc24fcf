"""The dimension of an expression, checked: a length added to a mass is an error before anything is computed.

Three answers are possible: an exact dimension; UNKNOWN (a parameter given as a plain number may be anything); and
LITERAL (a plain number: a pure number as a factor, but whatever is wanted as a term or on its own).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from trundle.robot.expressions import ExpressionError, ExpressionTree, Name, NumberLiteral, Operation
from trundle.robot.units import NUMBER, Dimension, multiply, raise_to, unit_text

UNKNOWN: Literal["unknown"] = "unknown"
LITERAL: Literal["literal"] = "literal"
Inferred = Dimension | Literal["unknown", "literal"]


def dimension_of(tree: ExpressionTree, lookup: Callable[[str], Inferred]) -> Inferred:
    """Dimension of an expression, where `lookup` gives that of a parameter; raises ExpressionError."""
    if isinstance(tree, NumberLiteral):
        return LITERAL if tree.dimension is None else tree.dimension
    if isinstance(tree, Name):
        return lookup(tree.name)
    found: list[Inferred] = [dimension_of(operand, lookup) for operand in tree.operands]
    if tree.operator in ("+", "-"):
        return _of_sum(found[0], found[1])
    if tree.operator in ("*", "/"):
        return _of_product(found[0], found[1], 1 if tree.operator == "*" else -1)
    if tree.operator == "**":
        return _of_power(found[0], found[1], tree.operands[1])
    if tree.operator == "neg":
        return found[0]
    return _of_function(tree, found[0])


def _of_sum(a: Inferred, b: Inferred) -> Inferred:
    """The dimension of a + b; a plain number takes that of the other."""
    if a == LITERAL:
        return b
    if b == LITERAL:
        return a
    if a == UNKNOWN:
        return b
    if isinstance(a, str) or isinstance(b, str) or a == b:
        return a
    raise ExpressionError(f"adds a quantity in {unit_text(a)} to one in {unit_text(b)}")


def _of_product(a: Inferred, b: Inferred, sign: int) -> Inferred:
    if a == LITERAL and b == LITERAL:
        return LITERAL
    if a == UNKNOWN or b == UNKNOWN:
        return UNKNOWN
    return multiply(NUMBER if isinstance(a, str) else a, NUMBER if isinstance(b, str) else b, sign)


def _of_power(base: Inferred, power: Inferred, exponent: ExpressionTree) -> Inferred:
    if power not in (LITERAL, UNKNOWN, NUMBER):
        raise ExpressionError("an exponent must be a pure number")
    if isinstance(base, str) or base == NUMBER:
        return base
    if isinstance(exponent, NumberLiteral) and exponent.value.is_integer():
        return raise_to(base, int(exponent.value))
    return UNKNOWN  # fractional and symbolic powers are rare: their dimension isn't followed


def _of_function(tree: Operation, argument: Inferred) -> Inferred:
    """The dimension of a function's value; all but roots take angles or pure numbers."""
    if tree.operator == "sqrt":
        if isinstance(argument, str):
            return argument
        if any(power % 2 for power in argument):
            raise ExpressionError(f"the square root of a quantity in {unit_text(argument)}")
        return (argument[0] // 2, argument[1] // 2, argument[2] // 2, argument[3] // 2)
    if argument not in (LITERAL, UNKNOWN, NUMBER):
        raise ExpressionError(f"{tree.operator}() of a quantity with a dimension; it takes an angle")
    return NUMBER
