"""Motors, batteries and floor in fastest motions: what a programme takes for them, and the true laws along its way."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.constraints.real_limits import ActuationLimits, of_motion
from trundle.motion.drive.drive import Drive, Limits
from trundle.motion.fastest.directed import Directed, Repaced
from trundle.motion.fastest.problem import Problem
from trundle.motion.forces.balance import ForceBalance
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.paths.collocation_grid import PathProblem
from trundle.motion.paths.knots import Knots
from trundle.motion.paths.retime import retime
from trundle.motion.pieces.motion import Motion
from trundle.motion.pieces.pieces import straight
from trundle.motion.pieces.profiles import Profile

# The programme takes motors for a speed and an acceleration: what they give at this share of their greatest rate, up
# to that one. The true laws count along the way that it finds.
_HALF, _WHOLE = 0.5, 0.95
# What steering that nothing limits is taken to do (rad/s, rad/s²): a turn in half a second, reached in a tenth.
_STEERING, _QUICKENING = 4 * math.pi, 40 * math.pi


def like_declared(drive: Drive, real: ActuationLimits) -> tuple[Drive, FloatArray]:
    """The drive with limits like its motors', and the wheels' forces by the base's acceleration as shares of grips."""
    driven = real.driven
    inertia = driven.base_inertia
    mass = float(inertia[0, 0])
    gripped = real.grip * driven.grips
    forces, speeds, rotors = _drives(driven)
    floor = np.full(len(gripped), np.inf)
    if drive.points.all():
        pulled = float(forces.sum()) / (mass + float(rotors.sum()))
        floor = _quickened(drive, inertia, gripped)
    else:
        pulled = float(np.minimum(forces, gripped).sum()) / (mass + float(rotors.sum()))
    limits = []
    for place, own in enumerate(drive.limits):
        limited = replace(
            own,
            drive_speed=min(own.drive_speed, float(speeds.min())),
            drive_acceleration=min(own.drive_acceleration, pulled, float(floor[place])),
        )
        limits.append(_steering(driven, place, limited))
    return replace(drive, limits=tuple(limits)), _grip_shares(drive, driven, gripped)


def _moved(drive: Drive) -> FloatArray:
    """V (m, 2, 3): the velocities of the modules' places by the base's twist."""
    return np.stack([drive.map.real, drive.map.imag], axis=2).transpose(1, 2, 0)


def _quickened(drive: Drive, inertia: FloatArray, gripped: FloatArray) -> FloatArray:
    """(m,): what no place of a module is accelerated beyond by forces within grips, Σⱼ |Vᵢ M⁻¹ Vⱼᵀ| gⱼ."""
    moved = _moved(drive)
    felt = moved[:, None] @ np.linalg.inv(inertia) @ moved.transpose(0, 2, 1)
    return np.linalg.norm(felt, 2, axis=(2, 3)) @ gripped


def _grip_shares(drive: Drive, driven: DrivenRobot, gripped: FloatArray) -> FloatArray:
    """(2 m, 3): along and across wheels, of forces of least norm; of wheels that steer as if all carried as much."""
    if drive.points.any():
        # Vᵀ f = M a, d'Alembert's principle over the places' velocities
        forces = np.linalg.pinv(_moved(drive).reshape(-1, 3).T) @ driven.base_inertia
        return forces * len(gripped) / gripped.sum()
    rest = straight(drive, np.zeros(3), Profile(np.zeros(2), np.array([[0.0, 1.0]])), drive.headings)
    balance = ForceBalance.at(driven, rest.samples(np.zeros(1)))
    inertia = np.array([driven.inertia(column) for column in driven.here.assembly.base_columns]).T
    forces = balance.inverse[0] @ inertia[balance.free]
    held = np.zeros((2 * len(gripped), 3))
    for (module, along, across), force in zip(driven.directions, forces, strict=True):
        held[2 * module] += along * force / gripped[module]
        held[2 * module + 1] += across * force / gripped[module]
    return held


def _drives(driven: DrivenRobot) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of the modules: the force of their motors (N), 0 without; their greatest speeds (m/s); rotors as masses (kg)."""
    count = len(driven.wheels)
    forces, speeds, rotors = np.zeros(count), np.full(count, np.inf), np.zeros(count)
    for k, wheel in enumerate(driven.wheels):
        if wheel.spin is None or wheel.spin not in driven.actuators:
            continue
        radius, rate = float(wheel.radius), driven.greatest_rate(wheel.spin)
        at = np.array([_HALF * rate if math.isfinite(rate) else 0.0])
        forces[k] = float(driven.greatest_torque(wheel.spin, at)[0]) / radius
        speeds[k] = _WHOLE * rate * radius
        rotors[k] = float(driven.inertia(wheel.spin)[wheel.spin]) / radius**2
    return forces, speeds, rotors


def _steering(driven: DrivenRobot, place: int, limits: Limits) -> Limits:
    """The same with what the motors of a module's steering imply."""
    column = driven.wheels[place].steering
    if column is None:
        return limits
    rate, quickening = _STEERING, _QUICKENING
    if column in driven.actuators and math.isfinite(fastest := driven.greatest_rate(column)):
        torque = float(driven.greatest_torque(column, np.array([_HALF * fastest]))[0])
        rate, quickening = _WHOLE * fastest, torque / float(driven.inertia(column)[column])
    return replace(
        limits,
        steering_rate=min(limits.steering_rate, rate),
        steering_acceleration=min(limits.steering_acceleration, quickening),
    )


def repaced(
    problem: Problem, phases: tuple[int, ...], motion: Motion, drive: Drive, real: ActuationLimits | None
) -> Repaced:
    """The way of a motion in the least time that motors, batteries, floor, the drive's declared limits and those from
    stop to stop allow.

    Raises NumericsError where none is found, TooFastError where a stop can't be passed as fast as it asks for.
    """
    (own,) = motion.pieces
    assert isinstance(own, Directed)
    way = replace(own.slowed(1 / own.duration), drive=drive)
    jerks = bool(np.isfinite(drive.steering[2]).any() or np.isfinite(drive.rolling[2]).any())
    stops = way.breaks[problem.stop_nodes(phases)].tolist()
    knots = Knots(way.breaks, way.breaks[1:-1])
    constraints = of_motion(drive, real, problem.zones(phases, way.breaks))
    speeds = [(z, stop.speed) for z, stop in zip(stops[1:-1], problem.stops[1:-1], strict=True) if stop.speed]
    unit = np.hypot(*way.samples(np.array([z for z, _ in speeds])).twist[:, :2].T) if speeds else np.zeros(0)
    passed = tuple((z, (speed / own) ** 2) for (z, speed), own in zip(speeds, unit.tolist(), strict=True))
    path = PathProblem(way.samples, constraints, jerks, passed)
    timed = retime(path, knots, lambda z: motion.poses([z * motion.duration])[0], bool(passed))
    return Repaced(drive, way, timed.scaling, timed.pushes)
