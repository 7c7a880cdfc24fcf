"""Controllers on terrain: trackers along ways, samples with delays, estimators, cascades, what is refused."""

import json

import numpy as np
import pytest

import trundle
from trundle.cli.app import main
from trundle.errors import InputError
from trundle.model.base_aims import PAIR
from trundle.model.motored_base import MotoredBase
from trundle.model.placed import on_plane
from trundle.robot.component import plain

MOTOR = {"torque_constant": 0.05, "resistance": 0.5, "inductance": 5e-4, "gear_ratio": 20}
WHEEL = {"radius": 0.15, "mass": 1.0, "width": 0.05, "contact": "linear", "friction": 1.0}
HILL = {"surfaces": {"hill": {"type": "hill", "height": 0.15, "width": 1.0, "at": [3.0, 1.3]}}}


def drive(motor=None, **parts):
    """Two driven wheels, and a ball before and behind."""
    wheels = {name: {"at": [0, y, 0], **WHEEL} for name, y in (("left", 0.25), ("right", -0.25))}
    wheels |= {
        name: {"type": "ball", "at": [x, 0, -0.1], "radius": 0.05}
        for name, x in (("ahead", 0.3), ("behind", -0.3))
    }
    inertia = {"xx": 1.0, "yy": 1.5, "zz": 2.0}
    body = {"mass": 40.0, "center_of_mass": [0, 0, 0.05], "inertia": inertia}
    motors = {f"{name}_motor": {"drives": name, **(motor or MOTOR)} for name in ("left", "right")}
    return trundle.Robot(
        name="drive", **{"base": "planar", "body": body, "wheels": wheels, "motors": motors, **parts}
    )


def way(duration=20.0):
    t = np.linspace(0, duration, 401)
    return {"time": t, "x": 4 * np.sin(0.3 * t), "y": 2 * np.sin(0.6 * t)}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("motor", "mode", "period", "most"),
    [
        # 0.1 m is the tracker's tolerance; without slip a slope of 0.09 shortens ways by 4 mm a metre
        (None, "dynamic", None, 0.1),
        (None, "dynamic", "20 ms", 0.1),
        ({"type": "ideal"}, "dynamic", None, 0.1),
        ({"type": "ideal"}, "kinematic", None, 0.01),
        ({"type": "velocity", "gain": 5}, "kinematic", "20 ms", 0.01),
    ],
)
def test_a_tracker_leads_a_drive_along_an_eight_over_a_hill(motor, mode, period, most):
    tracker = {"type": "tracker", **({} if period is None else {"period": period})}
    robot = drive(motor, controllers={"track": tracker})
    run = trundle.simulate(robot, 20.0, {"track": way()}, terrain=HILL, mode=mode, initial={"y": 0.3})
    assert np.ptp(run["z"]) > 0.1
    assert np.abs(run["track.lateral"][300:]).max() < most


@pytest.mark.slow
def test_samples_as_often_as_steps_come_to_the_law_at_every_instant():
    """One acts where a step begins, the other where it ends: both are of the first order, from either side."""
    speed = {"reads": "v_x", "proportional": 10, "integral": 20, "target": 0.5}
    speed |= {"drives": {"left_motor.voltage": 1, "right_motor.voltage": 1}}
    apart = []
    for step in (0.01, 0.005, 0.0025):
        one, other = (
            trundle.simulate(drive(controllers={"speed": {**speed, **period}}), 1.0, terrain=HILL, step=step)
            for period in ({}, {"period": step})
        )
        apart.append([one[name][-1] - other[name][-1] for name in ("x", "z", "v_x", "speed.integral")])
    first, second = np.diff(apart, axis=0)
    assert first == pytest.approx(2 * second, rel=0.15)
    assert apart[2] == pytest.approx(apart[1] - np.array(apart[2]), rel=0.15)


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.0, 0.02, 0.1, 0.13])
def test_samples_are_held_and_come_late(delay):
    """A law that hands a reference on, 1 + t: the command tells which sample has taken effect."""
    speed = {"reads": "x", "drives": "left_motor.rate", "feedforward": 1.0}
    robot = drive({"type": "ideal"}, controllers={"speed": {**speed, "period": "20 ms", "delay": delay}})
    run = trundle.simulate(
        robot, 0.4, {"speed.reference": lambda t: 1 + t}, terrain={}, step=0.01, mode="kinematic", samples=41
    )
    k = np.arange(40)
    sampled = 0.02 * np.floor((0.01 * k - delay) / 0.02 + 1e-9)
    wanted = np.where(sampled > -1e-9, 1 + sampled, 0.0)
    assert run["left_motor.rate"][:40] == pytest.approx(wanted, abs=1e-12)


