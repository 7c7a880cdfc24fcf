"""Elementary functions as branch-free vector code: sine and cosine, exp, expm1 and tanh, atan2.

Sine and cosine: x is reduced to r = x - q*pi/2 with pi/2 in three parts (Cody and Waite), then sin r and cos r are
polynomials on [-pi/4, pi/4] and the quadrant q picks and signs them. The polynomials interpolate
    (sin(sqrt z)/sqrt z - 1)/z   and   (cos(sqrt z) - 1 + z/2)/z^2
at six Chebyshev nodes of [0, (pi/4)^2] (errors 2.0e-17 and 8.7e-19 before rounding).
Measured within 1.4 ulp for |x| <= 1e5, and to 1e13 where multiply-add is fused; NaN and infinity give NaN. Beyond
2^51 or so the result is meaningless.
Numbers of this page are those of double precision; single has fewer nodes (`NUMBERS`).

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
from dataclasses import dataclass

from trundle.program.llvm.jit import FAST, Code, type_of
from trundle.program.llvm.real import DOUBLE, SINGLE


@dataclass(frozen=True)
class Numbers:
    """What hangs on the kind of real number: coefficients, and bounds beyond which results are known.

    Attributes:
        sin, cos, expm1, atan: the polynomials' coefficients.
        half_pi_fused, half_pi_short: π/2 in parts; of the short ones products with q are exact.
        ln2: ln 2 in two parts.
        highest, lowest: beyond these e^x is infinite or zero.
        saturation: 2 x beyond which tanh(x) is 1 to the last bit.
    """

    sin: tuple[float, ...]
    cos: tuple[float, ...]
    half_pi_fused: tuple[float, ...]
    half_pi_short: tuple[float, ...]
    expm1: tuple[float, ...]
    ln2: tuple[float, ...]
    highest: float
    lowest: float
    saturation: float
    atan: tuple[float, ...]


NUMBERS = {
    DOUBLE: Numbers(
        sin=(
            -0.16666666666666666, 0.008333333333330946, -0.0001984126983675497,
            2.755731610068303e-06, -2.5051131455427946e-08, 1.591810123027412e-10,
        ),
        cos=(
            0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-05,
            -2.7557317270560326e-07, 2.0876146024689747e-09, -1.1382614868556325e-11,
        ),
        half_pi_fused=(1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33),
        half_pi_short=(1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21),  # 33 bits
        expm1=(
            0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062,
            0.0013888888917213717, 0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06,
            2.7620088445409746e-07, 2.510038549551032e-08,
        ),
        ln2=(0.6931471803691238, 1.9082149292705877e-10),
        highest=710.0,
        lowest=-746.0,
        saturation=44.0,
        atan=(
            -0.3333333333333333, 0.1999999999999552, -0.14285714284666542, 0.11111111015256361,
            -0.09090904578123903, 0.07692183190826087, -0.06664511447381948, 0.0585814891280221,
            -0.0508544973794026, 0.03923165829558719, -0.01917688711906226,
        ),
    ),
    SINGLE: Numbers(
        sin=(-0.166666641831398, 0.008332747966051102, -0.00019587890710681677),
        cos=(0.0416666641831398, -0.001388830249197781, 2.454794230288826e-05),
        half_pi_fused=(1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15),
        half_pi_short=(1.5703125, 0.00048065185546875, 3.1749393656355096e-06),  # 9 bits and 10
        expm1=(
            0.5, 0.16666577756404877, 0.041666556149721146, 0.008363173343241215, 0.0013926175888627768,
        ),
        ln2=(0.693145751953125, 1.428606765330187e-06),
        highest=89.0,
        lowest=-104.0,
        saturation=20.0,
        atan=(
            -0.3333333134651184, 0.19999539852142334, -0.14263956248760223, 0.10743731260299683,
            -0.06451927870512009,
        ),
    ),
}  # fmt: skip
"""Of single precision the nodes are fewer: 3 for sine and cosine, 5 for the exponential and the arctangent, which leave
errors of 1.2e-8, 8e-10, 8e-9 and 2.4e-9 before rounding; half a unit in the last place is 3e-8."""
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


def reduce_angle(code: Code, x: str, width: int, has_fma: bool) -> Reduced:
    """Emit the common part of sin and cos of ``x``; ``has_fma``: multiply-add rounds once on this machine."""
    t, i = code.type(width), code.word(width)
    # strict order from here to r: `contract` may fuse but nothing may be reassociated
    scaled = code.new(f"fmul contract {t} {x}, {code.constant(TWO_OVER_PI, width)}")
    shifted = code.new(f"fadd contract {t} {scaled}, {code.constant(code.real.shift, width)}")
    minus_q = code.new(f"fsub {t} {code.constant(code.real.shift, width)}, {shifted}")
    r = x
    for part in _half_pi(code, has_fma):
        r = fused(code, width, minus_q, code.constant(part, width), r)
    quadrant = code.new(f"bitcast {t} {shifted} to {i}")
    odd = code.new(
        f"shl {i} {quadrant}, {code.integer(code.real.bits - 1, width)}"
    )  # bit 0 becomes the sign bit
    swap = code.new(f"icmp slt {i} {odd}, {code.integer(0, width)}")
    high = code.new(f"shl {i} {quadrant}, {code.integer(code.real.bits - 2, width)}")  # bit 1 does
    lower = code.new(f"and {i} {high}, {code.integer(code.real.sign_bit, width)}")
    z = code.new(f"fmul {t} {r}, {r}")
    rz = code.new(f"fmul {t} {r}, {z}")
    sin = fused(code, width, rz, polynomial(code, width, z, NUMBERS[code.real].sin), r)
    tail = fused(
        code, width, z, polynomial(code, width, z, NUMBERS[code.real].cos), code.constant(-0.5, width)
    )
    cos = fused(code, width, z, tail, code.constant(1.0, width))
    return Reduced(sin, cos, swap, odd, lower)


def within_half_a_turn(code: Code, x: str, width: int, has_fma: bool) -> str:
    """x − 2π round(x/2π), by the same parts of π/2; at ±π it may be either, as atan2(sin x, cos x) may."""
    t = code.type(width)
    scaled = code.new(f"fmul contract {t} {x}, {code.constant(TWO_OVER_PI / 4, width)}")
    shifted = code.new(f"fadd contract {t} {scaled}, {code.constant(code.real.shift, width)}")
    turns = code.new(f"fsub {t} {code.constant(code.real.shift, width)}, {shifted}")
    quarters = code.new(f"fmul {t} {turns}, {code.constant(4.0, width)}")
    for part in _half_pi(code, has_fma):
        x = fused(code, width, quarters, code.constant(part, width), x)
    return x


def _half_pi(code: Code, has_fma: bool) -> tuple[float, ...]:
    known = NUMBERS[code.real]
    return known.half_pi_fused if has_fma else known.half_pi_short


def sine(code: Code, angle: Reduced, width: int) -> str:
    """sin x: negative in the quadrants 2 and 3."""
    return _pick(code, angle, width, angle.cos, angle.sin, angle.lower)


def cosine(code: Code, angle: Reduced, width: int) -> str:
    """cos x: negative in the quadrants 1 and 2, which one of the two signs is set for."""
    sign = code.new(f"xor {code.word(width)} {angle.lower}, {angle.odd}")
    return _pick(code, angle, width, angle.sin, angle.cos, sign)


def _pick(code: Code, angle: Reduced, width: int, if_swapped: str, otherwise: str, sign: str) -> str:
    t, i = code.type(width), code.word(width)
    chosen = code.new(f"select {type_of(width, 'i1')} {angle.swap}, {t} {if_swapped}, {t} {otherwise}")
    signed = code.new(f"xor {i} {code.new(f'bitcast {t} {chosen} to {i}')}, {sign}")
    return code.new(f"bitcast {i} {signed} to {t}")


def polynomial(code: Code, width: int, z: str, coefficients: tuple[float, ...]) -> str:
    """c0 + c1 z + c2 z^2 + ... by Horner's rule."""
    value = code.constant(coefficients[-1], width)
    for c in reversed(coefficients[:-1]):
        value = fused(code, width, value, z, code.constant(c, width))
    return value


