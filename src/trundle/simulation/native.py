"""Runs that native code integrates from end to end: closed loops under inputs that are known as polynomials of time.

Inputs that the motion reads are constants or tables; others, which controllers read when they sample, may be anything
that doesn't follow the motion. Pieces end where inputs jump or a table has a node, and where a controller samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.model import Model
from trundle.program import Program, compile_program
from trundle.progress import Progress
from trundle.simulation.extremes import Extremes, Fall, Sampler, StepSpan
from trundle.simulation.integrate import SAME_TIME, edges_of, snapped
from trundle.simulation.sampling import Instants
from trundle.simulation.signals import Signal

if TYPE_CHECKING:
    from trundle.program.adaptive import InputPieces, Marched, Take
    from trundle.simulation.problem import Problem

# Steps after which a motion counts as stiff, which LSODA takes longer ones for: 15 ms of a drive; and as many more for
# a piece, as it starts anew at every one.
_MOST, _MORE = 20_000, 500
# Steps are kept in so many parts, as polynomials of the fifth degree go through them: where samples end steps, and by
# tolerances looser than the last, by which steps are longer.
_SAMPLED, _LOOSE, _CLOSE = 3, 6, 1e-10
# Coefficients of inputs at most: 400 MB.
_MOST_NUMBERS = 50_000_000
# Numbers of steps that wait until somebody asks, as looking at many takes long: 240 MB. The last few are kept for those
# that follow.
_MOST_KEPT, _NODES = 30_000_000, 6


@dataclass(frozen=True)
class Stretches:
    """Pieces that follow one another without a jump: by piece which stretch it belongs to, and where (s) that begins
    and ends.
    """

    of_piece: IntArray
    first: FloatArray
    last: FloatArray

    @staticmethod
    def between(edges: FloatArray, breaks: FloatArray) -> Stretches:
        """Those of pieces between edges, some of which are breaks."""
        jumps = np.isin(edges[:-1], breaks)
        begins = np.flatnonzero(np.append(True, jumps[1:]))
        own = (np.cumsum(jumps) - jumps[0]).astype(np.int64)
        return Stretches(own, edges[begins], np.append(edges[begins[1:]], edges[-1]))

    def parted(self, times: FloatArray, pieces: IntArray, rows: FloatArray) -> Iterator[StepSpan]:
        """Steps, stretch by stretch."""
        own = self.of_piece[pieces]
        begins = np.flatnonzero(np.append(True, np.diff(own) > 0)) if own.size else np.zeros(0, dtype=int)
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), own.size], strict=False):
            first, last = float(self.first[own[begin]]), float(self.last[own[begin]])
            states = [row.tobytes() for row in rows[begin:end]]
            yield StepSpan(first, last, times[begin:end].tolist(), states)


class _StepBlock(NamedTuple):
    """Some steps: their times, the numbers of their pieces, and rows (count, n)."""

    times: FloatArray
    pieces: IntArray
    rows: FloatArray


class LateExtremes(Extremes):
    """Extremes of a run that is looked at when somebody asks; before that where its steps would take much memory."""

    def __init__(self, look: Sampler, samples: FloatArray, falls: Mapping[Fall, int], rows: int) -> None:
        """Rows: how many numbers of a step are looked at; derivatives stand behind them."""
        super().__init__(look, samples, falls)
        self._rows, self._numbers = rows, 0
        self._stretches: Stretches | None = None
        self._waiting = list[_StepBlock]()

    def along(self, stretches: Stretches) -> Take:
        """What keeps the steps of a run."""
        self._stretches = stretches
        return self._keep

    def _keep(self, times: FloatArray, pieces: IntArray, rows: FloatArray) -> None:
        kept = _StepBlock(times, pieces, np.ascontiguousarray(rows[:, : self._rows]))
        self._waiting.append(kept)
        self._numbers += kept.rows.size
        if self._numbers > _MOST_KEPT:
            self._hand_on()
            # polynomials go on from the last few
            self._waiting = [_StepBlock(times[-_NODES:], pieces[-_NODES:], kept.rows[-_NODES:])]

    def _hand_on(self) -> None:
        """All that waits goes to where it is looked at."""
        waiting, self._waiting, self._numbers = self._waiting, [], 0
        if waiting and self._stretches is not None:
            times, pieces, rows = (np.concatenate(parts) for parts in zip(*waiting, strict=True))
            for steps in self._stretches.parted(times, pieces, rows):
                self.take(steps)

    def _open(self) -> None:
        self._hand_on()
        super()._open()


def native_run(problem: Problem, guided: Program, seen: LateExtremes, bar: Progress) -> Marched | None:
    """The run of a problem by `guided`, its ẋ and maybe Ṡ, `seen` on its way; None where it isn't of the kind, or is
    stiff.
    """
    model = problem.system
    if problem.options.method != "auto" or not isinstance(model, Model):
        return None
    if problem.carried is None and (model.robot is None or not model.robot.controllers):
        return None
    from trundle.program.adaptive import StepTolerances, march  # late: most runs end above

    timeline = _timeline(problem, model, guided)
    if timeline is None:
        return None
    pieces, breaks = timeline
    start, sampled = problem.whole_start, model.sampling is not None
    relative, absolute = problem.bounds("dop853")
    longest = problem.options.max_step or np.inf
    first = _first_step(guided, start, pieces, problem.numbers, relative, absolute)
    most = _MOST + _MORE * len(pieces.edges)
    parts = _SAMPLED if sampled else _LOOSE if relative > _CLOSE else 1
    with np.errstate(all="ignore"):
        marched = march(
            guided,
            start,
            problem.numbers,
            pieces,
            snapped(problem.options.times, pieces.edges),
            StepTolerances(relative, absolute, len(problem.start), first, longest, most),
            parts=parts,
            sampling=problem.sampling() if sampled else None,
            take=seen.along(Stretches.between(pieces.edges, breaks)),
            progress=lambda time: bar.fraction(time / problem.options.end),
        )
    return None if marched is None or not np.isfinite(marched.stored).all() else marched


def _timeline(problem: Problem, model: Model, guided: Program) -> tuple[InputPieces, FloatArray] | None:
    """The pieces of a run, and at which of their edges steps have to end; None where an input isn't known enough."""
    from trundle.program.adaptive import InputPieces

    signals, end = list(problem.signals.values()), problem.options.end
    if any(signal.feedback is not None for signal in signals):
        return None
    read = _read(guided)
    if any(signals[k].cubics is None for k in read):
        return None
    breaks = [t for signal in signals for t in (*signal.jumps, *signal.kinks)]
    instants = None
    if model.sampling is not None:
        instants = Instants.between(model.clocks, 0.0, end, SAME_TIME * end)
        breaks += instants.times.tolist()
    times = problem.options.times
    parted = edges_of(times, breaks)
    nodes = [t for k in read for t in signals[k].nodes]
    edges = np.array(edges_of(times, [*parted, *nodes]) if nodes else parted)
    if edges.size * len(signals) * 4 > _MOST_NUMBERS:
        return None
    begins = edges  # the last piece has no length
    ends = np.append(edges[1:], edges[-1])
    rows = [_coefficients(signal, begins, ends, k in read) for k, signal in enumerate(signals)]
    coefficients = np.stack(rows, axis=1) if rows else np.zeros((edges.size, 0, 4))
    due = np.zeros((edges.size, len(model.clocks)))
    if instants is not None:
        places = np.searchsorted(edges, instants.times - instants.apart)
        due[places] = instants.due
    return InputPieces(edges, coefficients, due), np.array(parted)


