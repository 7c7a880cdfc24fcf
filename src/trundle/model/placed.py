"""A robot's controllers with the names that their numbers have in its model."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trundle.errors import InputError, warn
from trundle.mechanics.assembly import mounting
from trundle.mechanics.quantities import Quantity, QuantityKind
from trundle.model.mechanism import mechanism
from trundle.model.sampled import Hold, hold_of
from trundle.robot import Robot
from trundle.robot.component import plain
from trundle.robot.controllers import Action, Controller, Draw, Sight, UnitOf
from trundle.robot.description import parse_robot
from trundle.robot.kinds import Read, ask, ask_states

if TYPE_CHECKING:
    from trundle.model.motored_base import MotoredBase


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
    def noise(self) -> dict[str, Draw]:
        """Those of its references that are noise, by the model's names."""
        own = ask(self.controller, self.key, self.controller.noise)
        return {self.references[name]: draw for name, draw in own.items()}

    @cached_property
    def memory(self) -> frozenset[str]:
        """Its own names of the states that it keeps for itself."""
        return frozenset(ask(self.controller, self.key, self.controller.memory))

    @cached_property
    def at_once(self) -> tuple[str, ...]:
        """The model's names of those of its states that others see as they are after a sample of the same instant."""
        own = () if self.hold is None else ask(self.controller, self.key, self.controller.at_once)
        return tuple(f"{self.name}.{state}" for state in own)

    @cached_property
    def hold(self) -> Hold | None:
        """How its commands are held between samples; None where it acts at every instant."""
        return hold_of(self.name, self.controller)

    @cached_property
    def held(self) -> tuple[str, ...]:
        """The model's names of the states that hold its commands."""
        hold = self.hold
        return () if hold is None else tuple(place for name in self.drives for place in hold.places(name))

    @property
    def acts_at_once(self) -> bool:
        """Whether its command hangs on what it sees at the same instant."""
        return self.hold is None or len(self.held) == len(self.drives)

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

    def units(self, unit_of: UnitOf) -> Mapping[str, str]:
        """The units of its own numbers, by its own names, as `unit_of` gives those of the robot's."""
        return ask(self.controller, self.key, self.controller.units, unit_of)

    def quantities(self, unit_of: UnitOf) -> Iterator[Quantity]:
        """What it brings along: states, references, outputs, and what it holds between samples."""
        units = self.units(unit_of)
        kinds: Mapping[QuantityKind, Iterable[str]] = {
            "memory": [own for own in self.states if own in self.memory],
            "state": [own for own in self.states if own not in self.memory],
            "noise": [own for own, name in self.references.items() if name in self.noise],
            "command": [own for own, name in self.references.items() if name not in self.noise],
            "other": self.shows,
        }
        for kind, names in kinds.items():
            for own in names:
                start = self.states.get(own, 0.0)
                yield Quantity(own, units.get(own, ""), kind, start=start).of(self.name)
        for name in self.drives:
            for place in () if self.hold is None else self.hold.places(name):
                own = place.removeprefix(f"{self.name}.")
                yield Quantity(own, unit_of(name), "memory").of(self.name)

    def act(self, sight: Sight, read: Read) -> Action:
        """What it does now; raises InputError where that isn't what it said of itself."""
        action = ask(self.controller, self.key, self.controller.law, sight, read)
        if not isinstance(action, Action):
            message = f"{type(self.controller).__name__} gives {action!r} for the controller {self.name!r}"
            hint = "expected trundle.robot.Action(commands, rates, outputs)"
            raise InputError(message, key=self.key, hint=hint)
        came = [set(action.commands), set(action.rates), set(action.outputs)]
        came[1] |= set(action.after)
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
    """The controllers of a robot, as described; made once, as some look at the whole robot."""
    kept = vars(robot)
    if not robot.controllers:
        return []
    if _KEPT not in kept:
        from trundle.model.motored_base import MotoredBase  # late: most robots have no controllers

        read, base = robot.resolver(), MotoredBase(on_plane(robot))
        kept[_KEPT] = tuple(
            Placed(name, _on(base, name, each), read) for name, each in robot.controllers.items()
        )
    return [*kept[_KEPT]]


# Where a robot keeps them, as it does what is computed from its fields.
_KEPT = "placed controllers"


