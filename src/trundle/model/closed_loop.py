"""The model of a robot whose controllers drive it: the plant's programs with the controllers' laws put in.

The path of the data: what a controller reads are states, or elements of `observe`; its law gives commands, which take
the places of the plant's inputs, and rates of its own states, which stand behind the plant's. So everything that runs,
exports or shows a model runs, exports or shows the closed loop. Controllers are evaluated one after another: whose
reading hangs on another's command, or whose reference another gives, comes later. A circle among them is an algebraic
loop, which is refused with its names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from trundle.errors import InputError, require_known
from trundle.mechanics.quantities import Quantities, Quantity, QuantityKind
from trundle.model.model import Model
from trundle.model.symbols import GROUPS, INPUT, PARAMETER, STATE
from trundle.program import Program, Tracer
from trundle.program.ir import Group
from trundle.program.simplify import copied, only_elements
from trundle.program.trace import Node
from trundle.robot import Robot
from trundle.robot.controllers import Action, Controller, Sight
from trundle.robot.expressions import UNKNOWN, ExpressionError, dimension_of
from trundle.robot.kinds import Read, ask, ask_states
from trundle.robot.parameters import dimensions
from trundle.robot.problems import CircleError, in_order
from trundle.robot.units import Measure
from trundle.robot.values import check_dimension, unit_in_si
from trundle.scalars import Scalar


@dataclass(frozen=True)
class Placed:
    """A controller of a robot: its name, and the names that its own numbers have in the model."""

    name: str
    controller: Controller
    read: Read

    @property
    def key(self) -> str:
        """Where it stands in the description."""
        return f"robot.controllers.{self.name}"

    @cached_property
    def references(self) -> dict[str, str]:
        """The model's names of its references, by its own."""
        return {
            own: f"{self.name}.{own}" for own in ask(self.controller, self.key, self.controller.references)
        }

    @cached_property
    def states(self) -> dict[str, float]:
        """Where its states start, by its own names for them."""
        own = ask_states(self.controller, self.key, self.controller.states, self.read)
        return {name: state.start for name, state in own.items()}

    @cached_property
    def reads(self) -> tuple[str, ...]:
        """The names of what it reads."""
        return tuple(ask(self.controller, self.key, self.controller.reads_from))

    @cached_property
    def drives(self) -> tuple[str, ...]:
        """The names of what it drives."""
        return tuple(ask(self.controller, self.key, self.controller.acts_on))

    @cached_property
    def shows(self) -> tuple[str, ...]:
        """Its own names of its outputs."""
        return tuple(ask(self.controller, self.key, self.controller.outputs))

    def act(self, sight: Sight, read: Read) -> Action:
        """What it does now; raises InputError where that isn't what it said of itself."""
        action = ask(self.controller, self.key, self.controller.law, sight, read)
        if not isinstance(action, Action):
            message = f"{type(self.controller).__name__} gives {action!r} for the controller {self.name!r}"
            hint = "expected trundle.robot.Action(commands, rates, outputs)"
            raise InputError(message, key=self.key, hint=hint)
        came = [set(action.commands), set(action.rates), set(action.outputs)]
        wanted = [set(self.drives), set(self.states), set(self.shows)]
        if came != wanted:
            message = f"{type(self.controller).__name__} gives {_listed(came)} for {self.name!r}"
            raise InputError(message, key=self.key, hint=f"expected {_listed(wanted)}, as it says itself")
        return action


def _listed(sets: Sequence[set[str]]) -> str:
    words = ("commands", "rates", "outputs")
    return "; ".join(
        f"{word} of {', '.join(sorted(names)) or 'none'}" for word, names in zip(words, sets, strict=True)
    )


def placed(robot: Robot) -> list[Placed]:
    """The controllers of a robot, as described."""
    read = robot.resolver()
    return [Placed(name, controller, read) for name, controller in robot.controllers.items()]


def names_of_controllers(robot: Robot) -> set[str]:
    """The names of their states and references, as models have them."""
    return {f"{each.name}.{own}" for each in placed(robot) for own in (*each.states, *each.references)}


def closed(plant: Model, robot: Robot) -> Model:
    """The model of a robot with its controllers, from that of the robot without them.

    ẋ = f(x, u(x, x_c, r)), ẋ_c = g(x, x_c, r): states x, then the controllers' x_c; inputs that nobody drives, then
    references r that nobody gives. What controllers drive becomes an output.

    Raises InputError for what they read or drive that isn't there, and for algebraic loops.
    """
    loop = _Loop(plant, robot, _ordered(plant, placed(robot)))
    loop.check_units()
    return loop.model()


