"""Native code of a fixed-step Runge-Kutta rollout: blocks of lanes, and of a block all steps in registers.

The table of 64-bit words holds: address of the states (n_state, padded), address of the samples
(saved, n_state, count), count, padded, every, dt, and of a channel its address and its stride from step to
step in doubles. A channel is one element of an input group that is not the state; its layout is known when the
code is made.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from trundle.program.ir import Instruction, Program
from trundle.program.llvm.jit import (
    FAST,
    Code,
    combined,
    element,
    integer_word,
    load,
    pointer,
    store,
    type_of,
)
from trundle.program.llvm.llvm_cut import LONG, CutEmitter
from trundle.program.llvm.llvm_emit import Emitter
from trundle.program.llvm.real import DOUBLE
from trundle.program.pieces import by_need, is_chain, wide_values
from trundle.program.simplify import hoist_reciprocals, levels

SIGNATURE = "ptr %table, i64 %lane_begin, i64 %lane_end, i64 %step_begin, i64 %step_end"
STATES, SAMPLES, COUNT, PADDED, EVERY, DT, CHANNELS = range(7)

InputElement = tuple[int, int]

LOOPED = 1200
"""Operations of a stage above which the four stages are a loop. A swerve with four derivatives, some 3,500, then takes
1.4 s to compile in place of 5.5, and runs as fast; with 1,000 it would run a sixth slower. Threads of graphics
processors always loop: code and spills are a quarter and a half of those of four stages in a row."""

NEXT = "next"
"""The input group of what is done to the state after a step, where that is asked for."""

ITERATE = "iterate"
"""The input group of what is sought by rounds there, where anything is."""

ROUNDS = 120
"""Rounds at most; a search that needs more is not converging."""


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
    layouts: dict[InputElement, ChannelLayout]
    wide: set[int]
    spread: set[int]
    level: list[int]
    threads: bool

    @cached_property
    def _parts(self) -> dict[tuple[int, bool], list[Instruction]]:
        parts: dict[tuple[int, bool], list[Instruction]] = defaultdict(list)
        for i in self.program.instructions:
            if i.op != "input":
                parts[self.level[i.out], i.out in self.wide].append(i)
        return parts

    @cached_property
    def rounds(self) -> list[Instruction]:
        """What is computed in rounds, in order."""
        return sorted(self.at(4, wide=False) + self.at(4, wide=True), key=lambda i: i.out)

    def at(self, level: int, wide: bool) -> list[Instruction]:
        """The arithmetic and constants of one level: 0 constant, 1 step, 2 stage, 3 after the step, 4 a round there."""
        return self._parts[level, wide]


def scheduled(
    program: Program,
    state: int,
    layouts: dict[InputElement, ChannelLayout],
    width: int,
    *,
    threads: bool = False,
) -> Schedule:
    """Sort the instructions of ``program`` by how often they must run; ``threads`` where every lane is one of its own.

    Its first output is the rate; a second, computed from the group ``NEXT``, replaces the state after a step. With
    three more that hangs on numbers that are sought by rounds, the group ``ITERATE``: where they start, an error that
    is at most 1 where they are right, and where they go.
    """
    sought = [k for k, group in enumerate(program.inputs) if group.name == ITERATE]

    def level(source: InputElement) -> int:
        if source in layouts:
            return int(layouts[source].stepped)
        return 2 if source[0] == state else 4 if source[0] in sought else 3

    program = hoist_reciprocals(program, lambda source: min(level(source), 2))
    if threads and is_chain(program):
        program = by_need(program)  # of a chain of 25 links a thread then spills a quarter less
    shared = {s for s, at in layouts.items() if not at.wide}
    wide = set() if width == 1 and not threads else wide_values(program, shared)
    spread = _needs_vector(program, wide)
    return Schedule(program, state, layouts, wide, spread, levels(program, level), threads)


def _needs_vector(program: Program, wide: set[int]) -> set[int]:
    """The scalars that a vector instruction reads, and the scalars that are results."""
    used = {a for i in program.instructions if i.out in wide for a in i.args} | {
        v for group in program.results for v in group
    }
    return used - wide


def emit_rollout(plan: Schedule, width: int, fused: bool, code: Code | None = None) -> Code:
    """The whole function; see the module's docstring for its table. An empty ``code`` says for what machine."""
    code = code or Code(width)
    emitter = (
        CutEmitter(code, fused, plan.program)
        if plan.threads and plan.program.operations > LONG
        else Emitter(code, fused)
    )
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
        self.channels: dict[InputElement, tuple[str, str]] = {}
        for k, source in enumerate(plan.layouts):
            address = CHANNELS + 2 * k
            self.channels[source] = pointer(code, address), integer_word(code, address + 1)
        self.row_size = code.new(f"mul i64 {self.count}, {self.n}")
        self.mask, self.last = "", ""

    def write(self) -> Code:
        next_save, row = self._entry()
        start = self._block()
        self._step(start, next_save, row)
        self._save()
        self._end()
        self.emitter.finish()
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

    def _block(self) -> list[str]:
        """The loop over blocks: their states, which are returned, and what is constant in a lane."""
        code = self.code
        code.label("block")
        if self.plan.threads:  # one lane is all: in a loop, what stands before it would keep its registers
            code.do("%lane = bitcast i64 %lane_begin to i64")
        else:
            code.do("%lane = phi i64 [ %lane_begin, %entry ], [ %lane.next, %block.done ]")
        self.mask = _mask(code, self.count)
        addresses = _column(code, self.states, self.padded, self.n)
        start = [load(code, address, self.width) for address in addresses]
        self._compute(level=0, wide=True)
        code.do("br label %step")
        return start

    def _step(self, start: list[str], next_save: str, row: str) -> None:
        """The loop over steps: the state stays in registers."""
        code = self.code
        code.label("step")
        code.do("%k = phi i64 [ %step_begin, %block ], [ %k.next, %latch ]")
        code.do(f"%save.at = phi i64 [ {next_save}, %block ], [ %save.at.next, %latch ]")
        code.do(f"%row = phi ptr [ {row}, %block ], [ %row.next, %latch ]")
        for index, name in enumerate(start):
            code.do(f"%s{index} = phi {code.type(self.width)} [ {name}, %block ], [ %s{index}.next, %latch ]")
        self._compute(level=1, wide=False)
        self._compute(level=1, wide=True)
        stage = len(self.plan.at(2, wide=True)) + len(self.plan.at(2, wide=False))
        looped = self.plan.threads or stage > LOOPED
        self.last = "%stage.end" if looped else "%step"
        total = (_stages_in_turn if looped else _stages)(self.plan, self.emitter, self.step_size, self.n)
        self.last = _ended(self.plan, self.emitter, total, self.last)
        code.do("%k.next = add i64 %k, 1")
        hit = code.new("icmp eq i64 %k.next, %save.at")
        code.do(f"br i1 {hit}, label %save, label %latch")

    def _save(self) -> None:
        """Store a sample, and on to the next step."""
        code = self.code
        code.label("save")
        for index, address in enumerate(_column(code, "%row", self.count, self.n)):
            _store_masked(code, f"%s{index}.next", address, self.mask)
        after = code.new(f"add i64 %save.at, {self.every}")
        row_after = element(code, "%row", self.row_size)
        code.do("br label %latch")
        code.label("latch")
        code.do(f"%save.at.next = phi i64 [ %save.at, {self.last} ], [ {after}, %save ]")
        code.do(f"%row.next = phi ptr [ %row, {self.last} ], [ {row_after}, %save ]")
        more = code.new("icmp slt i64 %k.next, %step_end")
        code.do(f"br i1 {more}, label %step, label %block.done")

    def _end(self) -> None:
        """Put the block's states back, and on to the next block."""
        code = self.code
        code.label("block.done")
        # addresses anew: kept through all steps they would take two registers each
        for index, address in enumerate(_column(code, self.states, self.padded, self.n)):
            store(code, f"%s{index}.next", address, self.width)
        if self.plan.threads:
            code.do("ret void")
            return
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
        self.emitter.settle()


