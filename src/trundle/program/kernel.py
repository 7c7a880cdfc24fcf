"""Kernels: programs compiled to native vector code, callable on NumPy arrays: rows of doubles, one lane a column."""

from __future__ import annotations

import ctypes
import functools
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import numpy.typing as npt
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, as_numbers, turned
from trundle.errors import InputError, suggest
from trundle.program.composition import for_one_state
from trundle.program.ir import Program
from trundle.program.llvm.jit import Code, Compiled, assemble, host, machine_code
from trundle.program.llvm.llvm_kernel import (
    SIGNATURE_BATCH,
    SIGNATURE_SINGLE,
    emit_batch,
    emit_single,
    is_looped,
)
from trundle.program.rows import (
    across,
    check_buffer,
    has_rows,
    is_ready,
    lanes_until_line,
    rows_for,
    table_of,
)
from trundle.progress import Doing

T = TypeVar("T")
Native = Callable[..., None]  # a function of addresses and counts in native code

# What a compilation is for: one state, or a batch whose input groups are one state for all lanes where True.
Variant = str | tuple[bool, ...]

THREAD_WORK = 20_000_000
"""Lane-instructions below which a second thread costs more than it saves (about 1 ms of one core)."""


QUICK = 4000
"""Operations above which one state's code is compiled quickly: at LLVM's usual pace that would take 0.3 s and more."""
FEW = 5000
"""Lanes that a long program takes one by one in a call: these 0.1 s are less than compiling takes."""
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


def by_name(program: Program, groups: Sequence[T], named: Mapping[str, T]) -> dict[str, T]:
    """Values of a program's groups by name, from those in order and those by name; InputError for unknown groups."""
    names = [group.name for group in program.inputs]
    if len(groups) > len(names):
        raise InputError(
            f"'{program.name}' takes {len(names)} groups ({', '.join(names)}), got {len(groups)}"
        )
    given = dict(zip(names, groups, strict=False))
    for name, value in named.items():
        if name not in names or name in given:
            what = "is given twice" if name in given else f"is no group of '{program.name}'"
            raise InputError(f"'{name}' {what}", key=name, hint=suggest(name, names))
        given[name] = value
    return given


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


@dataclass(frozen=True)
class Entry:
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


