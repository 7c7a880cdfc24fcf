"""Long programs as functions of a few thousand instructions that pass their values through memory.

LLVM's time for one straight line grows faster than its length, and with it the registers it has to spill: a piece
stores what later pieces read, each loads what it reads from earlier ones. Values that all lanes share are computed
once, by pieces that run before the loop over blocks of lanes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from trundle.program.ir import LOADS, Instruction, Program
from trundle.program.llvm_code import Code, type_of
from trundle.program.llvm_emit import Emitter
from trundle.program.llvm_kernel import element, integer_word, load, pointer, wide_values
from trundle.program.simplify import hoist_reciprocals

PIECE = 500
"""Operations of a piece at most."""
LONG = 4000
"""Operations above which a program is cut. Measured on planar chains: whole and cut compile alike at 2,000 operations;
at 9,000 whole takes about twice the time of pieces of 500. Longer programs were not tried whole."""
ARGUMENTS = "ptr %table, ptr %wide, ptr %uniform, i64 %lane, i64 %count"


@dataclass(frozen=True)
class _Plan:
    """Which values are vectors, where values that cross from piece to piece are kept, and the pieces themselves.

    `slots` maps a crossing value to its place in the array of vectors or in that of scalars.
    """

    program: Program
    wide: set[int]
    before: list[list[Instruction]]
    inside: list[list[Instruction]]
    slots: Mapping[int, int]
    wide_slots: int
    uniform_slots: int


def is_long(program: Program) -> bool:
    """Whether a program is better cut."""
    return program.operations > LONG


def emit_long_single(program: Program, fused: bool) -> Code:
    """`llvm_kernel.emit_single` for a long program."""
    everything = {i.out for i in program.instructions if i.op != "const"}
    plan = _plan(program, everything)
    code = Code(1)
    wide, uniform = _arrays(code, plan, 1)
    for k, piece in enumerate(plan.inside):
        name = _write(code, plan, f"piece{k}", piece, fused, last=k == len(plan.inside) - 1)
        code.do(f"call void @{name}(ptr %table, ptr {wide}, ptr {uniform}, i64 0, i64 1)")
    code.do("ret void")
    return code


def emit_long_batch(program: Program, uniform: tuple[bool, ...], width: int, fused: bool) -> Code:
    """`llvm_kernel.emit_batch` for a long program."""
    shared = {(g, e) for g, u in enumerate(uniform) if u for e in range(program.inputs[g].size)}
    program = hoist_reciprocals(program, shared)
    plan = _plan(program, wide_values(program, shared))
    code = Code(width)
    wide, scalars = _arrays(code, plan, width)
    count = integer_word(code, len(program.inputs) + len(program.outputs))
    last = code.new(f"sub i64 {count}, {width}")
    for k, piece in enumerate(plan.before):
        name = _write(code, plan, f"before{k}", piece, fused, last=False)
        code.do(f"call void @{name}(ptr %table, ptr {wide}, ptr {scalars}, i64 0, i64 {count})")
    code.do("br label %loop")
    code.label("loop")
    code.do("%block = phi i64 [ %begin, %entry ], [ %next, %loop ]")
    fits = code.new(f"icmp sle i64 %block, {last}")
    lane = code.new(f"select i1 {fits}, i64 %block, i64 {last}")
    for k, piece in enumerate(plan.inside):
        name = _write(code, plan, f"piece{k}", piece, fused, last=k == len(plan.inside) - 1)
        code.do(f"call void @{name}(ptr %table, ptr {wide}, ptr {scalars}, i64 {lane}, i64 {count})")
    code.do(f"%next = add i64 %block, {width}")
    more = code.new("icmp slt i64 %next, %end")
    code.do(f"br i1 {more}, label %loop, label %done")
    code.label("done")
    code.do("ret void")
    return code


def _plan(program: Program, wide: set[int]) -> _Plan:
    work = [i for i in program.instructions if i.op not in LOADS]
    before = _cut([i for i in work if i.out not in wide])
    inside = _cut([i for i in work if i.out in wide]) or [[]]
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
    slots, uniform_slots = _places(uniform, home)
    more, wide_slots = _places(vectors, home)
    return _Plan(program, wide, before, inside, slots | more, wide_slots, uniform_slots)


def _cut(work: Sequence[Instruction]) -> list[list[Instruction]]:
    """Pieces of equal length, none longer than `PIECE`."""
    count = -(-len(work) // PIECE)
    ends = [len(work) * k // count for k in range(count + 1)] if count else []
    return [list(work[a:b]) for a, b in pairwise(ends)]


def _places(until: Mapping[int, int], home: Mapping[int, int]) -> tuple[dict[int, int], int]:
    """A slot for each value from the piece that makes it to the last that reads it; slots are used again."""
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


def _arrays(code: Code, plan: _Plan, width: int) -> tuple[str, str]:
    """Room on the stack for the vectors and the scalars that cross from piece to piece."""
    vectors = code.new(f"alloca {type_of(width)}, i64 {max(plan.wide_slots, 1)}, align 64")
    return vectors, code.new(f"alloca double, i64 {max(plan.uniform_slots, 1)}, align 64")


@dataclass
class _Writer:
    """One piece as it is written."""

    plan: _Plan
    emitter: Emitter
    bases: dict[int, str] = field(default_factory=dict)

    def base(self, index: int) -> str:
        """Address of an input or output group."""
        if index not in self.bases:
            self.bases[index] = pointer(self.emitter.code, index)
        return self.bases[index]

    def fetch(self, values: Iterable[int]) -> None:
        """Bring values that were made elsewhere."""
        code, plan = self.emitter.code, self.plan
        for value in values:
            if value in self.emitter.values:
                continue
            instruction = plan.program.instructions[value]
            if instruction.op == "const":
                self.emitter.emit([instruction], set(), set())
                continue
            lanes = code.width if value in plan.wide else 1
            if instruction.op == "input":
                group, place = instruction.source
                index = str(place) if lanes != code.width or code.width == 1 else self.row(place)
                address = element(code, self.base(group), index)
            else:
                address = self.slot(value)
            # a scalar that vectors read is spread once a piece
            self.emitter.define(value, load(code, address, lanes), lanes, spread=True)

    def row(self, place: int) -> str:
        """Index of the block's first lane in a row."""
        return self.emitter.code.new(f"add i64 {self.emitter.code.new(f'mul i64 %count, {place}')}, %lane")

    def slot(self, value: int) -> str:
        """Address of a crossing value."""
        code, place = self.emitter.code, self.plan.slots[value]
        if value in self.plan.wide:
            return code.new(f"getelementptr {type_of(code.width)}, ptr %wide, i64 {place}")
        return element(code, "%uniform", str(place))

    def store_result(self, group: int, place: int, value: int) -> None:
        """Write one output element of the block."""
        code = self.emitter.code
        name = self.emitter.operand(value, code.width)
        base = self.base(len(self.plan.program.inputs) + group)
        index = str(place) if code.width == 1 else self.row(place)
        code.do(f"store {type_of(code.width)} {name}, ptr {element(code, base, index)}, align 8")


def _write(
    main: Code, plan: _Plan, name: str, piece: Sequence[Instruction], fused: bool, *, last: bool
) -> str:
    """Write one piece as a function of the module and return its name."""
    code = Code(main.width)
    writer = _Writer(plan, Emitter(code, fused))
    made = {i.out for i in piece}
    for i in piece:
        writer.fetch(i.args)
        writer.emitter.emit([i], plan.wide, set())
        if i.out in plan.slots:
            lanes = code.width if i.out in plan.wide else 1
            known = writer.emitter.values[i.out].name
            code.do(f"store {type_of(lanes)} {known}, ptr {writer.slot(i.out)}, align 8")
    for group, values in enumerate(plan.program.results):
        for place, value in enumerate(values):
            elsewhere = last and not (value in plan.wide and plan.program.instructions[value].op not in LOADS)
            if (value in made and value in plan.wide) or elsewhere:
                writer.fetch([value])
                writer.store_result(group, place, value)
    code.do("ret void")
    main.add_function(name, ARGUMENTS, code)
    return name
