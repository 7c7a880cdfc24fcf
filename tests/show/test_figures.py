"""Figures: what they show is what the run holds, and they are made from saved files and for awkward runs, too."""

import math
import subprocess
import sys
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection, PolyCollection
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

import trundle
from derived import derived
from parameters import mostly_slow
from trundle import catalog
from trundle.analysis.analyze import analyze
from trundle.choices import FIGURES
from trundle.documents import RunSpec, dump
from trundle.errors import InputError
from trundle.model.mechanism import mechanism
from trundle.results import Run
from trundle.results.columns import Column
from trundle.robot.description import parse_robot
from trundle.show.drawing.scene import SPATIAL, UPRIGHT, Anchor, project
from trundle.show.drawing.scenes import motion, scene
from trundle.show.figures.ability_figure import mobility_figure
from trundle.show.figures.diagram import diagram
from trundle.show.figures.drive_figures import rotation_center
from trundle.show.figures.laps import later_passes
from trundle.show.figures.looks import look
from trundle.show.figures.outlines import silhouette
from trundle.show.figures.panels import Panel, contact_legend, contacts, friction_use, inputs, states
from trundle.show.figures.path import path, scene_of, track_of
from trundle.show.figures.series import series, start_up
from trundle.show.figures.style import save_figure

BODY: Any = {"mass": 10.0, "inertia": {"xx": 1, "yy": 1, "zz": 1}}
ROBOT: Any = {
    "name": "circle",
    "body": BODY,
    "wheels": {
        "right": {"at": [0, -0.6, 0], "radius": 0.1, "width": 0.15},
        "front": {"type": "steered", "at": [0.5, 0, 0], "radius": 0.1, "width": 0.05},
        "tail": {"type": "caster", "at": [-0.5, 0, 0], "radius": 0.1, "offset": 0.1},
        "omni": {"type": "omni", "at": [0, 0.6, 0], "radius": 0.1, "width": 0.05},
        "mecanum": {
            "type": "mecanum",
            "at": [0.2, 0.6, 0],
            "radius": 0.1,
            "width": 0.05,
            "roller_angle": -0.8,
        },
        "ball": {"type": "ball", "at": [-0.2, 0.6, 0], "radius": 0.1},
    },
}


def circle(samples=101, laps=1.0, more=None) -> Run:
    time = np.linspace(0, 10, samples)
    angle = laps * 2 * math.pi * time / 10
    robot = parse_robot(ROBOT)
    coordinates = mechanism(robot).names
    values = {
        **dict.fromkeys(coordinates, 0 * time),
        "x": 2 * np.sin(angle),
        "y": 2 - 2 * np.cos(angle),
        "theta": angle,
        "front.steering": 0.3 * np.sin(time),
        "u.voltage": 24 + 0 * time,
    } | (more or {})
    units = {"x": "m", "y": "m", "theta": "rad", "front.steering": "rad", "u.voltage": "V"}
    groups = {"coordinates": ["x", "y", "theta"], "inputs": ["u.voltage"]}
    return Run(
        "circle",
        time,
        values,
        units,
        {"yaml": dump(robot, RunSpec.model_validate({"mode": "kinematic"}))},
        groups=groups,
    )


def drawn(axes):
    """The faces of every robot that is drawn, one after the other in the order of its scene."""
    polygons = [each for each in axes.collections if isinstance(each, PolyCollection)]
    found = [each for each in polygons if len(each.get_facecolors()) > 1]  # discs on pivots are of one colour
    return [[np.asarray(path.vertices) for path in each.get_paths()] for each in found]


@pytest.mark.parametrize("figsize", [(3, 3), (5, 3), (12, 9)])
def test_figures_of_any_size_keep_their_words_apart(figsize):
    run = trundle.simulate(catalog.differential_drive(), 2.0, {"right_motor.voltage": 6.0}, samples=21)
    for figure in (run.plot.path(figsize=figsize), run.plot.states("x", "theta", figsize=figsize)):
        assert tuple(figure.get_size_inches()) == figsize
        renderer = FigureCanvasAgg(figure).get_renderer()
        words = (text for text in figure.texts if text is not figure._suptitle)
        parts = (figure._suptitle, *figure.axes, *words)
        title, *others = (each.get_tightbbox(renderer) for each in parts)
        assert all(each.x0 >= 0 and each.y0 >= 0 and each.x1 <= figure.bbox.x1 for each in others)
        assert all(each.y1 <= title.y0 for each in others)


@pytest.mark.parametrize("around", mostly_slow([0.0, -12345.0], [-12345.0]))
@pytest.mark.slow
def test_numbers_of_any_size_keep_clear_of_their_labels(around):
    time = np.linspace(0, 1, 11)
    sizes = [10.0**power * factor for power in range(-9, 13) for factor in (1.0, -1.7, 7.5)]
    panels = [Panel("", "rad/s^3", {"jerk": around + size * time}) for size in sizes]
    figure = series("sizes", time, panels, "nothing")
    renderer = FigureCanvasAgg(figure).get_renderer()
    figure.draw(renderer)
    for axes in figure.axes:
        label, shown = axes.yaxis.label.get_window_extent(renderer), axes.get_ylim()
        ticks = [each for each in axes.yaxis.get_major_ticks() if shown[0] <= each.get_loc() <= shown[1]]
        texts = [each.label1.get_text() for each in ticks]
        assert len(set(texts)) == len(texts) > 1
        for each, text in zip(ticks, texts, strict=True):
            off = abs(float(text.replace("\u2212", "-")) - each.get_loc())
            assert off <= 1e-6 * (shown[1] - shown[0])
        assert min(each.label1.get_window_extent(renderer).x0 for each in ticks) >= label.x1 > label.x0 >= 0


