"""Functions of the C library as branch-free code of their own, for machines where there is none to be called.

Polynomials interpolate at Chebyshev nodes, so many that what they leave is small beside rounding; `coefficients.toml`
holds them for double and single precision. Measured against mpmath over each function's domain by
tests/gpu/test_functions.py, which holds the units in the last place that `ERRORS` states; signs of zeros, infinities
and NaN are those of C99, annex F.

Logarithms: x = 2^k (1 + f) with √½ ≤ 1 + f < √2, and log(1 + f) = 2 atanh s with s = f/(2 + f), as f − (f²/2 −
s (f²/2 + s² P(s²))), which keeps the digits of f (Tang 1990). What 1 + x loses in rounding goes into `log1p` as a
quotient of first order. asinh, acosh and atanh are log1p of quotients and roots (Kahan 1987).

Powers: log x as a number in two parts, to some 14 bits more than the format has, times y, and its exponential.

asin and acos: x + x³ P(x²) up to ½, beyond it by half the angle: asin x = π/2 − 2 asin √((1 − x)/2).

erf: x P(x²) below 1, beyond it 1 − e^(−x²) Q((x − 2)/(x + 2)).

fmod: x − q y with q the whole part of x/y is exact where multiply-add is; three rounds of it take quotients of up to
2^150 (single: 2^66). Beyond it is NaN.

Sources: Tang, "Table-driven implementation of the logarithm function in IEEE floating-point arithmetic", 1990;
Kahan, "Branch cuts for complex elementary functions", 1987; Muller, Elementary Functions, 3rd ed. 2016, ch. 4, 6, 11.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from trundle.program.llvm import llvm_math
from trundle.program.llvm.formula import Formula, Pair
from trundle.program.llvm.jit import Code, type_of

ERRORS = {
    "log": (1.0, 1.0), "log1p": (1.5, 1.5), "pow": (1.5, 1.5), "asin": (2.0, 2.0), "acos": (2.0, 2.0),
    "sinh": (3.0, 3.0), "cosh": (2.0, 2.0), "asinh": (3.0, 3.0), "acosh": (3.0, 3.0), "atanh": (3.0, 3.0),
    "erf": (2.0, 2.0), "fmod": (0.0, 0.0), "remainder": (0.0, 0.0),
}  # fmt: skip
"""Units in the last place that results are off at most, in double and in single precision."""

ROUNDS = 3
"""Of a remainder's quotient: a round takes as many bits as a number has, and needs one of them to be exact."""


def library_call(code: Code, function: str, width: int, *operands: str) -> str:
    """The value of a function of the C library, by code of its own; KeyError where there is none."""
    return _FUNCTIONS[function](Formula(code, width), *operands)


def _split(w: Formula, x: str) -> Pair:
    """k as an integer and m, where x = 2^k m and √½ ≤ m < √2; of a positive finite x, subnormal ones too."""
    real = w.code.real
    scale = 2.0 ** (real.fraction + 2)
    tiny = w.test("olt", x, 2.0 ** (1 - real.bias))
    x = w.pick(tiny, w.mul(x, scale), x)
    # the bits from √½ on: their exponent changes where m's does
    root = int(real.dtype.type(math.sqrt(0.5)).view(f"i{real.bytes}"))
    above = w.whole("sub", w.bits(x), root)
    k = w.whole("ashr", above, real.fraction)
    m = w.of_bits(w.whole("sub", w.bits(x), w.whole("shl", k, real.fraction)))
    word, digits, none = w.code.word(w.width), *(w.code.integer(n, w.width) for n in (real.fraction + 2, 0))
    less = w.code.new(f"select {type_of(w.width, 'i1')} {tiny}, {word} {digits}, {word} {none}")
    return w.whole("sub", k, less), m


def _logarithm(w: Formula, k: str, f: str, low: str | float = 0.0) -> str:
    """k ln 2 + log(1 + f) + low; k is a number here."""
    high_part, low_part = w.coefficients.ln2
    s = w.div(f, w.add(f, 2.0))
    z = w.mul(s, s)
    half = w.mul(w.mul(f, 0.5), f)
    tail = w.fma(k, low_part, low)
    inner = w.fma(s, w.fma(z, w.polynomial(z, w.coefficients.log), half), tail)
    return w.fma(k, high_part, w.sub(f, w.sub(half, inner)))


