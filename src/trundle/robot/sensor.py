"""What a sensor is: what it reads, its channels, and its law in any scalar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, NamedTuple

from pydantic import model_validator

from trundle.robot import units
from trundle.robot.component import default
from trundle.robot.kinds import Kind, Read, Registry, must_define
from trundle.robot.values import FixedDuration, NumberBound, Positive, ReadsFixed, Span, Value, problem
from trundle.scalars import Scalar

POSE, TWIST = ("x", "y", "theta"), ("v_x", "v_y", "omega")


class Counted(NamedTuple):
    """What encoders count of a robot: increments of these angles, and the angles that those hang on."""

    increments: tuple[str, ...]
    angles: tuple[str, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All, without doubles."""
        return tuple(dict.fromkeys((*self.increments, *self.angles)))


class SensorScene(NamedTuple):
    """What a sensor's law gets at a sample.

    truth: what it reads of the robot, by name. draws: unit normals of its noise, by name. states: its own, as the last
    sample left them. begun: 0 at its first sample, else 1. period: since the last sample (s).
    """

    truth: Mapping[str, Scalar]
    draws: Mapping[str, Scalar]
    states: Mapping[str, Scalar]
    begun: Scalar
    period: float


class Reading(NamedTuple):
    """What a sensor tells, by channel, and its states after it."""

    values: Mapping[str, Scalar]
    states: Mapping[str, Scalar] = {}


def _check_sensor(kind: type[Kind]) -> None:
    assert issubclass(kind, Sensor)
    must_define(kind, Sensor, "reads_from", "channels", "measure")


SENSORS = Registry("sensor", "encoders", check=_check_sensor)

Share = Annotated[
    Value,
    ReadsFixed(units.RATIO),
    NumberBound(lambda share: 0 <= share < 1, "must be at least 0 and below 1", "0.05 loses one in twenty"),
]


class Sensor(Kind):
    """What measures a robot on a plane, every `period` (s), with noise.

    A reading arrives `latency` (s) after its time: always as late, or evenly between the least and the greatest. The
    share `dropouts` of the readings never arrives. Its numbers are no parameters of the robot's equations.
    """

    family: ClassVar[Registry] = SENSORS
    in_equations: ClassVar[bool] = False
    # Whether a reading tells about the time since the one before, so that the first sample gives none.
    over_period: ClassVar[bool] = False

    period: Positive[FixedDuration] = default("10 ms", "Time between readings (s), default 10 ms.")
    latency: Span = default(0.0, "How late readings arrive (s): a number, or [least, greatest]. Default 0.")
    dropouts: Share = default(0.0, "Share of readings that never arrive, default 0.")

    @model_validator(mode="after")
    def _lateness(self) -> Sensor:
        least, greatest = self.latencies
        if least > greatest:
            message = f"the least latency ({least:g} s) is above the greatest ({greatest:g} s)"
            raise problem(message, "exchange them", ("latency",))
        return self

    @property
    def latencies(self) -> tuple[float, float]:
        """The least and the greatest latency (s)."""
        if isinstance(self.latency, tuple):
            least, greatest = self.latency
            return least.number, greatest.number
        return self.latency.number, self.latency.number

    def reads_from(self, counted: Counted) -> tuple[str, ...]:
        """The names of the states and outputs that it looks at."""
        raise NotImplementedError

    def channels(self, counted: Counted) -> Mapping[str, str]:
        """What it tells, by name, with the units."""
        raise NotImplementedError

    def draws(self, counted: Counted) -> tuple[str, ...]:
        """The names of the unit normals that a sample's noise is made of."""
        return tuple(self.channels(counted))

    def states(self, counted: Counted) -> tuple[str, ...]:
        """The names of what it keeps from sample to sample; all begin at 0."""
        return ()

    def measure(self, scene: SensorScene, counted: Counted, read: Read) -> Reading:
        """What it tells at a sample; `read` turns a field into a scalar."""
        raise NotImplementedError


# Most robots have no sensors.
SENSORS.later("trundle.robot.sensors", "encoders", "gyro", "accelerometer", "pose", "position", "marks")
