"""A time that no motion through the stops beats."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.errors import InputError
from trundle.motion.fastest.gauges import corners, gauges, minimum, travelled
from trundle.motion.fastest.problem import Problem, Stop
from trundle.motion.fastest.routes import around, shortest
from trundle.motion.fastest.turning import axle_of, shortest_word
from trundle.motion.planning.pose_plans import least_time

# Corners of the twists within limits may be beyond these by rounding.
_ROUNDING = 1e-9
# Poses are met to 1e-8 m and steering ranges kept to 1e-9 of them: words may be shorter by such a share.
_MISSED = 1e-6


@dataclass(frozen=True)
class Weight:
    """Where the centre of mass stands on the base (m), what the floor accelerates it at, at most (m/s²), and `pull`:
    what gravity does along the ground, in the world's axes.
    """

    center: complex
    most: float
    pull: complex = 0j


def lower_bound(problem: Problem, weight: Weight | None = None, more: int = 0) -> float:
    """The least time in which wheels, places on the base and the centre of mass get from stop to stop (s).

    From rest the rate of a wheel is at most e(t) = min(V, A t, J t²/2), and as much before the end; so what it travels
    from rest to rest is at most ∫ min(e(t), e(T − t)) dt. At least it travels the chords between stops, what `gauges`
    say of a way and a turn together, and of a base that turns within a radius the shortest words. Ways of places are
    no shorter than the shortest ones past the obstacles, from which the outline's inscribed circle about them keeps.
    On a slope the centre of mass is displaced from start to goal, however it goes: what gravity adds to one half of
    that, it takes from the other one.
    A leg in a zone takes what its way and its turn do at the greatest speed and rate there.

    With `more` it is that of motions whose last leg has so many whole turns beside the shorter one.
    """
    asked = [*_chorded(problem), *_gauged(problem, more), *_worded(problem)]
    straight = 0.0
    if weight is not None:
        inside = _holds_origin(problem.drive.places - weight.center)
        speed = problem.drive.rolling[0].max() if inside else math.inf
        most = weight.most + abs(weight.pull)
        asked.append((_moved(problem, weight.center), np.array([speed, most, math.inf])))
        straight = _displaced(problem, weight, speed)
    legs, limits = np.array([ways for ways, _ in asked]), np.array([rates for _, rates in asked]).T
    ways = legs.sum(axis=1)
    known = np.isfinite(limits).any(axis=0) & (ways > 0)
    whole = max(straight, least_time(ways[known], limits[:, known]) if known.any() else 0.0)
    if not any(stop.leg.limits for stop in problem.stops):
        return whole
    zoned = _zoned(problem, more)
    return max(whole, float(np.maximum((legs / limits[0, :, None]).max(axis=0), zoned).sum()))


# What something travels on the legs at least, (legs,), and its greatest rate with that's first two changes (3,).
_Asked = tuple[FloatArray, FloatArray]


def _chorded(problem: Problem) -> Iterator[_Asked]:
    """Ways of the modules' places, and of the origin, with what limits these."""
    greatest = _greatest(problem).T
    for place, rates in zip(problem.drive.places.tolist(), greatest, strict=False):
        yield np.array([_chord(place, *leg) for leg in pairwise(problem.stops)]), rates
    yield _moved(problem, 0j), greatest[-1]


def _displaced(problem: Problem, weight: Weight, speed: float) -> float:
    """The least time in which the centre of mass gets from start to goal against a slope (s).

    Along the line there the floor and gravity give −A + g to A + g. From rest to rest that is as quick as (A² − g²)/A
    both ways, which A isn't less than.
    """
    first, last = problem.stops[0], problem.stops[-1]
    begin, end = (_at(weight.center, stop) for stop in (first, last))
    way, along = _chord(weight.center, first, last), 0.0
    if not way or not weight.pull:
        return 0.0
    if begin is not None and end is not None:
        along = (weight.pull * (end - begin).conjugate()).real / way
    most = weight.most - along**2 / weight.most
    return least_time(np.array([way]), np.array([[speed], [most], [math.inf]])) if most > 0 else 0.0


