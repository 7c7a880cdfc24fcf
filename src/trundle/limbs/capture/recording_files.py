"""Recordings from files and to files, the format told by the file's suffix.

OpenSim's tables, .sto and .mot, have a header, `endheader`, names of columns, and rows with tabs or spaces; Motion
Analysis' TRC has three lines of header, two of names, then a row of numbers a frame, with tabs.
Source: OpenSim documentation, "Storage (.sto) Files", "Motion (.mot) Files", "Marker (.trc) Files".
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, choose, counted, require_known
from trundle.expected import check_type
from trundle.files import path_of
from trundle.limbs.capture.c3d_file import read_c3d
from trundle.limbs.capture.faults import Faults
from trundle.limbs.capture.recording import (
    Recording,
    checked_table,
    finite_or_gaps,
    marker_in_metres,
    recording_of,
    unrounded,
    without_blank_end,
)
from trundle.results.table import Cells, NumberTable, read_lines, read_sheet, write_rows, write_table

# Headers have some ten lines; a file without `endheader` isn't searched to its end.
_MOST_HEADER = 1000
_COUNTS = {"nrows": "rows", "datarows": "rows", "ncolumns": "columns", "datacolumns": "columns"}
_VERSIONS = ("1", "2", "3")


def read_sto(path: Path, strict: bool = False, literal: bool = False, markers: bool = True) -> Recording:
    """A .sto or .mot file, triples as markers or all as channels; InputError where its header contradicts what follows.

    Rows that come twice, and a count of rows that is another one, are warned of, or refused if `strict`.
    """
    file = str(path)
    faults = Faults(file, strict)
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
    _check_counts(header, {"rows": len(rest), "columns": len(headers)}, faults)
    once = [row for before, row in zip([(0, None), *rest], rest, strict=False) if row[1] != before[1]]
    if len(once) < len(rest):
        twice = next(line for line, _ in rest if line not in dict(once))
        message = f"{counted(len(rest) - len(once), 'row')} repeat the one above: they are left out"
        faults.note(message, line=twice)
    degrees = _in_degrees(header, file)
    rate = _number(header.get("datarate", (0, ""))[1])
    table = checked_table(Cells(file, at, headers, once))
    return recording_of(table, degrees=degrees, literal=literal, rate=rate, markers=markers)


def _number(written: str) -> float:
    """What a header says; NaN for what is no number."""
    try:
        return float(written)
    except ValueError:
        return math.nan


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


def _check_counts(header: Mapping[str, tuple[int, str]], found: Mapping[str, int], faults: Faults) -> None:
    """InputError where the header's count of columns differs from what follows, or its version isn't known."""
    file = faults.file
    for name, what in _COUNTS.items():
        if name not in header:
            continue
        line, written = header[name]
        if not written.isascii() or not written.isdigit() or len(written) > 12:
            raise InputError(f"expected a count of {what}, got {written[:40]!r}", file=file, line=line)
        if int(written) != found[what]:
            message = f"the header says {int(written):,} {what}, and {found[what]:,} follow"
            if what == "columns":
                raise InputError(message, file=file, line=line, hint="is the file whole?")
            faults.note(message, line=line)
    line, version = header.get("version", (0, "1"))
    if version not in _VERSIONS:
        hint = f"known: {', '.join(_VERSIONS)}"
        raise InputError(f"unknown version {version[:40]!r} of the format", file=file, line=line, hint=hint)


def _in_degrees(header: Mapping[str, tuple[int, str]], file: str) -> bool:
    """Radians where nothing is said; degrees in motions of SIMM's times, without a version, as OpenSim has it."""
    angles = header.get("angles", (0, ""))[1]
    old = "version" not in header and (file.lower().endswith(".mot") or angles == "are in degrees.")
    line, written = header.get("indegrees", (0, "yes" if old else "no"))
    if written.lower() not in ("yes", "no"):
        raise InputError(f"inDegrees is yes or no, got {written[:40]!r}", file=file, line=line)
    return written.lower() == "yes"


def write_sto(path: Path, table: NumberTable) -> None:
    """Columns, `time` first, as .sto or .mot in SI units and radians."""
    counts = [f"nRows={table.size}", f"nColumns={len(table.columns)}"]
    head = ["trundle", "version=1", *counts, "inDegrees=no", "endheader"]
    write_table(path, table, head=head, delimiter="\t")


# How far the rate that the header says may be from that of its times: rates are written with two or three digits.
_RATE = 0.01


