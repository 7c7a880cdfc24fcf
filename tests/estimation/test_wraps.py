"""Logs of encoders that begin anew: what they say is what a plain log says, or they are refused."""

from dataclasses import replace

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from trundle import catalog
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
