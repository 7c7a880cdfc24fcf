"""Plans, inputs over time and sensors' noise vary, too: rows are those of rollouts that are given the same."""

from pathlib import Path

import numpy as np
import pytest
import yaml

import trundle
from trundle import InputError
from trundle.sweeps.outcome import Sweep

STEPS, DT = 300, 1e-3
T = np.linspace(0, 1, 51)
WAYS = [{"time": T, "x": a * np.sin(0.3 * T), "y": 2 * np.sin(0.6 * T)} for a in (3.0, 4.0, 5.0)]


@pytest.fixture(scope="module")
def tracked():
    track = {"type": "tracker", "period": "10 ms"}
    return trundle.derive(trundle.catalog.mecanum(), controllers={"track": track})


@pytest.fixture(scope="module")
def sensed():
    return trundle.derive(trundle.load("examples/feedback/sensed.yaml"))


def swept(model, over, **how):
    given = {"steps": STEPS, "dt": DT, "threads": 1, "progress": False} | how
    return trundle.sweep(model, over=over, **given)


def test_plans_are_followed_as_in_rollouts(tracked, tmp_path):
    over = {"inputs.track": WAYS, "initial.y": "uniform(-0.1, 0.3)"}
    measures = ["final.x", "rms(track.lateral)", "final.track.along", "first(x > 1 cm)"]
    place = tmp_path / "sweep.zarr"
    found = swept(tracked, over, samples=2, measures=measures, store=place)
    assert found["inputs.track"].tolist() == [0, 0, 1, 1, 2, 2]
    for robot in (0, 5):
        batch = trundle.rollout(
            tracked, initial={"y": found["initial.y"][robot]}, steps=STEPS, dt=DT,
            inputs={"track": WAYS[int(found["inputs.track"][robot])]},
        )  # fmt: skip
        lateral = batch.output("track.lateral")[:, 0]
        wanted = np.sqrt(np.trapezoid(lateral**2, batch.time) / batch.time[-1])
        assert found["final.x"][robot] == pytest.approx(batch.final("x")[0], abs=1e-13)
        assert found["rms(track.lateral)"][robot] == pytest.approx(wanted, abs=1e-13)
        assert found["final.track.along"][robot] == pytest.approx(
            batch.output("track.along")[-1, 0], abs=1e-12
        )
        assert found.run(robot).final["x"] == pytest.approx(batch.final("x")[0], abs=1e-7)
    loaded = Sweep.load(place)
    assert np.array_equal(loaded.work.rows(3, 2)["final.x"], found["final.x"][3:5])
    with pytest.raises(InputError, match="differs in what varies, the motions of inputs"):
        swept(
            tracked,
            {**over, "inputs.track": WAYS[:2]},
            samples=2,
            measures=measures,
            store=place,
            resume=True,
        )


def test_inputs_over_time_vary():
    model = trundle.derive(trundle.catalog.differential_drive())
    ramp = np.linspace(0, 24, STEPS)
    steps = ([0.0, 0.1, 0.2], [0.0, 24.0, 6.0], "previous")
    over = {"inputs.left_motor.voltage": [ramp, steps], "body.mass": "uniform(40, 60)"}
    measures = ["final.x", "max(left_motor.power)", "final.left_motor.power"]
    found = swept(model, over, samples=2, measures=measures, inputs={"right_motor.voltage": 12.0})
    batch = trundle.rollout(
        model, parameters={"body.mass": found["body.mass"][:2]}, steps=STEPS, dt=DT,
        inputs={"left_motor.voltage": ramp[:, None], "right_motor.voltage": 12.0},
    )  # fmt: skip
    power = batch.output("left_motor.power")
    assert np.abs(found["final.x"][:2] - batch.final("x")).max() < 1e-13
    assert np.abs(found["max(left_motor.power)"][:2] - power.max(axis=0)).max() < 1e-9
    assert np.abs(found["final.left_motor.power"][:2] - power[-1]).max() < 1e-9
    assert found["final.x"][2] > 0


@pytest.mark.slow
def test_noise_varies_by_its_seed(sensed):
    """Where a robot thinks it is hangs on its sensors' draws; so do gains of controllers and settings of estimators."""
    over = {
        "noise.seed": [3, 1],
        "controllers.where.gate": [4.0],
        "controllers.speed.proportional": [8.0, 10.0],
    }
    found = swept(sensed, over, measures=["mean(where.x)", "final.x"])
    for robot in (0, 3):
        own = found.robot(robot)
        seed = int(found["noise.seed"][robot])
        run = trundle.simulate(
            sensed, STEPS * DT, seed=seed, samples=STEPS + 1, parameters=own["parameters"]
        )  # fmt: skip
        assert run.final["x"] == pytest.approx(found["final.x"][robot], abs=1e-5)
        wanted = np.trapezoid(run["where.x"], run.time) / run.time[-1]
        assert found["mean(where.x)"][robot] == pytest.approx(wanted, abs=1e-5)
    assert len({*found["mean(where.x)"].tolist()}) == 4


@pytest.mark.slow
def test_trackers_follow_plans_over_terrain():
    track = {"type": "tracker", "period": "20 ms"}
    base = trundle.catalog.mecanum(contact="linear").with_controllers({"track": track})
    hills = {"surfaces": {"hills": {"type": "waves", "amplitude": 0.05, "length": 6}}}
    how = {"terrain": hills, "steps": 40, "dt": 0.02}
    found = swept(base, {"inputs.track": WAYS[:2]}, measures=["final.x", "max(track.lateral)"], **how)
    for robot in (0, 1):
        batch = trundle.rollout(base, inputs={"track": WAYS[robot]}, **how)
        assert found["final.x"][robot] == pytest.approx(batch.final("x")[0], abs=1e-11)
        wanted = batch.output("track.lateral").max()
        assert found["max(track.lateral)"][robot] == pytest.approx(wanted, abs=1e-11)


