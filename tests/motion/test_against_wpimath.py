"""Kinematics and odometry of swerve drives beside WPILib's, in its Python package wpimath."""

import math

import numpy as np
import pytest

import trundle

MODULES = (2, 3, 4, 6)
BOUND = 1e-12


def drive(places):
    wheel = {"type": "steered", "radius": 0.05, "mass": 1, "fork": {"mass": 1, "inertia": {"zz": 0.01}}}
    wheels = {f"m{k}": {**wheel, "at": [*at, 0.05]} for k, at in enumerate(places.tolist())}
    body = {"mass": 10, "inertia": {"zz": 1}}
    return trundle.load({"robot": {"name": "drive", "base": "planar", "body": body, "wheels": wheels}})


class Twin:
    """A drive of ours beside theirs: modules somewhere within ±1 m, no two of them close together."""

    def __init__(self, rng, modules):
        self.wk = pytest.importorskip(
            "wpimath.kinematics", reason="the peer robotpy-wpimath is not installed"
        )
        self.wg = pytest.importorskip("wpimath.geometry")
        places = rng.uniform(-1, 1, (modules, 2))
        while min(math.dist(a, b) for k, a in enumerate(places) for b in places[:k]) < 0.2:
            places = rng.uniform(-1, 1, (modules, 2))
        self.robot = drive(places)
        self.ours = trundle.kinematics(self.robot)
        self.modules = modules
        kind = getattr(self.wk, f"SwerveDrive{modules}Kinematics")
        self.theirs = kind(*(self.wg.Translation2d(x, y) for x, y in places.tolist()))

    def states(self, speeds, angles):
        turned = map(self.wg.Rotation2d, angles.tolist())
        return tuple(map(self.wk.SwerveModuleState, speeds.tolist(), turned))

    def positions(self, distances, angles):
        turned = map(self.wg.Rotation2d, angles.tolist())
        return tuple(map(self.wk.SwerveModulePosition, distances.tolist(), turned))


def check_kinematics(twin, rng, count):
    """Module states of random twists, twists of random module states, desaturated speeds."""
    twists = rng.uniform(-3, 3, (count, 3))
    found = twin.ours.module_states(*twists.T)
    angles, speeds = (
        rng.uniform(-math.pi, math.pi, (count, twin.modules)),
        rng.uniform(-3, 3, (count, twin.modules)),
    )
    back = twin.ours.twist(twin.ours.states(angles, speeds))
    slowed = twin.ours.desaturate(twin.ours.states(angles, speeds), 1.5).speeds
    for k in range(count):
        theirs = twin.theirs.toSwerveModuleStates(twin.wk.ChassisSpeeds(*twists[k]))
        np.testing.assert_allclose(found.speeds[k], [each.speed for each in theirs], rtol=0, atol=BOUND)
        apart = found.angles[k] - [each.angle.radians() for each in theirs]
        np.testing.assert_allclose(np.remainder(apart + 1, 2 * math.pi), 1, rtol=0, atol=BOUND)
        states = twin.states(speeds[k], angles[k])
        speed = twin.theirs.toChassisSpeeds(states)
        np.testing.assert_allclose(back[k], [speed.vx, speed.vy, speed.omega], rtol=0, atol=BOUND)
        theirs = twin.theirs.desaturateWheelSpeeds(states, 1.5)
        np.testing.assert_allclose(slowed[k], [each.speed for each in theirs], rtol=0, atol=BOUND)


def turning_steps(twin, rng, angles):
    """Ways of the wheels (m) by which the base turns 1e-3 rad or more in each step.

    Below, (1 − cos φ)/φ, by which wpimath moves, loses the digits that are compared (1e-11 of the way at 1e-5 rad).
    """
    moved = rng.uniform(-0.1, 0.1, angles.shape)
    while (small := np.abs(twin.ours.twist(twin.ours.states(angles, moved))[:, 2]) < 1e-3).any():
        moved[small] = rng.uniform(-0.1, 0.1, (small.sum(), twin.modules))
    return moved


def check_odometry(twin, rng, count):
    """One path of `count` steps, steering held in each: wpimath takes the step's last angles, where the true arc has
    those of its middle, which `trundle.odometry` takes where the steering is among the increments.
    """
    odometry = trundle.odometry(twin.robot, [f"{name}.rate" for name in twin.ours.names])
    angles = rng.uniform(-math.pi, math.pi, (count, twin.modules))
    moved = turning_steps(twin, rng, angles)
    pose, distances = np.array([0.3, -0.2, 0.5]), np.zeros(twin.modules)
    start = twin.wg.Pose2d(pose[0], pose[1], twin.wg.Rotation2d(pose[2]))
    kind = getattr(twin.wk, f"SwerveDrive{twin.modules}Odometry")
    theirs = kind(twin.theirs, start.rotation(), twin.positions(distances, angles[0]), start)
    for step in range(count):
        steering = {
            f"{name}.steering": angle for name, angle in zip(twin.ours.names, angles[step], strict=True)
        }
        turns = {
            f"{name}.angle": each / 0.05 for name, each in zip(twin.ours.names, moved[step], strict=True)
        }
        pose = odometry.update(pose, turns, steering)
        distances = distances + moved[step]
        # a gyroscope that shows what the wheels say
        found = theirs.update(twin.wg.Rotation2d(pose[2]), twin.positions(distances, angles[step]))
        np.testing.assert_allclose(pose[:2], [found.X(), found.Y()], rtol=0, atol=BOUND)
        assert math.isclose(
            math.remainder(pose[2] - found.rotation().radians(), 2 * math.pi), 0, abs_tol=BOUND
        )


@pytest.mark.parametrize("modules", MODULES)
def test_kinematics_and_odometry_as_in_wpimath(modules, rng):
    twin = Twin(rng, modules)
    check_kinematics(twin, rng, 50)
    check_odometry(twin, rng, 50)


@pytest.mark.campaign
@pytest.mark.parametrize("modules", MODULES)
def test_ten_thousand_cases(modules, campaign):
    """2,500 twists, module states and steps of odometry for each number of modules, on 25 drives."""
    for rng in campaign(25):
        twin = Twin(rng, modules)
        check_kinematics(twin, rng, 100)
        check_odometry(twin, rng, 100)
