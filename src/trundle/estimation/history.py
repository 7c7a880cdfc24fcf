"""Readings by time with what was known after every one, and the compiled steps from one to the next."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.estimation.filter_programs import fix_program, look_program, predict_program
from trundle.estimation.known import StateLayout
from trundle.estimation.readings import FilterReading, FixReading, Kept, StepReading, slack
from trundle.motion.odometry.counts import TURN, Counts
from trundle.program import compile_program
from trundle.robot import FixSensor, Read
from trundle.scalars import wrap


class FilterSteps:
    """The filter's steps in native code: what was known and a reading give what is known then.

    Of many robots both are arrays (n, count). Of one robot they are kept as bytes: moving those to buffers that are
    bound once costs a fifth of looking at arrays.
    """

    def __init__(self, counts: Counts, layout: StateLayout, noise: FloatArray, many: bool) -> None:
        """noise: the squares of `NOISE`; many: whether of many robots."""
        self.counts, self.layout, self.noise = counts, layout, noise
        self.parameters = np.array(list(counts.here.numbers.parameters.values()), dtype=float)
        self._many = many
        self._predict = compile_program(predict_program(counts, layout))
        fix = compile_program(fix_program(layout))
        self._fix = fix if many else fix.single()
        self._looks: dict[str, Callable[..., tuple[FloatArray, ...]]] = {}
        groups = (*self._predict.program.inputs[:2], self._predict.program.outputs[0])
        self._before, self._read, self._moved = (bytearray(8 * group.size) for group in groups)
        state, reading, moved = map(np.frombuffer, (self._before, self._read, self._moved))
        self._run = self._predict.bind(state, reading, self.noise, self.parameters, moved)

    def sees(self, sensor: FixSensor, read: Read) -> str:
        """The name under which looks of a sensor are taken."""
        name = repr(sensor)
        if name not in self._looks:
            self._looks[name] = compile_program(look_program(self.layout, sensor, read)).single()
        return name

    def after(self, state: Kept, reading: FilterReading) -> Kept:
        """What is known after a reading."""
        if isinstance(reading, FixReading):
            given = reading.measured, reading.variances, np.array([reading.gate])
            kernel = self._looks[reading.by] if reading.by else self._fix
            return self.pack(kernel(self.array(state), *given)[0])
        if isinstance(state, bytes) and isinstance(reading.values, bytes):
            self._before[:] = state
            self._read[:] = reading.values
            self._run()
            return bytes(self._moved)
        return self._predict(state, reading.values, self.noise, self.parameters)[0]

    def array(self, kept: Kept) -> FloatArray:
        """What is kept as an array."""
        return np.frombuffer(kept) if isinstance(kept, bytes) else kept

    def pack(self, array: FloatArray) -> Kept:
        """An array as it is kept."""
        return array if self._many else array.tobytes()


class History:
    """Readings of the last `keep` seconds; what follows one that comes late is worked out again."""

    def __init__(self, steps: FilterSteps, start: FloatArray, time: float, keep: float) -> None:
        self._steps, self._keep, self._since = steps, keep, time
        self.time = time
        self.readings: list[FilterReading] = []
        self.states = [steps.pack(start)]

    @property
    def last(self) -> FloatArray:
        """What is known now."""
        return self._steps.array(self.states[-1])

    @property
    def slack(self) -> float:
        """So far behind the last step a time counts as its end (s)."""
        return slack(self.time)

    @property
    def oldest(self) -> float:
        """From here on readings may still come (s)."""
        return max(self._since, self.time - self._keep)

    def go_on(self, step: StepReading) -> None:
        """Take a step that begins where the last one ended, and forget what no fix may come before any more."""
        readings, states = self.readings, self.states
        states.append(self._steps.after(states[-1], step))
        readings.append(step)
        self.time = step.time
        kept = step.time - self._keep - self.slack
        while readings[0].time < kept:
            del readings[0], states[0]

    def require_kept(self, time: float) -> None:
        """Raise InputError for a time that fixes may not come at."""
        if time > self.time + self.slack:
            message = f"the fix is of {time:g} s, and encoders have told up to {self.time:g} s"
            raise InputError(message, key="time", hint="give it again when `predict` has come that far")
        if time < self.oldest - self.slack:
            kept = f"and what is kept begins at {self.oldest:g} s"
            raise InputError(f"the fix is of {time:g} s, {kept}", key="time")

    def put(self, look: FixReading) -> int:
        """Take a fix in, and return its place."""
        look = look._replace(time=self._moment(min(max(look.time, self.oldest), self.time)))
        place = bisect_left(self.readings, look.key, key=lambda reading: reading.key)
        reading = self.readings[place] if place < len(self.readings) else None
        first = place
        if isinstance(reading, StepReading) and reading.start < look.time:
            before, left = self._split(reading, look.time)
            self.readings[place : place + 1] = [before, look, left]
            place += 1
        else:
            self.readings.insert(place, look)
        self._replay(first)
        return place

    def _moment(self, time: float) -> float:
        """A time, or the end or start of the step around it where that is the same but for rounding."""
        place = bisect_left(self.readings, (time, 0, ()), key=lambda reading: reading.key)
        if place < len(self.readings):
            step = self.readings[place]
            if isinstance(step, StepReading):
                near = min(step.start, step.time, key=lambda edge: abs(edge - time))
                return near if abs(near - time) <= self.slack else time
        return time

    def _split(self, step: StepReading, time: float) -> tuple[StepReading, StepReading]:
        """A step in two at a time within it: increments go evenly, and turn angles that are counted."""
        share = (time - step.start) / (step.time - step.start)
        counts = self._steps.counts
        first, turned = self._steps.array(step.values).copy(), list(counts.increments)
        count, steered = len(turned), [turned.index(name) for name in counts.steered]
        first[steered] = wrap(first[steered], TURN)
        second = first.copy()
        first[:count] *= share
        second[:count] -= first[:count]
        for row, name in enumerate(counts.angles, count):
            if name in turned:
                second[row] += first[turned.index(name)]
        first[-1], second[-1] = time - step.start, step.time - time
        parts = self._steps.pack(first), self._steps.pack(second)
        return StepReading(step.start, time, parts[0]), StepReading(time, step.time, parts[1])

    def _replay(self, place: int) -> None:
        """Work out what is known from reading `place` on; no state changes before all are there."""
        known, state = [], self.states[place]
        for reading in self.readings[place:]:
            state = self._steps.after(state, reading)
            known.append(state)
        self.states[place + 1 :] = known
