"""The elements of an OpenSim model as plain nouns: bodies, joints with their frames and axes, markers.

Both layouts are read: version 3, where a body owns its joint, and version 4, where joints stand by themselves and name
frames by paths. Source: OpenSim's documentation, "OpenSim Models", and the comments that it writes into models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from trundle.documents.urdf.xml_tree import XmlElement
from trundle.errors import InputError, suggest
from trundle.robot.values import MOST
from trundle.scalars import cos, sin
from trundle.spatial.motions import IDENTITY_POSE, Pose, compose
from trundle.spatial.vectors import IDENTITY, Vector, multiply, principal_rotation

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
# The layouts: below it bodies own their joints, from the other on joints have sockets; between them lie formats of
# development versions.
_VERSION_3, _VERSION_4 = 30500, 40000
# Offset frames stand on offset frames; more than a few of them are a circle.
_MOST_NESTED = 20
GROUND = "ground"


@dataclass(frozen=True)
class OsimNode:
    """An element, and how messages call what it belongs to."""

    element: XmlElement
    file: str | None
    owner: str = ""

    @property
    def name(self) -> str:
        return self.element.get("name", "").strip()

    def fail(self, message: str, hint: str | None = None) -> InputError:
        return InputError(message, file=self.file, line=self.element.line, key=self.owner or None, hint=hint)

    def child(self, *path: str) -> OsimNode | None:
        """The element under a path of tags, each the first of its kind."""
        place = self.element
        for tag in path:
            inner = next((part for part in place if isinstance(part, XmlElement) and part.tag == tag), None)
            if inner is None:
                return None
            place = inner
        return OsimNode(place, self.file, self.owner)

    def children(self) -> list[OsimNode]:
        return [
            OsimNode(part, self.file, self.owner) for part in self.element if isinstance(part, XmlElement)
        ]

    def text(self, tag: str, default: str = "") -> str:
        child = self.child(tag)
        return default if child is None else (child.element.text or "").strip()

    def numbers(self, tag: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """So many numbers with spaces between them; without a default they must be there."""
        child = self.child(tag)
        if child is None:
            if default is None:
                raise self.fail(f"<{tag}> is missing")
            return default
        pieces = (child.element.text or "").split()
        if len(pieces) != count or not all(_NUMBER.fullmatch(piece) for piece in pieces):
            raise child.fail(f"expected {count} numbers in <{tag}>, got {' '.join(pieces)[:60]!r}")
        numbers = tuple(float(piece) + 0.0 for piece in pieces)
        if any(abs(number) > MOST for number in numbers):
            raise child.fail(f"a number in <{tag}> is too large")
        return numbers

    def vector(self, tag: str, default: Vector | None = None) -> Vector:
        x, y, z = self.numbers(tag, 3, default)
        return (x, y, z)

    def flag(self, tag: str) -> bool:
        return self.text(tag).lower() == "true"


@dataclass(frozen=True)
class OsimFrame:
    """A frame fixed on a body: the body's name, and the pose in the body."""

    body: str
    pose: Pose


@dataclass(frozen=True)
class OsimJoint:
    """A joint: its frames on parent and child, and its element."""

    name: str
    kind: str
    parent: OsimFrame
    child: OsimFrame
    node: OsimNode


@dataclass(frozen=True)
class OsimModel:
    """What a file says of a model's bodies and joints; `frame_of` finds a frame by its path."""

    node: OsimNode
    bodies: Mapping[str, OsimNode]
    joints: tuple[OsimJoint, ...]
    frame_of: Callable[[str, OsimNode, OsimNode], OsimFrame]


def read_model(root: XmlElement, file: str | None) -> OsimModel:
    """Bodies and joints of a document; raises InputError."""
    document = OsimNode(root, file)
    model = document.child("Model")
    if root.tag != "OpenSimDocument" or model is None:
        raise document.fail(f"expected <OpenSimDocument> with a <Model>, got <{root.tag}>")
    written = root.get("Version", "")
    if not written.isdigit() or len(written) > 6:
        raise document.fail(f"expected a version such as 40000, got {written[:20]!r}")
    version = int(written)
    if _VERSION_3 <= version < _VERSION_4:
        hint = "open it in OpenSim 4 and save it again"
        raise document.fail(f"version {version} is of a development version, between 3 and 4", hint)
    bodies = {body.name: body for body in _objects(model, "BodySet") if body.name != GROUND}
    if len(bodies) < len([body for body in _objects(model, "BodySet") if body.name != GROUND]):
        raise model.fail("two bodies have the same name")
    if not bodies:
        raise model.fail("the model has no bodies")
    bodies = {name: OsimNode(body.element, file, f"body {name!r}") for name, body in bodies.items()}
    frames = _Frames(model, frozenset(bodies))
    joints = _owned(bodies, frames) if version < _VERSION_3 else _standing(model, frames)
    return OsimModel(model, bodies, tuple(joints), frames.find)


