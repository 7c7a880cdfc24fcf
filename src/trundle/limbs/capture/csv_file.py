"""Recordings in CSV: a row of names, perhaps with units, then one row a sample."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.files import replacing
from trundle.limbs.capture.number_table import NumberTable, columns, read_lines, read_numbers, recording_of
from trundle.limbs.capture.recording import Recording


def read_csv(path: Path) -> Recording:
    """A CSV file with a column `time`; lines that begin with # are passed over."""
    file = str(path)
    lines = read_lines(path)
    reader = csv.reader(lines, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if any(row) and not row[0].startswith("#")]
    except csv.Error as error:
        raise InputError(f"is no CSV file: {error}", file=file, line=reader.line_num) from None
    if not rows:
        raise InputError("is empty", file=file, hint="its first row names the columns, one of them `time`")
    line, headers = rows[0]
    if len(headers) == 1 and (";" in headers[0] or "\t" in headers[0]):
        hint = "save it with commas between cells and points in its numbers"
        raise InputError("its cells aren't parted by commas", file=file, line=line, hint=hint)
    names, units = columns(headers, file, line)
    return recording_of(NumberTable(file, names, units, read_numbers(rows[1:], names, file)))


def write_csv(path: Path, named: Mapping[str, FloatArray]) -> None:
    """Columns by name as CSV, each number with the digits that reading it back exactly takes; gaps are empty cells."""
    table = np.column_stack(list(named.values())).tolist()
    with replacing(path) as draft, draft.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(named)
        writer.writerows([["" if cell != cell else cell for cell in row] for row in table])
