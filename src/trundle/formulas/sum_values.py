"""Numbers of sums and of SymPy's expressions, for many points at once: what checks and ranks are decided on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from trundle.formulas.algebra import Book, Sum

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "atan2": np.arctan2,
    "absolute": np.abs,
    "minimum": np.minimum,
    "maximum": np.maximum,
    "pow": np.power,
}


def evaluate(book: Book, value: Any, numbers: Mapping[int, Any], found: dict[int, Any] | None = None) -> Any:
    """A scalar at numbers of its letters (floats, or arrays of points); definitions follow, and are kept in `found`."""
    found = {} if found is None else found
    if not isinstance(value, Sum):
        return float(value)
    total: Any = 0.0
    for (powers, function, angle), factor in value.terms.items():
        part: Any = float(factor)
        for letter, power in powers:
            part = part * _letter(book, letter, numbers, found) ** float(power)
        if function:
            turn = sum(float(multiple) * _letter(book, letter, numbers, found) for letter, multiple in angle)
            part = part * (np.cos(turn) if function == "cos" else np.sin(turn))
        total = total + part
    return total


def _letter(book: Book, letter: int, numbers: Mapping[int, Any], found: dict[int, Any]) -> Any:
    if letter in numbers:
        return numbers[letter]
    if letter not in found:
        found[letter] = _defined(book, letter, numbers, found)
    return found[letter]


def _defined(book: Book, letter: int, numbers: Mapping[int, Any], found: dict[int, Any]) -> Any:
    entry = book.letters[letter]
    if entry.definition is None:
        return entry.number
    arguments = [evaluate(book, argument, numbers, found) for argument in entry.definition.arguments]
    function = entry.definition.function
    return _FUNCTIONS[function](*arguments) if function else arguments[0]
