"""An estimator in the loop: what it knows is what the estimator says of the same log; seeds, readers, refusals."""

import pickle
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import trundle
from trundle.documents import dump, parse
from trundle.errors import InputError
from trundle.mechanics.quantities import UNSEEN
from trundle.show.summaries.model_summary import system_facts

VOLTS = {"left_motor.voltage": 2.0, "right_motor.voltage": 2.4}
SENSORS = {
    "encoders": {"noise": 0.02, "period": "20 ms"},
    "gyro": {"type": "gyro", "noise": 0.002, "period": "20 ms"},
    "fixes": {"type": "pose", "position": "1 cm", "heading": "0.5 deg", "latency": "60 ms"},
}
WANDERS = {**SENSORS["gyro"], "bias": "1 deg/s", "wander": 0.001, "dropouts": 0.1}
LATE = {**SENSORS["fixes"], "latency": [0.01, 0.1], "dropouts": 0.2, "period": "40 ms"}
SEEN = {
    "type": "marks",
    "marks": {"door": [2, 1], "desk": [-1, 3]},
    "range": "5 cm",
    "bearing": "1 deg",
    "latency": "40 ms",
}
PLACES = {"type": "position", "position": "2 cm", "period": "60 ms", "latency": "35 ms"}


def estimating(sensors=SENSORS, **settings):
    robot = trundle.catalog.differential_drive().with_sensors(sensors)
    return trundle.derive(robot, controllers={"where": {"type": "estimator", **settings}})


@pytest.mark.parametrize(
    ("sensors", "settings"),
    [
        (SENSORS, {}),
        ({**SENSORS, "fixes": {**SENSORS["fixes"], "latency": 0}}, {"gate": 1.5}),
        ({**SENSORS, "encoders": {**SENSORS["encoders"], "wraps": "60 deg"}}, {}),
        pytest.param({**SENSORS, "gyro": WANDERS, "fixes": LATE}, {"encoders": 0.05}, marks=pytest.mark.slow),
        pytest.param(
            {"encoders": SENSORS["encoders"], "fixes": PLACES}, {"slip": 0.01}, marks=pytest.mark.slow
        ),
        ({"encoders": SENSORS["encoders"], "marks": SEEN}, {"gate": 5}),
    ],
)
def test_it_knows_what_the_estimator_says_of_the_log(sensors, settings):
    model = estimating(sensors, **settings)
    run = trundle.simulate(model, 2.0, VOLTS, samples=101, seed=7)
    log = trundle.measure(model, run, seed=7)
    noise = {key: settings[key] for key in ("encoders", "slip") if key in settings}
    found = trundle.estimate(model, log, noise=noise, gate=settings.get("gate"))
    if settings.get("gate") == 1.5:
        assert found.summary["fixes"]["fixes"]["gated"] > 2
    # in the last row the log's estimate has what came after it, too
    for name in ("x", "y", "theta", *(["gyro.bias"] if sensors.get("gyro") == WANDERS else [])):
        inside = run[f"where.{name.removeprefix('gyro.')}"]
        np.testing.assert_allclose(inside[:-1], found[name][:-1], atol=1e-9, rtol=0, err_msg=name)
    p11, p12, p22 = (run[f"where.P{pair}"][-2] for pair in ("11", "12", "22"))
    c, s = np.cos(run["where.theta"][-2]), np.sin(run["where.theta"][-2])
    np.testing.assert_allclose(
        c * c * p11 - 2 * c * s * p12 + s * s * p22, found["covariance.x.x"][-2], rtol=1e-6, atol=1e-12
    )


def test_the_same_seed_gives_the_same_run_also_from_files(tmp_path):
    model = estimating()
    robot = model.robot
    assert parse(dump(robot)).robot == robot
    inputs = "".join(f"    {name}: {value}\n" for name, value in VOLTS.items())
    path = tmp_path / "robot.yaml"
    path.write_text(dump(robot) + f"run:\n  duration: 1\n  samples: 51\n  seed: 3\n  inputs:\n{inputs}")
    kept = pickle.loads(pickle.dumps(model))
    runs = [
        trundle.simulate(model, 1.0, VOLTS, samples=51, seed=3),
        trundle.run(path),
        trundle.run(kept, duration=1, inputs=VOLTS, samples=51, seed=3),
    ]
    for other in runs[1:]:
        for name in runs[0].values:
            np.testing.assert_array_equal(runs[0][name], other[name], err_msg=name)
    assert runs[1].summary["seed"] == 3
    assert (trundle.run(path, seed=4)["where.x"] != runs[0]["where.x"]).any()


