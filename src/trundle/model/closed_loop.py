"""The model of a robot whose controllers drive it: the plant's programs with the controllers' laws put in.

The path of the data: what a controller reads are states, or elements of `observe`; its law gives commands, which take
the places of the plant's inputs, and rates of its own states, which stand behind the plant's. So everything that runs,
exports or shows a model runs, exports or shows the closed loop. Controllers are evaluated one after another: whose
reading hangs on another's command, or whose reference another gives, comes later. A circle among them is an algebraic
loop, which is refused with its names.

A sampled controller's commands are states that are held (`sampled.py`), as its own are; the program `sampling` says
where they go at its samples. There every controller reads the robot as it was just before; references between
controllers are those of the same instant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property

from trundle.errors import InputError, require_known
from trundle.mechanics.quantities import Quantities
from trundle.model.model import Model
from trundle.model.placed import Placed, placed
from trundle.model.sampled import DUE
from trundle.model.symbols import GROUPS, INPUT, PARAMETER, STATE
from trundle.program import Program, Tracer
from trundle.program.ir import Group
from trundle.program.simplify import copied, only_elements
from trundle.program.tracer import Node
from trundle.robot import Robot
from trundle.robot.controllers import Action, Sight
from trundle.robot.expressions import UNKNOWN, ExpressionError, dimension_of
from trundle.robot.kinds import ask
from trundle.robot.parameters import dimensions
from trundle.robot.problems import CircleError, in_order
from trundle.robot.units import Measure
from trundle.robot.values import check_dimension, unit_in_si
from trundle.scalars import Scalar, less, where


def closed(plant: Model, robot: Robot) -> Model:
    """The model of a robot with its controllers, from that of the robot without them.

    ẋ = f(x, u(x, x_c, r)), ẋ_c = g(x, x_c, r): states x, then the controllers' x_c; inputs that nobody drives, then
    references r that nobody gives. What controllers drive becomes an output.

    Raises InputError for what they read or drive that isn't there, and for algebraic loops.
    """
    loop = _Loop(plant, robot, _ordered(plant, placed(robot)))
    loop.check_units()
    loop.check_base()
    return loop.model()


def _ordered(plant: Model, controllers: Sequence[Placed]) -> list[Placed]:
    """Controllers so that those come first on which others hang; raises InputError for what isn't there."""
    references = {full: each.name for each in controllers for full in each.references.values()}
    own = (f"{each.name}.{own}" for each in controllers for own in each.states)
    readable = (*plant.states, *own, *plant.outputs)
    for each in controllers:
        for name in each.reads:
            message = (
                f"the controller {each.name!r} reads {name!r}, which is no state and no output of the robot"
            )
            require_known(name, readable, message, key=each.key)
        drivable = [name for name in (*plant.inputs, *references) if name not in each.references.values()]
        for name in each.drives:
            message = f"the controller {each.name!r} drives {name!r}, which is no input of a motor"
            message += " and no other controller's reference"
            require_known(name, drivable, message, key=each.key)
    at_every = [each for each in controllers if each.hold is None]
    drivers = {name: [each.name for each in at_every if name in each.drives] for name in plant.inputs}
    needs = {each.name: [] for each in controllers}
    for each in controllers:
        # samples read the robot as it was just before them
        for name in _commands_in(plant, each.reads) if each.hold is None else ():
            needs[each.name] += drivers[name]
        for name in each.drives:
            if name in references and each.acts_at_once:
                needs[references[name]].append(each.name)
        if each.hold is not None:
            needs[each.name] += [other.name for other in controllers if {*each.reads} & {*other.at_once}]
    by_name = {each.name: each for each in controllers}
    try:
        return [by_name[name] for name in in_order(needs)]
    except CircleError as error:
        links = "".join(f"\n  {link}" for link in _links(plant, [by_name[name] for name in error.circle]))
        raise InputError(
            f"controllers form an algebraic loop: {error}{links}",
            key=by_name[error.circle[0]].key,
            hint="what one of them reads hangs at once on what it drives: read a state instead (a rate, an angle)",
        ) from None


