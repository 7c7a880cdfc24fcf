"""Fastest motions in free space: closed forms, limits between samples, and what is refused."""

from __future__ import annotations

import dataclasses
import math
import sys
from functools import partial

import numpy as np
import pytest

import trundle
from trundle.errors import InputError
from trundle.motion.constraints.constraint import Constraints, Moving, shares
from trundle.motion.constraints.friction import Friction
from trundle.motion.constraints.motors import MotorLimits
from trundle.motion.constraints.real_limits import real_limits
from trundle.motion.constraints.slowdown import slowdown
from trundle.motion.constraints.wheels import WheelLimits
from trundle.motion.fastest import programme
from trundle.motion.fastest.directed import Directed
from trundle.motion.fastest.obstacles import Obstacle, clear_by, obstacles_of
from trundle.motion.fastest.outlines import hull, inscribed, outline_of
from trundle.motion.fastest.problem import Problem, Stop
from trundle.motion.fastest.real import _quickened, like_declared
from trundle.motion.fastest.routes import around, shortest
from trundle.motion.fastest.wishes import _greatest_speed
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import motion_forces
from trundle.motion.pieces.motion import Samples
from trundle.motion.pieces.profiles import PiecewisePolynomial

QUICK = trundle.Limits(steering_rate=6.0, drive_speed=4.0, drive_acceleration=6.0)
FAR = trundle.Limits(drive_speed=3.0, drive_acceleration=6.0)
ROLLING = trundle.Limits(drive_speed=4.0, drive_acceleration=6.0)
CAR = trundle.Limits(drive_speed=2.0, drive_acceleration=3.0, steering_rate=3.0, steering_range=(-0.6, 0.6))
# Walls about the origin, overlapping at their corners.
RING = [
    [(a, c), (b, c), (b, d), (a, d)]
    for a, b, c, d in ((-4, 4, 3, 4), (-4, 4, -4, -3), (3, 4, -4, 4), (-4, -3, -4, 4))
]
# Motors and floor aside.
declared = partial(trundle.fastest, grip=None)
# Found times agree with closed forms to this share of them.
CLOSED = 1e-3


def rest_to_rest(way: float, speed: float, acceleration: float) -> float:
    """The least time of a way from rest to rest."""
    if way < speed**2 / acceleration:
        return 2 * math.sqrt(way / acceleration)
    return way / speed + speed / acceleration


def check(found: trundle.motion.fastest.fastest.Fastest, goal: tuple[float, ...]) -> None:
    """It arrives, keeps all limits between samples, and doesn't slip."""
    motion = found.motion
    missed = motion.poses([motion.duration])[0] - goal
    assert [*missed[:2], math.remainder(missed[2], 2 * math.pi)] == pytest.approx([0, 0, 0], abs=1e-8)
    assert motion.samples([0.0, motion.duration]).twist == pytest.approx(np.zeros((2, 3)), abs=1e-8)
    told = found.summary()
    assert told["exceeded"] == []
    assert told["slip"] < 1e-9


@pytest.mark.parametrize("way", [pytest.param(0.5, marks=pytest.mark.slow), 1.0])
def test_a_swerve_goes_straight_in_the_double_integrators_time(way):
    found = declared(trundle.catalog.swerve(), (1, 2, 0.3), (1, 2 + way, 0.3), limits=QUICK)
    check(found, (1, 2 + way, 0.3))
    assert found.motion.duration == pytest.approx(rest_to_rest(way, 4, 6), rel=CLOSED)


@pytest.mark.slow
def test_a_swerve_turns_in_place_in_the_double_integrators_time():
    found = declared(trundle.catalog.swerve(), (0, 0, 0), (0, 0, 2), limits=QUICK)
    check(found, (0, 0, 2))
    assert found.motion.duration == pytest.approx(rest_to_rest(2 * math.sqrt(0.5), 4, 6), rel=CLOSED)


def test_a_mecanum_base_goes_aside_as_its_wheels_allow():
    # along the rollers' diagonal two wheels roll √2 as fast as the base and the others stand
    found = declared(trundle.catalog.mecanum(), (0, 0, 0), (0, 3, 0), limits=ROLLING)
    check(found, (0, 3, 0))
    assert found.motion.duration == pytest.approx(rest_to_rest(3, 4, 6), rel=CLOSED)


