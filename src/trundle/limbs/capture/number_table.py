"""Text files of numbers: read safely, and their columns parted into markers and channels."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.limbs.capture.column_units import DEGREES_IF_TURNING, split_unit, unit_in_si
from trundle.limbs.capture.recording import Recording
from trundle.robot.units import TIME, Dimension

# Sixty markers over 100,000 samples have some 150 MB.
MOST_BYTES = 500_000_000
# A capture volume is far smaller: numbers beyond are millimetres, or no positions.
MOST_METRES = 100.0
_LENGTH: Dimension = (1, 0, 0, 0)
# Triples that tables of loads have: ours, and OpenSim's ground_torque_x.
_NO_MARKERS = ("force", "moment", "torque")


@dataclass(frozen=True)
class NumberTable:
    """Names of columns, their units in the file ("": not said), and numbers (n, c), NaN where a cell is empty."""

    file: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: FloatArray


def read_bytes(path: Path) -> bytes:
    """The bytes of an ordinary file; raises InputError."""
    file = str(path)
    try:
        if path.exists() and not path.is_file():  # a pipe or a device could be endless
            raise InputError("is a folder" if path.is_dir() else "is no ordinary file", file=file)
        with path.open("rb") as stream:
            content = stream.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        raise InputError(f"can't be read: {getattr(error, 'strerror', None) or error}", file=file) from None
    if len(content) > MOST_BYTES:
        raise InputError(f"has more than {MOST_BYTES:,} bytes", file=file)
    return content


def read_lines(path: Path) -> list[str]:
    """The lines of an ordinary UTF-8 file; raises InputError."""
    file, content = str(path), read_bytes(path)
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise InputError("is no text: it holds bytes of value 0", file=file, line=line)
    try:
        return content.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError("is not UTF-8 text", file=file, line=line, hint="save it as UTF-8") from None


def read_numbers(rows: Sequence[tuple[int, Sequence[str]]], names: Sequence[str], file: str) -> FloatArray:
    """(n, c) numbers of rows of cells, each with its line; an empty cell is NaN, as is "NaN" itself."""
    if not rows:
        raise InputError("has no rows of numbers", file=file)
    table = np.empty((len(rows), len(names)))
    for k, (line, cells) in enumerate(rows):
        if len(cells) != len(names):
            message = f"has {len(cells)} cells; there are {len(names)} columns"
            raise InputError(message, file=file, line=line, hint=f"the last one is {names[-1]!r}")
        try:
            table[k] = [float(cell) if cell and not cell.isspace() else math.nan for cell in cells]
        except ValueError:
            raise _no_number(cells, names, file, line) from None
    infinite = np.argwhere(np.isinf(table))
    if infinite.size:
        k, column = map(int, infinite[0])
        raise InputError("a number is infinite", file=file, line=rows[k][0], key=names[column])
    return table


def without_blank_end(cells: Sequence[str], count: int) -> Sequence[str]:
    """A row's cells without the empty ones behind the last column: some programs end every row with a tab."""
    end = len(cells)
    while end > count and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def _no_number(cells: Sequence[str], names: Sequence[str], file: str, line: int) -> InputError:
    for name, cell in zip(names, cells, strict=True):
        try:
            float(cell.strip() or "0")
        except ValueError:
            comma = "write a point, not a comma" if "," in cell else None
            return InputError(
                f"{cell.strip()[:40]!r} is not a number", file=file, line=line, key=name, hint=comma
            )
    raise AssertionError("one of them is no number")


