"""The order of a program's instructions, and the pieces that long ones are cut into.

Any order that puts operands first gives the same numbers, not the same speed. Pieces pass their values through memory:
here are where the cuts are, and which value is kept where.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from trundle.program.ir import LOADS, Instruction, Program

WORK = {"sin": 15, "cos": 15, "tan": 30, "exp": 25, "expm1": 25, "tanh": 30}
"""Machine instructions of an operation where that is not about one."""
PLAY = 0.35
"""How far from its even place a cut may move, in lengths of a piece, to where fewer values cross it."""


@dataclass(frozen=True)
class Pieces:
    """Which values are vectors, where values that cross from piece to piece are kept, and the pieces themselves.

    `before` runs once, on the scalars that all lanes share, `inside` on every block of lanes. `slots` maps a crossing
    value to its place in the array of vectors or in that of scalars.
    """

    program: Program
    wide: set[int]
    before: list[list[Instruction]]
    inside: list[list[Instruction]]
    slots: Mapping[int, int]
    wide_slots: int
    uniform_slots: int


def make_plan(program: Program, wide: set[int], size: float) -> Pieces:
    """Pieces whose work is about that of `size` operations."""
    work = [i for i in program.instructions if i.op not in LOADS]
    before = cut([i for i in work if i.out not in wide], size)
    inside = cut([i for i in work if i.out in wide], size) or [[]]
    home = {i.out: k for k, piece in enumerate(before + inside) for i in piece}
    until: dict[int, int] = {}
    for k, piece in enumerate(before + inside):
        for i in piece:
            for a in i.args:
                if home.get(a, k) != k:
                    until[a] = k
    end = len(before) + len(inside) - 1
    for value in (v for group in program.results for v in group):
        if home.get(value, end) != end and value not in wide:
            until[value] = end  # written by the last piece
    # what is made before the loop must last through every turn of it
    uniform = {v: end for v in until if home[v] < len(before)}
    vectors = {v: k for v, k in until.items() if home[v] >= len(before)}
    slots, uniform_slots = places(uniform, home)
    more, wide_slots = places(vectors, home)
    return Pieces(program, wide, before, inside, slots | more, wide_slots, uniform_slots)


def wide_values(program: Program, shared: set[tuple[int, int]]) -> set[int]:
    """The values that differ between lanes: all that need an input element outside ``shared``."""
    wide: set[int] = set()
    for i in program.instructions:
        if (i.op == "input" and i.source not in shared) or any(a in wide for a in i.args):
            wide.add(i.out)
    return wide


def cut(work: Sequence[Instruction], size: float) -> list[list[Instruction]]:
    """Pieces of about equal work, about `size`, cut where few values cross."""
    total = [0, *accumulate(WORK.get(i.op, 1) for i in work)]
    crossing = _crossing(work)
    pieces: list[list[Instruction]] = []
    start = 0
    for left in range(max(1, round(total[-1] / size)), 1, -1):
        length = (total[-1] - total[start]) / left
        goal = total[start] + length
        first = max(bisect_left(total, goal - PLAY * length), start + 1)
        end = min(bisect_right(total, goal + PLAY * length), len(work))
        if first >= len(work):
            break
        best = min(range(first, max(end, first + 1)), key=lambda k: (crossing[k], abs(total[k] - goal)))
        pieces.append(list(work[start:best]))
        start = best
    if start < len(work):
        pieces.append(list(work[start:]))
    return pieces


def _crossing(work: Sequence[Instruction]) -> list[int]:
    """How many values of `work` are made before place k and read from there on; a split pair of sine and cosine of one
    angle, which share their work, counts as that many.
    """
    at = {i.out: k for k, i in enumerate(work)}
    last = list(range(len(work)))
    for k, i in enumerate(work):
        for a in i.args:
            if a in at:
                last[at[a]] = k
    change = [0] * (len(work) + 2)
    for k, end in enumerate(last):
        change[k + 1] += 1
        change[end + 1] -= 1
    for k in range(1, len(work)):
        if (
            work[k].op in ("sin", "cos")
            and work[k - 1].op in ("sin", "cos")
            and work[k].args == work[k - 1].args
        ):
            change[k] += WORK["sin"]
            change[k + 1] -= WORK["sin"]
    return list(accumulate(change))


def places(until: Mapping[int, int], home: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """Slots of values, from the piece that makes one to the last that reads it; slots are used again."""
    places: dict[int, int] = {}
    free: list[int] = []
    leaving: dict[int, list[int]] = {}
    count, piece = 0, -1
    for value in sorted(until):
        for k in range(piece, home[value]):  # pieces that are over by now
            free.extend(leaving.pop(k, ()))
        piece = home[value]
        if free:
            places[value] = free.pop()
        else:
            places[value] = count
            count += 1
        leaving.setdefault(until[value], []).append(places[value])
    return places, count


def is_chain(program: Program) -> bool:
    """Whether a program is mostly one long chain of dependent steps, so that order and not amount limits its speed."""
    return program.depth > 0.7 * program.operations


def by_need(program: Program) -> Program:
    """The program with instructions where their results are needed, were the longest chain to run without a stop.

    Work beside that chain (sines, links' own inertias) then stands evenly along it and fills the chain's waiting, and
    values live for a short time. Instructions that the chain does not need follow their operands.
    """
    times = _times(program)
    order = sorted(range(len(times)), key=lambda value: (times[value], value))
    return _reordered(program, list(_operands_first(program, order)))


def _times(program: Program) -> list[float]:
    """When instructions start: as late as the end of the longest chain allows, else as early as their operands."""
    ends = program.ends
    last = max((v for group in program.results for v in group), key=ends.__getitem__)
    latest = [float("inf")] * len(ends)  # when a result must be there
    latest[last] = ends[last]
    times = [0.0] * len(ends)
    pairs: dict[int, float] = {}  # a sine and a cosine of one angle share most of their work
    for i in reversed(program.instructions):
        start = latest[i.out] - i.latency
        if i.op in ("sin", "cos") and start < float("inf"):
            start = pairs[i.args[0]] = min(start, pairs.get(i.args[0], start))
        times[i.out] = start
        for a in i.args:
            latest[a] = min(latest[a], start)
    for i in program.instructions:
        if times[i.out] == float("inf"):
            times[i.out] = max((times[a] + program.instructions[a].latency for a in i.args), default=0)
    return times


def _operands_first(program: Program, order: Sequence[int]) -> Iterator[int]:
    """`order` with whatever stands before one of its operands moved behind it."""
    placed: set[int] = set()
    for value in order:
        waiting = [value]
        while waiting:
            missing = [a for a in program.instructions[waiting[-1]].args if a not in placed]
            if missing:
                waiting.extend(missing)
            elif (done := waiting.pop()) not in placed:
                placed.add(done)
                yield done


def _reordered(program: Program, order: Sequence[int]) -> Program:
    """The program with its instructions in `order`, numbered anew."""
    number = {value: k for k, value in enumerate(order)}
    instructions = tuple(
        program.instructions[value]._replace(
            out=k, args=tuple(number[a] for a in program.instructions[value].args)
        )
        for k, value in enumerate(order)
    )
    results = tuple(tuple(number[v] for v in group) for group in program.results)
    return replace(program, instructions=instructions, results=results)
