"""An estimator as a part of a robot: its sensors, with their noise, and the filter are traced into the closed loop.

    the robot's motion, draws of noise ──► sensors ──► the last readings ──► filter ──► states NAME.x, .y, .theta, …

It samples with its encoders. Fixes come late, so the filter's own state is that of the greatest latency ago, when all
fixes of that time had come. From there on what encoders, gyro and fixes told since is gone through at every sample: as
an `Estimator` that is told the same readings as they come.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Literal

from pydantic import Field, PrivateAttr

from trundle.errors import InputError
from trundle.estimation.filter_programs import NOISE, fix_program, look_program, predict_program
from trundle.estimation.known import NIS, StateLayout
from trundle.estimation.loop_sensors import NEVER, SAME, LoopSensors, Slot, own_name
from trundle.estimation.slip import owners_of
from trundle.frozen import settle
from trundle.program import Program
from trundle.program.tracer import traced
from trundle.robot import Gyro, Robot, Sensor, units
from trundle.robot.component import default
from trundle.robot.controllers import CONTROLLERS, Action, Controller, Draw, DrivenBase, Sight, UnitOf
from trundle.robot.kinds import Read, State
from trundle.robot.sensor import POSE
from trundle.robot.values import Angle, Length, NotNegative, Plain, Positive, Value
from trundle.scalars import Scalar, less, minimum, where

_POSE_UNITS = {"x": "m", "y": "m", "theta": "rad", "bias": "rad/s"}


class PoseEstimator(Controller):
    """Says where a base on a plane is by the robot's sensors: encoders, a gyro, fixes of the pose, and marks.

    An error-state Kalman filter on SE(2), as `trundle.Estimator`. Controllers read `NAME.x`, `NAME.y`, `NAME.theta`; a
    tracker does where it has `pose: NAME`. It samples with the encoders. What it starts from is the true pose, off by
    noise of the standard deviations `position` and `heading`.
    """

    written: ClassVar[bool] = False

    type: Literal["estimator"] = "estimator"
    encoders: Positive[Angle] | None = Field(
        default=None,
        description="Noise of increments that it counts on (rad over 1 rad). Default: the encoders' own.",
    )
    gyro: Positive[Plain] | None = Field(
        default=None, description="Density of the gyro's noise that it counts on. Default: the gyro's own."
    )
    slip: Positive[Plain] | None = Field(
        default=None,
        description="How far a contact creeps over 1 m (m/sqrt(m)): wheels that slip more count for less. "
        "Default: it isn't looked for.",
    )
    gate: Positive[Plain] | None = Field(
        default=None, description="The largest Mahalanobis distance at which a fix is used. Default: none."
    )
    position: NotNegative[Length] = default(0.0, "Standard deviation of x and y at the start (m), default 0.")
    heading: NotNegative[Angle] = default(
        0.0, "Standard deviation of the heading at the start (rad), default 0."
    )

    _filter: _Filter | None = PrivateAttr(default=None)

    def on(self, base: DrivenBase) -> Controller:
        """The same that knows the robot's sensors."""
        robot = base.robot
        assert isinstance(robot, Robot)
        bound = self.model_copy()
        told = _Filter(self, robot)
        if self.period is None:
            bound = self.model_copy(update={"period": told.sensors.encoders.period})
        elif abs(self.period.number - told.sensors.period) > SAME * told.sensors.period:
            raise told.refused(
                f"it samples with its encoders, every {told.sensors.period:g} s", "leave its period away"
            )
        if self.delay.number:
            raise told.refused("it has no delay: what its sensors tell comes late", "give them a latency")
        settle(bound, _filter=told)
        return bound

    def reads_from(self) -> tuple[str, ...]:
        """What its sensors look at."""
        return () if self._filter is None else self._filter.reads

    def acts_on(self) -> tuple[str, ...]:
        """Nothing: others read it."""
        return ()

    def references(self) -> tuple[str, ...]:
        """The draws of the sensors' noise."""
        return tuple(self.noise())

    def noise(self) -> Mapping[str, Draw]:
        """All of them."""
        return {} if self._filter is None else self._filter.draws

    def states(self, read: Read) -> Mapping[str, State]:
        """What it knows, what its sensors keep, and the last readings."""
        return {} if self._filter is None else dict.fromkeys(self._filter.states, State(units.ANY))

    def memory(self) -> tuple[str, ...]:
        """All but what is estimated now, and how well it agrees with what sensors tell."""
        return () if self._filter is None else self._filter.memory

    def at_once(self) -> tuple[str, ...]:
        """The pose."""
        return POSE

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """Of the pose and the bias."""
        return _POSE_UNITS

    def law(self, sight: Sight, read: Read) -> Action:
        """A sample: the sensors tell, then the filter goes on."""
        assert self._filter is not None
        return Action({}, after=self._filter.sample(sight, read))


