"""Adaptive integration inside native code, from piece to piece of the inputs: steps as long as their errors allow."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, IntArray
from trundle.program.ir import Program
from trundle.program.kernel import compile_program
from trundle.program.llvm.jit import Compiled, assemble, host
from trundle.program.llvm.llvm_adaptive import DONE, SIGNATURE, STUCK, emit_adaptive
from trundle.program.llvm.llvm_stages import WORDS, weights
from trundle.program.rows import Native

N = TypeVar("N", bound=np.generic)

# Rows of steps that are kept before they are taken out: 0.3 MB of a drive's stay in a core's second-level cache.
_ROOM = 2048
# Steps of one native call, so that progress and interrupts are answered: 10 ms of a hundred operations' rates.
_AT_ONCE = 200_000


@dataclass(frozen=True)
class InputPieces:
    """Inputs that are polynomials of the third degree on pieces of time, and what is sampled at their beginnings.

    edges: (pieces + 1,) s. coefficients: (pieces, inputs, 4), of the powers 0 to 3 of the time since the piece began.
    due: (pieces, clocks), which clocks are due at a piece's beginning. A last piece of no length is its end.
    """

    edges: FloatArray
    coefficients: FloatArray
    due: FloatArray


# What takes steps as they come: their times (count,), the numbers of their pieces, and states (count, n).
Take = Callable[[FloatArray, IntArray, FloatArray], None]


@dataclass(frozen=True)
class Marched:
    """States (n, wanted) at the wanted times, and how many steps there were, failed ones among them."""

    stored: FloatArray
    steps: int


@dataclass(frozen=True)
class StepTolerances:
    """What a step may be off by, relative and absolute (a number, or one a state); `counted` states make its mean.

    first: the first step (s) that is tried. longest: the longest (s). most: how many steps there may be.
    """

    relative: float
    absolute: float | FloatArray
    counted: int
    first: float
    longest: float
    most: int


def march(
    program: Program,
    start: FloatArray,
    parameters: FloatArray,
    pieces: InputPieces,
    times: FloatArray,
    bounds: StepTolerances,
    *,
    parts: int = 1,
    sampling: Program | None = None,
    take: Take | None = None,
    progress: Callable[[float], None] | None = None,
) -> Marched | None:
    """Integrate ẋ = f(x, u(t), p) by Dormand and Prince's method of order 8, its error kept below bounds.

    Parameters
    ----------
    program : Program
        Maps the groups state, input and parameter to the rates first.
    start, parameters : array (n,)
        x at the first edge, and p.
    pieces : InputPieces
        The inputs.
    times : array (wanted,), s
        When states are wanted, increasing; one at an edge is stored after what is sampled there.
    bounds : StepTolerances
        Of a step.
    parts : int
        Into how many parts a step is cut for `take`.
    sampling : Program, optional
        Maps state, input, parameter and which clocks are due to the first states after a sample.
    take : callable, optional
        What steps are handed to, thousands at a time.
    progress : callable, optional
        Called now and then with the time (s).

    Returns
    -------
    Marched or None
        None where steps get too many or too short.

    References
    ----------
    Hairer, Nørsett & Wanner 1993, sec. II.5 and II.6.
    """
    run = _Run(program, start, parameters, pieces, times, bounds, parts=parts, sampling=sampling)
    while True:
        kept = run.go(min(run.whole("steps") + max(1, _AT_ONCE // max(program.operations, 10)), bounds.most))
        if take is not None:
            take(*kept)
        if progress is not None:
            progress(run.real("time"))
        status = run.whole("status")
        if status == DONE:
            return Marched(run.stored[:, : run.size].T, run.whole("steps"))
        if status == STUCK or run.whole("steps") >= bounds.most:
            return None


class _Run:
    """The table of an integration, the arrays that it points at, and what was taken from these."""

    def __init__(
        self, program: Program, start: FloatArray, parameters: FloatArray, pieces: InputPieces, times: FloatArray,
        bounds: StepTolerances, *, parts: int, sampling: Program | None,
    ) -> None:  # fmt: skip
        """Lay out all arrays."""
        driver, width = _driver(), host().register
        self.table = np.zeros(len(WORDS), dtype=np.int64)
        self.size, self.padded = start.size, -(-start.size // width) * width
        self.keep: list[object] = [driver]
        self.call: Native = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(driver.address)
        self.x = self.array("x", np.zeros(self.padded))
        self.x[: self.size] = start
        self.kept_times = self.array("kept_times", np.zeros(_ROOM))
        self.kept_pieces = self.array("kept_pieces", np.zeros(_ROOM, dtype=np.int64))
        self.kept = self.array("kept", np.zeros((_ROOM, self.padded)))
        self.stored = self.array("stored", np.zeros((times.size, self.padded)))
        self.array("wanted", np.ascontiguousarray(times))
        self.set(size=self.padded, room=_ROOM, parts=parts, wanted_count=times.size)
        u = np.zeros(pieces.coefficients.shape[1])
        self._rows(bounds)
        self._rates(program, u, parameters)
        self._pieces(pieces, u)
        self._sampling(sampling, u, parameters, pieces.due)

    def _rows(self, bounds: StepTolerances) -> None:
        """What is as long as the state, and bounds of its errors."""
        for name, rows in {"y": 1, "after": 1, "zeros": 1, "k": 16, "dense": 7}.items():
            self.array(name, np.zeros(rows * self.padded))
        self.array("weights", weights())
        allowed = self.array("bounds", np.ones(self.padded))
        allowed[: self.size] = bounds.absolute
        self.set_real(relative=bounds.relative, share=1 / bounds.counted, error=1e-4)
        self.set_real(step=bounds.first, longest=bounds.longest)

    def _rates(self, program: Program, u: FloatArray, parameters: FloatArray) -> None:
        """The rates' own code, its words for the state and the rates being written anew for every call."""
        groups = {"state": np.zeros(self.size), "input": u, "parameter": parameters}
        outputs = [np.zeros(group.size) for group in program.outputs]
        entry = compile_program(program).entry(*(groups[group.name] for group in program.inputs), *outputs)
        self.keep.append(entry)
        self.set(rate=entry.address, rate_table=entry.table.ctypes.data)
        self.set(rate_in=entry.word(program.input_index("state")), rate_out=entry.word(len(program.inputs)))

    def _pieces(self, pieces: InputPieces, u: FloatArray) -> None:
        """Inputs over time, and where samples are due."""
        count = pieces.edges.size - 1
        self.array("edges", np.append(pieces.edges, pieces.edges[-1]))
        self.array("coefficients", np.ascontiguousarray(pieces.coefficients))
        self.keep.append(u)
        moving = bool(pieces.coefficients[:, :, 1:].any())
        self.set(pieces=count + 1, inputs=u.ctypes.data, input_count=u.size, moving=int(moving))

    def _sampling(
        self, sampling: Program | None, u: FloatArray, parameters: FloatArray, due: FloatArray
    ) -> None:
        """What changes the state at the beginning of pieces."""
        jumps = due.any(axis=1) if sampling is not None else np.zeros(len(due), dtype=bool)
        self.array("jumps", np.asarray(jumps, dtype=np.int64))
        if sampling is None:
            return
        due = self.array("due", np.ascontiguousarray(due, dtype=float))
        own = sampling.inputs[0].size
        sampled, state = self.array("sampled", np.zeros(own)), self.x[:own]
        groups = [state, u, parameters, due[0]]
        entry = compile_program(sampling).entry(*groups, sampled)
        self.keep.append(entry)
        self.set(sampling=entry.address, sampling_table=entry.table.ctypes.data, clocks=due.shape[1], own=own)
        self.set(sampling_due=entry.word(3))

    def array(self, word: str, array: npt.NDArray[N]) -> npt.NDArray[N]:
        """An array whose address the table has, and which lives as long as this."""
        self.set(**{word: array.ctypes.data})
        self.keep.append(array)
        return array

    def set(self, **words: int) -> None:
        """Words of the table."""
        for word, value in words.items():
            self.table[WORDS.index(word)] = value

    def set_real(self, **words: float) -> None:
        """The same as doubles."""
        for word, value in words.items():
            self.table.view(np.float64)[WORDS.index(word)] = value

    def whole(self, word: str) -> int:
        """A word of the table."""
        return int(self.table[WORDS.index(word)])

    def real(self, word: str) -> float:
        """The same as a double."""
        return float(self.table.view(np.float64)[WORDS.index(word)])

    def go(self, most: int) -> tuple[FloatArray, IntArray, FloatArray]:
        """On, until there have been so many steps, or the room is full; what was kept."""
        self.set(most=most, kept_count=0)
        self.call(self.table.ctypes.data)
        count = self.whole("kept_count")
        rows = self.kept[:count, : self.size].copy()
        return self.kept_times[:count].copy(), self.kept_pieces[:count].copy(), rows


@cache
def _driver() -> Compiled:
    """The native code of all integrations."""
    return assemble(emit_adaptive(host().register), SIGNATURE)
