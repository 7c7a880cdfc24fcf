"""Bodies' own shapes in figures: what is seen is what a projection worked out by hand gives, and near covers far."""

from __future__ import annotations

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import trundle
from trundle.show.drawing.scenes import motion
from trundle.show.figures.outlines import outlines
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.shading import off, shaded


def scene():
    """Two boxes on an arm about z, the red one above the blue one."""
    shapes = {
        "low": {"type": "box", "size": [0.4, 0.4, 0.1], "colour": "#0000ff"},
        "high": {"type": "box", "size": [0.2, 0.2, 0.1], "at": [0, 0, 0.3], "colour": "#ff0000"},
    }
    arm = {"type": "revolute", "body": {"mass": 1, "center_of_mass": [1, 0, 0], "shapes": shapes}}
    robot = trundle.Robot(name="arm", joints={"arm": arm})
    return motion(robot, {"arm.angle": np.array([0.0, np.pi / 4])}, {})


def test_triangles_cover_what_the_box_covers():
    """From above twice the square's area: its top and its bottom; a turned one reaches a diagonal."""
    seen = shaded(scene(), "z", 1)
    a, b, c = seen.corners.swapaxes(0, 1)
    areas = np.abs((b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]) / 2
    assert areas.sum() == pytest.approx(2 * (0.16 + 0.04))
    assert np.abs(seen.corners).max() == pytest.approx(0.2 * np.sqrt(2))


def test_near_covers_far():
    figure = Figure(figsize=(2, 2), dpi=50)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.3, 0.3), ylim=(-0.3, 0.3))
    axes.set_axis_off()
    draw_scene(axes, scene().at([0]), "z")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    picture = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)
    middle, beside = picture[50, 50], picture[50, 78]
    assert middle[0] > 100 > middle[2]
    assert beside[2] > 100 > beside[0]


def test_bodies_with_shapes_need_no_bars():
    bare = scene()
    assert not outlines(bare, "z").bars or all(bar.start.frame not in bare.clothed for bar in bare.bars)
    assert off(bare) == 0.0
