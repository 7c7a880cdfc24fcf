"""Instructions as functions of a frame and of the threads that they are for."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tools.ptx.arithmetic import converted, rule_of
from tools.ptx.frames import Frame, Who, reader
from tools.ptx.memory import LOCAL, LOCAL_SIZE, Bytes, typed
from tools.ptx.text import TYPES, Function, Instruction, PTXError

Step = Callable[[Frame, Who], None]

_SPACES = ("global", "local", "param", "const", "shared")
_HARMLESS = {"nc", "volatile", "relaxed", "sys", "weak"}
_CALL = re.compile(
    r"(?:\((?P<result>[\w$]+)\),\s*)?(?P<name>%?[\w$]+)(?:,\s*\((?P<given>[^)]*)\))?(?:,\s*prototype_\d+)?$"
)


def step_of(function: Function, instruction: Instruction) -> Step:
    """What an instruction does that isn't a branch; PTXError where it isn't known."""
    if instruction.guard:
        raise PTXError(f"unknown instruction: {instruction.text}")
    special = _SPECIAL.get(instruction.op)
    return special(function, instruction) if special else _arithmetic(function, instruction)


def target_of(
    function: Function, instruction: Instruction, number: int
) -> Callable[[Frame, Who], int | NDArray]:
    """Where threads go at the end of the block with a number, which a branch or a return is."""
    there = len(function.blocks)
    if instruction.op == "bra":
        if instruction.operands[0] not in function.labels:
            raise PTXError(f"no label for: {instruction.text}")
        there = function.labels[instruction.operands[0]]
    if not instruction.guard:
        return lambda _frame, _who: there
    guard = reader(function, instruction.guard, "pred")
    return lambda frame, who: np.where(guard(frame, who), there, number + 1)


def _arithmetic(function: Function, i: Instruction) -> Step:
    rule = rule_of(i)
    types = [i.type] * (len(i.operands) - 1)
    if i.op in ("shl", "shr"):
        types[1] = "u32"
    elif i.op == "selp":
        types[2] = "pred"
    elif i.op == "mad" and "wide" in i.modifiers:
        types[2] = f"{i.type[0]}{2 * int(i.type[1:])}"
    into = i.operands[0]
    reads = [reader(function, text, kind) for text, kind in zip(i.operands[1:], types, strict=True)]

    def step(frame: Frame, who: Who) -> None:
        result = rule(*(read(frame, who) for read in reads))
        frame.write(into, who, np.broadcast_to(result, (frame.count(who),)).copy())

    return step


def _move(function: Function, i: Instruction) -> Step:
    """`mov`, also of two halves into one register and back."""
    if not any(text.startswith("{") for text in i.operands):
        return _arithmetic(function, i)
    half = f"b{int(i.type[1:]) // 2}"
    if i.operands[1].startswith("{"):
        parts = [reader(function, text, half) for text in _names(i.operands[1])]

        def join(frame: Frame, who: Who) -> None:
            rows = [np.broadcast_to(read(frame, who), (frame.count(who),)) for read in parts]
            frame.write(i.operands[0], who, np.stack(rows, axis=1).view(TYPES[i.type])[:, 0])

        return join
    whole = reader(function, i.operands[1], i.type)

    def cut(frame: Frame, who: Who) -> None:
        values = np.broadcast_to(whole(frame, who), (frame.count(who),))
        rows = np.ascontiguousarray(values)[:, None].view(TYPES[half])
        for k, name in enumerate(_names(i.operands[0])):
            if name != "_":
                frame.write(name, who, rows[:, k].copy())

    return cut


def _convert(function: Function, i: Instruction) -> Step:
    to, of = (m for m in i.modifiers if m in TYPES)
    read = reader(function, i.operands[1], of, narrow=True)

    def step(frame: Frame, who: Who) -> None:
        result = converted(i, read(frame, who), TYPES[to])
        frame.write(i.operands[0], who, np.broadcast_to(result, (frame.count(who),)).copy())

    return step


def _generic(function: Function, i: Instruction) -> Step:
    """`cvta`: between local and generic addresses; those of other spaces are generic ones here."""
    shift = 0 if "local" not in i.modifiers else -LOCAL if "to" in i.modifiers else LOCAL
    read = reader(function, i.operands[1], "u64")

    def step(frame: Frame, who: Who) -> None:
        result = read(frame, who) + np.uint64(shift % 2**64)
        frame.write(i.operands[0], who, np.broadcast_to(result, (frame.count(who),)).copy())

    return step


def _load(function: Function, i: Instruction) -> Step:
    space, dtype = _space(i), TYPES[i.type]
    names = _names(i.operands[0])
    at = _address(function, i.operands[1], space)

    def step(frame: Frame, who: Who) -> None:
        for k, name in enumerate(names):
            frame.write(name, who, np.ascontiguousarray(at(frame, who).load(k * dtype.itemsize, dtype)))

    return step


def _store(function: Function, i: Instruction) -> Step:
    space, dtype = _space(i), TYPES[i.type]
    reads = [reader(function, text, i.type, narrow=True) for text in _names(i.operands[1])]
    at = _address(function, i.operands[0], space)

    def step(frame: Frame, who: Who) -> None:
        for k, read in enumerate(reads):
            values = np.broadcast_to(read(frame, who), (frame.count(who),))
            at(frame, who).store(k * dtype.itemsize, values)

    return step


class _Place:
    """Where threads load from or store to: rows of bytes, a row a thread, or the device's buffers."""

    def __init__(self, frame: Frame, threads: NDArray, rows: Bytes | None, at: NDArray) -> None:
        self._frame, self._threads, self._rows, self._at = frame, threads, rows, at

    def load(self, offset: int, dtype: np.dtype) -> NDArray:
        """A number a thread, `offset` bytes on."""
        if self._rows is None:
            return self._frame.machine.memory.load(self._at + np.uint64(offset), dtype)
        view, index = typed(self._rows, self._at + offset, dtype, "bytes of a thread")
        return view[self._threads, index]

    def store(self, offset: int, values: NDArray) -> None:
        """A number a thread, `offset` bytes on."""
        if self._rows is None:
            self._frame.machine.memory.store(self._at + np.uint64(offset), values)
            return
        view, index = typed(self._rows, self._at + offset, values.dtype, "bytes of a thread")
        view[self._threads, index] = values


