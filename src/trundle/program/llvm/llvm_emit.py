"""LLVM expressions for the operations of a program, on vectors of lanes or on scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trundle.errors import TrundleError
from trundle.program.ir import Instruction
from trundle.program.llvm.formula import Formula
from trundle.program.llvm.jit import FAST, Code, load, suffix, type_of
from trundle.program.llvm.llvm_library import library_call
from trundle.program.llvm.llvm_math import (
    Reduced,
    arctangent,
    cosine,
    expm1,
    exponential,
    hyperbolic_tangent,
    hypotenuse,
    reduce_angle,
    sine,
    tangent,
    within_half_a_turn,
)

if TYPE_CHECKING:
    from trundle.tables import Table


@dataclass(frozen=True)
class Emitted:
    """A value's LLVM names: as a scalar if all lanes share it (``lanes == 1``), as a vector where one was made."""

    name: str
    lanes: int
    vector: str = ""


@dataclass
class Emitter:
    """Emits instructions in straight order into ``code``; ``values`` maps program values to LLVM names."""

    code: Code
    fused: bool
    values: dict[int, Emitted] = field(default_factory=dict)
    _angles: dict[str, Reduced] = field(default_factory=dict)
    _truths: dict[str, str] = field(default_factory=dict)
    _sines: dict[str, str] = field(default_factory=dict)
    _cosines: dict[str, str] = field(default_factory=dict)
    _indices: dict[tuple[str, int], str] = field(default_factory=dict)

    def define(self, out: int, name: str, lanes: int, *, spread: bool = False) -> None:
        """Record the name of a value; with ``spread`` a scalar gets its vector here, outside of the loops to come."""
        vector = self.code.splat(name) if spread and lanes == 1 else ""
        self.values[out] = Emitted(name, lanes, vector)

    def emit(self, instructions: Iterable[Instruction], wide: set[int], spread: set[int]) -> None:
        """Emit ``instructions`` here; those in ``wide`` as vectors, scalars in ``spread`` with their vector."""
        for i in instructions:
            if i.op == "const":
                vector = self.code.constant(i.value, self.code.width)
                self.values[i.out] = Emitted(self.code.constant(i.value, 1), 1, vector)
                continue
            lanes = self.code.width if i.out in wide else 1
            args = [self.operand(a, lanes) for a in i.args]
            if i.table is not None:
                name = self.lookup(i.table, int(i.value), args[0], lanes)
            else:
                name = self.operation(i.op, args, lanes)
            self.define(i.out, name, lanes, spread=i.out in spread)

    def settle(self) -> None:
        """Make ready for a loop to come; here values have names, which loops see."""

    def finish(self) -> None:
        """Write what is known at the end only."""

    def operand(self, value: int, lanes: int) -> str:
        """The name of ``value`` as an operand of an instruction on ``lanes`` lanes."""
        known = self.values[value]
        if known.lanes == lanes:
            return known.name
        return known.vector or self.code.splat(known.name)

    def operation(self, op: str, args: list[str], lanes: int) -> str:
        """Emit one operation."""
        w = Formula(self.code, lanes)
        if op in _ARITHMETIC:
            first = args[:1] * 2 if op in ("sq", "twice") else args
            return w.op(f"{_ARITHMETIC[op]} {FAST}", *first)
        if op in _INTRINSICS:
            return w.call(_INTRINSICS[op], *args, flags=FAST)
        if op in _COMPARISONS:
            return self.number(w, w.test(_COMPARISONS[op], *args))
        if op in _C_FUNCTIONS:
            if self.code.device:
                return library_call(self.code, op, lanes, *args)
            return self._per_lane(op, args, lanes)
        if op in _SPECIAL:
            return _SPECIAL[op](self, w, *args)
        raise TrundleError(f"the LLVM kernels do not have the operation '{op}'")

    def lookup(self, table: Table, place: int, index: str, lanes: int) -> str:
        """A table's element, so many places behind an index, which need not be the same in all lanes."""
        code, t = self.code, self.code.type(lanes)
        at = self._index(table, index, lanes)
        where = code.new(
            f"getelementptr {code.real.name}, ptr {_place(code, table, place)}, {type_of(lanes, 'i32')} {at}"
        )
        if lanes == 1:
            return load(code, where, 1)
        pointers, bits = type_of(lanes, "ptr"), type_of(lanes, "i1")
        name = f"llvm.masked.gather.{self.code.suffix(lanes)}.{suffix(lanes, 'p0')}"
        # with the alignment as an argument, as for masked loads
        code.declare(name, t, pointers, "i32", bits, t)
        return code.new(
            f"call {t} @{name}({pointers} {where}, i32 {code.real.bytes}, {bits} splat (i1 true), "
            f"{t} zeroinitializer)"
        )

    def _index(self, table: Table, index: str, lanes: int) -> str:
        """An index as an integer within the table; what is no number is 0."""
        key = index, table.last
        known = self._indices.get(key)
        if known is None:
            w = Formula(self.code, lanes)
            for relation, bound in (("ogt", 0.0), ("olt", float(table.last))):
                index = w.pick(w.test(relation, index, bound), index, bound)
            known = self.code.new(f"fptosi {self.code.type(lanes)} {index} to {type_of(lanes, 'i32')}")
            self._indices[key] = known
        return known

    def _per_lane(self, function: str, args: list[str], lanes: int) -> str:
        """Call a function of the C library once a lane."""
        code = self.code
        code.symbols.add(function)
        if lanes == 1:
            return code.call(function, "double", *args)
        t, result = self.code.type(lanes), "poison"
        for k in range(lanes):
            scalars = [code.new(f"extractelement {t} {a}, i64 {k}") for a in args]
            value = code.call(function, "double", *scalars)
            result = code.new(f"insertelement {t} {result}, double {value}, i64 {k}")
        return result

    def number(self, w: Formula, bit: str) -> str:
        """A condition as the number 1 or 0; the bit itself is kept for whoever asks for it."""
        name = w.pick(bit, 1.0, 0.0)
        self._truths[name] = bit
        return name

    def truth(self, w: Formula, name: str) -> str:
        """Whether a number is not zero, as a bit."""
        if name not in self._truths:
            self._truths[name] = w.test("une", name, 0.0)
        return self._truths[name]

    def angle(self, w: Formula, x: str) -> Reduced:
        """The reduced angle, shared by sin and cos of the same value."""
        if x not in self._angles:
            self._angles[x] = reduce_angle(w, x, self.fused)
        return self._angles[x]

    def sine(self, w: Formula, x: str) -> str:
        """Sin x, and of what it is one."""
        name = sine(w, self.angle(w, x))
        self._sines[name] = x
        return name

    def cosine(self, w: Formula, x: str) -> str:
        """Cos x, and of what it is one."""
        name = cosine(w, self.angle(w, x))
        self._cosines[name] = x
        return name

    def angle_of(self, w: Formula, y: str, x: str) -> str:
        """The angle of the point (x, y): of (cos a, sin a) it is a without its whole turns, which needs no quotient."""
        turned = self._sines.get(y)
        if turned is not None and turned == self._cosines.get(x):
            return within_half_a_turn(w, turned, self.fused)
        return arctangent(w, y, x)


