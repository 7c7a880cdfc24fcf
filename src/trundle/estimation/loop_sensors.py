"""The sensors of an estimator in a closed loop: what they tell at its samples, and the last readings, which wait.

A slot has what was told of one period. As many slots are kept as fixes may be late.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

from trundle.errors import InputError
from trundle.estimation.readings import only_sensor, single_sensor
from trundle.motion.odometry.counts import Counts, derive_counts
from trundle.robot import Encoders, FixSensor, Gyro, Robot, Sensor
from trundle.robot.controllers import MOST_WAITING, Draw, Sight
from trundle.robot.kinds import Read
from trundle.robot.sensor import Counted, Reading, SensorScene
from trundle.scalars import Scalar, floor, less, where

# Times closer than this share of a period are one. What never arrives is that many seconds late.
SAME, NEVER = 1e-6, 1e9


@dataclass(frozen=True)
class Slot:
    """What was told of one period: turns, angles, the gyro's rate and whether it told; and of every fix what was seen
    and how late it comes, `NEVER` where there was none.
    """

    step: Sequence[Scalar]
    fixes: Mapping[str, tuple[Sequence[Scalar], Scalar]]

    def flat(self) -> Iterator[Scalar]:
        """All its numbers in a row."""
        yield from self.step
        for values, late in self.fixes.values():
            yield from (*values, late)


class LoopSensors:
    """The encoders, the gyro and the fixes that an estimator of a robot takes, sample by sample.

    Raises InputError, made by `refused(why, hint)`, where they keep times that samples can't.
    """

    def __init__(self, robot: Robot, refused: Callable[[str, str], InputError]) -> None:
        self.robot, self._refused = robot, refused
        self.encoders_name = only_sensor(robot, Encoders, "encoders")
        self.gyro_name = single_sensor(robot, Gyro, "gyro")
        self.fixes = {name: each for name, each in robot.sensors.items() if isinstance(each, FixSensor)}
        self._check()

    @property
    def encoders(self) -> Encoders:
        """The sensor by whose clock it samples."""
        return cast(Encoders, self.robot.sensors[self.encoders_name])

    @property
    def gyro(self) -> Sensor | None:
        """What tells the turning rate, where there is one."""
        return None if self.gyro_name is None else self.robot.sensors[self.gyro_name]

    @property
    def period(self) -> float:
        """Between samples (s)."""
        return self.encoders.period.number

    def _check(self) -> None:
        """Raise InputError where sensors keep times that samples can't."""
        for name, sensor in ((self.encoders_name, self.encoders), (self.gyro_name, self.gyro)):
            if sensor is not None and sensor.latencies[1]:
                hint = "only fixes may come late there; trundle.estimate takes such logs"
                raise self._refused(f"its sensor '{name}' tells late, which a loop can't wait for", hint)
            if sensor is not None and abs(sensor.period.number - self.period) > SAME * self.period:
                hint = f"period: {self.encoders.period} for '{name}'"
                raise self._refused(
                    f"encoders and gyro have to keep one period, and '{name}' has another", hint
                )
        if self.encoders.dropouts.number:
            hint = "trundle.estimate takes such logs"
            raise self._refused("its encoders drop readings, and it samples by them", hint)
        for name, sensor in self.fixes.items():
            if self.stride(name) is None:
                message = f"'{name}' tells every {sensor.period.number:g} s, no multiple of {self.period:g} s"
                near = max(1, round(sensor.period.number / self.period)) * self.period
                raise self._refused(message, f"period: {near:g} s")
        if self.depth > MOST_WAITING:
            message = (
                f"fixes come up to {self.depth} samples late, and at most {MOST_WAITING} are gone through"
            )
            raise self._refused(message, "less latency, or a longer period")

    def stride(self, name: str) -> int | None:
        """So many samples lie between two readings of a fix; None where no whole number does."""
        ratio = self.fixes[name].period.number / self.period
        return round(ratio) if round(ratio) and abs(ratio - round(ratio)) <= SAME * ratio else None

    @cached_property
    def depth(self) -> int:
        """So many samples ago all fixes have come."""
        late = max((sensor.latencies[1] for sensor in self.fixes.values()), default=0.0)
        return math.ceil(late / self.period - SAME)

    @cached_property
    def counts(self) -> Counts:
        """What its encoders count."""
        return derive_counts(self.robot)

    @cached_property
    def counted(self) -> Counted:
        """Their names."""
        return Counted(tuple(self.counts.increments), tuple(self.counts.angles))

    @cached_property
    def all(self) -> dict[str, Sensor]:
        """Those that it takes."""
        names = [self.encoders_name, self.gyro_name, *self.fixes]
        return {name: self.robot.sensors[name] for name in names if name is not None}

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """What they look at."""
        named = (name for sensor in self.all.values() for name in sensor.reads_from(self.counted))
        return tuple(dict.fromkeys(named))

    @cached_property
    def draws(self) -> dict[str, Draw]:
        """The references that are their noise."""
        found: dict[str, Draw] = {}
        for name, sensor in self.all.items():
            period = sensor.period.number
            normal = (f"{name}.{draw}" for draw in sensor.draws(self.counted))
            found |= {draw: Draw(draw, period) for draw in normal}
            even = {"dropouts": sensor.dropouts.number, "latency": sensor.latencies[1] - sensor.latencies[0]}
            drawn = (f"{name}.{what}" for what, much in even.items() if much)
            found |= {draw: Draw(draw, period, even=True) for draw in drawn}
        return found

    @cached_property
    def states(self) -> list[str]:
        """The states that they keep, and the counts of the last sample."""
        own = [own_name(name, of) for name, each in self.all.items() for of in each.states(self.counted)]
        return own + [f"last_{own_name(name)}" for name in self.counted.names]

    @cached_property
    def history(self) -> list[str]:
        """The last readings, newest first."""
        return [f"ago_{age}_{place}" for age in range(self.depth) for place in range(self._width)]

    @property
    def _step_width(self) -> int:
        """The numbers of a slot's step: turns, angles, the gyro's rate and whether it told."""
        return len(self.counted.increments) + len(self.counted.angles) + 2

    @cached_property
    def _width(self) -> int:
        """The numbers of a slot."""
        return self._step_width + sum(len(sensor.seen()) + 1 for sensor in self.fixes.values())

    def sense(self, sight: Sight, read: Read, begun: Scalar) -> tuple[dict[str, Reading], dict[str, Scalar]]:
        """What the sensors tell now, and their states after it."""
        told, after = dict[str, Reading](), dict[str, Scalar]()
        for name, sensor in self.all.items():
            own = {state: sight.states[own_name(name, state)] for state in sensor.states(self.counted)}
            draws = {draw: sight.references[f"{name}.{draw}"] for draw in sensor.draws(self.counted)}
            truth = {of: sight.read[of] for of in sensor.reads_from(self.counted)}
            scene = SensorScene(truth, draws, own, begun, self.period)
            told[name] = sensor.measure(scene, self.counted, read)
            after |= {own_name(name, state): value for state, value in told[name].states.items()}
        return told, after

    def slot(self, sight: Sight, told: Mapping[str, Reading], read: Read) -> Slot:
        """What was told of the period that ends now."""
        last = {name: sight.states[f"last_{own_name(name)}"] for name in self.counted.names}
        counts = told[self.encoders_name].values
        step = [self.encoders.wrap_angle(counts[name] - last[name], read) for name in self.counted.increments]
        step += [last[name] for name in self.counted.angles]
        gyro = self.gyro_name
        step += [0.0, 0.0] if gyro is None else [told[gyro].values["rate"], self._came(sight, gyro)]
        fixes = {}
        for name, sensor in self.fixes.items():
            every, number = self.stride(name) or 1, sight.states["count"]
            due = less(number - every * floor(number / every + SAME), 0.5)
            least, greatest = sensor.latencies
            late = (
                least
                if least == greatest
                else least + (greatest - least) * sight.references[f"{name}.latency"]
            )
            came = where(due, where(self._came(sight, name), late, NEVER), NEVER)
            fixes[name] = (list(told[name].values.values()), came)
        return Slot(step, fixes)

    def _came(self, sight: Sight, name: str) -> Scalar:
        """1 where a reading isn't lost."""
        lost = self.all[name].dropouts.number
        return 1.0 - less(sight.references[f"{name}.dropouts"], lost) if lost else 1.0

    def before(self, states: Mapping[str, Scalar]) -> list[Slot]:
        """The slots of the samples before, newest first."""
        values, slots = [states[name] for name in self.history], list[Slot]()
        for age in range(self.depth):
            row = iter(values[age * self._width : (age + 1) * self._width])
            step = [next(row) for _ in range(self._step_width)]
            fixes = {
                name: ([next(row) for _ in sensor.seen()], next(row)) for name, sensor in self.fixes.items()
            }
            slots.append(Slot(step, fixes))
        return slots


def own_name(*names: str) -> str:
    """A name for a state."""
    return "_".join(name.replace(".", "_") for name in names)
