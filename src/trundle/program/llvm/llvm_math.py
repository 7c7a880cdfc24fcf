"""Elementary functions as branch-free vector code: sine and cosine, exp, expm1 and tanh, atan2.

Sine and cosine: x is reduced to r = x - q*pi/2 with pi/2 in three parts (Cody and Waite), then sin r and cos r are
polynomials on [-pi/4, pi/4] and the quadrant q picks and signs them. The polynomials interpolate
    (sin(sqrt z)/sqrt z - 1)/z   and   (cos(sqrt z) - 1 + z/2)/z^2
at six Chebyshev nodes of [0, (pi/4)^2] (errors 2.0e-17 and 8.7e-19 before rounding).
Measured within 1.4 ulp for |x| <= 1e5, and to 1e13 where multiply-add is fused; NaN and infinity give NaN. Beyond
2^51 or so the result is meaningless.
Numbers of this page are those of double precision; single has fewer nodes (`coefficients.toml`).

exp, expm1 and tanh: x = n ln 2 + r with |r| <= ln(2)/2, ln 2 in two parts so that n times the first is exact.
(e^r - 1 - r)/r^2 is interpolated at ten Chebyshev nodes, which leaves e^r - 1 an error of 4e-17 before rounding. NaN
gives NaN. Friction laws with tanh are why: calls of the C library, lane by lane, cost more than the rest of a robot.

atan2: the angles of a drive's wheels would cost more than all else of their kinematics. With hi and lo the larger and
the smaller of |x| and |y|, atan(lo/hi) is that of r = lo/hi, or π/4 + atan r with r = (lo − hi)/(lo + hi) where
lo/hi > tan(π/8): one division leaves |r| ≤ tan(π/8). (atan(sqrt z)/sqrt z − 1)/z is interpolated at 11 Chebyshev nodes
of [0, tan²(π/8)], which leaves atan r a relative error of 7e-18 before rounding. Then the octant is undone: π/2 − a
where |y| is the larger one, π − a where x is negative. NaN gives NaN, and so do two infinities; numbers of 1e307 and
more overflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trundle.program.llvm.formula import Formula
from trundle.program.llvm.jit import FAST

TWO_OVER_PI = 0.6366197723675814
"""x times it, rounded, is the quadrant; an angle close to a border may get either, which the polynomials bear."""


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


def reduce_angle(w: Formula, x: str, has_fma: bool) -> Reduced:
    """Emit the common part of sin and cos of ``x``; ``has_fma``: multiply-add rounds once on this machine."""
    real = w.code.real
    # strict order from here to r: `contract` may fuse but nothing may be reassociated
    shifted = w.op("fadd contract", w.op("fmul contract", x, TWO_OVER_PI), real.shift)
    minus_q = w.sub(real.shift, shifted)
    r = x
    for part in _half_pi(w, has_fma):
        r = w.fused(minus_q, part, r)
    quadrant = w.bits(shifted)
    odd = w.whole("shl", quadrant, real.bits - 1)  # bit 0 becomes the sign bit
    swap = w.whole("icmp slt", odd, 0)
    high = w.whole("shl", quadrant, real.bits - 2)  # bit 1 does
    lower = w.whole("and", high, real.sign_bit)
    z = w.mul(r, r)
    sin = w.fused(w.mul(r, z), _polynomial(w, z, w.coefficients.sin), r)
    tail = w.fused(z, _polynomial(w, z, w.coefficients.cos), -0.5)
    return Reduced(sin, w.fused(z, tail, 1.0), swap, odd, lower)


def within_half_a_turn(w: Formula, x: str, has_fma: bool) -> str:
    """x − 2π round(x/2π), by the same parts of π/2; at ±π it may be either, as atan2(sin x, cos x) may."""
    shift = w.code.real.shift
    shifted = w.op("fadd contract", w.op("fmul contract", x, TWO_OVER_PI / 4), shift)
    quarters = w.mul(w.sub(shift, shifted), 4.0)
    for part in _half_pi(w, has_fma):
        x = w.fused(quarters, part, x)
    return x


def _half_pi(w: Formula, has_fma: bool) -> Sequence[float]:
    return w.coefficients.half_pi_fused if has_fma else w.coefficients.half_pi_short


def _polynomial(w: Formula, z: str, coefficients: Sequence[float]) -> str:
    return w.polynomial(z, coefficients, "fmuladd")


def sine(w: Formula, angle: Reduced) -> str:
    """sin x: negative in the quadrants 2 and 3."""
    return _pick(w, angle, angle.cos, angle.sin, angle.lower)


def cosine(w: Formula, angle: Reduced) -> str:
    """cos x: negative in the quadrants 1 and 2, which one of the two signs is set for."""
    return _pick(w, angle, angle.sin, angle.cos, w.whole("xor", angle.lower, angle.odd))


def _pick(w: Formula, angle: Reduced, if_swapped: str, otherwise: str, sign: str) -> str:
    chosen = w.pick(angle.swap, if_swapped, otherwise)
    return w.of_bits(w.whole("xor", w.bits(chosen), sign))


def tangent(w: Formula, angle: Reduced) -> str:
    """tan x = sin x / cos x, within 4 ulp or so."""
    return w.div(sine(w, angle), cosine(w, angle))


def hypotenuse(w: Formula, x: str, y: str) -> str:
    """sqrt(x^2 + y^2); unlike C's hypot it overflows beyond 1e154, and costs a tenth."""
    squares = w.op(f"fmul {FAST}", x, x), w.op(f"fmul {FAST}", y, y)
    return w.call("sqrt", w.op(f"fadd {FAST}", *squares), flags=FAST)


