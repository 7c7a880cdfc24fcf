"""Beside PathPlanner on the same robot, path, mass, motors and friction: times, and the friction that they take.

PathPlanner limits every wheel's force along its heading and its centripetal force to friction times load, one by one,
and knows no load transfer, battery, steering or rotors. What its motion takes of a robot is told by inverse dynamics
along the same path: with loads at rest and a stiff supply, as it models the robot, and with all that the robot has.
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Row, installed
from benchmarks.tracking import COMPETITION

_PATHS = 10
# Theirs is a chain of constant accelerations over 5 cm and less: ours, at the friction that it takes, may not be slower
# by more than this.
_SLOWER = 1.005
# Beyond this share of friction a wheel carries next to nothing.
_LIFTED = 3.0
# What PathPlanner can't say: heights of masses, a battery, currents from the supply, steering by motors.
_UNKNOWN = ("battery", "battery_resistance", "supply_current_limit", "center_height")
_UNKNOWN += ("steering_motor", "steering_ratio", "steering_current_limit")
_CONSTRAINTS = {
    "maxVelocity": 10.0, "maxAcceleration": 100.0, "maxAngularVelocity": 3000.0, "maxAngularAcceleration": 30000.0,
    "nominalVoltage": 12.0, "unlimited": False,
}  # fmt: skip


def against_pathplanner(quick: bool) -> list[Row]:
    """Ten random paths of two Bézier curves, from rest to rest, while the heading turns."""
    if not installed("pathplannerlib"):
        return []
    return [_row(seed) for seed in range(3 if quick else _PATHS)]


def _row(seed: int) -> Row:
    import trundle

    text = json.dumps(_path(np.random.default_rng(seed)))
    true = trundle.catalog.robot("swerve", **COMPETITION)
    plain = {name: measure for name, measure in COMPETITION.items() if name not in _UNKNOWN}
    modelled = trundle.catalog.robot("swerve", **plain, center_height=0)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "random.path"
        file.write_text(text)
        path = trundle.read_path(file)
    ours = trundle.follow(path, true, progress=False)
    theirs = _theirs(json.loads(text), modelled)
    taken = _friction(modelled, ours, theirs)
    same = trundle.follow(path, modelled, grip=taken, progress=False)
    duration, bound = theirs[0][-1], same.motion.duration
    shifted = _friction(true, ours, theirs)
    whole = f"{shifted:.2f}" if shifted < _LIFTED else "more than any, as a wheel lifts,"
    return Row(
        f"path {seed} of {path.length:.1f} m, a competition swerve: PathPlanner's {duration:.2f} s",
        f"{bound:.2f} s",
        target=f"≤ {_SLOWER * duration:.2f} s",
        met=bound <= _SLOWER * duration,
        note=f"ours at the friction that theirs takes: {taken:.2f} with loads at rest; {whole} with all that the robot "
        f"has; ours within 0.95 of that, its motors and battery: {ours.motion.duration:.2f} s",
    )


def _path(rng: np.random.Generator) -> dict[str, Any]:
    """A path in PathPlanner's format: three anchors some metres apart, tangents along the chords, a turning heading."""
    steps = rng.uniform(1.5, 3.0, 2) * np.exp(1j * np.cumsum(rng.uniform(-1.0, 1.0, 2)))
    anchors = 4 + 4j + np.concatenate([[0], np.cumsum(steps)])
    tangents = [steps[0] / 3, (steps[0] + steps[1]) / 6, steps[1] / 3]

    def point(place: complex | None) -> dict[str, float] | None:
        return None if place is None else {"x": float(place.real), "y": float(place.imag)}

    waypoints = [
        {
            "anchor": point(complex(at)),
            "prevControl": point(complex(at - tangent) if k else None),
            "nextControl": point(complex(at + tangent) if k < 2 else None),
            "isLocked": False,
            "linkedName": None,
        }
        for k, (at, tangent) in enumerate(zip(anchors, tangents, strict=True))
    ]
    return {
        "version": "2025.0", "waypoints": waypoints, "rotationTargets": [], "constraintZones": [],
        "pointTowardsZones": [], "eventMarkers": [], "globalConstraints": _CONSTRAINTS,
        "goalEndState": {"velocity": 0, "rotation": float(rng.uniform(-90, 90))}, "reversed": False, "folder": None,
        "idealStartingState": {"velocity": 0, "rotation": 0.0}, "useDefaultConstraints": False,
    }  # fmt: skip


