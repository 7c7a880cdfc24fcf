"""The plane of a picture: how much of it is seen, its axes in inches, and what it is called."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import ScalarFormatter

from trundle.arrays import FloatArray
from trundle.show.drawing.scene import PLANES, project
from trundle.show.figures.joint_symbols import AXES
from trundle.show.figures.style import WIDTH, page, sizes_of

# The picture's height over its width stays within these, however long and thin the path.
_SHAPES = (0.35, 1.05)
# Inches: the plane's width, and what stands left of it, below and above.
_PLANE, _LEFT, _BELOW, _HEAD = 6.1, 0.85, 0.5, 0.7
# Powers of ten between which places are written without one.
_PLAIN = (-4, 7)
# Inches that a film is wide, and what stands right of its plane.
_FILM, _RIGHT = 6.0, 0.2


def limits_around(points: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The lower left and upper right corner of the picture: all points, a margin, and a bearable shape."""
    low, high = points.min(axis=0), points.max(axis=0)
    # far from the origin floats lie further apart than a millimetre
    margin = max(0.05 * float((high - low).max()), 1e-3, 1e-9 * float(np.abs(points).max()))
    low, high = low - margin, high + margin
    width, height = high - low
    wanted = np.array([max(width, height / _SHAPES[1]), max(height, width * _SHAPES[0])])
    middle = (low + high) / 2
    return middle - wanted / 2, middle + wanted / 2


def plane_axes(
    title: str,
    low: FloatArray,
    high: FloatArray,
    figsize: tuple[float, float] | None = None,
    above: float = 0.0,
) -> tuple[Figure, Axes, Axes]:
    """A figure with axes for the plane and for a bar of colours, placed in inches, so much free `above` them."""
    shape, head = float((high[1] - low[1]) / (high[0] - low[0])), _HEAD + above
    wide, tall = sizes_of(figsize, (WIDTH, 6.4 + _BELOW + head))
    height = max(0.5, min((wide - WIDTH + _PLANE) * shape, tall - _BELOW - head))
    total = tall if figsize is not None else height + _BELOW + head
    figure = page(title, total, figsize)
    across = height / shape
    axes = figure.add_axes((_LEFT / wide, _BELOW / total, across / wide, height / total))
    bar = figure.add_axes(((_LEFT + across + 0.15) / wide, _BELOW / total, 0.16 / wide, height / total))
    return figure, axes, bar


def film_axes(title: str, low: FloatArray, high: FloatArray, width: int) -> Axes:
    """Axes for the plane on a figure so many pixels wide, and an even number of them high, as players of films want."""
    dpi = width / _FILM
    shape = float((high[1] - low[1]) / (high[0] - low[0]))
    tall = (_FILM - _LEFT - _RIGHT) * shape + _BELOW + _HEAD
    total = 2 * round(tall * dpi / 2) / dpi
    figure = page(title, total, (_FILM, total))
    figure.set_dpi(dpi)
    box = _LEFT / _FILM, _BELOW / total, 1 - (_LEFT + _RIGHT) / _FILM, 1 - (_BELOW + _HEAD) / total
    return figure.add_axes(box)


def draw_plane(axes: Axes, view: str, low: FloatArray, high: FloatArray) -> None:
    """The plane that is looked at; of space the directions of its axes and a length."""
    axes.set_aspect("equal", adjustable="box")
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    if view in PLANES:
        for axis in (axes.xaxis, axes.yaxis):
            # UTM's places, too: a power of ten above the axis would stand in the legend.
            axis.set_major_formatter(plain := ScalarFormatter())
            plain.set_powerlimits(_PLAIN)
        axes.set(xlabel=f"{PLANES[view][0]} (m)", ylabel=f"{PLANES[view][1]} (m)")
        return
    axes.set(xlabel="the picture's plane (m)")
    corner = low + 0.12 * (high - low).min()
    tips = corner + 0.1 * (high - low).min() * project(np.eye(3), view)
    for tip, name, colour in zip(tips, AXES, AXES.values(), strict=True):
        axes.plot(*zip(corner, tip, strict=True), color=colour, linewidth=1.8, zorder=7)
        x, y = corner + 1.3 * (tip - corner)
        axes.text(x, y, name, color=colour, ha="center", va="center", zorder=7)
