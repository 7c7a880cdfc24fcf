"""Programs and rollouts as PTX, what NVIDIA's driver takes: the kernels' own LLVM code, one thread a lane.

A kernel takes what native code of the host takes: a table of 64-bit words (here in the device's memory, with addresses
of the device), then numbers. Its grid has one dimension; thread k works on lane `begin` + k, and threads from `end` on
do nothing. So arrays are (n, count), and neighbouring threads read neighbouring numbers.

- `program_ptx`: (table, begin, end). The table has the addresses of the input groups and of the output groups, the
  count, and the groups' pitches: element e of lane j lies at e · pitch + j.
- `rollout_ptx`: (table, begin, end, first step, end of the steps). The table is that of `program.llvm.llvm_rollout`:
  addresses of the states (n, padded) and of the samples (saved, n, count), count, padded, every, dt, and of every
  channel its address and its stride from step to step in numbers.

All numbers but dt, a double, have the kernel's precision.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import numpy as np

from trundle.choices import Precision
from trundle.errors import TrundleError
from trundle.program.ir import Program
from trundle.program.llvm.jit import LOCK, Code, optimise
from trundle.program.llvm.llvm_kernel import SIGNATURE_BATCH, emit_batch
from trundle.program.llvm.llvm_rollout import (
    SIGNATURE,
    ChannelLayout,
    InputElement,
    emit_rollout,
    scheduled,
)
from trundle.program.llvm.real import DOUBLE, SINGLE

if TYPE_CHECKING:
    import llvmlite.binding as llvm

TARGET = "sm_80"
"""The oldest processors that the code is made for, if nobody says otherwise: the driver takes it to any later one."""
_REALS = {"double": DOUBLE, "single": SINGLE}
_INTRINSICS = ("fabs", "sqrt", "floor", "ceil", "copysign", "fma", "fmuladd")
_UNROUNDED = tuple((op, kind) for op in ("add", "sub", "mul") for kind in ("f32", "f64"))
_SPECIAL_REGISTERS = ("tid", "ctaid", "ntid")


@dataclass(frozen=True)
class Ptx:
    """A kernel's text, the name of its entry, the type of its numbers, and the kind of processor that it is for."""

    text: str
    entry: str
    dtype: np.dtype[np.floating]
    target: str


def program_ptx(
    program: Program, uniform: Sequence[bool], *, precision: Precision = "double", target: str = TARGET
) -> Ptx:
    """A kernel that evaluates a program on many lanes; input groups marked `uniform` are one vector for all of them.

    Raises TrundleError where the program has an operation that no code is there for.
    """
    code = emit_batch(program, tuple(uniform), 1, True, _empty(precision))
    return _translated(code, "evaluate", SIGNATURE_BATCH, "%begin", "%end", target)


def rollout_ptx(
    program: Program,
    state: int,
    layouts: Mapping[InputElement, ChannelLayout],
    *,
    precision: Precision = "double",
    target: str = TARGET,
) -> Ptx:
    """A kernel of Runge-Kutta steps; for program, the index of its state's group and layouts see `program.rollout`.

    Raises TrundleError where the program has an operation that no code is there for.
    """
    plan = scheduled(program, state, dict(layouts), 1, threads=True)
    code = emit_rollout(plan, 1, True, _empty(precision))
    return _translated(code, "roll", SIGNATURE, "%lane_begin", "%lane_end", target)


def _empty(precision: Precision) -> Code:
    if precision not in _REALS:
        raise TrundleError(f"the precision is 'double' or 'single', got {precision!r}")
    return Code(1, _REALS[precision], device=True)


def _translated(code: Code, entry: str, signature: str, begin: str, end: str, target: str) -> Ptx:
    """PTX of a body of LLVM text."""
    import llvmlite.binding as llvm

    text = _module(code, entry, signature, begin, end)
    with LOCK:
        machine = _machine(target)
        module = llvm.parse_assembly(text)
        require_known(module)
        optimise(module, thorough=False)  # a twentieth fewer instructions
        made = machine.emit_assembly(module)
    # Where LLVM has left a product beside a sum the assembler might fuse them, one version of it and not another.
    for op, kind in _UNROUNDED:
        made = made.replace(f"\t{op}.{kind} ", f"\t{op}.rn.{kind} ")
    return Ptx(made, entry, code.real.dtype, target)


def _module(code: Code, entry: str, signature: str, begin: str, end: str) -> str:
    """LLVM text of a kernel whose thread works on one lane of those that `begin` and `end` bound."""
    outer = signature.replace(begin, "%thread.begin").replace(end, "%thread.end")
    # room on the stack is asked for in the first block, where its size is known once and for all
    room = [line for line in code.lines if " = alloca " in line]
    body = [line for line in code.lines if " = alloca " not in line]
    names = {name: f"@llvm.nvvm.read.ptx.sreg.{name}.x()" for name in _SPECIAL_REGISTERS}
    registers = [
        f"  %{name} = call i32 {read}\n  %{name}.long = zext i32 %{name} to i64"
        for name, read in names.items()
    ]
    declarations = [*sorted(code.declarations), *(f"declare i32 {read}" for read in names.values())]
    return (
        files("trundle.gpu")
        .joinpath("kernel.ll")
        .read_text(encoding="utf-8")
        .format(
            arrays="\n".join(code.arrays.values()),
            functions="".join(code.functions),
            entry=entry,
            arguments=outer.replace("ptr %", "ptr align 8 %"),
            room="\n".join(room),
            registers="\n".join(registers),
            begin=begin,
            end=end,
            body="\n".join(body),
            declarations="\n".join(declarations),
        )
    )


def require_known(module: llvm.ModuleRef) -> None:
    """Raise TrundleError where a module calls what the processor has not: code generation would end the process."""
    allowed = [f"llvm.{name}." for name in _INTRINSICS] + ["llvm.nvvm.read.ptx.sreg."]
    for function in module.functions:
        if function.is_declaration and not function.name.startswith(tuple(allowed)):
            raise TrundleError(f"no code for graphics processors is there for the function '{function.name}'")


@cache
def _machine(target: str) -> llvm.TargetMachine:
    """LLVM's machine for a kind of processor, as quick as it can be.

    Products and sums are fused all the same, and common parts are shared in the program. LLVM's own passes over a
    kernel took three quarters of its time, and left out a fiftieth of the arithmetic: addresses, mostly.
    """
    import llvmlite.binding as llvm

    if not re.fullmatch(r"sm_\d{2,3}[af]?", target):
        raise TrundleError(f"{target!r} is no kind of processor; they are called sm_80, sm_90 and the like")
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    try:
        return llvm.Target.from_triple("nvptx64-nvidia-cuda").create_target_machine(cpu=target, opt=0)
    except RuntimeError as problem:
        raise TrundleError(
            f"this build of llvmlite makes no code for NVIDIA's processors: {problem}"
        ) from problem
