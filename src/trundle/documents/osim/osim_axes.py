"""What an OpenSim joint moves, as axes one after the other, each moved by one coordinate or held still.

A joint's transform is a translation along three axes of the parent's frame, then rotations about three, each fixed in
what the one before has turned (OpenSim's SpatialTransform).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from trundle.documents.osim.osim_elements import OsimJoint, OsimNode
from trundle.errors import suggest
from trundle.spatial.vectors import Vector

# The axes of joints that OpenSim has by name.
_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
# Joints that are axes by themselves: which turn, which slide, in the order of their coordinates.
_AXES: Mapping[str, tuple[tuple[bool, Vector], ...]] = {
    "PinJoint": ((True, _Z),),
    "SliderJoint": ((False, _X),),
    "WeldJoint": (),
    "UniversalJoint": ((True, _X), (True, _Y)),
    "GimbalJoint": ((True, _X), (True, _Y), (True, _Z)),
    "PlanarJoint": ((True, _Z), (False, _X), (False, _Y)),
}
# Joints that Trundle has as one, with quaternions.
WHOLE = {"BallJoint": "spherical", "FreeJoint": "floating"}
_KNOWN = (*_AXES, *WHOLE, "CustomJoint")


@dataclass(frozen=True)
class OsimAxis:
    """An axis that turns or slides by slope · q + offset (rad, m); without a coordinate by `offset` alone.

    `limits` are the coordinate's own where it is clamped.
    """

    turns: bool
    direction: Vector
    coordinate: str = ""
    slope: float = 0.0
    offset: float = 0.0
    limits: tuple[float, float] | None = None


def axes_of(joint: OsimJoint) -> list[OsimAxis]:
    """A joint's axes, translations first; raises InputError for joints that Trundle has no axes for."""
    node, kind = joint.node, joint.kind
    if kind not in _KNOWN:
        raise node.fail(f"a {kind} isn't read", suggest(kind, _KNOWN))
    if node.flag("reverse"):
        raise node.fail("a reversed joint isn't read", "swap its parent and its child")
    coordinates = {each.name: each for each in _coordinates(node)}
    if kind in WHOLE:
        return []
    if kind == "CustomJoint":
        axes = list(_custom(node, coordinates))
    else:
        wanted = _AXES[kind]
        if len(coordinates) != len(wanted):
            raise node.fail(f"a {kind} has {len(wanted)} coordinates, this one {len(coordinates)}")
        axes = [
            _moved(OsimAxis(turns, axis, name, 1.0), coordinates[name])
            for (turns, axis), name in zip(wanted, coordinates, strict=True)
        ]
    driven = [axis.coordinate for axis in axes if axis.coordinate]
    if twice := [name for name in driven if driven.count(name) > 1]:
        raise node.fail(
            f"the coordinate {twice[0]!r} moves two axes, which isn't read", "one axis a coordinate"
        )
    return sorted(axes, key=lambda axis: axis.turns)


def _coordinates(node: OsimNode) -> list[OsimNode]:
    """Version 4: <coordinates>; version 3: <CoordinateSet> <objects>."""
    holder = (
        node.child("coordinates", "objects")
        or node.child("coordinates")
        or node.child("CoordinateSet", "objects")
    )
    return [] if holder is None else [each for each in holder.children() if each.element.tag == "Coordinate"]


def _custom(node: OsimNode, coordinates: Mapping[str, OsimNode]) -> Iterator[OsimAxis]:
    """The axes of a CustomJoint, in the order of its transform."""
    transform = node.child("SpatialTransform")
    for part in [] if transform is None else transform.children():
        name = part.name or part.element.tag
        if part.element.tag != "TransformAxis":
            raise part.fail(f"expected <TransformAxis>, got <{part.element.tag}>")
        if not name.startswith(("rotation", "translation")):
            raise part.fail(f"an axis is a rotation or a translation, not {name!r}")
        direction = part.vector("axis")
        moved_by = part.text("coordinates").split()
        slope, offset = _function(part, name, bool(moved_by))
        if not any(direction):
            raise part.fail(f"{name}: the axis has length 0")
        axis = OsimAxis(name.startswith("rotation"), direction, offset=offset)
        if not moved_by or slope == 0.0:
            yield axis
            continue
        if len(moved_by) > 1 or moved_by[0] not in coordinates:
            hint = suggest(moved_by[0], coordinates)
            raise part.fail(
                f"{name}: expected one of the joint's coordinates, got {' '.join(moved_by)!r}", hint
            )
        moved = OsimAxis(axis.turns, direction, moved_by[0], slope, offset)
        yield _moved(moved, coordinates[moved_by[0]])


def _function(part: OsimNode, name: str, moves: bool) -> tuple[float, float]:
    """Slope and offset of an axis's function; InputError where it is no straight line."""
    holder = part.child("function")
    functions = [] if holder is None else holder.children()
    if holder is None:  # version 3 writes <function> or the function itself
        functions = [each for each in part.children() if each.element.tag in ("LinearFunction", "Constant")]
        bare = [
            each.element.tag for each in part.children() if each.element.tag not in ("axis", "coordinates")
        ]
        if bare and not functions:
            functions = [each for each in part.children() if each.element.tag == bare[0]]
    return _line(functions[0], name) if functions else (float(moves), 0.0)


def _line(function: OsimNode, name: str) -> tuple[float, float]:
    """Slope and offset of a function that is a line."""
    kind = function.element.tag
    if kind == "LinearFunction":
        slope, offset = function.numbers("coefficients", 2, (1.0, 0.0))
        return slope, offset
    if kind == "Constant":
        return 0.0, function.numbers("value", 1, (0.0,))[0]
    if kind == "MultiplierFunction":
        inner = function.child("function")
        if inner is not None and inner.children():
            (factor,) = function.numbers("scale", 1, (1.0,))
            slope, offset = _line(inner.children()[0], name)
            return factor * slope, factor * offset
    hint = "known: LinearFunction, Constant, and a MultiplierFunction of them"
    raise function.fail(f"{name} follows a {kind}, which isn't read", hint)


def _moved(axis: OsimAxis, coordinate: OsimNode) -> OsimAxis:
    """The axis with its coordinate's limits; held still where the coordinate is locked."""
    if coordinate.flag("locked"):
        (value,) = coordinate.numbers("default_value", 1, (0.0,))
        return OsimAxis(axis.turns, axis.direction, offset=axis.slope * value + axis.offset)
    if abs(axis.slope) != 1.0:
        message = f"the coordinate {axis.coordinate!r} moves its axis by {axis.slope:g} times itself"
        raise coordinate.fail(message, "a slope of 1 or -1 is read")
    if not coordinate.flag("clamped"):
        return axis
    lower, upper = coordinate.numbers("range", 2)
    if lower > upper:
        raise coordinate.fail(
            f"the range of {axis.coordinate!r} ends before it begins: {lower:g} to {upper:g}"
        )
    return OsimAxis(axis.turns, axis.direction, axis.coordinate, axis.slope, axis.offset, (lower, upper))