def fused(code: Code, width: int, a: str, b: str, c: str) -> str:
    """a*b + c, fused where the hardware can."""
    return code.call(f"llvm.fmuladd.{code.suffix(width)}", code.type(width), a, b, c)


def tangent(code: Code, angle: Reduced, width: int) -> str:
    """tan x = sin x / cos x, within 4 ulp or so."""
    return code.new(f"fdiv {code.type(width)} {sine(code, angle, width)}, {cosine(code, angle, width)}")


def hypotenuse(code: Code, width: int, x: str, y: str) -> str:
    """sqrt(x^2 + y^2); unlike C's hypot it overflows beyond 1e154, and costs a tenth."""
    t = code.type(width)
    xx = code.new(f"fmul {FAST} {t} {x}, {x}")
    yy = code.new(f"fmul {FAST} {t} {y}, {y}")
    total = code.new(f"fadd {FAST} {t} {xx}, {yy}")
    return code.call(f"llvm.sqrt.{code.suffix(width)}", t, total, flags=FAST)


LOG2_E = 1.4426950408889634


def exponential(code: Code, width: int, x: str) -> str:
    """e^x, within 1 ulp or so; scaled in two halves, so that it goes down to the smallest subnormal number."""
    known = NUMBERS[code.real]
    clamped = _limit(code, width, "ogt", _limit(code, width, "olt", x, known.lowest), known.highest)
    return scaled(code, width, *reduced_exponent(code, width, clamped))


