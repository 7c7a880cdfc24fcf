"""Runs over terrain: steady slip, order of convergence, balance, what is refused, files and the command."""

import json
import math
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import trundle
from trundle.catalog import document
from trundle.cli.app import main
from trundle.errors import InputError
from trundle.model.ground_model import derive_on
from trundle.robot.component import plain
from trundle.robot.terrain import parse_terrain
from trundle.show.figures.panels import friction_use
from trundle.show.page.live import live_data
from trundle.show.verdicts import doubts

BOX = {
    "base": "floating",
    "body": {"mass": 40.0, "center_of_mass": [0, 0, 0.05], "inertia": {"xx": 1.0, "yy": 1.5, "zz": 2.0}},
    "wheels": {
        name: {
            "at": [x, y, 0],
            "radius": 0.15,
            "mass": 1.0,
            "width": 0.05,
            "contact": "linear",
            "friction": 1.0,
        }
        for name, x, y in (("fl", 0.3, 0.25), ("fr", 0.3, -0.25), ("rl", -0.3, 0.25), ("rr", -0.3, -0.25))
    },
    "motors": {f"{name}_motor": {"type": "ideal", "drives": name} for name in ("fl", "fr", "rl", "rr")},
}
WEIGHT = 44 * 9.81


def box(**changes):
    return trundle.Robot(name="box", **{**BOX, **changes})


def slope(degrees, uphill=0):
    return {"surfaces": {"slope": {"type": "plane", "slope": f"{degrees} deg", "uphill": f"{uphill} deg"}}}


def rates(rate):
    return {f"{name}_motor.rate": rate for name in BOX["wheels"]}


@pytest.fixture(scope="module")
def climb():
    return trundle.simulate(box(), 4.0, rates(2.0), terrain=slope(10), step=0.02)


@pytest.mark.slow
def test_the_steady_slip_on_a_slope_is_its_closed_form(climb):
    """(M g sin θ/n)/C with C = 0.1 s K and K = M g/(n h): h sin θ/(0.1 s), 0.2 sin θ m/s for 2 cm."""
    slip = 0.2 * math.sin(math.radians(10))
    assert climb["fl.rolling_slip"][-1] == pytest.approx(-slip, abs=1e-6)
    assert speed(climb) == pytest.approx(2.0 * 0.15 - slip, abs=1e-6)


def speed(run):
    """At the end, along whatever slope (m/s)."""
    return math.hypot(run["v_x"][-1], run["v_z"][-1])


@pytest.mark.slow
def test_loads_carry_the_weight_and_forces_balance(climb):
    loads = sum(climb[f"{name}.load"][-1] for name in BOX["wheels"])
    assert loads == pytest.approx(WEIGHT * math.cos(math.radians(10)), rel=1e-6)
    assert climb.summary["balance_residual"] < 1e-10 * WEIGHT


@pytest.mark.slow
def test_the_motors_lift_the_weight_and_feed_the_slip(climb):
    """Power put in = climbing + what slip takes, once nothing else changes."""
    power = sum(climb[f"{name}_motor.power"][-1] for name in BOX["wheels"])
    lifted = WEIGHT * speed(climb) * math.sin(math.radians(10))
    assert power == pytest.approx(lifted + climb["power.ground"][-1], rel=1e-6)


@pytest.mark.slow
def test_a_robot_across_a_slope_drifts_down():
    run = trundle.simulate(box(), 3.0, rates(0.0), terrain=slope(10, uphill=90), step=0.02)
    assert run["fl.lateral_slip"][-1] == pytest.approx(-0.2 * math.sin(math.radians(10)), abs=1e-6)


@pytest.mark.slow
def test_steps_converge_with_the_first_order():
    ends = []
    for step in (0.02, 0.01, 0.005):
        hill = {"surfaces": {"hill": {"type": "hill", "height": 0.2, "width": 1.0, "at": [1.0, 0.3]}}}
        run = trundle.simulate(box(), 1.0, rates(4.0), terrain=hill, step=step, samples=2)
        ends.append(np.array([run[name][-1] for name in ("x", "y", "z", "roll", "pitch", "yaw")]))
    first, second = (np.abs(a - b).max() for a, b in pairwise(ends))
    assert 1.7 < first / second < 2.3


@pytest.mark.slow
def test_both_ways_to_turn_converge_to_each_other():
    gaps = []
    for step in (0.04, 0.02):
        runs = [
            trundle.simulate(document("zoe"), 4.0, mode="kinematic", step=step, attitude=attitude, samples=2)
            for attitude in ("exponential", "euler_angles")
        ]
        gaps.append(max(abs(runs[0][name][-1] - runs[1][name][-1]) for name in ("x", "y", "z")))
    assert 1.7 < gaps[0] / gaps[1] < 2.3