def _place(code: Code, table: Table, place: int) -> str:
    """Where a table's numbers are, from a place on: in this process, or in the module itself."""
    if not code.device:
        code.kept.append(table)
        return f"inttoptr (i64 {table.values.ctypes.data + 8 * place} to ptr)"
    real, name = code.real, f"table.{table.digest}"
    kind = f"[{table.values.size} x {real.name}]"
    if name not in code.arrays:
        elements = real.elements(table.values)
        code.arrays[name] = (
            f"@{name} = internal addrspace(1) constant {kind} [{elements}], align {real.bytes}"
        )
    return f"getelementptr ({real.name}, ptr addrspacecast (ptr addrspace(1) @{name} to ptr), i64 {place})"


def _select(e: Emitter, w: Formula, condition: str, x: str, y: str | float) -> str:
    return w.pick(e.truth(w, condition), x, y)


def _extreme(relation: str) -> Callable[[Emitter, Formula, str, str], str]:
    """min or max that gives NaN if either argument is NaN, so that a clamp does not hide one."""

    def emit(_: Emitter, w: Formula, x: str, y: str) -> str:
        if not y.startswith("%"):
            x, y = y, x
        least = w.pick(w.test(relation, x, y), x, y)
        if not x.startswith("%"):
            return least  # a constant is no NaN, and a NaN in y came through
        return w.pick(w.test("uno", x, x), x, least)

    return emit


def _sign(_: Emitter, w: Formula, x: str) -> str:
    below, above = w.test("olt", x, 0.0), w.test("ogt", x, 0.0)
    return w.pick(below, -1.0, w.pick(above, 1.0, x))


def _both(op: str) -> Callable[[Emitter, Formula, str, str], str]:
    def emit(e: Emitter, w: Formula, x: str, y: str) -> str:
        first, second = e.truth(w, x), e.truth(w, y)
        return e.number(w, w.code.new(f"{op} {type_of(w.width, 'i1')} {first}, {second}"))

    return emit


_ARITHMETIC = {
    "add": "fadd", "sub": "fsub", "mul": "fmul", "div": "fdiv", "neg": "fneg", "sq": "fmul", "twice": "fadd",
}  # fmt: skip
_INTRINSICS = {"sqrt": "sqrt", "abs": "fabs", "floor": "floor", "ceil": "ceil", "copysign": "copysign"}
_COMPARISONS = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}
_C_FUNCTIONS = {
    "log", "pow", "asin", "acos", "sinh", "cosh", "asinh", "acosh", "atanh",
    "erf", "log1p", "fmod", "remainder",
}  # fmt: skip
_SPECIAL: dict[str, Callable[..., str]] = {
    "sin": lambda e, w, x: e.sine(w, x),
    "cos": lambda e, w, x: e.cosine(w, x),
    "tan": lambda e, w, x: tangent(w, e.angle(w, x)),
    "exp": lambda e, w, x: exponential(w, x),
    "expm1": lambda e, w, x: expm1(w, x),
    "tanh": lambda e, w, x: hyperbolic_tangent(w, x),
    "atan": lambda e, w, x: arctangent(w, x, 1.0),
    "atan2": lambda e, w, y, x: e.angle_of(w, y, x),
    "inv": lambda e, w, x: w.op(f"fdiv {FAST}", 1.0, x),
    "hypot": lambda e, w, x, y: hypotenuse(w, x, y),
    "sign": _sign,
    "min": _extreme("olt"),
    "max": _extreme("ogt"),
    "select": _select,
    "if_else_zero": lambda e, w, c, x: _select(e, w, c, x, 0.0),
    "and": _both("and"),
    "or": _both("or"),
    "not": lambda e, w, x: e.number(w, w.test("oeq", x, 0.0)),
}
