"""The figure of where a robot went: its path with the robot drawn at intervals, from above or in space.

Over hills it is seen from above, on the map's contours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.results import Run
from trundle.show.drawing.scene import SEEN, SPATIAL, Plate, Scene, project
from trundle.show.drawing.scenes import motion, named_points
from trundle.show.figures.contours import draw_contours, hilly, on_one_ground
from trundle.show.figures.field import FieldLike, FieldPicture
from trundle.show.figures.laps import later_passes
from trundle.show.figures.legends import LINE, Legend
from trundle.show.figures.looks import look
from trundle.show.figures.panels import described
from trundle.show.figures.plane import draw_plane, limits_around, plane_axes
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.shading import simplification_error
from trundle.show.figures.style import (
    COLOURS,
    INK,
    MUTED,
    WIDTH,
    draw_coloured,
    figure_of,
    house_style,
    page,
    say,
)

# More robots along a path hide it, whatever its length.
_MOST_ROBOTS = 12
# How wide a path is, how much wider where it comes back along itself, and how near that is (points); so many laps show.
_LINE, _LAP, _BESIDE, _MOST_LAPS = 2.0, 2.2, 1.5, 3
# More points of a path than a picture has pixels only cost time.
_MOST_POINTS = 4000
# A robot smaller than this share of the picture is drawn larger, and the figure says so.
_SMALLEST_SHARE = 0.05
# Inches: a legend of runs from the page's edge, and its first line below the page's upper edge.
_EDGE, _BELOW_TITLE = 0.2, 0.45
# What is drawn where no description says what moved.
_ARROW = Plate(0, ((-0.12, -0.09, 0.0), (0.18, 0.0, 0.0), (-0.12, 0.09, 0.0)))


@dataclass(frozen=True)
class Track:
    """A run's scene up to where its numbers end, from a view; points (T, 2) in m of what is traced, at times (T,)."""

    scene: Scene
    view: str
    time: FloatArray
    points: FloatArray

    @property
    def drives(self) -> bool:
        """Whether a base moves, or only what hangs on one."""
        return self.scene.base != "fixed"

    @property
    def progress(self) -> FloatArray:
        """The length of the path so far, (T,) in m."""
        return np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(self.points, axis=0).T))])


def path(
    run: Run,
    ax: Axes | None = None,
    figsize: tuple[float, float] | None = None,
    field: FieldLike | None = None,
) -> Figure:
    """The path of the robot's base, or of a linkage's tip, with the robot at intervals; over a field if it has one."""
    under = None if field is None else FieldPicture.read(field)
    with house_style():
        if ax is not None and ax.name == "3d":
            raise InputError(
                "paths are drawn in a plane, ax has three", key="ax", hint="fig, ax = plt.subplots()"
            )
        track = track_of(run)
        if track is None:
            figure = page(f"{run.name}: path", 2.0, figsize) if ax is None else figure_of(ax)
            say(ax or figure.subplots(), unseen(run))
            return figure
        track = _from_above(track) if track.view == SPATIAL and hilly(run) else track
        scale = drawn_scale(track)
        shown = _spaced(track, 1.15 * track.scene.size * scale) if track.drives else _even(track)
        robots = track.scene.at(shown)
        about = track.points[shown][:, None]
        around = about + scale * (project(robots.extent, track.view) - about)
        there = [] if ax is None or not ax.has_data() else [np.column_stack([ax.get_xlim(), ax.get_ylim()])]
        there += [] if under is None else [under.corners]
        low, high = limits_around(np.concatenate([track.points, around.reshape(-1, 2), *there]))
        title = f"{run.name}: {'path' if track.drives else 'motion'}"
        figure, axes, bar = plane_axes(title, low, high, figsize) if ax is None else (figure_of(ax), ax, None)
        draw_plane(axes, track.view, low, high)
        on = ""
        if under is not None:
            under.draw(axes)
        elif track.view == "z" and "z" in run:
            on = draw_contours(axes, [run], low, high)
        alphas = [0.95 if index in (shown[0], shown[-1]) else 0.35 for index in shown]
        draw_scene(axes, robots, track.view, scale=scale, alphas=alphas)
        _draw_path(axes, bar, track)
        moved = simplification_error(track.scene)
        notes = [scale_note(track, scale), "" if track.scene.is_flat else f"seen {SEEN[track.view]}"]
        notes += [on, f"shapes to within {1e3 * moved:.2g} mm" if moved else ""]
        _note(axes, ", ".join(filter(None, notes)))
        return figure


