"""Fixed-step rollouts of many robots (or one) inside native code, on all cores."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.expected import check_float, check_int
from trundle.operating_system import available_cores
from trundle.program.channels import Channel, GroupInput, channels_of, common_count
from trundle.program.composition import with_outputs_of
from trundle.program.ir import Program
from trundle.program.llvm.jit import Compiled, assemble, host, machine_code
from trundle.program.llvm.llvm_rollout import ITERATE, NEXT, SIGNATURE, ChannelLayout, emit_rollout, scheduled
from trundle.program.rows import Native
from trundle.program.simplify import only_output, only_outputs
from trundle.progress import Doing

ProgressCall = Callable[[float], None]
RolloutRunner = Callable[["RolloutRequest", ProgressCall | None], "Rollout"]

SOUGHT = ("start", "error", "following")
"""The outputs of a projection whose numbers are sought by rounds."""

LANES_AT_ONCE = 4096
"""Lanes a thread advances together; their states stay in a core's second-level cache."""
SMALLEST_PART = 1024
"""Lanes of a part that fill the pages its rows are on."""
STREAM_ROWS = 32
"""Rows of samples and inputs passed over before going on to the next time span. Rows lie on pages of their own,
and a core keeps the addresses of about a hundred pages: with more rows inputs come at half the speed."""
NEVER = 2**62
"""`every`, where nothing but the last state is asked for."""
CALL_SECONDS = 1e-4
"""Estimated duration below which calls from Python would show."""
PIECE_SECONDS = 0.05
"""Estimated duration above which a native call is split, so that progress and interrupts are answered."""


@dataclass(frozen=True)
class Rollout:
    """States along a rollout.

    Attributes:
        steps: (saved,) the step at which a sample was taken, 0 first.
        states: (saved, n_state, count), or (saved, n_state) where nothing was a batch.
        final: (n_state, count) or (n_state,), the states after the last step.
    """

    steps: np.ndarray
    states: FloatArray
    final: FloatArray


def rollout(
    program: Program,
    initial: ArrayLike,
    groups: Mapping[str, GroupInput],
    *,
    dt: float,
    steps: int,
    every: int | None = 1,
    count: int | None = None,
    threads: int | None = None,
    progress: ProgressCall | None = None,
    state: str = "state",
    rate: str = "rate",
    projection: Program | None = None,
    quick: bool = False,
    run: RolloutRunner | None = None,
) -> Rollout:
    """Integrate x' = f(x, u, p) with the classical Runge-Kutta method of fourth order (Kutta 1901).

    A ``projection``, from the same input groups to ``state``, ends every step: x ← P(x, u, p), which keeps constraints
    that f only keeps the rate of. It may read further groups, whose steps are those that end. Where it reads a group
    ``iterate`` of numbers z, these are sought by rounds z ← N(z, x, u, p) until its output ``error`` is at most 1 in
    all lanes, or `llvm_rollout.ROUNDS` are done; its outputs ``start`` and ``following`` say where z begins and N. With
    rates of 0 that is a method of steps of its own, such as an implicit one.

    Args:
        program: maps the group ``state`` and others to ``rate``, whose elements are the states' derivatives in order.
        initial: (n_state,) for all robots, or (n_state, count).
        groups: every other input group by name. Either an array, (n,) constant, (n, count) a value a robot,
            (steps, n) held over a step, or (steps, n, count); or a mapping from every label of the group to a
            number, (count,), (steps, 1) or (steps, count). Nothing is copied to full size.
        dt: step in the unit of time (s).
        steps: number of steps.
        every: store every ``every``-th state, the initial one first; None stores nothing but ``final``.
        count: number of robots, where it does not follow from the arrays. Robots have the same bits in a batch of one;
            where no batch is asked for, and where other groups differ between robots, last digits may differ.
        threads: None for all cores.
        progress: called from this thread now and then with the fraction done, 1.0 at last.
        quick: whether it shall rather be compiled in a fifth of the time than run as fast as it can.
        run: what rolls robots elsewhere, as `trundle.gpu.rolling.run` does; None for this machine's cores.

    Raises:
        InputError: a group is missing, unknown or of the wrong shape.
    """
    request = RolloutRequest.of(
        program, initial, groups, dt=dt, steps=steps, every=every, count=count, state=state, rate=rate,
        projection=projection,
    )  # fmt: skip
    if run is not None:
        return run(request, progress)
    # A batch of one runs in lanes, too: scalar code is a third faster, and rounds otherwise.
    lanes = 1 if request.count is None else host().lanes
    job = _RolloutJob.prepare(request, lanes=lanes, quick=quick)
    job.run(threads or available_cores(), progress)
    return request.rolled(job.samples, job.working[:, : job.count])


