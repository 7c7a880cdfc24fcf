"""Programs as CUDA C, compiled by NVRTC and run as C++, against the kernels."""

from functools import partial

import pytest

from languages import laws
from languages.cases import operations
from languages.nvidia import called, nvrtc_compiled
from parameters import mostly_slow
from trundle.errors import InputError
from trundle.languages import source
from trundle.languages.cuda import CUDA


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_match_their_kernels(name, seed):
    laws.robot_matches_its_kernel(name, called, seed)


@pytest.mark.parametrize("kind", mostly_slow(range(4), [0]))
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


@pytest.mark.parametrize("name", ["while", "sin", "threadIdx"])
def test_a_function_can_not_have_any_name(name):
    with pytest.raises(InputError, match=f"'{name}' can't be a name in CUDA"):
        source({name: operations()}, CUDA)


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_nvidia_compiles_robots(name):
    programs = {"dynamics": laws.MODELS[name]().dynamics}
    kernel = 'extern "C" __global__ void all(double *const *at) {{ dynamics({}); }}'
    arguments = ", ".join(f"at[{k}]" for k in range(4))
    assert ".visible .entry all" in nvrtc_compiled(source(programs, CUDA) + kernel.format(arguments))


def test_nvidia_compiles_every_operation():
    kernel = 'extern "C" __global__ void all(double *const *at) { f(at[0], at[1]); }'
    assert ".visible .entry all" in nvrtc_compiled(source({"f": operations()}, CUDA) + kernel)
