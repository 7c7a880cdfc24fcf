"""What a path asks of contacts and motors by how fast it is followed, affine in z̈ and ż²."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.forces.balance import Balance
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import MotionForces, given_forces, nearest_forces
from trundle.motion.pieces.motion import Samples

# By which share of √b tangents in b are taken, as differences from both sides: their error goes with its square.
_ASIDE = 1e-4


@dataclass(frozen=True, eq=False)
class Demand:
    """What a robot takes at n places z of a path: with ν = A ż and ν̇ = A z̈ + A′ ż², inverse dynamics is affine in
    (1, z̈, ż²).

    `pace` is A and `bend` A′, (speeds, n); `needed` (3, speeds, n) and `loads` (3, n, wheels) are the parts of M ν̇ + c
    and of the wheels' loads.
    """

    balance: Balance
    pace: FloatArray
    bend: FloatArray
    needed: FloatArray
    loads: FloatArray

    @classmethod
    def along(cls, driven: DrivenRobot, unit: Samples) -> Demand:
        """The demand of samples that are passed at ż = 1 and z̈ = 0."""
        balance = Balance.at(driven, unit)
        pace, bend = driven.speeds(unit), driven.speeds(unit, 1)
        rest = np.zeros_like(pace)
        ways = ((rest, rest), (rest, pace), (pace, bend))
        needed = np.array([balance.needed(*way) for way in ways])
        loads = np.array([balance.loads(*way) for way in ways])
        needed[1:] -= needed[0]
        loads[1:] -= loads[0]
        return cls(balance, pace, bend, needed, loads)

    @property
    def driven(self) -> DrivenRobot:
        """The robot."""
        return self.balance.driven

    def taken(self, a: FloatArray, b: FloatArray) -> FloatArray:
        """M ν̇ + c less what springs, dampers and friction give, (speeds, n), at z̈ = a and ż² = b (n,)."""
        return affine(self.needed, a, b) - self.balance.efforts(self.pace * np.sqrt(b))

    def forces(self, a: FloatArray, b: FloatArray, wished: FloatArray | None = None) -> MotionForces:
        """The forces at z̈ = a and ż² = b (n,), those of the contacts nearest to what is wished (n, forces)."""
        taken = self.taken(a, b)
        loads = affine(self.loads, a[:, None], b[:, None])
        pushes = nearest_forces(self.balance, taken, wished, loads)
        return given_forces(self.balance, self.pace * np.sqrt(b), taken, pushes, loads)

    def efforts(self, b: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What joints give by themselves at ż² = b (n,), and its slope by b, (speeds, n) each."""
        low, high = (self.balance.efforts(self.pace * root) for root in aside(b))
        return self.balance.efforts(self.pace * np.sqrt(b)), slope(low, high, b)

    @cached_property
    def columns(self) -> tuple[int, ...]:
        """The columns that motors drive and the motion moves."""
        moved = np.abs(self.pace).max(axis=1) + np.abs(self.needed[1:]).max(axis=(0, 2))
        return tuple(column for column in self.driven.actuators if moved[column] > 0)


def affine(parts: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """p₀ + p₁ z̈ + p₂ ż² of parts (3, …), at z̈ = a and ż² = b."""
    return parts[0] + parts[1] * a + parts[2] * b


def slope(low: FloatArray, high: FloatArray, b: FloatArray) -> FloatArray:
    """The derivative by b of what has these values at √b (1 ∓ the share aside)."""
    return (high - low) / (4 * _ASIDE * b)


def aside(b: FloatArray) -> tuple[FloatArray, FloatArray]:
    """√b a share less and a share more."""
    root = np.sqrt(b)
    return root * (1 - _ASIDE), root * (1 + _ASIDE)
