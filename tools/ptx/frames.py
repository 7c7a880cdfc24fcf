"""A function that threads are in: their registers, parameters and local bytes."""

from __future__ import annotations

import re
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from tools.ptx.memory import Bytes
from tools.ptx.text import TYPES, Function, PTXError

if TYPE_CHECKING:
    from tools.ptx.machine import Machine

Who = slice | NDArray[np.int64]
"""Which threads of a frame an instruction is for: all, or those with these numbers."""
Read = Callable[["Frame", Who], NDArray]

NOISE = 0xA5
"""The byte that fills what nobody has written."""
_REGISTER = re.compile(r"(%[A-Za-z]+)(\d*)$")
_PLACES = ("tid", "ntid", "ctaid", "nctaid")


@dataclass
class Frame:
    """`threads` of a launch in one function. `held`: where among local bytes the function's arrays begin, by name."""

    machine: Machine
    function: Function
    threads: NDArray[np.int64]
    base: int
    slots: dict[str, Bytes] = field(default_factory=dict)
    held: dict[str, int] = field(default_factory=dict)
    registers: dict[str, NDArray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for array in self.function.locals:
            self.held[array.name] = self.base
            self.base += -(-array.bytes // 16) * 16
        self.machine.local.reserve(self.base)
        for result in self.function.returned:
            self.declare(result.name, result.bytes)

    def declare(self, name: str, size: int) -> None:
        """Room for a parameter, which a call fills."""
        self.slots[name] = np.full((len(self.threads), -(-size // 8) * 8), NOISE, np.uint8)

    def count(self, who: Who) -> int:
        """How many threads these are."""
        return len(self.threads) if isinstance(who, slice) else len(who)

    def write(self, name: str, who: Who, values: NDArray) -> None:
        """Into a register, whose type is one of bits; narrower numbers are extended."""
        dtype = register_type(self.function, name)
        if name not in self.registers:
            size = len(self.threads) * dtype.itemsize
            self.registers[name] = np.full(size, 1 if dtype.kind == "b" else NOISE, np.uint8).view(dtype)
        if values.dtype.itemsize > dtype.itemsize or (values.dtype.kind == "b") != (dtype.kind == "b"):
            raise PTXError(f"{values.dtype} does not go into {name}, of {dtype}")
        if values.dtype.itemsize < dtype.itemsize:
            signed = np.dtype(f"i{dtype.itemsize}")
            values = values.astype(signed if values.dtype.kind == "i" else dtype)
        self.registers[name][who] = values.view(dtype)


def register_type(function: Function, name: str) -> np.dtype:
    """Of a register, by what the function declares."""
    matched = _REGISTER.match(name)
    for declared in function.registers:
        if matched and declared.name == matched[1] and int(matched[2] or 0) < declared.count:
            dtype = TYPES[declared.type]
            return dtype if dtype.kind == "b" else np.dtype(f"u{dtype.itemsize}")
    raise PTXError(f"'{function.name}' has no register {name}")


def reader(function: Function, text: str, type_: str, *, narrow: bool = False) -> Read:
    """Reads an operand as numbers of a type; with `narrow`, the lower bits of a wider register, too."""
    dtype = TYPES[type_]
    if text.startswith("%") and text[1:].rpartition(".")[0] in _PLACES:
        return _place(text[1:])
    if text.startswith(("%", "!%")):
        return _register(function, text, dtype, narrow)
    if re.match(r"0[df][0-9A-Fa-f]+$", text):
        value = struct.unpack(">d" if text[1] == "d" else ">f", bytes.fromhex(text[2:]))[0]
        if dtype.kind != "f" and len(text) - 2 != 2 * dtype.itemsize:
            raise PTXError(f"{text} is no number of {type_}")
        number = np.array([value], f"f{(len(text) - 2) // 2}").view(dtype)
        return lambda _frame, _who: number
    if re.match(r"-?(0x)?[0-9A-Fa-f]+$", text):
        whole = int(text, 0)
        if dtype.kind == "b":
            number = np.array([bool(whole)])
        else:
            number = np.array([whole % (1 << 8 * dtype.itemsize)], f"u{dtype.itemsize}").view(dtype)
        return lambda _frame, _who: number
    return lambda frame, _who: np.array([frame.machine.address(frame, text)], np.uint64)


def _place(name: str) -> Read:
    """Where a thread is: `tid.x` and others; all launches have one dimension."""
    which, _, axis = name.partition(".")

    def read(frame: Frame, who: Who) -> NDArray:
        grid, block = frame.machine.shape
        threads = frame.threads[who]
        if axis != "x":
            return np.full(len(threads), which.startswith("n"), np.uint32)
        whole = {"tid": threads % block, "ctaid": threads // block}.get(which)
        if whole is None:
            whole = np.full(len(threads), block if which == "ntid" else grid)
        return whole.astype(np.uint32)

    return read


def _register(function: Function, text: str, dtype: np.dtype, narrow: bool) -> Read:
    name, inverted = text.lstrip("!"), text.startswith("!")
    own = register_type(function, name)
    fits = own.itemsize == dtype.itemsize or (narrow and own.itemsize > dtype.itemsize)
    if not fits or (own.kind == "b") != (dtype.kind == "b"):
        raise PTXError(f"{name}, of {own}, is read as {dtype}")

    def read(frame: Frame, who: Who) -> NDArray:
        if name not in frame.registers:
            raise PTXError(f"{name} of '{frame.function.name}' is read before anything is written to it")
        raw = frame.registers[name][who]
        if own.itemsize > dtype.itemsize:
            raw = raw.astype(f"u{dtype.itemsize}")
        return ~raw if inverted else raw.view(dtype)

    return read
