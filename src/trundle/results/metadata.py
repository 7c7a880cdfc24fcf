"""What a file of results says about itself: the same in a NetCDF file and in the xarray Dataset."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict

import numpy as np

from trundle.errors import InputError
from trundle.results.arrays import FloatArray
from trundle.version import __version__

if TYPE_CHECKING:
    import xarray

Kind = Literal["run", "batch"]
CONVENTIONS = (
    "SI units and radians. x forward, y left, z up. Positive rotation is counter-clockwise about its axis. "
    "Quaternions are (w, x, y, z). v_x, v_y, omega and the like are in the body's frame."
)
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


class Variable(NamedTuple):
    """An array with the names of its dimensions, and what it says of itself."""

    dimensions: tuple[str, ...]
    values: FloatArray
    attributes: Mapping[str, str]


class Kept(TypedDict, total=False):
    """What JSON keeps of a run or a batch; `varied` names a batch's parameters that are arrays."""

    description: Mapping[str, object]
    summary: Mapping[str, object]
    groups: Mapping[str, Sequence[str]]
    parameters: Mapping[str, float]
    varied: Sequence[str]


@dataclass(frozen=True)
class Content:
    """What a file of results or a Dataset holds: variables by name, and what is kept besides."""

    kind: Kind
    name: str
    variables: dict[str, Variable]
    kept: Kept = field(default_factory=Kept)

    @property
    def attributes(self) -> dict[str, str]:
        """The global attributes: text for people, and one JSON object that restores the rest exactly.

        `description["yaml"]` stands on its own as the attribute `description`.
        """
        description = dict(self.kept.get("description", {}))
        text = str(description.pop("yaml", ""))
        try:
            packed = json.dumps({**self.kept, "description": description}, default=_plain)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"a {self.kind}'s description and summary hold plain data only: {error}"
            ) from error
        return {
            "title": self.name,
            "description": text,
            "conventions": CONVENTIONS,
            "trundle_version": __version__,
            "trundle_format": f"{self.kind} 1",
            "trundle_data": packed,
        }

    def dataset(self) -> xarray.Dataset:
        """The content with `time` as its coordinate; the arrays are the run's own, read-only."""
        import xarray

        variables = dict(self.variables)
        return xarray.Dataset(variables, coords={"time": variables.pop("time")}, attrs=self.attributes)

    def take(self, name: str, *dimensions: str) -> FloatArray:
        """An array, which the content holds no longer; InputError where it isn't over these dimensions."""
        found = self.variables.pop(name, None)
        if found is None:
            raise InputError(f"damaged file: it has no variable {name!r}")
        if found.dimensions != dimensions:
            over = f"{name!r} is over {found.dimensions}, not over {dimensions}"
            raise InputError(f"this file is damaged, or not a {self.kind}: {over}")
        return found.values

    @property
    def units(self) -> dict[str, str]:
        """The units of what has one; time is in s."""
        units = {name: each.attributes.get("units", "") for name, each in self.variables.items()}
        return {name: unit for name, unit in units.items() if unit and (name, unit) != ("time", "s")}


def variable(
    name: str, dimensions: tuple[str, ...], values: FloatArray, unit: str, role: str = ""
) -> Variable:
    """A variable with its unit, its name for people and its role."""
    about = {"units": unit, "long_name": long_name(name)}
    return Variable(dimensions, values, about | ({"role": role} if role else {}))


def restored(kind: Kind, attrs: Mapping[str, str], variables: dict[str, Variable]) -> Content:
    """The content whose `attributes` these are; InputError for others."""
    found = attrs.get("trundle_format")
    if found is None:
        raise InputError("this NetCDF file was not written by Trundle: it has no attribute 'trundle_format'")
    if found != f"{kind} 1":
        raise InputError(f"this file holds a {found!r}, and a '{kind} 1' was expected")
    try:
        kept: Kept = json.loads(attrs["trundle_data"])
        description = dict(kept.get("description", {}))
    except (KeyError, ValueError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"damaged file: its attribute 'trundle_data' cannot be read ({error})") from error
    if attrs.get("description"):
        description["yaml"] = str(attrs["description"])
    return Content(kind, str(attrs.get("title", "")), variables, {**kept, "description": description})


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