def _zoned(problem: Problem, more: int) -> FloatArray:
    """(legs,): what the ways of the origin, and the turns, take at the greatest speeds and rates of zones (s)."""
    zones = [stop.leg for stop in problem.stops[:-1]]
    speeds, rates = (np.array([getattr(zone, name) for zone in zones]) for name in ("velocity", "rate"))
    turns = np.array([abs(_turn(problem, leg, more)) for leg in pairwise(problem.stops)])
    return np.maximum(_moved(problem, 0j) / speeds, turns / rates)


def _moved(problem: Problem, place: complex) -> FloatArray:
    """(legs,): the least ways of a place on the base (m)."""
    return np.array([max(_chord(place, *leg), route) for leg, route in _routed(problem, place)])


def _turn(problem: Problem, leg: tuple[Stop, Stop], more: int) -> float:
    """The shorter turn on a leg (rad), on the last one with so many whole turns more; 0 where a heading is free."""
    a, b = leg
    if a.heading is None or b.heading is None:
        return 0.0
    turn = math.remainder(b.heading - a.heading, 2 * math.pi)
    return turn + 2 * math.pi * more if b is problem.stops[-1] else turn


def _routed(problem: Problem, place: complex) -> Iterator[tuple[tuple[Stop, Stop], float]]:
    """The legs, and the shortest ways (m) on them of a place's inscribed circle past the obstacles."""
    kept = inscribed(problem.outline, place) if problem.obstacles else 0.0
    polygons = [around(obstacle, kept, outside=False) for obstacle in problem.obstacles]
    for a, b in pairwise(problem.stops):
        ends = [_at(place, stop) for stop in (a, b)]
        places = [np.array([end.real, end.imag]) for end in ends if end is not None]
        route = shortest(places[0], places[1], polygons) if polygons and len(places) == 2 else None
        yield (a, b), 0.0 if route is None else float(np.hypot(*np.diff(route, axis=0).T).sum())


def _at(place: complex, stop: Stop) -> complex | None:
    """Where a place on the base is at a stop; None where that hangs on a free heading."""
    if stop.heading is None:
        return None if place else complex(stop.x, stop.y)
    return complex(stop.x, stop.y) + cmath.exp(1j * stop.heading) * place


def _gauged(problem: Problem, more: int) -> Iterator[_Asked]:
    """What the gauges say, the last leg turning by so many whole turns more."""
    for gauge in gauges(problem):
        travel: list[float] = []
        for (a, b), route in _routed(problem, gauge.place):
            way, turn = max(_chord(gauge.place, a, b), route), _turn(problem, (a, b), more)
            begin, end = (_at(gauge.place, stop) for stop in (a, b))
            if abs(turn) > math.pi or a.heading is None or b.heading is None or begin is None or end is None:
                travel.append(gauge.travel(way, abs(turn)))
            else:
                travel.append(travelled(gauge, end - begin, way, a.heading, turn))
        yield np.array(travel) * (1 - _ROUNDING), gauge.rates


def _worded(problem: Problem) -> Iterator[_Asked]:
    """Of the wheels of a base that turns within a radius: the shortest words of its axle, in the curve in which a wheel
    goes the least of these.
    """
    if (held := axle_of(problem)) is None:
        return
    lengths = np.array(
        [
            max(shortest_word(held, *leg), _chord(held.place, *leg), route)
            for leg, route in _routed(problem, held.place)
        ]
    )
    along, most = cmath.exp(1j * held.direction), 1 / held.radius
    for place, rates in zip(problem.drive.places.tolist(), problem.drive.rolling.T, strict=True):
        arm = 1j * (place - held.place)
        share = minimum(lambda bent, arm=arm: abs(along + bent * arm), -most, most)
        yield lengths * share * (1 - _MISSED), rates


