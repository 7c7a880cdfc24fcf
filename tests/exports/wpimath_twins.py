"""WPILib's own answers to `wheeled_cases`, through its Python package wpimath.

Each twin gives, a row a case: what is asked of wheels at a twist; the twist of what wheels do; the pose on the arc.
"""

import numpy as np
import pytest


def _wpimath():
    return tuple(
        pytest.importorskip(f"wpimath.{each}", reason="the peer robotpy-wpimath is not installed")
        for each in ("kinematics", "geometry")
    )


def _moved(pose, way, wg):
    found = wg.Pose2d(pose[0], pose[1], wg.Rotation2d(pose[2])).exp(way)
    return [found.X(), found.Y(), found.rotation().radians()]


def _asked(speeds):
    return [speeds.vx, speeds.vy, speeds.omega]


def swerve(cases):
    """Rates and then steering angles; the arc is theirs at the angles of its middle."""
    wk, wg = _wpimath()
    twist, rate, steering, _, pose, last, now = cases.parts()
    places = cases.kinematics.places.tolist()
    m, radius = len(places), float(cases.kinematics.modules[0].radius)
    theirs = getattr(wk, f"SwerveDrive{m}Kinematics")(*(wg.Translation2d(x, y) for x, y in places))
    turns, pivots = (
        [cases.readings.index(f"{name}.{each}") for name in cases.kinematics.names]
        for each in ("angle", "steering")
    )
    wheels, twists, poses = [], [], []
    for k in range(len(twist)):
        states = theirs.toSwerveModuleStates(wk.ChassisSpeeds(*twist[k]))
        wheels.append([*(each.speed / radius for each in states), *(each.angle.radians() for each in states)])
        turned = map(wg.Rotation2d, steering[k].tolist())
        states = map(wk.SwerveModuleState, (radius * rate[k]).tolist(), turned)
        twists.append(_asked(theirs.toChassisSpeeds(tuple(states))))
        middle = map(wg.Rotation2d, ((last[k] + now[k]) / 2)[pivots].tolist())
        ways = map(wk.SwerveModulePosition, (radius * (now[k] - last[k]))[turns].tolist(), middle)
        poses.append(_moved(pose[k], theirs.toTwist2d(tuple(ways)), wg))
    return np.array(wheels), np.array(twists), np.array(poses)


def mecanum(cases):
    """Wheels front left, front right, rear left, rear right."""
    wk, wg = _wpimath()
    theirs = wk.MecanumDriveKinematics(*(wg.Translation2d(x, y) for x, y in cases.kinematics.places.tolist()))
    sides = ("frontLeft", "frontRight", "rearLeft", "rearRight")
    return _of_fixed_wheels(cases, theirs, wk.MecanumDriveWheelSpeeds, wk.MecanumDriveWheelPositions, sides)


def differential(cases):
    """Wheels right, left."""
    wk, _ = _wpimath()
    theirs = wk.DifferentialDriveKinematics(float(np.ptp(cases.kinematics.places[:, 1])))
    kinds = wk.DifferentialDriveWheelSpeeds, wk.DifferentialDriveWheelPositions
    return _of_fixed_wheels(cases, theirs, *kinds, ("right", "left"))


def _of_fixed_wheels(cases, theirs, speeds, positions, sides):
    wk, wg = _wpimath()
    twist, rate, _, _, pose, last, now = cases.parts()
    radius = float(cases.kinematics.modules[0].radius)

    def made(kind, values):
        each = kind()
        for side, value in zip(sides, values.tolist(), strict=True):
            setattr(each, side, value)
        return each

    wheels, twists, poses = [], [], []
    for k in range(len(twist)):
        asked = theirs.toWheelSpeeds(wk.ChassisSpeeds(*twist[k]))
        wheels.append([getattr(asked, side) / radius for side in sides])
        twists.append(_asked(theirs.toChassisSpeeds(made(speeds, radius * rate[k]))))
        way = theirs.toTwist2d(made(positions, radius * last[k]), made(positions, radius * now[k]))
        poses.append(_moved(pose[k], way, wg))
    return np.array(wheels), np.array(twists), np.array(poses)
