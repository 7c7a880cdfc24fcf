"""The gallery's still pictures: robots on their paths."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes

from trundle.results import Run
from trundle.show.drawing.scene import project
from trundle.show.figures.path import Track, track_of
from trundle.show.figures.plane import limits_around
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.style import COLOURS, MUTED, house_style, new_figure, save_figure

# Inches of a card's picture: 480 × 360 pixels.
CARD = (3.2, 2.4)
# A robot is at least this share of its path in a picture of that size.
_SHARE = 0.16


def save_still(run: Run, path: Path) -> None:
    """A robot on its path, without axes."""
    with house_style():
        figure = new_figure(CARD[1], CARD[0], None)
        draw_still(figure.add_axes((0.03, 0.03, 0.94, 0.94)), run)
        save_figure(figure, path)


def draw_still(axes: Axes, run: Run) -> None:
    """Where a robot went, and the robot a third of the way before its end, in axes of a card's shape."""
    axes.set_axis_off()
    track = track_of(run)
    if track is None:
        return
    moment = int(np.searchsorted(track.progress, track.progress[-1] * 2 / 3))
    scale = still_scale(track)
    still_limits(axes, track, [moment])
    axes.plot(*track.points[moment:].T, color=MUTED, linewidth=1.0, alpha=0.6)
    axes.plot(*track.points[: moment + 1].T, color=COLOURS[0], linewidth=1.6)
    draw_scene(axes, track.scene.at([moment]), track.view, scale=scale)


def still_scale(track: Track) -> float:
    """How many times its size a robot is drawn, so that it is seen on its path."""
    span = float(np.ptp(track.points, axis=0).max())
    return max(1.0, _SHARE * span / track.scene.size) if track.drives else 1.0


def still_limits(axes: Axes, track: Track, moments: Sequence[int]) -> None:
    """Limits of axes of a card's shape around a path, and its robot at moments."""
    about = track.points[moments][:, None]
    body = about + still_scale(track) * (project(track.scene.extent[moments], track.view) - about)
    low, high = limits_around(np.concatenate([track.points, body.reshape(-1, 2)]))
    middle, half = (low + high) / 2, (high - low) / 2
    half = np.maximum(half, half[::-1] * (CARD[0] / CARD[1], CARD[1] / CARD[0]))
    (left, bottom), (right, top) = middle - half, middle + half
    axes.set(xlim=(left, right), ylim=(bottom, top), aspect="equal")
