"""What contacts that grip by slipping creep for a motion's forces, and what forces that makes of them.

Wheels on one axle have one slip across, and so share what holds the axle aside. A wheel whose contact creeps across
stands aside of where it goes: a part of its force is against the motion, and motors give it, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.steering import steering_gain
from trundle.mechanics.wheels import GRIPPED
from trundle.model.base_dynamics import rolled, slip_per_force, spread_forces
from trundle.motion.forces.balance import ForceBalance
from trundle.motion.forces.driven_robot import DrivenRobot

# A wheel that carries less than this share of what another does gives that little of what is missing, too.
_CARRIES = 1e-3
# What counts as no force (N).
_LEAST = 1e-9


@dataclass(frozen=True, eq=False)
class Creep:
    """How contacts of m modules slip for forces on them (n, m; m/s), along wheels and across: against the forces."""

    driven: DrivenRobot
    along: FloatArray
    across: FloatArray

    @classmethod
    def of(cls, driven: DrivenRobot, traction: FloatArray, side: FloatArray, grip: FloatArray) -> Creep:
        """Of forces along and across the wheels, (n, m), and of what the contacts hold."""
        columns = zip(driven.wheels, traction.T, side.T, grip.T, strict=True)
        # a contact that carries nothing slips as one that is used up
        with np.errstate(divide="ignore"):
            slips = [
                0.0 + slip_per_force(wheel, along, across, most, _LEAST)
                for wheel, along, across, most in columns
            ]
        per_force = np.stack(slips, axis=1)
        return cls(driven, -per_force * traction, -per_force * side)

    @classmethod
    def none(cls, driven: DrivenRobot, count: int) -> Creep:
        """Of contacts that hold without slip."""
        return cls(driven, *np.zeros((2, count, len(driven.wheels))))

    @cached_property
    def faster(self) -> FloatArray:
        """What the wheels roll faster for it, (n, m; m/s)."""
        columns = zip(self.driven.wheels, self.along.T, self.across.T, strict=True)
        return -np.stack([rolled(wheel, *column) for wheel, *column in columns], axis=1)

    def rates(self, nu: FloatArray) -> FloatArray:
        """ν (speeds, n) with wheels that turn by so much faster."""
        turned = nu.copy()
        for k, wheel in enumerate(self.driven.wheels):
            if wheel.spin is not None:
                turned[wheel.spin] += self.faster[:, k] / float(wheel.radius)
        return turned


class ContactState(NamedTuple):
    """What contacts give at n instants: forces (n, forces), loads of all wheels (n, wheels), rates of all speeds with
    their slip (speeds, n), what is left for motors (speeds, n), and how they slip.

    sliding: of wheels that slide for their base to turn, the share that a side gives of what it could along, (n, m).
    """

    forces: FloatArray
    loads: FloatArray
    rates: FloatArray
    needed: FloatArray
    creep: Creep
    sliding: FloatArray | None = None


def along_and_across(driven: DrivenRobot, forces: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Contacts' forces (n, forces) along the modules' headings and axles, (n, m) each."""
    traction, side = np.zeros((2, len(forces), len(driven.wheels)))
    for place, (k, along, across) in enumerate(driven.directions):
        traction[:, k] += along * forces[:, place]
        side[:, k] += across * forces[:, place]
    return traction, side


def creeping(
    balance: ForceBalance, nu: FloatArray, forces: FloatArray, loads: FloatArray, grip: FloatArray
) -> tuple[FloatArray, Creep, FloatArray]:
    """The contacts' forces (n, forces) as those that creep make them of what balances a motion, how they slip, and what
    motors give beside (speeds, n).

    loads: of all wheels, (n, wheels); grip: what the modules' contacts hold, (n, m).
    """
    driven = balance.driven
    if not any_creeps(driven):
        return forces, Creep.of(driven, *along_and_across(driven, forces), grip), np.zeros_like(nu)
    axles = _axles(driven)
    alike = shared(driven, forces, grip, [*axles, *_linked(driven)])
    # wheels that a linkage steers don't point the same way: what they give differs a little
    missing = np.einsum("nck,nk->nc", balance.pushing, forces - alike)
    forces = alike + carried_forces(balance, missing, loads)
    creep = Creep.of(driven, *along_and_across(driven, forces), grip)
    forces, paid = aside(balance, nu, forces, loads, creep)
    forces = shared(driven, forces, grip, axles)
    return forces, Creep.of(driven, *along_and_across(driven, forces), grip), paid


def any_creeps(driven: DrivenRobot) -> bool:
    """Whether a module's contact slips for what it gives."""
    return any(wheel.creeps for wheel in driven.wheels)


