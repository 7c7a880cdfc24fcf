"""Derivatives of traced values against central differences, substitutions and numbers against native code."""

import numpy as np
import pytest

from derived import derived
from trundle.errors import TrundleError
from trundle.program import Tracer, compile_program, tangents
from trundle.program.sensitivities import with_tangents
from trundle.program.tracer import Node
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


def test_powers_have_slopes_by_what_moves_and_exponents_that_move_are_refused(traced):
    x, y, _ = traced
    at = RNG.uniform(0.3, 2, (2, 8))
    (slope,) = tangents.evaluated(tangents.jacobian([x**y], [x])[0], [at[:1], at[1:]])
    base, power = at
    np.testing.assert_allclose(slope, power * base ** (power - 1), rtol=1e-14)
    with pytest.raises(TrundleError, match="exponent"):
        tangents.jacobian([x**y], [y])


CHOICES = [
    ("abs", 1), ("min", 2), ("max", 2), ("select", 3), ("if_else_zero", 2), ("sign", 1), ("lt", 2), ("acos", 1),
    ("sinh", 1), ("cosh", 1), ("asinh", 1), ("acosh", 1), ("atanh", 1), ("expm1", 1), ("log1p", 1), ("erf", 1),
    ("hypot", 2), ("atan2", 2), ("sqrt", 1), ("tanh", 1), ("exp", 1), ("log", 1), ("asin", 1), ("atan", 1),
]  # fmt: skip


@pytest.mark.parametrize(("op", "arity"), CHOICES)
def test_operations_against_casadi(op, arity):
    tracer = Tracer("state")
    nodes = tracer.inputs("state", 3)
    value = Node(tracer.builder, tracer.builder.emit(op, *(node.value for node in nodes[:arity])))
    program = tracer.program(op, {"state": ("a", "b", "c")}, {"out": (("y",), [value * 3.0 + nodes[2]])})
    both = with_tangents(program, {"start": None})
    slopes = program.jacobian("out", "state")
    for x in RNG.uniform(0.1, 0.9, (20, 3)):
        x = 1 / x if op == "acosh" else x
        change = RNG.normal(size=3)
        y = both(np.concatenate([x, change]))
        assert y[0] == pytest.approx(program(x)[0], rel=1e-14)
        assert y[1] == pytest.approx(float(slopes.evaluate(x)[0] @ change), rel=1e-12, abs=1e-14)


def test_what_is_not_chosen_does_not_count_and_roots_at_rest_stand_still():
    tracer = Tracer("state")
    x, y = tracer.inputs("state", 2)
    values = [where(less(0, x), sin(x) / x, 1.0), sqrt(x * x + y * y), atan2(y, x)]
    program = tracer.program("rest", {"state": ("x", "y")}, {"out": (("a", "b", "c"), values)})
    assert with_tangents(program, {"start": None})([0.0, 0.0, 1.0, 2.0])[3:].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("count", [1, 9])
def test_both_ways_of_a_long_program_against_casadi(count):
    """One name goes operation by operation, many by the slopes."""
    program = derived("differential_drive").dynamics
    names = [*program.inputs[2].labels[:count]]
    both = with_tangents(program, {name: ("parameter", name) for name in names})
    x, u, p = (RNG.uniform(0.5, 1.5, group.size) for group in program.inputs)
    columns = RNG.normal(size=(count, x.size))
    by_x, by_p = (program.jacobian("rate", of).evaluate(x, u, p)[0] for of in ("state", "parameter"))
    by_x, by_p = by_x.reshape(x.size, -1), by_p.reshape(x.size, -1)
    found = both(np.concatenate([x, columns.ravel()]), u, p).reshape(count + 1, -1)
    np.testing.assert_allclose(found[0], program(x, u, p), rtol=1e-13)
    np.testing.assert_allclose(found[1:], columns @ by_x.T + by_p.T[:count], rtol=1e-11, atol=1e-11)


def test_truths_add_up_in_numpy_as_in_kernels():
    """NumPy's own comparisons are truths, and two of them added are one: a map's slope was half of what it is."""
    tracer = Tracer("x")
    (x,) = tracer.inputs("x", 1)
    values = [less(x, 1) * 2, less(x, 1) + less(x, 2), 1 - less(x, 1), where(less(x, 1), x, 3)]
    program = tracer.program("p", {"x": ("x",)}, {"f": (("a", "b", "c", "d"), values)})
    assert tangents.once(program, np.array([0.5]))[0].tolist() == [2, 2, 0, 0.5]
    assert (
        tangents.once(program, np.array([0.5]))[0].tolist() == program.evaluate(np.array([0.5]))[0].tolist()
    )
