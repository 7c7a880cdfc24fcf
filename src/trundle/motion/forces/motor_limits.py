"""Limits of modules that their motors and the friction of their wheels imply, for plans that a robot can follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.model.arguments import Given, number, robot_of
from trundle.motion.drive.drive import Drive, Limits, limits_of
from trundle.motion.drive.kinematics import kinematics, planned
from trundle.motion.forces.balance import ForceBalance
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.robot import require_base_mass

# What accelerations are left at speeds.
_Left = Callable[[FloatArray], FloatArray]
# Speeds that are looked at, up to the greatest one, for the one at which most power is left: that is flat there.
_SPEEDS = 400
# Sides of a polygon that stands for a circle: masses are 5e-6 too large at most, never too small.
_SIDES = 1024
# One over the greatest turn that is looked at, in radii of gyration.
_TURNED = 1e-4


def motor_limits(robot: Given, speed: float | str | None = None) -> dict[str, Limits]:
    """The limits of modules that their motors and their friction imply, beside the declared ones.

    All modules accelerating within a, wheel i carries at most m_i a, whatever way the base speeds up from rest; so
    a = min_i min(τ_i/(R m_i + J_i/R), μ N_i/m_i), with τ_i what its motors give at the greatest speed, J_i the
    inertia of wheel and rotor, and N_i its load at rest on level ground. Where the height of the mass is known
    accelerations move loads: then μ N_i(ξ̇) has to hold it. That speed is the one at which most power is left, a v,
    where none is given; likewise for steering.

    Parameters
    ----------
    robot : Robot, Model, Document, path or mapping
        With motors on its wheels.
    speed : float or str, m/s, optional
        The greatest speed of the wheels. Faster wheels have less torque left to accelerate.

    Returns
    -------
    dict of str to Limits
        By wheel; the smaller ones of the declared and the implied limits. Forces across the wheels, which
        fast turns take, are not in them: `trundle.track(…).forces.friction_use` tells of a whole motion.

    Raises
    ------
    InputError
        A mass is missing, a motor can't move its wheel at the speed, a driven wheel trails, or the base isn't planar.

    Examples
    --------
    >>> import trundle
    >>> limits = trundle.motor_limits(trundle.catalog.swerve(motor="kraken_x60"), speed=1.0)["front_left"]
    >>> limits.drive_speed, round(limits.drive_acceleration, 2)
    (1.0, 6.06)
    """
    robot = robot_of(robot, "motor_limits", "it has no wheels")
    require_base_mass(robot)
    who = kinematics(robot)
    planned(who)
    driven = DrivenRobot(robot, who.names)
    acceleration, declared = _acceleration(driven), limits_of(robot)
    # One greatest speed for all modules, as there is one acceleration for all.
    asked = math.inf if speed is None else number(speed, "speed", "m/s")
    greatest = min([asked, *(declared[wheel.name].drive_speed for wheel in driven.wheels)])
    fastest = greatest if speed is not None else _most_power(acceleration, greatest)
    most = _at(acceleration, fastest)
    if not most > 0:
        raise InputError(
            f"the motors of '{robot.name}' can't accelerate it at {fastest:.4g} m/s",
            key="speed",
            hint="give less",
        )
    return {
        wheel.name: with_steering(driven, k, replace(declared[wheel.name], drive_speed=fastest), most)
        for k, wheel in enumerate(driven.wheels)
    }


def _acceleration(driven: DrivenRobot) -> _Left:
    """What all modules accelerate within at speeds; InputError for wheels with rollers."""
    known = kinematics(driven.robot)
    who = replace(known, modules=tuple(module for module in known.modules if module.name in driven.names))
    for module in who.modules:
        if module.rollers is not None:
            message = (
                f"the wheel '{module.name}' has rollers: its limits don't follow from those of its contact"
            )
            raise InputError(message, key=f"robot.wheels.{module.name}")
    masses = _masses(driven, who.matrix)
    gripped = _masses(driven, who.matrix, _lightened(driven)) if driven.here.assembly.heights else masses

    def acceleration(v: FloatArray) -> FloatArray:
        each = enumerate(zip(masses, gripped, strict=True))
        return np.min([_greatest(driven, k, *carried, v) for k, carried in each], axis=0)

    return acceleration


def implied(drive: Drive, driven: DrivenRobot, acceleration: float = math.inf) -> Drive:
    """The drive within an acceleration (m/s²), and what the motors of its steering imply."""
    held = [with_steering(driven, k, own, acceleration) for k, own in enumerate(drive.limits)]
    return drive.limited(dict(zip(drive.names, held, strict=True)))


def implied_at_rest(drive: Drive, driven: DrivenRobot) -> Drive:
    """The drive with what its motors and the friction of its wheels imply at rest, where no accelerations are told."""
    told = all(math.isfinite(own.drive_acceleration) for own in drive.limits)
    return implied(drive, driven, math.inf if told else _at(_acceleration(driven), 0.0))


def with_steering(driven: DrivenRobot, place: int, limits: Limits, acceleration: float) -> Limits:
    """The limits of a module with its drive's acceleration and what its steering's motors imply."""
    limits = replace(limits, drive_acceleration=min(limits.drive_acceleration, acceleration))
    column = driven.wheels[place].steering
    if column is None or column not in driven.actuators:
        return limits
    inertia = float(driven.inertia(column)[column])
    if not inertia > 0:
        return limits

    def turning(rate: FloatArray) -> FloatArray:
        return driven.greatest_torque(column, rate) / inertia

    rate = _most_power(turning, limits.steering_rate)
    most = _at(turning, rate)
    return replace(limits, steering_rate=rate, steering_acceleration=min(limits.steering_acceleration, most))


def _greatest(driven: DrivenRobot, place: int, mass: float, gripped: float, speeds: FloatArray) -> FloatArray:
    """The greatest acceleration (m/s²) of a module that carries a mass (kg), at speeds; infinite without motors.

    a = min(τ/(R m + J/R), μ N/m′), with τ what its motors give at the speeds, J the inertia of wheel and rotor, and m′
    the mass with what accelerations take off the load, by the friction.
    """
    wheel = driven.wheels[place]
    if wheel.spin is None or wheel.spin not in driven.actuators:
        return np.full(speeds.shape, math.inf)
    radius = float(wheel.radius)
    inertia = float(driven.inertia(wheel.spin)[wheel.spin])
    given = driven.greatest_torque(wheel.spin, speeds / radius) / (radius * mass + inertia / radius)
    return np.minimum(given, driven.grips[place] / gripped)


def _at(acceleration: _Left, speed: float) -> float:
    """What is left at a speed; at rest where the speed has no end."""
    return float(acceleration(np.array([0.0 if math.isinf(speed) else speed]))[0])


def _most_power(acceleration: _Left, greatest: float) -> float:
    """The speed at which acceleration times speed is most; `greatest` where that comes before the motors tire."""
    if math.isinf(_at(acceleration, 0.0)):
        return greatest
    # Up to a million m/s or rad/s: motors that still push there know no end.
    doubled = 2.0 ** np.arange(21.0)
    tired = np.flatnonzero(~(acceleration(doubled) > 0))
    if not len(tired):  # motors whose torque doesn't hang on their rate
        return greatest
    speeds = np.linspace(0.0, min(float(doubled[tired[0]]), greatest), _SPEEDS + 1)[1:]
    return float(speeds[int(np.argmax(acceleration(speeds) * speeds))])


def _lightened(driven: DrivenRobot) -> FloatArray:
    """By how much accelerations of the base lessen what friction holds, −μ ∂N/∂ξ̇ (modules, 3) at rest."""
    balance = ForceBalance.resting(driven)
    names = [wheel.name for wheel in driven.here.assembly.wheels]
    units = np.zeros((len(driven.here.assembly.speeds), 4))
    units[list(driven.here.assembly.base_columns), [1, 2, 3]] = 1.0
    modules = [names.index(wheel.name) for wheel in driven.wheels]
    loads = balance.loads(np.zeros_like(units), units)[:, modules]
    friction = np.where(np.isinf(driven.friction), 0.0, driven.friction)
    return (friction * (loads[0] - loads[1:])).T


def _masses(driven: DrivenRobot, matrix: FloatArray, lightened: FloatArray | float = 0.0) -> list[float]:
    """m_i = max |f_i| over accelerations of the base with |u̇_j| ≤ 1 of all modules (kg): f = (Aᵀ)⁺ M ξ̇, u̇ = A ξ̇.

    What lightens the contacts counts as force: |f_i| + l_i·ξ̇. That is convex, so that the largest is at a corner of
    what ξ̇ may be. Polygons about the circles |u̇_j| = 1 make that a polyhedron, and m_i up to (π/_SIDES)²/2 too large.
    """
    from scipy.spatial import HalfspaceIntersection

    mass = driven.base_inertia
    # Turns in units of the radius of gyration, so that directions are alike.
    scale = np.array([1.0, 1.0, math.sqrt(mass[0, 0] / mass[2, 2])])
    angles = np.arange(_SIDES) * 2 * math.pi / _SIDES
    sides = np.stack([np.cos(angles), np.sin(angles)], axis=1) @ (matrix * scale).reshape(-1, 2, 3)
    # A single wheel lets the base turn about it at will: there is an end to that.
    faces = np.concatenate([sides.reshape(-1, 3), [[0, 0, _TURNED], [0, 0, -_TURNED]]])
    within = np.column_stack([faces, np.full(len(faces), -1.0)])
    corners = HalfspaceIntersection(within, np.zeros(3)).intersections * scale
    forces = corners @ (np.linalg.pinv(matrix.T) @ mass).reshape(-1, 2, 3).transpose(0, 2, 1)
    lighter = corners @ np.broadcast_to(lightened, (len(forces), 3)).T
    return np.asarray((np.linalg.norm(forces, axis=2).T + lighter).max(axis=0)).tolist()
