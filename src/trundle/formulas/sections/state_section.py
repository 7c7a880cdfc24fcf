"""ẋ = f(x, u): the rate of every state, after all that it takes, in an order in which lines use only earlier ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import sympy

from trundle.formulas.derivation.dynamics import Dynamics, blocks
from trundle.formulas.equation import ACCELERATION, Equation, Expression, Section
from trundle.formulas.symbols.names import Note, measured, rate_of
from trundle.formulas.symbols.sheet import Sheet
from trundle.model import Model

STATE = "State equations: ẋ = f(x, u)"
_IMPLICIT = "Not written out: {0} follows from what it sets itself. The program model.dynamics solves for it."


class Unsolved(Exception):
    """A rate needs a symbol that nothing gives before it: its name."""


def solved(sheet: Sheet, dynamics: Dynamics, sections: Sequence[Section]) -> list[Equation]:
    """Equations of the accelerations that depend on each other: M u̇ = Q by M = L D Lᵀ, a line a number.

    M is positive definite, so that no pivot D is zero in any configuration.
    """
    named = {equation.name: equation for section in sections for equation in section.equations}
    groups = [
        group for group in blocks(dynamics.mass) if f"{ACCELERATION}{dynamics.labels[group[0]]}" not in named
    ]
    return [equation for group in groups for equation in _Solution(sheet, dynamics, named, group).lines()]


class _Solution:
    """M u̇ = Q of a group of speeds, in symbols for what has been written."""

    def __init__(
        self, sheet: Sheet, dynamics: Dynamics, named: dict[str, Equation], group: Sequence[int]
    ) -> None:
        self.sheet, self.dynamics, self.named, self.group = sheet, dynamics, named, group
        self.lower: dict[tuple[int, int], Expression] = {}
        self.pivots: dict[int, Expression] = {}

    def lines(self) -> Iterator[Equation]:
        """Q, then pivots and factors, then what is left of Q by row, then the accelerations, the last one first."""
        mass, group = self.named["mass_matrix"].right, self.group
        left: dict[int, Expression] = {}
        for k in group:
            symbol = self.sheet.symbol(self.dynamics.labels[k])
            words = f"generalized force of {symbol}: all forces, less those at constant speeds"
            left[k], line = self._line(f"Q_{k + 1}", self._force(k), words)
            yield line
        for j in group:
            before = [k for k in group if k < j]
            value = mass[j, j] - sympy.Add(*(self._factor(j, k) ** 2 * self.pivots[k] for k in before))
            self.pivots[j], line = self._line(f"D_{j + 1}", value, f"pivot {j + 1} of the mass matrix")
            yield line
            for i in (i for i in group if i > j):
                taken = (self._factor(i, k) * self._factor(j, k) * self.pivots[k] for k in before)
                value = mass[i, j] - sympy.Add(*taken)
                if value != 0:
                    name = f"L_{i + 1}_{j + 1}"
                    self.lower[i, j], line = self._line(
                        name, value / self.pivots[j], "factor of the mass matrix"
                    )
                    yield line
        for i in group:
            taken = [self._factor(i, k) * left[k] for k in group if k < i and (i, k) in self.lower]
            if taken:
                words = f"what is left of Q_{i + 1} for {self.sheet.symbol(self.dynamics.labels[i])} alone"
                left[i], line = self._line(f"R_{i + 1}", left[i] - sympy.Add(*taken), words)
                yield line
        for i in reversed(group):
            later = (self._factor(k, i) * self._rate(k) for k in group if k > i)
            right = left[i] / self.pivots[i] - sympy.Add(*later)
            yield Equation(f"{ACCELERATION}{self.dynamics.labels[i]}", self._rate(i), right)

    def _line(self, name: str, value: Expression, words: str) -> tuple[Expression, Equation]:
        symbol = sympy.Symbol(self.sheet.names.unique(name))
        return symbol, Equation(f"solve.{name}", symbol, value, meaning=words)

    def _factor(self, i: int, k: int) -> Expression:
        return self.lower.get((i, k), sympy.S.Zero)

    def _rate(self, k: int) -> Expression:
        return sympy.Symbol(rate_of(str(self.sheet.symbol(self.dynamics.labels[k]))))

    def _force(self, k: int) -> Expression:
        """B τ + G f − h of a speed."""
        terms = [-self.named["bias"].right[k]]
        for name, pushes in (("input_matrix", self.dynamics.motors), ("force_matrix", self.dynamics.others)):
            for j, push in enumerate(pushes):
                terms.append(self.named[name].right[k, j] * self.sheet.writer.symbol(push.symbol))
        return sympy.Add(*terms)


def state_section(sheet: Sheet, model: Model, equations: Sequence[Equation]) -> Section:
    """The rates of all states in substitution's order, of what equations and definitions say; a sentence where a rate
    can't be told line by line.
    """
    lines = {str(equation.left): equation for equation in _defined(sheet)}
    lines |= {str(each.left): each for each in equations if each.left.is_Symbol and not each.given}
    symbols = {entry.source: entry for entry in sheet.table.symbols if entry.source and entry.name}
    states = [sympy.Symbol(symbols[name].name) for name in model.states]
    inputs = [sympy.Symbol(symbols[name].name) for name in model.inputs if name in symbols]
    fixed = {entry.name for entry in sheet.table.symbols if entry.kind == "parameter"}
    known = fixed | {symbol.name for symbol in [*states, *inputs]}
    made: dict[str, Equation] = {}
    try:
        for symbol in states:
            _visit(rate_of(symbol.name), lines, known, made, ())
    except Unsolved as missing:
        return Section("state", STATE, (), (_IMPLICIT.format(missing),))
    constant = set(fixed)
    for name, line in made.items():
        constant |= {name} if {symbol.name for symbol in line.right.free_symbols} <= constant else set()
    order = sorted(made, key=lambda name: name not in constant)
    shown = tuple(replace(made[name], given=True) for name in order)
    note = Note(
        "The states are ", *_listed(states), *(("; the inputs are ", *_listed(inputs)) if inputs else ()), "."
    )
    return Section(
        "state", STATE, shown, (note, "Every line uses states, inputs, parameters and lines above it.")
    )


def _defined(sheet: Sheet) -> Iterator[Equation]:
    """The definitions that have been shown, as equations."""
    for symbol, value in sheet.writer.shown.items():
        entry = sheet.table.symbols[symbol]
        words = measured(entry.meaning, entry.unit) if entry.meaning else ""
        yield Equation(f"definition.{entry.name}", sympy.Symbol(entry.name), value, meaning=words)


def _visit(
    name: str, lines: dict[str, Equation], known: set[str], made: dict[str, Equation], path: tuple[str, ...]
) -> None:
    """Add what a symbol takes, then its line; nothing where it is known."""
    if name in known or name in made:
        return
    if name not in lines or name in path:
        raise Unsolved(name)
    for symbol in sorted(lines[name].right.free_symbols, key=lambda each: each.name):
        _visit(symbol.name, lines, known, made, (*path, name))
    made[name] = lines[name]


def _listed(symbols: Sequence[Expression]) -> Iterator[str | Expression]:
    """Symbols with commas between them."""
    for k, symbol in enumerate(symbols):
        if k:
            yield ", "
        yield symbol
