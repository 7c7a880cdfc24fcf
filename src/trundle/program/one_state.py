"""One state's native code: calls on buffers, what they keep between them, and batches taken one lane after another."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.program.composition import for_one_state
from trundle.program.ir import Program
from trundle.program.llvm.jit import Code, Compiled, host
from trundle.program.llvm.llvm_kernel import emit_single


@dataclass(frozen=True)
class NativeEntry:
    """One state's native code: its address, the table of addresses that it takes, and what keeps all of them alive."""

    address: int
    table: npt.NDArray[np.uint64]
    inputs: int
    kept: int
    call: Callable[[], None]

    def word(self, group: int) -> int:
        """Where in memory the address of a group stands, outputs being numbered behind inputs."""
        place = group if group < self.inputs else group + self.kept
        return self.table.ctypes.data + 8 * place


class OneState:
    """A program's code for one state, made at the first call by `compiled`, which keeps it by its content."""

    def __init__(self, program: Program, compiled: Callable[[Callable[[], Code]], Compiled]) -> None:
        self._program, self._compiled = program, compiled

    @functools.cached_property
    def parts(self) -> tuple[Program | None, Program]:
        """What the code does whenever the parameters have changed, and what it does every time."""
        return for_one_state(self._program)

    @functools.cached_property
    def code(self) -> Compiled:
        """The machine code."""
        preparation, main = self.parts
        return self._compiled(lambda: emit_single(main, host().fused, preparation))

    @functools.cached_property
    def _function(self) -> Callable[[ctypes.c_void_p], None]:
        # PYFUNCTYPE keeps the GIL, which halves the cost of a call that lasts less than a microsecond
        return ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.code.address)

    def bind(self, buffers: Sequence[FloatArray]) -> tuple[Callable[[], None], npt.NDArray[np.uint64]]:
        """A call on buffers that have been checked, and the table of addresses that it reads: inputs, room that calls
        keep, outputs, and more of that.
        """
        inputs, kept = len(self._program.inputs), self._kept_between_calls()
        reached = (*buffers[:inputs], *kept[:1], *buffers[inputs:], *kept[1:])
        table = np.array([b.ctypes.data for b in reached], dtype=np.uint64)
        call = functools.partial(self._function, ctypes.c_void_p(table.ctypes.data))
        call.keep = (table, reached, self)  # type: ignore[attr-defined]  # the addresses must stay valid
        return call, table

    def entry(self, buffers: Sequence[FloatArray]) -> NativeEntry:
        """Where other native code calls it on buffers that have been checked."""
        call, table = self.bind(buffers)
        kept = self.parts[0] is not None
        return NativeEntry(self.code.address, table, len(self._program.inputs), int(kept), call)

    def _kept_between_calls(self) -> tuple[FloatArray, ...]:
        """Room for what is computed from parameters alone, and for a copy of these: at first of bits that no arithmetic
        makes, so that the first call finds them changed.
        """
        preparation, _ = self.parts
        if preparation is None:
            return ()
        last = np.full(preparation.inputs[0].size, -1, dtype=np.int64).view(np.float64)
        return np.full(preparation.outputs[0].size, np.nan), last

    def one_by_one(self, arrays: list[FloatArray], count: int) -> tuple[FloatArray, ...]:
        """A batch, down its rows of lanes: only the table of addresses moves on.

        Results stay as they lie, turned: who takes them a lane at a time has them in one piece.
        """
        rows = [np.ascontiguousarray(a.T if a.ndim == 2 else a) for a in arrays]
        results = [np.empty((count, group.size)) for group in self._program.outputs]
        call, table = self.bind([*(a if a.ndim == 1 else a[0] for a in rows), *(r[0] for r in results)])
        steps, kept = np.zeros_like(table), len(table) > len(rows) + len(results)
        for first, tables in ((0, rows), (len(rows) + kept, results)):
            steps[first : first + len(tables)] = [each.strides[0] if each.ndim == 2 else 0 for each in tables]
        for _ in range(count):
            call()
            table += steps
        return tuple(result.T for result in results)
