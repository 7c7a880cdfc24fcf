"""Programs as C against the kernels, in double and in single precision; every warning is an error."""

from functools import partial

import numpy as np
import pytest

from languages import laws
from languages.c_code import called
from languages.cases import MODELS, operations, states
from languages.rounding import SINGLE, off
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.languages import C_SINGLE, C, source
from trundle.languages.language import functions
from trundle.program import Tracer


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_match_their_kernels(name, seed):
    laws.robot_matches_its_kernel(name, called, seed)


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_in_single_precision_stay_within_their_rounding(name, seed):
    model = MODELS[name]()
    given = [each.astype(np.float32).astype(float) for each in states(model, 1000, seed)]
    for program in (model.dynamics, model.observe):
        expected = np.atleast_2d(program(*given))
        assert off(program, given, called(program, *given, single=True)[0], expected, SINGLE) <= 1


@pytest.mark.parametrize("kind", mostly_slow(range(4), [0]))
def test_random_programs_match_their_kernels(kind):
    laws.random_program_matches_its_kernel(kind, partial(called, name="clang"))


def test_every_operation_at_its_edges():
    laws.every_operation_matches_at_its_edges(called)


def test_every_operation_in_single_precision():
    program = operations()
    given = np.random.default_rng(0).uniform(0.1, 0.9, (3, 200))
    given[0, ::2] += 1.0
    given = given.astype(np.float32).astype(float)
    got, expected = called(program, given, single=True)[0], np.asarray(program(given))
    for label, found, wanted in zip(program.outputs[0].labels, got, expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6, err_msg=label)


def test_long_programs_are_cut_into_functions():
    assert len(list(functions("long_one", laws.long_program(), C))) > 3
    laws.long_program_matches_its_kernel(partial(called, flags=("-O0",)))


def test_any_label_becomes_a_word():
    laws.any_label_becomes_a_word(called)


def test_constants_keep_their_bits():
    laws.constants_keep_their_bits(called)


def test_single_precision_refuses_what_it_can_not_hold():
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    program = tracer.program("small", {"state": "x"}, {"out": ("a", [x + 1e-300])})
    with pytest.raises(InputError, match="1e-300 is beyond single precision"):
        source({"small": program}, C_SINGLE)


@pytest.mark.parametrize("name", ["while", "class", "y0", "sin"])
def test_a_function_can_not_have_any_name(name):
    with pytest.raises(InputError, match=f"'{name}' can't be a name in C"):
        source({name: operations()}, C)


def test_prepared_functions_are_the_plain_ones(rng):
    laws.prepared_functions_are_the_plain_ones(called, rng)
