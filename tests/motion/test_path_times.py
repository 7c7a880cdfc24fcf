"""The time of paths: in closed form, and beside a dense solve of the same laws."""

import numpy as np
import pytest

import trundle
from tests.motion.test_real_limits_campaign import GRID, KINDS, NEAR, dense_time, random_path, random_robot
from trundle import catalog


def test_from_rest_to_rest_it_is_the_least_time():
    limits = trundle.Limits(steering_rate=6, drive_speed=2, drive_acceleration=4)
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (2, 0, 0)]), catalog.swerve(), limits=limits)
    assert 1.5 * (1 - 1e-9) <= driven.motion.duration < 1.5 * 1.02


def test_where_speeds_alone_are_limited_it_is_the_length_at_that_speed():
    """What changes of speed are not limited by has no end: a search from there found none."""
    limits = trundle.Limits(drive_speed=1)
    driven = trundle.follow(
        trundle.pose_path([(0, 0), (2, 0)]), catalog.differential_drive(), limits=limits, grip=None
    )
    assert 2 * (1 - 1e-9) <= driven.motion.duration < 2 * 1.01


@pytest.mark.slow
@pytest.mark.parametrize("place", range(5))
def test_no_dense_solve_is_much_faster_or_slower(place):
    rng, kind = np.random.default_rng([5, place]), KINDS[place]
    robot = random_robot(kind, rng, fed=False, contact="ideal")
    driven = trundle.follow(random_path(kind, rng), robot, grip=1.0)
    if len(driven.motion.pieces) == 1:
        assert 1 - GRID <= driven.motion.duration / dense_time(driven, 20) <= 1 + NEAR


@pytest.mark.parametrize("name", ["bound", "gap"])
def test_bounds_that_are_gone_are_told(name):
    found = trundle.fastest(None, (0, 0, 0), (1, 0, 0), grip=None)
    for driven in (trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)])), found):
        with pytest.raises(AttributeError, match=f"no attribute '{name}'; tests compare times .*candidates"):
            getattr(driven, name)
    turned = trundle.plan(catalog.limited_swerve(), (0, 0.1, 0))
    with pytest.raises(AttributeError, match=f"'{name}'; .candidates are"):
        getattr(turned, name)
    assert not hasattr(turned, "nothing")


def test_what_brakes_draws_nothing():
    """A motor that brakes gives current back, which its controller's limit doesn't hold."""
    rng = np.random.default_rng([5, 18])
    robot = random_robot("differential", rng, contact="ideal")
    driven = trundle.follow(random_path("differential", rng), robot)
    assert (
        driven.motion.duration < 1.01 * 2.565
    )  # s, which no motion beats; 7.5 % more while what flows back counted
    share = driven.limit_usage.shares["supply current of left_motor"]
    current, volts = (
        driven.limit_usage.forces.currents["left_motor"],
        driven.limit_usage.forces.commands["left_motor.voltage"],
    )
    assert (share[current * volts < 0] == 0).all()
    assert (current * volts < 0).any()


def test_one_sharp_place_does_not_slow_all():
    """Limits of declared robots are tighter where they were passed between points, and only there."""
    steps = np.random.default_rng([7, 2]).uniform(-1.5, 1.5, (4, 3))
    limits = trundle.Limits(steering_rate=6, drive_speed=2, drive_acceleration=3)
    path = trundle.pose_path(np.cumsum(steps, axis=0))
    driven = trundle.follow(path, catalog.swerve(), limits=limits, grip=None)
    assert driven.summary()["exceeded"] == []
    assert (
        driven.motion.duration < 1.05 * 5.860
    )  # s, which no motion beats; 18 % more when the whole was slowed
