"""No equation is shown before it has met the compiled programs at random points.

Every symbol gets the number that a program gives it (states and parameters are drawn; dependent speeds, torques,
contact forces, accelerations come out of the program), and left and right side of each equation must agree to
`TOLERANCE` of its largest terms. Each intermediate quantity is compared with what the derivation meant by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trundle.errors import NumericsError
from trundle.formulas.algebra import Book
from trundle.formulas.equations import Equation
from trundle.formulas.numeric import Point
from trundle.formulas.sum_values import evaluate
from trundle.formulas.writing import Writer

TOLERANCE = 1e-10
# What is written as 0 has no terms to measure by, and programs give it rounding of numbers about 1.
OF_ZERO = 1e-3
# Enough that two expressions that differ anywhere differ at one of them; tests take a hundred.
POINTS = 5
SEED = 20260


@dataclass
class Scene:
    """Numbers of letters and of symbols without a letter, at all points."""

    book: Book
    letters: Mapping[int, Any]
    symbols: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._by_name = {entry.name: k for k, entry in enumerate(self.book.letters) if entry.name}
        self._found: dict[int, Any] = {}
        self.point = Point(self.number)

    def number(self, symbol: Any) -> Any:
        """The number of a symbol."""
        if symbol.name in self.symbols:
            return self.symbols[symbol.name]
        if symbol.name not in self._by_name:
            raise NumericsError(f"the equations show the symbol {symbol}, which nothing has a number for")
        return self.value(self.book.letter(self._by_name[symbol.name]))

    def value(self, value: Any) -> Any:
        """The number of a sum."""
        return evaluate(self.book, value, self.letters, self._found)


class Checker:
    """Compares equations with scenes, and keeps the largest error."""

    def __init__(self, writer: Writer, name: str, points: int = POINTS) -> None:
        self.writer, self.name, self.points = writer, name, points
        self.error = 0.0
        self.rng = np.random.default_rng(SEED)

    def parameters(self, mechanism: Any) -> dict[int, Any]:
        """Numbers of the parameters' letters: up to a tenth off the description's, and what is 0 there up to 0.2."""
        numbers = {
            letter: mechanism.book.letters[letter].number or 0.0 for letter in mechanism.parameters.keys
        }
        return {
            letter: number * self.rng.uniform(0.9, 1.1, self.points)
            if number
            else self.rng.uniform(-0.2, 0.2, self.points)
            for letter, number in numbers.items()
        }

    def equations(self, equations: Iterable[Equation], scene: Scene, floor: float = 1e-12) -> None:
        """Every equation that isn't a part of another one; terms smaller than `floor` count as that large."""
        for equation in equations:
            if not equation.given:
                for left, right in equation.lines():
                    size = scene.point.size(left) + scene.point.size(right)
                    if right == 0:
                        size = size + OF_ZERO
                    self.compare(
                        equation.name, scene.point(left), scene.point(right), np.maximum(size, floor)
                    )

    def compare(self, what: str, left: Any, right: Any, size: Any) -> None:
        """|left − right| ≤ TOLERANCE · size, at all points; raises NumericsError."""
        error = float(np.max(np.abs(np.asarray(left) - right) / np.maximum(np.abs(size), 1e-12)))
        if not error <= TOLERANCE:
            raise NumericsError(
                f"the equation '{what}' of '{self.name}' differs from its compiled program by {error:.1e} "
                "of its largest term: it is not shown. Please report this robot."
            )
        self.error = max(self.error, error)

    def definitions(self, scene: Scene) -> None:
        """Each shown intermediate quantity against the sum that it stands for."""
        for letter, expression in self.writer.shown.items():
            name = self.writer.book.letters[letter].name
            meant = scene.value(self.writer.book.letter(letter))
            self.compare(name, scene.point(expression), meant, scene.point.size(expression))

    def letters(self, scene: Scene, known: Mapping[int, Any]) -> None:
        """Letters that the derivation defines, against a program's numbers."""
        for letter, number in known.items():
            meant = scene.value(self.writer.book.letter(letter))
            self.compare(self.writer.book.letters[letter].name, meant, number, np.abs(meant) + np.abs(number))


def product(matrix: Any, vector: Sequence[Any], point: Point) -> tuple[np.ndarray, np.ndarray]:
    """matrix · vector at all points, and Σ |entries · vector|."""
    values = point.matrix(matrix)
    numbers = np.array(
        np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in vector), np.zeros(values.shape[2]))[:-1]
    )
    return (values * numbers).sum(axis=1), np.abs(values * numbers).sum(axis=1)


def columns(names: Sequence[str], values: Mapping[str, Any], points: int) -> np.ndarray:
    """Named numbers as an array (names, points)."""
    return np.array(
        [np.broadcast_to(np.asarray(values[name], dtype=float), (points,)) for name in names]
    ).reshape(len(names), points)