def test_sizes_and_axes_that_can_not_be_drawn_in_are_told():
    run = trundle.simulate(catalog.pendulum(links=1), 1.0, samples=5)
    for wrong in (3, (-1, 2), ("a", 2), (1, 2, 3), (math.nan, 1)):
        with pytest.raises(InputError, match="width and a height in inches"):
            run.plot.path(figsize=wrong)
        with pytest.raises(InputError, match="width and a height in inches"):
            run.plot.states(figsize=wrong)
    with pytest.raises(InputError, match="three"):
        run.plot.path(ax=Figure().add_subplot(projection="3d"))


def test_names_and_axes_of_the_wrong_kind_are_told():
    run = trundle.simulate(catalog.pendulum(links=1), 1.0, samples=5)
    with pytest.raises(InputError, match="named by text, not by 3"):
        run.plot.states(3)  # pyright: ignore[reportArgumentType]
    with pytest.raises(InputError, match="matplotlib's axes, not str"):
        run.plot.states("link_1.angle", ax="left")  # pyright: ignore[reportArgumentType]


def test_all_figures_from_a_saved_file(tmp_path):
    run = Run.load(circle().save(tmp_path / "run.nc"))
    files = run.plot.save(tmp_path / "figures")
    assert [file.name for file in files] == ["path.png", "states.png", "inputs.png"]
    for file in files:
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.stat().st_size > 5000


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")])
@pytest.mark.slow
def test_the_same_run_gives_the_same_file(tmp_path, suffix, start):
    first, again = (save_figure(circle().plot.path(), tmp_path / f"{name}{suffix}") for name in "ab")
    assert first.read_bytes().startswith(start)
    assert first.read_bytes() == again.read_bytes()


def test_other_suffixes_are_errors(tmp_path):
    with pytest.raises(InputError, match="png"):
        save_figure(circle().plot.path(), tmp_path / "a.jpg")
    assert not list(tmp_path.iterdir())


def test_the_path_is_the_runs_and_the_robot_stands_on_it():
    run = circle(laps=0.7)
    axes = path(run).axes[0]
    line = next(each for each in axes.collections if each.get_array() is not None)
    assert isinstance(line, LineCollection)
    segments = np.array(line.get_segments())
    np.testing.assert_allclose(segments[0, 0], [run["x"][0], run["y"][0]], atol=1e-12)
    np.testing.assert_allclose(segments[-1, 1], [run["x"][-1], run["y"][-1]], atol=1e-12)
    robots = drawn(axes)
    assert 3 <= len(robots) <= 12
    outline = np.array(scene(parse_robot(ROBOT)).plates[0].corners)[:, :2]
    theta = run["theta"][-1]
    turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    np.testing.assert_allclose(robots[0][0][:6], outline, atol=1e-12)
    moved = outline @ turn.T + [run["x"][-1], run["y"][-1]]
    np.testing.assert_allclose(robots[-1][0][:6], moved, atol=1e-12)
    assert axes.get_aspect() == 1


def lap(times, radius=2.0):
    angle = 2 * math.pi * np.linspace(0, times, 2001)
    return radius * np.column_stack([np.sin(angle), 1 - np.cos(angle)])


def test_second_laps_are_seen_beside_first_ones():
    """A path is as much wider as it comes back along itself; where it only crosses itself it is no wider."""
    for times in (1.0, 1.5, 2.5, 4.0, 20.0):
        passes = later_passes(lap(times), 0.03)
        expected = np.ceil(times - np.linspace(0, times, 2001)) - 1
        assert np.mean(passes == np.maximum(expected, 0)) > 0.93
    t = np.linspace(0.3, 2 * math.pi + 0.2, 2001)
    assert not later_passes(np.column_stack([np.sin(t), np.sin(2 * t)]), 0.03).any()  # an eight
    to_and_fro = np.column_stack([np.sin(np.linspace(0, math.pi, 2001)), 0 * t])
    np.testing.assert_allclose(later_passes(to_and_fro, 0.03)[[200, 700, 1300, 1900]], [1, 1, 0, 0])
    assert not later_passes(np.zeros((5, 2)), 0.03).any()
    (line,) = (
        each for each in path(circle(2001, laps=2)).axes[0].collections if each.get_array() is not None
    )
    widths = np.asarray(line.get_linewidth())
    assert widths[500] > 1.8 * widths[1500]


def test_the_body_of_a_swerve_is_around_its_wheels():
    """Wherever they are turned to; its corners are cut ahead of them, so that its heading is seen."""
    for kind, measures in (("swerve", {}), ("swerve", {"modules": 3}), ("limited_swerve", {"track": 0.4})):
        shown = scene(catalog.robot(kind, **measures))
        corners = np.array(shown.plates[0].corners)[:, :2]
        edges = np.roll(corners, -1, axis=0) - corners
        for wheel in shown.wheels:
            away = np.array(wheel.pivot.at[:2]) - corners
            inside = edges[:, 0] * away[:, 1] - edges[:, 1] * away[:, 0]
            assert (inside / np.hypot(*edges.T)).min() >= wheel.radius
        ahead, behind = corners[:, 0].max(), corners[:, 0].min()
        assert np.ptp(corners[corners[:, 0] == ahead, 1]) < np.ptp(corners[corners[:, 0] == behind, 1])


def test_robots_keep_clear_of_each_other_over_many_laps():
    assert len(drawn(path(circle(2001, laps=20)).axes[0])) < 12


def test_a_tiny_robot_on_a_long_path_is_drawn_larger_and_said_so():
    time = np.linspace(0, 10, 101)
    axes = path(circle(more={"x": 100 * time, "y": 0 * time})).axes[0]
    assert any("times its size" in text.get_text() for text in axes.texts)


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_short_and_still_runs(samples, tmp_path):
    still = circle(samples, laps=0.0)
    assert len(still.plot.save(tmp_path)) == 3


def test_a_diverged_run_is_drawn_up_to_where_its_numbers_end(tmp_path):
    x = np.linspace(0, 1, 101)
    x[60:] = np.nan
    run = circle(more={"x": x})
    assert len(run.plot.save(tmp_path)) == 3
    x[:] = np.inf
    assert len(circle(more={"x": x}).plot.save(tmp_path)) == 2


