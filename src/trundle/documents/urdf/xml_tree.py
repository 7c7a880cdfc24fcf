"""XML text to elements that know their line, and back: a small, safe part of XML.

Document types and entities are refused before anything is expanded (they are how a small file becomes a large one, or
reads another), and so are files that are nested too deeply.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from xml.etree import ElementTree
from xml.parsers import expat

from trundle.arrays import Triple
from trundle.errors import InputError, suggest
from trundle.robot.problems import Path, key_of
from trundle.robot.values import MOST

# Far beyond any robot (a Robot may have 1000 joints), and near enough to stop a file that only grows.
_MOST_DEPTH = 50
_MOST_ELEMENTS = 100_000

# Damping and friction that were identified from measurements come out below zero where these tell little of them.
_NOTHING_LOST = "it takes energy and gives none; write 0 where nothing is known of it"


@dataclass(frozen=True)
class DescriptionPlace:
    """Where something is written in a description that isn't URDF itself: file, lines by key paths, key path."""

    file: str | None
    lines: Mapping[Path, int]
    path: Path = ()

    def at(self, path: Path) -> DescriptionPlace:
        """The place of a key there."""
        return replace(self, path=path)

    def fail(self, message: str, path: Path, hint: str | None = None) -> InputError:
        """An error about a key, with its line."""
        return InputError(message, file=self.file, line=self.line_of(path), key=key_of(path), hint=hint)

    def line_of(self, path: Path) -> int | None:
        """The line of a key, or of the nearest one above it that has a line."""
        length = next((size for size in range(len(path), -1, -1) if path[:size] in self.lines), None)
        return None if length is None else self.lines[path[:length]]


class XmlElement(ElementTree.Element):
    """An element of ElementTree and its line in the file (0 for one made here, of which `place` says where its text
    stands).
    """

    line: int = 0
    place: DescriptionPlace | None = None


class _Events:
    """What expat's events become: elements, comments and text, in the order of the file."""

    def __init__(self, file: str | None, blank: int) -> None:
        """A parser whose events build the tree; document types and entities stop it at once. So many `blank` lines
        stood before what it parses.
        """
        self.file, self.blank = file, blank
        self.depth = 0
        self.count = 0
        self.start = -1  # where the root element begins, in bytes
        self.tree = ElementTree.TreeBuilder(XmlElement, insert_comments=True, insert_pis=True)
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.open
        self.parser.EndElementHandler = self.close
        self.parser.CharacterDataHandler = self.tree.data
        self.parser.CommentHandler = self.tree.comment
        self.parser.ProcessingInstructionHandler = self.tree.pi
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    @property
    def line(self) -> int:
        """Where it is in the file."""
        return self.blank + self.parser.CurrentLineNumber

    def fail(self, message: str, hint: str | None = None) -> InputError:
        return InputError(message, file=self.file, line=self.line, hint=hint)

    def refuse(self, *_: object) -> None:
        hint = "take the <!DOCTYPE ...> away: a description is plain elements and attributes"
        raise self.fail("document types and entities are not allowed", hint)

    def open(self, tag: str, attributes: dict[str, str]) -> None:
        """Begin an element, and remember its line; stop where a file is too deep or too long for a robot."""
        self.depth += 1
        self.count += 1
        if self.depth > _MOST_DEPTH:
            raise self.fail(f"nested more than {_MOST_DEPTH} deep")
        if self.count > _MOST_ELEMENTS:
            raise self.fail(f"more than {_MOST_ELEMENTS:,} elements")
        if self.count == 1:
            self.start = self.parser.CurrentByteIndex
        element = self.tree.start(tag, attributes)
        assert isinstance(element, XmlElement)
        element.line = self.line

    def close(self, tag: str) -> None:
        self.depth -= 1
        self.tree.end(tag)