def _step_size(code: Code) -> tuple[str, str, str, str]:
    """dt, dt/2, dt/3, dt/6 in every lane."""
    slot = code.new(f"getelementptr i64, ptr %table, i64 {DT}")
    dt = code.new(f"load double, ptr {slot}, !invariant.load !0")
    if code.real is not DOUBLE:
        dt = code.new(f"fptrunc double {dt} to {code.real.name}")
    parts = [dt, *(code.new(f"fdiv {code.real.name} {dt}, {code.constant(d, 1)}") for d in (2.0, 3.0, 6.0))]
    whole, half, third, sixth = (code.splat(p) for p in parts)
    return whole, half, third, sixth


def _stages(plan: Schedule, emitter: Emitter, step_size: tuple[str, str, str, str], n: int) -> list[str]:
    """The classical fourth-order method (Kutta 1901), accumulated as the stages come.

    x2 = x + h/2 k1, x3 = x + h/2 k2, x4 = x + h k3, x' = x + h/6 (k1 + 2 k2 + 2 k3 + k4).
    """
    code, (whole, half, third, sixth) = emitter.code, step_size
    held = _still_states(plan)
    start = [f"%s{k}" for k in range(n)]
    total, at = start, start
    for ahead, weight in ((half, sixth), (half, third), (whole, third), (None, sixth)):
        rates = _evaluate(plan, emitter, at, plan.state, level=2)
        if ahead is not None:
            at = [x if h else _axpy(code, ahead, k, x) for k, x, h in zip(rates, start, held, strict=True)]
        total = [x if h else _axpy(code, weight, k, x) for k, x, h in zip(rates, total, held, strict=True)]
    return total


