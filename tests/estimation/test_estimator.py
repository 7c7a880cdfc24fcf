"""The estimator: fixes in any order, slopes against differences, what is refused."""

import numpy as np
import pytest
from scipy.linalg import expm, logm

import trundle
from trundle.errors import InputError

NOISE = {"encoders": 0.02, "gyro": 0.002}
START = np.diag([0.1, 0.1, 0.05]) ** 2
FIXED = (0.02, 0.02, 0.01)
ROBOT = trundle.catalog.differential_drive()


def matrix(pose):
    x, y, heading = pose
    c, s = np.cos(heading), np.sin(heading)
    return np.array([[c, -s, x], [s, c, y], [0, 0, 1]])


def error(pose, truth):
    """ξ of X_true = X exp(ξ) by SciPy's logarithm."""
    xi = logm(np.linalg.solve(matrix(pose), matrix(truth))).real
    return np.array([xi[0, 2], xi[1, 2], xi[1, 0]])


def hat(xi):
    return np.array([[0, -xi[2], xi[0]], [xi[2], 0, xi[1]], [0, 0, 0]])


def in_base(estimator):
    """The covariance of ξ."""
    turn = matrix((0, 0, estimator.pose[2]))
    return turn.T @ estimator.covariance @ turn


def script(rng):
    """Steps, and fixes by time that come a while after it, 1 ms apart at least."""
    steps = [(rng.uniform(-0.2, 0.5, size=2), 0.02, rng.normal()) for _ in range(150)]
    fixes = []
    for time in np.sort(rng.uniform(0, 2.475, size=25)) + 1e-3 * np.arange(25):
        size = rng.integers(2, 4)
        fixes.append((time, rng.normal(size=3)[:size] * 0.2, [0.1, 0.2, 0.1][:size]))
    return steps, fixes


def told(steps, fixes, delays):
    estimator = trundle.Estimator(ROBOT, NOISE, covariance=START)
    waiting = sorted(
        zip([f[0] + d for f, d in zip(fixes, delays, strict=True)], range(len(fixes)), strict=True)
    )
    for increments, dt, rate in steps:
        estimator.predict(increments, dt, rate)
        while waiting and waiting[0][0] <= estimator.time:
            time, measured, noise = fixes[waiting.pop(0)[1]]
            estimator.fix(measured, noise, time, gate=3)
    assert not waiting
    return estimator


def test_fixes_that_come_late_and_out_of_order_change_nothing(rng):
    steps, fixes = script(rng)
    in_order = told(steps, fixes, np.zeros(len(fixes)))
    late = told(steps, fixes, rng.uniform(0, np.minimum(1.4, 2.99 - np.array([f[0] for f in fixes]))))
    np.testing.assert_allclose(late.pose, in_order.pose, atol=1e-9)
    np.testing.assert_allclose(late.covariance, in_order.covariance, atol=1e-12)
    assert [each.used for each in late.fixes] == [each.used for each in in_order.fixes]
    np.testing.assert_allclose([f.nis for f in late.fixes], [f.nis for f in in_order.fixes], rtol=1e-8)


def test_the_covariance_moves_by_the_exact_slopes(rng):
    """Against differences through SciPy's exponential: of the start's error, and of the increments'."""
    odometry, turn = trundle.odometry(ROBOT), rng.uniform(0.5, 1.5, size=2)
    root = rng.normal(size=(3, 3))
    estimator = trundle.Estimator(ROBOT, {"encoders": 0.1}, pose=(1, 2, 0.7), covariance=root @ root.T)
    spread, before = in_base(estimator), matrix(estimator.pose)
    estimator.predict(turn, 0.1)
    after, h = odometry.update([1, 2, 0.7], turn), 1e-5

    def moved(xi, more):
        d = hat(error((0, 0, 0), odometry.update([0, 0, 0], turn + more)))
        now = before @ expm(hat(xi)) @ expm(d)
        return error(after, (now[0, 2], now[1, 2], np.arctan2(now[1, 0], now[0, 0])))

    def slope(function, size):
        return np.column_stack([(function(h * e) - function(-h * e)) / (2 * h) for e in np.eye(size)])

    by_start, by_count = slope(lambda xi: moved(xi, 0), 3), slope(lambda more: moved(np.zeros(3), more), 2)
    expected = by_start @ spread @ by_start.T + 0.01 * np.abs(turn).mean() * by_count @ by_count.T
    np.testing.assert_allclose(estimator.pose, after, atol=1e-12)
    np.testing.assert_allclose(in_base(estimator), expected, atol=1e-7 * np.abs(expected).max())


def test_a_fix_is_kalmans(rng):
    """The joint update with all rows at once, moved by SciPy's exponential."""
    root = rng.normal(size=(3, 3)) * 0.2
    estimator = trundle.Estimator(ROBOT, NOISE, pose=(1, 2, 3), covariance=root @ root.T)
    before, spread, rows = estimator.pose, in_base(estimator), matrix((0, 0, 3))
    measured = before + rng.normal(size=3) * 0.1
    innovation = rows @ spread @ rows.T + np.diag(np.square(FIXED))
    xi = spread @ rows.T @ np.linalg.solve(innovation, measured - before)
    found = estimator.fix(measured + [0, 0, 4 * np.pi], FIXED)
    expected = matrix(before) @ expm(hat(xi))
    np.testing.assert_allclose(matrix(estimator.pose), expected, atol=1e-10)
    assert found.nis == pytest.approx((measured - before) @ np.linalg.solve(innovation, measured - before))


