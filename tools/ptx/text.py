"""PTX text as data: functions of blocks of instructions, and the module's tables of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

TYPES = {
    **{f"{kind}{bits}": np.dtype(f"u{bits // 8}") for kind in "bu" for bits in (8, 16, 32, 64)},
    **{f"s{bits}": np.dtype(f"i{bits // 8}") for bits in (8, 16, 32, 64)},
    **{f"f{bits}": np.dtype(f"f{bits // 8}") for bits in (32, 64)},
    "pred": np.dtype(bool),
}
"""The types of operands, by PTX's names."""

_NOISE = ("//", ".version", ".target", ".address_size", ".loc ", ".file ", ".pragma")
_VARIABLE = re.compile(r"\.(param|local|reg|global|const)\b(.*)")
_ARRAY = re.compile(r"([\w$%]+)(?:\[(\d+)\])?(?:<(\d+)>)?$")


class PTXError(Exception):
    """What a kernel does that it must not, or that isn't known here."""


@dataclass(frozen=True)
class Variable:
    """A parameter, a local array or registers: what it is called, of what type, and how many bytes or registers."""

    name: str
    type: str
    count: int

    @property
    def bytes(self) -> int:
        """How long it is in memory."""
        return TYPES[self.type].itemsize * self.count


@dataclass(frozen=True)
class Instruction:
    """`@guard op.modifiers operands;`"""

    op: str
    modifiers: tuple[str, ...]
    operands: tuple[str, ...]
    guard: str
    text: str

    @property
    def type(self) -> str:
        """The last of its types, which for all but conversions is the operands'."""
        return next((m for m in reversed(self.modifiers) if m in TYPES), "")


@dataclass(frozen=True)
class Function:
    """A kernel, or a function that kernels call; `labels` says which block begins at a label."""

    name: str
    entry: bool
    parameters: tuple[Variable, ...]
    returned: tuple[Variable, ...]
    registers: tuple[Variable, ...]
    locals: tuple[Variable, ...]
    blocks: tuple[tuple[Instruction, ...], ...]
    labels: dict[str, int]


@dataclass(frozen=True)
class Data:
    """A table's bytes, and the addresses in it: which place has that of what."""

    bytes: bytes
    addresses: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Module:
    """What a PTX text holds: functions and tables."""

    functions: dict[str, Function]
    data: dict[str, Data]


def parse(text: str) -> Module:
    """Read the PTX text that LLVM writes.

    Parameters
    ----------
    text : str
        PTX.

    Returns
    -------
    Module

    Raises
    ------
    PTXError
        A statement is not understood.
    """
    functions: dict[str, Function] = {}
    data: dict[str, Data] = {}
    lines = iter([line for line in (_bare(line) for line in text.splitlines()) if line])
    for line in lines:
        if line.startswith((".global", ".const", ".visible .global", ".visible .const")):
            name, content = _table(line)
            data[name] = content
        elif ".entry" in line or line.startswith((".func", ".visible .func", ".weak .func")):
            function = _function(line, lines)
            if function is not None:
                functions[function.name] = function
        elif line.startswith(".extern"):
            raise PTXError(f"code of another module is needed: {line}")
        else:
            raise PTXError(f"not understood: {line}")
    return Module(functions, data)


def _bare(line: str) -> str:
    line = line.partition("//")[0].strip()
    return "" if f"{line} ".startswith(_NOISE) else line


def _table(line: str) -> tuple[str, Data]:
    """`.global .align 8 .b8 name[16] = {1, 2, …};`, the bytes one by one, or words of 64 bits, also of addresses."""
    matched = re.match(
        r"(?:\.visible )?\.(?:global|const)(?: \.align \d+)? \.(\w+) ([\w$]+)(?:\[(\d+)\])?", line
    )
    if matched is None:
        raise PTXError(f"not understood: {line}")
    kind, name, count = matched.groups()
    dtype, words = TYPES[kind], re.findall(r"[-\w$]+", line.partition("=")[2])
    named = [re.match(r"-?\d", word) is None for word in words]
    values = np.zeros(int(count or 1), dtype)
    values[: len(words)] = [0 if name else int(word, 0) for word, name in zip(words, named, strict=True)]
    places = (k * dtype.itemsize for k in range(len(words)))
    addresses = [pair for pair, name in zip(zip(places, words, strict=True), named, strict=True) if name]
    return name, Data(values.tobytes(), tuple(addresses))


