"""Value numbering, light algebra and dead-code elimination on straight-line programs.

Only rewrites that keep NaN and infinity honest are made: x*0 stays, x-x stays. Results may differ from the
original by rounding (a/b becomes a*(1/b) where 1/b is shared), never by more than about one ulp an operation.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from trundle.program.ir import Group, Instruction, Program

if TYPE_CHECKING:
    from trundle.tables import Table

COMMUTATIVE = frozenset({"add", "mul", "eq", "ne", "and", "or"})

_UNARY: dict[str, Callable[[float], float]] = {
    "neg": lambda x: -x,
    "sq": lambda x: x * x,
    "twice": lambda x: x + x,
    "abs": abs,
    "sqrt": math.sqrt,
    "sin": math.sin,
    "cos": math.cos,
    "inv": lambda x: 1.0 / x,
}
_BINARY: dict[str, Callable[[float, float], float]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
}


class Builder:
    """Collects instructions; equal ones get one value, trivial ones none."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.numbers: dict[int, float] = {}  # the values that are constants
        self._known: dict[tuple[object, ...], int] = {}

    def load(self, group: int, element: int) -> int:
        """The value of an input element."""
        return self._append(("input", group, element), "input", (), 0.0, (group, element))

    def const(self, value: float) -> int:
        """The value of a number; zeros of either sign and every NaN are told apart by their bits."""
        value = float(value)
        out = self._append(("const", value.hex()), "const", (), value)
        self.numbers[out] = value
        return out

    def emit(self, op: str, *args: int) -> int:
        """The value of ``op`` applied to ``args``, simplified."""
        if args[0] in self.numbers and (folded := self._fold(op, args)) is not None:
            return folded
        rule = _RULES.get(op)
        if rule is not None and (shorter := rule(self, *args)) is not None:
            return shorter
        if op in COMMUTATIVE and args[0] > args[1]:
            args = (args[1], args[0])
        return self._append((op, *args), op, args)

    def lookup(self, table: Table, place: int, index: int) -> int:
        """The value of a table's element, so many places behind an index."""
        return self._append(("lookup", table, place, index), "lookup", (index,), float(place), table=table)

    def reapply(self, instruction: Instruction, args: tuple[int, ...]) -> int:
        """The value of an operation of another program, applied to ``args``, simplified."""
        if instruction.table is not None:
            return self.lookup(instruction.table, int(instruction.value), *args)
        return self.emit(instruction.op, *args)

    def _append(
        self,
        key: tuple[object, ...],
        op: str,
        args: tuple[int, ...],
        value: float = 0.0,
        source: tuple[int, int] = (-1, -1),
        table: Table | None = None,
    ) -> int:
        new = len(self.instructions)
        out = self._known.setdefault(key, new)
        if out == new:
            self.instructions.append(Instruction(op, out, args, value, source, table))
        return out

    def _number(self, value: int) -> float | None:
        return self.numbers.get(value)

    def _operand(self, value: int, op: str) -> int | None:
        """The argument of ``value`` if that is a unary ``op``."""
        instruction = self.instructions[value]
        return instruction.args[0] if instruction.op == op else None

    def _fold(self, op: str, args: tuple[int, ...]) -> int | None:
        """The constant that an operation on constants gives; None where an operand is no constant, or Python raises."""
        numbers = [self.numbers.get(a) for a in args]
        function = _UNARY.get(op) or _BINARY.get(op)
        if function is None or any(n is None for n in numbers):
            return None
        try:
            result = function(*numbers)  # pyright: ignore[reportArgumentType]  # None is excluded above
        except (ValueError, ZeroDivisionError, OverflowError):
            return None  # left to run time, which gives NaN or infinity as the hardware does
        return self.const(result)


def _add(b: Builder, x: int, y: int) -> int | None:
    """x + y: without zeros, as a double, as a difference, or as one choice of two."""
    if b._number(x) == 0.0:
        return y
    if b._number(y) == 0.0:
        return x
    if x == y:
        return b.emit("twice", x)
    if (negated := b._operand(y, "neg")) is not None:
        return b.emit("sub", x, negated)
    if (negated := b._operand(x, "neg")) is not None:
        return b.emit("sub", y, negated)
    return _choice(b, x, y) or _choice(b, y, x)


def _choice(b: Builder, x: int, y: int) -> int | None:
    """if_else_zero(c, a) + if_else_zero(!c, e) = select(c, a, e): the untaken branch's NaN stays out."""
    first, second = b.instructions[x], b.instructions[y]
    if first.op == second.op == "if_else_zero" and b._operand(second.args[0], "not") == first.args[0]:
        return b.emit("select", first.args[0], first.args[1], second.args[1])
    return None


