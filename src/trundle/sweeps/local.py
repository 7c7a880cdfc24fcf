"""Chunks on this machine's cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.sweeps.store import Store
from trundle.sweeps.work import Work


def roll_here(
    work: Work, store: Store, chunks: Sequence[int], threads: int, done: Callable[[int], None]
) -> None:
    """Roll these chunks and write them, a thread a chunk, and `done` after every one, by its number of robots.

    Raises what a chunk raises; those under way are finished, the rest is dropped.
    """
    if len(chunks) < threads:  # few chunks: all threads on one
        for index in chunks:
            done(_roll(work, store, index, threads))
        return
    pending: set[Future[int]] = set()
    with ThreadPoolExecutor(threads) as pool:
        waiting = iter(chunks)
        try:
            for _ in range(threads):
                pending |= _begun(pool, work, store, waiting)
            while pending:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
                for each in finished:
                    done(each.result())
                    pending |= _begun(pool, work, store, waiting)
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _begun(pool: ThreadPoolExecutor, work: Work, store: Store, waiting: Iterator[int]) -> set[Future[int]]:
    """The next chunk's future, if there is one."""
    index = next(waiting, None)
    return set() if index is None else {pool.submit(_roll, work, store, index, 1)}


def _roll(work: Work, store: Store, index: int, threads: int) -> int:
    store.write(index, rows_of(work, store, index, threads))
    return store.rows_of(index)[1]


def rows_of(work: Work, store: Store, index: int, threads: int = 1) -> dict[str, FloatArray]:
    """The rows of a chunk; an InputError says of which robots."""
    first, count = store.rows_of(index)
    try:
        return work.rows(first, count, threads)
    except InputError as error:
        if not first:
            raise
        message = f"among robots {first:,} to {first + count - 1:,}, counted from there: {error.message}"
        raise InputError(message, key=error.key, hint=error.hint) from error
