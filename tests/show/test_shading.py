"""Bodies' own shapes in figures: what is seen is what a projection worked out by hand gives, and near covers far."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import trundle
from trundle.show.drawing.scene import SPATIAL
from trundle.show.drawing.scenes import motion
from trundle.show.figures.outlines import outlines
from trundle.show.figures.raster import nearest
from trundle.show.figures.robot import draw_scene
from trundle.show.figures.shading import shaded, simplification_error


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
    assert simplification_error(bare) == 0.0


def test_the_nearest_triangle_is_seen_in_every_pixel(rng):
    """Against one pixel after the other, by barycentric coordinates; triangles run through each other, too."""
    corners, depths = rng.uniform(-5, 25, (40, 3, 2)), rng.normal(size=(40, 3))
    corners[:3, 2] = corners[:3, 1]  # lines
    seen = nearest(corners, depths, (21, 17))
    for (row, column), triangle in np.ndenumerate(seen):
        known = {}
        for index in range(3, 40):
            a, b, c = corners[index]
            inside = np.linalg.solve(np.column_stack([b - a, c - a]), [column + 0.5, row + 0.5] - a)
            weights = np.array([1 - inside.sum(), *inside])
            if weights.min() > 0:
                known[index] = weights @ depths[index]
        assert triangle == max(known, key=lambda index: known[index], default=-1)


def test_bodies_within_others_do_not_come_through():
    """Small boxes in the corners of a large one: triangles that were sorted by their middles showed shards of these."""
    shapes = {
        "case": {"type": "box", "size": [0.4, 0.4, 0.1], "colour": "#0000ff"},
    } | {
        f"core_{k}": {"type": "box", "size": [0.05, 0.05, 0.08], "at": [x, y, 0], "colour": "#ff0000"}
        for k, (x, y) in enumerate(itertools.product((-0.17, 0.17), repeat=2))
    }
    arm = {"type": "revolute", "body": {"mass": 1, "center_of_mass": [1, 0, 0], "shapes": shapes}}
    robot = trundle.Robot(name="arm", joints={"arm": arm})
    figure = Figure(figsize=(2, 2), dpi=100)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(-0.3, 0.3), ylim=(-0.3, 0.3))
    axes.set_axis_off()
    draw_scene(axes, motion(robot, {"arm.angle": np.zeros(1)}, {}), SPATIAL, alphas=[0.95])
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    red, _, blue = np.moveaxis(np.asarray(canvas.buffer_rgba())[..., :3].astype(int), 2, 0)
    assert (blue - red > 100).sum() > 5000
    assert not (red - blue > 50).any()
