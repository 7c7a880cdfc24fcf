"""What controllers tell a robot that is led from step to step: their laws where a step begins, held until its end."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from trundle.errors import InputError, require_known
from trundle.mechanics.quantities import Quantity
from trundle.model.placed import Placed, placed
from trundle.robot import Robot
from trundle.robot.controllers import Sight
from trundle.robot.kinds import Read
from trundle.robot.problems import CircleError, in_order
from trundle.scalars import Scalar


class Told(NamedTuple):
    """Commands by input, the controllers' states after the step, and what they show."""

    commands: dict[str, Scalar]
    after: dict[str, Scalar]
    shown: dict[str, Scalar]


@dataclass(frozen=True)
class Commands:
    """The controllers of a robot whose plant has these inputs, and the names that they can read."""

    robot: Robot
    plant_inputs: tuple[str, ...]
    readable: tuple[str, ...]

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
                if name in references:
                    needs[references[name]].append(each.name)
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
        if each.hold is not None:
            message = f"the controller {each.name!r} samples, and a run over terrain goes by its own steps"
            hint = "take its period away: it then acts where every step begins"
            raise InputError(message, key=f"{each.key}.period", hint=hint)
        for name in each.reads:
            message = f"the controller {each.name!r} reads {name!r}, which a run over terrain doesn't know"
            require_known(name, (*self.readable, *own), message, key=each.key)
        for name in each.drives:
            message = f"the controller {each.name!r} drives {name!r}, which is no input of a motor"
            message += " and no other controller's reference"
            require_known(name, (*self.plant_inputs, *references), message, key=each.key)

    @cached_property
    def states(self) -> dict[str, float]:
        """Where the controllers' states start."""
        return {name: start for each in self.controllers for name, start in _states_of(each).items()}

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """What nobody but a run gives: inputs of the plant, and references."""
        driven = {name for each in self.controllers for name in each.drives}
        references = (full for each in self.controllers for full in each.references.values())
        return tuple(name for name in (*self.plant_inputs, *references) if name not in driven)

    @property
    def quantities(self) -> Iterable[Quantity]:
        """The controllers' states and references; nobody says their units here."""
        for each in self.controllers:
            for own, start in each.states.items():
                kind = "memory" if own in each.memory else "state"
                yield Quantity(own, "", kind, start=start).of(each.name)
            yield from (Quantity(own, "", "command").of(each.name) for own in each.references)

    @property
    def shown(self) -> Iterable[str]:
        """What they show: their outputs, and the inputs that they drive."""
        driven = {name for each in self.controllers for name in each.drives}
        yield from (name for name in self.plant_inputs if name in driven)
        yield from (f"{each.name}.{own}" for each in self.controllers for own in each.shows)

    def told(self, seen: Mapping[str, Scalar], given: Mapping[str, Scalar], dt: Scalar, read: Read) -> Told:
        """What they do at states and other names that they see, and inputs that a run gives; their states by x + h
        ẋ.
        """
        commands, after, shown = dict(given), dict[str, Scalar](), dict[str, Scalar]()
        driven: set[str] = set()
        for each in self.controllers:
            sight = Sight(
                {name: seen[name] for name in each.reads},
                {own: commands[full] for own, full in each.references.items()},
                {own: seen[f"{each.name}.{own}"] for own in each.states},
            )
            action = each.act(sight, read)
            for name, command in action.commands.items():
                commands[name] = commands[name] + command if name in driven else command
                driven.add(name)
            shown |= {f"{each.name}.{own}": value for own, value in action.outputs.items()}
            for own, rate in action.rates.items():
                after[f"{each.name}.{own}"] = seen[f"{each.name}.{own}"] + dt * rate
        shown |= {name: commands[name] for name in self.plant_inputs if name in driven}
        return Told(commands, after, shown)


def _states_of(each: Placed) -> dict[str, float]:
    """A controller's states by the model's names."""
    return {f"{each.name}.{own}": start for own, start in each.states.items()}