def test_a_swerves_steering_counts():
    robot = trundle.catalog.swerve()
    odometry, estimator = trundle.odometry(robot), trundle.Estimator(robot, NOISE)
    increments, angles = np.linspace(0.1, 0.4, len(odometry.increments)), np.full(len(odometry.angles), 0.3)
    estimator.predict(increments, 0.1, angles=angles)
    np.testing.assert_allclose(estimator.pose, odometry.update([0, 0, 0], increments, angles), atol=1e-12)


def test_what_the_gate_leaves_out_is_told():
    estimator = trundle.Estimator(ROBOT, NOISE, covariance=START)
    estimator.predict([0.1, 0.1], 0.1)
    before = estimator.pose, estimator.covariance
    wild = estimator.fix([9, 9], [0.1, 0.1], gate=3)
    assert not wild.used
    assert wild.nis > 9
    assert np.isnan(wild.measured[2])
    np.testing.assert_array_equal(estimator.pose, before[0])
    np.testing.assert_array_equal(estimator.covariance, before[1])
    assert estimator.fix([0, 0, 0], ["10 cm", "10 cm", "3 deg"], gate=3).used
    assert sum(not each.used for each in estimator.fixes) == 1


@pytest.mark.parametrize(
    ("call", "key"),
    [
        (lambda e: e.fix([0, 0], [1, 1], 3.1), "time"),
        (lambda e: e.fix([0, 0], [1, 1], 1.4), "time"),
        (lambda e: e.fix([0, 0], [1, 1, 1]), "noise"),
        (lambda e: e.fix([0, 0], [1, 0]), "noise"),
        (lambda e: e.fix([0], [1]), "measured"),
        (lambda e: e.fix([0, np.nan], [1, 1]), "measured"),
        (lambda e: e.predict([np.nan, 0], 0.1), "increments"),
        (lambda e: e.predict([0, 0], 0), "dt"),
        (lambda e: e.predict([0, 0], 0.1, 1.0), "gyro"),
    ],
)
def test_what_is_refused_leaves_all_as_it_was(call, key):
    estimator = trundle.Estimator(ROBOT, {"encoders": 0.02}, covariance=START)
    for _ in range(30):
        estimator.predict([0.1, 0.2], 0.1)
    estimator.fix([0.1, 0.1], [1, 1], 2.05)
    before = estimator.time, estimator.pose.tolist(), estimator.covariance.tolist(), estimator.fixes
    with pytest.raises(InputError) as caught:
        call(estimator)
    assert caught.value.key == key
    assert before == (
        estimator.time,
        estimator.pose.tolist(),
        estimator.covariance.tolist(),
        estimator.fixes,
    )


@pytest.mark.parametrize(
    ("measured", "noise", "words"),
    [
        ([0, 0], [0.1], "noise: expected standard deviations of x, y or x, y, theta, got one number"),
        ([0, 0, 0, 0], [0.1] * 4, "measured: expected x, y or x, y, theta, got 4 numbers"),
        ({"x": 0, "y": 0}, [0.1, 0.1], "measured: expected x, y or x, y, theta, got dict"),
        (1.0, [0.1, 0.1], "measured: expected x, y or x, y, theta, got 1.0"),
    ],
)
def test_a_fix_that_is_none_says_what_came(measured, noise, words):
    estimator = trundle.Estimator(ROBOT, NOISE, covariance=START)
    with pytest.raises(InputError, match=words):
        estimator.fix(measured, noise)


@pytest.mark.parametrize(
    ("given", "key"),
    [
        ({"noise": {}}, "noise.encoders"),
        ({"noise": {"encoders": 0}}, "noise.encoders"),
        ({"noise": {"encoder": 1}}, "noise.encoder"),
        ({"pose": [0, 0]}, "pose"),
        ({"covariance": [[1, 2], [3, 4]]}, "covariance"),
    ],
)
def test_no_estimator(given, key):
    with pytest.raises(InputError) as caught:
        trundle.Estimator(**{"robot": ROBOT, "noise": NOISE, **given})
    assert caught.value.key == key


def test_times_that_count_from_1970_are_as_fine(rng):
    """A fix of half a second ahead is of the future then, too, and late ones come into their order."""
    began, (steps, fixes) = 1.7e9, script(rng)
    early, late = (trundle.Estimator(ROBOT, NOISE, covariance=START, time=time) for time in (0.0, began))
    for estimator, offset in ((early, 0.0), (late, began)):
        for increments, dt, rate in steps:
            estimator.predict(increments, dt, rate)
        for time, measured, noise in rng.permutation(np.array(fixes, dtype=object)):
            if time > 1.6:
                estimator.fix(measured, noise, time + offset)
    # Times within 0.17 ms are one there, in which the base goes 0.64 mm and turns by 0.75 mrad at most.
    np.testing.assert_allclose(late.pose, early.pose, rtol=0, atol=7.5e-4)
    with pytest.raises(InputError, match="encoders have told up to"):
        late.fix([0, 0], [1, 1], late.time + 0.5)


def test_a_fix_within_a_step_whose_steering_begins_anew_is_the_same():
    robot = trundle.catalog.robot("tricycle")
    places = []
    for turns in (0.1, 0.1 - 2 * np.pi):
        estimator = trundle.Estimator(robot, {"encoders": 0.02}, covariance=np.diag([0.01, 0.01, 0.001]))
        moved = {"front.angle": 1.0, "front.steering": turns}
        estimator.predict(moved, dt=0.1, angles={"front.steering": np.pi - 0.05})
        estimator.fix([0.0, 0.01], ["2 cm", "2 cm"], time=0.03)
        places.append((*estimator.pose, *estimator.covariance.ravel()))
    np.testing.assert_allclose(*places, atol=1e-12)