def inscribed(outline: FloatArray, place: complex = 0j) -> float:
    """The radius of the circle about a place on the base within a convex outline (m); 0 where that lies outside."""
    edges = np.roll(outline, -1, axis=0) - outline
    arms = outline - [place.real, place.imag]
    beyond = edges[:, 0] * arms[:, 1] - edges[:, 1] * arms[:, 0]
    return max(float((-beyond / np.linalg.norm(edges, axis=1)).min()), 0.0)


def require_open(problem: Problem) -> None:
    """InputError where obstacles bar the way between two stops even to the circle within the outline."""
    polygons = [around(obstacle, inscribed(problem.outline), outside=False) for obstacle in problem.obstacles]
    for (name, a), (other, b) in pairwise(zip(problem.keys, problem.stops, strict=True)):
        if shortest(np.array([a.x, a.y]), np.array([b.x, b.y]), polygons) is None:
            raise InputError(
                f"obstacles bar every way from {name} to {other}: the robot doesn't fit between them",
                key="keep_out",
                hint="move an obstacle, or give a smaller outline",
            )


def require_pace(problem: Problem) -> None:
    """InputError where a stop is to be passed faster than the wheels ever let the base go."""
    most = float(_greatest(problem)[0, -1])
    for key, stop in zip(problem.keys, problem.stops, strict=True):
        if stop.speed is not None and stop.speed > most * (1 + _ROUNDING):
            raise InputError(
                f"it is to be passed at {stop.speed:.4g} m/s, and the wheels let the base go at {most:.4g} m/s at most",
                key=key,
                hint="ask for less, or leave the speed out",
            )


def _chord(place: complex, a: Stop, b: Stop) -> float:
    """How far apart a place on the base is at two stops, at least (m)."""
    begin, end = _at(place, a), _at(place, b)
    if begin is None or end is None:
        # a place is no farther from the origin than its arm: what is left of the distance it has to go
        return max(math.hypot(b.x - a.x, b.y - a.y) - 2 * abs(place), 0.0)
    return abs(end - begin)


def _greatest(problem: Problem) -> FloatArray:
    """(3, m + 1): the greatest speed of the modules' places and of the origin, and of its first two changes.

    Wheels without rollers have those of their limits; others what |u| and |u̇| are over all twists that they allow. A
    jerk bounds speeds that begin without acceleration, which steering wheels' and held ones' do. The origin, where it
    lies between modules that are all bounded, is no faster than the fastest of them.
    """
    drive = problem.drive
    rows = []
    for limits in drive.rolling:
        held = _over_twists(problem, np.where(drive.points, np.inf, limits))
        rolls = np.array([module.rollers is None for module in drive.modules])
        # wheels that slide go across as well as they roll
        places = np.minimum(np.where(rolls & (not problem.drive.slides), limits, np.inf), held[:-1])
        origin = places.max() if _holds_origin(drive.places) else np.inf
        rows.append(np.append(places, min(float(held[-1]), float(origin))))
    return np.array(rows)


def _holds_origin(places: ComplexArray) -> bool:
    """Whether the origin lies between places: no half plane about it is free of them."""
    angles = np.sort(np.angle(places[np.abs(places) > 0]))
    if len(angles) < len(places):
        return True
    return bool(np.diff(np.append(angles, angles[0] + 2 * np.pi)).max(initial=0.0) <= np.pi * (1 + _ROUNDING))


def _over_twists(problem: Problem, limits: FloatArray) -> FloatArray:
    """The largest |u| of the modules' places and of the origin, (m + 1,), over the twists at which wheels that don't
    steer roll within limits (m,): at a corner of these, as |u| is convex; infinite where they have no end.
    """
    twists = corners(problem, limits)
    if twists is None:
        return np.full(len(limits) + 1, np.inf)
    places = np.concatenate([problem.drive.map, [[1.0], [1j], [0.0]]], axis=1)
    return np.abs(twists @ places).max(axis=0)