def _limits(w: Formula, x: str, value: str, lowest: float) -> str:
    """A logarithm's value at the edges: −∞ at the lowest argument, NaN below it; infinity and NaN stay."""
    value = w.pick(w.test("oeq", x, lowest), -math.inf, value)
    value = w.pick(w.test("olt", x, lowest), math.nan, value)
    return w.pick(w.test("ult", x, math.inf), w.pick(w.test("uno", x, x), x, value), x)


def _log(w: Formula, x: str) -> str:
    k, m = _split(w, x)
    return _limits(w, x, _logarithm(w, w.real(k), w.sub(m, 1.0)), 0.0)


def _log1p(w: Formula, x: str, doublings: str | float = 0.0) -> str:
    """log(1 + x) + doublings · ln 2."""
    u = w.add(x, 1.0)
    k, m = _split(w, u)
    exponent = w.real(k)
    large = w.test("oge", u, 2.0)
    lost = w.pick(large, w.sub(1.0, w.sub(u, x)), w.sub(x, w.sub(u, 1.0)))
    near = w.both(w.test("ogt", x, math.sqrt(0.5) - 1), w.test("olt", x, math.sqrt(2.0) - 1))
    f = w.pick(near, x, w.sub(m, 1.0))
    low = w.pick(near, 0.0, w.div(lost, u))
    value = _logarithm(w, w.add(w.pick(near, 0.0, exponent), doublings), f, low)
    value = w.pick(w.test("oeq", value, 0.0), x, value)
    return _limits(w, x, value, -1.0)


def _log_in_two_parts(w: Formula, x: str) -> Pair:
    """log x of a positive finite x: 2 s + 2 s³/3 + 2 s⁵ P(s²) with s = f/(2 + f), all but P in two parts."""
    known, ln2 = w.coefficients, w.coefficients.ln2
    whole, m = _split(w, x)
    k, f = w.real(whole), w.sub(m, 1.0)
    below, more = w.two_sum(2.0, f)
    s = w.div(f, below)
    rest = w.fma(w.minus(s), more, w.fma(w.minus(s), below, f))
    s_low = w.div(rest, below)
    z, z_low = w.two_product(s, s)
    z_low = w.fma(w.add(s, s), s_low, z_low)
    inner, inner_low = w.two_sum(known.third[0], w.mul(z, w.polynomial(z, known.power)))
    inner_low = w.add(inner_low, known.third[1])
    p, p_low = w.two_product(z, inner)
    p_low = w.fma(z, inner_low, w.fma(z_low, inner, p_low))
    double, double_low = w.add(s, s), w.add(s_low, s_low)
    q, q_low = w.two_product(double, p)
    q_low = w.fma(double, p_low, w.fma(double_low, p, q_low))
    total, error = w.two_sum(double, q)
    error = w.add(error, w.add(double_low, q_low))
    high, lost = w.two_sum(w.mul(k, ln2[0]), total)
    # where k is 0 the sum is the second part alone, which two_sum bears
    return w.two_sum(high, w.fma(k, ln2[1], w.add(lost, error)))


def _exponential(w: Formula, x: str, low: str | float = 0.0, doublings: int = 0) -> str:
    """2^doublings e^(x + low); a little more than the largest finite number is infinite."""
    known = w.coefficients
    bound = known.highest + 2
    x = w.pick(w.test("ogt", x, bound), bound, w.pick(w.test("olt", x, known.lowest), known.lowest, x))
    tail, n = llvm_math.reduced_exponent(w, x, w.name(low) if low else "")
    return llvm_math.scaled(w, tail, w.whole("add", n, doublings))


