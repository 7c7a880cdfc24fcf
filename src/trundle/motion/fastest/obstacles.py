"""Obstacles on the floor, how far a robot's outline is from them, and the proof that it is all along a motion."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import shapely
from numpy.polynomial import chebyshev

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.expected import came
from trundle.motion.fastest.outlines import hull
from trundle.motion.pieces.motion import Motion

# Points of an interval through which its greatest speeds are bounded.
_POINTS = 10
# Halvings of a motion's intervals: where the outline comes within a millimetre, short parts are looked at.
_HALVINGS = 14
# A polygon of a smaller area (m²) is a line.
_AREA = 1e-12


@dataclass(frozen=True, eq=False)
class Obstacle:
    """A convex polygon's corners (c, 2), counter-clockwise, in m, with so much around it (m); a disc has one corner.

    `place` says which of the user's obstacles it is part of.
    """

    corners: FloatArray
    radius: float
    place: int = 0

    def grown(self, distance: float) -> Obstacle:
        """The same with so much more around it."""
        return replace(self, radius=self.radius + distance)

    def separating(self, poses: FloatArray, outline: FloatArray) -> FloatArray:
        """(n, 2): for steps between poses (n + 1, 3) a line's normal angle (rad) and level (m), the robot beyond."""
        about = _placed(outline.mean(axis=0)[None], poses)[:, 0]
        middle = (about[1:] + about[:-1]) / 2 - self.corners.mean(axis=0)
        angle = np.unwrap(np.arctan2(middle[:, 1], middle[:, 0]))
        normal = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return np.stack([angle, (normal @ self.corners.T).max(axis=1) + self.radius], axis=1)

    def distances(self, poses: FloatArray, outline: FloatArray) -> FloatArray:
        """(n,): the outline's distance at poses (n, 3); below 0 where they overlap, by how deep."""
        robot = _placed(outline, poses)
        far = np.array(shapely.distance(_hulls(robot), _hulls(self.corners)))
        # where they overlap, the origin lies within the polygon of their corners' differences, and as deep
        over = (robot[far <= 0][:, :, None] - self.corners).reshape(-1, len(outline) * len(self.corners), 2)
        edge = shapely.get_exterior_ring(_hulls(over))  # of points and lines there is none
        far[far <= 0] = -np.nan_to_num(shapely.distance(edge, shapely.Point(0, 0)))
        return far - self.radius


def _hulls(points: FloatArray) -> npt.NDArray[np.object_]:
    """(…): the convex polygons about points (…, n, 2)."""
    return np.asarray(shapely.convex_hull(shapely.multipoints(points)))


def _placed(outline: FloatArray, poses: FloatArray) -> FloatArray:
    """(n, c, 2): the corners (c, 2) of an outline at poses (n, 3)."""
    at = poses[:, :2] @ [[1.0], [1j]] + np.exp(1j * poses[:, 2:]) * (outline @ [1.0, 1j])
    return np.stack([at.real, at.imag], axis=2)


def obstacles_of(given: Sequence[npt.ArrayLike]) -> tuple[Obstacle, ...]:
    """Discs (x, y, radius) and polygons ((x, y), …) as convex parts; InputError where one is neither."""
    parts: list[Obstacle] = []
    for place, one in enumerate(given):
        key = f"keep_out[{place}]"
        rows = as_numbers(one, key)
        if not np.isfinite(rows).all():
            raise InputError("an obstacle has a number that isn't finite", key=key)
        if rows.shape == (3,):
            if not rows[2] > 0:
                raise InputError(
                    f"expected a radius > 0, got {rows[2]:g} m", key=key, hint="x, y, radius (m)"
                )
            parts.append(Obstacle(rows[None, :2], float(rows[2]), place))
        elif rows.ndim == 2 and rows.shape[1] == 2 and len(rows) > 2:
            parts += [Obstacle(part, 0.0, place) for part in _convex(rows, key)]
        else:
            hint = "a disc is (x, y, radius), a polygon three or more corners (x, y), in m"
            raise InputError(f"an obstacle is no {came(one)}", key=key, hint=hint)
    return tuple(parts)


def _convex(corners: FloatArray, key: str) -> list[FloatArray]:
    """A polygon itself where it is convex, else triangles."""
    whole = shapely.Polygon(corners)
    if whole.area < _AREA:
        raise InputError("the corners of a polygon lie on a line", key=key)
    sound = shapely.make_valid(whole)
    if not math.isclose(sound.area, whole.area):  # loops count by the way they wind, or once
        raise InputError("the sides of a polygon cross one another", key=key)
    if math.isclose(whole.convex_hull.area, whole.area):
        return [hull(corners)]
    triangles = shapely.constrained_delaunay_triangles(sound).geoms
    return [hull(shapely.get_coordinates(each)) for each in triangles if each.area > _AREA]


def clear_by(motion: Motion, outline: FloatArray, obstacle: Obstacle) -> float:
    """What the outline keeps from an obstacle at every instant, at least (m); below 0 where it may touch it.

    On a part of the motion no point of the outline moves farther from where it is in the middle than the greatest
    speeds let it: parts where that may reach the obstacle are halved.
    """
    begin, end = motion.breaks[:-1], motion.breaks[1:]
    pace = _paces(motion, float(np.linalg.norm(outline, axis=1).max()))
    least = np.inf
    for level in range(_HALVINGS + 1):
        apart = obstacle.distances(motion.poses((begin + end) / 2), outline)
        kept = apart - pace * (end - begin) / 2
        if apart.min() <= 0 or level == _HALVINGS:
            return float(min(least, kept.min(), apart.min()))
        # what is clear by half of what it is in the middle is clear enough
        open_ = kept < apart / 2
        least = min(least, float(kept[~open_].min(initial=np.inf)))
        if not open_.any():
            break
        middle = (begin + end)[open_] / 2
        begin, end = (
            np.stack([first, last], axis=1).ravel()
            for first, last in ((begin[open_], middle), (middle, end[open_]))
        )
        pace = np.repeat(pace[open_], 2)
    return least


def _paces(motion: Motion, reach: float) -> FloatArray:
    """What points so far from the origin move at, at most, between a motion's breaks (m/s), by Chebyshev series."""
    nodes = chebyshev.chebpts1(_POINTS)
    begin, width = motion.breaks[:-1], np.diff(motion.breaks)
    twist = motion.samples((begin[:, None] + width[:, None] * (1 + nodes) / 2).ravel()).twist
    series = chebyshev.chebvander(nodes, _POINTS - 1).T * (2 - (np.arange(_POINTS) == 0))[:, None] / _POINTS
    terms = np.abs(np.einsum("kj,pjc->pkc", series, twist.reshape(len(begin), _POINTS, 3)))
    most = terms.sum(axis=1) + terms[:, -1]
    return np.hypot(most[:, 0], most[:, 1]) + reach * most[:, 2]