def scaled(code: Code, width: int, tail: str, n: str) -> str:
    """2^n (1 + tail)."""
    t, i = code.type(width), code.word(width)
    half = code.new(f"ashr {i} {n}, {code.integer(1, width)}")
    rest = code.new(f"sub {i} {n}, {half}")
    value = code.new(f"fadd {t} {tail}, {code.constant(1.0, width)}")
    once = code.new(f"fmul {t} {value}, {_power_of_two(code, width, half)}")
    return code.new(f"fmul {t} {once}, {_power_of_two(code, width, rest)}")


def expm1(code: Code, width: int, x: str) -> str:
    """e^x - 1, accurate near zero; the scale is one number, so x must be below 709 or the result is infinite."""
    t = code.type(width)
    known = NUMBERS[code.real]
    clamped = _limit(code, width, "ogt", _limit(code, width, "olt", x, -known.saturation), known.highest)
    tail, n = reduced_exponent(code, width, clamped)
    # at most 2^1023: what lies above overflows in the doubling at the end
    less = code.new(f"sub {code.word(width)} {n}, {code.integer(1, width)}")
    scale = _power_of_two(code, width, less)
    offset = code.new(f"fsub {t} {scale}, {code.constant(0.5, width)}")
    half = fused(code, width, tail, scale, offset)
    return code.new(f"fadd {t} {half}, {half}")


def hyperbolic_tangent(code: Code, width: int, x: str) -> str:
    """tanh x = e/(e + 2) with e = e^(2|x|) - 1, and the sign of x; within 3 ulp, exact signs and limits."""
    t, s = code.type(width), code.suffix(width)
    size = code.call(f"llvm.fabs.{s}", t, x)
    twice = _limit(code, width, "ogt", code.new(f"fadd {t} {size}, {size}"), NUMBERS[code.real].saturation)
    e = expm1(code, width, twice)
    ratio = code.new(f"fdiv {t} {e}, {code.new(f'fadd {t} {e}, {code.constant(2.0, width)}')}")
    return code.call(f"llvm.copysign.{s}", t, ratio, x)


def reduced_exponent(code: Code, width: int, x: str, low: str = "") -> tuple[str, str]:
    """e^r - 1, and n as an integer, where x + low = n ln 2 + r."""
    t, i = code.type(width), code.word(width)
    scaled = code.new(f"fmul {t} {x}, {code.constant(LOG2_E, width)}")
    shifted = code.new(f"fadd {t} {scaled}, {code.constant(code.real.shift, width)}")
    minus_n = code.new(f"fsub {t} {code.constant(code.real.shift, width)}, {shifted}")
    r = x
    for part in NUMBERS[code.real].ln2:
        r = fused(code, width, minus_n, code.constant(part, width), r)
    if low:
        r = code.new(f"fadd {t} {r}, {low}")
    square = code.new(f"fmul {t} {r}, {r}")
    tail = fused(code, width, square, polynomial(code, width, r, NUMBERS[code.real].expm1), r)
    zero = code.new(f"bitcast {t} {code.constant(code.real.shift, width)} to {i}")
    return tail, code.new(f"sub {i} {code.new(f'bitcast {t} {shifted} to {i}')}, {zero}")


