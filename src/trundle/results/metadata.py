"""What a file of results says about itself: the same attributes in a NetCDF file and in the xarray Dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple, NotRequired, TypedDict

import numpy as np

from trundle.errors import InputError
from trundle.results.arrays import FloatArray
from trundle.version import __version__

CONVENTIONS = (
    "SI units and radians. x forward, y left, z up. Positive rotation is counter-clockwise about its axis. "
    "Quaternions are (w, x, y, z). v_x, v_y, omega and the like are in the body's frame."
)


class Variable(NamedTuple):
    """An array with the names of its dimensions, and what it says of itself."""

    dimensions: tuple[str, ...]
    values: FloatArray
    attributes: Mapping[str, str]


@dataclass(frozen=True)
class Content:
    """What a file of results or a Dataset holds: variables by name, and attributes of the whole."""

    variables: Mapping[str, Variable]
    attributes: Mapping[str, str]


class Kept(TypedDict):
    """What the JSON object among the attributes holds; `varied` names a batch's parameters that are arrays."""

    description: dict[str, object]
    summary: NotRequired[dict[str, object]]
    groups: NotRequired[dict[str, list[str]]]
    parameters: NotRequired[dict[str, float]]
    varied: NotRequired[list[str]]


class RunFields(TypedDict):
    """The arguments of Run as files have them; plain files know names and numbers only."""

    name: str
    time: FloatArray
    values: Mapping[str, FloatArray]
    units: NotRequired[Mapping[str, str]]
    description: NotRequired[Mapping[str, object]]
    summary: NotRequired[Mapping[str, object]]
    groups: NotRequired[Mapping[str, list[str]]]


class BatchFields(TypedDict):
    """The arguments of Batch as files have them."""

    name: str
    time: FloatArray
    states: tuple[str, ...]
    values: FloatArray
    units: NotRequired[Mapping[str, str]]
    parameters: NotRequired[Mapping[str, float | FloatArray]]
    description: NotRequired[Mapping[str, object]]
    summary: NotRequired[Mapping[str, object]]


def attributes(kind: str, name: str, description: Mapping[str, object], **more: object) -> dict[str, str]:
    """The global attributes: text for people, and one JSON object that restores the rest exactly.

    kind: "run" or "batch". `description["yaml"]` stands on its own as the attribute `description`.
    """
    rest = {key: value for key, value in description.items() if key != "yaml"}
    try:
        packed = json.dumps({"description": rest, **more}, default=_plain)
    except (TypeError, ValueError) as error:
        raise InputError(f"the run's description and summary hold plain data only: {error}") from error
    return {
        "title": name,
        "description": str(description.get("yaml", "")),
        "conventions": CONVENTIONS,
        "trundle_version": __version__,
        "trundle_format": f"{kind} 1",
        "trundle_data": packed,
    }


def variable_attributes(name: str, unit: str, group: str = "") -> dict[str, str]:
    """The attributes of one variable."""
    attrs = {"units": unit, "long_name": long_name(name)}
    if group:
        attrs["role"] = group
    return attrs


def restore(kind: str, attrs: Mapping[str, str]) -> tuple[str, Kept]:
    """The name and the JSON object, with its description whole again; InputError for what `attributes` didn't make."""
    found = attrs.get("trundle_format")
    if found is None:
        raise InputError("this NetCDF file was not written by Trundle: it has no attribute 'trundle_format'")
    if found != f"{kind} 1":
        raise InputError(f"this file holds a {found!r}, and a '{kind} 1' was expected")
    try:
        kept: Kept = json.loads(attrs["trundle_data"])
        if not isinstance(kept["description"], dict):
            raise TypeError("the description is no mapping")
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"damaged file: its attribute 'trundle_data' cannot be read ({error})") from error
    if attrs.get("description"):
        kept["description"]["yaml"] = str(attrs["description"])
    return str(attrs.get("title", "")), kept


_WORDS = {
    "x": "position x of the base",
    "y": "position y of the base",
    "z": "position z of the base",
    "theta": "heading of the base",
    "v_x": "forward speed of the base, in its frame",
    "v_y": "leftward speed of the base, in its frame",
    "v_z": "upward speed of the base, in its frame",
    "omega": "turning rate of the base",
}


def long_name(name: str) -> str:
    """A name for people: 'right.steering_rate' -> 'steering rate of right'."""
    if name in _WORDS:
        return _WORDS[name]
    owner, dot, what = name.rpartition(".")
    return f"{what.replace('_', ' ')} of {owner}" if dot else name.replace("_", " ")


def _plain(value: object) -> object:
    """Tuples, NumPy's numbers and arrays, and read-only mappings as plain data."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")
