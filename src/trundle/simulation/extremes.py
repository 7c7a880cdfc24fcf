"""What all that a run shows does between its samples, by the steps of an integrator: extremes, and where it bends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trundle.arrays import BoolArray, FloatArray
from trundle.simulation import bends

# Columns (c, count) at times (count,), states (n, count), and the ends (2, count) of the pieces that they are on.
Sampler = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

# Between steps the solution is the polynomial through so many of them, as LSODA's own is of an order up to 5 where it
# is stiff; of the examples it is off by 1e-8 of a state's range.
_NODES = 6
# Steps are looked at so often; crests between are told apart by parabolas through three looks.
_LOOKS = 2
# The highest crests of a column that are looked at closer, in so many rounds of so many looks: a bracket of two looks
# shrinks to 1/256, in which a smooth crest is flat to 1e-6 of what the looks missed of it.
_CRESTS, _ROUNDS, _CLOSER = 2, 4, 9
# A step this much shorter than the one before.
_SHORT = 1e-3
# Times at which columns are kept of steps that are forgotten, before they are thinned: 1 MB of a swerve's.
_MOST_TIMES = 4000
# A column whose parabolas stay so much of its range above zero never falls to it.
_NEAR = 0.05
# So many samples tell how far polynomials are off; what is told of a column goes so many times further.
_CHECKED, _BEYOND = 50, 4.0
_NO_SAMPLES = np.zeros(0)
# Steps that are kept before they are looked at: 4 MB of a swerve's.
MOST_NOTES = 20_000


class Fallen(NamedTuple):
    """When a column first came to a level (s), and how many times it did."""

    first: float
    times: int = 1


class Fall(NamedTuple):
    """A column that comes to a level, from above with a sign of 1, from below with one of -1."""

    column: str
    level: float = 0.0
    sign: float = 1.0

    def margin(self, values: FloatArray) -> FloatArray:
        """How far values are from the level; zero or less beyond it."""
        return self.sign * (values - self.level)

    def came(self, values: FloatArray) -> BoolArray:
        """Where values come to the level, or begin there."""
        there = self.margin(values) <= 0
        return there & ~np.append(False, there[:-1])

    def fallen(self, times: FloatArray, values: FloatArray) -> Fallen | None:
        """When values at times (s) came to the level, if they did."""
        came = times[self.came(values)]
        return Fallen(float(came[0]), came.size) if came.size else None


@dataclass(frozen=True)
class StepSpan:
    """Times and states, as bytes, on a piece from `first` to `last` (s), inside which no input jumps: those that an
    integrator tried, its steps among them.
    """

    first: float
    last: float
    times: list[float]
    states: list[bytes]


@dataclass(frozen=True)
class _Seen:
    """Columns (c, count) at times, at places of a path that grow."""

    path: _Path
    place: FloatArray
    times: FloatArray
    columns: FloatArray


class Extremes:
    """The least and the greatest of all columns, so far, points where lines between `samples` (s) would miss them, and
    when `falls` first were, by the places of their columns.

    Steps are taken in as they come, and looked at by thousands, or when somebody asks.
    """

    def __init__(
        self, look: Sampler, samples: FloatArray = _NO_SAMPLES, falls: Mapping[Fall, int] | None = None
    ) -> None:
        self._look, self._samples, self._falls = look, samples, falls or {}
        # When falls first were, how often, and the last value of those that were counted, until when (s).
        self._fallen, self._came, self._last = dict[Fall, float](), Counter[Fall](), dict[Fall, FloatArray]()
        self._kept, self._count, self._counted = list[StepSpan](), 0, -np.inf
        # Of the columns' negatives and of themselves: greatest values, and when.
        self._highest, self._when = np.zeros((2, 0)), np.zeros((2, 0))
        # What was looked at: the latest steps, at first and closely, and times and columns that tell of earlier ones.
        self._looked: _Seen | None = None
        self._seen: _Seen | None = None
        self._times, self._columns = np.zeros(0), np.zeros((0, 0))
        # Which samples the polynomials were held against, and what they had there.
        self._checked, self._found = np.zeros(0, int), np.zeros((0, 0))

    def take(self, steps: StepSpan) -> None:
        """Take the steps of a piece, or of a part of it, into account."""
        self._kept.append(steps)
        self._count += len(steps.times)
        if self._count > MOST_NOTES:
            self._consider()
            self._bend()
            self._thin()

    def rows(self) -> FloatArray:
        """Lowest, when, highest, when: (4, c)."""
        self._consider()
        (low, high), (low_at, high_at) = self._highest, self._when
        return np.array([-low, low_at, high, high_at])

    def fallen(self) -> dict[Fall, Fallen]:
        """When `falls` were, of those that were; how often by the looks."""
        self._open()
        if self._looked is not None and self._unsure(self._looked):
            self._consider()
        return {fall: Fallen(first, max(self._came[fall], 1)) for fall, first in self._fallen.items()}

    def _unsure(self, seen: _Seen) -> bool:
        """Whether one of `falls` may come near its level at the looks `seen`, or between."""
        columns = np.array([fall.margin(seen.columns[column]) for fall, column in self._falls.items()])
        crests = _crests(seen.times, -columns, seen.path.begin[seen.place.astype(int)]).max(axis=1)
        return bool((crests > -_NEAR * np.ptp(columns, axis=1)).any())

    def between(self, rows: Sequence[FloatArray]) -> list[FloatArray]:
        """Times and values (2, k) between the samples that lines have to run through, by column; `rows` are what the
        columns have at the samples.
        """
        self._consider()
        self._bend()
        if not self._times.size:
            return [np.zeros((2, 0)) for _ in rows]
        # Polynomials through steps are off, too: a column that is a small difference of large ones is their noise.
        off = np.abs(self._found - np.array([row[self._checked] for row in rows])).max(axis=1, initial=0.0)
        bound = np.maximum(self._bounds(), _BEYOND * np.nan_to_num(off, nan=np.inf))
        return bends.points(self._samples, rows, self._times, self._columns, bound)

    def _bounds(self) -> FloatArray:
        return bends.bounds(-self._highest[0], self._highest[1])

    def _open(self) -> None:
        """Look at the kept steps."""
        if self._kept:
            self._looked = _Path(self._kept).seen(self._look)
            self._kept, self._count = [], 0

    def _consider(self) -> None:
        """Look at the kept steps closely, and forget them but for what tells where columns bend."""
        self._open()
        if self._looked is None:
            return
        self._bend()
        self._seen, self._looked = self._looked, None
        path = self._seen.path
        highest, when = path.extremes(self._look, self._seen)
        for fall, column in self._falls.items():
            least = (int(fall.sign < 0), column)
            if fall.margin(-fall.sign * highest[least]) <= 0:
                self._fallen.setdefault(fall, path.first(self._look, self._seen, fall, column, when[least]))
        self._count_falls(self._seen)
        if not self._highest.size:
            self._highest, self._when = highest, when
        higher = highest > self._highest
        self._highest = np.where(higher, highest, self._highest)
        self._when = np.where(higher, when, self._when)

    def _count_falls(self, seen: _Seen) -> None:
        """Count how often `falls` were at looks that are later than those before: parts of a piece overlap."""
        new = seen.times > np.maximum.accumulate(np.append(self._counted, seen.times[:-1]))
        for fall, column in self._falls.items():
            last = self._last.get(fall, _NO_SAMPLES)
            values = np.append(last, seen.columns[column][new])
            self._came[fall] += int(fall.came(values)[last.size :].sum())
            self._last[fall] = values[-1:]
        self._counted = max(self._counted, float(seen.times.max()))

    def _bend(self) -> None:
        """Take times and columns of the latest steps, close enough to one another."""
        seen, self._seen = self._seen, None
        if seen is None or self._samples.size < 2:
            return
        times, columns = seen.path.bent(self._look, seen, self._bounds(), self._samples)
        # Parts of a piece overlap, so that polynomials go on from one to the next.
        latest = self._times[-1] if self._times.size else -np.inf
        new = times > np.maximum.accumulate(np.append(latest, times[:-1]))
        times, columns = times[new], columns[:, new]
        checked, place = seen.path.among(self._samples)
        found = seen.path.columns(self._look, place)[1] if place.size else columns[:, :0]
        if self._times.size:
            columns, found = np.hstack([self._columns, columns]), np.hstack([self._found, found])
        self._columns, self._times = columns, np.append(self._times, times)
        self._found, self._checked = found, np.append(self._checked, checked)

    def _thin(self) -> None:
        """Keep few of many times: those that lines through the others would miss."""
        if self._times.size > _MOST_TIMES:
            ends = np.isin(np.arange(self._times.size), [0, self._times.size - 1])
            bound = self._bounds()
            needed = bends.chosen(self._times, self._columns, ends, bound, bends.MOST_POINTS)
            needed = needed.any(axis=0) | ends
            self._times, self._columns = self._times[needed], self._columns[:, needed]


class _Path:
    """Steps of several pieces, one after the other; a place 3.5 on it is halfway between its steps 3 and 4."""

    def __init__(self, pieces: list[StepSpan]) -> None:
        times, states = zip(*(_accepted(steps.times, steps.states) for steps in pieces), strict=True)
        self.times, self.states = np.concatenate(times), np.concatenate(states, axis=1)
        sizes = [part.size for part in times]
        ends = np.cumsum(sizes)
        self.begin, self.end = np.repeat(ends - sizes, sizes), np.repeat(ends, sizes)
        self.edges = np.repeat([[steps.first, steps.last] for steps in pieces], sizes, axis=0).T

    def seen(self, look: Sampler) -> _Seen:
        """The columns at all steps, and between them."""
        looks = np.where(self.end == np.arange(1, self.times.size + 1), 1, _LOOKS)
        before = np.repeat(np.cumsum(looks) - looks, looks)
        place = np.repeat(np.arange(self.times.size), looks) + (np.arange(before.size) - before) / _LOOKS
        return _Seen(self, place, *self.columns(look, place))

    def extremes(self, look: Sampler, seen: _Seen) -> tuple[FloatArray, FloatArray]:
        """The greatest values of the columns' negatives and of the columns, (2, c), and when."""
        place, columns = seen.place, seen.columns
        crests = _crests(seen.times, np.stack([-columns, columns]), self.begin[place.astype(int)])
        tops = list[np.ndarray]()
        for _ in range(_CRESTS):
            tops.append(crests.argmax(axis=2)[..., None])
            np.put_along_axis(crests, tops[-1], -np.inf, axis=2)
        values, when = self._closer(look, place, np.concatenate(tops, axis=2))
        best = values.argmax(axis=2)[..., None]
        return np.take_along_axis(values, best, 2)[..., 0], np.take_along_axis(when, best, 2)[..., 0]

    def first(self, look: Sampler, seen: _Seen, fall: Fall, column: int, when: float) -> float:
        """When a fall first was (s), of a column that is beyond its level at `when`."""
        below = int(np.argmax(np.append(fall.margin(seen.columns[column]) <= 0, True)))
        if below < seen.times.size and seen.times[below] <= when:
            high = seen.place[below]
        else:  # it dips between looks
            below = int(np.searchsorted(seen.times, when))
            high = np.interp(when, seen.times[below - 1 : below + 1], seen.place[below - 1 : below + 1])
        low = seen.place[max(below - 1, 0)]
        if self.begin[int(low)] != self.begin[int(high)]:  # it jumps there
            low = high
        time = seen.times
        for _ in range(2 * _ROUNDS):
            inside = np.linspace(low, high, _CLOSER)
            time, columns = self.columns(look, inside)
            hit = int(np.argmax(np.append(fall.margin(columns[column, :-1]) <= 0, True)))
            low, high = inside[max(hit - 1, 0)], inside[hit]
            time = time[hit : hit + 1]
        return float(time[0])

    def bent(
        self, look: Sampler, seen: _Seen, bound: FloatArray, samples: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Times (n,) and columns (c, n), so near one another that lines between miss none by its bound, where samples
        are further apart. Where inputs jump there are two, a rounding apart.
        """
        place, times, columns = seen.place, seen.times, seen.columns
        middle = np.clip(np.searchsorted(samples, (times[1:] + times[:-1]) / 2), 1, samples.size - 1)
        gaps = samples[middle] - samples[middle - 1]
        cut, lively = bends.parts(times, columns, self.begin[place.astype(int)], bound, gaps)
        if (cut > 1).any():
            which = np.repeat(np.arange(cut.size), cut - 1)
            number = np.arange(which.size) - np.repeat(np.cumsum(cut - 1) - (cut - 1), cut - 1) + 1
            further = place[which] + number / cut[which] * (place[which + 1] - place[which])
            more, added = self.columns(look, further)
            place, times = np.insert(place, which + 1, further), np.insert(times, which + 1, more)
            columns = np.insert(columns, which + 1, added, axis=1)
            lively = np.insert(lively, which + 1, True)
        place, times, columns = place[lively], times[lively], columns[:, lively]
        step = place.astype(int)
        first, last = self.begin[step] == place, self.end[step] - 1 == place
        times = np.where(
            last, np.nextafter(times, -np.inf), np.where(first, np.nextafter(times, np.inf), times)
        )
        return times, columns

    def among(self, samples: FloatArray) -> tuple[np.ndarray, FloatArray]:
        """Which samples lie inside pieces, a few of them spread over all, and their places."""
        steps = np.maximum.accumulate(self.times)  # parts of a piece overlap
        inside = (samples > steps[0]) & (samples < steps[-1]) & ~np.isin(samples, self.edges)
        which = np.flatnonzero(inside)
        which = which[:: max(1, which.size // _CHECKED)]
        step = np.searchsorted(steps, samples[which], side="right") - 1
        share = (samples[which] - self.times[step]) / (self.times[step + 1] - self.times[step])
        return which, step + share

    def _closer(self, look: Sampler, place: FloatArray, top: np.ndarray) -> tuple[FloatArray, FloatArray]:
        """The greatest values (2, c, k) around the looks `top`, and when: brackets that shrink around them."""
        owner = self.begin[place.astype(int)]
        below, above = np.maximum(top - 1, 0), np.minimum(top + 1, place.size - 1)
        low = place[np.where(owner[below] == owner[top], below, top)]
        high = place[np.where(owner[above] == owner[top], above, top)]
        sign, numbers = np.array([-1.0, 1.0])[:, None, None, None], np.arange(top.shape[1])[:, None, None]
        time, which = place, np.zeros(0, int)
        values, best = np.zeros(0), np.zeros(0, int)
        for _ in range(_ROUNDS):
            inside = low[..., None] + (high - low)[..., None] * np.linspace(0, 1, _CLOSER)
            # Different ones alone: monotone columns all have their extremes at the ends.
            different, which = np.unique(inside, return_inverse=True)
            which = which.reshape(inside.shape)
            time, columns = self.columns(look, different)
            values = sign * columns[numbers, which]
            values = np.where(np.isnan(values), -np.inf, values)
            best = values.argmax(axis=3)[..., None]
            low = np.take_along_axis(inside, np.maximum(best - 1, 0), 3)[..., 0]
            high = np.take_along_axis(inside, np.minimum(best + 1, _CLOSER - 1), 3)[..., 0]
        return np.take_along_axis(values, best, 3)[..., 0], time[np.take_along_axis(which, best, 3)[..., 0]]

    def columns(self, look: Sampler, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The times and columns at these places."""
        step = np.minimum(place.astype(int), self.end[place.astype(int)] - 2)
        times = self.times[step] + (place - step) * (self.times[step + 1] - self.times[step])
        states, inside = self.states[:, place.astype(int)], place % 1 > 0
        if inside.any():
            states[:, inside] = self._between(step[inside], times[inside])
        return times, look(times, states, self.edges[:, step])

    def _between(self, step: np.ndarray, times: FloatArray) -> FloatArray:
        """States (n, count) by Lagrange's polynomials through the steps around, of the same piece."""
        first = np.clip(step - _NODES // 2 + 1, self.begin[step], np.maximum(self.end[step] - _NODES, 0))
        first = np.maximum(first, self.begin[step])
        places = first[:, None] + np.arange(_NODES)
        known = places < self.end[step][:, None]
        places = np.where(known, places, first[:, None])
        nodes = self.times[places]
        away = times[:, None] - nodes
        weights = known.astype(float)
        for j in range(_NODES):
            for k in range(_NODES):
                if k != j:
                    apart = np.where(known[:, j] & known[:, k], nodes[:, j] - nodes[:, k], 1.0)
                    weights[:, j] *= np.where(known[:, k], away[:, k] / apart, 1.0)
        return np.einsum("ck,nck->nc", weights, self.states[:, places])


def _crests(time: FloatArray, values: FloatArray, owner: np.ndarray) -> FloatArray:
    """How high the crests of values (..., count) are, by parabolas through a look and its neighbours; -inf elsewhere.

    owner: whose looks they are; neighbours on other pieces don't count.
    """
    joined = owner[1:] == owner[:-1]
    inner = np.append(False, joined) & np.append(joined, False)
    falls = values[..., 1:] <= values[..., :-1]
    crest = np.ones(values.shape, bool)
    crest[..., :-1] &= falls | ~joined
    crest[..., 1:] &= (values[..., 1:] >= values[..., :-1]) | ~joined
    crests = np.where(crest, values, -np.inf)
    at = np.nonzero(crest & inner)
    before, after = (*at[:-1], at[-1] - 1), (*at[:-1], at[-1] + 1)
    earlier, later = time[at[-1]] - time[before[-1]], time[after[-1]] - time[at[-1]]
    with np.errstate(all="ignore"):
        left, right = (values[at] - values[before]) / earlier, (values[after] - values[at]) / later
        bend, slope = (right - left) / (earlier + later), (left * later + right * earlier) / (earlier + later)
        crests[at] += np.where(bend < 0, -(slope**2) / (4 * bend), 0.0)
    return crests


class Recorder:
    """Where an integrator asked for rates on a piece from `first` to `last` (s): times, and states as bytes.

    They are handed on to `take`, if anybody wants them: by thousands, the rest when the piece is `done`.
    """

    def __init__(self, first: float, last: float, take: Callable[[StepSpan], None] | None) -> None:
        self._ends, self._take = (first, last), take
        self.times: list[float] = []
        self.states: list[bytes] = []

    def note(self, times: Sequence[float], states: FloatArray) -> None:
        """Further times, and the states (n, times) there."""
        self.times.extend(times)
        self.states.extend(state.tobytes() for state in states.T)
        self.shorten()

    def shorten(self) -> None:
        """Hand on most of the steps where there are many; polynomials go on from the last few."""
        if len(self.times) < MOST_NOTES:
            return
        times, states = _accepted(self.times, self.states)
        if self._take is not None and times.size > 3 * _NODES:  # else most of them failed
            past = slice(0, -_NODES)
            rows = [state.tobytes() for state in states[:, past].T]
            self._take(StepSpan(*self._ends, times[past].tolist(), rows))
        self.times[:], self.states[:] = [], []
        self.note(times[-3 * _NODES :].tolist(), states[:, -3 * _NODES :])

    def done(self, state: FloatArray) -> None:
        """Hand on the steps that are left; the piece ends at this state.

        Of what was asked most were no steps, where differences gave slopes: the others are few enough to wait.
        """
        self.note([self._ends[1]], state[:, None])
        if self._take is not None:
            times, states = _accepted(self.times, self.states)
            self._take(StepSpan(*self._ends, times.tolist(), [row.tobytes() for row in states.T]))


def _accepted(times: list[float], states: list[bytes]) -> tuple[FloatArray, FloatArray]:
    """Times (k,) and states (n, k) of an integrator's steps, from where it asked for rates, in order.

    Where it went back, a step had failed; where it asked twice, the later state is the better. A last step that only
    brings it to the end of its piece is one with the step before: polynomials through both would magnify rounding.
    """
    at = np.array(times)
    later = np.append(np.minimum.accumulate(at[::-1])[::-1][1:], np.inf)
    steps = np.flatnonzero(at < later)
    lengths = np.diff(at[steps])
    short = np.append(np.append(False, lengths[1:] < _SHORT * lengths[:-1]), False)[: steps.size]
    steps = steps[~short]
    rows = np.frombuffer(b"".join([states[k] for k in steps])).reshape(steps.size, -1).T
    return at[steps], rows