def read_xml(text: str, file: str | None = None) -> tuple[XmlElement, str]:
    """The root element of a text, and what stands before it (a declaration, comments); raises InputError."""
    if not text.strip():
        raise InputError("the file is empty", file=file)
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InputError("contains a character that is not text", file=file, line=line) from None
    begun = content.lstrip()  # nothing may stand before a declaration, and in public files blank lines do
    events = _Events(file, content[: len(content) - len(begun)].count(b"\n"))
    content = begun
    try:
        events.parser.Parse(content, True)
    except expat.ExpatError as error:
        message = f"not valid XML: {expat.ErrorString(error.code)}"
        hint = "check the brackets, the quotes and the end tags here and in the line above"
        raise InputError(message, file=file, line=events.blank + error.lineno, hint=hint) from None
    root = events.tree.close()
    assert isinstance(root, XmlElement)
    return root, content[: events.start].decode().replace("\r\n", "\n")


def write_xml(root: XmlElement, before: str) -> str:
    """A root element as text, indented afresh, behind what stands before it."""
    ElementTree.indent(root)
    # expat made every line end a \n, so a \r left in a text was written as a character reference
    return before + ElementTree.tostring(root, encoding="unicode").replace("\r", "&#13;") + "\n"


# What is known inside an element: its children and its attributes. Anything that looks like one of them misspelt is an
# error; all else belongs to other tools and is left in peace.
_KNOWN: dict[str, tuple[list[str], list[str]]] = {
    tag: (children.split(), attributes.split())
    for tag, children, attributes in (
        ("robot", "link joint transmission gazebo material sensor ros2_control trundle", "name"),
        ("link", "inertial visual collision contact sensor", "name"),
        (
            "joint",
            "origin parent child axis calibration dynamics limit mimic safety_controller trundle",
            "name type",
        ),
        ("inertial", "origin mass inertia", ""),
        ("mass", "", "value"),
        ("inertia", "", "ixx ixy ixz iyy iyz izz"),
        ("origin", "", "xyz rpy"),
        ("axis", "", "xyz"),
        ("dynamics", "", "damping friction"),
        ("limit", "", "lower upper effort velocity"),
        ("mimic", "", "joint multiplier offset"),
    )
}
XACRO = "this is a xacro file: write it out as URDF first (xacro FILE > robot.urdf)"
_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[-+]?inf(inity)?", re.ASCII | re.IGNORECASE)
# How near an unknown name must be to a known one to count as a slip of the pen; other tools' names are farther off.
_NEAR = 0.75