def _ordered(plant: Model, controllers: Sequence[Placed]) -> list[Placed]:
    """Controllers so that those come first on which others hang; raises InputError for what isn't there."""
    references = {full: each.name for each in controllers for full in each.references.values()}
    readable = (*plant.states, *plant.outputs)
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
    drivers = {name: [each.name for each in controllers if name in each.drives] for name in plant.inputs}
    needs = {each.name: [] for each in controllers}
    for each in controllers:
        for name in _commands_in(plant, each.reads):
            needs[each.name] += drivers[name]
        for name in each.drives:
            if name in references:
                needs[references[name]].append(each.name)
    by_name = {each.name: each for each in controllers}
    try:
        return [by_name[name] for name in in_order(needs)]
    except CircleError as error:
        raise InputError(
            f"controllers form an algebraic loop: {error}",
            key=by_name[error.circle[0]].key,
            hint="what one of them reads hangs at once on what it drives: read a state instead (a rate, an angle)",
        ) from None


def _commands_in(plant: Model, names: Sequence[str]) -> Iterator[str]:
    """The plant's inputs on which these outputs hang at once."""
    outputs = [name for name in names if name not in plant.state_index]
    if not outputs:
        return
    program, place = only_elements(plant.observe, outputs), plant.observe.input_index(INPUT)
    for instruction in program.instructions:
        if instruction.op == "input" and instruction.source[0] == place:
            yield plant.inputs[instruction.source[1]]


class _Loop:
    """The closed loop while it is put together: controllers' laws and the plant's programs in one builder."""

    def __init__(self, plant: Model, robot: Robot, controllers: Sequence[Placed]) -> None:
        self.plant, self.robot, self.controllers = plant, robot, controllers
        driven = {name for each in controllers for name in each.drives}
        given = [full for each in controllers for full in each.references.values() if full not in driven]
        self.own = {f"{each.name}.{own}": start for each in controllers for own, start in each.states.items()}
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
        )

    def _program(self, program: Program, labels: Sequence[str] | None = None) -> Program:
        """A program of the plant over the closed loop's groups; `labels` of its outputs, by default its own.

        Where they name them, rates or values of the controllers' states, commands and outputs stand there, too.
        """
        tracer = Tracer(*GROUPS)
        states = (*self.states, *(name for name in program.inputs[0].labels if name not in self.plant.states))
        groups = {STATE: states, INPUT: self.inputs, PARAMETER: tuple(self.plant.parameters)}
        sees = {
            group: dict(zip(names, tracer.inputs(group, len(names)), strict=True))
            for group, names in groups.items()
        }
        acted = self._acted(tracer, sees)
        (outputs,) = program.outputs
        pool: dict[str, Scalar] = dict(acted.commands) | dict(acted.outputs)
        pool |= acted.rates if outputs.name == "rate" else {name: sees[STATE][name] for name in self.own}
        pool |= dict(zip(outputs.labels, self._copied(tracer, program, sees, acted.commands), strict=True))
        names = outputs.labels if labels is None else labels
        return tracer.program(program.name, groups, {outputs.name: (names, [pool[name] for name in names])})

    def _acted(self, tracer: Tracer, sees: Mapping[str, Mapping[str, Scalar]]) -> Action:
        """What all controllers do together, by the model's names; commands on one input added up."""
        commands: dict[str, Scalar] = {}
        rates: dict[str, Scalar] = {}
        shown: dict[str, Scalar] = {}
        read = self.robot.resolver(sees[PARAMETER])
        for each in self.controllers:
            observe = self._observed[each.name]
            labels = observe.outputs[0].labels
            seen = dict(zip(labels, self._copied(tracer, observe, sees, commands), strict=True))
            seen |= {name: sees[STATE][name] for name in each.reads if name not in seen}
            given = {**sees[INPUT], **commands}
            action = each.act(
                Sight(
                    seen,
                    {own: given[full] for own, full in each.references.items()},
                    {own: sees[STATE][f"{each.name}.{own}"] for own in each.states},
                ),
                read,
            )
            for name, command in action.commands.items():
                commands[name] = command if name not in commands else commands[name] + command
            rates |= {f"{each.name}.{own}": rate for own, rate in action.rates.items()}
            shown |= {f"{each.name}.{own}": value for own, value in action.outputs.items()}
        return Action(commands, rates, shown)

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
        states = self.plant.state_index
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
        return Quantities.gather(self.plant.quantities.values(), *map(self._own, self.controllers))

    def _own(self, each: Placed) -> Iterator[Quantity]:
        """What a controller brings along: states, references, outputs."""
        units = self._units(each)
        kinds: Mapping[QuantityKind, Iterable[str]] = {
            "state": each.states,
            "command": each.references,
            "other": each.shows,
        }
        for kind, names in kinds.items():
            for own in names:
                start = each.states.get(own, 0.0)
                yield Quantity(own, units.get(own, ""), kind, start=start).of(each.name)

    def _units(self, each: Placed) -> Mapping[str, str]:
        """The units of a controller's own numbers, by its own names; of references those of who takes them."""
        return ask(each.controller, each.key, each.controller.units, self._unit_of)

    def _unit_of(self, name: str) -> str:
        """The unit of what can be read or driven."""
        if name in self.plant.quantities:
            return self.plant.quantities[name].unit
        owner, _, own = name.rpartition(".")
        other = next(other for other in self.controllers if other.name == owner)
        return self._units(other).get(own, "")

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
