"""Programs as Fortran 2008, every warning of gfortran an error, against the kernels."""

from functools import partial

import pytest

from languages import laws
from languages.cases import operations
from languages.fortran import called
from trundle.errors import InputError
from trundle.languages import identifiers, source
from trundle.languages.fortran import FORTRAN


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_match_their_kernels(name, seed):
    laws.robot_matches_its_kernel(name, called, seed)


@pytest.mark.parametrize("kind", range(4))
def test_random_programs_match_their_kernels(kind):
    laws.random_program_matches_its_kernel(kind, called)


def test_every_operation_at_its_edges():
    laws.every_operation_matches_at_its_edges(called)


def test_long_programs():
    laws.long_program_matches_its_kernel(partial(called, level="-O0"))


def test_any_label_becomes_a_word():
    laws.any_label_becomes_a_word(called)


def test_constants_keep_their_bits():
    laws.constants_keep_their_bits(called)


@pytest.mark.parametrize("name", ["SIN", "wp", "Call"])
def test_a_function_can_not_have_any_name(name):
    with pytest.raises(InputError, match=f"'{name}' can't be a name in Fortran"):
        source({name: operations()}, FORTRAN)


def test_names_differ_in_more_than_their_case_and_are_short():
    names = ["Rate", "rate", "SIN", "x" * 80, "x" * 79]
    found = identifiers(names, FORTRAN)
    assert [found[name] for name in names[:3]] == ["Rate", "rate_2", "SIN_"]
    assert max(map(len, found.values())) <= 63
    assert len({name.lower() for name in found.values()}) == len(names)


def test_lines_are_as_short_as_the_standard_says():
    text = source({"dynamics": laws.MODELS["arm of seven joints"]().dynamics}, FORTRAN)
    assert max(map(len, text.splitlines())) <= 132


def test_prepared_functions_are_the_plain_ones(rng):
    laws.prepared_functions_are_the_plain_ones(called, rng)
