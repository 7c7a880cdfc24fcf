"""PTX of programs and rollouts: made quickly, and taken by NVIDIA's assembler."""

from __future__ import annotations

import pytest

import trundle
from gpu.assembler import assembled
from trundle.gpu.ptx import Ptx, program_ptx, rollout_ptx
from trundle.program.llvm.llvm_rollout import ChannelLayout
from trundle.program.simplify import only_output

PRECISIONS = ("double", "single")


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
        assert said.spills == 0
        assert said.registers <= 168  # three warps of 128 threads a multiprocessor
