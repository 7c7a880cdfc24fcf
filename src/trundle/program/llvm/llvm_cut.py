"""Long straight lines cut into functions, for compilers whose time grows faster than a function's length.

Pieces pass values through memory of the thread: `%kept` has those that outlast the line, `%passed` those from piece to
piece, whose places are used again. They are called by their addresses, which stand in an array that the driver's
compiler must take for one that may change: functions that it knows it puts back into one line. It then takes 0.4 of the
time for a person with four derivatives, 31,730 operations: 4.2 s of a core in place of 10.8.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from trundle.program.ir import LOADS, Instruction, Program
from trundle.program.llvm.jit import Code, element, load, store
from trundle.program.llvm.llvm_emit import Emitter
from trundle.program.pieces import cut, places

LONG = 4000
"""Operations of a program above which its lines are cut: up to there the compilers take less than a second in all."""
PIECE = 1000
"""Work of a piece; with 250 and 500 the driver's compiler takes up to a fifth longer."""
ARGUMENTS = "ptr %kept, ptr %passed"

_LINES = "lines"
_ALWAYS = -1
"""The reader of a result: whoever comes after the line."""


class CutEmitter(Emitter):
    """Emits long lines as calls of functions; values that these make are read from memory."""

    def __init__(self, code: Code, fused: bool, program: Program) -> None:
        """Note by every value who reads it: that says where it has to be kept."""
        super().__init__(code, fused)
        self._program = program
        self._readers: dict[int, set[int]] = defaultdict(set)
        for i in program.instructions:
            for a in i.args:
                self._readers[a].add(i.out)
        for value in (v for group in program.results for v in group):
            self._readers[value].add(_ALWAYS)
        self._slots: dict[int, int] = {}
        self._stored: set[int] = set()
        self._passed = self._pieces = 0

    def define(self, out: int, name: str, lanes: int, *, spread: bool = False) -> None:
        """Record the name of a value, which memory doesn't have yet."""
        super().define(out, name, lanes, spread=spread)
        self._stored.discard(out)

    def operand(self, value: int, lanes: int) -> str:
        """The name of a value, after it was read from memory where a piece has made it."""
        if value in self.values:
            return super().operand(value, lanes)
        return load(self.code, self._kept_address(self.code, value), lanes)

    def emit(self, instructions: Iterable[Instruction], wide: set[int], spread: set[int]) -> None:
        """Emit instructions here, or if they are many as calls of their pieces."""
        line = list(instructions)
        work = [i for i in line if i.op not in LOADS]
        if len(work) <= PIECE:
            super().emit(line, wide, spread)
            return
        super().emit([i for i in line if i.op == "const"], wide, spread)
        pieces = cut(work, PIECE)
        home = {i.out: k for k, piece in enumerate(pieces) for i in piece}
        until = {
            value: max(home[reader] for reader in self._readers[value])
            for value in home
            if self._readers[value] <= home.keys() and self._readers[value]
        }
        between, count = places({v: k for v, k in until.items() if k != home[v]}, home)
        self._passed = max(self._passed, count)
        for k, piece in enumerate(pieces):
            kept = {i.out for i in piece} - until.keys()
            self._write_piece(piece, between, {v for v in between if home[v] == k}, kept)

    def settle(self) -> None:
        """Bring to memory whatever is known and will be read by what isn't emitted yet, so that loops needn't."""
        emitted = self.values.keys() | self._stored
        for value in list(self.values):
            if not self._readers[value] <= emitted:
                self._keep(value)

    def finish(self) -> None:
        """Ask for the memory, whose size is known at the end."""
        sizes = {"kept": len(self._slots), "passed": self._passed}
        kind = self.code.real
        if self._pieces:
            names = ", ".join(f"ptr @line{k}" for k in range(self._pieces))
            self.code.arrays[_LINES] = f"@{_LINES} = addrspace(1) global [{self._pieces} x ptr] [{names}]"
        for name, size in sizes.items():
            line = f"  %{name} = alloca {kind.name}, i64 {max(size, 1)}, align {kind.bytes}"
            self.code.lines.insert(0, line)

    def _keep(self, value: int) -> None:
        """Put a value into memory, unless it is there, or a number, or not known here."""
        known = self.values.get(value)
        if known is not None and value not in self._stored and known.name.startswith("%"):
            store(self.code, known.name, self._kept_address(self.code, value), 1)
            self._stored.add(value)

    def _kept_address(self, code: Code, value: int) -> str:
        return element(code, "%kept", str(self._slots.setdefault(value, len(self._slots))))

    def _write_piece(
        self, piece: Sequence[Instruction], between: dict[int, int], passed: set[int], kept: set[int]
    ) -> None:
        """Write a function that reads what the piece needs, and writes what others need of it."""
        own = Emitter(self.code.sibling(), self.fused)
        for i in piece:
            for a in i.args:
                if a in own.values:
                    continue
                known = self._program.instructions[a]
                if known.op == "const":
                    own.emit([known], set(), set())
                    continue
                self._keep(a)
                address = (
                    element(own.code, "%passed", str(between[a]))
                    if a in between
                    else self._kept_address(own.code, a)
                )
                own.define(a, load(own.code, address, 1), 1)
            own.emit([i], set(), set())
            if i.out in passed:
                store(own.code, own.values[i.out].name, element(own.code, "%passed", str(between[i.out])), 1)
            elif i.out in kept:
                store(own.code, own.values[i.out].name, self._kept_address(own.code, i.out), 1)
                self.values.pop(i.out, None)
                self._stored.add(i.out)
        own.code.do("ret void")
        place = self._pieces
        self._pieces += 1
        self.code.add_function(f"line{place}", ARGUMENTS, own.code)
        own_place = f"getelementptr (ptr, ptr addrspace(1) @{_LINES}, i64 {place})"
        address = self.code.new(f"load ptr, ptr addrspace(1) {own_place}")
        self.code.do(f"call void {address}(ptr %kept, ptr %passed)")
