"""The `terrain:` section: the surfaces that wheels touch, how they bear a wheel, and where they are slippery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Annotated, Any, ClassVar, NamedTuple

from pydantic import Field, PrivateAttr, model_validator

from trundle.errors import InputError
from trundle.robot.component import Component, Identifier, components, default, own_values
from trundle.robot.gridded import GridSurface
from trundle.robot.kinds import Read, ask
from trundle.robot.surfaces import SURFACES, PlaneSurface, Spot, Surface
from trundle.robot.values import (
    Damping,
    Duration,
    Length,
    NotNegative,
    Plain,
    Positive,
    Ratio,
    Stiffness,
    Value,
    problem,
)
from trundle.scalars import Scalar, less, where
from trundle.spatial.vectors import Vector


def number_of(value: Value) -> float:
    """A terrain's values use no parameters."""
    return value.number


class Region(Component):
    """A rectangle of the ground with a friction of its own: wheels' coefficients times a factor."""

    called: ClassVar[str] = "region"
    in_equations: ClassVar[bool] = False

    friction: NotNegative[Ratio] = Field(description="Factor of the wheels' friction coefficients.")
    x: tuple[Length, Length] = default(
        (-1e9, 1e9), "From where to where along x, [least, greatest] (m). Default everywhere."
    )
    y: tuple[Length, Length] = default(
        (-1e9, 1e9), "From where to where along y, [least, greatest] (m). Default everywhere."
    )

    def holds(self, place: Vector) -> Scalar:
        """1 where a place lies in it, else 0."""
        inside: Scalar = 1
        for value, (least, greatest) in zip(place[:2], (self.x, self.y), strict=True):
            inside = inside * less(least.number, value) * less(value, greatest.number)
        return inside


class Ground(NamedTuple):
    """Ground that a wheel touches at one place: a surface, or those that join; `exact`, `rough` as in `Surface`."""

    name: str
    surfaces: tuple[Surface, ...]
    read: Read

    @property
    def exact(self) -> bool:
        return all(surface.exact for surface in self.surfaces)

    @property
    def rough(self) -> bool:
        return any(surface.is_rough(self.read) for surface in self.surfaces)

    def spot(self, point: Vector) -> Spot:
        """What the nearest surface is near a point."""
        key = f"terrain.surfaces.{self.name}"
        first, *others = (_spot_of(surface, key, point, self.read) for surface in self.surfaces)
        for other in others:
            first = _chosen(less(other.distance, first.distance), other, first)
        return first


def _spot_of(surface: Surface, key: str, point: Vector, read: Read) -> Spot:
    """What a surface says near a point; InputError where that is no `Spot`."""
    spot = ask(surface, key, surface.spot, point, read)
    if not isinstance(spot, Spot) or len(spot.normal) != 3 or len(spot.gradient) != 3:
        message = f"{type(surface).__name__}.spot gives {spot!r}"
        raise InputError(
            message, key=key, hint="expected trundle.robot.Spot(distance, normal, gradient) in space"
        )
    return spot


# What surfaces that join are called together.
_JOINED = "relief"


class BodySlip(Component):
    """How a body slips in the kinematic mode, where no forces say it: by its speed, and by what pulls it (Seegmiller).

    With f_x, f_y, f_z what gravity and turning do to the mass, in the base's axes: f_x/f_z is the slope that it drives
    up, f_y/f_z that on its left. All are at the centre of mass, and 0 where nobody says them.
    """

    called: ClassVar[str] = "body slip"
    in_equations: ClassVar[bool] = False

    pull_ahead: Ratio = default(0.0, "Adds this times f_x/f_z times v_x to v_x; below 0 it is slower uphill.")
    ahead: Ratio = default(0.0, "Adds this times v_x to v_x.")
    pull_left: Ratio = default(0.0, "Adds this times f_y/f_z times v_x to v_y; below 0 it goes downhill.")
    pull_turn: Plain = default(0.0, "Adds this (1/m) times f_y/f_z times v_x to the turning rate.")
    turn: Plain = default(0.0, "Adds this (1/m) times v_x to the turning rate.")
    spin: Ratio = default(0.0, "Adds this times the turning rate to it.")