@dataclass(frozen=True)
class RolloutRequest:
    """What a rollout was asked for, checked: wherever it runs, it begins with this.

    Attributes:
        program: reduced to the rate of its `state`, an input group's place; with what ends a step beside it.
        channels: the numbers of what it reads, by group and element.
        start: (n_state,) or (n_state, count).
        count: number of robots; None where no batch was asked for.
        dt, steps, every: as `rollout` takes them.
    """

    program: Program
    state: int
    channels: dict[tuple[int, int], Channel]
    start: FloatArray
    count: int | None
    dt: float
    steps: int
    every: int | None

    @staticmethod
    def of(
        program: Program, initial: ArrayLike, groups: Mapping[str, GroupInput], *, dt: float, steps: int,
        every: int | None, count: int | None, state: str, rate: str, projection: Program | None,
    ) -> RolloutRequest:  # fmt: skip
        """See `rollout`; InputError where something doesn't fit."""
        if not isfinite(check_float(dt, "dt", above=0.0, unit="s")):
            raise InputError(f"expected a step of finite length, got {dt}", key="dt")
        for name, value, least in (("steps", steps, 0), ("every", every, 1), ("count", count, 1)):
            if value is not None:
                check_int(value, name, least)
        program, channels = _arrange(program, groups, steps, state, rate, projection)
        place = program.input_index(state)
        n = program.inputs[place].size
        start = as_numbers(initial, f"the initial '{state}'")
        if start.ndim not in (1, 2) or start.shape[0] != n:
            raise InputError(f"the initial '{state}' expects shape ({n},) or ({n}, count), got {start.shape}")
        number = common_count(channels, start, count)
        return RolloutRequest(program, place, channels, start, number, dt, steps, every)

    @property
    def saved(self) -> int:
        """How many states are stored."""
        return self.steps // self.every + 1 if self.every else 0

    def rolled(self, samples: FloatArray, final: FloatArray) -> Rollout:
        """What was stored, (saved, n_state, count), and the last states, (n_state, count), in the form asked for."""
        taken = np.arange(0, self.steps + 1, self.every) if self.every else np.zeros(0, dtype=int)
        if self.count is None:
            return Rollout(taken, samples[..., 0], final[:, 0].copy())
        return Rollout(taken, samples, final)


def _arrange(
    program: Program,
    groups: Mapping[str, GroupInput],
    steps: int,
    state: str,
    rate: str,
    projection: Program | None,
) -> tuple[Program, dict[tuple[int, int], Channel]]:
    """The program reduced to its rate (and the projection, of its own group), and the channels that it reads."""
    program = _joined(program, state, rate, projection)
    channels = channels_of(program, groups, steps, skip=(state, NEXT, ITERATE))
    read = {i.source for i in program.instructions if i.op == "input"}
    return program, {source: c for source, c in channels.items() if source in read}


def _joined(program: Program, state: str, rate: str, projection: Program | None) -> Program:
    """The program reduced to its rate, with the projection beside it; kept with these, as is their code."""
    kept = (
        vars(program).setdefault("rolled", {})
        if projection is None
        else vars(projection).setdefault("rolled", {})
    )
    known = kept.get((state, rate))
    if known is not None and known[0] is program:
        return known[1]
    made = only_output(program, rate)
    n_state, n_rate = made.inputs[made.input_index(state)].size, made.outputs[0].size
    if n_state != n_rate:
        raise InputError(
            f"'{made.name}' has {n_state} states but {n_rate} rates; they must correspond one to one"
        )
    if projection is not None:
        made = with_outputs_of(made, only_outputs(projection, state, *SOUGHT), state, NEXT)
    kept[state, rate] = program, made
    return made


