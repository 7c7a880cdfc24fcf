"""Kinds of real numbers that code computes with: what LLVM calls them, and how their bits are laid out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray


@dataclass(frozen=True)
class Real:
    """A binary format of IEEE 754: LLVM's name, the name inside intrinsics, the integer of the same size; bits in all,
    bits of the fraction.
    """

    name: str
    suffix: str
    word: str
    bits: int
    fraction: int

    @property
    def bias(self) -> int:
        """What is added to exponents."""
        return 2 ** (self.bits - self.fraction - 2) - 1

    @property
    def bytes(self) -> int:
        """Bytes of a number, and its alignment."""
        return self.bits // 8

    @property
    def sign_bit(self) -> int:
        """A word's highest bit, a number's sign: by exclusive or it changes a sign without arithmetic."""
        return -(2 ** (self.bits - 1))

    @property
    def shift(self) -> float:
        """Adding it leaves the nearest integer in a number's low bits: no conversion that NaN could poison."""
        return 1.5 * 2.0**self.fraction

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """NumPy's type of such numbers."""
        return np.dtype(f"f{self.bytes}")

    def number(self, value: float) -> str:
        """A constant as LLVM text, rounded to the nearest such number; LLVM writes all formats as doubles."""
        return self.numbers(np.array([value]))[0]

    def numbers(self, values: FloatArray) -> list[str]:
        """Constants (n,) as LLVM text, likewise: a map has hundreds of thousands."""
        with np.errstate(over="ignore", under="ignore"):
            near = values.astype(self.dtype).astype(np.float64)
        return [f"0x{word:016X}" for word in near.view(np.uint64).tolist()]


DOUBLE = Real("double", "f64", "i64", 64, 52)
SINGLE = Real("float", "f32", "i32", 32, 23)
