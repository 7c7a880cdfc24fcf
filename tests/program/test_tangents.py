"""Derivatives of traced values against central differences, substitutions and numbers against native code."""

import numpy as np
import pytest

from trundle.errors import TrundleError
from trundle.program import Tracer, compile_program, tangents
from trundle.scalars import absolute, atan2, cos, less, maximum, minimum, sin, sqrt, tan, where

RNG = np.random.default_rng(0)


def values_of(x, y):
    return [
        x + y, x - y, -x, x + x, x * x, x * y, x / y, 1 / x, sqrt(x), sin(x), cos(x), tan(x), atan2(y, x),
        absolute(x - y), minimum(x, y), maximum(x, y), where(less(x, y), x * y, y), x**3, x**2.3, 5.0,
        sin(x * y) / (x + cos(y)) * y,
    ]  # fmt: skip


@pytest.fixture(scope="module")
def traced():
    tracer = Tracer("state", "parameter")
    (x,), (y,) = tracer.inputs("state", 1), tracer.inputs("parameter", 1)
    return x, y, values_of(x, y)


def test_every_operation_against_differences(traced):
    x, y, values = traced
    at = RNG.uniform(0.3, 2, (2, 50))
    found = np.array([tangents.evaluated(row, [at[:1], at[1:]]) for row in tangents.jacobian(values, [x, y])])
    for k, step in enumerate(([[1e-6], [0]], [[0], [1e-6]])):
        above, below = (np.array(tangents.evaluated(values, [p[:1], p[1:]])) for p in (at + step, at - step))
        np.testing.assert_allclose(found[:, k], (above - below) / 2e-6, rtol=2e-8, atol=2e-8)


def test_numbers_against_native_code(traced):
    *_, values = traced
    at = RNG.uniform(0.3, 2, (2, 8))
    labels = {"state": ("x",), "parameter": ("y",)}
    names = tuple(str(k) for k in range(len(values)))
    other = Tracer("state", "parameter")
    (a,), (b,) = other.inputs("state", 1), other.inputs("parameter", 1)
    program = other.program("all", labels, {"out": (names, values_of(a, b))})
    (native,) = compile_program(program)(at[:1], at[1:])
    np.testing.assert_allclose(tangents.evaluated(values, [at[:1], at[1:]]), native, rtol=1e-14)
    (single,) = tangents.once(program, at[:1, 3], at[1:, 3])
    np.testing.assert_allclose(single, native[:, 3], rtol=1e-14)


def test_substitution(traced):
    x, y, values = traced
    swapped = tangents.replaced(values, [x, y], [y, x])
    at = RNG.uniform(0.3, 2, (2, 8))
    np.testing.assert_array_equal(
        tangents.evaluated(swapped, [at[:1], at[1:]]), tangents.evaluated(values, [at[1:], at[:1]])
    )


def test_what_vanishes_by_structure_is_plain_zero(traced):
    x, y, _ = traced
    assert tangents.jacobian([sin(x), 3.0], [y]) == [[0], [0]]
    assert (x - x).is_zero()
    assert ((x - x) * y).is_zero()


def test_exponents_that_move_are_refused(traced):
    x, y, _ = traced
    with pytest.raises(TrundleError, match="exponent"):
        tangents.jacobian([x**y], [x])
