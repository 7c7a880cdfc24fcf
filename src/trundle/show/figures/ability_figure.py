"""The figure of what a robot can do at one configuration: axles, centre of rotation, velocities."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Polygon

from trundle.analysis.analyze import Analysis
from trundle.analysis.manipulability import Manipulability
from trundle.arrays import FloatArray
from trundle.mechanics.frames import world_poses
from trundle.show.drawing.scene import PLANES, Anchor, project
from trundle.show.drawing.scenes import scene
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.style import COLOURS, INK, MUTED, house_style, new_figure, say
from trundle.spatial.motions import Pose, compose, inverse

# How far around the robot the picture reaches, in its own sizes: centres farther away are pointed at.
_AROUND = 1.6


def mobility_figure(analysis: Analysis) -> Figure:
    """The robot from above with its wheels' axles and the centre of rotation, or a linkage with the frame's ellipse;
    beside it the ellipsoid of velocities, seen along its axes.
    """
    ellipsoid = analysis.frame_manipulability or analysis.manipulability
    with house_style():
        panels = [] if ellipsoid is None or not ellipsoid.radii else _pairs(ellipsoid)
        figure = new_figure(5.0 if panels else 4.0, title=f"{analysis.robot.name}: what it can do")
        grid = figure.add_gridspec(max(len(panels), 1), 3)
        axes = figure.add_subplot(grid[:, : 2 if panels else 3])
        if analysis.maps.base:
            _draw_base(axes, analysis)
        elif analysis.robot.joints:
            _draw_linkage(axes, analysis)
        else:
            say(axes, "neither wheels nor joints")
        if ellipsoid is not None and panels:
            for row, pair in enumerate(panels):
                _draw_velocities(figure.add_subplot(grid[row, 2]), ellipsoid, pair)
            whose = "the base" if analysis.frame is None else analysis.frame.name
            figure.supxlabel(f"right: velocities of {whose} for {ellipsoid.rates}", fontsize=8.5, color=MUTED)
        return figure


def _draw_base(axes: Axes, analysis: Analysis) -> None:
    """Draw bodies and wheels from above, in the base's frame. Axles are orange where they turn with a joint."""
    shape = scene(analysis.robot, _poses(analysis))
    draw_scene(axes, shape, "z")
    around = shape.places(Anchor(wheel.frame) for wheel in shape.wheels)[0, :, :2]
    middle, reach = around.mean(axis=0), _AROUND * shape.size
    for wheel, drawn in zip(analysis.maps.assembly.wheels, shape.wheels, strict=True):
        if wheel.component.binds and wheel.grips:
            centre = shape.place(Anchor(drawn.frame))[0, :2]
            across = 4 * reach * shape.turned(drawn.frame, (0, 1, 0))[0, :2]
            colour = COLOURS[5] if wheel.component.is_steered or not wheel.on_base else MUTED
            ends = np.array([centre - across, centre + across])
            axes.plot(*ends.T, color=colour, linewidth=0.9, linestyle="--", zorder=2)
    motion = analysis.base_motion
    if motion is not None:
        _mark_motion(axes, motion.centre, motion.heading if motion.dimension else None, middle, reach)
        axes.set_title(motion.explain(), fontsize=8.5, fontweight="normal", wrap=True)
    axes.set(xlim=(middle[0] - reach, middle[0] + reach), ylim=(middle[1] - reach, middle[1] + reach))
    axes.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")


def _poses(analysis: Analysis) -> list[Pose]:
    """Every link's pose at this configuration, in the base's frame."""
    poses = world_poses(analysis.maps.assembly.tree, analysis.maps.at(analysis.q).poses)
    return [compose(inverse(poses[0]), pose) for pose in poses]


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
        # From the base's origin, whose motion it is: with a trailer the middle is elsewhere.
        along = np.array([math.cos(heading), math.sin(heading)])
        axes.annotate(
            "",
            _pair(along * max(along @ middle + 0.75 * reach, 0.3 * reach)),
            (0.0, 0.0),
            arrowprops={"arrowstyle": "-|>", "color": COLOURS[0], "lw": 1.8},
            zorder=6,
        )


def _pair(point: FloatArray) -> tuple[float, float]:
    return float(point[0]), float(point[1])


