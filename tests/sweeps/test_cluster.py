"""Sweeps on Dask's workers: real processes, the same bits, and what is lost with them."""

import gc
import os
import signal
import socket
import threading
from contextlib import suppress

import numpy as np
import pytest

import trundle
from trundle import InputError, NumericsError
from trundle.sweeps import cluster as clusters
from trundle.sweeps.cluster import roll_chunk
from trundle.sweeps.definition import digest
from trundle.sweeps.outcome import Sweep

distributed = pytest.importorskip("distributed")

HOW = {
    "over": {"r": "14 cm:16 cm:2", "body.mass": "uniform(40, 60)"}, "samples": 20000, "steps": 200,
    "measures": ["final.x", "rms(omega)"], "inputs": {"left_motor.voltage": 20.0}, "chunk": 4096, "progress": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
    ) as own:
        yield own


@pytest.fixture(scope="module")
def whole():
    return trundle.sweep(trundle.catalog.differential_drive(), **HOW)


@pytest.fixture
def waits(monkeypatch):
    """For how many seconds at most what may hang was waited for."""
    within, seconds = clusters._within, []
    monkeypatch.setattr(clusters, "_within", lambda most, call: seconds.append(most) or within(most, call))
    return seconds


def same(one, other):
    return all(
        np.array_equal(one.store.read(name), other.store.read(name), equal_nan=True)
        for name in one.store.names
    )


@pytest.mark.slow
def test_workers_write_the_same_bits(cluster, whole, tmp_path):
    robot = trundle.catalog.differential_drive()
    with distributed.Client(cluster) as client:
        found = trundle.sweep(robot, **HOW, client=client, store=tmp_path / "a.zarr")
        assert same(found, whole)
        assert not client.futures
    found = trundle.sweep(robot, **HOW, client=cluster.scheduler_address, store=tmp_path / "b.zarr")
    assert same(found, whole)


@pytest.mark.slow
def test_workers_write_the_same_bits_over_terrain(cluster, tmp_path):
    rough = {"surfaces": {"ground": {"type": "fractal", "slope": 0.2, "shortest": 0.5, "longest": 2.0}}}
    how = {
        "terrain": rough, "over": {"terrain.seed": [4, 0], "initial.yaw": "uniform(-1, 1)"}, "samples": 3000,
        "steps": 10, "dt": 0.05, "measures": ["final.x", "max(tilt)", "min(left.1.load)"], "chunk": 4096,
        "progress": False,
    }  # fmt: skip
    here = trundle.sweep(trundle.catalog.talon(), **how)
    with distributed.Client(cluster) as client:
        there = trundle.sweep(trundle.catalog.talon(), **how, client=client, store=tmp_path / "a.zarr")
    assert same(here, there)


@pytest.mark.slow
def test_a_worker_that_dies_costs_its_chunks_only(cluster, whole, tmp_path):
    robot, place = trundle.catalog.differential_drive(), tmp_path / "sweep.zarr"
    killed = []

    def kill(_share):
        if not killed:
            killed.append(next(iter(cluster.workers.values())).pid)
            os.kill(killed[0], signal.SIGKILL)

    with distributed.Client(cluster) as client:
        found = trundle.sweep(robot, **{**HOW, "progress": kill}, client=client, store=place)
    assert killed
    assert same(found, whole)


def test_a_chunk_done_twice_has_the_same_bits(whole, tmp_path):
    place = tmp_path / "sweep.zarr"
    found = trundle.sweep(trundle.catalog.differential_drive(), **HOW, store=place)
    assert roll_chunk(str(place), digest(found.store.definition), 3, False) == 4096
    assert same(Sweep.load(place), whole)
    with pytest.raises(InputError, match="another sweep on this worker"):
        roll_chunk(str(place), "0" * 64, 3, False)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_said_within_ten_seconds(tmp_path, waits):
    place = tmp_path / "sweep.zarr"
    with pytest.raises(InputError, match="no scheduler answers at 'tcp://127.0.0.1:9'"):
        trundle.sweep(trundle.catalog.differential_drive(), **HOW, client="tcp://127.0.0.1:9", store=place)
    assert sum(waits) <= 10
    assert not place.exists()


