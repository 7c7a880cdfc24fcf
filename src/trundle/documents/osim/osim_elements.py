"""The elements of an OpenSim model as plain components: bodies, joints with their frames.

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

    def some_numbers(self, tag: str, least: int, most: int) -> tuple[float, ...]:
        """As many numbers as there are, within bounds."""
        child = self.child(tag)
        count = 0 if child is None else len((child.element.text or "").split())
        if child is None or not least <= count <= most:
            raise self.fail(f"expected {least} to {most} numbers in <{tag}>, got {count}")
        return self.numbers(tag, count)

    def vector(self, tag: str, default: Vector | None = None) -> Vector:
        x, y, z = self.numbers(tag, 3, default)
        return (x, y, z)

    def pose(self, location: str, orientation: str) -> Pose:
        """A pose by the elements of its place and of its angles about body-fixed x, y, z; missing ones are zero."""
        zero = (0.0, 0.0, 0.0)
        rotation = IDENTITY
        for index, angle in enumerate(self.vector(orientation, zero)):
            if angle:
                rotation = multiply(rotation, principal_rotation(index, cos(angle), sin(angle)))
        return Pose(rotation, self.vector(location, zero))

    def flag(self, tag: str, default: str = "false") -> bool:
        return self.text(tag, default).lower() == "true"


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
        inside = [node.element.tag for node in document.children()] if root.tag == "OpenSimDocument" else []
        holds = f" with {' and '.join(f'<{tag}>' for tag in inside[:3])}" if inside else ""
        hint = (
            "muscles, markers and constraints belong to a model: give the file of the model"
            if inside
            else None
        )
        raise document.fail(f"expected <OpenSimDocument> with a <Model>, got <{root.tag}>{holds}", hint)
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
        alone = ", only muscles and other forces" if _objects(model, "ForceSet") else ""
        raise model.fail(
            f"the model has no bodies{alone}", "bodies and joints belong to it: give the whole model"
        )
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
            OsimFrame(parent, node.pose("location_in_parent", "orientation_in_parent")),
            OsimFrame(name, node.pose("location", "orientation")),
            node,
        )


def _standing(model: OsimNode, frames: _Frames) -> Iterator[OsimJoint]:
    """Version 4: <JointSet> <objects> <PinJoint> with sockets that name frames."""
    for joint in _objects(model, "JointSet"):
        node = OsimNode(joint.element, model.file, f"joint {joint.name!r}")
        parent = frames.find(node.text("socket_parent_frame"), node, node)
        child = frames.find(node.text("socket_child_frame"), node, node)
        yield OsimJoint(node.name, node.element.tag, parent, child, node)


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
        return OsimFrame(base.body, compose(base.pose, offset.pose("translation", "orientation")))


def _offset_frames(node: OsimNode) -> dict[str, OsimNode]:
    frames: dict[str, OsimNode] = {}
    for element in node.element.iter("PhysicalOffsetFrame"):
        if isinstance(element, XmlElement):
            frames.setdefault(element.get("name", ""), OsimNode(element, node.file, node.owner))
    return frames