def _pow(w: Formula, x: str, y: str) -> str:
    """|x|^y by its logarithm in two parts, then signs and the edges of C99."""
    size = w.call("fabs", x)
    inside = w.both(w.test("ogt", size, 0.0), w.test("olt", size, math.inf))
    high, low = _log_in_two_parts(w, w.pick(inside, size, 1.0))
    # of 0 and infinity the logarithm is infinite
    edge = w.pick(w.test("oeq", size, 0.0), -math.inf, size)
    high = w.pick(inside, high, edge)
    product, more = w.two_product(y, high)
    more = w.fma(y, low, more)
    bound = 2 * w.coefficients.highest
    more = w.pick(w.test("olt", w.call("fabs", product), bound), more, 0.0)
    value = _exponential(w, product, more)
    whole = w.test("oeq", w.call("floor", y), y)
    half = w.mul(y, 0.5)
    odd = w.both(whole, w.test("one", w.call("floor", half), half))
    negative = w.test("olt", w.call("copysign", 1.0, x), 0.0)
    value = w.pick(w.both(negative, odd), w.minus(value), value)
    strange = w.both(w.test("olt", x, 0.0), w.test("une", w.call("floor", y), y))
    value = w.pick(w.both(strange, w.test("ogt", x, -math.inf)), math.nan, value)
    one = w.both(w.test("oeq", size, 1.0), w.test("oeq", w.call("fabs", y), math.inf))
    value = w.pick(one, 1.0, value)
    value = w.pick(w.test("oeq", x, 1.0), 1.0, value)
    return w.pick(w.test("oeq", y, 0.0), 1.0, value)


@dataclass(frozen=True)
class _HalfAngle:
    """|x| up to ½ as `r`, beyond it r = √((1 − |x|)/2), whose square is z; r³ P(z) beyond the first term, and what
    the root lost in rounding.
    """

    beyond: str
    r: str
    more: str
    lost: str


def _half_angle(w: Formula, x: str) -> _HalfAngle:
    """See `_HalfAngle`."""
    size = w.call("fabs", x)
    beyond = w.test("ogt", size, 0.5)
    half = w.mul(w.sub(1.0, size), 0.5)
    z = w.pick(beyond, half, w.mul(size, size))
    r = w.pick(beyond, w.call("sqrt", half), size)
    more = w.mul(w.mul(r, z), w.polynomial(z, w.coefficients.arcsine))
    rest = w.fma(w.minus(r), r, half)
    lost = w.div(rest, w.pick(w.test("oeq", r, 0.0), 1.0, w.add(r, r)))
    return _HalfAngle(beyond, r, more, lost)


def _asin(w: Formula, x: str) -> str:
    a, (high, low) = _half_angle(w, x), w.coefficients.half_pi
    # π/2 − 2 (r + lost + more)
    rest = w.sub(low, w.mul(w.add(a.lost, a.more), 2.0))
    total, twice = w.fma(a.r, -2.0, high), w.add(a.r, a.r)
    far = w.add(total, w.add(w.sub(w.sub(high, total), twice), rest))
    return w.call("copysign", w.pick(a.beyond, far, w.add(a.r, a.more)), x)


def _acos(w: Formula, x: str) -> str:
    a, (high, low) = _half_angle(w, x), w.coefficients.half_pi
    # near 0: π/2 − (x + more) with the sign of x
    signed, more = w.call("copysign", a.r, x), w.call("copysign", a.more, x)
    near = w.sub(high, signed)
    near = w.add(near, w.add(w.sub(w.sub(high, near), signed), w.sub(low, more)))
    above = w.mul(w.add(a.r, w.add(a.lost, a.more)), 2.0)
    below = w.sub(2 * high, w.sub(above, 2 * low))
    far = w.pick(w.test("olt", x, 0.0), below, above)
    return w.pick(a.beyond, far, near)


def _sinh(w: Formula, x: str) -> str:
    size = w.call("fabs", x)
    t = llvm_math.expm1(w, size)
    near = w.mul(w.add(t, w.div(t, w.add(t, 1.0))), 0.5)
    large = w.test("ogt", size, w.coefficients.saturation / 2)
    value = w.pick(large, _exponential(w, size, doublings=-1), near)
    return w.call("copysign", value, x)


def _cosh(w: Formula, x: str) -> str:
    half = _exponential(w, w.call("fabs", x), doublings=-1)
    return w.add(half, w.div(0.25, half))


