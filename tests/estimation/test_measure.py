"""Logs of sensors: their noise is as large as described, by a seed; what they tell without noise; what is refused."""

import numpy as np
import pytest
from scipy.stats import binom, chi2

import trundle
from robot.same import same_mechanics
from trundle.documents import dump, parse
from trundle.errors import InputError

ROBOT = trundle.catalog.differential_drive()
RUN = trundle.roll(ROBOT, 10.0, {"v_x": 0.5, "omega": 0.2}, samples=1001)
EXACT = {
    "encoders": {"type": "encoders"},
    "gyro": {"type": "gyro"},
    "felt": {"type": "accelerometer"},
    "marks": {"type": "marks", "marks": {"door": [2, 1]}, "range": "1e-12 m", "bearing": "1e-12 rad"},
}


def told(log, name):
    """The readings of a channel, and the rows they stand in."""
    rows = np.isfinite(log[name])
    return log[name][rows], rows


def test_without_noise_sensors_tell_the_truth():
    log = trundle.measure(ROBOT, RUN, EXACT)
    for angle in ("left.angle", "right.angle"):
        counts, rows = told(log, f"encoders.{angle}")
        np.testing.assert_allclose(counts, np.interp(log.time[rows], RUN.time, RUN[angle]), atol=1e-9)
    rates, _ = told(log, "gyro.rate")
    np.testing.assert_allclose(np.cumsum(rates) * 0.01, RUN["theta"][1:] - RUN["theta"][0], atol=1e-12)
    # on a circle the acceleration is v ω to its centre
    np.testing.assert_allclose(told(log, "felt.a_x")[0], 0, atol=1e-9)
    np.testing.assert_allclose(told(log, "felt.a_y")[0], 0.5 * 0.2, atol=1e-9)
    ranges, rows = told(log, "marks.door.range")
    bearings, _ = told(log, "marks.door.bearing")
    x, y, theta = (np.interp(log.time[rows], RUN.time, RUN[name]) for name in ("x", "y", "theta"))
    np.testing.assert_allclose(x + ranges * np.cos(theta + bearings), 2, atol=1e-9)
    np.testing.assert_allclose(y + ranges * np.sin(theta + bearings), 1, atol=1e-9)


@pytest.mark.campaign
def test_noise_is_as_large_as_described(campaign):
    """Sums of squares of what a log is off by, in 99.99 % bounds of their laws."""
    noisy = {
        "encoders": {"type": "encoders", "noise": 0.02},
        "gyro": {"type": "gyro", "noise": 0.002},
        "fixes": {"type": "pose", "position": "2 cm", "heading": "1 deg"},
    }
    logs = [trundle.measure(ROBOT, RUN, noisy, seed=int(rng.integers(1e9))) for rng in campaign(40, least=4)]
    truly = trundle.measure(ROBOT, RUN, EXACT)
    turn = np.mean([np.abs(np.diff(RUN[name])) for name in ("left.angle", "right.angle")], axis=0)
    off = [
        np.diff(told(log, f"encoders.{name}")[0]) - np.diff(told(truly, f"encoders.{name}")[0])
        for log in logs
        for name in ("left.angle", "right.angle")
    ]
    scaled = {"encoders": np.array(off) / (0.02 * np.sqrt(turn))}
    scaled["gyro"] = np.array([told(log, "gyro.rate")[0] - 0.2 for log in logs]) / (0.002 / np.sqrt(0.01))
    for name, spread in (("x", 0.02), ("theta", np.radians(1))):
        rows = [told(log, f"fixes.{name}") for log in logs]
        scaled[name] = (
            np.array([v - np.interp(logs[0].time[r], RUN.time, RUN[name]) for v, r in rows]) / spread
        )
    for name, drawn in scaled.items():
        low, high = chi2.ppf([5e-5, 1 - 5e-5], drawn.size)
        assert low < (drawn**2).sum() < high, name


def test_a_bias_wanders_as_described():
    gyros = {f"g{k}": {"type": "gyro", "bias": "1 deg/s", "wander": 0.01, "period": 0.1} for k in range(200)}
    log = trundle.measure(ROBOT, RUN, gyros, seed=3)
    off = np.array([told(log, f"{name}.rate")[0] - 0.2 for name in gyros])
    walked = np.diff(off) / (0.01 * np.sqrt(0.1))
    for drawn in (off[:, 0] / np.hypot(np.radians(1), 0.01 * np.sqrt(0.1)), walked.ravel()):
        low, high = chi2.ppf([5e-5, 1 - 5e-5], drawn.size)
        assert low < (drawn**2).sum() < high


