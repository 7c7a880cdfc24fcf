"""Arithmetic in a description: "6 in", "track/2", "2*r + 0.1 m", sqrt(l**2 - d**2).

Text becomes a small tree by recursive descent; nothing is ever handed to Python's own evaluator. The tree is
evaluated with any scalar (float, NumPy array, CasADi SX, SymPy). Grammar:

    sum     = product (("+" | "-") product)*
    product = factor (("*" | "/") factor)*
    factor  = ("+" | "-") factor | power
    power   = atom [("**" | "^") factor]
    atom    = number [unit] | name | function "(" sum ")" | "(" sum ")"
    unit    = part (("*" | "/" | space) part)*          no spaces around * and /, so that "0.1 m * k" is a product
    part    = (symbol | "(" unit ")") [("^" | "**") ["-"] digits]

A name straight after a number is a unit; a name anywhere else is a parameter. So "2 m" is two metres even where a
parameter m exists, and "2*m" is twice that parameter.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from trundle import scalars
from trundle.errors import suggest
from trundle.robot.units import UNITS, Dimension, multiply, raise_to
from trundle.scalars import Scalar

_FUNCTIONS = {"sqrt": scalars.sqrt, "sin": scalars.sin, "cos": scalars.cos, "tan": scalars.tan}
FUNCTIONS = tuple(_FUNCTIONS)
PI = 3.141592653589793

# Long enough for any sensible formula, short enough that no tree can exhaust Python's stack.
_MAX_LENGTH = 400
_MAX_DEPTH = 40

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<mark>\*\*|[-+*/^()])",
    re.ASCII,
)
# Signs people paste from elsewhere.
_PASTED = str.maketrans(
    {"·": " ", "×": "*", "−": "-", "°": " deg ", "²": "^2", "³": "^3", "Ω": "ohm", "µ": "u", "μ": "u"}
)


class ExpressionError(ValueError):
    """Text that is no expression; `hint` says how to put it right."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Number:
    """A number in SI; `dimension` is None when it was written without a unit."""

    value: float
    dimension: Dimension | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """`operator` is one of + - * / ** neg, or a function's name."""

    operator: str
    operands: tuple[Expression, ...]


