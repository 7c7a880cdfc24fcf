"""Rollouts on a GPU, one thread a robot: as many robots at a time as its memory holds, a span of steps a launch."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from trundle.arrays import FloatArray
from trundle.choices import Precision
from trundle.errors import InputError, NumericsError
from trundle.gpu.cuda import BLOCK, Cuda, CudaObject, opened
from trundle.gpu.ptx import TARGET, Ptx, rollout_ptx
from trundle.program.llvm.llvm_rollout import ITERATE, ChannelLayout
from trundle.program.rollout import NEVER, ProgressCall, Rollout, RolloutRequest, bits_of

LAUNCH_SECONDS = 0.1
"""About what a launch takes: progress and interrupts are answered, and no screen's watchdog ends it."""
FIRST_STEPS = 4
"""Steps of the first launch, which says how long the others may be."""
_ROLLING: defaultdict[int, Lock] = defaultdict(Lock)  # by device: who rolls counts on all memory that is free
_SHARE = 0.9  # of the free memory; the rest is the driver's, and rounding of addresses
_ALIGNED = 256  # bytes to which arrays are aligned, as the driver does


def run(
    request: RolloutRequest, progress: ProgressCall | None, *, device: str, precision: Precision
) -> Rollout:
    """A rollout on the device "cuda", or "cuda:1" for the second one, in that precision; results are doubles.

    Raises:
        InputError: the extra, the driver or the device is missing; single precision for a step that is found by rounds.
        NumericsError: the device fails, or has no room for a single robot.
    """
    if precision == "single" and any(group.name == ITERATE for group in request.program.inputs):
        # their error is measured in parts of what double precision resolves: rounds would never end
        message = "a step that is found by rounds, as over terrain, needs double precision"
        raise InputError(message, key="precision", hint='precision="double"')
    job = _DeviceRollout.prepare(request, opened(device), precision)
    with _ROLLING[job.cuda.number]:
        return job.run(progress)


def kernel_of(request: RolloutRequest, precision: Precision, target: str) -> Ptx:
    """The PTX of a rollout, kept with its program."""
    layouts = {s: ChannelLayout(c.wide, c.stepped) for s, c in request.channels.items()}
    made_for = target if _number(target) < _number(TARGET) else TARGET
    what = (request.state, tuple(layouts.items()), precision, made_for)
    kept: dict[tuple[object, ...], Ptx] = vars(request.program).setdefault("ptx", {})
    if what not in kept:
        kept[what] = rollout_ptx(
            request.program, request.state, layouts, precision=precision, target=made_for
        )
    return kept[what]


def _number(target: str) -> int:
    return int(target.removeprefix("sm_"))


