"""Changing single elements of an XML text and leaving every other byte as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trundle.documents.urdf.xmltext import Element, tag_text

_STEP = "  "


@dataclass
class Edits:
    """Replacements collected for one text, by their places in its UTF-8 bytes."""

    text: str
    _made: list[tuple[int, int, str]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return bool(self._made)

    def replace(self, start: int, end: int, by: str) -> None:
        """Put other text there."""
        self._made.append((start, end, by))

    def remove(self, element: Element) -> None:
        """Take an element away, with the line it leaves empty."""
        content = self.text.encode()
        start, end = element.start, element.end
        line = content.rfind(b"\n", 0, start) + 1
        after = content.find(b"\n", end)
        if not content[line:start].strip() and after >= 0 and not content[end:after].strip():
            start, end = line, after + 1
        self.replace(start, end, "")

    def attributes(self, element: Element, changed: Mapping[str, str]) -> None:
        """Give an element other attributes; those not named stay."""
        closed = element.opened == element.end
        self.replace(
            element.start,
            element.opened,
            tag_text(element.tag, {**element.attributes, **changed}, closed=closed),
        )

    def children(self, element: Element, wanted: Mapping[str, str | None]) -> None:
        """Give an element other children: a tag's whole text, or None to take it away; others stay.

        New ones go to the front of the element. Texts of several lines are indented from the element on.
        """
        indent = self._indent(element)
        fresh: list[str] = []
        for tag, written in wanted.items():
            old = element.all(tag)
            if written is None:
                for each in old:
                    self.remove(each)
            elif old:
                self.replace(old[0].start, old[0].end, _indented(written, indent + _STEP))
            else:
                fresh.append(_indented(written, indent + _STEP))
        self.insert(element, fresh, indent)

    def insert(self, element: Element, fresh: list[str], indent: str) -> None:
        """Put texts at the front of an element."""
        if not fresh:
            return
        inside = "".join(f"\n{indent}{_STEP}{each}" for each in fresh)
        if element.opened == element.end:  # <a/>
            self.replace(element.end - 2, element.end, f">{inside}\n{indent}</{element.tag}>")
        else:
            self.replace(element.opened, element.opened, inside)

    def append(self, element: Element, fresh: list[str]) -> None:
        """Put texts at the end of an element."""
        if not fresh:
            return
        indent = self._indent(element)
        if element.opened == element.end:
            self.insert(element, [_indented(each, indent + _STEP) for each in fresh], indent)
            return
        at = self.text.encode().rindex(b"</", element.start, element.end)
        inside = "".join(f"{_STEP}{_indented(each, indent + _STEP)}\n{indent}" for each in fresh)
        self.replace(at, at, inside)

    def _indent(self, element: Element) -> str:
        content = self.text.encode()
        before = content[content.rfind(b"\n", 0, element.start) + 1 : element.start]
        return before.decode() if not before.strip() else ""

    def apply(self) -> str:
        """The text with everything replaced; replacements inside a larger one are dropped with it."""
        content = self.text.encode()
        pieces: list[bytes] = []
        at = 0
        for start, end, by in sorted(self._made, key=lambda made: (made[0], -made[1])):
            if start < at:
                continue
            pieces += [content[at:start], by.encode()]
            at = end
        return b"".join([*pieces, content[at:]]).decode()


def _indented(text: str, indent: str) -> str:
    return text.replace("\n", f"\n{indent}")
