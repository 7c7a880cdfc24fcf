"""Batches by native code: all their lanes, on as many threads as the work fills."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from trundle.arrays import FloatArray
from trundle.operating_system import available_cores
from trundle.program.rows import lanes_until_line, table_of

Native = Callable[..., None]  # a function of addresses and counts in native code

THREAD_WORK = 20_000_000
"""Lane-instructions below which a second thread costs more than it saves (about 1 ms of one core)."""


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
