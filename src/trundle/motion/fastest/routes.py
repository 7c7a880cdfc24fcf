"""The shortest way of a point past obstacles, by the corners that are seen from one another."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import shapely
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from trundle.arrays import FloatArray
from trundle.motion.fastest.obstacles import Obstacle
from trundle.motion.fastest.outlines import hull

# Corners of what is round.
_ROUND = 16
# A way that enters a polygon by less than this doesn't cross it (m).
_TOUCH = 1e-9


def around(obstacle: Obstacle, distance: float, outside: bool) -> shapely.Polygon:
    """The polygon about what is within a distance of an obstacle, its corners outside of that or on its edge."""
    radius = (obstacle.radius + distance) / (math.cos(math.pi / _ROUND) if outside else 1.0)
    angles = 2 * math.pi * np.arange(_ROUND) / _ROUND
    circle = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return shapely.Polygon(hull((obstacle.corners[:, None] + circle).reshape(-1, 2)))


def shortest(start: FloatArray, end: FloatArray, polygons: Sequence[shapely.Polygon]) -> FloatArray | None:
    """The corners (n, 2) of the shortest way between two points past polygons; None where there is none.

    Dijkstra's in the graph of corners that see one another (Lozano-Pérez & Wesley 1979). Points inside a polygon may
    leave it.
    """
    places = np.concatenate([[start, end], *map(shapely.get_coordinates, polygons)])
    insides = shapely.STRtree([polygon.buffer(-_TOUCH) for polygon in polygons])
    within = np.zeros((len(places), len(polygons)), dtype=bool)
    within[tuple(insides.query(shapely.points(places), predicate="intersects"))] = True
    free = np.append([True, True], ~within[2:].any(axis=1))
    # of all pairs those whose line leads through no inside, but of a polygon that one of them is in
    pairs = np.stack(np.triu_indices(len(places), 1))
    one, other = pairs[:, free[pairs].all(axis=0)]
    lines = shapely.linestrings(np.stack([places[one], places[other]], axis=1))
    line, crossed = insides.query(lines, predicate="intersects")
    seen = np.ones(len(one), dtype=bool)
    seen[line[~within[one[line], crossed] & ~within[other[line], crossed]]] = False
    lengths = np.hypot(*(places[one] - places[other])[seen].T)
    graph = coo_array((lengths, (one[seen], other[seen])), shape=(len(places), len(places)))
    _, before = dijkstra(graph, directed=False, indices=0, return_predecessors=True)
    way = [1]
    while way[-1] > 0:
        way.append(int(before[way[-1]]))
    return places[way[::-1]] if way[-1] == 0 else None
