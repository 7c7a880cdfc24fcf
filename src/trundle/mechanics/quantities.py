"""Quantities: what the named numbers of a robot's motion is.

A part of a robot makes its quantities once, where it becomes a part of the assembly: joint kinds make coordinates and
speeds, motors their inputs and currents, wheels and loops their forces. Models, runs, equations and figures carry them
on, so that no unit is ever guessed from a name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from trundle.errors import InputError

QuantityKind = Literal[
    "coordinate", "quaternion", "speed", "state", "command", "force", "slip", "ground", "load", "place", "power",
    "energy", "residual", "time", "memory", "noise", "other",
]  # fmt: skip

# What nobody looks at but whose it is.
UNSEEN: frozenset[QuantityKind] = frozenset({"memory", "noise"})
# How far from 1 a given quaternion's length may be, or beyond its range a start: more is no rounding but a mistake.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class Quantity:
    """One named number: what it measures, whose it is, and where it starts.

    name: as runs and files have it, such as "left.rate".
    unit: in SI with radians; "" for pure numbers, and where nobody knows.
    kind: what it is. The four numbers of a quaternion stand together, the scalar first. "ground" is what the ground
        does to a wheel along it, "load" what it does upward; other forces and moments are "force". "memory" is what a
        controller keeps for itself, "noise" what its sensors draw: files have them, pictures and words don't.
    owner: the part whose number it is; "" for the base's own and for those of the whole robot.
    start: its value where nothing else is said.
    coordinate: of a speed, the name of the coordinate whose rate it is; "" where there is none, as a base's
        `v_x` is measured in axes that turn.
    within: the least and the greatest value that it can start with; None where any can be.
    """

    name: str
    unit: str = ""
    kind: QuantityKind = "other"
    owner: str = ""
    start: float = 0.0
    coordinate: str = ""
    within: tuple[float, float] | None = None

    @property
    def label(self) -> str:
        """What it is of its owner: the name without the owner's."""
        return self.name.removeprefix(f"{self.owner}.") if self.owner else self.name

    @property
    def slides(self) -> bool:
        """Whether a coordinate or speed goes along an axis, not about one."""
        return self.unit in ("m", "m/s")

    @property
    def effort_unit(self) -> str:
        """The unit of what pushes a coordinate or speed: a force along an axis, a torque about one."""
        return "N" if self.slides else "N m"

    def of(self, owner: str) -> Quantity:
        """The same as a part's own: "rate" as that of "left" is "left.rate"."""
        coordinate = f"{owner}.{self.coordinate}" if self.coordinate else ""
        return replace(self, name=f"{owner}.{self.name}", owner=owner, coordinate=coordinate)


def angle(name: str) -> Quantity:
    """A coordinate in rad."""
    return Quantity(name, "rad", "coordinate")


def length(name: str) -> Quantity:
    """A coordinate in m."""
    return Quantity(name, "m", "coordinate")


def turning(name: str, coordinate: str = "") -> Quantity:
    """A speed in rad/s, with the coordinate whose rate it is."""
    return Quantity(name, "rad/s", "speed", coordinate=coordinate)


def sliding(name: str, coordinate: str = "") -> Quantity:
    """A speed in m/s, with the coordinate whose rate it is."""
    return Quantity(name, "m/s", "speed", coordinate=coordinate)


# A rotation of any size; upright at the start.
QUATERNION = (
    Quantity("q_w", "", "quaternion", start=1.0),
    Quantity("q_x", "", "quaternion"),
    Quantity("q_y", "", "quaternion"),
    Quantity("q_z", "", "quaternion"),
)
TIME = Quantity("time", "s", "time")


@dataclass(frozen=True)
class Quantities(Mapping[str, Quantity]):
    """Quantities by name, in order; where two have a name, the first."""

    every: tuple[Quantity, ...] = ()

    @classmethod
    def gather(cls, *groups: Iterable[Quantity]) -> Quantities:
        """The quantities of all groups, every name once."""
        first: dict[str, Quantity] = {}
        for group in groups:
            for quantity in group:
                first.setdefault(quantity.name, quantity)
        return cls(tuple(first.values()))

    @cached_property
    def _by_name(self) -> dict[str, Quantity]:
        return {quantity.name: quantity for quantity in self.every}

    @cached_property
    def _rates(self) -> dict[str, str]:
        return {quantity.coordinate: quantity.name for quantity in self.every if quantity.coordinate}

    def __getitem__(self, name: str) -> Quantity:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self.every)

    @cached_property
    def units(self) -> dict[str, str]:
        """Units by name."""
        return {quantity.name: quantity.unit for quantity in self.every}

    def rate_of(self, coordinate: str) -> str:
        """The speed that is a coordinate's rate; "" where none is."""
        return self._rates.get(coordinate, "")

    def coordinate_of(self, speed: str) -> str:
        """The coordinate whose rate a speed is; "" where there is none."""
        return self[speed].coordinate if speed in self else ""

    def only(self, names: Iterable[str]) -> Quantities:
        """The quantities of these names, in their order."""
        return Quantities.gather(self[name] for name in names)

    def starts(self, names: Iterable[str]) -> list[float]:
        """Where these start when nothing else is said: 0, and quaternions upright."""
        return [self[name].start for name in names]

    def quaternions(self, names: Sequence[str]) -> list[int]:
        """The places in `names` where a quaternion (w, x, y, z) starts."""
        return [k for k, name in enumerate(names) if self[name].kind == "quaternion"][::4]

    def normalised(self, names: Sequence[str], values: np.ndarray) -> np.ndarray:
        """A copy of `values`, whose first axis goes with `names`, with every quaternion at length 1."""
        values = np.array(values, dtype=float)
        for k in self.quaternions(names):
            values[k : k + 4] /= np.linalg.norm(values[k : k + 4], axis=0)
        return values

    def check_start(self, values: Mapping[str, float | np.ndarray]) -> None:
        """Raise InputError for a value (a number, or an array of many robots) that a run can't start with."""
        self.check_quaternions(values)
        for name, value in values.items():
            low, high = self[name].within or (-np.inf, np.inf)
            beyond = np.ravel(np.abs(value - np.clip(value, low, high)))
            if beyond.max() > _ROUNDING:
                message = (
                    f"{name} starts within {low:g} and {high:g}, got {np.ravel(value)[beyond.argmax()]:g}"
                )
                raise InputError(message, key=f"run.initial.{name}")

    def check_quaternions(self, values: Mapping[str, float | np.ndarray]) -> None:
        """Raise InputError where a quaternion (numbers, or arrays of many robots) is not a rotation's, of length 1."""
        names = tuple(values)
        for k in self.quaternions(names):
            four = names[k : k + 4]
            size = np.sqrt(sum(np.square(values[name]) for name in four))
            off = np.abs(size - 1)
            if np.all(off <= _ROUNDING):
                continue
            worst = float(np.ravel(size)[np.argmax(off)])
            raise InputError(
                f"the initial quaternion ({', '.join(four)}) has length {worst:.9g}, and a rotation's has 1",
                key=four[0],
                hint="give all four; what isn't given is q_w = 1 and q_x = q_y = q_z = 0",
            )