def paths(title: str, runs: Sequence[Run], labels: Sequence[str]) -> Figure:
    """The paths of several runs, a colour for a run, with every robot at its end."""
    tracks = [_moving(run, label) for run, label in zip(runs, labels, strict=True)]
    over = all(track.view in (SPATIAL, "z") for track in tracks) and any(map(hilly, runs))
    tracks = [_from_above(track) if over else track for track in tracks]
    view, scale = tracks[0].view, max(map(drawn_scale, tracks))
    if any(track.view != view for track in tracks):
        seen = ", ".join(f"{name} {SEEN[track.view]}" for name, track in zip(labels, tracks, strict=True))
        raise InputError(f"these runs aren't seen from one side: {seen}", key="runs")
    around = [track.points for track in tracks]
    for track in tracks:
        end = track.points[-1]
        around += [end + scale * (project(track.scene.at([-1]).extent[0], view) - end)]
    low, high = limits_around(np.concatenate(around))
    with house_style():
        legend = Legend.of({label: place for place, label in enumerate(labels)}, "", WIDTH - 2 * _EDGE)
        figure, axes, bar = plane_axes(title, low, high, above=LINE * legend.lines)
        legend.draw(figure, _EDGE, figure.get_size_inches()[1] - _BELOW_TITLE)
        bar.remove()
        draw_plane(axes, view, low, high)
        on = ""
        if over:
            on = draw_contours(axes, runs, low, high) if on_one_ground(runs) else "the grounds differ"
        for index, (track, label) in enumerate(zip(tracks, labels, strict=True)):
            colour, dash = look(index)
            draw_scene(axes, track.scene.at([-1]), view, scale=scale, alphas=[0.6])
            # Where paths are one, the first ones show on both sides of the last.
            width = 1.4 + 0.9 * min(len(tracks) - 1 - index, 4)
            axes.plot(*track.points.T, color=colour, linestyle=dash, linewidth=width, label=label, zorder=5)
            axes.plot(*track.points[0], "o", color="white", markeredgecolor=INK, markersize=7, zorder=6)
            axes.plot(*track.points[-1], "s", color=colour, markeredgecolor="white", markersize=7, zorder=6)
        notes = [scale_note(tracks[0], scale), f"seen {SEEN[view]}" if over else ""]
        _note(axes, ", ".join(filter(None, [*notes, on])))
        return figure


def _moving(run: Run, label: str) -> Track:
    track = track_of(run)
    if track is None:
        raise InputError(f"no path of the run {label!r}: {unseen(run)}", key="runs")
    return track


def _from_above(track: Track) -> Track:
    return replace(track, view="z", points=project(track.scene.place(track.scene.traced), "z"))


def _note(axes: Axes, text: str) -> None:
    """A few words above the axes, on the right."""
    axes.text(1, 1.01, text, transform=axes.transAxes, ha="right", va="bottom", color=MUTED, fontsize=8.5)


def scene_of(run: Run) -> Scene | None:
    """Where everything of a run's robot was; without a description an arrow at x, y, theta, or nothing."""
    if "yaml" in run.description:
        robot = described(run.description["yaml"])
        return motion(robot, run.values, run.description.get("parameters", {}))
    if "points" in run.description:
        return named_points(run.values, run.description["points"])
    if "x" not in run or "y" not in run:
        return None
    heading = run["theta"] if "theta" in run else np.zeros(len(run))
    poses = np.zeros((len(run), 1, 3, 4))
    cos, sin = np.cos(heading), np.sin(heading)
    rows = [[cos, -sin, 0 * cos, run["x"]], [sin, cos, 0 * cos, run["y"]]]
    poses[:, 0, :2] = np.array(rows).transpose(2, 0, 1)
    return Scene(poses, plates=(_ARROW,))