def read_trc(path: Path, literal: bool = False) -> Recording:
    """A .trc file; an empty cell is a gap. InputError where its header contradicts what follows."""
    file = str(path)
    lines = read_lines(path)
    if len(lines) < 5 or not lines[0].startswith("PathFileType"):
        raise InputError("is not a TRC file: its first line begins with PathFileType", file=file)
    header = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    markers = _marker_names(lines[3], file)
    names = ["Frame#", "Time", *(f"{name}.{axis}" for name in markers for axis in "xyz")]
    rows = [
        (k + 1, without_blank_end(line.split("\t"), len(names)))
        for k, line in enumerate(lines)
        if k > 4 and line.strip()
    ]
    for key, found in (("NumFrames", len(rows)), ("NumMarkers", len(markers))):
        if header.get(key, str(found)) != str(found):
            message = f"the header says {key} {header[key][:40]}, and {found:,} follow"
            raise InputError(message, file=file, line=3, hint="is the file whole?")
    if "Units" not in header:
        raise InputError("the header has no Units", file=file, line=2, hint="add Units, and mm or m below it")
    columns = finite_or_gaps(Cells(file, 4, names, rows)).columns
    positions = {
        name: marker_in_metres(
            name, np.column_stack([columns[f"{name}.{axis}"] for axis in "xyz"]), header["Units"], file
        )
        for name in markers
    }
    units = dict.fromkeys(positions, header["Units"])
    time = columns["Time"]
    time = time if literal else unrounded(time, file, _number(header.get("DataRate", "")))
    recording = Recording(time, positions, source=file, units=units)
    _check_rate(recording.time, header, file)
    return recording


def _marker_names(line: str, file: str) -> list[str]:
    """Names of markers, which stand above the first of their three columns."""
    names = [name.strip() for name in line.split("\t")[2:]]
    while names and not names[-1]:
        names.pop()
    markers = names[::3]
    stray = [name for k, name in enumerate(names) if k % 3 and name]
    if stray or not all(markers) or not markers:
        message = (
            f"expected a name above each third column, got {', '.join(filter(None, names))[:80] or 'none'}"
        )
        raise InputError(
            message, file=file, line=4, hint="Frame#, Time, then NAME and two empty cells a marker"
        )
    for k, name in enumerate(markers):
        if name in markers[:k]:
            raise InputError(f"the marker {name!r} comes twice", file=file, line=4, key=name)
    return markers


def _check_rate(time: FloatArray, header: Mapping[str, str], file: str) -> None:
    said = _number(header.get("DataRate", ""))
    if math.isnan(said) and "DataRate" in header:
        raise InputError(f"DataRate is not a number: {header['DataRate'][:40]}", file=file, line=3)
    counted = (len(time) - 1) / (time[-1] - time[0]) if len(time) > 1 else said
    if abs(said - counted) > _RATE * counted:
        message = f"the header says {said:g} frames a second, and its times {counted:g}"
        raise InputError(message, file=file, line=3, key="Time", hint="times are in s, DataRate in Hz")


def write_trc(path: Path, time: FloatArray, markers: Mapping[str, FloatArray]) -> None:
    """Markers (n, 3), m, by name as .trc; gaps are empty cells. InputError without markers or at uneven times."""
    steps = np.diff(time)
    if not markers or not len(steps) or np.ptp(steps) > 1e-6 * steps.mean():
        message = "a TRC file has markers at even times"
        raise InputError(
            message, file=str(path), hint="write .csv, which takes any times, or .sto for channels"
        )
    rate = f"{1 / steps.mean():.9g}"
    keys = "DataRate CameraRate NumFrames NumMarkers Units OrigDataRate OrigDataStartFrame OrigNumFrames"
    values = (rate, rate, len(time), len(markers), "m", rate, 1, len(time))
    labels = (f"{axis}{k + 1}" for k in range(len(markers)) for axis in "XYZ")
    header = [
        f"PathFileType\t4\t(X/Y/Z)\t{path.name}",
        keys.replace(" ", "\t"),
        "\t".join(map(str, values)),
        "\t".join(["Frame#", "Time", *(f"{name}\t\t" for name in markers)]),
        "\t".join(["", "", *labels]),
        "",
    ]
    axes = {
        f"{name}.{axis}": places[:, k] for name, places in markers.items() for k, axis in enumerate("xyz")
    }
    _, *samples = NumberTable({"Time": time, **axes}).rows(gap="")
    write_rows(path, ([k + 1, *row] for k, row in enumerate(samples)), head=header, delimiter="\t")