@dataclass
class _RolloutJob:
    """Everything the native code needs, and the arrays it writes."""

    function: Native
    table: np.ndarray
    working: FloatArray
    samples: FloatArray
    count: int
    lanes: int
    steps: int
    step_rows: float  # rows of samples and inputs that a step passes over
    operations: int
    keep: list[object]  # whose addresses the native code has

    @staticmethod
    def prepare(request: RolloutRequest, *, lanes: int, quick: bool) -> _RolloutJob:
        """Compile for these channels, and lay out states, samples and the table that native code reads."""
        program, channels, start, every = request.program, request.channels, request.start, request.every
        count = request.count or 1
        layouts = {s: ChannelLayout(c.wide and lanes > 1, c.stepped) for s, c in channels.items()}
        compiled = _compiled(program, request.state, layouts, lanes, quick)
        function = ctypes.CFUNCTYPE(None, ctypes.c_void_p, *[ctypes.c_int64] * 4)(compiled.address)
        n, padded = start.shape[0], -(-count // lanes) * lanes
        working = np.empty((n, padded))
        working[:, :count] = start if start.ndim == 2 else start[:, None]
        working[:, count:] = working[:, count - 1 : count]  # lanes that do not exist follow the last one
        samples = _aligned((request.saved, n, count))
        samples[:1] = working[:, :count]
        table = [working.ctypes.data, samples.ctypes.data, count, padded, every or NEVER, bits_of(request.dt)]
        for channel in channels.values():
            table += [channel.data.ctypes.data, channel.step_stride]
        streams = sum(layout.wide and layout.stepped for layout in layouts.values())
        step_rows = streams + (n / every if every else 0)
        return _RolloutJob(
            function, np.array(table, dtype=np.int64), working, samples, count, lanes, request.steps, step_rows,
            program.operations, [compiled, *(c.data for c in channels.values())],
        )  # fmt: skip

    def run(self, threads: int, progress: ProgressCall | None) -> None:
        """All steps of all lanes, in parts of blocks and spans of steps; `progress` is called from this thread."""
        blocks = -(-self.count // self.lanes)
        # four parts a thread even out what else the machine does, unless the parts get too small to be worth it
        fair = max(-(-blocks // (4 * threads)), min(-(-blocks // threads), SMALLEST_PART // self.lanes))
        at_once = max(1, min(LANES_AT_ONCE // self.lanes, fair))
        ranges = [(b * self.lanes, min(b + at_once, blocks) * self.lanes) for b in range(0, blocks, at_once)]
        span = self._span(at_once)
        done, stop = [0] * len(ranges), threading.Event()

        def report() -> None:
            if progress:
                progress(sum(done) / (self.steps * len(ranges)))

        def advance(index: int, after_span: Callable[[], None] = report) -> None:
            begin, end = ranges[index]
            for step in range(0, self.steps, span):
                if stop.is_set():
                    return
                last = min(step + span, self.steps)
                self.function(self.table.ctypes.data, begin, end, step, last)
                done[index] = last
                after_span()

        if min(threads, len(ranges)) == 1:
            for index in range(len(ranges)):
                advance(index)
        else:
            with ThreadPoolExecutor(min(threads, len(ranges))) as pool:
                tasks = [pool.submit(advance, index, lambda: None) for index in range(len(ranges))]
                _wait(pool, tasks, stop, report)
        if progress:
            progress(1.0)

    def _span(self, blocks: int) -> int:
        """Steps of one native call on ``blocks`` blocks."""
        # a step, roughly
        nanoseconds = blocks * (self.operations * 4 + 100) * (0.3 if self.lanes > 1 else 1.0)
        longest, shortest = int(PIECE_SECONDS * 1e9 / nanoseconds), int(CALL_SECONDS * 1e9 / nanoseconds)
        cached = int(STREAM_ROWS / self.step_rows) if self.step_rows else longest
        return max(min(longest, max(cached, shortest)), 1)


def _wait(
    pool: ThreadPoolExecutor,
    tasks: Collection[Future[None]],
    stop: threading.Event,
    report: Callable[[], None],
) -> None:
    """Wait for all tasks, reporting now and then."""
    try:
        while tasks:
            finished, tasks = wait(tasks, timeout=PIECE_SECONDS)
            for task in finished:
                task.result()
            if tasks:
                report()
    except BaseException:  # KeyboardInterrupt above all: let the workers end their piece, drop the rest
        stop.set()
        pool.shutdown(cancel_futures=True)
        raise


def _compiled(
    program: Program, state: int, layouts: dict[tuple[int, int], ChannelLayout], lanes: int, quick: bool
) -> Compiled:
    what = (state, tuple(layouts.items()), lanes, quick)

    def make() -> Compiled:
        with Doing(True, f"compiling {program.name}"):
            emitted = emit_rollout(scheduled(program, state, layouts, lanes), lanes, host().fused)
            return assemble(emitted, SIGNATURE, thorough=not quick, quick=quick)

    return machine_code(program.key).of(what, make)


def _aligned(shape: tuple[int, ...]) -> FloatArray:
    """An uninitialised array that starts on a cache line, so that a block's store touches one line."""
    size = int(np.prod(shape))
    raw = np.empty(size + 8)
    offset = -raw.ctypes.data % 64 // 8
    return raw[offset : offset + size].reshape(shape)


def bits_of(value: float) -> int:
    """A double's bits as an integer, as tables for native code hold it."""
    return int(np.float64(value).view(np.int64))