def test_a_run_without_anything_to_show(tmp_path):
    """No file is written for it; asked for, a figure says so."""
    run = Run("empty", np.arange(2.0), {"knee.angle": np.arange(2.0)})
    assert run.plot.save(tmp_path) == []
    for name in FIGURES:
        assert [text.get_text() for text in getattr(run.plot, name)().axes[0].texts] != []


@pytest.mark.parametrize("kind", ["pendulum", "four_bar", "slider_crank", "offset_drive"])
def test_what_is_drawn_is_where_the_model_says(kind):
    """Joints, centres of mass and loops at every moment of a run, by the run's own outputs."""
    run = trundle.simulate(derived(kind), 0.5, samples=11)
    shown = scene_of(run)
    assert shown is not None
    known = [(joint.name, Anchor(joint.frame)) for joint in shown.joints]
    known += [(loop.name, loop.second) for loop in shown.loops]
    compared = 0
    for name, spot in known:
        for axis, places in zip("xyz", shown.place(spot).T, strict=True):
            output = f"{name}.{'world_' if f'{name}.world_{axis}' in run else ''}{axis}"
            if output in run:
                np.testing.assert_allclose(places, run[output], atol=1e-9)
                compared += 1
    assert compared or kind == "offset_drive"
    if f"{shown.joints[0].name}.center_x" in run:
        np.testing.assert_allclose(
            shown.place(shown.centers[0])[:, 0], run[f"{shown.joints[0].name}.center_x"]
        )


@pytest.mark.parametrize("kind", ["four_bar", "slider_crank"])
def test_linkages_that_roll_are_drawn_where_they_are(kind):
    """The README's example: where nothing but angles is in the run."""
    run = trundle.roll(catalog.robot(kind), 1.0, {"crank.rate": 3.0}, samples=50)
    axes = run.plot.path().axes[0]
    assert axes.get_ylabel() == "z (m)"
    shown = scene_of(run)
    assert shown is not None
    (loop,) = shown.loops
    np.testing.assert_allclose(shown.place(loop.first), shown.place(loop.second), atol=1e-9)
    assert len([each for each in axes.collections if isinstance(each, LineCollection)]) > 5


def trailer():
    wheel = {"radius": 0.1, "width": 0.05}
    towed = {**BODY, "center_of_mass": [-0.6, 0, 0]}
    wheels = {
        f"{body or 'own'}_{side}": {"at": [x, y, 0], **wheel, **({"parent": body} if body else {})}
        for body, x in (("", 0.0), ("hitch", -0.7))
        for side, y in (("left", 0.3), ("right", -0.3))
    }
    joints = {"hitch": {"type": "revolute", "at": [-0.3, 0, 0], "body": towed}}
    return parse_robot({"name": "tractor", "body": BODY, "joints": joints, "wheels": wheels})


def test_a_trailer_is_drawn_behind_its_hitch():
    run = trundle.simulate(trailer(), 0.1, initial={"hitch.angle": 0.5}, samples=3)
    first = drawn(run.plot.path().axes[0])[0]
    bodies = [face for face in first if len(face) == 7]
    assert len(bodies) == 2
    towed = bodies[1][:6].mean(axis=0) - [-0.3, 0]
    assert math.atan2(-towed[1], -towed[0]) == pytest.approx(0.5)
    faces = drawn(diagram(trailer()).axes[0])[0]
    assert sum(len(face) == 7 for face in faces) == 2


def test_what_moves_in_space_is_seen_from_its_corner():
    joint = {"type": "revolute", "at": [0, 0, 0.3], "body": BODY}
    arm = {"turret": joint, "shoulder": {**joint, "parent": "turret", "axis": [0, 1, 0]}}
    spatial, flat = (parse_robot({"name": "a", "joints": each}) for each in (arm, {"turret": joint}))
    assert (scene(flat).projection, scene(flat).is_flat, scene(spatial).projection) == ("z", True, SPATIAL)
    assert "seen from the side" in [text.get_text() for text in diagram(spatial).axes[0].texts]
    assert not [text for text in diagram(flat).axes[0].texts if "seen" in text.get_text()]
    wheels = {side: {"at": [0, y, 0], "radius": 0.1} for side, y in (("left", 0.3), ("right", -0.3))}
    carried = parse_robot({"name": "a", "body": BODY, "joints": arm, "wheels": wheels})
    assert (scene(carried).projection, scene(carried).is_flat) == ("z", False)
    run = trundle.simulate(spatial, 0.2, initial={"turret.rate": 1.0}, samples=5)
    shown = track_of(run)
    assert shown is not None
    np.testing.assert_allclose(shown.points, project(shown.scene.place(shown.scene.traced), SPATIAL))


@pytest.mark.parametrize("gravity", [[0, 0, -9.81], [0, -9.81, 0]], ids=["z up", "y up"])
def test_what_falls_falls_down_in_the_picture(gravity):
    """Also where y is up, as in OpenSim's models: there z up in the picture would let it fall aside."""
    body = {"mass": 1.0, "inertia": {"xx": 0.1, "yy": 0.1, "zz": 0.1}}
    stone = parse_robot({"name": "a", "base": "floating", "body": body, "gravity": gravity})
    shown = track_of(trundle.simulate(stone, 0.4, samples=5))
    assert shown is not None
    way = shown.points[-1] - shown.points[0]
    assert way[0] == pytest.approx(0, abs=1e-9)
    assert way[1] == pytest.approx(-0.5 * 9.81 * 0.4**2 * np.cos(np.radians(30)), rel=1e-6)


def test_bodies_of_which_only_the_inertia_is_known_are_boxes_of_it():
    """A brick of 3, 2 and 1 m, by its moments of inertia: I = m/12 (b² + c²)."""
    inertia = {"xx": 5 / 12, "yy": 10 / 12, "zz": 13 / 12}
    brick = parse_robot({"name": "a", "base": "floating", "body": {"mass": 1.0, "inertia": inertia}})
    assert np.ptp(scene(brick).extent[0], axis=0) == pytest.approx([3, 2, 1])


