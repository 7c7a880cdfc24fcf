"""Paths of poses, followed in the least time: every limit between samples too, and the poses of the path."""

import math
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.interpolate import BSpline

import trundle
from trundle.motion.constraints.constraint import Constraints
from trundle.motion.drive.drive import QUANTITIES
from trundle.motion.paths.collocation_grid import PathProblem
from trundle.motion.paths.knots import Knots
from trundle.motion.paths.path_scaling import Squares
from trundle.motion.paths.retime import retime
from trundle.motion.pieces.profiles import move
from work import calls

LIMITS = trundle.Limits(
    steering_rate=8,
    steering_acceleration=60,
    steering_jerk=900,
    drive_speed=3,
    drive_acceleration=5,
    drive_jerk=40,
)
PLAIN = trundle.Limits(steering_rate=8, drive_speed=3, drive_acceleration=5)


def followed(*given, **options):
    """The motion within declared limits alone."""
    return trundle.follow(*given, grip=None, **options).motion


def sampled(motion, count=20_001):
    times = np.linspace(0, motion.duration, count)
    return times, motion.samples(times)


def held(motion, limits):
    """No limit exceeded, no slip."""
    _, samples = sampled(motion)
    for name in QUANTITIES:
        largest = np.abs(getattr(samples, name)).max()
        assert largest <= limits.of(name) * (1 + 1e-9), name
    assert samples.slip.max() < 1e-12


def random_path(rng):
    poses = np.cumsum(rng.uniform(-1.5, 1.5, (rng.integers(2, 6), 3)), axis=0)
    return trundle.pose_path(poses)


def random_limits(rng):
    jerky = rng.random() < 0.5
    return trundle.Limits(
        steering_rate=rng.uniform(1, 12),
        steering_acceleration=rng.uniform(5, 100) if jerky else math.inf,
        steering_jerk=rng.uniform(50, 2000) if jerky else math.inf,
        drive_speed=rng.uniform(0.5, 5),
        drive_acceleration=rng.uniform(1, 10),
        drive_jerk=rng.uniform(5, 100) if jerky else math.inf,
    )


@pytest.mark.parametrize("limits", [PLAIN, LIMITS], ids=["plain", "jerks"])
@pytest.mark.slow
def test_a_path_is_followed_within_the_limits(limits):
    path = trundle.pose_path([(0, 0, 0), (1, 1, 0.5), (2, 0, 2.0), (3, 0.5, 2.0)])
    motion = followed(path, trundle.catalog.swerve(), limits=limits)
    held(motion, limits)
    assert motion.poses([0.0, motion.duration]) == pytest.approx(path.poses([0.0, path.length]), abs=1e-11)
    ends = motion.samples([0.0, motion.duration])
    assert ends.twist == pytest.approx(np.zeros((2, 3)), abs=1e-12)


def test_the_base_passes_all_poses_of_the_path():
    given = [(0, 0, 0), (1, 1, 0.5), (2, 0, 2.0)]
    motion = followed(trundle.pose_path(given), trundle.catalog.swerve(), limits=PLAIN)
    poses = motion.poses(np.linspace(0, motion.duration, 4001))
    for pose in given:
        assert np.abs(poses - pose).max(axis=1).min() < 2e-3


@pytest.mark.campaign
def test_random_paths_are_followed_within_random_limits(campaign):
    swerve = trundle.catalog.swerve()
    for rng in campaign(300):
        limits = random_limits(rng)
        path = random_path(rng)
        motion = followed(path, swerve, limits=limits)
        held(motion, limits)
        assert motion.poses([motion.duration]) == pytest.approx(path.poses([path.length]), abs=1e-9)


@pytest.mark.slow
def test_rates_are_the_derivatives_of_angles_and_speeds():
    motion = followed(random_path(np.random.default_rng(3)), trundle.catalog.swerve(), limits=LIMITS)
    times, samples = sampled(motion, 200_001)
    step = times[1]
    for below, above in [
        ("angle", "steering_rate"),
        ("steering_rate", "steering_acceleration"),
        ("steering_acceleration", "steering_jerk"),
        ("drive_speed", "drive_acceleration"),
        ("drive_acceleration", "drive_jerk"),
        ("twist", "twist_rate"),
        ("twist_rate", "twist_jerk"),
    ]:
        slope = np.gradient(getattr(samples, below), step, axis=0)
        rate = getattr(samples, above)
        assert np.median(np.abs(slope - rate)) <= 1e-5 * np.abs(rate).max(), above


@pytest.mark.parametrize("limits", [PLAIN, LIMITS], ids=["plain", "jerks"])
def test_straight_on_it_is_as_quick_as_the_closed_form(limits):
    motion = followed(trundle.pose_path([(0, 0, 0), (4, 0, 0)]), trundle.catalog.swerve(), limits=limits)
    best = move(4.0, limits.drive_speed, limits.drive_acceleration, limits.drive_jerk)
    assert best.duration * (1 - 1e-9) <= motion.duration <= 1.005 * best.duration