def test_a_kinematic_run_on_flat_ground_is_the_planar_one():
    """Of wheels that can't all roll, both take the least squares of what slips."""
    wheels = {name: {**wheel, "contact": "ideal"} for name, wheel in BOX["wheels"].items()}
    given = {f"{name}.rate": 2.0 if name.endswith("l") else 3.0 for name in wheels}
    over = trundle.simulate(
        box(wheels=wheels, motors={}), 2.0, given, terrain={}, mode="kinematic", step=0.001
    )
    plane = trundle.roll(box(wheels=wheels, motors={}, base="planar"), 2.0, given)
    assert over["yaw"][-1] == pytest.approx(plane["theta"][-1], abs=1e-9)
    for name in ("x", "y"):  # a step of the first order
        assert over[name][-1] == pytest.approx(plane[name][-1], abs=1e-3)


@pytest.mark.slow
def test_a_region_without_friction_lets_wheels_spin():
    icy = {"regions": {"ice": {"friction": 0.0, "x": [-1, 10]}}}
    run = trundle.simulate(box(), 1.0, rates(3.0), terrain=icy, step=0.02)
    assert run["x"][-1] == pytest.approx(0.0, abs=1e-9)
    assert run["fl.rolling_slip"][-1] == pytest.approx(-3.0 * 0.15)


@pytest.mark.slow
def test_large_steps_over_rough_ground_stay_finite():
    rough = {"surfaces": {"waves": {"type": "waves", "amplitude": 0.05, "length": 0.9, "across": 0.7}}}
    run = trundle.simulate(box(), 20.0, rates(4.0), terrain=rough, step=0.2)
    assert np.abs(run["v_x"]).max() < 10 * 4.0 * 0.15


@pytest.mark.slow
def test_a_robot_dropped_settles_at_its_sinkage():
    run = trundle.simulate(box(), 2.0, rates(0.0), terrain={}, step=0.005, initial={"z": 0.25})
    assert run["fl.load"][0] == 0.0
    assert run["fl.sinkage"][-1] == pytest.approx(0.02, abs=1e-3)


@pytest.mark.parametrize(
    ("robot", "changes", "words"),
    [
        (lambda: trundle.catalog.pendulum(), {}, "no wheels"),
        (lambda: trundle.catalog.mecanum().without_controllers, {}, "front_left, .* roll ideally"),
        (
            lambda: trundle.catalog.differential_drive(),
            {},
            r"(?s)roll ideally.*2 more:.*at 2 points.*center_of_mass has no height",
        ),
        (
            lambda: box(base="planar", body={**BOX["body"], "inertia": {"zz": 2.0}}),
            {},
            "an inertia zz alone",
        ),
        (lambda: box(), {"step": 0.3}, "whole number of steps"),
        (lambda: box(), {"step": 1e-9}, r"steps of 1e-09 s is 1e\+09 steps"),
        (lambda: box(), {"initial": {"w": 1}}, "not a state"),
        (lambda: box(), {"attitude": "cayley"}, "unknown attitude"),
        (lambda: box(), {"terrain": slope(89)}, "doesn't settle"),
        (
            lambda: box(),
            {"terrain": slope(90)},
            "can't touch the ground at x = 0 m, y = 0 m: nothing lies under",
        ),
        *(
            (
                lambda: box(),
                {"terrain": {"surfaces": {"a": {"type": "step", "height": height, "at": [2, 0]}}}},
                "can't touch the ground",
            )
            for height in (0.5, -0.5)
        ),
        (
            lambda: box(),
            {"initial": {"z": -0.5}},
            r"the wheel 'fl' begins inside the ground, 0\.65 m deep at t = 0 .* z = -0\.5 m",
        ),
        (
            lambda: trundle.catalog.differential_drive().without_controllers,
            {"mode": "kinematic"},
            "at 2 points",
        ),
        (lambda: box(), {"terrain": {"surfaces": {"a": {"slope": "b"}}}}, "can't use parameters"),
        (lambda: box(), {"terrain": {"sinkage": -0.01}}, "sinkage must be greater than zero"),
        (
            lambda: box(),
            {"terrain": {"surfaces": {"a": {"type": "hill", "height": 1, "width": 0}}}},
            "width must be",
        ),
    ],
)
def test_what_can_t_be_is_said(robot, changes, words):
    given = {"terrain": {}, "duration": 1.0, "step": 0.1, **changes}
    with pytest.raises(trundle.InputError, match=words):
        trundle.simulate(robot(), **given)


@pytest.mark.parametrize(
    ("name", "words"),
    [("zoe", "floating base roll over terrain"), ("talon", "floating base roll over terrain")],
)
def test_elsewhere_rovers_are_refused(name, words):
    with pytest.raises(trundle.InputError, match=words):
        trundle.derive(trundle.catalog.robot(name))


@pytest.mark.slow
def test_a_run_without_numbers_names_the_deepest_wheel_and_the_place(monkeypatch):
    from trundle.robot.ground_laws import Linear

    monkeypatch.setattr(Linear, "_damping", lambda self, bearing, read: math.nan)
    words = r"after t = 0 s at x = 0 m, y = 0 m; look at the wheel 'fl', its contact law, and what its motor is told"
    with pytest.raises(trundle.NumericsError, match=words):
        trundle.simulate(box(), 1.0, rates(1.0), terrain={}, step=0.1)