@pytest.mark.parametrize(
    ("robot", "limits", "goal"),
    [
        pytest.param(trundle.catalog.swerve(), QUICK, (3, 2, math.pi / 2), marks=pytest.mark.slow),
        (trundle.catalog.three_omni(), ROLLING, (3, 2, math.pi / 2)),
        (trundle.catalog.differential_drive(), ROLLING, (0, 2, 0)),
        pytest.param(trundle.catalog.ackermann(), CAR, (0, 1.5, 0), marks=pytest.mark.slow),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_motions_arrive_within_all_limits(robot, limits, goal):
    found = declared(robot, (0, 0, 0), goal, limits=limits)
    check(found, goal)
    times = [candidate.duration for candidate in found.candidates]
    assert times[0] == found.motion.duration
    assert min(times) >= times[0] * (1 - 1e-3)


@pytest.mark.slow
def test_modules_that_stand_otherwise_turn_first():
    robot = trundle.catalog.swerve()
    ahead = declared(robot, (0, 0, 0), (2, 0, 0), limits=QUICK)
    found = declared(robot, (0, 0, 0), (2, 0, 0), limits=QUICK, angles=dict.fromkeys(robot.wheels, 1.2))
    check(found, (2, 0, 0))
    assert found.motion.samples([0.0]).angle[0] == pytest.approx(np.full(4, 1.2))
    assert found.motion.duration == pytest.approx(ahead.motion.duration + 1.2 / 6, rel=1e-6)


@pytest.mark.slow
def test_waypoints_are_passed_at_their_headings_and_speeds():
    found = declared(
        trundle.catalog.swerve(), (0, 0, 0), (3, 0, 0), via=[(1, 1), (2, 1, 0.5, 0.7)], limits=QUICK
    )
    check(found, (3, 0, 0))
    times = found.motion.breaks
    poses = found.motion.poses(times)
    first, second = (np.abs(poses[:, :2] - place).sum(axis=1) for place in ((1, 1), (2, 1)))
    assert first.min() < 1e-8
    assert second.min() < 1e-8
    assert poses[second.argmin(), 2] == pytest.approx(0.5, abs=1e-8)
    assert np.hypot(*found.motion.samples(times[[second.argmin()]]).twist[0, :2]) == pytest.approx(
        0.7, rel=1e-6
    )


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"start": (0, 0)}, "three numbers"),
        ({"goal": (1, math.nan, 0)}, "finite"),
        ({"via": ["here"]}, "expected a pose"),
        ({"via": [(1, 0, 0, -1)]}, "a speed from 0"),
        ({"goal": (1, 0, 0, 2)}, "at rest"),
        ({"limits": None, "grip": None}, "nothing limits how fast front_left rolls"),
        ({"angles": {"front": 1.0}}, "no module 'front'"),
        (
            {"keep_out": [(3, 0, 0.5), (0.5, 0, 0.4)]},
            r"keep_out\[1\] covers the start: the robot's outline is",
        ),
        ({"keep_out": [(3, 3, 0.5)], "via": [(3, 3)]}, r"keep_out\[0\] covers the via\[0\]"),
        ({"keep_out": [(3, 0, -1)]}, "a radius > 0"),
        ({"keep_out": [[(3, 0), (4, 0), (5, 0)]]}, "lie on a line"),
        ({"keep_out": [[(3, 3), (5, 5), (5, 3), (3, 5.5)]]}, "cross one another"),
        ({"keep_out": [(3, 0)]}, "an obstacle is no"),
        ({"outline": [(0, 0), (1, 0)]}, "three or more corners"),
        ({"via": [(0.5, 0, 0, 5)]}, "to be passed at 5 m/s, and plans let the base go at 2.85 m/s at most"),
        ({"zones": [(0, 2, {"velocity": 1})]}, "no way from pose 0 to pose 2"),
        ({"zones": [(0, 1, {"speed": 1})]}, "no limit 'speed'"),
        ({"zones": [(0, 1, {"rate": -1})]}, "a number above 0"),
        ({"zones": [(0, 1)]}, "first pose, last pose, limits"),
        (
            {"via": [(0.5, 0, 0, 2)], "zones": [(0, 1, {"velocity": 1})]},
            r"via\[0\] is to be passed at 2 m/s, and the zone allows 1 m/s",
        ),
        ({"events": [("shoot", 2)]}, "there is no pose 2"),
        ({"events": ["shoot"]}, r"expected \(name, pose\)"),
        ({"goal": (0, 0, 2 * math.pi)}, "goal: expected a pose apart from start"),
        ({"via": [(0.5, 0), (0.5, 0)]}, r"via\[1\]: expected a pose apart from via\[0\]"),
        ({"via": [(0, 1e-5)]}, r"via\[0\]: expected a pose apart from start"),
        ({"goal": (9, 0, 0), "keep_out": RING}, "bar every way from start to goal"),
    ],
)
def test_what_cannot_be_asked_is_refused(given, message):
    arguments = {"start": (0, 0, 0), "goal": (1, 0, 0), "limits": QUICK} | given
    with pytest.raises(InputError, match=message):
        trundle.fastest(trundle.catalog.swerve(), **arguments)


