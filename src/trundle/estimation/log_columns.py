"""The columns of a log: Trundle's names for those that others chose, in SI, with what follows from other columns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, require_known, suggest
from trundle.estimation import mcap_file, wpilog_file
from trundle.estimation.measuring import ARRIVAL, SensorSeries, joined
from trundle.estimation.message_logs import MessageLog
from trundle.expected import by_name, came
from trundle.files import path_of, read_bytes_start
from trundle.results import Run
from trundle.results.csv_file import timed
from trundle.results.table import Cells, read_sheet, unit_behind
from trundle.robot import Robot
from trundle.robot.values import unit_in_si

# Reads a file of messages: all of the topics that are wanted.
MessageReader: TypeAlias = Callable[[Path, Callable[[str], bool]], MessageLog]
# How such files begin, which counts, whatever they are called.
_MESSAGE_FILES: Mapping[str, tuple[bytes, MessageReader]] = {
    ".mcap": (mcap_file.MAGIC, mcap_file.read_mcap),
    ".wpilog": (wpilog_file.MAGIC, wpilog_file.read_wpilog),
}


@dataclass(frozen=True)
class LogColumns:
    """What a log of a robot may hold: `channels` of sensors and `rates` of what encoders count, by name their units."""

    robot: Robot
    channels: Mapping[str, str]
    rates: Mapping[str, str]
    encoders: str
    gyro: str | None

    def of(self, given: Run | str | os.PathLike[str], columns: Mapping[str, str] | None) -> tuple[Run, bool]:
        """A log in SI by Trundle's names, and whether its gyro sums up: its rates are differences of an angle."""
        names = None if columns is None else dict(self._named(by_name(columns, "columns")))
        log = self._in_si(self._opened(given, names))
        values = dict(log.values)
        values.setdefault(ARRIVAL, log.time)
        for name, radius in self._radii.items():
            distance = values.pop(f"{name}.distance", None)
            if distance is not None:
                values.setdefault(f"{name}.angle", distance / radius)
        angle = None if self.gyro is None else values.pop(f"{self.gyro}.angle", None)
        if angle is not None:
            values[f"{self.gyro}.rate"] = _differenced(log.time, angle)
        self._require(values)
        return Run(log.name, log.time, values), angle is not None

    def _opened(self, given: Run | str | os.PathLike[str], columns: Mapping[str, str] | None) -> Run:
        """A log or a file of one by Trundle's names; with `columns` others that it doesn't know are left out."""
        known = (*self._units, "time")
        if isinstance(given, (str, os.PathLike)):
            file = path_of(given, "estimate")
            suffix = file.suffix.lower()
            if file.is_dir():  # as ROS 2 records
                inside = ", ".join(sorted(each.name for each in file.glob("*.mcap"))) or "no .mcap"
                raise InputError(f"is a folder, with {inside}", file=str(file), hint="name a file in it")
            begin = read_bytes_start(file, 8) if file.is_file() or suffix in _MESSAGE_FILES else b""
            for magic, read in _MESSAGE_FILES.values():
                if begin.startswith(magic):
                    return self._of_messages(file, read, columns or {})
            if suffix in _MESSAGE_FILES:
                raise InputError(f"doesn't begin as {suffix} files do", file=str(file))
            if suffix == ".csv":
                return _of_csv(file, columns, known)
            given = Run.load(file)
        return _renamed(given, columns, known)

    def _of_messages(self, file: Path, read: MessageReader, columns: Mapping[str, str]) -> Run:
        """A file of messages: every sensor's readings in rows of their own, by ns from the first."""
        for name in columns:
            if name in ("time", ARRIVAL):
                message = "messages have times of their own"
                raise InputError(message, key=f"columns.{name}", hint=f"leave {name} away")
        written = {name: _path_and_unit(text) for name, text in columns.items()}
        log = read(file, lambda topic: any(path.startswith(topic) for path, _ in written.values()))
        if not columns:
            raise log.without_columns(next(iter(self.channels)))
        series = list[SensorSeries]()
        for name, sensor in self.robot.sensors.items():
            paths = {full: path for full, (path, _) in written.items() if full.startswith(f"{name}.")}
            if paths:
                series.append(log.readings(sensor, paths))
        time, arrival, values = joined(series)
        # where the recorder's clock is behind, a message counts as come at once
        values[ARRIVAL] = (np.maximum(arrival, time) - time[0]) / 1e9
        units = {name: unit for name, (_, unit) in written.items() if unit}
        return Run(file.stem, (time - time[0]) / 1e9, values, units)

    @property
    def _radii(self) -> dict[str, float]:
        """The radii (m) of the wheels that encoders count, by the names of their columns."""
        radii = {
            f"{self.encoders}.{name}": wheel.radius
            for name, wheel in self.robot.rolling.items()
            if f"{self.encoders}.{name}.angle" in self.channels
        }
        return {full: self.robot.number(radius) for full, radius in radii.items()}

    @property
    def _units(self) -> dict[str, str]:
        """All columns that there may be."""
        summed = {} if self.gyro is None else {f"{self.gyro}.angle": "rad"}
        ways = {f"{name}.distance": "m" for name in self._radii}
        return {ARRIVAL: "s", **self.channels, **self.rates, **ways, **summed}

    def _named(self, columns: Mapping[str, str]) -> Iterator[tuple[str, str]]:
        """Trundle's full names of columns, without their sensor where one alone is called so, and theirs."""
        known = ("time", *self._units)
        for name, column in columns.items():
            if not isinstance(column, str):
                raise InputError(f"a column's name is text, not {came(column)}", key=f"columns.{name}")
            full = [name] if name in known else _ending_in(name, self.channels) or _ending_in(name, known)
            if len(full) > 1:
                message = f"{name!r} is one of {', '.join(full)}"
                raise InputError(message, key=f"columns.{name}", hint="write the whole name")
            message = f"no sensor of '{self.robot.name}' tells {name!r}"
            require_known(full[0] if full else name, known, message, key=f"columns.{name}")
            yield full[0], column

    def _in_si(self, log: Run) -> Run:
        """A log in SI; InputError for a column in a unit of something else."""
        values = {"time": log.time, **log.values}
        for name, unit in {"time": "s", **self._units}.items():
            said = log.units.get(name, "")
            if name not in values or said in ("", unit):
                continue
            try:
                (factor, dimension), (own, expected) = unit_in_si(said), unit_in_si(unit)
            except InputError as error:
                raise InputError(f"'{name}': {error.message}", key="log", hint=error.hint) from None
            if dimension != expected:
                raise InputError(f"'{name}' is in {said}, and in {unit} it was expected", key="log")
            values[name] = values[name] * (factor / own)
        return Run(log.name, values.pop("time"), values)

    def _require(self, values: Mapping[str, FloatArray]) -> None:
        """Raise InputError where a log lacks a column of a sensor, or has one that no sensor tells; rates may be
        there.
        """
        for name in self.channels:
            if name not in values:
                sensor = name.partition(".")[0]
                near = suggest(name, [column for column in values if column not in self.channels])
                message = f"the log lacks '{name}', which the sensor '{sensor}' tells"
                hint = f"{near}; columns= says what a file calls it, or take the robot without that sensor"
                raise InputError(message, key="log", hint=hint)
        for name in values:
            if name not in (ARRIVAL, *self.channels, *self.rates):
                message = f"the log has a column '{name}', which no sensor of the robot tells"
                hint = f"{suggest(name, list(self.channels))}; or give the sensor: sensors="
                raise InputError(message, key="log", hint=hint)


