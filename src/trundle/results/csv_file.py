"""A run as CSV: a header of names, then a line of numbers per time.

The header holds the bare names and no units, so that `pandas.read_csv(path)["x"]` works; all values are in SI units
and radians. Numbers are written with as many digits as reading them back exactly takes.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from trundle.errors import InputError
from trundle.results.metadata import ResultContent, ResultKind, Variable
from trundle.results.table import Cells, NumberTable, read_sheet, write_table


def write(path: Path, content: ResultContent) -> None:
    """Write the columns, `time` the first of them."""
    write_table(path, NumberTable({name: variable.values for name, variable in content.variables.items()}))


def read(path: Path, kind: ResultKind) -> ResultContent:
    """A CSV file whose header has a column `time`; an empty cell is NaN, as pandas writes it."""
    columns = timed(read_sheet(path)).columns
    return ResultContent(
        kind, path.stem, {name: Variable(("time",), column, {}) for name, column in columns.items()}
    )


def timed(sheet: Cells, places: Sequence[int] | None = None) -> NumberTable:
    """A sheet's columns, or those at these places; InputError where there is no `time`, or it falls."""
    if "time" not in sheet.names:
        message = "a run's CSV file starts with a line of names, one of them 'time'"
        raise InputError(message, file=sheet.file, line=sheet.line)
    table = sheet.table(places, gaps=True)
    with np.errstate(invalid="ignore"):
        fine = np.diff(table.columns["time"], prepend=-np.inf) >= 0
    table.refuse({"time": ~fine}, "a run's time never falls and holds no NaN; here it does")
    return table
