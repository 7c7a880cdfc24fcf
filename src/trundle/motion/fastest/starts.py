"""Where programmes begin their search: ways through the stops past obstacles, whatever the wheels say to them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
import shapely

from trundle.arrays import FloatArray
from trundle.motion.fastest.problem import Problem, Stop
from trundle.motion.fastest.routes import around, shortest
from trundle.motion.fastest.turning import Axle, axle_of, curved

# Ways past the other side of obstacles are tried for so many of them.
_OTHER_SIDES = 4
# How a wall that bars one side of an obstacle is: so thick (m), so many times as long as the whole route.
_THICK, _LONG = 1e-3, 10.0
# Turns at least so far (rad) are tried the other way round, too: that is no more than two thirds longer.
_LONG_WAY = 0.75 * math.pi
# What starts are called that turn so.
_LONGER = ", the long way round"
# The power of a leg's share by which it turns, first or last.
_QUICK = 2
# Places along a leg at which a base that can't go aside is turned along its way.
_ALONG = 41


@dataclass(frozen=True, eq=False)
class Guess:
    """A start of the search: its name, the corners (c, 3) of its legs (x, y, θ), whether wheels begin backward, and
    whether it turns the longer way round.

    Of a way whose legs have `parts` with durations of their own, so many each, those stand in the legs' place.
    """

    name: str
    legs: tuple[FloatArray, ...]
    backward: bool = False
    longer: bool = False
    parts: tuple[int, ...] = ()

    def lengths(self, size: float) -> list[float]:
        """How long the legs are, turns counted with them."""
        return [float(_steps(leg, size).sum()) + 1e-9 for leg in self.legs]

    def poses(self, phases: tuple[int, ...], size: float, rest: bool = True) -> FloatArray:
        """(n + 1, 3): poses at even times of the legs, from rest to rest on the whole if asked for."""
        rows, last = [], len(phases) - 1
        for place, (leg, count) in enumerate(zip(self.legs, phases, strict=True)):
            at = np.concatenate([[0.0], np.cumsum(_steps(leg, size))])
            shares = _paced(
                np.arange(count + (place == last)) / count, rest and place == 0, rest and place == last
            )
            rows.append(np.stack([np.interp(shares * at[-1], at, column) for column in leg.T], axis=1))
        return np.concatenate(rows)


def _paced(shares: FloatArray, from_rest: bool, to_rest: bool) -> FloatArray:
    """How far one is at shares of a leg's time: slow where it begins or ends at rest."""
    if from_rest and to_rest:
        return shares**2 * (3 - 2 * shares)
    if from_rest:
        return shares**2 * (2 - shares)
    return shares * (1 + shares - shares**2) if to_rest else shares


def _steps(corners: FloatArray, size: float) -> FloatArray:
    """How long the parts of a leg are, a radian counted as the robot's size."""
    steps = np.diff(corners, axis=0)
    return np.hypot(np.hypot(steps[:, 0], steps[:, 1]), size * steps[:, 2])


def ways(problem: Problem) -> Iterator[Guess]:
    """All ways that are tried, the most promising first."""
    routes = dict(_routes(problem))
    first = next(iter(routes))
    if (axle := axle_of(problem)) is not None:
        yield from _by_words(problem, axle, routes)
        return
    for turns in _turns(problem.stops):
        headings = _headings(problem.stops, turns)
        longer, told = bool(turns), _LONGER if turns else ""
        for name, legs in routes.items():
            if len(problem.basis) < 3 and not turns:
                yield from _along(problem, name, legs, headings)
            evenly = tuple(_evenly(leg, *ends) for leg, ends in _ends(legs, headings))
            yield Guess(name + told, evenly, longer=longer)
        yield from _soon_or_late(first, routes[first], headings, longer)


