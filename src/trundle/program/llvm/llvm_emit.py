"""LLVM expressions for the operations of a program, on vectors of lanes or on scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trundle.errors import TrundleError
from trundle.program.ir import Instruction
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
        if op in _ARITHMETIC:
            first = args[:1] * 2 if op in ("sq", "twice") else args
            return self.code.new(f"{_ARITHMETIC[op]} {FAST} {self.code.type(lanes)} {', '.join(first)}")
        if op in _INTRINSICS:
            return self.code.call(
                f"llvm.{_INTRINSICS[op]}.{self.code.suffix(lanes)}", self.code.type(lanes), *args, flags=FAST
            )
        if op in _COMPARISONS:
            return self._logical(
                f"fcmp {_COMPARISONS[op]} {self.code.type(lanes)} {args[0]}, {args[1]}", lanes
            )
        if op in _C_FUNCTIONS:
            if self.code.device:
                return library_call(self.code, op, lanes, *args)
            return self._per_lane(op, args, lanes)
        if op in _SPECIAL:
            return _SPECIAL[op](self, lanes, *args)
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
            code, t, bits = self.code, self.code.type(lanes), type_of(lanes, "i1")
            for relation, bound in (("ogt", 0.0), ("olt", float(table.last))):
                edge = self.code.constant(bound, lanes)
                inside = code.new(f"fcmp {relation} {t} {index}, {edge}")
                index = code.new(f"select {bits} {inside}, {t} {index}, {t} {edge}")
            known = code.new(f"fptosi {t} {index} to {type_of(lanes, 'i32')}")
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

    def _logical(self, condition: str, lanes: int) -> str:
        """A condition as the number 1 or 0; the bit itself is kept for whoever asks for it."""
        bit = self.code.new(condition)
        one, zero = self.code.constant(1.0, lanes), self.code.constant(0.0, lanes)
        name = self.code.new(
            f"select {type_of(lanes, 'i1')} {bit}, {self.code.type(lanes)} {one}, {self.code.type(lanes)} {zero}"
        )
        self._truths[name] = bit
        return name

    def truth(self, name: str, lanes: int) -> str:
        """Whether a number is not zero, as a bit."""
        if name not in self._truths:
            zero = self.code.constant(0.0, lanes)
            self._truths[name] = self.code.new(f"fcmp une {self.code.type(lanes)} {name}, {zero}")
        return self._truths[name]

    def angle(self, x: str, lanes: int) -> Reduced:
        """The reduced angle, shared by sin and cos of the same value."""
        if x not in self._angles:
            self._angles[x] = reduce_angle(self.code, x, lanes, self.fused)
        return self._angles[x]

    def sine(self, x: str, lanes: int) -> str:
        """Sin x, and of what it is one."""
        name = sine(self.code, self.angle(x, lanes), lanes)
        self._sines[name] = x
        return name

    def cosine(self, x: str, lanes: int) -> str:
        """Cos x, and of what it is one."""
        name = cosine(self.code, self.angle(x, lanes), lanes)
        self._cosines[name] = x
        return name

    def angle_of(self, y: str, x: str, lanes: int) -> str:
        """The angle of the point (x, y): of (cos a, sin a) it is a without its whole turns, which needs no quotient."""
        turned = self._sines.get(y)
        if turned is not None and turned == self._cosines.get(x):
            return within_half_a_turn(self.code, turned, lanes, self.fused)
        return arctangent(self.code, lanes, y, x)


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


def _select(e: Emitter, lanes: int, condition: str, x: str, y: str) -> str:
    bit, t = e.truth(condition, lanes), e.code.type(lanes)
    return e.code.new(f"select {type_of(lanes, 'i1')} {bit}, {t} {x}, {t} {y}")


def _extreme(predicate: str) -> Callable[[Emitter, int, str, str], str]:
    """min or max that gives NaN if either argument is NaN, so that a clamp does not hide one."""

    def emit(e: Emitter, lanes: int, x: str, y: str) -> str:
        t, bits = e.code.type(lanes), type_of(lanes, "i1")
        if not y.startswith("%"):
            x, y = y, x
        least = e.code.new(f"select {bits} {e.code.new(f'fcmp {predicate} {t} {x}, {y}')}, {t} {x}, {t} {y}")
        if not x.startswith("%"):
            return least  # a constant is no NaN, and a NaN in y came through
        unordered = e.code.new(f"fcmp uno {t} {x}, {x}")
        return e.code.new(f"select {bits} {unordered}, {t} {x}, {t} {least}")

    return emit


def _sign(e: Emitter, lanes: int, x: str) -> str:
    t, bits = e.code.type(lanes), type_of(lanes, "i1")
    below = e.code.new(f"fcmp olt {t} {x}, {e.code.constant(0.0, lanes)}")
    above = e.code.new(f"fcmp ogt {t} {x}, {e.code.constant(0.0, lanes)}")
    rest = e.code.new(f"select {bits} {above}, {t} {e.code.constant(1.0, lanes)}, {t} {x}")
    return e.code.new(f"select {bits} {below}, {t} {e.code.constant(-1.0, lanes)}, {t} {rest}")


def _both(op: str) -> Callable[[Emitter, int, str, str], str]:
    def emit(e: Emitter, lanes: int, x: str, y: str) -> str:
        return e._logical(f"{op} {type_of(lanes, 'i1')} {e.truth(x, lanes)}, {e.truth(y, lanes)}", lanes)

    return emit


def _not(e: Emitter, lanes: int, x: str) -> str:
    return e._logical(f"fcmp oeq {e.code.type(lanes)} {x}, {e.code.constant(0.0, lanes)}", lanes)


def _inverse(e: Emitter, lanes: int, x: str) -> str:
    return e.code.new(f"fdiv {FAST} {e.code.type(lanes)} {e.code.constant(1.0, lanes)}, {x}")


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
    "sin": lambda e, lanes, x: e.sine(x, lanes),
    "cos": lambda e, lanes, x: e.cosine(x, lanes),
    "tan": lambda e, lanes, x: tangent(e.code, e.angle(x, lanes), lanes),
    "exp": lambda e, lanes, x: exponential(e.code, lanes, x),
    "expm1": lambda e, lanes, x: expm1(e.code, lanes, x),
    "tanh": lambda e, lanes, x: hyperbolic_tangent(e.code, lanes, x),
    "atan": lambda e, lanes, x: arctangent(e.code, lanes, x, e.code.constant(1.0, lanes)),
    "atan2": lambda e, lanes, y, x: e.angle_of(y, x, lanes),
    "inv": _inverse,
    "hypot": lambda e, lanes, x, y: hypotenuse(e.code, lanes, x, y),
    "sign": _sign,
    "min": _extreme("olt"),
    "max": _extreme("ogt"),
    "select": _select,
    "if_else_zero": lambda e, lanes, c, x: _select(e, lanes, c, x, e.code.constant(0.0, lanes)),
    "and": _both("and"),
    "or": _both("or"),
    "not": _not,
}
