"""Fastest motions of bases on casters that motors drive: limits, motors and floor, obstacles, and the bound."""

from __future__ import annotations

import math

import numpy as np
import pytest

import trundle
from tests.motion.test_fastest import cluttered
from tests.motion.test_powered_casters import CORNERS, casters
from tests.motion.test_real_limits_campaign import random_robot, require_shares
from trundle.motion.drive.trailing import trailed
from trundle.motion.fastest.obstacles import clear_by, obstacles_of
from trundle.motion.fastest.outlines import outline_of
from trundle.motion.fastest.trailing import bounding_pivots, swinging
from trundle.motion.forces.driven_robot import DrivenRobot

SPEED, FASTER = 3.0, 4.0
LIMITS = trundle.Limits(
    steering_rate=20, steering_acceleration=200, drive_speed=SPEED, drive_acceleration=FASTER
)
QUARTER = (2, 1, math.pi / 2)
NAMES = tuple(f"wheel_{k}" for k in range(4))


def check(found, goal, keep_out=()):
    """It arrives at rest, doesn't slip, keeps its limits and clear of obstacles, and isn't faster than its bound."""
    motion = found.motion
    end = motion.poses([motion.duration])[0] - goal
    assert [*end[:2], math.remainder(end[2], 2 * math.pi)] == pytest.approx([0, 0, 0], abs=1e-8)
    assert motion.samples([0.0, motion.duration]).twist == pytest.approx(np.zeros((2, 3)), abs=1e-8)
    told = found.summary()
    assert told["exceeded"] == []
    assert told["slip"] < 1e-9
    assert 0 < found.bound <= motion.duration
    outline = outline_of(motion.kinematics)
    assert all(clear_by(motion, outline, obstacle) > 0 for obstacle in obstacles_of(keep_out))
    if found.grip is not None:
        require_shares(found, "casters")


def straight(goal, **more):
    path = trundle.pose_path([(0, 0, 0), goal])
    return trundle.follow(path, casters(), progress=False, **more).motion.duration


def fastest(goal, robot=None, **more):
    return trundle.fastest(robot or casters(), (0, 0, 0), goal, progress=False, **more)


@pytest.mark.slow
@pytest.mark.parametrize("goal", [(2, 0, 0), QUARTER, (0, 0, math.pi / 2)])
def test_motors_and_floor_let_no_line_be_quicker(goal):
    found = fastest(goal)
    check(found, goal)
    assert found.motion.duration <= straight(goal) * (1 + 1e-9)


@pytest.mark.slow
def test_obstacles_are_passed():
    goal, keep_out = (4, 0, 1), [(2, 0.2, 0.4)]
    check(fastest(goal, keep_out=keep_out), goal, keep_out)


