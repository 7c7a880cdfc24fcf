"""The figure of where a robot went: its path from above with the robot drawn at intervals, or a linkage's motion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure

from trundle.errors import InputError
from trundle.results import Run
from trundle.results.arrays import FloatArray
from trundle.scene import Point, Scene
from trundle.show.robot import draw_links, draw_robot, robot_size
from trundle.show.style import (
    COLOURS,
    INK,
    MUTED,
    house_style,
    new_figure,
    say,
    time_colours,
)

_MOST_ROBOTS = 12
# More points of a path than a picture has pixels only cost time.
_MOST_POINTS = 4000
# A robot smaller than this share of the picture is drawn larger, and the figure says so.
_SMALLEST_SHARE = 0.05
# The picture's height over its width stays within these, however long and thin the path.
_SHAPES = (0.35, 1.05)


@dataclass(frozen=True)
class Track:
    """A path in the plane: positions (T, 2) in m, headings (T,) in rad, at times (T,) in s."""

    time: FloatArray
    points: FloatArray
    headings: FloatArray
    labels: tuple[str, str]


def path(run: Run) -> Figure:
    """The path of the robot's base with the robot at intervals; for a fixed base, the links and the tip's trace."""
    scene = Scene.from_dict(run.description.get("sketch", {}))
    with house_style():
        track = _track(run, scene)
        if track is None:
            figure = new_figure(2.5)
            figure.suptitle(f"{run.name}: path", x=0.01, ha="left")
            say(figure.subplots(), "nothing of this robot moves in the plane")
            return figure
        if scene.pose or not scene.links:
            return _robot_figure(run, scene, track)
        return _linkage_figure(run, scene, track)


def moves_in_plane(run: Run) -> bool:
    """Whether `path` has anything to draw."""
    return _track(run, Scene.from_dict(run.description.get("sketch", {}))) is not None


def _robot_figure(run: Run, scene: Scene, track: Track) -> Figure:
    size = robot_size(scene)
    scale = _scale(track, size)
    low, high = _limits(track.points, 0.75 * size * scale)
    figure, axes = _axes(f"{run.name}: path", track.labels, low, high)
    shown = _spaced(track, 1.15 * size * scale)
    for index in shown:
        strong = index in (shown[0], shown[-1])
        at = (*track.points[index], track.headings[index])
        steering = {w.name: float(run[w.steering][index]) for w in scene.wheels if w.steering}
        draw_robot(axes, scene, at, steering, scale=scale, alpha=0.95 if strong else 0.4)
    _draw_path(figure, axes, track)
    if scale > 1 and (scene.body or scene.wheels):
        note = f"robot drawn {scale:.2g} times its size"
        axes.text(1, 1.01, note, transform=axes.transAxes, ha="right", va="bottom", color=MUTED, fontsize=8.5)
    return figure


def _linkage_figure(run: Run, scene: Scene, track: Track) -> Figure:
    bars = [
        (_point(run, scene, link.start, track.time), _point(run, scene, link.end, track.time))
        for link in scene.links
    ]
    everything = np.concatenate([track.points, *(end for bar in bars for end in bar)])
    span = float(np.ptp(everything, axis=0).max()) or 1.0
    low, high = _limits(everything, 0.06 * span)
    figure, axes = _axes(f"{run.name}: motion", track.labels, low, high)
    count = min(_MOST_ROBOTS, track.time.size)
    # Evenly in the distance that the tip went, so that fast swings are not drawn as gaps.
    progress = _progress(track)
    shown = np.unique(np.searchsorted(progress, np.linspace(0, progress[-1], count)))
    for index in shown:
        strong = index in (shown[0], shown[-1])
        ends = [(start[index], end[index]) for start, end in bars]
        draw_links(axes, ends, alpha=0.95 if strong else 0.25)
    _draw_path(figure, axes, track)
    return figure


def _track(run: Run, scene: Scene) -> Track | None:
    if scene.pose:
        x, y, heading = (_named(run, name, "the base's pose") for name in scene.pose)
        points, labels = np.column_stack([x, y]), ("x", "y")
    elif scene.traced:
        across, up = (_named(run, name, "the traced point") for name in scene.traced)
        points, labels, heading = np.column_stack([across, up]), scene.plane, np.zeros(len(run))
    elif "x" in run and "y" in run:
        points, labels = np.column_stack([run["x"], run["y"]]), ("x", "y")
        heading = run["theta"] if "theta" in run else np.zeros(len(run))
    else:
        return None
    fine = np.isfinite(points).all(axis=1) & np.isfinite(heading)
    if not fine.any():
        return None
    # Up to where the numbers end, should a run have diverged.
    end = int(np.argmin(fine)) or 1 if not fine.all() else fine.size
    return Track(run.time[:end], points[:end], np.asarray(heading)[:end], labels)


def _named(run: Run, name: str, what: str) -> FloatArray:
    if name not in run:
        raise InputError(f"the sketch takes {what} from {name!r}, which the run does not have")
    return run[name]


def _point(run: Run, scene: Scene, point: Point, time: FloatArray) -> FloatArray:
    """A point of the scene over time in its plane, (T, 2)."""
    places = point if len(point) == 2 else [point["xyz".index(axis)] for axis in scene.plane]
    columns = [
        run[place][: time.size] if isinstance(place, str) else np.full(time.size, place) for place in places
    ]
    return np.column_stack(columns)


def _progress(track: Track) -> FloatArray:
    """The length of the path so far, (T,) in m."""
    return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(track.points, axis=0).T))])


def _spaced(track: Track, apart: float) -> list[int]:
    """Indices of poses to draw: the first, the last, and between them those that keep clear of all others drawn."""
    progress = _progress(track)
    chosen = [0]
    if track.time.size > 1 and np.hypot(*(track.points[-1] - track.points[0])) > 0.25 * apart:
        chosen.append(track.time.size - 1)
    elif track.time.size > 1:
        chosen = [track.time.size - 1]  # back where it began: one robot there, with its last heading
    # A little further apart along the path than across it, as arcs are longer than their chords.
    count = int(min(_MOST_ROBOTS, progress[-1] // (1.1 * apart)))
    for target in np.linspace(0, progress[-1], count + 1)[1:-1]:
        index = int(np.searchsorted(progress, target))
        gaps = np.hypot(*(track.points[chosen] - track.points[index]).T)
        if gaps.min() >= apart:
            chosen.append(index)
    return sorted(chosen)


def _scale(track: Track, size: float) -> float:
    """How many times its size the robot is drawn, so that it is seen in a picture of a long path."""
    span = float(np.ptp(track.points, axis=0).max())
    needed = _SMALLEST_SHARE * span / size if size > 0 else 1.0
    return needed if needed > 1 else 1.0


def _limits(points: FloatArray, margin: float) -> tuple[FloatArray, FloatArray]:
    """The lower left and upper right corner of the picture: all points, a margin, and a bearable shape."""
    low, high = points.min(axis=0), points.max(axis=0)
    margin = max(margin, 0.04 * float((high - low).max()), 1e-3)
    low, high = low - margin, high + margin
    width, height = high - low
    wanted = np.array([max(width, height / _SHAPES[1]), max(height, width * _SHAPES[0])])
    middle = (low + high) / 2
    return middle - wanted / 2, middle + wanted / 2


def _axes(title: str, labels: tuple[str, str], low: FloatArray, high: FloatArray) -> tuple[Figure, Axes]:
    shape = float((high[1] - low[1]) / (high[0] - low[0]))
    # 6.2 inches are left for the plane beside the colour bar and the labels; 1.1 above and below it.
    figure = new_figure(min(6.2 * shape + 1.1, 7.6))
    figure.suptitle(title, x=0.01, ha="left")
    axes = figure.subplots()
    axes.set_aspect("equal", adjustable="box")
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    axes.set_xlabel(f"{labels[0]} (m)")
    axes.set_ylabel(f"{labels[1]} (m)")
    return figure, axes


def _draw_path(figure: Figure, axes: Axes, track: Track) -> None:
    """The line, coloured by time, with its start and end marked."""
    kept = np.unique(np.linspace(0, track.time.size - 1, min(track.time.size, _MOST_POINTS)).astype(int))
    points, time = track.points[kept], track.time[kept]
    segments = np.stack([points[:-1], points[1:]], axis=1)
    lines = LineCollection(list(segments), cmap=time_colours(), linewidths=2.0, capstyle="round", zorder=5)
    lines.set_array((time[:-1] + time[1:]) / 2)
    if track.time.size > 1 and track.time[-1] > track.time[0]:
        lines.set_clim(track.time[0], track.time[-1])
        axes.add_collection(lines)
        bar = figure.colorbar(lines, ax=axes, fraction=0.05, pad=0.02, aspect=30)
        bar.set_label("time (s)")
        bar.outline.set_visible(False)  # type: ignore[operator]
    mark = partial(axes.plot, linestyle="none", markersize=8, zorder=6, markeredgewidth=1.6)
    mark(*track.points[:1].T, marker="o", markerfacecolor="white", markeredgecolor=INK, label="start")
    mark(*track.points[-1:].T, marker="s", markerfacecolor=COLOURS[1], markeredgecolor="white", label="end")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2, handletextpad=0.2)