def _draw_linkage(axes: Axes, analysis: Analysis) -> None:
    """The bars at this configuration with the frame's ellipse, from the side that shows most of the joints if the
    frame moves in that plane, else from the side of its first two linear parts.
    """
    shape = scene(analysis.robot, _poses(analysis))
    frame, ellipsoid = analysis.frame, analysis.frame_manipulability
    linear = {part[2] for part in frame.parts if part.startswith("v_")} if frame else set[str]()
    sides = (shape.view, *PLANES)
    view = next((side for side in sides if set(PLANES[side]) <= linear), shape.view)
    corners = project(shape.extent[0], view)
    size = float(np.ptp(corners, axis=0).max())
    if not size:
        say(axes, "all of it is in one place")
        return
    draw_scene(axes, shape, view)
    if frame is not None and ellipsoid is not None and ellipsoid.radii and linear & set(PLANES[view]):
        x, y, z = (float(coordinate) for coordinate in frame.point)
        tip = project(shape.place(Anchor(frame.link, (x, y, z)))[0], view)
        shadow = _outline(ellipsoid, [f"v_{axis}" for axis in PLANES[view]])
        _draw_outline(axes, tip + shadow * (0.3 * size / max(np.hypot(*shadow.T).max(), 1e-12)))
        axes.plot(*tip, marker="o", markersize=4.5, color=COLOURS[1], zorder=5)
    low, high = corners.min(axis=0) - 0.4 * size, corners.max(axis=0) + 0.4 * size
    axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
    axes.set(xlabel=f"{PLANES[view][0]} (m)", ylabel=f"{PLANES[view][1]} (m)")


def _draw_outline(axes: Axes, outline: FloatArray) -> None:
    """An ellipse, or the line that a flat one is, wide enough to be seen."""
    shape = Polygon(outline, closed=True, zorder=2, joinstyle="round")
    shape.set(facecolor=(*to_rgb(COLOURS[0]), 0.25), edgecolor=COLOURS[0], linewidth=2.0)
    axes.add_patch(shape)


def _pairs(ellipsoid: Manipulability) -> list[tuple[str, str]]:
    """The planes in which the ellipsoid is shown: pairs of the first three parts that both move, or one with the part
    that does.
    """
    moving = np.abs(np.array(ellipsoid.axes) * ellipsoid.weights).max(axis=0) > 1e-9 * ellipsoid.radii[0]
    pairs = list(combinations(list(zip(ellipsoid.parts, moving, strict=True))[:3], 2))
    both = [(a, b) for (a, moves), (b, too) in pairs if moves and too]
    return both or [(a, b) for (a, moves), (b, too) in pairs if moves or too][:1]


def _draw_velocities(axes: Axes, ellipsoid: Manipulability, pair: tuple[str, str]) -> None:
    """The ellipsoid of velocities seen along one of its parts, in m/s: turning counts at the ellipsoid's length."""
    _draw_outline(axes, _outline(ellipsoid, pair))
    axes.plot(0, 0, marker="+", color=INK)
    size = 1.15 * max(ellipsoid.radii)
    axes.set(xlim=(-size, size), ylim=(-size, size), aspect="equal")
    units = dict(zip(ellipsoid.parts, ellipsoid.units, strict=True))
    counted = {"rad/s": f" · {ellipsoid.length:.3g} m"}
    across, up = (f"{part}{counted.get(units[part], '')} (m/s)" for part in pair)
    axes.set_xlabel(across, fontsize=8)
    axes.set_ylabel(up, fontsize=8)
    axes.tick_params(labelsize=7)


def _outline(ellipsoid: Manipulability, parts: Sequence[str]) -> FloatArray:
    """The ellipsoid's shadow on the plane of two parts as points (n, 2), all in m/s; 0 for a part that it hasn't."""
    axes = dict(zip(ellipsoid.parts, (np.array(ellipsoid.axes) * ellipsoid.weights).T, strict=True))
    none = np.zeros(len(ellipsoid.axes))
    u, sizes, _ = np.linalg.svd(np.array([axes.get(part, none) for part in parts]))
    turn = np.linspace(0, 2 * np.pi, 120)
    return np.column_stack([np.cos(turn), np.sin(turn)]) * np.resize([*sizes, 0.0], 2) @ u.T
