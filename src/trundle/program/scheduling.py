"""The order of a program's instructions: any that puts operands first gives the same numbers, not the same speed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from trundle.program.ir import Program


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