@pytest.mark.parametrize("name", ["swerve", "mecanum", "three_omni", "differential_drive"])
def test_no_base_passes_the_speed_that_stops_may_ask_for(name):
    drive = trundle.kinematics(getattr(trundle.catalog, name)()).drive.limited(ROLLING)
    problem = Problem(drive, (Stop(0, 0, 0.0), Stop(1, 0, 0.0)), (), np.zeros((0, 2)))
    shares = np.random.default_rng(20261123).normal(size=(20_000, len(problem.basis)))
    twists = shares @ problem.basis * [1, 1, 1 / problem.size]
    along = np.conj(drive.rolling_axes(drive.headings)) * drive.velocities(twists)
    rolling = np.where(drive.points, np.abs(along), np.abs(along.real)) / drive.rolling[0]
    reached = (np.hypot(*twists[:, :2].T) / rolling.max(axis=1)).max()
    assert 0.97 * _greatest_speed(problem) < reached <= _greatest_speed(problem)


@pytest.mark.parametrize("name", ["mecanum", "three_omni", "differential_drive"])
def test_headings_count_by_what_they_differ_from_whole_turns(name):
    robot = getattr(trundle.catalog, name)()
    more, same = (
        declared(robot, (0, 0, 0), (1, 0.5, theta), limits=ROLLING) for theta in (4.0, 4.0 - 2 * math.pi)
    )
    assert more.motion.duration == pytest.approx(same.motion.duration, rel=1e-5)
    check(more, (1, 0.5, 4.0))


@pytest.mark.slow
def test_long_ways_end_where_they_should():
    """Their intervals turn so far that the programme's quadrature was off: this one ended 58 µm beside its goal."""
    found = declared(trundle.catalog.differential_drive(), (0, 0, 0), (200, 100, -3), limits=FAR)
    missed = found.motion.poses([found.motion.duration])[0] - (200, 100, -3)
    assert np.abs(missed).max() < 3e-6


@pytest.mark.slow
def test_a_way_too_long_for_the_programme_is_refused():
    """The motion that was told ended 36 mm beside its goal."""
    with pytest.raises(trundle.NumericsError, match="on a way so long goal is missed by"):
        declared(trundle.catalog.differential_drive(), (0, 0, 0), (1000, 500, math.pi / 2), limits=FAR)


def test_a_base_that_its_wheels_hold_is_refused():
    fixed = {"type": "fixed", "radius": 0.1, "contact": "slip"}
    wheels = {name: {**fixed, "at": at} for name, at in (("a", [0, 0, 0]), ("b", [1, 0, 0]))}
    wheels["c"] = {**fixed, "at": [0, 1, 0], "heading": "90 deg"}
    robot = trundle.Robot.model_validate(
        {"name": "held", "base": "planar", "body": {"mass": 1}, "wheels": wheels}
    )
    with pytest.raises(InputError, match="hold its base"):
        declared(robot, (0, 0, 0), (1, 0, 0), limits=ROLLING)


