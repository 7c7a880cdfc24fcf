"""Paths over hills lie on the map's contours."""

import numpy as np
import pytest
from matplotlib.contour import QuadContourSet

import trundle
from trundle.show.figures.contours import draw_contours, hilly

WAVES = {"surfaces": {"waves": {"type": "waves", "amplitude": 0.1, "length": 2.0}}}


@pytest.fixture(scope="module")
def runs():
    return {
        name: trundle.traverse(trundle.catalog.talon(), terrain, 1.0, mode="kinematic", step=0.1)
        for name, terrain in (("waves", WAVES), ("flat", {}))
    }


def contours(axes):
    return [each for each in axes.collections if isinstance(each, QuadContourSet)]


def test_a_path_over_hills_is_seen_from_above_on_their_contours(runs):
    axes = runs["waves"].plot.path().axes[0]
    assert any(text.get_text() == "seen from above" for text in axes.texts)
    shades, lines = contours(axes)
    assert lines.levels.min() <= -0.075
    assert lines.levels.max() >= 0.075
    # Lines of waves along x stand where A sin(2 pi x/l) is their height.
    for level, path in zip(lines.levels, lines.get_paths(), strict=True):
        if abs(level) < 0.09 and len(path.vertices):
            assert np.abs(0.1 * np.sin(np.pi * np.asarray(path.vertices)[:, 0]) - level).max() < 2e-3
    assert shades.zorder < 1


def test_flat_ground_shows_none(runs):
    assert (hilly(runs["waves"]), hilly(runs["flat"])) == (True, False)
    axes = runs["flat"].plot.path().axes[0]
    assert contours(axes) == []
    assert any(text.get_text() == "seen from a corner" for text in axes.texts)


def test_axes_keep_their_limits(runs):
    import matplotlib.pyplot as plt

    _, axes = plt.subplots()
    draw_contours(axes, runs["waves"], np.array([-1.0, -2.0]), np.array([3.0, 2.0]))
    assert (axes.get_xlim(), axes.get_ylim()) == ((-1, 3), (-2, 2))
    plt.close()
