"""Tables of numbers in text: columns by name with their units, read from rows of cells and written as such.

CSV is read and written here; formats with headers of their own (TRC, STO, MOT) part their lines into a `Cells` and
give `write_table` their header.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from io import StringIO
from pathlib import Path
from typing import TextIO

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.files import decoded, is_utf16, read_bytes, replacing

# Sixty markers over 100,000 samples have some 150 MB of text; more would not fit into memory with its numbers.
MOST_BYTES = 500_000_000
# Rows that are made text at once: 10 MB of a run's 30 columns.
_BLOCK = 10_000
# A unit behind a column's name: "knee [deg]", "time (ms)".
_UNIT = re.compile(r"\s*[\[(]([^\])]*)[\])]$")


@dataclass(frozen=True, eq=False)
class NumberTable:
    """Columns (n,) by name, and the units that their file says, where it does.

    `file` and `lines`, the lines of the rows, say in errors where a number stands.
    """

    columns: Mapping[str, FloatArray]
    units: Mapping[str, str] = field(default_factory=dict)
    file: str = ""
    lines: tuple[int, ...] = ()

    def refuse(self, wrong: Mapping[str, npt.NDArray[np.bool_]], message: str) -> None:
        """InputError at the first row in which a column is `wrong` (n,)."""
        for name, rows in wrong.items():
            if rows.any():
                line = self.lines[int(rows.argmax())]
                raise InputError(message, file=self.file, line=line, key=name)

    def rows(self, gap: str | None = None) -> Iterator[Sequence[object]]:
        """The names, then a row of numbers per sample, as text; `gap` stands for NaN, "nan" by default."""
        yield [*self.columns]
        yield from self.numbers(gap)

    def numbers(self, gap: str | None = None) -> Iterator[Sequence[str]]:
        """The rows without the names."""
        for first in range(0, self.size, _BLOCK):
            block = [column[first : first + _BLOCK] for column in self.columns.values()]
            texts = self._texts if self.size <= _BLOCK else map(_texts, block)
            yield from zip(*map(partial(_with_gaps, gap=gap), texts, block), strict=True)

    @cached_property
    def _texts(self) -> list[list[str]]:
        """The cells of a table of one block, kept for its next file."""
        return [_texts(column) for column in self.columns.values()]

    @property
    def size(self) -> int:
        """How many rows of numbers there are."""
        return next((len(column) for column in self.columns.values()), 0)


@dataclass(frozen=True)
class Cells:
    """Text that is parted into cells: columns' `header`s on a line, below them rows with the numbers of their lines.

    `names` and `units` are what the headers say; until `with_units` asks, whole headers are names.
    """

    file: str
    line: int
    header: Sequence[str]
    rows: Sequence[tuple[int, Sequence[str]]]
    units: Sequence[str] = ()
    names: Sequence[str] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", self.names or tuple(cell.strip() for cell in self.header))

    def with_units(self) -> Cells:
        """The sheet with units in brackets parted from the names; InputError where no name is left."""
        parted = [unit_behind(name) for name in self.names]
        for k, (name, _) in enumerate(parted):
            if not name:
                raise InputError(f"column {k + 1} has no name", file=self.file, line=self.line)
        names, units = (tuple(each) for each in zip(*parted, strict=True))
        return replace(self, names=names, units=units)

    def table(self, places: Sequence[int] | None = None, *, gaps: bool = False) -> NumberTable:
        """The numbers of all columns, or of those at these places; with `gaps` an empty cell is NaN.

        InputError with line and column for a cell that is no number, a row that is too short or too long, a column
        that comes twice, and where there are no rows.
        """
        taken = range(len(self.names)) if places is None else places
        self._refuse_doubles(taken)
        if not self.rows:
            raise InputError("has no rows of numbers", file=self.file, line=self.line)
        numbers = np.empty((len(self.rows), len(taken)))
        read = _number_or_gap if gaps else float
        for k, (line, cells) in enumerate(self.rows):
            if len(cells) != len(self.names):
                message = f"has {len(cells)} cells; there are {len(self.names)} columns"
                hint = f"the last one is {self.names[-1]!r}"
                raise InputError(message, file=self.file, line=line, hint=hint)
            try:
                numbers[k] = [read(cells[place]) for place in taken]
            except ValueError:
                raise self._no_number(cells, taken, line, gaps) from None
        columns = {self.names[place]: numbers[:, k].copy() for k, place in enumerate(taken)}
        units = {self.names[place]: self.units[place] for place in taken} if self.units else {}
        return NumberTable(columns, units, self.file, tuple(line for line, _ in self.rows))

    def _refuse_doubles(self, places: Iterable[int]) -> None:
        """InputError where two of these columns have one name, with both headers where their units differ."""
        seen: dict[str, int] = {}
        for place in places:
            name = self.names[place]
            if name in seen:
                first, second = (self.header[k].strip() for k in (seen[name], place))
                units = f", as {first!r} and {second!r}" if first != second else ""
                message = f"the column {name!r} comes twice{units}"
                raise InputError(message, file=self.file, line=self.line, hint="keep one")
            seen[name] = place

    def _no_number(self, cells: Sequence[str], places: Iterable[int], line: int, gaps: bool) -> InputError:
        """What is wrong with the first cell of a row that is no number."""
        for place in places:
            cell = cells[place].strip()
            try:
                float(cell or ("0" if gaps else ""))
            except ValueError:
                comma = "write a point, not a comma" if "," in cell else None
                message, name = f"{cell[:40]!r} is not a number", self.names[place]
                return InputError(message, file=self.file, line=line, key=name, hint=comma)
        raise AssertionError("one of them is no number")


def unit_behind(name: str) -> tuple[str, str]:
    """A column's name and the unit in brackets behind it, "" where there is none."""
    unit = _UNIT.search(name)
    return (name[: unit.start()].strip(), unit[1].strip()) if unit else (name, "")


