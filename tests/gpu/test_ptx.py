"""PTX of programs and rollouts: made quickly, and taken by NVIDIA's assembler."""

from __future__ import annotations

import re

import llvmlite.binding as llvm
import numpy as np
import pytest

import trundle
from tools import ptxas
from tools.ptxas import Assembled
from trundle.errors import TrundleError
from trundle.gpu.ptx import Ptx, program_ptx, require_known, rollout_ptx
from trundle.program.ir import ARITY, LOADS, Group, Instruction, Program
from trundle.program.llvm.llvm_rollout import ChannelLayout
from trundle.program.simplify import only_output
from trundle.tables import Table

PRECISIONS = ("double", "single")


def assembled(kernel: Ptx) -> Assembled:
    """What ptxas says of a kernel; the test skips where it isn't there."""
    said = ptxas.assembled(kernel)
    if said is None:
        pytest.skip(f"no ptxas: pip install {ptxas.WHEEL}")
    return said


def of_dynamics(model: trundle.Model, precision: str) -> tuple[Ptx, Ptx]:
    """A model's rates on many lanes, and its rollout where all parameters and inputs differ between robots."""
    program = model.dynamics
    rate = only_output(program, "rate")
    sources = {i.source for i in rate.instructions if i.op == "input" and i.source[0] != 0}
    layouts = {
        s: ChannelLayout(wide=True, stepped=rate.inputs[s[0]].name == "input") for s in sorted(sources)
    }
    return (
        program_ptx(program, [False] * len(program.inputs), precision=precision),
        rollout_ptx(rate, 0, layouts, precision=precision),
    )


@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_drive_is_assembled_without_spills(precision: str) -> None:
    model = trundle.derive(trundle.catalog.differential_drive())
    for kernel in of_dynamics(model, precision):
        said = assembled(kernel)
        assert said.stored == said.loaded == 0
        assert said.registers <= 168  # three warps of 128 threads a multiprocessor


def every_operation() -> Program:
    """A program with all operations of arithmetic on two numbers, one output each."""
    operations = sorted(ARITY.keys() - LOADS - {"lookup"})
    inputs = tuple(Instruction("input", k, source=(0, k)) for k in (0, 1))
    work = tuple(
        Instruction(op, k, tuple(place % 2 for place in range(ARITY[op])))
        for k, op in enumerate(operations, len(inputs))
    )
    outputs = Group("result", tuple(operations))
    return Program(
        "all", (Group("given", ("x", "y")),), (outputs,), inputs + work, (tuple(i.out for i in work),)
    )


@pytest.mark.parametrize("precision", PRECISIONS)
def test_every_operation_has_code_and_calls_nothing(precision: str) -> None:
    kernel = program_ptx(every_operation(), [False], precision=precision)
    assert ".extern" not in kernel.text
    assert assembled(kernel).registers <= 255


@pytest.mark.parametrize("precision", PRECISIONS)
def test_tables_are_part_of_the_module(precision: str) -> None:
    values = np.linspace(1.0, 2.0, 7)
    look = Instruction("lookup", 1, (0,), 2.0, table=Table(values, reach=2))
    program = Program(
        "looks", (Group("at", ("i",)),), (Group("value", ("v",)),),
        (Instruction("input", 0, source=(0, 0)), look), ((1,),),
    )  # fmt: skip
    kernel = program_ptx(program, [False], precision=precision)
    assert re.search(r"\.global .*table", kernel.text)
    assembled(kernel)


@pytest.mark.parametrize("name", ["llvm.sin.f64", "log"])
def test_what_would_end_the_process_is_refused_by_name(name: str) -> None:
    text = f"declare double @{name}(double)\n"
    with pytest.raises(TrundleError, match=re.escape(f"'{name}'")):
        require_known(llvm.parse_assembly(text))


def test_errors_say_what_there_is() -> None:
    program = every_operation()
    with pytest.raises(TrundleError, match="'double' or 'single', got 'half'"):
        program_ptx(program, [False], precision="half")
    with pytest.raises(TrundleError, match="'sm_1' is no kind of processor"):
        program_ptx(program, [False], target="sm_1")
