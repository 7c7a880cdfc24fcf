"""The integral of a twist on the plane's motions, against closed forms."""

import numpy as np
import pytest

import trundle
from trundle.motion.odometry.displacement import advance
from trundle.motion.pieces.motion import integrate


def test_constant_twists_lead_along_arcs():
    twist = np.array([0.3, -0.7, 1.9])
    arcs = integrate(lambda t: np.tile(twist, (t.size, 1)), np.array([0.0, 1.0, 7.0]), (1.0, 2.0, 0.4))
    times = np.linspace(0, 7, 11)
    exact = [advance((1.0, 2.0, 0.4), twist * t) for t in times]
    np.testing.assert_allclose(arcs.at(times), exact, atol=1e-13)


def test_rough_twists_are_halved_until_they_are_smooth():
    """v_x = 1 / ((t − 1/2)² + ε²): its integral is an arctangent."""
    eps = 1e-4

    def twist(t):
        return np.stack([eps / ((t - 0.5) ** 2 + eps**2), 0 * t, 0 * t], axis=1)

    arcs = integrate(twist, np.array([0.0, 1.0]), (0.0, 0.0, 0.0))
    times = np.linspace(0, 1, 21)
    exact = np.arctan((times - 0.5) / eps) + np.arctan(0.5 / eps)
    np.testing.assert_allclose(arcs.at(times)[:, 0], exact, atol=1e-12)


def test_against_scipy():
    from scipy.integrate import solve_ivp

    def twist(t):
        return np.stack([np.sin(3 * t), np.cos(t) * t, 2 * np.cos(2 * t)], axis=-1)

    def rate(t, pose):
        (a, b, w), (c, s) = twist(np.array(t)), (np.cos(pose[2]), np.sin(pose[2]))
        return [c * a - s * b, s * a + c * b, w]

    arcs = integrate(twist, np.array([0.0, 5.0]), (0.0, 0.0, 1.0))
    reference = solve_ivp(rate, (0, 5), [0, 0, 1.0], method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    np.testing.assert_allclose(arcs.at(np.array([5.0]))[0], reference, atol=1e-10)


def test_rates_late_in_a_long_motion_are_as_exact_as_their_times():
    """A ramp at the end of 300 s: its times are rounded to 3e-14 s, so its rates are never smooth to 1e-14."""

    def twist(t):
        speed = np.where(t < 300, 1.0, 1 - 50 * (t - 300))
        return np.stack([speed, 0 * t, speed], axis=1)

    breaks = np.array([0.0, 300.0, 300.02])
    arcs = integrate(twist, breaks, (0.0, 0.0, 0.0))
    assert len(arcs.series) < 200
    turn = 300.01  # what a base at radius 1 m turns while it drives this far
    exact = [np.sin(turn), 1 - np.cos(turn), turn]
    np.testing.assert_allclose(arcs.at(breaks[-1:])[0], exact, atol=1e-10)


def test_short_commands_lead_where_their_distances_say():
    """The pose of a motion against that of its samples' sums, by a rule of its own."""
    rng = np.random.default_rng(5)
    twists = [
        dict(zip(("v_x", "v_y", "omega"), rng.uniform(-1, 1, 3).tolist(), strict=True)) for _ in range(12)
    ]
    commands = [{"duration": 0.05, "twist": twist} for twist in twists]
    motion = trundle.drive({"motion": {"name": "short", "commands": commands}}).motion
    nodes, weights = np.polynomial.legendre.leggauss(30)
    half = np.diff(motion.breaks)[:, None] / 2
    times = np.minimum(motion.breaks[:-1, None] + half * (1 + nodes), motion.breaks[1:, None]).ravel()
    (x, y, turn), heading = motion.samples(times).twist.T, motion.poses(times)[:, 2]
    cos, sin = np.cos(heading), np.sin(heading)
    rates = np.stack([cos * x - sin * y, sin * x + cos * y, turn], axis=1)
    pose = (half * weights).ravel() @ rates
    np.testing.assert_allclose(motion.poses([motion.duration])[0], pose, atol=1e-10)


def test_rates_that_are_no_numbers_end_at_once():
    def twist(t):
        return np.stack([np.where(t < 3, 1.0, np.nan), 0 * t, 0 * t], axis=1)

    with pytest.raises(trundle.NumericsError, match="behind t = 2 s"):
        integrate(twist, np.array([0.0, 2.0, 5.0]), (0.0, 0.0, 0.0))
