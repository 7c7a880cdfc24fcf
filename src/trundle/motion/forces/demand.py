"""What a path asks of contacts and motors by how fast it is followed, affine in z̈ and ż²."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.forces.balance import Balance
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import MotionForces, given_forces, nearest_forces
from trundle.motion.pieces.motion import Samples


@dataclass(frozen=True, eq=False)
class Demand:
    """What a robot takes at n places z of a path: with ν = A ż and ν̇ = A z̈ + A′ ż², inverse dynamics is affine in
    (1, z̈, ż²).

    `pace` is A, (speeds, n); `needed` (3, speeds, n) and `loads` (3, n, wheels) are the parts of M ν̇ + c
    and of the wheels' loads.
    """

    balance: Balance
    pace: FloatArray
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
        return cls(balance, pace, needed, loads)

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


def affine(parts: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """p₀ + p₁ z̈ + p₂ ż² of parts (3, …), at z̈ = a and ż² = b."""
    return parts[0] + parts[1] * a + parts[2] * b
