"""The smoother and the filter against least squares over all at once: NumPy's and GTSAM's on the same factor graph."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import trundle

ROBOT = trundle.catalog.mecanum()
# A gyro far better than rounding tells the heading, and leaves what is linear: positions.
KNOWN = {"encoders": 0.05, "gyro": 1e-13}
PRIOR, FIXED, DT, STEPS, EVERY = np.diag([0.2, 0.1]) ** 2, 0.03, 0.1, 30, 7
LOOSE = 1e6  # m: a fix that tells nothing of the place


def gtsam_or_skip():
    return pytest.importorskip("gtsam", reason="GTSAM is a peer: make setup-peers")


def alone(noise, headings, turns, rates):
    """What steps say by themselves, from the origin with a heading: poses (3, n) and covariances (3, 3, n)."""
    start = np.zeros((3, len(headings)))
    start[2] = headings
    single = trundle.Estimator(ROBOT, noise, pose=start)
    single.predict(turns, DT, rates)
    return single.pose, single.covariance


def positions(rng):
    """A log along a curve with its heading known: the estimator, and what it is of as a graph over positions.

    Every step alone says a displacement in the world with a covariance: `moved`. `fixes` are by the step that they
    come after.
    """
    start = np.zeros((3, 3))
    start[:2, :2] = PRIOR
    estimator = trundle.Estimator(ROBOT, KNOWN, pose=(0, 0, 0.3), covariance=start, keep=math.inf)
    turns, rates = rng.uniform(-1, 2, size=(len(estimator.increments), STEPS)), rng.normal(size=STEPS)
    shifts, spreads = alone(KNOWN, 0.3 + DT * np.cumsum([0, *rates[:-1]]), turns, rates)
    moved = list(zip(shifts[:2].T, np.moveaxis(spreads[:2, :2], -1, 0), strict=True))
    fixes = {}
    for step in range(1, STEPS + 1):
        estimator.predict(turns[:, step - 1], DT, rates[step - 1])
        if step % EVERY == 0:
            fixes[step] = estimator.pose[:2] + rng.normal(size=2) * 0.1
            estimator.fix(fixes[step], [FIXED, FIXED])
    return SimpleNamespace(estimator=estimator, moved=moved, fixes=fixes)


def least_squares(count, width, factors):
    """Means (count, width) and covariances of all states from factors (blocks by place, value, covariance)."""
    rows, told = [], []
    for blocks, value, covariance in factors:
        root = np.linalg.inv(np.linalg.cholesky(np.atleast_2d(covariance)))
        row = np.zeros((len(root), width * count))
        for place, block in blocks:
            row[:, width * place : width * (place + 1)] += root @ np.atleast_2d(block)
        rows.append(row)
        told.append(root @ np.atleast_1d(value))
    a, b = np.vstack(rows), np.concatenate(told)
    inverse = np.linalg.inv(a.T @ a).reshape(count, width, count, width)
    means = np.linalg.lstsq(a, b)[0].reshape(count, width)
    return means, np.array([inverse[place, :, place] for place in range(count)])


def in_numpy(log):
    one = np.eye(2)
    factors = [([(0, one)], np.zeros(2), PRIOR)]
    factors += [([(k, -one), (k + 1, one)], *moved) for k, moved in enumerate(log.moved)]
    factors += [([(k, one)], measured, FIXED**2 * one) for k, measured in log.fixes.items()]
    return least_squares(STEPS + 1, 2, factors)


def in_gtsam(log):
    gtsam = gtsam_or_skip()
    graph, values, noise = gtsam.NonlinearFactorGraph(), gtsam.Values(), gtsam.noiseModel
    graph.add(gtsam.PriorFactorPoint2(0, np.zeros(2), noise.Gaussian.Covariance(PRIOR)))
    for step, (shift, spread) in enumerate(log.moved):
        graph.add(gtsam.BetweenFactorPoint2(step, step + 1, shift, noise.Gaussian.Covariance(spread)))
    for step, measured in log.fixes.items():
        graph.add(gtsam.PriorFactorPoint2(step, measured, noise.Isotropic.Sigma(2, FIXED)))
    for place in range(STEPS + 1):
        values.insert(place, np.zeros(2))
    found = gtsam.GaussNewtonOptimizer(graph, values).optimize()
    margins = gtsam.Marginals(graph, found)
    places = range(STEPS + 1)
    return (
        np.array([found.atPoint2(place) for place in places]),
        np.array([margins.marginalCovariance(place) for place in places]),
    )


@pytest.mark.parametrize("peer", [in_numpy, in_gtsam])
def test_where_headings_are_known_both_are_least_squares_over_all(peer, rng):
    log = positions(rng)
    means, spreads = peer(log)
    smooth = log.estimator.smooth()
    np.testing.assert_allclose(smooth.pose[:, :2], means, atol=1e-9)
    np.testing.assert_allclose(smooth.covariance[:, :2, :2], spreads, atol=1e-9)
    np.testing.assert_allclose(log.estimator.pose[:2], means[-1], atol=1e-9)
    np.testing.assert_allclose(log.estimator.covariance[:2, :2], spreads[-1], atol=1e-9)


def test_headings_and_a_bias_are_least_squares_over_all(rng):
    """On the spot, with fixes of the heading alone, headings and the bias are linear: encoders, gyro, walk, fixes."""
    robot = trundle.catalog.differential_drive(radius=0.1, track=0.5)
    noise, start = {"encoders": 0.02, "gyro": 0.01, "wander": 0.005}, np.diag([0.1, 0.1, 0.2, 0.1]) ** 2
    estimator = trundle.Estimator(robot, noise, covariance=start, keep=math.inf)
    on = np.eye(2)
    factors = [([(0, on)], np.zeros(2), start[2:, 2:])]
    for k in range(STEPS):
        turn, rate = rng.uniform(0.2, 1.0), rng.normal()
        estimator.predict([turn, -turn], DT, rate)
        ahead = [(k, -on[0]), (k + 1, on[0])]
        factors.append((ahead, 0.4 * turn, 0.02**2 * turn * 2 * 0.2**2))
        factors.append(([*ahead, (k, DT * on[1])], rate * DT, 0.01**2 * DT))
        factors.append(([(k, -on[1]), (k + 1, on[1])], 0.0, 0.005**2 * DT))
        if k % EVERY == 0:
            heading = estimator.pose[2] + 0.1 * rng.normal()
            estimator.fix([0, 0, heading], [LOOSE, LOOSE, 0.05])
            factors.append(([(k + 1, on[0])], heading, 0.05**2))
    means, spreads = least_squares(STEPS + 1, 2, factors)
    smooth = estimator.smooth()
    np.testing.assert_allclose(np.column_stack([smooth.pose[:, 2], smooth.bias]), means, atol=1e-9)
    np.testing.assert_allclose(smooth.covariance[:, 2:, 2:], spreads, atol=1e-9)


def poses(rng, off):
    """A log whose fixes are `off` by so many standard deviations: the estimator, GTSAM's optimum and its margins."""
    gtsam = gtsam_or_skip()
    noise, start = {"encoders": 0.02, "gyro": 0.01}, np.diag([0.1, 0.1, 0.1]) ** 2
    estimator = trundle.Estimator(ROBOT, noise, covariance=start, keep=math.inf)
    turns, rates = rng.uniform(0, 2, size=(len(estimator.increments), STEPS)), rng.normal(size=STEPS)
    steps, spreads = alone(noise, np.zeros(STEPS), turns, rates)
    model, graph, values = gtsam.noiseModel, gtsam.NonlinearFactorGraph(), gtsam.Values()
    graph.add(gtsam.PriorFactorPose2(0, gtsam.Pose2(), model.Gaussian.Covariance(start)))
    values.insert(0, gtsam.Pose2())
    fixed = np.array([0.05, 0.05, 0.05])
    for k in range(STEPS):
        estimator.predict(turns[:, k], DT, rates[k])
        turn = np.eye(3)
        c, s = np.cos(steps[2, k]), np.sin(steps[2, k])
        turn[:2, :2] = [[c, s], [-s, c]]
        spread = model.Gaussian.Covariance(
            turn @ spreads[:, :, k] @ turn.T
        )  # in the base's axes after the step
        graph.add(gtsam.BetweenFactorPose2(k, k + 1, gtsam.Pose2(*steps[:, k]), spread))
        values.insert(k + 1, gtsam.Pose2(*estimator.pose))
        if k % EVERY == EVERY - 1:
            measured = estimator.pose + off * fixed * rng.normal(size=3)
            estimator.fix(measured, fixed)
            graph.add(gtsam.PriorFactorPose2(k + 1, gtsam.Pose2(*measured), model.Diagonal.Sigmas(fixed)))
    found = gtsam.LevenbergMarquardtOptimizer(graph, values).optimize()
    margins = gtsam.Marginals(graph, found)
    best = [found.atPose2(k) for k in range(STEPS + 1)]
    return (
        estimator,
        np.array([[pose.x(), pose.y(), pose.theta()] for pose in best]),
        np.array([margins.marginalCovariance(k) for k in range(STEPS + 1)]),
    )


