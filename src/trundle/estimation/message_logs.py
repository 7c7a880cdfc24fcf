"""Logs of messages (.mcap, .wpilog): what sensors told, by topics and paths in their messages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import redirect_stderr, suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from io import StringIO
from itertools import chain

import numpy as np

from trundle.errors import InputError, counted, suggest
from trundle.estimation.measuring import ReadingTimes, SensorSeries
from trundle.estimation.message_paths import number_at, number_paths, steps_of
from trundle.robot import FixSensor, Sensor

# What the error without columns lists: so many topics, and numbers of each.
_MOST_TOPICS, _MOST_NUMBERS = 12, 6
_STAMP = [(("header", ""), ("stamp", ""), (part, "")) for part in ("sec", "nanosec")]


@dataclass(frozen=True, eq=False)
class Topic:
    """Messages of one name: of what `kind`, and their bytes with the time (ns) when they were logged.

    `decode` gives what one holds: numbers, text, sequences, mappings, objects with `__slots__`. Of a topic that isn't
    `wanted` the first has its bytes.
    """

    name: str
    kind: str
    wanted: bool
    decode: Callable[[bytes], object]
    records: list[tuple[int, bytes]] = field(default_factory=list)

    def add(self, logged: int, raw: bytes) -> None:
        """Keep a message, or that there was one."""
        self.records.append((logged, raw if self.wanted or not self.records else b""))

    def message(self, raw: bytes) -> object:
        """What a message holds; InputError where it can't be read."""
        try:
            return self.decode(raw)
        except Exception as error:  # every decoder has errors of its own
            said = str(error) or type(error).__name__
            raise InputError(f"a message of '{self.name}' can't be read: {said}", key="log") from None

    def numbers(self) -> list[str]:
        """The paths of numbers in its first message; none where that can't be read."""
        with suppress(InputError), redirect_stderr(StringIO()):  # where decoders print what they can't read
            return [
                self.name + path for _, raw in self.records[:1] for path in number_paths(self.message(raw))
            ]
        return []

    def read(self, paths: Mapping[str, str]) -> SensorSeries:
        """The numbers at paths by name, with times in ns; messages that have none of them are left out.

        A message's time is its header's stamp, where it has one that was set. InputError where no message has a number.
        """
        steps = [steps_of(path.removeprefix(self.name)) or () for path in paths.values()]
        times, rows = list[int](), list[list[float]]()
        for logged, raw in self.records:
            message = self.message(raw)
            times.append(_stamp(message) or logged)
            rows.append([number_at(message, each) for each in steps])
        numbers = np.array(rows, dtype=float).reshape(len(rows), len(steps))
        there = np.isfinite(numbers)
        for (name, path), some in zip(paths.items(), there.T, strict=True):
            if not some.any():
                message = (
                    f"none of the {counted(len(rows), 'message')} of '{self.name}' has a number {path!r}"
                )
                raise InputError(message, key=f"columns.{name}", hint=suggest(path, self.numbers()))
        told = there.any(axis=1)
        try:
            stamps, logged = np.array([times, [when for when, _ in self.records]], dtype=np.int64)[:, told]
        except OverflowError:
            message = f"a message of '{self.name}' has a time that ns in 64 bits can't hold"
            raise InputError(message, key="log", hint="the file may be damaged") from None
        return SensorSeries(stamps, logged, dict(zip(paths, numbers[told].T, strict=True)))


