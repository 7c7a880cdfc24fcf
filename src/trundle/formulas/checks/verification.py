"""No equation is shown before both its sides agree at random points.

Every symbol gets the number that the robot's programs give it at drawn parameters, coordinates and speeds
(`Verification`), and left and right side of an equation must agree to `TOLERANCE` of their largest terms (`Checker`).
An intermediate quantity is compared with what the derivation meant by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property, reduce

import numpy as np
import sympy

from trundle.arrays import Floats
from trundle.errors import NumericsError
from trundle.formulas.algebra.writing import Writer
from trundle.formulas.checks.evaluation import SymbolValues
from trundle.formulas.equation import ACCELERATION, Equation, SymbolicMatrix
from trundle.formulas.sections.kinematics_section import Forward
from trundle.formulas.symbols.names import numbered, rate_of
from trundle.formulas.symbols.sheet import Sheet
from trundle.mechanics.linear import apply
from trundle.model import Model
from trundle.model.constraints import constraint_rows
from trundle.model.load_shift import shifts_load
from trundle.model.moving import MovingMechanism
from trundle.model.programs import program_of, symbolic_mechanism
from trundle.model.rolling_motion import derive_rolling
from trundle.model.symbols import Symbols, parameter_group
from trundle.program import Program

# Rounding of both sides stays far below this share of their terms; where an equation is wrong, both sides differ by
# far more at random points.
TOLERANCE = 1e-10
# What is written as 0 has no terms to measure by, and programs give it rounding of numbers about 1; a component of a
# vector that is 0 otherwise (a base that can't turn) gets rounding of its other components.
OF_ZERO = 1e-3
# What is drawn is halved until the motion shifts no wheel's load by more than this share: no equation shows the load of
# a wheel that lifts, and treads of a millimetre aren't bent by metres.
_SHIFTED = 0.5
# No more: a robot that lifts a wheel where it stands would never do.
_HALVED = 40
# Enough that two expressions that differ anywhere differ at one of them; tests take a hundred.
POINTS = 5
# Points are drawn from a fixed seed, so that what was wrong once is wrong again when it is looked at.
SEED = 20260


class Checker:
    """Draws numbers, compares equations, and keeps the largest error."""

    def __init__(self, writer: Writer, name: str, points: int = POINTS) -> None:
        self.writer, self.name, self.points = writer, name, points
        self.error = 0.0
        self._rng = np.random.default_rng(SEED)

    def numbers(self, names: Iterable[str], most: float) -> dict[str, np.ndarray]:
        """Random numbers within ±most."""
        return {name: self._rng.uniform(-most, most, self.points) for name in names}

    def draw(self, sheet: Sheet) -> dict[int, np.ndarray]:
        """Random parameters and coordinates: parameters up to a tenth off the description's (what is 0 there up to
        0.2), coordinates within ±1.2, short of 90° where linkages are singular, quaternions of length 1.
        """
        names = list(sheet.coordinates)
        q = self._rng.uniform(-1.2, 1.2, (len(names), self.points))
        q = sheet.assembly.quantities.normalised(names, q)
        drawn = dict(zip(sheet.coordinates.values(), q, strict=True))
        for symbol in sheet.parameters.keys:
            number = sheet.table.symbols[symbol].number or 0.0
            near = self._rng.uniform(0.9, 1.1, self.points)
            drawn[symbol] = number * near if number else 2 * near - 2
        return drawn

    def equations(self, equations: Iterable[Equation], values: SymbolValues, floor: float = 1e-12) -> None:
        """Every equation that isn't a part of another one; terms smaller than `floor` count as that large."""
        equations = tuple(equations)
        for equation in equations:
            if equation.given:
                continue
            sizes = [values.size(left) + values.size(right) for left, right in equation.lines]
            largest = reduce(np.maximum, sizes, floor)
            for (left, right), size in zip(equation.lines, sizes, strict=True):
                about = OF_ZERO if right is sympy.S.Zero else 0.0
                least = np.maximum(OF_ZERO * largest, floor)
                self.compare(equation.name, values(left), values(right), np.maximum(size + about, least))
        self.definitions(equations, values)

    def compare(self, what: str, left: Floats, right: Floats, size: Floats) -> None:
        """|left − right| ≤ TOLERANCE · size, at all points; raises NumericsError."""
        error = float(np.max(np.abs(np.asarray(left) - right) / np.maximum(np.abs(size), 1e-12)))
        if not error <= TOLERANCE:
            raise NumericsError(
                f"the equation '{what}' of '{self.name}' differs from its compiled program by {error:.1e} "
                "of its largest term. Please report this robot"
            )
        self.error = max(self.error, error)

    def definitions(self, equations: Iterable[Equation], values: SymbolValues) -> None:
        """Each intermediate quantity that equations show against the sum that it stands for."""
        sides = [side for each in equations for side in each.sides]
        for symbol, expression in self.writer.used(sides).items():
            name = self.writer.table.symbols[symbol].name
            size = values.size(expression) + values.symbol_size(symbol)
            self.compare(name, values(expression), values.symbol(symbol), size)

    def derived(self, values: SymbolValues, known: Mapping[int, Floats]) -> None:
        """Symbols that the derivation defines, against a program's numbers."""
        for symbol, number in known.items():
            meant = values.symbol(symbol)
            size = values.symbol_size(symbol) + np.abs(number)
            self.compare(self.writer.table.symbols[symbol].name, meant, number, size)


