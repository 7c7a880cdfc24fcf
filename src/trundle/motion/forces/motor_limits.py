"""Limits of modules that their motors and the friction of their wheels imply, for plans that a robot can follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.model.arguments import Given, number, robot_of
from trundle.motion.drive.drive import Limits, limits_of
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.forces.forces import DrivenRobot
from trundle.robot import require_base_mass

# What accelerations are left at speeds.
_Left = Callable[[FloatArray], FloatArray]
# Speeds that are looked at, up to the greatest one, for the one at which most power is left: that is flat there.
_SPEEDS = 400
# Directions in which the base is accelerated, for the greatest force on a wheel; and rounds of a closer look around it.
_DIRECTIONS, _ROUNDS = 20_000, 8
# By how much less than the greatest (relative) such a search finds, at most: measured on drives of 2 to 6 modules.
_SHORT = 1e-6


def motor_limits(robot: Given, speed: float | str | None = None) -> dict[str, Limits]:
    """The limits of modules that their motors and their friction imply, beside the declared ones.

    All modules accelerating within a, wheel i carries at most m_i a, whatever way the base speeds up from rest; so
    a = min_i min(τ_i/(R m_i + J_i/R), μ N_i/m_i), with τ_i what its motors give at the greatest speed and J_i the
    inertia of wheel and rotor. That speed is the one at which most power is left, a v, where none is given; likewise
    for steering.

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
        A mass is missing, a motor can't move its wheel at the speed, or the base isn't planar.

    Examples
    --------
    >>> import trundle
    >>> limits = trundle.motor_limits(trundle.catalog.swerve(motor="kraken_x60"), speed=1.0)["front_left"]
    >>> limits.drive_speed, round(limits.drive_acceleration, 2)
    (1.0, 7.85)
    """
    robot = robot_of(robot, "motor_limits", "it has no wheels")
    require_base_mass(robot)
    who = kinematics(robot)
    driven = DrivenRobot(robot, who.names)
    for module in who.modules:
        if module.rollers is not None:
            message = (
                f"the wheel '{module.name}' has rollers: its limits don't follow from those of its contact"
            )
            raise InputError(message, key=f"robot.wheels.{module.name}")
    masses = _carried(driven, who.matrix)
    declared = limits_of(robot)
    # One greatest speed for all modules, as there is one acceleration for all.
    asked = math.inf if speed is None else number(speed, "speed", "m/s")
    greatest = min([asked, *(declared[wheel.name].drive_speed for wheel in driven.wheels)])

    def acceleration(v: FloatArray) -> FloatArray:
        return np.min([_greatest(driven, k, mass, v) for k, mass in enumerate(masses)], axis=0)

    fastest = greatest if speed is not None else _most_power(acceleration, greatest)
    most = _at(acceleration, fastest)
    if not most > 0:
        raise InputError(
            f"the motors of '{robot.name}' can't accelerate it at {fastest:.4g} m/s",
            key="speed",
            hint="give less",
        )
    return {
        wheel.name: _with_steering(driven, k, replace(declared[wheel.name], drive_speed=fastest), most)
        for k, wheel in enumerate(driven.wheels)
    }


def _with_steering(driven: DrivenRobot, place: int, limits: Limits, acceleration: float) -> Limits:
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


def _greatest(driven: DrivenRobot, place: int, mass: float, speeds: FloatArray) -> FloatArray:
    """The greatest acceleration (m/s²) of a module that carries a mass (kg), at speeds; infinite without motors.

    a = min(τ/(R m + J/R), μ N/m), with τ what its motors give at the speeds and J the inertia of wheel and rotor.
    """
    wheel = driven.wheels[place]
    if wheel.spin is None or wheel.spin not in driven.actuators:
        return np.full(speeds.shape, math.inf)
    radius, inertia = float(wheel.radius), float(driven.inertia(wheel.spin)[wheel.spin])
    torque = driven.greatest_torque(wheel.spin, speeds / radius)
    return np.minimum(torque / (radius * mass + inertia / radius), driven.grips[place] / mass)


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


def _carried(driven: DrivenRobot, matrix: FloatArray) -> list[float]:
    """m_i = max |f_i| over accelerations of the base with |u̇_j| ≤ 1 of all modules (kg): f = (Aᵀ)⁺ M ξ̇, u̇ = A ξ̇."""
    base = list(driven.here.assembly.base_columns)
    mass = np.array([driven.inertia(column)[base] for column in base])
    pulls = np.linalg.pinv(matrix.T) @ mass
    # Turns in units of the radius of gyration, so that directions are alike.
    length = math.sqrt(mass[2, 2] / mass[0, 0])
    scale = np.array([1.0, 1.0, 1.0 / length])
    rng = np.random.default_rng(0)
    everywhere = rng.normal(size=(_DIRECTIONS, 3))

    def sizes(rows: FloatArray, directions: FloatArray) -> FloatArray:
        """|rows ξ̇| of the modules, (directions, modules)."""
        return np.linalg.norm((directions * scale @ rows.T).reshape(len(directions), -1, 2), axis=2)

    masses: list[float] = []
    for place in range(len(matrix) // 2):
        # The ratio of two norms has many local maxima: a look everywhere first, then around the 20 best, ever closer.
        directions, spread, best = everywhere, 0.05, everywhere[:1]
        for _ in range(_ROUNDS):
            directions /= np.linalg.norm(directions, axis=1, keepdims=True)
            ratios = sizes(pulls, directions)[:, place] / sizes(matrix, directions).max(axis=1)
            best = directions[np.argsort(ratios)[-20:]]
            directions = np.concatenate([best, *(best + spread * rng.normal(size=(20, 20, 3)))])
            spread /= 3.0
        ratio = sizes(pulls, best)[:, place] / sizes(matrix, best).max(axis=1)
        masses.append(float(ratio.max()) * (1 + _SHORT))
    return masses
