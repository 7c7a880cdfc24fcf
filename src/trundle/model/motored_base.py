"""A base on driven wheels: what its motors are told so that it moves by a twist, in any scalar.

    twist ξ and its rate ──► modules: angles, speeds and their rates ──► ν, ν̇ of all that turns       (`_Aims`)
        ──► M ν̇ + c, less what the ground does ──► torques on what motors drive, forces on wheels      (`_torques`)
        ──► the slip at which contacts give these forces, which wheels roll faster and stand aside for  (`_creep`)
        ──► every motor's own command for its torque, at the rate and the angle that are wanted        (`commands`)

What shows that it is right: told a motion that the robot can do, the commands move it so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.actuation import PLANNED, Actuator, Aim
from trundle.mechanics.assembly import Assembly, assemble
from trundle.mechanics.coupling import lead_on
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import apply, product, solve_positive, transpose
from trundle.mechanics.modules import Module, followed, modules_of, turned
from trundle.mechanics.pivoting import pivoting, reached_by, sharing, with_pivots
from trundle.mechanics.steering import steering_gain
from trundle.mechanics.wheels import GRIPPED, WheelModel
from trundle.model.constraints import Configuration, configure, coupling_rows, rolling_rows, with_followers
from trundle.model.forces import contact_span
from trundle.model.load_shift import required_loads
from trundle.model.mechanism import Mechanism, mechanism
from trundle.model.wheel_aims import (
    Twist,
    all_columns,
    angle_ahead,
    fixed_of,
    holds,
    told_rates,
    turning_rate,
)
from trundle.robot import Robot, units
from trundle.robot.kinds import Read
from trundle.scalars import Scalar, absolute, is_zero, maximum, minimum, minus, plus, sqrt, tan, times

# The ground's forces on wheels by name, ahead and to the left (N).
WheelForces = Mapping[str, tuple[Scalar, Scalar]]

SPIN, STEER = 1 / 0.15, 2 / 0.08
"""b, how quickly errors of rates of wheels and of angles of steering decay (1/s). Steering leads, as a wheel that
points elsewhere pushes the base aside. Quick to the eye, and not so quick that usual motors saturate.
"""
PAIR = 1 / 0.3
"""How quickly wheels that share a joint turn it to its angle (1/s): they slip as they do so, hence slower."""
# A wheel's share of the twists that are asked for, below which nothing drives it.
_NOTHING = 1e-9
# The least that a wheel counts as carrying, as a share of the mean, and what counts as no force (N) and no heat (W).
_CARRIES, _LEAST = 1e-3, 1e-3
# How far ahead (s) the twist counts along which wheels of a base at rest are steered.
_SOON = 0.01
# What leads back steers wheels of a base that goes any way the less, the slower than this its reference goes (m/s), and
# at rest by this share: it would turn them across the way on which the base is about to start.
_SLOWLY, _RESTING = 0.05, 1e-3
# How fast that direction turns counts above such a speed (m/s): below it the rate has no bound.
_LED = 0.4


@dataclass(frozen=True)
class _Aims:
    """What turns shall do, by the columns of the speeds: angles of what steers (rad), rates and accelerations."""

    positions: dict[int, Scalar] = field(default_factory=dict)
    rates: dict[int, Scalar] = field(default_factory=dict)
    accelerations: dict[int, Scalar] = field(default_factory=dict)


@dataclass(frozen=True)
class MotoredBase:
    """The base of a robot on wheels that motors drive and steer.

    Raises InputError with the reason where its motors can't lead it: none drives a wheel, or a wheel's steering is
    nobody's.
    """

    robot: Robot

    @cached_property
    def here(self) -> Mechanism:
        """The robot in numbers, every joint at its zero, with wheels on joints that turn them as steered ones."""
        found = mechanism(self.robot.plant, terrain=True)
        return replace(found, assembly=with_pivots(found.assembly, self._pivoting))

    @cached_property
    def _pivoting(self) -> set[str]:
        """The wheels that joints steer."""
        return pivoting(mechanism(self.robot.plant, terrain=True).assembly)

    def _assembled(self, read: Read) -> Assembly:
        """The same in other scalars."""
        return with_pivots(assemble(self.robot.plant, read), self._pivoting)

    @cached_property
    def modules(self) -> tuple[Module, ...]:
        """Its wheels in numbers, without casters that nothing turns: they go where they are taken."""
        if self.robot.base != "planar":
            if self.robot.base == "floating" and self.robot.wheels:
                came = "its wheels don't stand on a plane: on the base, rockers, bogies or joints that steer"
                raise InputError(
                    came, hint="let controllers of rates and angles lead it, as the catalogue's rovers do"
                )
            raise InputError(f"its base is {self.robot.base}: nothing drives on a plane")
        assembly = self.here.assembly
        wheels = {wheel.name: wheel for wheel in assembly.wheels}
        reached = reached_by(assembly, (motor.column for motor in assembly.actuators))
        modules = [
            module
            for module in modules_of(assembly)
            if not module.is_caster or wheels[module.name].steering in reached
        ]
        if not modules:
            raise InputError("no wheel on its base grips the ground, but casters")
        return tuple(modules)

    @property
    def along(self) -> bool:
        """Whether wheels that neither turn nor have rollers let it go along one line only."""
        return bool(fixed_of(self.modules)) or len(self.paired) == len(self.modules)

    @cached_property
    def paired(self) -> set[str]:
        """The wheels that share a joint with another, which no motor turns: the difference of their rates does."""
        return sharing(self.here.assembly)

    @cached_property
    def steers(self) -> tuple[Module, ...]:
        """The wheels that point where the base goes."""
        return tuple(module for module in self.modules if module.is_steered)

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
        needed = 1 if self.steers else len(self._ways)
        rank = np.linalg.matrix_rank(self._speeds[driven], tol=_NOTHING) if any(driven) else 0
        if rank < needed:
            came = f"its motors choose {rank} of the {needed} velocities that its wheels let it have"
            raise InputError(came, hint="let motors drive more of its wheels")
        return found

    @property
    def slips(self) -> tuple[str, ...]:
        """The wheels that slip for what they give."""
        return tuple(wheel.name for wheel in self._wheels(self.here.assembly) if wheel.creeps)

    @property
    def drives(self) -> tuple[str, ...]:
        """The inputs of its motors."""
        return tuple(motor.command.name for motors in self.motors.values() for motor in motors)

    @property
    def reads(self) -> tuple[str, ...]:
        """What motors and wheels tell: rates of what is driven by torques, angles of what points anywhere."""
        assembly = self.here.assembly
        driven = [column for column, motors in self.motors.items() if not all(map(holds, motors))]
        angles = [wheel.steering for wheel in self._wheels(assembly) if wheel.steering is not None]
        angles = [] if self.along and all(not module.is_caster for module in self.modules) else angles
        told = [column for column, motors in self.motors.items() if any(map(told_rates, motors))]
        angles += [column for column in (*driven, *told) if column in self._tried.positions]
        angles += [wheel.steering for wheel in self._pairs(assembly) if wheel.steering is not None]
        coordinates = [assembly.quantities.coordinate_of(assembly.speeds[column]) for column in angles]
        return tuple(dict.fromkeys([*coordinates, *(assembly.speeds[column] for column in driven)]))

    def axle(self, read: Read) -> tuple[tuple[Scalar, Scalar], tuple[Scalar, Scalar]]:
        """Where the fixed wheels' axle stands (x, y), in their middle, and the (cos, sin) along which they roll; of a
        base whose axles all steer the middle of these.
        """
        fixed = self._guiding(self._scaled(self._assembled(read)))
        x, y = (sum(module.place[k] for module in fixed) / len(fixed) for k in (0, 1))
        return (x, y), fixed[0].direction

    def _guiding(self, modules: Sequence[Module]) -> Sequence[Module]:
        """Those along which the base goes."""
        return fixed_of(modules) or [module for module in modules if module.name in self.paired]

    def sharpest(self, read: Read, limit: Scalar) -> Scalar | None:
        """The greatest curvature (1/m) at which no steered wheel turns farther than a limit (rad); None where none
        steers.
        """
        modules = self._scaled(self._assembled(read))
        (x, y), direction = self.axle(read)
        greatest: Scalar | None = None
        for module in modules:
            if module.is_steered:
                place = module.place[0] - x, module.place[1] - y
                ahead, left = turned(place, direction)
                curve = tan(limit) / (absolute(ahead) + absolute(left) * tan(limit))
                greatest = curve if greatest is None else minimum(greatest, curve)
        return greatest

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
        assembly = self._assembled(read)
        aims = self._aims(
            assembly, twist, twist_rate, seen, quickest, going=twist if going is None else going
        )
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

    def _aims(
        self,
        assembly: Assembly,
        twist: Twist,
        twist_rate: Twist,
        seen: Mapping[str, Scalar],
        quickest: float,
        *,
        going: Twist,
    ) -> _Aims:
        """What everything that turns shall do at a twist that changes at a rate.

        Wheels that share a joint turn it back to its angle, too.
        """
        aims, modules = _Aims(), self._scaled(assembly)
        wheels = self._wheels(assembly)
        soon = self._soon(modules, twist, twist_rate, going)
        angles = self._angles(assembly, modules, soon, seen)
        for module, wheel, (now, wanted) in zip(modules, wheels, angles, strict=True):
            rate: Scalar = 0
            faster = module.rates(module.along(wanted), twist, twist_rate)[1]
            if module.is_steered:
                rate = self._turning_rate(module, going, soon, twist_rate)
            speed, trailing = module.rolling(module.along(now), twist)
            if module.name in self.paired:
                rate = rate + min(PAIR, quickest) * (wanted - now)
                speed = speed - module.offset[1] * rate
            if wheel.spin is not None:
                aims.rates[wheel.spin] = speed / module.radius
                aims.accelerations[wheel.spin] = faster / module.radius
            if wheel.steering is not None:
                aims.rates[wheel.steering] = trailing if module.is_caster else rate
                aims.accelerations[wheel.steering] = 0
                if module.is_steered:
                    aims.positions[wheel.steering] = wanted - module.heading
        lead_on(assembly.couplings, aims.rates, aims.positions)
        lead_on(assembly.couplings, aims.accelerations, {})
        for linkage in assembly.linkages:
            column = linkage.column
            if column in aims.positions:
                (slope,) = linkage.slopes([aims.positions[column]])[0]
                aims.rates[column] = aims.rates[linkage.followers[0].column] / slope
                aims.accelerations[column] = 0
        return aims

    def _soon(self, modules: Sequence[Module], twist: Twist, twist_rate: Twist, going: Twist) -> Twist:
        """The twist along which wheels are steered: that of the reference and what leads back to it; at rest that to
        which the base is about to go.
        """
        square = sum(part * part for module in modules for part in module.velocity(going)) / len(modules)
        still = _SLOWLY**2 / (square + _SLOWLY**2)
        back = 1.0 if self.along else 1 - (1 - _RESTING) * still
        return [
            plus(plus(part, times(back, minus(whole, part))), times(_SOON * still, rate))
            for whole, part, rate in zip(twist, going, twist_rate, strict=True)
        ]

    def _turning_rate(self, module: Module, going: Twist, soon: Twist, twist_rate: Twist) -> Scalar:
        """How fast a wheel is steered (rad/s): as along the reference, and with what leads back to it at a speed."""
        x, y = module.velocity(going)
        speed, rate = x * x + y * y, turning_rate(module, going, twist_rate)
        led = turning_rate(module, soon, twist_rate)
        return plus(rate, times(speed / (speed + _LED**2), minus(led, rate)))

    def _angles(
        self, assembly: Assembly, modules: Sequence[Module], twist: Twist, seen: Mapping[str, Scalar]
    ) -> list[tuple[Scalar, Scalar]]:
        """The angles of all wheels, as they are (where that counts) and as they should be (rad)."""
        names, now = assembly.quantities, list[Scalar]()
        for module, wheel in zip(modules, self._wheels(assembly), strict=True):
            column = wheel.steering
            led = module.is_caster or module.name in self.paired
            if column is None or (self.along and not led):
                now.append(module.heading)
            else:
                now.append(module.heading + seen[names.coordinate_of(assembly.speeds[column])])
        if self.along:
            wanted = [
                angle_ahead(module, twist) if module.is_steered else angle
                for module, angle in zip(modules, now, strict=True)
            ]
            return [
                (here if module.name in self.paired else angle, angle)
                for module, here, angle in zip(modules, now, wanted, strict=True)
            ]
        rolling = [
            module.rolling(module.along(angle), twist)[0] for module, angle in zip(modules, now, strict=True)
        ]
        found = followed(modules, twist, now, rolling)
        return [(here, angle) for here, (angle, _, _) in zip(now, found, strict=True)]

    def _torques(
        self, assembly: Assembly, aims: _Aims, twist: Twist, twist_rate: Twist, wished: WheelForces
    ) -> list[Scalar]:
        """What motors give on every column (N m): M ν̇ + c = τ + Aᵀ f.

        The ground's forces f are those nearest to what is wished, by Σ Δf²/N, as wheels grip by their loads N; where
        none slips by Σ Δf². Wheels that nothing drives pull as much along their heading as it takes to turn them.
        """
        at, wheels = self._at(assembly, aims), self._wheels(assembly)
        nu, nu_dot = (
            all_columns(assembly, part, turning)
            for part, turning in ((twist, aims.rates), (twist_rate, aims.accelerations))
        )
        count = assembly.tree.speed_count
        needed = [0] * len(assembly.speeds)
        needed[:count] = inverse_dynamics(assembly.tree, at.poses, nu[:count], nu_dot[:count])
        loads = self._loads(assembly, at, nu, nu_dot)
        contacts = [(wheel, *wished.get(wheel.name, (0, 0))) for wheel in wheels for _ in wheel.directions]
        every = [direction for wheel in wheels for direction in wheel.directions]
        rows, forces = rolling_rows(assembly, at, wheels)[0], list[Scalar]()
        for (wheel, ahead, left), one, row, pulls in zip(contacts, every, rows, self._pulls, strict=True):
            force = plus(times(one.along, ahead), times(one.across, left))
            if not pulls and wheel.spin is not None:  # the ground turns it
                force = needed[wheel.spin] / row[wheel.spin]
            needed = [minus(need, times(part, force)) for need, part in zip(needed, row, strict=True)]
            forces.append(force)
        base, pulling = list(assembly.base_columns), [k for k, pulls in enumerate(self._pulls) if pulls]
        share = [[rows[k][column] for column in base] for k in pulling]
        heavy = [loads[contacts[k][0].name] for k in pulling]
        weighted = [[times(load, part) for part in row] for load, row in zip(heavy, share, strict=True)]
        balance = solve_positive(product(transpose(weighted), share), [[needed[column]] for column in base])
        for k, force in zip(pulling, apply(weighted, [value for (value,) in balance]), strict=True):
            needed = [minus(need, times(part, force)) for need, part in zip(needed, rows[k], strict=True)]
            forces[k] = plus(forces[k], force)
        for element in assembly.elements:
            place = assembly.quantities.coordinate_of(assembly.speeds[element.column])
            effort = element.effort(at.values[place], nu[element.column])
            needed[element.column] = minus(needed[element.column], effort.torque)
        self._creep(wheels, forces, loads, aims, needed)
        return self._led(assembly, at, needed)

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
        aims: _Aims,
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
            size = sqrt(ahead * ahead + aside * aside + _LEAST * _LEAST)
            grip = wheel.read(wheel.law.friction) * loads[wheel.name]
            slip = wheel.law.creep(minimum(size / grip, GRIPPED), wheel.read) / size
            steered = wheel.steering in aims.positions and wheel.steering in self.motors
            if steered and wheel.steering is not None:
                angle = slip * aside * steering_gain(aims.rates[wheel.spin] * wheel.radius)
                aims.positions[wheel.steering] = aims.positions[wheel.steering] + angle
                needed[wheel.spin] = needed[wheel.spin] + wheel.radius * aside * angle
            rolled = ahead if len(own) > 1 else ahead + own[0][0].across / own[0][0].along * aside
            aims.rates[wheel.spin] = aims.rates[wheel.spin] + slip * rolled / wheel.radius

    def _at(self, assembly: Assembly, aims: _Aims) -> Configuration:
        """Where everything is: what steers as it should be, all else at its start."""
        names = assembly.quantities
        wanted = {names.coordinate_of(assembly.speeds[column]): q for column, q in aims.positions.items()}
        starts = zip(self.here.names, self.here.q, strict=True)
        return configure(assembly, self.here.names, [wanted.get(name, start) for name, start in starts])

    def _scaled(self, assembly: Assembly) -> list[Module]:
        """The modules in an assembly's scalars."""
        kept = {module.name for module in self.modules}
        return [module for module in modules_of(assembly) if module.name in kept]

    def _pairs(self, assembly: Assembly) -> list[WheelModel]:
        """Those wheels that turn their joint by the difference of their rates."""
        return [wheel for wheel in self._wheels(assembly) if wheel.name in self.paired]

    def _wheels(self, assembly: Assembly) -> list[WheelModel]:
        """The modules' wheels, in their order."""
        wheels = {wheel.name: wheel for wheel in assembly.wheels}
        return [wheels[module.name] for module in self.modules]

    @cached_property
    def _tried(self) -> _Aims:
        """Aims in numbers, which tell what follows from a twist."""
        assembly = self.here.assembly
        rest = dict.fromkeys(assembly.coordinates, 0.0)
        return self._aims(assembly, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0), rest, SPIN, going=(1.0, 0.0, 0.0))

    @cached_property
    def _ways(self) -> list[tuple[float, float, float]]:
        """Twists whose sums are those that the base may have."""
        if not self.along:
            return [(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)]
        (x, y), (c, s) = self.axle(self.robot.plant.resolver())
        return [(float(c), float(s), 0.0), (float(y), -float(x), 1.0)]

    @cached_property
    def _speeds(self) -> np.ndarray:
        """Speeds of the wheels unsteered, (m, ways)."""
        rolled = [
            [float(module.rolling(module.direction, way)[0]) for way in self._ways] for module in self.modules
        ]
        return np.array(rolled)

    @cached_property
    def _pulls(self) -> list[bool]:
        """Of the directions of the wheels' contacts, which take part in a force."""
        reached = reached_by(self.here.assembly, self.motors)
        return [
            is_zero(direction.along) or wheel.spin in reached
            for wheel in self._wheels(self.here.assembly)
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
                unit[wheel.spin] * wheel.radius for wheel in self._wheels(assembly) if wheel.spin is not None
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

    def _led(self, assembly: Assembly, at: Configuration, needed: list[Scalar]) -> list[Scalar]:
        """What is needed on what leads others, with theirs; where a motor drives a follower, on that."""
        for coupling in reversed(assembly.couplings):
            slopes = coupling.slopes([at.values[axis.coordinate] for axis in coupling.leaders])
            for follower, partials in zip(coupling.followers, slopes, strict=True):
                for leader, slope in zip(coupling.leaders, partials, strict=True):
                    if follower.column in self.motors:
                        needed[follower.column] = plus(needed[follower.column], needed[leader.column] / slope)
                    else:
                        needed[leader.column] = plus(
                            needed[leader.column], times(slope, needed[follower.column])
                        )
        return needed