def read_lines(path: Path, most: int = MOST_BYTES) -> list[str]:
    """The lines of an ordinary UTF-8 file of at most so many bytes; InputError with the line of what is no text."""
    file, content = str(path), read_bytes(path, most)
    if b"\0" in content and not is_utf16(content):
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise InputError("is no text: it holds bytes of value 0", file=file, line=line)
    return decoded(content, file).splitlines()


def read_sheet(path: Path, most: int = MOST_BYTES) -> Cells:
    """A CSV file's cells; empty rows and lines that begin with # are passed over. InputError for what is no CSV."""
    file = str(path)
    reader = csv.reader(read_lines(path, most), strict=True)
    try:
        rows = [
            (reader.line_num, row)
            for row in reader
            if any(cell.strip() for cell in row) and not row[0].startswith("#")
        ]
    except csv.Error as error:
        raise InputError(f"is no CSV file: {error}", file=file, line=reader.line_num) from None
    if not rows:
        raise InputError(
            "is empty", file=file, line=1, hint="its first row names the columns, one of them `time`"
        )
    (line, header), *rest = rows
    if len(header) == 1 and (";" in header[0] or "\t" in header[0]):
        message = f"its cells are parted by {';' if ';' in header[0] else 'tabs'!r}, and commas were expected"
        hint = "save it with commas between cells and points in its numbers"
        raise InputError(message, file=file, line=line, hint=hint)
    return Cells(file, line, header, rest)


def write_rows(
    path: Path, rows: Iterable[Sequence[object]], *, head: Iterable[str] = (), delimiter: str = ","
) -> None:
    """Write rows of cells below a header's lines, whole or not at all."""
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"{line}\n" for line in head)
        _put(stream, rows, delimiter)


def write_table(
    path: Path, table: NumberTable, *, head: Iterable[str] = (), delimiter: str = ",", gap: str | None = None
) -> None:
    """Write a table below a header's lines, whole or not at all; `gap` stands for NaN. Numbers need no quotes: looking
    for some would take as long again.
    """
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
        stream.writelines(f"{line}\n" for line in head)
        _put(stream, [[*table.columns]], delimiter)
        stream.writelines(f"{delimiter.join(row)}\n" for row in table.numbers(gap))


def csv_text(rows: Iterable[Sequence[object]]) -> str:
    """Rows of cells as CSV."""
    stream = StringIO()
    _put(stream, rows, ",")
    return stream.getvalue()


def _texts(column: FloatArray) -> list[str]:
    """The cells of a column: of a float its repr, the shortest text that reads back exactly, which takes 0.5 µs or, of
    numbers that all are the same, none.
    """
    numbers: list[float] = np.asarray(column, dtype=float).tolist()
    bits = np.asarray(column, dtype=float).view(np.int64)
    return [repr(numbers[0])] * len(numbers) if (bits == bits[0]).all() else list(map(repr, numbers))


def _with_gaps(texts: list[str], column: FloatArray, gap: str | None) -> list[str]:
    """The cells of a column with `gap` for NaN."""
    if gap is None or not np.isnan(column).any():
        return texts
    return [gap if text == "nan" else text for text in texts]


def _put(stream: TextIO, rows: Iterable[Sequence[object]], delimiter: str) -> None:
    """The rows; a float is written by its repr."""
    if delimiter == ",":
        csv.writer(stream, lineterminator="\n").writerows(rows)
    else:  # formats that know no quotes
        stream.writelines(delimiter.join(map(str, row)) + "\n" for row in rows)


def _number_or_gap(cell: str) -> float:
    return float(cell) if cell and not cell.isspace() else math.nan
