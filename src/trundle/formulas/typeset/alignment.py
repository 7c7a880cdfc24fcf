"""Equations on a page: rows of statements that stand below one another, and what they mean beside or before them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from trundle.formulas.equation import Expression
from trundle.formulas.robot_equations import Equations
from trundle.formulas.typeset.layout import EquationLayout, Line, Statement
from trundle.formulas.typeset.printers import COLUMN, Latex
from trundle.formulas.typeset.tex_width import tex_width

# Columns of an A4 page with margins of 2 cm (483 pt), without what an equation's number takes.
_PAGE = 80
# Columns between a formula and what it means; of a letter in a text.
_GAP = 4
_TEXT = 4.8 / COLUMN
_SIGNS = {"(": r"\bigl(", ")": r"\bigr)", "·": "", "−": "-", "/": r"\big/"}


class AlignmentRow(NamedTuple):
    """lefts[0] = … = line: one row of a statement, whose first row has the left sides and whose last one its `name`."""

    lefts: tuple[Expression, ...]
    line: Line
    name: str = ""
    words: str = ""


class AlignedPage:
    """Sets the equations of one report as sentences and alignments, by the widths that TeX gives them."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self.named = {info.symbol for info in equations.symbols if info.keys == (info.symbol.name,)}
        self.layout = EquationLayout(equations, _PAGE, lambda order: Latex(order, self.named))
        self.tex = self.layout.printer.doprint

    def pieces(self, statements: Sequence[Statement]) -> Iterator[str | list[AlignmentRow]]:
        """What statements mean stands behind them where there is room, else in a sentence before them. Rows that have
        room beside one another make one alignment.
        """
        group: list[AlignmentRow] = []
        most = (0.0, 0.0, 0.0)
        for statement in statements:
            rows, words = self.rows(statement), statement.meaning
            left, right = (
                max(tex_width(side(row)) / COLUMN for row in rows)
                for side in (self.left_side, self.right_side)
            )
            own = (left, right, _GAP + _TEXT * len(words) if words and len(rows) == 1 else 0.0)
            ahead = bool(words) and (len(rows) > 1 or sum(own) > _PAGE)
            merged = tuple(map(max, most, own))
            if group and (ahead or sum(merged) > _PAGE):
                yield group
                group, most = [], (0.0, 0.0, 0.0)
            if ahead:
                yield f"{words}:"
                own = (left, right, 0.0)
            most = (max(most[0], own[0]), max(most[1], own[1]), max(most[2], own[2]))
            group += [rows[0]._replace(words=words)] if words and not ahead else rows
        if group:
            yield group

    def rows(self, statement: Statement) -> list[AlignmentRow]:
        """The rows of one statement."""
        lines = self.layout.rows(statement)
        if len(lines) == 1:
            by_symbol = self.layout.by_symbol(statement)
            lefts = statement.lefts if by_symbol else statement.lefts[:1]
            return [
                AlignmentRow(lefts, lines[0] if by_symbol else Line(0, [statement.right]), statement.name)
            ]
        heads = [statement.lefts if self.layout.by_symbol(statement) else (), *[()] * (len(lines) - 1)]
        rows = [AlignmentRow(head, line) for head, line in zip(heads, lines, strict=True)]
        return [*rows[:-1], rows[-1]._replace(name=statement.name)]

    def left_side(self, row: AlignmentRow) -> str:
        """The left side of a row in LaTeX."""
        return " = ".join(map(self.tex, row.lefts))

    def right_side(self, row: AlignmentRow) -> str:
        """The right side of a row in LaTeX."""
        depth, tokens = row.line
        shown = [_SIGNS.get(token, token) if isinstance(token, str) else self.tex(token) for token in tokens]
        return r"\quad " * depth + ("{} " if tokens[0] in ("+", "−") else "") + " ".join(shown)


@lru_cache(maxsize=4)
def set_on_page(equations: Equations) -> AlignedPage:
    """The page of a report, whose formulas all formats share."""
    return AlignedPage(equations)
