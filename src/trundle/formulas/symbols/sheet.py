"""What a robot's equations are written on: its mechanism in symbols, with their names and the writer of sums."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import sympy

from trundle.formulas.algebra.polynomials import Symbol, SymbolTable, TrigPolynomial
from trundle.formulas.algebra.writing import Writer
from trundle.formulas.equation import ACCELERATION, SymbolicMatrix
from trundle.formulas.symbols.names import SymbolNames, rate_of, words_of
from trundle.formulas.symbols.parameter_symbols import ParameterSymbols
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.quantities import Quantity
from trundle.mechanics.wheels import WheelModel
from trundle.model.constraints import Configuration
from trundle.model.mechanism import Mechanism
from trundle.robot import Robot
from trundle.scalars import Scalar, is_zero


@dataclass(frozen=True)
class Sheet:
    """A robot's mechanism in symbols, at a configuration in symbols.

    `coordinates`, `speeds` and `rates` map the description's names to symbols: independent coordinates, the
    speeds and rates that have been asked for. `heard` is called for each expression, as writing many takes long.
    """

    here: Mechanism
    writer: Writer
    parameters: ParameterSymbols
    names: SymbolNames
    coordinates: dict[str, int]
    speeds: dict[str, int] = field(default_factory=dict)
    rates: dict[str, int] = field(default_factory=dict)
    heard: Callable[[], None] = lambda: None

    @property
    def table(self) -> SymbolTable:
        """All symbols."""
        return self.writer.table

    @property
    def robot(self) -> Robot:
        """The robot as it was described."""
        return self.here.robot

    @property
    def assembly(self) -> Assembly:
        """Its tree, wheels, couplings, loops, motors."""
        return self.here.assembly

    @property
    def at(self) -> Configuration:
        """Where everything is."""
        return self.here.at

    def new_symbol(self, symbol: str, kind: str, meaning: str, unit: str = "", source: str = "") -> int:
        """A new symbol."""
        self.table.symbols.append(Symbol(symbol, kind, meaning, unit, source=source))
        return len(self.table.symbols) - 1

    def named(self, value: Scalar, meaning: str, unit: str, *names: str) -> TrigPolynomial:
        """The symbol for a sum, by the first of the names that is free."""
        return self.table.named(
            self.table.polynomial(value), lambda: self.names.unique(*names), meaning, unit
        )

    def speed(self, name: str) -> TrigPolynomial:
        """The symbol of a speed, by its name."""
        if name not in self.speeds:
            words = words_of(name, self.robot)
            self.speeds[name] = self.new_symbol(self.names.of(name), "speed", words, self.unit(name), name)
        return self.table.symbol(self.speeds[name])

    def rate(self, name: str) -> TrigPolynomial:
        """The symbol of a speed's rate, by the speed's name."""
        if name not in self.rates:
            speed = self.table.symbols[self.speeds[name]] if name in self.speeds else None
            symbol = rate_of(self.names.of(name) if speed is None else speed.name)
            words, unit = f"rate of the {words_of(name, self.robot)}", f"{self.unit(name)}^2"
            self.rates[name] = self.new_symbol(symbol, "rate", words, unit, f"{ACCELERATION}{name}")
        return self.table.symbol(self.rates[name])

    def unit(self, name: str) -> str:
        """The unit of a coordinate or speed."""
        return self._quantity(name).unit

    def owner(self, name: str) -> str:
        """The part whose coordinate or speed it is; the name itself where it belongs to no part, as a base's."""
        return self._quantity(name).owner or name

    def _quantity(self, name: str) -> Quantity:
        """A coordinate or speed, also one that the wheels' constraints brought up."""
        known = self.assembly.quantities
        made = {} if name in known else {quantity.name: quantity for quantity in self.here.basis.made}
        return made.get(name) or known[name]

    def wheels_by(self, what: Literal["spin", "steering"]) -> dict[str, str]:
        """The wheels by the speeds that are the rates of their spin or steering."""
        columns = {wheel.name: getattr(wheel, what) for wheel in self.assembly.wheels}
        return {self.assembly.speeds[k]: name for name, k in columns.items() if k is not None}

    def has_rotor(self, speed: str) -> bool:
        """Whether a drive's inertia turns with a speed."""
        tree, column = self.assembly.tree, self.assembly.speeds.index(speed)
        for link, own in zip(tree.links, tree.speed_slices(), strict=True):
            if own.start <= column < own.stop:
                return not is_zero(link.armatures[column - own.start])
        return False

    def all_speeds(self) -> list[TrigPolynomial]:
        """ν: the symbols of all speeds, in the assembly's order."""
        return [self.speed(name) for name in self.assembly.speeds]

    def samples(self, wheels: Callable[[Assembly], Iterable[WheelModel]]) -> np.ndarray:
        """Numbers of the rows of wheels and couplings where ranks are decided for programs, too, of shape (samples,
        rows, speeds).
        """
        return self.here.sampled(lambda numbers: numbers.rows(list(wheels(numbers.assembly))))

    def expression(self, value: Scalar) -> sympy.Expr:
        """A scalar as SymPy has it."""
        self.heard()
        return self.writer.expression(value)

    def matrix(self, rows: Sequence[Sequence[Scalar]]) -> SymbolicMatrix:
        """A matrix of expressions."""
        return SymbolicMatrix([[self.expression(entry) for entry in row] for row in rows])

    def symbol(self, name: str) -> sympy.Expr:
        """The symbol of a speed."""
        self.speed(name)
        return self.writer.symbol(self.speeds[name])

    def quantity_symbol(self, stem: str, index: str, name: str, unit: str, words: str = "") -> sympy.Expr:
        """The symbol of something that a run knows by its name: a command, a state, an output."""
        found = (number for number, symbol in enumerate(self.table.symbols) if symbol.source == name)
        symbol = next(found, None)
        if symbol is None:
            symbol = self.new_symbol(self.names.indexed(stem, index), "input", words or name, unit, name)
        return self.writer.symbol(symbol)

    def column(self, names: Sequence[str]) -> SymbolicMatrix:
        """A column of the symbols of speeds."""
        return SymbolicMatrix([self.symbol(name) for name in names])