LOG2_E = 1.4426950408889634  # 1/ln 2, to the last bit


def exponential(w: Formula, x: str) -> str:
    """e^x, within 1 ulp or so; scaled in two halves, so that it goes down to the smallest subnormal number."""
    known = w.coefficients
    clamped = _limit(w, "ogt", _limit(w, "olt", x, known.lowest), known.highest)
    return scaled(w, *reduced_exponent(w, clamped))


def scaled(w: Formula, tail: str, n: str) -> str:
    """2^n (1 + tail)."""
    half = w.whole("ashr", n, 1)
    rest = w.whole("sub", n, half)
    once = w.mul(w.add(tail, 1.0), _power_of_two(w, half))
    return w.mul(once, _power_of_two(w, rest))


def expm1(w: Formula, x: str) -> str:
    """e^x - 1, accurate near zero; the scale is one number, so x must be below 709 or the result is infinite."""
    known = w.coefficients
    clamped = _limit(w, "ogt", _limit(w, "olt", x, -known.saturation), known.highest)
    tail, n = reduced_exponent(w, clamped)
    # at most 2^1023: what lies above overflows in the doubling at the end
    scale = _power_of_two(w, w.whole("sub", n, 1))
    half = w.fused(tail, scale, w.sub(scale, 0.5))
    return w.add(half, half)


def hyperbolic_tangent(w: Formula, x: str) -> str:
    """tanh x = e/(e + 2) with e = e^(2|x|) - 1, and the sign of x; within 3 ulp, exact signs and limits."""
    size = w.call("fabs", x)
    e = expm1(w, _limit(w, "ogt", w.add(size, size), w.coefficients.saturation))
    return w.call("copysign", w.div(e, w.add(e, 2.0)), x)


def reduced_exponent(w: Formula, x: str, low: str = "") -> tuple[str, str]:
    """e^r - 1, and n as an integer, where x + low = n ln 2 + r."""
    known, shift = w.coefficients, w.code.real.shift
    shifted = w.add(w.mul(x, LOG2_E), shift)
    minus_n = w.sub(shift, shifted)
    r = x
    for part in known.ln2:
        r = w.fused(minus_n, part, r)
    if low:
        r = w.add(r, low)
    tail = w.fused(w.mul(r, r), _polynomial(w, r, known.expm1), r)
    zero = w.bits(w.name(shift))
    return tail, w.whole("sub", w.bits(shifted), zero)


def _power_of_two(w: Formula, n: str) -> str:
    """2^n for -1023 < n < 1024 (of double precision), from its bits."""
    biased = w.whole("add", n, w.code.real.bias)
    return w.of_bits(w.whole("shl", biased, w.code.real.fraction))


def _limit(w: Formula, relation: str, x: str, bound: float) -> str:
    """The bound where x lies beyond it; NaN stays, as it compares as false."""
    return w.pick(w.test(relation, x, bound), bound, x)


EIGHTH = math.tan(math.pi / 8)


def arctangent(w: Formula, y: str, x: str | float) -> str:
    """The angle of the point (x, y) within ±π, to 2 ulp or so; signs of zeros count as in C."""
    across, along = w.call("fabs", y), w.call("fabs", x)
    steep = w.test("ogt", across, along)
    high = w.pick(steep, across, along)
    low = w.pick(steep, along, across)
    wide = w.test("ogt", low, w.mul(high, EIGHTH))
    # what is subtracted and added where the ratio stays as it is, is 0; and 0/0 is to be 0
    offset = w.pick(wide, high, 0.0)
    none = w.test("oeq", high, 0.0)
    divisor = w.add(high, w.pick(wide, low, 0.0))
    divisor = w.pick(none, 1.0, divisor)
    r = w.div(w.sub(low, offset), divisor)
    z = w.mul(r, r)
    angle = w.fused(w.mul(r, z), _polynomial(w, z, w.coefficients.atan), r)
    angle = w.add(w.pick(wide, math.pi / 4, 0.0), angle)
    angle = w.pick(steep, w.sub(math.pi / 2, angle), angle)
    backward = w.test("olt", w.call("copysign", 1.0, x), 0.0)
    angle = w.pick(backward, w.sub(math.pi, angle), angle)
    return w.call("copysign", angle, y)
