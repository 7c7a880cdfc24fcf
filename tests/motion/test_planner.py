"""The coordinated planner: no slip, every limit held, never slower than plain ways, and a lower bound."""

import numpy as np
import pytest

import trundle
from trundle.errors import InputError
from trundle.motion.limits import QUANTITIES, Limits
from trundle.motion.planner import plan

FULL = Limits(2, 10, 75, 1, 5, 10)
PLAIN = Limits(steering_rate=2, drive_speed=1, drive_acceleration=5)


@pytest.fixture(scope="module")
def square():
    """The kinematics of four modules at (±0.5, ±0.5) m."""
    robot = trundle.catalog.swerve()
    return trundle.kinematics(robot)


def speeds(square, twist):
    return np.hypot(*(square.matrix @ twist).reshape(-1, 2).T)


def random_twist(square, rng):
    """Uniform over the twists whose fastest module is within 1 m/s."""
    while True:
        twist = rng.uniform(-1, 1, 3) * [1, 1, 1.5]
        if speeds(square, twist).max() <= 1:
            return twist


def check(found, limits, start, end):
    """No slip, all limits held to 1e-9, twists and angles without jumps; at 10 kHz."""
    times = np.linspace(0, found.duration, int(found.duration * 1e4) + 2)
    s = found.samples(times)
    assert s.slip.max() <= 1e-9
    agreed = (found.kinematics.matrix @ s.twist.T).T.reshape(len(times), -1, 2)
    rolled = s.drive_speed[..., None] * np.stack([np.cos(s.angle), np.sin(s.angle)], axis=-1)
    assert np.abs(agreed - rolled).max() <= 1e-9
    for name in QUANTITIES:
        assert np.abs(getattr(s, name)).max() <= limits.of(name) * (1 + 1e-9), name
    assert np.abs(s.twist[[0, -1]] - [start, end]).max() <= 1e-9
    assert np.abs(np.diff(s.angle, axis=0)).max() <= limits.steering_rate * 1.01e-4
    assert np.abs(np.diff(s.drive_speed, axis=0)).max() <= limits.drive_acceleration * 1.01e-4
    assert found.bound <= found.duration * (1 + 1e-9)


TRANSITIONS = [  # from, to, the best of PathPlanner, line and stop (shared/reference/swerve.md)
    ((1, 0, 0), (0, 1, 0), 0.785),
    ((1, 0, 0), (0, 0, 1), 0.73),
    ((0.5, 0, 0.5), (0, 0.5, -0.5), 0.87),
    ((0.3, -0.1, 0.4), (0.11, -0.3, 0.4), 0.49),
    ((0.3, -0.1, 0.4), (0.14, -0.3, 0.4), 0.49),
    ((0.3, -0.1, 0.4), (0.1, -0.3, 0.4), 0.49),
]


@pytest.mark.parametrize(("start", "end", "best"), TRANSITIONS)
def test_known_transitions_take_no_longer_than_other_planners(square, start, end, best):
    found = plan(square, end, start=start, limits=PLAIN)
    check(found, PLAIN, start, end)
    assert found.duration <= best + 0.005


def test_random_pairs(square, rng):
    for _ in range(5):
        start, end = random_twist(square, rng), random_twist(square, rng)
        check(plan(square, end, start=start, limits=FULL), FULL, start, end)


def test_a_target_beyond_a_limit_names_it(square):
    found = plan(square, (2, 0, 0), limits=FULL)
    assert "m/s of 'front_left'" in found.notes[0] or "drive_speed" in found.notes[0]
    with pytest.raises(InputError, match="no policy"):
        plan(square, (1, 0, 0), limits=FULL, infeasible="guess")
