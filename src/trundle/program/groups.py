"""Groups of numbers that a program takes: by name, and as arrays that fit it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError, suggest
from trundle.program.ir import Program
from trundle.program.rows import has_rows, is_ready

T = TypeVar("T")


def by_name(program: Program, groups: Sequence[T], named: Mapping[str, T]) -> dict[str, T]:
    """Values of a program's groups by name, from those in order and those by name; InputError for unknown groups."""
    names = [group.name for group in program.inputs]
    if len(groups) > len(names):
        raise InputError(
            f"'{program.name}' takes {len(names)} groups ({', '.join(names)}), got {len(groups)}"
        )
    given = dict(zip(names, groups, strict=False))
    for name, value in named.items():
        if name not in names or name in given:
            what = "is given twice" if name in given else f"is no group of '{program.name}'"
            raise InputError(f"'{name}' {what}", key=name, hint=suggest(name, names))
        given[name] = value
    return given


def fitting(program: Program, sizes: list[int], groups: tuple[ArrayLike, ...]) -> list[FloatArray]:
    """The groups as arrays of doubles, with rows that native code reads; InputError says what does not fit.

    `sizes` are those of the program's inputs, counted once for many calls.
    """
    expected = program.inputs
    ready = [a for a in groups if is_ready(a)]
    fit = len(ready) == len(groups) == len(expected) and [a.shape[0] for a in ready] == sizes
    if fit and len({a.shape[1] for a in ready if a.ndim == 2}) <= 1:
        return ready
    if len(groups) != len(expected):
        raise InputError(
            f"'{program.name}' expects {len(expected)} groups "
            f"({', '.join(g.name for g in expected)}), got {len(groups)}"
        )
    arrays = [as_numbers(value, f"group '{g.name}'") for g, value in zip(expected, groups, strict=True)]
    for group, array in zip(expected, arrays, strict=True):
        if array.ndim not in (1, 2) or array.shape[0] != group.size:
            raise InputError(
                f"group '{group.name}' of '{program.name}' expects shape ({group.size},) or "
                f"({group.size}, count), got {array.shape}"
            )
    counts = {g.name: a.shape[1] for g, a in zip(expected, arrays, strict=True) if a.ndim == 2}
    if len(set(counts.values())) > 1:
        listed = ", ".join(f"{name}: {n}" for name, n in counts.items())
        raise InputError(f"the batches for '{program.name}' differ in their number of lanes ({listed})")
    return [a if has_rows(a) else np.ascontiguousarray(a) for a in arrays]


def of_one_state(program: Program, sizes: list[int], groups: tuple[ArrayLike, ...]) -> list[FloatArray]:
    """The groups of one state, (n,) each; InputError says what does not fit."""
    arrays = fitting(program, sizes, groups)
    for group, array in zip(program.inputs, arrays, strict=True):
        if array.ndim != 1:
            raise InputError(
                f"one state at a time: group '{group.name}' of '{program.name}' expects shape "
                f"({group.size},), got {array.shape}"
            )
    return arrays
