"""What Trundle adds to a URDF file: <wheel>, <motor>, <battery>, <coupling>, <loop> and <parameter> inside <trundle>.

Their attributes are the keys of a description, and what stands in them is read as in YAML.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from numbers import Integral, Real

from trundle.documents.urdf.xml_tree import XmlPart
from trundle.documents.yamltext import read_yaml
from trundle.errors import InputError, suggest
from trundle.robot.parts import FAMILIES, base_by

# Trundle's own element: what a Robot says and URDF has no word for. Other readers of URDF skip it.
EXTENSION = "trundle"
AS_GIVEN = "as_given"
# Its attributes inside <robot>.
ATTRIBUTES = ("base", "gravity", "inertia", "speeds")
# The elements, and the keys of a description that they fill.
TAGS = {tag: family for family, tag in FAMILIES.items() if family != "joints"} | {"parameter": "parameters"}


@dataclass(frozen=True)
class Addition:
    """One element: the family and the name of its component, its keys as plain data, and the joint of a wheel."""

    family: str
    name: str
    data: Mapping[str, object]
    joint: str | None
    part: XmlPart

    @property
    def value(self) -> object:
        """What stands under its name in a description: its keys, of a parameter the number."""
        return self.data.get("value") if self.family == "parameters" else self.data


@dataclass(frozen=True)
class Extension:
    """What Trundle's own element inside <robot> says: how the base moves, gravity (m/s², or with a unit), whether
    inertias stand as given, the independent speeds, and the elements inside it.
    """

    base: str | None = None
    gravity: object = None
    as_given: bool = False
    speeds: object = None
    additions: tuple[Addition, ...] = ()

    @property
    def wheeled(self) -> bool:
        """Whether the robot has wheels that stand on a plane, not feet."""
        return base_by(self.by_family().get("wheels")) == "planar"

    @property
    def on_joints(self) -> Iterator[Addition]:
        """The wheels that take a joint's place."""
        return (addition for addition in self.additions if addition.joint is not None)

    def by_family(self) -> dict[str, dict[str, object]]:
        """What the elements say, as a description has it: under the keys of the families."""
        data: dict[str, dict[str, object]] = {}
        for addition in self.additions:
            data.setdefault(addition.family, {})[addition.name] = addition.value
        return data


def read_extension(part: XmlPart | None) -> Extension:
    """What URDF has no words for."""
    if part is None:
        return Extension()
    said = part.element.attrib
    for name in said:
        if name not in ATTRIBUTES:
            raise part.fail(f"unknown attribute {name!r}", name, suggest(name, ATTRIBUTES))
    if said.get("inertia", AS_GIVEN) != AS_GIVEN:
        hint = f"write inertia='{AS_GIVEN}', or take it away"
        raise part.fail(f"unknown choice {said['inertia']!r}", "inertia", hint)
    gravity = _gravity(part) if "gravity" in said else None
    speeds = meaning(part, "speeds") if "speeds" in said else None
    return Extension(said.get("base"), gravity, "inertia" in said, speeds, _additions(part))


def _gravity(part: XmlPart) -> object:
    """A number, three with spaces between them, or what a description may have there: text with a unit, a list."""
    text = part.text("gravity")
    if text.startswith("[") or (text[-1].isalnum() and not text[-1].isdigit()) or "^" in text:
        return meaning(part, "gravity")
    return part.numbers("gravity") if len(text.split()) > 1 else part.number("gravity")


def _additions(part: XmlPart) -> tuple[Addition, ...]:
    """The elements inside <trundle>; raises InputError for unknown ones, and for two of one family and name."""
    found: dict[tuple[str, str], Addition] = {}
    for child in part.children():
        addition = _addition(child)
        key = addition.family, addition.name
        if key in found:
            message = f"the name {addition.name!r} is taken already, in line {found[key].part.element.line}"
            raise addition.part.fail(message, "name", "names must differ")
        found[key] = addition
    return tuple(found.values())


def _addition(child: XmlPart) -> Addition:
    """An element inside <trundle>, its attributes read as YAML; InputError for tags and joints that can't be."""
    tag = child.element.tag
    if tag not in TAGS:
        raise child.fail(f"unknown element <{tag}>", hint=suggest(tag, TAGS))
    name = child.text("name", 'write name="..."')
    part = replace(child, owner=f"{tag} {name!r}")
    inside = part.children()
    if inside:
        raise inside[0].fail("holds no elements", hint="write its keys as attributes, as in YAML")
    data = {key: meaning(part, key) for key in child.element.attrib if key != "name"}
    joint = data.pop("joint", None) if tag == "wheel" else None
    if joint is not None and not isinstance(joint, str):
        raise part.fail(f"expected a joint's name, got {joint!r}", "joint")
    if tag == "parameter" and data.keys() != {"value"}:
        raise part.fail("expected a name and a value", hint='write <parameter name="r" value="0.1"/>')
    return Addition(TAGS[tag], name, data, joint, part)


def meaning(part: XmlPart, key: str) -> object:
    """What an attribute says, read as in YAML."""
    text = part.text(key)
    try:
        return read_yaml(text)[0]
    except InputError as error:
        raise part.fail(error.message, key, error.hint) from None


def in_attribute(value: object) -> str:
    """Plain data as text that `meaning` reads back to the same; raises InputError for what isn't plain data."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_word(str(key))}: {in_attribute(inner)}' for key, inner in value.items())}}}"
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(in_attribute, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):  # NumPy's, too
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e6 else repr(number)
    if isinstance(value, str):
        return _word(value)
    raise InputError(f"expected plain data, got {type(value).__name__}")


def _word(text: str) -> str:
    """Text as it stands where that reads back, also inside brackets; else in quotes."""
    if not set(text) & set(",[]{}:#&*!|>'\"%@`\n"):
        try:
            if read_yaml(f"[{text}]")[0] == [text]:
                return text
        except InputError:
            pass
    return json.dumps(text, ensure_ascii=False)
