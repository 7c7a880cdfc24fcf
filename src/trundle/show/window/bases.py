"""Bases on wheels as somebody drives them: from what is wanted of one to what its wheels have to do.

A twist of the base says how fast each wheel turns and where each points (`trundle.kinematics`). A car can't turn on the
spot: for it turning is a steering angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.motion.drive.kinematics import Kinematics, kinematics
from trundle.motion.drive.module_states import ModuleStates
from trundle.results.arrays import FloatArray
from trundle.robot import Robot

# How far a car steers (rad).
LOCK = 0.55


@dataclass(frozen=True)
class Wish:
    """What somebody wants of a base: forward, to the left, and turning to the left, each from -1 to 1."""

    forward: float = 0.0
    left: float = 0.0
    turn: float = 0.0

    def toward(self, goal: Wish, most: float) -> Wish:
        """The goal, or as near to it as each part may change at once."""
        now, aim = (np.array([each.forward, each.left, each.turn]) for each in (self, goal))
        return Wish(*(now + np.clip(aim - now, -most, most)).tolist())


@dataclass(frozen=True)
class DrivenBase:
    """A base on wheels: its kinematics, and whether it `strafes`: moves sideways.

    axle: of a car, where along the base its fixed wheels stand (m), None of others; wheelbase: how far ahead of them
    the steered ones are.
    """

    kinematics: Kinematics
    strafes: bool
    axle: float | None = None
    wheelbase: float = 1.0

    def twist(self, wish: Wish, speed: float, rate: float) -> FloatArray:
        """v_x, v_y (m/s), ω (rad/s) at this top speed and rate."""
        if self.axle is None:
            return np.array([wish.forward * speed, wish.left * speed * self.strafes, wish.turn * rate])
        curvature = math.tan(LOCK * wish.turn) / self.wheelbase
        return wish.forward * speed * np.array([1.0, -curvature * self.axle, curvature])

    def wheels(self, wish: Wish, speed: float, rate: float, before: ModuleStates) -> ModuleStates:
        """How the wheels have to turn and point, going on from what they do."""
        if self.axle is None:
            return self.kinematics.module_states(*self.twist(wish, speed, rate), previous=before)
        # A car points its wheels where it stands, too: as it would at full speed.
        ahead = self.kinematics.module_states(*self.twist(Wish(1.0, 0.0, wish.turn), speed, rate))
        return self.kinematics.states(ahead.angles, wish.forward * ahead.speeds)


def base_of(robot: Robot, assembly: Assembly, driven: set[int]) -> DrivenBase | None:
    """The base that its wheels drive, of whose columns some are `driven`; None where no twist says what they do."""
    try:
        found = kinematics(robot)
    except InputError:
        return None
    wheels = {wheel.name: wheel for wheel in assembly.wheels}
    for linkage in assembly.linkages:
        driven = driven | {axis.column for axis in linkage.followers if linkage.axis.column in driven}
    steered = [m.place[0] for m in found.modules if wheels[m.name].steering in driven]
    fixed = [m.place[0] for m in found.modules if not m.pivots and m.rollers is None]
    if not fixed or not steered:
        return DrivenBase(found, strafes=not fixed)
    axle, ahead = float(np.mean(np.array(fixed, dtype=float))), float(np.mean(np.array(steered, dtype=float)))
    return (
        DrivenBase(found, False, axle, ahead - axle) if abs(ahead - axle) > 1e-9 else DrivenBase(found, False)
    )
