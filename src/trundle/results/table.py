"""A run as CSV: a header of names, then one line of numbers for each time.

The header holds the bare names and no units, so that `pandas.read_csv(path)["x"]` works; all values are in SI units
and radians. Numbers are written with as many digits as reading them back exactly takes.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TextIO

import numpy as np

from trundle.errors import InputError
from trundle.files import read_bytes_start, replacing
from trundle.results.arrays import FloatArray
from trundle.results.metadata import Content, ResultKind, Variable


def write(path: Path, content: Content) -> None:
    """Write the columns, `time` the first of them."""
    table = np.column_stack([each.values for each in content.variables.values()])
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(content.variables)
        # csv writes a float by its repr: the shortest text that reads back exactly.
        writer.writerows(table.tolist())


def read(path: Path, kind: ResultKind) -> Content:
    """A CSV file whose header has a column `time`."""
    read_bytes_start(path, 1)
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            names, table = _read(file)
    except UnicodeDecodeError as error:
        raise InputError("this is not a CSV file: it is not UTF-8 text") from error
    except csv.Error as error:
        raise InputError(f"this is not a CSV file: {error}") from error
    columns = map(np.ascontiguousarray, table.T)
    variables = {name: Variable(("time",), column, {}) for name, column in zip(names, columns, strict=True)}
    return Content(kind, path.stem, variables)


def _read(file: TextIO) -> tuple[list[str], FloatArray]:
    lines = csv.reader(file)
    names = [name.strip() for name in next(lines, [])]
    if "time" not in names:
        raise InputError("a run's CSV file starts with a line of names, one of them 'time'", line=1)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InputError(f"the column {twice!r} comes twice", line=1)
    rows: list[list[float]] = []
    for row in lines:
        if not row:
            continue
        if len(row) != len(names):
            raise InputError(f"{len(row)} columns, but the header has {len(names)}", line=lines.line_num)
        try:
            rows.append([float(cell) for cell in row])
        except ValueError as error:
            raise InputError(f"not a number: {error}", line=lines.line_num) from error
    if not rows:
        raise InputError("the file has a header and no numbers")
    return names, np.array(rows)