@pytest.mark.slow
def test_an_estimator_tells_the_tracker_where_it_is():
    sensors = {
        "encoders": {"type": "encoders", "period": "20 ms", "noise": "0.02 rad"},
        "camera": {"type": "pose", "period": "100 ms", "position": "1 cm", "heading": "0.5 deg"},
    }
    controllers = {
        "where": {"type": "estimator"},
        "track": {"type": "tracker", "period": "20 ms", "pose": "where"},
    }
    robot = drive(sensors=sensors, controllers=controllers)
    one, other = (
        trundle.simulate(
            robot, 10.0, {"track": way(10.0)}, terrain=HILL, step=0.02, initial={"y": 0.3}, seed=seed
        )
        for seed in (1, 2)
    )
    assert not np.array_equal(one["where.x"], other["where.x"])
    off = np.hypot(one["where.x"] - one["x"], one["where.y"] - one["y"])[250:]
    assert np.sqrt(np.mean(off**2)) < 0.05  # wheels slip uphill, and fixes of 1 cm come ten a second
    assert np.abs(one["track.lateral"][250:]).max() < 0.1


@pytest.mark.slow
def test_circles_and_cascades_hold_a_drive_on_an_arc():
    both = {"left_motor.voltage": 1, "right_motor.voltage": 1}
    apart = {"left_motor.voltage": -1, "right_motor.voltage": 1}
    circle = {"type": "circle", "circle": {"center": [0, 2], "radius": 2}, "speed": 0.5}
    controllers = {
        "arc": {**circle, "speed_to": "speed.reference", "turn_to": "turn.reference"},
        "speed": {"reads": "v_x", "drives": both, "proportional": 20, "integral": 40, "feedforward": 7},
        "turn": {"reads": "omega", "drives": apart, "proportional": 5, "integral": 20, "feedforward": 2},
    }
    run = trundle.simulate(drive(controllers=controllers), 20.0, terrain=HILL, step=0.01)
    assert np.abs(np.hypot(run["x"], run["y"] - 2)[1000:] - 2).max() < 0.02


@pytest.mark.parametrize(
    ("controllers", "changes", "words"),
    [
        (
            {"s": {"reads": "v_x", "drives": "left_motor.voltage", "period": 0.03}},
            {},
            "step = 0.02 s doesn't divide the period of the controller 's', 0.03 s",
        ),
        (
            {"s": {"reads": "left.load", "drives": "left_motor.voltage"}},
            {},
            "which a run over terrain doesn't know",
        ),
        (
            {"t": {"type": "tracker"}},
            {"inputs": {"left_motor.voltage": 1.0}},
            "'left_motor.voltage' is driven by t",
        ),
    ],
)
def test_what_controllers_can_t_do_is_said(controllers, changes, words):
    with pytest.raises(InputError, match=words):
        trundle.simulate(
            drive(controllers=controllers), terrain={}, **{"duration": 1.0, "step": 0.02, **changes}
        )


def test_the_step_that_divides_all_periods_is_named():
    controllers = {"s": {"reads": "v_x", "drives": "left_motor.voltage", "period": 0.03}}
    with pytest.raises(InputError, match=r"the nearest that does is step = 0\.015 s"):
        trundle.simulate(drive(controllers=controllers), 1.0, terrain={}, step=0.02)


