"""What a language's functions are held to, given what calls them: `called(program, *groups)` → the output groups."""

import numpy as np

from languages.cases import MODELS, edges, operations, states
from languages.rounding import off
from parameters import mostly_slow
from program.programs import random_program
from trundle.exports.entries import entries
from trundle.exports.preparing import with_prepared
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


def any_label_becomes_a_word(called):
    """Labels that are words of languages, of their libraries, of the text itself, or no words at all."""
    labels = (
        "v7", "for", "sin", "sqrt", "state", "f", "f_1", "end", "passed", "Größe", "größe", "*/", "1.a", "double", "np",
        "Math", "self", "lambda", "this", "merge", "y1", "NAN", "count", "parameter", "_", "x" * 250, "x" * 251,
    )  # fmt: skip
    tracer = Tracer("state")
    nodes = tracer.inputs("state", len(labels))
    total, *rest = nodes
    for node in rest:
        total = total * node + node * node
    program = tracer.program(
        "f", {"state": labels}, {"rate": (("for", "sin x"), [total, nodes[2] * nodes[3]])}
    )
    given = np.linspace(0.5, 1.5, 2 * len(labels)).reshape(-1, 2)
    np.testing.assert_allclose(called(program, given)[0], program(given), rtol=1e-12)


def constants_keep_their_bits(called):
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    values = [-0.0, 1 / 3, 1e-300, 5e-324, 1.7e308, float("inf"), -float("inf"), x, float("nan")]
    program = tracer.program("plain", {"state": "x"}, {"out": ("abcdefghi", values)})
    *got, nothing = called(program, np.array([[2.0]]))[0][:, 0]
    assert np.array([*values[:-2], 2.0]).tobytes() == np.array(got).tobytes()
    assert np.isnan(nothing)


def prepared_functions_are_the_plain_ones(called, rng):
    """A mecanum drive with other measures: what `prepare` gives makes its twins return what the functions do."""
    model = MODELS["mecanum"]()
    by_name = {
        entry.name: entry for entry in with_prepared(entries(model, ["dynamics", "kinematics", "odometry"]))
    }
    count = 20
    p = np.array([*model.parameters.values()])[:, None] * rng.uniform(
        0.9, 1.1, (len(model.parameters), count)
    )
    prepared = called(by_name["prepare"].program, p)[0]
    twins = [name for name in by_name if name.endswith("_prepared")]
    assert len(twins) == 5
    for name in twins:
        plain, twin = by_name[name.removesuffix("_prepared")].program, by_name[name].program
        given = {group.name: rng.uniform(-1, 1, (group.size, count)) for group in plain.inputs}
        given |= {"parameter": p, "prepared": prepared}
        expected = plain(*(given[group.name] for group in plain.inputs))
        groups = called(twin, *(given[group.name] for group in twin.inputs))
        expected = expected if isinstance(expected, tuple) else (expected,)
        for got, wanted in zip(groups, expected, strict=True):
            scale = max(1.0, np.abs(wanted).max(initial=0.0))
            # NumPy's constants are one column
            got = np.atleast_2d(np.transpose(got)).T + np.zeros(np.shape(wanted))
            np.testing.assert_allclose(got, wanted, rtol=0, atol=1e-12 * scale, err_msg=name)