@pytest.mark.parametrize("view", ["x", "y", "z", SPATIAL, UPRIGHT])
def test_silhouettes_hold_every_point_of_a_wheel_and_no_more(view):
    """Against points all over two rims: every one lies inside, every corner on one of them."""
    shown = scene(parse_robot(ROBOT))
    wheel = shown.wheels[0]
    outline = silhouette(shown, wheel, view)[0]
    angles = np.linspace(0, 2 * np.pi, 721)
    rims = [
        Anchor(wheel.frame, (0.1 * np.cos(a), s * 0.075, 0.1 * np.sin(a))) for a in angles for s in (-1, 1)
    ]
    points = project(shown.places(rims)[0], view)
    edges = np.roll(outline, -1, axis=0) - outline
    area = np.sum(outline[:, 0] * np.roll(outline[:, 1], -1) - outline[:, 1] * np.roll(outline[:, 0], -1))
    for corner, edge in zip(outline, np.sign(area) * edges, strict=True):
        beyond = edge[0] * (points[:, 1] - corner[1]) - edge[1] * (points[:, 0] - corner[0])
        # Between the corners of its polygon a rim bulges by r (1 - cos 11.25°) = 0.002 m.
        assert beyond.min() >= -0.002 * np.hypot(*edge) - 1e-12
        assert np.hypot(*(points - corner).T).min() < 1e-3


def test_checks_say_the_largest_residual_and_imbalance():
    time = np.linspace(0, 10, 101)
    run = circle(
        more={
            "constraint_residual": 3e-15 * np.sin(time) ** 2 + 1e-15,
            "energy.work": 100 * time,
            "energy.losses": 60 * time,
            "energy.stored": 40 * time,
            "energy.imbalance": 2e-7 * time,
        }
    )
    run = replace(run, summary={"energy_turned_over": 1000.0})
    titles = [axes.get_title(loc="left") for axes in run.plot.checks().axes]
    assert titles[0] == "constraint residual: 4e-15 m/s: ok"
    assert titles[1] == "energy imbalance: 2e-06 J, 2e-09 of the 1000 J turned over: ok"
    (bound,) = run.plot.checks().axes[1].lines[1:]
    assert np.asarray(bound.get_ydata()) == pytest.approx(1e-3)  # what is promised


def test_maps_places_and_energies_at_an_elevation_share_axes_that_show_what_moves():
    time = np.linspace(0, 10, 11)
    values = {
        "x": 691249.25 + 1.3 * time, "y": 5334598.0 - 0.01 * time, "z": 1714.0 + 0.1 * time, "speed": 400 + time / 10,
        "energy.work": 20 * time, "energy.potential": 638962.0 + 15 * time,
    }  # fmt: skip
    units = (
        dict.fromkeys("xyz", "m") | {"speed": "m/s"} | dict.fromkeys(("energy.work", "energy.potential"), "J")
    )
    run = Run("utm", time, values, units, groups={"coordinates": ["x", "y", "z"], "speeds": ["speed"]})
    figures = run.plot.states(), run.plot.checks()
    drawn = {
        str(line.get_label()): line for each in figures for axes in each.axes for line in axes.get_lines()
    }
    bases = {
        "x": ("x − 691250", 691250),
        "y": ("y − 5334600", 5334600),
        "z": ("z − 1710", 1710),
        "speed": ("speed", 0),
    }
    bases |= {"energy.work": ("work put in", 0), "energy.potential": ("potential − 639000", 639000)}
    for name, (label, base) in bases.items():
        np.testing.assert_allclose(np.asarray(drawn[label].get_ydata()) + base, values[name], rtol=1e-12)
    np.testing.assert_array_equal(run.plot.states("x").axes[0].get_lines()[0].get_ydata(), values["x"])
    axes = run.plot.path().axes[0]
    assert {"691250", "691260", "5334600"} <= {
        text.get_text() for text in (*axes.get_xticklabels(), *axes.get_yticklabels())
    }


def test_panels_hold_one_unit_and_not_too_many_lines():
    values = {f"w{i}.angle": np.arange(2.0) + i for i in range(20)} | {"x": np.zeros(2)}
    run = Run("many", np.arange(2.0), values, {"x": "m"}, groups={"coordinates": list(values)})
    found = states(run)
    assert [len(panel.curves) for panel in found] == [7, 7, 6, 1]
    assert [panel.label for panel in found] == ["value", "value", "value", "position (m)"]


def legend(figure):
    """What is written above the panels."""
    return [text.get_text() for text in figure.texts if text is not figure._suptitle]


def seen(figure, axes, low, high):
    """How many pixels have the colour of a line in a part of axes, by the lines' labels."""
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    pixels = np.asarray(canvas.buffer_rgba())[..., :3].astype(int)
    low, high = axes.transData.transform([low, high])
    rows = slice(len(pixels) - int(high[1]), len(pixels) - int(low[1]))
    shown = pixels[rows, int(low[0]) : int(high[0])].reshape(-1, 3)
    colours = {line.get_label(): np.array(to_rgb(line.get_color())) * 255 for line in axes.lines}
    return {
        name: int((np.abs(shown - each).max(axis=1) < 12).sum())
        for name, each in colours.items()
        if not name.startswith("_")
    }


@pytest.mark.parametrize("apart", [0.0, 0.002, 0.004])
def test_each_of_seven_curves_that_cover_one_another_is_seen(apart):
    """Also where only neighbours do; the lines themselves are whole, so that each looks alike where it is alone."""
    time = np.linspace(0, 1, 101)
    turning = {f"joint_{k}.angle": (1 + apart * k) * np.sin(3 * time) for k in range(7)}
    run = Run("arm", time, turning, dict.fromkeys(turning, "rad"), groups={"coordinates": list(turning)})
    figure = run.plot.states()
    assert legend(figure) == list(turning)
    (axes,) = figure.axes
    assert {line.get_linestyle() for line in axes.lines} == {"-"}
    np.testing.assert_array_equal([line.get_ydata() for line in axes.lines], list(turning.values()))
    assert min(seen(figure, axes, (0.0, 0.0), (1.0, axes.get_ylim()[1])).values()) > 100