def _address(function: Function, text: str, space: str) -> Callable[[Frame, Who], _Place]:
    """`[name+8]`: a parameter, a table, a local array, or what a register points to."""
    name, _, more = text.strip("[]").partition("+")
    offset = int(more or 0)
    if space == "param":
        return lambda frame, who: _slot(frame, who, name, offset)
    base = reader(function, name, "u64")

    def place(frame: Frame, who: Who) -> _Place:
        at = np.broadcast_to(base(frame, who), (frame.count(who),)) + np.uint64(offset % 2**64)
        threads, local = frame.threads[who], frame.machine.local
        if space == "local":
            return _Place(frame, threads, local.bytes, at.astype(np.int64))
        inside = (at >= LOCAL) & (at < LOCAL + LOCAL_SIZE)
        if not inside.any():
            return _Place(frame, threads, None, at)
        if not inside.all() or space:
            raise PTXError("an address of local bytes where none may be")
        return _Place(frame, threads, local.bytes, (at - np.uint64(LOCAL)).astype(np.int64))

    return place


def _slot(frame: Frame, who: Who, name: str, offset: int) -> _Place:
    if name not in frame.slots:
        raise PTXError(f"no parameter '{name}'")
    chosen = np.arange(len(frame.threads))[who]
    return _Place(frame, chosen, frame.slots[name], np.full(len(chosen), offset, np.int64))


def _declare(_function: Function, i: Instruction) -> Step:
    """`.param .align 16 .b8 retval0[16]`: room for what a call takes or returns."""
    matched = re.match(r"\.param\s+(?:\.align \d+\s+)?\.(\w+)\s+([\w$]+)(?:\[(\d+)\])?$", i.text)
    if matched is None:
        raise PTXError(f"unknown instruction: {i.text}")
    kind, name, count = matched.groups()
    return lambda frame, _who: frame.declare(name, TYPES[kind].itemsize * int(count or 1))


def _call(function: Function, i: Instruction) -> Step:
    """A call, by name or by addresses that threads have."""
    matched = _CALL.match(", ".join(i.operands))
    if matched is None:
        raise PTXError(f"unknown instruction: {i.text}")
    result, name = matched["result"], matched["name"]
    given = [text.strip() for text in (matched["given"] or "").split(",") if text.strip()]

    at = reader(function, name, "u64") if name.startswith("%") else None

    def run(frame: Frame, who: Who, called: Function | None) -> None:
        if called is None or len(called.parameters) != len(given) or len(called.returned) != bool(result):
            raise PTXError(f"no such function: {i.text}")
        slots = {p.name: frame.slots[slot][who] for p, slot in zip(called.parameters, given, strict=True)}
        ended = frame.machine.run(called, frame.threads[who], frame.base, slots)
        if result:
            frame.slots[result][who] = ended.slots[called.returned[0].name]

    def step(frame: Frame, who: Who) -> None:
        if at is None:
            run(frame, who, frame.machine.module.functions.get(name))
            return
        addresses = np.broadcast_to(at(frame, who), (frame.count(who),))
        threads = np.arange(len(frame.threads))[who]
        for address in np.unique(addresses):
            run(frame, threads[addresses == address], frame.machine.function_at(int(address)))

    return step


def _space(i: Instruction) -> str:
    spaces = [m for m in i.modifiers if m in _SPACES]
    unknown = [m for m in i.modifiers if m not in (*_SPACES, *_HARMLESS, "v2", "v4") and m not in TYPES]
    if unknown or "shared" in spaces or len(spaces) > 1:
        raise PTXError(f"unknown instruction: {i.text}")
    return spaces[0] if spaces else ""


def _names(text: str) -> Sequence[str]:
    return [part.strip() for part in text.strip("{}").split(",")]


_SPECIAL: dict[str, Callable[[Function, Instruction], Step]] = {
    "mov": _move, "cvt": _convert, "cvta": _generic, "ld": _load, "st": _store, "param": _declare, "call": _call,
}  # fmt: skip
