"""What controllers tell a robot that is led from step to step: their laws at any instant, held by those that sample.

What samples has clocks of its own among the states: the time until each is due. A step begins with the samples that are
due by then, so periods and delays are whole numbers of steps.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from trundle.errors import InputError, require_known
from trundle.mechanics.quantities import Quantity
from trundle.model.placed import Placed, placed
from trundle.robot import Robot
from trundle.robot.controllers import Action, Sight
from trundle.robot.kinds import Read
from trundle.robot.problems import CircleError, in_order
from trundle.scalars import Scalar, less, plus, times, where


class Told(NamedTuple):
    """Commands by input, the controllers' states after the step, what they show, the rates of the states of those that
    act at every instant, and by controller the commands that those hold that sample.
    """

    commands: dict[str, Scalar]
    after: dict[str, Scalar]
    shown: dict[str, Scalar]
    rates: dict[str, Scalar]
    held: dict[str, dict[str, Scalar]]


class _Instant(NamedTuple):
    """An instant: what is seen, what a run gives, the step's length, and which clocks are due."""

    seen: Mapping[str, Scalar]
    given: Mapping[str, Scalar]
    dt: Scalar
    due: Mapping[str, Scalar]


@dataclass(frozen=True)
class Commands:
    """The controllers of a robot whose plant has these inputs, and what they can read of it."""

    robot: Robot
    plant: tuple[Quantity, ...]
    readable: tuple[Quantity, ...]

    @cached_property
    def plant_inputs(self) -> tuple[str, ...]:
        """The names of the plant's inputs."""
        return tuple(quantity.name for quantity in self.plant)

    @cached_property
    def controllers(self) -> list[Placed]:
        """In the order in which they act: who gives a reference before who takes it; raises InputError."""
        every = placed(self.robot)
        references = {full: each.name for each in every for full in each.references.values()}
        own = [name for each in every for name in _states_of(each)]
        for each in every:
            self._check(each, references, own)
        needs: dict[str, list[str]] = {each.name: [] for each in every}
        for each in every:
            for name in each.drives:
                if name in references and each.acts_at_once:
                    needs[references[name]].append(each.name)
            if each.hold is not None:
                needs[each.name] += [other.name for other in every if {*each.reads} & {*other.at_once}]
        try:
            order = in_order(needs)
        except CircleError as error:
            raise InputError(
                f"controllers lead each other in a circle: {error}",
                key=f"robot.controllers.{error.circle[0]}",
                hint="one of them must be led by nobody",
            ) from None
        by_name = {each.name: each for each in every}
        return [by_name[name] for name in order]

    def _check(self, each: Placed, references: Mapping[str, str], own: Sequence[str]) -> None:
        readable = (quantity.name for quantity in self.readable)
        known = (*readable, *own)
        for name in each.reads:
            message = f"the controller {each.name!r} reads {name!r}, which a run over terrain doesn't know"
            require_known(name, known, message, key=each.key)
        for name in each.drives:
            message = f"the controller {each.name!r} drives {name!r}, which is no input of a motor"
            message += " and no other controller's reference"
            require_known(name, (*self.plant_inputs, *references), message, key=each.key)

    @cached_property
    def clocks(self) -> dict[str, tuple[float, float]]:
        """The clocks of what samples, by name: period and first time (s)."""
        holds = (each.hold for each in self.controllers)
        return {name: clock for hold in holds if hold is not None for name, clock in hold.clocks.items()}

    @cached_property
    def states(self) -> dict[str, float]:
        """Where the controllers' states start; those that hold commands, and clocks, behind them."""
        own = {name: start for each in self.controllers for name, start in _states_of(each).items()}
        own |= {place: 0.0 for each in self.controllers for place in each.held}
        return own | {until(clock): first for clock, (_, first) in self.clocks.items()}

    @cached_property
    def continuous(self) -> tuple[str, ...] | None:
        """The states of those that act at every instant; None where all sample."""
        acting = [each for each in self.controllers if each.hold is None]
        return tuple(name for each in acting for name in _states_of(each)) if acting else None

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """What nobody but a run gives: inputs of the plant, and references."""
        driven = {name for each in self.controllers for name in each.drives}
        references = (full for each in self.controllers for full in each.references.values())
        return tuple(name for name in (*self.plant_inputs, *references) if name not in driven)

    @property
    def quantities(self) -> Iterable[Quantity]:
        """The controllers' states and references, what they show, and what those that sample keep."""
        for each in self.controllers:
            yield from each.quantities(self._unit_of)
        for clock, (_, first) in self.clocks.items():
            yield Quantity(until("")[1:], "s", "memory", start=first).of(clock)

    def _unit_of(self, name: str) -> str:
        """The unit of what can be read or driven."""
        for quantity in (*self.plant, *self.readable):
            if quantity.name == name:
                return quantity.unit
        owner, _, own = name.rpartition(".")
        other = next(other for other in self.controllers if other.name == owner)
        return other.units(self._unit_of).get(own, "")

    @property
    def shown(self) -> Iterable[str]:
        """What they show: their outputs, and the inputs that they drive."""
        driven = {name for each in self.controllers for name in each.drives}
        yield from (name for name in self.plant_inputs if name in driven)
        yield from (f"{each.name}.{own}" for each in self.controllers for own in each.shows)

    def told(
        self, seen: Mapping[str, Scalar], given: Mapping[str, Scalar], dt: Scalar, read: Read, begun: Told | None = None
    ) -> Told:  # fmt: skip
        """What they do at states and other names that they see, and inputs that a run gives; their states by x + h
        ẋ, of what samples by its period. With `begun`, where the step begins, those that sample do what they did there.
        """
        due = {clock: less(seen[until(clock)], dt / 2) for clock in self.clocks}
        now, sums = _Instant(seen, given, dt, due), _Sums()
        after, shown, rates = dict[str, Scalar](), dict[str, Scalar](), dict[str, Scalar]()
        held = self._waited(now) if begun is None else begun.held
        for commands in held.values():  # what waited is known before any law
            for name, command in commands.items():
                sums.add(name, command)
        for clock, (period, _) in self.clocks.items():
            left = seen[until(clock)]
            after[until(clock)] = where(due[clock], left + period, left) - dt
        known = {name for each in self.controllers for name in each.at_once}
        for each in self.controllers:
            if each.hold is not None and begun is not None:
                continue
            action = each.act(self._sight(each, now, after, known, sums), read)
            shown |= {f"{each.name}.{own}": value for own, value in action.outputs.items()}
            after |= _states_after(each, action, now)
            if each.hold is None:
                rates |= {f"{each.name}.{own}": rate for own, rate in action.rates.items()}
                commands = action.commands
            elif each.acts_at_once:
                commands = held[each.name] = {name: _acting(each, name, after) for name in each.drives}
            else:
                commands = {}
            for name, command in commands.items():
                sums.add(name, command)
        commands = {**given, **sums.totals}
        shown |= {name: commands[name] for name in self.plant_inputs if name in sums.totals}
        return Told(commands, after, shown, rates, held)

    def _waited(self, now: _Instant) -> dict[str, dict[str, Scalar]]:
        """The commands of those that sample and whose commands come late."""
        return {
            each.name: {
                name: _acting(each, name, each.hold.moved(name, 0.0, now.seen, now.due))
                for name in each.drives
            }
            for each in self.controllers
            if each.hold is not None and not each.acts_at_once
        }

    def _sight(
        self, each: Placed, now: _Instant, after: Mapping[str, Scalar], at_once: set[str], sums: _Sums
    ) -> Sight:
        """What a controller sees; of what others say at once, what they have just said."""
        fresh = {name: after[name] for name in each.reads if name in at_once} if each.hold else {}
        references = {**now.given, **sums.totals}
        return Sight(
            {name: fresh.get(name, now.seen[name]) for name in each.reads},
            {own: references[full] for own, full in each.references.items()},
            {own: now.seen[f"{each.name}.{own}"] for own in each.states},
        )