def test_files_of_plans_on_the_command_line(tracked, tmp_path, capsys):
    from trundle.cli.app import main

    files = []
    for number, way in enumerate(WAYS[:2]):
        files.append(tmp_path / f"way{number}.csv")
        rows = np.column_stack([way["time"], way["x"], way["y"]])
        np.savetxt(files[-1], rows, delimiter=",", header="time,x,y", comments="")
    robot = tmp_path / "robot.yaml"
    robot.write_text(trundle.documents.dump(tracked.robot))
    told = ",".join(str(file) for file in files)
    words = [
        "sweep",
        str(robot),
        "--vary",
        f"inputs.track={told}",
        "--measure",
        "final.x",
        "--duration",
        "0.3",
    ]
    assert main([*words, "--store", str(tmp_path / "out.zarr")]) == 0
    found = swept(tracked, {"inputs.track": WAYS[:2]}, measures=["final.x"])
    assert np.abs(Sweep.load(tmp_path / "out.zarr")["final.x"] - found["final.x"]).max() < 1e-6
    capsys.readouterr()
    assert main(["run", str(robot), "--like", f"{tmp_path / 'out.zarr'}:1"]) == 1
    assert "motions of their own for inputs.track" in capsys.readouterr().err
    text = found.animate(tmp_path / "sweep.html").read_text(encoding="utf-8")
    assert '"runs":[0,1]' in text


@pytest.mark.slow
def test_a_run_like_a_robot_has_its_noise(tmp_path, capsys):
    from trundle.cli.app import main

    file, place = "examples/feedback/sensed.yaml", tmp_path / "out.zarr"
    words = ["sweep", file, "--vary", "noise.seed=5:6:2", "--measure", "mean(where.x)", "--duration", "0.2"]
    assert main([*words, "--store", str(place)]) == 0
    one = [
        "run",
        file,
        "--like",
        f"{place}:1",
        "--no-figures",
        "--samples",
        "201",
        "--output",
        str(tmp_path / "run.nc"),
    ]
    assert main(one) == 0
    run = trundle.Run.load(tmp_path / "run.nc")
    capsys.readouterr()
    wanted = np.trapezoid(run["where.x"], run.time) / run.time[-1]
    assert Sweep.load(place)["mean(where.x)"][1] == pytest.approx(wanted, abs=1e-5)
    assert run.summary["seed"] == 6


@pytest.mark.parametrize(
    ("over", "words"),
    [
        ({"noise.seed": [1]}, "has no noise"),
        ({"noise.seed": "uniform(0, 9)"}, "seeds are whole numbers"),
        ({"inputs.track": WAYS[0]}, "expected motions"),
        ({"inputs.track": []}, "expected motions"),
        ({"inputs.left_motor.voltage": [np.zeros(7)]}, "nothing called 'inputs.left_motor.voltage'"),
    ],
)
def test_what_is_no_motion_is_said(tracked, over, words):
    with pytest.raises(InputError, match=words):
        swept(tracked, over, measures=["final.x"])


@pytest.mark.slow
@pytest.mark.parametrize("own", [False, True])
def test_estimators_assume_what_varies_unless_they_have_their_own(own):
    """A worse gyro turns the estimate either way; how sure that is changes where the estimator knows of it."""
    plain = yaml.safe_load(Path("examples/feedback/sensed.yaml").read_text(encoding="utf-8"))
    plain["robot"]["parameters"]["bad"] = 0.002
    plain["robot"]["sensors"]["gyro"]["noise"] = "bad"
    if own:
        plain["robot"]["controllers"]["where"]["gyro"] = 0.002
    model = trundle.derive(plain)
    over = {"bad": [0.002, 0.02], "noise.seed": [1]}
    measures = ["final.where.theta", "final.where.P33"]
    found = swept(model, over, measures=measures)
    assert abs(np.diff(found["final.where.theta"])[0]) > 1e-3
    good, bad = found["final.where.P33"]
    assert (abs(bad / good - 1) < 1e-3) if own else (bad > 1.1 * good)
    if own:
        found = swept(model, {"controllers.where.gyro": [0.002, 0.02], "noise.seed": [1]}, measures=measures)
        good, bad = found["final.where.P33"]
        assert bad > 1.1 * good


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "sensors.gyro.noise",
            "write `noise: NAME` for 'gyro', .* an estimator assumes the same noise, unless",
        ),
        ("sensors.fixes.heading", "write `heading: NAME` for 'fixes'"),
        ("sensors.fixes.latency", "the latency of 'fixes' shapes the programs"),
        ("sensors.gyro.noize", "did you mean 'sensors.gyro.noise'"),
        ("controllers.where.gyro", "'where' has no gyro of its own: write one"),
        ("controllers.speed.feedforward", "it follows from k, r: vary that"),
        ("controllers.where.gyros", "did you mean"),
        ("terrain.seed", "these robots have no terrain"),
        ("controllers.speed.period", "the period of 'speed' shapes the programs"),
        ("controllers.turn.derivative", "it is 0, which leaves it out of the programs"),
    ],
)
def test_noise_that_is_no_parameter_says_how_it_can_vary(sensed, name, words):
    with pytest.raises(InputError, match=words) as told:
        swept(sensed, {name: "uniform(0.001, 0.1)"}, measures=["final.x"])
    assert told.value.key == f"over.{name}"