def _objects(model: OsimNode, collection: str) -> list[OsimNode]:
    objects = model.child(collection, "objects")
    return [] if objects is None else objects.children()


def _owned(bodies: Mapping[str, OsimNode], frames: _Frames) -> Iterator[OsimJoint]:
    """Version 3: <Body> <Joint> <PinJoint> with <parent_body> and four vectors."""
    for name, body in bodies.items():
        holder = body.child("Joint") or body.child("joint")
        inside = [] if holder is None else holder.children()
        if len(inside) != 1:
            raise body.fail(
                f"a body has one joint, this one {len(inside)}", "write <Joint> <PinJoint name=...>"
            )
        node = OsimNode(inside[0].element, body.file, f"joint {inside[0].name!r}")
        parent = frames.body(node.text("parent_body"), node)
        yield OsimJoint(
            node.name,
            node.element.tag,
            OsimFrame(parent, _pose(node, "location_in_parent", "orientation_in_parent")),
            OsimFrame(name, _pose(node, "location", "orientation")),
            node,
        )


def _standing(model: OsimNode, frames: _Frames) -> Iterator[OsimJoint]:
    """Version 4: <JointSet> <objects> <PinJoint> with sockets that name frames."""
    for joint in _objects(model, "JointSet"):
        node = OsimNode(joint.element, model.file, f"joint {joint.name!r}")
        parent = frames.find(node.text("socket_parent_frame"), node, node)
        child = frames.find(node.text("socket_child_frame"), node, node)
        yield OsimJoint(node.name, node.element.tag, parent, child, node)


def _pose(node: OsimNode, location: str, orientation: str) -> Pose:
    zero = (0.0, 0.0, 0.0)
    x, y, z = node.vector(orientation, zero)
    rotation = IDENTITY
    for index, angle in ((0, x), (1, y), (2, z)):  # body-fixed x, y, z
        if angle:
            rotation = multiply(rotation, principal_rotation(index, cos(angle), sin(angle)))
    return Pose(rotation, node.vector(location, zero))


class _Frames:
    """Frames of version 4 by the last part of their path: the joint's own first, then the model's."""

    def __init__(self, model: OsimNode, bodies: frozenset[str]) -> None:
        self.bodies = bodies
        self.all = _offset_frames(model)

    def body(self, path: str, node: OsimNode) -> str:
        name = path.rsplit("/", 1)[-1]
        if name != GROUND and name not in self.bodies:
            raise node.fail(f"there is no body {path!r}", suggest(name, [GROUND, *self.bodies]))
        return name

    def find(self, path: str, node: OsimNode, within: OsimNode, depth: int = 0) -> OsimFrame:
        """The frame of a path: its body and its pose there, through the offset frames that it stands on."""
        name = path.rsplit("/", 1)[-1]
        offset = _offset_frames(within).get(name) or self.all.get(name)
        if offset is None or name in self.bodies:
            known = sorted({GROUND, *self.bodies, *self.all})
            if name != GROUND and name not in self.bodies:
                raise node.fail(f"there is no frame {path!r}", suggest(name, known))
            return OsimFrame(name, IDENTITY_POSE)
        if depth == _MOST_NESTED:
            raise node.fail(f"the frame {path!r} stands on itself")
        base = self.find(offset.text("socket_parent"), offset, within, depth + 1)
        return OsimFrame(base.body, compose(base.pose, _pose(offset, "translation", "orientation")))


def _offset_frames(node: OsimNode) -> dict[str, OsimNode]:
    frames: dict[str, OsimNode] = {}
    for element in node.element.iter("PhysicalOffsetFrame"):
        if isinstance(element, XmlElement):
            frames.setdefault(element.get("name", ""), OsimNode(element, node.file, node.owner))
    return frames


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
    return [] if holder is None else [part for part in holder.children() if part.element.tag == "Coordinate"]


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
        children = [child for child in part.children() if child.element.tag not in ("axis", "coordinates")]
        known = [child for child in children if child.element.tag in ("LinearFunction", "Constant")]
        functions = known or children[:1]
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
