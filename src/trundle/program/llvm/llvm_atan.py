"""atan2 as branch-free vector code: the angles of a drive's wheels cost more than all else of their kinematics.

With hi and lo the larger and the smaller of |x| and |y|, atan(lo/hi) is that of r = lo/hi, or π/4 + atan r with
r = (lo − hi)/(lo + hi) where lo/hi > tan(π/8): one division leaves |r| ≤ tan(π/8). (atan(sqrt z)/sqrt z − 1)/z is
interpolated at 11 Chebyshev nodes of [0, tan²(π/8)], which leaves atan r a relative error of 7e-18 before rounding.
Then the octant is undone: π/2 − a where |y| is the larger one, π − a where x is negative. NaN gives NaN, and so do two
infinities; numbers of 1e307 and more overflow.
"""

from __future__ import annotations

import math

from trundle.program.llvm.llvm_code import Code, constant, suffix, type_of
from trundle.program.llvm.llvm_math import fused, polynomial

ATAN = (
    -0.3333333333333333, 0.1999999999999552, -0.14285714284666542, 0.11111111015256361, -0.09090904578123903,
    0.07692183190826087, -0.06664511447381948, 0.0585814891280221, -0.0508544973794026, 0.03923165829558719,
    -0.01917688711906226,
)  # fmt: skip
EIGHTH = math.tan(math.pi / 8)


def arctangent(code: Code, width: int, y: str, x: str) -> str:
    """The angle of the point (x, y) within ±π, to 2 ulp or so; signs of zeros count as in C."""
    t, bits, s = type_of(width), type_of(width, "i1"), suffix(width)
    across, along = code.call(f"llvm.fabs.{s}", t, y), code.call(f"llvm.fabs.{s}", t, x)
    steep = code.new(f"fcmp ogt {t} {across}, {along}")
    high = code.new(f"select {bits} {steep}, {t} {across}, {t} {along}")
    low = code.new(f"select {bits} {steep}, {t} {along}, {t} {across}")
    bound = code.new(f"fmul {t} {high}, {constant(EIGHTH, width)}")
    wide = code.new(f"fcmp ogt {t} {low}, {bound}")
    # what is subtracted and added where the ratio stays as it is, is 0; and 0/0 is to be 0
    offset = code.new(f"select {bits} {wide}, {t} {high}, {t} {constant(0.0, width)}")
    none = code.new(f"fcmp oeq {t} {high}, {constant(0.0, width)}")
    base = code.new(f"select {bits} {wide}, {t} {low}, {t} {constant(0.0, width)}")
    divisor = code.new(f"fadd {t} {high}, {base}")
    divisor = code.new(f"select {bits} {none}, {t} {constant(1.0, width)}, {t} {divisor}")
    r = code.new(f"fdiv {t} {code.new(f'fsub {t} {low}, {offset}')}, {divisor}")
    z = code.new(f"fmul {t} {r}, {r}")
    angle = fused(code, width, code.new(f"fmul {t} {r}, {z}"), polynomial(code, width, z, ATAN), r)
    start = code.new(f"select {bits} {wide}, {t} {constant(math.pi / 4, width)}, {t} {constant(0.0, width)}")
    angle = code.new(f"fadd {t} {start}, {angle}")
    angle = _unless(code, width, steep, math.pi / 2, angle)
    backward = code.new(
        f"fcmp olt {t} {code.call(f'llvm.copysign.{s}', t, constant(1.0, width), x)}, {constant(0.0, width)}"
    )
    angle = _unless(code, width, backward, math.pi, angle)
    return code.call(f"llvm.copysign.{s}", t, angle, y)


def _unless(code: Code, width: int, condition: str, whole: float, angle: str) -> str:
    """`whole` − angle where the condition holds, else the angle."""
    t = type_of(width)
    rest = code.new(f"fsub {t} {constant(whole, width)}, {angle}")
    return code.new(f"select {type_of(width, 'i1')} {condition}, {t} {rest}, {t} {angle}")
