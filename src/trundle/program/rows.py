"""Rows of doubles in memory, as native code reads and writes them: where they lie, whether it can take them, and
batches on as many threads as the work fills.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeGuard

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.operating_system import available_cores
from trundle.program.ir import Group

Native = Callable[..., None]  # a function of addresses and counts in native code

THREAD_WORK = 20_000_000
"""Lane-instructions below which a second thread costs more than it saves (about 1 ms of one core)."""

SPREAD = 512
"""Lanes from which on it matters where in the caches rows lie."""

_DOUBLE = np.dtype(np.float64)


def is_ready(value: ArrayLike) -> TypeGuard[FloatArray]:
    """Whether a value can go to native code as it is: seen in a tenth of the time that a look at all of it takes."""
    return type(value) is np.ndarray and value.dtype is _DOUBLE and value.ndim in (1, 2) and has_rows(value)


def has_rows(array: FloatArray) -> bool:
    """Whether the numbers of a row follow one another, as native code reads them; rows may lie anywhere."""
    return array.flags.c_contiguous or (array.strides[-1] == 8 and array.strides[0] % 8 == 0)


def address(array: FloatArray) -> int:
    """Where an array's rows begin; `array.ctypes.data` takes three times as long."""
    try:
        row = array if array.flags.c_contiguous else array[0]
        return ctypes.addressof(ctypes.c_char.from_buffer(row))  # pyright: ignore[reportArgumentType]  # NumPy's do
    except (TypeError, ValueError, IndexError):  # read-only, or empty
        return array.ctypes.data


def rows_for(size: int, count: int) -> FloatArray:
    """Room for results, (size, count).

    Rows of 512 bytes times a whole number would share a few sets of a cache, which then holds a part of them only: a
    differential drive in batches of 8,192 takes twice as long. So rows begin a line further apart.
    """
    if count % 64 or count < SPREAD:
        return np.empty((size, count))
    return np.empty((size, count + 8))[:, :count]


def across(table: FloatArray) -> FloatArray:
    """A table with one lane a row as one with a lane a column."""
    rows = rows_for(table.shape[1], len(table))
    rows[:] = table.T
    return rows


def table_of(arrays: Sequence[FloatArray], count: int) -> ctypes.Array[ctypes.c_int64]:
    """What native code of a batch takes: where arrays begin, the count of lanes, and the doubles from row to row."""
    words = (*[address(array) for array in arrays], count, *[array.strides[0] >> 3 for array in arrays])
    return (ctypes.c_int64 * len(words))(*words)


def lanes_until_line(table: ctypes.Array[ctypes.c_int64], arrays: Sequence[FloatArray], count: int) -> int:
    """Lanes, 0 to 7, before the first whole cache line of a batch's rows, if they are the same for all rows.

    A vector that lies across two lines is read, and written, at half the pace.
    """
    if count >= SPREAD:
        for begin, array in zip(table, arrays, strict=False):
            if array.ndim == 2:
                return -(begin >> 3) % 8 if array.strides[0] % 64 == 0 else 0
    return 0


def check_buffer(program: str, group: Group, buffer: object, count: int | None, writable: bool) -> None:
    """InputError where native code can't read, or write, a buffer as a group: one state, or `count` of them."""
    one, many = f"({group.size},)", f"({group.size}, {count})"
    if count is None:
        expected = f"a C-contiguous float64 array of shape {one}"
    else:
        expected = f"a float64 array of shape {many if writable else f'{many} or {one}'} with contiguous rows"
    if not isinstance(buffer, np.ndarray):
        raise InputError(
            f"buffer '{group.name}' of '{program}' expects {expected}, got {type(buffer).__name__}"
        )
    right = buffer.dtype == np.float64 and buffer.dtype.isnative
    if count is None or (buffer.ndim == 1 and not writable):
        right, ordered = right and buffer.size == group.size, buffer.flags.c_contiguous
    else:
        right, ordered = right and buffer.shape == (group.size, count), has_rows(buffer)
    if not right or not ordered:
        order = "contiguous" if ordered else "not contiguous"
        raise InputError(
            f"buffer '{group.name}' of '{program}' expects {expected}, got {buffer.dtype} {buffer.shape}, {order}"
        )
    if writable and not buffer.flags.writeable:
        raise InputError(f"buffer '{group.name}' of '{program}' is an output and must be writable")


def over_lanes(
    function: Native,
    arrays: Sequence[FloatArray],
    outputs: tuple[FloatArray, ...],
    count: int,
    *,
    lanes: int,
    threads: int,
) -> None:
    """A batch of `count` lanes by its native code, which takes blocks of `lanes`; few lanes with copies beside them."""
    if count >= lanes:
        _in_ranges(function, arrays, outputs, count, lanes, threads)
        return
    padded = [a if a.ndim == 1 else np.pad(a, ((0, 0), (0, lanes - count)), mode="edge") for a in arrays]
    wide = tuple(np.empty((o.shape[0], lanes)) for o in outputs)
    _in_ranges(function, padded, wide, lanes, lanes, 1)
    for output, result in zip(outputs, wide, strict=True):
        output[:] = result[:, :count]


def threads_for(count: int, operations: int) -> int:
    """How many threads a batch of so many lanes fills, of the cores that are there."""
    most = count * max(operations, 10) // THREAD_WORK
    return min(available_cores(), most) if most > 1 else 1


def _in_ranges(
    function: Native,
    arrays: Sequence[FloatArray],
    outputs: tuple[FloatArray, ...],
    count: int,
    lanes: int,
    threads: int,
) -> None:
    """Native code over all lanes, in ranges of whole blocks, one a thread."""
    table = table_of([*arrays, *outputs], count)
    if threads <= 1:
        evaluate(function, table, arrays, count)
        return
    blocks = -(-count // lanes)
    share = lanes * -(-blocks // threads)
    ranges = [(begin, min(begin + share, count)) for begin in range(0, count, share)]
    with ThreadPoolExecutor(len(ranges)) as pool:
        for done in [pool.submit(function, table, begin, end) for begin, end in ranges]:
            done.result()


def evaluate(
    function: Native, table: ctypes.Array[ctypes.c_int64], arrays: Sequence[FloatArray], count: int
) -> None:
    """All lanes of a batch, most of them in vectors that are whole cache lines."""
    begin = lanes_until_line(table, arrays, count)
    if begin:
        function(table, 0, begin)
    function(table, begin, count)