def _stages_in_turn(
    plan: Schedule, emitter: Emitter, step_size: tuple[str, str, str, str], n: int
) -> list[str]:
    """The same in a loop over the stages, whose code stands once."""
    code, (whole, half, third, sixth) = emitter.code, step_size
    t, held = code.type(code.width), _still_states(plan)
    code.do("br label %stage")
    code.label("stage")
    code.do("%j = phi i64 [ 0, %step ], [ %j.next, %stage ]")
    at, total = ([f"%{name}{k}" for k in range(n)] for name in ("at", "sum"))
    for k in range(n):
        for name in (at[k], total[k]):
            code.do(f"{name} = phi {t} [ %s{k}, %step ], [ {name}.next, %stage ]")
    rates = _evaluate(plan, emitter, at, plan.state, level=2)
    third_stage, inner = code.new("icmp eq i64 %j, 2"), code.new("icmp ult i64 %j, 3")
    inner = code.new(f"and i1 {inner}, {code.new('icmp ne i64 %j, 0')}")
    ahead = code.new(f"select i1 {third_stage}, {t} {whole}, {t} {half}")
    weight = code.new(f"select i1 {inner}, {t} {third}, {t} {sixth}")
    for k, (rate, stays) in enumerate(zip(rates, held, strict=True)):
        for name, base, share in ((at[k], f"%s{k}", ahead), (total[k], total[k], weight)):
            value = base if stays else _axpy(code, share, rate, base)
            code.do(f"{name}.next = bitcast {t} {value} to {t}")
    code.do("%j.next = add i64 %j, 1")
    code.do(f"br i1 {code.new('icmp ult i64 %j.next, 4')}, label %stage, label %stage.end")
    code.label("stage.end")
    return [f"{name}.next" for name in total]


def _still_states(plan: Schedule) -> list[bool]:
    """Which states stand still."""
    zeros = {i.out for i in plan.program.instructions if i.op == "const" and i.value == 0.0}
    return [value in zeros for value in plan.program.results[0]]


def _ended(plan: Schedule, emitter: Emitter, total: list[str], last: str) -> str:
    """What is done after a step, where anything is, and the names that the loop's head knows the state by; the block
    where it ends, which began in the block `last`.
    """
    code = emitter.code
    if len(plan.program.results) > 2:
        last, total = "%round.end", _rounds(plan, emitter, total, last)
    elif len(plan.program.results) > 1:
        next_group = [group.name for group in plan.program.inputs].index(NEXT)
        total = _evaluate(plan, emitter, total, next_group, level=3)
    t = code.type(code.width)
    for k, value in enumerate(total):  # costs no instruction
        code.do(f"%s{k}.next = bitcast {t} {value} to {t}")
    return last


