"""Tracing, simplification, counting, listing and differentiation of programs."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from program.programs import DEFAULTS, differential_drive, random_program
from trundle.errors import InputError, TrundleError
from trundle.program import compile_program, trace


def one(expression, symbols):
    return trace("t", {"x": ([f"x{k}" for k in range(symbols.numel())], symbols)}, {"y": (["y"], expression)})


@pytest.mark.parametrize(
    ("make", "ops"),
    [
        (lambda x: x[0] * 1 + 0, {}),
        (lambda x: x[0] + x[0], {"twice": 1}),
        (lambda x: x[0] * x[0], {"sq": 1}),
        (lambda x: x[0] - (-x[1]), {"add": 1}),
        (lambda x: (-x[0]) * (-x[1]), {"mul": 1}),
        (lambda x: x[0] / 4, {"mul": 1}),
        (lambda x: x[0] / 3, {"div": 1}),
        (lambda x: x[0] ** 4, {"sq": 2}),
        (lambda x: x[0] / x[2] + x[1] / x[2], {"inv": 1, "mul": 2, "add": 1}),
        (lambda x: ca.sin(-x[0]) + ca.sin(x[0]) * x[1], {"sin": 1, "mul": 1, "sub": 1}),
        (lambda x: ca.if_else(x[0] > 0, x[1], x[2]), {"lt": 1, "select": 1}),
    ],
)
def test_light_algebra(make, ops):
    x = ca.SX.sym("x", 3)
    assert one(make(x), x).count_by_op() == ops


def test_common_parts_are_computed_once_across_outputs():
    x = ca.SX.sym("x", 2)
    outputs = {"a": (["a"], ca.sin(x[0]) * x[1]), "b": (["b"], ca.sin(x[0]) + 1)}
    assert trace("t", {"x": (["p", "q"], x)}, outputs).operations == 3


def test_counts_and_listing():
    program = differential_drive()
    assert program.operations == sum(program.count_by_op().values()) <= 70
    assert program.operations_excluding("parameter") <= 40
    assert program.operations_excluding("state", "input", "parameter") == 0
    assert program.dependencies[program.results[0][2]] == {program.input_index("state")}
    text = program.describe()
    assert "state[theta]" in text
    assert "out rate[d x/dt]" in text


@pytest.mark.parametrize("seed", range(3))
def test_jacobian_meets_finite_differences(seed):
    print("seed", seed)
    program = differential_drive()
    jacobian = program.jacobian("rate", "state")
    assert jacobian.outputs[0].name == "d rate/d state"
    assert jacobian.outputs[0].labels[2] == "d d x/dt/d theta"
    rng = np.random.default_rng(seed)
    x, u = rng.normal(size=9), rng.normal(size=2)
    got = compile_program(jacobian)(x, u, DEFAULTS)[0].reshape(9, 9)
    h = 1e-6
    step = np.repeat(x[:, None], 9, axis=1) + h * np.eye(9), np.repeat(x[:, None], 9, axis=1) - h * np.eye(9)
    kernel = compile_program(program)
    difference = (kernel(step[0], u, DEFAULTS)[0] - kernel(step[1], u, DEFAULTS)[0]) / (2 * h)
    np.testing.assert_allclose(got, difference, rtol=1e-6, atol=1e-6)


def test_jacobian_kernel_meets_casadi_on_all_operations():
    seed = 3
    print("seed", seed)
    jacobian = random_program(seed, size=5).jacobian("f", "a")
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=(4, 9)), rng.normal(size=(3, 9))
    expected = jacobian.evaluate(a, b)[0]
    np.testing.assert_allclose(compile_program(jacobian)(a, b)[0], expected, rtol=1e-9, atol=1e-9)


def test_bad_programs_are_explained():
    x, y = ca.SX.sym("x", 2), ca.SX.sym("y")
    with pytest.raises(InputError, match="symbols y, which are in none"):
        trace("t", {"x": (["p", "q"], x)}, {"z": (["z"], x[0] * y)})
    with pytest.raises(InputError, match="3 labels"):
        trace("t", {"x": (["p", "q", "r"], x)}, {"z": (["z"], x[0])})
    with pytest.raises(InputError, match="more than once"):
        trace("t", {"x": (["p", "p"], x)}, {"z": (["z"], x[0])})
    with pytest.raises(InputError, match="plain symbols"):
        trace("t", {"x": (["p", "q"], 2 * x)}, {"z": (["z"], x[0])})
    with pytest.raises(TrundleError, match="OP_ERFINV"):
        one(ca.erfinv(x[0]), x)
    with pytest.raises(InputError, match="no output group 'rates'; did you mean 'rate'"):
        differential_drive().jacobian("rates", "state")