def _function(head: str, lines: Iterator[str]) -> Function | None:
    """From its head on; None for a mere declaration."""
    while "{" not in head and not head.endswith(";"):
        line = next(lines)
        head += line if line != "{" else " {"
    if head.endswith(";"):
        return None
    matched = re.match(r".*?\.(entry|func)\s*(?:\(([^)]*)\))?\s*([\w$]+)\s*(?:\(([^)]*)\))?", head)
    if matched is None:
        raise PTXError(f"not understood: {head}")
    kind, returned, name, parameters = matched.groups()
    registers, held, blocks, labels = _body(lines)
    return Function(
        name, kind == "entry", _listed(parameters), _listed(returned), registers, held, blocks, labels
    )


def _listed(text: str | None) -> tuple[Variable, ...]:
    return tuple(_variable(part) for part in (text or "").split(",") if part.strip())


def _variable(text: str) -> Variable:
    """`.param .align 8 .b8 name[16]`, `.reg .b64 %rd<5>`, `.param .u64 .ptr .global .align 1 name`."""
    words = text.split()
    kind = next((word[1:] for word in words if word[1:] in TYPES), None)
    named = _ARRAY.match(words[-1])
    if kind is None or named is None:
        raise PTXError(f"not understood: {text}")
    name, length, registers = named.groups()
    return Variable(name, kind, int(length or registers or 1))


_Body = tuple[tuple[Variable, ...], tuple[Variable, ...], tuple[tuple[Instruction, ...], ...], dict[str, int]]


def _body(lines: Iterator[str]) -> _Body:
    """Registers, local arrays, and blocks: those that end with a branch, and those that a label begins."""
    registers: list[Variable] = []
    held: list[Variable] = []
    blocks: list[list[Instruction]] = [[]]
    labels: dict[str, int] = {}
    for statement in _statements(lines):
        if statement.endswith(":"):
            blocks += [[]] if blocks[-1] else []
            labels[statement[:-1]] = len(blocks) - 1
        elif ".callprototype" in statement:
            continue  # what is called is known when it is
        elif (declared := _VARIABLE.match(statement)) and declared[1] in ("reg", "local"):
            (registers if declared[1] == "reg" else held).append(_variable(statement))
        else:
            blocks[-1].append(_instruction(statement))
            if blocks[-1][-1].op in ("bra", "ret", "exit", "trap"):
                blocks.append([])
    whole = tuple(tuple(block) for block in blocks)
    return tuple(registers), tuple(held), whole, labels


def _statements(lines: Iterator[str]) -> Iterator[str]:
    """Labels and statements up to the brace that ends a function; calls stand in braces of their own."""
    depth, begun = 1, ""
    for line in lines:
        if line in ("{", "}"):
            depth += 1 if line == "{" else -1
            if not depth:
                return
        elif not begun and line.endswith(":"):
            yield line
        else:
            begun = f"{begun} {line}".strip()
            if begun.endswith(";"):
                yield begun[:-1].strip()
                begun = ""
    raise PTXError("a function without an end")


def _instruction(text: str) -> Instruction:
    guard, rest = "", text
    if text.startswith("@"):
        guard, _, rest = text[1:].partition(" ")
    name, _, operands = " ".join(rest.split()).partition(" ")
    op, *modifiers = name.lstrip(".").split(".")
    return Instruction(op, tuple(modifiers), tuple(_parts(operands)), guard, text)


def _parts(text: str) -> Iterator[str]:
    """Cut at commas that no bracket holds."""
    depth, begun = 0, ""
    for letter in text:
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and not depth:
            yield begun.strip()
            begun = ""
        else:
            begun += letter
    if begun.strip():
        yield begun.strip()
