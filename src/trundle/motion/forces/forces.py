"""What a motion on wheels takes: forces between wheels and ground, what motors and batteries give, and shares of it.

Of a path, what it asks for by how fast it is followed (`Demand`): affine in z̈ and ż².
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.frozen import Brief
from trundle.mechanics.actuation import Supply
from trundle.motion.forces.balance import ForceBalance
from trundle.motion.forces.creeping import ContactState, along_and_across, carried_forces, creeping
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.sliding import slid_contacts
from trundle.motion.pieces.motion import Samples
from trundle.robot import require_base_mass
from trundle.simulation.battery_use import BatteryUse, use_of


@dataclass(frozen=True, eq=False, repr=False)
class MotionForces(Brief):
    """What a motion takes, at n times of m modules.

    Parameters
    ----------
    names : tuple of str
        The modules.
    traction, side_force : array (n, m), N
        Of the ground on the wheels, along their headings and along their axles: as the plan chose them, else of all
        forces that move the robot so those with the least sum of squares, as elastic contacts give.
    load : array (n, m), N
        Of the wheels on the ground, moved by the motion where the description says how high its masses are.
    grip : array (n, m), N
        Friction times load; infinite for wheels that can't slip.
    slip_along, slip_across : array (n, m), m/s
        Along the wheels' headings and axles, the slip at which their contact laws give these forces: 0 of wheels that
        hold without it, and that of 99 % of its grip where more is asked for.
    torques : mapping of str to array (n,), N m
        Of motors on what they drive, by motor.
    commands : mapping of str to array (n,)
        The inputs by which they give them.
    currents : mapping of str to array (n,), A
        Of the windings, by motor.
    supplies : mapping of str to array (n,), V
        Of the batteries between their terminals, full ones, by name.
    driven : DrivenRobot
        Whose they are.
    loads : mapping of str to array (n,), N
        Of all wheels on the ground, by wheel; negative of one that would have to be pulled down.
    rates : array (speeds, n)
        Of the base, wheels and steering, with what wheels turn faster by their slip.
    powers : mapping of str to array (n,), W
        Out of the batteries, by name.
    sliding : array (n, m) or None
        Of a base whose wheels slide to turn, the share that a wheel's side gives of what it could along.
    """

    names: tuple[str, ...]
    traction: FloatArray
    side_force: FloatArray
    load: FloatArray
    grip: FloatArray
    slip_along: FloatArray
    slip_across: FloatArray
    torques: Mapping[str, FloatArray]
    commands: Mapping[str, FloatArray]
    currents: Mapping[str, FloatArray]
    supplies: Mapping[str, FloatArray]
    driven: DrivenRobot
    loads: Mapping[str, FloatArray]
    rates: FloatArray
    powers: Mapping[str, FloatArray]
    sliding: FloatArray | None = None

    @property
    def floorless(self) -> bool:
        """Whether no contact's friction is known, so that the floor limits nothing."""
        return bool(np.isinf(self.grip).all())

    @property
    def friction_use(self) -> FloatArray:
        """The share of their grip that contacts need, (n, m); above 1 it slides, inf where it carries nothing."""
        size = np.hypot(self.traction, self.side_force)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(size > 0, size / self.grip, 0.0)

    @property
    def battery_currents(self) -> dict[str, FloatArray]:
        """(E − V)/R of full batteries (A), by name."""
        return {
            supply.name: (float(supply.full_voltage) - self.supplies[supply.name])
            / float(supply.read(supply.battery.internal_resistance))
            for supply in self.driven.here.assembly.supplies
        }

    def battery_use(self, times: FloatArray) -> dict[str, BatteryUse]:
        """What full batteries give and get back over times (n,), which are the forces' own."""
        return {
            supply.name: use_of(
                times,
                self.battery_currents[supply.name],
                np.full(times.size, float(supply.full_voltage)),
                float(supply.read(supply.battery.internal_resistance)),
            )
            for supply in self.driven.here.assembly.supplies
        }


