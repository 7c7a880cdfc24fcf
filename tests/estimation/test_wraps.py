"""Logs of encoders that begin anew, in other units, or reversed: what they say is what a plain log says, or is said."""

from dataclasses import replace

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle import catalog
from trundle.cli.app import main
from trundle.documents import dump
from trundle.errors import InputError
from trundle.motion.odometry.counts import TURN, derive_counts

BASES = [
    name for name in catalog.names() if catalog.robot(name).wheels and catalog.robot(name).base == "planar"
]
BITS = 2**16 * TURN / 1000  # of a counter of 1,000 ticks a turn, no whole number of turns
POSE = ("x", "y", "theta")


def with_encoders(robot, **settings):
    return robot.with_sensors({"encoders": {"noise": 0.02, **settings}})


def plain_log(robot, rng, most, count=300, period=0.02):
    """Any smooth turns: of wheels up to `most` rad a step, of steering round and round."""
    counts, times = derive_counts(robot), period * np.arange(count)
    values = {}
    for name in dict.fromkeys((*counts.increments, *counts.angles)):
        fastest = 1.5 if name in counts.angles else most / period
        pace, start = rng.uniform(0.5, 2), rng.uniform(-3, 3)
        sign = rng.choice([-1, 1])
        values[f"encoders.{name}"] = start + sign * fastest * (times - np.sin(pace * times) / pace) / 2
    return trundle.Run(robot.name, times, {"arrival": times, **values})


def changed(log, **columns):
    return replace(log, values={**log.values, **columns})


def wrapped(log, turn, offset=0.0):
    told = {n: np.mod(v + offset, turn) - offset for n, v in log.values.items() if n.startswith("encoders.")}
    return changed(log, **told)


@pytest.mark.parametrize("name", mostly_slow(BASES, ["differential_drive", "tricycle", "mecanum"]))
def test_logs_that_begin_anew_say_what_plain_ones_say(name, rng):
    robot = catalog.robot(name)
    for most in (1.4, 2.9):
        log = plain_log(robot, rng, most)
        expected = trundle.estimate(with_encoders(robot, wraps="no"), log)
        cases = [(TURN, {"wraps": "360 deg"}), (64 * TURN, {"wraps": 2**16, "ticks": 1024})]
        # a quarter of a turn is 1.57 rad: below, nobody has to say it
        cases += (
            [(TURN, {}), (64 * TURN, {"ticks": 1024})]
            if most < TURN / 4
            else [(BITS, {"wraps": 2**16, "ticks": 1000})]
        )
        for turn, settings in cases:
            for offset in (0.0, turn / 2):
                found = trundle.estimate(with_encoders(robot, **settings), wrapped(log, turn, offset))
                for column in POSE:
                    np.testing.assert_allclose(found[column], expected[column], atol=1e-9, rtol=0)


