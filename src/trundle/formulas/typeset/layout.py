"""How equations are set, in a terminal or on a page: what fits a line, what breaks where, what is said once for many.

Widths are columns of a terminal, of which TeX's pages have some, too (`markup`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Generic, NamedTuple, TypeVar

import sympy
from sympy.core.alphabets import greeks

from trundle.formulas.equation import Equation, Expression, Section, SymbolInfo
from trundle.formulas.robot_equations import Equations
from trundle.formulas.symbols.names import Note, measured, primed, raised
from trundle.formulas.typeset.ordering import Order, Split
from trundle.formulas.typeset.printers import Measuring

# A step that lines inside a bracket are set in.
STEP = 2
# Equations that differ in an index only are written once from this many on.
_ALIKE = 3
# A column that is higher, with more zeros than entries, is written entry by entry.
_HIGH = 5
# Columns by which a formula's measured width may exceed its drawn one, beside a factor of 1.6 on pages.
_GAPS = 4
# Columns that a line needs.
_LEAST = 12
# As many entries of a matrix as stand in one line where they are the same.
_CHAIN = 4
# Names in a sentence, of symbols or with dots of quantities.
_NAMES = re.compile(r"([^\W\d]\w*(?:\.\w+)*)")
# Rates of what has no index: omegadot, qddot.
_RATE = re.compile(r"\w+d?dot")


class Line(NamedTuple):
    """Expressions with signs and brackets between them, `depth` steps set in."""

    depth: int
    tokens: list[Expression]


class Statement(NamedTuple):
    """a = b = … = right, and what it means."""

    lefts: tuple[Expression, ...]
    right: Expression
    meaning: str = ""
    name: str = ""


class Block(NamedTuple):
    """A titled part of a report."""

    title: str
    statements: list[Statement]
    notes: tuple[str, ...] = ()


_Printer = TypeVar("_Printer", bound=Measuring)


class EquationLayout(Generic[_Printer]):
    """Sets the equations of one report in lines of `width` columns, which its printer measures."""

    def __init__(self, equations: Equations, width: int, make: Callable[[Order], _Printer]) -> None:
        self.equations, self.width = equations, width
        self.ranks = _ranks(equations)
        self.order = Order(self.ranks)
        self.printer = make(self.order)

    @cached_property
    def _letter(self) -> str:
        """What stands for an index; no symbol has it."""
        symbols = {definition.symbol for definition in (*self.equations.symbols, *self.equations.definitions)}
        taken = {part for symbol in symbols for part in symbol.name.split("_")}
        return next((letter for letter in "kjlmn" if letter not in taken), "index")

    @cached_property
    def blocks(self) -> list[Block]:
        """The sections, and the intermediate quantities as the last one."""
        shown = self.equations
        defined = [
            Statement((d.symbol,), d.expression, measured(d.meaning, d.unit), d.symbol.name)
            for d in shown.definitions
        ]
        return [
            *(
                Block(section.title, self.statements(section.equations), section.notes)
                for section in shown.sections
            ),
            *([Block("Intermediate quantities", defined)] if defined else []),
        ]

    @cached_property
    def _named(self) -> dict[str, Expression]:
        """Symbols that are told from words in a sentence: v_x and omega, not m."""
        shown = {symbol for equation in self.equations.by_name.values() for symbol in equation.free_symbols}
        known = {symbol.name: symbol for symbol in {*shown, *self.ranks}}
        return {
            name: symbol
            for name, symbol in known.items()
            if "_" in name or name in greeks or _RATE.fullmatch(name)
        }

    def parts(self, text: str) -> tuple[str | Expression, ...]:
        """A sentence in text and formulas: those of a note, and the symbols that it names."""
        if isinstance(text, Note):
            return tuple(
                each for part in text.parts for each in (self.parts(part) if type(part) is str else [part])
            )
        # What stands between ` is code; a part's name is said in words.
        quoted = [part.split("`") for part in _NAMES.split(text)]
        inside = list(accumulate((len(part) - 1 for part in quoted), initial=0))
        return tuple(
            part if count % 2 else self._named.get(part, _in_words(part))
            for part, count in zip(_NAMES.split(text), inside, strict=False)
            if part
        )

    def said(self, text: str, plain: Callable[[str], str], formula: Callable[[Expression], str]) -> str:
        """A sentence whose words and whose formulas are written as they are asked for."""
        return "".join(plain(part) if isinstance(part, str) else formula(part) for part in self.parts(text))

    def symbols(self) -> list[tuple[Expression, str, str]]:
        """Each symbol with its number and unit, and what it means."""
        described = []
        for info in self.equations.symbols:
            number = "" if info.number is None else f"{info.number:.6g}"
            described.append((_displayed_symbol(info), f"{number} {raised(info.unit)}".strip(), info.meaning))
        return described

    def columns(self, expression: Expression) -> float:
        """The width of an expression."""
        return self.printer.width(expression)

    def statements(self, equations: Sequence[Equation]) -> list[Statement]:
        """What is written of some equations: alike ones once, wide matrices by their entries."""
        return [
            statement._replace(name=family.name)
            for family in self._families(equations)
            for statement in self._of(family)
        ]

    @staticmethod
    def by_symbol(statement: Statement) -> bool:
        """Whether a statement says what symbols are, not that an expression is 0."""
        first, *others = statement.lefts
        return bool(others) or not (first.is_Add or first.is_Mul)

    def rows(self, statement: Statement) -> list[Line]:
        """The lines of a statement's right side; of both sides, where the left one is an expression."""
        if self.by_symbol(statement):
            room = self.width - sum(self.columns(left) + 3 for left in statement.lefts)
            return self.lines(statement.right, room)
        *before, last = self.lines(statement.lefts[0], self.width - 4)
        return [*before, Line(last.depth, [*last.tokens, "=", statement.right])]

    def lines(self, expression: Expression, room: float, used: float = 0) -> list[Line]:
        """An expression in lines of at most `room` columns, as far as sums can be broken, after `used` columns."""
        if room < _LEAST or self.columns(expression) + used <= room:
            return [Line(0, [expression])]
        if expression.is_Add:
            return self._sum(expression, room, used)
        if expression.is_Mul or expression.is_Pow:
            return self._product(expression, room, used)
        return [Line(0, [expression])]

    def _sum(self, total: Expression, room: float, used: float) -> list[Line]:
        """A sum in lines: broken between its terms, or inside the brackets of a term that is too wide itself."""
        lines: list[Line] = []
        current: list[Expression] = []
        for k, term in enumerate(self.order.terms(total)):
            negative, above, _ = split = self.order.split(term)
            positive = split.quotient if negative else term
            mark = ["−"] if negative else ["+"] if k else []
            width = self.columns(positive) + 3
            if used + width > room and current:
                lines.append(Line(0, current))
                current, used = [], 0
            breaks = any(factor.is_Add for factor in above)
            if used and used + width > room and not lines and (not breaks or used > room // 2):
                lines, used = [Line(0, [])], 0
            if used + width > room and breaks:
                first, *rest = self.lines(positive, room, used + 3)
                lines += [Line(0, [*mark, *first.tokens]), *rest]
                used = 0
                continue
            current += [*mark, positive]
            used += width
        return [*lines, Line(0, current)] if current else lines

    def _product(self, product: Expression, room: float, used: float) -> list[Line]:
        """What is short before a bracket that goes over several lines; or over one, for a long denominator."""
        split = self.order.split(product)
        mark = ["−"] if split.negative else []
        bottom = self.columns(sympy.Mul(*split.below)) if split.below else 0
        wide = max((f for f in split.above if f.is_Add), key=self.columns, default=None)
        if wide is not None and not bottom > room // 2:
            others = [f for f in split.above if f is not wide]
            head = Split(False, others, split.below).quotient
            lead = [] if head == 1 else ["(", head, ")", "·"] if head.is_Add else [head, "·"]
            ahead = used + 2 * len(mark) + self.columns(head) + STEP
            return _bracketed([*mark, *lead], self._sum(wide, room - STEP - 1, ahead))
        if not split.below:
            return [Line(0, [product])]
        top = self.lines(sympy.Mul(*split.above), room - STEP, used)
        if len(top) > 1 or top[0].tokens[0].is_Add:
            top = _bracketed([], top)
        below = _bracketed(["/"], self.lines(sympy.Mul(*split.below), room - STEP, STEP))
        return [Line(0, [*mark, *top[0].tokens]), *top[1:], *below]

    def _of(self, equation: Equation) -> Iterator[Statement]:
        """One equation, or one a row or entry where it is too wide."""
        left, right, meaning = equation.left, equation.right, equation.meaning
        if not isinstance(right, sympy.MatrixBase):
            yield Statement((left,), right, meaning)
        elif isinstance(left, sympy.MatrixBase):
            whole = _scalar(equation) or ((left,), equation.whole)
            if len(left) == 1 or self._fits(left, equation.whole):
                yield Statement(*whole, meaning)
                return
            for k, (side, row) in enumerate(equation.lines):
                yield Statement((side,), row, "" if k else meaning)
        else:
            shapes = ((each, matrix) for each, matrix in _shapes(left, right) if self._fits(each, matrix))
            shape = next(shapes, None)
            yield from _entries(equation) if shape is None else [Statement(shape[:1], shape[1], meaning)]

    def _fits(self, left: Expression, right: Expression) -> bool:
        """Whether left = right takes one line; a matrix is drawn only where its entries, whose widths are upper bounds,
        aren't far beyond that.
        """
        if isinstance(right, sympy.MatrixBase):
            entries = ([self.columns(entry) for entry in right.col(j)] for j in range(right.cols))
            if sum(map(max, entries)) > 2 * self.width + _GAPS * right.cols:
                return False
        return self.columns(left) + 3 + self.columns(right) <= self.width

    def _families(self, equations: Sequence[Equation]) -> list[Equation]:
        """Equations that are the same but for one index, each such family in its first one's place."""
        left, families = list(equations), []
        while left:
            first = left.pop(0)
            family = [(first, "")]
            for other in left:
                index = _index(first, other)
                if index is not None and (family[-1][1] == "" or index[0] == family[0][1]):
                    family[0] = (first, index[0])
                    family.append((other, index[1]))
            if len(family) < _ALIKE:
                families.append(first)
                continue
            members = [equation for equation, _ in family]
            left = [other for other in left if not any(other is member for member in members)]
            families.append(self._family(members, [index for _, index in family]))
        return families

    def _family(self, members: Sequence[Equation], indices: Sequence[str]) -> Equation:
        """The equation of a family, with one letter in place of the index in which its members differ."""
        first = members[0]
        letter = self._letter
        renamed = _renamed(first, indices[0], letter)
        for old, new in renamed.items():
            self.ranks.setdefault(new, self.ranks.get(old, len(self.ranks)))
        words = _common_words([member.meaning for member in members])
        where = f"{letter} = {', '.join(indices)}"
        meaning = f"{words}; {where}" if words else where
        return Equation(
            first.name, first.left.xreplace(renamed), first.right.xreplace(renamed), meaning=meaning
        )


def _in_words(name: str) -> str:
    """A part's name in words, left_motor as "left motor"; names with dots are those of quantities and programs."""
    return name if "." in name else name.replace("_", " ")


def _displayed_symbol(info: SymbolInfo) -> sympy.Symbol:
    """The symbol by which something is told: derivatives of functions have primes."""
    return sympy.Symbol(primed(info.symbol.name)) if info.kind == "function" else info.symbol


def alone(equation: Equation) -> Equations:
    """A report of one equation."""
    return Equations("", "all", (Section("", "", (equation,)),), (), ())


def _ranks(equations: Equations) -> dict[Expression, int]:
    """Ranks of all symbols: parameters, constants made of them, what moves, forces."""
    constant = {info.symbol for info in equations.symbols if info.kind == "parameter"}
    early, late = [], []
    for definition in equations.definitions:
        fixed = definition.expression.free_symbols <= constant
        (early if fixed else late).append(definition.symbol)
        constant |= {definition.symbol} if fixed else set()
    parameters = [info.symbol for info in equations.symbols if info.kind == "parameter"]
    others = [info.symbol for info in equations.symbols if info.kind != "parameter"]
    return {symbol: k for k, symbol in enumerate([*parameters, *early, *late, *others])}


def _scalar(equation: Equation) -> tuple[tuple[Expression], Expression] | None:
    """A matrix equation of one row and one column as a plain one."""
    left, vector = equation.left, equation.vector
    if vector is None or not getattr(left, "shape", None) == vector.shape == (1, 1):
        return None
    return (left[0],), equation.right[0] * vector[0]


def _shapes(left: Expression, matrix: Expression) -> list[tuple[Expression, Expression]]:
    """How a matrix may be set, best first: as it is or transposed, which columns of symbols are best; one of many rows
    with few entries not at all.
    """
    upright, turned = (left, matrix), (sympy.Symbol(f"{left}ᵀ"), matrix.T)
    if matrix.rows == matrix.cols:
        return [upright]
    if matrix.cols > 1:
        return [upright, turned]
    if all(entry.is_Symbol for entry in matrix):
        return [turned, upright]
    return [upright] if sum(entry != 0 for entry in matrix) * 2 >= matrix.rows or matrix.rows <= _HIGH else []


def _bracketed(head: list[Expression], inner: list[Line]) -> list[Line]:
    """head ( … ), the lines after the first set in."""
    first, *rest = inner
    lines = [Line(0, [*head, "(", *first.tokens]), *(Line(line.depth + 1, line.tokens) for line in rest)]
    return [*lines[:-1], Line(lines[-1].depth, [*lines[-1].tokens, ")"])]


def _entries(equation: Equation) -> Iterator[Statement]:
    """A wide matrix entry by entry, the zeros left out, the same ones together; of a symmetric one the upper half."""
    matrix = equation.right
    symmetric = matrix.rows > 1 and matrix == matrix.T
    mark = "" if max(matrix.shape) < 10 else "_"
    places: dict[Expression, list[Expression]] = {}
    named: list[str] = []
    words = [equation.meaning, *(["symmetric"] if symmetric else [])]
    for i in range(matrix.rows):
        for j in range(i if symmetric else 0, matrix.cols):
            digits = (i + 1,) if matrix.cols == 1 else (i + 1, j + 1)
            symbol = sympy.Symbol(f"{equation.left}_{mark.join(map(str, digits))}")
            if matrix[i, j] == symbol:
                named.append(symbol.name)
            elif matrix[i, j] != 0:
                places.setdefault(matrix[i, j], []).append(symbol)
    if named:
        words.append(f"{', '.join(named)} among the intermediate quantities")
    if any(entry == 0 for entry in matrix):
        words.append("entries that are not shown are 0")
    meaning = "; ".join(word for word in words if word)
    for value, symbols in places.items():
        for k in range(0, len(symbols), _CHAIN):
            yield Statement(tuple(symbols[k : k + _CHAIN]), value, meaning)
            meaning = ""


def _index(first: Equation, other: Equation) -> tuple[str, str] | None:
    """The index in which two plain equations differ, if that is all."""
    if not all(e.left.is_Symbol and e.vector is None and not e.given for e in (first, other)):
        return None
    a, b = first.left.name.split("_"), other.left.name.split("_")
    if len(a) != len(b) or a[:-1] != b[:-1] or a[-1] == b[-1]:
        return None
    renamed = _renamed(first, a[-1], b[-1])
    return (a[-1], b[-1]) if first.right.xreplace(renamed) == other.right else None


def _renamed(equation: Equation, index: str, other: str) -> dict[Expression, Expression]:
    """The symbols of an equation with another index."""
    renamed = {}
    for symbol in equation.free_symbols:
        head, *parts = symbol.name.split("_")
        if index in parts:
            parts = [other if part == index else part for part in parts]
            renamed[symbol] = sympy.Symbol("_".join([head, *parts]))
    return renamed


def _common_words(meanings: Sequence[str]) -> str:
    """One sentence for several: where words differ, all of them."""
    words = [meaning.split() for meaning in meanings]
    if len({len(word) for word in words}) != 1:
        return ""
    columns = zip(*words, strict=True)
    return " ".join(", ".join(dict.fromkeys(column)) for column in columns)