def motion_forces(driven: DrivenRobot, samples: Samples, wished: FloatArray | None = None) -> MotionForces:
    """The forces of a motion, by inverse dynamics of the whole robot.

    M ν̇ + c = τ + Aᵀ f over all speeds: where no motor gives anything (the base, wheels that none drives) the contacts'
    forces do, B f = w: those of least norm, or nearest to what is `wished` of them (n, forces). What is left on what
    motors drive is theirs. Raises InputError where a mass or a motor is missing.
    """
    require_base_mass(driven.robot)
    balance = ForceBalance.at(driven, samples)
    nu, nu_dot = driven.speeds(samples), driven.speeds(samples, 1)
    if (slid := slid_contacts(balance, nu, nu_dot)) is not None:
        return settled_forces(balance, slid)
    taken, loads = balance.needed(nu, nu_dot) - balance.efforts(nu), balance.loads(nu, nu_dot)
    return given_forces(balance, nu, taken, nearest_forces(balance, taken, wished, loads), loads)


def nearest_forces(
    balance: ForceBalance, taken: FloatArray, wished: FloatArray | None, loads: FloatArray
) -> FloatArray:
    """The contacts' forces (n, forces) nearest to the wished that give what is taken where no motor does.

    Without a wish those of least norm, f = B⁺ w; else f + W Bᵀ (B W Bᵀ)⁻¹ (w − B f) with W the squares of the wheels'
    loads (n, wheels), so that what is missing comes from the wheels that carry.
    """
    target = taken[balance.free].T
    if wished is None:
        return np.einsum("nkc,nc->nk", balance.inverse, target)
    missing = target - np.einsum("nck,nk->nc", balance.pushing, wished)
    return wished + carried_forces(balance, missing, loads)


def given_forces(
    balance: ForceBalance, nu: FloatArray, taken: FloatArray, forces: FloatArray, loads: FloatArray
) -> MotionForces:
    """All that follows from what is taken (speeds, n), the contacts' forces (n, forces) and loads of all wheels.

    Contacts that creep share the forces as their slip does, and motors give what it takes.
    """
    forces, creep, paid = creeping(balance, nu, forces, loads, _grip(balance, loads))
    needed = taken - np.einsum("nkj,nk->jn", balance.rows, forces) + paid
    return settled_forces(balance, ContactState(forces, loads, creep.rates(nu), needed, creep))


def _grip(balance: ForceBalance, loads: FloatArray) -> FloatArray:
    """μ N of the modules' contacts (n, m); infinite where nothing says their friction."""
    known = np.isfinite(balance.driven.friction)
    load = np.maximum(loads[:, balance.on], 0.0)
    return np.where(known, np.where(known, balance.driven.friction, 0.0) * load, np.inf)


def settled_forces(balance: ForceBalance, contacts: ContactState) -> MotionForces:
    """All that follows from what contacts give: torques, commands, currents of motors, and volts of batteries."""
    driven, assembly, (forces, loads, rates, needed, creep, sliding) = (
        balance.driven,
        balance.assembly,
        contacts,
    )
    torques, commands, currents, drawn = _motors(balance, rates, needed)
    none, supplies = np.zeros(len(forces)), assembly.supplies
    powers = {s.name: sum((drawn[name] for name in s.feeds if name in drawn), none) for s in supplies}
    volts = {supply.name: terminals(supply, powers[supply.name]) for supply in supplies}
    pushes = *along_and_across(driven, forces), np.maximum(loads[:, balance.on], 0.0), _grip(balance, loads)
    every = dict(zip([wheel.name for wheel in assembly.wheels], loads.T, strict=True))
    motors = torques, commands, currents, volts
    return MotionForces(
        driven.names, *pushes, creep.along, creep.across, *motors, driven, every, rates, powers, sliding
    )


