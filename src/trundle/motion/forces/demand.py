"""What a path asks of contacts and motors by how fast it is followed, affine in z̈ and ż²."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray, IntArray
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
        pace, bend = driven.speeds(unit), driven.speeds(unit, 1)
        rest = np.zeros_like(pace)
        balance, (needed, loads) = _asked(driven, unit, (rest, rest, pace), (rest, pace, bend))
        needed[1:] -= needed[0]
        loads[1:] -= loads[0]
        return cls(balance, pace, needed, loads)

    @classmethod
    def paced(cls, driven: DrivenRobot, at: Callable[[float], Samples]) -> Demand:
        """The same, affine in (1, x, x²), of ν = ν₀ + x ν₁ and ν̇ = x ν̇₁ + x² ν̇₂: a motion's by its pace."""
        ways = [at(x) for x in (0.0, 1.0, -1.0)]
        speeds, rates = ([driven.speeds(own, order) for own in ways] for order in (0, 1))
        balance, asked = _asked(driven, ways[1], speeds, rates)
        for parts in asked:
            parts[1], parts[2] = (parts[1] - parts[2]) / 2, (parts[1] + parts[2]) / 2 - parts[0]
        return cls(balance, speeds[1], *asked)

    def chosen(self, places: IntArray) -> Demand:
        """The demand at some of the places."""
        needed, loads = self.needed[:, :, places], self.loads[:, places]
        return Demand(self.balance.chosen(places), self.pace[:, places], needed, loads)

    @staticmethod
    def joined(one: Demand, other: Demand) -> Demand:
        """The demand at the places of one and of another one."""
        axes = {"pace": 1, "needed": 2, "loads": 1}
        parts = {n: np.concatenate([getattr(one, n), getattr(other, n)], axis=k) for n, k in axes.items()}
        return Demand(Balance.joined(one.balance, other.balance), **parts)

    def forces(self, a: FloatArray, b: FloatArray, wished: FloatArray | None = None) -> MotionForces:
        """The forces at z̈ = a and ż² = b (n,), those of the contacts nearest to what is wished (n, forces)."""
        return self.forces_at(self.pace * np.sqrt(b), a, b, wished)

    def forces_at(
        self, nu: FloatArray, a: FloatArray, b: FloatArray, wished: FloatArray | None = None
    ) -> MotionForces:
        """The same at speeds ν (speeds, n)."""
        taken = affine(self.needed, a, b) - self.balance.efforts(nu)
        loads = affine(self.loads, a[:, None], b[:, None])
        pushes = nearest_forces(self.balance, taken, wished, loads)
        return given_forces(self.balance, nu, taken, pushes, loads)


def _asked(
    driven: DrivenRobot, samples: Samples, speeds: Sequence[FloatArray], rates: Sequence[FloatArray]
) -> tuple[Balance, tuple[FloatArray, FloatArray]]:
    """The balance at n samples; and M ν̇ + c (k, speeds, n) and loads (k, n, wheels) there at k speeds and rates."""
    balance, many = Balance.at(driven, samples), len(speeds)
    every = balance.chosen(np.tile(np.arange(len(samples)), many))
    nu, nu_dot = np.concatenate(speeds, axis=1), np.concatenate(rates, axis=1)
    needed = every.needed(nu, nu_dot).reshape(len(nu), many, -1).swapaxes(0, 1).copy()
    return balance, (needed, every.loads(nu, nu_dot).reshape(many, len(samples), -1))


def affine(parts: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """p₀ + p₁ z̈ + p₂ ż² of parts (3, …), at z̈ = a and ż² = b."""
    return parts[0] + parts[1] * a + parts[2] * b
