"""A robot drawn into axes: its body and wheels from above, or the links of a linkage."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle, Polygon

from trundle.results.arrays import FloatArray
from trundle.scene import Scene, WheelShape
from trundle.show.style import BODY, COLOURS, INK, WHEEL

# A wheel without a width is drawn with this share of its radius.
_SLIM = 0.3


def robot_size(scene: Scene) -> float:
    """The robot's largest extent in m; 0.3 for one of which no shape is known."""
    corners = [*scene.outline()]
    for wheel in scene.wheels:
        corners += [
            (wheel.x + s * wheel.radius, wheel.y + t * wheel.radius) for s in (-1, 1) for t in (-1, 1)
        ]
    if not corners:
        return 0.3
    return float(np.ptp(np.array(corners), axis=0).max()) or 0.3


def draw_robot(
    axes: Axes,
    scene: Scene,
    pose: Sequence[float],
    steering: Mapping[str, float],
    *,
    scale: float = 1.0,
    alpha: float = 1.0,
) -> None:
    """The robot at `pose` (x, y, heading), its wheels turned to the angles `steering` gives by wheel name."""
    corners = scene.outline() or ((-0.12, -0.09), (0.18, 0.0), (-0.12, 0.09))
    body = Polygon(_placed(corners, pose, scale), closed=True, zorder=3)
    body.set(facecolor=BODY, edgecolor=INK, linewidth=1.0, alpha=alpha)
    axes.add_patch(body)
    for wheel in scene.wheels:
        _draw_wheel(axes, wheel, pose, steering.get(wheel.name, 0.0), scale, alpha)


def draw_wheels(axes: Axes, wheels: Sequence[WheelShape]) -> None:
    """Wheels alone, as `draw_robot` has them, where their headings say."""
    for wheel in wheels:
        _draw_wheel(axes, wheel, (0.0, 0.0, 0.0), 0.0, 1.0, 1.0)


def draw_links(axes: Axes, ends: Sequence[tuple[FloatArray, FloatArray]], *, alpha: float = 1.0) -> None:
    """Bars between pairs of points, with a dot at every joint."""
    for start, end in ends:
        axes.plot(*zip(start, end, strict=True), color=WHEEL, linewidth=2.6, alpha=alpha, zorder=3)
    for start, end in ends:
        for point in (start, end):
            axes.plot(*point, marker="o", markersize=4.5, color=COLOURS[0], alpha=alpha, zorder=4)


def _draw_wheel(
    axes: Axes, wheel: WheelShape, pose: Sequence[float], steering: float, scale: float, alpha: float
) -> None:
    x, y = wheel.centre(steering)
    turned = wheel.turned(steering)
    if wheel.is_ball:
        centre = _placed([(x, y)], pose, scale)[0]
        ball = Circle((float(centre[0]), float(centre[1])), wheel.radius * scale, zorder=4)
        ball.set(facecolor=WHEEL, alpha=alpha)
        axes.add_patch(ball)
        return
    if wheel.offset:
        pivot, centre = _placed([(wheel.x, wheel.y), (x, y)], pose, scale)
        axes.plot(*zip(pivot, centre, strict=True), color=INK, linewidth=1.2, alpha=alpha, zorder=4)
    half = (wheel.width or _SLIM * wheel.radius) / 2
    corners = [(wheel.radius * a, half * b) for a, b in ((-1, -1), (1, -1), (1, 1), (-1, 1))]
    shape = Polygon(_placed(_placed(corners, (x, y, turned), 1.0), pose, scale), closed=True, zorder=4)
    shape.set(facecolor=WHEEL, edgecolor=WHEEL, linewidth=0.8, alpha=alpha)
    axes.add_patch(shape)
    for stripe in _rollers(wheel, half):
        line = _placed(_placed(stripe, (x, y, turned), 1.0), pose, scale)
        axes.plot(*line.T, color="white", linewidth=0.9, alpha=alpha, zorder=4.5, solid_capstyle="butt")


def _rollers(wheel: WheelShape, half: float) -> list[list[tuple[float, float]]]:
    """Stripes along the rollers as seen from above: those on top slant the other way than the one on the ground."""
    if wheel.roller_angle is None:
        return []
    slope = math.tan(min(max(wheel.roller_angle, -1.2), 1.2))
    middles = np.linspace(-0.6, 0.6, 4) * wheel.radius
    if abs(wheel.roller_angle) > 1.2:  # omni: rollers along the rim
        return [[(m - 0.12 * wheel.radius, 0.0), (m + 0.12 * wheel.radius, 0.0)] for m in middles]
    lean = min(half * abs(slope), 0.35 * wheel.radius) * (1 if slope > 0 else -1)
    return [[(m + lean, -half), (m - lean, half)] for m in middles]


def _placed(
    points: Sequence[Sequence[float]] | FloatArray, pose: Sequence[float], scale: float
) -> FloatArray:
    """Points (n, 2) of a frame at `pose` (x, y, heading), scaled about its origin, in the frame around it."""
    x, y, heading = pose
    cos, sin = math.cos(heading), math.sin(heading)
    return np.asarray(points, dtype=np.float64) @ (scale * np.array([[cos, sin], [-sin, cos]])) + (x, y)
