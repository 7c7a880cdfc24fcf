"""Kinematics along a chain of frames: composed over the frames between two of them and no others.

What a frame and a point are, is written in `frame`; here counts only how they hang together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Protocol

from trundle.errors import InputError
from trundle.expected import came
from trundle.spatial.motions import Motion, transform_point
from trundle.spatial.vectors import Vector, add, apply, cross, subtract
from trundle.wrenches.placement import AT_REST, Placement, composed, inverted


class Riding(Protocol):
    """A frame, as far as chains go."""

    @property
    def name(self) -> str: ...
    @property
    def parent(self) -> Riding | None: ...
    @property
    def root(self) -> Riding: ...
    @property
    def placement(self) -> Placement: ...
    @property
    def in_root(self) -> Placement: ...


class ChainPoint(Protocol):
    """A point, as far as chains go."""

    @property
    def name(self) -> str: ...
    @property
    def frame(self) -> Riding: ...
    @property
    def coordinates(self) -> Vector: ...
    @property
    def rate(self) -> Vector | None: ...
    @property
    def second_rate(self) -> Vector | None: ...


def upward(frame: Riding) -> Iterator[Riding]:
    """The frame itself, its parent, and so on up to its root."""
    link: Riding | None = frame
    while link is not None:
        yield link
        link = link.parent


def composed_from_root(frame: Riding) -> Placement:
    """How a frame stands and moves in its root."""
    if frame.parent is None:
        return AT_REST
    for above in reversed(list(upward(frame.parent))):
        above.in_root  # noqa: B018 (from the root down, so that long chains need no deep recursion)
    return composed(frame.parent.in_root, frame.placement)


def require_frames(*given: object) -> None:
    """Raise InputError for what is no frame.

    Only classes are asked: a frame's place is composed when it is needed.
    """
    for each in given:
        if not hasattr(type(each), "in_root"):
            raise InputError(f"expected a frame, got {came(each)}", hint="trundle.Frame('world') is one")


def require_points(*given: object) -> None:
    """Raise InputError for what is no point."""
    for each in given:
        if not hasattr(each, "coordinates"):
            hint = "frame.origin and frame.point('tip', (1, 0, 0)) are points"
            raise InputError(f"expected a point, got {came(each)}", hint=hint)


def placement_in(frame: Riding, other: Riding) -> Placement:
    """How a frame stands and moves in another, composed over the frames between them and no others, which keeps
    expressions short.
    """
    require_frames(frame, other)
    if frame.root is not other.root:
        raise InputError(
            f"{frame!r} and {other!r} have no frame in common: their roots are '{frame.root.name}' and"
            f" '{other.root.name}'",
            hint="make them with child(), from one root: a copy, or another of its name, is another root",
        )
    above = set(upward(other))
    common = next(link for link in upward(frame) if link in above)
    down = _from(common, frame)
    return down if common is other else composed(inverted(_from(common, other)), down)


def twist_in(frame: Riding, other: Riding) -> Motion:
    """The twist of a frame seen from another, in its own axes at its own origin."""
    twist = placement_in(frame, other).twist
    if twist is None:
        raise _unknown(frame, other, "twist", "angular_velocity=…, velocity=…")
    return twist


def acceleration_in(frame: Riding, other: Riding) -> Motion:
    """The spatial acceleration of a frame seen from another, in its own axes at its own origin."""
    acceleration = placement_in(frame, other).acceleration
    if acceleration is None:
        raise _unknown(frame, other, "acceleration", "angular_acceleration=…, acceleration=…")
    return acceleration


def turned_into(axes: Riding, frame: Riding, vector: Vector) -> Vector:
    """A vector in the axes of `frame`, in those of `axes`."""
    return vector if axes is frame else apply(placement_in(frame, axes).pose.rotation, vector)


def offset(start: ChainPoint, end: ChainPoint, axes: Riding) -> Vector:
    """The vector from one point to another, by the first one's frame, in the axes of a third."""
    require_points(start, end)
    pose = placement_in(end.frame, start.frame).pose
    return turned_into(axes, start.frame, subtract(transform_point(pose, end.coordinates), start.coordinates))


def rate_in(
    axes: Riding,
    rate_of: Callable[[ChainPoint, Riding], Vector],
    point: ChainPoint,
    relative_to: ChainPoint | None,
    seen_from: Riding,
) -> Vector:
    """A point's velocity or acceleration less that of another, in any axes."""
    own = turned_into(axes, point.frame, rate_of(point, seen_from))
    if relative_to is None:
        return own
    require_points(relative_to)
    return subtract(own, turned_into(axes, relative_to.frame, rate_of(relative_to, seen_from)))


def velocity_of(point: ChainPoint, seen_from: Riding) -> Vector:
    """v + ω × r + ṙ, in the axes of the point's frame."""
    require_frames(seen_from)
    if point.rate is None:
        raise _unknown_point(point, "velocity=…")
    if point.frame is seen_from:
        return point.rate
    v, omega = twist_in(point.frame, seen_from)
    return add(add(v, cross(omega, point.coordinates)), point.rate)


def acceleration_of(point: ChainPoint, seen_from: Riding) -> Vector:
    """a + α × r + ω × (v + ω × r + 2 ṙ) + r̈ with the spatial acceleration a, in the axes of the point's frame."""
    if point.rate is None or point.second_rate is None:
        raise _unknown_point(point, "velocity=…, acceleration=…")
    if point.frame is seen_from:
        return point.second_rate
    omega = twist_in(point.frame, seen_from).angular
    a, alpha = acceleration_in(point.frame, seen_from)
    turning = cross(omega, add(velocity_of(point, seen_from), point.rate))
    return add(add(a, cross(alpha, point.coordinates)), add(turning, point.second_rate))


def _from(above: Riding, frame: Riding) -> Placement:
    """How a frame moves in one of those above it."""
    if above.parent is None:
        return frame.in_root
    between: list[Riding] = []
    for link in upward(frame):
        if link is above:
            break
        between.append(link)
    placement = AT_REST
    for link in reversed(between):
        placement = composed(placement, link.placement)
    return placement


def _unknown(frame: Riding, other: Riding, what: str, arguments: str) -> InputError:
    shared = set(upward(frame)) & set(upward(other))
    between = [link for end in (frame, other) for link in upward(end) if link not in shared]
    named = next(link for link in between if getattr(link.placement, what) is None)
    above = named.parent.name if named.parent else ""
    return InputError(
        f"how frame '{named.name}' moves in '{above}' is not known: its {what} doesn't follow from numbers over time",
        hint=f"give its rates: frame('{above}').child('{named.name}', …, {arguments})",
    )


def _unknown_point(point: ChainPoint, arguments: str) -> InputError:
    return InputError(
        f"how point '{point.name}' moves in frame '{point.frame.name}' is not known:"
        " its positions are numbers over time",
        hint=f"give its rates: point('{point.name}', …, {arguments})",
    )
