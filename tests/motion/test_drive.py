"""The drive in arrays against its modules in scalars, and the rules that all who use it share."""

import itertools
import math

import numpy as np
import pytest

import trundle
from trundle.mechanics.modules import SLACK, turns_into_range
from trundle.mechanics.steering import STILL, velocity_at
from trundle.motion.drive.drive import Drive, Limits, log_rates
from trundle.motion.pieces.pieces import straight, turning
from trundle.motion.pieces.profiles import PiecewisePolynomial, move, shaped

ROBOTS = ("swerve", "mecanum", "three_omni", "differential_drive")


@pytest.fixture(params=ROBOTS)
def who(request):
    return trundle.kinematics(trundle.catalog.robot(request.param))


def test_velocities_are_those_of_rigid_motion(who, rng):
    """u = v + ω × r, by NumPy's cross product in space."""
    twists = rng.normal(size=(7, 3))
    places = np.column_stack([who.places, np.zeros(len(who.names))])
    spins = np.zeros((7, 3))
    spins[:, 2] = twists[:, 2]
    expected = np.array([[*v, 0.0] for v in twists[:, :2]])[:, None] + np.cross(spins[:, None], places)
    u = who.drive.velocities(twists)
    np.testing.assert_allclose(u.real, expected[..., 0], atol=1e-14)
    np.testing.assert_allclose(u.imag, expected[..., 1], atol=1e-14)


def test_slip_in_arrays_is_the_modules_slip(who, rng):
    drive = who.drive
    twists, speeds = rng.normal(size=(5, 3)), rng.normal(size=(5, len(drive.modules)))
    angles = np.where(drive.points, rng.uniform(-3, 3, speeds.shape), drive.headings)
    slips = drive.slips(drive.velocities(twists), angles, speeds)
    for n, k in itertools.product(range(5), range(len(drive.modules))):
        module = drive.modules[k]
        one = module.slip(module.along(angles[n, k]), twists[n].tolist(), speeds[n, k])
        assert slips[n, k] == pytest.approx(math.hypot(*map(float, one)), abs=1e-13)


def test_agreeing_undoes_what_a_twist_asks(who, rng):
    """A drive's states lead back to their twist; of one that can't do every twist to one that slips no more."""
    for twist in rng.normal(size=(5, 3)):
        if who.name == "differential_drive":
            twist[1] = 0.0
        angles, speeds = who.drive.pointed(twist.tolist())
        np.testing.assert_allclose(who.drive.agreeing(angles[None], speeds[None])[0], twist, atol=1e-12)


def test_states_in_floats_are_those_of_the_compiled_programs(who, rng):
    for twist in [*rng.normal(size=(6, 3)), np.zeros(3)]:
        angles, speeds = who.drive.pointed(twist.tolist())
        compiled = who.module_states(*twist)
        np.testing.assert_allclose(angles, compiled.angles, atol=1e-12)
        np.testing.assert_allclose(speeds, compiled.speeds, atol=1e-12)
        then = rng.normal(size=3)
        followed = who.drive.followed(then.tolist(), angles, speeds)
        compiled = who.module_states(*then, previous=compiled)
        np.testing.assert_allclose(followed[0], compiled.angles, atol=1e-12)
        np.testing.assert_allclose(followed[1], compiled.speeds, atol=1e-12)


def test_log_rates_are_derivatives_of_the_angle_and_of_the_size(rng):
    """Against the third-order Taylor series of u by differences of a complex polynomial."""
    c = rng.normal(size=4) + 1j * rng.normal(size=4)
    c[0] += 3.0
    rates = log_rates(c * np.array([1.0, 1.0, 2.0, 6.0]))

    def u(t):
        return np.polyval(c[::-1], t)

    h = 1e-3
    t = h * np.arange(-2, 3)
    angle, size = np.unwrap(np.angle(u(t))), np.abs(u(t))

    def first(f):
        return (f[0] - 8 * f[1] + 8 * f[3] - f[4]) / (12 * h)

    def second(f):
        return (-f[0] + 16 * f[1] - 30 * f[2] + 16 * f[3] - f[4]) / (12 * h * h)

    # differences of the fourth order: h⁴ of them is left, and rounding by h and h²
    assert rates.steering[0] == pytest.approx(first(angle), abs=1e-9)
    assert rates.steering[1] == pytest.approx(second(angle), abs=1e-7)
    assert rates.growth[0] * size[2] == pytest.approx(first(size), abs=1e-9)
    assert rates.growth[1] * size[2] == pytest.approx(second(size), abs=1e-7)


