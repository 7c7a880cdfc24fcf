"""What differs between the robots of a sweep: the values of a grid, or draws from a distribution."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

import numpy as np
from numpy.typing import ArrayLike

from trundle.arrays import FloatArray, Json, as_numbers
from trundle.errors import InputError, suggest
from trundle.expected import came
from trundle.model.arguments import number

_CALL = re.compile(r"\s*([A-Za-z_]\w*)\s*\((.*)\)\s*", re.DOTALL)
_FORMS = "0.14:0.16:101, 0.1,0.2,0.4, uniform(0.4, 0.9) or normal(50, 2)"
# Points of one grid; more than that is a mistake in its text.
_MOST_POINTS = 10**9


@dataclass(frozen=True)
class Grid:
    """Values, every one of which goes with everything else that varies."""

    values: tuple[float, ...]

    @property
    def plain(self) -> list[Json]:
        """Its name and its numbers, as a sweep's store keeps it."""
        return ["grid", *self.values]


@dataclass(frozen=True)
class Uniform:
    """Any value from `low` to `high` with the same density."""

    low: float
    high: float

    def at(self, u: FloatArray) -> FloatArray:
        """low + u (high − low)."""
        return self.low + u * (self.high - self.low)

    @property
    def plain(self) -> list[Json]:
        """Its name and its numbers, as a sweep's store keeps it."""
        return ["uniform", self.low, self.high]


@dataclass(frozen=True)
class Normal:
    """The normal distribution with this mean and standard deviation."""

    mean: float
    deviation: float

    def at(self, u: FloatArray) -> FloatArray:
        """mean + deviation Φ⁻¹(u)."""
        from scipy.special import ndtri

        return self.mean + self.deviation * ndtri(u)

    @property
    def plain(self) -> list[Json]:
        """Its name and its numbers, as a sweep's store keeps it."""
        return ["normal", self.mean, self.deviation]


@dataclass(frozen=True)
class OfScipy:
    """A continuous distribution of `scipy.stats` with its arguments, with SciPy's meaning of them."""

    name: str
    arguments: tuple[float, ...]
    named: tuple[tuple[str, float], ...] = ()

    def at(self, u: FloatArray) -> FloatArray:
        """SciPy's `ppf`."""
        from scipy import stats

        return np.asarray(getattr(stats, self.name).ppf(u, *self.arguments, **dict(self.named)), dtype=float)

    @property
    def plain(self) -> list[Json]:
        """Its name and its numbers, as a sweep's store keeps it."""
        return ["scipy", self.name, list(self.arguments), dict(self.named)]


Variation: TypeAlias = Grid | Uniform | Normal | OfScipy
_KINDS: Mapping[str, type[Uniform] | type[Normal]] = {"uniform": Uniform, "normal": Normal}


def variation(given: object, name: str, unit: str = "") -> Variation:
    """What varies `name`: text, a sequence of values, or a distribution of SciPy's with its arguments.

    In text `0.14:0.16:101` has so many points, both ends included, `0.1, 0.2` are values, `uniform(low, high)` and
    `normal(mean, sd)` are distributions; every number may have a unit.

    Raises
    ------
    InputError
        For anything else, with `name` as key.
    """
    key = f"over.{name}"
    if isinstance(given, (Grid, Uniform, Normal, OfScipy)):
        return given
    if isinstance(given, str):
        return _of_text(given, key, unit)
    if hasattr(given, "ppf"):
        return _of_scipy(given, key)
    if callable(given) or isinstance(given, Mapping):
        raise InputError(
            f"expected values or a distribution, got {came(given)}", key=key, hint=f"such as {_FORMS}"
        )
    values = np.atleast_1d(as_numbers(cast(ArrayLike, given), key))
    return _grid(values, key)


def from_plain(given: Sequence[Any], name: str) -> Variation:
    """What `plain` says; InputError where it says nothing that is known."""
    key = f"over.{name}"
    kind, *numbers = given
    if kind == "grid":
        return _grid(np.asarray(numbers, dtype=float), key)
    if kind in _KINDS:
        return _checked(_KINDS[kind](*map(float, numbers)), key)
    if kind == "scipy":
        label, arguments, named = numbers
        return _known_to_scipy(OfScipy(str(label), tuple(map(float, arguments)), tuple(named.items())), key)
    raise InputError(f"there is no distribution {kind!r}", key=key, hint=suggest(str(kind), _KINDS))