def shared(driven: DrivenRobot, forces: FloatArray, grip: FloatArray, groups: list[list[int]]) -> FloatArray:
    """The contacts' forces (n, forces) with those across of groups of modules as one slip across gives them.

    By f = −μN v/√(|v|² + ε²) that is f_y = λ √((μN)² − f_x²), with one λ for all of a group. grip: μN of the modules,
    (n, m).
    """
    forces = forces.copy()
    traction, side = along_and_across(driven, forces)
    for group in groups:
        holds = grip[:, group]
        room = np.sqrt(np.maximum(holds**2 - traction[:, group] ** 2, (1 - GRIPPED**2) * holds**2))
        # a group that carries nothing shares evenly
        room = np.where(room.any(axis=1, keepdims=True), room, 1.0)
        given = side[:, group].sum(axis=1, keepdims=True) * room / room.sum(axis=1, keepdims=True)
        for k, part in zip(group, given.T, strict=True):
            _, y = force_places(driven, k)
            forces[:, y] = part / driven.directions[y][2]
    return forces


def aside(
    balance: ForceBalance, nu: FloatArray, forces: FloatArray, loads: FloatArray, creep: Creep
) -> tuple[FloatArray, FloatArray]:
    """The forces (n, forces) where wheels stand aside by what they creep across, and what motors give beside
    (speeds, n).

    A wheel that rolls at v and creeps across by v_y stands aside by v_y/v, and f_y v_y/v of its force across is against
    the motion: its motor gives that beside, and where none turns it the other wheels do.
    """
    driven, base = balance.driven, balance.assembly.base_columns
    forces, paid, missing = forces.copy(), np.zeros_like(nu), np.zeros((len(forces), len(balance.free)))
    onto = np.array([column in base for column in balance.free])
    for k, wheel in enumerate(driven.wheels):
        if len(wheel.directions) != 2 or wheel.spin is None or not wheel.creeps:
            continue
        x, y = force_places(driven, k)
        rolled = nu[wheel.spin] * float(wheel.radius)
        side = forces[:, y] * driven.directions[y][2]
        lost = -side * creep.across[:, k] * steering_gain(rolled) / driven.directions[x][1]
        if wheel.spin in driven.actuators:
            paid[wheel.spin] -= balance.rows[:, x, wheel.spin] * lost
        else:
            forces[:, x] -= lost
            missing += balance.pushing[:, :, x] * onto * lost[:, None]
    return forces + carried_forces(balance, missing, loads), paid


def carried_forces(balance: ForceBalance, missing: FloatArray, loads: FloatArray) -> FloatArray:
    """The contacts' forces (n, forces) that give what is missing (n, free), with the squares of the wheels' loads
    (n, wheels) as weights, so that it comes from the wheels that carry.
    """
    held = loads[:, [balance.on[k] for k, *_ in balance.driven.directions]]
    weights = np.maximum(held / held.max(axis=1, keepdims=True), _CARRIES) ** 2
    onto = balance.pushing.transpose(2, 1, 0)
    return np.stack(spread_forces(list(map(list, onto)), list(weights.T), list(missing.T)), axis=1)


def force_places(driven: DrivenRobot, k: int) -> tuple[int, int]:
    """The places of a wheel's forces along it and across."""
    own = [place for place, (module, *_) in enumerate(driven.directions) if module == k]
    x, y = (max(own, key=lambda place: abs(driven.directions[place][part])) for part in (1, 2))
    return x, y


def _slip_speeds(driven: DrivenRobot) -> dict[int, float]:
    """The slip (m/s) for half of the grip, by module, of those that creep along and across."""
    return {
        k: float(wheel.law.creep(0.5, wheel.read))
        for k, wheel in enumerate(driven.wheels)
        if len(wheel.directions) == 2 and wheel.creeps
    }


def _axles(driven: DrivenRobot) -> list[list[int]]:
    """Modules on one axle of the base that hold their direction: they slip across as one."""
    groups: dict[tuple[float, ...], list[int]] = {}
    for k, slip in _slip_speeds(driven).items():
        if driven.wheels[k].steering is None:
            ahead = complex(*map(float, driven.wheels[k].position)) * np.exp(-1j * driven.headings[k])
            key = slip, np.cos(driven.headings[k]), np.sin(driven.headings[k]), ahead.real
            groups.setdefault(tuple(round(float(part), 9) for part in key), []).append(k)
    return [group for group in groups.values() if len(group) > 1]


def _linked(driven: DrivenRobot) -> list[list[int]]:
    """Modules that one linkage steers: they turn aside as one."""
    slips = _slip_speeds(driven)
    linked = [[axis.column for axis in linkage.followers] for linkage in driven.here.assembly.linkages]
    groups = [[k for k in slips if driven.wheels[k].steering in columns] for columns in linked]
    return [group for group in groups if len(group) > 1 and len({slips[k] for k in group}) == 1]
