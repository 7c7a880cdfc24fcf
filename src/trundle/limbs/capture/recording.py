"""`Recording`: what a motion laboratory measured, in SI units and the laboratory's frame; tables as recordings."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from trundle.arrays import FloatArray, as_numbers, increasing
from trundle.errors import InputError, suggest, warn
from trundle.expected import all_of, by_name, came, check_str
from trundle.frozen import Frozen, Rebuilt, settle
from trundle.limbs.capture.force_plates import ForcePlate
from trundle.limbs.capture.plate_samples import within
from trundle.results.table import Cells, NumberTable
from trundle.robot.units import NUMBER, TIME, Dimension, unit_text
from trundle.robot.values import unit_in_si

# OpenSim's tables say of all columns at once that they are in degrees; it is the model that knows which ones turn.
DEGREES_IF_TURNING = "deg, if it turns"
_ANEW = "make another Recording"
# What plates of files are called, with their numbers behind.
PLATE = "force plate"
# What joints of one axis call their coordinate; other tools call it as the joint.
_OF_ONE_AXIS = ("angle", "position")


@dataclass(frozen=True, repr=False, eq=False)
class Recording(Rebuilt):
    """What was measured of a motion: markers, joint angles, force plates and events over time.

    Parameters
    ----------
    time : array_like, shape (n,), s
        When samples were taken; increasing.
    markers : mapping of str to array_like, shape (n, 3), m
        Positions by marker, in the laboratory's frame; NaN where a marker wasn't seen.
    channels : mapping of str to array_like, shape (n,)
        Other columns by name, coordinates of joints above all, in rad, m or the unit that `units` says, in SI; NaN
        where there is none. Ask for them by `channel(name, unit)`, which holds them against their units.
    plates : sequence of ForcePlate
        Each with its own time.
    events : mapping of str to sequence of float, s
        When what happened.
    source : str
        The file.
    units : mapping of str to str
        Units of the columns and markers in the file, by name, where it says them.
    unread : mapping of str to InputError
        Parts of the file that couldn't be read, such as "force plate 2", and why.

    Raises
    ------
    InputError
        Where a shape is wrong, times don't increase, or a number is infinite: names column or marker, and sample.

    Examples
    --------
    >>> import trundle
    >>> recording = trundle.Recording([0.0, 0.1], channels={"knee": [0.2, 0.3]})
    >>> recording
    Recording of 0 markers, 1 channel, 0 plates: 2 samples, 0 to 0.1 s
    """

    time: FloatArray
    markers: Mapping[str, FloatArray] = field(default_factory=dict)
    channels: Mapping[str, FloatArray] = field(default_factory=dict)
    plates: tuple[ForcePlate, ...] = ()
    events: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    source: str = ""
    units: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, InputError] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check that markers and channels fit the times, and keep them as they are."""
        time = increasing(self.time, check_str(self.source, "source"))
        for name in ("markers", "channels", "events", "units", "unread"):
            by_name(getattr(self, name), name)
        plates = all_of(self.plates, ForcePlate, "plates")
        shape = time.shape
        markers = {name: _checked(name, rows, (*shape, 3), "marker") for name, rows in self.markers.items()}
        channels = {name: _checked(name, rows, shape, "channel") for name, rows in self.channels.items()}
        events = {name: _moments(name, given) for name, given in self.events.items()}
        named = {
            "markers": markers,
            "channels": channels,
            "events": events,
            "units": dict(self.units),
            "unread": dict(self.unread),
        }
        kept = {name: Frozen(values, _ANEW) for name, values in named.items()}
        settle(self, **kept, time=time, plates=plates)

    def __repr__(self) -> str:
        parts = ((self.markers, "marker"), (self.channels, "channel"), (self.plates, "plate"))
        counts = ", ".join(f"{len(items)} {word}{'' if len(items) == 1 else 's'}" for items, word in parts)
        span = f"{self.time[0]:g} to {self.time[-1]:g} s"
        unread = f" (unread: {', '.join(self.unread)})" if self.unread else ""
        return f"Recording of {counts}{unread}: {len(self.time):,} samples, {span}"

    @property
    def unread_plates(self) -> Mapping[str, InputError]:
        """The force plates among what couldn't be read, or all of them as "force plates"."""
        return {name: error for name, error in self.unread.items() if name.startswith(PLATE)}

    def channel(self, name: str, unit: str) -> FloatArray:
        """A column in the unit that the caller takes it for, held against the unit that its file says.

        A marker's coordinates are there, too, as "ankle.x", "ankle.y", "ankle.z"; and the only coordinate of a joint,
        "knee.angle" or "slide.position", is read from a column called as the joint. A column of an OpenSim table in
        degrees is in degrees where it is asked for as an angle, and as it stands otherwise.

        Parameters
        ----------
        name : str
            The column.
        unit : str
            Such as "rad", "m" or "N m".

        Returns
        -------
        numpy.ndarray, shape (n,)

        Raises
        ------
        InputError
            There is no such column, or the file has it in a unit of something else.

        Examples
        --------
        >>> import trundle
        >>> trundle.Recording([0, 1], channels={"slide": [0, 2]}, units={"slide": "mm"}).channel("slide", "rad")
        Traceback (most recent call last):
        trundle.errors.InputError: slide: this column is in mm, and 'slide' is measured in rad
          give the column its right unit, or name the coordinate that it belongs to
        """
        return column_of(self, name, unit)

    def between(self, start: float, end: float) -> Recording:
        """The samples from one time to another, both included; plates and events stay as they are.

        Parameters
        ----------
        start, end : float, s
            The first time and the last one.

        Returns
        -------
        Recording

        Raises
        ------
        InputError
            There is no sample between them.

        Examples
        --------
        >>> import trundle
        >>> trundle.Recording([0, 0.1, 0.2, 0.3]).between(0.1, 0.25).time
        array([0.1, 0.2])
        """
        inside = within(self.time, start, end)
        if not inside.any():
            message = f"nothing was recorded from {start:g} to {end:g} s"
            hint = f"its times are {self.time[0]:g} to {self.time[-1]:g} s"
            raise InputError(message, file=self.source or None, hint=hint)
        markers = {name: places[inside] for name, places in self.markers.items()}
        channels = {name: values[inside] for name, values in self.channels.items()}
        return replace(self, time=self.time[inside], markers=markers, channels=channels)

    def turned(self, up: str, to: str) -> Recording:
        """The recording in axes whose y, or z, is up: markers, plates and ground reactions turned together about x.

        From z up to y up (x, y, z) becomes (x, z, −y). Coordinates of joints stay.

        Parameters
        ----------
        up : "y" or "z"
            What is up in this recording.
        to : "y" or "z"
            What is to be up, as it is for the robot: y in OpenSim's models.

        Returns
        -------
        Recording

        Raises
        ------
        InputError
            For any other axis.

        Examples
        --------
        >>> import trundle
        >>> trundle.Recording([0], {"heel": [(1, 2, 3)]}).turned("z", to="y").markers["heel"]
        array([[ 1.,  3., -2.]])
        """
        from trundle.limbs.capture.ground_reactions import turned

        return turned(self, up, to)


