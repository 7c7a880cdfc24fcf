"""Robots that leave the maps that their terrain is made of, at an edge or over a hole: who, when and where."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.scalars import Scalar

if TYPE_CHECKING:
    from trundle.robot.height_maps import HeightMap
    from trundle.robot.terrain import Terrain

# The distance of what is off a map, `robot.gridded.NOWHERE`, is known by so much (m): a depth at rest may be added.
_NEAR_NOWHERE = 1e3


def place_of(x: float, y: float) -> str:
    """A place for a message, to a centimetre however far it is from the origin."""
    return f"x = {metres(x)} m, y = {metres(y)} m"


def metres(value: float) -> str:
    """A length in m: four digits at least, and a centimetre of what is long."""
    return f"{value:.4g}" if abs(value) < 100 else f"{round(value, 2):.12g}"


def maps_that_end(terrain: Terrain) -> dict[str, HeightMap]:
    """The maps of a terrain that say nothing of some places, by name."""
    from trundle.robot.gridded import GridSurface  # loaded, where there is any

    grids = {name: each for name, each in terrain.surfaces.items() if isinstance(each, GridSurface)}
    return {name: each.map_of() for name, each in grids.items() if each.ends}


def is_off(terrain: Terrain, distances: FloatArray) -> np.ndarray:
    """Whether distances (m) are those of wheels that maps say nothing of; far from the ground is something else."""
    from trundle.robot.gridded import NOWHERE  # as above

    off = np.abs(distances - NOWHERE) < _NEAR_NOWHERE
    return off if off.any() and maps_that_end(terrain) else np.zeros_like(off)


def first_beyond(terrain: Terrain, sinkages: Mapping[str, FloatArray]) -> tuple[int, str] | None:
    """When a wheel first has no ground, by the number of the time, and which; None where all always have."""
    rows = {name: is_off(terrain, -row) for name, row in sinkages.items()}
    times = [(int(np.argmax(gone)), name) for name, gone in rows.items() if gone.any()]
    return min(times, default=None)


def off_maps(terrain: Terrain, x: Scalar, y: Scalar) -> Scalar:
    """1 where a place lies off all maps that are all of the ground, else 0."""
    gone: Scalar = 1
    for surface in terrain.surfaces.values():
        gone = gone * (1 - surface.covers(x, y))
    return gone


def beyond(
    terrain: Terrain, wheel: str, when: str, x: float, y: float, reach: float | None = None
) -> InputError:
    """What to say of a wheel without ground: the robot's place is x, y (m).

    With a `reach` (m) also the nearest place with ground so far around it.
    """
    (name, found), *_ = maps_that_end(terrain).items()
    (left, right), (low, high) = found.extent
    key = f"terrain.surfaces.{name}"
    if _to_hole(found, x, y) < min(x - left, right - x, y - low, high - y):
        return InputError(
            f"the wheel {wheel!r} is over a hole of the map {name!r} {when}, the robot at {place_of(x, y)}: heights "
            "are missing there",
            key=f"{key}.file",
            hint="drive elsewhere, or fill the map's holes"
            if reach is None
            else f"{_instead(found, x, y, reach)}; or fill it",
        )
    first = "drive less far, take a larger map" if reach is None else _instead(found, x, y, reach)
    return InputError(
        f"the wheel {wheel!r} is beyond the map {name!r} {when}, the robot at {place_of(x, y)}; the map "
        f"reaches from x = {metres(left)} to {metres(right)} m, y = {metres(low)} to {metres(high)} m",
        key=f"{key}.edge",
        hint=f"{first}, or say what lies beyond: edge: clamp or edge: repeat",
    )


def _to_hole(found: HeightMap, x: float, y: float) -> float:
    """How far a place is from the nearest point of a map whose surroundings have holes (m)."""
    rows, columns = np.nonzero(~found.coverage)
    if not rows.size:
        return math.inf
    return float(np.hypot(*_offsets(found, rows, columns, x, y)).min())


def _offsets(
    found: HeightMap, rows: np.ndarray, columns: np.ndarray, x: float, y: float
) -> tuple[FloatArray, FloatArray]:
    """How far points of a map are from a place along x and y (m)."""
    (left, low), (a, b) = found.corner, found.spacing
    return left + a * columns - x, low + b * rows - y


def _instead(found: HeightMap, x: float, y: float, reach: float) -> str:
    """The nearest place that would do: a point of the map whose ground is known `reach` (m) around it."""
    from scipy.ndimage import distance_transform_edt  # late: nobody asks but after a bad start

    (a, b), known = found.spacing, np.pad(found.coverage, 1)
    # A point stands for the cell about it, and so far off a neighbour's may begin. The map ends at its last points.
    room = np.asarray(distance_transform_edt(known, sampling=(b, a)))[1:-1, 1:-1] - math.hypot(a, b) / 2
    below, beside = (np.arange(size) * each for size, each in zip(room.shape, (b, a), strict=True))
    ends = np.minimum.outer(np.minimum(below, below[::-1]), np.minimum(beside, beside[::-1]))
    rows, columns = np.nonzero(np.minimum(room, ends) >= reach)
    if not rows.size:
        return f"take another map, as nowhere on it is ground {reach:.2g} m around a place"
    nearest = int(np.argmin(np.hypot(*_offsets(found, rows, columns, x, y))))
    (left, low), row, column = found.corner, int(rows[nearest]), int(columns[nearest])
    return f"begin at the nearest place with ground around: {place_of(left + a * column, low + b * row)}"
