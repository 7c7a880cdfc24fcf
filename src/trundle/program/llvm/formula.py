"""Formulas on vectors of lanes in strict arithmetic: every operation rounds as IEEE 754 says, none are reordered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trundle.program.llvm.jit import Code, type_of
from trundle.program.llvm.real import FunctionCoefficients

Pair = tuple[str, str]
"""A number in two parts, the second one less than a unit in the last place of the first."""


@dataclass(frozen=True)
class Formula:
    """Writes operations into code by the names of their operands; numbers may stand among these."""

    code: Code
    width: int

    @property
    def coefficients(self) -> FunctionCoefficients:
        """Coefficients of functions of such numbers."""
        return self.code.real.functions

    def name(self, value: str | float) -> str:
        """A value's name, or a constant in every lane."""
        return value if isinstance(value, str) else self.code.constant(value, self.width)

    def op(self, op: str, *operands: str | float) -> str:
        """An operation by LLVM's name, with flags that loosen it: "fmul contract"."""
        return self.code.new(f"{op} {self.code.type(self.width)} {', '.join(map(self.name, operands))}")

    def add(self, a: str | float, b: str | float) -> str:
        """Return a + b."""
        return self.op("fadd", a, b)

    def sub(self, a: str | float, b: str | float) -> str:
        """Return a − b."""
        return self.op("fsub", a, b)

    def mul(self, a: str | float, b: str | float) -> str:
        """Return a b."""
        return self.op("fmul", a, b)

    def div(self, a: str | float, b: str | float) -> str:
        """Return a/b."""
        return self.op("fdiv", a, b)

    def minus(self, a: str) -> str:
        """Return −a."""
        return self.op("fneg", a)

    def call(self, intrinsic: str, *operands: str | float, flags: str = "") -> str:
        """One of LLVM's functions of numbers: "fma", "sqrt", "fabs", "floor", "copysign"."""
        t, name = self.code.type(self.width), f"llvm.{intrinsic}.{self.code.suffix(self.width)}"
        return self.code.call(name, t, *map(self.name, operands), flags=flags)

    def fma(self, a: str | float, b: str | float, c: str | float) -> str:
        """Return a b + c, rounded once."""
        return self.call("fma", a, b, c)

    def fused(self, a: str | float, b: str | float, c: str | float) -> str:
        """Return a b + c, rounded once where the hardware can."""
        return self.call("fmuladd", a, b, c)

    def polynomial(self, z: str, coefficients: Sequence[float], step: str = "fma") -> str:
        """c0 + c1 z + c2 z² + …, by Horner's rule with "fma" or "fmuladd"."""
        value = self.name(coefficients[-1])
        for each in reversed(coefficients[:-1]):
            value = self.call(step, value, z, each)
        return value

    # Choices.

    def test(self, relation: str, a: str | float, b: str | float) -> str:
        """A comparison by LLVM's name: "olt" is a < b and neither is NaN, "uno" that one is."""
        return self.op(f"fcmp {relation}", a, b)

    def pick(self, condition: str, a: str | float, b: str | float) -> str:
        """Return a where the condition holds, else b."""
        t, bits = self.code.type(self.width), type_of(self.width, "i1")
        return self.code.new(f"select {bits} {condition}, {t} {self.name(a)}, {t} {self.name(b)}")

    def both(self, a: str, b: str) -> str:
        """Whether both conditions hold."""
        return self.code.new(f"and {type_of(self.width, 'i1')} {a}, {b}")

    # Integers of the same size.

    def bits(self, x: str) -> str:
        """A number's bits."""
        return self.code.new(f"bitcast {self.code.type(self.width)} {x} to {self.code.word(self.width)}")

    def of_bits(self, word: str) -> str:
        """The number with such bits."""
        return self.code.new(f"bitcast {self.code.word(self.width)} {word} to {self.code.type(self.width)}")

    def whole(self, op: str, a: str, b: str | int) -> str:
        """An operation on integers by LLVM's name: "add", "sub", "and", "shl", "ashr", "icmp slt"."""
        other = b if isinstance(b, str) else self.code.integer(b, self.width)
        return self.code.new(f"{op} {self.code.word(self.width)} {a}, {other}")

    def real(self, whole: str) -> str:
        """An integer as a number."""
        words, t = self.code.word(self.width), self.code.type(self.width)
        return self.code.new(f"sitofp {words} {whole} to {t}")

    # Numbers in two parts (Dekker 1971; Knuth, The Art of Computer Programming 2, sec. 4.2.2).

    def two_sum(self, a: str | float, b: str | float) -> Pair:
        """Return a + b without an error, where |a| ≥ |b| or a is 0."""
        total = self.add(a, b)
        return total, self.sub(b, self.sub(total, a))

    def two_product(self, a: str, b: str) -> Pair:
        """Return a b without an error."""
        product = self.mul(a, b)
        return product, self.fma(a, b, self.minus(product))
