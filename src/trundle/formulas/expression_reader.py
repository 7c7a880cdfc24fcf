"""Text to SymPy without running it: arithmetic, a few functions, known names, nothing else.

`sympify` hands its text to Python's `eval`; this reads Python's syntax tree and builds only what is listed here.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from functools import partial

import sympy

from trundle.errors import InputError, counted, suggest
from trundle.formulas.sections import Expression

FUNCTIONS: dict[str, Callable[..., Expression]] = {
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "asin": sympy.asin,
    "atan": sympy.atan,
    "exp": sympy.exp,
    "log": sympy.log,
    "tanh": sympy.tanh,
    "sinc": sympy.sinc,
    "sqrt": sympy.sqrt,
    "atan2": sympy.atan2,
    "Abs": sympy.Abs,
    "Min": partial(sympy.Min, evaluate=False),
    "Max": partial(sympy.Max, evaluate=False),
}
_OPERATORS: dict[type, Callable[[Expression, Expression], Expression]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: _quotient(a, b),
}
_RELATIONS: dict[type, Callable[[Expression, Expression], Expression]] = {
    ast.Lt: sympy.Lt,
    ast.LtE: sympy.Le,
    ast.Gt: sympy.Gt,
    ast.GtE: sympy.Ge,
}
# Characters: longer than any equation that is printed, short enough that reading stays quick.
_MOST_LENGTH = 200_000
# Brackets in brackets: well within Python's own stack of 1,000 calls.
_MOST_DEPTH = 200
# No equation that is printed has a power near this one.
_MOST_POWER = 64
# Powers of numbers are computed at once: without a bound 9**9**9 would fill the memory.
_MOST_BITS = 4096


def read_expression(text: str, symbols: Iterable[str] | Mapping[str, Expression]) -> Expression:
    """The SymPy expression that a text stands for.

    `symbols` are the names it may use (a mapping gives the symbol of each), also as functions of one argument. Only
    numbers, these names, + − * / **, brackets and the functions sin, cos, tan, asin, atan, atan2, sqrt, exp, log, tanh,
    sinc, Abs, Min, Max and Piecewise are read, and nothing is executed; raises InputError for anything else.

    Parameters
    ----------
    text : str
        Such as "m*g*sin(theta)".
    symbols : iterable of str, or mapping of str to symbol
        The names it may use.

    Returns
    -------
    sympy.Expr

    Raises
    ------
    InputError
        What stands in it is none of these, or too long.

    Examples
    --------
    >>> from trundle.formulas import read_expression
    >>> read_expression("m*g*sin(theta)", ["m", "g", "theta"])
    g*m*sin(theta)
    """
    known = symbols if isinstance(symbols, Mapping) else {name: sympy.Symbol(name) for name in symbols}
    if not isinstance(text, str) or len(text) > _MOST_LENGTH:
        raise InputError("expected an expression as text of less than 200,000 characters")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise InputError(f"not an expression: {text[:60]!r}") from None
    expression = _read(tree.body, known, 0)
    if expression.has(sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
        raise InputError(f"{text.strip()[:60]!r} divides by zero, or holds what is beyond all numbers")
    return expression


def _read(node: ast.expr, known: Mapping[str, Expression], depth: int) -> Expression:
    """The expression of one node of Python's syntax tree; only what equations print is read, nothing is executed."""
    if depth > _MOST_DEPTH:
        raise InputError(f"the expression is nested more than {_MOST_DEPTH} deep")
    match node:
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() as number):
            return sympy.Integer(number)
        case ast.Constant(value=float() as number):
            return sympy.Float(repr(number), 17)
        case ast.Name(id=name):
            if name in known:
                return known[name]
            raise InputError(f"unknown symbol '{name}'", hint=suggest(name, known))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_read(operand, known, depth + 1)
        case ast.BinOp(left=left, op=ast.Pow(), right=right):
            return _power(_read(left, known, depth + 1), _read(right, known, depth + 1))
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            return _OPERATORS[type(operator)](_read(left, known, depth + 1), _read(right, known, depth + 1))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            needed = {"atan2": 2, "Min": len(args), "Max": len(args)}.get(name, 1)
            if len(args) != needed or not args:
                raise InputError(f"{name} takes {counted(max(needed, 1), 'argument')}, got {len(args)}")
            return FUNCTIONS[name](*(_read(argument, known, depth + 1) for argument in args))
        case ast.Call(func=ast.Name(id="Piecewise"), args=[*cases], keywords=[]) if cases:
            return sympy.Piecewise(*(_read_case(case, known, depth + 1) for case in cases))
        case ast.Call(func=ast.Name(id=name), args=[argument], keywords=[]) if name in known:
            return sympy.Function(name)(_read(argument, known, depth + 1))
    try:
        written = ast.unparse(node)[:60]
    except RecursionError:  # it is nested more deeply than Python's stack
        written = type(node).__name__
    raise InputError(
        f"'{written}' has no place in an expression",
        hint=f"numbers, symbols, + - * / ** and {', '.join(FUNCTIONS)}",
    )


def _read_case(
    node: ast.expr, known: Mapping[str, Expression], depth: int
) -> tuple[Expression, Expression | bool]:
    """A value and when it holds: (value, a < b), or (value, True) for all other cases."""
    match node:
        case ast.Tuple(elts=[value, ast.Constant(value=True)]):
            return _read(value, known, depth), True
        case ast.Tuple(elts=[value, ast.Compare(left=left, ops=[operator], comparators=[right])]) if (
            type(operator) in _RELATIONS
        ):
            holds = _RELATIONS[type(operator)](_read(left, known, depth), _read(right, known, depth))
            return _read(value, known, depth), holds
    raise InputError(f"'{ast.unparse(node)[:60]}' is no case", hint="(value, a < b), or last (value, True)")


def _quotient(a: Expression, b: Expression) -> Expression:
    """a/b; of two floats rounded once: SymPy multiplies by 1/b, which makes 0.6/0.6 of 0.999999999999999."""
    floats = a.is_Float and b.is_Float and b != 0
    return sympy.Float(repr(float(a) / float(b)), 17) if floats else a / b


def _power(base: Expression, power: Expression) -> Expression:
    """Powers of small numbers only: 9**9**9, or ((9**64)**64)**64, would fill the memory."""
    if not (power.is_Rational and abs(power) <= _MOST_POWER) and not power.free_symbols:
        raise InputError(f"the power {power} is out of bounds", hint=f"at most {_MOST_POWER}")
    if base.is_Rational and power.is_Rational and abs(power) * _bits(base) > _MOST_BITS:
        raise InputError("a power of numbers is out of bounds", hint=f"write less than {_MOST_BITS} bits")
    return base**power


def _bits(number: Expression) -> int:
    """How many bits a rational number takes."""
    return int(number.p).bit_length() + int(number.q).bit_length()
