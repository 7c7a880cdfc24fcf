"""Plans with motors and floor on slopes: what gravity takes along the ground by how the base heads."""

import numpy as np
import pytest
import yaml

import trundle
from tests.motion.test_real_limits_campaign import KINDS, WORST, random_path, random_robot, require_shares
from trundle import catalog
from trundle.documents import dump
from trundle.errors import InputError
from trundle.model.forces import contact_span, wheel_loads
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.forces.balance import Balance
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import motion_forces
from trundle.motion.pieces.motion import sampled
from trundle.robot import parse_robot

G = 9.81


def on_slope(robot, steep, downhill):
    """The same robot on ground that falls by an angle (rad) in a direction of the world's x and y (rad)."""
    pull = G * np.sin(steep) * np.array([np.cos(downhill), np.sin(downhill)])
    gravity = [*pull.tolist(), float(-G * np.cos(steep))]
    return parse_robot({**yaml.safe_load(dump(robot))["robot"], "gravity": gravity})


def swerve(**more):
    return catalog.swerve(motor="kraken_x60", gear_ratio=6.75, center_height=0.2, friction=0.9, **more)


def standing(robot, headings):
    """A robot at rest at headings (n,): its balance, ν and ν̇."""
    who = kinematics(robot)
    n, m = len(headings), len(who.drive.modules)
    twists, modules = [np.zeros((n, 3))] * 3, [np.zeros((n, m))] * 4
    samples = sampled(who.drive, twists, modules, modules[:3], np.asarray(headings, dtype=float))
    driven = DrivenRobot(robot, who.drive.names)
    return Balance.at(driven, samples), driven.speeds(samples), driven.speeds(samples, 1)


def test_a_base_at_rest_is_held_against_gravity():
    """Its weight along the ground in its own axes; loads are those of the model where it stands."""
    robot, headings = on_slope(swerve(), 0.2, 0.7), [0.0, 0.7, 2.0, -1.5]
    balance, nu, nu_dot = standing(robot, headings)
    mass = float(balance.driven.base_inertia[0, 0])
    pull = mass * G * np.sin(0.2)
    held = balance.needed(nu, nu_dot)[list(balance.assembly.base_columns)].T
    for head, force, loads in zip(headings, held, balance.loads(nu, nu_dot), strict=True):
        np.testing.assert_allclose(force[:2], [-pull * np.cos(0.7 - head), -pull * np.sin(0.7 - head)])
        here = balance.driven.here
        q = [head if name == "theta" else start for name, start in zip(here.names, here.q, strict=True)]
        there = here.configured(q)
        at_rest = wheel_loads(there.assembly, there.at, contact_span(there.assembly))
        np.testing.assert_allclose(loads, [float(at_rest[w.name]) for w in there.assembly.wheels])
    np.testing.assert_allclose(balance.standing.sum(), mass * G * np.cos(0.2))


def turned(poses, angle):
    """Poses (n, 3) turned about the world's origin."""
    poses = np.asarray(poses, dtype=float)
    c, s = np.cos(angle), np.sin(angle)
    x, y = c * poses[:, 0] - s * poses[:, 1], s * poses[:, 0] + c * poses[:, 1]
    return np.stack([x, y, poses[:, 2] + angle], axis=1)


def test_a_path_and_its_slope_may_be_turned_together():
    poses = [(0, 0, 0), (1, 0.6, 0.5), (2, 0, 1)]
    durations = [
        trundle.follow(
            trundle.pose_path(turned(poses, angle)), on_slope(swerve(), 0.15, 0.4 + angle), progress=False
        ).motion.duration
        for angle in (0.0, 2.1)
    ]
    assert durations[1] == pytest.approx(durations[0], rel=1e-6)


def test_a_mirrored_path_on_a_mirrored_slope_takes_as_long():
    one, two = (
        trundle.follow(
            trundle.pose_path([(0, 0, 0), (1, side * 0.6, side * 0.5), (2, 0, side)]),
            on_slope(swerve(), 0.15, side * 0.4),
            progress=False,
        ).motion.duration
        for side in (1, -1)
    )
    assert one == pytest.approx(two, rel=1e-5)


def cart():
    """Wheels that hold whatever comes, turned by motors that give as much torque at every rate."""
    text = yaml.safe_load(dump(catalog.differential_drive(radius=0.1, track=0.5)))["robot"]
    motors = {
        f"{side}_motor": {"drives": side, "type": "torque", "torque_limit": 4} for side in ("left", "right")
    }
    return parse_robot({**text, "motors": motors})


@pytest.mark.parametrize("uphill", [0.0, np.pi])
def test_a_straight_way_along_a_slope_has_a_closed_form(uphill):
    """a = (F ∓ m g sin β)/m′ as it quickens and slows, with m′ of the spinning wheels, too: up as long as down."""
    steep, length = 0.1, 2.0
    robot = on_slope(cart(), steep, uphill)
    driven = trundle.follow(trundle.pose_path([(0, 0), (length, 0)]), robot, progress=False)
    who = DrivenRobot(robot, driven.names)
    mass, force = float(who.base_inertia[0, 0]), 2 * 4 / 0.1
    moved = mass + sum(float(who.inertia(w.spin)[w.spin]) / float(w.radius) ** 2 for w in who.wheels)
    pull = mass * G * np.sin(steep)
    expected = np.sqrt(2 * length * (moved / (force + pull) + moved / (force - pull)))
    assert driven.motion.duration == pytest.approx(expected, rel=2e-3)


