"""What sensors would have told of a run: a log, with noise by a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.documents import dump
from trundle.errors import InputError, suggest
from trundle.expected import check_int, check_type
from trundle.model.arguments import Given, robot_of
from trundle.motion.odometry.counts import derive_counts
from trundle.results import Run
from trundle.results.columns import Column
from trundle.robot import Robot, Sensor
from trundle.robot.sensor import Counted, SensorScene
from trundle.robot.sensors import Encoders
from trundle.simulation.draws import normals, uniforms

ARRIVAL = "arrival"
# In s, or whole ns.
ReadingTimes: TypeAlias = npt.NDArray[np.float64 | np.int64]
# Times closer than this share of a period are one.
_SAME = 1e-9


def measure(
    model: Given,
    run: Run,
    sensors: Mapping[str, Sensor | Mapping[str, object]] | None = None,
    *,
    seed: int = 0,
) -> Run:
    """What the sensors of a robot would have told of a run.

    Between the run's samples its columns are joined by cubic splines. A sensor measures first at the run's start; a
    gyro and an accelerometer, which tell means over a period, one period later.

    Parameters
    ----------
    model : Robot, Model, Document, path or mapping
        The robot, with its `sensors`.
    run : Run
        Of that robot, on a plane.
    sensors : mapping of str to Sensor or mapping, optional
        Sensors by name, beside those that the robot has, or in their place.
    seed : int, optional
        Of noise, latencies and dropouts. The same seed gives the same log. What a sensor draws hangs on its name and
        the seed alone.

    Returns
    -------
    Run
        A row a reading, by time (s); `arrival` is when it came (s). The readings' columns are called
        `SENSOR.what`, such as `gyro.rate`; they are NaN in rows of other sensors.

    Raises
    ------
    InputError
        The robot has no sensors, the run lacks what one of them measures, or is shorter than its period.

    Examples
    --------
    >>> import trundle
    >>> robot = trundle.catalog.differential_drive()
    >>> run = trundle.roll(robot, 2.0, {"v_x": 0.5, "omega": 0.2})
    >>> fixes = trundle.sensors.PoseFix(position="1 cm", heading="0.5 deg", latency="60 ms")
    >>> log = trundle.measure(robot, run, {"encoders": {"ticks": 1024}, "fixes": fixes}, seed=1)
    >>> len(log), float(log["arrival"][1] - log.time[1]).__round__(3)
    (222, 0.06)
    """
    robot = robot_of(model, "measure", "sensors are parts of described robots")
    robot = robot if sensors is None else robot.with_sensors(sensors)
    check_type(
        run, Run, "run", "a simulation gives one: trundle.run(…), trundle.simulate(…), trundle.roll(…)"
    )
    check_int(seed, "seed", 0)
    if not robot.sensors:
        hint = 'give them: {"encoders": {"ticks": 1024}}, or write sensors: in the description'
        raise InputError(f"'{robot.name}' has no sensors", key="sensors", hint=hint)
    counted = counted_by(robot)
    measured = [_Measured.of(robot, name, run, counted, seed) for name in robot.sensors]
    return _log(robot, measured, {"seed": seed})


def counted_by(robot: Robot) -> Counted:
    """What encoders of a robot count; nothing where it has none."""
    if not any(isinstance(sensor, Encoders) for sensor in robot.sensors.values()):
        return Counted((), ())
    counts = derive_counts(robot)
    return Counted(tuple(counts.increments), tuple(counts.angles))


@dataclass(frozen=True)
class SensorSeries:
    """What one sensor told: times, arrivals, and values (count,) by the log's names."""

    times: ReadingTimes
    arrivals: ReadingTimes
    values: Mapping[str, FloatArray]


