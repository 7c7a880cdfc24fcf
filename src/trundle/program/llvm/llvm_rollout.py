"""Native code of a fixed-step Runge-Kutta rollout: blocks of lanes, and of a block all steps in registers.

The table of 64-bit words holds: address of the states (n_state, padded), address of the samples
(saved, n_state, count), count, padded, every, dt, and of a channel its address and its stride from step to
step in doubles. A channel is one element of an input group that is not the state; its layout is known when the
code is made.
"""

from __future__ import annotations

from dataclasses import dataclass

from trundle.program.ir import Instruction, Program
from trundle.program.llvm.jit import (
    FAST,
    Code,
    constant,
    element,
    integer_word,
    load,
    pointer,
    suffix,
    type_of,
)
from trundle.program.llvm.llvm_emit import Emitter
from trundle.program.pieces import wide_values
from trundle.program.simplify import hoist_reciprocals

SIGNATURE = "ptr %table, i64 %lane_begin, i64 %lane_end, i64 %step_begin, i64 %step_end"
STATES, SAMPLES, COUNT, PADDED, EVERY, DT, CHANNELS = range(7)

Source = tuple[int, int]

NEXT = "next"
"""The input group of what is done to the state after a step, where that is asked for."""


@dataclass(frozen=True)
class ChannelLayout:
    """How one channel is laid out: whether it differs between lanes, and whether it changes from step to step."""

    wide: bool
    stepped: bool


@dataclass(frozen=True)
class Schedule:
    """What is computed when: once, once a block of lanes, once a step, at the four stages, or after them."""

    program: Program
    state: int
    layouts: dict[Source, ChannelLayout]
    wide: set[int]
    spread: set[int]
    level: dict[int, int]

    def at(self, level: int, wide: bool) -> list[Instruction]:
        """The arithmetic and constants of one level (0 constant, 1 step, 2 stage, 3 after the step)."""
        chosen = (i for i in self.program.instructions if i.op != "input" and self.level[i.out] == level)
        return [i for i in chosen if (i.out in self.wide) == wide]


def scheduled(program: Program, state: int, layouts: dict[Source, ChannelLayout], width: int) -> Schedule:
    """Sort the instructions of ``program`` by how often they must run.

    Its first output is the rate; a second, computed from the group ``NEXT``, replaces the state after a step.
    """
    program = hoist_reciprocals(program, {s for s, at in layouts.items() if not at.stepped})
    program = hoist_reciprocals(program, set(layouts))
    wide = set() if width == 1 else wide_values(program, {s for s, at in layouts.items() if not at.wide})
    level: dict[int, int] = {}
    for i in program.instructions:
        if i.op == "input":
            laid = i.source in layouts
            level[i.out] = int(layouts[i.source].stepped) if laid else 2 if i.source[0] == state else 3
        else:
            level[i.out] = max((level[a] for a in i.args), default=0)
    return Schedule(program, state, layouts, wide, _needs_vector(program, wide), level)


def _needs_vector(program: Program, wide: set[int]) -> set[int]:
    """The scalars that a vector instruction reads, and the scalars that are results."""
    used = {a for i in program.instructions if i.out in wide for a in i.args} | {
        v for group in program.results for v in group
    }
    return used - wide


def emit_rollout(plan: Schedule, width: int, fused: bool) -> Code:
    """The whole function; see the module's docstring for its table."""
    emitter = Emitter(Code(width), fused)
    return _RolloutWriter(plan, emitter).write()


