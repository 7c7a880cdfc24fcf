"""A section on controllers: their laws, from what they read and what is wanted to the commands of the motors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import sympy

from trundle.formulas.equation import Equation, Expression, Section
from trundle.formulas.symbols.names import labels, plain, rate_of
from trundle.formulas.symbols.sheet import Sheet
from trundle.model import Model
from trundle.model.placed import Placed, placed
from trundle.model.sampled import Hold
from trundle.robot.controllers import Action, Sight
from trundle.robot.problems import in_order
from trundle.scalars import Scalar

CONTROLLERS = "Controllers"
# Names of equations that no output of the program is: they follow from others.
INNER = "law."
# What a held number is called after a sample.
NEXT = "_next"


@dataclass
class _Laws:
    """Laws as they are written down one after another, with the commands so far: what acts at every instant, and what
    acts just after a sample, where other controllers may read it as a reference.
    """

    sheet: Sheet
    model: Model
    labels: Mapping[str, str]
    equations: list[Equation] = field(default_factory=list)
    commands: dict[str, list[Expression]] = field(default_factory=dict)
    after: dict[str, list[Expression]] = field(default_factory=dict)

    def symbol(self, name: str, stem: str, index: str, words: str = "", alike: str = "") -> sympy.Expr:
        """The symbol of what the model knows by a name; its unit is that of what it is `alike`, by default its own."""
        if name in self.sheet.assembly.speeds:
            return self.sheet.symbol(name)
        quantity = self.model.quantities.get(alike or name)
        return self.sheet.quantity_symbol(stem, index, name, "" if quantity is None else quantity.unit, words)

    def read(self, name: str) -> sympy.Expr:
        """The symbol of a state or an output of the robot."""
        owner, _, what = name.rpartition(".")
        if owner in self.sheet.robot.controllers:
            what = self.sheet.robot.controllers[owner].letters.get(what, what)
            return self.symbol(name, plain(what), self.labels[owner])
        return self.symbol(name, plain(what), plain(owner))

    def driven(self, name: str) -> sympy.Expr:
        """The symbol of an input that controllers drive."""
        if name.rpartition(".")[0] not in self.sheet.robot.motors:
            return self.read(name)
        return self.symbol(name, *self._called(name))

    def _called(self, name: str) -> tuple[str, str]:
        """The stem and the index of an input that controllers drive: those of a motor's command are its own."""
        owner, _, what = name.rpartition(".")
        motor = self.sheet.robot.motors.get(owner)
        if motor is None:
            return plain(what), plain(owner)
        return motor.letters.get(what, plain(what)), self.sheet.names.target(motor.drives)

    def symbol_of(self, each: Placed, name: str) -> sympy.Expr:
        """The symbol of a controller's reference, state or output."""
        stem = each.controller.letters.get(name, plain(name))
        return self.symbol(f"{each.name}.{name}", stem, self.labels[each.name])

    def write(self, name: str, left: sympy.Expr, right: Scalar, words: str) -> None:
        """One more equation, left = right."""
        self.equations.append(Equation(name, left, sympy.sympify(right), meaning=words))

    def add(self, each: Placed) -> None:
        """A controller's law."""
        shown: set[str] = set()
        # What others give it at the same sample is not yet what its outputs show.
        new = each.hold is not None and any(full in self.after for full in each.references.values())

        def named(name: str, value: Scalar, words: str = "") -> Scalar:
            """Write a part of the law in a line of its own, by the output that shows it, and return its symbol."""
            if name in each.shows:
                shown.add(name)
            if name in each.shows and not new:
                left, called, meaning = (
                    self.symbol_of(each, name),
                    f"{each.name}.{name}",
                    f"{name} of {each.name}",
                )
            else:
                called, meaning = f"{INNER}{each.name}.{name}", f"{words} {each.name}"
                stem = each.controller.letters.get(name, name)
                left = sympy.Symbol(self.sheet.names.indexed(stem, self.labels[each.name]))
            self.write(called, left, value, meaning)
            return left

        sight = Sight(
            {name: self.read(name) for name in each.reads},
            {own: self.reference(each, own, full) for own, full in each.references.items()},
            {own: self.symbol_of(each, own) for own in each.states},
            named,
        )
        action = each.act(sight, _reader(self.sheet))
        for own, value in action.outputs.items():
            if own not in shown and not new:
                self.write(f"{each.name}.{own}", self.symbol_of(each, own), value, f"{own} of {each.name}")
        if each.hold is None:
            self._flows(each, action)
        else:
            self._samples(each, each.hold, action)

    def _flows(self, each: Placed, action: Action) -> None:
        """Rates and commands of a controller that acts at every instant."""
        for own, rate in action.rates.items():
            left = sympy.Symbol(rate_of(str(self.symbol_of(each, own))))
            self.write(f"{each.name}.{own}_rate", left, rate, f"rate of the {own} of {each.name}")
        for name, command in action.commands.items():
            for commands in (self.commands, self.after):
                commands.setdefault(name, []).append(sympy.sympify(command))

    def _samples(self, each: Placed, hold: Hold, action: Action) -> None:
        """States and commands of a controller as they are after a sample; what it drives follows what it holds."""
        for own, rate in action.rates.items():
            now = self.symbol_of(each, own)
            name, stem = f"{each.name}.{own}", each.controller.letters.get(own, plain(own))
            index = f"{self.labels[each.name]}{NEXT}"
            left = self.symbol(f"{name}{NEXT}", stem, index, f"{name}, next", name)
            right = now + sympy.Float(hold.period) * sympy.sympify(rate)
            self.write(f"{each.name}.{own}{NEXT}", left, right, f"{own} of {each.name} after a sample")
        for name, command in action.commands.items():
            places = hold.places(name)
            held = [self._held_symbol(each, name, k) for k in range(len(places))]
            follow = [self._held_symbol(each, name, k, after=True) for k in range(len(places))]
            given = [*held[1:], sympy.sympify(command)]
            for k, (place, left, right) in enumerate(zip(places, follow, given, strict=True)):
                what = f"{name} from {each.name}" if k == 0 else f"what waits for {name}, {k}"
                words = f"{what}, after a sample" if k + 1 == len(places) else what
                self.write(f"{place}{NEXT}", left, right, words)
            self.commands.setdefault(name, []).append(held[0])
            self.after.setdefault(name, []).append(follow[0])

    def _held_symbol(self, each: Placed, driven: str, place: int, after: bool = False) -> sympy.Expr:
        """The symbol of what a controller holds for an input in one of its places, now or after a sample."""
        stem, index = self._called(driven)
        assert each.hold is not None
        name, number = each.hold.places(driven)[place], f"_{place}" if place else ""
        index = f"{index}_{self.labels[each.name]}{number}"
        words = f"{driven} that {each.name} holds" if not place else f"{driven} of {each.name} that waits"
        if after:
            return self.symbol(f"{name}{NEXT}", stem, f"{index}{NEXT}", f"{words}, next", name)
        return self.symbol(name, stem, index, words)

    def reference(self, each: Placed, own: str, full: str) -> sympy.Expr:
        """The symbol of a reference; its equation, where other controllers give it."""
        symbol = self.symbol_of(each, own)
        commands = self.commands if each.hold is None else self.after
        if full in commands:
            self.write(f"{INNER}{full}", symbol, sympy.Add(*commands[full]), f"{own} of {each.name}")
            for each_of in (self.commands, self.after):
                each_of.pop(full)
        return symbol


