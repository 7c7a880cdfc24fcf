"""Obstacles on the floor, how far a robot's outline is from them, and the proof that it is all along a motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
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
# A polygon whose corners all turn left has an area; less than this (m²) is a line.
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
        about = poses[:, :2] + np.stack(_turned(outline.mean(axis=0), poses[:, 2]), axis=1)
        middle = (about[1:] + about[:-1]) / 2 - self.corners.mean(axis=0)
        angle = np.unwrap(np.arctan2(middle[:, 1], middle[:, 0]))
        normal = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        return np.stack([angle, (normal @ self.corners.T).max(axis=1) + self.radius], axis=1)

    def distances(self, poses: FloatArray, outline: FloatArray) -> FloatArray:
        """(n,): no more than the outline's distance at poses (n, 3); below 0 where they overlap.

        The widest gap between both across any of their edges, or between a disc and a corner.
        """
        across, up = _turned(outline, poses[:, 2])
        robot = np.stack([poses[:, :1] + across, poses[:, 1:2] + up], axis=2)
        gaps = [_beyond(robot, self.corners[None])] if len(outline) > 1 else []
        if len(self.corners) > 1:
            gaps.append(_beyond(self.corners[None], robot))
        else:
            apart = robot - self.corners
            far = np.linalg.norm(apart, axis=2)
            nearest = np.take_along_axis(apart, far.argmin(axis=1)[:, None, None], axis=1)
            size = np.maximum(far.min(axis=1), 1e-12)
            gaps.append((apart * nearest).sum(axis=2).min(axis=1) / size)
        return np.max(gaps, axis=0) - self.radius


def _turned(points: FloatArray, headings: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Points (…, 2) turned by headings (n,): x and y, (n, …)."""
    x, y = points[..., 0], points[..., 1]
    cos, sin = (part.reshape(-1, *(1,) * x.ndim) for part in (np.cos(headings), np.sin(headings)))
    return cos * x - sin * y, sin * x + cos * y


def _beyond(polygon: FloatArray, others: FloatArray) -> FloatArray:
    """(n,): how far all others (n or 1, c, 2) lie beyond some edge of convex polygons (n or 1, e, 2)."""
    edges = np.roll(polygon, -1, axis=1) - polygon
    normals = np.stack([edges[..., 1], -edges[..., 0]], axis=2) / np.linalg.norm(edges, axis=2, keepdims=True)
    levels = (normals * polygon).sum(axis=2)
    return ((normals @ others.swapaxes(1, 2)).min(axis=2) - levels).max(axis=1)


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
    """A polygon itself where it is convex, else triangles (ears cut off one after the other)."""
    area = _area(corners)
    if abs(area) < _AREA:
        raise InputError("the corners of a polygon lie on a line", key=key)
    if _crossed(corners):
        raise InputError("the sides of a polygon cross one another", key=key)
    rest = list(corners if area > 0 else corners[::-1])
    if len(whole := hull(corners)) == len(corners):
        return [whole]
    triangles: list[FloatArray] = []
    while len(rest) > 3:
        k, ear = next(
            (k, ear)
            for k in range(len(rest))
            if _area(ear := np.array([rest[k - 1], rest[k], rest[(k + 1) % len(rest)]])) >= 0
            and not any(_inside(point, ear) for point in rest if not (point == ear).all(axis=1).any())
        )
        if _area(ear) > _AREA:
            triangles.append(ear)
        del rest[k]
    return [*triangles, np.array(rest)]


def _crossed(corners: FloatArray) -> bool:
    """Whether two sides of a polygon that aren't neighbours meet."""
    n, ends = len(corners), np.roll(corners, -1, axis=0)

    def sides(a: int, b: int) -> float:
        """< 0 where the ends of side b lie on both sides of side a."""
        return _area(np.array([corners[a], ends[a], corners[b]])) * _area(
            np.array([corners[a], ends[a], ends[b]])
        )

    pairs = ((a, b) for a in range(n) for b in range(a + 2, n) if (b + 1) % n != a)
    return any(sides(a, b) < 0 and sides(b, a) < 0 for a, b in pairs)


def _area(corners: FloatArray) -> float:
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def _inside(point: FloatArray, triangle: FloatArray) -> bool:
    """Whether a point lies inside a triangle or on its sides."""
    a, b, c = triangle
    sides = [_area(np.array(part)) for part in ((a, b, point), (b, c, point), (c, a, point))]
    return min(sides) >= 0


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
