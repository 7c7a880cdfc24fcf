"""Robots on slopes: what they take there is told, plans keep to declared limits, and tracked runs have the slope."""

import numpy as np
import pytest
import yaml

import trundle
from trundle import catalog
from trundle.documents import dump
from trundle.errors import InputError
from trundle.model.forces import contact_span, wheel_loads
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.forces.balance import ForceBalance
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.robot import parse_robot

G, STEEP, DOWNHILL = 9.81, 0.15, 0.4
LIMITS = trundle.Limits(steering_rate=8, steering_acceleration=60, drive_speed=1.5, drive_acceleration=2)
PATH = trundle.pose_path([(0, 0, 0), (1, 0.6, 0.5), (2, 0, 1)])


def on_slope(robot, steep=STEEP, downhill=DOWNHILL):
    """The same robot on ground that falls by an angle (rad) in a direction of the world's x and y (rad)."""
    pull = G * np.sin(steep) * np.array([np.cos(downhill), np.sin(downhill)])
    gravity = [*pull.tolist(), float(-G * np.cos(steep))]
    return parse_robot({**yaml.safe_load(dump(robot))["robot"], "gravity": gravity})


def swerve(**more):
    return catalog.swerve(motor="kraken_x60", gear_ratio=6.75, center_height=0.2, friction=0.9, **more)


def test_a_base_is_held_against_gravity_as_it_heads():
    """Its weight along the ground in its own axes; loads are those of the model where it stands."""
    robot = on_slope(swerve())
    driven = DrivenRobot(robot, kinematics(robot).names)
    motion = trundle.follow(PATH, robot, limits=LIMITS, progress=False).motion
    times = np.linspace(0, motion.duration, 7)
    samples = motion.samples(times)
    np.testing.assert_allclose(samples.heading, motion.poses(times)[:, 2])
    balance, rest = ForceBalance.at(driven, samples), np.zeros((len(driven.here.assembly.speeds), len(times)))
    pull = float(driven.base_inertia[0, 0]) * G * np.sin(STEEP)
    held, loads = balance.needed(rest, rest)[list(balance.assembly.base_columns)], balance.loads(rest, rest)
    aside = DOWNHILL - samples.heading
    np.testing.assert_allclose(held[:2], [-pull * np.cos(aside), -pull * np.sin(aside)])
    for k, head in enumerate(samples.heading):
        angles = {name: angle[k] for name, angle in driven.coordinates(samples).items()} | {"theta": head}
        here = driven.here.configured(
            [angles.get(name, at) for name, at in zip(driven.here.names, driven.here.q, strict=True)]
        )
        expected = wheel_loads(here.assembly, here.at, contact_span(here.assembly))
        np.testing.assert_allclose(loads[k], [float(expected[w.name]) for w in here.assembly.wheels])
    np.testing.assert_allclose(balance.standing.sum(), float(driven.base_inertia[0, 0]) * G * np.cos(STEEP))


def test_plans_on_slopes_keep_to_declared_limits():
    """They are those of level ground without motors and floor; what they take says how the slope loads the robot."""
    level, sloped = (
        trundle.follow(PATH, robot, limits=LIMITS, grip=grip, progress=False)
        for robot, grip in ((swerve(), None), (on_slope(swerve()), 0.95))
    )
    assert sloped.motion.duration == level.motion.duration
    assert sloped.grip is None
    assert sloped.summary()["friction_use"] > 1.5 * level.summary()["friction_use"]
    with pytest.raises(InputError, match=r"front_left rolls\n.*on slopes.*declared limits alone"):
        trundle.follow(PATH, on_slope(swerve()), progress=False)


def test_a_tracked_run_has_the_slope():
    """Its wheels push up the slope what the robot weighs along it, and more to quicken it."""
    robot = on_slope(swerve(contact="slip"))
    driven = trundle.follow(PATH, robot, limits=LIMITS, progress=False)
    tracking = trundle.track(robot, driven, progress=False)
    assert tracking.largest["position"] < 1e-3
    run = tracking.run
    # Newton along x in the world, from rest to rest: the contacts' pushes over time are those of gravity, against them
    mass = float(DrivenRobot(robot, driven.names).base_inertia[0, 0])
    pushed = np.zeros(run.time.size)
    for module in kinematics(robot).drive.names:
        angle = run["theta"] + run[f"{module}.steering"]
        pushed += np.cos(angle) * run[f"{module}.traction"] - np.sin(angle) * run[f"{module}.side_force"]
    pull = mass * G * np.sin(STEEP) * np.cos(DOWNHILL)
    given = ((pushed[1:] + pushed[:-1]) / 2) @ np.diff(run.time)
    assert given == pytest.approx(-pull * run.time[-1], rel=1e-3)


def test_a_slope_needs_heights_where_it_is_simulated():
    text = yaml.safe_load(dump(swerve()))["robot"]
    robot = on_slope(parse_robot({**text, "body": {"mass": 40}}))
    driven = trundle.follow(PATH, robot, limits=LIMITS, progress=False)
    assert driven.summary()["friction_use"] is None
    with pytest.raises(InputError, match="center_of_mass has no height"):
        trundle.track(robot, driven, progress=False)
