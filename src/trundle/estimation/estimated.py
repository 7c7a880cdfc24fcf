"""What an estimator said of a log, as a run: poses, covariances, and how its fixes stand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents import dump
from trundle.errors import NumericsError
from trundle.estimation.logs import Log
from trundle.estimation.readings import Fix, slacks
from trundle.motion.odometry.displacement import POSE
from trundle.results import Run
from trundle.results.columns import Column
from trundle.robot import FixSensor, Robot
from trundle.robot.sensor import Counted

# A mean NIS is said from ten times what it exceeds once in ten thousand logs: no noise is known that well.
_FAR, _RARE = 10.0, 1e-4
_UNITS = {"x": "m", "y": "m", "theta": "rad"}
# The covariance's columns, the upper triangle row by row, and their units.
COVARIANCE = {
    f"covariance.{one}.{other}": f"{_UNITS[one]}^2" if one == other else f"{_UNITS[one]} {_UNITS[other]}"
    for place, one in enumerate(POSE)
    for other in POSE[place:]
}


def surprise(log: Log, known: FloatArray, stands: Sequence[Fix | None]) -> tuple[float, str]:
    """The mean NIS that is the farthest beyond its distribution, in parts of what is said, and what is said of it.

    Of the gyro and of fixes: those used, or where the gate left most of them out all of them.
    """
    from scipy.special import chdtri

    seen = {name: [(nis, 1) for nis in known[-3] if nis > 0] for name in [log.gyro] if name is not None}
    for name, fixes in _by_sensor(log, stands).items():
        used = [fix for fix in fixes if fix.used]
        judged = used if 2 * len(used) >= len(fixes) else fixes
        seen[name] = [(fix.nis, sum(value == value for value in fix.measured)) for fix in judged]
    found = [(0.0, "")]
    for name, rows in seen.items():
        total, freedom = np.sum(rows, axis=0) / len(rows) if rows else (0.0, 1.0)
        bound = _FAR * chdtri(freedom * len(rows), _RARE) / len(rows) if rows else 1.0
        said = f"{name}: the mean NIS is {total:.4g}, and by noise it stays below {bound:.3g}"
        found.append((float(total / bound), said))
    return max(found)


def estimated_run(
    robot: Robot, log: Log, known: FloatArray, stands: Sequence[Fix | None], summary: Mapping[str, object]
) -> Run:
    """The run of what was `known` at the log's start and after every step, (12, n): pose, covariance, NIS of the gyro,
    its bias and that's variance.

    A fix stands in the row that follows it; a row stands as often as fixes of one sensor fall to it.
    """
    times = np.array([log.start, *(step.end for step in log.steps)])
    for when in times[~np.isfinite(known[:-3]).all(axis=0)][:1]:
        message = (
            f"at {when:.6g} s the estimate ceases to be finite: what the log tells there is out of any range"
        )
        raise NumericsError(message)
    slots = _slots(times, log, stands)
    often = np.ones(times.size, dtype=int)
    for (_, row), places in slots.items():
        often[row] = max(often[row], len(places))
    rows, first = np.repeat(np.arange(times.size), often), np.cumsum(often) - often
    values = dict(zip((*POSE, *COVARIANCE), known[:-3, rows], strict=True))
    units, columns = {**_UNITS, **COVARIANCE}, {name: Column("", name, "estimated") for name in values}
    nis, bias, variance = known[-3:, rows]
    if log.gyro is not None:
        values[f"{log.gyro}.nis"] = nis
        if variance.any():
            values |= {f"{log.gyro}.bias": bias, f"covariance.{log.gyro}.bias": variance}
            units |= {f"{log.gyro}.bias": "rad/s", f"covariance.{log.gyro}.bias": "rad^2/s^2"}
    for name, channels in _channels(robot).items():
        table = np.full((len(channels) + 2, rows.size), np.nan)
        for (of, row), places in slots.items():
            for rank, place in enumerate(places if of == name else ()):
                table[:, first[row] + rank] = _fix_columns(log, stands, place)
        values |= dict(zip((*channels, f"{name}.nis", f"{name}.used"), table, strict=True))
        units |= channels
        columns |= {full: Column(name, full.removeprefix(f"{name}."), "measured") for full in channels}
    about = {"yaml": dump(robot), "parameters": robot.parameter_values()}
    told = {**summary, **_gyro(log, known[-3]), **_counted(log, stands)}
    return Run(robot.name, times[rows], values, units, about, told, {"coordinates": POSE}, columns)


def _slots(
    times: FloatArray, log: Log, stands: Sequence[Fix | None]
) -> defaultdict[tuple[str, int], list[int]]:
    """The places of fixes by their sensor and the row that follows them."""
    slots = defaultdict[tuple[str, int], list[int]](list)
    for place, fix in enumerate(log.fixes):
        if stands[place] is not None:
            row = int(np.searchsorted(times + slacks(times), fix.time))
            slots[fix.sensor, row].append(place)
    return slots


def _channels(robot: Robot) -> dict[str, dict[str, str]]:
    """By sensor that fixes the pose what it tells, with units."""
    return {
        name: {f"{name}.{channel}": unit for channel, unit in sensor.channels(Counted((), ())).items()}
        for name, sensor in robot.sensors.items()
        if isinstance(sensor, FixSensor)
    }


def _fix_columns(log: Log, stands: Sequence[Fix | None], place: int) -> tuple[float, ...]:
    """What a fix told, its NIS, and 1 where it was used."""
    stand = stands[place]
    assert stand is not None
    return (*log.fixes[place].values.values(), float(stand.nis), float(stand.used))


def _gyro(log: Log, nis: FloatArray) -> dict[str, object]:
    """`gyro`: the mean NIS of its readings; nothing without one. Steps without a reading have 0."""
    return {} if log.gyro is None else {"gyro": {log.gyro: {"mean_nis": _mean(nis[nis > 0].tolist())}}}


def _counted(log: Log, stands: Sequence[Fix | None]) -> dict[str, object]:
    """`fixes`: by sensor how many were used, how many the gate left out, and the mean NIS of those used."""
    return {
        "fixes": {
            name: {
                "used": sum(stand.used for stand in known),
                "gated": sum(not stand.used for stand in known),
                "mean_nis": _mean([float(stand.nis) for stand in known if stand.used]),
            }
            for name, known in _by_sensor(log, stands).items()
        }
    }


def _by_sensor(log: Log, stands: Sequence[Fix | None]) -> Mapping[str, list[Fix]]:
    """How the fixes stand that were looked at, by sensor."""
    by_sensor = defaultdict[str, list[Fix]](list)
    for fix, stand in zip(log.fixes, stands, strict=True):
        if stand is not None:
            by_sensor[fix.sensor].append(stand)
    return by_sensor


def _mean(numbers: Sequence[float]) -> float | None:
    return sum(numbers) / len(numbers) if numbers else None
