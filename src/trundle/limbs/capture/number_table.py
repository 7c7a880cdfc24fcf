"""Tables as recordings: their columns in SI units, parted into time, markers and channels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.limbs.capture.recording import DEGREES_IF_TURNING, Recording
from trundle.results.table import Cells, Table
from trundle.robot.units import TIME, Dimension
from trundle.robot.values import unit_in_si

# A capture volume is far smaller: numbers beyond are millimetres, or no positions.
MOST_METRES = 100.0
_LENGTH: Dimension = (1, 0, 0, 0)
# Triples that tables of loads have: ours, and OpenSim's ground_torque_x.
_NO_MARKERS = ("force", "moment", "torque")


def checked_table(sheet: Cells) -> Table:
    """A sheet's columns without the units in their names; an empty cell is a gap.

    InputError where a unit is none, and where a number is infinite.
    """
    sheet = sheet.with_units()
    for name, unit in zip(sheet.names, sheet.units, strict=True):
        try:
            unit_in_si(unit)
        except InputError as error:
            raise error.at(file=sheet.file, line=sheet.line, key=name) from None
    return finite_or_gaps(sheet)


def finite_or_gaps(sheet: Cells) -> Table:
    """A sheet's numbers, NaN where a cell is empty; InputError where one is infinite."""
    table = sheet.table(gaps=True)
    table.refuse({name: np.isinf(column) for name, column in table.columns.items()}, "a number is infinite")
    return table


def without_blank_end(cells: Sequence[str], count: int) -> Sequence[str]:
    """A row's cells without the empty ones behind the last column: some programs end every row with a tab."""
    end = len(cells)
    while end > count and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def recording_of(table: Table, *, degrees: bool = False) -> Recording:
    """A table as a recording: the column `time`, triples NAME.x, .y, .z (or _x, _y, _z) as markers, and the others.

    `degrees` says that all columns without a unit are in degrees as far as they turn.
    """
    columns = table.columns
    clock = next((name for name in columns if name.lower() == "time"), None)
    if clock is None:
        hint = f"it has {', '.join(list(columns)[:6])}{', …' if len(columns) > 6 else ''}"
        raise InputError("there is no column 'time'", file=table.file, line=1, hint=hint)
    seconds, dimension = unit_in_si(table.units[clock])
    if table.units[clock] and dimension != TIME.dimension:
        message = f"the times are in {table.units[clock]}"
        raise InputError(message, file=table.file, key="time", hint="write time [s]")
    triples = {} if degrees else _marker_columns(table)
    markers: dict[str, FloatArray] = {}
    units: dict[str, str] = {}
    for marker, names in triples.items():
        said = table.units[names[0]]
        positions = np.column_stack([columns[name] for name in names])
        markers[marker] = marker_in_metres(marker, positions, said or "m", table.file)
        units |= {marker: said} if said else {}
    channels: dict[str, FloatArray] = {}
    taken = {clock, *(name for names in triples.values() for name in names)}
    for name in columns:
        if name in taken:
            continue
        said = table.units[name] or (DEGREES_IF_TURNING if degrees else "")
        factor = np.pi / 180 if said == DEGREES_IF_TURNING else unit_in_si(said)[0]
        channels[name] = columns[name] * factor
        units |= {name: said} if said else {}
    time = unrounded(columns[clock]) * seconds
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


def _marker_columns(table: Table) -> dict[str, tuple[str, str, str]]:
    """Columns x, y and z of markers by name. Triples of other units than lengths, and quaternions, are channels."""
    markers: dict[str, tuple[str, str, str]] = {}
    for name in table.columns:
        stem, end = name[:-2], name[-2:].lower()
        if end not in (".x", "_x") or not stem or stem.lower().endswith(_NO_MARKERS):
            continue
        x, y, z, w = (f"{name[:-1]}{axis if name[-1].islower() else axis.upper()}" for axis in "xyzw")
        if y not in table.columns or z not in table.columns or w in table.columns:
            continue
        said = [table.units[column] for column in (x, y, z)]
        lengths = [unit_in_si(unit)[1] == _LENGTH for unit in said if unit]
        if len(set(said)) > 1 and (any(lengths) or not all(said)):
            message = f"x, y and z of marker {stem!r} are in {', '.join(unit or 'no unit' for unit in said)}"
            hint = "give all three the same unit of length"
            raise InputError(message, file=table.file, key=stem, hint=hint)
        if all(lengths):
            markers[stem] = x, y, z
    return markers


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
