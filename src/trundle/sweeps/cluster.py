"""Chunks on the workers of a Dask cluster: they read the sweep from its store and write their chunks there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from trundle.errors import InputError, NumericsError, TrundleError
from trundle.sweeps.definition import AnyWork, digest
from trundle.sweeps.local import rows_of
from trundle.sweeps.store import Store, open_store

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds in which a scheduler must answer.
_PATIENCE = 5
# An address of Dask's: the protocol may be left out.
_ADDRESS = re.compile(r"(\w+://)?\S+:\d+")
# Chunks under way for a worker's thread: the next one is there when one ends.
_AHEAD = 3
# A task is known by this, on Dask's dashboard too.
_CALLED = "sweep"


def roll_there(
    cluster: Client, store: Store, chunks: Sequence[int], other_cpu: bool, done: Callable[[int], None]
) -> None:
    """Roll these chunks on a cluster, and `done` after every one, by its number of robots.

    A task is (place, digest, chunk): what it does twice has the same bits, so Dask may repeat it.

    Raises NumericsError where the cluster is lost on the way; what is whole is kept.
    """
    assert store.place is not None
    place, name = str(store.place.resolve()), digest(store.definition)
    from distributed import as_completed

    waiting, pending, running = iter(chunks), dict[Any, int](), as_completed(loop=cluster.loop)
    try:
        for _ in range(_AHEAD * _threads(cluster)):
            _submit(cluster, running, pending, waiting, place, name, other_cpu)
        while pending:
            future: Future = next(running)
            del pending[future]
            done(future.result())
            future.release()
            _submit(cluster, running, pending, waiting, place, name, other_cpu)
    except TrundleError:
        raise
    except Exception as error:  # of many kinds: killed workers, closed connections, cancelled futures
        kept = "what is whole is kept; go on with resume=True"
        raise NumericsError(f"the cluster was lost: {type(error).__name__}: {error}; {kept}") from error
    finally:
        if pending:
            cluster.cancel(list(pending))


def _submit(
    cluster: Client,
    running: Any,
    pending: dict[Any, int],
    waiting: Iterator[int],
    place: str,
    name: str,
    other: bool,
) -> None:
    """The next chunk, if there is one."""
    index = next(waiting, None)
    if index is not None:
        key = f"{_CALLED}-{name[:12]}-{index}"
        future = cluster.submit(roll_chunk, place, name, index, other, key=key, pure=False)
        pending[future] = index
        running.add(future)


def roll_chunk(place: str, name: str, index: int, other_cpu: bool) -> int:
    """What a worker does: the chunk `index` of the sweep `name` in a store; the number of its robots."""
    store, work = _opened(place, name)
    store.admit(other_cpu)
    store.write(index, rows_of(work, store, index))
    return store.rows_of(index)[1]


@lru_cache(maxsize=2)
def _opened(place: str, name: str) -> tuple[Store, AnyWork]:
    """The store and its work, once a worker: its programs are compiled once."""
    store = open_store(Path(place))
    if digest(store.definition) != name:
        raise InputError(
            f"'{place}' holds another sweep on this worker", hint="is it the same folder everywhere?"
        )
    return store, store.work()


def _threads(cluster: Client) -> int:
    """Threads of all workers, at least one."""
    found = cast("dict[str, int]", cluster.nthreads())
    return max(1, sum(found.values()))


@contextmanager
def reached(given: object) -> Iterator[Client | None]:
    """The client that was given, or one of this address as long as it is needed; None for none.

    Raises InputError where no scheduler answers within seconds.
    """
    if given is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        hint = "python -m pip install 'trundle[cluster]'"
        raise InputError(
            "clusters need Dask's distributed, which is not installed", key="client", hint=hint
        ) from None
    if isinstance(given, Client):
        yield given
        return
    if not isinstance(given, str):
        hint = 'give a distributed.Client, or "tcp://HOST:PORT"'
        raise InputError(
            f"expected a client or an address, got {type(given).__name__}", key="client", hint=hint
        )
    if not _ADDRESS.fullmatch(given):
        hint = "such as tcp://127.0.0.1:8786"
        raise InputError(f"expected a scheduler's address, got {given!r}", key="client", hint=hint)
    try:
        client = Client(given, timeout=_PATIENCE, set_as_default=False)
    except Exception as error:  # of many kinds: what answers there may be something else
        hint = "is the scheduler running, and can this machine reach it?"
        message = f"no scheduler answers at '{given}' within {_PATIENCE} s: {error}"
        raise InputError(message, key="client", hint=hint) from error
    with client:
        yield client