@pytest.mark.parametrize("uphill", [0.0, np.pi])
def test_motors_give_the_work_against_gravity(uphill):
    """∫ Σ τ ω dt from rest to rest: m g h up, and as much back down."""
    steep, length = 0.1, 2.0
    robot = on_slope(cart(), steep, uphill)
    driven = trundle.follow(trundle.pose_path([(0, 0), (length, 0)]), robot, progress=False)
    who = DrivenRobot(robot, driven.names)
    nodes, weights = np.polynomial.legendre.leggauss(8)
    breaks = driven.motion.breaks
    half = np.diff(breaks) / 2
    times = (breaks[:-1, None] + half[:, None] * (1 + nodes)).ravel()
    samples = driven.motion.samples(times)
    forces, nu = motion_forces(who, samples, driven.motion.pushes(times)), who.speeds(samples)
    power = sum(forces.torques[m.name] * nu[c] for c, motors in who.actuators.items() for m in motors)
    work = float((half[:, None] * weights).ravel() @ power)
    climbed = -length * np.sin(steep) * np.cos(uphill)
    assert work == pytest.approx(float(who.base_inertia[0, 0]) * G * climbed, rel=1e-6)


def test_too_steep_a_slope_is_told():
    path = trundle.pose_path([(0, 0, 0), (1, 0, 0)])
    with pytest.raises(InputError, match=r"at \(.*\) the path takes .* the grip that"):
        trundle.follow(path, on_slope(swerve(), 0.8, 0.3), progress=False)


def test_a_slope_needs_heights():
    text = yaml.safe_load(dump(swerve()))["robot"]
    flat = parse_robot({**text, "body": {"mass": 40}})
    with pytest.raises(InputError, match="center_of_mass has no height"):
        trundle.follow(trundle.pose_path([(0, 0, 0), (1, 0, 0)]), on_slope(flat, 0.1, 0.0), progress=False)


def test_commands_hold_however_the_base_heads():
    robot = on_slope(swerve(), 0.15, 1.0)
    command = {"duration": 0.4, "twist": {"v_x": 2.0, "omega": 3.0}}
    driven = trundle.drive({"motion": {"name": "turn", "commands": [command]}}, robot, progress=False)
    require_shares(driven, "swerve")
    assert {stretch.limit for stretch in driven.stretches} == {"grip"}


def test_modules_turn_first_on_a_slope():
    robot = on_slope(swerve(steering_motor="kraken_x60", steering_ratio=21.4), 0.15, 1.0)
    names = kinematics(robot).drive.names
    path = trundle.pose_path([(0, 0, 0.3), (1, 0, 0.3)])
    driven = trundle.follow(path, robot, angles=dict.fromkeys(names, 1.2), progress=False)
    assert len(driven.motion.pieces) == 2
    require_shares(driven, "swerve")


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_plans_on_slopes_hold_and_are_followed(kind):
    """A car slides aside before it rolls: steered as hard against that as at a speed it was 68 mm late."""
    rng = np.random.default_rng([8, KINDS.index(kind)])
    path, robot = random_path(kind, rng), random_robot(kind, rng, contact="slip")
    robot = on_slope(robot, 0.1, rng.uniform(-np.pi, np.pi))
    driven = trundle.follow(path, robot, progress=False)
    require_shares(driven, kind)
    assert trundle.track(robot, driven, progress=False).largest["position"] <= WORST


@pytest.mark.slow
def test_the_fastest_motion_on_a_slope_holds():
    robot = on_slope(swerve(), 0.15, 2.0)
    driven = trundle.fastest(robot, (0, 0, 0), (2, 1, 1), progress=False)
    require_shares(driven, "swerve")
    assert 0 < driven.bound < driven.motion.duration


@pytest.mark.parametrize("downhill", [1.0, pytest.param(np.pi, marks=pytest.mark.slow)])
def test_the_bound_on_a_slope_has_a_closed_form(downhill):
    """The floor and gravity speed it up along its way with one acceleration, and brake it with another."""
    steep, way = 0.15, 2.0
    driven = trundle.fastest(on_slope(swerve(), steep, downhill), (0, 0, 0), (way, 0, 0), progress=False)
    floor, pull = 0.95 * 0.9 * G * np.cos(steep), G * np.sin(steep) * np.cos(downhill)
    quick, slow = floor + pull, floor - pull
    top = np.sqrt(2 * way / (1 / quick + 1 / slow))
    assert driven.bound == pytest.approx(top / quick + top / slow, rel=1e-6)
    # wheels that slip and motors that tire cost the rest
    assert driven.bound <= driven.motion.duration <= 1.05 * driven.bound


@pytest.mark.campaign
def test_the_bound_on_slopes_is_below_all_motions(campaign):
    for place, rng in enumerate(campaign(40)):
        kind = ("swerve", "mecanum", "omni", "differential")[place % 4]
        robot = on_slope(random_robot(kind, rng), rng.uniform(0.02, 0.15), rng.uniform(-np.pi, np.pi))
        goal = tuple(rng.uniform([-4, -4, -3], [4, 4, 3]).tolist())
        driven = trundle.fastest(robot, (0, 0, 0), goal, progress=False)
        assert driven.bound <= driven.motion.duration, kind
        print(f"{kind}: its bound is {100 * (1 - driven.bound / driven.motion.duration):.1f} % below it")


@pytest.mark.campaign
def test_no_share_on_a_slope_is_above_what_was_asked_for(campaign):
    told = held = count = 0
    for rng in campaign(100):
        count += len(KINDS)
        for kind in KINDS:
            robot = random_robot(kind, rng)
            robot, path = (
                on_slope(robot, rng.uniform(0, 0.2), rng.uniform(-np.pi, np.pi)),
                random_path(kind, rng),
            )
            try:
                driven = trundle.follow(path, robot, progress=False)
            except InputError as error:
                told += " takes " in str(error)
            else:
                require_shares(driven, kind)
                held += 1
    print(f"{told} of {count} paths take more than there is")
    assert told + held == count
