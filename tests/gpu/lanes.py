"""The code of graphics processors run on this machine: the same LLVM text, one operation over many lanes."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from trundle.program.ir import ARITY, Group, Instruction, Program
from trundle.program.llvm.jit import Code, Compiled, assemble
from trundle.program.llvm.llvm_kernel import SIGNATURE_BATCH, emit_batch
from trundle.program.llvm.real import RealFormat

Floats = NDArray[np.floating]


def program_of(op: str) -> Program:
    """A program of one operation."""
    arity = ARITY[op]
    inputs = [Instruction("input", k, source=(0, k)) for k in range(arity)]
    work = (*inputs, Instruction(op, arity, tuple(range(arity))))
    return Program(op, (Group("given", tuple("xyz"[:arity])),), (Group("result", ("r",)),), work, ((arity,),))


@dataclass(frozen=True)
class OnThisMachine:
    """A program's code without a C library, over the columns of an array (n, count)."""

    compiled: Compiled
    real: RealFormat
    outputs: int

    def __call__(self, given: Floats) -> Floats:
        """The outputs (m, count)."""
        x = np.ascontiguousarray(given, dtype=self.real.dtype)
        count = x.shape[1]
        results = np.empty((self.outputs, count), self.real.dtype)
        table = np.array([x.ctypes.data, results.ctypes.data, count, count, count], dtype=np.int64)
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        function(self.compiled.address)(table.ctypes.data, 0, count)
        return results


@cache
def on_this_machine(op: str, real: RealFormat, width: int = 1) -> OnThisMachine:
    """An operation by its own code, in vectors of `width`."""
    code = emit_batch(program_of(op), (False,), width, True, Code(width, real, device=True))
    return OnThisMachine(assemble(code, SIGNATURE_BATCH), real, 1)
