"""Odometry along a motion's or a run's own measurements, with covariance."""

import numpy as np
import pytest

import trundle
from trundle import catalog
from trundle.errors import InputError

LIMITS = trundle.Limits(
    steering_rate=4, steering_acceleration=20, drive_speed=1, drive_acceleration=2, drive_jerk=20
)


@pytest.fixture(scope="module")
def motion():
    return trundle.plan(
        catalog.swerve(), [(0, 0.8, 0), (0.3, 0.3, 0.5), (0, 0, 0)], limits=LIMITS, pose=(1, 2, 0.5)
    )


def test_a_motions_measurements_lead_along_it(motion):
    """Second order in the step: a step's arc has the angles of its middle."""
    odometry = trundle.odometry(catalog.swerve())
    apart = []
    for steps in (100, 200):
        times = np.linspace(0, motion.duration, steps + 1)
        poses, _ = odometry.along(motion.measurements(times), motion.start)
        apart.append(np.abs(poses - motion.poses(times)).max())
    assert apart[1] < 1e-4
    assert apart[1] < apart[0] / 3


def test_it_is_propagate_step_by_step(motion, rng):
    odometry = trundle.odometry(catalog.swerve(), [f"{name}.rate" for name in catalog.swerve().wheels])
    measured = motion.measurements(np.linspace(0, motion.duration, 21))
    root, spread, angles = rng.normal(size=(3, 3)), rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    covariance, q, r = 1e-3 * root @ root.T, 1e-4 * spread @ spread.T, 1e-5 * angles @ angles.T
    poses, found = odometry.along(
        measured, motion.start, covariance, increment_covariance=q, angle_covariance=r
    )
    pose = np.array(motion.start)
    for k in range(20):
        increments = [measured[name][k + 1] - measured[name][k] for name in odometry.increments]
        before = [measured[name][k] for name in odometry.angles]
        pose, covariance = odometry.propagate(pose, covariance, increments, q, before, r)
        np.testing.assert_allclose(poses[k + 1], pose, atol=1e-12)
        np.testing.assert_allclose(found[k + 1], covariance, atol=1e-14)


@pytest.mark.slow
def test_the_covariance_is_that_of_noisy_encoders(motion, rng):
    odometry = trundle.odometry(catalog.swerve(), [f"{name}.rate" for name in catalog.swerve().wheels])
    times = np.linspace(0, motion.duration, 51)
    measured = motion.measurements(times)
    sigma = 2e-3
    _, covariance = odometry.along(measured, motion.start, increment_covariance=sigma**2 * np.eye(4))
    ends = []
    for _ in range(2000):
        noisy = {
            name: values + np.concatenate([[0], np.cumsum(sigma * rng.normal(size=50))])
            if "angle" in name
            else values
            for name, values in measured.items()
        }
        ends.append(odometry.along(noisy, motion.start)[0][-1])
    sampled = np.cov(np.array(ends).T)
    size = np.sqrt(np.outer(np.diag(sampled), np.diag(sampled)))
    np.testing.assert_allclose(covariance[-1] / size, sampled / size, atol=0.15)


@pytest.mark.slow
def test_a_tracked_robot_knows_where_it_thinks_it_is(motion):
    """What slips by creep is what wheels' encoders don't see."""
    tracking = trundle.track(catalog.swerve(), motion, samples=301)
    poses, _ = trundle.odometry(catalog.swerve()).along(tracking.run, motion.start)
    true = np.stack([tracking.run[name] for name in ("x", "y", "theta")], axis=1)
    assert 1e-6 < np.abs(poses - true).max() < 0.02


def test_wheels_that_do_not_steer():
    """Without angles beside the increments; what noise they would have is asked for by its shape."""
    robot = catalog.differential_drive(radius=0.1)
    run = trundle.roll(robot, 2.0, {"v_x": 0.5, "omega": 0.2})
    poses, covariance = trundle.odometry(robot).along(run, increment_covariance=1e-4 * np.eye(2))
    np.testing.assert_allclose(poses, np.stack([run["x"], run["y"], run["theta"]], axis=1), atol=1e-9)
    assert np.linalg.eigvalsh(covariance[-1]).min() > 0
    with pytest.raises(InputError, match=r"a matrix \(0, 0\), or one a lane, got the shape \(2, 2\)"):
        trundle.odometry(robot).along(run, angle_covariance=np.eye(2))


def test_measurements_that_lack_something(motion):
    measured = motion.measurements([0.0, 1.0])
    del measured["rear_left.angle"]
    with pytest.raises(InputError, match=r"lack 'rear_left\.angle'"):
        trundle.odometry(catalog.swerve()).along(measured)
