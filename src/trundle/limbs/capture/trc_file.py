"""Markers in Motion Analysis' TRC: three lines of header, two of names, then a row of numbers a frame, with tabs.

Source: OpenSim documentation, "Marker (.trc) Files".
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.limbs.capture.number_table import (
    finite_or_gaps,
    marker_in_metres,
    unrounded,
    without_blank_end,
)
from trundle.limbs.capture.recording import Recording
from trundle.results.table import Cells, Table, read_lines, write_rows

# How far the rate that the header says may be from that of its times: rates are written with two or three digits.
_RATE = 0.01


def read_trc(path: Path) -> Recording:
    """A .trc file; an empty cell is a gap. InputError where its header contradicts what follows."""
    file = str(path)
    lines = read_lines(path)
    if len(lines) < 5 or not lines[0].startswith("PathFileType"):
        raise InputError("is no TRC file: its first line begins with PathFileType", file=file)
    header = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    markers = _marker_names(lines[3], file)
    names = ["Frame#", "Time", *(f"{name}.{axis}" for name in markers for axis in "xyz")]
    rows = [
        (k + 1, without_blank_end(line.split("\t"), len(names)))
        for k, line in enumerate(lines)
        if k > 4 and line.strip()
    ]
    for key, counted in (("NumFrames", len(rows)), ("NumMarkers", len(markers))):
        if header.get(key, str(counted)) != str(counted):
            message = f"the header says {key} {header[key][:40]}, and {counted:,} follow"
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
    recording = Recording(unrounded(columns["Time"]), positions, source=file, units=units)
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
    try:
        said = float(header.get("DataRate", "nan"))
    except ValueError:
        raise InputError(f"DataRate is no number: {header['DataRate'][:40]}", file=file, line=3) from None
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
    _, *samples = Table({"Time": time, **axes}).rows(gap="")
    write_rows(path, ([k + 1, *row] for k, row in enumerate(samples)), head=header, delimiter="\t")