def _theirs(data: dict[str, Any], robot: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times (s), lengths (m) and speeds (m/s) of PathPlanner's motion along a path of its format."""
    from pathplannerlib.config import ModuleConfig, RobotConfig
    from pathplannerlib.path import PathPlannerPath
    from wpimath.geometry import Rotation2d, Translation2d
    from wpimath.kinematics import ChassisSpeeds
    from wpimath.system.plant import DCMotor

    from trundle.motion.forces.driven_robot import DrivenRobot

    ratio, radius = float(COMPETITION["gear_ratio"]), robot.parameter_values()["r"]
    motor = DCMotor.krakenX60(1).withReduction(ratio)
    module = ModuleConfig(
        radius,
        motor.freeSpeed * radius,
        float(COMPETITION["friction"]),
        motor,
        float(COMPETITION["current_limit"]),
        1,
    )
    driven = DrivenRobot(robot, tuple(robot.wheels))
    turning = driven.here.assembly.base_columns[2]
    mass = driven.inertia(driven.here.assembly.base_columns[0])[driven.here.assembly.base_columns[0]]
    order = ("front_left", "front_right", "rear_left", "rear_right")
    places = [Translation2d(*map(robot.number, robot.wheels[name].at[:2])) for name in order]
    config = RobotConfig(float(mass), float(driven.inertia(turning)[turning]), module, places)
    path = PathPlannerPath._fromJson(data)
    states = path.generateTrajectory(ChassisSpeeds(), Rotation2d(), config).getStates()
    steps = np.array([state.deltaPos for state in states])
    return (
        np.array([state.timeSeconds for state in states]),
        np.cumsum(steps) - steps[0],
        np.array([state.linearVelocity for state in states]),
    )


def _friction(robot: Any, along: Any, theirs: tuple[np.ndarray, np.ndarray, np.ndarray]) -> float:
    """The largest share of a wheel's friction that PathPlanner's speeds take of a robot, in the middle of their steps.

    Wheels share forces about as their loads, which leaves the most. Where the base starts and stops steps are left out.
    """
    from trundle.motion.forces.driven_robot import DrivenRobot
    from trundle.motion.forces.forces import motion_forces

    (piece,) = along.motion.pieces
    _, lengths, speeds = theirs
    scale = piece.section.length / lengths[-1]
    lengths, speeds = lengths * scale, speeds * scale
    middle, mean = (lengths[1:] + lengths[:-1])[1:-1] / 2, (speeds[1:] + speeds[:-1])[1:-1] / 2
    change = (np.diff(speeds**2) / (2 * np.diff(lengths)))[1:-1]
    z = np.linspace(0.0, 1.0, 4001)
    z = np.interp(middle, piece.stretched.at(z)[0], z)
    _, first, second, _ = piece.stretched.at(z)
    pace = mean / first
    samples = piece.passed(z, (pace, (change - second * pace**2) / first, np.zeros_like(z)))
    driven = DrivenRobot(robot, along.motion.kinematics.names)
    with np.errstate(divide="ignore"):  # wheels that lift have no friction
        forces = motion_forces(driven, samples)
        turned = np.exp(1j * samples.angle)
        whole = ((forces.traction + 1j * forces.side_force) * turned).sum(axis=1, keepdims=True)
        shared = whole * forces.load / forces.load.sum(axis=1, keepdims=True) / turned
        wished = [
            float(direction.along) * shared[:, k].real + float(direction.across) * shared[:, k].imag
            for k, wheel in enumerate(driven.wheels)
            for direction in wheel.directions
        ]
        return float(motion_forces(driven, samples, np.stack(wished, axis=1)).friction_use.max())
