"""Sine and cosine as branch-free vector code.

x is reduced to r = x - q*pi/2 with pi/2 in three parts (Cody and Waite), then sin r and cos r are polynomials on
[-pi/4, pi/4] and the quadrant q picks and signs them. The polynomials interpolate
    (sin(sqrt z)/sqrt z - 1)/z   and   (cos(sqrt z) - 1 + z/2)/z^2
at six Chebyshev nodes of [0, (pi/4)^2] (errors 2.0e-17 and 8.7e-19 before rounding).
Measured within 1.4 ulp for |x| <= 1e5, and to 1e13 where multiply-add is fused; NaN and infinity give NaN. Beyond
2^51 or so the result is meaningless.
"""

from __future__ import annotations

from dataclasses import dataclass

from trundle.program.llvm.llvm_code import FAST, Code, constant, integer, suffix, type_of

SIN = (
    -0.16666666666666666, 0.008333333333330946, -0.0001984126983675497,
    2.755731610068303e-06, -2.5051131455427946e-08, 1.591810123027412e-10,
)  # fmt: skip
COS = (
    0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-05,
    -2.7557317270560326e-07, 2.0876146024689747e-09, -1.1382614868556325e-11,
)  # fmt: skip
HALF_PI_FUSED = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
HALF_PI_SHORT = (
    1.5707963267341256,
    6.077100506303966e-11,
    2.0222662487959506e-21,
)  # 33 bits: q*part is exact
TWO_OVER_PI = 0.6366197723675814
"""x times it, rounded, is the quadrant; an angle close to a border may get either, which the polynomials bear."""
SHIFT = 1.5 * 2.0**52
"""Adding it leaves the nearest integer in a double's low bits: no conversion that NaN could poison."""
SIGN_BIT = -(2**63)
"""The highest bit of a word, which is a double's sign: by exclusive or it changes a sign without arithmetic."""


@dataclass(frozen=True)
class Reduced:
    """What sin x and cos x share: sin r and cos r, whether the two change places, and as sign bits of integers: x is in
    an odd quadrant (`odd`), or in quadrant 2 or 3 (`lower`).
    """

    sin: str
    cos: str
    swap: str
    odd: str
    lower: str


def reduce_angle(code: Code, x: str, width: int, has_fma: bool) -> Reduced:
    """Emit the common part of sin and cos of ``x``; ``has_fma``: multiply-add rounds once on this machine."""
    t, i = type_of(width), type_of(width, "i64")
    # strict order from here to r: `contract` may fuse but nothing may be reassociated
    scaled = code.new(f"fmul contract {t} {x}, {constant(TWO_OVER_PI, width)}")
    shifted = code.new(f"fadd contract {t} {scaled}, {constant(SHIFT, width)}")
    minus_q = code.new(f"fsub {t} {constant(SHIFT, width)}, {shifted}")
    r = x
    for part in HALF_PI_FUSED if has_fma else HALF_PI_SHORT:
        r = fused(code, width, minus_q, constant(part, width), r)
    quadrant = code.new(f"bitcast {t} {shifted} to {i}")
    odd = code.new(f"shl {i} {quadrant}, {integer(63, width)}")  # bit 0 becomes the sign bit
    swap = code.new(f"icmp slt {i} {odd}, {integer(0, width)}")
    high = code.new(f"shl {i} {quadrant}, {integer(62, width)}")  # bit 1 does
    lower = code.new(f"and {i} {high}, {integer(SIGN_BIT, width)}")
    z = code.new(f"fmul {t} {r}, {r}")
    rz = code.new(f"fmul {t} {r}, {z}")
    sin = fused(code, width, rz, polynomial(code, width, z, SIN), r)
    tail = fused(code, width, z, polynomial(code, width, z, COS), constant(-0.5, width))
    cos = fused(code, width, z, tail, constant(1.0, width))
    return Reduced(sin, cos, swap, odd, lower)


def sine(code: Code, angle: Reduced, width: int) -> str:
    """sin x: negative in the quadrants 2 and 3."""
    return _pick(code, angle, width, angle.cos, angle.sin, angle.lower)


def cosine(code: Code, angle: Reduced, width: int) -> str:
    """cos x: negative in the quadrants 1 and 2, which one of the two signs is set for."""
    sign = code.new(f"xor {type_of(width, 'i64')} {angle.lower}, {angle.odd}")
    return _pick(code, angle, width, angle.sin, angle.cos, sign)


def _pick(code: Code, angle: Reduced, width: int, if_swapped: str, otherwise: str, sign: str) -> str:
    t, i = type_of(width), type_of(width, "i64")
    chosen = code.new(f"select {type_of(width, 'i1')} {angle.swap}, {t} {if_swapped}, {t} {otherwise}")
    signed = code.new(f"xor {i} {code.new(f'bitcast {t} {chosen} to {i}')}, {sign}")
    return code.new(f"bitcast {i} {signed} to {t}")


def polynomial(code: Code, width: int, z: str, coefficients: tuple[float, ...]) -> str:
    """c0 + c1 z + c2 z^2 + ... by Horner's rule."""
    value = constant(coefficients[-1], width)
    for c in reversed(coefficients[:-1]):
        value = fused(code, width, value, z, constant(c, width))
    return value


def fused(code: Code, width: int, a: str, b: str, c: str) -> str:
    """a*b + c, fused where the hardware can."""
    return code.call(f"llvm.fmuladd.{suffix(width)}", type_of(width), a, b, c)


def tangent(code: Code, angle: Reduced, width: int) -> str:
    """tan x = sin x / cos x, within 4 ulp or so."""
    return code.new(f"fdiv {type_of(width)} {sine(code, angle, width)}, {cosine(code, angle, width)}")


def hypotenuse(code: Code, width: int, x: str, y: str) -> str:
    """sqrt(x^2 + y^2); unlike C's hypot it overflows beyond 1e154, and costs a tenth."""
    t = type_of(width)
    xx = code.new(f"fmul {FAST} {t} {x}, {x}")
    yy = code.new(f"fmul {FAST} {t} {y}, {y}")
    total = code.new(f"fadd {FAST} {t} {xx}, {yy}")
    return code.call(f"llvm.sqrt.{suffix(width)}", t, total, flags=FAST)