@pytest.mark.parametrize("period", [math.pi, 2 * math.pi])
def test_turns_into_range_are_the_least_by_brute_force(rng, period):
    for _ in range(200):
        now, turn = rng.uniform(-8, 8), rng.uniform(-9, 9)
        low = rng.uniform(-7, 0)
        high = low + rng.uniform(0.5, 9)
        swing = np.sort(rng.uniform(-1, 1, 2))
        options = turn + period * np.arange(-30, 31)
        ends = now + options
        inside = (ends + min(swing[0], 0) >= low - SLACK) & (ends + max(swing[1], 0) <= high + SLACK)
        (least,) = turns_into_range(
            np.array([turn]),
            np.array([now]),
            np.array([[low], [high]]),
            period,
            (np.array([swing[0]]), np.array([swing[1]])),
        )
        if np.isnan(least):
            assert not (inside & (np.abs(options) < 7 * period)).any()
        else:
            assert np.abs(options[inside] - least).min() < 1e-9
            assert abs(least) <= np.abs(options[inside]).min() + 1e-9


@pytest.mark.parametrize("size", [1e-3, 1.0, 50.0])
def test_one_rule_says_which_wheel_stands_still(size):
    """On the centre of rotation a wheel holds its angle, in arrays and in programs; beside it, it turns."""
    who = trundle.kinematics(trundle.catalog.swerve())
    x, y = who.places[0]
    on = np.array([y, -x, 1.0]) * size  # v = −ω × r
    assert np.hypot(*map(float, velocity_at((x, y), on.tolist()))) == 0
    assert who.drive.still(who.drive.velocities(on)).tolist() == [True, False, False, False]
    before = who.states([0.3] * 4, [0.0] * 4)
    assert who.module_states(*on, previous=before).angles[0] == 0.3
    beside = on + np.array([0.0, 1e3 * STILL * max(size, 1.0), 0.0])
    assert not who.drive.still(who.drive.velocities(beside)).any()
    assert who.module_states(*beside, previous=before).angles[0] != 0.3


def test_limits_for_all_by_name_and_as_declared():
    drive = trundle.kinematics(trundle.catalog.limited_swerve()).drive
    assert drive.limited(None) is drive
    assert drive.limited(Limits(steering_rate=1)).steering[0].tolist() == [1.0] * 4
    named = {name: Limits(drive_speed=k + 1) for k, name in enumerate(drive.names)}
    assert drive.limited(named).rolling[0].tolist() == [1.0, 2.0, 3.0, 4.0]
    with pytest.raises(trundle.InputError, match="no module 'left'"):
        drive.limited({"left": Limits()})
    with pytest.raises(trundle.InputError, match="limits lack"):
        drive.limited({drive.names[0]: Limits()})


def test_pieces_along_a_line_and_at_rest_slip_nowhere(rng):
    drive: Drive = trundle.kinematics(trundle.catalog.limited_swerve()).drive
    twist = rng.normal(size=3)
    angles, _ = drive.pointed(twist.tolist())
    along = straight(drive, twist, shaped("scurve", 0.0, 1.0, 2.0), angles)
    samples = along.samples(np.linspace(0, 2, 21))
    assert samples.slip.max() < 1e-14
    np.testing.assert_array_equal(along.end_angles, angles)
    turns = rng.normal(size=4)
    (rest,) = turning(drive.limited(trundle.Limits(2, 10, 75)), angles, turns)
    assert rest.duration == max(move(turn, 2, 10, 75).duration for turn in turns)
    np.testing.assert_allclose(rest.end_angles, angles + turns)
    samples = rest.samples(np.linspace(0, rest.duration, 21))
    assert not samples.twist.any()
    assert not samples.slip.any()
    np.testing.assert_allclose(samples.angle[-1], rest.end_angles)


def test_piecewise_polynomials_are_scipys(rng):
    from scipy.interpolate import PPoly

    breaks = np.cumsum(np.concatenate([[0.0], rng.uniform(0.1, 1, 5)]))
    coefficients = rng.normal(size=(5, 4, 2))
    ours, peer = (
        PiecewisePolynomial(breaks, coefficients),
        PPoly(coefficients[:, ::-1].swapaxes(0, 1), breaks),
    )
    times = rng.uniform(0, breaks[-1], 50)
    for order in range(6):
        np.testing.assert_allclose(ours.at(times, order), peer(times, order), atol=1e-12)
