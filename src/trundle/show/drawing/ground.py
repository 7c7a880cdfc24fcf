"""The ground that is drawn under a run: heights of its terrain's surfaces around where robots were."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import FloatArray
from trundle.documents import parse
from trundle.errors import InputError
from trundle.results import Run

if TYPE_CHECKING:
    from trundle.robot.terrain import Region, Terrain

# So many points are sampled, about; so many sizes of a robot are shown around where it was.
_POINTS, _AROUND = 16_000, 1.5
# Points along the longer side at most: a robot that drives straight ahead has a box without a width.
_LONGEST = 1000
# Ground is looked for so far above and below the robot (m), where its way isn't longer: one that stands has no way.
_DEEP = 10.0
# Halvings of where the ground may be: to a millionth of a millionth.
_HALVINGS = 40


@dataclass(frozen=True, eq=False)
class Ground:
    """Heights (rows, columns) in m over a grid of places, rows along y; NaN where there is no ground.

    corner : x and y of the first (m)
    spacing : between neighbours along both axes (m)
    regions : where friction is another
    """

    corner: tuple[float, float]
    spacing: float
    heights: FloatArray
    regions: Mapping[str, Region]


def grounds_under(runs: Sequence[Run], size: float) -> tuple[list[Ground], list[int | None]]:
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


def _under(terrain: Terrain, runs: Sequence[Run], size: float) -> Ground:
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
        warnings.warn(
            f"the ground of '{run.name}' isn't drawn: it keeps no heights of its map {missing[0]!r}, and "
            "no such file is in this folder",
            stacklevel=2,
        )
        return None
    return terrain


def sampled(terrain: Terrain, low: FloatArray, high: FloatArray, around: float) -> Ground:
    """Heights over the box between two corners (x, y, z in m) and `around` it.

    Between a point above all and one below all the place where the distance changes its sign is halved in; a wall ends
    where the highest other ground does.
    """
    extent = high[:2] - low[:2] + 2 * around
    spacing = float(max(np.sqrt(extent.prod() / _POINTS), extent.max() / _LONGEST))
    columns, rows = (int(count) + 1 for count in np.ceil(extent / spacing))
    corner = low[:2] - around
    x, y = np.meshgrid(corner[0] + spacing * np.arange(columns), corner[1] + spacing * np.arange(rows))
    reach = max(float(extent.max()), _DEEP)
    bottom, top = np.full(x.shape, low[2] - reach), np.full(x.shape, high[2] + reach)
    walls, holes = _inside(terrain, x, y, top), ~_inside(terrain, x, y, bottom)
    for _ in range(_HALVINGS):
        middle = (bottom + top) / 2
        inside = _inside(terrain, x, y, middle)
        bottom, top = np.where(inside, middle, bottom), np.where(inside, top, middle)
    heights = np.where(holes, np.nan, top)
    rest = heights[~walls & ~holes]
    heights[walls] = rest.max() if rest.size else high[2]
    return Ground((float(corner[0]), float(corner[1])), spacing, heights, terrain.regions)


def _inside(
    terrain: Terrain, x: FloatArray, y: FloatArray, z: FloatArray
) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Whether points lie in the ground."""
    return np.broadcast_to(np.asarray(terrain.spot((x, y, z)).distance, dtype=float) < 0, x.shape)