Expression = Number | Name | Operation


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(
                f"the character {text[position]!r} has no place in a number or formula",
                'write a number, a number with a unit ("6 in"), or arithmetic over parameters ("track/2")',
            )
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append(_Token(kind, match.group(), match.start(), match.end()))
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.index = 0
        self.depth = 0

    def peek(self, ahead: int = 0) -> _Token | None:
        place = self.index + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def is_mark(self, *marks: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "mark" and token.text in marks

    def take(self) -> _Token:
        token = self.tokens[self.index]
        self.index += 1
        return token

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ExpressionError(f"nested more than {_MAX_DEPTH} deep")

    def whole(self) -> Expression:
        tree = self.sum()
        token = self.peek()
        if token is None:
            return tree
        if token.text == ")":
            raise ExpressionError("a ')' too many")
        raise ExpressionError(
            f"{token.text!r} follows without an operator",
            f"write '* {token.text}' for a product; a unit stands straight after its number ('6 in')",
        )

    def sum(self) -> Expression:
        self.deeper()
        tree = self.product()
        while self.is_mark("+", "-"):
            tree = Operation(self.take().text, (tree, self.product()))
        self.depth -= 1
        return tree

    def product(self) -> Expression:
        tree = self.factor()
        while self.is_mark("*", "/"):
            tree = Operation(self.take().text, (tree, self.factor()))
        return tree

    def factor(self) -> Expression:
        self.deeper()
        if self.is_mark("-"):
            self.take()
            tree: Expression = Operation("neg", (self.factor(),))
        elif self.is_mark("+"):
            self.take()
            tree = self.factor()
        else:
            tree = self.power()
        self.depth -= 1
        return tree

    def power(self) -> Expression:
        tree = self.atom()
        if self.is_mark("**", "^"):
            self.take()
            tree = Operation("**", (tree, self.factor()))
        return tree

    def atom(self) -> Expression:
        token = self.peek()
        if token is None:
            raise ExpressionError("the formula ends too early")
        self.take()
        if token.kind == "number":
            return self.number(float(token.text))
        if token.kind == "name":
            return self.name(token.text)
        if token.text == "(":
            return self.closed("(")
        raise ExpressionError(f"{token.text!r} where a number, a parameter or '(' was expected")

    def closed(self, opening: str) -> Expression:
        tree = self.sum()
        if not self.is_mark(")"):
            raise ExpressionError(f"{opening!r} is never closed")
        self.take()
        return tree

    def name(self, name: str) -> Expression:
        if name in FUNCTIONS:
            if not self.is_mark("("):
                raise ExpressionError(f"{name} is a function", f"write {name}(...)")
            self.take()
            return Operation(name, (self.closed(f"{name}("),))
        if self.is_mark("("):
            raise ExpressionError(f"there is no function {name!r}", suggest(name, FUNCTIONS))
        return Number(PI) if name == "pi" else Name(name)

    def number(self, value: float) -> Number:
        token = self.peek()
        if token is None or token.kind != "name":
            return Number(value)
        factor, dimension = self.unit()
        return Number(_tidy(value * factor), dimension)

    def unit(self) -> tuple[float, Dimension]:
        """A run of unit parts; each operator inside it stands without spaces and is followed by a unit."""
        self.deeper()
        factor, dimension = self.unit_part()
        while (sign := self.unit_continues()) is not None:
            if self.is_mark("*", "/"):
                self.take()
            other, its_dimension = self.unit_part()
            factor *= other**sign
            dimension = multiply(dimension, its_dimension, sign)
        self.depth -= 1
        return factor, dimension

    def unit_continues(self) -> int | None:
        token = self.peek()
        if token is None:
            return None
        if token.kind == "name":
            return 1
        after = self.peek(1)
        if token.text not in ("*", "/") or after is None:
            return None
        tight = self.tokens[self.index - 1].end == token.start and token.end == after.start
        inner = self.peek(2) if after.text == "(" else after
        is_unit = inner is not None and inner.kind == "name" and inner.text in UNITS
        return (1 if token.text == "*" else -1) if tight and is_unit else None

    def unit_part(self) -> tuple[float, Dimension]:
        token = self.take()
        if token.text == "(":
            factor, dimension = self.unit()
            if not self.is_mark(")"):
                raise ExpressionError("'(' in a unit is never closed")
            self.take()
        elif token.text in UNITS:
            factor, dimension = UNITS[token.text]
        else:
            raise ExpressionError(
                f"unknown unit {token.text!r}",
                f"{suggest(token.text, UNITS)} (For a parameter write '* {token.text}')",
            )
        if self.is_mark("^", "**"):
            self.take()
            power = self.whole_power()
            factor, dimension = factor**power, raise_to(dimension, power)
        return factor, dimension

    def whole_power(self) -> int:
        sign = 1
        if self.is_mark("-"):
            self.take()
            sign = -1
        token = self.peek()
        if token is None or not token.text.isdigit() or len(token.text) > 1:
            raise ExpressionError("a unit's power must be a whole number below 10", "as in kg m^2")
        self.take()
        return sign * int(token.text)


def _tidy(number: float) -> float:
    """The short decimal next to a converted number, if rounding alone keeps them apart: 6 in is 0.1524 m."""
    short = float(f"{number:.15g}")
    return short if abs(short - number) <= math.ulp(number) else number


def parse(text: str) -> Expression:
    """Read one expression; raises ExpressionError."""
    if len(text) > _MAX_LENGTH:
        raise ExpressionError(f"{len(text)} characters long; a formula may have {_MAX_LENGTH}")
    if not text.strip():
        raise ExpressionError("the text is empty", "write a number")
    try:
        return _Parser(text.translate(_PASTED)).whole()
    except OverflowError:
        raise ExpressionError("the number is too large") from None


def names(tree: Expression) -> tuple[str, ...]:
    """The parameters an expression uses, each once, in order of appearance."""
    if isinstance(tree, Name):
        return (tree.name,)
    if isinstance(tree, Number):
        return ()
    return tuple(dict.fromkeys(name for operand in tree.operands for name in names(operand)))


def evaluate(tree: Expression, lookup: Callable[[str], Scalar]) -> Scalar:
    """Value of an expression; generic in the scalar that `lookup` gives for a name."""
    if isinstance(tree, Number):
        return tree.value
    if isinstance(tree, Name):
        return lookup(tree.name)
    operands = [evaluate(operand, lookup) for operand in tree.operands]
    match tree.operator, operands:
        case "neg", [a]:
            return -a
        case "+", [a, b]:
            return a + b
        case "-", [a, b]:
            return a - b
        case "*", [a, b]:
            return a * b
        case "/", [a, b]:
            return a / b
        case "**", [a, b]:
            return a**b
        case function, [a]:
            return _FUNCTIONS[function](a)
    raise ExpressionError(f"unknown operator {tree.operator!r}")
