"""Exact numbers: what a float stands for, where it stands for a short fraction or a square root."""

from __future__ import annotations

import math
from fractions import Fraction

Exact = int | Fraction

# Floats this near a short fraction (relatively) are that fraction: rounding of a few operations, far below any figure
# that a person writes.
_NEAR = 1e-14
_LONGEST = 1000


def tidy(value: Exact) -> Exact:
    """A whole number as an int: arithmetic on ints is ten times as fast."""
    return value.numerator if isinstance(value, Fraction) and value.denominator == 1 else value


def half(value: Exact) -> Exact:
    """value / 2."""
    if isinstance(value, int) and value % 2 == 0:
        return value // 2
    return Fraction(value) / 2


def exact(number: float) -> tuple[Exact, int]:
    """(a, n) with number = a √n: n = 1 for what is a short fraction or a decimal, else a square-free whole number.

    0.5000000000000001 is 1/2 and 0.8660254037844386 is √3/2; 0.1234 stays what was written.
    """
    if isinstance(number, int) or float(number).is_integer():
        return int(number), 1
    near = _short(number)
    if near is not None:
        return near, 1
    square = _short(number * number)
    if square is None or square == 0:
        return Fraction(repr(float(number))), 1
    root, rest = _root(square.numerator * square.denominator)
    return tidy(Fraction(int(math.copysign(root, number)), square.denominator)), rest


def _short(number: float) -> Fraction | None:
    near = Fraction(number).limit_denominator(_LONGEST)
    return near if near and abs(float(near) - number) <= _NEAR * abs(number) else None


def _root(number: int) -> tuple[int, int]:
    """(a, n) with √number = a √n and n square-free."""
    outside, inside, factor = 1, number, 2
    while factor * factor <= inside:
        while inside % (factor * factor) == 0:
            inside //= factor * factor
            outside *= factor
        factor += 1
    return outside, inside