def in_base(pose, covariance):
    turn = np.eye(3)
    c, s = np.cos(pose[2]), np.sin(pose[2])
    turn[:2, :2] = [[c, s], [-s, c]]
    return turn @ covariance @ turn.T


def test_where_fixes_confirm_the_poses_covariances_are_gtsams(rng):
    """Nothing moves then, and both are about the same poses."""
    estimator, best, margins = poses(rng, 0.0)
    smooth = estimator.smooth()
    np.testing.assert_allclose(smooth.pose[:, :2], best[:, :2], atol=1e-9)
    ours = [in_base(pose, each) for pose, each in zip(smooth.pose, smooth.covariance, strict=True)]
    np.testing.assert_allclose(ours, margins, atol=1e-9)
    np.testing.assert_allclose(in_base(estimator.pose, estimator.covariance), margins[-1], atol=1e-9)


def test_where_they_do_not_the_smoother_is_near_gtsams_optimum(rng):
    """In standard deviations: an extended filter linearises once, an optimum again and again."""
    estimator, best, _ = poses(rng, 1.0)
    smooth = estimator.smooth()
    off = smooth.pose - best
    off[:, 2] = np.arctan2(np.sin(off[:, 2]), np.cos(off[:, 2]))
    spread = np.sqrt(np.einsum("kii->ki", smooth.covariance))
    # over 40 seeds 0.014 in the median and 0.05 at most
    assert np.abs(off / spread).max() < 0.2
