"""A log as an estimator takes it: the encoders' steps with what a gyro told meanwhile, and fixes, all by arrival."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import numpy as np

from trundle.arrays import BoolArray, FloatArray
from trundle.errors import InputError, warn
from trundle.estimation.log_columns import LogColumns
from trundle.estimation.measuring import ARRIVAL
from trundle.estimation.readings import only_sensor, single_sensor, slack, slacks
from trundle.motion.odometry.counts import Counts, derive_counts
from trundle.motion.odometry.unwrapping import Wraps, unwrap
from trundle.results import Run
from trundle.robot import Encoders, FixSensor, Gyro, Robot
from trundle.robot.sensor import Counted

# Readings whose usual spacing is off a sensor's period by more than this share of it have another period.
_OFF = 0.1


@dataclass(frozen=True)
class StepPart:
    """A part of a step: from `start` to `end` (s) increments, angles at its start (rad), and the gyro's mean rate."""

    start: float
    end: float
    increments: FloatArray
    angles: FloatArray
    rate: float | None


@dataclass(frozen=True)
class LogStep:
    """What encoders counted between two readings, parted where a gyro begins or ceases to tell; when all had come."""

    parts: tuple[StepPart, ...]
    arrival: float

    @property
    def end(self) -> float:
        """When it ends (s)."""
        return self.parts[-1].end


@dataclass(frozen=True)
class LogFix:
    """What a sensor told of the pose at a time (s), by channel, and when it came."""

    sensor: str
    time: float
    arrival: float
    values: Mapping[str, float]


@dataclass(frozen=True)
class Log:
    """A log by the sensors of a robot: where it begins (s), its steps by time, its fixes by arrival."""

    start: float
    steps: Sequence[LogStep]
    fixes: Sequence[LogFix]
    encoders: str
    gyro: str | None


def read_log(
    robot: Robot, log: Run | str | os.PathLike[str], columns: Mapping[str, str] | None = None
) -> Log:
    """The steps and fixes of a log, or of a file of one, whose `columns` have other names than Trundle's; raises
    InputError for columns that aren't there, and readings before their time.
    """
    encoders, gyro = only_sensor(robot, Encoders, "encoders"), single_sensor(robot, Gyro, "gyro")
    counts = derive_counts(robot)
    counted = Counted(tuple(counts.increments), tuple(counts.angles))
    units = {name: each.channels(counted) for name, each in robot.sensors.items()}
    known = {name: tuple(channels) for name, channels in units.items()}
    rates = {f"{encoders}.{rate}": "rad/s" for rate in counts.plan.given}
    told = {f"{name}.{of}": unit for name, channels in units.items() for of, unit in channels.items()}
    log, sums_up = LogColumns(robot, told, rates, encoders, gyro).of(log, columns)
    _require_past(log)
    partial = {name for name, each in robot.sensors.items() if isinstance(each, FixSensor) and each.partial}
    rows = {name: _rows(log, name, channels, name in partial) for name, channels in known.items()}
    if rows[encoders].sum() < 2:
        message = f"the log has {rows[encoders].sum()} readings of '{encoders}', and a step is between two"
        raise InputError(message, key="log")
    angles = _angles(robot, log, counts, encoders, rows[encoders])
    steps = _steps(log, counted, angles, rows[encoders], _Turns.of(robot, log, gyro, rows, sums_up))
    times = log.time[rows[encoders]]
    fixes = [
        LogFix(
            name,
            _at_a_reading(float(log.time[row]), times),
            float(log[ARRIVAL][row]),
            {channel: float(log[f"{name}.{channel}"][row]) for channel in known[name]},
        )
        for name, sensor in robot.sensors.items()
        if isinstance(sensor, FixSensor)
        for row in np.flatnonzero(rows[name])
    ]
    return Log(float(times[0]), steps, sorted(fixes, key=lambda fix: (fix.arrival, fix.time)), encoders, gyro)


def _at_a_reading(time: float, times: FloatArray) -> float:
    """A time, or that of the encoders' reading which is the same but for rounding."""
    nearest = float(times[np.argmin(np.abs(times - time))])
    return nearest if abs(nearest - time) <= slack(time) else time


def _require_past(log: Run) -> None:
    """Raise InputError where a reading came before its time, or nobody knows when."""
    late = log[ARRIVAL] - log.time
    wrong = ~(late >= -slacks(log.time))
    for row in np.flatnonzero(wrong)[:1]:
        came = f"arrived at {log[ARRIVAL][row]:g} s, before it was measured"
        message = f"row {row + 1} of the log is of the future: it is of {log.time[row]:g} s and {came}"
        raise InputError(message, key="log", hint="are the columns time and arrival exchanged?")


def _rows(log: Run, name: str, channels: Sequence[str], partial: bool) -> BoolArray:
    """The rows of a sensor; InputError where one has only some of what it tells, unless it may be `partial`."""
    told = np.array([np.isfinite(log[f"{name}.{channel}"]) for channel in channels])
    some = told.any(axis=0)
    for row in () if partial else np.flatnonzero(some & ~told.all(axis=0))[:1]:
        missing = channels[int(np.argmin(told[:, row]))]
        message = f"row {row + 1} of the log has a reading of '{name}' without its '{missing}'"
        raise InputError(message, key="log", hint=f"NaN in all of {', '.join(channels)}, or in none")
    return np.asarray(some)


