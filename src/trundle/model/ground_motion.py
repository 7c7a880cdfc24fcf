"""How a robot on terrain moves during a step: its contacts, and the speeds that follow from them.

By least squares where the motors' rates are given (kinematic), or as a search for the balance of forces (dynamic).
Everything is in the nodes of one tracer; `ground_model.py` makes programs of it, `ground_outputs.py` what runs show.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType

from trundle.choices import Attitude, Mode
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.frames import world_poses
from trundle.mechanics.joints import quaternion_rotation
from trundle.mechanics.linear import dot, transpose
from trundle.mechanics.momentum import weight
from trundle.mechanics.wheels import WheelModel, directed, point_rows
from trundle.model.constraints import (
    Configuration,
    coupling_rows,
    follower_columns,
    with_followers,
    without_followers,
)
from trundle.model.control_loop import PlantView, control_loop
from trundle.model.forces import Forces, inner_forces
from trundle.model.ground_contacts import Support, Touching
from trundle.model.ground_kinematics import standing_speeds, with_body_slip
from trundle.model.ground_sight import derived, derived_names
from trundle.model.ground_slopes import add_products, chosen, damper
from trundle.model.ground_states import (
    OWN_SYMBOLS,
    SYMBOLS,
    TRIAL,
    all_states,
    inner_states,
    led_on,
    put,
    tread_states,
)
from trundle.model.mechanism import Mechanism
from trundle.model.momentum_step import MomentumStep
from trundle.model.placed import placed
from trundle.model.plant import STEP
from trundle.model.symbols import INPUT, PARAMETER, STATE
from trundle.model.velocity_step import VelocityStep
from trundle.program import Tracer
from trundle.program.tangents import jacobian
from trundle.robot.controllers import Action
from trundle.robot.terrain import Terrain
from trundle.robot.values import Value
from trundle.scalars import Rows, Scalar, atan2, is_zero, less, plus, sqrt, times
from trundle.spatial.motions import Pose
from trundle.spatial.vectors import Vector, apply_transposed, subtract
from trundle.terrain.advance import STEPS, Turned, advanced, angles_of, by_cayley
from trundle.terrain.balance import Search, Slopes
from trundle.terrain.contact import Contact, contact_names, contacts_of


class GroundMotion:
    """A robot on terrain while its programs are written, in the scalars of one tracer."""

    def __init__(
        self,
        numbers: Mechanism,
        terrain: Terrain,
        mode: Mode,
        attitude: Attitude,
        given: tuple[str, ...],
        varied: Mapping[str, Value] = MappingProxyType({}),
    ) -> None:
        """`given` are the speeds that a run gives, `varied` numbers of the terrain that are parameters."""
        self.numbers = numbers
        self.mode: Mode = mode
        self.attitude: Attitude = attitude
        self.given = given
        assembly = numbers.assembly
        followers = set(follower_columns(assembly))
        self.free = [column for column in range(len(assembly.speeds)) if column not in followers]
        self.speeds = tuple(assembly.speeds[column] for column in self.free)
        moving = (*numbers.names, *(self.speeds if mode == "dynamic" else ()))
        self.own = tuple(all_states(assembly, terrain)) if mode == "dynamic" else ()
        held = {actuator.column for actuator in assembly.actuators if actuator.motor.holds}
        # The places of the speeds that are sought, among those that follow no others.
        self.loose = [place for place, column in enumerate(self.free) if column not in held]
        self.kind = KINDS[attitude](self)
        self.memory = self.kind.memory if mode == "dynamic" else ()
        self.plant_inputs = (
            *(actuator.command for actuator in assembly.actuators),
            *(assembly.quantities[name] for name in given),
        )
        readable = (
            *(assembly.quantities[name] for name in moving),
            *self.own,
            *derived_names(assembly, mode),
        )
        units = {quantity.name: quantity.unit for quantity in (*self.plant_inputs, *readable)}
        self.loop = control_loop(
            placed(numbers.robot), [quantity.name for quantity in self.plant_inputs], units,
            [quantity.name for quantity in readable], unknown="which a run over terrain doesn't know",
        )  # fmt: skip
        self.loop.check_units(numbers.robot)
        own = (quantity.name for quantity in self.own)
        remembered = (quantity.name for quantity in self.memory)
        self.states = (*moving, *own, *self.loop.states, *remembered)
        self.tracer = Tracer(STATE, INPUT, PARAMETER, STEP, TRIAL)
        make = self.tracer.inputs
        self.state = dict(zip(self.states, make(STATE, len(self.states)), strict=True))
        self.input = dict(zip(self.loop.inputs, make(INPUT, len(self.loop.inputs)), strict=True))
        (self.dt,) = make(STEP, 1)
        self.parameters = {**numbers.parameters, **{name: value.number for name, value in varied.items()}}
        told = dict(zip(self.parameters, make(PARAMETER, len(self.parameters)), strict=True))
        self._varied = {id(value): told[name] for name, value in varied.items()}
        self.terrain = terrain.read_by(self.told_of) if varied else terrain
        parameters = {name: told[name] for name in numbers.parameters}
        self.here = numbers.in_scalars(parameters, [self.state[name] for name in numbers.names])
        self.read = numbers.robot.resolver(parameters)

    def told_of(self, value: Value) -> Scalar:
        """A number of the terrain: a parameter where it is varied."""
        return self._varied.get(id(value), value.number)

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
            names = contact_names(self.terrain, wheel)
            for (place, own), contacts in zip(names.items(), places, strict=True):
                for name, contact in zip(own, contacts, strict=True):
                    found.append(self._touch(name, place, wheel, contact))
        return found

    @cached_property
    def places(self) -> dict[str, list[Touching]]:
        """The contacts by the places of wheels at which they are."""
        found: dict[str, list[Touching]] = {}
        for each in self.touching:
            found.setdefault(each.place, []).append(each)
        return found

    def _touch(self, name: str, place: str, wheel: WheelModel, contact: Contact) -> Touching:
        """A contact with its rows over all speeds: along the wheel's axes, along the normal, and of its height."""
        tree, poses = self.assembly.tree, self.here.at.poses
        rows = point_rows(tree, poses, wheel.link, contact.point, (*contact.axes, contact.gradient))
        if wheel.component.shape == "points" and wheel.spin is not None:  # a belt runs along all of its flat
            for row, entry in zip(rows, (-wheel.radius, 0, 0, 0), strict=True):
                row[wheel.spin] = entry
        padding = [0] * (len(self.assembly.speeds) - len(rows[0]))
        *along, normal, rise = ([*row, *padding] for row in rows)
        grip = self.terrain.grip(contact.place)
        return Touching(name, place, wheel, contact, directed(wheel.directions, along), normal, rise, grip)

    @cached_property
    def angles(self) -> tuple[Scalar, Scalar, Scalar]:
        """Roll, pitch and yaw of the base (rad)."""
        return angles_of(quaternion_rotation(*self.here.at.q[3:7]))

    @cached_property
    def tilt(self) -> Scalar:
        """The angle between the base's third axis and the vertical (rad), 0 to π."""
        rotation = quaternion_rotation(*self.here.at.q[3:7])
        x, y, z = rotation[2]
        return atan2(sqrt(x * x + y * y), z)

    @cached_property
    def view(self) -> PlantView:
        """What controllers see where the step begins."""
        found = derived(self.angles, self.here, self.before if self.mode == "dynamic" else None)
        return PlantView({**found, **self.state}, self.input, self.read)

    @cached_property
    def begun(self) -> Action:
        """What the controllers do where the step begins, and what a run gives."""
        action = self.loop.act(self.view)
        return action._replace(commands={**self.input, **action.commands})

    def acted_at(self, nu: Sequence[Scalar], own: Mapping[str, Scalar]) -> Action:
        """What they do where a step of these speeds ends, at states there of motors, batteries and their own.

        What samples, and what drives a speed that is held, does what it did where the step begins.
        """
        if not self.loop.continuous:
            return self.begun
        ended = self.turned_by(nu, by_cayley)
        there = self.here.configured([*ended.values()])
        seen = {**self.state, **derived(angles_of(quaternion_rotation(*there.at.q[3:7])), there, nu)}
        seen |= {**ended, **self.treads_after(nu), **own}
        action = self.loop.act(replace(self.view, states=seen))
        held = [actuator.command.name for actuator in self.assembly.actuators if actuator.motor.holds]
        kept = {**self.input, **action.commands, **{name: self.begun.commands[name] for name in held}}
        return action._replace(commands=kept)

    @cached_property
    def shown(self) -> dict[str, Scalar]:
        """What the controllers show: their outputs where the step begins, and the commands that act during it."""
        shown = {**self.begun.outputs, **self.loop.sampled_outputs(self.view, self.begun.commands)}
        commands = self.begun.commands
        if self.mode == "dynamic":
            commands = self.acted_at(self.ended, self.inner_after(self.ended)).commands
        return {name: shown[name] for name in self.loop.shown} | {
            name: commands[name] for name in self.loop.driven
        }

    @cached_property
    def held(self) -> dict[int, Scalar]:
        """The speeds that are as commanded, by column."""
        commands = self.begun.commands
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
            return with_body_slip(self, self.unslipped)
        return self.all_speeds(self.nu_free)

    @cached_property
    def unslipped(self) -> list[Scalar]:
        """All speeds of a kinematic step at which contacts stand still, as far as they can."""
        return self.all_speeds(standing_speeds(self))

    def all_speeds(self, free: Sequence[Scalar], at: Configuration | None = None) -> list[Scalar]:
        """All speeds, by those that follow no others, where the step begins or elsewhere."""
        every: list[Scalar] = [0] * len(self.assembly.speeds)
        for column, speed in zip(self.free, free, strict=True):
            every[column] = speed
        return with_followers(
            self.assembly, every, self.coupled if at is None else coupling_rows(self.assembly, at)[0]
        )

    def folded(self, rows: Rows, at: Configuration | None = None) -> Rows:
        """Rows over all speeds as rows over those that follow no others, where the step begins or elsewhere."""
        coupled = self.coupled if at is None else coupling_rows(self.assembly, at)[0]
        kept = without_followers(self.assembly, rows, coupled)
        return [[row[column] for column in self.free] for row in kept]

    def led(self, nu: Sequence[Scalar]) -> dict[str, Scalar]:
        """The coordinates where a step of these speeds ends, by name, its base turned as its attitude says."""
        return self.turned_by(nu, STEPS[self.attitude])

    def turned_by(self, nu: Sequence[Scalar], turned: Turned) -> dict[str, Scalar]:
        """The same, its base turned by a map."""
        tree, values = self.assembly.tree, self.here.at.values
        q = [values[name] for name in self.assembly.coordinates[: len(self.here.at.q)]]
        q = advanced(tree, q, nu[: tree.speed_count], self.dt, turned)
        by_name = dict(zip(self.assembly.coordinates, q, strict=False))
        for linkage in self.assembly.linkages:
            name = linkage.axis.coordinate
            by_name[name] = self.state[name] + self.dt * nu[linkage.column]
        return {name: by_name[name] for name in self.numbers.names}

    @cached_property
    def stiffness(self) -> Scalar:
        """The ground's under a contact (N/m)."""
        given = self.terrain.stiffness
        if given is not None:
            return self.told_of(given)
        return self.weight / (len(self.places) * self.told_of(self.terrain.sinkage))

    @cached_property
    def depth(self) -> Scalar:
        """How deep contacts are where all carry the same (m)."""
        given = self.terrain.stiffness
        if given is None:
            return self.told_of(self.terrain.sinkage)
        return self.weight / (len(self.places) * self.told_of(given))

    @cached_property
    def weight(self) -> Scalar:
        """Of the whole (N)."""
        return weight(self.assembly.tree, self.world)

    @cached_property
    def damping(self) -> Scalar:
        """The ground's under a contact (N s/m)."""
        given = self.terrain.damping
        return _DAMPING * self.stiffness if given is None else self.told_of(given)

    @cached_property
    def ground(self) -> Support:
        """What the ground does to contacts."""
        sinkage = self.told_of(self.terrain.sinkage)
        return Support(self.tracer, self.state, self.dt, self.stiffness, self.damping, sinkage)

    @cached_property
    def before(self) -> list[Scalar]:
        """All speeds where the step begins."""
        return self.all_speeds(self.before_free)

    @property
    def before_free(self) -> list[Scalar]:
        """Those that follow no others."""
        return [self.state[name] for name in self.speeds]

    def inner_slopes(self, nu: Sequence[Scalar]) -> tuple[list[Scalar], Rows]:
        """What joints, motors and turning do to speeds that follow no others at the step's end, and its slopes."""
        symbols = self.tracer.inputs(TRIAL, len(nu), SYMBOLS)
        inner = self.inner(symbols).tau
        tau = [plus(force, own) for force, own in zip(inner, self.kind.turning(symbols), strict=True)]
        slopes = transpose(self.folded(transpose(self.folded(jacobian(tau, symbols, at_rest=True)))))
        every = [plus(force, own) for force, own in zip(inner, self.kind.moving(symbols), strict=True)]
        forces, *rows = put([self.folded([every])[0], *slopes], symbols, nu)
        return forces, rows

    def inner(self, nu: Sequence[Scalar]) -> Forces:
        """What joints and motors do at speeds at the step's end, and where these lead."""
        return self._inner(nu, self.inner_after(nu))

    def inner_after(self, nu: Sequence[Scalar]) -> dict[str, Scalar]:
        """The states of motors, batteries and controllers that don't sample where a step of these speeds ends."""
        names = [quantity.name for quantity in inner_states(self.assembly)]
        own = {name: self.state[name] for name in (*names, *self.acting_states)}
        symbols = self.tracer.inputs(TRIAL, len(own), OWN_SYMBOLS)
        after = led_on(lambda states: self._inner(nu, states).rates, own, self.dt, symbols)
        # batteries follow from currents at the step's end, whatever limits and relays bend on the way there
        fed = self.supplied
        return after | led_on(
            lambda states: self._inner(nu, {**after, **states}).rates, fed, self.dt, symbols[: len(fed)]
        )

    def _inner(self, nu: Sequence[Scalar], own: Mapping[str, Scalar]) -> Forces:
        """The same at states there; the controllers' rates are among the motors'."""
        at = self.here.at
        columns = {axis.coordinate: axis.column for axis in self.assembly.axes.values()}
        ended = {
            name: plus(value, times(self.dt, nu[columns[name]])) if name in columns else value
            for name, value in at.values.items()
        }
        action = self.acted_at(nu, own)
        ended_at = replace(at, values=ended)
        forces = inner_forces(self.assembly, ended_at, nu, action.commands, own, self.supplied)
        forces.rates |= {name: action.rates[name] for name in self.acting_states}
        return forces

    @cached_property
    def acting_states(self) -> tuple[str, ...]:
        """The states of controllers that act at every instant."""
        return tuple(f"{each.name}.{own}" for each in self.loop.continuous for own in each.states)

    @cached_property
    def supplied(self) -> dict[str, Scalar]:
        """The batteries' states where the step begins: their relays act from there on."""
        return {
            state.name: self.state[state.name]
            for supply in self.assembly.supplies
            for state in supply.states.values()
        }

    @cached_property
    def stored(self) -> Scalar:
        """What springs, windings, batteries and the ground store where the step begins (J)."""
        own = {quantity.name: self.state[quantity.name] for quantity in inner_states(self.assembly)}
        inside = inner_forces(self.assembly, self.here.at, self.before, self.begun.commands, own).stored
        return sum(
            (plus(self.ground.pressed(each), self.ground.bent(each)) for each in self.touching), inside
        )

    def spin_row(self, each: Touching) -> list[Scalar]:
        """The row of a wheel's spin rate."""
        row: list[Scalar] = [0] * len(self.assembly.speeds)
        if each.wheel.spin is not None:
            row[each.wheel.spin] = 1
        return row

    def own_after(self, nu: Sequence[Scalar]) -> dict[str, Scalar]:
        """The states of motors, batteries, controllers and contacts' laws where a step of these speeds ends."""
        if self.mode == "dynamic":
            return {**self.inner_after(nu), **self.treads_after(nu)}
        rates = self.begun.rates
        return {name: plus(self.state[name], times(self.dt, rates[name])) for name in self.acting_states}

    def treads_after(self, nu: Sequence[Scalar]) -> dict[str, Scalar]:
        """The states of contacts' laws where a step of these speeds ends."""
        after = dict[str, Scalar]()
        for each in self.touching:
            moved = [dot(row, nu) for row in (*each.all_rows, self.spin_row(each))]
            names = tread_states(each.wheel, each.name)
            after |= {names[own].name: value for own, value in self.ground.tread_after(each, moved).items()}
        return after

    @cached_property
    def held_free(self) -> dict[int, Scalar]:
        """What is held, by its place among the speeds that follow no others."""
        places = {column: place for place, column in enumerate(self.free)}
        return {places[column]: speed for column, speed in self.held.items()}

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
        labels = Search.labels(self.sought)
        return Search.of(self.tracer.inputs(TRIAL, len(labels)), len(self.sought))

    @cached_property
    def nu_free(self) -> list[Scalar]:
        """The speeds that the search tries, of those that follow no others; at its end all forces balance at them."""
        return self.filled(self.search.tried)

    @cached_property
    def pushed(self) -> tuple[list[Scalar], Callable[[Slopes], Rows], Scalar]:
        """All forces on the speeds that are sought, their slopes, and what the ground bears in all (N), at what is
        tried.
        """
        free, loose, borne = self.nu_free, self.loose, list[Scalar]()
        forces, slopes = self.inner_slopes(self.all_speeds(free))
        total = [forces[i] for i in loose]
        found: list[tuple[Rows, Rows, Scalar, Vector]] = []
        for each in self.touching:
            rows = self.folded([*each.all_rows, self.spin_row(each)])
            moved = [dot(row, free) for row in rows]
            pushed, slope = self.ground.pushed(each, moved)
            borne.append(pushed[-2])
            own = [[row[i] for i in loose] for row in rows]
            found.append((own, slope, damper(moved, pushed), self.arm(each)))
            for row, force in zip(own, pushed, strict=True):
                total = [
                    t if is_zero(entry) else plus(t, times(entry, force))
                    for t, entry in zip(total, row, strict=True)
                ]

        def slopes_at(taken: Slopes) -> Rows:
            matrix = [[slopes[i][j] for j in loose] for i in loose]
            for own, slope, strength, arm in found:
                add_products(matrix, own, chosen(slope, strength, taken), arm)
            return matrix

        return total, slopes_at, sum(borne)

    def arm(self, each: Touching) -> Vector:
        """From the base's origin to a contact, in base axes (m)."""
        place = subtract(each.contact.place, self.world[0].position)
        return apply_transposed(self.world[0].rotation, place)

    @property
    def bears(self) -> Scalar:
        """Whether the ground bears anything at the speeds that are tried."""
        return less(0, self.pushed[2])

    @cached_property
    def round(self) -> tuple[Scalar, list[Scalar]]:
        """The error of the speeds that are tried, at most 1 where forces balance, and the search's next numbers."""
        forces, slopes, _ = self.pushed
        return self.search.round(self.kind.balance, forces, slopes)

    @cached_property
    def ended(self) -> list[Scalar]:
        """All speeds during the step: those that were found, as `observe` is told them."""
        return self.nu if self.mode == "kinematic" else self.all_speeds(self.ended_free)

    @property
    def ended_free(self) -> list[Scalar]:
        """Those that follow no others."""
        return self.filled(self.search.best)

    @property
    def sought(self) -> tuple[str, ...]:
        """The speeds that are sought."""
        return tuple(self.speeds[place] for place in self.loose)


# The ground's damping over its stiffness (s), as in Seegmiller & Kelly (2016).
_DAMPING = 0.05
# What leads a base from step to step, by how it turns.
KINDS: dict[Attitude, type[MomentumStep | VelocityStep]] = {
    "exponential": MomentumStep,
    "euler_angles": VelocityStep,
}
