"""A holonomic controller on top of the planner: it comes back to the path, and no limit is passed on the way."""

import math
from dataclasses import replace

import numpy as np
import pytest

import trundle
from trundle.motion.drive.drive import QUANTITIES

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
    """A path followed gently by a robot that can do more: what is left is for the controller."""
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
    pursuit = trundle.pursue(wanted, pose=pose)
    held(pursuit, LIMITS)
    end = wanted.motion.poses([wanted.motion.duration])[0]
    last = pursuit.poses([pursuit.duration])[0]
    assert last[:2] == pytest.approx(end[:2], abs=1e-8)
    assert math.remainder(last[2] - end[2], 2 * math.pi) == pytest.approx(0, abs=1e-8)
    errors = pursuit.errors(np.linspace(0.7, 1, 200) * wanted.motion.duration)
    assert np.hypot(errors[:, 0], errors[:, 1]).max() < 0.06
    assert pursuit.duration < wanted.motion.duration + 1.5


def test_errors_of_measurements_stay(wanted):
    """What is measured 1 cm off ends 1 cm off."""
    pursuit = trundle.pursue(wanted, measured=lambda time, pose: pose + [0.01, 0, 0])
    assert pursuit.errors([pursuit.duration])[0, :2] == pytest.approx([-0.01, 0], abs=1e-8)


def test_wrong_gains_and_periods_are_told(wanted):
    with pytest.raises(trundle.InputError, match="two gains above 0"):
        trundle.pursue(wanted, gains=(0.0, 1.0))
    with pytest.raises(trundle.InputError, match="period > 0"):
        trundle.pursue(wanted, period=0.0)