def column_of(recording: Recording, name: str, unit: str, apart: Collection[str] = ()) -> FloatArray:
    """`Recording.channel`; an error suggests none of the columns `apart`, which are known to be something else."""
    factor, dimension = unit_in_si(check_str(unit, "unit"))
    key, values = _column(recording, check_str(name, "name"), apart)
    said = recording.units.get(key, "")
    if said == DEGREES_IF_TURNING:
        return (values if dimension == NUMBER else np.degrees(values)) / factor
    if said and unit_in_si(said)[1] != dimension:
        message = f"this column is in {said}, and {name!r} is measured in {unit or unit_text(dimension)}"
        hint = "give the column its right unit, or name the coordinate that it belongs to"
        raise InputError(message, file=recording.source or None, key=name, hint=hint)
    return values / factor


def _column(recording: Recording, name: str, apart: Collection[str]) -> tuple[str, FloatArray]:
    """A column's own name, as its unit has it, and its values."""
    channels, markers = recording.channels, recording.markers
    stem, _, axis = name.rpartition(".")
    for key in (name, stem if axis in _OF_ONE_AXIS else name):
        if key in channels:
            return key, channels[key]
    marker, place = name[:-2], "xyz".find(name[-1:])
    if marker in markers and name[-2:-1] in "._" and place >= 0:
        return marker, markers[marker][:, place]
    others = [column for column in (*channels, *markers) if column not in apart]
    hint = suggest(name, others) if others else f"there are only {', '.join(apart)}: measure it, too"
    raise InputError(f"there is no column {name!r}", file=recording.source or None, hint=hint)


