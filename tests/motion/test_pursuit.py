"""A holonomic controller on top of the planner: it comes back to the path, and no limit is passed on the way."""

import math
from dataclasses import replace

import numpy as np
import pytest

import trundle
from trundle.motion.drive.drive import QUANTITIES
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import motion_forces
from trundle.motion.forces.real_limits import planned_share

LIMITS = trundle.Limits(
    steering_rate=12,
    steering_acceleration=120,
    steering_jerk=3000,
    drive_speed=4,
    drive_acceleration=8,
    drive_jerk=100,
)
GENTLE = trundle.Limits(
    steering_rate=6,
    steering_acceleration=40,
    steering_jerk=800,
    drive_speed=2,
    drive_acceleration=3,
    drive_jerk=20,
)


@pytest.fixture(scope="module")
def wanted():
    """A path followed gently by a robot that may do more: what is left is for the controller, its floor aside."""
    path = trundle.pose_path([(0, 0, 0), (1, 0.6, 0.3), (2, 0, 0.6), (3, 0, 0.6)])
    driven = trundle.follow(path, trundle.catalog.swerve(), limits=GENTLE)
    return replace(driven, limits=(LIMITS,) * 4)


def held(motion, limits):
    samples = motion.samples(np.linspace(0, motion.duration, 20_001))
    for name in QUANTITIES:
        assert np.abs(getattr(samples, name)).max() <= limits.of(name) * (1 + 1e-9), name
    assert samples.slip.max() < 1e-9


def test_the_wished_twist_brings_errors_to_zero_exponentially():
    """A base that does what is wished: ṗ − ṗ* = −k (p − p*), whatever it turns meanwhile."""
    rng = np.random.default_rng(5)
    wanted, velocity, pose = rng.normal(size=(3, 3))
    pose[2] = wanted[2] + 0.4 + 2 * math.pi
    twist = trundle.holonomic_twist(wanted, velocity, pose, (3.0, 5.0))
    turned = complex(*twist[:2]) * np.exp(1j * pose[2])
    assert (turned.real, turned.imag) == pytest.approx(tuple(velocity[:2] - 3 * (pose - wanted)[:2]))
    assert twist[2] == pytest.approx(velocity[2] - 5 * 0.4)


@pytest.mark.parametrize("pose", [None, (-0.1, 0.15, 0.2), (0.1, -0.1, -0.1)])
@pytest.mark.slow
def test_it_comes_back_within_all_limits(wanted, pose):
    pursuit = trundle.pursue(wanted, pose=pose, grip=None)
    held(pursuit, LIMITS)
    end = wanted.motion.poses([wanted.motion.duration])[0]
    last = pursuit.poses([pursuit.duration])[0]
    assert last[:2] == pytest.approx(end[:2], abs=1e-8)
    assert math.remainder(last[2] - end[2], 2 * math.pi) == pytest.approx(0, abs=1e-8)
    errors = pursuit.errors(np.linspace(0.7, 1, 200) * wanted.motion.duration)
    assert np.hypot(errors[:, 0], errors[:, 1]).max() < 0.06
    assert pursuit.duration < wanted.motion.duration + 1.5


@pytest.mark.slow
def test_errors_of_measurements_stay(wanted):
    """What is measured 1 cm off ends 1 cm off."""
    pursuit = trundle.pursue(wanted, measured=lambda time, pose: pose + [0.01, 0, 0])
    assert pursuit.errors([pursuit.duration])[0, :2] == pytest.approx([-0.01, 0], abs=1e-8)


def test_wrong_gains_and_periods_are_told(wanted):
    with pytest.raises(trundle.InputError, match="two gains above 0"):
        trundle.pursue(wanted, gains=(0.0, 1.0))
    with pytest.raises(trundle.InputError, match="period > 0"):
        trundle.pursue(wanted, period=0.0)


def competing(**more):
    return trundle.catalog.swerve(
        motor="kraken_x60",
        gear_ratio=6.75,
        steering_motor="kraken_x60",
        steering_ratio=12.8,
        robot_mass=52,
        center_height=0.15,
        current_limit=120,
        battery=12,
        **more,
    )


@pytest.mark.slow
def test_motors_and_floor_hold_where_nothing_is_declared():
    """The shares of its own inverse dynamics at 10 kHz; the planner alone, with grip=None, knows no limit there."""
    robot = competing(friction=1.0, contact="slip")
    lower = trundle.Limits(drive_speed=2, drive_acceleration=2)
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0.6, 0.3)]), robot, grip=0.3, limits=lower)
    driven = replace(driven, limits=(trundle.Limits(),) * 4)
    pursuit = trundle.pursue(driven, pose=(0, 0.2, 0.1), grip=0.8)
    assert np.abs(pursuit.errors([pursuit.duration])).max() < 1e-8
    real = DrivenRobot(robot, driven.names)
    use = motion_forces(real, pursuit.samples(np.arange(0, pursuit.duration, 1e-4))).use
    for name, share in use.items():
        assert share.max() <= planned_share(name, 0.8) * (1 + 1e-6), name
    assert max(share.max() for name, share in use.items() if name.startswith("grip")) > 0.6
    with pytest.raises(trundle.InputError, match="no limit of its steering"):
        trundle.pursue(driven, grip=None)


def test_a_floor_without_friction_is_told(wanted):
    driven = replace(
        wanted, motion=replace(wanted.motion, kinematics=trundle.kinematics(competing(friction=0)))
    )
    with pytest.raises(trundle.InputError, match="no friction"):
        trundle.pursue(driven)