def _sub(b: Builder, x: int, y: int) -> int | None:
    """x − y: without zeros, or as a sum; x − x stays, as NaN and infinity aren't 0."""
    if b._number(y) == 0.0:
        return x
    if b._number(x) == 0.0:
        return b.emit("neg", y)
    if (negated := b._operand(y, "neg")) is not None:
        return b.emit("add", x, negated)
    if (negated := b._operand(x, "neg")) is not None:
        return b.emit("neg", b.emit("add", negated, y))
    return None


def _mul(b: Builder, x: int, y: int) -> int | None:
    """x y: without ±1 and 2, as a square, signs outward, a quotient where a factor is a reciprocal."""
    if b._number(x) is not None:
        x, y = y, x
    factor = b._number(y)
    if factor is not None and factor in (1.0, -1.0, 2.0):
        return x if factor == 1.0 else b.emit("neg" if factor == -1.0 else "twice", x)
    if x == y:
        return b.emit("sq", x)
    minus_x, minus_y = b._operand(x, "neg"), b._operand(y, "neg")
    if factor is not None and minus_x is not None:
        return b.emit("mul", minus_x, b.const(-factor))
    if minus_x is not None and minus_y is not None:
        return b.emit("mul", minus_x, minus_y)
    if minus_x is not None:  # the sign moves outward, where a sum can take it up
        return b.emit("neg", b.emit("mul", minus_x, y))
    if minus_y is not None:
        return b.emit("neg", b.emit("mul", x, minus_y))
    if (divisor := b._operand(y, "inv")) is not None:
        return b.emit("div", x, divisor)
    if (divisor := b._operand(x, "inv")) is not None:
        return b.emit("div", y, divisor)
    return None


def _div(b: Builder, x: int, y: int) -> int | None:
    """x/y: a product where the reciprocal is exact, signs outward, a reciprocal where x is 1."""
    divisor = b._number(y)
    if divisor is not None and divisor != 0.0 and math.isfinite(divisor):
        mantissa, exponent = math.frexp(divisor)
        if abs(mantissa) == 0.5 and abs(exponent) < 1000:  # a power of two: the reciprocal is exact
            return b.emit("mul", x, b.const(1.0 / divisor))
    if b._number(x) == 1.0:
        return b.emit("inv", y)
    if (negated := b._operand(y, "neg")) is not None:
        return b.emit("neg", b.emit("div", x, negated))
    if (negated := b._operand(x, "neg")) is not None:
        return b.emit("neg", b.emit("div", negated, y))
    return None


def _neg(b: Builder, x: int) -> int | None:
    if (inner := b._operand(x, "neg")) is not None:
        return inner
    instruction = b.instructions[x]
    return b.emit("sub", *reversed(instruction.args)) if instruction.op == "sub" else None


def _even(op: str) -> Callable[[Builder, int], int | None]:
    """f(-x) = f(x)."""

    def rule(b: Builder, x: int) -> int | None:
        inner = b._operand(x, "neg")
        return None if inner is None else b.emit(op, inner)

    return rule


def _sin(b: Builder, x: int) -> int | None:
    inner = b._operand(x, "neg")
    return None if inner is None else b.emit("neg", b.emit("sin", inner))


def _pow(b: Builder, x: int, y: int) -> int | None:
    """Powers with small integer or half exponents become multiplications and square roots."""
    exponent = b._number(y)
    if exponent is None or abs(exponent) > 16 or not float(2 * exponent).is_integer():
        return None
    if exponent < 0:
        return b.emit("inv", b.emit("pow", x, b.const(-exponent)))
    whole = int(exponent)
    result = b.const(1.0) if exponent == whole else b.emit("sqrt", x)
    square = x
    while whole:
        if whole & 1:
            result = b.emit("mul", result, square)
        whole >>= 1
        if whole:
            square = b.emit("sq", square)
    return result


_RULES: dict[str, Callable[..., int | None]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "sin": _sin,
    "cos": _even("cos"),
    "abs": _even("abs"),
    "sq": _even("sq"),
    "pow": _pow,
}


def copied(builder: Builder, program: Program, load: Callable[[int, int], int]) -> list[int]:
    """The program's instructions put into a builder: inputs by ``load(group, element)``, operations simplified; the new
    values by old number.
    """
    values: list[int] = []
    for instruction in program.instructions:
        if instruction.op == "const":
            values.append(builder.const(instruction.value))
        elif instruction.op == "input":
            values.append(load(*instruction.source))
        else:
            values.append(builder.reapply(instruction, tuple([values[a] for a in instruction.args])))
    return values


