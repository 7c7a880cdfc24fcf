"""A program in two: values that hang on parameters alone, and the rest."""

from __future__ import annotations

import numpy as np
import pytest

import trundle
from program.programs import DEFAULTS, differential_drive, random_program
from trundle.errors import InputError
from trundle.program import Tracer, split


def test_main_after_preparation_is_the_program_for_every_choice_of_groups():
    program = random_program(5)
    rng = np.random.default_rng(5)
    a, b = rng.normal(size=4), rng.normal(size=3)
    expected = program.evaluate(a, b)
    for groups in ((), ("a",), ("b",), ("b", "a")):
        preparation, main = split(program, *groups)
        prepared = preparation.evaluate(*({"a": a, "b": b}[group.name] for group in preparation.inputs))
        for ours, theirs in zip(main.evaluate(a, b, *prepared), expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13)
    assert main.operations == 0  # what hangs on both groups hangs on them alone


def test_the_same_bits_where_no_quotient_becomes_a_product():
    program = differential_drive()
    rng = np.random.default_rng(2)
    x, u = rng.normal(size=9), rng.normal(size=2)
    preparation, main = split(program, "state")  # its sines; nothing is divided by a state
    found = main.evaluate(x, u, DEFAULTS, *preparation.evaluate(x))
    assert np.array_equal(found[0], program.evaluate(x, u, DEFAULTS)[0])


def test_no_operation_is_done_twice_and_none_but_the_parameters_own_moves():
    program = trundle.derive(trundle.catalog.swerve()).dynamics
    preparation, main = split(program, "parameter")
    reciprocals = 20  # at most, of quotients that become products
    assert preparation.operations + main.operations <= program.operations + reciprocals
    assert main.operations == program.operations_excluding("parameter") < program.operations
    assert [group.name for group in preparation.inputs] == ["parameter"]
    assert main.inputs[:-1] == program.inputs
    place = len(program.inputs)
    for i, read in zip(main.instructions, main.dependencies, strict=True):
        assert i.args == () or not read <= {program.input_index("parameter"), place}


def test_inputs_and_constants_stay_where_they_are():
    tracer = Tracer("state", "parameter")
    (x,), (p, q) = tracer.inputs("state", 1), tracer.inputs("parameter", 2)
    labels = {"state": ("x",), "parameter": ("p", "q")}
    program = tracer.program("t", labels, {"y": (("a", "b", "c"), [p * x, 3.0, q])})
    preparation, main = split(program, "parameter")
    assert preparation.outputs[0].size == preparation.operations == 0
    assert main.operations == program.operations
    assert main([2.0], [5.0, 7.0], []).tolist() == [10.0, 3.0, 7.0]


def test_a_group_that_there_is_not_is_told():
    with pytest.raises(InputError, match="no input group 'parameters'"):
        split(differential_drive(), "parameters")