def test_ticks_latency_and_dropouts():
    sensors = {
        "encoders": {"type": "encoders", "ticks": 64},
        "fixes": {
            "type": "position",
            "position": 0.1,
            "period": 0.01,
            "latency": [0.02, "300 ms"],
            "dropouts": 0.2,
        },
    }
    log = trundle.measure(ROBOT, RUN, sensors, seed=5)
    counts, rows = told(log, "encoders.left.angle")
    tick = 2 * np.pi / 64
    off = counts - np.interp(log.time[rows], RUN.time, RUN["left.angle"])
    assert np.abs(off).max() <= tick / 2 + 1e-9
    assert np.abs(off).max() > 0.4 * tick
    np.testing.assert_allclose(counts / tick, np.round(counts / tick), atol=1e-9)
    fixes, rows = told(log, "fixes.x")
    late = log["arrival"][rows] - log.time[rows]
    assert 0.02 <= late.min() < 0.03 < 0.29 < late.max() <= 0.3
    low, high = binom.ppf([5e-5, 1 - 5e-5], 1001, 0.8)
    assert low <= len(fixes) <= high


def test_a_seed_gives_the_same_log_whatever_else_is_measured(tmp_path):
    fixes = {
        "fixes": trundle.sensors.PoseFix(position="1 cm", heading="1 deg", latency=[0, 0.1], dropouts=0.1)
    }
    alone = trundle.measure(ROBOT, RUN, fixes, seed=4)
    beside = trundle.measure(ROBOT, RUN, EXACT | fixes, seed=4)
    for name in ("fixes.x", "fixes.y", "fixes.theta"):
        np.testing.assert_array_equal(told(alone, name)[0], told(beside, name)[0])
    other = trundle.measure(ROBOT, RUN, fixes, seed=5)
    assert len(other) != len(alone) or (other["fixes.x"] != alone["fixes.x"]).all()
    for ending in ("nc", "csv"):
        back = trundle.Run.load(beside.save(tmp_path / f"log.{ending}"))
        for name in ("time", *beside.values):
            np.testing.assert_array_equal(back[name], beside[name])


def test_sensors_stand_in_files_and_change_no_program():
    robot = ROBOT.with_sensors(EXACT)
    assert parse(dump(robot)).robot == robot
    assert robot.parameter_values() == ROBOT.parameter_values()
    assert trundle.derive(robot).dynamics == trundle.derive(ROBOT).dynamics
    assert same_mechanics(robot, ROBOT)


@pytest.mark.parametrize(
    ("sensors", "message"),
    [
        (
            {"fixes": {"type": "pose", "position": "-1 cm", "heading": 1}},
            "position must be greater than zero",
        ),
        ({"gyro": {"type": "gyro", "noise": -0.1}}, "noise must not be negative"),
        ({"gyro": {"type": "gyroscope"}}, "unknown type 'gyroscope'"),
        ({"encoders": {"latency": [0.3, 0.1]}}, "the least latency"),
        ({"encoders": {"latency": [-0.1, 0.1]}}, "must not be negative"),
        ({"encoders": {"latency": [0.1]}}, "the least and the greatest"),
        ({"encoders": {"dropouts": 1}}, "must be at least 0 and below 1"),
        ({"marks": {"type": "marks", "marks": {}, "range": 1}}, "no marks"),
        ({"marks": {"type": "marks", "marks": {"a": [1, 2]}}}, "range, bearing or both"),
        ({"encoders": {"period": "20 s"}}, "measures every 20 s, and the run takes 10 s"),
        ({}, "has no sensors"),
    ],
)
def test_what_is_refused(sensors, message):
    with pytest.raises(InputError, match=message):
        trundle.measure(ROBOT, RUN, sensors)


def test_a_run_that_lacks_what_is_measured_is_refused():
    short = trundle.Run("cart", [0.0, 1.0], {"x": [0.0, 1.0]})
    with pytest.raises(InputError, match="the sensor 'gyro' measures 'theta', which the run lacks"):
        trundle.measure(ROBOT, short, {"gyro": {"type": "gyro"}})
