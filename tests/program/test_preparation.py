"""A program in two: values that hang on parameters alone, and the rest."""

from __future__ import annotations

import numpy as np
import pytest

from derived import derived
from program.programs import DEFAULTS, differential_drive, random_program
from trundle.errors import InputError
from trundle.program import Tracer, compile_program, split
from trundle.program.kernel import Kernel
from trundle.program.llvm import llvm_kernel
from trundle.scalars import sin


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
    program = derived("swerve").dynamics
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


def test_a_kernel_of_one_state_follows_its_parameters_and_prepares_when_they_change():
    program = derived("swerve").dynamics
    rng = np.random.default_rng(8)
    x, u, p = (rng.uniform(0.5, 1.5, size=group.size) for group in program.inputs)
    kernel = compile_program(program)
    assert kernel._one_state.parts[0] is not None
    rate = np.empty(program.outputs[0].size)
    call = kernel.bind(x, u, p, rate)
    for change in range(6):
        if change % 2:
            p[rng.integers(p.size)] *= 1.5
        x[:] = rng.normal(size=x.size)
        call()
        np.testing.assert_allclose(rate, program.evaluate(x, u, p)[0], rtol=1e-9, atol=1e-9)
    p[0] = np.nan
    call()
    assert np.isnan(rate).any()


@pytest.mark.parametrize("count", [1, 7, 8, 9, 17])
def test_every_parameter_is_compared(count):
    """A change of any one of them reaches the result, where its last ones fill no register, too."""
    tracer = Tracer("state", "parameter")
    (x,), p = tracer.inputs("state", 1), tracer.inputs("parameter", count)
    work = sum((2.0 + sin(k + value * value) for k, value in enumerate(p)), 0.0)
    labels = {"state": ("x",), "parameter": tuple(f"p{k}" for k in range(count))}
    program = tracer.program("t", labels, {"y": (("y",), [x * work])})
    call = compile_program(program).single()
    at = np.linspace(1.0, 2.0, count)
    for k in range(count):
        at[k] += 0.25
        expected = 3.0 * sum(2.0 + np.sin(j + value * value) for j, value in enumerate(at))
        np.testing.assert_allclose(call(np.array([3.0]), at)[0], expected, rtol=1e-13)


def test_long_programs_prepare_in_pieces(monkeypatch):
    monkeypatch.setattr(llvm_kernel, "LONG", 10)
    monkeypatch.setattr(llvm_kernel, "PIECE", 20)
    program = differential_drive()
    rng = np.random.default_rng(4)
    call = Kernel(program).single()
    for _ in range(3):
        x, u = rng.normal(size=9), rng.normal(size=2)
        p = DEFAULTS * rng.uniform(0.9, 1.1, size=DEFAULTS.size)
        np.testing.assert_allclose(call(x, u, p)[0], program.evaluate(x, u, p)[0], rtol=1e-12, atol=1e-12)
