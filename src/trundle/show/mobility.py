"""The figure of what a robot can do at one configuration: axles, centre of rotation, velocities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from trundle.mechanics.kinematics import world_poses
from trundle.mechanics.manipulability import Manipulability
from trundle.model.analysis import Analysis
from trundle.model.mobility import wheel_places
from trundle.model.sketch import sketch
from trundle.results import Sketch
from trundle.results.arrays import FloatArray
from trundle.show.robot import draw_links, draw_robot, robot_size
from trundle.show.style import COLOURS, INK, MUTED, house_style, new_figure, say
from trundle.spatial.motions import transform_point

# How far around the robot the picture reaches, in its own sizes: centres farther away are pointed at.
_AROUND = 1.6


def mobility_figure(analysis: Analysis) -> Figure:
    """The robot from above with its wheels' axles and the centre of rotation, or a linkage with the frame's ellipse;
    beside it the ellipsoid of velocities, seen along each axis.
    """
    found = analysis.frame_manipulability or analysis.manipulability
    with house_style():
        panels = [] if found is None else _pairs(found)
        figure = new_figure(5.0 if panels else 4.0)
        figure.suptitle(f"{analysis.robot.name}: what it can do", x=0.01, ha="left")
        grid = figure.add_gridspec(max(len(panels), 1), 3)
        axes = figure.add_subplot(grid[:, : 2 if panels else 3])
        if analysis.maps.base:
            _draw_base(axes, analysis)
        elif analysis.frame is not None:
            _draw_linkage(axes, analysis)
        else:
            say(axes, "neither wheels nor one body at the end of its joints")
        if found is not None:
            for row, pair in enumerate(panels):
                _draw_velocities(figure.add_subplot(grid[row, 2]), found, pair)
            whose = "the base" if analysis.frame is None else analysis.frame.name
            figure.supxlabel(f"right: velocities of {whose} for {found.rates}", fontsize=8.5, color=MUTED)
        return figure


def _draw_base(axes: Axes, analysis: Analysis) -> None:
    shape = Sketch.from_dict(sketch(analysis.robot, analysis.maps.assembly))
    angles = _angles(analysis)
    steering = {w.name: angles.get(w.steering or "", 0.0) for w in shape.wheels}
    draw_robot(axes, shape, (0.0, 0.0, 0.0), steering)
    reach = _AROUND * max(robot_size(shape), 1e-9)
    middle = np.mean([(w.x, w.y) for w in shape.wheels], axis=0)
    for place, contact in wheel_places(analysis.maps.assembly):
        if contact == "free":
            continue
        heading = place.heading + angles.get(f"{place.name}.steering", 0.0)
        across = 4 * reach * np.array([-math.sin(heading), math.cos(heading)])
        ends = np.array([(place.x, place.y) - across, (place.x, place.y) + across])
        colour = COLOURS[5] if place.steered else MUTED
        axes.plot(*ends.T, color=colour, linewidth=0.9, linestyle="--", zorder=2)
    motion = analysis.base_motion
    if motion is not None:
        _mark_motion(axes, motion.centre, motion.heading if motion.dimension else None, middle, reach)
        axes.set_title(motion.explain(), fontsize=8.5, fontweight="normal", wrap=True)
    axes.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
    axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")


def _angles(analysis: Analysis) -> dict[str, float]:
    """All coordinates at the configuration, those of coupled steering too."""
    values = analysis.maps.at(analysis.maps.place(analysis.at)[None]).values
    return {name: float(np.ravel(value)[0]) for name, value in values.items()}


def _mark_motion(
    axes: Axes, centre: tuple[float, float] | None, heading: float | None, middle: FloatArray, reach: float
) -> None:
    """The centre of rotation, or an arrow toward it where it is out of the picture; an arrow along a pure shift."""
    if centre is not None:
        offset = np.subtract(centre, middle)
        if np.abs(offset).max() < reach:
            axes.plot(*centre, marker="o", markersize=8, color=COLOURS[1], zorder=6, markeredgecolor="white")
        else:
            toward = middle + offset * (0.92 * reach / np.abs(offset).max())
            text = f"centre {np.hypot(*offset):.3g} m off"
            axes.annotate(
                text, _pair(toward), _pair(middle + 0.6 * (toward - middle)), color=COLOURS[1], ha="center",
                arrowprops={"arrowstyle": "->", "color": COLOURS[1]}, zorder=6,
            )  # fmt: skip
    if heading is not None:
        tip = middle + 0.75 * reach * np.array([math.cos(heading), math.sin(heading)])
        axes.annotate(
            "",
            _pair(tip),
            _pair(middle),
            arrowprops={"arrowstyle": "-|>", "color": COLOURS[0], "lw": 1.8},
            zorder=6,
        )


def _pair(point: FloatArray) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _draw_linkage(axes: Axes, analysis: Analysis) -> None:
    """The chain to the frame at this configuration, in the plane of the axes that it moves in most."""
    frame, found, maps = analysis.frame, analysis.frame_manipulability, analysis.maps
    if frame is None or found is None:
        return
    tree = maps.assembly.tree
    poses = world_poses(tree, maps.at(maps.place(analysis.at)[None]).poses)
    chain = list(reversed(list(tree.ancestors(frame.link))))
    points = [poses[index].position for index in chain]
    points.append(transform_point(poses[frame.link], frame.point))
    places = np.array([[float(np.ravel(c)[0]) for c in point] for point in points])
    shown = [k for k, part in enumerate(("v_x", "v_y", "v_z")) if part in frame.parts][:2]
    if len(shown) < 2:
        say(axes, f"{frame.name} does not move in a plane")
        return
    flat = places[:, shown]
    draw_links(axes, [(a, b) for a, b in pairwise(flat) if np.abs(a - b).max() > 0])
    size = max(float(np.ptp(flat, axis=0).max()), 1e-9)
    outline = _shadow(found, tuple("xyz"[k] for k in shown), scale=0.3 * size)
    ellipse = Polygon(flat[-1] + outline, closed=True, zorder=2)
    ellipse.set(facecolor=COLOURS[0], alpha=0.25, edgecolor=COLOURS[0])
    axes.add_patch(ellipse)
    axes.set(xlabel=f"{'xyz'[shown[0]]} (m)", ylabel=f"{'xyz'[shown[1]]} (m)", aspect="equal")
    axes.margins(0.25)


def _pairs(found: Manipulability) -> list[tuple[int, int]]:
    """The planes in which the ellipsoid is shown: pairs of the parts, three at most."""
    count = min(len(found.parts), 3)
    return [(i, j) for i in range(count) for j in range(i + 1, count)]


def _draw_velocities(axes: Axes, found: Manipulability, pair: tuple[int, int]) -> None:
    outline = _outline(found, pair)
    shape = Polygon(outline, closed=True)
    shape.set(facecolor=COLOURS[0], alpha=0.25, edgecolor=COLOURS[0], linewidth=1.4)
    axes.add_patch(shape)
    axes.plot(0, 0, marker="+", color=INK)
    size = 1.15 * max(found.radii, default=1.0)
    axes.set(xlim=(-size, size), ylim=(-size, size), aspect="equal")
    names = [_part(found, k) for k in pair]
    axes.set_xlabel(names[0], fontsize=8)
    axes.set_ylabel(names[1], fontsize=8)
    axes.tick_params(labelsize=7)


def _part(found: Manipulability, k: int) -> str:
    part = found.parts[k]
    return f"{part} · {found.length:.3g} m (m/s)" if part.startswith("omega") else f"{part} (m/s)"


def _outline(found: Manipulability, pair: Sequence[int]) -> FloatArray:
    """The ellipsoid's shadow on the plane of two parts, as points (n, 2), all in m/s."""
    weights = [found.length if part.startswith("omega") else 1.0 for part in found.parts]
    axes = (np.array(found.axes).reshape(-1, len(found.parts)) * weights)[:, list(pair)]
    u, sizes, _ = np.linalg.svd(axes.T, full_matrices=False) if len(axes) else (np.eye(2), np.zeros(2), None)
    sizes = np.pad(sizes, (0, 2 - len(sizes)))
    u = np.pad(u, ((0, 0), (0, 2 - u.shape[1])))
    turn = np.linspace(0, 2 * np.pi, 120)
    return np.column_stack([np.cos(turn) * sizes[0], np.sin(turn) * sizes[1]]) @ u.T


def _shadow(found: Manipulability, directions: Sequence[str], scale: float) -> FloatArray:
    """The same over linear directions, scaled so that its longest axis has the length `scale` (m)."""
    outline = _outline(found, [found.parts.index(f"v_{each}") for each in directions])
    return outline * (scale / max(np.hypot(*outline.T).max(), 1e-12))
