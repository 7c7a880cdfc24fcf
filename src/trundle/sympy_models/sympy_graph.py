"""SymPy expressions as CasADi graphs: every distinct sub-expression is converted once, however often it occurs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce

import casadi as ca
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.piecewise import ExprCondPair

from trundle.errors import InputError, suggest
from trundle.scalars import SX, Scalar, plus, times
from trundle.sympy_models.sympy_method import Leaf, SympyExpression

Rule = Callable[..., Scalar]

_NAN = float("nan")


class Converter:
    """Turns SymPy expressions into floats and CasADi scalars, given what the symbols stand for.

    A sub-expression is known by its object, and by its operation with the numbers of its operands (value numbering):
    neither comparing nor hashing ever walks a tree, so a graph of n nodes costs n steps though printed it may have
    2ⁿ. The walk is iterative, so deep graphs don't exhaust Python's stack.

    `leaves` maps symbols (or their names), functions of time and their derivatives to scalars and may grow between
    calls. Leaves that it doesn't have are collected in `unknown` (and stand for NaN), so that all can be reported at
    once.
    """

    def __init__(self, leaves: Mapping[Leaf, Scalar]) -> None:
        self.leaves: dict[Leaf, Scalar] = dict(leaves)
        self.unknown: dict[Leaf, None] = {}
        self.nodes = 0
        self._values: list[Scalar] = []
        self._by_object: dict[int, int] = {}
        self._by_content: dict[tuple[object, ...], int] = {}
        self._alive: list[SympyExpression] = []  # an object's id is its own only while it lives

    def __call__(self, expression: SympyExpression) -> Scalar:
        """The scalar of one expression; raises InputError naming a function that programs don't have."""
        root = sp.sympify(expression)
        stack = [root]
        while stack:
            node = stack[-1]
            if id(node) in self._by_object:
                stack.pop()
                continue
            if _is_leaf(node):
                self._store(node, self._leaf_number(node))
                continue
            if type(node) not in _RULES:
                raise _unknown_function(type(node).__name__)
            # A node is made after its arguments: they go on the stack, and it is looked at again.
            waiting = [child for child in node.args if id(child) not in self._by_object]
            if waiting:
                self._alive.extend(waiting)
                stack.extend(waiting)
                continue
            self._store(node, self._node_number(node))
        return self._values[self._by_object[id(root)]]

    def met(self, leaf: Leaf) -> bool:
        """Whether some expression had this leaf."""
        return ("leaf", leaf) in self._by_content

    def _store(self, node: SympyExpression, number: int) -> None:
        """Keep an object and its number; it must live on, as another object could get its id."""
        self._alive.append(node)
        self._by_object[id(node)] = number

    def _append(self, key: tuple[object, ...], value: Scalar) -> int:
        """A new value and its number."""
        self._by_content[key] = len(self._values)
        self._values.append(value)
        return self._by_content[key]

    def _leaf_number(self, leaf: Leaf) -> int:
        """The number of a leaf's value, made where it is met first."""
        key = ("leaf", leaf)
        return self._by_content[key] if self.met(leaf) else self._append(key, self._leaf(leaf))

    def _leaf(self, leaf: Leaf) -> Scalar:
        """The CasADi value of a symbol, a derivative or a number; NaN for what is unknown, which is noted."""
        if leaf in self.leaves:
            return self.leaves[leaf]
        # Symbols of one name and other assumptions are the same quantity to a person.
        if leaf.is_Symbol and leaf.name in self.leaves:
            return self.leaves[leaf.name]
        if isinstance(leaf, sp.Derivative):
            # SymPy differentiates |x| by way of the real part; here every number is real.
            done = leaf.replace(sp.re, lambda x: x).replace(sp.im, lambda x: sp.S.Zero).doit()
            if done != leaf:
                return self(done)
        if isinstance(leaf, (sp.logic.boolalg.BooleanTrue, sp.logic.boolalg.BooleanFalse)):
            return bool(leaf)
        if getattr(leaf, "is_number", False):
            return _number(leaf)
        self.unknown[leaf] = None
        return _NAN

    def _node_number(self, node: SympyExpression) -> int:
        """The number of a node's value by its operation and its arguments' numbers; equal content is made once."""
        kind = type(node)
        numbers = tuple(self._by_object[id(child)] for child in node.args)
        if kind in (sp.Add, sp.Mul):
            # In order of appearance, products and sums that begin alike share their beginning.
            numbers = tuple(sorted(numbers))
        key = (kind, *numbers)
        if key in self._by_content:
            return self._by_content[key]
        self.nodes += 1
        return self._append(key, _RULES[kind](*(self._values[number] for number in numbers)))


def _unknown_function(name: str) -> InputError:
    """The error for a function that programs don't have."""
    known = sorted(function.__name__ for function in _RULES)
    return InputError(
        f"a SymPy model uses '{name}', which programs don't have",
        key=name,
        hint=suggest(name, known, most=len(known)),
    )


