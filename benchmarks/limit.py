"""How fast this core can issue vector arithmetic at all: the measure that kernels are held against."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable

import llvmlite.binding as llvm
import numpy as np

from trundle.program.ir import Program
from trundle.program.kernel import compile_program
from trundle.program.llvm.jit import Code, assemble, host, optimise, type_of
from trundle.program.llvm.jit import text as llvm_text
from trundle.program.llvm.llvm_kernel import SIGNATURE_BATCH, emit_batch

CHAINS = 12  # independent products in flight: more than a latency of 4 cycles on two units needs, fewer than registers
TURNS = 20_000


def issue_loop() -> tuple[Callable[[], object], int]:
    """A loop of independent vector products, and how many products of doubles a call makes."""
    code = Code(host().register)
    t, factor = type_of(code.width), code.constant(1.0 + 2.0**-52, code.width)
    code.do("br label %loop")
    code.label("loop")
    code.do("%k = phi i64 [ 0, %entry ], [ %k.next, %loop ]")
    for c in range(CHAINS):
        code.do(f"%a{c} = phi {t} [ {factor}, %entry ], [ %b{c}, %loop ]")
    for c in range(CHAINS):
        code.do(f"%b{c} = fmul {t} %a{c}, {factor}")
    code.do("%k.next = add i64 %k, 1")
    code.do("%more = icmp slt i64 %k.next, %count")
    code.do("br i1 %more, label %loop, label %done")
    code.label("done")
    for c in range(CHAINS):
        code.do(f"store {t} %b{c}, ptr %out, align 8")
    code.do("ret void")
    compiled = assemble(code, "ptr %out, i64 %count")
    run = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64)(compiled.address)
    out = np.zeros(code.width)
    keep = compiled.engine  # the code lives as long as its engine

    def call() -> object:
        return run(out.ctypes.data, TURNS), keep

    return call, TURNS * CHAINS * code.width


def assembly(code: Code) -> str:
    """The assembly text that machine code is made of."""
    machine, module = host().machine(), llvm.parse_assembly(llvm_text(code, SIGNATURE_BATCH))
    optimise(module, thorough=False)
    return machine.emit_assembly(module)


def machine_operations(program: Program) -> float | None:
    """Doubles that the vector instructions of a batch kernel compute with, for each lane of the batch: fused
    multiply-adds count once, sines as the polynomials they are, moves not at all. None where the assembly is not x86's.
    """
    kernel = compile_program(program)
    text = assembly(emit_batch(program, (False,) * len(program.inputs), kernel.lanes, host().fused))
    registers = {"zmm": 8, "ymm": 4, "xmm": 2}
    total = 0
    for line in text.splitlines():
        found = re.match(r"\tv(?!mov|broadcast)\w+pd\t.*%(zmm|ymm|xmm)\d+$", line)
        total += registers[found[1]] if found else 0
    return total / kernel.lanes or None
