"""Loads of slipping wheels: written out where wheels stand regularly, else by the plane that the loads lie in."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from trundle.formulas.algebra.sums import Sum, TooLong
from trundle.formulas.letters.sheet import Sheet
from trundle.mechanics.linear import adjugate, determinant, dot
from trundle.model.forces import (
    base_frames,
    contact_place,
    contact_span,
    shared_weight,
    sharing_wheels,
    wheel_loads,
)
from trundle.scalars import AnyRows, Scalar, maximum

# Shares with more terms are written by their plane.
_MOST_TERMS = 30
_SHAPES = ("", "x", "y")


def readable_loads(sheet: Sheet) -> dict[str, Scalar]:
    """The load of each wheel (N), as `model.forces.wheel_loads` has it."""
    span = contact_span(sheet.here.numbers.assembly)
    book = sheet.book
    with suppress(TooLong):
        loads = wheel_loads(sheet.assembly, sheet.at, span)
        sizes = [len(a.terms) for value in loads.values() for a in _arguments(book.sum(value))]
        if max(sizes, default=0) <= _MOST_TERMS:
            return loads
    return _by_plane(sheet, span)


def _arguments(value: Sum) -> Sequence[Sum]:
    """What a load is the positive part of."""
    definition = None if value.letter is None else value.book.letters[value.letter].definition
    return (value,) if definition is None else definition.arguments


def _by_plane(sheet: Sheet, span: Sequence[int]) -> dict[str, Scalar]:
    """N_i = max(a + b x_i + c y_i, 0) with Σ N = W, Σ N x = W_x and Σ N y = W_y, its sums as letters."""
    book, assembly = sheet.book, sheet.assembly
    frames = base_frames(assembly, sheet.at.poses)
    loads, resultant = shared_weight(assembly, frames)
    wheels = sharing_wheels(assembly)
    kinds = [0, *(1 + k for k in span)]
    shapes = [[(1, *contact_place(wheel, frames))[k] for k in kinds] for wheel in wheels]
    named = sheet.named
    words = ("weight that these wheels share", "its moment arm along x, times it", "the same along y")
    target = [named(resultant[k], words[k], "N m" if k else "N", f"W{_mark(_SHAPES[k])}") for k in kinds]
    gram = [[_gram(sheet, shapes, kinds, i, j) for j in range(len(kinds))] for i in range(len(kinds))]
    size = named(determinant(gram), "determinant of the sums Q", "", "Q")
    of = "of the plane of the loads, N = a + b x + c y"
    plane = [
        named(dot(row, target) / size, of, "", f"{'abc'[k]}_N")
        for k, row in zip(kinds, adjugate(gram), strict=True)
    ]
    for wheel, shape in zip(wheels, shapes, strict=True):
        loads[wheel.name] = maximum(book.sum(dot(plane, shape)), 0)
    return loads


def _mark(text: str) -> str:
    return f"_{text}" if text else ""


def _gram(sheet: Sheet, shapes: AnyRows, kinds: Sequence[int], i: int, j: int) -> Scalar:
    """Σ over the wheels of a product of their places, as a letter."""
    total = sum((shape[i] * shape[j] for shape in shapes), sheet.book.number(0))
    what = _SHAPES[kinds[i]] + _SHAPES[kinds[j]]
    words = f"Σ {what or '1'} over the wheels that share the weight"
    return sheet.named(total, words, "", f"Q{_mark(what)}")
