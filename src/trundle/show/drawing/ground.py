"""The ground that is drawn under a run: heights of its terrain's surfaces around where robots were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents import parse
from trundle.errors import InputError, warn
from trundle.results import Run

if TYPE_CHECKING:
    from trundle.robot.terrain import Region, Terrain

# So many points are sampled, about; so many sizes of a robot are shown around where it was.
_POINTS, _AROUND = 16_000, 1.5
# Points along the longer side at most: a robot that drives straight ahead has a box without a width.
_LONGEST = 1000
# Ground is looked for so far above and below the robot (m), where its way isn't longer: one that stands has no way.
_DEEP = 10.0
# Halvings of where the ground may be: to a millionth of a millionth; and how near it is found (m).
_HALVINGS, _FINE = 40, 1e-11


@dataclass(frozen=True, eq=False)
class GroundSurface:
    """Heights (rows, columns) in m over a grid of places, rows along y; NaN where there is no ground.

    corner : x and y of the first (m)
    spacing : between neighbours along both axes (m)
    regions : where friction is another
    """

    corner: tuple[float, float]
    spacing: float
    heights: FloatArray
    regions: Mapping[str, Region]


def grounds_under(runs: Sequence[Run], size: float) -> tuple[list[GroundSurface], list[int | None]]:
    """The grounds around where the runs were that stood on them, and the place of a run's own among them, if any.

    size : the robot's largest extent (m).
    """
    terrains: list[Terrain] = []
    places: list[int | None] = []
    for terrain in map(terrain_of, runs):
        if terrain is not None and terrain not in terrains:
            terrains.append(terrain)
        places.append(None if terrain is None else terrains.index(terrain))
    together = [
        [run for run, own in zip(runs, places, strict=True) if own == k] for k in range(len(terrains))
    ]
    return [_under(each, those, size) for each, those in zip(terrains, together, strict=True)], places


def _under(terrain: Terrain, runs: Sequence[Run], size: float) -> GroundSurface:
    """A terrain around where runs were."""
    places = np.concatenate([[run["x"], run["y"], run["z"]] for run in runs], axis=1)
    places = places[:, np.isfinite(places).all(axis=0)]
    return sampled(terrain, places.min(axis=1), places.max(axis=1), _AROUND * size)


def terrain_of(run: Run) -> Terrain | None:
    """The terrain of a run's description, if it has one that can be read; a warning says which map is missing."""
    try:
        terrain = parse(run.description["yaml"], maps=run.description.get("maps", {})).terrain
    except (InputError, KeyError):
        return None
    missing = [] if terrain is None else terrain.unread
    if missing:
        warn(
            f"the ground of '{run.name}' isn't drawn: it keeps no heights of its map {missing[0]!r}, and "
            "no such file is in this folder"
        )
        return None
    return terrain


def sampled(terrain: Terrain, low: FloatArray, high: FloatArray, around: float) -> GroundSurface:
    """Heights over the box between two corners (x, y, z in m) and `around` it.

    Between a point above all and one below all the place where the distance changes its sign is sought along the line
    between them and halved in, by turns; a wall ends where the highest other ground does.
    """
    extent = high[:2] - low[:2] + 2 * around
    spacing = float(max(np.sqrt(extent.prod() / _POINTS), extent.max() / _LONGEST))
    columns, rows = (int(count) + 1 for count in np.ceil(extent / spacing))
    corner = low[:2] - around
    x, y = np.meshgrid(corner[0] + spacing * np.arange(columns), corner[1] + spacing * np.arange(rows))
    reach = max(float(extent.max()), _DEEP)
    bottom, top = np.full(x.shape, low[2] - reach), np.full(x.shape, high[2] + reach)
    above, below = (_distance(terrain, x, y, z).copy() for z in (top, bottom))
    walls, holes = above < 0, ~(below < 0)
    for turn in range(3 * _HALVINGS):
        far = (top - bottom > 3 * _FINE) & ~walls & ~holes
        if not far.any():
            break
        low, high, under, over = bottom[far], top[far], below[far], above[far]
        middle = (low + high) / 2
        if turn % 3 < 2:  # most distances grow evenly with the height: both sides of where the line leads
            line = high - over * (high - low) / (over - under) + (_FINE, -_FINE)[turn % 3]
            middle = np.where((low < line) & (line < high), line, middle)
        found = _distance(terrain, x[far], y[far], middle)
        inside = found < 0
        bottom[far], below[far] = np.where(inside, middle, low), np.where(inside, found, under)
        top[far], above[far] = np.where(inside, high, middle), np.where(inside, over, found)
    heights = np.where(holes, np.nan, top)
    rest = heights[~walls & ~holes]
    heights[walls] = rest.max() if rest.size else high[2]
    return GroundSurface((float(corner[0]), float(corner[1])), spacing, heights, terrain.regions)


def _distance(terrain: Terrain, x: FloatArray, y: FloatArray, z: FloatArray) -> FloatArray:
    """How far points lie above the ground (m), less than 0 in it."""
    return np.broadcast_to(np.asarray(terrain.spot((x, y, z)).distance, dtype=float), x.shape)
