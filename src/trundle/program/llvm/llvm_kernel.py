"""Native code that evaluates a program: once on scalars, or over a batch in blocks of lanes.

Both take a table of 64-bit words: the addresses of the input groups, then of the output groups; for a batch then the
count, and the groups' pitches. Arrays are laid out as (n, count): element ``e`` of lane ``j`` lies at ``e * pitch``
``+ j``.

Longer programs are cut in pieces that pass their values through memory. On one state, pieces are functions: LLVM's
time for one straight line grows faster than its length. Over a batch, pieces are loops of their own over a few
blocks of lanes, and the pieces follow one another on these. A block's work is one long chain of dependent steps, but
blocks do not depend on each other: in a short loop the processor has several of them under way at once, where a
straight line through all pieces fills its window with steps that wait. Short loops also need few registers, and run
from the cache of decoded instructions. Values that all lanes share are computed once, before the loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from trundle.program.ir import LOADS, Instruction, Program
from trundle.program.llvm.jit import Code, combined, element, integer_word, load, pointer, store, type_of
from trundle.program.llvm.llvm_emit import Emitter
from trundle.program.pieces import Pieces, by_need, is_chain, make_plan, wide_values
from trundle.program.simplify import hoist_reciprocals

SIGNATURE_SINGLE = "ptr %table"
SIGNATURE_BATCH = "ptr %table, i64 %begin, i64 %end"
WHOLE = float("inf")
"""The size of a piece that is the whole program."""
LONG = 4000
"""Operations above which a single state's program is cut, and of a batch's function at most. Measured on planar
chains: whole and cut compile alike at 2,000 operations; at 9,000 whole takes about twice the time of pieces of 500.
Longer programs were not tried whole."""
PIECE = 500
"""Operations of a single state's piece."""
LOOPED, BRANCHED = 350, 1000
"""Operations above which a batch runs in loops of pieces, of a chain and of other programs; shorter ones are one loop.
What is no chain fills the processor's window by itself. Measured with registers of 8 doubles and of 4: bases on wheels
of 300 to 600 operations take a tenth to a third longer in pieces, chains of 7 to 20 links up to a quarter less."""
LOOP, CHAIN_LOOP = 250, 60
"""Work of a loop's piece: the shorter, the more blocks are under way at once, and the more values pass through
memory, which pays where a program is a chain. Measured from 50 to 600 on chains, an arm and a tree with limbs."""
BLOCKS = 6
"""Blocks that a piece loops over: enough to have the next ones under way, few enough for what they pass on to stay in
the nearer caches (38 kB for a chain of 25 joints). 5 to 8 run alike; 2 or 3 are a tenth to a fifth slower."""
ROOM = 256 * 1024
"""Bytes on the stack for the values of all blocks; a thread may have no more than 512 kB."""
COMPARED = 4
"""Numbers that are compared at once with those of the last call. With 8, cores with AVX-512 keep one of the two units
closed that scalar sums and products run on: a swerve's call took a seventh longer; with 4 it takes 4 to 8 % less."""
ARGUMENTS = "ptr %table, ptr %wide, ptr %uniform"
LOOP_ARGUMENTS = f"{ARGUMENTS}, i64 %block, i64 %count, i64 %blocks"


def is_looped(program: Program) -> bool:
    """Whether a program for batches is better cut."""
    return program.operations > (LOOPED if is_chain(program) else BRANCHED)


def emit_single(program: Program, fused: bool, preparation: Program | None = None) -> Code:
    """Code for one evaluation on contiguous vectors.

    A `preparation` is run first where the group that it reads has changed since the call before. Its output is the
    program's last input group, and the table ends with the address of a copy of what it read.
    """
    if is_looped(program) and is_chain(program):
        # Of chains of 25 and 100 links it takes LLVM 0.8 of the time, and a call 0.8 and 0.7.
        program = by_need(program)
    code = Code(1)
    if preparation is not None:
        _write_preparation(code, program, preparation, fused)
    plan = _plan_of_one(program)
    if len(plan.inside) == 1:
        _PieceWriter(plan, Emitter(code, fused)).write(plan.inside[0], last=True)
    else:
        _call_pieces(code, plan, plan.inside, _arrays(code, plan, 1), fused, name="piece")
    code.do("ret void")
    return code


def _plan_of_one(program: Program) -> Pieces:
    """A single state's pieces, in which everything is a number."""
    size = PIECE if program.operations > LONG else WHOLE
    return make_plan(program, {i.out for i in program.instructions if i.op != "const"}, size)


