"""A base on driven wheels: what its motors are told so that it moves by a twist, in any scalar.

    twist ξ and its rate ──► modules: angles, speeds and their rates ──► ν, ν̇ of all that turns       (`base_aims`)
        ──► M ν̇ + c, less what the ground does ──► torques on what motors drive, forces on wheels      (`base_dynamics`)
        ──► the slip at which contacts give these forces, which wheels roll faster and stand aside for  (`_creep`)
        ──► every motor's own command for its torque, at the rate and the angle that are wanted        (`commands`)

What shows that it is right: told a motion that the robot can do, the commands move it so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.actuation import PLANNED, Actuator, Aim
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.pivoting import reached_by
from trundle.mechanics.steering import steering_gain
from trundle.mechanics.wheels import WheelModel
from trundle.model.base_aims import WheelAims, aims_at
from trundle.model.base_dynamics import (
    element_torques,
    put_on_leaders,
    required_torques,
    rolled,
    slip_per_force,
    spread_forces,
)
from trundle.model.constraints import Configuration, coupling_rows, rolling_rows, with_followers
from trundle.model.forces import contact_span
from trundle.model.load_shift import required_loads
from trundle.model.wheel_aims import Twist, all_columns, holds, told_rates
from trundle.model.wheeled_base import WheeledBase
from trundle.robot import units
from trundle.robot.kinds import Read
from trundle.scalars import Scalar, is_zero, maximum, minimum, minus, plus, sqrt, times

# The ground's forces on wheels by name, ahead and to the left (N).
WheelForces = Mapping[str, tuple[Scalar, Scalar]]

SPIN, STEER = 1 / 0.15, 2 / 0.08
"""b, how quickly errors of rates of wheels and of angles of steering decay (1/s). Steering leads, as a wheel that
points elsewhere pushes the base aside. Quick to the eye, and not so quick that usual motors saturate.
"""
# A wheel's share of the twists that are asked for, below which nothing drives it.
_NOTHING = 1e-9
# The least that a wheel counts as carrying, as a share of the mean, and what counts as no force (N) and no heat (W).
_CARRIES, _LEAST = 1e-3, 1e-3


@dataclass(frozen=True)
class MotoredBase(WheeledBase):
    """The base of a robot on wheels that motors drive and steer.

    Raises InputError with the reason where its motors can't lead it: none drives a wheel, or a wheel's steering is
    nobody's.
    """

    @cached_property
    def motors(self) -> dict[int, tuple[Actuator, ...]]:
        """The motors that lead it, by the columns of what they drive."""
        aims, found = self._tried, dict[int, tuple[Actuator, ...]]()
        for motor in self.here.assembly.actuators:
            if motor.column in aims.rates:
                self._check(motor, motor.column in aims.positions)
                found[motor.column] = (*found.get(motor.column, ()), motor)
        reached = reached_by(self.here.assembly, found)
        wheels = {wheel.name: wheel for wheel in self.here.assembly.wheels}
        for module in self.steers:
            if wheels[module.name].steering not in reached and module.name not in self.paired:
                raise InputError(f"no motor steers {module.name!r}", hint="give it one, or let it trail")
        driven = [wheels[module.name].spin in reached for module in self.modules]
        needed = 1 if self.steers else len(self.free_twists)
        rank = np.linalg.matrix_rank(self.rolling[driven], tol=_NOTHING) if any(driven) else 0
        if rank < needed:
            came = f"its motors choose {rank} of the {needed} velocities that its wheels let it have"
            raise InputError(came, hint="let motors drive more of its wheels")
        return found

    @property
    def slips(self) -> tuple[str, ...]:
        """The wheels that slip for what they give."""
        return tuple(wheel.name for wheel in self.wheels_in(self.here.assembly) if wheel.creeps)

    @property
    def drives(self) -> tuple[str, ...]:
        """The inputs of its motors."""
        return tuple(motor.command.name for motors in self.motors.values() for motor in motors)

    @property
    def reads(self) -> tuple[str, ...]:
        """What motors and wheels tell: rates of what is driven by torques, angles of what points anywhere."""
        assembly = self.here.assembly
        driven = [column for column, motors in self.motors.items() if not all(map(holds, motors))]
        angles = [wheel.steering for wheel in self.wheels_in(assembly) if wheel.steering is not None]
        angles = [] if self.along and all(not module.is_caster for module in self.modules) else angles
        told = [column for column, motors in self.motors.items() if any(map(told_rates, motors))]
        angles += [column for column in (*driven, *told) if column in self._tried.positions]
        pairs = [wheel for wheel in self.wheels_in(assembly) if wheel.name in self.paired]
        angles += [wheel.steering for wheel in pairs if wheel.steering is not None]
        coordinates = [assembly.quantities.coordinate_of(assembly.speeds[column]) for column in angles]
        return tuple(dict.fromkeys([*coordinates, *(assembly.speeds[column] for column in driven)]))

    def commands(
        self,
        twist: Twist,
        twist_rate: Twist,
        seen: Mapping[str, Scalar],
        read: Read,
        quickest: float,
        *,
        wished: WheelForces | None = None,
        going: Twist | None = None,
    ) -> dict[str, Scalar]:
        """The motors' inputs by which the base has a twist (v_x, v_y, ω, in its axes) that changes at a rate.

        going: what of the twist is the reference's; the rest leads back to it.

        Motors that hold an angle or a rate are told it, and what it takes; others are led to it (`Actuator.leading`).
        `quickest` is the greatest b (1/s). Forces of the ground come as near to those that are wished as they can.
        """
        assembly = self.assembled(read)
        going = twist if going is None else going
        aims = aims_at(self, assembly, twist, twist_rate, seen, quickest, going=going)
        torques = self._torques(assembly, aims, twist, twist_rate, wished or {})
        names, found = assembly.quantities, dict[str, Scalar]()
        told = {motor.command.name: motor for motor in assembly.actuators}
        for column, motors in self.motors.items():
            steers = column in aims.positions
            aim = Aim(aims.positions.get(column, 0), aims.rates[column], torques[column] / len(motors))
            b = min(STEER if steers else SPIN, quickest)
            speed = assembly.speeds[column]
            for motor in motors:
                name = motor.command.name
                if holds(motor):
                    rate = aim.rate
                    if steers and told_rates(motor):  # an angle that only rates lead would drift
                        rate = rate + b / 2 * (aim.position - seen[names.coordinate_of(speed)])
                    found[name] = told[name].command_for(aim.torque, aim.position, rate)
                    continue
                position = seen[names.coordinate_of(speed)] if steers else None
                inertia = self._inertia(column) / len(motors)
                found[name] = told[name].leading(aim, inertia, b, seen[speed], position)
        return found | self._within_power(assembly, found, seen)

    def _within_power(
        self, assembly: Assembly, found: Mapping[str, Scalar], seen: Mapping[str, Scalar]
    ) -> dict[str, Scalar]:
        """The voltages e + s (v − e) of motors on batteries, with the greatest share s up to 1 of all their currents at
        which the power s² Σ R i² + s Σ e i leaves half of what plans leave of a full battery's.
        """
        within = dict[str, Scalar]()
        for supply in assembly.supplies:
            heat, work, most = _LEAST, 0, (1 + PLANNED) / 2 * supply.power_at(supply.least_voltage)
            fed = dict[str, tuple[Scalar, Scalar]]()
            for motor in assembly.actuators:
                name = motor.command.name
                if motor.name in supply.feeds and name in found:
                    winding = motor.settled_winding(found[name], 0, seen[assembly.speeds[motor.column]])
                    drop = winding.request - winding.emf
                    fed[name], current = (winding.emf, drop), drop / winding.resistance
                    heat, work = heat + drop * current, work + winding.emf * current
            share = minimum(2 * most / (work + sqrt(work * work + 4 * heat * most)), 1)
            within |= {name: emf + share * drop for name, (emf, drop) in fed.items()}
        return within

    def _torques(
        self, assembly: Assembly, aims: WheelAims, twist: Twist, twist_rate: Twist, wished: WheelForces
    ) -> list[Scalar]:
        """What motors give on every column (N m): M ν̇ + c = τ + Aᵀ f.

        The ground's forces f are those nearest to what is wished, by Σ Δf²/N, as wheels grip by their loads N; where
        none slips by Σ Δf². Wheels that nothing drives pull as much along their heading as it takes to turn them.
        """
        at, wheels = aims.configuration(self, assembly), self.wheels_in(assembly)
        nu, nu_dot = (
            all_columns(assembly, part, turning)
            for part, turning in ((twist, aims.rates), (twist_rate, aims.accelerations))
        )
        needed = required_torques(assembly, at, nu, nu_dot)
        loads = self._loads(assembly, at, nu, nu_dot)
        contacts = [(wheel, direction) for wheel in wheels for direction in wheel.directions]
        rows, forces = rolling_rows(assembly, at, wheels)[0], list[Scalar]()
        for (wheel, one), row, pulls in zip(contacts, rows, self._pulls, strict=True):
            ahead, left = wished.get(wheel.name, (0, 0))
            force = plus(times(one.along, ahead), times(one.across, left))
            if not pulls and wheel.spin is not None:  # the ground turns it
                force = needed[wheel.spin] / row[wheel.spin]
            needed = _less(needed, row, force)
            forces.append(force)
        base, pulling = list(assembly.base_columns), [k for k, pulls in enumerate(self._pulls) if pulls]
        onto = [[rows[k][column] for column in base] for k in pulling]
        weights = [loads[contacts[k][0].name] for k in pulling]
        missing = [needed[column] for column in base]
        for k, force in zip(pulling, spread_forces(onto, weights, missing), strict=True):
            needed = _less(needed, rows[k], force)
            forces[k] = plus(forces[k], force)
        needed = [
            minus(need, own) for need, own in zip(needed, element_torques(assembly, at, nu), strict=True)
        ]
        self._creep(wheels, forces, loads, aims, needed)
        return self._on_motors(assembly, at, needed)

    def _loads(
        self, assembly: Assembly, at: Configuration, nu: Sequence[Scalar], nu_dot: Sequence[Scalar]
    ) -> dict[str, Scalar]:
        """What wheels carry (N), where one slips; else all the same."""
        if not self.slips:
            return {wheel.name: 1 for wheel in assembly.wheels}
        carried = required_loads(assembly, at, nu, nu_dot, contact_span(self.here.assembly))
        least = _CARRIES / len(carried) * sum(carried.values())
        return {name: maximum(load, least) for name, load in carried.items()}

    def _creep(
        self,
        wheels: Sequence[WheelModel],
        forces: Sequence[Scalar],
        loads: Mapping[str, Scalar],
        aims: WheelAims,
        needed: list[Scalar],
    ) -> None:
        """Let wheels that give their forces by slip roll faster by it, and steered ones stand aside of their way by it.

        One that stands aside by δ has the part δ of its force to the left against its way: its motor gives that, too.
        """
        left, slips = iter(forces), self.slips
        for wheel in wheels:
            own = [(direction, next(left)) for direction in wheel.directions]
            if wheel.name not in slips or wheel.spin is None:
                continue
            ahead = sum(direction.along * force for direction, force in own)
            aside = sum(direction.across * force for direction, force in own)
            grip = wheel.read(wheel.law.friction) * loads[wheel.name]
            slip = slip_per_force(wheel, ahead, aside, grip, _LEAST)
            steered = wheel.steering in aims.positions and wheel.steering in self.motors
            if steered and wheel.steering is not None:
                angle = slip * aside * steering_gain(aims.rates[wheel.spin] * wheel.radius)
                aims.positions[wheel.steering] = aims.positions[wheel.steering] + angle
                needed[wheel.spin] = needed[wheel.spin] + wheel.radius * aside * angle
            faster = slip * rolled(wheel, ahead, aside)
            aims.rates[wheel.spin] = aims.rates[wheel.spin] + faster / wheel.radius

    @cached_property
    def _tried(self) -> WheelAims:
        """WheelAims in numbers, which tell what follows from a twist."""
        assembly = self.here.assembly
        rest = dict.fromkeys(assembly.coordinates, 0.0)
        ahead, still = (1.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        return aims_at(self, assembly, ahead, still, rest, SPIN, going=ahead)

    @cached_property
    def _pulls(self) -> list[bool]:
        """Of the directions of the wheels' contacts, which take part in a force."""
        reached = reached_by(self.here.assembly, self.motors)
        return [
            is_zero(direction.along) or wheel.spin in reached
            for wheel in self.wheels_in(self.here.assembly)
            for direction in wheel.directions
        ]

    def _inertia(self, column: int) -> float:
        """What motors on a column move, as described (kg m²): of wheels their shares of the robot's mass, too."""
        assembly, at = self.here.assembly, self.here.at
        count = assembly.tree.speed_count
        still = inverse_dynamics(assembly.tree, at.poses, [0.0] * count, [0.0] * count)

        def moved_by(driven: int) -> tuple[float, float]:
            """The inertia about its axis, and the sum of the squares of how far wheels roll with it."""
            unit = [float(k == driven) for k in range(len(assembly.speeds))]
            unit = with_followers(assembly, unit, coupling_rows(assembly, at)[0])
            forces = inverse_dynamics(assembly.tree, at.poses, [0.0] * count, unit[:count])
            own = sum(u * (f - g) for u, f, g in zip(unit, forces, still, strict=False))
            own += sum(linkage.armature for linkage in assembly.linkages if linkage.column == driven)
            rolled = [
                unit[wheel.spin] * wheel.radius
                for wheel in self.wheels_in(assembly)
                if wheel.spin is not None
            ]
            return own, sum(way * way for way in rolled)

        own, rolled = moved_by(column)
        sharing = sum(moved_by(driven)[1] > 0 for driven in self.motors)
        mass = sum(float(link.inertia.mass) for link in assembly.tree.links)
        return float(own + (mass / sharing * rolled if rolled else 0.0))

    def _check(self, motor: Actuator, steers: bool) -> None:
        """Raise InputError where a motor can't do its part."""
        if motor.motor.commands is units.ANGLE and not steers:
            raise InputError(f"{motor.name!r} holds an angle, and what it drives turns on and on")
        motor.command_for(0.0, 0.0, 0.0)

    def _on_motors(self, assembly: Assembly, at: Configuration, needed: list[Scalar]) -> list[Scalar]:
        """What is needed on what leads others, with theirs; where a motor drives a follower, on that."""
        (led,) = put_on_leaders(assembly, at, [needed])
        for coupling in assembly.couplings:
            slopes = coupling.slopes([at.values[axis.coordinate] for axis in coupling.leaders])
            for follower, (slope, *_) in zip(coupling.followers, slopes, strict=True):
                if follower.column in self.motors:
                    led[follower.column] = led[coupling.leaders[0].column] / slope
        return led


def _less(needed: Sequence[Scalar], row: Sequence[Scalar], force: Scalar) -> list[Scalar]:
    """What is needed of all speeds less what a force gives by its row, τ − a f."""
    return [minus(need, times(part, force)) for need, part in zip(needed, row, strict=True)]
