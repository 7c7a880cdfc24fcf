"""Printing: one JSON object, or text that lines up and has colours where a person sits in front of it."""

from __future__ import annotations

import json
import math
import os
import shutil
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TextIO

_CODES = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
# Lines longer than this are tiring to read, however wide the window is.
_MOST_WIDTH = 110


def colours_on(stream: TextIO) -> bool:
    """Whether a stream takes colours: a terminal, and neither NO_COLOR (https://no-color.org) nor TERM=dumb is set."""
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb" and stream.isatty()


def paint(text: str, style: str, on: bool) -> str:
    """Text in a style, or as it is."""
    return f"\033[{_CODES[style]}m{text}\033[0m" if on else text


@dataclass(frozen=True)
class Output:
    """Where a command's answer goes: text for a person (unless quiet), or one JSON object."""

    json: bool = False
    quiet: bool = False
    colours: bool = False

    def say(self, lines: str | Iterable[str] = "") -> None:
        """Lines for a person, on standard output; nothing with --json or --quiet."""
        if not (self.json or self.quiet):
            print(lines if isinstance(lines, str) else "\n".join(lines))

    def answer(self, data: Mapping[str, Any]) -> None:
        """The JSON object, where one was asked for."""
        if self.json:
            write_json(data)

    def remark(self, text: str) -> None:
        """A line on standard error, for what happens while the command works."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def styled(self, text: str, style: str) -> str:
        """Text in a style, where colours are on."""
        return paint(text, style, self.colours)

    def heading(self, text: str) -> str:
        """The title of a block."""
        return self.styled(text, "bold")

    def facts(self, rows: Iterable[tuple[str, str]], width: int = 14) -> list[str]:
        """Label and text a row; long texts run on under themselves."""
        lines = []
        for label, text in rows:
            first, *more = run_on(text, width + 2)
            lines += [f"  {self.styled(label.ljust(width), 'cyan')}{first}", *more]
        return lines


def output_for(args: Namespace) -> Output:
    """What --json and --quiet ask for."""
    return Output(args.json, args.quiet, colours_on(sys.stdout))


def terminal_width() -> int:
    """Columns to write in."""
    return min(shutil.get_terminal_size((100, 24)).columns, _MOST_WIDTH)


def run_on(text: str, indent: int) -> list[str]:
    """The text's first line, and the others that it takes in this window, indented under it."""
    room = max(terminal_width() - indent, 20)
    first, *more = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    return [first, *(" " * indent + line for line in more)]


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


def write_json(data: Mapping[str, Any]) -> None:
    """One JSON object on standard output."""
    print(json.dumps(plain(data), indent=2, ensure_ascii=False, allow_nan=False))


def plain(data: Any) -> Any:
    """Data that JSON holds: NumPy's numbers as Python's, and null for what is no finite number."""
    if isinstance(data, Mapping):
        return {str(key): plain(each) for key, each in data.items()}
    if isinstance(data, str) or data is None or isinstance(data, bool | int):
        return data
    if isinstance(data, float):
        return float(data) if math.isfinite(data) else None
    if isinstance(data, Iterable):
        return [plain(each) for each in data]
    if hasattr(data, "item"):
        return plain(data.item())
    return str(data)


def quantity(number: float, unit: str, digits: int = 7) -> str:
    """A number and its unit, for a person."""
    return f"{number:.{digits}g} {unit}".rstrip()


def seconds(duration: float) -> str:
    """A duration, in a unit that shows it."""
    if duration >= 1:
        return f"{duration:.3g} s"
    return f"{duration * 1e3:.3g} ms" if duration >= 1e-4 else f"{duration * 1e6:.3g} µs"
