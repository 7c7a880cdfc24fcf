"""Sensors, by type: what they tell of a robot on a plane at their samples, with noise, in any scalar.

    truth, draws (unit normals), states ──► measure ──► readings by channel, the next states

The same law serves logs of numbers over time, and estimators that are traced into a closed loop.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field, model_validator

from trundle.robot.component import Identifier, default
from trundle.robot.kinds import Read
from trundle.robot.sensor import POSE, SENSORS, TWIST, Counted, Reading, Sensor, SensorScene
from trundle.robot.values import (
    Acceleration,
    Angle,
    FixedDuration,
    Length,
    NotNegative,
    Plain,
    Positive,
    Rate,
    Value,
    Wrap,
    problem,
)
from trundle.scalars import Scalar, absolute, atan2, cos, floor, sin, sqrt, where, wrap

# A pose whose numbers nothing else gives by chance.
_ANY_POSE = (0.377, -1.913, 0.611)


class Encoders(Sensor):
    """Counts the turns of wheels and of what steers them: what odometry reads.

    Slip and play make the counts walk away from the true angles, by `noise` over a turn of 1 rad. It grows by the root
    of the angle that is counted, on average over all. Steering has none. `ticks` then rounds all to whole ticks.
    Absolute encoders and counters of few bits begin anew, by `wraps`: they tell what is within half of it about 0.
    """

    type: Literal["encoders"] = "encoders"
    noise: NotNegative[Angle] = default(
        0.0, "Standard deviation of an increment over a turn of 1 rad (rad), default 0."
    )
    ticks: Positive[Plain] | None = default(None, "Ticks a turn. Default: none, they tell the angle itself.")
    wraps: Wrap | None = default(
        None,
        'After how much readings begin anew: an angle ("360 deg"), with `ticks` a whole number of them (65536), '
        'or "no". Default: readings show it.',
    )

    def reads_from(self, counted: Counted) -> tuple[str, ...]:
        """The angles."""
        return counted.names

    def channels(self, counted: Counted) -> Mapping[str, str]:
        """The angles."""
        return dict.fromkeys(counted.names, "rad")

    def draws(self, counted: Counted) -> tuple[str, ...]:
        """One a count."""
        return counted.increments

    def states(self, counted: Counted) -> tuple[str, ...]:
        """The true angles of the last sample, and how far the counts have walked off."""
        return (*counted.increments, *(f"{name}.walk" for name in counted.increments))

    @model_validator(mode="after")
    def _whole(self) -> Encoders:
        if self._counts and self.ticks is None:
            message = f"{str(self.wraps).removesuffix('.0')} are ticks, and nothing says how many a turn has"
            raise problem(message, 'give ticks, too, or an angle: "360 deg"', ("wraps",))
        return self

    @property
    def _counts(self) -> bool:
        """Whether `wraps` is a whole number, as no angle is."""
        return isinstance(self.wraps, Value) and (self.wraps.constant or 0.5).is_integer()

    def turns(self, read: Read) -> tuple[Scalar, ...]:
        """After how much readings begin anew (rad); none where they never do, all that may be where nobody says."""
        tick = 0.0 if self.ticks is None else 2 * math.pi / read(self.ticks)
        if isinstance(self.wraps, Value):
            return (read(self.wraps) * (tick if self._counts else 1.0),)
        perhaps = (2 * math.pi,) if self.ticks is None else (2 * math.pi, 2**16 * tick)
        return perhaps if self.wraps is None else ()

    def wrap_angle(self, angle: Scalar, read: Read) -> Scalar:
        """What it tells of an angle that it has counted, and of the difference of two readings."""
        return wrap(angle, self.turns(read)[0]) if isinstance(self.wraps, Value) else angle

    def measure(self, scene: SensorScene, counted: Counted, read: Read) -> Reading:
        """Counts that walk off, in whole ticks."""
        turned = [absolute(scene.truth[name] - scene.states[name]) for name in counted.increments]
        mean = sum(turned[1:], turned[0]) / len(turned)
        spread = read(self.noise) * sqrt(where(scene.begun, mean, 0.0))
        states, values = {}, {}
        for name in counted.increments:
            walk = f"{name}.walk"
            states[name] = scene.truth[name]
            states[walk] = scene.states[walk] + spread * scene.draws[name]
        for name in counted.names:
            angle = scene.truth[name] + states.get(f"{name}.walk", 0.0)
            if self.ticks is not None:
                tick = 2 * math.pi / read(self.ticks)
                angle = tick * floor(angle / tick + 0.5)
            values[name] = self.wrap_angle(angle, read)
        return Reading(values, states)


class _Drifting(Sensor):
    """What tells a mean over its period, with white noise and a bias that wanders, of every channel."""

    over_period: ClassVar[bool] = True

    def truly(self, scene: SensorScene) -> Mapping[str, Scalar]:
        """The true means over the period."""
        raise NotImplementedError

    def draws(self, counted: Counted) -> tuple[str, ...]:
        """Noise, and what moves the bias."""
        return tuple(f"{name}{of}" for name in self.channels(counted) for of in ("", ".bias"))

    def states(self, counted: Counted) -> tuple[str, ...]:
        """What was true at the last sample, and the biases."""
        return (*self.reads_from(counted), *(f"{name}.bias" for name in self.channels(counted)))

    def measure(self, scene: SensorScene, counted: Counted, read: Read) -> Reading:
        """The mean over the period, off by bias and noise: the density over the root of the period."""
        noise, bias, wander = (read(getattr(self, key)) for key in ("noise", "bias", "wander"))
        states = {name: scene.truth[name] for name in self.reads_from(counted)}
        values = {}
        for name, mean in self.truly(scene).items():
            own = f"{name}.bias"
            step = scene.draws[own] * where(scene.begun, wander * math.sqrt(scene.period), bias)
            states[own] = scene.states[own] + step
            values[name] = mean + states[own] + noise / math.sqrt(scene.period) * scene.draws[name]
        return Reading(values, states)


class Gyro(_Drifting):
    """Measures the turning rate, as its mean since the last reading."""

    type: Literal["gyro"] = "gyro"
    noise: NotNegative[Plain] = default(0.0, "Density of the rate's noise (rad/s/sqrt(Hz)), default 0.")
    bias: NotNegative[Rate] = default(0.0, "Standard deviation of its bias at the start (rad/s), default 0.")
    wander: NotNegative[Plain] = default(
        0.0,
        "By how much the bias wanders over 1 s, growing by the root of the time (rad/s/sqrt(s)), default 0.",
    )

    def reads_from(self, counted: Counted) -> tuple[str, ...]:
        """The heading."""
        return ("theta",)

    def channels(self, counted: Counted) -> Mapping[str, str]:
        """The rate."""
        return {"rate": "rad/s"}

    def truly(self, scene: SensorScene) -> Mapping[str, Scalar]:
        """How far the base has turned, by the time."""
        return {"rate": (scene.truth["theta"] - scene.states["theta"]) / scene.period}


class Accelerometer(_Drifting):
    """Measures the acceleration of the base's origin in the base's axes, as its mean since the last reading."""

    type: Literal["accelerometer"] = "accelerometer"
    noise: NotNegative[Plain] = default(0.0, "Density of the noise (m/s^2/sqrt(Hz)), default 0.")
    bias: NotNegative[Acceleration] = default(
        0.0, "Standard deviation of its biases at the start (m/s^2), default 0."
    )
    wander: NotNegative[Plain] = default(
        0.0,
        "By how much a bias wanders over 1 s, growing by the root of the time (m/s^2/sqrt(s)), default 0.",
    )

    def reads_from(self, counted: Counted) -> tuple[str, ...]:
        """The twist."""
        return TWIST

    def channels(self, counted: Counted) -> Mapping[str, str]:
        """Ahead and to the left."""
        return {"a_x": "m/s^2", "a_y": "m/s^2"}

    def truly(self, scene: SensorScene) -> Mapping[str, Scalar]:
        """a = Δv/T + ω × v, the last by means of both samples."""
        now, before = scene.truth, scene.states
        v_x, v_y, omega = ((now[name] + before[name]) / 2 for name in TWIST)
        return {
            "a_x": (now["v_x"] - before["v_x"]) / scene.period - omega * v_y,
            "a_y": (now["v_y"] - before["v_y"]) / scene.period + omega * v_x,
        }


class FixSensor(Sensor):
    """What tells of the base's pose in the world: `look` says what would be seen from a pose, without noise."""

    # Whether a reading may lack some of what it tells: what wasn't in sight.
    partial: ClassVar[bool] = False

    period: Positive[FixedDuration] = default("100 ms", "Time between readings (s), default 100 ms.")

    def reads_from(self, counted: Counted) -> tuple[str, ...]:
        """The pose."""
        return POSE

    def channels(self, counted: Counted) -> Mapping[str, str]:
        """What is seen."""
        return {name: unit for name, (unit, _) in self.seen().items()}

    def seen(self) -> Mapping[str, tuple[str, Value]]:
        """By channel the unit and the standard deviation; angles (rad) are taken within half a turn."""
        raise NotImplementedError

    def look(self, pose: tuple[Scalar, Scalar, Scalar], read: Read) -> Mapping[str, Scalar]:
        """What would be seen from a pose, by channel."""
        raise NotImplementedError

    def tells_pose(self, read: Read) -> bool:
        """Whether it tells x and y, or x, y and θ, as they are: looked at from a pose."""
        pose = dict(zip(POSE, _ANY_POSE, strict=True))
        names = tuple(self.seen())
        return names in (POSE[:2], POSE) and dict(self.look(_ANY_POSE, read)) == {
            of: pose[of] for of in names
        }

    def measure(self, scene: SensorScene, counted: Counted, read: Read) -> Reading:
        """What is seen, off by the noise."""
        x, y, theta = (scene.truth[name] for name in POSE)
        true = self.look((x, y, theta), read)
        spread = {name: read(deviation) for name, (_, deviation) in self.seen().items()}
        return Reading({name: value + spread[name] * scene.draws[name] for name, value in true.items()})