@pytest.mark.slow
def test_without_noise_it_tells_the_truth_also_in_rollouts():
    model = estimating()
    quiet = {name: 0.0 for name in model.inputs if name.startswith("where.")}
    run = trundle.simulate(model, 1.0, VOLTS | quiet, samples=51)
    batch = trundle.rollout(model, inputs=VOLTS, dt=0.001, steps=1000, every=20)
    for name in ("x", "y", "theta"):
        np.testing.assert_allclose(run[f"where.{name}"], run[name], atol=1e-6)
        np.testing.assert_allclose(batch[f"where.{name}"][:, 0], run[f"where.{name}"], atol=1e-6)


@pytest.mark.slow
def test_equations_say_that_its_law_is_left_out():
    text = trundle.equations(estimating(), "state").text()
    assert "the law of where is too long for a page" in " ".join(text.split())


def test_it_starts_as_unsure_as_it_says():
    model = estimating(position="10 cm", heading="5 deg")
    run = trundle.simulate(model, 0.1, VOLTS, initial={"x": 1.0, "theta": 0.5}, samples=6, seed=5)
    assert 0.005 < abs(run["where.then_x"][0] - 1.0) < 0.3
    assert run["where.then_P11"][0] == pytest.approx(0.01)
    assert run["where.P11"][0] == pytest.approx(0.01)  # the first fix has not come


def test_a_tracker_reads_it_at_the_same_instant():
    """The tracker's sample takes the estimate of that instant, not of the one before."""
    hold = {
        "type": "state_feedback",
        "drives": {"left_motor.voltage": {"gains": {"where.x": 1.0}}},
        "period": "20 ms",
    }
    robot = trundle.catalog.differential_drive().with_sensors(SENSORS)
    model = trundle.derive(robot, controllers={"hold": hold, "where": {"type": "estimator"}})
    run = trundle.simulate(model, 1.0, {"right_motor.voltage": 2.0}, samples=51)
    np.testing.assert_array_equal(run["left_motor.voltage"], -run["where.x"])
    follow = {
        "type": "unicycle",
        "pose": "where",
        "speed_to": "left_motor.voltage",
        "turn_to": "right_motor.voltage",
    }
    follow["period"] = "20 ms"
    model = trundle.derive(robot, controllers={"follow": follow, "where": {"type": "estimator"}})
    still = {f"follow.{name}": 0.0 for name in ("x", "y", "theta", "v_x", "v_y", "omega")}
    run = trundle.simulate(model, 1.0, still, samples=51)
    np.testing.assert_allclose(run["follow.along"], run["where.x"], atol=1e-12)


@pytest.mark.parametrize(
    ("sensors", "settings", "message"),
    [
        ({"gyro": {"type": "gyro"}}, {}, "needs a sensor of type encoders"),
        (
            {**SENSORS, "more": {"type": "gyro"}},
            {},
            "one sensor of type gyro, and 'differential_drive' has 2",
        ),
        ({**SENSORS, "gyro": {"type": "gyro", "noise": 0.1}}, {}, "keep one period, and 'gyro' has another"),
        (
            {**SENSORS, "encoders": {"noise": 0.1, "period": 0.02, "latency": 0.1}},
            {},
            "'encoders' tells late",
        ),
        (
            {**SENSORS, "encoders": {"noise": 0.1, "period": 0.02, "dropouts": 0.1}},
            {},
            "encoders drop readings",
        ),
        ({**SENSORS, "fixes": {**LATE, "period": 0.03}}, {}, "tells every 0.03 s, no multiple of 0.02 s"),
        ({**SENSORS, "fixes": {**LATE, "latency": 2.0}}, {}, "up to 100 samples late, and at most 50"),
        ({"encoders": {}}, {}, "'encoders' has no noise"),
        ({**SENSORS, "gyro": {"type": "gyro", "period": 0.02}}, {}, "'gyro' has no noise"),
        (
            {"encoders": SENSORS["encoders"], "start": {"type": "position", "position": "1 cm"}},
            {},
            "'start' has the name of the noise",
        ),
        (SENSORS, {"period": 0.01}, "samples with its encoders, every 0.02 s"),
        (SENSORS, {"period": 0.02, "delay": 0.01}, "no delay"),
        (SENSORS, {"gate": 0}, "gate must be greater than zero"),
    ],
)
def test_what_is_refused(sensors, settings, message):
    with pytest.raises(InputError, match=message):
        estimating(sensors, **settings)