def track_of(run: Run) -> Track | None:
    """What `path` draws, if there is anything."""
    with np.errstate(invalid="ignore"):
        scene = scene_of(run)
    fine = np.zeros(1, bool) if scene is None else np.isfinite(scene.poses).all(axis=(1, 2, 3))
    if scene is None or not fine.any():
        return None
    # Up to where the numbers end, should a run have diverged.
    end = fine.size if fine.all() else int(np.argmin(fine)) or 1
    scene = scene.at(slice(end))
    view = scene.projection
    return Track(scene, view, run.time[:end], project(scene.place(scene.traced), view))


def unseen(run: Run) -> str:
    """Why nothing is drawn of a run that has no track."""
    if {"yaml", "points"} & {*run.description} or {"x", "y"} <= set(run.values):
        return "no pose of this run is finite"
    return f"no description says what '{run.name}' looks like, so only its values are shown"


def _even(track: Track) -> list[int]:
    """Indices of poses evenly in the distance that the tip went, so that fast swings are not drawn as gaps."""
    progress = track.progress
    count = min(_MOST_ROBOTS, progress.size)
    return np.unique(np.searchsorted(progress, np.linspace(0, progress[-1], count))).tolist()


def _spaced(track: Track, apart: float) -> list[int]:
    """Indices of poses to draw: the first, the last, and between them those that keep clear of all others drawn."""
    progress = track.progress
    last = progress.size - 1
    # Back where it began there is one robot, with its last heading.
    returned = last > 0 and np.hypot(*(track.points[-1] - track.points[0])) <= 0.25 * apart
    chosen = [last] if returned else sorted({0, last})
    # A little further apart along the path than across it, as arcs are longer than their chords.
    count = int(min(_MOST_ROBOTS, progress[-1] // (1.1 * apart)))
    for target in np.linspace(0, progress[-1], count + 1)[1:-1]:
        index = int(np.searchsorted(progress, target))
        if np.hypot(*(track.points[chosen] - track.points[index]).T).min() >= apart:
            chosen.append(index)
    return sorted(chosen)


def scale_note(track: Track, scale: float) -> str:
    """What a figure says of a robot that is drawn larger than it is; nothing of the arrow that stands for one."""
    return f"robot drawn {scale:.2g} times its size" if scale > 1 and _ARROW not in track.scene.plates else ""


def drawn_scale(track: Track) -> float:
    """How many times its size the robot is drawn, so that it is seen in a picture of a long path."""
    span = float(np.ptp(track.points, axis=0).max())
    return max(_SMALLEST_SHARE * span / track.scene.size, 1.0) if track.drives else 1.0


def _draw_path(axes: Axes, bar: Axes | None, track: Track) -> None:
    """The line, coloured by time, with its start and end marked. Earlier laps show on both sides of later ones."""
    kept = np.unique(np.linspace(0, track.time.size - 1, min(track.time.size, _MOST_POINTS)).astype(int))
    points, time = track.points[kept], track.time[kept]
    segments = np.stack([points[:-1], points[1:]], axis=1)
    if track.time[-1] > track.time[0]:
        point = np.ptp(axes.get_xlim()) / (72 * axes.bbox.width / axes.figure.dpi)
        laps = np.minimum(later_passes(points, _BESIDE * point), _MOST_LAPS)
        look = {"bar": bar, "width": _LINE + _LAP * laps[:-1]}
        draw_coloured(axes, segments, (time[:-1] + time[1:]) / 2, (time[0], time[-1]), "time (s)", **look)
    elif bar is not None:
        bar.set_axis_off()
    mark = partial(axes.plot, linestyle="none", markersize=8, zorder=6, markeredgewidth=1.6)
    mark(*track.points[:1].T, marker="o", markerfacecolor="white", markeredgecolor=INK, label="start")
    mark(*track.points[-1:].T, marker="s", markerfacecolor=COLOURS[1], markeredgecolor="white", label="end")
    axes.legend(loc="lower left", bbox_to_anchor=(0, 1.0), ncols=2, borderaxespad=0.2, handletextpad=0.2)
