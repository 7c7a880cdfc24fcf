"""Functions' own code in double and single precision against mpmath, and at edges as C99 says."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest

from gpu.lanes import Floats, on_this_machine
from trundle.program.ir import ARITY
from trundle.program.llvm.jit import host
from trundle.program.llvm.llvm_library import ERRORS
from trundle.program.llvm.real import DOUBLE, SINGLE, RealFormat

# Functions that vectors have on the host, too, whose single precision graphics processors use.
SHARED = {
    "sin": (1.5, 1.5), "cos": (1.5, 1.5), "tan": (4.0, 4.0), "exp": (1.5, 1.5), "expm1": (3.0, 3.0),
    "tanh": (3.0, 3.0), "atan": (3.0, 3.0), "atan2": (3.0, 3.0),
}  # fmt: skip
BOUNDS = {**ERRORS, **SHARED}
REALS = [pytest.param(DOUBLE, id="double"), pytest.param(SINGLE, id="single")]
QUICK, SHARE = 60, 400  # points of a quick test's domain, and of a campaign's case

pytestmark = pytest.mark.skipif(not host().fused, reason="this processor has no fused multiply-add")


def powers(rng: np.random.Generator, low: float, high: float, count: int) -> Floats:
    """Numbers whose binary logarithm is uniform."""
    return 2.0 ** rng.uniform(low, high, count)


def signed(rng: np.random.Generator, x: Floats) -> Floats:
    return x * rng.choice([-1.0, 1.0], x.shape)


def domains(op: str, real: RealFormat, rng: np.random.Generator, n: int) -> list[Floats]:
    """Points (arguments, n) of several parts of a function's domain: everywhere, and where digits are easily lost."""
    wide, steep = (1020, 708.0) if real is DOUBLE else (125, 88.0)
    small = signed(rng, powers(rng, -30, 0, n))
    edge = 1 - powers(rng, -real.fraction, -1, n)
    near_one = 1 + 0.5 * signed(rng, powers(rng, -real.fraction, 0, n))
    everywhere = signed(rng, powers(rng, -wide, wide, n))
    unit = rng.uniform(-1, 1, n)
    turns = [rng.uniform(-10, 10, n), signed(rng, powers(rng, -20, 13, n))]
    single = {
        "log": [powers(rng, -wide - 3, wide, n), near_one],
        "log1p": [powers(rng, -30, wide, n), 0.99 * small, -edge],
        "asin": [unit, small, edge],
        "acos": [unit, small, edge],
        "sinh": [small, rng.uniform(-steep - 1.4, steep + 1.4, n)],
        "cosh": [small, rng.uniform(-steep - 1.4, steep + 1.4, n)],
        "asinh": [everywhere, signed(rng, powers(rng, -6, 6, n))],
        "acosh": [1 + powers(rng, -real.fraction, 3, n), powers(rng, 0, wide, n)],
        "atanh": [unit, small, edge],
        "erf": [signed(rng, powers(rng, -30, 4, n)), rng.uniform(-7, 7, n)],
        "sin": turns, "cos": turns, "tan": turns[:1],
        "exp": [rng.uniform(-steep - 30, steep, n), small],
        "expm1": [rng.uniform(-40, steep, n), small],
        "tanh": [signed(rng, powers(rng, -20, 5, n))],
        "atan": [signed(rng, powers(rng, -40, 40, n))],
    }  # fmt: skip
    if op in single:
        return [points[None] for points in single[op]]
    if op == "pow":
        bases = [powers(rng, -wide, wide, n), near_one]
        reach = [rng.uniform(-1, 1, n) * wide / np.maximum(np.abs(np.log2(x)), 1e-30) for x in bases]
        usual = np.stack([powers(rng, -3, 3, n), signed(rng, powers(rng, -3, 5, n))])
        return [*(np.stack(pair) for pair in zip(bases, reach, strict=True)), usual]
    x = signed(rng, powers(rng, -20, 20, n))
    pairs = [np.stack([x, signed(rng, np.abs(x)) * powers(rng, -40, 5, n)])]
    if op != "atan2":
        halves = np.stack([np.round(signed(rng, powers(rng, 0, 20, n))), np.round(powers(rng, 1, 8, n)) / 2])
        pairs += [halves, np.stack([signed(rng, powers(rng, -40, 30, n)), powers(rng, -12, 12, n)])]
    return pairs


def fmod(x: Any, y: Any) -> Any:
    rest = abs(x) - abs(y) * mpmath.floor(abs(x) / abs(y))
    return rest if x >= 0 else -rest


EXACT = {
    "pow": mpmath.power, "fmod": fmod, "remainder": lambda x, y: x - y * mpmath.nint(x / y),
}  # fmt: skip


