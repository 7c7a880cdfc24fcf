"""A gyro's bias, many robots at once, and beginning anew."""

import numpy as np
import pytest
from scipy.linalg import expm, logm

import trundle
from trundle.errors import InputError

ROBOT = trundle.catalog.differential_drive()
NOISE = {"encoders": 0.02, "gyro": 0.002, "wander": 1e-3}
START = np.diag([0.1, 0.1, 0.05, 0.02]) ** 2


def matrix(pose):
    x, y, heading = pose
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, x], [s, c, y], [0, 0, 1]])


def twist(motion):
    xi = logm(motion).real
    return np.array([xi[0, 2], xi[1, 2], xi[1, 0]])


def motion(xi):
    return expm(np.array([[0, -xi[2], xi[0]], [xi[2], 0, xi[1]], [0, 0, 0]]))


def turn_of(estimator):
    turn = np.eye(4)
    turn[:2, :2] = matrix(estimator.pose)[:2, :2]
    return turn


def test_a_biased_gyro_is_taken_in_as_a_joint_gaussian_is(rng):
    """The error before, of the bias and of the displacement: conditioned on the gyro at once, then moved by slopes from
    differences through SciPy's exponential.
    """
    root, turns, dt, rate = rng.normal(size=(4, 4)) * 0.1, np.array([1.5, 1.1]), 0.2, 1.3
    given = {"pose": (1, 2, 0.7), "covariance": root @ root.T, "bias": 0.1}
    estimator = trundle.Estimator(ROBOT, NOISE, **given)
    turn = turn_of(estimator)
    odometry = trundle.odometry(ROBOT)

    def moved(more):
        return twist(matrix(odometry.update([0, 0, 0], turns + more)))

    by_count = np.column_stack([(moved(h) - moved(-h)) / 2e-5 for h in 1e-5 * np.eye(2)])
    spread = np.zeros((7, 7))
    spread[:4, :4] = turn.T @ (root @ root.T) @ turn
    spread[4:, 4:] = by_count @ by_count.T * NOISE["encoders"] ** 2 * turns.mean()
    row = np.array([0, 0, 0, dt, 0, 0, 1])
    total = row @ spread @ row + NOISE["gyro"] ** 2 * dt
    missed = (rate - 0.1) * dt - moved(0)[2]
    shift, spread = spread @ row / total * missed, spread - np.outer(spread @ row, spread @ row) / total
    pose, d = matrix((1, 2, 0.7)) @ motion(shift[:3]), moved(0) + shift[4:]
    after = pose @ motion(d)

    def left(error):
        """The error after: that before counts from the corrected pose, with the right Jacobian at the correction."""
        true = matrix((1, 2, 0.7)) @ motion(shift[:3] + error[:3]) @ motion(d + error[4:])
        return np.array([*twist(np.linalg.solve(after, true)), error[3]])

    slope = np.column_stack([(left(h) - left(-h)) / 2e-5 for h in 1e-5 * np.eye(7)])
    expected = slope @ spread @ slope.T
    expected[3, 3] += NOISE["wander"] ** 2 * dt
    estimator.predict(turns, dt, rate)
    np.testing.assert_allclose(matrix(estimator.pose), after, atol=1e-8)
    assert estimator.bias == pytest.approx(0.1 + shift[3], abs=1e-8)  # the differences' rounding
    assert estimator.nis["gyro"] == pytest.approx(missed**2 / total)
    turn = turn_of(estimator)
    np.testing.assert_allclose(
        turn.T @ estimator.covariance @ turn, expected, atol=1e-7 * np.abs(expected).max()
    )


def test_a_bias_is_learnt_where_the_robot_stands():
    estimator = trundle.Estimator(ROBOT, NOISE, covariance=START)
    for _ in range(200):
        estimator.predict([0.0, 0.0], 0.05, 0.03)
    assert estimator.bias == pytest.approx(0.03, abs=1e-3)
    assert np.sqrt(estimator.covariance[3, 3]) < 2e-3
    assert abs(estimator.pose[2]) < 1e-3