def _write_preparation(code: Code, program: Program, preparation: Program, fused: bool) -> None:
    """Write the comparison with the last values, by their bits so that NaN equals itself, and what follows a change."""
    plan, (group,) = _plan_of_one(preparation), preparation.inputs
    arrays = _arrays(code, plan, 1)
    places = program.input_index(group.name), len(program.inputs) - 1
    now, last = pointer(code, places[0]), pointer(code, len(program.inputs) + len(program.outputs))
    differences, stores = dict[int, str](), list[str]()  # differences by how many are compared at once
    whole = group.size // COMPARED * COMPARED
    starts = [(k, COMPARED) for k in range(0, whole, COMPARED)] + [(k, 1) for k in range(whole, group.size)]
    for start, lanes in starts:
        t, target = type_of(lanes, "i64"), element(code, last, str(start))
        value = code.new(f"load {t}, ptr {element(code, now, str(start))}, align 8")
        stores.append(f"store {t} {value}, ptr {target}, align 8")
        difference = code.new(f"xor {t} {value}, {code.new(f'load {t}, ptr {target}, align 8')}")
        known = differences.get(lanes)
        differences[lanes] = difference if known is None else code.new(f"or {t} {known}, {difference}")
    changed = "0"
    for lanes, difference in differences.items():
        word = difference if lanes == 1 else combined(code, "or", difference, lanes, "i64")
        changed = code.new(f"or i64 {changed}, {word}")
    code.do(f"br i1 {code.new(f'icmp ne i64 {changed}, 0')}, label %changed, label %ready")
    code.label("changed")
    for text in stores:
        code.do(text)
    _call_pieces(code, plan, plan.inside, arrays, fused, name="prepare", groups=places)
    code.do("br label %ready")
    code.label("ready")


def emit_batch(
    program: Program, uniform: tuple[bool, ...], width: int, fused: bool, code: Code | None = None
) -> Code:
    """Code for the lanes [begin, end) of a batch of at least ``width``; the last block may overlap its neighbour.

    Input groups marked ``uniform`` are one vector for all lanes. An empty ``code`` of that width says for what machine.
    """
    shared = {(g, e) for g, u in enumerate(uniform) if u for e in range(program.inputs[g].size)}
    program = hoist_reciprocals(program, lambda source: source not in shared)
    code = code or Code(width)
    count = integer_word(code, len(program.inputs) + len(program.outputs))
    wide = wide_values(program, shared)
    if code.device and program.operations > LONG:
        _write_turns(code, make_plan(program, wide, PIECE), count, fused)
    elif code.device or not is_looped(program):
        plan = replace(make_plan(program, wide, WHOLE), slots={})  # one function keeps its values itself
        writer = _PieceWriter(plan, Emitter(code, fused))
        for piece in plan.before:
            writer.write(piece, last=False)
        _write_loops(writer, plan.inside, ("%begin", count, _blocks(code, "%begin")), last=True)
    elif is_chain(program):
        program = by_need(program)
        _write_turns(code, make_plan(program, wide_values(program, shared), CHAIN_LOOP), count, fused)
    else:
        _write_turns(code, make_plan(program, wide, LOOP), count, fused)
    return code


def _blocks(code: Code, begin: str) -> str:
    """How many blocks hold the lanes from `begin` to the end."""
    left = code.new(f"add i64 {code.new(f'sub i64 %end, {begin}')}, {code.width - 1}")
    return code.new(f"sdiv i64 {left}, {code.width}")


