"""What a language's functions are held to, given what calls them: `called(program, *groups)` → the output groups."""

import numpy as np

from languages.cases import MODELS, edges, operations, states
from languages.rounding import off
from parameters import mostly_slow
from program.programs import random_program
from trundle.program import Tracer

ROBOTS = mostly_slow(MODELS, ("differential_drive", "mecanum", "four_bar"))


def robot_matches_its_kernel(name, called, seed):
    model = MODELS[name]()
    given = states(model, 1000, seed)
    for program in (model.dynamics, model.observe):
        expected = np.atleast_2d(program(*given))
        assert off(program, given, called(program, *given)[0], expected) <= 1


def random_program_matches_its_kernel(kind, called):
    program, rng = random_program(kind), np.random.default_rng(kind)
    given = [rng.normal(size=(group.size, 50)) for group in program.inputs]
    for got, expected in zip(called(program, *given), program(*given), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, atol=1e-12)


def every_operation_matches_at_its_edges(called, one_to_nan=1.0):
    """`one_to_nan`: what the language takes 1 to the power of NaN for; in C and in kernels that is 1."""
    program, given = operations(), edges()
    labels, got, expected = program.outputs[0].labels, called(program, given)[0], np.asarray(program(given))
    for label, found, wanted in zip(labels, got, expected, strict=True):
        if label == "pow":
            wanted = np.where(np.isnan(given[1]) & (given[0] == 1), one_to_nan, wanted)
        np.testing.assert_allclose(found, wanted, rtol=1e-13, err_msg=label)


def long_program():
    """A program of 5,000 operations, whose first values are used by its last ones, with a group that nothing reads."""
    tracer = Tracer("state", "unused")
    x, y = tracer.inputs("state", 2)
    total = x
    values = [x]
    for k in range(2500):
        total = total * 0.999 + y * values[k // 2]
        values.append(total)
    outputs = {"first": (("a", "b"), [values[3], y]), "last": (("c",), [total])}
    return tracer.program("long", {"state": "xy", "unused": "z"}, outputs)


def long_program_matches_its_kernel(called):
    program, given = long_program(), (np.array([[0.5, -1.0], [1e-3, 2e-3]]), np.zeros((1, 2)))
    for got, expected in zip(called(program, *given), program(*given), strict=True):
        np.testing.assert_allclose(got, np.reshape(expected, np.shape(got)), rtol=1e-12)


def constants_keep_their_bits(called):
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    values = [-0.0, 1 / 3, 1e-300, 5e-324, 1.7e308, float("inf"), -float("inf"), x, float("nan")]
    program = tracer.program("plain", {"state": "x"}, {"out": ("abcdefghi", values)})
    *got, nothing = called(program, np.array([[2.0]]))[0][:, 0]
    assert np.array([*values[:-2], 2.0]).tobytes() == np.array(got).tobytes()
    assert np.isnan(nothing)
