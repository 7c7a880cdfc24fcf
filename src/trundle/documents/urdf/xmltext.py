"""XML text to elements that know their line and where they stand in the text: a small, safe part of XML.

Only expat's events are used. Document types and entities are refused before anything is expanded (they are how a
small file becomes a large one, or reads another), and so are files that are nested too deeply.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from trundle.errors import InputError

_MOST_DEPTH = 50
_MOST_ELEMENTS = 100_000
# A start tag up to its closing bracket; > may stand inside the quotes of an attribute.
_START_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")


@dataclass(frozen=True)
class Element:
    """One element: its attributes and children, its line, and its place in the UTF-8 bytes of the text.

    `start` and `end` enclose the whole element, `opened` is where its start tag ends; for `<a/>` that is its end.
    """

    tag: str
    attributes: Mapping[str, str]
    line: int
    start: int
    opened: int
    end: int
    children: tuple[Element, ...]

    def all(self, tag: str) -> list[Element]:
        """Its children with this tag, in order."""
        return [child for child in self.children if child.tag == tag]

    def walk(self) -> Iterator[Element]:
        """Itself and everything inside it, in the order of the text."""
        waiting: list[Element] = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


@dataclass
class _Open:
    """An element whose end tag has not come yet."""

    tag: str
    attributes: dict[str, str]
    line: int
    start: int
    opened: int
    children: list[Element] = field(default_factory=list)


class _Builder:
    """Collects the elements from expat's events."""

    def __init__(self, content: bytes, file: str | None) -> None:
        self.content = content
        self.file = file
        self.open: list[_Open] = []
        self.root: Element | None = None
        self.count = 0
        self.parser: Any = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.finish
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def refuse(self, *_: Any) -> None:
        hint = "take the <!DOCTYPE ...> away: a description is plain elements and attributes"
        raise self.fail("document types and entities are not allowed", hint)

    def fail(self, message: str, hint: str | None = None) -> InputError:
        return InputError(message, file=self.file, line=self.parser.CurrentLineNumber, hint=hint)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.open) >= _MOST_DEPTH:
            raise self.fail(f"nested more than {_MOST_DEPTH} deep")
        if self.count > _MOST_ELEMENTS:
            raise self.fail(f"more than {_MOST_ELEMENTS:,} elements")
        start = self.parser.CurrentByteIndex
        match = _START_TAG.match(self.content, start)
        opened = match.end() if match else start
        self.open.append(_Open(tag, attributes, self.parser.CurrentLineNumber, start, opened))

    def finish(self, _tag: str) -> None:
        made = self.open.pop()
        end = made.opened
        if not self.content.endswith(b"/>", made.start, made.opened):
            end = self.content.index(b">", self.parser.CurrentByteIndex) + 1
        element = Element(
            made.tag, made.attributes, made.line, made.start, made.opened, end, tuple(made.children)
        )
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element


def read_xml(text: str, file: str | None = None) -> Element:
    """The root element of a text; raises InputError with the line."""
    if not text.strip():
        raise InputError("the file is empty", file=file)
    try:
        content = text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise InputError("holds a character that is no text", file=file, line=line) from None
    builder = _Builder(content, file)
    try:
        builder.parser.Parse(content, True)
    except expat.ExpatError as error:
        message = f"not valid XML: {expat.ErrorString(error.code)}"
        hint = "check the brackets, the quotes and the end tags here and in the line above"
        raise InputError(message, file=file, line=error.lineno, hint=hint) from None
    if builder.root is None:
        raise InputError("has no root element", file=file)
    return builder.root


def escaped(text: str) -> str:
    """Text as it stands inside the double quotes of an attribute."""
    for mark, entity in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("\n", "&#10;")):
        text = text.replace(mark, entity)
    return text.replace("\t", "&#9;").replace("\r", "&#13;")


def tag_text(tag: str, attributes: Mapping[str, str], *, closed: bool = True) -> str:
    """A start tag, or an element without content."""
    inside = "".join(f' {name}="{escaped(value)}"' for name, value in attributes.items())
    return f"<{tag}{inside}/>" if closed else f"<{tag}{inside}>"
