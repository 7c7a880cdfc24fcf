"""An input from a column of a CSV file."""

from __future__ import annotations

import csv
import math
import re
from pathlib import Path

from trundle.documents import FileTable
from trundle.errors import InputError, suggest
from trundle.robot import units
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import read_value

# Two columns of a million rows have some 40 MB; what is larger is not meant for a run of one robot.
MOST_BYTES = 200_000_000

# A column's name, perhaps with a unit behind it: "left_motor.voltage [V]".
_NAME = re.compile(r"[A-Za-z_][\w.\-]{0,79}( ?[\[(][^\])]{0,20}[\])])?")
# The unit behind a name.
_UNIT = re.compile(r" ?[\[(]([^\])]*)[\])]$")
_TWO = "the first row names a column of times and one of values, such as time,NAME"

CsvColumns = tuple[tuple[float, ...], tuple[float, ...], str]


def read_column(source: FileTable, name: str, folder: Path, key: str) -> CsvColumns:
    """Times (s, increasing), values (SI) and the interpolation of an input.

    The file starts with a row of names; time is the column `time`, or the first. A unit in brackets behind a name, as
    in "time (ms)", is that of the column. Raises InputError with the CSV
    file's line, or with the description's key where the file itself can't be read.
    """
    path = folder / source.file
    rows = _rows(path, key)
    if not rows:
        raise InputError("is empty", file=str(path), line=1, key=key, hint="the first row names the columns")
    header = [cell.strip() for cell in rows[0][1]]
    plain = [_UNIT.sub("", cell) for cell in header]
    clock = plain.index("time") if "time" in plain else 0
    column = _place(header, source.column or name, path, key)
    if column == clock:
        message = f"column '{header[clock]}' is its times, so that it can't be the values, too"
        raise InputError(message, file=str(path), line=1, key=key, hint=_TWO)
    seconds, scale = _unit(header[clock], units.TIME), _unit(header[column], units.ANY)
    if seconds is None:
        message = f"the times are in '{header[clock]}', which is no unit of time"
        raise InputError(
            message, file=str(path), line=1, key=key, hint='write "time (s)", "time (ms)" or "time"'
        )
    times, values = [], []
    for line, row in rows[1:]:
        if len(row) != len(header):
            message = f"has {len(row)} cells; the first row names {len(header)} columns"
            raise InputError(message, file=str(path), line=line, key=key)
        times.append(seconds * _number(row[clock], header[clock], path, line, key))
        values.append((scale or 1.0) * _number(row[column], header[column], path, line, key))
        if len(times) > 1 and times[-1] <= times[-2]:
            message = f"times must increase: {times[-1]:g} comes after {times[-2]:g}"
            hint = "sort the rows and remove repeated times"
            raise InputError(message, file=str(path), line=line, key=key, hint=hint)
    if not times:
        raise InputError("has no rows of numbers", file=str(path), line=1, key=key)
    return tuple(times), tuple(values), source.interpolation


def _rows(path: Path, key: str) -> list[tuple[int, list[str]]]:
    """The lines that aren't empty, with their numbers."""
    try:
        if not path.is_file():
            what = "is no ordinary file" if path.exists() else "there is no such file"
            hint = f"looked for {path}: a name is relative to the description's folder, in Python to the current one"
            raise InputError(f"{what}: '{path.name}'", key=f"{key}.file", hint=hint)
        if path.stat().st_size > MOST_BYTES:
            raise InputError(f"'{path.name}' has more than {MOST_BYTES:,} bytes", key=f"{key}.file")
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.reader(stream)
            return [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name, or bytes that aren't UTF-8
        reason = getattr(error, "strerror", None) or str(error)
        raise InputError(f"'{path.name}' can't be read: {reason}", key=f"{key}.file") from None
    except csv.Error as error:
        raise InputError(f"'{path.name}' is no CSV file: {error}", key=f"{key}.file") from None


def _unit(name: str, quantity: units.Measure) -> float | None:
    """What a column's unit is in SI, 1 where its name has none; None for another quantity's and what is no unit."""
    found = _UNIT.search(name)
    if found is None:
        return 1.0
    try:
        return read_value(f"1 {found[1].strip()}", quantity).constant
    except ExpressionError:
        return None


def _place(header: list[str], wanted: str, path: Path, key: str) -> int:
    for names in (header, [_UNIT.sub("", cell) for cell in header]):
        if wanted in names:
            return names.index(wanted)
    hint = f"{suggest(wanted, header)} `column: NAME` beside `file:` takes another"
    # Another file than a table, perhaps one that isn't this user's to read, isn't shown.
    if len(header) < 2 or not all(_NAME.fullmatch(each) for each in header):
        hint = "the first row doesn't hold names of columns, such as time,NAME"
        if len(header) == 1 and ";" in header[0]:
            hint = "its cells are parted by ';': save it with commas between them and points in its numbers"
    raise InputError(f"there is no column '{wanted}'", file=str(path), line=1, key=key, hint=hint)


def _number(cell: str, column: str, path: Path, line: int, key: str) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        message = f"column '{column}' holds {cell.strip()[:40]!r}, which is not a finite number"
        raise InputError(message, file=str(path), line=line, key=key)
    return number