def worst(op: str, real: RealFormat, points: Floats) -> tuple[float, list[float]]:
    """The largest error in units in the last place, and where it is."""
    x = points.astype(real.dtype)
    found, info, largest = on_this_machine(op, real)(x)[0], np.finfo(real.dtype), (0.0, [0.0])
    function = EXACT.get(op) or getattr(mpmath, op)
    with mpmath.workprec(240):
        for value, column in zip(found, x.T, strict=True):
            truth = function(*(mpmath.mpf(float(each)) for each in column))
            if abs(truth) > float(info.max):
                error = 0.0 if np.isinf(value) else math.inf
            else:
                exponent = int(mpmath.frexp(truth)[1]) - 1 if truth else -10_000
                unit = mpmath.mpf(2) ** max(exponent - info.nmant, info.minexp - info.nmant)
                error = (
                    float(abs(mpmath.mpf(float(value)) - truth) / unit) if np.isfinite(value) else math.inf
                )
            if not error <= largest[0]:
                largest = error, [float(each) for each in column]
    return largest


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("op", BOUNDS)
def test_the_stated_units_in_the_last_place_hold(op, real, rng):
    for points in domains(op, real, rng, QUICK):
        error, where = worst(op, real, points)
        assert error <= BOUNDS[op][real is SINGLE], where


@pytest.mark.campaign
@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("op", BOUNDS)
def test_they_hold_at_thousands_of_points(op, real, campaign):
    for rng in campaign(50):
        for points in domains(op, real, rng, SHARE):
            error, where = worst(op, real, points)
            assert error <= BOUNDS[op][real is SINGLE], where


EDGES = (0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 1.5, 2.0, 3.0, -2.0, -3.0, 5e-324, 1e-310, 1e-45, 1e308, 3e38, -1e308,
         math.inf, -math.inf, math.nan)  # fmt: skip
NUMPY = {"pow": np.power, "asin": np.arcsin, "acos": np.arccos, "asinh": np.arcsinh, "acosh": np.arccosh,
         "atanh": np.arctanh, "erf": None, "fmod": np.fmod, "remainder": None}  # fmt: skip


def reference(op: str, x: Floats) -> Floats:
    """NumPy's value, or what the C library has where it has none."""
    function = NUMPY.get(op, getattr(np, op, None))
    if function is not None:
        return function(*x)
    scalar = getattr(math, op)

    def one(*arguments: float) -> float:
        try:
            return scalar(*arguments)
        except ValueError:
            return math.nan

    return np.array([one(*map(float, column)) for column in x.T], dtype=x.dtype)


@pytest.mark.parametrize("real", REALS)
@pytest.mark.parametrize("op", ERRORS)
def test_edges_are_as_c99_says(op, real):
    with np.errstate(all="ignore"):
        pairs = list(itertools.product(np.array(EDGES, dtype=real.dtype), repeat=ARITY[op]))
        x = np.array(pairs, dtype=real.dtype).T
        truth = reference(op, x)
        if op in ("fmod", "remainder"):  # quotients beyond the rounds are NaN
            x, truth = (part[..., ~(np.abs(x[0] / x[1]) > 2.0**60) | (x[1] == 0)] for part in (x, truth))
    found = on_this_machine(op, real)(x)[0]
    special = ~np.isfinite(truth) | (truth == 0)
    for column, a, b, strict in zip(x.T, found, truth, special, strict=True):
        if strict:
            same = np.isnan(a) if np.isnan(b) else a == b and np.signbit(a) == np.signbit(b)
            assert same, (op, column, a, b)
    usual = ~special & (np.abs(truth) >= np.finfo(real.dtype).tiny)
    np.testing.assert_allclose(found[usual], truth[usual], rtol=4 * np.finfo(real.dtype).eps)
    slight = np.finfo(real.dtype).smallest_subnormal
    np.testing.assert_allclose(found[~special & ~usual], truth[~special & ~usual], atol=2 * slight)


@pytest.mark.parametrize("op", ERRORS)
def test_vectors_have_the_same_bits_as_scalars(op, rng):
    for points in domains(op, DOUBLE, rng, 64):
        np.testing.assert_array_equal(*(on_this_machine(op, DOUBLE, width)(points) for width in (1, 8)))


@pytest.mark.parametrize("real", REALS)
def test_quotients_beyond_the_rounds_are_not_numbers(real):
    many = 2.0 ** (60 if real is SINGLE else 140)
    x = np.array([[1.7 * many, 1.7 * many * 2.0**60], [1.1, 1.1]], dtype=real.dtype)
    near, beyond = on_this_machine("fmod", real)(x)[0]
    assert near == math.fmod(*map(float, x[:, 0]))
    assert np.isnan(beyond)
