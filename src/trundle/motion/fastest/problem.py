"""A problem of `trundle.fastest` in numbers: from a drive, poses and obstacles to a programme, and back to a piece."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from trundle.arrays import BoolArray, FloatArray, IntArray
from trundle.mechanics.modules import SLACK, turns_into_range
from trundle.motion.drive.drive import Drive
from trundle.motion.fastest.directed import Directed
from trundle.motion.fastest.intervals import Layout
from trundle.motion.fastest.obstacles import Obstacle
from trundle.motion.fastest.programme import Nodes, programme
from trundle.motion.fastest.wheel_rates import WheelShape
from trundle.motion.paths.pose_paths import LIMITS, Zone
from trundle.motion.pieces.profiles import PiecewisePolynomial

# What an interval takes at least and at most, in the guess's own time.
_SHORTEST, _LONGEST = 1e-3, 1e3
# The same where parts of a leg have durations of their own: no other part is to take a part's place.
_PARTED = 5.0
# Obstacles farther away from a guess than so many times the robot's size don't count in a programme.
_REACH = 2.0
# Programmes at most, one after the other, until none leads through an obstacle that didn't count.
_ROUNDS = 4
# Looks at an interval for how far modules turn.
_LOOKS = 8
# What a base may do on a leg of which nothing is asked.
FREE = Zone(0.0, math.inf)


@dataclass(frozen=True)
class Stop:
    """A pose that a motion goes through: x, y (m), θ (rad; None where it is free), the base's speed there (m/s; None
    where it is free), and what is asked of the base on the way from there.
    """

    x: float
    y: float
    heading: float | None = None
    speed: float | None = None
    leg: Zone = FREE


@dataclass(frozen=True, eq=False)
class Problem:
    """From rest to rest through stops, between obstacles.

    Parameters
    ----------
    drive : Drive
        Of wheels that are fixed, have rollers, or steer about their centres.
    stops : tuple of Stop
        The start first, the goal last.
    obstacles : tuple of Obstacle
        Convex, on the floor.
    outline : array (c, 2), m
        The robot's, convex, in its frame.
    hold : array (2 m, 3), optional
        The wheels' forces by the base's acceleration (m/s², rad/s²), as shares of what the floor holds, about.
    parts : tuple of int, optional
        Of how many phases the legs are: one, or that many with durations of their own.
    """

    drive: Drive
    stops: tuple[Stop, ...]
    obstacles: tuple[Obstacle, ...]
    outline: FloatArray
    hold: FloatArray | None = None
    parts: tuple[int, ...] = ()

    def grown(self, distance: float) -> Problem:
        """The same with so much more around its obstacles (m)."""
        return replace(self, obstacles=tuple(obstacle.grown(distance) for obstacle in self.obstacles))

    @property
    def start(self) -> tuple[float, float, float]:
        """The first stop's pose."""
        stop = self.stops[0]
        assert stop.heading is not None
        return stop.x, stop.y, stop.heading

    @cached_property
    def size(self) -> float:
        """The unit of lengths: how far the farthest module stands from the base's origin (m)."""
        return float(np.abs(self.drive.places).max(initial=1e-3))

    @cached_property
    def second(self) -> float:
        """The unit of times: what the unit of lengths takes at the greatest speed (s)."""
        return self.size / float(self.drive.rolling[0].min())

    @cached_property
    def basis(self) -> FloatArray:
        """(k, 3): the twists that wheels allow which neither steer nor have rollers, in units of `size`."""
        holding = Drive(self.drive.holding, self.drive.limits[: len(self.drive.holding)])
        if not holding.modules:
            return np.eye(3)
        across = 1j * np.exp(1j * holding.headings)
        scaled = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1 / self.size]]) @ holding.map
        rows = (np.conj(across) * scaled).real.T
        _, sizes, vectors = np.linalg.svd(rows)
        rank = int((sizes > 1e-9 * max(1.0, sizes[0])).sum())
        return vectors[rank:]

    @cached_property
    def steered(self) -> bool:
        """Whether directions and speeds along them are apart: those of wheels that steer."""
        return bool(self.drive.points.any())

    @cached_property
    def degrees(self) -> tuple[int, int]:
        """Of d and r: so smooth that what is limited has no impulses."""
        rolling = _order(self.drive.rolling[1:])
        if not self.steered:
            return rolling, -1
        return max(_order(self.drive.steering), rolling), rolling

    def shape(self, phases: tuple[int, ...]) -> Layout:
        """That of a programme with so many intervals between stops."""
        return Layout(
            tuple(self._wheel(i) for i in range(len(self.drive.modules))),
            tuple((float(a), float(b), float(c)) for a, b, c in self.basis.round(14) + 0.0),
            self.degrees,
            phases,
            tuple(len(obstacle.corners) for obstacle in self.obstacles),
            len(self.outline) if self.obstacles else 0,
            self._active,
            self.hold is not None,
        )

    def _wheel(self, place: int) -> WheelShape:
        """What the programme knows of the wheel at a place of the drive."""
        module = self.drive.modules[place]
        every = (*self.drive.steering[:, place], *self.drive.rolling[:, place])
        slope = float(module.rollers[1]) / float(module.rollers[0]) if module.rollers else 0.0
        points = bool(self.drive.points[place])
        return WheelShape(
            points,
            0.0 if points else float(self.drive.headings[place]),
            slope,
            tuple(math.isfinite(limit) and (points or k > 2) for k, limit in enumerate(every)),
            points and bool(self._ranges[place] <= math.pi + SLACK),
        )

    def numbers(self, share: float) -> FloatArray:
        """The programme's parameters, motions being asked to be within limits taken so many times as fast."""
        places = np.stack([self.drive.places.real, self.drive.places.imag], axis=1) / self.size
        limits = np.concatenate([self.drive.steering, self.drive.rolling]).T
        time, length = self.second ** np.arange(1, 4), self.size
        scaled = np.where(np.isfinite(limits), limits, 1.0) * np.concatenate([time, time / length])
        scaled = scaled * np.tile(share ** np.arange(1.0, 4), 2)
        ranges = np.nan_to_num(self.drive.ranges.T, posinf=0.0, neginf=0.0)
        parts = [places, scaled, ranges]
        if self.hold is not None:
            parts.append(self.hold * [length, length, 1.0] / (share * self.second) ** 2)
        if self.obstacles:
            parts.append(self.outline / length)
            # the last row holds the radius about the corners
            parts += [np.concatenate([o.corners, [[o.radius, 0.0]]]) / length for o in self.obstacles]
        return np.concatenate([part.T.ravel() for part in parts])

    def bounds(self, phases: tuple[int, ...], guess: Nodes) -> tuple[Nodes, Nodes]:
        """What the nodes are at least and at most: the stops' poses, and rest at both ends."""
        n = sum(phases)
        parts = guess.states, guess.controls, guess.lines
        x, u, lines = (np.full_like(part, -np.inf) for part in parts)
        least, most = (1 / _PARTED, _PARTED) if self.parts else (_SHORTEST, _LONGEST)
        lower = Nodes(x, u, lines, guess.durations * least)
        upper = Nodes(-x, -u, -lines, guess.durations * most)
        for node, stop in zip(self.stop_nodes(phases), self.stops, strict=True):
            held: list[tuple[int, float]] = [(0, stop.x / self.size), (1, stop.y / self.size)]
            if stop.heading is not None:  # the guess says by how many whole turns more
                turns = round((float(guess.states[node, 2]) - stop.heading) / (2 * math.pi))
                held.append((2, stop.heading + 2 * math.pi * turns))
            still = node in (0, n) or stop.speed == 0
            held += [(place, 0.0) for place in self._resting()] if still else []
            for place, value in held:
                lower.states[node, place] = upper.states[node, place] = value
        return lower, upper

    def stop_nodes(self, phases: tuple[int, ...]) -> IntArray:
        """(stops,): at which nodes of so many intervals the stops are."""
        begins = np.concatenate([[0], np.cumsum(phases)])
        return begins[np.cumsum([0, *self.parts])] if self.parts else begins

    @property
    def units(self) -> FloatArray:
        """Of the base's `LIMITS` in a programme."""
        return np.array([self.size, self.size, 1.0, 1.0]) / self.second ** np.array([1.0, 2, 1, 2])

    @property
    def keys(self) -> tuple[str, ...]:
        """What the stops are called."""
        return "start", *(f"via[{k}]" for k in range(len(self.stops) - 2)), "goal"

    @property
    def _active(self) -> tuple[bool, ...]:
        """Which of the base's limits count somewhere, the speed also where a pose is passed at one."""
        limited = [any(name in stop.leg.limits for stop in self.stops) for name in LIMITS]
        return limited[0] or any(stop.speed for stop in self.stops), *limited[1:]

    def paces(self, phases: tuple[int, ...], share: float) -> tuple[FloatArray, FloatArray]:
        """Squares of the base's speed, acceleration, rate and its change, those that are asked for, at both ends of the
        intervals: at least and at most, (n, rows) in the programme's units, limits taken so many times as fast.
        """
        asked = np.flatnonzero(self._active)
        limits = np.array([[getattr(stop.leg, name) for name in LIMITS] for stop in self.stops[:-1]])
        scaled = limits * share ** np.array([1.0, 2, 1, 2]) / self.units
        nodes = self.stop_nodes(phases)
        most = np.repeat(scaled[:, asked] ** 2, np.diff(nodes), axis=0)
        least, most = np.full((len(most), 2 * len(asked)), -np.inf), np.tile(most, 2)
        for node, stop in zip(nodes[1:-1], self.stops[1:-1], strict=True):
            if stop.speed:  # the first row is that of the speed, where the next interval begins
                least[node, 0] = most[node, 0] = (stop.speed / self.units[0]) ** 2
                before = len(asked)
                most[node - 1, before] = max(most[node - 1, before], most[node, 0])
        return least, most

    def _resting(self) -> list[int]:
        """The states that are zero at rest: of a base that steers its speed and the rates of its direction."""
        k, (p, q) = len(self.basis), self.degrees
        if not self.steered:
            return list(range(3, 3 + k * p))
        return [*range(3 + k, 3 + k * p), *range(3 + k * p, 3 + k * p + q)]

    @property
    def quickens(self) -> bool:
        """Whether speeds may not jump: motions begin and end at rest."""
        return bool(self._resting())

    def solved(
        self, phases: tuple[int, ...], guess: Nodes, share: float = 1.0, warm: bool = False
    ) -> tuple[Nodes, bool]:
        """The local optimum beside a guess, within limits taken so many times as fast; `warm` where it is near."""
        near, rounds = self._near(guess, _REACH), 0
        while True:
            solver = programme(self.shape(phases), near, warm)
            bounds = self.bounds(phases, guess)
            nodes, found = solver.solved(guess, bounds, self.numbers(share), self.paces(phases, share))
            entered = bool((self._near(nodes, 0.0) & ~near).any())
            rounds += 1
            if not (found and entered) or rounds == _ROUNDS:
                return nodes, found and not entered
            near = near | self._near(nodes, _REACH)  # it went where obstacles didn't count

    def _near(self, nodes: Nodes, reach: float) -> BoolArray:
        """On which steps (n, obstacles) the outline is within so many sizes of the robot of the obstacles."""
        poses = nodes.states[:, :3] * [self.size, self.size, 1.0]
        near = np.zeros((len(poses) - 1, len(self.obstacles)), dtype=bool)
        for place, obstacle in enumerate(self.obstacles):
            beside = obstacle.distances(poses, self.outline) < reach * self.size
            near[:, place] = beside[:-1] | beside[1:]
        return near

    def piece(self, phases: tuple[int, ...], nodes: Nodes, angles: FloatArray | None) -> Directed:
        """The motion of nodes; its modules begin nearest to `angles`, or as they need."""
        h = np.repeat(nodes.durations, phases) * self.second
        k, (p, q) = len(self.basis), self.degrees
        terms = [*(nodes.states[:-1, 3 + j * k : 3 + (j + 1) * k] for j in range(p)), nodes.controls[:, :k]]
        d = np.stack([term @ self.basis / math.factorial(j) for j, term in enumerate(terms)], axis=1)
        powers = h[:, None] ** -np.arange(p + 1.0)
        d = d * powers[:, :, None]
        r = np.ones((len(h), 1))
        if self.steered:
            speeds = [*(nodes.states[:-1, 3 + p * k + j] for j in range(q)), nodes.controls[:, k]]
            r = np.stack([term / math.factorial(j) for j, term in enumerate(speeds)], axis=1)
            r = r * self.size * h[:, None] ** -np.arange(1.0, q + 2)
        else:
            d = d * self.size / h[:, None, None]
        d = d * [1.0, 1.0, 1 / self.size]
        breaks = np.concatenate([[0.0], np.cumsum(h)])
        direction, speed = PiecewisePolynomial(breaks, d), PiecewisePolynomial(breaks, r)
        return Directed(self.drive, direction, speed, self._angles(direction, angles))

    def _angles(self, direction: PiecewisePolynomial, before: FloatArray | None) -> FloatArray:
        """The modules' angles where the motion begins: forward or backward, as their ranges hold all of the motion,
        nearest to those before.
        """
        before = self.drive.headings if before is None else before
        rest = PiecewisePolynomial(direction.breaks, np.ones((len(direction.coefficients), 1)))
        whole = Directed(self.drive, direction, rest, before)
        looks = np.linspace(0.0, direction.duration, _LOOKS * len(direction.coefficients) + 1)
        angles = whole.samples(looks).angle
        swing = angles - angles[0]
        turns = turns_into_range(
            angles[0] - before, before, self.drive.ranges, swing=(swing.min(axis=0), swing.max(axis=0))
        )
        # where no range holds all, that shows
        return np.where(self.drive.points & ~np.isnan(turns), before + turns, angles[0])

    @property
    def wide(self) -> bool:
        """Whether a steering range of more than half a turn ends: a programme knows directions alone."""
        return bool((np.isfinite(self._ranges) & (self._ranges > math.pi)).any())

    @property
    def _ranges(self) -> FloatArray:
        """How wide the steering ranges are (rad)."""
        return np.diff(self.drive.ranges, axis=0)[0]

    def narrowed(self, share: float, most: float = math.inf) -> Problem:
        """The same with that share of all steering ranges about their middle, each of at most so much (rad)."""
        limits = []
        for own, width in zip(self.drive.limits, self._ranges.tolist(), strict=True):
            if own.steering_range is not None:
                middle, half = sum(own.steering_range) / 2, share * min(width, most) / 2
                own = replace(own, steering_range=(middle - half, middle + half))
            limits.append(own)
        return replace(self, drive=replace(self.drive, limits=tuple(limits)))

    def zones(
        self, phases: tuple[int, ...], times: FloatArray
    ) -> list[tuple[float, float, Mapping[str, float]]]:
        """From when to when legs are, whose nodes are passed at times (n + 1,), and the base's limits on them."""
        stops = times[self.stop_nodes(phases)].tolist()
        legs = [stop.leg.limits for stop in self.stops[:-1]]
        return list(zip(stops[:-1], stops[1:], legs, strict=True))


def _order(limits: FloatArray) -> int:
    """The highest order of limits (orders, m) that any module has."""
    finite = np.isfinite(limits).any(axis=1)
    return int(np.flatnonzero(finite).max(initial=-1)) + 1


def phases_of(counts: Sequence[float], intervals: int) -> tuple[int, ...]:
    """So many intervals shared between phases by their lengths, an eighth of an even share at least."""
    lengths = np.asarray(counts, dtype=float)
    shares = np.maximum(lengths / lengths.sum(), 1 / (8 * len(lengths)))
    return tuple(max(2, round(x)) for x in intervals * shares / shares.sum())