def _of_text(text: str, key: str, unit: str) -> Variation:
    """A distribution, a range or values, as text has them."""
    call = _CALL.fullmatch(text)
    if call:
        kind, inside = call.groups()
        if kind not in _KINDS:
            hint = f"{suggest(kind, _KINDS).rstrip('.')} (in Python, scipy.stats has more)"
            raise InputError(f"there is no distribution '{kind}'", key=key, hint=hint)
        numbers = [number(part.strip(), key, unit) for part in inside.split(",")]
        if len(numbers) != 2:
            raise InputError(
                f"'{kind}' takes two numbers, got {len(numbers)}", key=key, hint=f"such as {_FORMS}"
            )
        return _checked(_KINDS[kind](*numbers), key)
    if ":" in text:
        return _points(text, key, unit)
    return _grid(np.array([number(part.strip(), key, unit) for part in text.split(",")]), key)


def _points(text: str, key: str, unit: str) -> Grid:
    """`a:b:n`."""
    parts = text.split(":")
    try:
        begin, end, count = parts
        points = int(count)
    except ValueError:
        hint = "0.14:0.16:101 is 101 values from 0.14 to 0.16"
        raise InputError(f"expected BEGIN:END:POINTS, got {text!r}", key=key, hint=hint) from None
    if not 1 <= points <= _MOST_POINTS:
        raise InputError(f"expected 1 to {_MOST_POINTS:,} points, got {points:,}", key=key)
    low, high = number(begin.strip(), key, unit), number(end.strip(), key, unit)
    return _grid(np.linspace(low, high, points), key)


def _grid(values: FloatArray, key: str) -> Grid:
    if values.ndim != 1 or not values.size:
        raise InputError(f"expected a list of values, got an array of shape {values.shape}", key=key)
    if not np.isfinite(values).all():
        raise InputError("a value is not a finite number", key=key)
    return Grid(tuple(values.tolist()))


def _checked(given: Uniform | Normal, key: str) -> Uniform | Normal:
    if isinstance(given, Uniform) and not given.low < given.high:
        raise InputError(
            f"uniform({given.low:g}, {given.high:g}) is empty", key=key, hint="the lower end stands first"
        )
    if isinstance(given, Normal) and not given.deviation > 0:
        raise InputError(f"a standard deviation must be positive, got {given.deviation:g}", key=key)
    return given


def _of_scipy(given: object, key: str) -> OfScipy:
    """A "frozen" distribution of SciPy's, by its name and arguments."""
    kind, arguments, named = (
        getattr(given, "dist", None),
        getattr(given, "args", ()),
        getattr(given, "kwds", {}),
    )
    name = getattr(kind, "name", None)
    try:
        found = OfScipy(
            str(name), tuple(map(float, arguments)), tuple((k, float(v)) for k, v in named.items())
        )
    except (TypeError, ValueError):
        raise InputError("a distribution of SciPy's has arguments that are no numbers", key=key) from None
    return _known_to_scipy(found, key)


def _known_to_scipy(given: OfScipy, key: str) -> OfScipy:
    """The distribution, which is one of `scipy.stats` and takes these arguments."""
    from scipy import stats

    kind = getattr(stats, given.name, None)
    if not isinstance(kind, stats.rv_continuous):
        hint = "such as scipy.stats.truncnorm(-2, 2, loc=0.6, scale=0.05)"
        raise InputError(f"{given.name!r} is no continuous distribution of scipy.stats", key=key, hint=hint)
    try:
        middle = given.at(np.array([0.5]))
    except TypeError as error:
        raise InputError(f"scipy.stats.{given.name}: {error}", key=key) from None
    if not np.isfinite(middle).all():
        raise InputError(f"scipy.stats.{given.name} takes no such arguments", key=key)
    return given
