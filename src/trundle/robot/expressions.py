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
parameter m exists, and "2*m" is twice that parameter. Dimensions are checked: a length added to a mass is an error
before anything is computed.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from trundle import scalars
from trundle.errors import did_you_mean, suggest
from trundle.robot.units import NUMBER, UNITS, Dimension, multiply, raise_to, unit_text
from trundle.scalars import Scalar

_FUNCTIONS = {"sqrt": scalars.sqrt, "sin": scalars.sin, "cos": scalars.cos, "tan": scalars.tan}
FUNCTIONS = tuple(_FUNCTIONS)
_OPERATORS: dict[str, Callable[..., Scalar]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "**": operator.pow,
    "neg": operator.neg,
    **_FUNCTIONS,
}
# π as floats have it: formulas are told apart by their numbers.
PI = 3.141592653589793

# Long enough for any sensible formula, short enough that no tree can exhaust Python's stack.
_MAX_LENGTH = 400
_MAX_DEPTH = 40

_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|(?P<name>[A-Za-z_]\w*)|(?P<mark>\*\*|[-+*/^()])",
    re.ASCII,
)
# Words for a unit's power, and units that a hint names.
_POWERS = {"squared": 2, "cubed": 3}
_COMMON = ("m", "mm", "in", "ft", "kg", "lb", "s", "min", "N", "N m", "A", "V", "W", "deg", "rad", "rpm")
# Signs people paste from elsewhere.
_PASTED = str.maketrans(
    {"·": " ", "×": "*", "−": "-", "°": " deg ", "²": "^2", "³": "^3", "Ω": "ohm", "µ": "u", "μ": "u"}
)


# No length, mass or stiffness is as large (the Sun has 2e30 kg), and the sums of products of a few that follow from
# such numbers stay far from where floats end. What divides by one would be a fraction of hundreds of digits.
MOST = 1e50


class ExpressionError(ValueError):
    """Text that is no expression; `hint` says how to put it right."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class NumberLiteral:
    """A number in SI; `dimension` is None when it was written without a unit."""

    value: float
    dimension: Dimension | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """A parameter."""

    name: str


@dataclass(frozen=True, slots=True)
class FormulaOperation:
    """`operator` is one of + - * / ** neg, or a function's name."""

    operator: str
    operands: tuple[ExpressionTree, ...]


ExpressionTree = NumberLiteral | Name | FormulaOperation


def _tokens(text: str) -> list[re.Match[str]]:
    """The words of a formula, without spaces."""
    tokens: list[re.Match[str]] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ExpressionError(
                f"the character {text[position]!r} has no place in a number or formula",
                'write a number, a number with a unit ("6 in"), or arithmetic over parameters ("track/2")',
            )
        if match.lastgroup != "space":
            tokens.append(match)
        position = match.end()
    return tokens