class PoseFix(FixSensor):
    """Tells the base's pose in the world: a camera over a field, a matched scan."""

    type: Literal["pose"] = "pose"
    position: Positive[Length] = Field(description="Standard deviation of x and of y (m).")
    heading: Positive[Angle] = Field(description="Standard deviation of the heading (rad).")

    def seen(self) -> Mapping[str, tuple[str, Value]]:
        """x, y, θ."""
        return {"x": ("m", self.position), "y": ("m", self.position), "theta": ("rad", self.heading)}

    def look(self, pose: tuple[Scalar, Scalar, Scalar], read: Read) -> Mapping[str, Scalar]:
        """The pose itself."""
        return dict(zip(POSE, pose, strict=True))


class PositionFix(FixSensor):
    """Tells where the base is in the world, not where it points: GNSS, beacons."""

    type: Literal["position"] = "position"
    position: Positive[Length] = Field(description="Standard deviation of x and of y (m).")

    def seen(self) -> Mapping[str, tuple[str, Value]]:
        """x, y."""
        return {"x": ("m", self.position), "y": ("m", self.position)}

    def look(self, pose: tuple[Scalar, Scalar, Scalar], read: Read) -> Mapping[str, Scalar]:
        """The place."""
        return {"x": pose[0], "y": pose[1]}