def test_curves_that_run_together_for_a_while_both_show():
    """Losses that the kinetic energy comes up to: where both are, pixels have the colour of either."""
    time = np.linspace(0, 10, 501)
    energies = {"energy.losses": 3 * (1 - np.exp(-3 * time)), "energy.kinetic": 3 * (1 - np.exp(-time))}
    figure = Run("brake", time, energies, dict.fromkeys(energies, "J")).plot.checks()
    axes = figure.axes[0]
    assert [line.get_linestyle() for line in axes.lines] == ["-", "-"]
    assert min(seen(figure, axes, (6.0, 2.95), (9.0, 3.05)).values()) > 100


@pytest.mark.slow
def test_a_wheel_looks_alike_in_every_panel_and_drives_are_apart_from_steers():
    robot = catalog.robot("swerve")
    model = trundle.derive(robot)
    asked = {name: 6.0 if "drive" in name else 0.3 for name in model.inputs}
    run = trundle.simulate(model, 0.5, asked, samples=21)
    of: dict[str, set[str]] = {}
    for panel in (*states(run), *inputs(run)):
        for name, place in panel.places.items():
            owner = name if name in robot.wheels else run.column(name).owner
            part = robot.motors[owner].drives.partition(".")[0] if owner in robot.motors else owner
            if part in robot.wheels:
                of.setdefault(part, set()).add(look(place))
        owners = [run.column(name).owner for name in panel.curves if name in run]
        steered = {
            robot.motors[owner].drives.endswith(".steering") for owner in owners if owner in robot.motors
        }
        assert len(steered) < 2
    assert set(of) == set(robot.wheels)
    assert all(len(looks) == 1 for looks in of.values())
    assert len(set.union(*of.values())) == 4
    # Panels of contacts are a wheel's each: their colours say what, and one legend is enough.
    whats = {"load": 0, "rolling slip, traction": 1, "lateral slip, side force": 2, "friction in use": 3}
    assert contact_legend(run) == whats


def test_limits_far_from_the_curves_leave_them_readable():
    time = np.linspace(0, 1, 51)
    near, far = (
        Panel("jerk", "m/s³", {"left": 9.5 * np.sin(7 * time)}, limits=(-x, x)) for x in (10.0, 40.0)
    )
    for panel, shown in ((near, 2), (far, 0)):
        figure = series("modules", time, [panel], "nothing")
        axes = figure.axes[0]
        assert len([line for line in axes.lines if line.get_linestyle() == ":"]) == shown
        assert 19 > 0.6 * np.ptp(axes.get_ylim()) > 11
    one_way = Panel("speed", "m/s", {"left": 0.9 * time}, limits=(-1.0, 1.0))
    low, high = series("modules", time, [one_way], "nothing").axes[0].get_ylim()
    assert -0.2 < low < 0 < 1.0 < high


@pytest.mark.slow
def test_numbers_of_one_axis_are_written_alike():
    """0.0005 beside −5e-4, they were."""
    time = np.linspace(0, 1, 51)
    for size in 10.0 ** np.arange(-7, 9):
        axes = series("sizes", time, [Panel("", "m", {"x": size * np.sin(6 * time)})], "nothing").axes[0]
        ticks = [tick for tick in axes.yaxis.get_majorticklocs() if tick]
        texts = axes.yaxis.get_major_formatter().format_ticks(ticks)
        assert len({"e" in text for text in texts}) == 1


def test_a_base_that_never_turns_is_not_said_to_drive_straight():
    driven = trundle.drive("examples/swerve/motions/round_the_clock.yaml", level="limited")
    axes = rotation_center(driven, driven.run()).axes[0]
    assert [text.get_text() for text in axes.texts] == ["it never turns"]
    assert np.ptp(axes.get_xlim()) < 2.5  # around a robot of 1.3 m


def test_panels_fill_the_page():
    """Two fifths of a page were empty, beside legends."""
    run = trundle.simulate(catalog.robot("skid_steer"), 2.0, {"rear_left_motor.voltage": 6.0}, samples=51)
    for name in ("states", "contacts", "checks", "inputs"):
        figure = getattr(run.plot, name)()
        right = max(axes.get_position().x1 for axes in figure.axes)
        widths = {axes.get_position().x0: axes.get_position().width for axes in figure.axes}
        assert right > 0.95
        assert sum(widths.values()) > 0.6


def test_rounding_is_a_flat_line_and_small_motions_are_not():
    time = np.linspace(0, 10, 101)
    units = {"x": "m", "theta": "rad"}
    groups = {"coordinates": ["x", "theta"]}
    noise = {"x": time, "theta": 1e-6 * np.sin(9 * time)}
    straight = Run("straight", time, noise, units, groups=groups).plot.states()
    assert np.ptp(straight.axes[1].get_ylim()) > 100 * 1e-6
    small = Run(
        "small", time, {"x": 1e-6 * time, "theta": noise["theta"]}, units, groups=groups
    ).plot.states()
    assert np.ptp(small.axes[1].get_ylim()) == pytest.approx(2e-6, rel=0.2)


def test_slip_that_is_rounding_beside_other_slip_is_a_flat_line():
    time = np.linspace(0, 3, 101)
    values = {"v_x": np.sin(time), "a.rolling_slip": 1e-13 * np.sin(50 * time)}
    run = Run("straight", time, values, dict.fromkeys(values, "m/s"), groups={"outputs": list(values)})
    (slip,) = run.plot.contacts().axes
    assert np.ptp(slip.get_ylim()) > 1e-4


def test_steering_angles_stand_apart_from_wheels():
    run = trundle.simulate(catalog.robot("ackermann"), 2.0, {"left_motor.voltage": 12.0}, samples=21)
    together = [set(panel.curves) for panel in states(run)]
    assert {"steering.angle"} in together
    assert {"rear_left.angle", "rear_right.angle", "front_left.angle", "front_right.angle"} in together
    assert next(each for each in together if "v_x" in each) >= {"v_x", "v_y", "front_left.speed"}