@dataclass(frozen=True)
class XmlPart:
    """An element being read; `owner` is how a message calls the link or joint that it belongs to."""

    element: XmlElement
    owner: str
    file: str | None = None

    @property
    def line(self) -> int:
        """The line where it is written, in its file."""
        place = self.element.place
        return (place.line_of(place.path) or 0) if place is not None else self.element.line

    def fail(self, message: str, attribute: str | None = None, hint: str | None = None) -> InputError:
        """An error about the element or one of its attributes."""
        place, tag = self.element.place, self.element.tag
        if place is not None:
            return place.fail(message, (*place.path, *(() if attribute is None else (attribute,))), hint)
        is_owner = self.owner.startswith(f"{tag} ") and attribute is None
        key = (
            self.owner if is_owner else f"{self.owner} <{tag if attribute is None else f'{tag} {attribute}'}>"
        )
        return InputError(message, file=self.file, line=self.element.line, key=key.strip(), hint=hint)

    def named(self) -> XmlPart:
        """The same element, a link or a joint, as its own owner."""
        return replace(self, owner=f"{self.element.tag} {self.text('name')!r}").checked()

    def checked(self) -> XmlPart:
        """The same element; raises where an unknown child or attribute looks like a known one misspelt."""
        children, attributes = _KNOWN.get(self.element.tag, ([], []))
        for child in self.children():
            near = _slip(child.element.tag, children)
            if near:
                raise child.fail(f"unknown element <{child.element.tag}>", hint=f"did you mean <{near}>?")
        for name in self.element.attrib:
            near = _slip(name, attributes)
            if near and near not in self.element.attrib:
                raise self.fail(f"unknown attribute {name!r}", name, f"did you mean '{near}'?")
        return self

    def children(self, tag: str | None = None) -> list[XmlPart]:
        """The elements inside, comments left out; with a tag, those only."""
        inside = [child for child in self.element if isinstance(child, XmlElement)]
        return [replace(self, element=child) for child in inside if tag is None or child.tag == tag]

    def child(self, tag: str) -> XmlPart | None:
        """The one child with this tag, or none; two are an error."""
        children = self.children(tag)
        if len(children) > 1:
            message = f"<{tag}> stands twice, first in line {children[0].element.line}"
            raise children[1].fail(message, hint="keep one of them")
        return children[0].checked() if children else None

    def needed(self, tag: str, hint: str) -> XmlPart:
        """The one child with this tag; none is an error."""
        child = self.child(tag)
        if child is None:
            raise self.fail(f"has no <{tag}>", hint=hint)
        return child

    def near(self, tag: str) -> XmlPart:
        """The child with this tag or, without one, the element itself: where a message about it belongs."""
        return next(iter(self.children(tag)), self)

    def text(self, name: str, hint: str | None = None) -> str:
        """An attribute that must be there and not be empty."""
        written = self.element.get(name)
        if written is None:
            given = list(self.element.attrib)
            near = suggest(name, given) if given else ""
            here = f"it has {', '.join(given)}" if given and not near.startswith("did") else None
            raise self.fail(f"the attribute {name!r} is missing", hint=hint or here)
        if not written.strip():
            raise self.fail(f"the attribute {name!r} is empty", name, hint)
        return written

    def number(self, name: str, default: float | None = None, *, infinite: bool = False) -> float:
        """A number; without a default it must be there."""
        if default is not None and self.element.get(name) is None:
            return default
        return self._float(self.text(name).strip(), name, "expected a number", infinite)

    def positive(self, name: str, default: float | None = None, *, called: str = "") -> float:
        """A number that isn't negative."""
        number = self.number(name, default)
        if number < 0.0:
            message = f"{called or name} must not be negative, got {number:g}"
            hint = _NOTHING_LOST if name in ("damping", "friction") else f"did you mean {-number:g}?"
            raise self.fail(message, name, hint)
        return number

    def numbers(self, name: str, default: Triple | None = None) -> Triple:
        """Three numbers; without a default they must be there."""
        if default is not None and self.element.get(name) is None:
            return default
        written = self.text(name)
        pieces = written.split()
        expected = "expected three numbers with spaces between them"
        if len(pieces) != 3:
            raise self.fail(
                f"{expected}, got {_short(written)}", name, XACRO if "${" in written else 'as in "0 0 0.5"'
            )
        x, y, z = (self._float(piece, name, expected, False) for piece in pieces)
        return (x, y, z)

    def _float(self, piece: str, name: str, expected: str, infinite: bool) -> float:
        """A number of an attribute, finite unless `infinite`; commas and xacro's ${} have hints of their own."""
        if infinite and _INFINITE.fullmatch(piece):
            return float(piece)
        if not _NUMBER.fullmatch(piece):
            hint = "write a point, not a comma" if _NUMBER.fullmatch(piece.replace(",", ".")) else None
            raise self.fail(f"{expected}, got {_short(piece)}", name, XACRO if "${" in piece else hint)
        number = float(piece) + 0.0  # -0 is 0
        if not abs(number) <= MOST:
            raise self.fail(f"{expected}, got {_short(piece)}, which is too large", name)
        return number


def _slip(name: str, known: Sequence[str]) -> str | None:
    if name in known or ":" in name:
        return None
    near = difflib.get_close_matches(name.lower(), known, n=1, cutoff=_NEAR)
    return near[0] if near else None


def _short(written: str) -> str:
    text = repr(written)
    return text if len(text) <= 60 else text[:57] + "..."
