"""Programs as Java against the kernels: every operation, every robot of the catalogue, an arm of seven joints."""

import numpy as np
import pytest

from languages import laws
from languages.cases import MODELS, operations
from languages.java_code import called
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.languages import JAVA, source
from trundle.languages.language import functions


@pytest.mark.parametrize("name", mostly_slow(MODELS, ["differential_drive"]))
def test_robots_match_their_kernels(name, seed):
    laws.robot_matches_its_kernel(name, called, seed)


@pytest.mark.slow
@pytest.mark.parametrize("kind", range(4))
def test_random_programs_match_their_kernels(kind):
    laws.random_program_matches_its_kernel(kind, called)


def test_every_operation_at_its_edges():
    laws.every_operation_matches_at_its_edges(called, one_to_nan=np.nan)


@pytest.mark.slow
def test_long_programs_are_cut_into_methods_that_are_compiled():
    assert len(list(functions("many", laws.long_program(), JAVA))) > 10
    laws.long_program_matches_its_kernel(called)


def test_any_label_becomes_a_word():
    laws.any_label_becomes_a_word(called)


def test_constants_keep_their_bits():
    laws.constants_keep_their_bits(called)


@pytest.mark.parametrize("name", ["while", "record", "Math"])
def test_a_method_can_not_have_any_name(name):
    with pytest.raises(InputError, match=f"'{name}' can't be a"):
        source({name: operations()}, JAVA)


@pytest.mark.slow
def test_prepared_functions_are_the_plain_ones(rng):
    laws.prepared_functions_are_the_plain_ones(called, rng)
