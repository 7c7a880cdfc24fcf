"""Kinds of real numbers that code computes with: what LLVM calls them, how their bits are laid out, their functions'
coefficients.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray


@dataclass(frozen=True)
class FunctionCoefficients:
    """Polynomials, the first coefficient first; constants in parts, the largest first; bounds beyond which results are
    known.
    """

    sin: Sequence[float]
    cos: Sequence[float]
    half_pi_fused: Sequence[float]
    half_pi_short: Sequence[float]
    expm1: Sequence[float]
    ln2: Sequence[float]
    highest: float
    lowest: float
    saturation: float
    atan: Sequence[float]
    log: Sequence[float]
    power: Sequence[float]
    arcsine: Sequence[float]
    erf: Sequence[float]
    erfc: Sequence[float]
    third: Sequence[float]
    half_pi: Sequence[float]
    furthest: float


@dataclass(frozen=True)
class RealFormat:
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

    @cached_property
    def functions(self) -> FunctionCoefficients:
        """Coefficients of their functions."""
        text = files("trundle.program.llvm").joinpath("coefficients.toml").read_text(encoding="utf-8")
        return FunctionCoefficients(**tomllib.loads(text)["double" if self is DOUBLE else "single"])

    def number(self, value: float) -> str:
        """A constant as LLVM text, rounded to the nearest such number; LLVM writes all formats as doubles."""
        return f"0x{self._words(np.array([value])).tobytes().hex().upper()}"

    def elements(self, values: FloatArray) -> str:
        """Constants (n,) with their type, as the elements of an array in LLVM text: a map has hundreds of thousands."""
        digits = np.frombuffer(self._words(values).tobytes().hex().upper().encode(), np.uint8)
        before, behind = (np.frombuffer(text.encode(), np.uint8) for text in (f"{self.name} 0x", ", "))
        rows = np.empty((len(values), len(before) + 16 + len(behind)), np.uint8)
        rows[:, : len(before)] = before
        rows[:, len(before) : -len(behind)] = digits.reshape(-1, 16)
        rows[:, -len(behind) :] = behind
        return rows.tobytes().decode()[: -len(behind)]

    def _words(self, values: FloatArray) -> npt.NDArray[np.uint64]:
        """The nearest such numbers as doubles' bits, the highest first."""
        with np.errstate(over="ignore", under="ignore"):
            near = values.astype(self.dtype).astype(np.float64)
        return near.view(np.uint64).astype(">u8")


DOUBLE = RealFormat("double", "f64", "i64", 64, 52)
SINGLE = RealFormat("float", "f32", "i32", 32, 23)