def _ending_in(name: str, known: Iterable[str]) -> list[str]:
    """The columns that are called so without their sensor."""
    return [each for each in known if each.endswith(f".{name}")]


def _path_and_unit(written: str) -> tuple[str, str]:
    """A path in messages and the unit behind it; brackets without a blank before them are the path's."""
    path, unit = unit_behind(written)
    return (path, unit) if unit and written[len(path)].isspace() else (written, "")


def _renamed(given: object, columns: Mapping[str, str] | None, known: Sequence[str]) -> Run:
    """A log by Trundle's names; where `columns` are named, others that aren't `known` are left out."""
    if not isinstance(given, Run):
        hint = "trundle.measure(robot, run) gives one; a file's path leads to one"
        raise InputError(f"estimate takes a log, not {came(given)}", key="log", hint=hint)
    if columns is None:
        return given
    theirs = {"time": given.time, **given.values}
    found = _columns_by_name([*theirs], columns, known)
    values = {ours: theirs[name] for ours, (name, _) in found.items()}
    units = {ours: unit or given.units.get(name, "") for ours, (name, unit) in found.items()}
    return Run(given.name, values.pop("time"), values, {name: unit for name, unit in units.items() if unit})


def _of_csv(file: Path, columns: Mapping[str, str] | None, known: Sequence[str]) -> Run:
    """A CSV file, whose header may name units: "encoders.left.angle [deg]"."""
    sheet = read_sheet(file).with_units()
    whole = {name: (name, "") for name in sheet.names}
    found = whole if columns is None else _columns_by_name(sheet.names, columns, known)
    ours = {name: mine for mine, (name, _) in found.items()}
    places = [place for place, name in enumerate(sheet.names) if name in ours]
    said = dict(zip(sheet.names, sheet.units, strict=True))
    for name, mine in ours.items():
        if found[mine][1] and said[name] not in ("", found[mine][1]):
            message = f"{file.name} has {name!r} in {said[name]}, and columns says {found[mine][1]}"
            raise InputError(message, key=f"columns.{mine}", hint="leave the unit away")
    units = tuple(found[ours[name]][1] or said[name] if name in ours else "" for name in sheet.names)
    sheet = replace(sheet, names=tuple(ours.get(name, name) for name in sheet.names), units=units)
    table = timed(_from_first_row(sheet), places if columns is not None else None)
    values, shown = dict(table.columns), {name: unit for name, unit in table.units.items() if unit}
    return Run(file.stem, values.pop("time"), values, shown)


