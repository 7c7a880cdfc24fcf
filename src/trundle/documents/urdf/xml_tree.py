"""XML text to elements that know their line, and back: a small, safe part of XML.

Document types and entities are refused before anything is expanded (they are how a small file becomes a large one, or
reads another), and so are files that are nested too deeply.
"""

from __future__ import annotations

from xml.etree import ElementTree
from xml.parsers import expat

from trundle.errors import InputError

# Far beyond any robot (a Robot may have 1000 joints), and near enough to stop a file that only grows.
_MOST_DEPTH = 50
_MOST_ELEMENTS = 100_000


class XmlElement(ElementTree.Element):
    """An element of ElementTree and its line in the file (0 for one made here)."""

    line: int = 0


class _Events:
    """What expat's events become: elements, comments and text, in the order of the file."""

    def __init__(self, file: str | None) -> None:
        """A parser whose events build the tree; document types and entities stop it at once."""
        self.file = file
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

    def fail(self, message: str, hint: str | None = None) -> InputError:
        return InputError(message, file=self.file, line=self.parser.CurrentLineNumber, hint=hint)

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
        element.line = self.parser.CurrentLineNumber

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
        raise InputError("holds a character that is no text", file=file, line=line) from None
    events = _Events(file)
    try:
        events.parser.Parse(content, True)
    except expat.ExpatError as error:
        message = f"not valid XML: {expat.ErrorString(error.code)}"
        hint = "check the brackets, the quotes and the end tags here and in the line above"
        raise InputError(message, file=file, line=error.lineno, hint=hint) from None
    root = events.tree.close()
    assert isinstance(root, XmlElement)
    return root, content[: events.start].decode().replace("\r\n", "\n")


def write_xml(root: XmlElement, before: str) -> str:
    """A root element as text, indented afresh, behind what stands before it."""
    ElementTree.indent(root)
    # expat made every line end a \n, so a \r left in a text was written as a character reference
    return before + ElementTree.tostring(root, encoding="unicode").replace("\r", "&#13;") + "\n"