def _moments(name: str, given: object) -> tuple[float, ...]:
    """When an event happened (s)."""
    times = as_numbers(given, f"the times of '{name}'")  # type: ignore[arg-type]
    if times.ndim != 1:
        raise InputError(f"expected a list of times, got {came(given)}", key=name)
    return tuple(times.tolist())


def _checked(name: str, given: object, shape: tuple[int, ...], what: str) -> FloatArray:
    """An array of this shape in which NaN are gaps and nothing is infinite, read-only."""
    values = np.array(as_numbers(given, f"{what} {name!r}"))  # type: ignore[arg-type]
    if values.shape != shape:
        raise InputError(f"{what} {name!r}: expected an array of shape {shape}, got {values.shape}", key=name)
    infinite = np.flatnonzero(np.isinf(values).reshape(shape[0], -1).any(axis=1))
    if infinite.size:
        raise InputError(f"{what} {name!r} is infinite at sample {infinite[0] + 1}", key=name)
    values.flags.writeable = False
    return values


# A capture volume is far smaller: numbers beyond are millimetres, or no positions.
MOST_METRES = 100.0
_LENGTH: Dimension = (1, 0, 0, 0)
# Triples that tables of loads have: ours, and OpenSim's ground_torque_x.
_NO_MARKERS = ("force", "moment", "torque")


def checked_table(sheet: Cells) -> NumberTable:
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


def finite_or_gaps(sheet: Cells) -> NumberTable:
    """A sheet's numbers, NaN where a cell is empty; InputError where one is infinite, or times don't increase."""
    table = sheet.table(gaps=True)
    table.refuse({name: np.isinf(column) for name, column in table.columns.items()}, "a number is infinite")
    for name, column in table.columns.items():
        if name.lower() == "time":
            increasing(column, table.file, table.lines)
    return table


def without_blank_end(cells: Sequence[str], count: int) -> Sequence[str]:
    """A row's cells without the empty ones behind the last column: some programs end every row with a tab."""
    end = len(cells)
    while end > count and not cells[end - 1].strip():
        end -= 1
    return cells[:end]


def recording_of(
    table: NumberTable,
    *,
    degrees: bool = False,
    literal: bool = False,
    rate: float = math.nan,
    markers: bool = True,
) -> Recording:
    """A table as a recording: the column `time`, triples NAME.x, .y, .z (or _x, _y, _z) as `markers`, and the others.

    `degrees` says that all columns without a unit are in degrees as far as they turn, `literal` that times stay as they
    are, `rate` (Hz) how far they are apart.
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
    triples = _marker_columns(table) if markers and not degrees else {}
    places: dict[str, FloatArray] = {}
    units: dict[str, str] = {}
    for marker, names in triples.items():
        said = table.units[names[0]]
        positions = np.column_stack([columns[name] for name in names])
        places[marker] = marker_in_metres(marker, positions, said or "m", table.file)
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
    time = columns[clock] if literal else unrounded(columns[clock], table.file, rate * seconds)
    return Recording(time * seconds, places, channels, source=table.file, units=units)


def unrounded(time: FloatArray, file: str, rate: float = math.nan) -> FloatArray:
    """Even steps, by the rate if they fit it, where they give every time to the digits that the file writes.

    0.0083, 0.0167, 0.025 are 120 Hz: taken literally, half a digit would be a tenth of an acceleration. Digits of a
    quarter of a step or more could hide a sample that is missing: such times stay as they are. Else a warning says so.
    """
    if time.size < 3 or np.isnan(time).any() or not np.all(np.diff(time) > 0):
        return time
    digit = next(
        (0.1**k for k in range(10) if np.allclose(time, np.round(time, k), rtol=1e-14, atol=1e-14)), 0.0
    )
    spans = [np.linspace(time[0], time[-1], time.size)]
    if rate > 0 and math.isfinite(rate):
        spans.insert(0, (np.round(time[0] * rate) + np.arange(time.size)) / rate)
    for even in spans:
        off, step = float(np.abs(time - even).max()), float(even[1] - even[0])
        if off <= 1e-9 * step:
            return time
        if off <= digit <= step / 4:
            hint = 'read_recording(path, times="literal") keeps them'
            warn(
                f"{file}: times are rounded to {digit:g} s; they are even again, {1 / step:.6g} a second. {hint}"
            )
            return even
    return time


def _marker_columns(table: NumberTable) -> dict[str, tuple[str, str, str]]:
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
        raise InputError(f"'{unit}' is not a unit of length", file=file, key=key, hint="such as mm or m")
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