@pytest.mark.slow
def test_straight_on_declared_limits_give_the_double_integrators_time():
    found = fastest((2, 0, 0), limits=LIMITS, grip=None)
    check(found, (2, 0, 0))
    assert found.motion.duration == pytest.approx(2 * math.sqrt(2 / FASTER), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("jerk", [math.inf, 50.0])
def test_declared_limits_are_kept_in_turns(jerk):
    limits = trundle.Limits(20, 200, 100 * jerk, SPEED, FASTER, jerk)
    found = fastest((1, 1, 1), limits=limits, grip=None)
    check(found, (1, 1, 1))
    assert found.motion.duration <= straight((1, 1, 1), limits=limits, grip=None) * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("angle", [2.0, 3.0])
def test_casters_begin_where_they_stand(angle):
    """Those that stand backward swing round on the way, which takes its time."""
    angles = dict.fromkeys(NAMES, angle)
    found = fastest((2, 0, 0), angles=angles, limits=LIMITS, grip=None)
    check(found, (2, 0, 0))
    assert found.motion.samples([0.0]).angle[0] == pytest.approx(np.full(4, angle))
    swung = trundle.follow(
        trundle.pose_path([(0, 0, 0), (2, 0, 0)]),
        casters(),
        angles=angles,
        limits=LIMITS,
        grip=None,
        progress=False,
    )
    assert straight((2, 0, 0), limits=LIMITS, grip=None) < found.motion.duration
    assert found.motion.duration <= swung.motion.duration * (1 + 1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("more", [{}, {"limits": LIMITS, "grip": None}])
def test_zones_speeds_and_events_are_kept(more):
    zones = [(1, 2, {"velocity": 1.5, "rate": 0.5})]
    found = fastest((2.5, 0, 0.5), via=[(1, 0.3, None, 1.0)], zones=zones, events=[("score", 1)], **more)
    check(found, (2.5, 0, 0.5))
    begin, end, _ = found.zones[0]
    assert dict(found.events) == pytest.approx({"score": begin})
    assert found.motion.poses([begin])[0, :2] == pytest.approx((1, 0.3), abs=1e-6)
    assert np.hypot(*found.motion.samples([begin]).twist[0, :2]) == pytest.approx(1.0, rel=1e-6)
    inside = found.motion.samples(np.linspace(begin, end, 2001)[1:-1]).twist
    assert np.hypot(*inside.T[:2]).max() <= 1.5 * (1 + 1e-6)
    assert np.abs(inside[:, 2]).max() <= 0.5 * (1 + 1e-6)


@pytest.mark.slow
def test_steering_ranges_that_are_left_are_told():
    ranged = trundle.Limits(20, 200, drive_speed=SPEED, drive_acceleration=FASTER, steering_range=(-1, 1))
    with pytest.raises(trundle.NumericsError, match="modules leave their steering ranges"):
        fastest((0, 2, 0), limits=ranged, grip=None)


def test_pivots_go_no_faster_than_their_bound():
    """Random twists, angles and accelerations at the edge of the casters' own limits."""
    drive = trundle.kinematics(casters()).drive.limited(LIMITS)
    pivots = bounding_pivots(drive, np.full(4, np.inf))
    rng = np.random.default_rng(20261128)
    fastest_share = 0.0
    for _ in range(500):
        angles, twist, rate = rng.uniform(-np.pi, np.pi, (1, 4)), rng.normal(size=3), rng.normal(size=3)
        if rng.random() < 0.3:  # casters that roll straight on go the fastest
            angles = np.angle(drive.velocities(twist))[None]
        twist, rate = (part * [1, 1, rng.choice([0.1, 3.0])] for part in (twist, rate))

        def asked(twist, rate, angles=angles):
            twists = (twist, rate)
            u, omega = (
                [drive.velocities(part)[None] for part in twists],
                [np.array([part[2]]) for part in twists],
            )
            turning, rolling = trailed(drive, u, omega, angles)
            speeds = [(turning[0], drive.steering[0]), (rolling[0], drive.rolling[0])]
            changes = [(turning[1], drive.steering[1]), (rolling[1], drive.rolling[1])]
            return (max(np.abs(value / most).max() for value, most in part) for part in (speeds, changes))

        twist = twist / next(asked(twist, rate)) * rng.choice([0.02, 1.0])
        u = drive.velocities(twist)
        fastest_share = max(fastest_share, float(np.max(np.abs(u) / pivots.rolling[0])))
        if list(asked(twist, np.zeros(3)))[1] > 1:
            continue
        low, high = 0.0, 1e4
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if list(asked(twist, middle * rate))[1] <= 1 else (low, middle)
        grown = (drive.velocities(low * rate) * u.conj()).real / np.abs(u)
        assert np.max(np.abs(grown) / pivots.rolling[1]) <= 1 + 1e-9
    assert 0.5 < fastest_share <= 1 + 1e-9


def test_swinging_casters_move_the_centre_of_mass_no_farther():
    """Wheels of 1 kg, their trail behind: all to the other side move it by 2 Σ m c/M."""
    robot = casters()
    driven = DrivenRobot(robot, NAMES)
    mass = float(driven.base_inertia[0, 0])
    assert swinging(driven) == pytest.approx(2 * len(CORNERS) * 1.0 * 0.05 / mass)


@pytest.mark.campaign
def test_random_casters_pass_three_obstacles(campaign):
    gaps, lost = [], 0
    for rng in campaign(40, least=2):
        robot = random_robot("casters", rng)
        start, goal, keep_out = cluttered(rng)
        try:
            found = trundle.fastest(robot, start, goal, keep_out=keep_out, progress=False)
        except trundle.NumericsError:
            lost += 1
            continue
        check(found, goal, keep_out)
        gaps.append(found.gap)
        print(f"{found.motion.duration:.3f} s, gap {found.gap:.3f}")
    assert lost <= 0.05 * (lost + len(gaps))
    print(f"{len(gaps)} motions: median gap {np.median(gaps):.3f}, worst {max(gaps):.3f}; {lost} lost")