def test_clusters_need_a_store_and_a_client():
    with pytest.raises(InputError, match="write to a store"):
        trundle.sweep(trundle.catalog.differential_drive(), **HOW, client="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match="expected a client or an address, got int"):
        trundle.sweep(trundle.catalog.differential_drive(), **HOW, client=3, store="nowhere.zarr")
    with pytest.raises(InputError, match="expected a scheduler's address, got 'nonsense'"):
        trundle.sweep(trundle.catalog.differential_drive(), **HOW, client="nonsense", store="nowhere.zarr")


class Deaf:
    """A client whose futures never end, of some status, whose scheduler may have been connected to anew."""

    def __init__(self, status, renewed=False, hangs=()):
        self.status, self.renewed, self.hangs, self.submitted = status, renewed, hangs, 0

    @property
    def scheduler_comm(self):
        return (self.submitted if self.renewed else 0) if self.status == "running" else None

    def nthreads(self):
        self.may_hang("nthreads")
        return {"worker": 2}

    def submit(self, *_given, **_named):
        self.submitted += 1
        return Endless()

    def cancel(self, _futures):
        self.may_hang("cancel")
        raise RuntimeError("the client is closed")

    def close(self, **_named):
        self.may_hang("close")

    def may_hang(self, name):
        if name in self.hangs:
            threading.Event().wait()


class Endless:
    status = "pending"

    def add_done_callback(self, call):
        """It never comes."""


class Ended:
    def __init__(self, status, error=None):
        self.status, self.error = status, error

    def add_done_callback(self, call):
        call(self)

    def result(self, timeout):
        raise self.error

    def release(self):
        """Nobody holds it."""


@pytest.fixture
def hasty(monkeypatch):
    for name, seconds in (("_PATIENCE", 0.1), ("_LOST", 0.2), ("_LOOK", 0.02)):
        monkeypatch.setattr(clusters, name, seconds)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    how = {**HOW, "samples": 4096, "steps": 2}
    place = tmp_path_factory.mktemp("kept") / "sweep.zarr"
    return trundle.sweep(trundle.catalog.differential_drive(), **how, store=place).store


@pytest.mark.parametrize(
    ("deaf", "told"),
    [
        (Deaf("connecting"), "scheduler has been gone"),
        (Deaf("closing"), "scheduler has been gone"),
        (Deaf("closed", hangs=("cancel",)), "scheduler has been gone"),
        (Deaf("running", renewed=True), "scheduler has been gone"),
        (Deaf("running", hangs=("nthreads", "cancel")), "TimeoutError"),
    ],
    ids=["connecting", "closing", "closed", "renewed", "silent"],
)
def test_a_scheduler_that_is_gone_ends_the_wait(deaf, told, kept, hasty):
    with pytest.raises(NumericsError, match=rf"the cluster was lost: .*{told}.*; go on with resume=True"):
        clusters.roll_there(deaf, kept, range(2), False, lambda _robots: None)


def test_a_scheduler_that_is_there_is_waited_for(kept, hasty):
    deaf, ended = Deaf("running"), []

    def wait():
        with pytest.raises(NumericsError, match="has been gone"):
            clusters.roll_there(deaf, kept, range(2), False, lambda _robots: None)
        ended.append(True)

    waiting = threading.Thread(target=wait)
    waiting.start()
    waiting.join(4 * clusters._LOST)
    assert not ended
    deaf.status = "connecting"
    waiting.join(5)
    assert ended


@pytest.mark.parametrize(
    ("hangs", "status"), [((), "running"), (("close",), "closed")], ids=["closes", "hangs"]
)
def test_closing_has_a_bound(hangs, status, monkeypatch, hasty):
    class Own(Deaf):
        def __init__(self, _address, **_named):
            super().__init__("running", hangs=hangs)

    monkeypatch.setattr(distributed, "Client", Own)
    with pytest.raises(NumericsError, match="first"), clusters.reached("tcp://127.0.0.1:9") as own:
        raise NumericsError("first")
    assert own.status == status


@pytest.mark.slow
@pytest.mark.parametrize("greets", [b"", b"SSH-2.0-OpenSSH_9.6\r\n", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_what_listens_is_no_scheduler_for_that(greets, waits, capfd, monkeypatch):
    """What says nothing, or speaks another protocol, is told within ten seconds, and leaves nothing that waits."""
    clients = []
    begin = distributed.Client.__init__
    monkeypatch.setattr(
        distributed.Client,
        "__init__",
        lambda own, *given, **named: clients.append(own) or begin(own, *given, **named),
    )
    with socket.create_server(("127.0.0.1", 0)) as other:
        greeted: list[socket.socket] = []
        threading.Thread(target=_greet, args=(other, greets, greeted), daemon=True).start()
        address = f"tcp://127.0.0.1:{other.getsockname()[1]}"
        with pytest.raises(InputError, match="no scheduler answers") as told, clusters.reached(address):
            pass
        assert greeted
    assert "allocate" not in str(told.value)
    assert "dashboard" in str(told.value)
    assert sum(waits) <= 10
    assert [client.status for client in clients] == ["closed"]  # so its destructor doesn't wait
    del told
    clients.clear()
    gc.collect()  # the destructor
    assert "Exception ignored" not in capfd.readouterr().err


def _greet(server: socket.socket, words: bytes, greeted: list[socket.socket]) -> None:
    """Take all that come, as long as the server is open."""
    with suppress(OSError):
        while True:
            greeted.append(server.accept()[0])
            greeted[-1].sendall(words)


@pytest.mark.parametrize(
    ("status", "error", "told"),
    [
        ("error", InputError("other CPU"), "^other CPU"),
        ("error", MemoryError("little"), "the cluster was lost: MemoryError: little"),
        ("cancelled", RuntimeError("restarted"), "the cluster was lost: RuntimeError: restarted"),
    ],
)
def test_what_a_worker_raises_ends_the_sweep(status, error, told, kept, hasty):
    cluster, rolled = Deaf("running"), []
    outcomes = [Ended("finished"), Ended("lost"), Ended(status, error)]  # lost: written, then its worker died
    cluster.submit = lambda *_given, **_named: outcomes.pop(0)
    with pytest.raises(trundle.TrundleError, match=told):
        clusters.roll_there(cluster, kept, [0, 0, 0], False, rolled.append)
    assert rolled == [kept.rows_of(0)[1]] * 2
