"""The lower bound on a path's time: in closed form, below any method's best, whatever multipliers make it."""

import numpy as np
import pytest

import trundle
from parameters import mostly_slow
from tests.motion.test_real_limits_campaign import GRID, KINDS, dense_time, random_path, random_robot
from trundle import catalog
from trundle.motion.paths import force_programme

# Of what plans take more than their bound: with wheels that hold the margins between nodes (0.12 %, a swerve that
# steers fast 0.64 %), with wheels that slip also what slip might spare motors at a crawl (a car's 3.5 %).
HELD, SLIPPED = 0.01, 0.05


def test_from_rest_to_rest_the_bound_is_the_least_time():
    limits = trundle.Limits(steering_rate=6, drive_speed=2, drive_acceleration=4)
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (2, 0, 0)]), catalog.swerve(), limits=limits)
    assert driven.bound == pytest.approx(1.5, rel=1e-3)
    assert driven.bound <= 1.5 <= driven.motion.duration
    assert driven.summary()["bound"] == driven.bound
    assert driven.summary()["gap"] == driven.gap < 0.02


def test_jerks_count_from_rest_to_rest():
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (4, 0, 0)]))
    assert 0.98 * driven.motion.duration < driven.bound <= driven.motion.duration


def test_turns_before_and_stops_on_the_way_count():
    path, limits = trundle.pose_path([(0, 0, 0), (1, 1, 0)]), trundle.Limits(6, 30, np.inf, 2, 4, np.inf)
    angles = dict.fromkeys(catalog.swerve().wheels, -0.4)
    plain, turned = (trundle.follow(path, catalog.swerve(), limits=limits, angles=a) for a in (None, angles))
    spent = turned.motion.pieces[0].duration
    assert turned.bound == pytest.approx(plain.bound + spent, rel=1e-9)


@pytest.mark.parametrize("place", mostly_slow(range(5), [1, 3]))
def test_plans_are_near_their_bound(place):
    for contact, most in (("ideal", HELD), ("slip", SLIPPED)):
        rng = np.random.default_rng([5, place])
        kind = KINDS[place]
        robot = random_robot(kind, rng, contact=contact)
        driven = trundle.follow(random_path(kind, rng), robot, progress=False)
        assert 0 <= driven.gap < most, (kind, contact)


@pytest.mark.parametrize("steps", [1, 3, 6, 12])
def test_any_multipliers_make_a_bound(monkeypatch, steps):
    """Those of the first steps of a programme are far off: the bound is less, and none the less one."""
    rng = np.random.default_rng([5, 1])
    robot = random_robot("mecanum", rng)
    driven = trundle.follow(random_path("mecanum", rng), robot)
    best = driven.bound
    monkeypatch.setattr(force_programme, "_STEPS", steps)
    again = trundle.motion.paths.followed.Followed.bound.func(driven)
    assert 0 < again <= best * (1 + GRID)


@pytest.mark.slow
@pytest.mark.parametrize("place", range(5))
def test_no_dense_solve_is_below_the_bound(place):
    rng, kind = np.random.default_rng([5, place]), KINDS[place]
    robot = random_robot(kind, rng, fed=False, contact="ideal")
    driven = trundle.follow(random_path(kind, rng), robot, grip=1.0)
    assert driven.bound <= dense_time(driven, 20) * (1 + GRID)


def test_what_brakes_draws_nothing():
    """A motor that brakes gives current back, which its controller's limit doesn't hold."""
    rng = np.random.default_rng([5, 18])
    robot = random_robot("differential", rng, contact="ideal")
    driven = trundle.follow(random_path("differential", rng), robot)
    assert driven.gap < HELD  # 7.5 % while what flows back counted
    share = driven.uses.forces.use["supply current of left_motor"]
    current, volts = (
        driven.uses.forces.currents["left_motor"],
        driven.uses.forces.commands["left_motor.voltage"],
    )
    assert (share[current * volts < 0] == 0).all()
    assert (current * volts < 0).any()


def test_multipliers_are_those_of_a_place_within_the_laws():
    """Where supply current begins to bind the first ones within the goal bound nothing: the gap was 9.5 %."""
    rng = np.random.default_rng([4, 81])
    for kind in KINDS[: KINDS.index("differential") + 1]:
        path, robot = random_path(kind, rng), random_robot(kind, rng)
    driven = trundle.follow(path, robot, progress=False)
    assert 0 <= driven.gap < 0.01


def test_one_sharp_place_does_not_slow_all():
    """Limits of declared robots are tighter where they were passed between points, and only there."""
    steps = np.random.default_rng([7, 2]).uniform(-1.5, 1.5, (4, 3))
    limits = trundle.Limits(steering_rate=6, drive_speed=2, drive_acceleration=3)
    path = trundle.pose_path(np.cumsum(steps, axis=0))
    driven = trundle.follow(path, catalog.swerve(), limits=limits, grip=None)
    assert driven.summary()["exceeded"] == []
    assert driven.gap < 0.05  # 18 % when the whole was slowed