def test_a_short_start_up_has_a_panel_of_its_own():
    time = np.linspace(0, 30, 3001)
    values = {"quick": 1 - np.exp(-time / 0.05), "slow": 1 - np.exp(-time / 5.0), "swinging": np.sin(time)}
    assert start_up(time, {"quick": values["quick"]}) == pytest.approx(0.2, abs=0.1)
    assert start_up(time, {"low": 0 * time, "high": 1 + 0 * time}) is None
    for name in ("slow", "swinging"):
        assert start_up(time, {name: values[name]}) is None
    run = Run("start", time, values, {"quick": "A", "slow": "V"}, groups={"currents": ["quick", "slow"]})
    whole, beside, slow = run.plot.states().axes
    assert beside.get_xlim()[1] < 1
    drawn_there = np.asarray(beside.lines[0].get_ydata())
    np.testing.assert_array_equal(drawn_there, values["quick"][: drawn_there.size])
    assert whole.get_xlim() == slow.get_xlim() == (0, 30)


def test_a_start_up_looks_like_the_whole_and_rounding_has_none():
    time = np.linspace(0, 30, 3001)
    quick = 1 - np.exp(-time / 0.05)
    rates = {"a.rate": quick, "b.rate": quick + 0.5 * time / 30, "c.rate": -quick}
    straight = {"x": time, "theta": 1e-16 * quick}
    units = dict.fromkeys(rates, "rad/s") | {"x": "m", "theta": "rad"}
    groups = {"coordinates": list(straight), "speeds": list(rates)}
    _, _, whole, beside = Run("start", time, rates | straight, units, groups=groups).plot.states().axes
    for name, line in zip(rates, beside.lines, strict=True):  # a and b part after the start
        shown = np.asarray(line.get_ydata())
        np.testing.assert_array_equal(shown, rates[name][: shown.size])
        of = next(each for each in whole.lines if each.get_label() == name)
        assert (line.get_color(), line.get_linestyle()) == (of.get_color(), of.get_linestyle())


def test_what_batteries_and_motors_draw_is_seen():
    robot = trundle.load("examples/battery/competition_swerve.yaml")
    found = states(trundle.simulate(robot, 0.1, {"front_left_drive.voltage": 12.0}, samples=11))
    shown: dict[str, set[str]] = {}
    for panel in found:
        shown.setdefault(panel.label, set()).update(panel.curves)
    assert shown["current (A)"] == {"battery.current", *(f"{wheel}_drive.current" for wheel in robot.wheels)}
    assert (shown["voltage (V)"], shown["charge (1 is full)"]) == ({"battery.voltage"}, {"battery.charge"})
    assert [panel.title for panel in found if panel.title] == [
        "coordinates",
        "speeds",
        "currents",
        "batteries",
    ]


def test_chosen_values_in_the_users_own_axes():
    run = circle(more={"energy.work": np.linspace(0, 1, 101)})
    own = Figure()
    one, other = own.subplots(2)
    assert run.plot.states("x", "theta", ax=one) is own
    assert one.get_ylabel() == "position (m), angle (rad)"
    assert [line.get_label() for line in one.lines] == ["x", "theta"]
    run.plot.states("x", "theta", ax=[one, other])
    assert other.get_ylabel() == "angle (rad)"
    longer = replace(run, time=2 * run.time, values={**run.values, "theta": 9 * run["theta"]})
    longer.plot.states("theta", ax=other)
    assert len({line.get_color() for line in other.lines}) == 2
    assert other.get_xlim()[1] >= 20
    assert other.get_ylim()[1] >= 9 * run["theta"].max()
    with pytest.raises(InputError, match="no inputs"):
        replace(run, groups={}).plot.inputs(ax=other)
    for name in ("path", "inputs", "checks"):
        apart = Figure().subplots()
        assert getattr(run.plot, name)(ax=apart) is apart.figure
        assert len(apart.lines) > 0
    both = Figure().subplots()
    run.plot.path(ax=both)
    circle(more={"x": 9 + 0 * run.time}).plot.path(ax=both)
    assert both.get_xlim()[0] < -2 < 9 < both.get_xlim()[1]
    assert run.plot.states("x", figsize=(3, 2)).get_size_inches() == pytest.approx([3, 2])
    assert run.plot.path(figsize=(5, 4)).get_size_inches() == pytest.approx([5, 4])
    with pytest.raises(InputError, match="did you mean 'theta'"):
        run.plot.states("teta")
    with pytest.raises(InputError, match=r"3 axes were given for 2 panels: x in position \(m\); theta"):
        run.plot.states("x", "theta", ax=Figure().subplots(3))


def test_slips_and_forces_are_what_their_columns_say_whatever_their_names(tmp_path):
    columns = {
        "track.creep": Column("track", "creep", "slip"),
        "track.weight": Column("track", "weight", "load"),
    }
    run = Run(
        "crawler", [0.0, 1.0], {"track.creep": [0.0, 0.1], "track.weight": [9.0, 10.0]}, columns=columns
    )
    shown = [(panel.title, panel.label, *panel.labels.values()) for panel in contacts(run)]
    assert shown == [("track", "slip", "creep"), ("track", "force", "weight")]
    assert [file.stem for file in run.plot.save(tmp_path, ".svg")] == ["contacts"]
    named = Run("bare", [0.0, 1.0], {"left.lateral_slip": [0.0, 0.1], "left.load": [9.0, 10.0]})
    assert contact_legend(named) == {"load": 0, "lateral slip": 1}