def _is_leaf(node: SympyExpression) -> bool:
    """Whether an expression is taken whole: symbols, numbers, functions of time and their derivatives."""
    return not node.args or isinstance(node, (AppliedUndef, sp.Derivative)) or node.is_Symbol


def _number(value: SympyExpression) -> float:
    """The nearest double: exact for floats and for integers and halves of reasonable size."""
    try:
        return float(value)
    except (TypeError, OverflowError):
        raise InputError(
            f"a SymPy model holds the number {value}, which is no real number that a double can hold"
        ) from None


def _sum(*terms: Scalar) -> Scalar:
    """The sum of the terms, plain zeros left out."""
    return reduce(plus, terms)


def _product(*factors: Scalar) -> Scalar:
    """Plain numbers last, as one: the product of the others may occur with another coefficient elsewhere."""
    plain = [factor for factor in factors if isinstance(factor, float)]
    others = [factor for factor in factors if not isinstance(factor, float)]
    return reduce(times, [*others, math.prod(plain)])


def _power(base: Scalar, exponent: Scalar) -> Scalar:
    """A power as cheaply as CasADi has it: roots for halves, quotients for negative powers, plain numbers at once."""
    if not isinstance(exponent, float):
        return ca.SX(base) ** exponent
    if exponent == 0.5 and not isinstance(base, (int, float)):
        return ca.sqrt(base)
    if isinstance(base, (int, float)):
        return float(ca.DM(base) ** exponent)  # as the hardware does: infinity and NaN, no exceptions
    # A quotient is cheaper than pow with a negative exponent, and exact where the base is.
    if exponent < 0:
        return 1 / _power(base, -exponent)
    return base if exponent == 1 else base**exponent


def _choice(*pairs: tuple[Scalar, Scalar]) -> Scalar:
    """Piecewise: the first expression whose condition holds, NaN where none does."""
    result: Scalar = _NAN
    for value, condition in reversed(pairs):
        if isinstance(condition, bool):
            result = value if condition else result
        else:
            result = ca.if_else(condition, value, result)
    return result


def _step(x: Scalar, at_zero: Scalar = 0.5) -> Scalar:
    """SymPy's Heaviside function: 0 below zero, 1 above it."""
    return ca.if_else(ca.SX(x) > 0, 1.0, ca.if_else(ca.SX(x) < 0, 0.0, at_zero))


def _logic(combine: Callable[[SX, SX], SX]) -> Rule:
    """And, or and their like, over any number of conditions."""
    return lambda *conditions: reduce(combine, (ca.SX(condition) for condition in conditions))


def _modulo(x: Scalar, y: Scalar) -> Scalar:
    return x - y * ca.floor(ca.SX(x) / y)


def _on_graph(function: Callable[..., SX]) -> Rule:
    """A CasADi function that also folds plain numbers, which CasADi answers with a matrix."""

    def apply(*arguments: Scalar) -> Scalar:
        result = function(*(ca.SX(argument) for argument in arguments))
        return float(result) if result.is_constant() else result

    return apply


_NAMED_ALIKE = (
    "exp", "log", "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh",
    "atanh", "erf", "sign",
)  # fmt: skip

# What each of SymPy's functions is to CasADi. Relations and logic give scalars that are 0 or 1.
_RULES: dict[type, Rule] = {
    sp.Add: _sum,
    sp.Mul: _product,
    sp.Pow: _power,
    **{getattr(sp, name): _on_graph(getattr(ca, name)) for name in _NAMED_ALIKE},
    sp.cot: _on_graph(lambda x: ca.cos(x) / ca.sin(x)),
    sp.sec: _on_graph(lambda x: 1 / ca.cos(x)),
    sp.csc: _on_graph(lambda x: 1 / ca.sin(x)),
    sp.Abs: _on_graph(ca.fabs),
    sp.re: lambda x: x,
    sp.im: lambda x: 0.0,
    sp.conjugate: lambda x: x,
    sp.floor: _on_graph(ca.floor),
    sp.ceiling: _on_graph(ca.ceil),
    sp.Mod: _on_graph(_modulo),
    sp.Min: lambda *values: reduce(_on_graph(ca.fmin), values),
    sp.Max: lambda *values: reduce(_on_graph(ca.fmax), values),
    sp.Heaviside: _on_graph(_step),
    sp.Piecewise: _choice,
    ExprCondPair: lambda value, condition: (value, condition),
    sp.ITE: lambda condition, yes, no: ca.if_else(condition, yes, no),
    sp.StrictLessThan: lambda a, b: ca.SX(a) < b,
    sp.LessThan: lambda a, b: ca.SX(a) <= b,
    sp.StrictGreaterThan: lambda a, b: ca.SX(a) > b,
    sp.GreaterThan: lambda a, b: ca.SX(a) >= b,
    sp.Equality: lambda a, b: ca.SX(a) == b,
    sp.Unequality: lambda a, b: ca.SX(a) != b,
    sp.And: _logic(ca.logic_and),
    sp.Or: _logic(ca.logic_or),
    sp.Not: lambda condition: ca.logic_not(ca.SX(condition)),
    sp.UnevaluatedExpr: lambda value: value,
}
