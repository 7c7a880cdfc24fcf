"""Numbers of a terrain by name, and its seeds: robots of a rollout differ in them, a run changes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from trundle.arrays import FloatArray, Floats
from trundle.errors import InputError, suggest
from trundle.model.arguments import number
from trundle.model.lanes import NumbersLike, column
from trundle.robot.component import Component
from trundle.robot.gridded import FractalSurface, GridSurface
from trundle.robot.terrain import Terrain
from trundle.robot.values import Value, read_value

PREFIX = "terrain."
"""How parameters begin that are numbers of the terrain."""


@dataclass(frozen=True)
class TerrainNumber:
    """A number of a terrain that is a parameter: the value that it stands for, or seeds, of which it is the place."""

    value: Value
    seeds: FloatArray | None = None

    @property
    def unit(self) -> str:
        """What it is measured in."""
        return "" if self.seeds is not None else self.value.quantity.unit.removeprefix("1")

    def read(self, key: str, given: NumbersLike) -> Floats:
        """What programs take for what is given, one number or one a robot; raises InputError."""
        if self.seeds is None:
            return terrain_numbers(self.value, key, given)
        places = np.searchsorted(self.seeds, column(key, given, "", 1)).astype(np.float64)
        return places if np.ndim(places) else float(places)


def varied_ground(
    terrain: Terrain, given: Mapping[str, NumbersLike]
) -> tuple[Terrain, dict[str, TerrainNumber]]:
    """The terrain, with the ground of several seeds where these are asked for; and its numbers that are parameters now,
    by the names that were given.
    """
    varied, surfaces = dict[str, TerrainNumber](), dict(terrain.surfaces)
    full = {key: full_name(terrain, key) for key in given}
    for key, value in given.items():
        which = surface_of_seed(full[key])
        surface = surfaces.get(which or "")
        if which and isinstance(surface, FractalSurface):
            seeds = np.unique(column(key, value, "", 1))
            check_seeds(seeds, key)
            surfaces[which], number_of_seed = surface.of_seeds(seeds.astype(int).tolist())
            varied[key] = TerrainNumber(number_of_seed, seeds)
    made = terrain.model_copy(update={"surfaces": surfaces})
    for key in given:
        if key not in varied:
            _require_read(terrain, full[key], key)
            varied[key] = TerrainNumber(number_called(made, full[key], key))
    return made, {key: varied[key] for key in given}


def _require_read(terrain: Terrain, name: str, key: str) -> None:
    """Refuse what a map is made by: all robots of a rollout have that in common."""
    place, _, label = name.removeprefix("surfaces.").partition(".")
    surface = terrain.surfaces.get(place)
    made = isinstance(surface, (FractalSurface, GridSurface)) and name in terrain.numbers
    if made and label not in ("scale", "seed"):
        hint = f"terrain.surfaces.{place}.scale makes heights and slopes larger"
        raise InputError(f"robots can't differ in {name!r}, by which a map is made", key=key, hint=hint)


def full_name(terrain: Terrain, key: str) -> str:
    """The whole name of a terrain's number ("surfaces.rubble.seed"), of which "terrain.seed" is the short one, where
    one number alone ends so.
    """
    name = key.removeprefix(PREFIX)
    known = [*terrain.numbers, *seeds_of(terrain)]
    ending = [each for each in known if each.endswith(f".{name}")]
    return ending[0] if name not in known and len(ending) == 1 else name


def seeds_of(terrain: Terrain) -> list[str]:
    """The names of its seeds ("surfaces.rubble.seed")."""
    return [
        f"surfaces.{name}.seed" for name, each in terrain.surfaces.items() if isinstance(each, FractalSurface)
    ]


def surface_of_seed(name: str) -> str | None:
    """The surface that "surfaces.NAME.seed" is of; None for other names."""
    head, _, tail = name.partition(".")
    return tail.removesuffix(".seed") if head == "surfaces" and tail.endswith(".seed") else None


def check_seeds(seeds: FloatArray, key: str) -> None:
    """Raise InputError for seeds that are none."""
    if (seeds < 0).any() or (seeds != np.floor(seeds)).any():
        raise InputError("seeds are whole numbers from 0 up", key=key)


def number_called(terrain: Terrain, name: str, key: str) -> Value:
    """A number of the terrain by its whole name; InputError, keyed, where there is none."""
    known = terrain.numbers
    if name not in known:
        message = f"the terrain has no number {name!r}, or leaves it to its default"
        names, seeds = [PREFIX + each for each in known], [PREFIX + each for each in seeds_of(terrain)]
        if name.rpartition(".")[2] == "seed" and not seeds:
            hint = f"surfaces of the type 'fractal' have one; numbers are {', '.join(names) or 'none'}"
            raise InputError(message, key=key, hint=hint)
        raise InputError(message, key=key, hint=suggest(PREFIX + name, [*names, *seeds]))
    return known[name]


def terrain_numbers(value: Value, key: str, given: NumbersLike) -> Floats:
    """What robots have for a number of the terrain, within its bound."""
    numbers = column(key, given, value.quantity.unit, 1)
    if value.bound is not None:
        wrong = [each for each in np.unique(numbers) if not value.bound.allows(float(each))]
        if wrong:
            raise InputError(f"{key} {value.bound.words}, got {wrong[0]:g}", key=key, hint=value.bound.hint)
    return numbers


def with_numbers(
    terrain: Terrain, parameters: Mapping[str, float | str]
) -> tuple[Terrain, dict[str, float | str]]:
    """The terrain with the parameters that are its numbers ("terrain.surfaces.hill.height"), and the other ones."""
    others = {name: value for name, value in parameters.items() if not name.startswith(PREFIX)}
    for key, given in parameters.items():
        if key in others:
            continue
        name = full_name(terrain, key)
        if name in seeds_of(terrain):
            seed = number(given, key, "")
            check_seeds(np.array([seed]), key)
            terrain = _put(terrain, name.split("."), int(seed))
        else:
            value = number_called(terrain, name, key)
            terrain_numbers(value, key, given)
            told = number(given, key, value.quantity.unit)
            changed = replace(read_value(told), quantity=value.quantity, bound=value.bound)
            terrain = _put(terrain, name.split("."), changed)
    return terrain, others


def _put(inner: Any, path: Sequence[str], value: object) -> Any:
    """A noun, a mapping or a tuple with another value at a path."""
    if not path:
        return value
    first, *rest = path
    if isinstance(inner, Component):
        return inner.model_copy(update={first: _put(getattr(inner, first), rest, value)})
    if isinstance(inner, tuple):
        entries = list(inner)
        entries[int(first)] = _put(inner[int(first)], rest, value)
        return tuple(entries)
    return {**inner, first: _put(inner[first], rest, value)}
