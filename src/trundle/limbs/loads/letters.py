"""SymPy expressions as a program's scalars: letters are its inputs, and a program's values are expressions again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import count

import sympy

from trundle.errors import InputError
from trundle.formulas.algebra.terms import exact
from trundle.program import Program, Tracer
from trundle.program.ir import LOADS
from trundle.program.trace import Node
from trundle.scalars import Scalar, cos, sin, sqrt, tan

GROUP = "letter"
_FUNCTIONS: dict[type, Callable[[Scalar], Scalar]] = {sympy.sin: sin, sympy.cos: cos, sympy.tan: tan}
# How a program's operations are written; what a kinematic chain's programs hold beside sums and products.
_WRITTEN: dict[str, Callable[..., sympy.Expr]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "neg": lambda x: -x,
    "sq": lambda x: x**2,
    "twice": lambda x: 2 * x,
    "inv": lambda x: 1 / x,
    "sqrt": sympy.sqrt,
    "sin": sympy.sin,
    "cos": sympy.cos,
    "tan": sympy.tan,
    "pow": sympy.Pow,
    "abs": sympy.Abs,
    "min": sympy.Min,
    "max": sympy.Max,
    "atan2": sympy.atan2,
}


def exactly(value: float) -> sympy.Expr:
    """The decimal, fraction or root of one that a float was written as."""
    factor, square = exact(value)
    return sympy.Rational(factor) * sympy.sqrt(square)


class Letters:
    """The letters of expressions, as nodes of one tracer: symbols, functions of time, their derivatives, and numbers
    that no float holds exactly, which stay exact so.
    """

    def __init__(self) -> None:
        self.tracer = Tracer(GROUP)
        self.letters: list[sympy.Expr] = []
        self._known: dict[sympy.Expr, Scalar] = {}

    def scalar(self, value: Scalar) -> Scalar:
        """An expression or a number as a node; what is zero or one by structure stays a plain number, and a decimal
        exact.
        """
        value = sympy.sympify(value)
        if value.is_Float:
            value = exactly(float(value))
        if value.is_Integer:
            return int(value)
        scalar = self._known.get(value)
        if scalar is None:
            scalar = self._known[value] = self._made(value)
        return scalar

    def program(self, name: str, outputs: dict[str, Sequence[Scalar]], labels: Sequence[str]) -> Program:
        """The program from the letters to one group a name."""
        inputs = {GROUP: [str(letter) for letter in self.letters]}
        return self.tracer.program(
            name, inputs, {group: (labels, values) for group, values in outputs.items()}
        )

    def _made(self, value: sympy.Expr) -> Scalar:
        """Turn a SymPy expression into a scalar of the program; what is no operation becomes a letter."""
        if value.is_Add:
            return reduce(lambda a, b: a + b, map(self.scalar, value.args))
        if value.is_Mul:
            return reduce(lambda a, b: a * b, map(self.scalar, value.args))
        if value.is_Pow:
            return self._power(*value.as_base_exp())
        if type(value) in _FUNCTIONS:
            return _FUNCTIONS[type(value)](self.scalar(value.args[0]))
        if not value.is_commutative or value.is_infinite or value is sympy.nan:
            raise InputError(f"{value} is no real expression")
        return self._letter(value)

    def _power(self, base: sympy.Expr, exponent: sympy.Expr) -> Scalar:
        if exponent.is_Float:  # length**2.0, as formulas of descriptions give it
            exponent = exactly(float(exponent))
        if exponent == sympy.Rational(1, 2):
            return sqrt(self.scalar(base)) if base.free_symbols else self._letter(base**exponent)
        if exponent.is_Integer and abs(int(exponent)) <= 8 and base.free_symbols:
            product = reduce(lambda a, b: a * b, [self.scalar(base)] * abs(int(exponent)))
            return product if exponent > 0 else 1 / product
        return self._letter(base**exponent)

    def _letter(self, value: sympy.Expr) -> Node:
        self.letters.append(value)
        (node,) = self.tracer.inputs(GROUP, 1, len(self.letters) - 1)
        return node


def written(
    program: Program, letters: Sequence[sympy.Expr], most: int
) -> tuple[list[tuple[sympy.Symbol, sympy.Expr]], list[sympy.Expr]]:
    """The program as steps t_1 = …, and its first group's results in them.

    What is used more than once gets a name, and so does what is longer than `most` operations.
    """
    uses = [0] * len(program.instructions)
    for instruction in program.instructions:
        for a in instruction.args:
            uses[a] += 1
    taken = {str(symbol) for letter in letters for symbol in letter.free_symbols}
    names = (sympy.Symbol(f"t_{k}") for k in count(1) if f"t_{k}" not in taken)
    lengths: list[int] = []
    values: list[sympy.Expr] = []
    steps: list[tuple[sympy.Symbol, sympy.Expr]] = []
    for op, out, args, value, (_, element) in program.instructions:
        length = 0 if op in LOADS else 1 + sum(lengths[a] for a in args)
        made = _value(op, [values[a] for a in args], value, letters[element] if op == "input" else None)
        trivial = op in LOADS or op in ("neg", "twice")
        if not trivial and (uses[out] > 1 or length > most):
            name = next(names)
            steps.append((name, made))
            made, length = name, 0
        values.append(made)
        lengths.append(length)
    return steps, [values[k] for k in program.results[0]]


def _value(op: str, args: list[sympy.Expr], value: float, letter: sympy.Expr | None) -> sympy.Expr:
    if letter is not None:
        return letter
    if op == "const":
        return sympy.Rational(exact(value)[0])  # folded from whole numbers: a short fraction
    return _WRITTEN[op](*args)


def evaluated(
    program: Program, inputs: Sequence[Scalar], wanted: Sequence[int], number: Callable[[float], Scalar]
) -> list[Scalar]:
    """Some results of the first group in other scalars, from those of the letters; nothing else is worked out."""
    results = [program.results[0][k] for k in wanted]
    alive = set(results)
    for instruction in reversed(program.instructions):
        if instruction.out in alive:
            alive.update(instruction.args)
    values: dict[int, Scalar] = {}
    for op, out, args, value, (_, element) in program.instructions:
        if out not in alive:
            continue
        if op == "input":
            values[out] = inputs[element]
        elif op == "const":
            values[out] = number(value)
        else:
            values[out] = _SCALARS[op](*(values[a] for a in args))
    return [values[k] for k in results]


_SCALARS: dict[str, Callable[..., Scalar]] = {
    **{op: _WRITTEN[op] for op in ("add", "sub", "mul", "div", "neg", "sq", "twice", "inv")},
    "pow": lambda x, y: x**y,
    "sqrt": sqrt,
    "sin": sin,
    "cos": cos,
    "tan": tan,
}
