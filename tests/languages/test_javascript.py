"""Programs as JavaScript against the kernels: every operation, every robot of the catalogue, an arm of seven joints."""

import numpy as np
import pytest

from languages import laws
from languages.cases import operations
from languages.node import called, run_module
from trundle.errors import InputError
from trundle.languages import JAVASCRIPT, identifiers, source
from trundle.languages.language import functions
from trundle.program import Group, Tracer


@pytest.mark.parametrize("name", laws.ROBOTS)
def test_robots_match_their_kernels(name, seed):
    laws.robot_matches_its_kernel(name, called, seed)


@pytest.mark.parametrize("kind", range(4))
def test_random_programs_match_their_kernels(kind):
    laws.random_program_matches_its_kernel(kind, called)


def test_every_operation_at_its_edges():
    laws.every_operation_matches_at_its_edges(called, one_to_nan=np.nan)


def test_long_programs_are_cut_into_functions():
    assert len(list(functions("long_one", laws.long_program(), JAVASCRIPT))) > 3
    laws.long_program_matches_its_kernel(called)


def test_any_label_becomes_a_word():
    laws.any_label_becomes_a_word(called)


def test_constants_keep_their_bits():
    laws.constants_keep_their_bits(called)


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


def test_names_of_a_robot_are_nothing_but_words_in_the_text():
    tracer = Tracer("state")
    (x,) = tracer.inputs("state", 1)
    program = tracer.program("*/alert(1)/*", {"state": ("</script>",)}, {"rate": (("`${evil}`",), [x * x])})
    assert program.outputs[0] == Group("rate", ("`${evil}`",))
    text = source({"f": program}, JAVASCRIPT)
    assert "const script = state[0];" in text
    assert not any(bad in text for bad in ("</", "`", "$", "*/", "alert"))


def test_a_function_can_not_have_any_name():
    with pytest.raises(InputError, match="'for' can't be a name in JavaScript"):
        source({"for": operations()}, JAVASCRIPT)


def test_prepared_functions_are_the_plain_ones(rng):
    laws.prepared_functions_are_the_plain_ones(called, rng)