def _power_of_two(code: Code, width: int, n: str) -> str:
    """2^n for -1023 < n < 1024 (of double precision), from its bits."""
    i = code.word(width)
    biased = code.new(f"add {i} {n}, {code.integer(code.real.bias, width)}")
    exponent = code.new(f"shl {i} {biased}, {code.integer(code.real.fraction, width)}")
    return code.new(f"bitcast {i} {exponent} to {code.type(width)}")


def _limit(code: Code, width: int, predicate: str, x: str, bound: float) -> str:
    """The bound where x lies beyond it; NaN stays, as it compares as false."""
    t = code.type(width)
    beyond = code.new(f"fcmp {predicate} {t} {x}, {code.constant(bound, width)}")
    return code.new(f"select {type_of(width, 'i1')} {beyond}, {t} {code.constant(bound, width)}, {t} {x}")


EIGHTH = math.tan(math.pi / 8)


def arctangent(code: Code, width: int, y: str, x: str) -> str:
    """The angle of the point (x, y) within ±π, to 2 ulp or so; signs of zeros count as in C."""
    t, bits, s = code.type(width), type_of(width, "i1"), code.suffix(width)
    across, along = code.call(f"llvm.fabs.{s}", t, y), code.call(f"llvm.fabs.{s}", t, x)
    steep = code.new(f"fcmp ogt {t} {across}, {along}")
    high = code.new(f"select {bits} {steep}, {t} {across}, {t} {along}")
    low = code.new(f"select {bits} {steep}, {t} {along}, {t} {across}")
    bound = code.new(f"fmul {t} {high}, {code.constant(EIGHTH, width)}")
    wide = code.new(f"fcmp ogt {t} {low}, {bound}")
    # what is subtracted and added where the ratio stays as it is, is 0; and 0/0 is to be 0
    offset = code.new(f"select {bits} {wide}, {t} {high}, {t} {code.constant(0.0, width)}")
    none = code.new(f"fcmp oeq {t} {high}, {code.constant(0.0, width)}")
    base = code.new(f"select {bits} {wide}, {t} {low}, {t} {code.constant(0.0, width)}")
    divisor = code.new(f"fadd {t} {high}, {base}")
    divisor = code.new(f"select {bits} {none}, {t} {code.constant(1.0, width)}, {t} {divisor}")
    r = code.new(f"fdiv {t} {code.new(f'fsub {t} {low}, {offset}')}, {divisor}")
    z = code.new(f"fmul {t} {r}, {r}")
    angle = fused(
        code, width, code.new(f"fmul {t} {r}, {z}"), polynomial(code, width, z, NUMBERS[code.real].atan), r
    )
    start = code.new(
        f"select {bits} {wide}, {t} {code.constant(math.pi / 4, width)}, {t} {code.constant(0.0, width)}"
    )
    angle = code.new(f"fadd {t} {start}, {angle}")
    angle = _unless(code, width, steep, math.pi / 2, angle)
    backward = code.new(
        f"fcmp olt {t} {code.call(f'llvm.copysign.{s}', t, code.constant(1.0, width), x)}, {code.constant(0.0, width)}"
    )
    angle = _unless(code, width, backward, math.pi, angle)
    return code.call(f"llvm.copysign.{s}", t, angle, y)


def _unless(code: Code, width: int, condition: str, whole: float, angle: str) -> str:
    """`whole` − angle where the condition holds, else the angle."""
    t = code.type(width)
    rest = code.new(f"fsub {t} {code.constant(whole, width)}, {angle}")
    return code.new(f"select {type_of(width, 'i1')} {condition}, {t} {rest}, {t} {angle}")
