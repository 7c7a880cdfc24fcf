"""Figures of loads, and the film: that they show what there is, and only that."""

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

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
    assert [axes.get_title("left") for axes in moments.axes] == ["hip, on thigh", "knee"]
    assert moments.axes[0].get_ylabel() == "moment (N m)"
    # what is zero in all joints is left out: a plane limb has moments about z only, and forces in its plane
    assert named(moments.axes[0]) == ["z"]
    assert named(figures["forces"].axes[0]) == ["x", "y"]
    angle = np.asarray(figures["angles"].axes[0].get_lines()[0].get_ydata())
    assert angle[-1] == pytest.approx(np.degrees(1.0))


def test_moments_are_those_along_freedoms_unless_other_axes_are_asked_for():
    robot = trundle.load({"robot": LIMB})
    time = np.linspace(0.0, 1.0, 21)
    loads = trundle.joint_loads(robot, {"time": time, "hip.angle": time**3, "knee.angle": 0.1 + time**2})
    run = loads.to_run()
    moments = trundle.load_figures(run)["moments"]
    assert moments.get_suptitle() == "limb: moments about joints' own axes"
    shown = {line.get_label(): line.get_ydata() for line in moments.axes[0].get_lines()}
    assert list(shown) == ["hip_moment", "knee_moment"]
    np.testing.assert_array_equal(shown["hip_moment"], run["hip.net"])
    turned = trundle.load_figures(loads.to_run(frame="world"))["moments"]
    assert turned.get_suptitle() == "limb: moments in world's axes"
    assert [axes.get_title("left") for axes in turned.axes] == ["hip, on thigh", "knee"]


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


def test_show_draws_net_moments_and_powers_of_an_inverse_run(tmp_path):
    arm = trundle.catalog.pendulum(links=2)
    time = np.linspace(0.0, 1.0, 21)
    loads = trundle.joint_loads(arm, {"time": time, "link_1.angle": time**2, "link_2.angle": -time})
    figure = loads.to_run().plot.loads()
    assert [axes.get_title("left") for axes in figure.axes] == [
        "net moments and forces",
        "powers that joints put in",
    ]
    assert named_curves(figure.axes[0]) == ["link_1", "link_2"]
    saved = loads.to_run(mass=2).plot.save(tmp_path)
    assert [path.name for path in saved] == ["path.png", "states.png", "loads.png"]
    assert loads.to_run(mass=2).plot.loads().axes[0].get_ylabel() == "torque (N m/kg)"


def named_curves(axes):
    return [str(line.get_label()) for line in axes.get_lines() if not str(line.get_label()).startswith("_")]


def test_many_joints_are_grouped_by_what_their_names_begin_with():
    time = np.linspace(0.0, 1.0, 11)
    joints = [f"{joint}_{way}_{side}" for joint in ("hip", "ankle") for way in "abc" for side in "rl"]
    values = {f"{joint}.net": time * k for k, joint in enumerate(joints)}
    values |= {f"{joint}.power": time * k for k, joint in enumerate(joints)}
    units = {name: "N m" if name.endswith("net") else "W" for name in values}
    run = trundle.Run("person", time, values, units, groups={"outputs": tuple(values)})
    titles = [axes.get_title("left") for axes in run.plot.loads().axes]
    assert titles == [
        "net moments and forces: hip",
        "net moments and forces: ankle",
        "powers that joints put in: hip",
        "powers that joints put in: ankle",
    ]


def test_measured_runs_are_called_by_their_files_not_by_where_they_begin():
    time = np.linspace(0.0, 1.0, 11)
    runs = [
        trundle.joint_loads(
            trundle.catalog.pendulum(links=1), {"time": time, "link_1.angle": k + time}
        ).to_run()
        for k in (0.0, 1.0)
    ]
    from trundle.show.figures.several_runs import compare, difference_labels

    assert difference_labels(runs, ["before", "after"]) == ("before", "after")
    panels, _ = compare(*runs, labels=["before", "after"])._panels("loads", ())
    assert {name for panel in panels for name in panel.curves} == {"before", "after"}


