"""Text that lines up: tables, paragraphs and facts in a window's width, numbers with their units."""

from __future__ import annotations

import re
import shutil
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

# A table of words, row by row.
TextRows = list[tuple[str, ...]]

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# Lines longer than this are tiring to read, however wide the window is.
_MOST_WIDTH = 110
# Innermost brackets, and a blank inside them at which no line ends.
_BRACKETS, _HELD = re.compile(r"\([^()]*\)|\[[^][]*\]"), "\x00"

# What terminals obey: all control characters but line ends and tabs; escapes that only colour stay.
_CONTROL = re.compile(r"\x1b(?!\[[0-9;]*m)|[\x00-\x08\x0b-\x1a\x1c-\x1f\x7f-\x9f]")


def harmless(text: str) -> str:
    """Text whose control characters can be read, as names from files may hold them: a terminal colours it at most."""
    return _CONTROL.sub(lambda match: f"\\x{ord(match[0]):02x}", text)


def paint(text: str, style: str, on: bool) -> str:
    """Text in a style, or as it is."""
    return f"\033[{_CODES[style]}m{text}\033[0m" if on else text


@dataclass(frozen=True)
class Page:
    """What lines are written for: a window that takes colours, or text alone."""

    colours: bool = False

    def styled(self, text: str, style: str) -> str:
        """Text in a style, where colours are on."""
        return paint(text, style, self.colours)

    def heading(self, text: str) -> str:
        """The title of a block."""
        return self.styled(text, "bold")

    def title(self, name: str, about: str) -> list[str]:
        """What a page is about, and a few words on it, which run on under themselves."""
        first, *more = run_on(f"{name}  {about}", 2)
        return [first.replace(name, self.heading(name), 1), *more]

    def facts(self, rows: Iterable[tuple[str, str]], width: int = 14) -> list[str]:
        """Label and text a row; long texts run on under themselves."""
        lines = []
        for label, text in rows:
            first, *more = run_on(text, width + 2)
            lines += [f"  {self.styled(label.ljust(width - 1), 'cyan')} {first}", *more]
        return lines


def terminal_width() -> int:
    """Columns to write in."""
    return min(shutil.get_terminal_size((100, 24)).columns, _MOST_WIDTH)


def run_on(text: str, indent: int) -> list[str]:
    """The text's first line, and the others that it takes in this window, indented under it; none ends inside brackets
    that fit in one.
    """
    room = max(terminal_width() - indent, 20)
    held = _BRACKETS.sub(
        lambda match: match[0].replace(" ", _HELD) if len(match[0]) <= room else match[0], text
    )
    first, *more = textwrap.wrap(held, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [line.replace(_HELD, " ") for line in (first, *(" " * indent + line for line in more))]


def paragraph(text: str, indent: int = 2) -> list[str]:
    """The text indented, the lines that run on by two columns more."""
    first, *more = run_on(text, indent + 2)
    return [" " * indent + first, *more]


def table(rows: Sequence[Sequence[str]], indent: int = 2, right: Iterable[int] = ()) -> list[str]:
    """Rows with their columns lined up; those in `right` end together, and a long last one runs on under itself."""
    if not rows:
        return []
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    to_right = set(right)
    lines = []
    for row in rows:
        cells = [
            cell.rjust(width) if k in to_right else cell.ljust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        before = " " * indent + "  ".join([*cells[:-1], ""])
        first, *more = [cells[-1]] if len(row) - 1 in to_right else run_on(row[-1], len(before))
        lines += [(before + first).rstrip(), *more]
    return lines


def quantity(number: float, unit: str, digits: int = 7) -> str:
    """A number and its unit, for a person."""
    return f"{number:.{digits}g} {unit}".rstrip()


def seconds(duration: float) -> str:
    """A duration, in a unit that shows it."""
    if duration >= 1:
        return f"{duration:.3g} s"
    return f"{duration * 1e3:.3g} ms" if duration >= 1e-4 else f"{duration * 1e6:.3g} µs"
