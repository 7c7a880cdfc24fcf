"""What instructions compute, on arrays of the type that they name."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from tools.ptx.fused import fma
from tools.ptx.text import TYPES, Instruction, PTXError

Rule = Callable[..., NDArray]


def rule_of(instruction: Instruction) -> Rule:
    """What an instruction with operands of one type computes of them; PTXError where that isn't known."""
    name = instruction.op
    dtype = TYPES.get(instruction.type)
    further = [m for m in instruction.modifiers if m not in TYPES]
    if dtype is not None:
        if name == "setp" and len(further) == 1:
            return _compared(further[0], dtype)
        family = _FLOATS if dtype.kind == "f" else _PREDICATES if dtype.kind == "b" else _INTEGERS
        found = family.get(".".join([name, *further]))
        if found is not None:
            return found
    raise PTXError(f"unknown instruction: {instruction.text}")


def converted(instruction: Instruction, values: NDArray, to: np.dtype) -> NDArray:
    """`cvt`: between integers, with rounding to integers, and between floating-point numbers."""
    further = [m for m in instruction.modifiers if m not in TYPES]
    rounding = further[0] if len(further) == 1 else "" if not further else "?"
    if rounding in _WHOLE and values.dtype.kind == "f":
        values = _WHOLE[rounding](values)
        return values if to == values.dtype else _integers(values, to)
    widens = values.dtype.kind != "f" and to.kind != "f"
    widens |= values.dtype.kind == to.kind == "f" and to.itemsize > values.dtype.itemsize
    if (rounding == "rn" and to.kind == "f") or (rounding == "" and widens):
        return values.astype(to)
    raise PTXError(f"unknown instruction: {instruction.text}")


def _integers(values: NDArray, to: np.dtype) -> NDArray:
    """Whole numbers as integers: those that don't fit become the nearest that do, NaN as the PTX manual says."""
    if to.kind == "f":
        raise PTXError(f"no conversion from {values.dtype} by rounding to {to}")
    limits, bits = np.iinfo(to), 8 * to.itemsize
    low, high = values <= float(limits.min), values >= float(2.0 ** (bits - (to.kind == "i")))
    lost = np.isnan(values)
    found = np.where(low | high | lost, 0, values).astype(to)
    found[low], found[high] = limits.min, limits.max
    narrow = values.dtype.itemsize < 8 and bits < 64
    found[lost] = 0 if narrow else limits.min if to.kind == "i" else 1 << (bits - 1)
    return found


_WHOLE: dict[str, Rule] = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}


def _compared(how: str, dtype: np.dtype) -> Rule:
    """Comparisons; "…u" are those that are true where a number isn't one."""
    plain: dict[str, Rule] = {
        "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater,
        "ge": np.greater_equal,
    }  # fmt: skip
    if dtype.kind != "f":
        names = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}
        if names.get(how, how) in plain:
            return plain[names.get(how, how)]
    elif how in plain:
        found = plain[how]
        return lambda a, b: found(a, b) & ~_unordered(a, b)
    elif how[:-1] in plain and how.endswith("u"):
        found = plain[how[:-1]]
        return lambda a, b: found(a, b) | _unordered(a, b)
    elif how in ("nan", "num"):
        return _unordered if how == "nan" else lambda a, b: ~_unordered(a, b)
    raise PTXError(f"unknown comparison: {how}")


def _unordered(a: NDArray, b: NDArray) -> NDArray:
    return np.isnan(a) | np.isnan(b)


def _least(a: NDArray, b: NDArray) -> NDArray:
    """The smaller one, the number where one is NaN, and of zeros -0."""
    signed = np.where(np.signbit(a) | np.signbit(b), a.dtype.type(-0.0), a.dtype.type(0.0))
    return np.where((a == 0) & (b == 0), signed, np.fmin(a, b))


def _largest(a: NDArray, b: NDArray) -> NDArray:
    return -_least(-a, -b)


def _flipped(a: NDArray) -> NDArray:
    return -a


def _reciprocal(a: NDArray) -> NDArray:
    return a.dtype.type(1) / a


def _shifted_left(a: NDArray, by: NDArray) -> NDArray:
    bits = 8 * a.dtype.itemsize
    return np.where(by >= bits, a.dtype.type(0), np.left_shift(a, np.minimum(by, bits - 1).astype(a.dtype)))


def _shifted_right(a: NDArray, by: NDArray) -> NDArray:
    """By more than there are bits: nothing, or the sign alone, is left."""
    bits = 8 * a.dtype.itemsize
    shifted = np.right_shift(a, np.minimum(by, bits - 1).astype(a.dtype))
    return shifted if a.dtype.kind == "i" else np.where(by >= bits, a.dtype.type(0), shifted)


def _wide(a: NDArray, b: NDArray) -> NDArray:
    twice = np.dtype(f"{a.dtype.kind}{2 * a.dtype.itemsize}")
    return a.astype(twice) * b.astype(twice)


def _high(a: NDArray, b: NDArray) -> NDArray:
    """The upper half of a product; that of 64 bits by Python's integers."""
    bits = 8 * a.dtype.itemsize
    if bits < 64:
        return (_wide(a, b) >> bits).astype(a.dtype)
    pairs = np.broadcast_arrays(a, b)
    products = [int(x) * int(y) >> bits for x, y in zip(*pairs, strict=True)]
    return np.array(products, dtype=a.dtype)


def _quotient(a: NDArray, b: NDArray) -> NDArray:
    """Towards zero."""
    sign = np.sign(a) * np.sign(b) if a.dtype.kind == "i" else a.dtype.type(1)
    return (np.abs(a) // np.abs(b) * sign).astype(a.dtype)


def _finite(a: NDArray) -> NDArray:
    return np.isfinite(a)


def _chosen(a: NDArray, b: NDArray, p: NDArray) -> NDArray:
    return np.where(p, a, b)


# Sums and products that don't say how they are rounded may be fused by the assembler, so they are none of these.
_FLOATS: dict[str, Rule] = {
    "add.rn": np.add, "sub.rn": np.subtract, "mul.rn": np.multiply,
    "fma.rn": fma, "div.rn": np.divide, "rcp.rn": _reciprocal, "sqrt.rn": np.sqrt, "neg": _flipped, "abs": np.abs,
    "min": _least, "max": _largest, "copysign": lambda sign, value: np.copysign(value, sign), "mov": np.copy,
    "selp": _chosen, "testp.finite": _finite, "testp.infinite": np.isinf, "testp.notanumber": np.isnan,
}  # fmt: skip

_INTEGERS: dict[str, Rule] = {
    "add": np.add, "sub": np.subtract, "mul.lo": np.multiply, "mul.wide": _wide, "mul.hi": _high,
    "mad.lo": lambda a, b, c: a * b + c, "mad.wide": lambda a, b, c: _wide(a, b) + c, "div": _quotient,
    "rem": lambda a, b: a - _quotient(a, b) * b, "neg": _flipped, "abs": np.abs, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "not": np.invert,
    "shl": _shifted_left, "shr": _shifted_right, "mov": np.copy, "selp": _chosen,
}  # fmt: skip

_PREDICATES: dict[str, Rule] = {
    "and": np.logical_and, "or": np.logical_or, "xor": np.logical_xor, "not": np.logical_not, "mov": np.copy,
}  # fmt: skip