def _reader(sheet: Sheet) -> Callable[[object], Expression]:
    """Values of the description as expressions."""
    resolve = sheet.robot.resolver(sheet.parameters.scope)
    return lambda value: sheet.expression(sheet.table.polynomial(resolve(value)))  # type: ignore[arg-type]


def _ordered(controllers: Sequence[Placed]) -> list[Placed]:
    """Those first that give others their references."""
    givers = {
        each.name: [other.name for other in controllers if {*other.drives} & {*each.references.values()}]
        for each in controllers
    }
    by_name = {each.name: each for each in controllers}
    return [by_name[name] for name in in_order(givers)]


def controller_section(sheet: Sheet, model: Model) -> Section | None:
    """The laws in the order in which they hang on each other, then the commands that they add up to."""
    if not sheet.robot.controllers:
        return None
    laws = _Laws(sheet, model, labels(tuple(sheet.robot.controllers)))
    for each in _ordered(placed(sheet.robot)):
        laws.add(each)
    for name, parts in laws.commands.items():
        laws.write(name, laws.driven(name), sympy.Add(*parts), f"command {name}")
    notes = (note for note in map(_when, placed(sheet.robot)) if note)
    return Section("dynamics", CONTROLLERS, tuple(laws.equations), tuple(notes))


def _when(each: Placed) -> str:
    """When the lines of a controller that samples hold."""
    hold = each.hold
    if hold is None:
        return ""
    late = hold.lateness * hold.period + hold.rest
    effect = f", and take effect {1e3 * late:.6g} ms later" if late else ""
    return (
        f"{each.name} samples at t = 0, {1e3 * hold.period:.6g} ms, …: its lines hold then{effect}. "
        "What is called next stands until the following sample."
    )


def standing(sheet: Sheet, model: Model) -> list[Equation]:
    """The rates between samples of what samples alone change: zeros."""
    changed = {
        name
        for each in placed(sheet.robot)
        if each.hold is not None
        for name in (*each.held, *(f"{each.name}.{own}" for own in each.states))
    }
    symbols = {symbol.source: symbol.name for symbol in sheet.table.symbols if symbol.source}
    return [
        Equation(
            f"{name}_rate", sympy.Symbol(rate_of(symbols[name])), sympy.S.Zero, meaning="between samples"
        )
        for name in model.states
        if name in changed
    ]
