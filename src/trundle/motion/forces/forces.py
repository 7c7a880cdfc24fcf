"""What a motion on wheels takes: forces between wheels and ground, motors' torques, and the commands that give them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import require_known
from trundle.frozen import Brief
from trundle.mechanics.actuation import Actuator
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import table
from trundle.mechanics.wheels import WheelModel
from trundle.model.constraints import rolling_rows
from trundle.model.forces import contact_span, wheel_loads
from trundle.model.mechanism import Mechanism, mechanism
from trundle.motion.drive.kinematics import kinematics
from trundle.motion.pieces.motion import Samples
from trundle.robot import Robot, require_base_mass


@dataclass(frozen=True, eq=False)
class DrivenRobot:
    """A robot in numbers as a motion moves it: its mechanism, and which of its wheels the motion's modules are.

    Wheels that aren't among its `names`, as casters may be, count as at rest, and nothing is asked of their contacts.
    """

    robot: Robot
    names: tuple[str, ...]

    @cached_property
    def here(self) -> Mechanism:
        """The mechanism with every joint at its zero."""
        return mechanism(self.robot)

    @cached_property
    def wheels(self) -> tuple[WheelModel, ...]:
        """The modules' wheels, in their order."""
        known = {wheel.name: wheel for wheel in self.here.assembly.wheels if wheel.grips and wheel.on_base}
        for name in self.names:
            require_known(
                name,
                known,
                f"the motion has a module '{name}', and no wheel on the base of '{self.robot.name}' is called so",
                key="motion",
            )
        return tuple(known[name] for name in self.names)

    @cached_property
    def headings(self) -> FloatArray:
        """The modules' angles without steering (rad)."""
        known = kinematics(self.robot)
        return np.array([known.headings[known.names.index(name)] for name in self.names])

    @cached_property
    def actuators(self) -> Mapping[int, tuple[Actuator, ...]]:
        """The motors by the column of what they drive."""
        motors: dict[int, tuple[Actuator, ...]] = {}
        for motor in self.here.assembly.actuators:
            motors[motor.column] = (*motors.get(motor.column, ()), motor)
        return motors

    @cached_property
    def grips(self) -> FloatArray:
        """μ N of the modules' contacts (N); infinite where its law rolls without slip."""
        assembly = self.here.assembly
        loads = wheel_loads(assembly, self.here.at, contact_span(assembly))
        grips = [
            np.inf if wheel.law.rolls else float(wheel.read(wheel.law.friction) * loads[wheel.name])
            for wheel in self.wheels
        ]
        return np.array(grips)

    def greatest_torque(self, column: int, rates: FloatArray) -> FloatArray:
        """What the motors on an axis can give forward at most at its rates (N m), by full batteries; infinite where
        nothing limits one, 0 without motors.
        """
        sources = {
            name: supply.battery.source(1.0, supply.read)
            for supply in self.here.assembly.supplies
            for name in supply.feeds
        }
        total = np.zeros(rates.shape)
        for motor in self.actuators.get(column, ()):
            torque = motor.greatest_torque(rates, sources.get(motor.name))
            total = total + (np.inf if torque is None else torque)
        return total

    def inertia(self, column: int) -> FloatArray:
        """The column of the mass matrix M over the tree's speeds for one of them, every joint at its zero."""
        tree, poses = self.here.assembly.tree, self.here.at.poses
        rest = [0.0] * tree.speed_count
        unit = [float(k == column) for k in range(tree.speed_count)]
        # Gravity is in both, so that their difference is M alone.
        moved, still = (inverse_dynamics(tree, poses, rest, rate) for rate in (unit, rest))
        return np.array(moved, dtype=float) - np.array(still, dtype=float)

    def coordinates(self, samples: Samples) -> dict[str, FloatArray]:
        """Steering angles (rad) by the coordinates' names, (n,)."""
        names, speeds = self.here.assembly.quantities, self.here.assembly.speeds
        # A module's angle is seen from the base's front, its steering from where it points by itself.
        return {
            names.coordinate_of(speeds[wheel.steering]): samples.angle[:, k] - self.headings[k]
            for k, wheel in enumerate(self.wheels)
            if wheel.steering is not None
        }

    @property
    def columns(self) -> list[int]:
        """The columns of ν that a motion says: the base's twist, the modules' spins and steering."""
        turning = [
            column for wheel in self.wheels for column in (wheel.spin, wheel.steering) if column is not None
        ]
        return [*self.here.assembly.base_columns, *turning]

    def speeds(self, samples: Samples, order: int = 0) -> FloatArray:
        """ν of all speeds (order 0) or ν̇ (1), (speeds, n)."""
        assembly = self.here.assembly
        nu = np.zeros((len(assembly.speeds), len(samples)))
        nu[list(assembly.base_columns)] = (samples.twist, samples.twist_rate)[order].T
        drive = (samples.drive_speed, samples.drive_acceleration)[order]
        steering = (samples.steering_rate, samples.steering_acceleration)[order]
        for k, wheel in enumerate(self.wheels):
            if wheel.spin is not None:
                nu[wheel.spin] = drive[:, k] / float(wheel.radius)
            if wheel.steering is not None:
                nu[wheel.steering] = steering[:, k]
        return nu


