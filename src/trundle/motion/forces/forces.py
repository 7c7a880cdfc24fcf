"""What a motion on wheels takes: forces between wheels and ground, what motors and batteries give, and shares of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

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
    use : mapping of str to array (n,)
        By what binds the robot ("grip of rear_left", "supply current of front_left_drive", "load of rear_right") the
        share of it that the motion takes; above 1 the motion can't be.
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
    use: Mapping[str, FloatArray]

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
    driven = balance.driven
    grip = _grip(balance, loads)
    forces, creep, paid = creeping(balance, nu, forces, loads, grip)
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = np.nan_to_num(np.hypot(*along_and_across(driven, forces)) / grip, nan=0.0)
    needed = taken - np.einsum("nkj,nk->jn", balance.rows, forces) + paid
    return _told(balance, creep.rates(nu), needed, forces, loads, creep, shares)


def scrubbing_forces(balance: Balance, scrub: Scrub) -> MotionForces:
    """The same of a base whose wheels slide to turn: the share of their friction is that of their side."""
    needed = scrub.taken - np.einsum("nkj,nk->jn", balance.rows, scrub.forces)
    shares = np.empty((len(scrub.forces), len(balance.driven.wheels)))
    for side, wheels in enumerate(balance.driven.sides):
        shares[:, list(wheels)] = scrub.shares[:, [side]]
    return _told(balance, scrub.nu, needed, scrub.forces, scrub.loads, scrub.creep, shares)


def _grip(balance: Balance, loads: FloatArray) -> FloatArray:
    """μ N of the modules' contacts (n, m); infinite where nothing says their friction."""
    known = np.isfinite(balance.driven.friction)
    load = np.maximum(loads[:, balance.on], 0.0)
    return np.where(known, np.where(known, balance.driven.friction, 0.0) * load, np.inf)


def _told(
    balance: Balance,
    rates: FloatArray,
    needed: FloatArray,
    forces: FloatArray,
    loads: FloatArray,
    creep: Creep,
    shares: FloatArray,
) -> MotionForces:
    """All that follows from what motors give (speeds, n) at rates, contacts' forces and slip, and shares of grip."""
    driven, wheels = balance.driven, balance.assembly.wheels
    names = tuple(wheel.name for wheel in driven.wheels)
    load, grip = np.maximum(loads[:, balance.on], 0.0), _grip(balance, loads)
    traction, side = along_and_across(driven, forces)
    use = {f"grip of {name}": share for name, share in zip(names, shares.T, strict=True)}
    if balance.assembly.heights:
        standing = balance.standing
        use |= {
            f"load of {w.name}": 1 - loads[:, k] / standing[k]
            for k, w in enumerate(wheels)
            if standing[k] > 0
        }
    torques, commands, currents, powers = _motors(balance, rates, needed)
    supplies: _Named = {}
    for supply in balance.assembly.supplies:
        supplies[supply.name], use[f"power of {supply.name}"] = terminals(supply, powers, len(forces))
    fed = {motor: supplies[supply.name] for supply in balance.assembly.supplies for motor in supply.feeds}
    for column, actuators in driven.actuators.items():
        for motor in actuators:
            taken = motor.uses(torques[motor.name], rates[column], fed.get(motor.name))
            use |= {f"{what} of {motor.name}": np.abs(share) for what, share in taken.items()}
    slips = creep.along, creep.across
    return MotionForces(names, traction, side, load, grip, *slips, torques, commands, currents, supplies, use)


def terminals(supply: Supply, powers: Mapping[str, FloatArray], count: int) -> tuple[FloatArray, FloatArray]:
    """V (V) of a full battery that gives the sum of its motors' powers, V (E − V) = R P, and the share of E²/(4 R), the
    most that it can give, that they are; where they are more it is at E/2.
    """
    source = float(supply.full_voltage)
    resistance = float(supply.read(supply.battery.internal_resistance))
    power = sum((powers[name] for name in supply.feeds if name in powers), np.zeros(count))
    share = 4 * resistance * power / source**2
    return source * (1 + np.sqrt(np.maximum(1 - share, 0.0))) / 2, share


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