@dataclass(frozen=True, eq=False)
class Demand:
    """What a robot takes at n places z of a path: with ν = A ż and ν̇ = A z̈ + A′ ż², inverse dynamics is affine in
    (1, z̈, ż²).

    `pace` is A, (speeds, n); `needed` (3, speeds, n) and `loads` (3, n, wheels) are the parts of M ν̇ + c
    and of the wheels' loads.
    """

    balance: ForceBalance
    pace: FloatArray
    needed: FloatArray
    loads: FloatArray

    @classmethod
    def along(cls, driven: DrivenRobot, unit: Samples) -> Demand:
        """The demand of samples that are passed at ż = 1 and z̈ = 0."""
        pace, bend = driven.speeds(unit), driven.speeds(unit, 1)
        rest = np.zeros_like(pace)
        balance, (needed, loads) = _demands(driven, unit, (rest, rest, pace), (rest, pace, bend))
        needed[1:] -= needed[0]
        loads[1:] -= loads[0]
        return cls(balance, pace, needed, loads)

    @classmethod
    def paced(cls, driven: DrivenRobot, at: Callable[[float], Samples]) -> Demand:
        """The same, affine in (1, x, x²), of ν = ν₀ + x ν₁ and ν̇ = x ν̇₁ + x² ν̇₂: a motion's by its pace."""
        ways = [at(x) for x in (0.0, 1.0, -1.0)]
        speeds, rates = ([driven.speeds(own, order) for own in ways] for order in (0, 1))
        balance, asked = _demands(driven, ways[1], speeds, rates)
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
        return Demand(ForceBalance.joined(one.balance, other.balance), **parts)

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


def _demands(
    driven: DrivenRobot, samples: Samples, speeds: Sequence[FloatArray], rates: Sequence[FloatArray]
) -> tuple[ForceBalance, tuple[FloatArray, FloatArray]]:
    """The balance at n samples; and M ν̇ + c (k, speeds, n) and loads (k, n, wheels) there at k speeds and rates."""
    balance, many = ForceBalance.at(driven, samples), len(speeds)
    every = balance.chosen(np.tile(np.arange(len(samples)), many))
    nu, nu_dot = np.concatenate(speeds, axis=1), np.concatenate(rates, axis=1)
    needed = every.needed(nu, nu_dot).reshape(len(nu), many, -1).swapaxes(0, 1).copy()
    return balance, (needed, every.loads(nu, nu_dot).reshape(many, len(samples), -1))


def affine(parts: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
    """p₀ + p₁ z̈ + p₂ ż² of parts (3, …), at z̈ = a and ż² = b."""
    return parts[0] + parts[1] * a + parts[2] * b


def greatest_power(supply: Supply) -> float:
    """E²/(4 R), the most that a full battery gives (W)."""
    return float(supply.power_at(supply.full_voltage / 2))


def terminals(supply: Supply, power: FloatArray) -> FloatArray:
    """V (V) of a full battery that gives a power (W), V (E − V) = R P; E/2 where that is more than it can give."""
    share = power / greatest_power(supply)
    return float(supply.full_voltage) * (1 + np.sqrt(np.maximum(1 - share, 0.0))) / 2


_Named = dict[str, FloatArray]


def _motors(
    balance: ForceBalance, nu: FloatArray, needed: FloatArray
) -> tuple[_Named, _Named, _Named, _Named]:
    """Torques, commands by the inputs' names, currents and electric powers of windings; motors on one axis share."""
    quantities, speeds = balance.assembly.quantities, balance.assembly.speeds
    zero = np.zeros(nu.shape[1])
    torques: _Named = {}
    commands: _Named = {}
    currents: _Named = {}
    powers: _Named = {}
    for column, actuators in balance.driven.actuators.items():
        position = balance.where.get(quantities.coordinate_of(speeds[column]), zero)
        for motor in actuators:
            torques[motor.name] = torque = needed[column] / len(actuators)
            # A kind may answer with one number for all times: an array all the same.
            command = zero + motor.command_for(torque, position, nu[column])
            commands[motor.command.name] = command
            if motor.motor.has_winding:
                winding = motor.settled_winding(command, position, nu[column])
                current = (command - winding.emf) / winding.resistance
                currents[motor.name], powers[motor.name] = current, command * current
    return torques, commands, currents, powers
