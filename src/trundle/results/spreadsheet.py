"""A run as a workbook (.xlsx), for people who go on in a spreadsheet: a sheet of values, and one of units.

It is written, not read: `.nc` keeps everything.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from trundle.errors import InputError
from trundle.extras import load
from trundle.files import replacing, signature
from trundle.results.metadata import Content

if TYPE_CHECKING:
    from openpyxl.cell import Cell
    from openpyxl.worksheet._write_only import WriteOnlyWorksheet

# What a sheet holds (ECMA-376).
_MOST_ROWS, _MOST_COLUMNS = 1_048_576, 16_384


def write(path: Path, content: Content) -> None:
    """Write the columns under their names, `time` the first of them; what is no number stays empty."""
    openpyxl = load("openpyxl", f"{str(path)!r}: a workbook needs openpyxl", extra="tables")
    columns = {name: variable.values for name, variable in content.variables.items()}
    rows = 1 + len(columns["time"])
    if rows > _MOST_ROWS or len(columns) > _MOST_COLUMNS:
        raise InputError(
            f"{rows:,} rows of {len(columns):,} columns: a sheet holds {_MOST_ROWS:,} of {_MOST_COLUMNS:,}",
            hint="save as .parquet or .csv, or store fewer samples",
        )
    book = openpyxl.Workbook(write_only=True)
    book.properties.creator = signature()
    values, units = book.create_sheet("values"), book.create_sheet("units")
    values.append([_text(values, name) for name in columns])
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        values.append([number if math.isfinite(number) else None for number in row])
    units.append(["name", "unit"])
    for name, variable in content.variables.items():
        units.append([_text(units, name), _text(units, str(variable.attributes.get("units", "")))])
    with replacing(path) as draft, draft.open("wb") as file:
        book.save(file)


def _text(sheet: WriteOnlyWorksheet, text: str) -> Cell:
    """A cell of text, also where it begins as a formula does; signs that XML can't hold come as "?"."""
    from openpyxl.cell import WriteOnlyCell
    from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

    cell = WriteOnlyCell(sheet, ILLEGAL_CHARACTERS_RE.sub("?", text))
    cell.data_type = "s"
    return cell