@dataclass(frozen=True)
class _Turns:
    """What a gyro tells: its readings' times (count,), and by `knots`, which lie at their starts and ends, the angle
    summed up and how long it has told so far. `edges`: where it begins or ceases to tell.
    """

    starts: FloatArray
    ends: FloatArray
    arrivals: FloatArray
    knots: FloatArray
    summed: FloatArray
    covered: FloatArray
    edges: FloatArray

    @staticmethod
    def of(
        robot: Robot, log: Run, gyro: str | None, rows: Mapping[str, BoolArray], sums_up: bool
    ) -> _Turns | None:
        """By the readings of a gyro, if there are any; those of one that sums up span the time since the last."""
        if gyro is None or not rows[gyro].any():
            return None
        ends, rates = log.time[rows[gyro]], log[f"{gyro}.rate"][rows[gyro]]
        period, usual = robot.sensors[gyro].period.number, float(np.median(np.diff(ends, prepend=-np.inf)))
        if not sums_up and np.isfinite(usual) and abs(usual - period) > _OFF * period:
            warn(
                f"the sensor '{gyro}' tells every {usual:.4g} s in this log, and every {period:.4g} s by its "
                f"description, for which its noise is taken: write period: {usual:.4g} s"
            )
        before = np.append(log.time[0] if sums_up else -np.inf, ends[:-1])
        # readings that follow each other at once share a knot
        joined = (np.abs(ends - period - before) <= slacks(ends)) | sums_up
        starts = np.where(joined, before, np.maximum(ends - period, before))
        spans = ends - starts
        summed, covered = (
            np.repeat(np.cumsum(np.append(0.0, part)), 2)[1:-1] for part in (rates * spans, spans)
        )
        edges = np.sort(np.concatenate([starts[~joined], ends[np.append(~joined[1:], True)]]))
        knots = np.column_stack([starts, ends]).ravel()
        return _Turns(starts, ends, log[ARRIVAL][rows[gyro]], knots, summed, covered, edges)

    def mean(self, start: float, end: float) -> float | None:
        """The mean rate over a time without edges; None where it tells nothing."""
        angle, known = (
            np.interp(end, self.knots, sums) - np.interp(start, self.knots, sums)
            for sums in (self.summed, self.covered)
        )
        return float(angle / known) if known > 0.5 * (end - start) else None

    def inside(self, start: float, end: float) -> list[float]:
        """The edges between two times."""
        near = slack(end)
        first, last = np.searchsorted(self.edges, [start + near, end - near])
        return self.edges[first:last].tolist()

    def arrival(self, start: float, end: float) -> float:
        """When all had come that tells of a time."""
        near = slack(end)
        first = int(np.searchsorted(self.ends, start + near))
        last = int(np.searchsorted(self.starts, end - near))
        return float(self.arrivals[first:last].max(initial=-np.inf))


def _angles(robot: Robot, log: Run, counts: Counts, encoders: str, rows: BoolArray) -> dict[str, FloatArray]:
    """What encoders read, by name, going on where readings began anew."""
    times, sensor = log.time[rows], cast(Encoders, robot.sensors[encoders])
    if not (np.diff(times) > 0).all():
        when = times[int(np.argmin(np.diff(times)))]
        raise InputError(f"the log has two readings of '{encoders}' at {when:g} s", key="log")
    told = {name: log[f"{encoders}.{name}"][rows] for name in (*counts.increments, *counts.angles)}
    named = zip(counts.increments, counts.plan.given, strict=True)
    rates = {of: log[f"{encoders}.{rate}"][rows] for of, rate in named if f"{encoders}.{rate}" in log}
    wraps = Wraps(sensor.turns(robot.resolver()), sensor.wraps is not None, "log", f"{encoders}.")
    return unwrap(told, times, wraps, tuple(counts.angles), rates)


def _steps(
    log: Run, counted: Counted, angles: Mapping[str, FloatArray], rows: BoolArray, turns: _Turns | None
) -> list[LogStep]:
    """What lies between the encoders' readings, by time; a step waits for those before it."""
    times, arrivals = log.time[rows], log[ARRIVAL][rows]
    turned = np.array([np.diff(angles[name]) for name in counted.increments]).T
    standing = np.array([angles[name] for name in counted.angles]).reshape(len(counted.angles), times.size).T
    steps, latest = list[LogStep](), -np.inf
    for place, (start, end) in enumerate(pairwise(times.tolist())):
        inside = [] if turns is None else turns.inside(start, end)
        parts = list[StepPart]()
        for a, b in pairwise([start, *inside, end]):
            share = (a - start) / (end - start)
            at = standing[place] + share * (standing[place + 1] - standing[place])
            rate = None if turns is None else turns.mean(a, b)
            parts.append(StepPart(a, b, turned[place] * ((b - a) / (end - start)), at, rate))
        told = -np.inf if turns is None else turns.arrival(start, end)
        latest = max(latest, float(arrivals[place]), float(arrivals[place + 1]), told)
        steps.append(LogStep(tuple(parts), latest))
    return steps