class _RolloutWriter:
    """Writes the function in the order of its blocks: entry, block of lanes, step, save, latch, end."""

    def __init__(self, plan: Schedule, emitter: Emitter) -> None:
        """Load what the table says of all lanes, before any block."""
        self.plan, self.emitter, self.code = plan, emitter, emitter.code
        self.width, self.n = emitter.code.width, len(plan.program.results[0])
        code = self.code
        self.count, self.padded, self.every = (integer_word(code, k) for k in (COUNT, PADDED, EVERY))
        self.states, self.samples = pointer(code, STATES), pointer(code, SAMPLES)
        self.step_size = _step_size(code)
        self.channels: dict[Source, tuple[str, str]] = {}
        for k, source in enumerate(plan.layouts):
            address = CHANNELS + 2 * k
            self.channels[source] = pointer(code, address), integer_word(code, address + 1)
        self.row_size = code.new(f"mul i64 {self.count}, {self.n}")
        self.mask = ""

    def write(self) -> Code:
        next_save, row = self._entry()
        start, state_at = self._block()
        self._step(start, next_save, row)
        self._save()
        self._end(state_at)
        return self.code

    def _entry(self) -> tuple[str, str]:
        """Where the first sample of this call goes, and everything that is constant and shared by all lanes."""
        code = self.code
        done = code.new(f"sdiv i64 %step_begin, {self.every}")
        first = code.new(f"add i64 {done}, 1")
        next_save = code.new(f"mul i64 {first}, {self.every}")
        row = element(code, self.samples, code.new(f"mul i64 {first}, {self.row_size}"))
        self._compute(level=0, wide=False)
        code.do("br label %block")
        return next_save, row

    def _block(self) -> tuple[list[str], list[str]]:
        """The loop over blocks: their states and what is constant in a lane."""
        code = self.code
        code.label("block")
        code.do("%lane = phi i64 [ %lane_begin, %entry ], [ %lane.next, %block.done ]")
        self.mask = _mask(code, self.count)
        state_at = [element(code, self.states, _index(code, self.padded, k)) for k in range(self.n)]
        start = [load(code, address, self.width) for address in state_at]
        self._compute(level=0, wide=True)
        code.do("br label %step")
        return start, state_at

    def _step(self, start: list[str], next_save: str, row: str) -> None:
        """The loop over steps: the state stays in registers."""
        code = self.code
        code.label("step")
        code.do("%k = phi i64 [ %step_begin, %block ], [ %k.next, %latch ]")
        code.do(f"%save.at = phi i64 [ {next_save}, %block ], [ %save.at.next, %latch ]")
        code.do(f"%row = phi ptr [ {row}, %block ], [ %row.next, %latch ]")
        for index, name in enumerate(start):
            code.do(f"%s{index} = phi {type_of(self.width)} [ {name}, %block ], [ %s{index}.next, %latch ]")
        self._compute(level=1, wide=False)
        self._compute(level=1, wide=True)
        _runge_kutta(self.plan, self.emitter, self.step_size, self.n)
        code.do("%k.next = add i64 %k, 1")
        hit = code.new("icmp eq i64 %k.next, %save.at")
        code.do(f"br i1 {hit}, label %save, label %latch")

    def _save(self) -> None:
        """Store a sample, and on to the next step."""
        code = self.code
        code.label("save")
        for index in range(self.n):
            address = element(code, "%row", _index(code, self.count, index))
            _store_masked(code, f"%s{index}.next", address, self.mask)
        after = code.new(f"add i64 %save.at, {self.every}")
        row_after = element(code, "%row", self.row_size)
        code.do("br label %latch")
        code.label("latch")
        code.do(f"%save.at.next = phi i64 [ %save.at, %step ], [ {after}, %save ]")
        code.do(f"%row.next = phi ptr [ %row, %step ], [ {row_after}, %save ]")
        more = code.new("icmp slt i64 %k.next, %step_end")
        code.do(f"br i1 {more}, label %step, label %block.done")

    def _end(self, state_at: list[str]) -> None:
        """Put the block's states back, and on to the next block."""
        code = self.code
        code.label("block.done")
        for index, address in enumerate(state_at):
            code.do(f"store {type_of(self.width)} %s{index}.next, ptr {address}, align 8")
        code.do(f"%lane.next = add i64 %lane, {self.width}")
        more = code.new("icmp slt i64 %lane.next, %lane_end")
        code.do(f"br i1 {more}, label %block, label %done")
        code.label("done")
        code.do("ret void")

    def _compute(self, *, level: int, wide: bool) -> None:
        """Load the channels of one layout that the program reads, and compute what depends on them."""
        code, plan = self.code, self.plan
        for i in plan.program.instructions:
            if i.op != "input" or i.source not in plan.layouts:
                continue
            layout = plan.layouts[i.source]
            if layout != ChannelLayout(wide, stepped=level == 1):
                continue
            address, stride = self.channels[i.source]
            if layout.stepped:
                address = element(code, address, code.new(f"mul i64 %k, {stride}"))
            if wide:
                name = _load_masked(code, element(code, address, "%lane"), self.mask)
                self.emitter.define(i.out, name, self.width)
            else:
                self.emitter.define(i.out, load(code, address, 1), 1, spread=i.out in plan.spread)
        self.emitter.emit(plan.at(level, wide), plan.wide, plan.spread)