@dataclass(frozen=True)
class MessageLog:
    """A log's topics by name. With `holds` a value stays until it is logged again: changes alone are."""

    topics: Mapping[str, Topic]
    holds: bool

    def readings(self, sensor: Sensor, columns: Mapping[str, str]) -> SensorSeries:
        """What a sensor told: numbers at paths by its `columns`, with times in ns.

        Those that the log holds stand until the next; else all its topics have to tell at one time, unless a reading
        may lack some. InputError where they don't, and where times fall of what isn't a fix.
        """
        partial = isinstance(sensor, FixSensor) and sensor.partial
        wanted = dict[Topic, dict[str, str]]()
        for name, path in columns.items():
            wanted.setdefault(self._topic(name, path), {})[name] = path
        parts = [topic.read(paths) for topic, paths in wanted.items()]
        if not isinstance(sensor, FixSensor):
            for topic, part in zip(wanted, parts, strict=True):
                _require_rising(topic.name, part.times)
        if len(parts) == 1:
            return parts[0]
        joined = _joined(parts)
        if self.holds and not partial:
            return _held(joined)
        for name, numbers in joined.values.items():
            if not partial and (lacking := np.count_nonzero(np.isnan(numbers))):
                topics = " and ".join(f"'{topic.name}'" for topic in wanted)
                message = f"{topics} tell of one sensor, and at {lacking} of {numbers.size} times not all of them do"
                hint = "messages of one reading have one stamp; else name numbers of one topic"
                raise InputError(message, key=f"columns.{name}", hint=hint)
        return joined

    def _topic(self, name: str, path: str) -> Topic:
        """The topic that a column's path begins with."""
        begun = [
            each for each in self.topics if path.startswith(each) and steps_of(path[len(each) :]) is not None
        ]
        if not begun:
            hint = suggest(path.partition("[")[0].partition(".")[0], self.topics)
            raise InputError(f"the log has no topic for {path!r}", key=f"columns.{name}", hint=hint)
        return self.topics[max(begun, key=len)]

    def without_columns(self, channel: str) -> InputError:
        """What to say where nobody says which of the log's numbers are the robot's: what came most often first."""
        often = sorted(self.topics.values(), key=lambda topic: -len(topic.records))
        numbers = {topic: paths for topic in often if (paths := topic.numbers())}
        lines = [
            f"{topic.name} ({topic.kind}): {', '.join(_first(paths, _MOST_NUMBERS))}"
            for topic, paths in numbers.items()
        ]
        near = get_close_matches(channel, [*chain(*[*numbers.values()][:_MOST_TOPICS])], 1, 0)
        example = f"as in {channel}={near[0]}; " if near else ""
        hint = "\n  ".join([f"{example}topics with numbers:", *(_first(lines, _MOST_TOPICS) or ["none"])])
        return InputError("columns= has to say which numbers in its messages to take", key="log", hint=hint)


def _first(texts: Sequence[str], most: int) -> list[str]:
    return [*texts[:most], "…"] if len(texts) > most else [*texts]


def _stamp(message: object) -> int:
    """The stamp (ns) in a message's header; 0 where there is none."""
    seconds, nanoseconds = (number_at(message, steps) for steps in _STAMP)
    return int(seconds) * 10**9 + int(nanoseconds) if np.isfinite(seconds + nanoseconds) else 0


def _require_rising(topic: str, times: ReadingTimes) -> None:
    """InputError where times (ns) fall."""
    for place in np.flatnonzero(np.diff(times) < 0)[:1]:
        back, after = ((times[place] - times[other]) / 1e9 for other in (place + 1, 0))
        message = f"the stamps of '{topic}' fall by {back:g} s, {after:g} s after the first"
        raise InputError(message, key="log", hint="a log is of one drive by one clock: was it started anew?")


def _joined(parts: Sequence[SensorSeries]) -> SensorSeries:
    """What several topics told by their times, NaN where one told nothing."""
    times = np.unique(np.concatenate([part.times for part in parts]))
    arrivals, values = np.zeros_like(times), {}
    for part in parts:
        rows = np.searchsorted(times, part.times)
        np.maximum.at(arrivals, rows, part.arrivals)
        for name, numbers in part.values.items():
            values[name] = np.full(times.shape, np.nan)
            values[name][rows] = numbers
    return SensorSeries(times, arrivals, values)


def _held(series: SensorSeries) -> SensorSeries:
    """With numbers that stand until the next, from when all are known."""
    known = np.isfinite(list(series.values.values()))
    last = np.maximum.accumulate(np.where(known, np.arange(known.shape[1]), -1), axis=1)
    rows = last.min(axis=0) >= 0
    values = {name: column[at[rows]] for (name, column), at in zip(series.values.items(), last, strict=True)}
    return SensorSeries(series.times[rows], series.arrivals[rows], values)