def columns(headers: Sequence[str], file: str, line: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of headers; InputError where a name is missing or comes twice, or a unit is none."""
    pairs = [split_unit(header) for header in headers]
    names = tuple(name for name, _ in pairs)
    for k, (name, unit) in enumerate(pairs):
        if not name:
            raise InputError(f"column {k + 1} has no name", file=file, line=line)
        if name in names[:k]:
            first = headers[names.index(name)].strip()
            other = headers[k].strip()
            units = f", as {first!r} and {other!r}" if first != other else ""
            raise InputError(f"the column {name!r} comes twice{units}", file=file, line=line, hint="keep one")
        try:
            unit_in_si(unit)
        except InputError as error:
            raise error.at(file=file, line=line, key=name) from None
    return names, tuple(unit for _, unit in pairs)


def recording_of(table: NumberTable, *, degrees: bool = False) -> Recording:
    """A table as a recording: the column `time`, triples NAME.x, .y, .z (or _x, _y, _z) as markers, and the others.

    `degrees` says that all columns without a unit are in degrees as far as they turn.
    """
    places = {name: k for k, name in enumerate(table.names)}
    clock = next((k for name, k in places.items() if name.lower() == "time"), None)
    if clock is None:
        hint = f"it has {', '.join(table.names[:6])}{', …' if len(table.names) > 6 else ''}"
        raise InputError("there is no column 'time'", file=table.file, line=1, hint=hint)
    seconds, dimension = unit_in_si(table.units[clock])
    if table.units[clock] and dimension != TIME.dimension:
        raise InputError(
            f"the times are in {table.units[clock]}", file=table.file, key="time", hint="write time [s]"
        )
    found = {} if degrees else _markers(table, places)
    markers = {name: _marker(table, name, places_of) for name, places_of in found.items()}
    taken = {clock, *(k for each in found.values() for k in each)}
    channels: dict[str, FloatArray] = {}
    units = {name: table.units[each[0]] for name, each in found.items() if table.units[each[0]]}
    for k, name in enumerate(table.names):
        if k in taken:
            continue
        said = table.units[k] or (DEGREES_IF_TURNING if degrees else "")
        factor = np.pi / 180 if said == DEGREES_IF_TURNING else unit_in_si(said)[0]
        channels[name] = table.values[:, k] * factor
        if said:
            units[name] = said
    time = unrounded(table.values[:, clock]) * seconds
    return Recording(time, markers, channels, source=table.file, units=units)


def unrounded(time: FloatArray) -> FloatArray:
    """Even steps from the first to the last time where they give every time to the digits that the file writes.

    0.0083, 0.0167, 0.025 are 120 Hz: taken literally, half a digit would be a tenth of an acceleration. Digits of a
    quarter of a step or more could hide a sample that is missing: such times stay as they are.
    """
    if time.size < 3 or np.isnan(time).any() or not np.all(np.diff(time) > 0):
        return time
    even = np.linspace(time[0], time[-1], time.size)
    off, step = float(np.abs(time - even).max()), float(even[1] - even[0])
    digit = next(
        (0.1**k for k in range(10) if np.allclose(time, np.round(time, k), rtol=1e-14, atol=1e-14)), 0.0
    )
    return even if 1e-9 * step < off <= digit <= step / 4 else time


def _markers(table: NumberTable, places: Mapping[str, int]) -> dict[str, tuple[int, int, int]]:
    """Where x, y and z of each marker stand. Triples of other units than lengths, and quaternions', are channels."""
    found = {}
    for name in table.names:
        stem, end = name[:-2], name[-2:].lower()
        if end not in (".x", "_x") or not stem or stem.lower().endswith(_NO_MARKERS):
            continue
        x, *others = (f"{name[:-1]}{axis if name[-1].islower() else axis.upper()}" for axis in "xyzw")
        if others[0] not in places or others[1] not in places or others[2] in places:
            continue
        triple = (places[x], places[others[0]], places[others[1]])
        said = [table.units[k] for k in triple]
        lengths = [unit_in_si(each)[1] == _LENGTH for each in said if each]
        if len(set(said)) > 1 and (any(lengths) or not all(said)):
            message = f"x, y and z of marker {stem!r} are in {', '.join(each or 'no unit' for each in said)}"
            raise InputError(
                message, file=table.file, key=stem, hint="give all three the same unit of length"
            )
        if all(lengths):
            found[stem] = triple
    return found


def _marker(table: NumberTable, name: str, triple: tuple[int, int, int]) -> FloatArray:
    """(n, 3), m; a marker of which one coordinate is missing isn't seen at all."""
    unit = table.units[triple[0]]
    return marker_in_metres(name, table.values[:, list(triple)], unit or "m", table.file)


def metres_per(unit: str, file: str, key: str) -> float:
    """A unit of length in m; InputError for what is none."""
    try:
        factor, dimension = unit_in_si(unit)
    except InputError as error:
        raise error.at(file=file, key=key) from None
    if dimension != _LENGTH:
        raise InputError(f"'{unit}' is no unit of length", file=file, key=key, hint="such as mm or m")
    return factor


def marker_in_metres(name: str, values: FloatArray, unit: str, file: str) -> FloatArray:
    """Positions (n, 3) in m: NaN where a coordinate is missing; InputError where they can't be in the unit said."""
    factor = metres_per(unit, file, name)
    with np.errstate(over="ignore"):
        metres = values * factor
    metres[np.isnan(metres).any(axis=1)] = np.nan
    far = np.flatnonzero((np.abs(metres) > MOST_METRES).any(axis=1))
    if far.size:
        message = (
            f"marker {name!r} is {np.abs(metres[far[0]]).max():.4g} m away at sample {far[0] + 1}, in {unit}"
        )
        hint = "are the numbers in mm? say so: NAME.x [mm] in CSV, Units in TRC, POINT:UNITS in C3D"
        raise InputError(message, file=file, key=name, hint=hint)
    return metres