def _on(base: MotoredBase, name: str, controller: Controller) -> Controller:
    """A controller on the robot's base; raises InputError with the reason where it can't lead it."""
    key = f"robot.controllers.{name}"
    try:
        placed_on = ask(controller, key, controller.on, base)
    except InputError as error:
        raise error.at(key=key) from None
    if not isinstance(placed_on, Controller):
        raise InputError(f"{type(controller).__name__}.on gives {placed_on!r}, no controller", key=key)
    if placed_on is not controller:
        try:
            placed_on.acts_on()
        except InputError as error:
            came = f"the {controller.called} {name!r} can't lead {base.robot.name!r}: {error.message}"
            raise InputError(came, key=f"{key}.type", hint=error.hint) from None
    return placed_on


def on_plane(robot: Robot) -> Robot:
    """The robot as its controllers lead it: over terrain they do as on a plane, where its wheels can stand on one.

    Joints that tilt wheels and that no motor drives, as rockers and bogies do, are then fixed as on level ground.
    """
    if robot.base != "floating" or not robot.wheels:
        return robot
    planar = {**plain(robot), "base": "planar"}
    changes = (dict, lambda: _levelled(robot), lambda: _levelled(robot) | _on_one_level(robot))
    for changed in changes:
        try:
            return parse_robot(planar | changed())
        except InputError:
            continue
    return robot


def _levelled(robot: Robot) -> dict[str, object]:
    """The joints and couplings of a robot, those joints fixed that turn about another axis than z by themselves."""
    driven = {motor.drives for motor in robot.motors.values()}
    data = plain(robot)
    joints, couplings = dict(data.get("joints", {})), data.get("couplings", {})
    frozen = {name for name, joint in robot.joints.items() if joint.tilts and name not in driven}
    for name in frozen:
        kept = {key: joints[name][key] for key in ("parent", "at", "rpy", "body") if key in joints[name]}
        joints[name] = {"type": "fixed", **kept}
    left = {
        name: each
        for name, each in couplings.items()
        if not frozen & {str(each.get("joint")), *map(str, each.get("follows", {}))}
    }
    return {"joints": joints, "couplings": left}


def _on_one_level(robot: Robot) -> dict[str, object]:
    """The wheels raised or lowered until all stand on one plane: what leads a base knows no heights.

    Those at the height 0 stay, as a zero is no parameter of the robot.
    """
    assembly = mechanism(robot.without_controllers, terrain=True).assembly
    frames, wheels = mounting(assembly), plain(robot)["wheels"]
    bottoms = {wheel.name: frames[wheel.link].position[2] - wheel.radius for wheel in assembly.wheels}
    level = next(
        (bottoms[name] for name, wheel in robot.wheels.items() if not robot.number(wheel.at[2])),
        bottoms[next(iter(bottoms))],
    )
    moved: dict[str, dict[str, object]] = {}
    for name, wheel in robot.wheels.items():
        raised = robot.number(wheel.at[2]) - bottoms[name] + level
        moved[name] = {**wheels[name], "at": [*wheels[name].get("at", (0, 0))[:2], raised]}
    return {"wheels": moved}


def require_undriven(robot: Robot | None, names: Iterable[object], key: str = "") -> None:
    """Raise InputError where somebody gives an input that controllers drive."""
    each_of = [] if robot is None or not robot.controllers else placed(robot)
    for name in names:
        drivers = [each for each in each_of if name in each.drives]
        if drivers:
            wanted = [full for each in drivers for full in each.references.values()]
            raise InputError(
                f"'{name}' is driven by {', '.join(each.name for each in drivers)}: nobody else can give it",
                key=f"{key}{name}",
                hint=f"{f'give {wanted[0]}, or ' if wanted else ''}leave controllers away (robot.without_controllers)",
            )


def warn_of_references(robot: Robot | None, inputs: Iterable[str], given: Container[object]) -> None:
    """A warning where nobody gives a controller what it should hold."""
    each_of = [] if robot is None or not robot.controllers else placed(robot)
    references = {full for each in each_of for full in each.references.values() if full not in each.noise}
    left = [name for name in inputs if name in references and name not in given]
    if left:
        warn(f"nobody gives {', '.join(left)}: held at 0; give 0 where that is meant")