@dataclass
class _DeviceRollout:
    """A rollout on a device, and the arrays that it fills."""

    request: RolloutRequest
    cuda: Cuda
    kernel: CudaObject
    dtype: np.dtype[np.floating]
    samples: FloatArray
    final: FloatArray

    @staticmethod
    def prepare(request: RolloutRequest, cuda: Cuda, precision: Precision) -> _DeviceRollout:
        ptx = kernel_of(request, precision, cuda.target)
        n, count = len(request.start), request.count or 1
        samples, final = np.empty((request.saved, n, count)), np.empty((n, count))
        return _DeviceRollout(request, cuda, cuda.kernel(ptx), ptx.dtype, samples, final)

    def run(self, progress: ProgressCall | None) -> Rollout:
        """All robots, in chunks that fit into the device's memory."""
        count = self.final.shape[1]
        chunk = self._chunk()
        for first in range(0, count, chunk):
            last = min(first + chunk, count)

            def report(share: float, first: int = first, last: int = last) -> None:
                if progress:
                    progress((first + share * (last - first)) / count)

            self._roll(first, last, report)
        if progress:
            progress(1.0)
        return self.request.rolled(self.samples, self.final)

    def _chunk(self) -> int:
        """Robots at a time; NumericsError where not even one fits."""
        count, free = self.final.shape[1], int(_SHARE * self.cuda.free_memory())
        if self._needs(count) <= free:
            return count
        fixed = self._needs(0)
        most = (free - fixed) // (self._needs(BLOCK) - fixed) * BLOCK
        if most < 1:
            raise NumericsError(
                f"'{self.cuda.name}' has {free / 1e9:.2f} GB free; {BLOCK} robots take "
                f"{self._needs(BLOCK) / 1e9:.2f} GB: store fewer states with every="
            )
        return most

    def _needs(self, robots: int) -> int:
        """Bytes on the device of so many robots."""
        return self._layout(robots).size

    def _layout(self, robots: int) -> _Arena:
        """Where everything lies: the table, states, samples, then the channels."""
        n, size = len(self.request.start), self.dtype.itemsize
        arena = _Arena()
        arena.add(8 * (6 + 2 * len(self.request.channels)))
        arena.add(n * robots * size)
        arena.add(self.request.saved * n * robots * size)
        for channel in self.request.channels.values():
            rows = channel.data.shape[0] if channel.stepped else 1
            arena.add(rows * (robots if channel.wide else 1) * size)
        return arena

    def _roll(self, first: int, last: int, report: Callable[[float], None]) -> None:
        """All steps of a chunk of robots."""
        robots, places = last - first, self._layout(last - first)
        with _memory(self.cuda, places.size) as base:
            table, states, samples, *_ = (base + begin for begin in places.begins)
            self._write(first, last, [base + begin for begin in places.begins])
            for step, after in self._spans():
                began = time.perf_counter()
                self.cuda.launch(self.kernel, robots, table, 0, robots, step, after)
                self._took(after - step, time.perf_counter() - began)
                report(after / self.request.steps)
            self._read(self.final[:, first:last], states)
            self._read(self.samples[..., first:last], samples)
            self.samples[:1, :, first:last] = self._start(first, last)

    _span: int = FIRST_STEPS

    def _spans(self) -> Iterator[tuple[int, int]]:
        """Pairs of steps between which a launch goes; the next one's length follows from the last one's time."""
        step = 0
        while step < self.request.steps:
            after = min(step + self._span, self.request.steps)
            yield step, after
            step = after

    def _took(self, steps: int, seconds: float) -> None:
        """At most four times as many steps at the next launch: the first ones tell little."""
        wanted = int(steps * LAUNCH_SECONDS / max(seconds, 1e-6))
        self._span = max(1, min(wanted, 4 * self._span))

    def _start(self, first: int, last: int) -> FloatArray:
        start = self.request.start
        own = start[:, first:last] if start.ndim == 2 else start[:, None]
        return np.broadcast_to(own, (len(start), last - first))

    def _write(self, first: int, last: int, places: list[int]) -> None:
        """The table and all that it leads to; rows of samples are written by the device."""
        request, robots = self.request, last - first
        table_at, states_at, samples_at, *channels_at = places
        table = [states_at, samples_at, robots, robots, request.every or NEVER, bits_of(request.dt)]
        for channel, at in zip(request.channels.values(), channels_at, strict=True):
            data = channel.data[:, first:last] if channel.wide else channel.data[:, :1]
            self._put(at, data if channel.stepped else data[:1])
            table += [at, data.shape[1] if channel.stepped else 0]
        self.cuda.write(table_at, np.array(table, dtype=np.int64))
        self._put(states_at, self._start(first, last))

    def _put(self, address: int, values: NDArray[np.generic]) -> None:
        self.cuda.write(address, np.ascontiguousarray(values, dtype=self.dtype))

    def _read(self, into: FloatArray, address: int) -> None:
        """Rows of the device's numbers into doubles, straight where they lie alike."""
        if into.dtype == self.dtype and into.flags.c_contiguous:
            self.cuda.read(into, address)
            return
        numbers = np.empty(into.shape, dtype=self.dtype)
        self.cuda.read(numbers, address)
        into[...] = numbers


class _Arena:
    """Arrays one behind the other in one piece of memory."""

    def __init__(self) -> None:
        self.size, self.begins = 0, list[int]()

    def add(self, size: int) -> None:
        """Another array behind those that are there."""
        self.begins.append(self.size)
        self.size += -(-size // _ALIGNED) * _ALIGNED


@contextmanager
def _memory(cuda: Cuda, size: int) -> Iterator[int]:
    """Memory of the device, as long as it is needed."""
    address = cuda.allocate(size)
    try:
        yield address
    finally:
        cuda.free(address)
