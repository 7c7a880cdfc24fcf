"""Chunks on this machine's cores."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from trundle.sweeps.definition import AnyWork
from trundle.sweeps.store import Store


def roll_here(
    work: AnyWork, store: Store, chunks: Sequence[int], threads: int, done: Callable[[int], None]
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


def _begun(pool: ThreadPoolExecutor, work: AnyWork, store: Store, waiting: Iterator[int]) -> set[Future[int]]:
    """The next chunk's future, if there is one."""
    index = next(waiting, None)
    return set() if index is None else {pool.submit(_roll, work, store, index, 1)}


def _roll(work: AnyWork, store: Store, index: int, threads: int) -> int:
    first, count = store.rows_of(index)
    store.write(index, work.rows(first, count, threads))
    return count
