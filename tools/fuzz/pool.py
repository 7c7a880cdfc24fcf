"""Forked workers with limits: a case that takes too much processor time or memory ends its worker, not the search."""

from __future__ import annotations

import faulthandler
import os
import re
import resource
import signal
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from multiprocessing import connection
from multiprocessing.context import ForkContext, ForkProcess
from pathlib import Path
from typing import Any, Generic, TypeVar, cast

Job = TypeVar("Job")
Answer = TypeVar("Answer")
Pipe = connection.Connection  # of pickled objects, both ways

SECONDS = 10.0
BYTES = 2 * 2**30
# A worker that uses no processor hangs all the same; one beside others waits its turn.
_WALL_SECONDS = 120.0
# Kernels that a process keeps, and what libraries leak, must not add up.
_JOBS_A_WORKER = 300


@dataclass(frozen=True)
class Death:
    """How a worker ended in the middle of a job: the reason, and where it was then."""

    reason: str
    place: str


@dataclass
class _Worker(Generic[Job]):
    process: ForkProcess
    pipe: Pipe
    folder: tempfile.TemporaryDirectory[str]
    job: Job | None = None
    began: float = 0.0
    done: int = 0


def answers(
    jobs: Iterable[Job], work: Callable[[Job], Answer], workers: int, seconds: float = SECONDS
) -> Iterator[tuple[Job, Answer | Death]]:
    """`work(job)` of each job as it is done, in any order, in a folder of the worker's own; Death where it died."""
    waiting, pool = iter(jobs), list[_Worker[Job]]()
    try:
        pool = [each for each in (_start(work, seconds) for _ in range(workers)) if _give(each, waiting)]
        while busy := [each for each in pool if each.job is not None]:
            ready = set(connection.wait([each.pipe for each in busy], timeout=1.0))
            for worker in busy:
                late = time.monotonic() - worker.began > _WALL_SECONDS
                if worker.pipe not in ready and not late:
                    continue
                job, answer = worker.job, _answer(worker, late, seconds)
                assert job is not None
                if isinstance(answer, Death) or worker.done >= _JOBS_A_WORKER:
                    _stop(worker)
                    pool[pool.index(worker)] = worker = _start(work, seconds)
                _give(worker, waiting)
                yield job, answer
    finally:
        for worker in pool:
            _stop(worker)


def _start(work: Callable[[Job], Answer], seconds: float) -> _Worker[Job]:
    fork = ForkContext()
    here, there = fork.Pipe()
    folder = tempfile.TemporaryDirectory(prefix="fuzz")
    process = fork.Process(target=_serve, args=(there, work, folder.name, seconds), daemon=True)
    process.start()
    there.close()
    return _Worker(process, cast(Pipe, here), folder)


def _give(worker: _Worker[Job], jobs: Iterator[Job]) -> bool:
    """The next job to a worker; False where there is none."""
    worker.job = next(jobs, None)
    if worker.job is not None:
        worker.began = time.monotonic()
        worker.pipe.send(worker.job)
    return worker.job is not None


def _answer(worker: _Worker[Job], late: bool, seconds: float) -> Any:
    worker.done += 1
    try:
        if not late:
            return worker.pipe.recv()
    except EOFError:
        pass
    if late:
        worker.process.kill()
    worker.process.join()
    code = worker.process.exitcode or 0
    reason = (
        "hangs" if late else f"over {seconds:g} s" if code == -signal.SIGPROF else f"dies with status {code}"
    )
    return Death(reason, _last_place(Path(worker.folder.name, "trace")))


def _last_place(trace: Path) -> str:
    """The innermost function of the package in what faulthandler wrote."""
    frames = re.findall(r'File ".*/src/trundle/(\S+)", line \d+ in (\S+)', trace.read_text(encoding="utf-8"))
    return ":".join(frames[0]) if frames else ""


def _stop(worker: _Worker[Job]) -> None:
    worker.pipe.close()
    worker.process.kill()
    worker.process.join()
    worker.folder.cleanup()


def _serve(pipe: Pipe, work: Callable[[Job], Answer], folder: str, seconds: float) -> None:
    """A worker's life: silent, limited, in its own folder."""
    os.chdir(folder)
    silent = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(silent, stream)
    trace = open("trace", "w", encoding="utf-8")  # noqa: SIM115  it stays open as long as the process
    faulthandler.enable(trace)
    # The default action of SIGPROF ends the process, also where it is deep in a library.
    faulthandler.register(signal.SIGPROF, trace, chain=True)
    used = int(Path("/proc/self/statm").read_text(encoding="utf-8").split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, used + BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            job = pipe.recv()
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_PROF, seconds)
        answer = work(job)
        signal.setitimer(signal.ITIMER_PROF, 0)
        pipe.send(answer)
