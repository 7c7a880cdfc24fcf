"""Admissible twists and centres of rotation: every wheel's contact moves along its heading, or how far not."""

import math

import numpy as np
import pytest

from trundle.mechanics.mobility import WheelPlace, base_motion, base_rows, centre_of_rotation
from trundle.mechanics.steering import half_turn, steering_angles

BASE = (0, 1, 2)


def lateral(x, y, heading):
    """The velocity across a wheel at (x, y) is this row times (v_x, v_y, ω)."""
    return [-math.sin(heading), math.cos(heading), x * math.cos(heading) + y * math.sin(heading)]


def contact_velocity(twist, x, y):
    v_x, v_y, omega = twist
    return np.array([v_x - omega * y, v_y + omega * x])


def test_the_centre_of_rotation_stands_still(rng):
    for _ in range(20):
        twist = rng.normal(size=3)
        np.testing.assert_allclose(contact_velocity(twist, *(centre_of_rotation(twist) or ())), 0, atol=1e-12)
    assert centre_of_rotation((1.0, 2.0, 0.0)) is None
    assert centre_of_rotation((0.0, 0.0, 0.0)) is None


def test_one_axle_leaves_a_line_of_centres(rng):
    for _ in range(50):
        x, y, heading = rng.uniform(-2, 2, 3)
        found = base_motion(np.array([lateral(x, y, heading)]), BASE, 0.7)
        assert found.dimension == 2
        assert found.basis[0][2] == 0
        for twist in found.basis:
            assert abs(np.dot(lateral(x, y, heading), twist)) < 1e-12
        # the line runs through the wheel, across its heading
        to_wheel = np.subtract((x, y), found.centre)
        assert abs(to_wheel @ (math.cos(heading), math.sin(heading))) < 1e-12
        assert abs(math.remainder(found.heading - heading, math.pi)) < 1e-12
        assert (
            abs(np.dot(found.centre, (math.sin(heading), -math.cos(heading)))) < 1e-12
        )  # nearest to the origin


def test_two_axles_meet_in_the_centre(rng):
    for _ in range(50):
        wheels = rng.uniform(-2, 2, (2, 3))
        found = base_motion(np.array([lateral(*w) for w in wheels]), BASE, 0.7)
        assert found.dimension == 1
        (twist,) = found.basis
        for x, y, heading in wheels:
            velocity = contact_velocity(twist, x, y)
            across = velocity @ (-math.sin(heading), math.cos(heading))
            assert abs(across) < 1e-9 * max(1, np.linalg.norm(velocity))
            gap = np.subtract(found.centre, (x, y))
            assert abs(gap @ (math.cos(heading), math.sin(heading))) < 1e-9 * max(1, np.linalg.norm(gap))


def test_parallel_axles_only_shift():
    found = base_motion(np.array([lateral(1, 0, 0.3), lateral(-1, 0, 0.3)]), BASE, 1.0)
    assert found.dimension == 1
    assert found.centre is None
    assert found.heading == pytest.approx(0.3)
    assert "no other way" in found.explain()


def test_three_axles_slip_least_the_way_it_says(rng):
    """The least of max-free, root-sum-square slip over all twists of speed 1: against a search over the sphere."""
    length = 0.7
    for _ in range(5):
        rows = np.array([lateral(*w) for w in rng.uniform(-2, 2, (3, 3))])
        found = base_motion(rows, BASE, length)
        assert found.dimension == 0
        scaled = rows / (1, 1, length)
        own = np.array(found.nearest) * (1, 1, length)
        own /= np.linalg.norm(own)
        tried = rng.normal(size=(20000, 3))
        tried /= np.linalg.norm(tried, axis=1, keepdims=True)
        assert np.linalg.norm(scaled @ own) <= np.linalg.norm(tried @ scaled.T, axis=1).min() + 1e-12
        assert found.slip == pytest.approx(np.abs(scaled @ own).max())
        assert "slips" in found.explain()


def test_other_speeds_drop_out(rng):
    """A wheel's spin takes the rolling row away, but not the lateral one."""
    rolling = [*contact_row(0.3, 0.2, 0.1), -0.15]
    across = [*lateral(0.3, 0.2, 0.1), 0.0]
    rows = np.array([rolling, across])
    left = base_rows(rows, BASE)
    assert left.shape == (1, 3)
    np.testing.assert_allclose(np.abs(left[0]), np.abs(lateral(0.3, 0.2, 0.1)), atol=1e-12)
    assert base_motion(rows[:1], BASE, 1.0).dimension == 3


def contact_row(x, y, heading):
    return [math.cos(heading), math.sin(heading), x * math.sin(heading) - y * math.cos(heading)]


def test_steering_angles_let_the_base_move(rng):
    for _ in range(50):
        wheels = [WheelPlace(f"w{k}", *rng.uniform(-1, 1, 3), True) for k in range(4)]
        twist = rng.normal(size=3)
        angles = steering_angles(wheels, twist)
        rows = [lateral(w.x, w.y, w.heading + a) for w, a in zip(wheels, angles, strict=True)]
        np.testing.assert_allclose(np.array(rows) @ twist, 0, atol=1e-12)
        assert all(-math.pi / 2 < angle <= math.pi / 2 for angle in angles)
    at_centre = WheelPlace("w", 0.5, 0.25, 0.0, True)
    assert steering_angles([at_centre], (0.25, -0.5, 1.0)) == (0.0,)
    assert half_turn(-math.pi / 2) == half_turn(math.pi / 2) == math.pi / 2