def _large(w: Formula, size: str) -> str:
    """Whether x² + 1 is x² to the last bit, with room."""
    return w.test("ogt", size, 2.0 ** (w.code.real.fraction // 2 + 3))


def _asinh(w: Formula, x: str) -> str:
    size = w.call("fabs", x)
    large = _large(w, size)
    square = w.mul(size, size)
    root = w.add(w.call("sqrt", w.add(square, 1.0)), 1.0)
    inner = w.pick(large, w.sub(size, 1.0), w.add(size, w.div(square, root)))
    return w.call("copysign", _log1p(w, inner, w.pick(large, 1.0, 0.0)), x)


def _acosh(w: Formula, x: str) -> str:
    t = w.sub(x, 1.0)
    large = _large(w, x)
    inner = w.add(t, w.call("sqrt", w.fma(t, t, w.add(t, t))))
    value = _log1p(w, w.pick(large, t, inner), w.pick(large, 1.0, 0.0))
    return w.pick(w.test("olt", x, 1.0), math.nan, value)


def _atanh(w: Formula, x: str) -> str:
    size = w.call("fabs", x)
    inner = w.div(w.add(size, size), w.sub(1.0, size))
    return w.call("copysign", w.mul(_log1p(w, inner), 0.5), x)


def _erf(w: Formula, x: str) -> str:
    """Two polynomials, near 0 and beyond 1, with the sign of x."""
    known, size = w.coefficients, w.call("fabs", x)
    z = w.mul(size, size)
    # 2/√π in two parts would not show: x is rounded once, the sum behind it is small
    slope = 2 / math.sqrt(math.pi)
    near = w.fma(size, w.fma(z, w.polynomial(z, known.erf), slope - 1), size)
    held = w.pick(w.test("ogt", size, known.furthest), known.furthest, size)
    place = w.div(w.sub(held, 2.0), w.add(held, 2.0))
    square, lost = w.two_product(held, held)
    decay = _exponential(w, w.minus(square), w.minus(lost))
    far = w.fma(w.minus(decay), w.polynomial(place, known.erfc), 1.0)
    value = w.pick(w.test("olt", size, 1.0), near, far)
    return w.call("copysign", w.pick(w.test("uno", x, x), x, value), x)


def _fmod(w: Formula, x: str, y: str) -> str:
    """x − q |y| with the whole part q of the quotient, in rounds that are exact."""
    size, step = w.call("fabs", x), w.call("fabs", y)
    rest = size
    for _ in range(ROUNDS):
        rest = w.fma(w.minus(w.call("floor", w.div(rest, step))), step, rest)
    # the last quotient may be one off where it lies close to a whole number
    rest = w.pick(w.test("olt", rest, 0.0), w.add(rest, step), rest)
    rest = w.pick(w.test("oge", rest, step), w.sub(rest, step), rest)
    done = w.both(w.test("olt", rest, step), w.test("oge", rest, 0.0))
    rest = w.pick(done, rest, math.nan)  # the quotient is beyond what the rounds take
    whole = w.both(w.test("olt", size, math.inf), w.test("oeq", step, math.inf))
    return w.call("copysign", w.pick(whole, size, rest), x)


def _remainder(w: Formula, x: str, y: str) -> str:
    """The rest of the nearest quotient, the even one of two: what is left of 2 y, less y where it is more than half."""
    step = w.call("fabs", y)
    rest = w.call("fabs", _fmod(w, x, w.add(step, step)))
    less = w.sub(rest, step)
    more = w.both(w.test("ogt", rest, w.sub(step, rest)), w.test("oge", less, w.sub(step, less)))
    once = w.pick(w.test("ogt", rest, w.sub(step, rest)), less, rest)
    rest = w.pick(more, w.sub(less, step), once)
    raised = w.test("olt", w.call("copysign", 1.0, x), 0.0)
    return w.pick(raised, w.minus(rest), rest)


_FUNCTIONS: dict[str, Callable[..., str]] = {
    "log": _log, "log1p": _log1p, "pow": _pow, "asin": _asin, "acos": _acos, "sinh": _sinh, "cosh": _cosh,
    "asinh": _asinh, "acosh": _acosh, "atanh": _atanh, "erf": _erf, "fmod": _fmod, "remainder": _remainder,
}  # fmt: skip
