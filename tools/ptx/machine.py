"""Launches of kernels: blocks of instructions, for all threads that are at them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from tools.ptx.frames import NOISE, Frame, Who
from tools.ptx.instructions import Step, step_of, target_of
from tools.ptx.memory import Bytes, Memory
from tools.ptx.text import TYPES, Function, Module, PTXError, parse

CODE = 0x20_0000_0000
"""Where the addresses of functions begin: nothing can be read there."""


class Local:
    """The local bytes of all threads, a row a thread, as long as the functions that threads are in need them."""

    def __init__(self, threads: int) -> None:
        self.bytes: Bytes = np.full((threads, 0), NOISE, np.uint8)

    def reserve(self, size: int) -> None:
        """At least so many bytes a thread."""
        more = size - self.bytes.shape[1]
        if more > 0:
            self.bytes = np.pad(self.bytes, ((0, 0), (0, more)), constant_values=NOISE)


class Machine:
    """A device with a module in its memory.

    `executed` counts what has been executed, a thread's instructions one by one, by their first words.
    """

    def __init__(self, module: Module | str, memory: Memory | None = None) -> None:
        self.module = parse(module) if isinstance(module, str) else module
        self.memory = memory or Memory()
        self.executed: Counter[str] = Counter()
        self.shape, self.local = (0, 0), Local(0)
        self._compiled: dict[str, list[_Block]] = {}

    @cached_property
    def _tables(self) -> dict[str, int]:
        """The addresses of the module's tables and functions."""
        data = self.module.data
        places = {name: self.memory.allocate(len(table.bytes)) for name, table in data.items()}
        places |= {name: CODE + 16 * k for k, name in enumerate(self.module.functions)}
        for name, table in data.items():
            content = self.memory.bytes(places[name], len(table.bytes))
            content[:] = np.frombuffer(table.bytes, np.uint8)
            for begin, pointed in table.addresses:
                content[begin : begin + 8] = np.array([places[pointed]], np.uint64).view(np.uint8)
        return places

    def launch(self, kernel: str, grid: int, block: int, arguments: Sequence[float | int]) -> None:
        """Run a kernel to its end by `grid` blocks of `block` threads.

        Parameters
        ----------
        kernel : str
            Its name.
        grid, block : int
            Of one dimension.
        arguments : sequence of numbers
            One a parameter: addresses, integers, numbers.

        Raises
        ------
        PTXError
            For whatever a kernel must not do.
        """
        function = self.module.functions.get(kernel)
        if function is None or not function.entry:
            raise PTXError(f"no kernel '{kernel}'")
        if len(arguments) != len(function.parameters):
            raise PTXError(f"'{kernel}' takes {len(function.parameters)} arguments, not {len(arguments)}")
        threads = grid * block
        self.shape, self.local = (grid, block), Local(threads)
        slots = {
            p.name: np.broadcast_to(_padded(np.array([value], TYPES[p.type])), (threads, 8))
            for p, value in zip(function.parameters, arguments, strict=True)
        }
        with np.errstate(all="ignore"):
            self.run(function, np.arange(threads), 0, slots)

    def run(
        self, function: Function, threads: NDArray[np.int64], base: int, slots: dict[str, Bytes]
    ) -> Frame:
        """A function for these threads, to its end. The block that stands first is always run first: threads that
        have parted meet again where the text goes on.
        """
        frame = Frame(self, function, threads, base, slots)
        blocks, ending = self._blocks(function), len(function.blocks)
        at = np.zeros(len(threads), np.int64)
        while True:
            now = int(at.min())
            if now == ending:
                return frame
            block = blocks[now]
            who: Who = np.flatnonzero(at == now)
            if len(who) == len(threads):
                who = slice(None)
            for name, step in block.steps:
                try:
                    step(frame, who)
                except PTXError as error:
                    raise PTXError(f"{error}, in '{function.name}': {name}") from None
            for name, times in block.counts.items():
                self.executed[name] += times * frame.count(who)
            at[who] = block.target(frame, who)

    def address(self, frame: Frame, name: str) -> int:
        """Of a table or of a local array."""
        if name in frame.held:
            return frame.held[name]
        if name not in self._tables:
            raise PTXError(f"'{name}' is neither a table nor a local array")
        return self._tables[name]

    def function_at(self, address: int) -> Function:
        """The function whose address this is."""
        for name, place in self._tables.items():
            if place == address and name in self.module.functions:
                return self.module.functions[name]
        raise PTXError(f"no function at {address:#x}")

    def _blocks(self, function: Function) -> list[_Block]:
        if function.name not in self._compiled:
            count = len(function.blocks)
            self._compiled[function.name] = [_Block(function, k) for k in range(count)]
        return self._compiled[function.name]


class _Block:
    """What a block does, and where its threads go."""

    def __init__(self, function: Function, number: int) -> None:
        instructions = function.blocks[number]
        self.steps: list[tuple[str, Step]] = []
        self.target: Callable[[Frame, Who], int | NDArray] = lambda _frame, _who: number + 1
        for instruction in instructions:
            if instruction.op in ("bra", "ret"):
                self.target = target_of(function, instruction, number)
            else:
                self.steps.append((instruction.text, step_of(function, instruction)))
        self.counts = Counter(i.op + (f".{i.type}" if i.type else "") for i in instructions)


def _padded(values: NDArray) -> Bytes:
    whole = np.full(8, NOISE, np.uint8)
    whole[: values.nbytes] = values.view(np.uint8)
    return whole