def test_wheels_turn_to_the_path_first_where_their_angles_are_given():
    path = trundle.pose_path([(0, 0, 0), (0, 2, 0)])
    swerve = trundle.catalog.swerve()
    names = trundle.kinematics(swerve).names
    motion = followed(path, swerve, limits=PLAIN, angles=dict.fromkeys(names, 0.0))
    free = followed(path, swerve, limits=PLAIN)
    assert motion.duration == pytest.approx(free.duration + math.pi / 2 / 8)
    assert motion.samples([0.0]).angle == pytest.approx(0.0)


def test_wheels_roll_backward_where_that_saves_turning():
    path = trundle.pose_path([(0, 0, 0), (-2, 0, 0)])
    swerve = trundle.catalog.swerve()
    names = trundle.kinematics(swerve).names
    motion = followed(path, swerve, limits=PLAIN, angles=dict.fromkeys(names, 0.0))
    assert motion.samples([motion.duration / 2]).drive_speed == pytest.approx(-3.0, rel=2e-2)


def test_the_base_stops_where_a_wheel_stands_on_the_centre_of_rotation():
    """Turning about one wheel: it stands all the time; driving off sideways through its axis needs a stop."""
    swerve = trundle.catalog.swerve()
    place = trundle.kinematics(swerve).places[0]
    angles = np.linspace(0, 1.2, 9)
    cos, sin = np.cos(angles), np.sin(angles)
    x, y = place[0] - cos * place[0] + sin * place[1], place[1] - sin * place[0] - cos * place[1]
    motion = followed(trundle.pose_path(np.stack([x, y, angles], axis=1)), swerve, limits=PLAIN)
    _, samples = sampled(motion, 2001)
    assert np.abs(samples.drive_speed[:, 0]).max() < 0.05


def test_mecanum_wheels_follow_paths_too():
    limits = trundle.Limits(drive_speed=2, drive_acceleration=3, drive_jerk=30)
    path = trundle.pose_path([(0, 0, 0), (1, 1, 0.5), (2, 0, 1.0)])
    motion = followed(path, trundle.catalog.mecanum(), limits=limits)
    held(motion, limits)
    assert motion.poses([motion.duration]) == pytest.approx(path.poses([path.length]), abs=1e-11)


def test_what_can_not_follow_is_told():
    path = trundle.pose_path([(0, 0, 0), (1, 1, 0)])
    with pytest.raises(trundle.InputError, match="holds its direction") as error:
        trundle.follow(path, trundle.catalog.differential_drive(), limits=PLAIN)
    assert "give points without headings" in error.value.hint
    behind = {"robot": {"name": "behind", "wheels": {
        name: {"at": [-0.2, y, 0], "radius": 0.1} for name, y in [("left", 0.3), ("right", -0.3)]
    }}}  # fmt: skip
    with pytest.raises(trundle.InputError, match="holds its direction.*\n.*origin on the axle"):
        trundle.follow(trundle.pose_path([(0, 0), (1, 1), (3, 1)]), behind, limits=PLAIN)
    with pytest.raises(trundle.InputError, match="nothing limits how fast(.|\n)*voltage_limit or a battery"):
        trundle.follow(path, trundle.catalog.swerve(), limits=trundle.Limits(drive_acceleration=3), grip=None)
    narrow = trundle.Limits(steering_rate=8, drive_speed=3, drive_acceleration=5, steering_range=(-0.1, 0.1))
    with pytest.raises(trundle.InputError, match=r"holds front_left at 45°: its range from -5.73° to 5.73°"):
        trundle.follow(path, trundle.catalog.swerve(), limits=narrow)
    bent = trundle.pose_path([(0, 0, 0), (1, 1, 0), (2, 0, 0)])
    with pytest.raises(trundle.InputError, match=r"steers front_left from -6\d\.?\d*° to 6"):
        trundle.follow(bent, trundle.catalog.swerve(), limits=narrow)
    with pytest.raises(trundle.InputError, match="no module 'front'"):
        trundle.follow(path, trundle.catalog.swerve(), limits=PLAIN, angles={"front": 0.0})
    with pytest.raises(trundle.InputError, match="same as the one before"):
        trundle.pose_path([(0, 0, 0), (0, 0, 0)])


@pytest.mark.slow
def test_a_wheel_may_stand_at_a_paths_end():
    """Three poses on a parabola: one wheel stands on the centre of rotation at the start, another one at the end."""
    driven = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0.5, 1), (2, 0, 0)]))
    held(driven.motion, driven.limits[0])
    assert driven.summary()["exceeded"] == []
    assert np.isfinite(driven.motion.samples([0.0, driven.motion.duration]).angle).all()


def test_a_turn_in_place_has_no_wheel_on_the_centre():
    """All wheels' speeds are the same along it but for rounding, whose thousands of minima are no zeros."""
    found = []

    def to(goal):
        found.append(followed(trundle.pose_path([(0, 0, 0), goal]), limits=LIMITS))

    bend, turn = (calls(partial(to, goal)).total() for goal in ((1, 0.2, 2), (0, 0, 2)))
    assert turn < 1.5 * bend  # a search at every minimum makes it many times as much
    motion = found[1]
    assert motion.poses([motion.duration])[0] == pytest.approx([0, 0, 2], abs=1e-9)
    assert len(motion.pieces) == 1
    held(motion, LIMITS)