def _write_turns(code: Code, plan: Pieces, count: str, fused: bool) -> None:
    """Write a loop over some blocks at a time, and in its turns the pieces' own loops over these."""
    most = 1 if code.device else max(1, min(BLOCKS, ROOM // (8 * code.width * _stride(plan))))
    arrays = _arrays(code, plan, most)
    _call_pieces(code, plan, plan.before, arrays, fused, name="before")
    code.do("br label %loop")
    code.label("loop")
    code.do("%block = phi i64 [ %begin, %entry ], [ %next, %loop ]")
    left = _blocks(code, "%block")
    fewer = code.new(f"icmp slt i64 {left}, {most}")
    blocks = code.new(f"select i1 {fewer}, i64 {left}, i64 {most}")
    parts = _parts(plan.inside)
    for k, part in enumerate(parts):
        writer = _PieceWriter(plan, Emitter(code.sibling(), fused))
        _write_loops(writer, part, ("%block", "%count", "%blocks"), last=k == len(parts) - 1)
        code.add_function(f"part{k}", LOOP_ARGUMENTS, writer.emitter.code)
        code.do(f"call void @part{k}(ptr %table, {arrays}, i64 %block, i64 {count}, i64 {blocks})")
    code.do(f"%next = add i64 %block, {code.width * most}")
    more = code.new("icmp slt i64 %next, %end")
    code.do(f"br i1 {more}, label %loop, label %done")
    code.label("done")
    code.do("ret void")


def _parts(pieces: Sequence[list[Instruction]]) -> list[list[list[Instruction]]]:
    """Consecutive pieces in functions of at most `LONG` operations, for LLVM's sake."""
    parts: list[list[list[Instruction]]] = [[]]
    for piece in pieces:
        if parts[-1] and sum(map(len, parts[-1])) + len(piece) > LONG:
            parts.append([])
        parts[-1].append(piece)
    return parts


def _stride(plan: Pieces) -> int:
    """Vectors from one block's values to the next's: an odd number, so that blocks start in different cache sets."""
    return plan.wide_slots | 1


def _arrays(code: Code, plan: Pieces, blocks: int) -> str:
    """Room on the stack for the vectors and the scalars that cross from piece to piece, as arguments of a call."""
    vectors = code.new(f"alloca {code.type(code.width)}, i64 {_stride(plan) * blocks}, align 64")
    scalars = code.new(f"alloca {code.real.name}, i64 {max(plan.uniform_slots, 1)}, align 64")
    return f"ptr {vectors}, ptr {scalars}"


@dataclass
class _PieceWriter:
    """One piece as it is written; `groups` are the words of the table that hold its groups' addresses, the first ones
    if None. `wide` are the addresses of the block's own values, `lane` its first lane, and
    `rows` where the rows of inputs and outputs begin, where the piece works on a block at all.
    """

    plan: Pieces
    emitter: Emitter
    wide: str = "%wide"
    lane: str = ""
    rows: dict[tuple[int, int], str] = field(default_factory=dict)
    bases: dict[int, str] = field(default_factory=dict)
    groups: Sequence[int] | None = None

    def base(self, index: int) -> str:
        """Address of an input or output group."""
        if index not in self.bases:
            word = index if self.groups is None else self.groups[index]
            self.bases[index] = pointer(self.emitter.code, word)
        return self.bases[index]

    def place(self, group: int, index: int, lanes: int) -> str:
        """Address of an element of a group, or of the block's first in its row."""
        code = self.emitter.code
        if self.lane and lanes == code.width:
            return element(code, self.rows[group, index], self.lane)
        return element(code, self.base(group), str(index))

    def fetch(self, values: Iterable[int]) -> None:
        """Bring values that were made elsewhere."""
        plan, code = self.plan, self.emitter.code
        for value in values:
            if value in self.emitter.values:
                continue
            instruction = plan.program.instructions[value]
            if instruction.op == "const":
                self.emitter.emit([instruction], set(), set())
                continue
            lanes = code.width if value in plan.wide else 1
            if instruction.op == "input":
                address = self.place(*instruction.source, lanes)
            else:
                address = self.slot(value)
            # a scalar that vectors read is spread once a function
            self.emitter.define(value, load(code, address, lanes), lanes, spread=True)

    def spread(self, values: Iterable[int]) -> None:
        """Bring values, and what all lanes share as vectors, before the loops that read them."""
        for value in values:
            self.fetch([value])
            known = self.emitter.values[value]
            if not known.vector:
                self.emitter.define(value, known.name, 1, spread=True)

    def slot(self, value: int) -> str:
        """Address of a crossing value."""
        code, place = self.emitter.code, self.plan.slots[value]
        if value in self.plan.wide:
            return code.new(f"getelementptr {code.type(code.width)}, ptr {self.wide}, i64 {place}")
        return element(code, "%uniform", str(place))

    def write(self, piece: Sequence[Instruction], *, last: bool) -> None:
        """The piece's instructions, and what others read of it; the last one also writes results that no piece made."""
        plan, code = self.plan, self.emitter.code
        for i in piece:
            self.fetch(i.args)
            self.emitter.emit([i], plan.wide, set())
            if i.out in plan.slots:
                lanes = code.width if i.out in plan.wide else 1
                known = self.emitter.values[i.out].name
                store(code, known, self.slot(i.out), lanes)
        for group, index, value in _results(plan, piece, last=last):
            self.fetch([value])
            name = self.emitter.operand(value, code.width)
            address = self.place(len(plan.program.inputs) + group, index, code.width)
            store(code, name, address, code.width)


def _results(plan: Pieces, piece: Sequence[Instruction], *, last: bool) -> list[tuple[int, int, int]]:
    """(group, element, value) of the results that a piece writes."""
    made = {i.out for i in piece}
    written: list[tuple[int, int, int]] = []
    for group, values in enumerate(plan.program.results):
        for index, value in enumerate(values):
            elsewhere = last and not (value in plan.wide and plan.program.instructions[value].op not in LOADS)
            if (value in made and value in plan.wide) or elsewhere:
                written.append((group, index, value))
    return written


def _call_pieces(
    main: Code, plan: Pieces, pieces: Sequence[list[Instruction]], arrays: str, fused: bool, *, name: str,
    groups: Sequence[int] | None = None,
) -> None:  # fmt: skip
    """Write pieces as functions that run once, and call them; `groups` as a `_PieceWriter` has it."""
    for k, piece in enumerate(pieces):
        code = main.sibling()
        last = pieces is plan.inside and k == len(pieces) - 1
        _PieceWriter(plan, Emitter(code, fused), groups=groups).write(piece, last=last)
        code.do("ret void")
        main.add_function(f"{name}{k}", ARGUMENTS, code)
        main.do(f"call void @{name}{k}(ptr %table, {arrays})")


def _write_loops(
    outer: _PieceWriter, pieces: Sequence[list[Instruction]], lanes: tuple[str, str, str], *, last: bool
) -> None:
    """Write a loop for every piece, over blocks of `lanes`: the first, the count of all, and the number of blocks."""
    plan, code, (begin, count, blocks) = outer.plan, outer.emitter.code, lanes
    outer.spread(sorted({a for piece in pieces for i in piece for a in i.args} - plan.wide))
    final = code.new(f"sub i64 {count}, {code.width}")
    rows = _rows(outer, pieces, last=last)
    code.do("br label %before0")
    for n, piece in enumerate(pieces):
        code.label(f"before{n}")
        code.do(f"br label %piece{n}")
        code.label(f"piece{n}")
        code.do(f"%b{n} = phi i64 [ 0, %before{n} ], [ %b{n}.next, %piece{n} ]")
        ahead = code.new(f"add i64 {begin}, {code.new(f'mul i64 %b{n}, {code.width}')}")
        fits = code.new(f"icmp sle i64 {ahead}, {final}")  # the last block may overlap its neighbour
        lane = code.new(f"select i1 {fits}, i64 {ahead}, i64 {final}")
        wide = outer.wide
        if plan.slots:
            offset = code.new(f"mul i64 %b{n}, {_stride(plan)}")
            wide = code.new(f"getelementptr {code.type(code.width)}, ptr {wide}, i64 {offset}")
        emitter = Emitter(code, outer.emitter.fused, dict(outer.emitter.values))
        writer = _PieceWriter(plan, emitter, wide, lane, rows, dict(outer.bases))
        writer.write(piece, last=last and n == len(pieces) - 1)
        code.do(f"%b{n}.next = add i64 %b{n}, 1")
        more = code.new(f"icmp slt i64 %b{n}.next, {blocks}")
        code.do(f"br i1 {more}, label %piece{n}, label %before{n + 1}")
    code.label(f"before{len(pieces)}")
    code.do("ret void")


def _rows(
    writer: _PieceWriter, pieces: Sequence[list[Instruction]], *, last: bool
) -> dict[tuple[int, int], str]:
    """Where the rows begin that the pieces read and write."""
    plan, code = writer.plan, writer.emitter.code
    sources = [plan.program.instructions[a].source for piece in pieces for i in piece for a in i.args]
    needed = {source for source in sources if source[0] >= 0}
    for n, piece in enumerate(pieces):
        for group, index, value in _results(plan, piece, last=last and n == len(pieces) - 1):
            needed.add((len(plan.program.inputs) + group, index))
            needed |= {plan.program.instructions[value].source} - {(-1, -1)}
    groups = len(plan.program.inputs) + len(plan.program.outputs)
    pitches = {group: integer_word(code, groups + 1 + group) for group in sorted({g for g, _ in needed})}
    return {
        (group, index): element(code, writer.base(group), code.new(f"mul i64 {pitches[group]}, {index}"))
        for group, index in sorted(needed)
    }
