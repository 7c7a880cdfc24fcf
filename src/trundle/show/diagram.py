"""A robot as a diagram: from above with its wheels and their axes, or from the side where its joints turn.

Frames have x in red, y in green and z in blue: a wheel rolls along its red arrow and turns about its green line. A
quartered circle is a centre of mass, a ring a joint seen along its axis, a box one seen from beside it. Every joint is
at its zero, or as near to it as loops can be closed.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from trundle.model.drawing import scene
from trundle.results.arrays import FloatArray
from trundle.scene import PLANES, JointMark, Scene, WheelShape
from trundle.show.joint_symbols import (
    AXES,
    BAR,
    Sheet,
    draw_center,
    draw_ground,
    draw_joint,
    draw_measure,
    draw_pivot,
    draw_scale,
)
from trundle.show.robot import draw_robot
from trundle.show.style import INK, MUTED, figure_svg, house_style, new_figure

if TYPE_CHECKING:
    from trundle.robot import Robot

# The robot itself is at most so large, in inches; around it stand names and measures.
_LARGEST = (4.0, 3.6)
_MARGIN = 0.12
_FRAME = 0.5
# More names than this cover each other and the picture.
_MOST_NAMES = 24


def diagram(robot: Robot) -> Figure:
    """The diagram of a described robot."""
    shape = scene(robot)
    with house_style():
        figure, sheet = _sheet(shape)
        if shape.wheels:
            _draw_wheels(sheet, shape)
        _draw_linkage(sheet, shape)
        _draw_frame(sheet, shape)
        if not _draw_measures(sheet, shape):
            draw_scale(sheet)
        _cut(figure, sheet)
    return figure


def diagram_svg(robot: Robot) -> str:
    """The same as an SVG element."""
    return figure_svg(diagram(robot))


def _sheet(shape: Scene) -> tuple[Figure, Sheet]:
    """A page as large as the robot on it needs."""
    points = _extent(shape)
    low, high = points.min(axis=0), points.max(axis=0)
    span = np.maximum(high - low, 1e-9)
    inch = float(max(span / _LARGEST)) if span.max() > 1e-9 else 1.0
    low, high = low - _FRAME * inch / 4, np.maximum(high, low + _FRAME * inch)
    width, height = (high - low) / inch
    figure = new_figure(float(height), float(width))
    figure.set_layout_engine("none")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_axis_off()
    axes.set_xlim(low[0], high[0])
    axes.set_ylim(low[1], high[1])
    return figure, Sheet(axes, inch, low, high)


def _cut(figure: Figure, sheet: Sheet) -> None:
    """Make the page as large as what was drawn on it, names and measures too."""
    box = figure.get_tightbbox()  # type: ignore[call-arg]  # the renderer is the figure's own
    low, high = (np.array(corner) + side * _MARGIN for corner, side in ((box.min, -1), (box.max, 1)))
    sheet.axes.set_xlim(sheet.low[0] + low[0] * sheet.inch, sheet.low[0] + high[0] * sheet.inch)
    sheet.axes.set_ylim(sheet.low[1] + low[1] * sheet.inch, sheet.low[1] + high[1] * sheet.inch)
    figure.set_size_inches(*(high - low))


def _extent(shape: Scene) -> FloatArray:
    """Points around everything that is drawn, (n, 2)."""
    points = [np.zeros(2)]
    points += [shape.flat(p) for p in (*(j.at for j in shape.joints), *shape.centers)]
    points += [shape.flat(end) for loop in shape.loops for end in (loop.first, loop.second)]
    if shape.wheels:
        points += [np.array(corner) for corner in shape.outline()]
    for wheel in shape.wheels:
        reach = math.hypot(wheel.radius, wheel.width / 2)
        points += [np.array(wheel.centre()) + reach * np.array(s) for s in ((-1, -1), (1, 1))]
    return np.array(points)


def _draw_frame(sheet: Sheet, shape: Scene) -> None:
    """The base's frame: at its origin on a robot seen from above, else beside the drawing, clear of the bars."""
    length, at = _FRAME * sheet.inch, np.zeros(2)
    if shape.wheels:
        length = min(length, max(0.2 * float((sheet.high - sheet.low).min()), 0.6 * length))
    else:
        sheet.axes.plot(0, 0, marker="o", markersize=3, color=INK, zorder=5.2, clip_on=False)
        at = sheet.low - (0.75 * sheet.inch, 0)
    for axis, direction in zip(PLANES[shape.view], np.eye(2), strict=True):
        tip = at + length * direction
        sheet.arrow(at, tip, AXES[axis], mutation_scale=11, zorder=8)
        end = tip + 0.1 * sheet.inch * direction
        sheet.text(end, axis, rim=True, color=AXES[axis], ha="center", va="center")
    sheet.axes.plot(*at, marker="o", markersize=3.5, color=INK, zorder=8.5, clip_on=False)


def _draw_wheels(sheet: Sheet, shape: Scene) -> None:
    draw_robot(sheet.axes, shape, (0.0, 0.0, 0.0), {})
    for pair in shape.coupled:
        ends = [(w.x, w.y) for w in shape.wheels if w.name in pair]
        sheet.line(*ends, color=INK, linewidth=1.1, linestyle=(0, (4, 2)), zorder=3.5)
    middle = (sheet.low + sheet.high) / 2
    named = len(shape.wheels) <= _MOST_NAMES
    for wheel in shape.wheels:
        centre = np.array(wheel.centre())
        if not wheel.is_ball:
            _draw_wheel_axes(sheet, wheel, centre)
        if wheel.steering:
            draw_pivot(sheet, (wheel.x, wheel.y))
        if named:
            _name_wheel(sheet, wheel, centre, middle)


