"""Where the numbers of a comparison come from: the robot's programs, at drawn parameters, coordinates and speeds."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from trundle.arrays import Floats
from trundle.formulas.chapters.kinematics_section import Forward
from trundle.formulas.checks.comparison import Checker
from trundle.formulas.checks.evaluation import LetterValues
from trundle.formulas.letters.names import numbered, rate_of
from trundle.formulas.letters.sheet import Sheet
from trundle.mechanics.linear import apply
from trundle.model import Model
from trundle.model.constraints import constraint_rows
from trundle.model.moving import MovingMechanism
from trundle.model.programs import program_of, symbolic_mechanism
from trundle.model.rolling_motion import derive_rolling
from trundle.model.symbols import Symbols, parameter_group
from trundle.program import Program

FigureValues = dict[str, np.ndarray]
LetterNumbers = Mapping[int, Floats]


class Evidence:
    """A robot's programs at drawn parameters and coordinates (`letters`), the same ones for all that is kinematic."""

    def __init__(self, sheet: Sheet, checker: Checker) -> None:
        self.sheet, self.checker = sheet, checker
        self.letters = checker.letters(sheet)

    @cached_property
    def programs(self) -> MovingMechanism:
        """The robot's mechanics as programs are traced from."""
        return symbolic_mechanism(self.sheet.robot)

    def run(
        self, program: Program, known: Mapping[str, Floats], letters: LetterNumbers | None = None
    ) -> dict[str, FigureValues]:
        """A program's outputs by group and name; what it asks for is looked up among the letters and in `known`."""
        own, letters = self.sheet, self.letters if letters is None else letters
        parameters = own.parameters.numbers(letters)
        asked = {name: letters[k] for name, k in own.coordinates.items()} | dict(known)
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

    def rolled(self, forward: Forward) -> FigureValues:
        """Drawn rates of the wheels, the base's motion that the kinematic program finds for them, all else held."""
        speeds = self.sheet.assembly.speeds
        given = self.checker.numbers((speeds[j] for j in forward.columns), 3)
        program = derive_rolling(self.sheet.robot, tuple(given)).program
        return {
            **dict.fromkeys(speeds, np.zeros(self.checker.points)),
            **given,
            **self.run(program, given)["output"],
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
        self, speeds: Mapping[str, Floats], letters: LetterNumbers | None = None
    ) -> dict[str, FigureValues]:
        """`velocity` of each row of wheels and couplings, `rate` of each coordinate."""
        return self.run(self._rolling, speeds, letters)

    def values(
        self,
        known: Mapping[str, Floats],
        rates: Mapping[str, Floats] | None = None,
        symbols: Mapping[str, Floats] | None = None,
        letters: LetterNumbers | None = None,
    ) -> LetterValues:
        """Values at which every quantity that a program knows has the program's number; what the derivation defines is
        compared with it instead.
        """
        own, book = self.sheet, self.sheet.book
        own.all_speeds()
        numbers = dict(self.letters if letters is None else letters)
        defined = {}
        for k, entry in enumerate(book.letters):
            if entry.source in known and k not in numbers:
                (numbers if entry.definition is None else defined)[k] = known[entry.source]
        moving = {
            rate_of(entry.name): rates[entry.source]
            for entry in book.letters
            if rates and entry.source in rates and entry.kind in ("coordinate", "speed", "input")
        }
        values = LetterValues(book, numbers, {**moving, **(symbols or {})})
        self.checker.derived(values, defined)
        return values


def dynamic_evidence(evidence: Evidence, model: Model) -> tuple[dict[str, Floats], FigureValues]:
    """Drawn states and inputs with all that the model's programs know of them by name, and the states' rates."""
    draw = evidence.checker.numbers
    known: dict[str, Floats] = {**draw(model.speeds, 2), **draw(model.currents, 5), **draw(model.inputs, 30)}
    own = evidence.sheet.coordinates
    known |= {name: evidence.letters[letter] for name, letter in own.items()}
    (rates,) = evidence.run(model.dynamics, known).values()
    programs = [model.observe, *([] if model.manifold is None else [model.manifold])]
    for program in programs:
        for outputs in evidence.run(program, known).values():
            known |= outputs
    return known, rates