def most_used(found: trundle.motion.fastest.fastest.Fastest) -> float:
    """The largest share of what motors give, and of the share of friction that was planned with."""
    times = np.linspace(0, found.motion.duration, 20001)
    driven = DrivenRobot(found.robot, found.names)
    forces = motion_forces(driven, found.motion.samples(times), found.motion.pushes(times))
    taken = shares((Friction(found.grip), MotorLimits()), Moving(forces=forces))
    return max(share.max() for share in taken.values())


REAL = {"motor": "kraken_x60", "friction": 1.0, "contact": "slip"}


@pytest.mark.parametrize(
    ("robot", "goal"),
    [
        (trundle.catalog.differential_drive(**REAL, gear_ratio=8), (3, 2, math.pi / 2)),
        pytest.param(trundle.catalog.mecanum(**REAL), (3, 2, math.pi / 2), marks=pytest.mark.slow),
        pytest.param(trundle.catalog.swerve(**REAL), (3, 2, math.pi / 2), marks=pytest.mark.slow),
        pytest.param(trundle.catalog.ackermann(**REAL), (3, 1, 0), marks=pytest.mark.slow),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_motors_and_floor_bind_without_declared_limits(robot, goal):
    found = trundle.fastest(robot, (0, 0, 0), goal, grip=0.9)
    check(found, goal)
    assert 0.99 < most_used(found) <= 1 + 1e-6  # it is not slower than certifying it asks for
    with pytest.raises(InputError, match="nothing limits"):
        trundle.fastest(robot, (0, 0, 0), goal, grip=None)


def test_the_floor_accelerates_places_no_more_than_a_programme_lets_them():
    robot = trundle.catalog.swerve(**REAL)
    who = trundle.kinematics(robot)
    real = real_limits(who, 0.95)
    assert real is not None
    drive, hold = like_declared(who.drive, real)
    driven = real.driven
    base = list(driven.here.assembly.base_columns)
    inertia = np.array([driven.inertia(column)[base] for column in base])
    grips, moved = real.grip * driven.grips, np.stack([drive.map.real, drive.map.imag], axis=2)
    angles = np.random.default_rng(20261123).uniform(-np.pi, np.pi, (200, len(grips)))
    forces = grips[:, None] * np.stack([np.cos(angles), np.sin(angles)], axis=2)  # all wheels at their grips
    accelerations = np.einsum("imk,nmk->ni", moved, forces) @ np.linalg.inv(inertia)
    places = np.linalg.norm(np.einsum("imk,ni->nmk", moved, accelerations), axis=2)
    assert (places <= _quickened(drive, inertia, grips) * (1 + 1e-12)).all()
    # forces that the programme takes for an acceleration give it
    needed = (accelerations @ hold.T).reshape(len(angles), len(grips), 2) * grips.mean()
    given = np.einsum("imk,nmk->ni", moved, needed) @ np.linalg.inv(inertia)
    assert given == pytest.approx(accelerations, abs=1e-9)


@pytest.mark.slow
def test_the_default_robot_knows_its_way_from_every_start(monkeypatch):
    """No start leads nowhere: each of its searches ends long before it gives up."""
    looks = []
    solved = programme.CollocationProblem.solved

    def counted(self, *given):
        try:
            return solved(self, *given)
        finally:
            looks.append(self.solver.stats()["iter_count"])

    monkeypatch.setattr(programme.CollocationProblem, "solved", counted)
    found = trundle.fastest(None, (0, 0, 0), (3, 2, math.pi / 2))
    assert looks
    assert max(looks) < programme._ITERATIONS / 2
    check(found, (3, 2, math.pi / 2))


def most_of_the_base(motion: trundle.motion.pieces.motion.Motion, begin: float, end: float) -> np.ndarray:
    """The greatest speed, acceleration, rate and its change of the base between two times, where these may jump."""
    found = motion.samples(np.linspace(begin, end, 4001)[1:-1])
    velocity, change = (twist[:, 0] + 1j * twist[:, 1] for twist in (found.twist, found.twist_rate))
    acceleration = change + 1j * found.twist[:, 2] * velocity
    rates = velocity, acceleration, found.twist[:, 2], found.twist_rate[:, 2]
    return np.array([np.abs(rate).max() for rate in rates])


ASKED = {"velocity": 1.5, "acceleration": 2.0, "rate": 0.8, "rate_change": 1.5}


@pytest.mark.parametrize(
    ("robot", "more"),
    [
        (trundle.catalog.three_omni(), {"limits": ROLLING, "grip": None}),
        pytest.param(trundle.catalog.swerve(**REAL), {}, marks=pytest.mark.slow),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_zones_speeds_and_events_are_kept(robot, more):
    found = trundle.fastest(
        robot,
        (0, 0, 0),
        (2.5, 0, 1),
        via=[(1, 0.3, None, 1.0)],
        zones=[(1, 2, ASKED)],
        events=[("score", 1), ("shoot", 1.5)],
        **more,
    )
    check(found, (2.5, 0, 1))
    begin, end, limits = found.zones[0]
    assert limits == ASKED
    assert end == pytest.approx(found.motion.duration)
    most = most_of_the_base(found.motion, begin, end) / list(ASKED.values())
    assert most.max() <= 1 + 1e-6
    assert most.max() > 0.75  # it is not slower than the zone asks for
    assert most_of_the_base(found.motion, 0, begin)[1] > ASKED["acceleration"]
    assert found.motion.poses([begin])[0, :2] == pytest.approx((1, 0.3), abs=1e-6)
    assert np.hypot(*found.motion.samples([begin]).twist[0, :2]) == pytest.approx(1.0, rel=1e-6)
    assert found.grip is None or most_used(found) <= 1 + 1e-6
    assert dict(found.events) == pytest.approx({"score": begin, "shoot": (begin + end) / 2})


@pytest.mark.slow
@pytest.mark.parametrize("reach", [0.6, 2.3, 4.0])
@pytest.mark.parametrize("goal", [(0, 1.5, 0), (-1.5, 0.2, 3)])
def test_modules_stay_within_their_steering_ranges(reach, goal):
    limits = trundle.Limits(
        steering_rate=6.0,
        steering_acceleration=40.0,
        drive_speed=4.0,
        drive_acceleration=6.0,
        steering_range=(-reach, reach),
    )
    found = declared(trundle.catalog.swerve(), (0, 0, 0), goal, limits=limits)
    check(found, goal)
    angles = found.motion.samples(np.linspace(0, found.motion.duration, 20001)).angle
    assert np.abs(angles).max() <= reach + 1e-8


@pytest.mark.slow
def test_a_speed_that_no_motion_reaches_is_named_with_its_pose(monkeypatch):
    # what refuses such speeds before the search knows no obstacles and no ways
    monkeypatch.setattr(sys.modules["trundle.motion.fastest.fastest"], "require_pace", lambda problem: None)
    with pytest.raises(trundle.NumericsError, match=r"via\[0\] would be passed at 2.98\d* m/s, not at 3 m/s"):
        trundle.fastest(trundle.catalog.mecanum(**REAL), (0, 0, 0), (2, 0, 0), via=[(0.3, 0.3, 0, 3.0)])


def test_degrees_in_the_place_of_radians_are_warned_of():
    with pytest.warns(UserWarning, match=r"goal: 90 rad of θ are 14.3 turns; 90° would be 1.571 rad"):
        declared(trundle.catalog.mecanum(), (0, 0, 0), (1, 0, 90), limits=ROLLING)
    with pytest.warns(UserWarning, match=r"poses: 90 rad of θ"):
        trundle.pose_path([(0, 0, 0), (1, 0, 90)])


@pytest.mark.slow
def test_what_gives_way_is_named_with_its_place():
    # a ladder that doesn't go round the corner of a corridor
    walls = [
        [(-1.2, -0.25), (1.75, -0.25), (1.75, 3.1), (1.7, 3.1), (1.7, -0.2), (-1.2, -0.2)],
        [(-1.2, 0.2), (1.3, 0.2), (1.3, 3.1), (1.25, 3.1), (1.25, 0.25), (-1.2, 0.25)],
        [(-1.2, -0.25), (-1.15, -0.25), (-1.15, 0.25), (-1.2, 0.25)],
        [(1.25, 3.05), (1.75, 3.05), (1.75, 3.1), (1.25, 3.1)],
    ]
    ladder = [(-0.8, -0.1), (0.8, -0.1), (0.8, 0.1), (-0.8, 0.1)]
    with pytest.raises(trundle.NumericsError, match=r"doesn't pass keep_out\[\d\] at \(.*m inside"):
        declared(
            trundle.catalog.three_omni(),
            (0, 0, 0),
            (1.5, 2, math.pi / 2),
            keep_out=walls,
            outline=ladder,
            limits=ROLLING,
        )


def test_a_wheel_that_comes_to_the_centre_of_rotation_has_no_certain_limits():
    drive = trundle.kinematics(trundle.catalog.swerve()).drive.limited(QUICK)
    about, aside = np.array([drive.places[0].imag, -drive.places[0].real, 1.0]), np.array([1.0, 0.0, 0.0])
    breaks = np.array([0.0, 0.5, 1.0])
    rest = PiecewisePolynomial(breaks, np.full((2, 1), 0.5))
    limits = Constraints((WheelLimits(drive.names, drive.limits),))

    def way(miss: float, breaks: np.ndarray = breaks) -> Directed:
        begin, end = (about + side * aside + [0.0, miss, 0.0] for side in (1, -1))
        terms = np.array([[begin + (end - begin) * at, end - begin] for at in breaks[:-1]])
        return Directed(drive, PiecewisePolynomial(breaks, terms), rest, drive.headings)

    assert not way(0.0).turning
    assert not way(0.5, breaks[::2]).turning
    assert way(0.5).turning
    # farther off the wheel turns at 2/miss at most
    ((factor, name),) = slowdown((way(0.2),), limits, Samples.along_way)
    assert factor == pytest.approx(2 / 0.2 / 6, rel=1e-6)
    assert name == f"steering_rate of {drive.names[0]}"


BLOCK = [(2, -1), (3, -1), (3, 0.5), (2, 0.5)]


@pytest.mark.slow
def test_obstacles_are_kept_clear_of_between_samples():
    robot = trundle.catalog.mecanum()
    keep_out = [(1.5, 1, 0.3), (3, 2.2, 0.4), BLOCK]
    found = declared(robot, (0, 0, 0), (5, 2, math.pi / 2), keep_out=keep_out, limits=ROLLING)
    check(found, (5, 2, math.pi / 2))
    outline = outline_of(found.motion.kinematics)
    poses = found.motion.poses(np.linspace(0, found.motion.duration, 5001))
    for obstacle in obstacles_of(keep_out):
        proven = clear_by(found.motion, outline, obstacle)
        seen = min(apart(pose, outline, obstacle) for pose in poses)
        assert 0 < proven <= seen
    free = declared(robot, (0, 0, 0), (5, 2, math.pi / 2), limits=ROLLING)
    assert free.motion.duration < found.motion.duration


def apart(pose: np.ndarray, outline: np.ndarray, obstacle: Obstacle) -> float:
    """How far an outline is from an obstacle, by the nearest points of all pairs of sides."""
    turn = np.exp(1j * pose[2])
    robot = complex(*pose[:2]) + turn * (outline @ [1, 1j])
    other = obstacle.corners @ [1, 1j]
    gaps = [
        to_side(point, a, b)
        for points, sides in ((robot, other), (other, robot))
        for point in points
        for a, b in zip(sides, np.roll(sides, -1), strict=True)
    ]
    return min(gaps) - obstacle.radius


def to_side(point: complex, a: complex, b: complex) -> float:
    side = b - a
    share = np.clip(((point - a) * np.conj(side)).real / max(abs(side) ** 2, 1e-300), 0, 1)
    return abs(point - a - share * side)


def test_figures_show_what_is_kept_out_of():
    keep_out = [(1.5, 1, 0.3), BLOCK]
    found = declared(trundle.catalog.three_omni(), (0, 0, 0), (1, 0, 0), keep_out=keep_out, limits=ROLLING)
    axes = trundle.drive_figures(found)["path"].axes[0]
    bare = trundle.drive_figures(dataclasses.replace(found, obstacles=()))["path"].axes[0]
    disc, block = axes.patches[len(bare.patches) :]
    assert disc.get_path().transformed(disc.get_patch_transform()).get_extents().bounds == pytest.approx(
        (1.2, 0.7, 0.6, 0.6)
    )
    assert {tuple(corner) for corner in block.get_xy().tolist()} == {tuple(map(float, c)) for c in BLOCK}
    assert axes.get_xlim() == bare.get_xlim()


def test_distances_are_those_of_nearest_points_and_of_the_least_way_apart(rng):
    for corners in (1, 1, 4, 4, 8, 8):
        obstacle = Obstacle(hull(rng.normal(size=(corners, 2))), float(rng.uniform(0.1, 0.3)))
        outline, poses = hull(rng.normal(size=(8, 2))), rng.uniform(-3, 3, (40, 3))
        for pose, distance in zip(poses, obstacle.distances(poses, outline), strict=True):
            beyond = widest_gap(pose, outline, obstacle)
            expected = beyond if beyond < -obstacle.radius else apart(pose, outline, obstacle)
            assert distance == pytest.approx(expected, abs=1e-9)


def widest_gap(pose: np.ndarray, outline: np.ndarray, obstacle: Obstacle) -> float:
    """How far an outline is beyond a side of an obstacle's corners, or they beyond one of its own, less the radius:
    convex polygons overlap where that is below 0, and so deep.
    """
    robot = complex(*pose[:2]) + np.exp(1j * pose[2]) * (outline @ [1, 1j])
    other = obstacle.corners @ [1, 1j]
    return (
        max(
            float((np.conj(b - a) / abs(b - a) * (a - points)).imag.min())
            for points, corners in ((robot, other), (other, robot))
            for a, b in zip(corners, np.roll(corners, -1), strict=True)
            if a != b
        )
        - obstacle.radius
    )


STAR = [(0, 0), (4, 0), (4, 4), (2, 1), (0, 4)]
# A wall about a yard, cut open where it begins; two triangles that meet at a corner.
YARD = [(0, 0), (4, 0), (4, 4), (0, 4), (0, 0), (1, 1), (1, 3), (3, 3), (3, 1), (1, 1)]
BOW = [(0, 0), (2, 1), (4, 0), (4, 4), (2, 1), (0, 4)]


@pytest.mark.parametrize("corners", [STAR, YARD, BOW, STAR[::-1]])
def test_polygons_that_are_not_convex_are_cut_into_triangles(corners):
    parts = obstacles_of([corners])
    assert {part.place for part in parts} == {0}
    assert {len(part.corners) for part in parts} == {3}
    assert sum(area(part.corners) for part in parts) == pytest.approx(
        abs(area(np.array(corners, dtype=float)))
    )
    assert all(area(part.corners) > 0 for part in parts)


def test_convex_polygons_stay_whole_whichever_way_round_they_are_given():
    middles = [(0, 0), (2, 0), (4, 0), (4, 4), (0, 4)]
    for corners in (middles, middles[::-1]):
        (part,) = obstacles_of([corners])
        assert area(part.corners) == 16
        assert len(part.corners) == 4


def area(corners: np.ndarray) -> float:
    x, y = corners.T
    return float(x @ np.roll(y, -1) - y @ np.roll(x, -1)) / 2


def test_routes_past_a_disc_enclose_the_taut_strings_length():
    disc = obstacles_of([(0, 0.2, 1)])[0]
    start, end = np.array([-3.0, 0]), np.array([3.0, 0])
    # below the disc: two tangents and the arc between their points of contact
    reach, low = math.hypot(3, 0.2), math.acos(1 / math.hypot(3, 0.2))
    turned = math.pi - 2 * math.atan2(0.2, 3) - 2 * low
    taut = 2 * math.sqrt(reach**2 - 1) + turned
    inner, outer = (
        float(np.hypot(*np.diff(shortest(start, end, [around(disc, 0.0, outside)]), axis=0).T).sum())
        for outside in (False, True)
    )
    assert inner <= taut <= outer
    assert outer / inner < 1.02


def test_routes_past_a_polygon_go_round_the_shorter_side_of_the_hull(rng):
    for _ in range(20):
        block = obstacles_of([hull(rng.normal(size=(6, 2)))])[0]
        start, end = np.array([-5.0, rng.uniform(-1, 1)]), np.array([5.0, rng.uniform(-1, 1)])
        taut = hull(np.concatenate([[start, end], block.corners]))
        steps = np.hypot(*(np.roll(taut, -1, axis=0) - taut).T)
        one, other = (int(np.abs(taut - place).sum(axis=1).argmin()) for place in (start, end))
        side = float(np.roll(steps, -one)[: (other - one) % len(taut)].sum())
        route = shortest(start, end, [around(block, 0.0, outside=True)])
        least = min(side, float(steps.sum()) - side)
        assert float(np.hypot(*np.diff(route, axis=0).T).sum()) == pytest.approx(least, abs=1e-8)


def test_the_circle_about_the_origin_lies_within_the_outline():
    square = np.array([[-1.0, -1], [1, -1], [1, 1], [-1, 1]])
    assert inscribed(square) == 1
    assert inscribed(square - [0.25, 0.5]) == 0.5
    assert inscribed(square - [2, 0]) == 0


def test_the_outline_is_that_of_wheels_and_shapes():
    who = trundle.kinematics(trundle.catalog.mecanum())
    corners = outline_of(who)
    assert np.abs(corners).max(axis=0) == pytest.approx([0.25 + 0.1, 0.25 + 0.03])
    assert len(hull(np.concatenate([corners, corners / 2]))) == len(corners)


BASES = [
    (trundle.catalog.swerve(wheelbase=0.5, track=0.5), QUICK),
    (trundle.catalog.mecanum(), ROLLING),
    (trundle.catalog.three_omni(), ROLLING),
    (trundle.catalog.differential_drive(track=0.5), ROLLING),
]


def cluttered(rng: np.random.Generator) -> tuple[tuple, tuple, list]:
    """A start, a goal, and three obstacles that leave both of them 1.2 m."""
    while True:
        start = (0.0, 0.0, rng.uniform(-3, 3))
        goal = (rng.uniform(2, 6), rng.uniform(-3, 3), rng.uniform(-3, 3))
        obstacles, middles = [], []
        for _ in range(3):
            middle, radius = np.array([rng.uniform(0.5, 5.5), rng.uniform(-3, 3)]), rng.uniform(0.2, 0.7)
            sides = int(rng.integers(3, 7))
            around = rng.uniform(0, 1) + 2 * np.pi * np.arange(sides) / sides
            corners = middle + radius * np.stack([np.cos(around), np.sin(around)], axis=1)
            obstacles.append((*middle, radius) if rng.random() < 0.5 else corners.tolist())
            middles.append(middle)
        if all(math.hypot(*(middle - end[:2])) > 1.2 for middle in middles for end in (start, goal)):
            return start, goal, obstacles


@pytest.mark.slow
def test_a_fine_grid_leads_to_no_slower_motion_than_the_first_look():
    # the search on 100 intervals strayed to 2.52 s, with no obstacle near
    robot, limits = BASES[1]
    start, goal, keep_out = cluttered(np.random.default_rng([20261124, 185]))
    found = declared(robot, start, goal, keep_out=keep_out, limits=limits, progress=False)
    looked = [tried.duration for tried in found.candidates]
    assert found.motion.duration <= 1.02 * min(looked)


@pytest.mark.campaign
def test_random_problems_with_three_obstacles_are_solved(campaign):
    solved, lost = 0, 0
    for case, rng in enumerate(campaign(200)):
        robot, limits = BASES[case % len(BASES)]
        start, goal, keep_out = cluttered(rng)
        try:
            found = declared(robot, start, goal, keep_out=keep_out, limits=limits, progress=False)
        except trundle.NumericsError:
            lost += 1
            continue
        end = found.motion.poses([found.motion.duration])[0] - goal
        assert np.abs([*end[:2], math.remainder(end[2], 2 * math.pi)]).max() < 1e-6
        assert found.summary()["exceeded"] == []
        outline = outline_of(found.motion.kinematics)
        assert all(clear_by(found.motion, outline, obstacle) > 0 for obstacle in obstacles_of(keep_out))
        solved += 1
    assert lost <= 0.02 * (lost + solved)