class Kernel:
    """A program as a function of arrays: ``kernel(*groups)``, one argument an input group, in order.

    Each group is (n,) for one state shared by all lanes, or (n, count) for a batch with one lane a column; rows are
    read where they are, so that slices of columns cost nothing. The result is a tuple with one array an output group:
    (n,) if every group was (n,), (n, count) otherwise. Where the count is a multiple of 64 a result's rows lie a cache
    line further apart than they are long; `numpy.ascontiguousarray` moves them together where other code needs that.
    """

    def __init__(self, program: Program) -> None:
        self.program = program
        self._variants = machine_code(program.key)
        self._single: Native | None = None
        self._functions: dict[tuple[bool, ...], Native] = {}
        self._one_by_one_lanes: Counter[tuple[bool, ...]] = Counter()
        self._large_batches: Counter[tuple[bool, ...]] = Counter()
        self._sampled = 0  # samples of tables so far
        self._sizes = [group.size for group in program.inputs]
        self._long = program.operations > QUICK

    def __call__(
        self, *groups: ArrayLike, threads: int | None = None, often: bool | None = None
    ) -> tuple[FloatArray, ...]:
        """Evaluate; ``threads`` None uses every core where the batch is large enough to gain from it.

        Programs of more than 4,000 operations take long to compile for batches, so that batches of up to 5,000 lanes go
        one by one at first. True for ``often`` compiles at once; None when a batch of 1,000 lanes comes for the third
        time, or when as much time has been spent one by one; False in the latter case alone.
        """
        arrays = self._arrays(groups)
        counts = {a.shape[1] for a in arrays if a.ndim == 2}
        if not counts:
            outputs = tuple(np.empty(g.size) for g in self.program.outputs)
            self.bind(*arrays, *outputs)()
            return outputs
        count = counts.pop()
        if self._goes_one_by_one(tuple(a.ndim == 1 for a in arrays), count, often):
            return self._one_by_one(arrays, count)
        outputs = tuple(rows_for(g.size, count) for g in self.program.outputs)
        if count:
            function = self._batch_variant(tuple(a.ndim == 1 for a in arrays))
            self._batch(function, arrays, outputs, count, threads)
        return outputs

    def _goes_one_by_one(self, uniform: tuple[bool, ...], count: int, often: bool | None) -> bool:
        """Whether a batch of a long program is better taken so, by the rule of a call; its lanes are noted."""
        if not self._long or count > FEW or often or uniform in self._functions:
            return False
        if count < self.lanes:
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
        outputs = tuple(np.empty((g.size, count)) for g in self.program.outputs)
        for begin in range(0, count, BLOCK):
            at = slice(begin, min(begin + BLOCK, count))
            parts = tuple(rows_for(g.size, at.stop - begin) for g in self.program.outputs)
            self._batch(function, [across(table[at]) for table in tables], parts, at.stop - begin, None)
            for output, part in zip(outputs, parts, strict=True):
                output[:, at] = part
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
        return self._bind_single(buffers)[0]

    def entry(self, *buffers: FloatArray) -> Entry:
        """Where other native code calls one state's: see `bind` for the buffers, whose addresses it may write anew.

        Parameters
        ----------
        *buffers : array (n,)
            float64, one an input group, then one (writable) an output group.

        Returns
        -------
        Entry
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
        call, table = self._bind_single(buffers)
        kept = self._parts[0] is not None
        address = self._variants["single"].address
        return Entry(address, table, len(self.program.inputs), int(kept), call)

    def _bind_single(
        self, buffers: Sequence[FloatArray]
    ) -> tuple[Callable[[], None], npt.NDArray[np.uint64]]:
        """A call on buffers of one state that have been checked, and the table of addresses that it reads: inputs, room
        that calls keep, outputs, and more of that.
        """
        inputs = len(self.program.inputs)
        if self._single is None:
            preparation, main = self._parts
            compiled = self._variant(
                "single", lambda: emit_single(main, host().fused, preparation), SIGNATURE_SINGLE
            )
            # PYFUNCTYPE keeps the GIL, which halves the cost of a call that lasts less than a microsecond
            self._single = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(compiled.address)
        kept = self._kept_between_calls()
        reached = (*buffers[:inputs], *kept[:1], *buffers[inputs:], *kept[1:])
        table = np.array([b.ctypes.data for b in reached], dtype=np.uint64)
        call = functools.partial(self._single, ctypes.c_void_p(table.ctypes.data))
        call.keep = (table, reached, self)  # type: ignore[attr-defined]  # the addresses must stay valid
        return call, table

    @functools.cached_property
    def _parts(self) -> tuple[Program | None, Program]:
        """What the code of one state does whenever the parameters have changed, and what it does every time."""
        return for_one_state(self.program)

    def _kept_between_calls(self) -> tuple[FloatArray, ...]:
        """Room for what is computed from parameters alone, and for a copy of these: at first of bits that no arithmetic
        makes, so that the first call finds them changed.
        """
        preparation, _ = self._parts
        if preparation is None:
            return ()
        last = np.full(preparation.inputs[0].size, -1, dtype=np.int64).view(np.float64)
        return np.full(preparation.outputs[0].size, np.nan), last

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
                self._vectors(groups)  # raises
            for (buffer, shape), value in zip(slots, groups):  # noqa: B905 - counted above, and faster so
                if type(value) is not plain or value.dtype != right or value.shape != shape:
                    return call(*self._vectors(groups))
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

    def batch_code(self, uniform: tuple[bool, ...]) -> Code:
        """The code of a batch whose input groups are one state for all lanes where `uniform`.

        Parameters
        ----------
        uniform : tuple of bool
            One an input group.

        Returns
        -------
        Code

        Raises
        ------
        NumericsError
            LLVM can't compile it.

        Examples
        --------
        >>> import trundle
        >>> from trundle.program import compile_program
        >>> kernel = compile_program(trundle.kinematics(trundle.catalog.mecanum()).inverse)
        >>> code = kernel.batch_code((False,))
        """
        return emit_batch(self.program, uniform, self.lanes, host().fused)

    def native(self, uniform: tuple[bool, ...] | None = None) -> Compiled:
        """The machine code that other code calls, without room of its own: many threads may be in it.

        Parameters
        ----------
        uniform : tuple of bool, optional
            Of a batch, as in `batch_code`; None: of one state.

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
            return self._variant(uniform, lambda: self.batch_code(uniform), SIGNATURE_BATCH)
        return self._variant("plain", lambda: emit_single(self.program, host().fused), SIGNATURE_SINGLE)

    def _variant(
        self, key: Variant, emit: Callable[[], Code], signature: str, quick: bool = False
    ) -> Compiled:
        if key not in self._variants:
            with Doing(True, f"compiling {self.program.name}"):
                hasty = quick or (self._long and isinstance(key, str))
                self._variants[key] = assemble(emit(), signature, quick=hasty)
        return self._variants[key]

    def _batch_variant(self, uniform: tuple[bool, ...], quick: bool = False) -> Native:
        prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64)
        if quick and uniform not in self._variants:
            compiled = self._variant("samples", lambda: self.batch_code(uniform), SIGNATURE_BATCH, quick=True)
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
        call = functools.partial(_evaluate, function, table_of([*arrays, *outputs], count), arrays, count)
        call.keep = (outputs, self)  # type: ignore[attr-defined]  # the addresses must stay valid
        return call

    def _one_by_one(self, arrays: list[FloatArray], count: int) -> tuple[FloatArray, ...]:
        """A batch by one state's native code, which goes down rows of lanes: only its table of addresses moves on.

        Results stay as they lie, turned: who takes them a lane at a time has them in one piece.
        """
        rows = [np.ascontiguousarray(a.T if a.ndim == 2 else a) for a in arrays]
        results = [np.empty((count, group.size)) for group in self.program.outputs]
        call, table = self._bind_single(
            [*(a if a.ndim == 1 else a[0] for a in rows), *(r[0] for r in results)]
        )
        steps, kept = np.zeros_like(table), len(table) > len(rows) + len(results)
        for first, tables in ((0, rows), (len(rows) + kept, results)):
            steps[first : first + len(tables)] = [each.strides[0] if each.ndim == 2 else 0 for each in tables]
        for _ in range(count):
            call()
            table += steps
        return tuple(result.T for result in results)

    def _batch(
        self,
        function: Native,
        arrays: list[FloatArray],
        outputs: tuple[FloatArray, ...],
        count: int,
        threads: int | None,
    ) -> None:
        """A batch by its native code, on as many threads as its work fills; few lanes with copies beside them."""
        lanes = self.lanes
        if count < lanes:  # too few for one block: pad with copies of the last lane
            padded = [
                a if a.ndim == 1 else np.pad(a, ((0, 0), (0, lanes - count)), mode="edge") for a in arrays
            ]
            wide = tuple(np.empty((o.shape[0], lanes)) for o in outputs)
            self._run(function, padded, wide, lanes, 1)
            for output, result in zip(outputs, wide, strict=True):
                output[:] = result[:, :count]
            return
        if threads is None:
            most = count * max(self.program.operations, 10) // THREAD_WORK
            threads = min(available_cores(), most) if most > 1 else 1
        self._run(function, arrays, outputs, count, threads)

    def _run(
        self,
        function: Native,
        arrays: list[FloatArray],
        outputs: tuple[FloatArray, ...],
        count: int,
        threads: int,
    ) -> None:
        """Native code over all lanes, in ranges of whole blocks, one a thread."""
        table = table_of([*arrays, *outputs], count)
        if threads <= 1:
            _evaluate(function, table, arrays, count)
            return
        lanes = self.lanes
        blocks = -(-count // lanes)
        share = lanes * -(-blocks // threads)
        ranges = [(begin, min(begin + share, count)) for begin in range(0, count, share)]
        with ThreadPoolExecutor(len(ranges)) as pool:
            for done in [pool.submit(function, table, begin, end) for begin, end in ranges]:
                done.result()

    def _arrays(self, groups: tuple[ArrayLike, ...]) -> list[FloatArray]:
        """The groups as contiguous arrays of doubles that fit; InputError says what does not."""
        expected = self.program.inputs
        ready = [a for a in groups if is_ready(a)]
        fit = len(ready) == len(groups) == len(expected) and [a.shape[0] for a in ready] == self._sizes
        if fit and len({a.shape[1] for a in ready if a.ndim == 2}) <= 1:
            return ready
        if len(groups) != len(expected):
            raise InputError(
                f"'{self.program.name}' expects {len(expected)} groups "
                f"({', '.join(g.name for g in expected)}), got {len(groups)}"
            )
        arrays = [as_numbers(value, f"group '{g.name}'") for g, value in zip(expected, groups, strict=True)]
        for group, array in zip(expected, arrays, strict=True):
            if array.ndim not in (1, 2) or array.shape[0] != group.size:
                raise InputError(
                    f"group '{group.name}' of '{self.program.name}' expects shape ({group.size},) or "
                    f"({group.size}, count), got {array.shape}"
                )
        counts = {g.name: a.shape[1] for g, a in zip(expected, arrays, strict=True) if a.ndim == 2}
        if len(set(counts.values())) > 1:
            listed = ", ".join(f"{name}: {n}" for name, n in counts.items())
            raise InputError(
                f"the batches for '{self.program.name}' differ in their number of lanes ({listed})"
            )
        return [a if has_rows(a) else np.ascontiguousarray(a) for a in arrays]

    def _vectors(self, groups: tuple[ArrayLike, ...]) -> list[FloatArray]:
        arrays = self._arrays(groups)
        for group, array in zip(self.program.inputs, arrays, strict=True):
            if array.ndim != 1:
                raise InputError(
                    f"one state at a time: group '{group.name}' of '{self.program.name}' expects shape "
                    f"({group.size},), got {array.shape}"
                )
        return arrays

    def __repr__(self) -> str:
        ins = ", ".join(f"{g.name}[{g.size}]" for g in self.program.inputs)
        outs = ", ".join(f"{g.name}[{g.size}]" for g in self.program.outputs)
        return f"<Kernel {self.program.name}: {ins} -> {outs}, {self.program.operations} operations>"


def _evaluate(
    function: Native, table: ctypes.Array[ctypes.c_int64], arrays: Sequence[FloatArray], count: int
) -> None:
    """All lanes of a batch, most of them in vectors that are whole cache lines."""
    begin = lanes_until_line(table, arrays, count)
    if begin:
        function(table, 0, begin)
    function(table, begin, count)


def available_cores() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
