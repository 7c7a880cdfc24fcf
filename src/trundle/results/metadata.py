"""What a file of results says about itself: the same in a NetCDF file and in the xarray Dataset."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypedDict, cast

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest
from trundle.results.columns import Column, column_named
from trundle.results.peaks import Peak
from trundle.version import __version__

if TYPE_CHECKING:
    import xarray

ResultKind = Literal["run", "batch"]
CONVENTIONS = (
    "SI units and radians. x forward, y left, z up. Positive rotation is counter-clockwise about its axis. "
    "Quaternions are (w, x, y, z). v_x, v_y, omega and the like are in the body's frame."
)
# The attributes of a variable that say how low and how high it went.
_PEAK = Peak._fields[:4]
# Those that say how it went between its samples.
_BETWEEN = ("between_times", "between_values")
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
    attributes: Mapping[str, object]


class StoredData(TypedDict, total=False):
    """What JSON keeps of a run or a batch; `varied` names a batch's parameters that are arrays."""

    description: Mapping[str, object]
    summary: Mapping[str, object]
    groups: Mapping[str, Sequence[str]]
    parameters: Mapping[str, float]
    varied: Sequence[str]


@dataclass(frozen=True)
class ResultContent:
    """What a file of results or a Dataset holds: variables by name, and what is stored besides."""

    kind: ResultKind
    name: str
    variables: dict[str, Variable]
    stored: StoredData = field(default_factory=StoredData)

    @property
    def attributes(self) -> dict[str, str]:
        """The global attributes: text for people, and one JSON object that restores the rest exactly.

        `description["yaml"]` stands on its own as the attribute `description`.
        """
        description = dict(self.stored.get("description", {}))
        text = str(description.pop("yaml", ""))
        try:
            packed = json.dumps({**self.stored, "description": description}, default=_plain)
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
        variable = self.variables.pop(name, None)
        if variable is None:
            raise InputError(f"damaged file: it has no variable {name!r}")
        if variable.dimensions != dimensions:
            over = f"{name!r} is over {variable.dimensions}, not over {dimensions}"
            raise InputError(f"this file is damaged, or not a {self.kind}: {over}")
        return variable.values

    @property
    def units(self) -> dict[str, str]:
        """The units of what has one; time is in s."""
        units = {name: str(values.attributes.get("units", "")) for name, values in self.variables.items()}
        return {name: unit for name, unit in units.items() if unit and (name, unit) != ("time", "s")}

    @property
    def columns(self) -> dict[str, Column]:
        """What the variables are that say so."""
        attributes = {name: values.attributes for name, values in self.variables.items()}
        said = {name: told for name, told in attributes.items() if "kind" in told}
        return {
            name: Column(*(str(about.get(key, "")) for key in Column._fields)) for name, about in said.items()
        }

    @property
    def peaks(self) -> dict[str, Peak]:
        """The peaks of the variables that say so; InputError where they are no numbers."""
        peaks: dict[str, Peak] = {}
        for name, values in self.variables.items():
            told = [values.attributes.get(key) for key in _PEAK]
            numbers = [float(number) for number in told if isinstance(number, float)]
            if len(numbers) == len(_PEAK):
                peaks[name] = Peak(*numbers[:4], sampled=False)
            elif any(number is not None for number in told):
                raise InputError(f"damaged file: the peaks of {name!r} are no numbers")
        return peaks

    @property
    def between(self) -> dict[str, FloatArray]:
        """Points (2, k) between the samples of the variables that have some; InputError where they are none."""
        points: dict[str, FloatArray] = {}
        for name, values in self.variables.items():
            told = [np.array(values.attributes[key], ndmin=1) for key in _BETWEEN if key in values.attributes]
            sound = all(row.dtype == np.float64 and row.shape == told[0].shape for row in told)
            if told and not (sound and len(told) == 2 and np.all(np.diff(told[0]) >= 0)):
                raise InputError(f"damaged file: the points between the samples of {name!r} are none")
            if told:
                points[name] = np.array(told)
        return points


def variable(
    name: str,
    dimensions: tuple[str, ...],
    values: FloatArray,
    unit: str,
    *,
    role: str = "",
    column: Column | None = None,
    peak: Peak | None = None,
    between: FloatArray | None = None,
) -> Variable:
    """A variable with its unit, its name for people, its role, whose it is, its peaks and points between samples."""
    about: dict[str, object] = {"units": unit, "long_name": long_name(name, column or column_named(name))}
    about |= {"role": role} if role else {}
    about |= {} if peak is None or peak.sampled else dict(zip(_PEAK, peak, strict=False))
    about |= {} if between is None or not between.size else dict(zip(_BETWEEN, between, strict=True))
    return Variable(dimensions, values, about | (column._asdict() if column else {}))


def require(names: Iterable[str], known: Collection[str], what: str) -> None:
    """InputError for the first name that isn't known, with the nearest that is."""
    for name in names:
        if not isinstance(name, str) or name not in known:
            raise InputError(f"{what} {name!r}, which is not there", hint=suggest(name, known))


def restored(kind: ResultKind, attrs: Mapping[str, object], variables: dict[str, Variable]) -> ResultContent:
    """The content whose `attributes` these are; InputError for others."""
    version = attrs.get("trundle_format")
    if version is None:
        raise InputError("this NetCDF file was not written by Trundle: it has no attribute 'trundle_format'")
    if str(version) != f"{kind} 1":
        raise InputError(f"this file holds a {version!r}, and a '{kind} 1' was expected")
    stored = _stored_data(attrs.get("trundle_data"))
    description = dict(stored.get("description", {}))
    if text := str(attrs.get("description", "")):
        description["yaml"] = text
    return ResultContent(kind, str(attrs.get("title", "")), variables, {**stored, "description": description})


def _stored_data(packed: object) -> StoredData:
    """What the attribute `trundle_data` holds, all entries of their types."""
    try:
        stored = json.loads(packed if isinstance(packed, str) else "")
    except (ValueError, RecursionError) as error:
        raise InputError(f"damaged file: its attribute 'trundle_data' cannot be read ({error})") from error
    if not isinstance(stored, dict) or set(stored) - set(StoredData.__annotations__):
        raise InputError("damaged file: its attribute 'trundle_data' is no object, or holds unknown keys")
    groups, varied = stored.get("groups", {}), stored.get("varied", [])
    lists = [varied, *groups.values()] if isinstance(groups, dict) else [None]
    texts = all(isinstance(names, list) and all(isinstance(name, str) for name in names) for names in lists)
    objects = [stored.get(key, {}) for key in ("description", "summary", "parameters")]
    numbers = isinstance(objects[2], dict) and all(
        type(value) in (int, float) for value in objects[2].values()
    )
    if not (texts and numbers and all(isinstance(entry, dict) for entry in objects)):
        raise InputError("damaged file: an entry of its attribute 'trundle_data' has the wrong type")
    return cast(StoredData, stored)


def long_name(name: str, column: Column) -> str:
    """A name for people: 'right.steering_rate' -> 'steering rate of right'."""
    words = column.what.replace("_", " ").replace(".", " ")
    return _WORDS.get(name) or (f"{words} of {column.owner}" if column.owner else words)


def _plain(value: object) -> object:
    """Tuples, NumPy's numbers and arrays, and read-only mappings as plain data."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not plain data")