def _draw_wheel_axes(sheet: Sheet, wheel: WheelShape, centre: FloatArray) -> None:
    """Where it rolls to, and its axle."""
    forward = np.array([math.cos(wheel.heading), math.sin(wheel.heading)])
    left = np.array([-forward[1], forward[0]])
    tip = centre + (wheel.radius + 0.2 * sheet.inch) * forward
    sheet.arrow(centre, tip, AXES["x"], linewidth=1.1, mutation_scale=7, zorder=6)
    half = (wheel.width / 2 + 0.14 * sheet.inch) * left
    sheet.line(centre - half, centre + half, color=AXES["y"], linewidth=1.1, zorder=6)


def _name_wheel(sheet: Sheet, wheel: WheelShape, centre: FloatArray, middle: FloatArray) -> None:
    """Beside the wheel, on its outer side."""
    c, s = abs(math.cos(wheel.heading)), abs(math.sin(wheel.heading))
    half = wheel.radius if wheel.is_ball else wheel.width / 2
    side = -1 if centre[1] - middle[1] < -0.3 * sheet.inch else 1
    beyond = s * wheel.radius + c * half + (0.06 + 0.14 * c + 0.2 * s) * sheet.inch
    at = (centre[0], centre[1] + side * beyond)
    crossed = (
        centre[1] - middle[1] < 0.3 * sheet.inch
    )  # by the body's edge, or by the lines of a measure below
    sheet.text(at, wheel.name, rim=crossed, ha="center", va="bottom" if side > 0 else "top")


def _draw_linkage(sheet: Sheet, shape: Scene) -> None:
    """Bars, joints with their names, loops and centres of mass."""
    for under, bars in (
        (2.2, shape.mounts),
        (4.6, shape.links),
    ):  # what holds a joint to the base goes below it
        for bar in bars:
            a, b = shape.flat(bar.start), shape.flat(bar.end)
            sheet.line(a, b, color=INK, linewidth=5.4, zorder=under)
            sheet.line(a, b, color=BAR, linewidth=3.6, zorder=under + 0.1)
    for joint in shape.joints:
        if shape.base == "fixed" and joint.on_base:
            draw_ground(sheet, shape.flat(joint.at))
        draw_joint(sheet, joint.symbol, shape.flat(joint.at), _seen(shape, joint))
    for loop in shape.loops:
        a, b = shape.flat(loop.first), shape.flat(loop.second)
        if not loop.apart:
            sheet.line(a, b, color=MUTED, linewidth=1.2, linestyle=(0, (2, 2)), zorder=5)
        for end in (a, b):
            draw_joint(sheet, loop.symbol, end, np.zeros(2))
    for center in shape.centers:
        draw_center(sheet, shape.flat(center))
    _name_joints(sheet, shape)


def _seen(shape: Scene, joint: JointMark) -> FloatArray:
    """The joint's axis in the picture: short where it points at whoever looks."""
    return np.zeros(2) if joint.axis is None else shape.flat(joint.axis)


def _name_joints(sheet: Sheet, shape: Scene) -> None:
    """Right of a joint, or above it where a bar leads to the right; those in one place share a label."""
    named = [(j.name, j.at) for j in shape.joints] + [(loop.name, loop.first) for loop in shape.loops]
    near = 0.1 * sheet.inch
    places: list[tuple[FloatArray, list[str]]] = []
    for name, at in ((name, shape.flat(point)) for name, point in named):
        same = next((names for place, names in places if np.hypot(*(place - at)) < near), None)
        if same is None:
            places.append((at, [name]))
        else:
            same.append(name)
    if len(places) > _MOST_NAMES:
        return
    bars = [(shape.flat(bar.start), shape.flat(bar.end)) for bar in (*shape.links, *shape.mounts)]
    ways = [(a, b - a) for a, b in bars] + [(b, a - b) for a, b in bars]
    for at, names in places:
        text = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        leaving = [way for start, way in ways if np.hypot(*(start - at)) < near]
        if any(way[0] > abs(way[1]) for way in leaving):
            sheet.text(at + (0, 0.17 * sheet.inch), text, rim=True, ha="center", va="bottom")
        else:
            sheet.text(at + (0.2 * sheet.inch, 0), text, rim=True, ha="left", va="center")


def _draw_measures(sheet: Sheet, shape: Scene) -> bool:
    """Track and wheelbase, where the wheels stand in two rows; whether there was anything to measure."""
    rolling = [w for w in shape.wheels if not w.is_ball and not w.offset and abs(math.sin(w.heading)) < 1e-9]
    at = np.array([(w.x, w.y) for w in rolling]).reshape(-1, 2).round(9)
    drawn = False
    for across, what in ((1, "track"), (0, "wheelbase")):
        rows = np.unique(at[:, across])
        if len(rows) != 2 or (what == "wheelbase" and len(rolling) < 3):
            continue
        along = 1 - across
        line = sheet.low[along] - 0.3 * sheet.inch
        nearest = [at[at[:, across] == row, along].min() for row in rows]
        ends = [(line, row) if across else (row, line) for row in rows]
        of = [(near, row) if across else (row, near) for near, row in zip(nearest, rows, strict=True)]
        draw_measure(sheet, ends, of, what)
        drawn = True
    return drawn
