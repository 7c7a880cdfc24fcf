"""Writing native code whose memory is a table of named 64-bit words: words, control, loops over vectors of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from trundle.program.llvm.formula import Formula
from trundle.program.llvm.jit import Code, element, load, number, store, suffix


class TableWriter:
    """Writes a function of `%table`; `words` are the table's in order, rows are worked on in vectors of the code's
    width. `one` writes formulas of numbers.
    """

    def __init__(self, code: Code, words: Sequence[str]) -> None:
        self.code, self.width, self.words, self.block = code, code.width, words, "entry"
        self.vector, self.one = code.type(code.width), Formula(code, 1)

    # Words of the table.

    def slot(self, word: str) -> str:
        """Where a word is."""
        return self.code.new(f"getelementptr i64, ptr %table, i64 {self.words.index(word)}")

    def get(self, word: str, kind: str = "i64") -> str:
        """A word's content: i64, double or ptr."""
        return self.code.new(f"load {kind}, ptr {self.slot(word)}")

    def set(self, word: str, value: str, kind: str = "i64") -> None:
        """Give a word another content."""
        self.code.do(f"store {kind} {value}, ptr {self.slot(word)}")

    def word_at(self, array: str, index: str, kind: str = "double") -> str:
        """An element of an array of words."""
        place = self.code.new(f"getelementptr i64, ptr {self.get(array, 'ptr')}, i64 {index}")
        return self.code.new(f"load {kind}, ptr {place}")

    # Arithmetic and control.

    def integer(self, op: str, a: str, b: str | int) -> str:
        """A sum, a product, a comparison and the like of two integers."""
        return self.one.whole(op, a, b)

    def label(self, name: str) -> None:
        """Begin a block."""
        self.code.label(name)
        self.block = name

    def go(self, to: str) -> None:
        """On to a block."""
        self.code.do(f"br label %{to}")

    def branch(self, condition: str, then: str, otherwise: str) -> None:
        """On to one of two blocks."""
        self.code.do(f"br i1 {condition}, label %{then}, label %{otherwise}")

    def loop(
        self,
        name: str,
        count: str,
        body: Callable[[str, list[str]], Iterable[str]],
        *,
        stride: int | None = None,
        sums: int = 0,
    ) -> list[str]:
        """A loop over indices below a positive count, in strides (of a vector); `body` gives vectors' new sums."""
        code, before = self.code, self.block
        self.go(name)
        self.label(name)
        index, following = f"%{name}.index", f"%{name}.next"
        code.do(f"{index} = phi i64 [ 0, %{before} ], [ {following}, %{name} ]")
        held = [f"%{name}.sum{k}" for k in range(sums)]
        for k, each in enumerate(held):
            start = f"[ zeroinitializer, %{before} ]"
            code.do(f"{each} = phi {self.vector} {start}, [ %{name}.more{k}, %{name} ]")
        new = list(body(index, held))
        for k, value in enumerate(new):
            code.do(f"%{name}.more{k} = bitcast {self.vector} {value} to {self.vector}")
        code.do(f"{following} = add i64 {index}, {self.width if stride is None else stride}")
        self.branch(self.integer("icmp slt", following, count), name, f"{name}.end")
        self.label(f"{name}.end")
        return [self._sum(f"%{name}.more{k}") for k in range(sums)]

    def _sum(self, vector: str) -> str:
        name = f"llvm.vector.reduce.fadd.{suffix(self.width)}"
        self.code.declare(name, "double", "double", self.vector)
        return self.code.new(f"call reassoc double @{name}(double {number(0.0)}, {self.vector} {vector})")

    # Rows.

    def load(self, row: str, index: str) -> str:
        """A vector of a row."""
        return load(self.code, element(self.code, row, index), self.width)

    def store(self, value: str, row: str, index: str) -> None:
        """Put a vector into a row."""
        store(self.code, value, element(self.code, row, index), self.width)

    def vector_op(self, op: str, a: str, b: str) -> str:
        """An operation on vectors, which may be fused with the next."""
        return Formula(self.code, self.width).op(f"{op} contract", a, b)

    def row(self, array: str, place: int) -> str:
        """A row of several that follow one another from an address on; `%size` is their length."""
        return element(self.code, array, self.integer("mul", "%size", place))
