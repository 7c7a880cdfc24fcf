"""Bases on casters that motors drive: what a programme takes them for, how fast they go along its ways, and bounds.

A pivot goes anywhere, so a programme knows a caster as its pivot alone, and no angles. Along a way that is found
casters stand as it draws them, at whatever pace. So the laws of casters say how fast it is gone, as along any path.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.drive.drive import Drive, Limits
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.paths.force_scaling import TooFastError
from trundle.motion.paths.path_scaling import Course, Scaling, quickest

# Speeds that are asked for at poses count so far beside them, in shares of the whole way.
_BESIDE = 1e-8
# Asked for more, limits give this share of what was missing at least, or nothing more; rounding of what is asked for.
_GAINED, _BEYOND = 0.5, 1e-9
# Rounds in which bounds on pivots' speeds come down.
_ROUNDS = 50


def like_pivots(drive: Drive) -> Drive:
    """The drive with limits of rolling for casters that hold of their pivots' velocities in a programme.

    Where rolling alone has no limit of an order, steering has: across a wheel it carries the pivot, at the trail's arm.
    """
    limits: list[Limits] = []
    for own, trails, arm in zip(drive.limits, drive.trails.tolist(), arms(drive).tolist(), strict=True):
        if not trails:
            limits.append(own)
            continue
        quick, jerk = own.drive_acceleration, own.drive_jerk
        limits.append(
            replace(
                own,
                drive_acceleration=quick if math.isfinite(quick) else arm * own.steering_acceleration,
                drive_jerk=jerk if math.isfinite(jerk) else arm * own.steering_jerk,
            )
        )
    return replace(drive, limits=tuple(limits))


def arms(drive: Drive) -> FloatArray:
    """(m,): how far contacts lie from their pivots along the wheels (m)."""
    return np.array([abs(float(module.offset[0])) for module in drive.modules])


def bounding_pivots(drive: Drive, rates: FloatArray) -> Drive:
    """The same base on wheels that steer about the pivots of its casters, and roll no slower than these ever go.

    `rates` (m,): what their steering does at most beside declared limits (rad/s).

    A caster that rolls at s, and turns at k in the world, has u e^{−iα} = s + (c₂ − i c₁) k. So |u| is at most
    |s| + hypot(c₁, c₂) |k|, and hypot(s, c₁ k) where c₂ is none.
    |k| is at most what its steering and the base turn; the base turns no faster than |ω| d = |u_i − u_j| says of two.
    """
    if not drive.trails.any():
        return drive
    speeds, quick = _greatest_speeds(drive, rates)
    modules, limits = [], []
    for k, (module, own) in enumerate(zip(drive.modules, drive.limits, strict=True)):
        if drive.trails[k]:
            module = replace(module, offset=(0.0, 0.0))
            own = Limits(
                drive_speed=float(speeds[k]), drive_acceleration=float(quick[k]), drive_jerk=math.inf
            )
        modules.append(module)
        limits.append(own)
    return Drive(tuple(modules), tuple(limits))


def _greatest_speeds(drive: Drive, rates: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What |u| and its rate are at most at casters' pivots, (m,) each; infinite where nothing says it."""
    casters = np.flatnonzero(drive.trails)
    steering = np.minimum(drive.steering[0], rates)[casters]
    rolling, quickening = drive.rolling[:2, casters]
    turned = drive.steering[1, casters]
    arm = np.array([math.hypot(*map(float, drive.modules[k].offset)) for k in casters])
    aside = np.array([float(drive.modules[k].offset[1]) != 0 for k in casters])
    apart = np.abs(drive.places[casters, None] - drive.places[casters])
    none = np.full(len(drive.modules), np.inf)
    far = float(apart.max())
    share = 2 * float(arm.max()) / far if far else np.inf
    if not (share < 1 and np.isfinite(rolling).all() and np.isfinite(steering).all()):
        return none, none

    def together(along: FloatArray, turn: FloatArray) -> FloatArray:
        return np.where(aside, along + arm * turn, np.hypot(along, arm * turn))

    def rate(most: FloatArray) -> float:
        """What the base turns at most where its pivots go so fast."""
        with np.errstate(divide="ignore"):
            return float(np.min((most[:, None] + most) / apart))

    # every V ≤ S + c (δ + 2 V/d), the largest too; whatever is below a bound stays below what follows of it
    most = np.full(len(casters), float((rolling + arm * steering).max()) / (1 - share))
    for _ in range(_ROUNDS):
        most = np.minimum(most, together(rolling, steering + rate(most)))
    speeds, quick = none.copy(), none.copy()
    speeds[casters] = most
    if np.isfinite(quickening).all() and np.isfinite(turned).all():
        # in the world |U̇| is at most what s and c k change by, and |k| |u|: U = e^{i(θ + α)} (s + (c₂ − i c₁) k)
        world = float((quickening + arm * turned + (steering + rate(most)) * most).max()) / (1 - share)
        quick[casters] = together(quickening, turned + 2 * world / far)
    return speeds, quick


def swinging(driven: DrivenRobot) -> float:
    """How far the robot's centre of mass may be from where it is with all casters at zero, as they swing (m)."""
    base = list(driven.here.assembly.base_columns)
    mass = float(driven.base_inertia[0, 0])
    moments = [
        math.hypot(*driven.inertia(wheel.steering)[base[:2]].tolist())
        for wheel in driven.here.assembly.wheels
        if wheel.steering is not None
    ]
    return 2 * sum(moments) / mass


# Speeds that a way is to be passed with: z, and ż² there.
Passed = tuple[tuple[float, float], ...]


def quickest_passing(course: Course, knots: FloatArray, jerks: bool, passed: Passed) -> Scaling:
    """The least time from rest to rest within declared limits, with ż² at some knots as is asked for.

    TooFastError where limits leave less.
    """
    if not passed:
        return quickest(course, knots, jerks, (np.inf, np.inf))
    places, squares = np.array(passed).T
    more, before = 1.0, 0.0
    while True:
        asked = tuple(zip(places.tolist(), (squares * more).tolist(), strict=True))
        scaling = quickest(_slower(course, asked), knots, jerks, (np.inf, np.inf))
        reached = float((scaling.squared(*scaling.placed(places))[0] / squares).min())
        if reached >= 1:
            return scaling.slowed(1 / reached)
        if reached - before < _GAINED * (1 - before):
            raise TooFastError(math.sqrt(reached))
        more, before = more / reached * (1 + _BEYOND), reached


def _slower(course: Course, passed: Passed) -> Course:
    """The course with z itself, which is limited beside the places that are passed at a speed."""

    def slower(z: FloatArray) -> tuple[FloatArray, FloatArray]:
        rates, limits = course(z)
        own, most = np.zeros((3, len(z), 1)), np.full((3, len(z), 1), np.inf)
        own[0] = 1.0
        for place, square in passed:
            most[0, np.abs(z - place) <= _BESIDE] = math.sqrt(square)
        return np.concatenate([rates, own], axis=2), np.concatenate([limits, most], axis=2)

    return slower
