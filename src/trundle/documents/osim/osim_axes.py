"""What an OpenSim joint's axes do: each turns or slides by a function of the joint's coordinates."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

from trundle.documents.osim.osim_elements import OsimJoint, OsimNode
from trundle.documents.osim.osim_functions import OsimFunction, read_function
from trundle.errors import suggest
from trundle.spatial.vectors import Vector

# The axes of joints that OpenSim has by name.
_X, _Y, _Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
_BALL = ((True, _X), (True, _Y), (True, _Z))
# Joints that are axes by themselves: which turn, which slide, in the order of their coordinates.
_AXES: Mapping[str, tuple[tuple[bool, Vector], ...]] = {
    "PinJoint": ((True, _Z),),
    "SliderJoint": ((False, _X),),
    "WeldJoint": (),
    "UniversalJoint": ((True, _X), (True, _Y)),
    "GimbalJoint": _BALL,
    "PlanarJoint": ((True, _Z), (False, _X), (False, _Y)),
    "BallJoint": _BALL,
    "FreeJoint": (*_BALL, (False, _X), (False, _Y), (False, _Z)),
}
# Joints that Trundle has as one, with quaternions, where no coordinate of theirs is held or coupled.
_WHOLE = {"BallJoint": "spherical", "FreeJoint": "floating"}
_KNOWN = (*_AXES, "CustomJoint")


@dataclass(frozen=True)
class OsimAxis:
    """An axis that turns or slides by a function of coordinates (rad, m)."""

    name: str
    turns: bool
    direction: Vector
    function: OsimFunction

    @property
    def carries(self) -> str:
        """The coordinate that it turns or slides by itself, forward or backward; "" for none."""
        function = self.function
        alone = len(function.coordinates) == 1 and function.curve is None and abs(function.slopes[0]) == 1.0
        return function.coordinates[0] if alone else ""


def whole_type(joint: OsimJoint, single: Collection[str]) -> str:
    """The type of a joint that is read as one, "" for others; `single` are coordinates that have to stand alone."""
    return "" if {node.name for node in coordinates_of(joint)} & set(single) else _WHOLE.get(joint.kind, "")


def axes_of(joint: OsimJoint, held: Mapping[str, float]) -> list[OsimAxis]:
    """A joint's axes, translations first, with held coordinates put in; raises InputError for what isn't read."""
    node, kind = joint.node, joint.kind
    if kind not in _KNOWN:
        raise node.fail(f"a {kind} isn't read", suggest(kind, _KNOWN))
    if node.flag("reverse"):
        raise node.fail("a reversed joint isn't read", "swap its parent and its child")
    coordinates = [each.name for each in coordinates_of(joint)]
    if kind == "CustomJoint":
        axes = list(_custom(node, coordinates))
    else:
        wanted = _AXES[kind]
        if len(coordinates) != len(wanted):
            raise node.fail(f"a {kind} has {len(wanted)} coordinates, this one {len(coordinates)}")
        axes = [
            OsimAxis("", turns, axis, OsimFunction((name,), (1.0,)))
            for (turns, axis), name in zip(wanted, coordinates, strict=True)
        ]
    axes = [replace(axis, function=axis.function.substitute(held)) for axis in axes]
    return sorted(axes, key=lambda axis: (axis.turns, axis.name))


def coordinates_of(joint: OsimJoint) -> list[OsimNode]:
    """Version 4: <coordinates>; version 3: <CoordinateSet> <objects>."""
    node = joint.node
    holder = (
        node.child("coordinates", "objects")
        or node.child("coordinates")
        or node.child("CoordinateSet", "objects")
    )
    return [] if holder is None else [part for part in holder.children() if part.element.tag == "Coordinate"]


def range_of(coordinate: OsimNode) -> dict[str, object]:
    """What a joint says of its coordinate (rad, m): a clamped range as stops, another one and the default as usual.

    A range of one value is none: motions move such coordinates in OpenSim, too.
    """
    (value,), clamped = coordinate.numbers("default_value", 1, (0.0,)), coordinate.flag("clamped")
    usual = {"value": value} if value else {}
    stops: dict[str, object] = {}
    if clamped or coordinate.child("range") is not None:
        lower, upper = coordinate.numbers("range", 2)
        if lower > upper:
            raise coordinate.fail(
                f"the range of {coordinate.name!r} ends before it begins: {lower:g} to {upper:g}"
            )
        if clamped and lower < upper:
            stops = {"lower": lower, "upper": upper}
        elif lower < upper:
            usual |= {"lower": lower, "upper": upper}
    return stops | ({"usual": usual} if usual else {})


def _custom(node: OsimNode, coordinates: Collection[str]) -> Iterator[OsimAxis]:
    """The axes of a CustomJoint."""
    transform = node.child("SpatialTransform")
    for part in [] if transform is None else transform.children():
        name = part.name or part.element.tag
        if part.element.tag != "TransformAxis":
            raise part.fail(f"expected <TransformAxis>, got <{part.element.tag}>")
        if not name.startswith(("rotation", "translation")):
            raise part.fail(f"an axis is a rotation or a translation, not {name!r}")
        direction = part.vector("axis")
        if not any(direction):
            raise part.fail(f"{name}: the axis has length 0")
        moved_by = part.text("coordinates").split()
        for wrong in [moving for moving in moved_by if moving not in coordinates]:
            raise part.fail(
                f"{name}: expected the joint's coordinates, got {wrong!r}", suggest(wrong, coordinates)
            )
        yield OsimAxis(name, name.startswith("rotation"), direction, _function(part, name, moved_by))


def _function(part: OsimNode, name: str, moved_by: list[str]) -> OsimFunction:
    """An axis's function; without one it moves by its coordinate itself."""
    holder = part.child("function")
    functions = [] if holder is None else holder.children()
    if holder is None:  # version 3 writes <function> or the function itself
        functions = [child for child in part.children() if child.element.tag not in ("axis", "coordinates")]
    if functions:
        return read_function(functions[0], moved_by, name)
    return OsimFunction(tuple(moved_by[:1]), (1.0,) * len(moved_by[:1]))
