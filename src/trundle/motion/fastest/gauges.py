"""What wheels travel at least while a base goes so far and turns so much: its way and its turn bound a time together.

A gauge n(L, τ) is convex, grows with both, and n(k L, k τ) = k n(L, τ). Where n(|v|, |ω|) is at most what the fastest
wheel does at every instant, that wheel travels n(L, τ) at least (Jensen's inequality): L is the way of a place on the
base and τ all that the base turns, whatever it does between.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.motion.fastest.problem import Problem

# Corners of the twists within limits may be beyond these by rounding, and places beside a circle (shares).
_ROUNDING = 1e-9
# Steps of a search for the least value of a convex function: each leaves 0.62 of what is open.
_STEPS = 60
_GOLDEN = (math.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Gauge:
    """n of the way of a `place` on the base (m) and of its turn (rad); the rates (3,) of the wheels that it is about.

    `along` is the one direction in which the place goes, None where it goes in all.
    """

    place: complex
    travel: Callable[[float, float], float]
    rates: FloatArray
    along: complex | None = None


def gauges(problem: Problem) -> Iterator[Gauge]:
    """Those that the drive's limits of speed give."""
    if problem.drive.points.all():
        yield from _of_circles(problem)
    elif not problem.drive.points.any():
        yield from _of_corners(problem)


def _of_circles(problem: Problem) -> Iterator[Gauge]:
    """Of wheels that steer, two or all that stand on a circle about a place, with its inside between them.

    At a place's speed v one wheel does √(v² + r²ω² + 2 v r |ω| cos(γ/2)) at least: γ is the widest gap between wheels
    seen from there.
    """
    places = problem.drive.places
    seen: set[tuple[int, ...]] = set()
    for place, radius in _circles(places):
        arms = places - place
        on = np.flatnonzero(np.abs(np.abs(arms) - radius) <= _ROUNDING * problem.size)
        angles = np.sort(np.angle(arms[on]))
        gap = float(np.diff(np.append(angles, angles[0] + 2 * math.pi)).max())
        if tuple(on.tolist()) in seen or gap > math.pi * (1 + _ROUNDING):
            continue
        seen.add(tuple(on.tolist()))
        mixed = 2 * radius * max(math.cos(gap / 2), 0.0)

        def travel(way: float, turn: float, r: float = radius, mixed: float = mixed) -> float:
            return math.sqrt(way**2 + (r * turn) ** 2 + mixed * way * turn)

        yield Gauge(place, travel, problem.drive.rolling[:, on].max(axis=1))


def _circles(places: ComplexArray) -> Iterator[tuple[complex, float]]:
    """Middles and radii of circles about pairs and through three."""
    ends = places.tolist()
    for a, b in combinations(ends, 2):
        yield (a + b) / 2, abs(b - a) / 2
    for a, b, c in combinations(ends, 3):
        u, v = b - a, c - a
        area = (u.conjugate() * v).imag
        if abs(area) > _ROUNDING * abs(u) * abs(v):
            arm = 1j * (abs(u) ** 2 * v - abs(v) ** 2 * u) / (-2 * area)
            yield a + arm, abs(arm)


def _of_corners(problem: Problem) -> Iterator[Gauge]:
    """Of wheels that don't steer: the least that n has to be at all corners of the twists within their speeds."""
    drive = problem.drive
    speeds = drive.rolling[0]
    twists = corners(problem, speeds)
    if twists is None:
        return
    bounded = np.isfinite(speeds)
    rates = (drive.rolling[:, bounded] / speeds[bounded]).max(axis=1)
    turns = np.abs(twists[:, 2])
    for place, along in _references(problem):
        speed = np.abs(twists[:, 0] + 1j * twists[:, 1] + 1j * place * twists[:, 2])
        yield Gauge(place, _hull_gauge(speed, turns), rates, along)


def _references(problem: Problem) -> list[tuple[complex, complex | None]]:
    """The place on an axle with its direction where one is held; else the wheels' middle, and the origin."""
    if (held := axle(problem)) is not None:
        return [held]
    return [(place, None) for place in {complex(problem.drive.places.mean()), 0j}]


def axle(problem: Problem) -> tuple[complex, complex] | None:
    """The place (m) that goes in one direction alone, nearest to the origin, and that direction, of length 1.

    None for a base that goes aside, or turns about one place alone.
    """
    if len(problem.basis) != 2 or not problem.basis[:, 2].any():
        return None
    first, second = problem.basis * [1.0, 1.0, 1 / problem.size]
    ahead = first * second[2] - second * first[2]
    along = complex(ahead[0], ahead[1])
    along /= abs(along)
    turn = max((first, second), key=lambda twist: abs(twist[2]))
    velocity = complex(turn[0], turn[1]) / float(turn[2])
    return (1j * velocity * along.conjugate()).real * along, along


