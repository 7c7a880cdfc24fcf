"""A robot as a diagram: from above with its wheels and their axes, or from the side where its joints turn.

Frames have x in red, y in green and z in blue: a wheel rolls along its red arrow and turns about its green line. A
quartered circle is a centre of mass, a ring a joint seen along its axis, a box one seen from beside it. Every joint is
at its zero, or as near to it as loops can be closed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from trundle.arrays import FloatArray, Triple
from trundle.show.drawing.scene import PLANES, SEEN, Anchor, Scene, WheelShape, project
from trundle.show.drawing.scenes import scene
from trundle.show.figures.joint_symbols import (
    AXES,
    BAR,
    Canvas,
    draw_center,
    draw_ground,
    draw_joint,
    draw_measure,
    draw_pivot,
    draw_scale,
)
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.style import INK, MUTED, figure_svg, house_style, new_figure

if TYPE_CHECKING:
    from trundle.robot import Robot

# The robot itself is at most so large, in inches; around it stand names and measures.
_LARGEST = (4.0, 3.6)
# Around all that is drawn, names included; and how long the axes of the base's frame are (inches).
_MARGIN = 0.12
_FRAME = 0.5
# More names than this cover one another and the picture.
_MOST_NAMES = 24


def diagram(robot: Robot) -> Figure:
    """The diagram of a described robot."""
    shape = scene(robot)
    with house_style():
        figure, sheet = _sheet(shape)
        draw_scene(sheet.axes, replace(shape, bars=(), mounts=(), joints=()), shape.view)
        _draw_wheels(sheet, shape)
        _draw_linkage(sheet, shape)
        _draw_frame(sheet, shape)
        if not _draw_measures(sheet, shape):
            draw_scale(sheet)
        if not shape.is_flat:
            at = sheet.low - (0, 0.8 * sheet.inch)
            sheet.text(at, f"seen {SEEN[shape.view]}", color=MUTED, fontsize=8, ha="left", va="top")
        _cut(figure, sheet)
    return figure


def diagram_svg(robot: Robot) -> str:
    """The same as an SVG element."""
    return figure_svg(diagram(robot))


def _sheet(shape: Scene) -> tuple[Figure, Canvas]:
    """A page as large as the robot on it needs."""
    points = project(shape.extent[0], shape.view)
    points = np.concatenate([points, project(shape.place(Anchor()), shape.view)])
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
    return figure, Canvas(axes, inch, low, high)


def _cut(figure: Figure, sheet: Canvas) -> None:
    """Make the page as large as what was drawn on it, names and measures too."""
    box = figure.get_tightbbox()  # type: ignore[call-arg]  # the renderer is the figure's own
    low, high = (np.array(corner) + side * _MARGIN for corner, side in ((box.min, -1), (box.max, 1)))
    sheet.axes.set_xlim(sheet.low[0] + low[0] * sheet.inch, sheet.low[0] + high[0] * sheet.inch)
    sheet.axes.set_ylim(sheet.low[1] + low[1] * sheet.inch, sheet.low[1] + high[1] * sheet.inch)
    figure.set_size_inches(*(high - low))


def _flat(shape: Scene, spot: Anchor) -> FloatArray:
    """A point's place in the picture, (2,)."""
    return project(shape.place(spot)[0], shape.view)


def _seen(shape: Scene, frame: int, direction: Triple | None) -> FloatArray:
    """A direction in the picture, (2,): short where it points at whoever looks."""
    return np.zeros(2) if direction is None else project(shape.turned(frame, direction)[0], shape.view)


def _draw_frame(sheet: Canvas, shape: Scene) -> None:
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


def _draw_wheels(sheet: Canvas, shape: Scene) -> None:
    """Draw what belongs to the wheels: axes, pivots, names, and linkages between them."""
    for pair in shape.coupled:
        ends = [_flat(shape, wheel.pivot) for wheel in shape.wheels if wheel.name in pair]
        sheet.line(*ends, color=INK, linewidth=1.1, linestyle=(0, (4, 2)), zorder=4.5)
    middle = (sheet.low + sheet.high) / 2
    for wheel in shape.wheels:
        centre = _flat(shape, Anchor(wheel.frame))
        forward = _seen(shape, wheel.frame, (1, 0, 0))
        if not wheel.round:
            tip = centre + (wheel.radius + 0.2 * sheet.inch) * forward
            sheet.arrow(centre, tip, AXES["x"], linewidth=1.1, mutation_scale=7, zorder=6)
            half = (wheel.width / 2 + 0.14 * sheet.inch) * _seen(shape, wheel.frame, (0, 1, 0))
            sheet.line(centre - half, centre + half, color=AXES["y"], linewidth=1.1, zorder=6)
        if wheel.steered:
            draw_pivot(sheet, _flat(shape, wheel.pivot))
        if len(shape.wheels) <= _MOST_NAMES:
            _name_wheel(sheet, wheel, centre, forward, middle)


