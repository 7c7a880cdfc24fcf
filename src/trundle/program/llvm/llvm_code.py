"""Writing LLVM IR as text: fresh names, widths, constants. Text is the fastest way in that llvmlite offers."""

from __future__ import annotations

import struct

FAST = "contract reassoc nsz arcp"
"""Flags on ordinary arithmetic: fuse, reorder, divide by reciprocals; NaN and infinity stay honest."""


class Code:
    """A growing function body; ``width`` is the number of lanes of its vectors (1: plain scalars)."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.lines: list[str] = []
        self.declarations: set[str] = set()
        self.symbols: set[str] = set()  # names of C functions that the code calls
        self.functions: list[str] = []  # whole functions that this body calls
        self._names = 0

    def add_function(self, name: str, signature: str, body: Code) -> None:
        """Add a function of the module, with what it declares and calls."""
        self.functions.append(f"define internal void @{name}({signature}) noinline #0 {{\nentry:\n")
        self.functions += ["\n".join(body.lines), "\n}\n"]
        self.declarations |= body.declarations
        self.symbols |= body.symbols

    def do(self, text: str) -> None:
        """Append an instruction without a result."""
        self.lines.append(f"  {text}")

    def new(self, text: str) -> str:
        """Append an instruction and return the fresh name of its result."""
        self._names += 1
        self.lines.append(f"  %v{self._names} = {text}")
        return f"%v{self._names}"

    def label(self, name: str) -> None:
        """Start a basic block."""
        self.lines.append(f"{name}:")

    def declare(self, name: str, result: str, *args: str) -> None:
        """Declare an outside function or intrinsic, once."""
        self.declarations.add(f"declare {result} @{name}({', '.join(args)})")

    def call(self, name: str, type_: str, *args: str, flags: str = "") -> str:
        """Call a function whose arguments and result all have ``type_``."""
        self.declare(name, type_, *[type_] * len(args))
        operands = ", ".join(f"{type_} {a}" for a in args)
        return self.new(f"call {flags} {type_} @{name}({operands})")

    def splat(self, scalar: str, element: str = "double") -> str:
        """A vector with ``scalar`` in every lane."""
        if self.width == 1:
            return scalar
        if not scalar.startswith("%"):
            return f"splat ({element} {scalar})"
        vector = f"<{self.width} x {element}>"
        first = self.new(f"insertelement {vector} poison, {element} {scalar}, i64 0")
        return self.new(
            f"shufflevector {vector} {first}, {vector} poison, <{self.width} x i32> zeroinitializer"
        )


def number(value: float) -> str:
    """A double constant as LLVM text, exact to the last bit."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


def type_of(width: int, element: str = "double") -> str:
    """``double`` or ``<8 x double>``."""
    return element if width == 1 else f"<{width} x {element}>"


def suffix(width: int, element: str = "f64") -> str:
    """The type's name inside an intrinsic's: ``f64`` or ``v8f64``."""
    return element if width == 1 else f"v{width}{element}"


def constant(value: float, width: int) -> str:
    """A double constant, in every lane."""
    return number(value) if width == 1 else f"splat (double {number(value)})"


def integer(value: int, width: int) -> str:
    """A 64-bit integer constant, in every lane."""
    return str(value) if width == 1 else f"splat (i64 {value})"


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
