"""Figures: what they show is what the run holds, and they are made from saved files and for awkward runs, too."""

import math
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon

from trundle import catalog
from trundle.analysis.analyze import analyze
from trundle.errors import InputError
from trundle.results import Run
from trundle.robot.description import parse_robot
from trundle.scene import Link, Scene, WheelShape, body_outline
from trundle.show.ability_figure import mobility_figure
from trundle.show.path import path
from trundle.show.series import panels
from trundle.show.style import save_figure

WHEELS = (
    WheelShape("right", 0.0, -0.6, 0.15, 0.15),
    WheelShape("front", 0.5, 0.0, 0.1, 0.05, kind="steered", steering="front.steering"),
    WheelShape("tail", -0.5, 0.0, 0.1, 0.0, kind="caster", steering="tail.steering", offset=0.1),
    WheelShape("omni", 0.0, 0.6, 0.1, 0.05, kind="omni", roller_angle=math.pi / 2),
    WheelShape("mecanum", 0.2, 0.6, 0.1, 0.05, kind="mecanum", roller_angle=-math.pi / 4),
    WheelShape("ball", -0.2, 0.6, 0.1, 0.0, kind="ball"),
)


def circle(samples=101, sketch=None, laps=1.0, more=None) -> Run:
    time = np.linspace(0, 10, samples)
    angle = laps * 2 * math.pi * time / 10
    units = {"x": "m", "y": "m", "theta": "rad", "front.steering": "rad", "u.voltage": "V"}
    values = {
        "x": 2 * np.sin(angle),
        "y": 2 - 2 * np.cos(angle),
        "theta": angle,
        "front.steering": 0.3 * np.sin(time),
        "tail.steering": 0 * time,
        "u.voltage": 24 + 0 * time,
    } | (more or {})
    sketch = sketch if sketch is not None else Scene(wheels=WHEELS, pose=("x", "y", "theta"))
    return Run(
        "circle",
        time,
        values,
        {name: unit for name, unit in units.items() if name in values},
        {"sketch": sketch.to_dict()},
        groups={"coordinates": ["x", "y", "theta"], "inputs": ["u.voltage"]},
    )


def test_all_figures_from_a_saved_file(tmp_path):
    run = Run.load(circle().save(tmp_path / "run.nc"))
    files = run.plot.save(tmp_path / "figures")
    assert [file.name for file in files] == ["path.png", "states.png", "inputs.png", "checks.png"]
    for file in files:
        assert file.read_bytes().startswith(b"\x89PNG")
        assert file.stat().st_size > 5000


@pytest.mark.parametrize(("suffix", "start"), [(".svg", b"<?xml"), (".pdf", b"%PDF"), (".png", b"\x89PNG")])
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
    (line,) = [each for each in axes.collections if isinstance(each, LineCollection)]
    segments = np.array(line.get_segments())
    np.testing.assert_allclose(segments[0, 0], [run["x"][0], run["y"][0]], atol=1e-12)
    np.testing.assert_allclose(segments[-1, 1], [run["x"][-1], run["y"][-1]], atol=1e-12)
    bodies = [each for each in axes.patches if isinstance(each, Polygon) and len(each.get_xy()) == 7]
    assert 3 <= len(bodies) <= 12
    first, last = (np.asarray(body.get_xy()) for body in (bodies[0], bodies[-1]))
    outline = np.array(body_outline(WHEELS))
    np.testing.assert_allclose(first[:6], outline, atol=1e-12)
    theta = run["theta"][-1]
    turn = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]])
    np.testing.assert_allclose(last[:6], outline @ turn.T + [run["x"][-1], run["y"][-1]], atol=1e-12)
    assert axes.get_aspect() == 1


def test_robots_keep_clear_of_each_other_over_many_laps():
    assert (
        sum(
            isinstance(p, Polygon) and len(p.get_xy()) == 7
            for p in path(circle(2001, laps=20)).axes[0].patches
        )
        < 12
    )


def test_a_tiny_robot_on_a_long_path_is_drawn_larger_and_said_so():
    time = np.linspace(0, 10, 101)
    axes = path(circle(more={"x": 100 * time, "y": 0 * time})).axes[0]
    assert any("times its size" in text.get_text() for text in axes.texts)