def _name_wheel(
    sheet: Canvas, wheel: WheelShape, centre: FloatArray, forward: FloatArray, middle: FloatArray
) -> None:
    """Write a wheel's name beside it, on the side that points away from the robot's middle."""
    c, s = np.abs(forward)
    half = wheel.radius if wheel.round else wheel.width / 2
    side = -1 if centre[1] - middle[1] < -0.3 * sheet.inch else 1
    beyond = s * wheel.radius + c * half + (0.06 + 0.14 * c + 0.2 * s) * sheet.inch
    at = (centre[0], centre[1] + side * beyond)
    # Crossed by the body's edge, or by the lines of a measure below.
    crossed = centre[1] - middle[1] < 0.3 * sheet.inch
    sheet.text(at, wheel.name, rim=crossed, ha="center", va="bottom" if side > 0 else "top")


def _draw_linkage(sheet: Canvas, shape: Scene) -> None:
    """Bars, joints with their names, loops and centres of mass."""
    # What holds a joint to the base goes below it; the ground has a symbol of its own.
    mounts = () if shape.base == "fixed" else shape.mounts
    for under, bars in ((2.2, mounts), (4.6, shape.bars)):
        for bar in bars:
            a, b = _flat(shape, bar.start), _flat(shape, bar.end)
            sheet.line(a, b, color=INK, linewidth=5.4, zorder=under)
            sheet.line(a, b, color=BAR, linewidth=3.6, zorder=under + 0.1)
    for joint in shape.joints:
        at = _flat(shape, Anchor(joint.frame))
        if shape.base == "fixed" and joint.on_base:
            draw_ground(sheet, at)
        draw_joint(sheet, joint.symbol, at, _seen(shape, joint.frame, joint.axis))
    for loop in shape.loops:
        a, b = _flat(shape, loop.first), _flat(shape, loop.second)
        if not loop.apart:
            sheet.line(a, b, color=MUTED, linewidth=1.2, linestyle=(0, (2, 2)), zorder=5)
        for end in (a, b):
            draw_joint(sheet, loop.symbol, end, np.zeros(2))
    for center in shape.centers:
        draw_center(sheet, _flat(shape, center))
    _name_joints(sheet, shape)


def _name_joints(sheet: Canvas, shape: Scene) -> None:
    """Right of a joint, or above it where a bar leads to the right; those in one place share a label."""
    named = [(j.name, Anchor(j.frame)) for j in shape.joints]
    named += [(loop.name, loop.first) for loop in shape.loops]
    near = 0.1 * sheet.inch
    places: list[tuple[FloatArray, list[str]]] = []
    for name, at in ((name, _flat(shape, spot)) for name, spot in named):
        same = next((names for place, names in places if np.hypot(*(place - at)) < near), None)
        if same is None:
            places.append((at, [name]))
        else:
            same.append(name)
    if len(places) > _MOST_NAMES:
        return
    bars = [(_flat(shape, bar.start), _flat(shape, bar.end)) for bar in (*shape.bars, *shape.mounts)]
    ways = [(a, b - a) for a, b in bars] + [(b, a - b) for a, b in bars]
    for at, names in places:
        text = ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
        leaving = [way for start, way in ways if np.hypot(*(start - at)) < near]
        if any(way[0] > abs(way[1]) for way in leaving):
            sheet.text(at + (0, 0.17 * sheet.inch), text, rim=True, ha="center", va="bottom")
        else:
            sheet.text(at + (0.2 * sheet.inch, 0), text, rim=True, ha="left", va="center")


def _draw_measures(sheet: Canvas, shape: Scene) -> bool:
    """Track and wheelbase, where the wheels stand in two rows; whether there was anything to measure."""
    base = [w for w in shape.wheels if not w.round and w.pivot.frame == 0]
    ahead = [_seen(shape, wheel.frame, (1, 0, 0)) for wheel in base]
    rolling = [
        _flat(shape, wheel.pivot)
        for wheel, forward in zip(base, ahead, strict=True)
        if abs(forward[1]) < 1e-9 and np.allclose(shape.place(wheel.pivot), shape.place(Anchor(wheel.frame)))
    ]
    at = np.array(rolling).reshape(-1, 2).round(9)
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