def test_friction_in_use_is_force_over_what_friction_gives():
    """A block of wheels that slide altogether uses all of it; at rest nothing."""
    robot = catalog.robot("skid_steer")
    torques = dict.fromkeys(trundle.derive(robot).inputs, 200.0)
    run = trundle.simulate(robot, 1.0, torques, samples=51)
    use = friction_use(run)
    assert set(use) == set(robot.wheels)
    for name, each in use.items():
        force = np.hypot(run[f"{name}.traction"], run[f"{name}.side_force"])
        np.testing.assert_allclose(
            each * run[f"{name}.load"] * robot.number(robot.wheels[name].law.friction), force
        )
        assert each.max() == pytest.approx(1.0, abs=0.05)
    assert {"load", "friction in use"} <= set(legend(run.plot.contacts()))
    ideal = trundle.simulate(catalog.robot("differential_drive"), 0.1, samples=3)
    assert friction_use(ideal) == {}
    soil = trundle.simulate(catalog.zoe(contact="soil"), 0.1, terrain={}, step=0.05, progress=False)
    assert friction_use(soil) == {}  # a law without a coefficient
    assert contacts(ideal)[0].label == "force (N)"


def test_wheels_have_a_row_each_with_at_most_three_curves_of_a_ground_on_shared_axes():
    """Twelve contacts stood in one panel. Of two grounds a curve is seen while its own bears."""
    time = np.linspace(0, 1, 101)
    wheels, values = [f"wheel_{k}" for k in range(12)], {}
    for k, wheel in enumerate(wheels):
        on = {"soil": np.where(time < 0.5, 100.0 + k, 0.0), "rock": np.where(time < 0.5, 0.0, 90.0)}
        values[f"{wheel}.load"] = sum(on.values())
        for ground, load in on.items():
            values |= {f"{wheel}.{ground}.load": load, f"{wheel}.{ground}.traction": 0.1 * load}
            values |= {
                f"{wheel}.{ground}.side_force": 0.2 * load,
                f"{wheel}.{ground}.rolling_slip": 1e-3 * load,
            }
    run = Run("rover", time, values, {name: "m/s" if "slip" in name else "N" for name in values})
    figure = run.plot.contacts()
    assert len(figure.axes) == 2 * len(wheels)
    assert [axes.get_title(loc="left") for axes in figure.axes[: len(wheels)]] == wheels
    forces = figure.axes[len(wheels) :]
    assert {axes.get_ylim() for axes in forces} == {forces[0].get_ylim()}
    beyond = replace(run, between={"wheel_3.soil.traction": np.array([[0.001], [900.0]])}).plot.contacts()
    assert {axes.get_ylim()[1] > 900 for axes in beyond.axes[len(wheels) :]} == {True}
    for axes in figure.axes:
        lines = np.array([line.get_ydata() for line in axes.lines if not line.get_label().startswith("_")])
        assert np.isfinite(lines).sum(axis=0).max() <= 3
    assert legend(figure)[:5] == ["load", "rolling slip, traction", "side force", "on soil", "on rock"]


def test_a_description_that_is_damaged_or_names_what_the_run_has_not():
    run = circle()
    with pytest.raises(InputError, match="front.steering"):
        path(replace(run, values={name: each for name, each in run.values.items() if "front" not in name},
                     units={}))  # fmt: skip
    with pytest.raises(InputError):
        path(replace(run, description={"yaml": "trundle: 1"}))
    described = run.description["yaml"].replace("radius", "raduis")
    with pytest.raises(InputError, match="radius"):
        path(replace(run, description={"yaml": described}))


def test_a_caster_trails_behind_its_pivot():
    tail = parse_robot(ROBOT)
    for angle, place in ((0.0, (-0.6, 0.0)), (math.pi / 2, (-0.5, -0.1))):
        values = dict.fromkeys(mechanism(tail).names, np.zeros(1))
        shown = motion(tail, {**values, "tail.steering": np.array([angle])}, {})
        assert shown.place(Anchor(shown.wheels[2].frame))[0, :2] == pytest.approx(place, abs=1e-12)