def test_the_command_runs_a_file_with_a_terrain(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talon.yaml").write_text(document("talon").source)
    assert main(["run", "talon.yaml", "--no-figures", "--json", "--duration", "2"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["terrain"] == "flat"
    assert said["final"]["x"] == pytest.approx(1.0, abs=0.05)
    run = trundle.Run.load(tmp_path / "runs" / "talon" / "talon.nc")
    assert run["left.1.load"][-1] == pytest.approx(52.163 * 9.81 / 6, rel=0.02)


def test_a_run_whose_samples_don_t_divide_its_steps_ends_at_its_duration():
    run = trundle.simulate(trundle.catalog.talon(curvature=0), 2.5, terrain={}, step=0.1, samples=11)
    assert list(run.time[-2:]) == pytest.approx([2.4, 2.5])


def test_integrators_options_are_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "talon.yaml").write_text(document("talon").source)
    assert main(["run", "talon.yaml", "--method", "lsoda"]) == 1
    assert "goes by steps of one length" in capsys.readouterr().err


def test_terrains_are_written_and_read_back():
    source = document("zoe")
    again = trundle.documents.parse(trundle.documents.dump(source.robot, source.run, terrain=source.terrain))
    assert (again.terrain, again.run) == (source.terrain, source.run)
    assert parse_terrain(again.terrain) is again.terrain


@pytest.mark.parametrize("door", [trundle.window.drive, live_data])
def test_windows_and_live_pages_are_refused_in_words(door):
    with pytest.raises(
        InputError, match=r"over terrain by steps that no browser and no window takes\n.*--page"
    ):
        door(document("talon"))


@pytest.mark.slow
def test_a_start_so_deep_that_the_ground_throws_the_robot_up_is_told():
    words = r"'fl' begins 0.1 m deep at t = 0 .*5 times as deep as at rest: the ground throws it up; raise it by 0.08 m"
    with pytest.warns(UserWarning, match=words):
        trundle.simulate(box(), 0.1, terrain={}, step=0.02, initial={"z": 0.05}, progress=False)


@pytest.mark.slow
def test_a_robot_that_has_settled_deep_is_not_told_to_settle():
    """Six wheels of a rigid robot can't all follow such ground."""
    rubble = {"type": "fractal", "slope": 0.25, "shortest": 0.5, "longest": 2, "scale": 1.412, "seed": 1}
    with pytest.warns(UserWarning, match=r"the ground throws it up; it has settled so.*start elsewhere"):
        trundle.simulate(
            trundle.catalog.talon(),
            0.04,
            terrain={"sinkage": 0.01, "surfaces": {"rubble": rubble}},
            step=0.04,
            progress=False,
        )


@pytest.mark.slow
def test_friction_in_use_is_that_of_the_region_and_wheels_say_what_they_lose():
    """On ice of a tenth of the friction a box slides down with all that there is of it in use."""
    terrain = {**slope(10), "regions": {"ice": {"friction": 0.1, "x": [-9, 9]}}}
    run = trundle.simulate(box(), 1.0, terrain=terrain, step=0.02, progress=False)
    for name in BOX["wheels"]:
        assert run[f"{name}.friction"] == pytest.approx(0.1)
        assert friction_use(run)[name][-1] == pytest.approx(1)
    lost = [run[f"{name}.power_lost"] for name in BOX["wheels"]]
    assert sum(lost) == pytest.approx(run["power.ground"])
    force = np.hypot(run["fl.traction"], run["fl.side_force"])
    speed = np.hypot(run["fl.rolling_slip"], run["fl.lateral_slip"])
    assert lost[0][-1] == pytest.approx((force * speed)[-1], rel=1e-3)  # the rest is damping of the ground


@pytest.mark.slow
def test_a_step_that_is_not_balanced_is_told():
    run = trundle.simulate(box(), 0.1, rates(1.0), terrain={}, step=0.02, progress=False)
    assert doubts(run) == []
    left = np.where(np.arange(len(run)) == 3, 20.0, run["balance_residual"])
    values = {**run.values, "balance_residual": left}
    off = replace(run, values=values, summary={**run.summary, "balance_residual": 20.0})
    assert doubts(off) == ["doubtful: the step at 0.06 s isn't balanced; take a shorter step"]


def test_a_floating_robot_takes_the_terrain_that_is_given():
    """As a mapping; it was told that there is no terrain."""
    described = {"robot": {"name": "box", **plain(box())}}
    run = trundle.simulate(described, 0.02, rates(0.0), terrain=slope(10), step=0.02)
    assert run["pitch"][0] == pytest.approx(-math.radians(10), abs=1e-9)
    batch = trundle.rollout(described, terrain=slope(10), inputs=rates(0.0), steps=1, dt=0.02, progress=False)
    assert batch["q_y"][0, 0] == pytest.approx(-math.sin(math.radians(5)), abs=1e-9)


def test_programs_read_nothing_beyond_what_they_are_given():
    """What a run shows hung on how its search went, which it isn't told: it read other memory."""
    model = derive_on(trundle.catalog.rocker_bogie(speed=0.3), parse_terrain({}))
    for program in (model.step, model.observe, model.gaps):
        read = [each.source for each in program.instructions if each.op == "input"]
        assert all(element < program.inputs[group].size for group, element in read)
