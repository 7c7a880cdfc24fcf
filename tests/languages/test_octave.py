"""Programs as Octave's functions against the kernels."""

import pytest

from languages import laws
from languages.cases import operations
from languages.octave import called
from trundle.errors import InputError
from trundle.languages import source
from trundle.languages.octave import OCTAVE


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_match_their_kernels(name, seed):
    laws.robot_matches_its_kernel(name, called, seed)


@pytest.mark.parametrize("kind", range(4))
def test_random_programs_match_their_kernels(kind):
    laws.random_program_matches_its_kernel(kind, called)


def test_every_operation_at_its_edges():
    laws.every_operation_matches_at_its_edges(called)


def test_long_programs():
    laws.long_program_matches_its_kernel(called)


def test_any_label_becomes_a_word():
    laws.any_label_becomes_a_word(called)


def test_constants_keep_their_bits():
    laws.constants_keep_their_bits(called)


@pytest.mark.parametrize("name", ["while", "sin", "ans"])
def test_a_function_can_not_have_any_name(name):
    with pytest.raises(InputError, match=f"'{name}' can't be a name in Octave"):
        source({name: operations()}, OCTAVE)


def test_prepared_functions_are_the_plain_ones(rng):
    laws.prepared_functions_are_the_plain_ones(called, rng)
