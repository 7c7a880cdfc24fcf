"""Reading attributes from an element, every error with file, line, owner and attribute."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trundle.documents.urdf.xmltext import Element
from trundle.errors import InputError, suggest

_NUMBER = re.compile(r"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[-+]?inf(inity)?", re.ASCII | re.IGNORECASE)
# How near an unknown name must be to a known one to count as a slip of the pen; other tools' names are farther off.
_NEAR = 0.75

Numbers = tuple[float, float, float]


@dataclass(frozen=True)
class Part:
    """An element being read; `owner` is how a message calls the link or joint that it belongs to."""

    element: Element
    owner: str
    file: str | None = None

    def fail(self, message: str, attribute: str | None = None, hint: str | None = None) -> InputError:
        """An error about the element or one of its attributes."""
        inside = self.element.tag if attribute is None else f"{self.element.tag} {attribute}"
        is_owner = self.owner.startswith(f"{self.element.tag} ") and attribute is None
        key = self.owner if is_owner else f"{self.owner} <{inside}>"
        return InputError(message, file=self.file, line=self.element.line, key=key.strip(), hint=hint)

    def owned(self, owner: str) -> Part:
        """The same element under a name of its own."""
        return replace(self, owner=owner)

    def child(self, tag: str) -> Part | None:
        """The one child with this tag, or none; two are an error."""
        found = self.element.all(tag)
        if len(found) > 1:
            again = Part(found[1], self.owner, self.file)
            message = f"<{tag}> stands twice, first in line {found[0].line}"
            raise again.fail(message, hint="keep one of them")
        return Part(found[0], self.owner, self.file) if found else None

    def needed(self, tag: str, hint: str) -> Part:
        """The one child with this tag; none is an error."""
        found = self.child(tag)
        if found is None:
            raise self.fail(f"has no <{tag}>", hint=hint)
        return found

    def check(self, children: Sequence[str], attributes: Sequence[str]) -> None:
        """Raise where an unknown child or attribute looks like a known one misspelt; all others are left in peace."""
        for child in self.element.children:
            near = _slip(child.tag, children)
            if near:
                message = f"unknown element <{child.tag}>"
                raise Part(child, self.owner, self.file).fail(message, hint=f"did you mean <{near}>?")
        for name in self.element.attributes:
            near = _slip(name, attributes)
            if near and near not in self.element.attributes:
                raise self.fail(f"unknown attribute {name!r}", name, f"did you mean '{near}'?")

    def text(self, name: str, hint: str | None = None) -> str:
        """An attribute that must be there and not be empty."""
        found = self.element.attributes.get(name)
        if found is None:
            given = list(self.element.attributes)
            near = suggest(name, given) if given else ""
            here = f"it has {', '.join(given)}" if given and not near.startswith("did") else None
            raise self.fail(f"the attribute {name!r} is missing", hint=hint or here)
        if not found.strip():
            raise self.fail(f"the attribute {name!r} is empty", name, hint)
        return found

    def number(self, name: str, default: float | None = None, *, infinite: bool = False) -> float:
        """A number; without a default it must be there."""
        if default is not None and name not in self.element.attributes:
            return default
        return self._float(self.text(name).strip(), name, "expected a number", infinite)

    def numbers(self, name: str, default: Numbers | None = None) -> Numbers:
        """Three numbers; without a default they must be there."""
        if default is not None and name not in self.element.attributes:
            return default
        written = self.text(name)
        pieces = written.split()
        expected = "expected three numbers with spaces between them"
        if len(pieces) != 3:
            raise self.fail(f"{expected}, got {_short(written)}", name, 'as in "0 0 0.5"')
        x, y, z = (self._float(piece, name, expected, False) for piece in pieces)
        return (x, y, z)

    def _float(self, piece: str, name: str, expected: str, infinite: bool) -> float:
        if infinite and _INFINITE.fullmatch(piece):
            return float(piece)
        if not _NUMBER.fullmatch(piece):
            hint = "write a point, not a comma" if _NUMBER.fullmatch(piece.replace(",", ".")) else None
            raise self.fail(f"{expected}, got {_short(piece)}", name, hint)
        number = float(piece) + 0.0  # -0 is 0
        if not math.isfinite(number):
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
