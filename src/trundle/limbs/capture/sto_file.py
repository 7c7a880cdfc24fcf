"""OpenSim's tables of numbers, .sto and .mot: a header, `endheader`, names of columns, and rows with tabs or spaces.

Source: OpenSim documentation, "Storage (.sto) Files" and "Motion (.mot) Files".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from trundle.errors import InputError
from trundle.limbs.capture.number_table import checked_table, recording_of, without_blank_end
from trundle.limbs.capture.recording import Recording
from trundle.results.table import Cells, Table, read_lines, write_rows

# Headers have some ten lines; a file without `endheader` isn't searched to its end.
_MOST_HEADER = 1000
_COUNTS = {"nrows": "rows", "datarows": "rows", "ncolumns": "columns", "datacolumns": "columns"}
_VERSIONS = ("1", "2", "3")


def read_sto(path: Path) -> Recording:
    """A .sto or .mot file; InputError where its header contradicts what follows."""
    file = str(path)
    lines = read_lines(path)
    end = next(
        (k for k, line in enumerate(lines[:_MOST_HEADER]) if line.strip().lower() == "endheader"), None
    )
    if end is None:
        hint = "a .sto or .mot file begins with nRows=, nColumns=, inDegrees= and a line `endheader`"
        raise InputError("there is no line `endheader`", file=file, hint=hint)
    header = {name: (line, value) for line, name, value in _entries(lines[:end])}
    rows = [(k + 1, _cells(line)) for k, line in enumerate(lines) if k > end and line.strip()]
    if not rows:
        raise InputError("has no names of columns behind `endheader`", file=file, line=end + 1)
    (at, headers), *rest = rows
    kind = header.get("datatype", (0, "double"))
    if kind[1] != "double":
        hint = "markers are read from .trc, coordinates from files of numbers"
        raise InputError(f"cells of type {kind[1][:40]} are not read", file=file, line=kind[0], hint=hint)
    headers = without_blank_end(headers, 1)
    rest = [(line, without_blank_end(cells, len(headers))) for line, cells in rest]
    _check_counts(header, {"rows": len(rest), "columns": len(headers)}, file)
    degrees = _in_degrees(header, file)
    return recording_of(checked_table(Cells(file, at, headers, rest)), degrees=degrees)


def _entries(lines: Sequence[str]) -> list[tuple[int, str, str]]:
    """The header's lines NAME=VALUE (in SIMM's files: NAME VALUE), names in small letters."""
    entries = []
    for k, line in enumerate(lines):
        name, equals, value = line.partition("=")
        if not equals:
            name, _, value = line.strip().partition(" ")
        entries.append((k + 1, name.strip().lower(), value.strip()))
    return entries


def _cells(line: str) -> list[str]:
    """A row's cells: between tabs where there are any, an empty one among them; else between spaces."""
    return (
        [cell.strip() for cell in line.rstrip("\r\n").strip(" ").split("\t")]
        if "\t" in line
        else line.split()
    )


def _check_counts(header: Mapping[str, tuple[int, str]], counted: Mapping[str, int], file: str) -> None:
    """InputError where the header's counts differ from what follows, or its version isn't known."""
    for name, what in _COUNTS.items():
        if name not in header:
            continue
        line, written = header[name]
        if not written.isascii() or not written.isdigit() or len(written) > 12:
            raise InputError(f"expected a count of {what}, got {written[:40]!r}", file=file, line=line)
        if int(written) != counted[what]:
            message = f"the header says {int(written):,} {what}, and {counted[what]:,} follow"
            raise InputError(message, file=file, line=line, hint="is the file whole?")
    line, version = header.get("version", (0, "1"))
    if version not in _VERSIONS:
        hint = f"known: {', '.join(_VERSIONS)}"
        raise InputError(f"unknown version {version[:40]!r} of the format", file=file, line=line, hint=hint)


def _in_degrees(header: Mapping[str, tuple[int, str]], file: str) -> bool:
    """Radians where nothing is said, as OpenSim has it for .sto."""
    line, written = header.get("indegrees", (0, "no"))
    if written.lower() not in ("yes", "no"):
        raise InputError(f"inDegrees is yes or no, got {written[:40]!r}", file=file, line=line)
    return written.lower() == "yes"


def write_sto(path: Path, table: Table) -> None:
    """Columns, `time` first, as .sto or .mot in SI units and radians."""
    rows = table.rows()
    counts = [f"nRows={len(rows) - 1}", f"nColumns={len(table.columns)}"]
    head = ["trundle", "version=1", *counts, "inDegrees=no", "endheader"]
    write_rows(path, rows, head=head, delimiter="\t")
