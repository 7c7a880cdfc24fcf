"""A time that no motion through the stops beats."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations, pairwise, product

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.errors import InputError
from trundle.motion.fastest.problem import Problem, Stop
from trundle.motion.fastest.routes import around, shortest
from trundle.motion.planning.pose_plans import least_time

# Corners of the twists within limits may be beyond these by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Weight:
    """Where the centre of mass stands on the base (m), and what it is accelerated at, at most (m/s²)."""

    center: complex
    most: float


def lower_bound(problem: Problem, weight: Weight | None = None) -> float:
    """The least time in which all places of modules, and the origin, get from stop to stop, from rest to rest (s).

    From rest the speed of a place is at most e(t) = min(V, A t, J t²/2), and as much before the end; so its way, no
    shorter than the chords between stops (the origin's: than the shortest way past the obstacles, from which it keeps
    the outline's inscribed circle), is at most ∫ min(e(t), e(T − t)) dt. The centre of mass has an A of its
    own, where given.
    """
    count = len(problem.drive.modules)
    places = np.append(problem.drive.places, [] if weight is None else [weight.center])
    ways, moved = np.zeros(count + 1), np.zeros(len(places))
    polygons = [around(obstacle, inscribed(problem.outline), outside=False) for obstacle in problem.obstacles]
    for a, b in pairwise(problem.stops):
        moved += _chords(places, a, b)
        ends = np.array([[stop.x, stop.y] for stop in (a, b)])
        route = shortest(ends[0], ends[1], polygons)
        ways[-1] += np.hypot(*np.diff(ends if route is None else route, axis=0).T).sum()
    ways[:-1] = moved[:count]
    limits = _greatest(problem)
    if weight is not None:
        inside = _holds_origin(problem.drive.places - weight.center)
        most = [limits[0, :-1].max() if inside else np.inf, weight.most, np.inf]
        ways, limits = np.append(ways, moved[-1]), np.column_stack([limits, most])
    known = np.isfinite(limits).any(axis=0)
    return least_time(ways[known], limits[:, known]) if known.any() else 0.0


def inscribed(outline: FloatArray) -> float:
    """The radius of the circle about the base's origin within a convex outline (m); 0 where that lies outside."""
    edges = np.roll(outline, -1, axis=0) - outline
    beyond = edges[:, 0] * outline[:, 1] - edges[:, 1] * outline[:, 0]
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


def _chords(places: ComplexArray, a: Stop, b: Stop) -> FloatArray:
    """How far apart places on the base are at two stops, at least, (m,)."""
    if a.heading is None or b.heading is None:
        # a place is no farther from the origin than its arm: what is left of the distance it has to go
        return np.maximum(math.hypot(b.x - a.x, b.y - a.y) - 2 * np.abs(places), 0.0)
    ends = [complex(s.x, s.y) + np.exp(1j * s.heading) * places for s in (a, b) if s.heading is not None]
    return np.abs(ends[1] - ends[0])


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
        places = np.minimum(np.where(rolls, limits, np.inf), held[:-1])
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
    drive = problem.drive
    basis = problem.basis * [1.0, 1.0, 1 / problem.size]
    bounded = np.flatnonzero(np.isfinite(limits))
    rows = (np.conj(drive.rolling_axes(drive.headings)) * (basis @ drive.map)).real.T[bounded] / limits[
        bounded, None
    ]
    k = len(basis)
    if np.linalg.matrix_rank(rows) < k:
        return np.full(len(limits) + 1, np.inf)
    signs = np.array(list(product((-1.0, 1.0), repeat=k))).T
    places = np.concatenate([drive.map, [[1.0], [1j], [0.0]]], axis=1)
    largest = np.zeros(len(limits) + 1)
    for chosen in combinations(range(len(rows)), k):
        if np.linalg.matrix_rank(rows[list(chosen)]) == k:
            corners = np.linalg.solve(rows[list(chosen)], signs)
            inside = np.abs(rows @ corners).max(axis=0) <= 1 + _ROUNDING
            largest = np.maximum(largest, np.abs(corners.T[inside] @ basis @ places).max(axis=0, initial=0.0))
    return largest
