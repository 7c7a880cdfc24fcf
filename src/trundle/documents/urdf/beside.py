"""A description that names a URDF file and adds to it: `urdf: FILE` beside wheels, motors and the rest.

What it adds is put into the elements of the file as they would stand there, inside <trundle>. So both ways of writing
mean the same, and what is written back to URDF holds all of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath

from trundle.documents.document import read_text
from trundle.documents.urdf.additions import EXTENSION, TAGS, in_attribute
from trundle.documents.urdf.elements import origin_of
from trundle.documents.urdf.urdf_reader import checked_reading, read_root
from trundle.documents.urdf.visuals import names_meshes
from trundle.documents.urdf.xml_tree import DescriptionPlace, XmlElement, XmlPart, read_xml
from trundle.errors import InputError, suggest
from trundle.robot.description import Robot
from trundle.robot.problems import Path
from trundle.robot.values import describe
from trundle.spatial.vectors import add, apply, euler_rotation, scale

_ELEMENTS = {family: tag for tag, family in TAGS.items()}
# The axis of a joint that says none.
_ALONG = (1.0, 0.0, 0.0)
# Keys of a robot that stand as attributes of <trundle>.
_ATTRIBUTES = ("base", "gravity", "speeds")
_FROM_FILE = {
    "joints": '<trundle stiffness="..."/> inside its <joint> says what URDF has no word for',
    "body": "the file's root link and what is fixed to it is the base's body",
    "folder": "meshes are looked for around the URDF file",
}


def robot_beside(
    data: Mapping[str, object],
    path: str | FilePath | None,
    lines: Mapping[Path, int] | None,
    base: str | None,
    strict: bool,
) -> Robot:
    """The robot of a URDF file with what a description adds to it; `path` and `lines` are the description's."""
    file = None if path is None else str(path)
    beside = FilePath() if path is None else FilePath(path).parent
    urdf = beside / str(data["urdf"])
    where = DescriptionPlace(file, dict(lines or {}))
    if urdf.suffix.lower() != ".urdf":
        hint = "name a file such as robot.urdf, relative to this one"
        raise where.fail(f"expected a URDF file, got {data['urdf']!r}", ("robot", "urdf"), hint)
    try:
        text = read_text(urdf)
    except InputError as error:
        raise where.fail(f"{urdf}: {error.message}", ("robot", "urdf"), error.hint) from None
    root, before = read_xml(text, str(urdf))
    _add(root, data, where)
    folder = str(urdf.resolve().parent) if names_meshes(text) else None
    reading = read_root(root, before, str(urdf), base=base, strict=strict, folder=folder)
    checked_reading(reading, urdf, base)
    return reading.robot


def _add(root: XmlElement, data: Mapping[str, object], where: DescriptionPlace) -> None:
    """Put what a description says into a file's elements."""
    found = root.find(EXTENSION)
    extension = found if isinstance(found, XmlElement) else _appended(root, EXTENSION, where, ("robot",))
    for key, given in data.items():
        if key in _ELEMENTS:
            for element in _elements(key, given, where):
                for old in extension.findall(element.tag):
                    if old.get("name") == element.get("name"):
                        extension.remove(old)
                extension.append(element)
        elif key in _ATTRIBUTES:
            extension.set(key, _text(given, where, ("robot", key)))
        elif key == "fixed":
            _fix(root, given, where)
        elif key == "name":
            if not isinstance(given, str):
                raise where.fail(f"expected a name, got {describe(given)}", ("robot", key))
            root.set("name", given)
        elif key != "urdf":
            known = ("urdf", "name", "fixed", *_ATTRIBUTES, *_ELEMENTS)
            hint = _FROM_FILE.get(key) or suggest(key, known, most=20)
            raise where.fail(f"{key!r} can't stand beside a URDF file", ("robot", key), hint)


def _fix(root: XmlElement, given: object, where: DescriptionPlace) -> None:
    """Make joints of a file fixed at positions (m; of those that turn 0): what they carry moves with their parents."""
    if not isinstance(given, Mapping):
        message = f"expected positions by joint, got {describe(given)}"
        raise where.fail(message, ("robot", "fixed"), "write JOINT: 0 below this key")
    joints = {str(joint.get("name")): joint for joint in root.findall("joint")}
    for name, position in given.items():
        at: Path = ("robot", "fixed", str(name))
        if name not in joints:
            raise where.fail(f"the file has no joint {str(name)!r}", at, suggest(str(name), joints, most=20))
        joint = joints[name]
        assert isinstance(joint, XmlElement)
        slides = joint.get("type") == "prismatic"
        if not isinstance(position, (int, float)) or isinstance(position, bool) or (position and not slides):
            expected = "a number (m)" if slides else "0: turn its <origin rpy> in the file for another angle"
            raise where.fail(f"expected {expected}, got {describe(position)}", at)
        if position:
            _move(joint, position)
        joint.set("type", "fixed")


def _move(joint: XmlElement, way: float) -> None:
    """Put a joint's origin on along its axis (m)."""
    part = XmlPart(joint, f"joint {joint.get('name')!r}")
    (xyz, rpy), axis = origin_of(part), part.child("axis")
    along = _ALONG if axis is None else axis.numbers("xyz", _ALONG)
    moved = add(xyz, scale(way / math.hypot(*along), apply(euler_rotation(*rpy), along)))
    origin = joint.find("origin")
    if origin is None:
        origin = XmlElement("origin")
        joint.append(origin)
    origin.set("xyz", " ".join(map(str, moved)))


def _elements(family: str, given: object, where: DescriptionPlace) -> Iterator[XmlElement]:
    """The elements of a family: a wheel each, and so on."""
    if not isinstance(given, Mapping):
        message = f"expected a mapping of names, got {describe(given)}"
        raise where.fail(message, ("robot", family), "write NAME: {...} below this key")
    for name, keys in given.items():
        at: Path = ("robot", family, str(name))
        element = XmlElement(_ELEMENTS[family])
        element.place = where.at(at)
        element.set("name", str(name))
        if family == "parameters":
            element.set("value", _text(keys, where, at))
        elif isinstance(keys, Mapping):
            for key, value in keys.items():
                element.set(str(key), _text(value, where, (*at, str(key))))
        else:
            message = f"expected a {_ELEMENTS[family]} (a mapping of keys), got {describe(keys)}"
            raise where.fail(message, at)
        yield element


def _text(value: object, where: DescriptionPlace, at: Path) -> str:
    try:
        return in_attribute(value)
    except InputError as error:
        raise where.fail(error.message, at, error.hint) from None


def _appended(root: XmlElement, tag: str, where: DescriptionPlace, at: Path) -> XmlElement:
    element = XmlElement(tag)
    element.place = where.at(at)
    root.append(element)
    return element
