"""Arrays of numbers that stay as they are, by name."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray as FloatArray
from trundle.arrays import as_numbers
from trundle.errors import InputError, suggest
from trundle.frozen import Frozen

_T = TypeVar("_T")


class Named(Frozen[_T]):
    """Values by name, asked for by another name with an InputError that says the nearest."""

    def __missing__(self, name: str) -> _T:
        raise InputError(f"the run has no value {name!r} here", hint=suggest(str(name), self))


def require(names: Iterable[str], known: Collection[str], what: str) -> None:
    """InputError for the first name that isn't known, with the nearest that is."""
    for name in names:
        if name not in known:
            raise InputError(f"{what} {name!r}, which is not there", hint=suggest(name, known))


def frozen(array: npt.ArrayLike) -> FloatArray:
    """`array` as read-only float64, without a copy where it is float64 already."""
    if isinstance(array, np.ndarray) and array.dtype == np.float64 and not array.flags.writeable:
        return array
    view = as_numbers(array, "an array").view()
    view.flags.writeable = False
    return view


def settle(noun: object, **fields: object) -> None:
    """The fields of a frozen dataclass as they are kept, from what they were given as."""
    for name, value in fields.items():
        object.__setattr__(noun, name, value)