class Terrain(Component):
    """Ground that wheels sink into: surfaces, the spring and damper under a contact, regions of other friction.

    A wheel touches planes and steps apart; surfaces of other kinds make one ground, of which the nearest counts. A
    contact at depth h carries max(K h + D ḣ, 0), h from the surface.
    """

    called: ClassVar[str] = "terrain"
    in_equations: ClassVar[bool] = False

    surfaces: dict[Identifier, Annotated[Surface, SURFACES]] = Field(
        default_factory=lambda: {"ground": PlaneSurface()},
        description="Surfaces by name. Default: flat ground.",
    )
    sinkage: Positive[Length] = default(
        0.02, "How deep contacts are where all carry the same on flat ground (m), default 0.02."
    )
    stiffness: Positive[Stiffness] | None = default(
        None, "Stiffness K of the ground under a contact (N/m). Default: weight/(contacts sinkage)."
    )
    damping: NotNegative[Damping] | None = default(
        None, "Damping D of the ground under a contact (N s/m). Default: 0.05 s times the stiffness."
    )
    recovery: Positive[Duration] = default(
        0.1, "Time constant in which the kinematic mode leads contacts back to the sinkage (s), default 0.1."
    )
    regions: dict[Identifier, Region] = Field(
        default_factory=dict, description="Regions of other friction by name; where they overlap, all count."
    )
    body_slip: BodySlip | None = default(
        None, "How the body slips in the kinematic mode. Default: contacts stand still."
    )

    _told: tuple[Read, ...] = PrivateAttr(())  # how its numbers are read, if somebody said

    @model_validator(mode="after")
    def _plain(self) -> Terrain:
        """Refuse a terrain without a surface, and formulas: parameters are a robot's."""
        if not self.surfaces:
            raise problem("a terrain without a surface", "give one: {ground: {type: plane}}", ("surfaces",))
        if len({ground.name for ground in self.grounds}) < len(self.grounds):
            message = f"a surface is called {_JOINED!r}, as are hills, waves and the like together"
            raise problem(message, "call it otherwise", ("surfaces", _JOINED))
        for path, component in components(self):
            for place, value in own_values(component, path):
                if value.names:
                    used = f"{value.source!r} uses {', '.join(value.names)}"
                    raise problem(f"{used}; a terrain's numbers can't use parameters", at=place)
                if value.bound is not None and not value.bound.allows(value.number):
                    message = f"{place[-1]} {value.bound.words}, got {value.number:g}"
                    raise problem(message, value.bound.hint, place)
        for name, region in self.regions.items():
            for axis, (least, greatest) in (("x", region.x), ("y", region.y)):
                if least.number >= greatest.number:
                    message = (
                        f"a region from {axis} = {least.number:g} to {greatest.number:g} m holds no place"
                    )
                    raise problem(message, f"write the lesser first: {axis}: [1, 2]", ("regions", name, axis))
        return self

    @cached_property
    def whole(self) -> Ground:
        """All surfaces as one ground."""
        return Ground(_JOINED, tuple(self.surfaces.values()), self._read)

    @cached_property
    def grounds(self) -> tuple[Ground, ...]:
        """What a wheel can touch at places apart: surfaces, and those that join together."""
        apart = [Ground(name, (each,), self._read) for name, each in self.surfaces.items() if not each.joins]
        joined = {name: each for name, each in self.surfaces.items() if each.joins}
        if joined:
            name = _JOINED if len(joined) > 1 else next(iter(joined))
            apart.append(Ground(name, tuple(joined.values()), self._read))
        return tuple(apart)

    @property
    def unread(self) -> tuple[str, ...]:
        """The files of maps whose heights aren't there."""
        grids = (each for each in self.surfaces.values() if isinstance(each, GridSurface))
        return tuple(str(grid.file) for grid in grids if grid.file is not None and not grid.is_read)

    @property
    def _read(self) -> Read:
        return self._told[0] if self._told else number_of

    def read_by(self, read: Read) -> Terrain:
        """The same whose numbers are read otherwise, as parameters of a program, say."""
        made = self.model_copy()
        made._told = (read,)  # pyright: ignore[reportAttributeAccessIssue]  # private, of a copy
        return made

    @property
    def numbers(self) -> dict[str, Value]:
        """Its numbers by name ("surfaces.hill.height"), as far as somebody gave them or they have a default."""
        return {
            ".".join(str(step) for step in place): value
            for path, component in components(self)
            for place, value in own_values(component, path)
        }

    def spot(self, point: Vector) -> Spot:
        """What the nearest surface is near a point."""
        return self.whole.spot(point)

    def grip(self, place: Vector) -> Scalar:
        """The factor of friction at a place."""
        factor: Scalar = 1
        for region in self.regions.values():
            factor = factor * where(region.holds(place), self._read(region.friction), 1.0)
        return factor

    @cached_property
    def words(self) -> str:
        """Its surfaces in a few words."""
        return ", ".join(surface.words(number_of) for surface in self.surfaces.values())


def _chosen(condition: Scalar, yes: Spot, no: Spot) -> Spot:
    """One of two spots."""

    def either(a: Sequence[Scalar], b: Sequence[Scalar]) -> tuple[Scalar, ...]:
        return tuple(where(condition, x, y) for x, y in zip(a, b, strict=True))

    return Spot(
        where(condition, yes.distance, no.distance),
        either(yes.normal, no.normal),
        either(yes.gradient, no.gradient),
        either(yes.curvature, no.curvature),
    )


def parse_terrain(data: Mapping[str, object] | Terrain) -> Terrain:
    """A terrain from plain data, as it stands under `terrain:` in a file; raises InputError.

    Parameters
    ----------
    data : mapping or Terrain
        Its keys; a terrain stays what it is.

    Returns
    -------
    Terrain

    Raises
    ------
    InputError
        With the key of what is wrong.

    Examples
    --------
    >>> from trundle.robot.terrain import parse_terrain
    >>> parse_terrain({"surfaces": {"slope": {"slope": "10 deg"}}}).sinkage.number
    0.02
    """
    return data if isinstance(data, Terrain) else Terrain(**dict[str, Any](data))
