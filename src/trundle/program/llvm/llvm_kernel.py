"""Native code that evaluates a program: once on scalars, or over a batch in blocks of lanes.

Both take a table of 64-bit words: the addresses of the input groups, then of the output groups, then the count.
Arrays are laid out as (n, count): element ``e`` of lane ``j`` lies at ``e * count + j``.
"""

from __future__ import annotations

from trundle.program.ir import Instruction, Program
from trundle.program.llvm.llvm_code import Code, type_of
from trundle.program.llvm.llvm_emit import Emitter
from trundle.program.simplify import hoist_reciprocals

SIGNATURE_SINGLE = "ptr %table"
SIGNATURE_BATCH = "ptr %table, i64 %begin, i64 %end"


def pointer(code: Code, table_index: int, table: str = "%table") -> str:
    """Load an address from the table."""
    slot = code.new(f"getelementptr i64, ptr {table}, i64 {table_index}")
    return code.new(f"load ptr, ptr {slot}, !invariant.load !0")


def integer_word(code: Code, table_index: int, table: str = "%table") -> str:
    """Load an integer from the table."""
    slot = code.new(f"getelementptr i64, ptr {table}, i64 {table_index}")
    return code.new(f"load i64, ptr {slot}, !invariant.load !0")


def element(code: Code, base: str, index: str) -> str:
    """Address of the double number ``index`` of an array."""
    return code.new(f"getelementptr double, ptr {base}, i64 {index}")


def load(code: Code, address: str, lanes: int) -> str:
    """Load a double, or a vector of them (aligned as a double only)."""
    return code.new(f"load {type_of(lanes)}, ptr {address}, align 8")


def emit_single(program: Program, fused: bool) -> Code:
    """Code for one evaluation on contiguous vectors."""
    code = Code(1)
    emitter = Emitter(code, fused)
    bases = [pointer(code, k) for k in range(len(program.inputs) + len(program.outputs))]
    for i in program.instructions:
        if i.op == "input":
            group, index = i.source
            emitter.define(i.out, load(code, element(code, bases[group], str(index)), 1), 1)
    emitter.emit((i for i in program.instructions if i.op != "input"), set(), set())
    for base, values in zip(bases[len(program.inputs) :], program.results, strict=True):
        for index, value in enumerate(values):
            name = emitter.operand(value, 1)
            code.do(f"store double {name}, ptr {element(code, base, str(index))}, align 8")
    code.do("ret void")
    return code


def emit_batch(program: Program, uniform: tuple[bool, ...], width: int, fused: bool) -> Code:
    """Code for the lanes [begin, end) of a batch of at least ``width``; the last block may overlap its neighbour.

    Input groups marked ``uniform`` are one vector for all lanes; what depends on them alone is computed before
    the loop, on scalars.
    """
    shared = {(g, e) for g, u in enumerate(uniform) if u for e in range(program.inputs[g].size)}
    program = hoist_reciprocals(program, shared)
    wide = wide_values(program, shared)
    spread = needs_vector(program, wide)
    code = Code(width)
    emitter = Emitter(code, fused)
    n_in = len(program.inputs)
    bases = [pointer(code, k) for k in range(n_in + len(program.outputs))]
    count = integer_word(code, len(bases))
    last = code.new(f"sub i64 {count}, {width}")
    for i in program.instructions:
        if i.op == "input" and i.source in shared:
            address = element(code, bases[i.source[0]], str(i.source[1]))
            emitter.define(i.out, load(code, address, 1), 1, spread=i.out in spread)
    emitter.emit((i for i in program.instructions if i.op != "input" and i.out not in wide), wide, spread)
    code.do("br label %loop")
    code.label("loop")
    code.do("%block = phi i64 [ %begin, %entry ], [ %next, %loop ]")
    fits = code.new(f"icmp sle i64 %block, {last}")
    lane = code.new(f"select i1 {fits}, i64 %block, i64 {last}")
    for i in program.instructions:
        if i.op == "input" and i.out in wide:
            emitter.define(
                i.out, load(code, _lane(code, bases[i.source[0]], i.source[1], count, lane), width), width
            )
    emitter.emit((i for i in program.instructions if i.op != "input" and i.out in wide), wide, spread)
    for base, values in zip(bases[n_in:], program.results, strict=True):
        for index, value in enumerate(values):
            name = emitter.operand(value, width)
            code.do(f"store {type_of(width)} {name}, ptr {_lane(code, base, index, count, lane)}, align 8")
    code.do(f"%next = add i64 %block, {width}")
    more = code.new("icmp slt i64 %next, %end")
    code.do(f"br i1 {more}, label %loop, label %done")
    code.label("done")
    code.do("ret void")
    return code


def _lane(code: Code, base: str, row: int, count: str, lane: str) -> str:
    start = code.new(f"mul i64 {count}, {row}")
    return element(code, base, code.new(f"add i64 {start}, {lane}"))


def wide_values(program: Program, shared: set[tuple[int, int]]) -> set[int]:
    """The values that differ between lanes: all that need an input element outside ``shared``."""
    wide: set[int] = set()
    for i in program.instructions:
        if (i.op == "input" and i.source not in shared) or any(a in wide for a in i.args):
            wide.add(i.out)
    return wide


def needs_vector(program: Program, wide: set[int]) -> set[int]:
    """The scalars that a vector instruction reads, and the scalars that are results."""
    readers: list[Instruction] = [i for i in program.instructions if i.out in wide]
    used = {a for i in readers for a in i.args} | {v for group in program.results for v in group}
    return used - wide
