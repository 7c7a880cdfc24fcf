"""Programs as C against the kernels, in double and in single precision; every warning is an error."""

import numpy as np
import pytest

from languages.c_code import called
from languages.cases import edges, models, operations, random_program, states
from languages.rounding import SINGLE, off
from trundle.errors import InputError
from trundle.languages import C_SINGLE, C, source
from trundle.languages.language import functions
from trundle.program import Tracer

MODELS = models()
QUICK = {"differential-drive", "mecanum"}
ROBOTS = [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in MODELS]


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_match_their_kernels(name, seed):
    model = MODELS[name]()
    given = states(model, 1000, seed)
    for program in (model.dynamics, model.observe):
        expected = np.atleast_2d(program(*given))
        assert off(program, given, called(program, *given)[0], expected) <= 1


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_in_single_precision_stay_within_their_rounding(name, seed):
    model = MODELS[name]()
    given = [each.astype(np.float32).astype(float) for each in states(model, 1000, seed)]
    for program in (model.dynamics, model.observe):
        expected = np.atleast_2d(program(*given))
        assert off(program, given, called(program, *given, single=True)[0], expected, SINGLE) <= 1


@pytest.mark.parametrize("kind", range(4))
def test_random_programs_match_their_kernels(kind):
    program, rng = random_program(kind), np.random.default_rng(kind)
    given = [rng.normal(size=(group.size, 50)) for group in program.inputs]
    for got, expected in zip(called(program, *given, name="clang"), program(*given), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_every_operation_at_its_edges():
    program, given = operations(), edges()
    expected = np.asarray(program(given))
    for label, got, wanted in zip(
        program.outputs[0].labels, called(program, given)[0], expected, strict=True
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-13, err_msg=label)


def test_every_operation_in_single_precision():
    program = operations()
    given = np.random.default_rng(0).uniform(0.1, 0.9, (3, 200))
    given[0, ::2] += 1.0
    given = given.astype(np.float32).astype(float)
    for label, got, wanted in zip(
        program.outputs[0].labels,
        called(program, given, single=True)[0],
        np.asarray(program(given)),
        strict=True,
    ):
        np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6, err_msg=label)


def test_long_programs_are_cut_into_functions():
    tracer = Tracer("state", "unused")
    x, y = tracer.inputs("state", 2)
    total = x
    values = [x]
    for k in range(2500):
        total = total * 0.999 + y * values[k // 2]
        values.append(total)
    outputs = {"first": (("a", "b"), [values[3], y]), "last": (("c",), [total])}
    program = tracer.program("long", {"state": "xy", "unused": ""}, outputs)
    assert len(list(functions("long", program, C))) > 3
    given = np.array([[0.5, -1.0], [1e-3, 2e-3]]), np.empty((0, 2))
    for got, expected in zip(called(program, *given), program(*given), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_constants_keep_their_bits():
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    values = [-0.0, 1 / 3, 1e-300, 5e-324, 1.7e308, float("inf"), -float("inf"), float("nan"), x]
    program = tracer.program("plain", {"state": "x"}, {"out": ("abcdefghi", values)})
    got = called(program, np.array([[2.0]]))[0][:, 0]
    assert np.array([*values[:-1], 2.0]).tobytes() == got.tobytes()


def test_single_precision_refuses_what_it_can_not_hold():
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    program = tracer.program("small", {"state": "x"}, {"out": ("a", [x + 1e-300])})
    with pytest.raises(InputError, match="1e-300 is beyond single precision; write it in double precision"):
        source({"small": program}, C_SINGLE)


@pytest.mark.parametrize("name", ["while", "class", "y0", "sin"])
def test_a_function_can_not_have_any_name(name):
    with pytest.raises(InputError, match=f"'{name}' can't be a name in C"):
        source({name: operations()}, C)