def _step_size(code: Code) -> tuple[str, str, str, str]:
    """dt, dt/2, dt/3, dt/6 in every lane."""
    slot = code.new(f"getelementptr i64, ptr %table, i64 {DT}")
    dt = code.new(f"load double, ptr {slot}, !invariant.load !0")
    parts = [dt, *(code.new(f"fdiv double {dt}, {constant(d, 1)}") for d in (2.0, 3.0, 6.0))]
    whole, half, third, sixth = (code.splat(p) for p in parts)
    return whole, half, third, sixth


def _runge_kutta(plan: Schedule, emitter: Emitter, step_size: tuple[str, str, str, str], n: int) -> None:
    """The classical fourth-order method (Kutta 1901), accumulated as the stages come.

    x2 = x + h/2 k1, x3 = x + h/2 k2, x4 = x + h k3, x' = x + h/6 (k1 + 2 k2 + 2 k3 + k4).
    """
    code, (whole, half, third, sixth) = emitter.code, step_size
    start = [f"%s{k}" for k in range(n)]
    total, at = start, start
    for ahead, weight in ((half, sixth), (half, third), (whole, third), (None, sixth)):
        rates = _evaluate(plan, emitter, at, plan.state, level=2)
        if ahead is not None:
            at = [_axpy(code, ahead, k, x) for k, x in zip(rates, start, strict=True)]
        total = [_axpy(code, weight, k, x) for k, x in zip(rates, total, strict=True)]
    if len(plan.program.results) > 1:
        total = _evaluate(plan, emitter, total, len(plan.program.inputs) - 1, level=3)
    t = type_of(code.width)
    for k, value in enumerate(total):  # the name that the loop's head knows it by; costs no instruction
        code.do(f"%s{k}.next = bitcast {t} {value} to {t}")


def _evaluate(plan: Schedule, emitter: Emitter, at: list[str], group: int, level: int) -> list[str]:
    """The rates at a stage (group of the state, level 2), or the state after the step (group NEXT, level 3)."""
    width = emitter.code.width
    for i in plan.program.instructions:
        if i.op == "input" and i.source[0] == group:
            emitter.define(i.out, at[i.source[1]], width)
    for wide in (False, True):
        emitter.emit(plan.at(level, wide), plan.wide, plan.spread)
    return [emitter.operand(v, width) for v in plan.program.results[level - 2]]


def _axpy(code: Code, a: str, x: str, y: str) -> str:
    t = type_of(code.width)
    product = code.new(f"fmul {FAST} {t} {a}, {x}")
    return code.new(f"fadd {FAST} {t} {product}, {y}")


def _mask(code: Code, count: str) -> str:
    """Which lanes of the block exist: the last block of a batch may be only partly filled."""
    if code.width == 1:
        return ""
    left = code.new(f"sub i64 {count}, %lane")
    limit = code.splat(left, "i64")
    lanes = ", ".join(f"i64 {k}" for k in range(code.width))
    return code.new(f"icmp slt <{code.width} x i64> <{lanes}>, {limit}")


def _load_masked(code: Code, address: str, mask: str) -> str:
    """The numbers of a block\'s lanes; zeros for lanes beyond the batch, whose memory is not touched."""
    if code.width == 1:
        return load(code, address, 1)
    t, bits, name = (
        type_of(code.width),
        type_of(code.width, "i1"),
        f"llvm.masked.load.{suffix(code.width)}.p0",
    )
    # with the alignment as an argument: LLVM before 22 wants it so, later ones translate it
    code.declare(name, t, "ptr", "i32", bits, t)
    return code.new(f"call {t} @{name}(ptr {address}, i32 8, {bits} {mask}, {t} zeroinitializer)")


def _store_masked(code: Code, value: str, address: str, mask: str) -> None:
    t, bits = type_of(code.width), type_of(code.width, "i1")
    if code.width == 1:
        code.do(f"store double {value}, ptr {address}, align 8")
        return
    name = f"llvm.masked.store.{suffix(code.width)}.p0"
    code.declare(name, "void", t, "ptr", "i32", bits)
    code.do(f"call void @{name}({t} {value}, ptr {address}, i32 8, {bits} {mask})")


def _index(code: Code, row_length: str, row: int) -> str:
    return code.new(f"add i64 %lane, {code.new(f'mul i64 {row_length}, {row}')}")