def test_many_robots_are_as_one_and_one(rng):
    """Three at once and one by one: the same noise, readings of their own, fixes that come late or only to some."""
    poses, count, given = rng.normal(size=(3, 3)), 3, {"covariance": START, "keep": np.inf}
    many = trundle.Estimator(ROBOT, NOISE, pose=poses, **given)
    singles = [trundle.Estimator(ROBOT, NOISE, pose=pose, **given) for pose in poses.T]
    for step in range(40):
        turns, rates = rng.uniform(-0.1, 0.4, size=(2, count)), rng.normal(size=count)
        rates[step % 3] = np.nan
        many.predict(turns, 0.05, rates)
        for single, turn, rate in zip(singles, turns.T, rates, strict=True):
            single.predict(turn, 0.05, None if np.isnan(rate) else rate)
        if step % 7 == 6:
            time = many.time - 0.05 * rng.integers(0, 5)  # between steps: a fix within one splits it for all
            measured = poses + rng.normal(size=(3, 3))
            measured[:, step % 2] = np.nan
            fixed = many.fix(list(measured), ["50 cm", 0.5, "10 deg"], time, gate=3)
            nis, used = np.asarray(fixed.nis), np.asarray(fixed.used)
            for lane, single in enumerate(singles):
                if lane == step % 2:
                    assert np.isnan(nis[lane])
                    assert not used[lane]
                    continue
                alone = single.fix(measured[:, lane], [0.5, 0.5, np.radians(10)], time, gate=3)
                assert (used[lane], nis[lane]) == (alone.used, pytest.approx(alone.nis))
    smooth = many.smooth()
    for lane, single in enumerate(singles):
        alone = single.smooth()
        np.testing.assert_allclose(smooth.pose[..., lane], alone.pose, atol=1e-9)
        np.testing.assert_allclose(smooth.bias[:, lane], alone.bias, atol=1e-9)
        np.testing.assert_allclose(smooth.covariance[..., lane], alone.covariance, atol=1e-9)
        np.testing.assert_allclose(many.pose[:, lane], single.pose, atol=1e-9)
        np.testing.assert_allclose(np.asarray(many.bias)[lane], single.bias, atol=1e-9)
        np.testing.assert_allclose(many.covariance[..., lane], single.covariance, atol=1e-9)
        np.testing.assert_allclose(np.asarray(many.nis["gyro"])[lane], single.nis["gyro"])


def test_beginning_anew_keeps_the_bias_and_forgets_what_was():
    estimator = trundle.Estimator(ROBOT, NOISE, covariance=START)
    for _ in range(20):
        estimator.predict([0.1, 0.1], 0.05, 0.03)
    bias, variance = estimator.bias, estimator.covariance[3, 3]
    estimator.reset([5, 6, 7], START[:3, :3])
    assert estimator.pose.tolist() == [5, 6, 7]
    assert (estimator.bias, estimator.time) == (bias, pytest.approx(1.0))
    expected = np.diag([*np.diag(START)[:3], variance])
    np.testing.assert_allclose(estimator.covariance, expected, atol=1e-15)
    with pytest.raises(InputError, match=r"what is kept begins at 1 s"):
        estimator.fix([5, 6], [0.1, 0.1], 0.9)
    assert estimator.fix([5, 6], [0.1, 0.1]).used


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda: trundle.Estimator(ROBOT, {"encoders": 1, "wander": 1}), "noise.gyro"),
        (lambda: trundle.Estimator(ROBOT, {"encoders": 1, "gyro": 1}, bias=0.1), "noise.wander"),
        (lambda: trundle.Estimator(ROBOT, NOISE, keep=0), "keep"),
        (
            lambda: trundle.Estimator(ROBOT, NOISE, pose=np.zeros((3, 2)), covariance=np.zeros((3, 3, 4))),
            None,
        ),
        (lambda: trundle.Estimator(ROBOT, NOISE).reset(np.zeros((3, 2))), "pose"),
        (lambda: trundle.Estimator(ROBOT, NOISE).predict(np.zeros((2, 2)), 0.1), "increments"),
        (
            lambda: trundle.Estimator(ROBOT, NOISE, pose=np.zeros((3, 2))).predict([1, 2], 0.1, [1, 2, 3]),
            "gyro",
        ),
        (
            lambda: trundle.Estimator(ROBOT, NOISE, pose=np.zeros((3, 2))).fix([np.ones(3), 0], [1, 1]),
            "measured",
        ),
    ],
)
def test_what_is_refused(call, key):
    with pytest.raises(InputError) as caught:
        call()
    assert caught.value.key == key
