"""Derivatives, substitutions and numbers of values that a tracer is writing.

Forward mode (Griewank & Walther 2008, ch. 3): an operation's rate is Σ ∂op/∂operand × the operand's rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from trundle.errors import TrundleError
from trundle.program.ir import Instruction, Program
from trundle.program.simplify import Builder
from trundle.program.tracer import Node, Operand
from trundle.scalars import absolute, cos, exp, is_zero, less, plus, sin, sqrt, times, where

# The slopes ∂op/∂operand by the operation's value z and its operands.
_SLOPES: Mapping[str, Callable[..., Sequence[Operand]]] = {
    "add": lambda z, x, y: (1, 1),
    "sub": lambda z, x, y: (1, -1),
    "neg": lambda z, x: (-1,),
    "twice": lambda z, x: (2,),
    "sq": lambda z, x: (2 * x,),
    "mul": lambda z, x, y: (y, x),
    "div": lambda z, x, y: (1 / y, -z / y),
    "inv": lambda z, x: (-(z * z),),
    "sqrt": lambda z, x: (0.5 / z,),
    "sin": lambda z, x: (cos(x),),
    "cos": lambda z, x: (-sin(x),),
    "tan": lambda z, x: (1 + z * z,),
    "asin": lambda z, x: (1 / sqrt((1 - x) * (1 + x)),),
    "atan": lambda z, x: (1 / (1 + x * x),),
    "exp": lambda z, x: (z,),
    "log": lambda z, x: (1 / x,),
    "tanh": lambda z, x: ((1 - z) * (1 + z),),
    "atan2": lambda z, y, x: (x / (x * x + y * y), -y / (x * x + y * y)),
    "pow": lambda z, x, y: (y * x ** (y - 1), 0),
    "acos": lambda z, x: (-1 / sqrt((1 - x) * (1 + x)),),
    "sinh": lambda z, x: (_of("cosh", x),),
    "cosh": lambda z, x: (_of("sinh", x),),
    "asinh": lambda z, x: (1 / sqrt(x * x + 1),),
    "acosh": lambda z, x: (1 / sqrt(x * x - 1),),
    "atanh": lambda z, x: (1 / ((1 - x) * (1 + x)),),
    "expm1": lambda z, x: (z + 1,),
    "log1p": lambda z, x: (1 / (1 + x),),
    "erf": lambda z, x: (2 / math.sqrt(math.pi) * exp(-(x * x)),),
    "hypot": lambda z, x, y: (x / z, y / z),
}
# What has steps and no slopes between.
_LEVEL = frozenset({"lt", "le", "eq", "ne", "not", "and", "or", "sign", "floor", "ceil", "lookup"})
# Operations that choose: the rate of what is chosen. A product with 0 would keep the other's NaN.
_CHOICES: Mapping[str, Callable[..., Operand]] = {
    "abs": lambda of, x: _chosen(less(of[0], 0), times(-1, x), x),
    "min": lambda of, x, y: _chosen(less(of[1], of[0]), y, x),
    "max": lambda of, x, y: _chosen(less(of[0], of[1]), y, x),
    "select": lambda of, c, x, y: _chosen(of[0], x, y),
    "if_else_zero": lambda of, c, x: _chosen(of[0], x, 0),
}
# Roots, and angles of vectors: where they vanish a rule gives 0/0.
_KINKS = frozenset({"sqrt", "hypot", "atan2"})


# The other operations have NumPy's names.
def _truth(function: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """A comparison that gives 1 or 0, as programs do: NumPy adds truths up to one truth."""
    return lambda *operands: function(*operands).astype(float)


_NUMBERS: Mapping[str, Callable[..., np.ndarray]] = {
    "add": np.add, "sub": np.subtract, "neg": np.negative, "twice": lambda x: x + x, "sq": np.square,
    "mul": np.multiply, "div": np.divide, "inv": lambda x: 1.0 / x, "sqrt": np.sqrt, "sin": np.sin, "cos": np.cos,
    "tan": np.tan, "atan2": np.arctan2, "abs": np.abs, "min": np.fmin, "max": np.fmax, "lt": _truth(np.less),
    "select": np.where, "if_else_zero": lambda c, x: np.where(c, x, 0.0), "pow": np.power,
    "le": _truth(np.less_equal), "eq": _truth(np.equal), "ne": _truth(np.not_equal), "not": _truth(np.logical_not),
    "and": _truth(np.logical_and), "or": _truth(np.logical_or),
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "asinh": np.arcsinh,
    "acosh": np.arccosh, "atanh": np.arctanh, "erf": np.vectorize(math.erf),
}  # fmt: skip
# Of no value it is known which one is the last to need it.
_NONE: Mapping[int, int] = MappingProxyType({})


def derivative_along(
    values: Sequence[Operand], at: Sequence[Node], rates: Sequence[Operand], *, at_rest: bool = False
) -> list[Operand]:
    """Σ ∂value/∂at_k rate_k of the values; plain zeros where there is nothing by structure.

    With `at_rest` roots of 0, and angles of (0, 0), have the slope 0, as in `trace.to_casadi`.
    """
    known = {node.value: rate for node, rate in zip(at, rates, strict=True) if not is_zero(rate)}
    builder = _builder(values)
    for op, out, args, *_ in () if builder is None else list(_needed(builder, values)):
        if builder is None or not any(a in known for a in args):
            continue
        total = _rate(builder, op, out, args, [known.get(place, 0) for place in args])
        if at_rest and op in _KINKS and not is_zero(total):
            total = where(_moves(builder, args), total, 0)
        if not is_zero(total):
            known[out] = total
    return [known.get(value.value, 0) if isinstance(value, Node) else 0 for value in values]


def _rate(builder: Builder, op: str, out: int, args: Sequence[int], rates: Sequence[Operand]) -> Operand:
    """An operation's rate by those of its operands. Exponents are numbers or parameters, which have none."""
    if op == "pow" and not is_zero(rates[1]):
        raise TrundleError("traced programs have no derivative of a power by its exponent")
    if op in _CHOICES:
        return _CHOICES[op]([Node(builder, place) for place in args], *rates)
    total: Operand = 0
    for slope, rate in zip(_slopes(builder, op, out, args), rates, strict=True):
        total = plus(total, times(slope, rate))
    return total


