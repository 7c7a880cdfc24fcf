"""What a motion on wheels takes: forces between wheels and ground, what motors and batteries give, and shares of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.frozen import Brief
from trundle.mechanics.actuation import Supply
from trundle.motion.forces.balance import Balance
from trundle.motion.forces.creeping import Creep, along_and_across, carried, creeping
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.scrubbing import Scrub, Sliding
from trundle.motion.pieces.motion import Samples
from trundle.robot import require_base_mass
from trundle.robot.motors import WoundMotor


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
        assembly = self.driven.here.assembly
        return {
            supply.name: (float(supply.full_voltage) - self.supplies[supply.name]) / _resistance(supply)
            for supply in assembly.supplies
        }


def motion_forces(driven: DrivenRobot, samples: Samples, wished: FloatArray | None = None) -> MotionForces:
    """The forces of a motion, by inverse dynamics of the whole robot.

    M ν̇ + c = τ + Aᵀ f over all speeds: where no motor gives anything (the base, wheels that none drives) the contacts'
    forces do, B f = w: those of least norm, or nearest to what is `wished` of them (n, forces). What is left on what
    motors drive is theirs. Raises InputError where a mass or a motor is missing.
    """
    require_base_mass(driven.robot)
    balance = Balance.at(driven, samples)
    nu, nu_dot = driven.speeds(samples), driven.speeds(samples, 1)
    if driven.sides:
        return scrubbing_forces(balance, Sliding(balance, nu, nu_dot).settled())
    taken, loads = balance.needed(nu, nu_dot) - balance.efforts(nu), balance.loads(nu, nu_dot)
    return given_forces(balance, nu, taken, nearest_forces(balance, taken, wished, loads), loads)


def nearest_forces(
    balance: Balance, taken: FloatArray, wished: FloatArray | None, loads: FloatArray
) -> FloatArray:
    """The contacts' forces (n, forces) nearest to the wished that give what is taken where no motor does.

    Without a wish those of least norm, f = B⁺ w; else f + W Bᵀ (B W Bᵀ)⁻¹ (w − B f) with W the squares of the wheels'
    loads (n, wheels), so that what is missing comes from the wheels that carry.
    """
    target = taken[balance.free].T
    if wished is None:
        return np.einsum("nkc,nc->nk", balance.inverse, target)
    missing = target - np.einsum("nck,nk->nc", balance.pushing, wished)
    return wished + carried(balance, missing, loads)


def given_forces(
    balance: Balance, nu: FloatArray, taken: FloatArray, forces: FloatArray, loads: FloatArray
) -> MotionForces:
    """All that follows from what is taken (speeds, n), the contacts' forces (n, forces) and loads of all wheels.

    Contacts that creep share the forces as their slip does, and motors give what it takes.
    """
    forces, creep, paid = creeping(balance, nu, forces, loads, _grip(balance, loads))
    needed = taken - np.einsum("nkj,nk->jn", balance.rows, forces) + paid
    return settled_forces(balance, creep.rates(nu), needed, forces, loads, creep)


def scrubbing_forces(balance: Balance, scrub: Scrub) -> MotionForces:
    """The same of a base whose wheels slide to turn: the share of their friction is that of their side."""
    needed = scrub.taken - np.einsum("nkj,nk->jn", balance.rows, scrub.forces)
    sliding = np.empty((len(scrub.forces), len(balance.driven.wheels)))
    for side, wheels in enumerate(balance.driven.sides):
        sliding[:, list(wheels)] = scrub.shares[:, [side]]
    return replace(
        settled_forces(balance, scrub.nu, needed, scrub.forces, scrub.loads, scrub.creep), sliding=sliding
    )


def _grip(balance: Balance, loads: FloatArray) -> FloatArray:
    """μ N of the modules' contacts (n, m); infinite where nothing says their friction."""
    known = np.isfinite(balance.driven.friction)
    load = np.maximum(loads[:, balance.on], 0.0)
    return np.where(known, np.where(known, balance.driven.friction, 0.0) * load, np.inf)


def settled_forces(
    balance: Balance,
    rates: FloatArray,
    needed: FloatArray,
    forces: FloatArray,
    loads: FloatArray,
    creep: Creep | None = None,
) -> MotionForces:
    """All that follows from what motors give (speeds, n) at rates, contacts' forces and slip, if any."""
    driven, assembly = balance.driven, balance.assembly
    if creep is None:
        creep = Creep(driven, *np.zeros((2, len(forces), len(driven.wheels))))
    torques, commands, currents, drawn = _motors(balance, rates, needed)
    none, supplies = np.zeros(len(forces)), assembly.supplies
    powers = {s.name: sum((drawn[name] for name in s.feeds if name in drawn), none) for s in supplies}
    volts = {supply.name: terminals(supply, powers[supply.name]) for supply in supplies}
    pushes = *along_and_across(driven, forces), np.maximum(loads[:, balance.on], 0.0), _grip(balance, loads)
    every = dict(zip([wheel.name for wheel in assembly.wheels], loads.T, strict=True))
    motors = torques, commands, currents, volts
    return MotionForces(
        driven.names, *pushes, creep.along, creep.across, *motors, driven, every, rates, powers
    )


def greatest_power(supply: Supply) -> float:
    """E²/(4 R), the most that a full battery gives (W)."""
    return float(supply.power_at(supply.full_voltage / 2))


def terminals(supply: Supply, power: FloatArray) -> FloatArray:
    """V (V) of a full battery that gives a power (W), V (E − V) = R P; E/2 where that is more than it can give."""
    share = power / greatest_power(supply)
    return float(supply.full_voltage) * (1 + np.sqrt(np.maximum(1 - share, 0.0))) / 2


def _resistance(supply: Supply) -> float:
    return float(supply.read(supply.battery.internal_resistance))


_Named = dict[str, FloatArray]


def _motors(balance: Balance, nu: FloatArray, needed: FloatArray) -> tuple[_Named, _Named, _Named, _Named]:
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
            if isinstance(motor.motor, WoundMotor):
                winding = motor.settled_winding(command, position, nu[column])
                current = (command - winding.emf) / winding.resistance
                currents[motor.name], powers[motor.name] = current, command * current
    return torques, commands, currents, powers