def _links(plant: Model, circle: Sequence[Placed]) -> Iterator[str]:
    """How controllers in a circle hang on each other, each on the next, a sentence a link."""
    for each, giver in zip(circle, [*circle[1:], circle[0]], strict=True):
        given = [name for name in giver.drives if name in each.references.values()]
        if given:
            yield f"{giver.name} drives {given[0]}"
            continue
        for read in each.reads:
            at_once = [name for name in _commands_in(plant, [read]) if name in giver.drives]
            if at_once:
                yield f"{each.name} reads {read}, which hangs at once on {at_once[0]}, which {giver.name} drives"
                break


def _commands_in(plant: Model, names: Sequence[str]) -> Iterator[str]:
    """The plant's inputs on which these outputs hang at once."""
    shown = {*plant.outputs}
    outputs = [name for name in names if name in shown]
    if not outputs:
        return
    program, place = only_elements(plant.observe, outputs), plant.observe.input_index(INPUT)
    for instruction in program.instructions:
        if instruction.op == "input" and instruction.source[0] == place:
            yield plant.inputs[instruction.source[1]]


def _scalars(tracer: Tracer, groups: Mapping[str, Sequence[str]]) -> dict[str, dict[str, Scalar]]:
    """The groups' scalars by name."""
    return {
        group: dict(zip(names, tracer.inputs(group, len(names)), strict=True))
        for group, names in groups.items()
    }


def _add(commands: dict[str, Scalar], further: Mapping[str, Scalar]) -> None:
    """Put further commands to those on the same inputs."""
    for name, command in further.items():
        commands[name] = command if name not in commands else commands[name] + command