def _by_words(problem: Problem, axle: Axle, routes: dict[str, tuple[FloatArray, ...]]) -> Iterator[Guess]:
    """For bases that turn within a radius: words past all obstacles, then along the routes."""
    headings = _headings(problem.stops, 0)
    clear = 0
    for name, legs in curved(problem, axle, headings):
        way = Guess(name, tuple(chain.from_iterable(legs)), parts=tuple(map(len, legs)))
        if all(_clear(problem, part) for part in way.legs):
            clear += 1
            yield way
    if not clear or problem.obstacles:
        for name, legs in routes.items():
            yield from _along(problem, name, legs, headings)
            yield Guess(name, tuple(_evenly(leg, *ends) for leg, ends in _ends(legs, headings)))
    if problem.quickens:  # at a constant speed the words are the quickest motions
        first = next(iter(routes))
        yield from _soon_or_late(first, routes[first], headings)


def _soon_or_late(
    name: str, legs: tuple[FloatArray, ...], headings: list[float], longer: bool = False
) -> Iterator[Guess]:
    """Along a route, the turns of its legs soon or late."""
    for told, early in (("turning first", True), ("turning last", False)):
        parts = tuple(_turned(leg, *ends, early) for leg, ends in _ends(legs, headings))
        yield Guess(f"{name}, {told}{_LONGER if longer else ''}", parts, longer=longer)


def _clear(problem: Problem, poses: FloatArray) -> bool:
    """Whether the outline keeps clear of all obstacles at poses (n, 3)."""
    return all(float(o.distances(poses, problem.outline).min()) > 0 for o in problem.obstacles)


def _ends(
    legs: tuple[FloatArray, ...], headings: list[float]
) -> Iterator[tuple[FloatArray, tuple[float, float]]]:
    return zip(legs, pairwise(headings), strict=True)


def _routes(problem: Problem) -> Iterator[tuple[str, tuple[FloatArray, ...]]]:
    """Names and legs, corners (c, 2), of routes past the obstacles on either side."""
    points = [np.array([stop.x, stop.y]) for stop in problem.stops]
    reach = float(np.linalg.norm(problem.outline, axis=1).max(initial=0.0))
    straight = tuple(np.stack(pair) for pair in pairwise(points))
    for kept in (reach, reach / 2, 0.0):  # as far away as lets the robot turn, or nearer where that is barred
        polygons = [around(obstacle, kept, outside=True) for obstacle in problem.obstacles]
        legs = [shortest(a, b, polygons) for a, b in pairwise(points)]
        found = tuple(leg for leg in legs if leg is not None)
        if len(found) == len(legs):
            break
    else:
        yield "straight", straight
        return
    bent = any(len(leg) > 2 for leg in found)
    yield "the shortest route" if bent else "straight", found
    yield from _other_sides(problem, found, polygons)


def _other_sides(
    problem: Problem, legs: tuple[FloatArray, ...], polygons: list[shapely.Polygon]
) -> Iterator[tuple[str, tuple[FloatArray, ...]]]:
    """The routes on which one of the obstacles nearest to the shortest one is passed on its other side."""
    beside: list[tuple[float, int, int, FloatArray]] = []
    for place, leg in enumerate(legs):
        for k, obstacle in enumerate(problem.obstacles):
            middle = shapely.Point(obstacle.corners.mean(axis=0))
            gap = shapely.shortest_line(middle, shapely.LineString(leg))
            beside.append((gap.length - obstacle.radius, place, k, shapely.get_coordinates(gap)[1]))
    known = list(legs)
    for _, place, k, nearest in sorted(beside, key=lambda each: each[0])[:_OTHER_SIDES]:
        leg, middle = legs[place], problem.obstacles[k].corners.mean(axis=0)
        away = nearest - middle
        if not np.hypot(*away) > 0:
            away = np.array([[0.0, -1.0], [1.0, 0.0]]) @ (leg[-1] - leg[0])
        away = away / max(float(np.hypot(*away)), 1e-12)
        far = _LONG * float(np.hypot(*np.diff(leg, axis=0).T).sum() + 1)
        wall = shapely.LineString([middle, middle + far * away]).buffer(_THICK, cap_style="flat")
        other = shortest(leg[0], leg[-1], [*polygons, wall])
        if other is not None and not any(np.array_equal(other, seen) for seen in known):
            known.append(other)
            name = f"past the other side of keep_out[{problem.obstacles[k].place}]"
            told = name if len(legs) == 1 else f"{name} on leg {place + 1}"
            yield told, (*legs[:place], other, *legs[place + 1 :])