def _columns_by_name(
    names: Sequence[str], columns: Mapping[str, str], known: Sequence[str]
) -> dict[str, tuple[str, str]]:
    """By Trundle's names the columns of a log, and the unit that was said of it: as named, and those that are known."""
    found = dict[str, tuple[str, str]]()
    for ours, written in columns.items():
        theirs, unit = (written, "") if written in names else unit_behind(written)
        require_known(theirs, names, f"the log has no column {theirs!r}", key=f"columns.{ours}")
        if other := next((name for name, (taken, _) in found.items() if taken == theirs), None):
            raise InputError(f"{theirs!r} is given for {other} and for {ours}", key=f"columns.{ours}")
        found[ours] = theirs, unit
    taken = {theirs for theirs, _ in found.values()}
    more = (name for name in names if name in known and name not in found and name not in taken)
    return {**{name: (name, "") for name in more}, **found}


def _from_first_row(sheet: Cells) -> Cells:
    """Times in whole numbers, of a clock that began long ago, from the first row: a float has no digits for them."""
    places = [place for place, name in enumerate(sheet.names) if name in ("time", ARRIVAL)]
    cells = [row[place] for _, row in sheet.rows for place in places if place < len(row)]
    if not cells or not all(cell.strip().isdecimal() for cell in cells):
        return sheet
    begin = int(cells[0])
    rows = [
        (line, [str(int(cell) - begin) if place in places else cell for place, cell in enumerate(row)])
        for line, row in sheet.rows
    ]
    return replace(sheet, rows=rows)


def _differenced(time: FloatArray, angle: FloatArray) -> FloatArray:
    """The mean rates (rad/s) between readings of an angle (rad), which may begin anew after a turn."""
    rates, rows = np.full(angle.shape, np.nan), np.flatnonzero(np.isfinite(angle))
    rates[rows[1:]] = np.diff(np.unwrap(angle[rows])) / np.diff(time[rows])
    return rates