@pytest.mark.slow
def test_a_file_s_tracker_follows_a_file_s_way(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    columns = way(2.0)
    rows = np.column_stack([*columns.values()])
    np.savetxt(tmp_path / "way.csv", rows, delimiter=",", header=",".join(columns), comments="")
    robot = drive(controllers={"track": {"type": "tracker", "period": "20 ms"}})
    text = trundle.documents.dump(robot)
    text += "terrain: {surfaces: {hill: {type: hill, height: 10 cm, width: 1 m, at: [1, 1]}}}\n"
    text += "run: {duration: 2, step: 0.02, inputs: {track: {file: way.csv}}}\n"
    (tmp_path / "drive.yaml").write_text(text)
    assert main(["run", "drive.yaml", "--no-figures", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    ground = {"surfaces": {"hill": {"type": "hill", "height": 0.1, "width": 1, "at": [1, 1]}}}
    run = trundle.simulate(robot, 2.0, {"track": tmp_path / "way.csv"}, terrain=ground, step=0.02)
    assert said["final"]["x"] == pytest.approx(run["x"][-1], rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["landtamer", "talon", "rocker_bogie"])
@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
def test_a_tracker_leads_rovers_that_turn_by_slipping(name, mode):
    """Rockers and bogies count as on level ground; what slopes and slip change stays within the tolerance of 0.1 m."""
    data = plain(getattr(trundle.catalog, name)())
    data["controllers"] = {"track": {"type": "tracker", "period": "40 ms"}}
    t = np.linspace(0, 20, 401)
    eight = {"time": t, "x": 4 * np.sin(0.15 * t), "y": 2 * np.sin(0.3 * t)}
    hills = {"surfaces": {"w": {"type": "waves", "amplitude": 0.05, "length": 3}}}
    run = trundle.simulate(trundle.Robot(**data), 20.0, {"track": eight}, terrain=hills, mode=mode, step=0.04)
    assert np.ptp(run["z"]) > 0.01
    assert np.abs(run["track.lateral"][250:]).max() < 0.1


# Half the eight's length (m), and how long it takes (s): no bend is tighter than the rover steers, at some 0.5 m/s.
EIGHTS = {"rocky7": (4.0, 40.0), "rocker_bogie": (4.0, 40.0), "zoe": (6.0, 60.0), "recbot": (16.0, 120.0)}
RUBBLE = {"surfaces": {"rubble": {"type": "fractal", "seed": 3, "slope": 0.1, "shortest": 1, "longest": 4}}}


def rover_on_an_eight(name):
    """A rover led by a tracker, and its eight."""
    data = plain(getattr(trundle.catalog, name)())
    data["controllers"] = {"track": {"type": "tracker", "period": "40 ms"}}
    half, duration = EIGHTS[name]
    t, turn = np.linspace(0, duration, 601), 2 * np.pi / duration
    eight = {"time": t, "x": half * np.sin(turn * t), "y": half / 2 * np.sin(2 * turn * t)}
    return trundle.Robot(**data), eight


@pytest.mark.slow
@pytest.mark.parametrize("name", EIGHTS)
@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
def test_trackers_lead_rovers_whose_joints_steer_over_random_ground(name, mode):
    """Within the tolerance of 0.1 m; a rocker-bogie also slips in bends."""
    robot, eight = rover_on_an_eight(name)
    duration = float(eight["time"][-1])
    run = trundle.simulate(
        robot, duration, {"track": eight}, terrain=RUBBLE, mode=mode, step=0.04, initial={"yaw": np.pi / 4}
    )
    assert np.ptp(run["z"]) > 0.05
    last = len(run["track.lateral"]) // 3
    assert np.abs(run["track.lateral"][last:]).max() < (0.15 if name == "rocker_bogie" else 0.1)


@pytest.mark.slow
def test_rollouts_lead_zoe_as_runs_do():
    robot, eight = rover_on_an_eight("zoe")
    yaw = np.array([np.pi / 4, 1.0])
    batch = trundle.rollout(
        robot,
        terrain=RUBBLE,
        steps=100,
        dt=0.04,
        inputs={"track": eight},
        initial={"yaw": yaw},
        progress=False,
    )
    run = trundle.simulate(robot, 4.0, {"track": eight}, terrain=RUBBLE, step=0.04, initial={"yaw": 1.0})
    assert batch["x"][-1, 1] == pytest.approx(run["x"][-1], rel=1e-6)
    assert np.abs(batch["y"][-1, 1] - batch["y"][-1, 0]) < 0.2


@pytest.mark.parametrize("curvature", [-0.3, 0.0, 0.2])
def test_zoe_s_wheels_are_told_the_rates_of_its_arc(curvature):
    """(v/cos δ ∓ v k w)/r at δ = ± atan(L k/2), and more of it where an axle has yet to turn."""
    v, half, track, radius = 0.5, 1.91 / 2, 1.64 / 2, 0.325
    robot = trundle.catalog.zoe()
    base, steer = MotoredBase(on_plane(robot)), np.arctan(half * curvature)
    twist, still = (v, 0.0, v * curvature), (0.0, 0.0, 0.0)
    seen = {"steer_front.angle": steer, "steer_rear.angle": -steer}
    found = base.commands(twist, still, seen, robot.resolver(), 10.0)
    for side, y in (("left", track), ("right", -track)):
        for axle in ("front", "rear"):
            wanted = (v / np.cos(steer) - y * v * curvature) / radius
            assert found[f"{axle}_{side}_motor.rate"] == pytest.approx(wanted, rel=1e-12)
    off = base.commands(twist, still, {**seen, "steer_front.angle": steer - 0.1}, robot.resolver(), 10.0)
    apart = off["front_right_motor.rate"] - off["front_left_motor.rate"]
    assert apart == pytest.approx(2 * track / radius * (v * curvature + PAIR * 0.1), rel=1e-12)


def test_a_tracker_that_can_t_lead_a_rover_says_why():
    data = plain(trundle.catalog.rocky7())
    data["controllers"] = {"track": {"type": "tracker"}}
    data["motors"]["lift"] = {"type": "ideal", "drives": "rocker_left"}
    with pytest.raises(InputError, match="its wheels don't stand on a plane"):
        trundle.simulate(trundle.Robot(**data), 1.0, {"track": way()}, terrain={}, step=0.02)


@pytest.mark.slow
def test_rollouts_track_and_sample_as_runs_do():
    robot = drive(controllers={"track": {"type": "tracker", "period": "20 ms"}})
    asked = {"steps": 50, "dt": 0.02, "inputs": {"track": way(2.0)}, "initial": {"y": np.array([0.0, 0.3])}}
    batch = trundle.rollout(robot, terrain=HILL, **asked)
    run = trundle.simulate(robot, 1.0, {"track": way(2.0)}, terrain=HILL, step=0.02, initial={"y": 0.3})
    assert batch["x"][-1, 1] == pytest.approx(run["x"][-1], rel=1e-9)
    with pytest.raises(InputError, match="step = 0.03 s doesn't divide the period"):
        trundle.rollout(robot, terrain=HILL, **{**asked, "dt": 0.03})


@pytest.mark.parametrize("mode", ["kinematic", "dynamic"])
def test_a_pid_that_only_feeds_forward_reads_nothing(mode):
    told = {"rolls": {"drives": "left_motor.rate", "target": 2, "feedforward": 1}}
    robot = drive({"type": "ideal"}, controllers=told)
    run = trundle.simulate(robot, 0.1, {"right_motor.rate": 2}, terrain={}, step=0.02, mode=mode)
    assert run["left_motor.rate"] == pytest.approx(2.0, abs=1e-12)
    assert "rolls.error" not in run.columns
    with pytest.raises(InputError, match="nothing says what it holds"):
        drive(controllers={"rolls": {**told["rolls"], "proportional": 1}})


@pytest.mark.slow
def test_a_base_that_slides_onto_its_way_is_sound():
    """For its first second and a half wheels slide, and what is off grows; then it follows, with smooth voltages."""
    robot = drive(controllers={"track": {"type": "tracker", "period": "20 ms"}})
    run = trundle.simulate(
        robot, 4.0, {"track": way()}, terrain=HILL, step=0.02, initial={"y": 0.3}, progress=False
    )
    assert "unstable_loops" not in run.summary
    assert np.abs(np.diff(run["left_motor.voltage"][-50:])).max() < 0.1
