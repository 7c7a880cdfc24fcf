"""Mappings and arrays that stay as they are: who writes to a mapping is told what to do instead."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import NoReturn, TypeVar

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError

_T = TypeVar("_T")
# What is printed of a field: so many entries, so many signs.
_FEW, _LONG = 4, 60


class ReadOnlyError(InputError, TypeError):
    """Something that stays as it is was written to; a TypeError, too, as Python's own."""


class Frozen(dict[str, _T]):
    """Values by name, read-only; `instead` says what to do for other values. Copies and pickles stay read-only."""

    def __init__(self, values: Mapping[str, _T], instead: str = "") -> None:
        super().__init__(values)
        self._instead = instead

    def _refuse(self, *given: object, **_named: object) -> NoReturn:
        what = f"{given[0]!r} can't be set or removed here" if given else "this can't be changed"
        raise ReadOnlyError(f"{what}: it is read-only", hint=self._instead or None)

    __setitem__ = __delitem__ = __ior__ = _refuse  # pyright: ignore[reportAssignmentType]
    update = setdefault = pop = popitem = clear = _refuse  # pyright: ignore[reportAssignmentType]

    def __reduce__(self) -> tuple[type, tuple[dict[str, _T], str]]:
        return type(self), (dict(self), self._instead)


class Deferred(Mapping[str, _T]):
    """Values of these names, all of which are looked for when somebody first asks for one."""

    def __init__(self, names: Sequence[str], find: Callable[[], Mapping[str, _T]]) -> None:
        self._names, self._find = names, find
        self._found: Mapping[str, _T] | None = None

    def _values(self) -> Mapping[str, _T]:
        if self._found is None:
            self._found = dict(self._find())
        return self._found

    def __getitem__(self, name: str) -> _T:
        return self._values()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Rebuilt:
    """A frozen dataclass that copies and pickles by being made anew from its fields: checked and read-only again."""

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), tuple(getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]


class Brief:
    """A dataclass of arrays that prints in a line: arrays by their shapes, mappings by their names. It has to be made
    with repr=False.
    """

    def __repr__(self) -> str:
        shown = (f"{field.name}={_brief(getattr(self, field.name))}" for field in fields(self) if field.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(shown)})"


def _brief(value: object) -> str:
    """What a field holds, in a few words."""
    if isinstance(value, np.ndarray) and value.size > _FEW:
        return f"<array {value.shape}>"
    if isinstance(value, (Mapping, tuple, list)):
        names = [repr(each) if isinstance(each, str) else _brief(each) for each in list(value)[:_FEW]]
        more = f", … {len(value)} in all" if len(value) > _FEW else ""
        begin, end = "{}" if isinstance(value, Mapping) else "()"
        return f"{begin}{', '.join(names)}{more}{end}"
    text = repr(value)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"


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
