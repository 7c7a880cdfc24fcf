"""Bases on wheels as somebody drives them: from what is wanted of one to what its wheels have to do.

A twist of the base says how fast wheels turn and where they point (`trundle.kinematics`). A car can't turn on the spot:
for it turning is a steering angle.
"""

from __future__ import annotations

import cmath
import math
from dataclasses import dataclass, replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.modules import modules_of
from trundle.motion.drive.kinematics import Kinematics, kinematics
from trundle.motion.drive.programs import ModuleStates
from trundle.robot import Robot

# How far a car steers at most (rad): some 31°, about what road cars do.
LOCK = 0.55
# Steered wheels that are no farther than this (m) from the line of the fixed ones are beside them: no car, whose
# curvature has the distance below the line. Far below what is built, far above rounding.
_NO_BASE = 1e-9


@dataclass(frozen=True)
class Wish:
    """What somebody wants of a base: forward, to the left, and turning to the left, from -1 to 1."""

    forward: float = 0.0
    left: float = 0.0
    turn: float = 0.0

    def toward(self, goal: Wish, most: float) -> Wish:
        """The goal, or the wish that is nearest to it if no part may change by more than `most`."""
        now, aim = (np.array([wish.forward, wish.left, wish.turn]) for wish in (self, goal))
        return Wish(*(now + np.clip(aim - now, -most, most)).tolist())

    def turned(self, angle: float) -> Wish:
        """The same way seen from axes that are turned by minus this angle (rad)."""
        way = complex(self.forward, self.left) * cmath.exp(1j * angle)
        return replace(self, forward=way.real, left=way.imag)


@dataclass(frozen=True)
class TeleopBase:
    """A base on wheels: its kinematics, and whether it `strafes`: moves sideways.

    axle: of a car, where along the base its fixed wheels stand (m), None of others; wheelbase: how far ahead of them
    the steered ones are.
    """

    kinematics: Kinematics
    strafes: bool
    axle: float | None = None
    wheelbase: float = 1.0

    def twist(self, wish: Wish, speed: float, rate: float) -> FloatArray:
        """The twist v_x, v_y (m/s), ω (rad/s) of the wish at this top speed (m/s) and rate (rad/s)."""
        if self.axle is None:
            return np.array([wish.forward * speed, wish.left * speed * self.strafes, wish.turn * rate])
        curvature = math.tan(LOCK * wish.turn) / self.wheelbase
        return wish.forward * speed * np.array([1.0, -curvature * self.axle, curvature])

    def wheels(self, wish: Wish, speed: float, rate: float, before: ModuleStates) -> ModuleStates:
        """How the wheels have to turn and point, going on from what they do."""
        if self.axle is None:
            return self.kinematics.module_states(*self.twist(wish, speed, rate), previous=before)
        # A car points its wheels where it stands, too: as it would at full speed.
        full = self.twist(Wish(1.0, 0.0, wish.turn), speed, rate)
        ahead = self.kinematics.module_states(*full, previous=before)
        return self.kinematics.states(ahead.angles, wish.forward * ahead.speeds)

    def steering(self, wish: Wish, wheelbase: float) -> float:
        """The angle (rad) of a linkage that steers wheels so far (m) ahead of the axle."""
        # The linkages of one car turn about one centre: tan δ goes with how far ahead of the axle their wheels are.
        turn = 0.0 if self.axle is None else wish.turn
        return math.atan(wheelbase / self.wheelbase * math.tan(LOCK * turn))


def base_of(robot: Robot, assembly: Assembly, driven: set[int]) -> TeleopBase | None:
    """The base that its wheels drive, of whose columns some are `driven`; None where no twist says what they do."""
    try:
        # The assembly's own modules: its parameters may differ from the description's.
        known = replace(kinematics(robot), modules=modules_of(assembly))
    except InputError:
        return None
    wheels = {wheel.name: wheel for wheel in assembly.wheels}
    for linkage in assembly.linkages:
        driven = driven | {axis.column for axis in linkage.followers if linkage.axis.column in driven}
    steered = [m.place[0] for m in known.modules if wheels[m.name].steering in driven]
    fixed = [m.place[0] for m in known.modules if m.is_fixed]
    base = TeleopBase(known, strafes=not fixed)
    if not fixed or not steered:
        return base
    axle, ahead = (float(np.mean(np.array(places, dtype=float))) for places in (fixed, steered))
    return base if abs(ahead - axle) < _NO_BASE else replace(base, axle=axle, wheelbase=ahead - axle)
