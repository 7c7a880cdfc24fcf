"""Chunks on the workers of a Dask cluster: they read the sweep from its store and write their chunks there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future as Promise
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from time import monotonic
from typing import TYPE_CHECKING, cast

from trundle.errors import InputError, NumericsError, TrundleError
from trundle.extras import load
from trundle.sweeps.definition import Work, digest
from trundle.sweeps.local import rows_of
from trundle.sweeps.store import Store, open_store

if TYPE_CHECKING:
    from distributed import Client, Future
# Seconds in which a scheduler must answer, at first and when the connection to it was lost; and for a farewell.
_PATIENCE = 5
# Seconds after which a scheduler is given up whose client doesn't: something listens there, and says nothing.
_REACHED = _PATIENCE + 2
# Seconds after which a client that has lost its scheduler is given up: a client of ours ends its own tries after half.
# Dask cancels the futures of a lost scheduler, but not those that are submitted at the same instant.
_LOST = 2 * _PATIENCE
# Seconds between two looks at the connection: far less than it takes to be lost.
_LOOK = 1.0
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
    waiting, link = iter(chunks), _Link(cluster)
    pending: dict[Future, int] = {}
    ended: SimpleQueue[Future] = SimpleQueue()

    def submit() -> None:
        """The next chunk, if there is one."""
        index = next(waiting, None)
        if index is not None:
            key = f"{_CALLED}-{name[:12]}-{index}"
            future = cluster.submit(roll_chunk, place, name, index, other_cpu, key=key, pure=False)
            pending[future] = index
            future.add_done_callback(ended.put)

    try:
        for _ in range(_AHEAD * _threads(cluster)):
            submit()
        while pending:
            future = link.next_of(ended)
            index = pending.pop(future)
            if future.status in ("error", "cancelled"):
                future.result(timeout=_LOST)  # raises what went wrong
            done(store.rows_of(index)[1])
            future.release()
            submit()
    except TrundleError:
        raise
    except Exception as error:  # of many kinds: killed workers, closed connections, cancelled futures
        kept = "what is whole is kept; go on with resume=True"
        raise NumericsError(f"the cluster was lost: {type(error).__name__}: {error}; {kept}") from error
    finally:
        if pending:
            with suppress(Exception):  # a lost cluster has nothing left to cancel
                _within(_PATIENCE, lambda: cluster.cancel(list(pending)))


class _Link:
    """The connection of a client to its scheduler, while its futures are waited for."""

    def __init__(self, cluster: Client) -> None:
        self._cluster, self._comm = cluster, cluster.scheduler_comm
        self._lost: float | None = None

    def next_of(self, ended: SimpleQueue[Future]) -> Future:
        """The next future that has ended. Raises ConnectionError where the scheduler is gone."""
        while True:
            with suppress(Empty):
                return ended.get(timeout=_LOOK)
            self._look()

    def _look(self) -> None:
        """See whether the scheduler is there: a new connection knows nothing of the old one's futures."""
        if self._cluster.status == "running":
            self._comm = self._cluster.scheduler_comm if self._comm is None else self._comm
            if self._cluster.scheduler_comm is self._comm:
                self._lost = None
                return
        now = monotonic()
        self._lost = now if self._lost is None else self._lost
        if now - self._lost >= _LOST:
            raise ConnectionError(f"its scheduler has been gone for {_LOST} s")


def _within(seconds: float, call: Callable[[], object]) -> object:
    """What a call returns, which may never return. Raises TimeoutError where it lasts longer.

    A daemon's thread makes the call, so that the program can end although the call has not.
    """
    promise: Promise[object] = Promise()

    def run() -> None:
        try:
            promise.set_result(call())
        except BaseException as error:
            promise.set_exception(error)

    Thread(target=run, daemon=True).start()
    return promise.result(seconds)


def roll_chunk(place: str, name: str, index: int, other_cpu: bool) -> int:
    """What a worker does: the chunk `index` of the sweep `name` in a store; the number of its robots."""
    store, work = _opened(place, name)
    store.admit(other_cpu)
    store.write(index, rows_of(work, store, index))
    return store.rows_of(index)[1]


@lru_cache(maxsize=2)
def _opened(place: str, name: str) -> tuple[Store, Work]:
    """The store and its work, once a worker: its programs are compiled once."""
    store = open_store(Path(place))
    if digest(store.definition) != name:
        raise InputError(
            f"'{place}' holds another sweep on this worker", hint="is it the same folder everywhere?"
        )
    return store, store.work()


def _threads(cluster: Client) -> int:
    """Threads of all workers, at least one."""
    found = cast("dict[str, int]", _within(_LOST, cluster.nthreads))
    return max(1, sum(found.values()))


def client_kind() -> type[Client]:
    """Dask's class of clients. Raises InputError where it isn't installed."""
    return load("distributed", "clusters need Dask's distributed", extra="cluster", key="client").Client


@contextmanager
def reached(given: object) -> Iterator[Client | None]:
    """The client that was given, or one of this address as long as it is needed; None for none.

    Raises InputError where no scheduler answers within seconds.
    """
    if given is None:
        yield None
        return
    kind = client_kind()
    if isinstance(given, kind):
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
    client = _connected(kind, given)
    try:
        yield client
    finally:
        _close(client)


def _connected(kind: type[Client], address: str) -> Client:
    """A client of the scheduler there. Raises InputError where none answers."""
    client = kind.__new__(kind)  # so that it is known also where its making fails or never ends
    try:
        _within(_REACHED, lambda: kind.__init__(client, address, timeout=_PATIENCE, set_as_default=False))
    except Exception as error:  # of many kinds: what answers there may be something else
        client.status = "closed"  # else its destructor would wait as well
        hint = "is it running, can this machine reach it, and is this its own port (8786, mostly), not its dashboard's?"
        # Bytes of another protocol are read as an absurd amount of memory, which says nothing to anybody.
        why = "" if isinstance(error, MemoryError) or not str(error) else f": {error}"
        message = f"no scheduler answers at '{address}' within {_PATIENCE} s{why}"
        raise InputError(message, key="client", hint=hint) from error
    return client


def _close(client: Client) -> None:
    """Close a client, whether its scheduler is there or not."""
    try:
        _within(_PATIENCE, lambda: client.close(timeout=_PATIENCE))
    except Exception:  # of many kinds: what it was to do is done, or the cluster was lost
        client.status = "closed"  # else its destructor would wait once more
