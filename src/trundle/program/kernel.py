"""Kernels: programs compiled to native vector code, callable on NumPy arrays: rows of doubles, one lane a column."""

from __future__ import annotations

import ctypes
import functools
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, turned
from trundle.errors import InputError
from trundle.program.groups import by_name, fitting, of_one_state
from trundle.program.ir import Program
from trundle.program.llvm.jit import Code, Compiled, MachineCode, assemble, host, machine_code
from trundle.program.llvm.llvm_kernel import (
    SIGNATURE_BATCH,
    SIGNATURE_SINGLE,
    emit_batch,
    emit_single,
    is_looped,
)
from trundle.program.one_state import NativeEntry, OneState
from trundle.program.rows import (
    Native,
    across,
    check_buffer,
    evaluate,
    over_lanes,
    rows_for,
    table_of,
    threads_for,
)
from trundle.program.tangents import once
from trundle.progress import Doing

# What a compilation is for: one state, or a batch whose input groups are one state for all lanes where True.
Variant = str | tuple[bool, ...]


QUICK = 4000
"""Operations above which one state's code is compiled quickly: at LLVM's usual pace that would take 0.3 s and more."""
FEW = 5000
"""Lanes that a long program takes one by one in a call: these 0.1 s are less than compiling takes."""
CALLS, LANES = 16, 250
"""Calls of a few lanes that a long program takes in NumPy before its code is compiled, each `LANES` lanes counting as
another: an operation takes 1 µs of a call and 4 ns of a lane there, and 18 µs of a compilation. Who looks at a thousand
samples once, or settles one robot on the ground, compiles nothing then."""
PRICE = 90_000
"""Lanes that cost as much one by one as code for batches does, 85 to 255 µs an operation against 0.7 to 2.3 ns a lane:
52,000 to 117,000, over trees and chains of 4,000 to 36,000 operations. Who compiles then spends at most twice what was
needed, however many lanes still come. They are counted, not timed: both costs are those of one core, and a count is the
same on a busy one."""
LARGE, AGAIN = 1000, 3
"""A batch of that many lanes that comes for the third time is taken for one of a loop of hundreds, as a run looks at
its outputs once, or twice on constraints. A wrong guess costs one compilation: a second for 10,000 operations."""

FIRST = 20_000
"""Samples of tables that code compiled in LLVM's quick way takes, before usual code is made. Of a walking person's
kinematics, 2,344 operations, quick code took 0.13 s to make and usual code 0.45; over 1,255 and 20,080 samples both ran
alike, so that the bound is only for what nobody measured."""

BLOCK = 1024
"""Samples of a block in `Kernel.over_samples`: 320 numbers each way of a skeleton of 20 bodies fill a second-level
cache; 512 to 4,096 run alike."""


def compile_program(program: Program) -> Kernel:
    """The kernel of a program; programs with the same content share its code, which is generated at the first call.

    A program keeps its kernel; without one, the code of the 64 contents last asked for is kept.

    Parameters
    ----------
    program : Program
        What is to be evaluated often.

    Returns
    -------
    Kernel

    Raises
    ------
    TrundleError
        It holds an operation that no kernel has.

    Examples
    --------
    >>> import trundle
    >>> from trundle.program import compile_program
    >>> kernel = compile_program(trundle.kinematics(trundle.catalog.mecanum()).inverse)
    >>> [part.shape for part in kernel(np.ones((3, 5)))]
    [(4, 5), (4, 5)]
    """
    kept = vars(program)  # as a cached property would: so both go when nobody has the program any more
    if "kernel" not in kept:
        kept["kernel"] = Kernel(program)
    return kept["kernel"]


def call_program(
    program: Program, groups: Sequence[ArrayLike], named: Mapping[str, ArrayLike], batch: str = "last"
) -> FloatArray | tuple[FloatArray, ...]:
    """A program's outputs, from all its groups in order or by name: an array, or several for several groups."""
    given = by_name(
        program, turned(batch, *groups), dict(zip(named, turned(batch, *named.values()), strict=True))
    )
    missing = [group.name for group in program.inputs if group.name not in given]
    if missing:
        raise InputError(f"'{program.name}' needs {', '.join(missing)}, too")
    outputs = compile_program(program)(*(given[group.name] for group in program.inputs))
    outputs = turned(batch, *outputs)
    return outputs[0] if len(outputs) == 1 else outputs


