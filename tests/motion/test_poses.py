"""The integral of a twist on the plane's motions, against closed forms."""

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import trundle
from trundle.choices import LEVELS, PROFILES
from trundle.motion.odometry.displacement import advance
from trundle.motion.pieces.arcs import integrate


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


@pytest.mark.slow
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


def any_motion(rng, longest=3600.0):
    """A motion of up to 12 commands that take 0.01 s to an hour together, or of up to 100 of 0.05 s, at any level."""
    duration = float(10 ** rng.uniform(-2, math.log10(longest)))
    shares = rng.dirichlet(np.full(rng.integers(1, 13), 2.0)) * duration
    if rng.random() < 0.03:
        shares = np.full(min(int(duration / 0.05) + 1, 100), 0.05)
    commands = []
    for share in shares:
        v_x, v_y, omega = rng.uniform(-1, 1, 3) * rng.integers(0, 2, 3)
        commands.append(
            {"duration": max(float(share), 1e-3), "twist": {"v_x": v_x, "v_y": v_y, "omega": omega}}
        )
    start = {"pose": dict(zip(("x", "y", "theta"), rng.normal(size=3).tolist(), strict=True))}
    plan = {"motion": {"name": "any", "start": start, "commands": commands}}
    return trundle.drive(plan, level=str(rng.choice(LEVELS)), profile=PROFILES[rng.integers(3)]).motion


def led(motion, most=0.1):
    """The pose at the end by Magnus' expansion of the sixth order (Blanes, Casas, Oteo & Ros 2009, eq. 253) with se(2)
    in complex numbers, in steps that turn and take less than `most`; and how far motion and turning lead in sum.
    """
    parts = np.ceil(np.diff(motion.breaks) * 2 / most).astype(int).clip(8)
    ends = [
        np.linspace(a, b, n + 1)[:-1]
        for a, b, n in zip(motion.breaks, motion.breaks[1:], parts, strict=False)
    ]
    edges = np.append(np.concatenate(ends), motion.breaks[-1])
    h = np.diff(edges)
    nodes = edges[:-1, None] + h[:, None] * (0.5 + np.array([-1, 0, 1]) * math.sqrt(0.15))
    x, y, omega = motion.samples(np.minimum(nodes, edges[1:, None]).ravel()).twist.T.reshape(3, -1, 3)
    first, second, third = (np.stack([x[:, k] + 1j * y[:, k], omega[:, k]]) for k in range(3))

    def bracket(a, b):  # of what stands to the right: a pose's rate is g ξ
        return np.stack([1j * (b[1] * a[0] - a[1] * b[0]), 0 * a[1]])

    one, two = h * second, math.sqrt(15) / 3 * h * (third - first)
    three = 10 / 3 * h * (third - 2 * second + first)
    inner = bracket(one, two)
    outer = -bracket(one, 2 * three + inner) / 60
    move, turn = one + three / 12 + bracket(-20 * one - three + inner, two + outer) / 240
    turn = turn.real
    chord = move * np.exp(0.5j * turn) * np.sinc(turn / (2 * math.pi))
    headings = motion.start[2] + np.concatenate([[0.0], np.cumsum(turn)])
    place = complex(*motion.start[:2]) + (chord * np.exp(1j * headings[:-1])).sum()
    return np.array([place.real, place.imag, headings[-1]]), float(np.abs(move).sum() + np.abs(turn).sum())


def require_pose(motion):
    pose = motion.poses([motion.duration])[0]
    # The work is counted, since times tell of the machine, too: a panel between breaks, and one for every 2 rad at
    # most that an hour at 1 rad/s turns.
    assert len(motion._arcs.series) <= len(motion.breaks) + 1800
    expected, length = led(motion)
    np.testing.assert_allclose(pose, expected, rtol=0, atol=1e-9 * length + 1e-15)


@pytest.mark.campaign
def test_ten_thousand_motions_lead_where_magnus_expansion_says(campaign):
    """Of 0.01 s to 1 h: in few panels, to 1e-9 of the length driven (m, and rad at 1 m)."""
    for rng in campaign(10_000):
        require_pose(any_motion(rng))


def test_some_motions_lead_where_magnus_expansion_says(rng):
    for _ in range(5):
        require_pose(any_motion(rng, longest=60.0))


@pytest.mark.slow
def test_magnus_expansion_against_scipy(rng):
    commands = [{"duration": 0.7, "twist": {"v_x": 0.4, "v_y": 0.2, "omega": w}} for w in (0.9, -0.3)]
    motion = trundle.drive({"motion": {"name": "two", "commands": commands}}, level="limited").motion

    def rate(t, pose):
        (a, b, w), (c, s) = motion.samples(np.array([t])).twist[0], (np.cos(pose[2]), np.sin(pose[2]))
        return [c * a - s * b, s * a + c * b, w]

    pose = np.array(motion.start, dtype=float)
    for a, b in zip(motion.breaks, motion.breaks[1:], strict=False):
        within = (a, np.nextafter(b, a))
        pose = solve_ivp(rate, within, pose, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    np.testing.assert_allclose(led(motion)[0], pose, atol=1e-9)