def picked(results: Sequence[Sequence[int]], values: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Results by the new numbers of their values."""
    return tuple(tuple(values[v] for v in group) for group in results)


def simplify(program: Program) -> Program:
    """Value numbering, algebra, shared reciprocals, dead code out."""
    builder = Builder()
    results = picked(program.results, copied(builder, program, builder.load))
    made = replace(program, instructions=tuple(builder.instructions), results=results)
    return share_reciprocals(made)


def share_reciprocals(program: Program) -> Program:
    """Turn x/d into x*(1/d) for every d that is divided by more than once; dead code out."""
    alive = _alive(program, set())
    divisions = [i for i in program.instructions if i.op in ("div", "inv") and alive[i.out]]
    divisors = Counter(i.args[-1] for i in divisions)
    return _rewritten(program, {i.out for i in divisions if i.op == "div" and divisors[i.args[1]] > 1})


def only_output(program: Program, name: str) -> Program:
    """The program that computes output group ``name`` alone."""
    index = program.output_index(name)
    results, outputs = (program.results[index],), (program.outputs[index],)
    return without_dead(replace(program, outputs=outputs, results=results, function=None))


def only_outputs(program: Program, *names: str) -> Program:
    """The program that computes these output groups alone, of those that it has."""
    places = [place for name in names for place, group in enumerate(program.outputs) if group.name == name]
    outputs = tuple(program.outputs[place] for place in places)
    results = tuple(program.results[place] for place in places)
    return without_dead(replace(program, outputs=outputs, results=results, function=None))


def only_elements(program: Program, labels: Sequence[str]) -> Program:
    """The program that computes these elements of its last output group alone."""
    group, results = program.outputs[-1], program.results[-1]
    chosen = tuple(results[group.labels.index(label)] for label in labels)
    outputs = (Group(group.name, tuple(labels)),)
    return without_dead(replace(program, outputs=outputs, results=(chosen,), function=None))


def levels(program: Program, level: Callable[[tuple[int, int]], int]) -> list[int]:
    """By value, the highest level of the input elements that it depends on; numbers depend on none and have 0."""
    found: list[int] = []
    for op, _, args, _, source, _ in program.instructions:
        found.append(level(source) if op == "input" else max([found[a] for a in args], default=0))
    return found


def hoist_reciprocals(program: Program, level: Callable[[tuple[int, int]], int]) -> Program:
    """Turn x/d into x*(1/d) where d has a lower level than x, by those of the input elements that they depend on.

    Of what changes more seldom the reciprocal can then be computed once, before the loop in which it is fixed.
    """
    found = levels(program, level)
    divisions = (i for i in program.instructions if i.op == "div")
    return _rewritten(program, {i.out for i in divisions if found[i.args[1]] < found[i.args[0]]})


def without_dead(program: Program) -> Program:
    """The program without the instructions that no result needs."""
    return _rewritten(program, set())


def _rewritten(program: Program, products: set[int]) -> Program:
    """The program with x*(1/d) in place of the quotients x/d that have the values `products`; dead code out."""
    old = program.instructions
    divisors = {out: old[old[out].args[1]] for out in products}
    numbers = {out for out, d in divisors.items() if d.op == "const" and d.value}
    alive = _alive(program, numbers)
    if not products and all(alive):
        return program
    kept: list[Instruction] = []
    number: list[int] = [-1] * len(old)
    inverses: dict[int, int] = {}
    for op, out, args, value, source, table in old:
        if not alive[out]:
            continue
        if op == "inv" or out in products:
            if args[-1] not in inverses:
                inverses[args[-1]] = len(kept)
                if out in numbers:
                    kept.append(Instruction("const", len(kept), value=1.0 / divisors[out].value))
                else:
                    kept.append(Instruction("inv", len(kept), (number[args[-1]],)))
            if op == "inv":
                number[out] = inverses[args[0]]
                continue
            op, new = "mul", tuple(sorted((number[args[0]], inverses[args[1]])))
        else:
            new = tuple([number[a] for a in args])
        number[out] = len(kept)
        kept.append(Instruction(op, len(kept), new, value, source, table))
    return replace(program, instructions=tuple(kept), results=picked(program.results, number))


def _alive(program: Program, halves: set[int]) -> list[bool]:
    """By value, whether a result needs it; of those in `halves` the second operand isn't needed."""
    alive = [False] * len(program.instructions)
    for value in itertools.chain(*program.results):
        alive[value] = True
    for out in range(len(alive) - 1, -1, -1):
        if alive[out]:
            args = program.instructions[out].args
            for a in args[:1] if out in halves else args:
                alive[a] = True
    return alive
