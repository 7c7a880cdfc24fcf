"""The shortest way of a point past obstacles, by the corners that are seen from one another."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.fastest.obstacles import Obstacle
from trundle.motion.fastest.outlines import hull

# Corners of what is round.
_ROUND = 16
# A way that enters a polygon by less than this doesn't cross it (m).
_TOUCH = 1e-9


def around(obstacle: Obstacle, distance: float, outside: bool) -> FloatArray:
    """The polygon about what is within a distance of an obstacle, its corners outside of that or on its edge."""
    radius = (obstacle.radius + distance) / (math.cos(math.pi / _ROUND) if outside else 1.0)
    angles = 2 * math.pi * np.arange(_ROUND) / _ROUND
    circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return hull((obstacle.corners[:, None] + circle).reshape(-1, 2))


def shortest(start: FloatArray, end: FloatArray, polygons: Sequence[FloatArray]) -> FloatArray | None:
    """The corners (n, 2) of the shortest way between two points past convex polygons; None where there is none.

    Points inside a polygon may leave it (Lozano-Pérez & Wesley 1979).
    """
    places = np.concatenate([[start], [end], *polygons]) if len(polygons) else np.stack([start, end])
    free = [
        k < 2 or not any(_holds(polygon, place) for polygon in polygons) for k, place in enumerate(places)
    ]
    best, before = {0: 0.0}, {}
    heap, done = [(0.0, 0)], set()
    while heap:
        length, k = heapq.heappop(heap)
        if k == 1:
            way = [1]
            while way[-1]:
                way.append(before[way[-1]])
            return places[way[::-1]]
        if k in done:
            continue
        done.add(k)
        for j in np.flatnonzero(free).tolist():
            if j in done or any(_crosses(polygon, places[k], places[j]) for polygon in polygons):
                continue
            farther = length + float(np.hypot(*(places[j] - places[k])))
            if farther < best.get(j, math.inf):
                best[j], before[j] = farther, k
                heapq.heappush(heap, (farther, j))
    return None


def _levels(polygon: FloatArray, points: FloatArray) -> FloatArray:
    """(n, e): how far points (n, 2) are beyond the edges of a convex polygon."""
    edges = np.roll(polygon, -1, axis=0) - polygon
    normals = np.stack([edges[:, 1], -edges[:, 0]], axis=1) / np.linalg.norm(edges, axis=1)[:, None]
    return points @ normals.T - (normals * polygon).sum(axis=1)


def _holds(polygon: FloatArray, point: FloatArray) -> bool:
    return bool(_levels(polygon, point[None]).max() < -_TOUCH)


def _crosses(polygon: FloatArray, a: FloatArray, b: FloatArray) -> bool:
    """Whether the way from a to b leads through the inside of a convex polygon that neither of them is in."""
    levels = _levels(polygon, np.stack([a, b]))
    if (levels.max(axis=1) < -_TOUCH).any():
        return False
    begin, end = levels + _TOUCH
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = begin / (begin - end)
    enter = np.max(np.where((begin > 0) & (end < 0), cut, 0.0))
    leave = np.min(np.where((begin < 0) & (end > 0), cut, 1.0))
    return not bool(((begin >= 0) & (end >= 0)).any()) and enter < leave
