"""No equation is shown before both its sides agree at random points.

Every symbol gets the number that a program gives it (see `evidence`), and left and right side of each equation must
agree to `TOLERANCE` of their largest terms. Each intermediate quantity is compared with what the derivation meant by
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import reduce

import numpy as np
import sympy

from trundle.arrays import Floats
from trundle.errors import NumericsError
from trundle.formulas.algebra.writing import Writer
from trundle.formulas.checks.evaluation import LetterValues
from trundle.formulas.letters.sheet import Sheet
from trundle.formulas.sections import Equation, SymbolicMatrix

# Rounding of both sides stays far below this share of their terms; where an equation is wrong, both sides differ by
# far more at random points.
TOLERANCE = 1e-10
# What is written as 0 has no terms to measure by, and programs give it rounding of numbers about 1; a component of a
# vector that is 0 otherwise (a base that can't turn) gets rounding of its other components.
OF_ZERO = 1e-3
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

    def letters(self, sheet: Sheet) -> dict[int, np.ndarray]:
        """Random parameters and coordinates: parameters up to a tenth off the description's (what is 0 there up to
        0.2), coordinates within ±1.2, short of 90° where linkages are singular, quaternions of length 1.
        """
        names = list(sheet.coordinates)
        q = self._rng.uniform(-1.2, 1.2, (len(names), self.points))
        q = sheet.assembly.quantities.normalised(names, q)
        drawn = dict(zip(sheet.coordinates.values(), q, strict=True))
        for letter in sheet.parameters.keys:
            number = sheet.book.letters[letter].number or 0.0
            near = self._rng.uniform(0.9, 1.1, self.points)
            drawn[letter] = number * near if number else 2 * near - 2
        return drawn

    def equations(self, equations: Iterable[Equation], values: LetterValues, floor: float = 1e-12) -> None:
        """Every equation that isn't a part of another one; terms smaller than `floor` count as that large."""
        for equation in equations:
            if equation.given:
                continue
            sizes = [values.size(left) + values.size(right) for left, right in equation.lines]
            largest = reduce(np.maximum, sizes, floor)
            for (left, right), size in zip(equation.lines, sizes, strict=True):
                about = OF_ZERO if right is sympy.S.Zero else 0.0
                least = np.maximum(OF_ZERO * largest, floor)
                self.compare(equation.name, values(left), values(right), np.maximum(size + about, least))

    def compare(self, what: str, left: Floats, right: Floats, size: Floats) -> None:
        """|left − right| ≤ TOLERANCE · size, at all points; raises NumericsError."""
        error = float(np.max(np.abs(np.asarray(left) - right) / np.maximum(np.abs(size), 1e-12)))
        if not error <= TOLERANCE:
            raise NumericsError(
                f"the equation '{what}' of '{self.name}' differs from its compiled program by {error:.1e} "
                "of its largest term: it is not shown. Please report this robot."
            )
        self.error = max(self.error, error)

    def definitions(self, values: LetterValues) -> None:
        """Each shown intermediate quantity against the sum that it stands for."""
        for letter, expression in self.writer.shown.items():
            name = self.writer.book.letters[letter].name
            size = values.size(expression) + values.letter_size(letter)
            self.compare(name, values(expression), values.letter(letter), size)

    def derived(self, values: LetterValues, known: Mapping[int, Floats]) -> None:
        """Letters that the derivation defines, against a program's numbers."""
        for letter, number in known.items():
            meant = values.letter(letter)
            size = values.letter_size(letter) + np.abs(number)
            self.compare(self.writer.book.letters[letter].name, meant, number, size)


def product(
    matrix: SymbolicMatrix, vector: Iterable[Floats], values: LetterValues
) -> tuple[np.ndarray, np.ndarray]:
    """matrix · vector at all points, and Σ |entries · vector|."""
    entries = values.matrix(matrix)
    numbers = np.array(np.broadcast_arrays(*vector))
    parts = entries * numbers.reshape(len(numbers), -1)
    return parts.sum(axis=1), np.abs(parts).sum(axis=1)