@dataclass(frozen=True, eq=False, repr=False)
class MotionForces(Brief):
    """What a motion takes, at n times of m modules.

    Parameters
    ----------
    names : tuple of str
        The modules.
    traction, side_force : array (n, m), N
        Of the ground on the wheels, along their headings and along their axles. Of all forces that move the robot so
        they have the least sum of squares, as elastic contacts do.
    grip : array (m,), N
        Friction times load; infinite for wheels that can't slip.
    torques : mapping of str to array (n,), N m
        Of motors on what they drive, by motor.
    commands : mapping of str to array (n,)
        The inputs by which they give them.
    """

    names: tuple[str, ...]
    traction: FloatArray
    side_force: FloatArray
    grip: FloatArray
    torques: Mapping[str, FloatArray]
    commands: Mapping[str, FloatArray]

    @property
    def friction_use(self) -> FloatArray:
        """The share of their grip that contacts need, (n, m); above 1 the wheel slides."""
        return np.hypot(self.traction, self.side_force) / self.grip


def motion_forces(driven: DrivenRobot, samples: Samples) -> MotionForces:
    """The forces of a motion, by inverse dynamics of the whole robot.

    M ν̇ + c = τ + Aᵀ f over all speeds: the base's three rows give f = (A_bᵀ)⁺ (M ν̇ + c)_b, what is left on what motors
    drive is theirs. Wheels without a motor pull nothing along their heading. Raises InputError where a mass or a motor
    is missing.
    """
    require_base_mass(driven.robot)
    here, assembly = driven.here, driven.here.assembly
    where = driven.coordinates(samples)
    zero = np.zeros(len(samples))
    here = here.configured(
        [where.get(name, zero + start) for name, start in zip(here.names, here.q, strict=True)]
    )
    nu, nu_dot = driven.speeds(samples), driven.speeds(samples, 1)
    count = assembly.tree.speed_count
    needed = np.zeros((len(assembly.speeds), len(samples)))
    needed[:count] = inverse_dynamics(assembly.tree, here.at.poses, list(nu[:count]), list(nu_dot[:count]))
    rows = table(rolling_rows(assembly, here.at, driven.wheels)[0], len(samples), len(assembly.speeds))
    pulls = _pulls(driven)
    # A column of zeros takes no part in the pseudoinverse: nothing drives that wheel along its heading.
    base = rows[:, :, list(assembly.base_columns)].transpose(0, 2, 1) * pulls
    # The pseudoinverse gives the forces of least norm among all that move the base so.
    forces = np.einsum("nkb,bn->nk", np.linalg.pinv(base), needed[list(assembly.base_columns)])
    forces *= pulls
    # Of the base's rows nothing is left; what contacts put on spins and steering comes on top of what these need.
    needed -= np.einsum("nkj,nk->jn", rows, forces)
    # Springs, dampers and friction give their share without a motor.
    for element in assembly.elements:
        coordinate = assembly.quantities.coordinate_of(assembly.speeds[element.column])
        needed[element.column] -= element.effort(where.get(coordinate, zero), nu[element.column]).torque
    torques, commands = _commands(driven, needed, nu, where, zero)
    traction, side = np.zeros((2, len(samples), len(driven.wheels)))
    place = 0
    for k, wheel in enumerate(driven.wheels):
        for direction in wheel.directions:
            traction[:, k] += float(direction.along) * forces[:, place]
            side[:, k] += float(direction.across) * forces[:, place]
            place += 1
    names = tuple(wheel.name for wheel in driven.wheels)
    return MotionForces(names, traction, side, driven.grips, torques, commands)


def _pulls(driven: DrivenRobot) -> FloatArray:
    """1 for directions of the modules' contacts that take part in a force, 0 along wheels without a motor."""
    return np.array(
        [
            float(direction.along == 0 or wheel.spin in driven.actuators)
            for wheel in driven.wheels
            for direction in wheel.directions
        ]
    )


def _commands(
    driven: DrivenRobot, needed: FloatArray, nu: FloatArray, where: Mapping[str, FloatArray], zero: FloatArray
) -> tuple[dict[str, FloatArray], dict[str, FloatArray]]:
    """The motors' torques, and their commands by the inputs' names; motors on one axis share."""
    quantities, speeds = driven.here.assembly.quantities, driven.here.assembly.speeds
    torques: dict[str, FloatArray] = {}
    commands: dict[str, FloatArray] = {}
    for column, actuators in driven.actuators.items():
        for motor in actuators:
            torque = needed[column] / len(actuators)
            position = where.get(quantities.coordinate_of(speeds[column]), zero)
            command = motor.command_for(torque, position, nu[column])
            # A kind may answer with one number for all times: an array all the same.
            torques[motor.name], commands[motor.command.name] = torque, zero + command
    return torques, commands