def _chosen(condition: Operand, yes: Operand, no: Operand) -> Operand:
    """One of two rates; plain zero where both are."""
    return 0 if is_zero(yes) and is_zero(no) else where(condition, yes, no)


def _moves(builder: Builder, args: Sequence[int]) -> Operand:
    """Whether an operand isn't 0."""
    total: Operand = 0
    for place in args:
        total = plus(total, absolute(Node(builder, place)))
    return less(0, total)


def _of(op: str, x: Node) -> Node:
    """An operation that `trundle.scalars` has no name for."""
    return Node(x.builder, x.builder.emit(op, x.value))


def jacobian(values: Sequence[Operand], at: Sequence[Node], *, at_rest: bool = False) -> list[list[Operand]]:
    """∂value/∂at as rows, plain zeros where there is nothing by structure; `at_rest` as in `derivative_along`."""
    columns = [derivative_along(values, [node], [1], at_rest=at_rest) for node in at]
    return [list(row) for row in zip(*columns, strict=True)]


def replaced(values: Sequence[Operand], at: Sequence[Node], by: Sequence[Operand]) -> list[Operand]:
    """The values with other ones in place of some symbols."""
    builder = _builder(values)
    if builder is None:
        return list(values)
    new = {
        old.value: value.value if isinstance(value, Node) else builder.const(value)
        for old, value in zip(at, by, strict=True)
    }
    for instruction in list(_needed(builder, values)):
        args = instruction.args
        if any(new.get(a, a) != a for a in args):
            new[instruction.out] = builder.reapply(instruction, tuple(new.get(a, a) for a in args))
    return [Node(builder, new.get(v.value, v.value)) if isinstance(v, Node) else v for v in values]


def evaluated(values: Sequence[Operand], groups: Sequence[np.ndarray]) -> np.ndarray:
    """The numbers (values, lanes) for input groups (n, lanes) in the tracer's order."""
    builder, lanes = _builder(values), groups[0].shape[1]
    known = {} if builder is None else _numbers(_needed(builder, values), groups)
    rows = [known[v.value] if isinstance(v, Node) else v for v in values]
    return np.array([np.broadcast_to(np.asarray(row, dtype=float), lanes) for row in rows])


def once(program: Program, *groups: np.ndarray) -> tuple[np.ndarray, ...]:
    """A program's outputs by NumPy, at one state or at some of a few (n, count), before anything is compiled."""
    count = max((group.shape[1:] for group in groups), default=())
    known = _numbers(program.instructions, groups, program.last)
    every = [[np.broadcast_to(known[value], count) for value in group] for group in program.results]
    return tuple(np.array(rows, dtype=float).reshape(-1, *count) for rows in every)


def every_value(program: Program, groups: Sequence[np.ndarray]) -> dict[int, np.ndarray]:
    """All of a program's values by their numbers, in NumPy, at states (n, count) of the input groups."""
    return _numbers(program.instructions, groups)


def _numbers(
    instructions: Iterable[Instruction], groups: Sequence[np.ndarray], last: Mapping[int, int] = _NONE
) -> dict[int, np.ndarray]:
    """Values of instructions by number, in NumPy; errors of the hardware stay NaN and infinity, as in kernels.

    A value is dropped where the one that is the `last` to need it is there: what is at work then stays in caches.
    """
    known: dict[int, np.ndarray] = {}
    held: dict[tuple[int, int], np.ndarray] = {}  # indices are read at many places
    with np.errstate(all="ignore"):
        for op, out, args, number, (group, element), table in instructions:
            if op == "const":
                known[out] = np.array(number)
            elif op == "input":
                known[out] = groups[group][element]
            elif table is not None:
                at = args[0], table.last
                if at not in held:
                    held[at] = table.clipped(known[args[0]])
                known[out] = table.values[held[at] + int(number)]
            else:
                known[out] = (_NUMBERS.get(op) or getattr(np, op))(*[known[a] for a in args])
            for a in args:
                if last.get(a) == out:
                    known.pop(a, None)
    return known


def _builder(values: Sequence[Operand]) -> Builder | None:
    return next((value.builder for value in values if isinstance(value, Node)), None)


def _needed(builder: Builder, values: Sequence[Operand]) -> Iterator[Instruction]:
    """The instructions that the values are computed by, in order."""
    open_, needed = [value.value for value in values if isinstance(value, Node)], set[int]()
    while open_:
        value = open_.pop()
        if value not in needed:
            needed.add(value)
            open_ += builder.instructions[value].args
    return (builder.instructions[value] for value in sorted(needed))


def _slopes(builder: Builder, op: str, out: int, args: Sequence[int]) -> Sequence[Operand]:
    if op in _LEVEL:
        return [0] * len(args)
    if op not in _SLOPES:
        raise TrundleError(f"traced programs have no derivative of '{op}'")
    return _SLOPES[op](*(Node(builder, value) for value in (out, *args)))
