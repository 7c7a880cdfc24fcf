"""Numbers inside messages by paths such as ".position[left_wheel]", ".pose.x" and "[2].distance"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

import numpy as np

# A step: ".position", or "[3]" and "[left_wheel]".
_STEP = re.compile(r"\.([^.\[\]]+)|\[([^\]]+)\]")
_PATH = re.compile(rf"(?:{_STEP.pattern})*")
# So many elements of an array without names are listed.
_MOST_ELEMENTS = 8
_NUMBERS = (int, float, np.number, np.bool_)


def steps_of(path: str) -> list[tuple[str, str]] | None:
    """The steps of a path, a name or a key in brackets, "" for the other; None where it is no path."""
    return _STEP.findall(path) if _PATH.fullmatch(path) else None


def number_at(message: object, steps: Sequence[tuple[str, str]]) -> float:
    """The number at a path inside a message; NaN where it has none there.

    A key is an index or, beside a sequence `name` as in sensor_msgs/JointState, one of its names. What has a single
    field stands for it: a Rotation2d, a std_msgs/Float64.
    """
    value, keys = message, list[object]()
    try:
        for name, key in steps:
            if name:
                fields = _fields(value)
                value, keys = fields[name], _keys(fields)
            else:
                value = _elements(value)[keys.index(key) if key in keys else int(key)]
    except (KeyError, IndexError, ValueError):
        return np.nan
    value = _single(value)
    return float(value) if isinstance(value, _NUMBERS) else np.nan


def number_paths(value: object, keys: Sequence[object] = ()) -> Iterator[str]:
    """The paths of all numbers in a message but its header's, of long arrays of the first."""
    if isinstance(_single(value), _NUMBERS):
        yield ""
        return
    fields, elements = _fields(value), _elements(value)
    for name, inner in fields.items():
        if name != "header":
            yield from (f".{name}{path}" for path in number_paths(inner, _keys(fields)))
    named = keys if len(keys) == len(elements) else range(min(len(elements), _MOST_ELEMENTS))
    for key, inner in zip(named, elements, strict=False):
        yield from (f"[{key}]{path}" for path in number_paths(inner))


def _fields(value: object) -> Mapping[str, object]:
    """What has names inside: of a mapping, a record, an object with slots; nothing of others."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, np.void):
        return {name: value[name] for name in value.dtype.names or ()}
    return {name: getattr(value, name) for name in getattr(value, "__slots__", ())}


def _keys(fields: Mapping[str, object]) -> list[object]:
    """What the elements of fields are called: the sequence `name` beside them."""
    return list(_elements(fields.get("name")))


def _elements(value: object) -> Sequence[object]:
    """The elements of a sequence; none of text, bytes and what is no sequence."""
    none = isinstance(value, (str, bytes, Mapping, np.void)) or not hasattr(value, "__len__")
    return () if none else cast("Sequence[object]", value)


def _single(value: object) -> object:
    """What stands inside structures of one field each."""
    while len(fields := _fields(value)) == 1:
        (value,) = fields.values()
    return value
