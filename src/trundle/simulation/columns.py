"""An input from a column of a CSV file."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from trundle.documents import FileTable
from trundle.errors import InputError, suggest
from trundle.operating_system import with_slashes
from trundle.results.table import Cells, read_sheet
from trundle.robot.units import NUMBER, TIME
from trundle.robot.values import unit_in_si

# Two columns of a million rows have some 40 MB; what is larger is not meant for a run of one robot.
MOST_BYTES = 200_000_000

# A column's name, perhaps with a unit behind it: "left_motor.voltage [V]".
_NAME = re.compile(r"[A-Za-z_][\w.\-]{0,79}( ?[\[(][^\])]{0,20}[\])])?")
_TWO = "the first row names a column of times and one of values, such as time,NAME"


def read_column(
    source: FileTable, name: str, folder: Path, key: str
) -> tuple[tuple[float, ...], tuple[float, ...], str]:
    """Times (s, increasing), values (SI) and the interpolation of an input.

    The file starts with a row of names; time is the column `time`, or the first. A unit in brackets behind a name, as
    in "time (ms)", is that of the column. Raises InputError with the CSV file's line, or with the description's key
    where the file itself can't be read.
    """
    path = folder / with_slashes(source.file)
    with _places(path, key):
        sheet = read_sheet(path, MOST_BYTES).with_units()
        clock = sheet.names.index("time") if "time" in sheet.names else 0
        column = _place(sheet, source.column or name)
        if column == clock:
            message = f"column '{sheet.header[clock]}' is its times, so that it can't be the values, too"
            raise InputError(message, line=sheet.line, hint=_TWO)
        seconds = _seconds(sheet, clock)
        table = sheet.table([clock, column])
        table.refuse(
            {name: ~np.isfinite(cells) for name, cells in table.columns.items()}, "is not a finite number"
        )
        times, values = (table.columns[sheet.names[place]] for place in (clock, column))
        falls = np.flatnonzero(np.diff(times) <= 0)
        if falls.size:
            before, after = seconds * times[falls[0]], seconds * times[falls[0] + 1]
            message = f"times must increase: {after:g} comes after {before:g}"
            hint = "sort the rows and remove repeated times"
            raise InputError(message, line=table.lines[falls[0] + 1], hint=hint)
    values = _scale(sheet.units[column]) * values
    return tuple((seconds * times).tolist()), tuple(values.tolist()), source.interpolation


@contextmanager
def _places(path: Path, key: str) -> Iterator[None]:
    """Errors name the description's key and the CSV file's line; without a line, the key of the file's name."""
    try:
        yield
    except InputError as error:
        if error.line is not None:
            column = f"column '{error.key}': " if error.key else ""
            message = f"{column}{error.message}"
            raise InputError(message, file=str(path), line=error.line, key=key, hint=error.hint) from None
        hint = error.hint
        if not path.exists():
            hint = f"looked for {path}: a name is relative to the description's folder, in Python to the current one"
        raise InputError(f"{error.message}: '{path.name}'", key=f"{key}.file", hint=hint) from None


def _seconds(sheet: Cells, clock: int) -> float:
    """The unit of a column of times, in s; seconds where it has none."""
    try:
        factor, dimension = unit_in_si(sheet.units[clock])
    except InputError:
        factor, dimension = 1.0, None
    if dimension not in (NUMBER, TIME.dimension):
        message = f"the times are in '{sheet.header[clock]}', which is no unit of time"
        raise InputError(message, line=sheet.line, hint='write "time (s)", "time (ms)" or "time"')
    return factor


def _scale(unit: str) -> float:
    """What a column's unit is in SI; 1 for what is none, such as "raw"."""
    try:
        return unit_in_si(unit)[0]
    except InputError:
        return 1.0


def _place(sheet: Cells, wanted: str) -> int:
    """Where a column stands that is called so, with its unit or without."""
    header = [cell.strip() for cell in sheet.header]
    for names in (header, list(sheet.names)):
        if wanted in names:
            return names.index(wanted)
    hint = f"{suggest(wanted, header)} `column: NAME` beside `file:` takes another"
    # Another file than a table, perhaps one that isn't this user's to read, isn't shown.
    if len(header) < 2 or not all(_NAME.fullmatch(cell) for cell in header):
        hint = "the first row doesn't hold names of columns, such as time,NAME"
    raise InputError(f"there is no column '{wanted}'", line=sheet.line, hint=hint)