class Kernel:
    """A program as a function of arrays: ``kernel(*groups)``, one argument an input group, in order.

    Each group is (n,) for one state shared by all lanes, or (n, count) for a batch with one lane a column; rows are
    read where they are, so that slices of columns cost nothing. The result is a tuple with one array an output group:
    (n,) if every group was (n,), (n, count) otherwise. Where the count is a multiple of 64 a result's rows lie a cache
    line further apart than they are long; `numpy.ascontiguousarray` moves them together where other code needs that.
    """

    def __init__(self, program: Program) -> None:
        """No code is made yet."""
        self.program = program
        self._variants = machine_code(program.key)
        self._functions: dict[tuple[bool, ...], Native] = {}
        self._one_by_one_lanes: Counter[tuple[bool, ...]] = Counter()
        self._large_batches: Counter[tuple[bool, ...]] = Counter()
        self._sampled = 0  # samples of tables so far
        self._in_numpy = 0.0  # calls so far that could be taken so, as `CALLS` counts
        self._sizes = [group.size for group in program.inputs]
        self._long = long = program.operations > QUICK
        code = self._variants
        self._one_state = OneState(  # which doesn't hold the kernel that holds it
            program,
            lambda emit: _machine_function(code, program, "single", emit, SIGNATURE_SINGLE, hasty=long),
        )

    def __call__(
        self, *groups: ArrayLike, threads: int | None = None, often: bool | None = None
    ) -> tuple[FloatArray, ...]:
        """Evaluate; ``threads`` None uses every core where the batch is large enough to gain from it.

        Programs of more than 4,000 operations take long to compile for batches, so that batches of up to 5,000 lanes go
        one by one at first. True for ``often`` compiles at once; None when a batch of 1,000 lanes comes for the third
        time, or when as much time has been spent one by one; False in the latter case alone.
        """
        arrays = fitting(self.program, self._sizes, groups)
        counts = {a.shape[1] for a in arrays if a.ndim == 2}
        if not counts:
            outputs = tuple(np.empty(g.size) for g in self.program.outputs)
            self.bind(*arrays, *outputs)()
            return outputs
        count = counts.pop()
        if self._goes_one_by_one(tuple(a.ndim == 1 for a in arrays), count, often):
            self._in_numpy += 1 + count / LANES
            if self._in_numpy <= CALLS and "code" not in vars(self._one_state):
                return once(self.program, *arrays)
            return self._one_state.one_by_one(arrays, count)
        outputs = tuple(rows_for(g.size, count) for g in self.program.outputs)
        if count:
            function = self._batch_variant(tuple(a.ndim == 1 for a in arrays))
            self._batch(function, arrays, outputs, count, threads)
        return outputs

    def _goes_one_by_one(self, uniform: tuple[bool, ...], count: int, often: bool | None) -> bool:
        """Whether a batch of a long program is better taken so, by the rule of a call; its lanes are noted."""
        if not self._long or count > FEW or often or uniform in self._functions:
            return False
        if count < host().register or (count < host().lanes and count < self.lanes):
            return True  # a block would be filled up with copies, and be no faster
        self._one_by_one_lanes[uniform] += count
        self._large_batches[uniform] += often is None and count >= LARGE
        return self._one_by_one_lanes[uniform] <= PRICE and self._large_batches[uniform] < AGAIN

    def over_samples(self, *tables: FloatArray) -> tuple[FloatArray, ...]:
        """Evaluate many samples, one a row of a table (count, n); one array (n, count) an output group.

        In blocks of `BLOCK`: what a block reads and writes stays in the nearer caches, where whole columns of a long
        batch would be fetched from memory. A long program then runs at three times the rate. For the first `FIRST`
        samples code is compiled quickly.

        Parameters
        ----------
        *tables : array (count, n)
            One an input group.

        Returns
        -------
        tuple of arrays (n, count)
            One an output group.

        Raises
        ------
        InputError
            Groups don't fit the program's.

        Examples
        --------
        >>> import trundle
        >>> from trundle.program import compile_program
        >>> kernel = compile_program(trundle.kinematics(trundle.catalog.mecanum()).inverse)
        >>> [part.shape for part in kernel.over_samples(np.ones((7, 3)))]
        [(4, 7), (4, 7)]
        """
        count, uniform = len(tables[0]), (False,) * len(tables)
        ready = uniform in self._functions
        if count < self.lanes or (self._long and count <= FEW and not ready):
            return self(*(np.ascontiguousarray(table.T) for table in tables), often=False)
        self._sampled += count
        function = self._batch_variant(uniform, quick=not ready and self._sampled <= FIRST)
        if count <= BLOCK:
            return self._block(function, tables)
        outputs = tuple(np.empty((g.size, count)) for g in self.program.outputs)
        for begin in range(0, count, BLOCK):
            at = slice(begin, begin + BLOCK)
            for output, part in zip(outputs, self._block(function, [t[at] for t in tables]), strict=True):
                output[:, at] = part
        return outputs

    def _block(self, function: Native, tables: Sequence[FloatArray]) -> tuple[FloatArray, ...]:
        """Samples of one block, one a row of a table."""
        count = len(tables[0])
        outputs = tuple(rows_for(g.size, count) for g in self.program.outputs)
        self._batch(function, [across(table) for table in tables], outputs, count, None)
        return outputs

    def bind(self, *buffers: FloatArray) -> Callable[[], None]:
        """A function without arguments that reads the given input buffers and writes the output buffers.

        Parameters
        ----------
        *buffers : array (n,) or (n, count)
            float64, one an input group, then one (writable) an output group: C-contiguous for one state, with
            contiguous rows for a batch, in which inputs may be one state for all lanes. The function keeps them
            alive and runs on one core; change their content, not the arrays. No output may share memory with another
            buffer.

        Returns
        -------
        function

        Raises
        ------
        InputError
            Groups don't fit the program's.

        Examples
        --------
        >>> import trundle
        >>> from trundle.program import compile_program
        >>> kernel = compile_program(trundle.kinematics(trundle.catalog.mecanum()).inverse)
        >>> twist, *outputs = np.ones(3), np.empty(4), np.empty(4)
        >>> kernel.bind(twist, *outputs)()
        >>> twists, *outputs = np.ones((3, 1000)), np.empty((4, 1000)), np.empty((4, 1000))
        >>> kernel.bind(twists, *outputs)()
        """
        groups, inputs = self.program.inputs + self.program.outputs, len(self.program.inputs)
        if len(buffers) != len(groups):
            raise InputError(
                f"bind of '{self.program.name}' expects {len(groups)} buffers "
                f"({', '.join(g.name for g in groups)}), got {len(buffers)}"
            )
        counts = [b.shape[1] for b in buffers if isinstance(b, np.ndarray) and b.ndim == 2]
        count = counts[0] if counts else None
        for position, (group, buffer) in enumerate(zip(groups, buffers, strict=True)):
            check_buffer(self.program.name, group, buffer, count, writable=position >= inputs)
        if count is not None:
            return self._bind_batch(buffers[:inputs], buffers[inputs:], count)
        return self._one_state.bind(buffers)[0]

    def entry(self, *buffers: FloatArray) -> NativeEntry:
        """Where other native code calls one state's: see `bind` for the buffers, whose addresses it may write anew.

        Parameters
        ----------
        *buffers : array (n,)
            float64, one an input group, then one (writable) an output group.

        Returns
        -------
        NativeEntry
            It keeps the buffers alive.

        Raises
        ------
        InputError
            Groups don't fit the program's.

        Examples
        --------
        >>> import trundle
        >>> from trundle.program import compile_program
        >>> kernel = compile_program(trundle.kinematics(trundle.catalog.mecanum()).inverse)
        >>> entry = kernel.entry(np.ones(3), np.empty(4), np.empty(4))
        >>> entry.address > 0 and len(entry.table) >= 3
        True
        """
        self.bind(*buffers)  # checks them, and compiles
        return self._one_state.entry(buffers)

    def single(self) -> Callable[..., tuple[FloatArray, ...]]:
        """A function of one state, ``f(*groups) -> outputs``, for calls that cost less than looking at their arguments.

        It takes arrays (n,), float64 for speed, and returns fresh ones. Its buffers are its own: threads need one
        function a thread.

        Returns
        -------
        function

        Raises
        ------
        InputError
            Groups don't fit the program's.

        Examples
        --------
        >>> import trundle
        >>> from trundle.program import compile_program
        >>> kernel = compile_program(trundle.kinematics(trundle.catalog.mecanum()).inverse)
        >>> len(kernel.single()(np.ones(3)))
        2
        """
        inputs = [np.zeros(g.size) for g in self.program.inputs]
        outputs = [np.zeros(g.size) for g in self.program.outputs]
        run, count = self.bind(*inputs, *outputs), len(inputs)
        slots = list(zip(inputs, [b.shape for b in inputs], strict=True))
        right, plain = np.dtype(np.float64), np.ndarray

        def call(*groups: ArrayLike) -> tuple[FloatArray, ...]:
            if len(groups) != count:
                of_one_state(self.program, self._sizes, groups)  # raises
            for (buffer, shape), value in zip(slots, groups):  # noqa: B905 - counted above, and faster so
                if type(value) is not plain or value.dtype != right or value.shape != shape:
                    return call(*of_one_state(self.program, self._sizes, groups))
                buffer[:] = value
            run()
            return tuple([output.copy() for output in outputs])

        return call

    def prepare(self, *layouts: int, often: bool = False) -> None:
        """Compile now for inputs of ``layouts`` dimensions (1: uniform, 2: batch), not at the first call.

        Parameters
        ----------
        *layouts : int
            One an input group.
        often : bool
            Whether many batches will come: code for them is made of programs of more than 4,000 operations, too, of
            which else only one state's is made, by which small batches go at first.

        Raises
        ------
        InputError
            Groups don't fit the program's.

        Examples
        --------
        >>> import trundle
        >>> from trundle.program import compile_program
        >>> kernel = compile_program(trundle.kinematics(trundle.catalog.mecanum()).inverse)
        >>> kernel.prepare(2)
        """
        if (self._long and not often) or all(n == 1 for n in layouts):
            buffers = [np.zeros(g.size) for g in self.program.inputs + self.program.outputs]
            self.bind(*buffers)
        else:
            self._batch_variant(tuple(n == 1 for n in layouts))

    @functools.cached_property
    def lanes(self) -> int:
        """Lanes of a block: one register of them in loops of pieces, else what rollouts work on too."""
        return host().register if is_looped(self.program) else host().lanes

    def _emitted(self, uniform: tuple[bool, ...]) -> Code:
        """The code of a batch whose input groups are one state for all lanes where `uniform`."""
        return emit_batch(self.program, uniform, self.lanes, host().fused)

    def native(self, uniform: tuple[bool, ...] | None = None) -> Compiled:
        """The machine code that other code calls, without room of its own: many threads may be in it.

        Parameters
        ----------
        uniform : tuple of bool, optional
            Of a batch whose input groups are one state for all lanes where True; None: of one state.

        Returns
        -------
        Compiled
            A function of a table of addresses, of a batch with two lanes from and to which it goes.

        Raises
        ------
        NumericsError
            LLVM can't compile it.

        Examples
        --------
        >>> import trundle
        >>> from trundle.program import compile_program
        >>> kernel = compile_program(trundle.kinematics(trundle.catalog.mecanum()).inverse)
        >>> kernel.native().address > 0
        True
        """
        if uniform is not None:
            return self._variant(uniform, lambda: self._emitted(uniform), SIGNATURE_BATCH)
        return self._variant("plain", lambda: emit_single(self.program, host().fused), SIGNATURE_SINGLE)

    def _variant(
        self, key: Variant, emit: Callable[[], Code], signature: str, quick: bool = False
    ) -> Compiled:
        hasty = quick or (self._long and isinstance(key, str))
        return _machine_function(self._variants, self.program, key, emit, signature, hasty=hasty)

    def _batch_variant(self, uniform: tuple[bool, ...], quick: bool = False) -> Native:
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        if quick and uniform not in self._variants:
            compiled = self._variant("samples", lambda: self._emitted(uniform), SIGNATURE_BATCH, quick=True)
            return prototype(compiled.address)
        if uniform not in self._functions:
            self._functions[uniform] = prototype(self.native(uniform).address)
        return self._functions[uniform]

    def _bind_batch(
        self, arrays: tuple[FloatArray, ...], outputs: tuple[FloatArray, ...], count: int
    ) -> Callable[[], None]:
        """A call on the buffers of a batch, its table made once."""
        if count < self.lanes:  # less than one block

            def call_few() -> None:
                for output, values in zip(outputs, self(*arrays), strict=True):
                    output[:] = values

            return call_few
        function = self._batch_variant(tuple(a.ndim == 1 for a in arrays))
        call = functools.partial(evaluate, function, table_of([*arrays, *outputs], count), arrays, count)
        call.keep = (outputs, self)  # type: ignore[attr-defined]  # the addresses must stay valid
        return call

    def _batch(
        self,
        function: Native,
        arrays: list[FloatArray],
        outputs: tuple[FloatArray, ...],
        count: int,
        threads: int | None,
    ) -> None:
        """A batch by its native code, on as many threads as were asked for or as its work fills."""
        if threads is None:
            threads = threads_for(count, self.program.operations)
        over_lanes(function, arrays, outputs, count, lanes=self.lanes, threads=threads)

    def __repr__(self) -> str:
        ins = ", ".join(f"{g.name}[{g.size}]" for g in self.program.inputs)
        outs = ", ".join(f"{g.name}[{g.size}]" for g in self.program.outputs)
        return f"<Kernel {self.program.name}: {ins} -> {outs}, {self.program.operations} operations>"


def _machine_function(
    code: MachineCode,
    program: Program,
    key: Variant,
    emit: Callable[[], Code],
    signature: str,
    *,
    hasty: bool,
) -> Compiled:
    """A function of a program's machine code, which is made where it isn't there yet."""

    def make() -> Compiled:
        with Doing(True, f"compiling {program.name}"):
            return assemble(emit(), signature, quick=hasty)

    return code.of(key, make)
