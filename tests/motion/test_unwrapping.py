"""Encoders that begin anew: steps nearest to their forecasts, what is doubtful, and odometry of such readings."""

import numpy as np
import pytest

import trundle
from derived import derived
from trundle.errors import InputError
from trundle.motion.odometry.unwrapping import TURN, Wraps, unwrap
from trundle.scalars import wrap

DECLARED = Wraps((TURN,), declared=True)


def unwrapped(times, angles, wraps, rate=None):
    rates = {} if rate is None else {"wheel": rate}
    return unwrap({"wheel": angles}, times, wraps, (), rates)["wheel"]


@pytest.mark.parametrize("turn", [TURN, 402.1, 1.0])
def test_steps_that_change_by_less_than_half_a_turn_are_found_also_above_half_a_turn(turn, rng):
    """At uneven times, from rest to two turns a step: below 0.45 of a turn from what it turned in as long before."""
    for _ in range(10):
        times = np.cumsum(rng.uniform(0.01, 0.03, 400))
        fastest = rng.uniform(0.5, 2.0) * turn / 0.02
        true = rng.uniform(-3, 3) + fastest * 2 * (1 - np.cos((times - times[0]) / 2))
        for offset in (0.0, turn / 2):
            told = np.mod(true + offset, turn) - offset
            np.testing.assert_allclose(
                unwrapped(times, told, Wraps((turn,), declared=True)) - told[0], true - true[0], atol=1e-9
            )
    steps = np.abs(np.diff(true))
    assert steps.max() > turn / 2


def test_true_steps_of_random_changes_are_equal_or_refused(rng):
    """Steps under half a turn whose changes reach 0.55 turns: refused from 0.45 on, else equal."""
    refused = 0
    for _ in range(300):
        steps = [0.0]
        for _ in range(5):
            steps.append(np.clip(steps[-1] + rng.uniform(-0.55, 0.55) * TURN, -0.49 * TURN, 0.49 * TURN))
        true, near = np.cumsum(steps), np.abs(np.diff(steps)).max() < 0.45 * TURN
        times = np.arange(6.0)
        if near:
            np.testing.assert_allclose(unwrapped(times, wrap(true, TURN), DECLARED), true, atol=1e-9)
        else:
            with pytest.raises(InputError, match=r"'wheel' turned by .* up to \d s"):
                unwrapped(times, wrap(true, TURN), DECLARED)
            refused += 1
    assert 0 < refused < 300


def test_a_rate_says_how_many_turns():
    """A reversal in one sample, and a wheel that is at full speed at once: only their rates tell."""
    times = np.arange(0, 1, 0.05)
    rate = np.where(times < 0.5, 180.0, -150.0)
    true = np.concatenate([[0.0], np.cumsum((rate[1:] + rate[:-1]) / 2 * 0.05)])
    told = wrap(true, TURN)
    np.testing.assert_allclose(unwrapped(times, told, DECLARED, rate), true, atol=1e-9)
    np.testing.assert_allclose(unwrapped(times, told, Wraps(), rate), true, atol=1e-9)
    assert np.abs(unwrapped(times, told, DECLARED) - true).max() > 1
    # without a rate in some rows those before tell
    rate[3:8] = np.nan
    np.testing.assert_allclose(unwrapped(times, told, DECLARED, rate), true, atol=1e-9)


TIMES = np.arange(0, 2, 0.05)
FAST, SLOW, SWINGS = 100 * TIMES, 12 * TIMES, 2 * np.sin(10 * TIMES)


@pytest.mark.parametrize(
    ("told", "true"),
    [
        (np.mod(SLOW, TURN), SLOW),
        (wrap(SLOW, TURN), SLOW),
        (wrap(-SLOW + 3, TURN), -SLOW + 3),
        (np.mod(SLOW, TURN).round(3), SLOW),
        (FAST, FAST),  # steps of 5 rad: nothing begins anew
        (SWINGS, SWINGS),
        (np.zeros(40), np.zeros(40)),
    ],
)
def test_where_nobody_says_it_readings_show_it(told, true):
    np.testing.assert_allclose(unwrapped(TIMES, told, Wraps()) - told[0], true - true[0], atol=1e-3)
    assert np.array_equal(unwrapped(TIMES, FAST, Wraps((), declared=True)), FAST)


