"""SymPy expressions as a program's scalars: letters are its inputs, and a program's values are expressions again."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import count

import sympy

from trundle.errors import InputError
from trundle.formulas.algebra.terms import exact
from trundle.formulas.algebra.writing import exactly
from trundle.program import Program, Tracer
from trundle.program.ir import LOADS
from trundle.program.tracer import Node
from trundle.scalars import (
    Scalar,
    absolute,
    asin,
    atan,
    atan2,
    cos,
    exp,
    log,
    maximum,
    minimum,
    sin,
    sqrt,
    tan,
    tanh,
)

GROUP = "letter"
_ELEMENTARY = (sin, cos, tan, asin, atan, exp, log, tanh)
_FUNCTIONS: dict[type, Callable[[Scalar], Scalar]] = {
    getattr(sympy, each.__name__): each for each in _ELEMENTARY
}
# A program's operations in any scalars; what a kinematic chain's programs hold beside sums and products.
_OPERATIONS: dict[str, Callable[..., Scalar]] = {
    **{op: getattr(operator, op) for op in ("add", "sub", "mul", "neg", "pow")},
    "div": operator.truediv,
    "sq": lambda x: x**2,
    "twice": lambda x: 2 * x,
    "inv": lambda x: 1 / x,
    **{each.__name__: each for each in (*_ELEMENTARY, sqrt, atan2)},
    "abs": absolute,
    "min": minimum,
    "max": maximum,
}


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
            scalar = self._known[value] = self._converted(value)
        return scalar

    def program(self, name: str, outputs: dict[str, Sequence[Scalar]], labels: Sequence[str]) -> Program:
        """The program from the letters to one group a name."""
        inputs = {GROUP: [str(letter) for letter in self.letters]}
        return self.tracer.program(
            name, inputs, {group: (labels, values) for group, values in outputs.items()}
        )

    def _converted(self, value: sympy.Expr) -> Scalar:
        """Turn a SymPy expression into a scalar of the program; what is no operation becomes a letter."""
        if value.is_Add:
            return reduce(operator.add, map(self.scalar, value.args))
        if value.is_Mul:
            return reduce(operator.mul, map(self.scalar, value.args))
        if value.is_Pow:
            return self._power(*value.as_base_exp())
        if type(value) in _FUNCTIONS:
            return _FUNCTIONS[type(value)](self.scalar(value.args[0]))
        if not value.is_commutative or value.is_infinite or value is sympy.nan:
            raise InputError(f"{value} is not a real expression")
        return self._letter(value)

    def _power(self, base: sympy.Expr, exponent: sympy.Expr) -> Scalar:
        if exponent.is_Float:  # length**2.0, as formulas of descriptions give it
            exponent = exactly(float(exponent))
        if exponent == sympy.Rational(1, 2):
            return sqrt(self.scalar(base)) if base.free_symbols else self._letter(base**exponent)
        if exponent.is_Integer and abs(int(exponent)) <= 8 and base.free_symbols:
            product = reduce(operator.mul, [self.scalar(base)] * abs(int(exponent)))
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
    for op, out, args, value, (_, element), _ in program.instructions:
        length = 0 if op in LOADS else 1 + sum(lengths[a] for a in args)
        if op == "input":
            made = letters[element]
        elif op == "const":
            made = sympy.Rational(exact(value)[0])  # folded from whole numbers: a short fraction
        else:
            made = _OPERATIONS[op](*(values[a] for a in args))
        trivial = op in LOADS or op in ("neg", "twice")
        if not trivial and (uses[out] > 1 or length > most):
            name = next(names)
            steps.append((name, made))
            made, length = name, 0
        values.append(made)
        lengths.append(length)
    return steps, [values[k] for k in program.results[0]]


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
    for op, out, args, value, (_, element), _ in program.instructions:
        if out not in alive:
            continue
        if op == "input":
            values[out] = inputs[element]
        elif op == "const":
            values[out] = number(value)
        else:
            values[out] = _OPERATIONS[op](*(values[a] for a in args))
    return [values[k] for k in results]
