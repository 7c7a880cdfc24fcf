"""Kills at random instants, of the command, of a worker, of the scheduler: nothing is lost but chunks under way."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.sweeps.logged import LOG
from trundle.sweeps.outcome import Sweep

pytest.importorskip("distributed")

_CHUNKS, _THREADS = 10, 2
# Seconds of waiting for what must happen, on a machine that does other things as well.
_PATIENCE = 120
# Seconds for what is aborted to say where it stood, and how that begins.
_FAREWELL = 20
_ABORTED = "Fatal Python error: Aborted"
_COMMAND = """
import sys
import tests.sweeps.logged, trundle
place, client = sys.argv[1:]
trundle.sweep(trundle.catalog.differential_drive(), over={"body.mass": "uniform(40, 60)"}, samples=40960, steps=1500,
    measures=["final.x", "rms(omega)"], inputs={"left_motor.voltage": 20.0}, chunk=4096, threads=2, progress=False,
    store=place, resume=True, client=client or None)
"""
_KINDS = ("command", "command on a cluster", "worker", "scheduler")


class Processes:
    """A sweep's command, and the scheduler and two workers where it runs on these."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.place, self.log = folder, folder / "killed.zarr", folder / "chunks.txt"
        told = {LOG: str(self.log), "PYTHONPATH": os.pathsep.join(sys.path), "PYTHONFAULTHANDLER": "1"}
        self.environment = {**os.environ, **told}
        self.named = dict[str, subprocess.Popen[bytes]]()
        self.clustered = False

    def begin(self, name: str, *words: object) -> None:
        """Start one under a name."""
        with (self.folder / f"{name}.txt").open("ab") as told:
            self.named[name] = subprocess.Popen(
                [sys.executable, *map(str, words)],
                env=self.environment,
                stdout=told,
                stderr=told,
                cwd=self.folder,
            )

    def end(self, *names: str) -> None:
        """SIGKILL."""
        for name in names:
            if name in self.named:
                self.named[name].kill()
                self.named.pop(name).wait()

    @property
    def address(self) -> Path:
        return self.folder / "scheduler.json"

    def goes_on(self, clustered: bool) -> None:
        """Start the command, unless it runs."""
        if "command" in self.named:
            return
        self.clustered = clustered
        if clustered:
            self.cluster()
        client = f"tcp://127.0.0.1:{self.port}" if clustered else ""
        self.begin("command", "-c", _COMMAND, self.place, client)

    def cluster(self) -> None:
        """What is missing of scheduler and workers."""
        if "scheduler" not in self.named:
            self.end("worker 0", "worker 1")
            self.port = _free_port()
            words = ("scheduler", "--host", "127.0.0.1", "--port", self.port, "--no-dashboard")
            self.begin("scheduler", "-m", "dask", *words)
            _answers(self.port)
        for name in ("worker 0", "worker 1"):
            if name not in self.named:
                words = (
                    "worker",
                    f"tcp://127.0.0.1:{self.port}",
                    "--nthreads",
                    1,
                    "--no-nanny",
                    "--no-dashboard",
                )
                self.begin(name, "-m", "dask", *words, "--preload", "tests.sweeps.logged")

    def ended(self, seconds: float) -> bool:
        """Whether the command ends within so many seconds."""
        try:
            self.named["command"].wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def must_end(self, seconds: float = _PATIENCE) -> None:
        """Wait for the command. Where it doesn't end it is aborted, and the failure says where its threads stood."""
        if self.ended(seconds):
            return
        self.named["command"].send_signal(signal.SIGABRT)  # faulthandler writes the stacks of all threads
        if not self.ended(_FAREWELL):
            self.end("command")
        told = (self.folder / "command.txt").read_text(errors="replace")
        stacks = told[told.rfind(_ABORTED) :] if _ABORTED in told else told[-2000:]
        raise AssertionError(f"the command has not ended within {seconds} s:\n{stacks}")

    @property
    def begun(self) -> int:
        """Chunks that were begun to be rolled."""
        return len(self.log.read_text().split()) if self.log.exists() else 0


def _free_port() -> int:
    import socket

    with socket.socket() as here:
        here.bind(("127.0.0.1", 0))
        return here.getsockname()[1]


def _answers(port: int) -> None:
    """Wait until somebody listens."""
    import socket

    for _ in range(10 * _PATIENCE):
        with socket.socket() as here:
            if here.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("no scheduler")


def rows(place):
    found = Sweep.load(place)
    return {name: found.store.read(name) for name in found.store.names}


_HANGS = """
import threading, time
def hangs_here(): time.sleep(1000)
threading.Thread(target=hangs_here, daemon=True).start()
print("ready", flush=True)
def waits_for_ever(): time.sleep(1000)
waits_for_ever()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGABRT")
def test_a_command_that_hangs_says_where(tmp_path):
    sweep = Processes(tmp_path)
    sweep.begin("command", "-c", _HANGS)
    for _ in range(10 * _PATIENCE):
        if "ready" in (tmp_path / "command.txt").read_text():
            break
        time.sleep(0.1)
    with pytest.raises(AssertionError, match="has not ended within") as told:
        sweep.must_end(0.5)
    assert "waits_for_ever" in str(told.value)
    assert "hangs_here" in str(told.value)
    assert sweep.named["command"].returncode == -signal.SIGABRT


@pytest.mark.campaign
@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_kills_lose_the_chunks_under_way_at_most(tmp_path, campaign):
    """200 kills at random instants; what goes on has the bits of what was never killed."""
    sweep = Processes(tmp_path)
    sweep.goes_on(False)
    began = time.monotonic()
    sweep.must_end()
    lasts = time.monotonic() - began
    assert sweep.named.pop("command").returncode == 0
    wanted, kills, done = rows(sweep.place), 0, 0
    shutil.rmtree(sweep.place)
    sweep.log.unlink()

    def whole(kills: int) -> bool:
        """Whether the sweep has ended with its bits, little of it done twice; else its cluster was lost."""
        told = (tmp_path / "command.txt").read_text()
        if sweep.named.pop("command").returncode:
            assert "the cluster was lost" in told.splitlines()[-1], told[-2000:]
            return False
        found = rows(sweep.place)
        assert all(np.array_equal(found[name], values) for name, values in wanted.items())
        assert sweep.begun <= _CHUNKS + _THREADS * kills
        shutil.rmtree(sweep.place)
        sweep.log.unlink()
        return True

    try:
        for rng in campaign(200):
            kind = _KINDS[int(rng.integers(len(_KINDS)))]
            sweep.goes_on(kind != "command")
            while sweep.ended(rng.uniform(0, 1.2 * lasts)):
                if whole(kills):
                    kills = done = 0
                sweep.goes_on(kind != "command")
            kills += 1
            done = _killed(sweep, kind, done)
        sweep.goes_on(False)
        sweep.must_end()
        assert whole(kills)
    finally:
        sweep.end(*list(sweep.named))


def _killed(sweep: Processes, kind: str, done: int) -> int:
    """Kill one of a kind, and what can't go on without it; how many chunks are whole, never fewer than before."""
    if not sweep.clustered or kind.startswith("command"):
        sweep.end("command")
    elif kind == "worker":
        sweep.end("worker 0")
        sweep.cluster()
    else:
        sweep.end("scheduler")
        sweep.must_end()
        told = sweep.named.pop("command")
        assert told.returncode in (0, 1)
        sweep.end("worker 0", "worker 1")
    if sweep.place.exists():
        now = int(Sweep.load(sweep.place).store.whole().sum())
        assert now >= done
        return now
    return done
