"""How a robot on terrain moves during a step: its contacts, and the speeds that follow from them.

By least squares where the motors' rates are given (kinematic), or as a search for the balance of forces (dynamic).
Everything is in the nodes of one tracer; `ground_model.py` makes programs of it, `ground_outputs.py` what runs show.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

from trundle.choices import Attitude, Mode
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.frames import world_poses
from trundle.mechanics.inverse_dynamics import inverse_dynamics
from trundle.mechanics.linear import dot, transpose
from trundle.mechanics.momentum import center_of_mass, mass_matrix
from trundle.mechanics.wheels import WheelModel, directed, point_rows
from trundle.model.constraints import coupling_rows, follower_columns, with_followers, without_followers
from trundle.model.forces import Forces, inner_forces
from trundle.model.ground_commands import Commands, Told
from trundle.model.mechanism import Mechanism
from trundle.model.symbols import INPUT, PARAMETER, STATE
from trundle.program import Tracer
from trundle.program.llvm.llvm_rollout import ITERATE
from trundle.program.tangents import jacobian, replaced
from trundle.program.tracer import Node
from trundle.robot.contact import Bearing, Push
from trundle.robot.kinds import Read
from trundle.robot.terrain import Terrain
from trundle.scalars import Rows, Scalar, is_zero, maximum, minimum, minus, plus, sqrt, times
from trundle.spatial.motions import Pose
from trundle.terrain.balance import Balance, Search
from trundle.terrain.contact import Contact, contacts_of
from trundle.terrain.kinematics import Condition, least_squares, standing

# The input groups of a step's length (s), and of the speeds that its rounds seek.
STEP, TRIAL = "step", ITERATE


class Touching(NamedTuple):
    """A contact of a wheel: its name and that of the place of the wheel, which touches several grounds there; rows of
    its directions and of its normal over all speeds, the factor of friction there.
    """

    name: str
    place: str
    wheel: WheelModel
    contact: Contact
    rows: Rows
    normal: list[Scalar]
    grip: Scalar

    @property
    def every(self) -> Rows:
        return [*self.rows, self.normal]


class GroundMotion:
    """A robot on terrain while its programs are written, in the scalars of one tracer."""

    def __init__(
        self,
        numbers: Mechanism,
        terrain: Terrain,
        mode: Mode,
        attitude: Attitude,
        given: tuple[str, ...],
    ) -> None:
        self.numbers, self.terrain = numbers, terrain
        self.mode: Mode = mode
        self.attitude: Attitude = attitude
        self.given = given
        assembly = numbers.assembly
        followers = set(follower_columns(assembly))
        self.free = [column for column in range(len(assembly.speeds)) if column not in followers]
        self.speeds = tuple(assembly.speeds[column] for column in self.free)
        moving = (*numbers.names, *(self.speeds if mode == "dynamic" else ()))
        inputs = (*(actuator.command.name for actuator in assembly.actuators), *given)
        self.commands = Commands(numbers.robot, inputs, moving)
        self.states = (*moving, *self.commands.states)
        self.tracer = Tracer(STATE, INPUT, PARAMETER, STEP, TRIAL)
        make = self.tracer.inputs
        self.state = dict(zip(self.states, make(STATE, len(self.states)), strict=True))
        self.input = dict(zip(self.commands.inputs, make(INPUT, len(self.commands.inputs)), strict=True))
        (self.dt,) = make(STEP, 1)
        parameters = dict(zip(numbers.parameters, make(PARAMETER, len(numbers.parameters)), strict=True))
        self.here = numbers.in_scalars(parameters, [self.state[name] for name in numbers.names])
        self.read = numbers.robot.resolver(parameters)

    @property
    def assembly(self) -> Assembly:
        return self.here.assembly

    @cached_property
    def world(self) -> list[Pose]:
        return world_poses(self.assembly.tree, self.here.at.poses)

    @cached_property
    def coupled(self) -> Rows:
        return coupling_rows(self.assembly, self.here.at)[0]

    @cached_property
    def touching(self) -> list[Touching]:
        """Every contact of every wheel."""
        found: list[Touching] = []
        for wheel in self.assembly.wheels:
            places = contacts_of(self.terrain, self.world[wheel.link], wheel)
            for number, contacts in enumerate(places, 1):
                place = wheel.name if len(places) == 1 else f"{wheel.name}.{number}"
                apart = len(contacts) > 1
                found += [
                    self._touch(f"{place}.{each.ground}" if apart else place, place, wheel, each)
                    for each in contacts
                ]
        return found

    @cached_property
    def places(self) -> dict[str, list[Touching]]:
        """The contacts by the places of wheels at which they are."""
        found: dict[str, list[Touching]] = {}
        for each in self.touching:
            found.setdefault(each.place, []).append(each)
        return found

    def _touch(self, name: str, place: str, wheel: WheelModel, contact: Contact) -> Touching:
        tree, poses = self.assembly.tree, self.here.at.poses
        rows = point_rows(tree, poses, wheel.link, contact.point, contact.axes)
        if wheel.noun.shape == "points" and wheel.spin is not None:  # a belt runs along all of its flat
            for row, entry in zip(rows, (-wheel.radius, 0, 0), strict=True):
                row[wheel.spin] = entry
        padding = [0] * (len(self.assembly.speeds) - len(rows[0]))
        along, normal = [[*row, *padding] for row in rows[:2]], [*rows[2], *padding]
        grip = self.terrain.grip(contact.place)
        return Touching(name, place, wheel, contact, directed(wheel.directions, along), normal, grip)

    @cached_property
    def told(self) -> Told:
        """What the controllers do."""
        return self.commands.told(self.state, self.input, self.dt, self.read)

    @cached_property
    def held(self) -> dict[int, Scalar]:
        """The speeds that are as commanded, by column."""
        commands = self.told.commands
        columns = {name: column for column, name in enumerate(self.assembly.speeds)}
        held = {
            actuator.column: commands[actuator.command.name]
            for actuator in self.assembly.actuators
            if actuator.motor.holds or (self.mode == "kinematic" and actuator.motor.command == "rate")
        }
        return held | {columns[name]: commands[name] for name in self.given}

    @cached_property
    def nu(self) -> list[Scalar]:
        """All speeds during the step."""
        if self.mode == "kinematic":
            return self.all_speeds(self._kinematic())
        return self.all_speeds(self._dynamic())

    def all_speeds(self, free: Sequence[Scalar]) -> list[Scalar]:
        """All speeds, by those that follow no others."""
        every: list[Scalar] = [0] * len(self.assembly.speeds)
        for column, speed in zip(self.free, free, strict=True):
            every[column] = speed
        return with_followers(self.assembly, every, self.coupled)

    def folded(self, rows: Rows) -> Rows:
        """Rows over all speeds as rows over those that follow no others."""
        kept = without_followers(self.assembly, rows, self.coupled)
        return [[row[column] for column in self.free] for row in kept]

    def _kinematic(self) -> list[Scalar]:
        time = self.terrain.recovery.number
        conditions = [
            condition
            for contacts in self.places.values()
            for condition in standing(
                [self.folded(each.every) for each in contacts],
                [each.contact.distance for each in contacts],
                times(-1, self.depth),
                time,
            )
        ]
        for spring in self.assembly.springs:
            row: list[Scalar] = [0] * len(self.assembly.speeds)
            for axis, share in spring.shares:
                row[axis.column] = share
            stretch = spring.stretch(self.here.at.values)
            conditions.append(Condition(self.folded([row]), [-stretch / time]))
        return least_squares(conditions, self.held_free, len(self.free))

    @cached_property
    def stiffness(self) -> Scalar:
        """The ground's under a contact (N/m)."""
        given = self.terrain.stiffness
        return (
            self.weight / (len(self.places) * self.terrain.sinkage.number) if given is None else given.number
        )

    @cached_property
    def depth(self) -> Scalar:
        """How deep contacts are where all carry the same (m)."""
        given = self.terrain.stiffness
        if given is None:
            return self.terrain.sinkage.number
        return self.weight / (len(self.places) * given.number)

    @cached_property
    def weight(self) -> Scalar:
        tree = self.assembly.tree
        mass, _ = center_of_mass(tree, self.world)
        return mass * sqrt(sum(part * part for part in tree.gravity))

    @cached_property
    def damping(self) -> Scalar:
        """The ground's under a contact (N s/m)."""
        given = self.terrain.damping
        return _DAMPING * self.stiffness if given is None else given.number

    @cached_property
    def before(self) -> list[Scalar]:
        """All speeds where the step begins."""
        return self.all_speeds([self.state[name] for name in self.speeds])

    @cached_property
    def mass(self) -> Rows:
        """M over the speeds that follow no others."""
        rows = mass_matrix(self.assembly.tree, self.here.at.poses)
        return self.folded(transpose(self.folded(rows)))

    @cached_property
    def bias(self) -> list[Scalar]:
        """c over the speeds that follow no others."""
        still = [0] * len(self.before)
        return self.folded([inverse_dynamics(self.assembly.tree, self.here.at.poses, self.before, still)])[0]

    def inner_slopes(self, nu: Sequence[Scalar]) -> tuple[list[Scalar], Rows]:
        """What joints and motors do to speeds that follow no others, by speeds at the step's end, and its slopes."""
        symbols = self.tracer.inputs(TRIAL, len(nu), _SYMBOLS)
        tau = self.inner(symbols).tau
        slopes = transpose(self.folded(transpose(self.folded(jacobian(tau, symbols)))))
        forces, *rows = _put([self.folded([tau])[0], *slopes], symbols, nu)
        return forces, rows

    def inner(self, nu: Sequence[Scalar]) -> Forces:
        """What joints and motors do at speeds at the step's end, and where these lead."""
        at = self.here.at
        columns = {axis.coordinate: axis.column for axis in self.assembly.axes.values()}
        ended = {
            name: plus(value, times(self.dt, nu[columns[name]])) if name in columns else value
            for name, value in at.values.items()
        }
        return inner_forces(self.assembly, replace(at, values=ended), nu, self.told.commands, {})

    def _pushed(self, each: Touching, moved: Sequence[Scalar]) -> tuple[list[Scalar], Rows]:
        """Forces of a contact along its slips, its normal and about its wheel's axle, and their slopes by these."""
        symbols = self.tracer.inputs(TRIAL, len(moved), _SYMBOLS)
        push = self.push(each, symbols)
        found = [*push.forces, push.load, push.moment]
        forces, *slopes = _put([found, *jacobian(found, symbols)], symbols, moved)
        return forces, slopes

    def spin_row(self, each: Touching) -> list[Scalar]:
        """The row of a wheel's spin rate."""
        row: list[Scalar] = [0] * len(self.assembly.speeds)
        if each.wheel.spin is not None:
            row[each.wheel.spin] = 1
        return row

    def push(self, each: Touching, moved: Sequence[Scalar]) -> Push:
        """What the ground does to a contact at its slips, the speed of its normal and its wheel's spin rate."""
        *slip, leaving, rate = moved
        depth = -(each.contact.distance + self.dt * leaving)
        share = minimum(maximum(depth / (_SOFT * self.terrain.sinkage.number), 0), 1)
        bearing = Bearing(depth, -leaving, self.stiffness, self.damping * share)
        wheel = replace(each.wheel, read=_gripping(each.wheel, each.grip))
        load = bearing.load
        own = each.contact.share(depth)
        if not wheel.acts:
            return Push([], load=times(own, load))
        push = wheel.push(slip, load, rate, {}, bearing)
        forces = push.forces if wheel.law.pushes else [0] * len(slip)
        return push._replace(
            forces=[times(own, force) for force in forces],
            moment=times(own, push.moment),
            load=times(own, push.load if wheel.law.carries else load),
        )

    @cached_property
    def balance(self) -> Balance:
        """The balance of forces over the speeds that neither follow others nor are held."""
        held, before, loose = self.held_free, [self.state[name] for name in self.speeds], self.loose
        inverse = 1 / self.dt
        mass = [[times(self.mass[i][j], inverse) for j in loose] for i in loose]
        # What is held changes its speed as it is told, and M ν₀/h goes to the other side.
        change = [minus(held.get(place, 0), speed) for place, speed in enumerate(before)]
        drift = [plus(self.bias[i], times(inverse, dot(self.mass[i], change))) for i in loose]
        return Balance(mass, drift, [before[i] for i in loose], self.weight * _BALANCED)

    @cached_property
    def held_free(self) -> dict[int, Scalar]:
        """What is held, by its place among the speeds that follow no others."""
        places = {column: place for place, column in enumerate(self.free)}
        return {places[column]: speed for column, speed in self.held.items()}

    @cached_property
    def loose(self) -> list[int]:
        """The places of the speeds that are sought, among those that follow no others."""
        return [place for place in range(len(self.free)) if place not in self.held_free]

    def filled(self, loose: Sequence[Scalar]) -> list[Scalar]:
        """The speeds that follow no others, of those that are sought."""
        rest = iter(loose)
        return [
            self.held_free[place] if place in self.held_free else next(rest)
            for place in range(len(self.free))
        ]

    @cached_property
    def search(self) -> Search:
        """Where a round of the search stands."""
        count = len(self.balance.start)
        return Search.of(self.tracer.inputs(TRIAL, 2 * count + 2), count)

    def _dynamic(self) -> list[Scalar]:
        """The speeds that the search tries; at its end those at which all forces balance."""
        return self.filled(self.search.tried)

    def pushed_at(self, free: Sequence[Scalar]) -> tuple[list[Scalar], Rows]:
        """All forces on the speeds that are sought, and their slopes, at speeds that follow no others."""
        loose = self.loose
        forces, slopes = self.inner_slopes(self.all_speeds(free))
        total = [forces[i] for i in loose]
        matrix = [[slopes[i][j] for j in loose] for i in loose]
        for each in self.touching:
            rows = self.folded([*each.every, self.spin_row(each)])
            pushed, slope = self._pushed(each, [dot(row, free) for row in rows])
            own = [[row[i] for i in loose] for row in rows]
            along = [[dot(line, column) for column in transpose(own)] for line in slope]
            for row, force, line in zip(own, pushed, along, strict=True):
                for i, entry in enumerate(row):
                    if is_zero(entry):
                        continue
                    total[i] = plus(total[i], times(entry, force))
                    matrix[i] = [plus(m, times(entry, k)) for m, k in zip(matrix[i], line, strict=True)]
        return total, matrix

    @cached_property
    def ended(self) -> list[Scalar]:
        """All speeds during the step: those that were found, as `observe` is told them."""
        if self.mode == "kinematic":
            return self.nu
        return self.all_speeds(self.filled(self.search.best))

    @property
    def sought(self) -> tuple[str, ...]:
        """The speeds that are sought."""
        return tuple(self.speeds[place] for place in self.loose)


def _put(rows: Rows, symbols: Sequence[Node], values: Sequence[Scalar]) -> Rows:
    """Rows with values in place of symbols."""
    flat = iter(replaced([entry for row in rows for entry in row], symbols, values))
    return [[next(flat) for _ in row] for row in rows]


def _gripping(wheel: WheelModel, grip: Scalar) -> Read:
    """The wheel's `read` with its friction times a factor."""
    friction, read = wheel.law.friction, wheel.read
    if isinstance(grip, (int, float)) and grip == 1:
        return read
    return lambda value: grip * read(value) if value is friction else read(value)


# The ground's damping over its stiffness (s), as in Seegmiller & Kelly (2016), and the share of the sinkage over which
# damping sets in, so that a wheel that comes down is not stopped before it touches.
_DAMPING, _SOFT = 0.05, 0.1
# Forces balance where the root of the sum of squares of what is left is below this share of the weight. Newton's last
# round leaves far less; rounding about 1e-13.
_BALANCED = 1e-10
# Symbols that are replaced before a program is done stand behind all that a search has.
_SYMBOLS = 10_000