@pytest.mark.slow
def test_poses_that_lead_straight_back():
    """The base stops where it turns back, and is as fast as on the two straight lines."""
    there, back = followed(trundle.pose_path([(0, 0, 0), (1, 0, 0)]), limits=LIMITS), [(0, 0, 0), (1, 0, 0)]
    motion = followed(trundle.pose_path([*back, (0, 0, 0)]), limits=LIMITS)
    assert motion.duration == pytest.approx(2 * there.duration)
    assert motion.poses([motion.duration / 2, motion.duration]) == pytest.approx(
        np.array([[1, 0, 0], [0, 0, 0]])
    )
    held(motion, LIMITS)


@pytest.mark.slow
def test_a_wheel_passes_close_by_the_centre_of_rotation():
    """The base nearly stops while the wheel turns, and no longer: it was refused, or too slow to be integrated."""
    rng = np.random.default_rng([3889262366, 14])
    limits, path = random_limits(rng), random_path(rng)
    motion = followed(path, trundle.catalog.swerve(), limits=limits)
    held(motion, limits)
    assert motion.poses([motion.duration]) == pytest.approx(path.poses([path.length]), abs=1e-9)
    assert motion.duration < 7.2


@pytest.mark.parametrize(
    "robot", [trundle.catalog.swerve(), trundle.catalog.mecanum()], ids=["swerve", "mecanum"]
)
@pytest.mark.slow
def test_steerings_jerk_may_be_limited_and_rollings_not(robot):
    """No speeds were found for it, though there are: as slow as with both limited, as fast as with none at most."""
    path = trundle.pose_path([(0, 0, 0), (2, 0, 0)])
    rest = {"steering_rate": 2, "steering_acceleration": 10, "drive_speed": 1, "drive_acceleration": 2}
    free, one, both = (
        trundle.follow(path, robot, limits=trundle.Limits(**rest, **jerks))
        for jerks in ({}, {"steering_jerk": 100}, {"steering_jerk": 100, "drive_jerk": 10})
    )
    assert one.summary()["exceeded"] == []
    assert free.motion.duration <= one.motion.duration <= both.motion.duration


@pytest.mark.parametrize("size", [2, 3, 40])
def test_splines_whose_slopes_do_not_jump_are_scipys(rng, size):
    knots = np.cumsum(rng.uniform(0.1, 1, size))
    squares, b = Squares.on(knots, smooth=True), rng.uniform(1, 2, size + 1)
    spline = BSpline(np.concatenate([knots[:1].repeat(2), knots, knots[-1:].repeat(2)]), b, 2)
    inside = np.array([0.2, 0.7])
    z = knots[:-1, None] + np.diff(knots)[:, None] * inside
    values = np.einsum("kpoc,kc->opk", squares.values(inside, 3), b[squares.columns])
    for order, value in enumerate(values):
        np.testing.assert_allclose(value.T, spline(z, order) / (1, 2, 2)[order], atol=1e-9)


@pytest.mark.parametrize("smooth", [True, False])
def test_splines_of_squares_are_their_pieces_and_stay_so_on_finer_knots(rng, smooth):
    knots = np.cumsum(rng.uniform(0.1, 1, 7))
    squares = Squares.on(knots, smooth)
    b = rng.uniform(1, 2, len(squares.pairs))
    scaling = squares.scaling(b)
    np.testing.assert_allclose(squares.coefficients(scaling), b, rtol=1e-9)
    share = np.array([0.0, 0.3, 1.0])
    values = np.einsum("kpoc,kc->okp", squares.values(share, 3), b[squares.columns])
    piece = np.repeat(np.arange(6), 3)
    pieces = scaling.squared(piece, np.tile(share, 6) * np.diff(knots)[piece])
    np.testing.assert_allclose(values.reshape(3, -1), pieces, rtol=1e-9, atol=1e-9)
    finer = np.sort(np.concatenate([knots, (knots[:-1] + knots[1:]) / 2]))
    again = Squares.on(finer, smooth)
    same = again.scaling(again.coefficients(scaling))
    z = rng.uniform(knots[0], knots[-1], 20)
    np.testing.assert_allclose(
        same.squared(*same.placed(z))[0], scaling.squared(*scaling.placed(z))[0], rtol=1e-9
    )


@pytest.mark.parametrize("spoilt", [np.inf, np.nan])
def test_rates_without_end_are_told(spoilt):
    piece = trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)])).motion.pieces[0]

    def spoilt_samples(z):
        unit = piece.at_unit_pace(z)
        return replace(unit, drive_jerk=unit.drive_jerk * spoilt)

    problem = PathProblem(spoilt_samples, Constraints(()), jerks=False)
    with pytest.raises(trundle.NumericsError, match="too sharp or too long"):
        retime(problem, Knots(piece.scaling.knots, piece.scaling.knots[1:-1]), lambda z: np.zeros(3))
