"""Paths over hills lie on the map's contours."""

import numpy as np
import pytest
from matplotlib.contour import QuadContourSet

import trundle
from trundle.show.figures.contours import draw_contours, hilly
from trundle.show.page.payload import run_data

WAVES = {"surfaces": {"waves": {"type": "waves", "amplitude": 0.1, "length": 2.0}}}

HILL = {"type": "hill", "height": 0.3, "width": 0.3}


@pytest.fixture(scope="module")
def runs():
    return {
        name: trundle.simulate(trundle.catalog.talon(), 1.0, terrain=terrain, mode="kinematic", step=0.1)
        for name, terrain in (("waves", WAVES), ("flat", {}))
    }


def contours(axes):
    return [each for each in axes.collections if isinstance(each, QuadContourSet)]


def test_a_path_over_hills_is_seen_from_above_on_their_contours(runs):
    axes = runs["waves"].plot.path().axes[0]
    assert any(
        text.get_text() == "seen from above, ground from -0.1 to 0.1 m, the higher the darker"
        for text in axes.texts
    )
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
    draw_contours(axes, [runs["waves"]], np.array([-1.0, -2.0]), np.array([3.0, 2.0]))
    assert (axes.get_xlim(), axes.get_ylim()) == ((-1, 3), (-2, 2))
    plt.close()


def test_lines_of_a_step_have_no_room_for_labels():
    step = {"surfaces": {"ground": {"type": "plane"}, "step": {"type": "step", "height": 0.2, "at": [1, 0]}}}
    run = trundle.simulate(trundle.catalog.talon(), 0.2, terrain=step, mode="kinematic", step=0.1)
    axes = run.plot.path().axes[0]
    assert not [text for text in axes.texts if text.get_text().endswith(" m")]


def test_regions_of_other_friction_are_drawn_on_flat_ground_too():
    regions = {"ice": {"friction": 0.1, "x": [0, 0.2]}, "far": {"friction": 2, "x": [50, 60]}}
    run = trundle.simulate(
        trundle.catalog.talon(), 0.2, terrain={"regions": regions}, mode="kinematic", step=0.1
    )
    axes = run.plot.path().axes[0]
    words = [text.get_text().strip() for text in axes.texts]
    assert "ice: friction × 0.1" in words
    assert not [each for each in words if each.startswith("far")]
    (patch,) = [each for each in axes.patches if each.get_hatch()]
    assert (patch.get_x(), patch.get_width()) == pytest.approx((0, 0.2))
    (ground,) = run_data([run])["grounds"]
    assert ground["regions"][0] == {"name": "ice", "factor": 0.1, "sides": [[0, 0.2], [-1e9, 1e9]]}


def test_compared_paths_lie_on_contours_where_they_share_the_ground(runs):
    other = trundle.simulate(trundle.catalog.talon(speed=0.3), 1.0, terrain=WAVES, mode="kinematic", step=0.1)
    axes = trundle.compare(runs["waves"], other).path().axes[0]
    assert len(contours(axes)) == 2
    higher = {"surfaces": {"waves": {"type": "waves", "amplitude": 0.2, "length": 2.0}}}
    other = trundle.simulate(trundle.catalog.talon(), 1.0, terrain=higher, mode="kinematic", step=0.1)
    compared = trundle.compare(runs["waves"], other)
    assert compared.labels == ("on waves of 0.1 m every 2 m", "on waves of 0.2 m every 2 m")
    axes = compared.path().axes[0]
    assert contours(axes) == []
    assert any("the grounds differ" in text.get_text() for text in axes.texts)


def test_what_differs_in_a_terrain_is_told_by_its_numbers(runs):
    softer = trundle.simulate(
        trundle.catalog.talon(), 1.0, terrain={**WAVES, "sinkage": 0.03}, mode="kinematic", step=0.1
    )
    assert trundle.compare(runs["waves"], softer).labels == ("sinkage = 0.02 m", "sinkage = 0.03 m")


@pytest.mark.filterwarnings("error")
def test_the_ground_of_a_robot_that_stands_is_drawn():
    """Its way has no length, and the ground lies farther below its base than the way is long."""
    robot = trundle.catalog.quadruped()
    run = trundle.simulate(robot, 0.02, terrain={"surfaces": {"hill": HILL}}, step=0.01, progress=False)
    assert hilly(run)
    assert len(contours(run.plot.path().axes[0])) == 2
