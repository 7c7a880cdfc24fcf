"""Estimates from logs: late fixes come out as fixes in order, and as the estimator told by hand; what is refused."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

import trundle
from trundle.errors import InputError
from trundle.simulation.draws import normals

SENSORS = {
    "encoders": {"type": "encoders", "noise": 0.02, "ticks": 1024},
    "gyro": {"type": "gyro", "noise": 0.002},
    "fixes": {
        "type": "pose",
        "position": "2 cm",
        "heading": "1 deg",
        "latency": [0, "300 ms"],
        "dropouts": 0.1,
        "period": 0.107,
    },
    "gnss": {"type": "position", "position": "30 cm", "period": 0.25, "latency": [0.1, 0.3]},
}
ROBOT = trundle.catalog.differential_drive().with_sensors(SENSORS)
RUN = trundle.roll(ROBOT, 6.0, {"v_x": 0.5, "omega": 0.3}, samples=1001)
LOG = trundle.measure(ROBOT, RUN, seed=1)
ENDS = (
    "x",
    "y",
    "theta",
    *(f"covariance.{pair}" for pair in ("x.x", "x.y", "x.theta", "y.y", "theta.theta")),
)


def with_columns(log, **changes):
    return replace(log, values={**log.values, **{name.replace("__", "."): v for name, v in changes.items()}})


def swerve():
    robot = trundle.catalog.swerve().with_sensors(SENSORS)
    times = np.linspace(0, 3, 301)
    twist = {"v_x": (times, 0.5 + 0.2 * np.sin(times)), "v_y": (times, 0.3 * np.cos(times)), "omega": 0.4}
    run = trundle.roll(robot, 3.0, twist, samples=601)
    return robot, trundle.measure(robot, run, seed=2)


@pytest.mark.parametrize("case", ["drive", pytest.param("swerve", marks=pytest.mark.slow)])
def test_fixes_that_come_late_and_shuffled_give_what_fixes_in_order_give(case):
    robot, log = (ROBOT, LOG) if case == "drive" else swerve()
    start = np.diag([0.1, 0.1, 0.05]) ** 2
    late = trundle.estimate(robot, log, covariance=start)
    ordered = trundle.estimate(robot, with_columns(log, arrival=np.array(log.time)), covariance=start)
    for name in ENDS:
        np.testing.assert_allclose(late[name][-1], ordered[name][-1], atol=1e-9, rtol=0)
    known = np.isfinite(late["fixes.nis"])
    np.testing.assert_allclose(late["fixes.nis"][known], ordered["fixes.nis"][known], rtol=1e-6)
    assert np.abs(late["x"] - ordered["x"]).max() > 1e-4  # on the way not all was known


def test_what_is_smoothed_is_the_same_in_any_order_and_nearer_to_the_truth():
    start = np.diag([0.1, 0.1, 0.05]) ** 2
    given = {"covariance": start, "pose": [0.1, -0.05, 0.03]}
    known, late = (trundle.estimate(ROBOT, LOG, smooth=smooth, **given) for smooth in (False, True))
    ordered = trundle.estimate(ROBOT, with_columns(LOG, arrival=np.array(LOG.time)), smooth=True, **given)
    for name in ENDS:
        np.testing.assert_allclose(late[name], ordered[name], atol=1e-9, rtol=0)
        np.testing.assert_allclose(late[name][-1], known[name][-1], atol=1e-12)
    assert (late["covariance.x.x"][:-1] < known["covariance.x.x"][:-1] + 1e-15).all()
    truth = np.interp(late.time, RUN.time, RUN["x"])
    assert np.square(late["x"] - truth).mean() < np.square(known["x"] - truth).mean() / 2
    assert late.summary["smoothed"]


def test_a_log_whose_times_count_from_1970_gives_the_same():
    began = 1.7e9
    later = with_columns(replace(LOG, time=LOG.time + began), arrival=LOG["arrival"] + began)
    found, expected = (trundle.estimate(ROBOT, log) for log in (later, LOG))
    for name in ENDS:
        # floats are 2e-7 s apart there
        np.testing.assert_allclose(found[name][-1], expected[name][-1], atol=1e-6)
    assert found.summary["fixes"]["fixes"]["used"] == expected.summary["fixes"]["fixes"]["used"]


def test_wheels_that_slip_are_looked_for_in_logs_too():
    steady, careful = (trundle.estimate(ROBOT, LOG, noise=noise) for noise in ({}, {"slip": 0.01}))
    assert (careful["covariance.x.x"][-1:] > steady["covariance.x.x"][-1:]).all()


def test_it_is_the_estimator_told_by_hand():
    sensors = {**SENSORS, "fixes": {**SENSORS["fixes"], "latency": 0, "dropouts": 0, "period": 0.1}}
    robot = ROBOT.with_sensors(sensors)
    robot = robot.model_copy(update={"sensors": {k: v for k, v in robot.sensors.items() if k != "gnss"}})
    log = trundle.measure(robot, RUN, seed=3)
    found = trundle.estimate(robot, log, noise={"gyro": 0.003}, pose=[0.1, 0, 0], gate={"fixes": 4})
    estimator = trundle.Estimator(robot, {"encoders": 0.02, "gyro": 0.003}, pose=[0.1, 0, 0])
    rows = [
        np.flatnonzero(np.isfinite(log[f"{name}"]))
        for name in ("encoders.left.angle", "gyro.rate", "fixes.x")
    ]
    counts, turns, fixes = rows
    angles = np.array([log[f"encoders.{name}"][counts] for name in estimator.increments])
    at = {round(log.time[row], 6): row for row in fixes}
    first = at[0.0]
    estimator.fix(
        [log[f"fixes.{name}"][first] for name in ("x", "y", "theta")], ["2 cm", "2 cm", "1 deg"], gate=4
    )
    for place, turn in enumerate(turns):
        estimator.predict(angles[:, place + 1] - angles[:, place], 0.01, log["gyro.rate"][turn])
        row = at.get(round(log.time[turn], 6))
        if row is not None:
            told = [log[f"fixes.{name}"][row] for name in ("x", "y", "theta")]
            estimator.fix(told, ["2 cm", "2 cm", "1 deg"], gate=4)
    np.testing.assert_allclose([found[name][-1] for name in ("x", "y", "theta")], estimator.pose, atol=1e-12)
    np.testing.assert_allclose(found["covariance.x.theta"][-1], estimator.covariance[0, 2], rtol=1e-9)


def test_files_give_what_the_log_gives(tmp_path):
    found = trundle.estimate(ROBOT, LOG)
    for ending in ("nc", "csv"):
        again = trundle.estimate(ROBOT, LOG.save(tmp_path / f"log.{ending}"))
        for name in ("time", *found.values):
            np.testing.assert_array_equal(again[name], found[name])
    back = trundle.Run.load(found.save(tmp_path / "found.nc"))
    assert back.summary["fixes"] == found.summary["fixes"]


def test_the_gyros_mean_nis_is_one_by_the_noise_that_made_it():
    """Within four deviations √(2/n) of squares; a gyro that is three times as noisy shows."""
    exact = trundle.catalog.differential_drive().with_sensors({**SENSORS, "encoders": {"noise": 0.02}})
    log = trundle.measure(exact, RUN, seed=1)
    found = trundle.estimate(exact, log)
    nis = found["gyro.nis"][found["gyro.nis"] > 0]
    assert found.summary["gyro"]["gyro"]["mean_nis"] == pytest.approx(nis.mean())
    assert abs(nis.mean() - 1) < 4 * np.sqrt(2 / nis.size)
    worse = trundle.catalog.differential_drive().with_sensors(
        {**SENSORS, "encoders": {"noise": 0.02}, "gyro": {"type": "gyro", "noise": 0.006}}
    )
    told = trundle.estimate(worse, log).summary["gyro"]["gyro"]["mean_nis"]
    assert told < 1 - 4 * np.sqrt(2 / nis.size)


def test_what_is_never_looked_at_is_said():
    wild = with_columns(LOG, fixes__x=np.where(np.arange(len(LOG)) % 7, LOG["fixes.x"], LOG["fixes.x"] + 1))
    found = trundle.estimate(ROBOT, wild, gate=4)
    told = np.isfinite(wild["fixes.x"]).sum()
    about = found.summary["fixes"]["fixes"]
    assert about["used"] + about["gated"] == told
    assert (
        about["gated"]
        == (found["fixes.used"] == 0).sum()
        == (np.flatnonzero(np.isfinite(LOG["fixes.x"])) % 7 == 0).sum()
    )
    slow = with_columns(
        LOG, arrival=np.where(np.isfinite(LOG["gnss.x"]) & (LOG.time < 4), LOG.time + 2, LOG["arrival"])
    )
    missed = trundle.estimate(ROBOT, slow).summary["missed"]
    assert missed == {"gnss, over 1.5 s late": 16}


def test_a_gyro_that_skips_and_keeps_another_time_is_taken_where_it_tells():
    """Exact encoders and an exact gyro agree, however their times lie."""
    sensors = {"encoders": {"noise": 1e-9}, "gyro": {"type": "gyro", "period": 0.007, "dropouts": 0.3}}
    robot = trundle.catalog.differential_drive().with_sensors(sensors)
    log = trundle.measure(robot, RUN, seed=4)
    found = trundle.estimate(robot, log, noise={"encoders": 0.1, "gyro": 0.001})
    for name in ("x", "y", "theta"):
        np.testing.assert_allclose(found[name], np.interp(found.time, RUN.time, RUN[name]), atol=1e-5)
    assert np.nanmax(found["gyro.nis"]) < 1e-6


@pytest.mark.slow
def test_a_bias_is_learnt_where_the_gyro_has_one():
    sensors = {"encoders": {"noise": 0.005}, "gyro": {"type": "gyro", "noise": 0.001, "bias": "2 deg/s"}}
    sensors["fixes"] = {"type": "pose", "position": "1 cm", "heading": "0.2 deg"}
    robot = trundle.catalog.differential_drive().with_sensors(sensors)
    off = []
    for seed in range(10):
        log = trundle.measure(robot, RUN, seed=seed)
        found = trundle.estimate(robot, log)
        truly = np.radians(2) * normals(seed, "gyro.rate.bias", 1)[0]
        spread = np.sqrt(found["covariance.gyro.bias"])
        assert spread[0] == pytest.approx(np.radians(2))
        off.append((found["gyro.bias"][-1] - truly) / spread[-1])
    low, high = chi2.ppf([5e-5, 1 - 5e-5], len(off))
    assert low < np.sum(np.square(off)) < high


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"arrival": LOG.time - 0.1}, "row 1 of the log is of the future"),
        ({"arrival": np.full(len(LOG), np.nan)}, "row 1 of the log is of the future"),
        ({"fixes__y": np.full(len(LOG), np.nan)}, "a reading of 'fixes' without its 'y'"),
        ({"lidar__x": np.array(LOG.time)}, "a column 'lidar.x', which no sensor of the robot tells"),
        (
            {"encoders__left__angle": np.full(len(LOG), np.nan)},
            "a reading of 'encoders' without its 'left.angle'",
        ),
    ],
)
def test_columns_that_are_wrong(changed, message):
    with pytest.raises(InputError, match=message):
        trundle.estimate(ROBOT, with_columns(LOG, **changed))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"sensors": {"lidar": {"type": "position", "position": 1}}},
            "the log lacks 'lidar.x', which the sensor 'lidar'",
        ),
        ({"sensors": {"gyro": {"type": "gyro"}}}, "the sensor 'gyro' has no noise"),
        (
            {"sensors": {"more": {"type": "encoders"}}},
            "takes one sensor of type encoders, and",
        ),
        ({"noise": {"camera": 1}}, "'camera'"),
        ({"noise": {"encoders": -1}}, "noise.encoders"),
        ({"gate": {"lidar": 3}}, "'lidar' is not a sensor that fixes the pose"),
        ({"gate": 0}, "gate"),
        ({"log": 3}, "estimate takes a log"),
        ({"model": trundle.catalog.differential_drive()}, "needs a sensor of type encoders"),
    ],
)
def test_what_is_refused(change, message):
    with pytest.raises(InputError, match=message):
        trundle.estimate(**{"model": ROBOT, "log": LOG, **change})


MARKS = {
    "type": "marks",
    "marks": {"door": [2, 1], "desk": [-1, 3], "lamp": [4, -2]},
    "range": "5 cm",
    "bearing": "1 deg",
}


@pytest.mark.campaign
def test_marks_lead_to_the_pose_as_sure_as_it_says(campaign):
    """NEES of the last pose and NIS of marks within 99.99 % bounds of their laws, starts drawn of the covariance."""
    sensors = {"encoders": {"noise": 0.02}, "marks": {**MARKS, "latency": [0, 0.2]}}
    robot, start = trundle.catalog.differential_drive().with_sensors(sensors), np.array([0.1, 0.1, 0.05])
    run = trundle.roll(robot, 2.0, {"v_x": 0.5, "omega": 0.3}, samples=201)
    nees, nis = [], []
    for rng in campaign(60, least=8):
        log = trundle.measure(robot, run, seed=int(rng.integers(1e9)))
        found = trundle.estimate(robot, log, pose=start * rng.normal(size=3), covariance=np.diag(start**2))
        spread = np.zeros((3, 3))
        for i, one in enumerate(("x", "y", "theta")):
            for j, other in enumerate(("x", "y", "theta")[i:], i):
                spread[i, j] = spread[j, i] = found[f"covariance.{one}.{other}"][-1]
        off = np.array([found[name][-1] - run[name][-1] for name in ("x", "y", "theta")])
        nees.append(off @ np.linalg.solve(spread, off))
        nis += found["marks.nis"][np.isfinite(found["marks.nis"])].tolist()
    for drawn, freedom in ((nees, 3), (nis, 6)):
        low, high = chi2.ppf([5e-5, 1 - 5e-5], freedom * len(drawn))
        assert low < np.sum(drawn) < high


def test_marks_that_are_not_in_sight_are_left_out():
    estimator = trundle.Estimator(ROBOT, {"encoders": 0.02}, covariance=np.diag([0.01, 0.01, 0.001]))
    marks = trundle.sensors.MarkFix(**{key: value for key, value in MARKS.items() if key != "type"})
    partly = estimator.see(marks, {"door.range": 2.2, "door.bearing": np.nan})
    assert partly.used
    assert np.isfinite(partly.measured).sum() == 1
    # one row by hand: the range of a mark in the direction (2, 1)
    row = -np.array([2, 1, 0]) / np.sqrt(5)
    before = np.diag([0.01, 0.01, 0.001])
    gain = before @ row / (row @ before @ row + 0.05**2)
    np.testing.assert_allclose(estimator.pose[:2], gain[:2] * (2.2 - np.sqrt(5)), atol=1e-12)
    np.testing.assert_allclose(partly.nis, (2.2 - np.sqrt(5)) ** 2 / (row @ before @ row + 0.05**2))
    for wrong, message in (({"gate.range": 1}, "tells no 'gate.range'"), ({}, "nothing was seen")):
        with pytest.raises(InputError, match=message):
            estimator.see(marks, wrong)