def test_names_of_events_don_t_overprint(run):
    from dataclasses import replace

    events = {"Right Foot Strike": (0.25, 0.9), "Left Foot Off": (0.26,), "sound": (0.27, 0.28, 0.98)}
    named = trundle.load_figures(replace(run, summary={**run.summary, "events": events}))
    axes = named["powers"].axes[0]
    words = [text for text in axes.texts if text.get_text().strip() in events]
    canvas = FigureCanvasAgg(named["powers"])
    canvas.draw()
    boxes = [word.get_window_extent(canvas.get_renderer()) for word in words]
    assert len(words) >= 3
    for k, box in enumerate(boxes):
        assert not any(box.overlaps(other) for other in boxes[:k])
        assert box.x1 <= named["powers"].bbox.x1


def test_a_ball_that_stays_and_hinges_that_pass_all_on_have_no_panel():
    arm = {"mass": 1, "center_of_mass": [0, 0, -0.2], "inertia": {"xx": 0.01, "yy": 0.01}}
    joints = {
        "neck": {"type": "spherical", "body": {"mass": 3, "center_of_mass": [0, 0, 0.1]}},
        "flexion": {"axis": [0, 1, 0]},
        "adduction": {"axis": [1, 0, 0], "parent": "flexion", "body": {"name": "arm", **arm}},
    }
    robot = trundle.load({"robot": {"name": "arm", "joints": joints}})
    time = np.linspace(0.0, 1.0, 21)
    still = {f"neck.q_{part}": np.full(21, float(part == "w")) for part in "wxyz"}
    motion = {"time": time, **still, "flexion.angle": time, "adduction.angle": time**2}
    figures = trundle.load_figures(trundle.joint_loads(robot, motion).to_run())
    assert [axes.get_ylabel() for axes in figures["angles"].axes] == ["angle (°)"]
    moments, forces = figures["moments"].axes, figures["forces"].axes
    assert [axes.get_title("left") for axes in forces] == ["neck", "adduction, on arm"]
    names = [*(f"neck_omega_{k}_moment" for k in "xyz"), "flexion_moment", "adduction_moment"]
    assert [line.get_label() for axes in moments for line in axes.get_lines()] == names


def test_plates_push_feet_where_the_pressure_is():
    arm = {"name": "foot", "mass": 1, "center_of_mass": [0, 0, -0.2], "inertia": {"xx": 0.01, "yy": 0.01}}
    robot = trundle.load({"robot": {"name": "arm", "joints": {"ankle": {"axis": [0, 1, 0], "body": arm}}}})
    time = np.linspace(0.0, 1.0, 21)
    corners = [(0.3, 0.2, -0.5), (-0.3, 0.2, -0.5), (-0.3, -0.2, -0.5), (0.3, -0.2, -0.5)]
    force = np.outer(np.where((time > 0.2) & (time < 0.6), 700.0, 0.0), (0.1, 0.0, 1.0))
    place = np.stack([0.1 * time, 0 * time, 0 * time], axis=1)
    plate = trundle.ForcePlate("plate", corners, time, force, np.cross(place, force))
    recording = trundle.Recording(time, channels={"ankle.angle": 0.2 * time}, plates=(plate,))
    run = trundle.inverse(robot, recording, external={"foot": "plate"}).to_run(mass=70)
    assert run["foot.ground_force_z"].max() == pytest.approx(10.0)
    assert (run.units["foot.ground_force_z"], run.units["foot.ground_point_x"]) == ("N/kg", "m")
    (arrow,) = [each for each in with_wrenches(track_of(run).scene, run).arrows if each.name == "foot.ground"]
    loaded = force[:, 2] > 0
    np.testing.assert_allclose(arrow.at[loaded], (place - (0, 0, 0.5))[loaded], atol=1e-12)
    np.testing.assert_allclose(arrow.vector / arrow.scale, force / 70, atol=1e-12)


@pytest.mark.parametrize(("frame", "count"), [("world", 6), ("child", 6), ("parent", 0)])
def test_arrows_point_the_same_way_in_whatever_axes_the_run_is(frame, count):
    time = np.linspace(0.0, 1.0, 21)
    motion = {"time": time, "link_1.angle": time, "link_2.angle": time**2, "link_3.angle": -time}
    loads = trundle.joint_loads(trundle.catalog.pendulum(links=3), motion)
    runs = loads.to_run("child"), loads.to_run(frame)
    expected, arrows = (
        {(a.name, a.turns): a for a in with_wrenches(track_of(r).scene, r).arrows} for r in runs
    )
    assert len(arrows) == count
    for key, arrow in arrows.items():
        np.testing.assert_allclose(arrow.vector, expected[key].vector, atol=1e-12)
