"""A terrain under a path seen from above: lines of equal height, shaded by it."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from trundle.arrays import FloatArray
from trundle.results import Run
from trundle.show.drawing.ground import Ground, sampled, terrain_of
from trundle.show.figures.style import MUTED

# Lines at most, and heights that differ by less (m) are flat ground, which shows nothing from above.
_LINES, _FLAT = 9, 1e-3
# How strongly the shades cover the page.
_STRENGTH = 0.35


def hilly(run: Run) -> bool:
    """Whether the ground about a run's path isn't flat."""
    ground = _under(run, *_bounds(run)) if {"x", "y", "z"} <= set(run.values) else None
    return ground is not None and bool(np.nanmax(ground.heights) - np.nanmin(ground.heights) > _FLAT)


def draw_contours(axes: Axes, run: Run, low: FloatArray, high: FloatArray) -> None:
    """Lay the ground of a run between two corners (x, y in m) under everything else."""
    lowest, highest = _bounds(run)
    ground = _under(run, np.array([*low, lowest[2]]), np.array([*high, highest[2]]))
    if ground is None:
        return
    rows, columns = ground.heights.shape
    x, y = (
        corner + ground.spacing * np.arange(count)
        for corner, count in zip(ground.corner, (columns, rows), strict=True)
    )
    levels = MaxNLocator(_LINES).tick_values(np.nanmin(ground.heights), np.nanmax(ground.heights))
    axes.contourf(x, y, ground.heights, levels, cmap="Greys", alpha=_STRENGTH, extend="both", zorder=0)
    lines = axes.contour(x, y, ground.heights, levels, colors=MUTED, linewidths=0.6, zorder=0.5)
    axes.clabel(lines, fmt="%g m", fontsize=7)
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    axes.grid(False)


def _bounds(run: Run) -> tuple[FloatArray, FloatArray]:
    """The least and the greatest x, y and z of a run (m)."""
    places = np.array([run[name] for name in "xyz"])
    places = places[:, np.isfinite(places).all(axis=0)]
    return places.min(axis=1), places.max(axis=1)


def _under(run: Run, low: FloatArray, high: FloatArray) -> Ground | None:
    """The ground of a run's terrain over a box; None where it has none."""
    terrain = terrain_of(run)
    # A robot that stays where it is has a box without a size.
    return (
        None
        if terrain is None
        else sampled(terrain, low, high, max(0.0, 0.1 - float((high - low)[:2].max())))
    )