def _hull_gauge(speed: FloatArray, turns: FloatArray) -> Callable[[float, float], float]:
    """n(L, τ) = max a L + b τ, a and b ≥ 0 such that a v + b ω ≤ 1 at all corners."""
    points = np.stack([speed, turns], axis=1)
    found = [np.array([1.0, 0.0]) / speed.max(), np.array([0.0, 1.0]) / turns.max()]
    for pair in combinations(range(len(points)), 2):
        rows = points[list(pair)]
        if abs(np.linalg.det(rows)) > _ROUNDING * np.prod(np.linalg.norm(rows, axis=1)):
            found.append(np.linalg.solve(rows, np.ones(2)))
    tried = np.array([pair for pair in found if (pair >= 0).all()])
    slopes = tried / np.maximum((points @ tried.T).max(axis=0), 1.0)[:, None]
    return lambda way, turn: float((slopes @ [way, turn]).max())


def corners(problem: Problem, limits: FloatArray) -> FloatArray | None:
    """(n, 3): corners of the twists at which wheels that don't steer roll within limits (m,); None where these have no
    end.
    """
    drive = problem.drive
    basis = problem.basis * [1.0, 1.0, 1 / problem.size]
    bounded = np.flatnonzero(np.isfinite(limits))
    along = (np.conj(drive.rolling_axes(drive.headings)) * (basis @ drive.map)).real.T
    rows = along[bounded] / limits[bounded, None]
    k = len(basis)
    if np.linalg.matrix_rank(rows) < k:
        return None
    signs = np.array(list(product((-1.0, 1.0), repeat=k))).T
    found: list[FloatArray] = []
    for chosen in combinations(range(len(rows)), k):
        if np.linalg.matrix_rank(rows[list(chosen)]) == k:
            ends = np.linalg.solve(rows[list(chosen)], signs)
            inside = np.abs(rows @ ends).max(axis=0) <= 1 + _ROUNDING
            found.append(ends.T[inside] @ basis)
    return np.concatenate(found)


def travelled(gauge: Gauge, chord: complex, way: float, begin: float, turn: float) -> float:
    """The least n on a leg: over a chord (m), by a way no shorter than `way` (m), from a heading by a turn (rad).

    A place that goes in one direction has to come within some ε of the chord's, forward or backward, and on to the last
    heading: |chord| ≤ L cos ε. n of that is convex in ε.
    """
    if gauge.along is None or not abs(chord) > 0:
        return gauge.travel(way, abs(turn))
    aim = float(np.angle(chord * gauge.along.conjugate())) - begin
    least = math.inf
    for k in range(-2, 3):
        for total in (turn, turn - math.copysign(2 * math.pi, turn)):
            # how far the direction lies beyond all that is turned anyway
            target = math.remainder(aim, math.pi) + k * math.pi
            off = max(min(0.0, total) - target, target - max(0.0, total), 0.0)
            if off < math.pi:
                least = min(least, _least(gauge, abs(chord), way, abs(total), off))
    return least


def _least(gauge: Gauge, chord: float, way: float, turn: float, off: float) -> float:
    """min over ε of n(chord / cos ε, turn + 2 (off − ε)), ε from 0 to what makes `off` a turn of nothing."""

    def cost(epsilon: float) -> float:
        return gauge.travel(max(chord / math.cos(epsilon), way), turn + 2 * (off - epsilon))

    return minimum(cost, 0.0, min(off, 0.5 * math.pi * (1 - _ROUNDING)))


def minimum(cost: Callable[[float], float], low: float, high: float) -> float:
    """The least value of a convex function between two ends, by golden sections (Kiefer 1953)."""
    inner = [high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)]
    values = [cost(at) for at in inner]
    best = min(cost(low), cost(high), *values)
    for _ in range(_STEPS):
        if values[0] < values[1]:
            high, inner, values = inner[1], [0.0, inner[0]], [0.0, values[0]]
            inner[0] = high - _GOLDEN * (high - low)
            values[0] = cost(inner[0])
        else:
            low, inner, values = inner[0], [inner[1], 0.0], [values[1], 0.0]
            inner[1] = low + _GOLDEN * (high - low)
            values[1] = cost(inner[1])
        best = min(best, *values)
    return best