@pytest.mark.slow
def test_the_example_holds_its_circle_by_its_estimate(tmp_path):
    script = Path(__file__).parents[2] / "examples" / "feedback" / "sensed.py"
    ran = subprocess.run(
        [sys.executable, "-W", "error::UserWarning", script, tmp_path],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    circle, fixes, _ = ran.stdout.splitlines()
    assert float(circle.split(" mm")[0]) < 20
    assert 2 < float(fixes.partition("NIS ")[2].partition(",")[0]) < 4
    assert (tmp_path / "in_the_loop.png").stat().st_size > 20_000
    assert (tmp_path / "from_the_log.png").stat().st_size > 20_000


def test_a_pose_of_nobody_is_refused():
    robot = trundle.catalog.differential_drive()
    follow = {
        "type": "unicycle",
        "pose": "nobody",
        "speed_to": "left_motor.voltage",
        "turn_to": "right_motor.voltage",
    }
    with pytest.raises(InputError, match=r"follow: its pose is to be .* 'nobody', which isn't there"):
        trundle.derive(robot, controllers={"follow": follow})
    robot = robot.with_sensors(SENSORS)
    where, misspelt = {"type": "estimator"}, {**follow, "pose": "wher"}
    circle = {"type": "circle", "circle": {"center": [0, 0], "radius": 1}, "speed": 1, "pose": "wher"}
    circle |= {"speed_to": "left_motor.voltage", "turn_to": "right_motor.voltage"}
    for of in (misspelt, circle, {"type": "tracker", "pose": "wher"}):
        with pytest.raises(InputError, match=r"which isn't there\n  did you mean 'where'\?"):
            trundle.derive(robot, controllers={"follow": of, "where": where})


@pytest.mark.slow
def test_pictures_and_words_leave_out_what_it_keeps_for_itself(tmp_path):
    """Its pose is seen, its memory isn't; a figure has where it was and where it believed to be."""
    robot = trundle.catalog.differential_drive().with_sensors(
        {
            "encoders": {"noise": 0.02},
            "fixes": {"type": "pose", "position": 0.01, "heading": 0.01, "latency": 0.1},
        }
    )
    model = trundle.derive(robot, controllers={"where": {"type": "estimator"}})
    run = trundle.simulate(model, 0.5, {"left_motor.voltage": 6, "right_motor.voltage": 5}, seed=1)
    curves = {line.get_label() for axes in run.plot.states().axes for line in axes.lines}
    assert {"where.x", "where.fix_nis"} <= curves
    assert not curves & {"where.P11", "where.ago_0_0", "where.count", "where.then_x"}
    with pytest.raises(InputError, match="where.ago_0_00"):
        run.plot.states("where.ago_0_00")
    assert len(run.plot.states("where.ago_0_0").axes) == 1
    assert "where.fixes.x" not in {line.get_label() for axes in run.plot.inputs().axes for line in axes.lines}
    assert {path.name for path in run.plot.save(tmp_path)} >= {"estimate.png", "states.png"}
    assert "that controllers keep for themselves" in dict(system_facts(model))["further states"]


def test_what_it_keeps_for_itself_is_not_looked_at_between_samples():
    """Memory and draws are held: their samples tell all, and looking at them took most of a run's time."""
    run = trundle.simulate(estimating(), 0.5, VOLTS, seed=1)
    looked = {name for name in run.values if not run.peaks[name].sampled}
    assert {"x", "where.x", "left_motor.current", "energy.work"} <= looked
    assert not {name for name in looked if run.column(name).kind in UNSEEN}
    assert run.peaks["where.count"].highest == run["where.count"].max()
    assert all(np.isfinite(run.between[name]).all() for name in ("v_x", "where.fixes.x"))
    np.testing.assert_allclose(run.peaks["left.angle"].highest, run["left.angle"][-1], rtol=1e-9)