def test_what_is_doubtful_or_does_not_fit_is_refused_by_column_and_time():
    robot = with_encoders(trundle.catalog.differential_drive())
    times = np.arange(0, 1, 0.02)
    values = {f"encoders.{side}.angle": 20 * times for side in ("left", "right")}
    log = trundle.Run("log", times, {"arrival": times, **values})
    jump = np.where(times < 0.49, 0, 3.1)
    for given, told, message in (
        ({}, wrapped(changed(log, **{"encoders.left.angle": 100 * times}), TURN),
         "'encoders.left.angle' steps by up to 4"),
        ({"wraps": "360 deg"}, log, "'encoders.(left|right).angle' reads from 0 to 19.6 rad"),
        ({"wraps": "360 deg"}, changed(wrapped(log, TURN), **{"encoders.left.angle": jump}),
         "'encoders.left.angle' turned by 3.1 or by -3.183 rad up to 0.5 s"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=message) as caught:
            trundle.estimate(with_encoders(robot, **given), told)
        assert caught.value.key == "log"
    for wrong, message in (
        (65536, "65536 are ticks, and nothing says how many"),
        ("yes", "the parameter 'yes'"),
        (-1.5, "greater than zero"),
    ):
        with pytest.raises(InputError, match=message):
            with_encoders(robot, wraps=wrong)


def test_a_rate_in_the_log_says_how_many_turns():
    robot = with_encoders(trundle.catalog.differential_drive(), wraps="360 deg")
    times = np.arange(0, 2, 0.05)
    true = {"encoders.left.angle": 150 * times, "encoders.right.angle": 140 * times}
    rates = {"encoders.left.rate": np.full(40, 150.0), "encoders.right.rate": np.full(40, 140.0)}
    log = trundle.Run("log", times, {"arrival": times, **true})
    expected = trundle.estimate(with_encoders(robot, wraps="no"), log)
    found = trundle.estimate(robot, changed(wrapped(log, TURN), **rates))
    np.testing.assert_allclose([found[name] for name in POSE], [expected[name] for name in POSE], atol=1e-9)


def test_what_measure_tells_begins_anew_as_described():
    robot = trundle.catalog.differential_drive()
    run = trundle.roll(robot, 5.0, {"v_x": 0.5, "omega": 0.2}, samples=501)
    for settings, turn in (({"wraps": "360 deg"}, TURN), ({"wraps": 128, "ticks": 100}, 1.28 * TURN)):
        plain, told = (
            trundle.measure(with_encoders(robot, **given), run, seed=3)
            for given in (settings, {**settings, "wraps": "no"})
        )
        column = "encoders.left.angle"
        assert np.ptp(plain[column]) <= turn < np.ptp(told[column])
        np.testing.assert_allclose(np.unwrap(plain[column], period=turn), told[column], atol=1e-9)
        found, expected = (
            trundle.estimate(with_encoders(robot, **given), log)
            for given, log in ((settings, plain), ({**settings, "wraps": "no"}, told))
        )
        np.testing.assert_allclose(found["x"], expected["x"], atol=1e-9)


# --- what is said ----------------------------------------------------------------------------------------------------

SENSORS = {
    "encoders": {"noise": 0.02},
    "gyro": {"type": "gyro", "noise": 0.002},
    "fixes": {"type": "pose", "position": "2 cm", "heading": "1 deg", "period": "200 ms"},
}
ROBOT = trundle.catalog.differential_drive().with_sensors(SENSORS)
LOG = trundle.measure(ROBOT, trundle.roll(ROBOT, 4.0, {"v_x": 0.5, "omega": 0.2}, samples=401), seed=1)


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("gate", [None, 4])
def test_a_reversed_encoder_is_named_also_where_the_gate_leaves_most_fixes_out(side, gate):
    robot = trundle.catalog.differential_drive().with_sensors({n: SENSORS[n] for n in ("encoders", "fixes")})
    column = f"encoders.{side}.angle"
    told = {name: values for name, values in LOG.values.items() if name != "gyro.rate"}
    log = trundle.Run("log", LOG.time, {**told, column: -LOG[column]})
    with pytest.warns(UserWarning, match=f"mean NIS is .* With the sign of '{column}' turned all sensors"):
        found = trundle.estimate(robot, log, gate=gate)
    assert column in found.summary["notes"][0]
    assert found.summary["fixes"]["fixes"]["gated"] > 10 or gate is None


@pytest.mark.filterwarnings("error")
def test_a_good_log_and_fixes_that_the_gate_leaves_out_are_not_surprising():
    assert "notes" not in trundle.estimate(ROBOT, LOG).summary
    wild = np.where(np.arange(len(LOG)) % 3, LOG["fixes.x"], LOG["fixes.x"] + 1)
    assert "notes" not in trundle.estimate(ROBOT, changed(LOG, **{"fixes.x": wild}), gate=4).summary


def test_where_no_sign_helps_nobody_is_accused():
    with pytest.warns(UserWarning, match="fixes: the mean NIS is .*the start is off"):
        trundle.estimate(ROBOT, LOG, pose=[1.0, 0.0, 0.0])


# --- units -----------------------------------------------------------------------------------------------------------


def in_units(path, units):
    """The log as a file whose header names other units."""
    factors = {"deg": np.pi / 180, "mm": 1e-3, "ms": 1e-3, "rpm": TURN / 60}
    names, columns = ["time", *LOG.values], [LOG.time, *LOG.values.values()]
    header = [f"{name} [{units[name]}]" if name in units else name for name in names]
    rows = np.array([c / factors[units[n]] if n in units else c for n, c in zip(names, columns, strict=True)])
    np.savetxt(path, rows.T, delimiter=",", header=",".join(header), comments="", fmt="%.17g")
    return path


def test_a_header_may_name_units(tmp_path, capsys):
    units = {
        "time": "ms", "arrival": "ms", "encoders.left.angle": "deg", "encoders.right.angle": "deg",
        "gyro.rate": "rpm", "fixes.x": "mm", "fixes.theta": "deg",
    }  # fmt: skip
    path = in_units(tmp_path / "log.csv", units)
    expected, found = trundle.estimate(ROBOT, LOG), trundle.estimate(ROBOT, path)
    for name in POSE:
        np.testing.assert_allclose(found[name], expected[name], atol=1e-9)
    (tmp_path / "robot.yaml").write_text(dump(ROBOT))
    assert main(["estimate", str(tmp_path / "robot.yaml"), str(path)]) == 0
    for column, unit, message in (
        ("encoders.left.angle", "mm", "'encoders.left.angle' is in mm, and in rad it was expected"),
        ("time", "deg", "'time' is in deg, and in s it was expected"),
    ):
        wrong = in_units(tmp_path / "wrong.csv", {**units, column: unit})
        assert main(["estimate", str(tmp_path / "robot.yaml"), str(wrong)]) == 1
        said = capsys.readouterr().err
        assert f"wrong.csv: {message}" in said
    path.write_text(path.read_text().replace("[rpm]", "[rounds]"))
    with pytest.raises(InputError, match="'gyro.rate': 'rounds' is not a unit"):
        trundle.estimate(ROBOT, path)
