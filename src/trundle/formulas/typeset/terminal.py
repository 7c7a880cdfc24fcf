"""Equations for a terminal: titled sections, formulas in two dimensions, what every symbol is."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from dataclasses import replace

from sympy.printing.pretty.stringpict import stringPict

from trundle.errors import counted
from trundle.formulas.equation import Equation
from trundle.formulas.robot_equations import Equations
from trundle.formulas.symbols.names import inline, sign
from trundle.formulas.typeset.layout import STEP, EquationLayout, Line, Statement, alone
from trundle.formulas.typeset.printers import Pretty

# Blanks before formulas and notes, so that titles stand out.
_INDENT = 2
# Blanks between formulas and their meanings: two look like a space within a formula.
_GAP = 4
# Columns that must be left for the meanings behind formulas.
_LEAST = 40


def text(equations: Equations, width: int = 100) -> str:
    """The whole report; formulas wider than `width` go entry by entry and over several lines."""
    layout = EquationLayout(equations, width - _INDENT, Pretty)
    lines = [equations.name, "═" * len(equations.name)]
    for block in layout.blocks:
        shown = _stacked(block.statements, layout)
        for note in block.notes:
            shown += [*([""] if shown else []), *_wrapped(_said(note, layout), width)]
        lines += ["", *_title(block.title), *shown]
    lines += ["", *_title("Symbols"), *_symbols(layout, width)] if equations.symbols else []
    lines += ["", *_wrapped(_checked(equations), width)]
    return "\n".join(line.rstrip() for line in lines)


def equation_text(equation: Equation, width: int = 100) -> str:
    """One equation, without what it means."""
    layout = EquationLayout(alone(replace(equation, meaning="")), width, Pretty)
    ((_, shown, _),) = layout.blocks
    return "\n".join(line.rstrip().removeprefix(" " * _INDENT) for line in _stacked(shown, layout))


def _title(title: str) -> list[str]:
    """A title with a line below it."""
    return [title, "─" * len(title)]


def _checked(equations: Equations) -> str:
    """The sentence on how equations and programs were compared."""
    return (
        f"Every equation agrees with the compiled program at {equations.points} random points "
        f"(largest difference {equations.error:.0e} of the largest term). {counted(equations.operations, 'operation')}."
    )


def _wrapped(note: str, width: int) -> list[str]:
    """A note in indented lines."""
    return textwrap.wrap(note, width - _INDENT, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)


def _block(statement: Statement, layout: EquationLayout[Pretty]) -> list[str]:
    """left = right in two dimensions, what is long over several lines."""
    parts: list[stringPict | str] = []
    for left in statement.lefts[: None if layout.by_symbol(statement) else 0]:
        parts += [layout.printer.form(left), " = "]
    head = stringPict(*stringPict.next(*parts)) if parts else stringPict("")
    first, *rest = layout.rows(statement)
    lines = str(stringPict(*stringPict.next(head, _picture(first, layout)))).split("\n")
    for line in rest:
        indent = " " * (head.width() + STEP * line.depth)
        lines += [indent + row for row in str(_picture(line, layout)).split("\n")]
    return lines


_SIGNS = {"+": " + ", "−": " - ", "·": "⋅", "/": " / ", "=": " = "}


def _picture(line: Line, layout: EquationLayout[Pretty]) -> stringPict:
    """A line's tokens side by side in two dimensions."""
    parts: list[stringPict | str] = []
    for token in line.tokens:
        if not isinstance(token, str):
            parts.append(layout.printer.form(token))
        elif token in ("+", "−") and (not parts or parts[-1] == "("):
            parts.append(_SIGNS[token].lstrip())
        else:
            parts.append(_SIGNS.get(token, token))
    return stringPict(*stringPict.next(*parts))


def _columns(line: str) -> int:
    """Columns that a line takes in a terminal: dots above letters take none."""
    return sum(not unicodedata.combining(sign) for sign in line)


def _padded(line: str, columns: int) -> str:
    """A line filled with blanks to a width."""
    return line + " " * (columns - _columns(line))


def _said(text: str, layout: EquationLayout[Pretty]) -> str:
    """A sentence with the symbols that it names as formulas have them."""
    return layout.said(text, str, inline)


def _width(block: Sequence[str]) -> int:
    """Columns of the longest line."""
    return max(map(_columns, block), default=0)


def _stacked(statements: Sequence[Statement], layout: EquationLayout[Pretty]) -> list[str]:
    """Statements below one another, a line between those that are higher than one; what they mean behind them,
    lined up, or before them where there is no room.
    """
    width = layout.width
    blocks = [_block(statement, layout) for statement in statements]
    room = max((_width(block) for block in blocks if _width(block) <= width - _LEAST), default=0)
    lines: list[str] = []
    high = False
    for block, (_, _, meaning, _) in zip(blocks, statements, strict=True):
        shown, meaning = list(block), _said(meaning, layout)
        ahead = bool(meaning) and _width(block) > room
        if lines and (high or ahead or len(block) > 1):
            lines.append("")
        high = ahead or len(block) > 1
        if ahead:
            lines += _wrapped(f"{meaning}:", width + _INDENT)
        elif meaning:
            row = next((i for i, line in enumerate(block) if "=" in line), 0)
            rest = textwrap.wrap(meaning, max(width - room - _GAP, _LEAST - _GAP))
            shown += [""] * (row + len(rest) - len(shown))
            high = high or len(rest) > 1
            for offset, part in enumerate(rest):
                shown[row + offset] = _padded(shown[row + offset], room + _GAP) + part
        lines += [" " * _INDENT + line for line in shown]
    return lines


def _symbols(layout: EquationLayout[Pretty], width: int) -> list[str]:
    """A row a symbol: its sign, its number and unit, what it is."""
    rows = [(sign(symbol.name), *others) for symbol, *others in layout.symbols()]
    first, second = (max((_columns(row[k]) for row in rows), default=0) for k in (0, 1))
    lines = []
    for shown, number, meaning in rows:
        head = f"{' ' * _INDENT}{_padded(shown, first)}  {number.ljust(second)}  "
        rest = textwrap.wrap(meaning, max(width - len(head), 24)) or [""]
        lines += [head + rest[0], *(" " * len(head) + part for part in rest[1:])]
    return lines