class _Sums:
    """Commands by name, those on one input added up."""

    def __init__(self) -> None:
        self.totals = dict[str, Scalar]()

    def add(self, name: str, command: Scalar) -> None:
        """One more."""
        self.totals[name] = plus(self.totals[name], command) if name in self.totals else command


def _states_of(each: Placed) -> dict[str, float]:
    """A controller's states by the model's names."""
    return {f"{each.name}.{own}": start for own, start in each.states.items()}


def until(clock: str) -> str:
    """The state that says in how many seconds a clock is due."""
    return f"{clock}.due_in"


def _acting(each: Placed, driven: str, places: Mapping[str, Scalar]) -> Scalar:
    """Of a controller that samples, the command that acts now."""
    assert each.hold is not None
    return places[each.hold.places(driven)[0]]


def _states_after(each: Placed, action: Action, now: _Instant) -> dict[str, Scalar]:
    """A controller's states where the step ends, and what it holds."""
    after = dict[str, Scalar]()
    if each.hold is None:
        for own, rate in action.rates.items():
            name = f"{each.name}.{own}"
            after[name] = plus(now.seen[name], times(now.dt, rate))
        return after
    due = now.due[each.name]
    for own, rate in action.rates.items():
        name = f"{each.name}.{own}"
        after[name] = where(due, now.seen[name] + each.hold.period * rate, now.seen[name])
    for own, moved in action.after.items():
        name = f"{each.name}.{own}"
        after[name] = where(due, moved, now.seen[name])
    for name, command in action.commands.items():
        after |= each.hold.moved(name, command, now.seen, now.due)
    return after
