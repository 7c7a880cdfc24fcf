"""Equations for a terminal: titled sections, formulas in two dimensions, what every symbol is."""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence
from typing import Any

import sympy

from trundle.equations.equations import Equation, Equations, Section

_INDENT = 2
_GAP = 4


def text(equations: Equations, width: int = 100) -> str:
    """The whole report; formulas wider than `width` go row by row, and what is wider still on one line that wraps."""
    lines = [equations.name, "═" * len(equations.name)]
    for section in equations.sections:
        lines += ["", *_section(section, width)]
    if equations.definitions:
        lines += ["", *_title("Intermediate quantities")]
        blocks = [_block(d.symbol, d.expression, width) for d in equations.definitions]
        lines += _stacked(blocks, [_meaning(d.meaning, d.unit) for d in equations.definitions], width)
    lines += ["", *_title("Symbols"), *_symbols(equations, width), "", *_wrapped(_checked(equations), width)]
    return "\n".join(line.rstrip() for line in lines)


def _title(title: str) -> list[str]:
    return [title, "─" * len(title)]


def _checked(equations: Equations) -> str:
    return (
        f"Every equation agrees with the compiled program at {equations.points} random points "
        f"(largest difference {equations.error:.0e} of the largest term). {equations.operations} operations."
    )


def _section(section: Section, width: int) -> list[str]:
    blocks: list[list[str]] = []
    meanings: list[str] = []
    for equation in section.equations:
        own = _equation(equation, width)
        blocks += own
        meanings += [equation.meaning] + [""] * (len(own) - 1)
    lines = [*_title(section.title), *_stacked(blocks, meanings, width)]
    for note in section.notes:
        lines += ["", *_wrapped(note, width)]
    return lines


def _wrapped(note: str, width: int) -> list[str]:
    return textwrap.wrap(note, width - _INDENT, initial_indent=" " * _INDENT, subsequent_indent=" " * _INDENT)


def _equation(equation: Equation, width: int) -> list[list[str]]:
    """One block, or a block a row where the matrices are too wide."""
    block = _pretty(sympy.Eq(equation.left, equation.whole, evaluate=False))
    if _width(block) + _INDENT <= width:
        return [block]
    if equation.vector is not None:
        return [_block(left, right, width) for left, right in equation.lines()]
    if hasattr(equation.right, "shape") and equation.right.cols == 1 and hasattr(equation.left, "shape"):
        return [_block(left, right, width) for left, right in equation.lines()]
    if hasattr(equation.right, "shape"):
        return _entry_blocks(equation, width)
    return [_block(equation.left, equation.right, width)]


def _entry_blocks(equation: Equation, width: int) -> list[list[str]]:
    """A wide matrix entry by entry, the zeros left out; of a symmetric one the lower half."""
    matrix = equation.right
    symmetric = matrix.rows == matrix.cols and matrix.is_symmetric()
    blocks = []
    for i in range(matrix.rows):
        for j in range(matrix.cols if not symmetric else i + 1):
            if matrix[i, j] != 0:
                place = f"{i + 1}" if matrix.cols == 1 else f"{i + 1}, {j + 1}"
                blocks.append(_block(sympy.Symbol(f"{equation.left}[{place}]"), matrix[i, j], width))
    return blocks


def _block(left: Any, right: Any, width: int) -> list[str]:
    """left = right in two dimensions, or on one line that wraps where that is too wide."""
    block = _pretty(sympy.Eq(left, right, evaluate=False))
    if _width(block) + _INDENT <= width:
        return block
    shown = _pretty(left)
    head = f"{shown[0] if len(shown) == 1 and _width(shown) <= width // 4 else left} = "
    indent = " " * (len(head) if len(head) <= width // 4 else 4)
    room = max(width - _INDENT, 30)
    return textwrap.wrap(f"{head}{right}", room, subsequent_indent=indent, break_long_words=False)


def _pretty(expression: Any) -> list[str]:
    return sympy.pretty(expression, use_unicode=True, wrap_line=False).splitlines()


def _columns(line: str) -> int:
    """Columns that a line takes in a terminal: dots above letters take none."""
    return sum(not unicodedata.combining(sign) for sign in line)


def _padded(line: str, columns: int) -> str:
    return line + " " * (columns - _columns(line))


def _width(block: Sequence[str]) -> int:
    return max(map(_columns, block), default=0)


def _stacked(blocks: Sequence[list[str]], meanings: Sequence[str], width: int) -> list[str]:
    """Blocks below each other, a line between those that are higher than one; what they mean behind them, lined up."""
    room = max((_width(block) for block in blocks if _width(block) <= width - 40), default=0)
    lines: list[str] = []
    for k, (block, meaning) in enumerate(zip(blocks, meanings, strict=True)):
        if k and (len(block) > 1 or len(blocks[k - 1]) > 1):
            lines.append("")
        shown = list(block)
        if meaning and _width(block) <= room:
            row = next((i for i, line in enumerate(block) if "=" in line), 0)
            rest = textwrap.wrap(meaning, max(width - _INDENT - room - _GAP, 24))
            shown += [""] * (row + len(rest) - len(shown))
            for offset, part in enumerate(rest):
                shown[row + offset] = _padded(shown[row + offset], room + _GAP) + part
        elif meaning:
            lines += _wrapped(f"{meaning}:", width)
        lines += [" " * _INDENT + line for line in shown]
    return lines


def _meaning(meaning: str, unit: str) -> str:
    return f"{meaning} ({unit})" if unit and unit != "1" else meaning


def _symbols(equations: Equations, width: int) -> list[str]:
    """A row a symbol: its sign, its number and unit, what it is."""
    rows = []
    for info in equations.symbols:
        number = "" if info.number is None else f"{info.number:.6g}"
        unit = "" if info.unit == "1" else info.unit
        rows.append((_pretty(info.symbol)[0], f"{number} {unit}".strip(), info.meaning, info.symbol.name))
    if not rows:
        return []
    first, second = (max(_columns(row[k]) for row in rows) for k in (0, 1))
    lines = []
    for sign, number, meaning, _ in rows:
        head = f"{' ' * _INDENT}{_padded(sign, first)}  {number.ljust(second)}  "
        rest = textwrap.wrap(meaning, max(width - len(head), 24)) or [""]
        lines += [head + rest[0], *(" " * len(head) + part for part in rest[1:])]
    return lines