def _read(program: Program) -> set[int]:
    """The inputs that a program reads."""
    place = program.input_index("input")
    return {step.source[1] for step in program.instructions if step.op == "input" and step.source[0] == place}


def _coefficients(signal: Signal, begins: FloatArray, ends: FloatArray, read: bool) -> FloatArray:
    """An input on pieces, (pieces, 4); what the motion doesn't read counts when a piece begins alone."""
    if signal.cubics is not None:
        found = signal.cubics(begins, ends)
    else:
        found = np.zeros((begins.size, 4))
        found[:, 0] = signal.sample(begins)
    if not read:
        found[:, 1:] = 0.0
    return found


def _first_step(
    program: Program,
    start: FloatArray,
    pieces: InputPieces,
    numbers: FloatArray,
    relative: float,
    absolute: float | FloatArray,
) -> float:
    """A first step (s) to try: a hundredth of the time in which the state would change by itself.

    Source: Hairer, Nørsett & Wanner 1993, sec. II.4.
    """
    rate, *_ = compile_program(program).single()(start, pieces.coefficients[0, :, 0], numbers)
    bound = absolute + relative * np.abs(start)
    size, speed = (float(np.sqrt(np.mean((row / bound) ** 2))) for row in (start, rate))
    first = 1e-6 if size < 1e-5 or speed < 1e-5 or not np.isfinite(speed) else 0.01 * size / speed
    return min(first, float(pieces.edges[-1] - pieces.edges[0]))