def _turns(stops: tuple[Stop, ...]) -> tuple[int, ...]:
    """0 for the shorter turn to the goal, and ±1 where the other one is not much longer."""
    if stops[-1].heading is None:
        return (0,)
    *_, before, last = (stop.heading for stop in stops if stop.heading is not None)
    left = math.remainder(last - before, 2 * math.pi)
    return (0, -1 if left > 0 else 1) if abs(left) > _LONG_WAY else (0,)


def _headings(stops: tuple[Stop, ...], turns: int) -> list[float]:
    """Headings at the stops without jumps, the last one turned so often more; free ones between those beside them."""
    known = [(k, stop.heading) for k, stop in enumerate(stops) if stop.heading is not None]
    unrolled = [known[0][1]]
    for (_, before), (_, behind) in pairwise(known):
        unrolled.append(unrolled[-1] + math.remainder(behind - before, 2 * math.pi))
    unrolled[-1] += 2 * math.pi * turns
    return np.interp(np.arange(len(stops)), [k for k, _ in known], unrolled).tolist()


def _evenly(leg: FloatArray, begin: float, end: float) -> FloatArray:
    """A leg's corners with headings that change evenly along it."""
    at = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(leg, axis=0).T))])
    if not at[-1] > 0:
        return np.array([[*leg[0], begin], [*leg[-1], end]])
    return np.column_stack([leg, begin + (end - begin) * at / at[-1]])


def _turned(leg: FloatArray, begin: float, end: float, early: bool) -> FloatArray:
    """A leg on which the turn is quick first and slow last, or the other way round, without a jump."""
    at = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(leg, axis=0).T))])
    if not at[-1] > 0:
        return _evenly(leg, begin, end)
    lengths = np.union1d(at, np.linspace(0.0, at[-1], _ALONG))
    shares = lengths / at[-1]
    turned = 1 - (1 - shares) ** _QUICK if early else shares**_QUICK
    columns = [np.interp(lengths, at, column) for column in leg.T]
    return np.column_stack([*columns, begin + (end - begin) * turned])


def _along(
    problem: Problem, name: str, legs: tuple[FloatArray, ...], headings: list[float]
) -> Iterator[Guess]:
    """For bases that can't go aside: along the route, forward or backward, rounded towards the headings at its ends."""
    for told, sign in (("forward", 1.0), ("backward", -1.0)):
        parts = [_rounded(leg, *ends, sign, problem.size) for leg, ends in _ends(legs, headings)]
        yield Guess(f"{name}, {told}", tuple(parts), sign < 0)


def _rounded(leg: FloatArray, begin: float, end: float, sign: float, size: float) -> FloatArray:
    """A curve beside a leg, along the first heading where it begins and the last where it ends, turned along it."""
    at = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(leg, axis=0).T))])
    s = np.linspace(0.0, 1.0, _ALONG)[:, None]
    straight = np.stack([np.interp(s[:, 0] * at[-1], at, column) for column in leg.T], axis=1)
    # Hermite's polynomial of what the directions at both ends differ from the leg's own
    reach = max(at[-1], size)
    out, back = (sign * reach * np.array([math.cos(angle), math.sin(angle)]) for angle in (begin, end))
    slopes = np.gradient(straight, s[:, 0], axis=0)
    curve = straight + s * (1 - s) ** 2 * (out - slopes[0]) - s**2 * (1 - s) * (back - slopes[-1])
    ways = sign * np.gradient(curve, axis=0)
    turned = np.unwrap(np.concatenate([[begin], np.arctan2(ways[1:, 1], ways[1:, 0])]))
    return np.column_stack([curve, turned])