@pytest.mark.parametrize("samples", [1, 2, 3])
def test_short_and_still_runs(samples, tmp_path):
    still = circle(samples, laps=0.0)
    assert len(still.plot.save(tmp_path)) == 4


def test_a_diverged_run_is_drawn_up_to_where_its_numbers_end(tmp_path):
    x = np.linspace(0, 1, 101)
    x[60:] = np.nan
    run = circle(more={"x": x})
    assert len(run.plot.save(tmp_path)) == 4
    x[:] = np.inf
    assert len(circle(more={"x": x}).plot.save(tmp_path)) == 4


def test_a_run_without_anything_to_show(tmp_path):
    run = Run("empty", np.arange(2.0), {"knee.angle": np.arange(2.0)})
    assert len(run.plot.save(tmp_path)) == 4


def test_a_linkage_shows_its_links_and_the_tips_trace():
    time = np.linspace(0, 2, 201)
    angle = np.cos(4 * time)
    links = (Link("rod", (0.0, 0.0), ("rod.tip.x", "rod.tip.z")),)
    sketch = Scene(links=links, traced=("rod.tip.x", "rod.tip.z"), plane=("x", "z"))
    values = {"rod.tip.x": np.sin(angle), "rod.tip.z": -np.cos(angle)}
    run = Run("pendulum", time, values, description={"sketch": sketch.to_dict()})
    axes = path(run).axes[0]
    assert axes.get_ylabel() == "z (m)"
    assert sum(len(np.atleast_1d(line.get_xdata())) == 2 for line in axes.lines) >= 5


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
    assert titles[0].startswith("constraint residual: at most 4.0e-15")
    assert titles[2] == "energy balance: out by at most 2e-06 J, 2e-09 of the energy turned over"


def test_panels_hold_one_unit_and_not_too_many_lines():
    values = {f"w{i}.angle": np.zeros(2) for i in range(20)} | {"x": np.zeros(2)}
    run = Run("many", np.arange(2.0), values, {"x": "m"}, groups={"coordinates": list(values)})
    found = panels(run, {"coordinates": run.groups["coordinates"]})
    assert [len(panel.names) for panel in found] == [7, 7, 6, 1]
    assert [panel.unit for panel in found] == ["", "", "", "m"]


def test_sketches_survive_json_and_damage_is_an_error():
    sketch = Scene(body=((0.0, 1.0), (1.0, 0.0), (0.0, -1.0)), wheels=WHEELS, pose=("x", "y", "theta"))
    assert Scene.from_dict(sketch.to_dict()) == sketch
    for damaged in (
        {"wheel": []},
        {"wheels": [{"name": "a"}]},
        {"wheels": [{"nam": "a"}]},
        {"pose": ["x"]},
        {"links": [{"name": "a", "start": [0], "end": [0, 0]}]},
        {"body": 3},
        {"body": [["a", "b"]]},
    ):
        with pytest.raises(InputError):
            Scene.from_dict(damaged)


def test_a_sketch_that_names_what_the_run_has_not():
    with pytest.raises(InputError, match="'heading'"):
        path(circle(sketch=Scene(pose=("x", "y", "heading"))))
    wheel = WheelShape("front", 0, 0, 0.1, 0.1, steering="front.stering")
    with pytest.raises(InputError, match="did you mean 'front.steering'"):
        path(circle(sketch=Scene(wheels=(wheel,), pose=("x", "y", "theta"))))


def test_a_caster_trails_behind_its_pivot():
    assert WHEELS[2].centre() == pytest.approx((-0.6, 0.0))
    assert WHEELS[2].centre(math.pi / 2) == pytest.approx((-0.5, -0.1))


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
        bars = [np.asarray(line.get_xydata()) for line in axes.lines if line.get_marker() in ("None", "")]
        lengths = sorted(float(np.hypot(*(end - start))) for start, end in bars)
        assert lengths == pytest.approx([0.3, 0.7, 0.9] if kind == "four_bar" else [0.05, 0.15])
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
