"""Programs as Java against the kernels: every operation, every robot of the catalogue, an arm of seven joints."""

import numpy as np
import pytest

from languages.cases import edges, models, operations, random_program, states
from languages.java_code import called
from languages.rounding import off
from trundle.errors import InputError
from trundle.languages import JAVA, source
from trundle.languages.language import functions
from trundle.program import Tracer

MODELS = models()
ROBOTS = [
    name if name == "differential_drive" else pytest.param(name, marks=pytest.mark.slow) for name in MODELS
]


@pytest.mark.parametrize("name", ROBOTS)
def test_robots_match_their_kernels(name, seed):
    model = MODELS[name]()
    given = states(model, 1000, seed)
    for program in (model.dynamics, model.observe):
        expected = np.atleast_2d(program(*given))
        assert off(program, given, called(program, *given)[0], expected) <= 1


@pytest.mark.slow
@pytest.mark.parametrize("kind", range(4))
def test_random_programs_match_their_kernels(kind):
    program, rng = random_program(kind), np.random.default_rng(kind)
    given = [rng.normal(size=(group.size, 50)) for group in program.inputs]
    for got, expected in zip(called(program, *given), program(*given), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def test_every_operation_at_its_edges():
    program, given = operations(), edges()
    expected = np.asarray(program(given))
    for label, got, wanted in zip(
        program.outputs[0].labels, called(program, given)[0], expected, strict=True
    ):
        if label == "pow":  # C takes 1 to any power, NaN too, for 1; Java does not
            wanted = np.where(np.isnan(given[1]) & (given[0] == 1), np.nan, wanted)
        np.testing.assert_allclose(got, wanted, rtol=1e-13, err_msg=label)


@pytest.mark.slow
def test_long_programs_are_cut_into_methods_that_are_compiled():
    tracer = Tracer("state")
    x, y = tracer.inputs("state", 2)
    total = x
    values = [x]
    for k in range(2500):
        total = total * 0.999 + y * values[k // 2]
        values.append(total)
    outputs = {"first": (("a", "b"), [values[3], y]), "last": (("c",), [total])}
    program = tracer.program("long", {"state": "xy"}, outputs)
    assert len(list(functions("long", program, JAVA))) > 10
    given = np.array([[0.5, -1.0], [1e-3, 2e-3]])
    for got, expected in zip(called(program, given), program(given), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_constants_keep_their_bits():
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    values = [-0.0, 1 / 3, 1e-300, 5e-324, 1.7e308, float("inf"), -float("inf"), float("nan"), x]
    program = tracer.program("plain", {"state": "x"}, {"out": ("abcdefghi", values)})
    got = called(program, np.array([[2.0]]))[0][:, 0]
    assert np.array([*values[:-1], 2.0]).tobytes() == got.tobytes()


@pytest.mark.parametrize("name", ["while", "record", "Math"])
def test_a_method_can_not_have_any_name(name):
    with pytest.raises(InputError, match=f"'{name}' can't be a"):
        source({name: operations()}, JAVA)