class MarkFix(FixSensor):
    """Sees marks whose places are known: how far they are, in which direction from the base's heading, or both."""

    partial: ClassVar[bool] = True

    type: Literal["marks"] = "marks"
    marks: dict[Identifier, tuple[Length, Length]] = Field(
        description="Where the marks are in the world, by name: [x, y] (m)."
    )
    range: Positive[Length] | None = default(
        None, "Standard deviation of the distance (m). Default: it isn't told."
    )
    bearing: Positive[Angle] | None = default(
        None, "Standard deviation of the direction (rad). Default: it isn't told."
    )

    @model_validator(mode="after")
    def _sees(self) -> MarkFix:
        if not self.marks:
            raise problem("there are no marks to be seen", "marks: {door: [2, 0]}", ("marks",))
        if self.range is None and self.bearing is None:
            raise problem("marks are seen by range, bearing or both", "range: 5 cm", ("range",))
        return self

    def seen(self) -> Mapping[str, tuple[str, Value]]:
        """Range and bearing of every mark."""
        known = (("range", "m", self.range), ("bearing", "rad", self.bearing))
        return {
            f"{mark}.{what}": (unit, deviation)
            for mark in self.marks
            for what, unit, deviation in known
            if deviation is not None
        }

    def look(self, pose: tuple[Scalar, Scalar, Scalar], read: Read) -> Mapping[str, Scalar]:
        """The distance, and the angle from the heading to the mark, to the left."""
        x, y, theta = pose
        c, s = cos(theta), sin(theta)
        seen: dict[str, Scalar] = {}
        for name, (at_x, at_y) in self.marks.items():
            east, north = read(at_x) - x, read(at_y) - y
            seen[f"{name}.range"] = sqrt(east * east + north * north)
            seen[f"{name}.bearing"] = atan2(c * north - s * east, c * east + s * north)
        return {name: seen[name] for name in self.seen()}


SENSORS.add(Encoders, Gyro, Accelerometer, PoseFix, PositionFix, MarkFix)
