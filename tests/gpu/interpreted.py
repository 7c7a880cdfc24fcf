"""Kernels of programs and rollouts on this machine, by the interpreter."""

from __future__ import annotations

import numpy as np

from tools.ptx import Machine
from trundle.choices import Precision
from trundle.gpu.ptx import Ptx, program_ptx
from trundle.program import Program

BLOCK = 64


def called(program: Program, *groups: object, single: bool = False) -> list[np.ndarray]:
    """The output groups at many states: `groups` are (n, count)."""
    precision: Precision = "single" if single else "double"
    ptx = program_ptx(program, [False] * len(program.inputs), precision=precision)
    return evaluated(ptx, program, *groups)


def evaluated(ptx: Ptx, program: Program, *groups: object) -> list[np.ndarray]:
    """What a program's kernel gives."""
    machine = Machine(ptx.text)
    given = [np.ascontiguousarray(np.asarray(each), dtype=ptx.dtype) for each in groups]
    count = given[0].shape[1]
    sizes = [each.nbytes for each in given]
    sizes += [group.size * count * ptx.dtype.itemsize for group in program.outputs]
    places = [machine.memory.allocate(max(size, 1)) for size in sizes]
    for place, each in zip(places, given, strict=False):
        machine.memory.bytes(place, each.nbytes)[:] = each.reshape(-1).view(np.uint8)
    words = np.array([*places, count, *[count] * len(places)], dtype=np.int64)
    table = machine.memory.allocate(words.nbytes)
    machine.memory.bytes(table, words.nbytes)[:] = words.view(np.uint8)
    machine.launch(ptx.entry, -(-count // BLOCK), BLOCK, [table, 0, count])
    results: list[np.ndarray] = []
    for place, size, group in zip(places[len(given) :], sizes[len(given) :], program.outputs, strict=True):
        numbers = machine.memory.bytes(place, size).view(ptx.dtype)
        results.append(numbers.reshape(group.size, count).astype(float))
    return results