@pytest.mark.parametrize(
    "told",
    [
        wrap(40 * TIMES, TURN),  # steps of 2 rad, above a quarter
        np.array([0.0, 5.0]),  # one step, which nothing beside it explains
        np.array([0.0, 0.0, 4.0, 4.0, 4.0]),  # at rest but for one step: 4 rad, or -2.3
    ],
)
def test_what_is_doubtful_is_refused_and_said_by_wraps(told):
    times = np.arange(float(told.size))
    with pytest.raises(InputError, match="'wheel' steps by up to .* may begin anew .*\n.*wraps: no"):
        unwrapped(times, told, Wraps())
    assert np.array_equal(unwrapped(times, told, Wraps.of("no")), told)
    unwrapped(times[:2], told[:2], Wraps.of("360 deg"))


def test_readings_that_do_not_fit_are_named():
    with pytest.raises(InputError, match=r"'wheel' reads from 0 to 23\.4 rad, and .* after 6\.28319 rad"):
        unwrapped(TIMES, SLOW, DECLARED)
    for wrong, message in (("much", "wraps"), (-1.0, "above 0"), ("1 m", "wraps: expected an angle")):
        with pytest.raises(InputError, match=message):
            Wraps.of(wrong)


# --- odometry --------------------------------------------------------------------------------------------------------


def test_wheels_by_differences_of_readings_that_begin_anew(rng):
    drive = derived("differential_drive").odometry()
    true = rng.uniform(-0.44, 0.44, (2, 50)) * TURN
    told = true + TURN * rng.choice([-1, 0, 1], true.shape)
    told = np.where(np.abs(told) > TURN, true, told)
    pose = rng.normal(size=3)
    expected = drive.update(pose, true)
    np.testing.assert_allclose(drive.update(pose, told, wraps="360 deg"), expected, atol=1e-12)
    moved, _ = drive.propagate(pose, np.zeros((3, 3)), told, np.eye(2), wraps=TURN)
    np.testing.assert_allclose(moved, expected, atol=1e-12)
    for steps, message in (
        ([0.0, 7.0], r"'left\.angle' reads from 0 to 7 rad, and is to begin anew after 6\.28319 rad"),
        ([0.0, 3.1], r"'left\.angle' turned by 3\.1 or by -3\.183 rad, and"),
    ):
        with pytest.raises(InputError, match=message):
            drive.update(pose, steps, wraps="360 deg")
    np.testing.assert_array_equal(drive.update(pose, [0.0, 7.0], wraps="no"), drive.update(pose, [0.0, 7.0]))


def test_along_readings_that_begin_anew_is_along_the_run():
    """Of wheels by what they show, of steering always; by rates, times and `wraps` where there are some."""
    robot = trundle.catalog.tricycle()
    rates = {"front.rate": (TIMES, 30 * np.sin(TIMES)), "front.steering_rate": 3.5}
    run = trundle.roll(robot, float(TIMES[-1]), rates, samples=151)
    counted = trundle.odometry(robot)
    expected, _ = counted.along(run)
    names = (*counted.increments, *counted.angles)
    for offset in (0.0, np.pi):
        told = {name: np.mod(run[name] + offset, TURN) - offset for name in names}
        assert np.abs(told["front.steering"] - run["front.steering"]).max() > 6
        for extra in ({}, {"time": run.time}, {"time": run.time, "front.rate": run["front.rate"]}):
            found, _ = counted.along({**told, **extra})
            np.testing.assert_allclose(found, expected, atol=1e-9)
        np.testing.assert_allclose(counted.along(told, wraps="360 deg")[0], expected, atol=1e-9)