class _Parser:
    """Recursive descent over the tokens of one text."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.index = 0
        self.depth = 0

    def peek(self, ahead: int = 0) -> re.Match[str] | None:
        place = self.index + ahead
        return self.tokens[place] if place < len(self.tokens) else None

    def accept(self, *marks: str) -> str | None:
        """The next token's text, where it is one of these marks: taken then."""
        token = self.peek()
        if token is None or token.group() not in marks:
            return None
        self.index += 1
        return token.group()

    def next(self) -> re.Match[str]:
        self.index += 1
        return self.tokens[self.index - 1]

    def deeper(self) -> None:
        self.depth += 1
        if self.depth > _MAX_DEPTH:
            raise ExpressionError(f"nested more than {_MAX_DEPTH} deep")

    def whole(self) -> ExpressionTree:
        """The formula up to its end."""
        tree = self.sum()
        token = self.peek()
        if token is None:
            return tree
        if token.group() == ")":
            raise ExpressionError("a ')' too many")
        raise ExpressionError(
            f"{token.group()!r} follows without an operator",
            f"write '* {token.group()}' for a product; a unit stands straight after its number ('6 in')",
        )

    def sum(self) -> ExpressionTree:
        return self.chain(self.product, "+", "-")

    def product(self) -> ExpressionTree:
        return self.chain(self.factor, "*", "/")

    def chain(self, part: Callable[[], ExpressionTree], *marks: str) -> ExpressionTree:
        tree = part()
        while mark := self.accept(*marks):
            tree = FormulaOperation(mark, (tree, part()))
        return tree

    def factor(self) -> ExpressionTree:
        """A power with its signs; `deeper` bounds how many are nested."""
        self.deeper()
        if self.accept("-"):
            tree: ExpressionTree = FormulaOperation("neg", (self.factor(),))
        elif self.accept("+"):
            tree = self.factor()
        else:
            tree = self.power()
        self.depth -= 1
        return tree

    def power(self) -> ExpressionTree:
        tree = self.atom()
        return FormulaOperation("**", (tree, self.factor())) if self.accept("**", "^") else tree

    def atom(self) -> ExpressionTree:
        """A number, a name, or what stands in brackets."""
        if self.peek() is None:
            raise ExpressionError("the formula ends too early")
        token = self.next()
        if token.lastgroup == "number":
            return self.number(float(token.group()))
        if token.lastgroup == "name":
            return self.name(token.group())
        if token.group() == "(":
            return self.closed("(")
        raise ExpressionError(f"{token.group()!r} where a number, a parameter or '(' was expected")

    def closed(self, opening: str) -> ExpressionTree:
        tree = self.sum()
        if not self.accept(")"):
            raise ExpressionError(f"{opening!r} is never closed")
        return tree

    def name(self, name: str) -> ExpressionTree:
        opened = self.accept("(")
        if name in FUNCTIONS:
            if not opened:
                raise ExpressionError(f"{name} is a function", f"write {name}(...)")
            return FormulaOperation(name, (self.closed(f"{name}("),))
        if opened:
            raise ExpressionError(f"there is no function {name!r}", suggest(name, FUNCTIONS))
        return NumberLiteral(PI) if name == "pi" else Name(name)

    def number(self, value: float) -> NumberLiteral:
        if MOST < value < math.inf:
            raise ExpressionError(f"{value:g} is out of bounds: at most {MOST:g}")
        token = self.peek()
        if token is None or token.lastgroup != "name":
            return NumberLiteral(value)
        factor, dimension = self.unit()
        return NumberLiteral(_tidy(value * factor), dimension)

    def unit(self) -> tuple[float, Dimension]:
        """A run of unit parts; each operator inside it stands without spaces and is followed by a unit."""
        self.deeper()
        first = self.peek()
        begins = first is None or first.group() != "per"  # "1 per second"
        factor, dimension = self.unit_part() if begins else (1.0, NUMBER)
        while sign := self.unit_continues():
            self.accept("*", "/", "per")
            other, its_dimension = self.unit_part()
            factor *= other**sign
            dimension = multiply(dimension, its_dimension, sign)
        self.depth -= 1
        return factor, dimension

    def unit_continues(self) -> int:
        """1 where another part multiplies the unit so far, -1 where one divides it, 0 where the unit ends."""
        mark, after = self.peek(), self.peek(1)
        if mark is not None and mark.lastgroup == "name":
            return -1 if mark.group() == "per" else 1
        if mark is None or after is None or mark.group() not in ("*", "/"):
            return 0
        tight = self.tokens[self.index - 1].end() == mark.start() and mark.end() == after.start()
        inner = self.peek(2) if after.group() == "(" else after
        if not tight or inner is None or inner.group() not in UNITS:
            return 0
        return 1 if mark.group() == "*" else -1

    def unit_part(self) -> tuple[float, Dimension]:
        """Factor to SI and dimension of a unit or of units in brackets."""
        if self.peek() is None:
            raise ExpressionError("the unit ends too early")
        text = self.next().group()
        if text == "(":
            factor, dimension = self.unit()
            if not self.accept(")"):
                raise ExpressionError("'(' in a unit is never closed")
        elif text in UNITS:
            factor, dimension = UNITS[text]
        else:
            raise ExpressionError(f"unknown unit {text!r}", _unit_hint(text))
        if self.accept("^", "**"):
            power = self.whole_power()
            factor, dimension = factor**power, raise_to(dimension, power)
        elif word := self.accept(*_POWERS):
            factor, dimension = factor ** _POWERS[word], raise_to(dimension, _POWERS[word])
        return factor, dimension

    def whole_power(self) -> int:
        sign = -1 if self.accept("-") else 1
        token = self.peek()
        if token is None or not re.fullmatch("[0-9]", token.group()):
            raise ExpressionError("a unit's power must be a whole number below 10", "as in kg m^2")
        return sign * int(self.next().group())


