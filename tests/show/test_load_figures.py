"""Figures of loads, and the film: that they show what there is, and only that."""

import numpy as np
import pytest

import trundle
from trundle.documents.writer import dump
from trundle.errors import InputError
from trundle.show.drawing.scene import project
from trundle.show.figures.arrows import with_wrenches
from trundle.show.figures.path import track_of

LIMB = {
    "name": "limb",
    "base": "fixed",
    "gravity": 0,
    "joints": {
        "hip": {"axis": [0, 0, 1], "body": {"name": "thigh", "mass": 0.7, "center_of_mass": [0, 0.4, 0]}},
        "knee": {
            "axis": [0, 0, 1],
            "parent": "hip",
            "at": [0, 0.8, 0],
            "body": {"mass": 0.5, "center_of_mass": [0, 0.3, 0]},
        },
    },
}


@pytest.fixture(scope="module")
def run():
    robot = trundle.load({"robot": LIMB})
    time = np.linspace(0.0, 1.0, 21)
    zero = 0.0 * time
    values = {"hip.angle": time, "knee.angle": 2 * time}
    units = dict.fromkeys(values, "rad")
    for joint in ("hip", "knee"):
        for axis, force, moment in zip(
            "xyz", (np.sin(time), -2 + zero, zero), (zero, zero, time), strict=True
        ):
            values |= {f"{joint}.force_{axis}": force, f"{joint}.moment_{axis}": moment}
            units |= {f"{joint}.force_{axis}": "N", f"{joint}.moment_{axis}": "N m"}
        values[f"{joint}.power"] = time
        units[f"{joint}.power"] = "W"
    about = {"frame": "child", "events": {"contact": (0.25,)}}
    groups = {"coordinates": ("hip.angle", "knee.angle")}
    return trundle.Run("limb", time, values, units, {"yaml": dump(robot)}, about, groups)


def named(axes):
    return [text for line in axes.get_lines() if len(text := str(line.get_label())) == 1]


def test_there_is_a_figure_of_each_kind(run):
    figures = trundle.load_figures(run)
    assert list(figures) == ["angles", "moments", "forces", "powers", "paths"]
    moments = figures["moments"]
    assert moments.get_suptitle() == "limb: moments in each child's axes"
    assert [axes.get_title("left") for axes in moments.axes] == ["hip", "knee"]
    assert moments.axes[0].get_ylabel() == "moment (N m)"
    # what is zero in all joints is left out: a plane limb has moments about z only, and forces in its plane
    assert named(moments.axes[0]) == ["z"]
    assert named(figures["forces"].axes[0]) == ["x", "y"]
    angle = np.asarray(figures["angles"].axes[0].get_lines()[0].get_ydata())
    assert angle[-1] == pytest.approx(np.degrees(1.0))


def test_events_stand_in_the_figures(run):
    axes = trundle.load_figures(run)["powers"].axes[0]
    assert " contact" in [text.get_text() for text in axes.texts]


def test_a_run_without_loads_has_none_of_these_figures():
    with pytest.raises(InputError, match="this run has no loads"):
        trundle.load_figures(trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 1.0]}))


def test_arrows_are_the_wrenches_in_the_world(run):
    scene = track_of(run).scene
    arrows = {(each.name, each.turns): each for each in with_wrenches(scene, run).arrows}
    assert len(arrows) == 4
    force = arrows["knee", False]
    angle = 3.0 * run.time  # of the shank in the world
    expected = np.stack(
        [
            np.cos(angle) * np.sin(run.time) + 2 * np.sin(angle),
            np.sin(angle) * np.sin(run.time) - 2 * np.cos(angle),
        ]
    )
    np.testing.assert_allclose(project(force.vector, "z").T / force.scale, expected, atol=1e-12)
    np.testing.assert_allclose(
        force.at[:, :2], 0.8 * np.stack([-np.sin(run.time), np.cos(run.time)], axis=1), atol=1e-12
    )
    some = with_wrenches(scene, run).at([3, 5])
    np.testing.assert_array_equal(some.arrows[0].vector, with_wrenches(scene, run).arrows[0].vector[[3, 5]])