class _Filter:
    """An estimator of a robot: the names of its states and draws, and a sample in scalars of a tracer."""

    def __init__(self, component: PoseEstimator, robot: Robot) -> None:
        self.component, self.robot = component, robot
        self.name = next((name for name, each in robot.controllers.items() if each is component), "estimator")
        self.sensors = LoopSensors(robot, self.refused)
        self._check()

    def refused(self, why: str, hint: str) -> InputError:
        """An error of this estimator."""
        key = f"robot.controllers.{self.name}"
        return InputError(f"the estimator '{self.name}' of '{self.robot.name}': {why}", key=key, hint=hint)

    def _check(self) -> None:
        """Raise InputError where there is no noise to count on, or a sensor has a name of its own noise."""
        sensors = self.sensors
        if "start" in sensors.all:
            hint = "call it otherwise: start_fix, say"
            raise self.refused("its sensor 'start' has the name of the noise that it begins with", hint)
        encoders = self.component.encoders, sensors.encoders_name, sensors.encoders
        gyro = self.component.gyro, sensors.gyro_name, sensors.gyro
        for own, name, sensor in (encoders, gyro):
            if own is None and sensor is not None and _noise_of(sensor, "noise").constant == 0:
                hint = f"noise: … for '{name}', or for the estimator"
                raise self.refused(f"its sensor '{name}' has no noise, and it has to count on some", hint)

    @cached_property
    def layout(self) -> StateLayout:
        """What the filter knows."""
        gyro = self.sensors.gyro
        drifts = isinstance(gyro, Gyro) and not all(value.constant == 0 for value in (gyro.bias, gyro.wander))
        wheels = () if self.component.slip is None else dict.fromkeys(owners_of(self.sensors.counts))
        return StateLayout(drifts, tuple(wheels))

    @cached_property
    def step(self) -> Program:
        """What encoders and the gyro tell."""
        return predict_program(self.sensors.counts, self.layout)

    @cached_property
    def looks(self) -> dict[str, Program]:
        """What fixes tell, by sensor."""
        read = self.robot.resolver()
        return {
            name: fix_program(self.layout) if each.tells_pose(read) else look_program(self.layout, each, read)
            for name, each in self.sensors.fixes.items()
        }

    @property
    def reads(self) -> tuple[str, ...]:
        """The pose that it starts from, and what its sensors look at."""
        return tuple(dict.fromkeys((*POSE, *self.sensors.reads)))

    @cached_property
    def draws(self) -> dict[str, Draw]:
        """The references that are noise."""
        start = {"x": self.component.position, "y": self.component.position, "theta": self.component.heading}
        begins = (f"start.{name}" for name, spread in start.items() if spread.constant != 0)
        return self.sensors.draws | {draw: Draw(draw, self.sensors.period) for draw in begins}

    @cached_property
    def states(self) -> tuple[str, ...]:
        """What is known now first; the sample's number; then sensors' own, the last readings, what was known then."""
        then = self._state_names("then") if self.sensors.depth else ()
        return (*self._state_names("now"), "count", *self.sensors.states, *self.sensors.history, *then)

    @property
    def memory(self) -> tuple[str, ...]:
        """Covariances, which figures show as ellipses, and what a sample leaves for the next one."""
        layout, now = self.layout, self._state_names("now")
        told = {*layout.names, *now[layout.nis :]}
        return tuple(name for name in self.states if name not in told)

    def _state_names(self, when: str) -> list[str]:
        told = {"gyro": "gyro_nis", "fix": "fix_nis"} | {name: f"{name}_slip" for name in self.layout.wheels}
        names = [told.get(label, label) for label in self.layout.labels]
        return names if when == "now" else [f"then_{name}" for name in names]

    def sample(self, sight: Sight, read: Read) -> dict[str, Scalar]:
        """The states after a sample."""
        states, number, sensors = sight.states, sight.states["count"], self.sensors
        begun, depth = less(0.5, number), sensors.depth
        told, after = sensors.sense(sight, read, begun)
        after["count"] = minimum(number + 1, NEVER)
        slots = [sensors.slot(sight, told, read), *sensors.before(states)]
        step, start = _Step(self, read), self._start(sight, read)
        names = self._state_names("then") if depth else self._state_names("now")
        known = [where(begun, states[name], first) for name, first in zip(names, start, strict=True)]
        if depth:
            known = step.over(known, slots[-1], depth, number - depth)
            after |= dict(zip(names, known, strict=True))
        for age in range(depth - 1 if depth else 0, -1, -1):
            known = step.over(known, slots[age], age, number - age)
        after |= dict(zip(self._state_names("now"), known, strict=True))
        kept = [value for slot in slots[:depth] for value in slot.flat()]
        counts = told[sensors.encoders_name].values
        last = {f"last_{own_name(name)}": value for name, value in counts.items()}
        return after | dict(zip(sensors.history, kept, strict=True)) | last

    def _start(self, sight: Sight, read: Read) -> list[Scalar]:
        """What is known at first."""
        spread = {
            "x": read(self.component.position),
            "y": read(self.component.position),
            "theta": read(self.component.heading),
        }
        drawn = {name: sight.references.get(f"start.{name}", 0.0) for name in POSE}
        values = [sight.read[name] + spread[name] * drawn[name] for name in POSE]
        variances = [spread[name] ** 2 for name in POSE]
        gyro = self.sensors.gyro
        if self.layout.bias and gyro is not None:
            values.append(0.0)
            variances.append(read(_noise_of(gyro, "bias")) ** 2)
        upper = [variances[i] if i == j else 0.0 for i, j in self.layout.pairs]
        return [*values, *upper, *(0.0 for _ in (*NIS, *self.layout.wheels))]