def _unit_hint(text: str) -> str:
    """The unit that may have been meant, or some that there are; a symbol of two letters is near to nothing longer."""
    known = [unit for unit in UNITS if len(unit) > 2 or len(text) <= 3]
    meant = did_you_mean(text, known) or f"there are {', '.join(_COMMON)} and more, and their full names."
    return f"{meant} (For a parameter write '* {text}')"


def _tidy(number: float) -> float:
    """The short decimal next to a converted number, if rounding alone keeps them apart: 6 in is 0.1524 m."""
    short = float(f"{number:.15g}")
    return short if abs(short - number) <= math.ulp(number) else number


def parse(text: str) -> ExpressionTree:
    """Read one expression; raises ExpressionError."""
    if len(text) > _MAX_LENGTH:
        raise ExpressionError(f"{len(text)} characters long; a formula may have {_MAX_LENGTH}")
    if not text.strip():
        raise ExpressionError("the text is empty", "write a number")
    try:
        return _Parser(text.translate(_PASTED)).whole()
    except OverflowError:
        raise ExpressionError("the number is too large") from None


def names(tree: ExpressionTree) -> tuple[str, ...]:
    """The parameters an expression uses, each once, in order of appearance."""
    if isinstance(tree, Name):
        return (tree.name,)
    if isinstance(tree, NumberLiteral):
        return ()
    return tuple(dict.fromkeys(name for operand in tree.operands for name in names(operand)))


def evaluate(tree: ExpressionTree, lookup: Callable[[str], Scalar]) -> Scalar:
    """Value of an expression; generic in the scalar that `lookup` gives for a name."""
    if isinstance(tree, NumberLiteral):
        return tree.value
    if isinstance(tree, Name):
        return lookup(tree.name)
    return _OPERATORS[tree.operator](*(evaluate(operand, lookup) for operand in tree.operands))


UNKNOWN: Literal["unknown"] = "unknown"
LITERAL: Literal["literal"] = "literal"
# An exact dimension; UNKNOWN: a parameter given as a plain number may be anything; LITERAL: a plain number is a pure
# number as a factor, but whatever is wanted as a term or on its own.
Inferred = Dimension | Literal["unknown", "literal"]


def dimension_of(tree: ExpressionTree, lookup: Callable[[str], Inferred]) -> Inferred:
    """Dimension of an expression, where `lookup` gives that of a parameter; raises ExpressionError."""
    if isinstance(tree, NumberLiteral):
        return LITERAL if tree.dimension is None else tree.dimension
    if isinstance(tree, Name):
        return lookup(tree.name)
    parts: list[Inferred] = [dimension_of(operand, lookup) for operand in tree.operands]
    if tree.operator in ("+", "-"):
        return _of_sum(parts[0], parts[1])
    if tree.operator in ("*", "/"):
        return _of_product(parts[0], parts[1], 1 if tree.operator == "*" else -1)
    if tree.operator == "**":
        return _of_power(parts[0], parts[1], tree.operands[1])
    if tree.operator == "neg":
        return parts[0]
    return _of_function(tree, parts[0])


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


def _of_function(tree: FormulaOperation, argument: Inferred) -> Inferred:
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
