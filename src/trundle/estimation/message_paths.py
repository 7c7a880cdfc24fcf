"""Numbers inside messages by paths such as ".position[left_wheel]", ".pose.x" and "[2].distance"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from math import atan2
from typing import cast

import numpy as np

# A step: ".position", or "[3]" and "[left_wheel]".
_STEP = re.compile(r"\.([^.\[\]]+)|\[([^\]]+)\]")
_PATH = re.compile(rf"(?:{_STEP.pattern})*")
# So many elements of an array without names are listed.
_MOST_ELEMENTS = 8
_QUATERNION = {*"xyzw"}
_NUMBERS = (int, float, np.number, np.bool_)


def steps_of(path: str) -> list[tuple[str, str]] | None:
    """The steps of a path, a name or a key in brackets, "" for the other; None where it is no path."""
    return _STEP.findall(path) if _PATH.fullmatch(path) else None


def number_at(message: object, steps: Sequence[tuple[str, str]]) -> float:
    """The number at a path inside a message; NaN where it has none there.

    A key is an index or, beside a sequence `name` as in sensor_msgs/JointState, one of its names. What has a single
    field stands for it: a Rotation2d, a std_msgs/Float64. A quaternion has a `yaw` (rad), by which its x axis is turned
    about z: atan2(2 (w z + x y), 1 − 2 (y² + z²)).
    """
    value = outer = message
    try:
        for name, key in steps:
            if name == "yaw" and set(_names(value)) == _QUATERNION:
                value, outer = _yaw(value), value
            elif name:
                value, outer = _field(value, name), value
            else:
                keys = _keys(outer)
                value = _elements(value)[keys.index(key) if key in keys else int(key)]
        value = _single(value)
        return float(value) if isinstance(value, _NUMBERS) else np.nan
    except (KeyError, IndexError, ValueError, OverflowError):
        return np.nan


def number_paths(value: object, keys: Sequence[object] = ()) -> Iterator[str]:
    """The paths of all numbers in a message but its header's, of long arrays of the first."""
    if isinstance(_single(value), _NUMBERS):
        yield ""
        return
    if set(_names(value)) == _QUATERNION:
        yield ".yaw"
    for name in _names(value):
        if name != "header":
            yield from (f".{name}{path}" for path in number_paths(_field(value, name), _keys(value)))
    elements = _elements(value)
    named = keys if len(keys) == len(elements) else range(min(len(elements), _MOST_ELEMENTS))
    for key, inner in zip(named, elements, strict=False):
        yield from (f"[{key}]{path}" for path in number_paths(inner))


def _yaw(quaternion: object) -> float:
    x, y, z, w = (float(cast("float", _field(quaternion, part))) for part in "xyzw")
    return atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))


def _field(value: object, name: str) -> object:
    """What a mapping, a record or an object with slots has by a name; KeyError or ValueError where it has none."""
    if isinstance(value, (dict, np.void)):
        return value[name]
    if name in getattr(value, "__slots__", ()):
        return getattr(value, name)
    raise KeyError(name)


def _names(value: object) -> Sequence[str]:
    """What it has by names."""
    if isinstance(value, dict):
        return tuple(value)
    return (value.dtype.names or ()) if isinstance(value, np.void) else getattr(value, "__slots__", ())


def _keys(value: object) -> list[object]:
    """What elements of its fields are called: its sequence `name`."""
    return list(_elements(_field(value, "name"))) if "name" in _names(value) else []


def _elements(value: object) -> Sequence[object]:
    """The elements of a sequence; none of text, bytes and what is no sequence."""
    none = isinstance(value, (str, bytes, dict, np.void)) or not hasattr(value, "__len__")
    return () if none else cast("Sequence[object]", value)


def _single(value: object) -> object:
    """What stands inside structures of one field each."""
    while not isinstance(value, _NUMBERS) and len(names := _names(value)) == 1:
        value = _field(value, names[0])
    return value