class _Step:
    """The filter's step over a slot, by the noise that it counts on."""

    def __init__(self, told: _Filter, read: Read) -> None:
        """By the numbers that `read` gives."""
        self._filter, component = told, told.component
        by_key = {value.key: value for _, value in told.robot.every_value if value.is_parameter}
        predict = told.step
        labels = predict.inputs[predict.input_index("parameter")].labels
        self._parameters = [read(by_key[label]) for label in labels]
        gyro, encoders = told.sensors.gyro, told.sensors.encoders
        walks = read(component.encoders or _noise_of(encoders, "noise"))
        wanders = 0.0 if gyro is None else read(_noise_of(gyro, "wander"))
        creeps = 0.0 if component.slip is None else read(component.slip)
        squares = {"encoders": walks * walks, "wander": wanders * wanders, "slip": creeps * creeps}
        self._noise = [squares[name] for name in NOISE]
        density = 0.0 if gyro is None else read(component.gyro or _noise_of(gyro, "noise"))
        self._density = density * density
        gate = math.inf if component.gate is None else read(component.gate)
        self._gate = gate * gate
        self._spread = {
            name: {of: read(value) ** 2 for of, (_, value) in sensor.seen().items()}
            for name, sensor in told.sensors.fixes.items()
        }

    def over(self, known: list[Scalar], slot: Slot, age: int, number: Scalar) -> list[Scalar]:
        """What is known after a slot, seen so many samples later; its own number is below 0 where there was none."""
        told, sensors = self._filter, self._filter.sensors
        predict, period = told.step, sensors.period
        *step, heard = slot.step
        density = math.inf if sensors.gyro is None else where(less(0.5, heard), self._density, math.inf)
        reading = [*step, density, period]
        groups = {"state": known, "reading": reading, "noise": self._noise, "parameter": self._parameters}
        moved = traced(predict, groups)["state"]
        known = [where(less(0.5, number), new, old) for new, old in zip(moved, known, strict=True)]
        for name, (values, late) in slot.fixes.items():
            here = less(-0.5, number) * less(late, age * period + SAME * period)
            seen = dict(zip(sensors.fixes[name].seen(), values, strict=True))
            spread, look = self._spread[name], told.looks[name]
            names = look.inputs[look.input_index("measured")].labels
            groups = {
                "state": known,
                "measured": [seen.get(of, 0.0) for of in names],
                "variance": [where(here, spread[of], math.inf) if of in spread else math.inf for of in names],
                "gate": [self._gate],
            }
            known = traced(look, groups)["state"]
        return known


def _noise_of(sensor: Sensor, key: str) -> Value:
    value = getattr(sensor, key)
    assert isinstance(value, Value)
    return value


CONTROLLERS.add(PoseEstimator)