class _Loop:
    """The closed loop while it is put together: controllers' laws and the plant's programs in one builder."""

    def __init__(self, plant: Model, robot: Robot, controllers: Sequence[Placed]) -> None:
        self.plant, self.robot, self.controllers = plant, robot, controllers
        driven = {name for each in controllers for name in each.drives}
        given = [full for each in controllers for full in each.references.values() if full not in driven]
        self.own = {f"{each.name}.{own}": start for each in controllers for own, start in each.states.items()}
        self.own |= {place: 0.0 for each in controllers for place in each.held}
        self.states = (*plant.states, *self.own)
        self.inputs = (*(name for name in plant.inputs if name not in driven), *given)
        self.driven = [name for name in plant.inputs if name in driven]

    def model(self) -> Model:
        """The plant with other programs and names."""
        plant = self.plant
        observed = self._program(plant.observe, (*plant.outputs, *self.driven, *self._shown))
        audited = self._program(plant.audited, (*self.states, *plant.audit))
        # nothing reads the account's own states, which stand last
        bare = (Group(STATE, self.states), *audited.inputs[1:])
        return replace(
            plant,
            robot=self.robot,
            currents=(*plant.currents, *self.own),
            inputs=self.inputs,
            outputs=observed.outputs[0].labels,
            quantities=self._quantities,
            dynamics=only_elements(replace(audited, name="dynamics", inputs=bare), self.states),
            audited=audited,
            observe=observed,
            manifold=plant.manifold and self._program(plant.manifold),
            projection=plant.projection and self._program(plant.projection, self.states),
            sampling=self._sampling() if self._clocks else None,
            clocks=self._clocks,
        )

    @cached_property
    def _clocks(self) -> dict[str, tuple[float, float]]:
        """When which controllers sample, and their commands take effect."""
        return {
            name: clock for each in self.controllers if each.hold for name, clock in each.hold.clocks.items()
        }

    def _sampling(self) -> Program:
        """Where the states go at an instant, by which clocks are due then."""
        tracer = Tracer(*GROUPS, DUE)
        groups: dict[str, Sequence[str]] = {STATE: self.states, INPUT: self.inputs}
        groups |= {PARAMETER: tuple(self.plant.parameters), DUE: tuple(self._clocks)}
        sees = _scalars(tracer, groups)
        before = self._acted(tracer, sees).commands
        read = self.robot.resolver(sees[PARAMETER])
        commands: dict[str, Scalar] = {}
        for each in self.controllers:  # what waited is known before any law
            if each.hold is None or each.acts_at_once:
                continue
            for name in each.drives:
                moved = each.hold.moved(name, 0.0, sees[STATE], sees[DUE])
                _add(commands, {name: moved[each.hold.places(name)[0]]})
        after = dict(sees[STATE])
        known = {name for each in self.controllers for name in each.at_once}
        for each in self.controllers:
            now = {**sees, STATE: sees[STATE] | {name: after[name] for name in each.reads if name in known}}
            action = each.act(
                self._sight(tracer, each, sees if each.hold is None else now, before, commands), read
            )
            if each.hold is None:
                _add(commands, action.commands)
                continue
            due = less(0.5, sees[DUE][each.name])
            for own, rate in action.rates.items():
                name = f"{each.name}.{own}"
                after[name] = where(due, after[name] + each.hold.period * rate, after[name])
            for own, moved in action.after.items():
                name = f"{each.name}.{own}"
                after[name] = where(due, moved, after[name])
            for name, command in action.commands.items():
                after |= each.hold.moved(name, command, sees[STATE], sees[DUE])
                if each.acts_at_once:
                    _add(commands, {name: after[each.hold.places(name)[0]]})
        return tracer.program(
            "sampling", groups, {STATE: (self.states, [after[name] for name in self.states])}
        )

    def _program(self, program: Program, labels: Sequence[str] | None = None) -> Program:
        """A program of the plant over the closed loop's groups; `labels` of its outputs, by default its own.

        Where they name them, rates or values of the controllers' states, commands and outputs stand there, too.
        """
        tracer = Tracer(*GROUPS)
        states = (*self.states, *(name for name in program.inputs[0].labels if name not in self.plant.states))
        groups = {STATE: states, INPUT: self.inputs, PARAMETER: tuple(self.plant.parameters)}
        sees = _scalars(tracer, groups)
        acted = self._acted(tracer, sees)
        (outputs,) = program.outputs
        pool: dict[str, Scalar] = dict(acted.commands) | dict(acted.outputs)
        pool |= acted.rates if outputs.name == "rate" else {name: sees[STATE][name] for name in self.own}
        pool |= dict(zip(outputs.labels, self._copied(tracer, program, sees, acted.commands), strict=True))
        names = outputs.labels if labels is None else labels
        return tracer.program(program.name, groups, {outputs.name: (names, [pool[name] for name in names])})

    def _acted(self, tracer: Tracer, sees: Mapping[str, Mapping[str, Scalar]]) -> Action:
        """What all controllers do together, by the model's names; commands on one input added up.

        What samples holds its commands. Its outputs are those of its law at this instant.
        """
        read = self.robot.resolver(sees[PARAMETER])
        sampled = {each.name: each.hold for each in self.controllers if each.hold is not None}
        commands: dict[str, Scalar] = {}
        rates: dict[str, Scalar] = dict.fromkeys(self.own, 0.0)
        shown: dict[str, Scalar] = {}
        for each in self.controllers:
            if each.hold is not None:
                _add(commands, {name: sees[STATE][each.hold.places(name)[0]] for name in each.drives})
        for each in sorted(self.controllers, key=lambda each: each.name in sampled):
            if each.hold is not None and not each.shows:
                continue
            action = each.act(self._sight(tracer, each, sees, commands, commands), read)
            shown |= {f"{each.name}.{own}": value for own, value in action.outputs.items()}
            if each.hold is None:
                _add(commands, action.commands)
                rates |= {f"{each.name}.{own}": rate for own, rate in action.rates.items()}
        return Action(commands, rates, shown)

    def _sight(
        self,
        tracer: Tracer,
        each: Placed,
        sees: Mapping[str, Mapping[str, Scalar]],
        commands: Mapping[str, Scalar],
        references: Mapping[str, Scalar],
    ) -> Sight:
        """What a controller sees of the robot under these commands, and of its references among these."""
        observe = self._observed[each.name]
        labels = observe.outputs[0].labels
        seen = dict(zip(labels, self._copied(tracer, observe, sees, commands), strict=True))
        seen |= {name: sees[STATE][name] for name in each.reads if name not in seen}
        given = {**sees[INPUT], **references}
        return Sight(
            seen,
            {own: given[full] for own, full in each.references.items()},
            {own: sees[STATE][f"{each.name}.{own}"] for own in each.states},
        )

    def _copied(
        self,
        tracer: Tracer,
        program: Program,
        sees: Mapping[str, Mapping[str, Scalar]],
        commands: Mapping[str, Scalar],
    ) -> list[Scalar]:
        """The outputs of a program of the plant, whose inputs are commands where controllers drive them.

        An input whose command isn't known yet counts as 0: nothing that is asked for then hangs on it.
        """
        builder = tracer.builder

        def load(group: int, element: int) -> int:
            name, label = program.inputs[group].name, program.inputs[group].labels[element]
            value = commands.get(label, sees[INPUT].get(label, 0.0)) if name == INPUT else sees[name][label]
            return value.value if isinstance(value, Node) else builder.const(float(value))

        values = copied(builder, program, load)
        return [Node(builder, values[place]) for place in program.results[0]]

    @cached_property
    def _observed(self) -> dict[str, Program]:
        """By controller what gives the outputs that it reads."""
        states = {*self.states}
        return {
            each.name: only_elements(self.plant.observe, [name for name in each.reads if name not in states])
            for each in self.controllers
        }

    @property
    def _shown(self) -> list[str]:
        return [f"{each.name}.{own}" for each in self.controllers for own in each.shows]

    @cached_property
    def _quantities(self) -> Quantities:
        """The plant's, then the controllers' states, references and outputs."""
        return Quantities.gather(
            self.plant.quantities.values(), *(each.quantities(self._unit_of) for each in self.controllers)
        )

    def _unit_of(self, name: str) -> str:
        """The unit of what can be read or driven."""
        if name in self.plant.quantities:
            return self.plant.quantities[name].unit
        owner, _, own = name.rpartition(".")
        other = next(other for other in self.controllers if other.name == owner)
        return other.units(self._unit_of).get(own, "")

    def check_units(self) -> None:
        """Raise InputError where a target or a limit is in a unit of something else than what it stands for."""
        known = dimensions(self.robot)
        for each in self.controllers:
            for key, (value, name) in ask(each.controller, each.key, each.controller.alike).items():
                unit = self._unit_of(name)
                if value is None or not unit:
                    continue
                dimension = dimension_of(value.expression, lambda used: known.get(used, UNKNOWN))
                try:
                    check_dimension(dimension, Measure(name, unit, unit_in_si(unit)[1]))
                except ExpressionError as error:
                    raise InputError(str(error), key=f"{each.key}.{key}", hint=error.hint) from None

    def check_base(self) -> None:
        """Raise InputError where the wheels don't let the base do what a controller commands.

        Wheels that slip let it do anything, more or less.
        """
        mobility = self.plant.mobility
        if mobility is None:
            return
        bound = (*mobility.fixed, *mobility.steered)
        slips = any(not self.robot.wheels[name].law.rolls for name in bound)
        hint = "unicycle, kanayama and samson turn as they go, stanley and pure_pursuit steer, holonomic goes any way"
        for each in self.controllers:
            reason = ask(
                each.controller, each.key, each.controller.cannot, mobility.mobility, mobility.steerability
            )
            if reason is not None and not slips:
                came = f"{each.controller.called} {each.name!r} can't lead {self.robot.name!r}"
                raise InputError(f"the {came}: {reason}", key=f"{each.key}.type", hint=hint)