@pytest.mark.slow
def test_figures_need_no_screen_and_no_global_state():
    code = (
        "import sys, matplotlib; params = matplotlib.rcParams;"
        "settings = lambda: {key: params[key] for key in params if key != 'backend'};"  # reading it picks one
        "before = settings();"
        "from trundle.results import Run; Run('a', [0.0, 1.0], {'x': [0.0, 1.0], 'y': [0.0, 1.0]}).plot.path();"
        "assert settings() == before; assert 'matplotlib.pyplot' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_what_a_robot_can_do_is_drawn(tmp_path):
    """The centre of rotation where the analysis has it, and the velocities' outline touching its longest axis."""
    for robot, at, pairs in (  # one for each pair of parts that both move
        (catalog.robot("tricycle"), {"front.steering": 0.5}, 1),
        (catalog.robot("tricycle"), {"front.steering": 0.05}, 1),
        (catalog.robot("swerve"), {"front_left.steering": 0.3}, 0),
        (catalog.robot("ackermann"), {}, 1),
        (catalog.robot("differential_drive"), {}, 1),
        (catalog.robot("offset_drive"), {}, 3),
        (catalog.robot("mecanum"), {}, 3),
        (catalog.robot("pendulum", links=3), {"link_2.angle": 1.0}, 3),
        (catalog.robot("pendulum", links=1), {}, 1),
    ):
        found = analyze(robot, at)
        figure = mobility_figure(found)
        assert save_figure(figure, tmp_path / "can.svg").stat().st_size > 5000
        ellipsoid = found.frame_manipulability or found.manipulability
        assert len(figure.axes) == 1 + pairs
        if ellipsoid.radii and len(ellipsoid.parts) == 2:
            outline = figure.axes[1].patches[0].get_xy()
            assert np.hypot(*outline.T).max() == pytest.approx(ellipsoid.radii[0], rel=1e-3)
    turning = analyze(catalog.robot("tricycle"), {"front.steering": 0.5})
    marks = [
        np.asarray(line.get_xydata())[0]
        for line in mobility_figure(turning).axes[0].lines
        if line.get_marker() == "o"
    ]
    np.testing.assert_allclose(marks, [turning.base_motion.centre], atol=1e-9)


def test_linkages_are_drawn_where_they_are_asked_for():
    """Bars from joint to joint and to the loop, with a frame or without; the frame's mark on its point."""
    for kind, frame, at in (("four_bar", None, {}), ("slider_crank", "piston", {"crank.angle": 1.0})):
        found = analyze(catalog.robot(kind), at, frame=frame)
        axes = mobility_figure(found).axes[0]
        (bars,) = [each.get_segments() for each in axes.collections if isinstance(each, LineCollection)]
        lengths = sorted(float(np.hypot(*(end - start))) for start, end in bars)
        assert lengths == pytest.approx([0.3, 0.7, 0.9, 1.0] if kind == "four_bar" else [0.05, 0.15])
    crank, slide = 1.0, found.configuration["piston.position"]
    assert slide == pytest.approx(0.05 * np.cos(crank) + np.sqrt(0.15**2 - (0.05 * np.sin(crank)) ** 2))
    assert any(
        np.allclose(line.get_xydata(), [[slide, 0]]) for line in axes.lines if line.get_marker() == "o"
    )


def test_wheels_on_joints_are_drawn_where_they_stand():
    wheel, body = {"radius": 0.1, "mass": 1.0}, {"mass": 2.0, "inertia": {"zz": 0.05}}
    sides = (("left", 0.2), ("right", -0.2))
    described = {
        "body": body,
        "joints": {f"p{k}": {"type": "revolute", "at": [x, 0, 0], "body": body} for k, x in ((1, 0.5), (2, -0.5))},
        "wheels": {f"{s}{k}": {"parent": f"p{k}", "at": [0, y, 0], **wheel} for k in (1, 2) for s, y in sides},
    }  # fmt: skip
    turn = 0.4
    found = analyze(parse_robot(described), {"p1.angle": turn, "p2.angle": -turn, "theta": 2.0})
    axes = mobility_figure(found).axes[0]
    axles = [np.asarray(line.get_xydata()) for line in axes.lines if line.get_linestyle() == "--"]
    centre = np.array(found.base_motion.centre)
    np.testing.assert_allclose(centre, [0, 0.5 / np.tan(turn)], atol=1e-9)
    assert len(axles) == 4
    for start, end in axles:  # all of them run through the centre of rotation
        along = (end - start) / np.hypot(*(end - start))
        assert abs(np.cross([*along, 0], [*(centre - start), 0])[2]) < 1e-9


def test_the_arrow_of_a_tractor_begins_at_its_base():
    cart = {"mass": 5, "inertia": {"zz": 0.3}, "center_of_mass": [-0.3, 0, 0]}
    described = {
        "name": "tractor",
        "body": {"mass": 8, "inertia": {"zz": 0.2}},
        "wheels": {
            "left": {"at": [0, 0.25, 0], "radius": 0.1},
            "right": {"at": [0, -0.25, 0], "radius": 0.1},
            "behind": {"parent": "hitch", "at": [-0.4, 0, 0], "radius": 0.1},
        },
        "joints": {"hitch": {"at": [-0.15, 0, 0], "body": cart}},
    }
    figure = mobility_figure(analyze(parse_robot(described), at={"hitch.angle": 0.5}))
    (arrow,) = (each for each in figure.axes[0].texts if getattr(each, "arrow_patch", None) is not None)
    assert arrow.xyann == (0.0, 0.0)
    assert arrow.xy[0] > 0.3
    assert arrow.xy[1] == pytest.approx(0.0)


def test_curves_run_through_their_true_peaks():
    few, many = (
        trundle.simulate(
            trundle.catalog.differential_drive(),
            5.0,
            {"left_motor.voltage": 24.0},
            samples=count,
            progress=False,
        )
        for count in (101, 5001)
    )
    name = "left_motor.current"
    axes = few.plot.states(name).axes[0]
    drawn = np.array(axes.get_lines()[0].get_xydata())
    assert drawn[:, 1].max() == few.peaks[name].highest > 1.1 * few[name].max()
    assert axes.get_ylim()[1] > drawn[:, 1].max()
    assert drawn[:, 1].max() == pytest.approx(many[name].max(), rel=1e-2)
    # The samples stay where they are, and time doesn't fall.
    assert set(few.time) <= set(drawn[:, 0])
    assert np.all(np.diff(drawn[:, 0]) > 0)


def test_start_ups_are_curves_however_few_samples_there_are():
    model = derived("differential_drive")
    few, many = (
        trundle.simulate(model, 30.0, {"left_motor.voltage": 24.0}, samples=count, progress=False)
        for count in (1001, 100_001)
    )
    name = "left_motor.current"
    alone, compared = (
        few.plot.states(name),
        trundle.compare(few, trundle.simulate(model, 30.0, samples=11), labels="ab").over_time(
            "states", name
        ),
    )
    for figure in (alone, compared):
        whole, beside = figure.axes
        assert beside.get_xlim()[1] < 0.3
        for axes in (whole, beside):
            drawn = np.array(axes.get_lines()[0].get_xydata())
            seen = many.time <= min(drawn[-1, 0], beside.get_xlim()[1])
            off = np.abs(np.interp(many.time[seen], *drawn.T) - many[name][seen]).max()
            assert off < 2e-3 * few.peaks[name].highest
    assert few.plot.states(name).axes[0].get_ylim()[1] > few.peaks[name].highest


@pytest.mark.parametrize("duration", [15.0, 22.0, 30.0, 47.0, 90.0])
def test_ticks_of_start_ups_say_where_they_are(duration):
    run = trundle.simulate(
        trundle.catalog.differential_drive(),
        duration,
        {"left_motor.voltage": 24.0},
        samples=1001,
        progress=False,
    )
    figure = run.plot.states()
    shown = [axes for axes in figure.axes if axes.get_title(loc="left") == "start-up (s)"]
    assert shown
    for axes in shown:
        for axis in (axes.xaxis, axes.yaxis):
            ticks = axis.get_major_locator()()
            said = [float(axis.get_major_formatter()(tick).replace("\u2212", "-")) for tick in ticks]
            assert said == pytest.approx(list(ticks), abs=1e-9 * np.ptp(ticks))
        assert len(np.array(axes.get_lines()[0].get_xdata())) > 6
