"""Sweeps on Dask's workers: real processes, the same bits, and what is lost with them."""

import os
import signal
import time

import numpy as np
import pytest

import trundle
from trundle import InputError
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
def test_a_scheduler_that_does_not_answer_is_said_within_ten_seconds(tmp_path):
    place, began = tmp_path / "sweep.zarr", time.monotonic()
    with pytest.raises(InputError, match="no scheduler answers at 'tcp://127.0.0.1:9'"):
        trundle.sweep(trundle.catalog.differential_drive(), **HOW, client="tcp://127.0.0.1:9", store=place)
    assert time.monotonic() - began < 10
    assert not place.exists()


def test_clusters_need_a_store_and_a_client():
    with pytest.raises(InputError, match="write to a store"):
        trundle.sweep(trundle.catalog.differential_drive(), **HOW, client="tcp://127.0.0.1:9")
    with pytest.raises(InputError, match="expected a client or an address, got int"):
        trundle.sweep(trundle.catalog.differential_drive(), **HOW, client=3, store="nowhere.zarr")
    with pytest.raises(InputError, match="expected a scheduler's address, got 'nonsense'"):
        trundle.sweep(trundle.catalog.differential_drive(), **HOW, client="nonsense", store="nowhere.zarr")
