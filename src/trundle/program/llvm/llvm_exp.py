"""exp, expm1 and tanh as branch-free vector code.

x = n ln 2 + r with |r| <= ln(2)/2, ln 2 in two parts so that n times the first is exact. (e^r - 1 - r)/r^2 is
interpolated at ten Chebyshev nodes, which leaves e^r - 1 an error of 4e-17 before rounding. NaN gives NaN.
Friction laws with tanh are why: calls of the C library, lane by lane, cost more than the rest of a robot.
"""

from __future__ import annotations

from trundle.program.llvm.llvm_code import Code, constant, integer, suffix, type_of
from trundle.program.llvm.llvm_math import SHIFT, fused, polynomial

EXPM1 = (
    0.5000000000000001, 0.16666666666666669, 0.04166666666662413, 0.008333333333330062, 0.0013888888917213717,
    0.00019841269863053618, 2.4801521295954376e-05, 2.7557268459997064e-06, 2.7620088445409746e-07,
    2.510038549551032e-08,
)  # fmt: skip
LN2 = (0.6931471803691238, 1.9082149292705877e-10)
LOG2_E = 1.4426950408889634
HIGHEST, LOWEST = 710.0, -746.0
"""Beyond these e^x is infinite or zero in double precision."""
SATURATION = 44.0
"""tanh(x) is 1 to the last bit for 2 x beyond 38."""


def exponential(code: Code, width: int, x: str) -> str:
    """e^x, within 1 ulp or so; scaled in two halves, so that it goes down to the smallest subnormal number."""
    t, i = type_of(width), type_of(width, "i64")
    clamped = _limit(code, width, "ogt", _limit(code, width, "olt", x, LOWEST), HIGHEST)
    tail, n = _reduce(code, width, clamped)
    half = code.new(f"ashr {i} {n}, {integer(1, width)}")
    rest = code.new(f"sub {i} {n}, {half}")
    value = code.new(f"fadd {t} {tail}, {constant(1.0, width)}")
    once = code.new(f"fmul {t} {value}, {_power_of_two(code, width, half)}")
    return code.new(f"fmul {t} {once}, {_power_of_two(code, width, rest)}")


def expm1(code: Code, width: int, x: str) -> str:
    """e^x - 1, accurate near zero; the scale is one number, so x must be below 709 or the result is infinite."""
    t = type_of(width)
    clamped = _limit(code, width, "ogt", _limit(code, width, "olt", x, -SATURATION), HIGHEST)
    tail, n = _reduce(code, width, clamped)
    # at most 2^1023: what lies above overflows in the doubling at the end
    less = code.new(f"sub {type_of(width, 'i64')} {n}, {integer(1, width)}")
    scale = _power_of_two(code, width, less)
    offset = code.new(f"fsub {t} {scale}, {constant(0.5, width)}")
    half = fused(code, width, tail, scale, offset)
    return code.new(f"fadd {t} {half}, {half}")


def hyperbolic_tangent(code: Code, width: int, x: str) -> str:
    """tanh x = e/(e + 2) with e = e^(2|x|) - 1, and the sign of x; within 3 ulp, exact signs and limits."""
    t, s = type_of(width), suffix(width)
    size = code.call(f"llvm.fabs.{s}", t, x)
    twice = _limit(code, width, "ogt", code.new(f"fadd {t} {size}, {size}"), SATURATION)
    e = expm1(code, width, twice)
    ratio = code.new(f"fdiv {t} {e}, {code.new(f'fadd {t} {e}, {constant(2.0, width)}')}")
    return code.call(f"llvm.copysign.{s}", t, ratio, x)


def _reduce(code: Code, width: int, x: str) -> tuple[str, str]:
    """e^r - 1, and n as an integer, where x = n ln 2 + r."""
    t, i = type_of(width), type_of(width, "i64")
    scaled = code.new(f"fmul {t} {x}, {constant(LOG2_E, width)}")
    shifted = code.new(f"fadd {t} {scaled}, {constant(SHIFT, width)}")
    minus_n = code.new(f"fsub {t} {constant(SHIFT, width)}, {shifted}")
    r = x
    for part in LN2:
        r = fused(code, width, minus_n, constant(part, width), r)
    square = code.new(f"fmul {t} {r}, {r}")
    tail = fused(code, width, square, polynomial(code, width, r, EXPM1), r)
    zero = code.new(f"bitcast {t} {constant(SHIFT, width)} to {i}")
    return tail, code.new(f"sub {i} {code.new(f'bitcast {t} {shifted} to {i}')}, {zero}")


def _power_of_two(code: Code, width: int, n: str) -> str:
    """2^n for -1023 < n < 1024, from the bits of a double."""
    i = type_of(width, "i64")
    exponent = code.new(f"shl {i} {code.new(f'add {i} {n}, {integer(1023, width)}')}, {integer(52, width)}")
    return code.new(f"bitcast {i} {exponent} to {type_of(width)}")


def _limit(code: Code, width: int, predicate: str, x: str, bound: float) -> str:
    """The bound where x lies beyond it; NaN stays, as it compares as false."""
    t = type_of(width)
    beyond = code.new(f"fcmp {predicate} {t} {x}, {constant(bound, width)}")
    return code.new(f"select {type_of(width, 'i1')} {beyond}, {t} {constant(bound, width)}, {t} {x}")