def product(
    matrix: SymbolicMatrix, vector: Iterable[Floats], values: SymbolValues
) -> tuple[np.ndarray, np.ndarray]:
    """matrix · vector at all points, and Σ |entries · vector|."""
    entries = values.matrix(matrix)
    numbers = np.array(np.broadcast_arrays(*vector))
    parts = entries * numbers.reshape(len(numbers), -1)
    return parts.sum(axis=1), np.abs(parts).sum(axis=1)


FigureValues = dict[str, np.ndarray]
SymbolNumbers = Mapping[int, Floats]


class Verification:
    """A robot's programs at drawn parameters and coordinates (`symbols`), the same ones for all that is kinematic."""

    def __init__(self, sheet: Sheet, checker: Checker) -> None:
        self.sheet, self.checker = sheet, checker
        self.numbers = checker.draw(sheet)

    @cached_property
    def programs(self) -> MovingMechanism:
        """The robot's mechanics as programs are traced from."""
        return symbolic_mechanism(self.sheet.robot)

    def run(
        self, program: Program, known: Mapping[str, Floats], numbers: SymbolNumbers | None = None
    ) -> dict[str, FigureValues]:
        """A program's outputs by group and name; what it asks for is looked up among the symbols and in `known`."""
        own, numbers = self.sheet, self.numbers if numbers is None else numbers
        parameters = own.parameters.numbers(numbers)
        asked = {name: numbers[k] for name, k in own.coordinates.items()} | dict(known)
        inputs = []
        for group in program.inputs:
            source = parameters if group.name == "parameter" else asked
            rows = [np.broadcast_to(source[name], (self.checker.points,)) for name in group.labels]
            inputs.append(np.array(rows, dtype=float).reshape(group.size, self.checker.points))
        outputs = program.evaluate(*inputs)
        return {
            g.name: dict(zip(g.labels, rows, strict=True))
            for g, rows in zip(program.outputs, outputs, strict=True)
        }

    def any_speeds(self) -> FigureValues:
        """Speeds that nothing binds."""
        return self.checker.numbers(self.sheet.assembly.speeds, 2)

    @cached_property
    def independent(self) -> FigureValues:
        """Drawn independent speeds u."""
        return self.checker.numbers(self.programs.labels, 2)

    def all_speeds(self, independent: Mapping[str, Floats]) -> dict[str, Floats]:
        """u and ν = S(q) u."""
        speeds = self.programs.mechanism.assembly.speeds
        program = program_of(self.programs, "speeds", {"speed": (speeds, self.programs.nu)})
        return {**independent, **self.run(program, independent)["speed"]}

    @cached_property
    def described(self) -> SymbolNumbers:
        """The description's parameters, with the drawn coordinates."""
        numbers = {k: self.sheet.table.symbols[k].number or 0.0 for k in self.sheet.parameters.keys}
        return {**self.numbers, **{k: np.full(self.checker.points, each) for k, each in numbers.items()}}

    def rolled(self, forward: Forward, numbers: SymbolNumbers) -> FigureValues:
        """Drawn rates of the wheels, the base's motion that the kinematic program finds for them, all else held."""
        speeds = self.sheet.assembly.speeds
        given = self.checker.numbers((speeds[j] for j in forward.columns), 3)
        program = derive_rolling(self.sheet.robot, tuple(given)).program
        return {
            **dict.fromkeys(speeds, np.zeros(self.checker.points)),
            **given,
            **self.run(program, given, numbers)["output"],
        }

    @cached_property
    def _rolling(self) -> Program:
        """Velocities of the rows of wheels and couplings, and rates of the coordinates, for any speeds.

        Of a mechanism that isn't set in motion: rows are shown of robots that their wheels lock, too.
        """
        symbols = Symbols()
        here = symbols.mechanism(self.sheet.here.numbers)
        wheels = [wheel for wheel in here.assembly.wheels if wheel.grips]
        rows, about = constraint_rows(here.assembly, here.at, wheels)
        nu = symbols.make("speed", len(here.assembly.speeds))
        inputs = {
            "coordinate": (here.names, here.q),
            "speed": (here.assembly.speeds, nu),
            "parameter": parameter_group(here),
        }
        labels = numbered(f"{each.owner}.{each.what}" for each in about)
        outputs = {"velocity": (labels, apply(rows, nu)), "rate": (here.names, here.coordinate_rates(nu))}
        return symbols.program("rolling", inputs, outputs)

    def rows(
        self, speeds: Mapping[str, Floats], numbers: SymbolNumbers | None = None
    ) -> dict[str, FigureValues]:
        """`velocity` of each row of wheels and couplings, `rate` of each coordinate."""
        return self.run(self._rolling, speeds, numbers)

    def values(
        self,
        known: Mapping[str, Floats],
        rates: Mapping[str, Floats] | None = None,
        symbols: Mapping[str, Floats] | None = None,
        drawn: SymbolNumbers | None = None,
    ) -> SymbolValues:
        """Values at which every quantity that a program knows has the program's number; what the derivation defines is
        compared with it instead.
        """
        own, table = self.sheet, self.sheet.table
        own.all_speeds()
        numbers = dict(self.numbers if drawn is None else drawn)
        defined = {}
        for k, entry in enumerate(table.symbols):
            speed = entry.source.removeprefix(ACCELERATION)
            if entry.kind == "rate" and rates and speed in rates:
                numbers[k] = rates[speed]
            elif entry.source in known and k not in numbers:
                (numbers if entry.definition is None else defined)[k] = known[entry.source]
        moving = {
            rate_of(entry.name): rates[entry.source]
            for entry in table.symbols
            if rates and entry.source in rates and entry.kind in ("coordinate", "speed", "input")
        }
        values = SymbolValues(table, numbers, {**moving, **(symbols or {})})
        self.checker.derived(values, defined)
        return values


