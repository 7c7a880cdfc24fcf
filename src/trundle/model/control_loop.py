"""Controllers in a loop with a plant: the order in which they act, what they command at an instant, and their samples.

Controllers are evaluated one after another: whose reading hangs on another's command, or whose reference another gives,
comes later. A circle among them is an algebraic loop, which is refused with its names. At an instant, from what was
just before:

1. Those whose clocks are due sample, in the order of references and poses; later ones see what earlier ones just said.
2. Everything else sees the state after the samples: laws that act at every instant, and what runs store.
3. The plant goes on to the next instant.

A sampled controller's commands are states that are held (`sampled.py`), as its own are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from trundle.errors import InputError, require_known
from trundle.mechanics.quantities import Quantity
from trundle.model.placed import Placed
from trundle.robot import Robot
from trundle.robot.controllers import Action, Sight
from trundle.robot.expressions import UNKNOWN, ExpressionError, dimension_of
from trundle.robot.kinds import Read, ask
from trundle.robot.parameters import dimensions
from trundle.robot.problems import CircleError, in_order
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import check_dimension, unit_in_si
from trundle.scalars import Scalar, less, plus, where

# The plant's inputs on which these outputs of it hang at once.
InputsBehind = Callable[[Sequence[str]], Iterable[str]]


@dataclass(frozen=True)
class PlantView:
    """What controllers see at an instant, by the model's names: all states, and the inputs that a run gives. `observe`
    gives the outputs that a controller reads, under the commands that are known; `read` controllers' own numbers.
    """

    states: Mapping[str, Scalar]
    inputs: Mapping[str, Scalar]
    read: Read
    observe: Callable[[Placed, Mapping[str, Scalar]], Mapping[str, Scalar]] = lambda *_: {}


@dataclass(frozen=True)
class ControlLoop:
    """Controllers in the order in which they act on `plant_inputs`; `plant_units` are those of these inputs and of all
    that can be read.
    """

    controllers: tuple[Placed, ...]
    plant_inputs: tuple[str, ...]
    plant_units: Mapping[str, str]

    @cached_property
    def states(self) -> dict[str, float]:
        """Where the controllers' states start; those that hold commands behind them."""
        own = {f"{each.name}.{own}": start for each in self.controllers for own, start in each.states.items()}
        return own | {place: 0.0 for each in self.controllers for place in each.held}

    @cached_property
    def continuous(self) -> tuple[Placed, ...]:
        """Those that act at every instant."""
        return tuple(each for each in self.controllers if each.hold is None)

    @cached_property
    def clocks(self) -> dict[str, tuple[float, float]]:
        """When which controllers sample, and their commands take effect: period and first time (s) by name."""
        holds = (each.hold for each in self.controllers)
        return {name: clock for hold in holds if hold is not None for name, clock in hold.clocks.items()}

    @cached_property
    def driven(self) -> list[str]:
        """The plant's inputs that controllers drive."""
        driven = {name for each in self.controllers for name in each.drives}
        return [name for name in self.plant_inputs if name in driven]

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """What nobody but a run gives: inputs of the plant, and references."""
        driven = {name for each in self.controllers for name in each.drives}
        references = (full for each in self.controllers for full in each.references.values())
        return tuple(name for name in (*self.plant_inputs, *references) if name not in driven)

    @property
    def shown(self) -> list[str]:
        """The controllers' outputs."""
        return [f"{each.name}.{own}" for each in self.controllers for own in each.shows]

    @property
    def quantities(self) -> Iterator[Quantity]:
        """The controllers' states, references and outputs, and what those that sample keep."""
        for each in self.controllers:
            yield from each.quantities(self.unit_of)

    def unit_of(self, name: str) -> str:
        """The unit of what can be read or driven."""
        if name in self.plant_units:
            return self.plant_units[name]
        owner, _, own = name.rpartition(".")
        other = next(other for other in self.controllers if other.name == owner)
        return other.units(self.unit_of).get(own, "")

    def check_units(self, robot: Robot) -> None:
        """Raise InputError where a target or a limit is in a unit of something else than what it stands for."""
        known = dimensions(robot)
        for each in self.controllers:
            for key, (value, name) in ask(each.controller, each.key, each.controller.alike).items():
                unit = self.unit_of(name)
                if value is None or not unit:
                    continue
                dimension = dimension_of(value.expression, lambda used: known.get(used, UNKNOWN))
                try:
                    check_dimension(dimension, PhysicalQuantity(name, unit, unit_in_si(unit)[1]))
                except ExpressionError as error:
                    raise InputError(str(error), key=f"{each.key}.{key}", hint=error.hint) from None

    def act(self, view: PlantView) -> Action:
        """What all do together, by the model's names; commands on one input added up. What samples holds its
        commands.
        """
        commands = self._held_commands(view)
        rates: dict[str, Scalar] = dict.fromkeys(self.states, 0.0)
        shown = dict[str, Scalar]()
        for each in self.continuous:
            action = each.act(_sight(each, view, commands, commands), view.read)
            shown |= _named(each, action.outputs)
            rates |= _named(each, action.rates)
            _add(commands, action.commands)
        return Action(commands, rates, shown)

    def sampled_outputs(self, view: PlantView, commands: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The outputs of those that sample: of their laws at this instant, under these commands."""
        shown = dict[str, Scalar]()
        for each in self.controllers:
            if each.hold is not None and each.shows:
                shown |= _named(each, each.act(_sight(each, view, commands, commands), view.read).outputs)
        return shown

    def sample(self, view: PlantView, due: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """All states after an instant, by which clocks are due then."""
        before, commands, after = (
            self.act(view).commands,
            self._delayed_commands(view, due),
            dict(view.states),
        )
        at_once = {name for each in self.controllers for name in each.at_once}
        for each in self.controllers:
            fresh = {name: after[name] for name in each.reads if name in at_once and each.hold}
            now = replace(view, states={**view.states, **fresh})
            action = each.act(_sight(each, now, before, commands), view.read)
            if each.hold is None:
                _add(commands, action.commands)
                continue
            samples = less(0.5, due[each.name])
            for name, rate in _named(each, action.rates).items():
                after[name] = where(samples, after[name] + each.hold.period * rate, after[name])
            for name, moved in _named(each, action.after).items():
                after[name] = where(samples, moved, after[name])
            for name, command in action.commands.items():
                after |= each.hold.moved(name, command, view.states, due)
                if each.acts_at_once:
                    _add(commands, {name: after[each.hold.places(name)[0]]})
        return after

    def _held_commands(self, view: PlantView) -> dict[str, Scalar]:
        """The commands of those that sample."""
        commands = dict[str, Scalar]()
        for each in self.controllers:
            if each.hold is not None:
                _add(commands, {name: view.states[each.hold.places(name)[0]] for name in each.drives})
        return commands

    def _delayed_commands(self, view: PlantView, due: Mapping[str, Scalar]) -> dict[str, Scalar]:
        """The commands that come late: what waited is known before any law."""
        commands = dict[str, Scalar]()
        for each in self.controllers:
            if each.hold is not None and not each.acts_at_once:
                for name in each.drives:
                    moved = each.hold.moved(name, 0.0, view.states, due)
                    _add(commands, {name: moved[each.hold.places(name)[0]]})
        return commands


def control_loop(
    controllers: Sequence[Placed],
    plant_inputs: Sequence[str],
    plant_units: Mapping[str, str],
    readable: Iterable[str],
    inputs_behind: InputsBehind = lambda _: (),
    unknown: str = "which is no state and no output of the robot",
) -> ControlLoop:
    """Controllers in order; raises InputError for what they read or drive that isn't there, and for algebraic loops.
    What they can't read is `unknown`.
    """
    references = {full: each.name for each in controllers for full in each.references.values()}
    own = (f"{each.name}.{own}" for each in controllers for own in each.states)
    readable = (*readable, *own)
    for each in controllers:
        for name in each.reads:
            message = f"the controller {each.name!r} reads {name!r}, {unknown}"
            require_known(name, readable, message, key=each.key)
        drivable = [name for name in (*plant_inputs, *references) if name not in each.references.values()]
        for name in each.drives:
            message = f"the controller {each.name!r} drives {name!r}, which is no input"
            message += " and no other controller's reference"
            require_known(name, drivable, message, key=each.key)
    ordered = _ordered(controllers, references, plant_inputs, inputs_behind)
    return ControlLoop(tuple(ordered), tuple(plant_inputs), plant_units)


def _ordered(
    controllers: Sequence[Placed],
    references: Mapping[str, str],
    plant_inputs: Sequence[str],
    inputs_behind: InputsBehind,
) -> list[Placed]:
    """Controllers so that those come first on which others hang."""
    at_every = [each for each in controllers if each.hold is None]
    drivers = {name: [each.name for each in at_every if name in each.drives] for name in plant_inputs}
    needs: dict[str, list[str]] = {each.name: [] for each in controllers}
    for each in controllers:
        # samples read the robot as it was just before them
        for name in inputs_behind(each.reads) if each.hold is None else ():
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
        circle = [by_name[name] for name in error.circle]
        links = "".join(f"\n  {link}" for link in _links(circle, inputs_behind))
        raise InputError(
            f"controllers form an algebraic loop: {error}{links}",
            key=circle[0].key,
            hint="what one of them reads hangs at once on what it drives: read a state instead (a rate, an angle)",
        ) from None


def _links(circle: Sequence[Placed], inputs_behind: InputsBehind) -> Iterator[str]:
    """How controllers in a circle hang on each other, each on the next, a sentence a link."""
    for each, giver in zip(circle, [*circle[1:], circle[0]], strict=True):
        given = [name for name in giver.drives if name in each.references.values()]
        if given:
            yield f"{giver.name} drives {given[0]}"
            continue
        for read in each.reads:
            at_once = [name for name in inputs_behind([read]) if name in giver.drives]
            if at_once:
                yield f"{each.name} reads {read}, which hangs at once on {at_once[0]}, which {giver.name} drives"
                break


def _sight(
    each: Placed, view: PlantView, commands: Mapping[str, Scalar], references: Mapping[str, Scalar]
) -> Sight:
    """What a controller sees of the plant under these commands, and of its references among these."""
    seen = dict(view.observe(each, commands))
    seen |= {name: view.states[name] for name in each.reads if name not in seen}
    given = {**view.inputs, **references}
    return Sight(
        seen,
        {own: given[full] for own, full in each.references.items()},
        {own: view.states[f"{each.name}.{own}"] for own in each.states},
    )


def _named(each: Placed, own: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """A controller's own numbers by the model's names."""
    return {f"{each.name}.{name}": value for name, value in own.items()}


def _add(commands: dict[str, Scalar], further: Mapping[str, Scalar]) -> None:
    """Put further commands to those on the same inputs."""
    for name, command in further.items():
        commands[name] = plus(commands[name], command) if name in commands else command