def _rounds(plan: Schedule, emitter: Emitter, at: list[str], last: str) -> list[str]:
    """The state after a step that hangs on numbers sought by rounds, until all lanes have them.

    A round first asks for the error; where that is at most 1 in all lanes nothing more is computed. Lanes that are done
    keep their numbers, so that a lane's bits don't hang on the others.
    """
    code, program = emitter.code, plan.program
    names = [group.name for group in program.inputs]
    width, t = code.width, code.type(code.width)
    _, after, start, error, following = program.results
    _define(plan, emitter, names.index(NEXT), at)
    for wide in (False, True):
        emitter.emit(plan.at(3, wide), plan.wide, plan.spread)
    first = [emitter.operand(value, width) for value in start]
    code.do("br label %round")
    code.label("round")
    code.do(f"%round.count = phi i64 [ 0, {last} ], [ %round.count.next, %round.on ]")
    sought = [f"%z{k}" for k in range(len(first))]
    for k, name in enumerate(first):
        code.do(f"%z{k} = phi {t} [ {name}, {last} ], [ %z{k}.next, %round.on ]")
    _define(plan, emitter, names.index(ITERATE), sought)
    done = _emit_for(plan, emitter, error, set())
    right = code.new(f"fcmp ole {t} {emitter.operand(error[0], width)}, {code.constant(1.0, width)}")
    every = right if width == 1 else combined(code, "and", right, width, "i1")
    many = code.new(f"icmp uge i64 %round.count, {ROUNDS}")
    code.do(f"br i1 {code.new(f'or i1 {every}, {many}')}, label %round.end, label %round.on")
    code.label("round.on")
    _emit_for(plan, emitter, following, done)
    for k, value in enumerate(following):
        new = emitter.operand(value, width)
        code.do(f"%z{k}.next = select {type_of(width, 'i1')} {right}, {t} %z{k}, {t} {new}")
    code.do("%round.count.next = add i64 %round.count, 1")
    code.do("br label %round")
    code.label("round.end")
    _emit_for(plan, emitter, after, done)
    return [emitter.operand(value, width) for value in after]


def _emit_for(plan: Schedule, emitter: Emitter, results: Sequence[int], done: set[int]) -> set[int]:
    """Emit what results hang on of a round's values, but what is `done`; returns all that is done then."""
    needed, chosen = set(results), list[Instruction]()
    for i in reversed(plan.rounds):
        if i.out in needed:
            needed.update(i.args)
            chosen.append(i)
    chosen = [i for i in reversed(chosen) if i.out not in done]
    emitter.emit(chosen, plan.wide, plan.spread)
    return done | {i.out for i in chosen}


def _define(plan: Schedule, emitter: Emitter, group: int, at: list[str]) -> None:
    """Let the inputs of a group be known by names."""
    for i in plan.program.instructions:
        if i.op == "input" and i.source[0] == group:
            emitter.define(i.out, at[i.source[1]], emitter.code.width)


def _evaluate(plan: Schedule, emitter: Emitter, at: list[str], group: int, level: int) -> list[str]:
    """The rates at a stage (group of the state, level 2), or the state after the step (group NEXT, level 3)."""
    width = emitter.code.width
    _define(plan, emitter, group, at)
    for wide in (False, True):
        emitter.emit(plan.at(level, wide), plan.wide, plan.spread)
    return [emitter.operand(v, width) for v in plan.program.results[level - 2]]


def _axpy(code: Code, a: str, x: str, y: str) -> str:
    t = code.type(code.width)
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
        code.type(code.width),
        type_of(code.width, "i1"),
        f"llvm.masked.load.{code.suffix(code.width)}.p0",
    )
    # with the alignment as an argument: LLVM before 22 wants it so, later ones translate it
    code.declare(name, t, "ptr", "i32", bits, t)
    return code.new(
        f"call {t} @{name}(ptr {address}, i32 {code.real.bytes}, {bits} {mask}, {t} zeroinitializer)"
    )


def _store_masked(code: Code, value: str, address: str, mask: str) -> None:
    t, bits = code.type(code.width), type_of(code.width, "i1")
    if code.width == 1:
        store(code, value, address, 1)
        return
    name = f"llvm.masked.store.{code.suffix(code.width)}.p0"
    code.declare(name, "void", t, "ptr", "i32", bits)
    code.do(f"call void @{name}({t} {value}, ptr {address}, i32 {code.real.bytes}, {bits} {mask})")


def _column(code: Code, base: str, row_length: str, rows: int) -> list[str]:
    """Addresses of the block's first lane in all rows, one from the other: each costs an addition."""
    addresses = [element(code, base, "%lane")]
    for _ in range(rows - 1):
        addresses.append(element(code, addresses[-1], row_length))
    return addresses
