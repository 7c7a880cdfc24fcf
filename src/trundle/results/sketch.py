"""How to draw a robot: plain data that travels with a run, so that figures can be made from a saved file.

Lengths in m, angles in rad, seen from above in the base's frame (x forward, y left) for a robot that moves; links
are given by the names of the values that hold their ends' positions.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from trundle.errors import InputError, suggest

Point = tuple[float, float]
# A coordinate of a link's end: a number, or the name of the value that holds it over time.
Place = float | str

WHEEL_KINDS = ("fixed", "steered", "caster", "mecanum", "omni", "ball")


@dataclass(frozen=True)
class WheelSketch:
    """One wheel from above.

    x, y: its centre (for a caster: the fork's pivot) in the base's frame.
    heading: the direction it rolls in, about z; the value named `steering` is added where there is one.
    offset: a caster's trail: the wheel's centre lies this far behind the pivot.
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


@dataclass(frozen=True)
class LinkSketch:
    """One link of a linkage: a bar between two points of the plane that is drawn."""

    name: str
    start: tuple[Place, Place]
    end: tuple[Place, Place]


@dataclass(frozen=True)
class Sketch:
    """A robot's shape: a body with wheels that moves in the plane, or links, or both.

    body: the outline's corners in the base's frame; empty for a robot that stands still.
    pose: the names of the values x, y and heading of the base; empty for a fixed base.
    traced: the names of the two values whose path is drawn for a linkage, its tip; empty for none.
    plane: what the two axes of the picture are.
    """

    body: tuple[Point, ...] = ()
    wheels: tuple[WheelSketch, ...] = ()
    pose: tuple[str, ...] = ()
    links: tuple[LinkSketch, ...] = ()
    traced: tuple[str, ...] = ()
    plane: tuple[str, str] = ("x", "y")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for `Run.description["sketch"]`."""
        return asdict(self)

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Sketch:
        """Back from plain data, as JSON gives it; InputError where it is not a sketch's."""
        try:
            plain = _checked(Sketch, data)
            return Sketch(
                body=tuple((float(x), float(y)) for x, y in plain.get("body", ())),
                wheels=tuple(
                    WheelSketch(**_checked(WheelSketch, wheel)) for wheel in plain.get("wheels", ())
                ),
                pose=_names(plain.get("pose", ()), (0, 3)),
                links=tuple(_link(link) for link in plain.get("links", ())),
                traced=_names(plain.get("traced", ()), (0, 2)),
                plane=_pair(plain.get("plane", ("x", "y"))),
            )
        except (TypeError, ValueError, KeyError) as error:
            raise InputError(f"the run's sketch of the robot is damaged: {error}") from error


def body_outline(wheels: Sequence[WheelSketch]) -> tuple[Point, ...]:
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
    return (
        (back, right),
        (front - cut, right),
        (front, right + cut),
        (front, left - cut),
        (front - cut, left),
        (back, left),
    )


def wheel_heading(wheel: WheelSketch, steering: float) -> float:
    """The direction a wheel rolls in, in the base's frame, at that steering angle."""
    return wheel.heading + (steering if wheel.steering else 0.0)


def wheel_centre(wheel: WheelSketch, steering: float) -> Point:
    """The wheel's centre in the base's frame: behind the pivot by the offset, for a caster."""
    heading = wheel_heading(wheel, steering)
    return wheel.x - wheel.offset * math.cos(heading), wheel.y - wheel.offset * math.sin(heading)


def _checked(kind: type[Any], data: Mapping[str, Any]) -> dict[str, Any]:
    known = [each.name for each in fields(kind)]
    for key in data:
        if key not in known:
            raise InputError(f"a {kind.__name__} has no {key!r}", hint=suggest(key, known))
    return dict(data)


def _link(data: Mapping[str, Any]) -> LinkSketch:
    plain = _checked(LinkSketch, data)
    return LinkSketch(str(plain["name"]), _places(plain["start"]), _places(plain["end"]))


def _places(pair: Sequence[Place]) -> tuple[Place, Place]:
    across, up = (place if isinstance(place, str) else float(place) for place in pair)
    return across, up


def _pair(pair: Sequence[str]) -> tuple[str, str]:
    across, up = pair
    return str(across), str(up)


def _names(names: Sequence[str], counts: tuple[int, ...]) -> tuple[str, ...]:
    if len(names) not in counts:
        raise ValueError(f"{list(names)} has {len(names)} names")
    return tuple(str(name) for name in names)
