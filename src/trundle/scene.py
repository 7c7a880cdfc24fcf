"""What of a robot is drawn where: plain data that figures read, and that travels with a run.

A scene holds one configuration in numbers, or a whole run: then points are given by the names of the values that hold
their coordinates over time. Lengths in m, angles in rad; wheels are seen from above in the base's frame (x forward, y
left).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trundle.errors import InputError

if TYPE_CHECKING:
    from pydantic import TypeAdapter

# A coordinate: a number, or the name of the value that holds it over time.
Place = float | str
# Two coordinates in the plane that is drawn, or all three.
Point = tuple[Place, Place] | tuple[Place, Place, Place]
Numbers = tuple[float, float, float]

# The pictures' two axes, by the direction that is looked along.
PLANES = {"x": ("y", "z"), "y": ("x", "z"), "z": ("x", "y")}
# Directions that differ by less in how much they show are the same; then the side view is the customary one.
_AS_GOOD = 1e-6


@dataclass(frozen=True)
class WheelShape:
    """One wheel from above.

    x, y: its centre (for a caster: the fork's pivot) in the base's frame.
    heading: the direction it rolls in, about z; the value named `steering` is added where there is one.
    round: whether it is as wide as it is long, as a ball is.
    offset, aside: the wheel's centre lies this far behind the pivot (a caster's trail), and to the left of it.
    roller_angle: from the axle toward forward, of the roller on the ground (mecanum, omni); None without rollers.
    """

    name: str
    x: float
    y: float
    radius: float
    width: float
    heading: float = 0.0
    kind: str = "fixed"
    steering: str | None = None
    offset: float = 0.0
    roller_angle: float | None = None
    round: bool = False
    aside: float = 0.0

    @property
    def is_ball(self) -> bool:
        """Whether it rolls in every direction, without an axle; older files say it by the kind alone."""
        return self.round or self.kind == "ball"

    def turned(self, steering: float) -> float:
        """The direction it rolls in, in the base's frame, at that steering angle."""
        return self.heading + (steering if self.steering else 0.0)

    def centre(self, steering: float = 0.0) -> tuple[float, float]:
        """Its centre in the base's frame: that of a pivoted wheel need not be its pivot."""
        heading = self.turned(steering)
        along, across = math.cos(heading), math.sin(heading)
        return (
            self.x - self.offset * along - self.aside * across,
            self.y - self.offset * across + self.aside * along,
        )


@dataclass(frozen=True)
class Link:
    """A bar between two points."""

    name: str
    start: Point
    end: Point


@dataclass(frozen=True)
class JointMark:
    """A joint: its symbol, where it is, its axis (None for kinds without), whether it hangs on the base and turns."""

    name: str
    symbol: str
    at: Numbers
    axis: Numbers | None
    on_base: bool
    turns: bool = True


@dataclass(frozen=True)
class LoopMark:
    """A loop: its symbol, where its two ends are (in one place where it is closed), whether a rod keeps them apart."""

    name: str
    symbol: str
    first: Numbers
    second: Numbers
    apart: bool = False


@dataclass(frozen=True)
class Scene:
    """A robot's shape: a body with wheels that moves in the plane, or links, or both.

    body: the outline's corners in the base's frame; without them one is drawn around the wheels.
    pose: the names of the values x, y and heading of the base; empty for a fixed base.
    traced: the names of the two values whose path is drawn for a linkage, its tip; empty for none.
    plane: what the two axes of the picture of a run are.

    Of one configuration only: `base` says how the base moves, `mounts` are the bars that hold joints to it, `centers`
    the centres of mass, `coupled` the wheels that a linkage joins.
    """

    body: tuple[tuple[float, float], ...] = ()
    wheels: tuple[WheelShape, ...] = ()
    pose: tuple[()] | tuple[str, str, str] = ()
    links: tuple[Link, ...] = ()
    traced: tuple[()] | tuple[str, str] = ()
    plane: tuple[str, str] = ("x", "y")
    base: str = "planar"
    joints: tuple[JointMark, ...] = ()
    mounts: tuple[Link, ...] = ()
    centers: tuple[Numbers, ...] = ()
    loops: tuple[LoopMark, ...] = ()
    coupled: tuple[tuple[str, ...], ...] = ()

    @cached_property
    def view(self) -> str:
        """The axis ("x", "y", "z") to look along: from above for what drives, else along the axes that most joints turn
        about, or else square to where the robot reaches.
        """
        if self.wheels or self.base == "planar":
            return "z"
        shown = dict.fromkeys("yzx", 0.0)
        for joint in self.joints:
            if joint.axis is not None and joint.turns:
                for axis, part in zip("xyz", joint.axis, strict=True):
                    shown[axis] += part**2
        if max(shown.values()) <= _AS_GOOD:
            points = [(0.0, 0.0, 0.0), *(joint.at for joint in self.joints), *self.centers]
            reach = {
                axis: max(along) - min(along)
                for axis, along in zip("xyz", zip(*points, strict=True), strict=True)
            }
            shown = {axis: -reach[axis] for axis in shown}
        return next(axis for axis, value in shown.items() if value >= max(shown.values()) - _AS_GOOD)

    def flat(self, point: Iterable[Place]) -> npt.NDArray[np.float64]:
        """A point's place in the picture, (2,)."""
        places = dict(zip("xyz", point, strict=True))
        return np.array([places[axis] for axis in PLANES[self.view]], dtype=float)

    def outline(self) -> tuple[tuple[float, float], ...]:
        """The body's corners, those of a body around the wheels where it has none of its own."""
        return self.body or body_outline(self.wheels)

    def to_dict(self) -> dict[str, object]:
        """Plain data for `Run.description["sketch"]`: what differs from an empty scene."""
        default = {each.name: each.default for each in fields(Scene)}
        own: dict[str, object] = _reader().dump_python(self, mode="json")
        return {name: value for name, value in own.items() if getattr(self, name) != default[name]}

    @staticmethod
    def from_dict(data: Mapping[str, object]) -> Scene:
        """Back from plain data, as JSON gives it; InputError where it is not a scene's."""
        try:
            return _reader().validate_python(data)
        except ValueError as error:
            raise InputError(f"the run's sketch of the robot is damaged: {error}") from error


@cache
def _reader() -> TypeAdapter[Scene]:
    """What checks a scene's data by its types; unknown keys are errors."""
    from pydantic import ConfigDict, TypeAdapter, with_config

    for kind in (Scene, WheelShape, Link, JointMark, LoopMark):
        with_config(ConfigDict(extra="forbid"))(kind)
    return TypeAdapter(Scene)


def body_outline(wheels: tuple[WheelShape, ...]) -> tuple[tuple[float, float], ...]:
    """A body for wheels that have none: a rectangle between them, its front corners cut so that it shows its heading.

    Reaches a bit past the outermost wheels along x, and to the inner faces of the wheels along y.
    """
    if not wheels:
        return ()
    reach = max(wheel.radius for wheel in wheels)
    left = max(wheel.y - wheel.width for wheel in wheels)
    right = min(wheel.y + wheel.width for wheel in wheels)
    if left - right < reach:  # wheels in one row: a slim body around them
        left, right = left + reach, right - reach
    span = left - right
    front = max(max(wheel.x for wheel in wheels) + 1.3 * reach, 0.35 * span)
    back = min(min(wheel.x for wheel in wheels) - 1.3 * reach, -0.25 * span)
    cut = 0.25 * min(span, front - back)
    sides = (right, right + cut, left - cut, left)
    return (
        (back, right),
        *zip((front - cut, front, front, front - cut), sides, strict=True),
        (back, left),
    )
