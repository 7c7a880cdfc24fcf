"""The extremes of all that a run shows, over the whole solution: the steps of an integrator, and between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray

# Columns (c, count) at times (count,), states (n, count), and the ends (2, count) of the pieces that they are on.
Look = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

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
# Steps that are kept before they are looked at: 4 MB of a swerve's.
MOST_NOTES = 20_000


@dataclass(frozen=True)
class Steps:
    """Times and states, as bytes, on a piece from `first` to `last` (s), inside which no input jumps: those that an
    integrator tried, its steps among them.
    """

    first: float
    last: float
    times: list[float]
    states: list[bytes]


class Extremes:
    """The least and the greatest of all columns, so far.

    Steps are taken in as they come, and looked at by thousands, or when somebody asks.
    """

    def __init__(self, look: Look) -> None:
        self._look = look
        self._kept, self._count = list[Steps](), 0
        # Of the columns' negatives and of themselves: greatest values, and when.
        self._highest, self._when = np.zeros((2, 0)), np.zeros((2, 0))

    def take(self, steps: Steps) -> None:
        """Take the steps of a piece, or of a part of it, into account."""
        self._kept.append(steps)
        self._count += len(steps.times)
        if self._count > MOST_NOTES:
            self._consider()

    def rows(self) -> FloatArray:
        """Lowest, when, highest, when: (4, c)."""
        self._consider()
        (low, high), (low_at, high_at) = self._highest, self._when
        return np.array([-low, low_at, high, high_at])

    def _consider(self) -> None:
        """Look at the kept steps, and forget them."""
        kept, self._kept, self._count = self._kept, [], 0
        if not kept:
            return
        path = _Path(kept)
        highest, when = path.extremes(self._look)
        if not self._highest.size:
            self._highest, self._when = highest, when
        higher = highest > self._highest
        self._highest = np.where(higher, highest, self._highest)
        self._when = np.where(higher, when, self._when)


class _Path:
    """Steps of several pieces, one after the other; a place 3.5 on it is halfway between its steps 3 and 4."""

    def __init__(self, pieces: list[Steps]) -> None:
        times, states = zip(*(_accepted(steps.times, steps.states) for steps in pieces), strict=True)
        self.times, self.states = np.concatenate(times), np.concatenate(states, axis=1)
        sizes = [part.size for part in times]
        ends = np.cumsum(sizes)
        self.begin, self.end = np.repeat(ends - sizes, sizes), np.repeat(ends, sizes)
        self.edges = np.repeat([[steps.first, steps.last] for steps in pieces], sizes, axis=0).T

    def extremes(self, look: Look) -> tuple[FloatArray, FloatArray]:
        """The greatest values of the columns' negatives and of the columns, (2, c), and when."""
        looks = np.where(self.end == np.arange(1, self.times.size + 1), 1, _LOOKS)
        before = np.repeat(np.cumsum(looks) - looks, looks)
        place = np.repeat(np.arange(self.times.size), looks) + (np.arange(before.size) - before) / _LOOKS
        time, columns = self._seen(look, place)
        crests = _crests(time, np.stack([-columns, columns]), self.begin[place.astype(int)])
        tops = list[np.ndarray]()
        for _ in range(_CRESTS):
            tops.append(crests.argmax(axis=2)[..., None])
            np.put_along_axis(crests, tops[-1], -np.inf, axis=2)
        values, when = self._closer(look, place, np.concatenate(tops, axis=2))
        best = values.argmax(axis=2)[..., None]
        return np.take_along_axis(values, best, 2)[..., 0], np.take_along_axis(when, best, 2)[..., 0]

    def _closer(self, look: Look, place: FloatArray, top: np.ndarray) -> tuple[FloatArray, FloatArray]:
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
            time, columns = self._seen(look, different)
            values = sign * columns[numbers, which]
            values = np.where(np.isnan(values), -np.inf, values)
            best = values.argmax(axis=3)[..., None]
            low = np.take_along_axis(inside, np.maximum(best - 1, 0), 3)[..., 0]
            high = np.take_along_axis(inside, np.minimum(best + 1, _CLOSER - 1), 3)[..., 0]
        return np.take_along_axis(values, best, 3)[..., 0], time[np.take_along_axis(which, best, 3)[..., 0]]

    def _seen(self, look: Look, place: FloatArray) -> tuple[FloatArray, FloatArray]:
        """The times and columns at these places."""
        step = np.minimum(place.astype(int), self.end[place.astype(int)] - 2)
        times = self.times[step] + (place - step) * (self.times[step + 1] - self.times[step])
        return times, look(times, self._between(step, times), self.edges[:, step])

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

    def __init__(self, first: float, last: float, take: Callable[[Steps], None] | None) -> None:
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
            self._take(Steps(*self._ends, times[past].tolist(), rows))
        self.times[:], self.states[:] = [], []
        self.note(times[-3 * _NODES :].tolist(), states[:, -3 * _NODES :])

    def done(self, state: FloatArray) -> None:
        """Hand on the steps that are left; the piece ends at this state."""
        self.note([self._ends[1]], state[:, None])
        if self._take is not None:
            self._take(Steps(*self._ends, self.times, self.states))


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
