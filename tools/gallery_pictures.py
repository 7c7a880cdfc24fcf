"""The gallery's still pictures, and the README's."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

import trundle
from trundle.results import Run
from trundle.show.drawing.scene import project
from trundle.show.figures.path import track_of
from trundle.show.figures.plane import limits_around
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.style import COLOURS, MUTED, house_style, new_figure, save_figure

# Inches of a card's picture: 480 × 360 pixels.
_CARD = (3.2, 2.4)
_ACROSS = 4
# A robot is at least this share of its path in a picture of that size.
_SHARE = 0.16


def save_still(run: Run, path: Path) -> None:
    """A robot on its path, without axes."""
    with house_style():
        figure = new_figure(_CARD[1], _CARD[0], None)
        draw_still(figure.add_axes((0.03, 0.03, 0.94, 0.94)), run)
        save_figure(figure, path)


def draw_still(axes: Axes, run: Run) -> None:
    """Where a robot went, and the robot a third of the way before its end, in axes of a card's shape."""
    axes.set_axis_off()
    track = track_of(run)
    if track is None:
        return
    moment = int(np.searchsorted(track.progress, track.progress[-1] * 2 / 3))
    span = float(np.ptp(track.points, axis=0).max())
    view, scale = track.view, max(1.0, _SHARE * span / track.scene.size) if track.drives else 1.0
    about = track.points[moment]
    body = about + scale * (project(track.scene.extent[moment], view) - about)
    low, high = limits_around(np.concatenate([track.points, body]))
    middle, half = (low + high) / 2, (high - low) / 2
    half = np.maximum(half, half[::-1] * (_CARD[0] / _CARD[1], _CARD[1] / _CARD[0]))
    (left, bottom), (right, top) = middle - half, middle + half
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
    axes.plot(*track.points[moment:].T, color=MUTED, linewidth=1.0, alpha=0.6)
    axes.plot(*track.points[: moment + 1].T, color=COLOURS[0], linewidth=1.6)
    draw_scene(axes, track.scene.at([moment]), view, scale=scale)


def draw_pictures(runs: Sequence[Run], page: Path, pictures: Path) -> None:
    """The README's pictures: the catalogue's robots, two runs compared, and that page as a browser shows it."""
    with house_style():
        rows = -(-len(runs) // _ACROSS)
        figure = new_figure(rows * 1.75, 8.0, None)
        for place, run in enumerate(runs):
            row, column = divmod(place, _ACROSS)
            box = (column / _ACROSS + 0.01, 1 - (row + 1) / rows + 0.01, 1 / _ACROSS - 0.02, 0.8 / rows)
            axes = figure.add_axes(box)
            draw_still(axes, run)
            axes.set_title(run.name.replace("_", " "), loc="center", fontsize=8.5, fontweight="normal")
        save_figure(figure, pictures / "robots.png")
    circle = "examples/diff_drive/circle.yaml"
    compared = [trundle.run(circle, parameters={"d": d}, duration=12.0) for d in ("0 cm", "30 cm")]
    save_figure(trundle.compare(*compared).path(), pictures / "compared.png")
    from tools.gallery_check import screenshot

    screenshot(page, pictures / "page.png")
