"""What the planner is made of, each against a second formulation: least times, splines, certificates, pieces."""

import math

import numpy as np
import pytest
from scipy.interpolate import BSpline

from trundle.mechanics.modules import Module
from trundle.motion.drive.drive import Drive, Limits, log_rates
from trundle.motion.pieces.profiles import change, change_time, move, move_time
from trundle.motion.planning.course_pieces import AlongCourse
from trundle.motion.planning.courses import least_duration, pinned, polish, waves
from trundle.motion.planning.proofs import bounds
from trundle.motion.planning.splines import (
    CUBIC,
    INTERVALS,
    QUADRATIC,
    UnitGrid,
    nodes,
    power_series,
    to_bernstein,
    windows,
)
from trundle.motion.time_optimal import Axis, time_optimal

FULL = Limits(2, 10, 75, 1, 5, 10)
inf = math.inf


@pytest.fixture
def drive(rng):
    places = rng.normal(size=(4, 2)).tolist()
    modules = (
        Module(n, (x, y), (1.0, 0.0), 0.05, True, (0, 0)) for n, (x, y) in zip("abcd", places, strict=True)
    )
    return Drive(tuple(modules), (FULL,) * 4)


def random_course(drive, rng, crossing=()):
    """A course that no module's axis is near to but those that it crosses."""
    while True:
        controls = rng.normal(size=3) + 0.1 * rng.normal(size=(CUBIC, 3))
        controls[:3], controls[-3:] = controls[2], controls[-3]
        controls = pinned(drive, controls, crossing)
        w = waves(drive, controls[None], [crossing], UnitGrid(np.linspace(0, 1, 20)))
        if np.abs(w[0]).min() > 0.15:
            return controls


@pytest.mark.parametrize("limits", [(2, 10, 75), (2, 10, inf), (inf, 10, 75), (0.5, 10, 75), (9, 3, 2)])
def test_moves_take_the_least_time_that_ruckig_finds(limits, rng):
    for distance in rng.uniform(-3, 3, 5):
        profile = move(distance, *limits)
        (peer,) = time_optimal([Axis((0, 0, 0), (distance, 0, 0), *limits)])
        assert profile.duration == pytest.approx(peer.duration, rel=1e-9)
        assert move_time(distance, *limits) == pytest.approx(peer.duration, rel=1e-9)
        assert profile.at(profile.duration) == pytest.approx(distance, abs=1e-12)
        for order, limit in enumerate(limits, 1):
            assert max(map(abs, profile.extremes(order))) <= limit * (1 + 1e-9)


def test_changes_of_speed(rng):
    for start, end in rng.uniform(-1, 1, (5, 2)):
        profile = change(start, end, 5, 10)
        assert profile.duration == pytest.approx(change_time(end - start, 5, 10))
        assert profile.at([0, profile.duration], 1) == pytest.approx([start, end])
        assert max(map(abs, profile.extremes(2))) <= 5 * (1 + 1e-12)


def test_without_limits_moves_take_no_time():
    assert move_time(1.0, inf, inf, inf) == 0
    assert move(1.0, inf, inf, inf).duration == 0


@pytest.mark.parametrize(("degree", "count"), [(3, CUBIC), (2, QUADRATIC)])
def test_splines_are_scipys(degree, count, rng):
    controls = rng.normal(size=count)
    knots = np.concatenate([np.zeros(degree), np.linspace(0, 1, INTERVALS + 1), np.ones(degree)])
    share = np.linspace(0.01, 0.99, 7)
    ours = np.einsum("kpc,c,np->kn", power_series(degree), controls, share[:, None] ** np.arange(degree + 1))
    peer = BSpline(knots, controls, degree)(UnitGrid(share).times)
    assert ours == pytest.approx(peer, abs=1e-12)


def test_bernsteins_form_of_a_polynomial(rng):
    coefficients = to_bernstein() @ (nodes().inside ** np.arange(4)[:, None]).T
    for power in range(4):  # of x^p they are C(k, p)/C(n, p), by the binomials of the basis
        n = len(coefficients) - 1
        expected = [math.comb(n, k) * math.comb(k, power) / math.comb(n, power) for k in range(n + 1)]
        unscaled = [math.comb(n, k) for k in range(n + 1)]
        assert coefficients[:, power] * unscaled == pytest.approx(expected, rel=1e-8, abs=1e-6)


@pytest.mark.parametrize("crossing", [(), ((2, 5),), ((0, 4), (3, 8))])
def test_certificates_are_above_all_samples_and_close(drive, rng, crossing):
    """Above on every course, close on most: of 450 random courses one was 8 % above."""
    slack = [_slack(drive, rng, crossing) for _ in range(5)]
    assert np.median(slack, axis=0).max() <= 1.05


def _slack(drive, rng, crossing):
    """By how much certificates are above samples of a random course, of the module that is closest; none is below."""
    controls = random_course(drive, rng, crossing)
    r = rng.normal(size=QUADRATIC)
    course = AlongCourse(drive, controls, crossing, r, 1.0, np.zeros(4))
    s = course.samples(np.linspace(0, 1, 20_001))
    found = bounds(drive, controls, crossing, r)
    slack = []
    for bound, names in (
        (found.steering, ("steering_rate", "steering_acceleration", "steering_jerk")),
        (found.rolling, ("drive_speed", "drive_acceleration", "drive_jerk")),
    ):
        for certified, name in zip(bound, names, strict=True):
            largest = np.abs(getattr(s, name)).max(axis=0)
            assert (certified >= largest * (1 - 1e-9)).all()
            slack.append(np.min(certified / largest))
    return slack


@pytest.mark.parametrize("crossing", [(), ((2, 5),), ((1, INTERVALS),)])
def test_pieces_have_the_derivatives_of_what_they_are(drive, rng, crossing):
    controls = random_course(drive, rng, tuple(each for each in crossing if each[1] < INTERVALS))
    if crossing and crossing[0][1] == INTERVALS:
        controls[-3:] = drive.axes[crossing[0][0]]
    course = AlongCourse(drive, controls, crossing, rng.normal(size=QUADRATIC), 1.7, np.zeros(4))
    h = 1e-5
    times = rng.uniform(0.01, 1.69, 50)
    here, after, before = (course.samples(np.sort(times) + step) for step in (0, h, -h))
    for name, rate in (
        ("angle", "steering_rate"),
        ("steering_rate", "steering_acceleration"),
        ("drive_speed", "drive_acceleration"),
        ("twist", "twist_rate"),
    ):
        slope = (getattr(after, name) - getattr(before, name)) / (2 * h)
        exact = getattr(here, rate)
        assert np.abs(slope - exact).max() <= 1e-3 * max(1.0, np.abs(exact).max())
    assert here.slip.max() <= 1e-12 * max(1.0, np.abs(here.twist).max())


def test_polishing_never_makes_a_course_slower(drive, rng):
    crossing = ((1, 6),)
    controls = random_course(drive, rng, crossing)[None]
    before = least_duration(
        drive, log_rates(waves(drive, controls, [crossing], UnitGrid(np.array([0.0, 0.5, 1.0]))))
    )
    better, time = polish(drive, controls, [crossing], (4, 6, 8))
    assert time <= before
    assert (better[:, :3] == controls[:, :3]).all()
    axis = (better[0, 6] + 4 * better[0, 7] + better[0, 8]) / 6 @ drive.map[:, 1]
    assert abs(axis) <= 1e-12 * np.abs(better).max()
    assert windows(4).shape == (INTERVALS, 4)