# By a file's suffix; whether it is read strictly, and its times literally.
_READERS: Mapping[str, Callable[[Path, bool, bool], Recording]] = {
    ".csv": lambda path, _, literal: recording_of(checked_table(read_sheet(path)), literal=literal),
    ".c3d": lambda path, strict, _: read_c3d(path, strict),
    ".mot": read_sto,
    ".sto": read_sto,
    ".trc": lambda path, _, literal: read_trc(path, literal),
}
_TIMES = ("even", "literal")
_WRITERS: Mapping[str, Callable[[Path, NumberTable], None]] = {
    ".csv": lambda path, table: write_table(path, table, gap=""),
    ".mot": write_sto,
    ".sto": write_sto,
}


def read_recording(path: str | os.PathLike[str], strict: bool = False, times: str = "even") -> Recording:
    """What a file recorded of a motion, in SI units: CSV, C3D, TRC, OpenSim's MOT and STO.

    In CSV the first row names the columns: `time` and one per coordinate, or NAME.x, NAME.y, NAME.z (or NAME_x …) per
    marker; units in brackets behind a name are honoured, "knee [deg]", "ankle.x [mm]". Nothing is smoothed or filled.
    Times that were rounded when they were written (0.0083, 0.0167) are even again, if they were.

    C3D has markers (points that a program computed are left out), force plates of types 1 to 4 and events. A plate's
    offsets (FORCE_PLATFORM:ZERO) are not taken off. Its force counts as on the person. A force into the plate's
    surface is what the person does to the plate, as no plate pulls: such forces are turned round.

    Of a C3D file that has faults, what is whole is read. `recording.unread` has the other parts with their errors. Rows
    of OpenSim's tables that repeat the one above are left out.

    Parameters
    ----------
    path : str or path
        The file; its suffix tells the format.
    strict : bool, optional
        Whether any fault refuses the file.
    times : "even" or "literal", optional
        Whether times that were rounded when they were written are even again, or stay as they are.

    Returns
    -------
    Recording

    Raises
    ------
    InputError
        The file can't be read, its times don't increase, it contradicts itself, or its units do: with file, line or
        sample, and column or marker.

    Warns
    -----
    UserWarning
        A part of a C3D file can't be read, or a fault left one meaning only, such as the unit "nt"; rows of an OpenSim
        table come twice, or its header counts others; times were rounded.

    Examples
    --------
    >>> import pathlib, trundle
    >>> _ = pathlib.Path("walk.csv").write_text("time [ms],knee [deg]\\n0,0\\n10,180\\n")
    >>> trundle.read_recording("walk.csv").channels["knee"].round(4).tolist()
    [0.0, 3.1416]
    """
    file = path_of(path, "read_recording")
    require_known(times, _TIMES, f"times are even or literal, got {times!r}", key="times", hint=choose)
    return _READERS[_suffix(file, list(_READERS))](file, strict, times == "literal")


def write_recording(recording: Recording, path: str | os.PathLike[str]) -> None:
    """Write a recording, in SI units, by the file's suffix: CSV, OpenSim's MOT and STO, or TRC for markers alone.

    Parameters
    ----------
    recording : Recording
        What to write. Force plates and events have no place in these formats, nor have channels in TRC.
    path : str or path
        Written whole or not at all.

    Raises
    ------
    InputError
        The suffix is another one, TRC has no markers or uneven times, or the file can't be written.

    Examples
    --------
    >>> import trundle
    >>> trundle.write_recording(trundle.Recording([0, 1], channels={"knee": [0.5, 1]}), "walk.sto")
    >>> trundle.read_recording("walk.sto").channels["knee"].tolist()
    [0.5, 1.0]
    """
    check_type(recording, Recording, "recording")
    file = path_of(path, "write_recording")
    if file.suffix.lower() == ".trc":
        write_trc(file, recording.time, recording.markers)
        return
    _suffix(file, [*_WRITERS, ".trc"])
    named = {"time": recording.time}
    for name, positions in recording.markers.items():
        named |= {f"{name}.{axis}": positions[:, k] for k, axis in enumerate("xyz")}
    write_columns(path, named | dict(recording.channels))


def write_columns(path: str | os.PathLike[str], named: Mapping[str, FloatArray] | NumberTable) -> None:
    """Write columns by name, `time` first, in the table format that the suffix tells: .csv, .mot or .sto."""
    file = path_of(path, "write_columns")
    _WRITERS[_suffix(file, list(_WRITERS))](
        file, named if isinstance(named, NumberTable) else NumberTable(named)
    )


def _suffix(path: Path, known: list[str]) -> str:
    suffix = path.suffix.lower()
    require_known(suffix, known, f"{path.name} is not a recording", file=str(path), hint=choose)
    return suffix
