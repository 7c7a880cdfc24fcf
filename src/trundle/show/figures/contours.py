"""A terrain under a path seen from above: lines of equal height, shaded by it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from trundle.arrays import FloatArray
from trundle.results import Run
from trundle.robot.terrain import Region, Terrain
from trundle.show.drawing.ground import GroundSurface, sampled, terrain_of
from trundle.show.figures.style import COLOURS, INK, MUTED

# Lines at most, and heights that differ by less (m) are flat ground, which shows nothing from above.
_LINES, _FLAT = 9, 1e-3
# Lines nearer than this share of the picture have no room for a label between them.
_LABEL = 0.02
_REGION = COLOURS[0]
# How strongly the shades cover the page.
_STRENGTH = 0.35


def hilly(run: Run) -> bool:
    """Whether the ground about a run's path isn't flat, or of other friction somewhere."""
    terrain = terrain_of(run)
    if terrain is None or terrain.regions or not {"x", "y", "z"} <= set(run.values):
        return terrain is not None and bool(terrain.regions)
    ground = _under(terrain, *_bounds(run))
    heights = ground.heights[np.isfinite(ground.heights)]
    return bool(np.ptp(heights) > _FLAT) if heights.size else False


def on_one_ground(runs: Sequence[Run]) -> bool:
    """Whether all runs went over the same terrain."""
    first, *others = map(terrain_of, runs)
    return first is not None and all(other == first for other in others)


def draw_contours(axes: Axes, runs: Sequence[Run], low: FloatArray, high: FloatArray) -> str:
    """Lay the ground of runs on one terrain between two corners (x, y in m) under everything else; a note of it."""
    lowest, highest = zip(*map(_bounds, runs), strict=True)
    heights = np.min(lowest, axis=0)[2], np.max(highest, axis=0)[2]
    terrain = terrain_of(runs[0])
    if terrain is None:
        return ""
    ground = _under(terrain, np.array([*low, heights[0]]), np.array([*high, heights[1]]))
    if not np.isfinite(ground.heights).any():
        return ""
    rows, columns = ground.heights.shape
    x, y = (
        corner + ground.spacing * np.arange(count)
        for corner, count in zip(ground.corner, (columns, rows), strict=True)
    )
    levels = MaxNLocator(_LINES).tick_values(np.nanmin(ground.heights), np.nanmax(ground.heights))
    axes.contourf(x, y, ground.heights, levels, cmap="Greys", alpha=_STRENGTH, extend="both", zorder=0)
    lines = axes.contour(x, y, ground.heights, levels, colors=MUTED, linewidths=0.6, zorder=0.5)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    room = _LABEL * float(max(high - low))
    flat = [level for level in levels if _apart(ground, level, float(levels[1] - levels[0])) > room]
    axes.clabel(lines, [level for level in lines.levels if level in flat], fmt="%g m", fontsize=7, colors=INK)
    axes.grid(False)
    for name, region in ground.regions.items():
        _draw_region(axes, name, region, np.array([low, high]).T)
    return _heights_note(ground.heights)


def _draw_region(axes: Axes, name: str, region: Region, limits: FloatArray) -> None:
    """Where friction is another: a hatched rectangle with its name and factor, as far as it is in the picture."""
    sides = zip((region.x, region.y), limits, strict=True)
    (left, right), (low, high) = (np.clip([end.number for end in side], *seen) for side, seen in sides)
    if left >= right or low >= high:
        return
    look = {"facecolor": "none", "edgecolor": _REGION, "linewidth": 0.8, "zorder": 0.7}
    axes.add_patch(Rectangle((left, low), right - left, high - low, hatch="//", alpha=0.5, **look))
    words = f" {name}: friction × {region.friction.number:g}"
    axes.text(left, high, words, color=_REGION, fontsize=7.5, va="top", clip_on=True, zorder=0.8)


def _heights_note(heights: FloatArray) -> str:
    """What the shades mean, in words."""
    ends = float(np.nanmin(heights)), float(np.nanmax(heights))
    digits = 2 - math.floor(math.log10(max(ends[1] - ends[0], _FLAT)))  # a thousandth of what it rises
    low, high = (round(end, digits) + 0.0 for end in ends)
    return f"ground from {low:g} to {high:g} m, the higher the darker"


def _apart(ground: GroundSurface, level: float, step: float) -> float:
    """How far lines are apart near one of a height (m), by the middle slope there; 0 where no ground is so high."""
    heights = ground.heights
    near = np.abs(heights - level) <= step / 2
    down, along = np.gradient(heights, ground.spacing)
    slopes = np.hypot(down, along)[near]
    slopes = slopes[np.isfinite(slopes) & (slopes > 0)]
    return step / float(np.median(slopes)) if slopes.size else 0.0


def _bounds(run: Run) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest x, y and z of a run (m)."""
    places = np.array([run[name] for name in "xyz"])
    places = places[:, np.isfinite(places).all(axis=0)]
    return places.min(axis=1), places.max(axis=1)


def _under(terrain: Terrain, low: FloatArray, high: FloatArray) -> GroundSurface:
    """The ground of a terrain over a box; a robot that stays where it is has one without a size."""
    return sampled(terrain, low, high, max(0.0, 0.1 - float((high - low)[:2].max())))