@dataclass(frozen=True)
class _Measured:
    """What the sensor of a name told, with the units of its values."""

    name: str
    series: SensorSeries
    units: Mapping[str, str]

    @staticmethod
    def of(robot: Robot, name: str, run: Run, counted: Counted, seed: int) -> _Measured:
        """Reading by reading."""
        sensor = robot.sensors[name]
        period = sensor.period.number
        times = run.time[0] + period * np.arange(int(run.duration / period * (1 + _SAME)) + 1)
        if times.size < 2:
            message = f"the sensor '{name}' measures every {period:g} s, and the run takes {run.duration:g} s"
            raise InputError(message, key=f"sensors.{name}.period", hint="a longer run, or a shorter period")
        truth = _truth(run, name, sensor.reads_from(counted), times)
        draws = {draw: normals(seed, f"{name}.{draw}", times.size) for draw in sensor.draws(counted)}
        rows = _readings(robot, sensor, counted, truth, draws)
        begin = int(sensor.over_period)
        least, greatest = sensor.latencies
        late = least + (greatest - least) * uniforms(seed, f"{name}.latency", times.size)
        kept = uniforms(seed, f"{name}.dropouts", times.size) >= sensor.dropouts.number
        kept[:begin] = False
        units = {f"{name}.{channel}": unit for channel, unit in sensor.channels(counted).items()}
        values = {full: row[kept] for full, row in zip(units, rows, strict=True)}
        return _Measured(name, SensorSeries(times[kept], (times + late)[kept], values), units)


def _truth(run: Run, name: str, wanted: Sequence[str], times: FloatArray) -> dict[str, FloatArray]:
    """Columns of a run at other times."""
    from scipy.interpolate import CubicSpline

    for column in wanted:
        if column not in run:
            message = f"the sensor '{name}' measures '{column}', which the run lacks"
            raise InputError(message, key="run", hint=suggest(column, run.values))
    # where a run has a time twice, it jumped: what comes after counts
    last = np.append(np.diff(run.time) > 0, True)
    return {
        column: np.asarray(CubicSpline(run.time[last], run[column][last])(times), dtype=float)
        for column in wanted
    }


def _readings(
    robot: Robot,
    sensor: Sensor,
    counted: Counted,
    truth: Mapping[str, FloatArray],
    draws: Mapping[str, FloatArray],
) -> FloatArray:
    """What a sensor tells, (channels, count), as its law says it sample by sample."""
    read, period = robot.resolver(), sensor.period.number
    states = dict.fromkeys(sensor.states(counted), 0.0)
    rows = list[list[float]]()
    seen, drawn = np.array(list(truth.values())).T.tolist(), np.array(list(draws.values())).T.tolist()
    for place, (now, noise) in enumerate(zip(seen, drawn, strict=True)):
        scene = SensorScene(
            dict(zip(truth, now, strict=True)),
            dict(zip(draws, noise, strict=True)),
            states,
            1.0 if place else 0.0,
            period,
        )
        reading = sensor.measure(scene, counted, read)
        states = dict(reading.states)
        rows.append([float(reading.values[channel]) for channel in sensor.channels(counted)])
    return np.array(rows).T


def _log(robot: Robot, measured: Sequence[_Measured], summary: Mapping[str, object]) -> Run:
    """All readings in one log."""
    time, arrival, values = joined([each.series for each in measured])
    values = {ARRIVAL: arrival.astype(float), **values}
    units = {ARRIVAL: "s"} | {full: unit for each in measured for full, unit in each.units.items()}
    columns = {
        full: Column(each.name, full.removeprefix(f"{each.name}."), "measured")
        for each in measured
        for full in each.units
    }
    summary = {**summary, "readings": {each.name: each.series.times.size for each in measured}}
    description = {"yaml": dump(robot), "parameters": robot.parameter_values()}
    return Run(robot.name, time.astype(float), values, units, description, summary, columns=columns)


def joined(series: Sequence[SensorSeries]) -> tuple[ReadingTimes, ReadingTimes, dict[str, FloatArray]]:
    """All readings by time, those of one time in the order of the sensors: times, arrivals, values."""
    times = np.concatenate([each.times for each in series])
    order = np.argsort(times, kind="stable")
    values, begin = dict[str, FloatArray](), 0
    for each in series:
        for full, readings in each.values.items():
            column = np.full(times.size, np.nan)
            column[begin : begin + readings.size] = readings
            values[full] = column[order]
        begin += each.times.size
    return times[order], np.concatenate([each.arrivals for each in series])[order], values
