"""The symbols of diagrams: joints, ground, centres of mass, measures, drawn on a sheet whose metres an inch are known.

Sizes of symbols and gaps are in inches on the page, so that they look the same for robots of any size.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, FancyArrowPatch, Patch, Rectangle, Wedge
from matplotlib.patheffects import withStroke
from matplotlib.transforms import Affine2D

from trundle.arrays import FloatArray
from trundle.show.figures.style import INK, MUTED

AXES = {"x": "#c8372d", "y": "#2f8f46", "z": "#2b62b8"}
BAR = "#9fb0c3"
_SYMBOL = 0.07
_HALO = [withStroke(linewidth=2.5, foreground="white")]

PlanePlace = Sequence[float] | FloatArray


@dataclass(frozen=True)
class Canvas:
    """What is drawn on: axes, and how many metres an inch on the page is."""

    axes: Axes
    inch: float
    low: FloatArray
    high: FloatArray

    def text(self, at: PlanePlace, text: str, *, rim: bool = False, **style: Any) -> None:
        """Text as it stands (no mathematics in it); with a white rim where lines are behind it."""
        given = {"fontsize": 8.5, "zorder": 9, "parse_math": False, **style}
        self.axes.text(float(at[0]), float(at[1]), text, path_effects=_HALO if rim else None, **given)

    def line(self, start: PlanePlace, end: PlanePlace, **style: Any) -> None:
        """A line between two points."""
        given = {"solid_capstyle": "round", "clip_on": False, **style}
        self.axes.plot([start[0], end[0]], [start[1], end[1]], **given)

    def arrow(self, start: PlanePlace, end: PlanePlace, colour: str, **style: Any) -> None:
        """An arrow with a filled head."""
        given = {
            "arrowstyle": "-|>",
            "mutation_scale": 9,
            "linewidth": 1.6,
            "shrinkA": 0,
            "shrinkB": 0,
            **style,
        }
        arrow = FancyArrowPatch((start[0], start[1]), (end[0], end[1]), color=colour, **given)
        self.patch(arrow, zorder=style.get("zorder", 7))

    def patch(self, shape: Patch, **style: Any) -> None:
        """A shape, even where it reaches beyond the page, which is cut to what is on it at last."""
        shape.set(**{"clip_on": False, **style})
        self.axes.add_patch(shape)


def draw_joint(sheet: Canvas, symbol: str, at: FloatArray, axis: FloatArray) -> None:
    """A square for a fixed joint, a ring where the axis (as seen in the picture) points at whoever looks, else a box;
    what turns any way is filled.
    """
    size, place = _SYMBOL * sheet.inch, (float(at[0]), float(at[1]))
    length = float(np.hypot(*axis))
    if symbol == "weld":
        corner = (place[0] - 0.6 * size, place[1] - 0.6 * size)
        sheet.patch(Rectangle(corner, 1.2 * size, 1.2 * size), facecolor=INK, zorder=5.5)
    elif length > 0.7:
        _box(sheet, symbol, place, axis / length)
    else:
        fill = BAR if symbol == "ball" else "white"
        sheet.patch(Circle(place, size), facecolor=fill, edgecolor=INK, linewidth=1.4, zorder=5.5)
        sheet.patch(Circle(place, 0.3 * size), facecolor=INK, zorder=5.6)


def _box(sheet: Canvas, symbol: str, place: tuple[float, float], along: FloatArray) -> None:
    """A joint seen from beside its axis; one that slides has an arrow along it."""
    size = _SYMBOL * sheet.inch
    turn = Affine2D().rotate(math.atan2(along[1], along[0])).translate(*place) + sheet.axes.transData
    box = Rectangle((-1.5 * size, -0.85 * size), 3 * size, 1.7 * size)
    sheet.patch(box, facecolor="white", edgecolor=INK, linewidth=1.4, transform=turn, zorder=5.5)
    ends = place - 2.6 * size * along, place + 2.6 * size * along
    if symbol == "slide":
        style = {"arrowstyle": "<|-|>", "linewidth": 1.0, "mutation_scale": 6}
        sheet.arrow(*ends, INK, **style, zorder=5.7)
    else:
        sheet.line(*ends, color=INK, linewidth=0.9, linestyle=(0, (6, 2, 1, 2)), zorder=5.7)


def draw_pivot(sheet: Canvas, at: PlanePlace) -> None:
    """The vertical axis that a wheel is steered about."""
    ring = Circle((float(at[0]), float(at[1])), 0.75 * _SYMBOL * sheet.inch)
    sheet.patch(ring, facecolor="white", edgecolor=AXES["z"], linewidth=1.3, zorder=6.5)


def draw_ground(sheet: Canvas, at: FloatArray) -> None:
    """What doesn't move: a hatched foot under a joint."""
    size = _SYMBOL * sheet.inch
    foot = at - (0, 2.4 * size)
    for corner in (-1.6, 1.6):
        sheet.line(at, foot + (corner * size, 0), color=INK, linewidth=1.1, zorder=4.4)
    sheet.line(foot - (2.4 * size, 0), foot + (2.4 * size, 0), color=INK, linewidth=1.4, zorder=4.4)
    for k in np.linspace(-2.0, 2.4, 6) * size:
        sheet.line(foot + (k, 0), foot + (k - 0.7 * size, -0.9 * size), color=INK, linewidth=0.8, zorder=4.4)


def draw_center(sheet: Canvas, at: FloatArray) -> None:
    """A centre of mass: a circle with two black quarters."""
    place, size = (float(at[0]), float(at[1])), 0.75 * _SYMBOL * sheet.inch
    sheet.patch(Circle(place, size), facecolor="white", edgecolor=INK, linewidth=0.9, zorder=7.2)
    for start in (0, 180):
        sheet.patch(Wedge(place, size, start, start + 90), facecolor=INK, linewidth=0, zorder=7.3)


def draw_measure(
    sheet: Canvas, ends: Sequence[tuple[float, float]], of: Sequence[tuple[float, float]], what: str
) -> None:
    """A dimension line, with thin lines to what it measures."""
    for end, start in zip(ends, of, strict=True):
        sheet.line(start, end, color=MUTED, linewidth=0.6, zorder=2)
    sheet.arrow(ends[0], ends[1], MUTED, arrowstyle="<|-|>", linewidth=0.9, mutation_scale=7, zorder=2)
    (x, y), (x1, y1) = ends
    upright = x == x1
    sheet.text(
        ((x + x1) / 2, (y + y1) / 2),
        f"{what} {math.hypot(x1 - x, y1 - y):.4g} m",
        ha="center",
        va="center",
        color=INK,
        rotation=90 if upright else 0,
        fontsize=8,
        bbox={"facecolor": "white", "edgecolor": "none", "pad": 1.5},
    )


def draw_scale(sheet: Canvas) -> None:
    """A bar of a round length, below on the right."""
    about = 0.8 * sheet.inch
    power = 10.0 ** math.floor(math.log10(about))
    length = max(step * power for step in (1, 2, 5, 10) if step * power <= about * 1.2)
    end = np.array([sheet.high[0] + 0.1 * sheet.inch, sheet.low[1] - 0.55 * sheet.inch])
    start = end - (length, 0)
    sheet.line(start, end, color=MUTED, linewidth=1.4, zorder=2)
    for tick in (start, end):
        sheet.line(tick, tick + (0, 0.05 * sheet.inch), color=MUTED, linewidth=1.0, zorder=2)
    sheet.text(
        (start + end) / 2 + (0, 0.05 * sheet.inch),
        f"{length:g} m",
        ha="center",
        va="bottom",
        color=MUTED,
        fontsize=8,
    )
