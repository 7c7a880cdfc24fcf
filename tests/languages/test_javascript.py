"""Programs as JavaScript against the kernels: every operation, every robot of the catalogue, an arm of seven joints."""

import numpy as np
import pytest

from languages.cases import edges, models, off, operations, random_program, states
from languages.node import called, run_module
from trundle.errors import InputError
from trundle.languages import JAVASCRIPT, identifiers, source
from trundle.languages.language import functions
from trundle.program import Group, Tracer

MODELS = models()


@pytest.mark.parametrize("name", MODELS)
def test_robots_match_their_kernels(name, seed):
    model = MODELS[name]()
    given = states(model, 1000, seed)
    for program in (model.dynamics, model.observe):
        expected = np.atleast_2d(program(*given))
        assert off(program, given, called(program, *given)[0], expected) <= 1


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
        if label == "pow":  # C takes 1 to any power, NaN too, for 1; JavaScript does not
            wanted = np.where(np.isnan(given[1]) & (given[0] == 1), np.nan, wanted)
        np.testing.assert_allclose(got, wanted, rtol=1e-13, err_msg=label)


def test_long_programs_are_cut_into_functions():
    tracer = Tracer("state")
    x, y = tracer.inputs("state", 2)
    total = x
    values = [x]
    for k in range(2500):
        total = total * 0.999 + y * values[k // 2]
        values.append(total)
    outputs = {"first": (("a", "b"), [values[3], y]), "last": (("c",), [total])}
    program = tracer.program("long", {"state": "xy"}, outputs)
    assert len(list(functions("long", program, JAVASCRIPT))) > 3
    given = np.array([[0.5, -1.0], [1e-3, 2e-3]])
    for got, expected in zip(called(program, given), program(given), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_programs_of_constants_and_inputs_alone():
    tracer = Tracer("state")
    x, y = tracer.inputs("state", 2)
    program = tracer.program("plain", {"state": "xy"}, {"out": ("abcd", [y, -0.0, 1 / 3, -x])})
    got = called(program, np.array([[1.0], [2.0]]))[0][:, 0]
    assert got.tolist() == [2.0, -0.0, 1 / 3, -1.0]
    assert np.signbit(got[1])


def test_hostile_names_become_identifiers():
    names = [
        "class",
        "d rate/d state",
        "</script><script>alert(1)//",
        "1st",
        "x\u2028y",
        "passed",
        "état",
        "",
        "a.b",
        "a b",
    ]
    found = identifiers(names, JAVASCRIPT)
    assert list(found) == names
    assert len(set(found.values())) == len(names)
    assert all(each.isascii() and each.isidentifier() for each in found.values())
    script = "".join(f"const {each} = 1;" for each in found.values())
    assert run_module(f"{script} console.log(1)") == b"1\n"


def test_names_of_a_robot_are_not_in_the_text():
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    program = tracer.program("*/alert(1)/*", {"state": ("</script>",)}, {"rate": (("`${evil}`",), [x * x])})
    assert program.outputs[0] == Group("rate", ("`${evil}`",))
    text = source({"f": program}, JAVASCRIPT)
    assert not any(bad in text for bad in ("alert", "script", "evil"))


def test_a_function_can_not_have_any_name():
    with pytest.raises(InputError, match="'for' can't be a name in JavaScript"):
        source({"for": operations()}, JAVASCRIPT)