def dynamic_verification(verification: Verification, model: Model) -> tuple[dict[str, Floats], FigureValues]:
    """Drawn states and inputs with all that the model's programs know of them by name, and the states' rates."""
    draw = verification.checker.numbers
    known: dict[str, Floats] = {**draw(model.speeds, 2), **draw(model.currents, 5), **draw(model.inputs, 30)}
    own = verification.sheet.coordinates
    known |= {name: verification.numbers[symbol] for name, symbol in own.items()}
    rates, seen = _rates_and_seen(verification, model, known)
    if shifts_load(verification.sheet.assembly):
        moving = [*model.speeds, *model.currents, *model.inputs]
        rest = _rates_and_seen(verification, model, known | dict.fromkeys(moving, np.zeros(1)))[1]
        for _ in range(_HALVED):
            if not _shifts_much(verification, seen, rest):
                break
            known |= {name: known[name] / 2 for name in moving}
            rates, seen = _rates_and_seen(verification, model, known)
    known |= seen
    if model.manifold is not None:
        for outputs in verification.run(model.manifold, known).values():
            known |= outputs
    return known, rates


def _rates_and_seen(
    verification: Verification, model: Model, known: Mapping[str, Floats]
) -> tuple[FigureValues, FigureValues]:
    """The rates of a state, and what the model shows of it."""
    (rates,) = verification.run(model.dynamics, known).values()
    return rates, verification.run(model.observe, known)["output"]


def _shifts_much(verification: Verification, seen: FigureValues, rest: FigureValues) -> bool:
    """Whether the load of a wheel is far from that at rest."""
    names = [wheel.pressed.name for wheel in verification.sheet.assembly.wheels if wheel.load is None]
    return any(
        np.max(np.abs(seen[name] - rest[name]) - _SHIFTED * rest[name]) > 0 for name in names if name in seen
    )
