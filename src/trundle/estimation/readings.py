"""What an estimator keeps of its sensors, and what it tells of fixes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.robot import Robot, Sensor

# A number, or of many robots one a lane.
Lanes: TypeAlias = float | FloatArray
# Rows of numbers of one robot as bytes, of many as an array (n, count).
Kept: TypeAlias = bytes | FloatArray
# Times are one where they lie this close, relative to at least so many seconds: a nanosecond; 0.2 ms where they count
# from 1970, 700 times what a float then resolves.
_SAME, _LONG = 1e-13, 1e4


def slack(time: float) -> float:
    """So far apart two times count as one (s)."""
    return _SAME * max(_LONG, abs(time))


def slacks(times: FloatArray) -> FloatArray:
    """The same of many."""
    return _SAME * np.maximum(_LONG, np.abs(times))


@dataclass(frozen=True)
class Fix:
    """A fix of the pose as the estimator took it; of many robots arrays (count,).

    time: when it was measured (s). measured: x, y (m), θ (rad; NaN where only the position was), or what a sensor saw
    (NaN where it didn't). nis: the normalised
    innovation squared, the Mahalanobis distance's square. used: False where the gate left it out.
    """

    time: float
    measured: tuple[Lanes, ...]
    nis: Lanes
    used: bool | np.ndarray


class StepReading(NamedTuple):
    """What was read from `start` to `time`: increments, angles at the start, and `READING`."""

    start: float
    time: float
    values: Kept

    @property
    def key(self) -> tuple[float, int, tuple[float, ...]]:
        return (self.time, 0, ())


class FixReading(NamedTuple):
    """A measured pose with its variances (infinite where nothing was measured), and the gate squared; fixes of one time
    go by values. by: the sensor that saw something else than the pose.
    """

    time: float
    measured: FloatArray
    variances: FloatArray
    gate: float
    by: str = ""

    @property
    def key(self) -> tuple[float, int, tuple[float, ...]]:
        values = (*self.measured.ravel().tolist(), *self.variances.ravel().tolist())
        return (self.time, 1, (*values, self.gate))


FilterReading: TypeAlias = StepReading | FixReading


def single_sensor(robot: Robot, kind: type[Sensor], called: str) -> str | None:
    """The name of the robot's only sensor of a kind."""
    names = [name for name, sensor in robot.sensors.items() if isinstance(sensor, kind)]
    if len(names) > 1:
        message = f"an estimator takes one sensor of type {called}, and '{robot.name}' has {len(names)}"
        raise InputError(message, key=f"sensors.{names[1]}", hint=f"leave one of {', '.join(names)} away")
    return names[0] if names else None


def only_sensor(robot: Robot, kind: type[Sensor], called: str) -> str:
    """The same of one that there must be."""
    name = single_sensor(robot, kind, called)
    if name is None:
        message = f"an estimator needs a sensor of type {called}, and '{robot.name}' has none"
        raise InputError(message, key="sensors", hint='{"encoders": {"noise": 0.02}}, say')
    return name
