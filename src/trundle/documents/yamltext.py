"""YAML text to plain data and the line of every key: a small, strict part of YAML 1.2.

Only the parser's events are used; no object is ever built from a tag. Anchors, aliases, merge keys, tags, several
documents, repeated keys and keys that aren't text are refused. Plain scalars follow the core schema of YAML 1.2
(https://yaml.org/spec/1.2.2/#103-core-schema): `on`, `yes` and `1:30` are text, `1e-4` is a number, `010` is ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from trundle.errors import InputError
from trundle.robot.problems import Path, key_of

_MOST_DEPTH = 50

_INTEGER = re.compile(r"[-+]?[0-9]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_PREFIXED = re.compile(r"0o[0-7]{1,15}|0x[0-9a-fA-F]{1,13}")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def scalar(text: str) -> Any:
    """Meaning of a plain (unquoted) scalar by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return (
            int(text) if len(text) <= 15 else float(text)
        )  # beyond, a float's precision is all there is anyway
    if _FLOAT.fullmatch(text):
        return float(text)
    if _PREFIXED.fullmatch(text):
        return int(text, 0)
    if _INFINITE.fullmatch(text):
        return float(text.replace(".", "", 1).lower())
    return text


def read_yaml(text: str, file: str | None = None) -> tuple[Any, dict[Path, int]]:
    """Data and the line (from 1) of every key; raises InputError with the line."""
    import yaml

    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(iter(yaml.parse(text, Loader=loader)), file).document()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be read"
        line = None if mark is None else mark.line + 1
        raise InputError(f"not valid YAML: {problem}", file=file, line=line, hint=_hint(text, line)) from None


def _hint(text: str, line: int | None) -> str:
    lines = text.splitlines()
    near = lines[max(0, (line or 1) - 2) : line] if line else []
    if any("\t" in each for each in near):
        return "indent with spaces: YAML takes no tabs"
    return "check the indentation, the brackets and the quotes here and in the line above"


class _Builder:
    """Builds data from the parser's events, keeping the line of every key."""

    def __init__(self, events: Iterator[Any], file: str | None) -> None:
        self.events = events
        self.file = file
        self.lines: dict[Path, int] = {}

    def next(self) -> tuple[str, Any]:
        event = next(self.events)
        return type(event).__name__.removesuffix("Event"), event

    def fail(self, message: str, event: Any, path: Path, hint: str | None = None) -> InputError:
        line = event.start_mark.line + 1
        return InputError(message, file=self.file, line=line, key=key_of(path) or None, hint=hint)

    def document(self) -> tuple[Any, dict[Path, int]]:
        self.next()  # the stream's start
        kind, event = self.next()
        if kind == "StreamEnd":
            raise InputError(
                "the file is empty", file=self.file, hint="`trundle new` writes one to start from"
            )
        kind, event = self.next()
        self.lines[()] = event.start_mark.line + 1
        data = self.value(kind, event, ())
        self.next()  # the document's end
        kind, event = self.next()
        if kind != "StreamEnd":
            raise self.fail(
                "a second YAML document", event, (), "a file holds one; take away the '---' between them"
            )
        return data, self.lines

    def value(self, kind: str, event: Any, path: Path) -> Any:
        self.refuse_clever(kind, event, path)
        if kind == "Scalar":
            data = event.value if event.style else scalar(event.value)
            if data is None and path:
                raise self.fail("the key has no value", event, path, "give it one, or take the key away")
            return data
        if len(path) >= _MOST_DEPTH:
            raise self.fail(f"nested more than {_MOST_DEPTH} deep", event, path[:5])
        return self.sequence(path) if kind == "SequenceStart" else self.mapping(path)

    def refuse_clever(self, kind: str, event: Any, path: Path) -> None:
        if kind == "Alias":
            raise self.fail(
                f"the alias *{event.anchor} is not allowed",
                event,
                path,
                "write it out, or name a parameter and use that",
            )
        if event.anchor is not None:
            hint = "take it away; to use a number twice, name it under parameters"
            raise self.fail(f"the anchor &{event.anchor} is not allowed", event, path, hint)
        if event.tag is not None:
            raise self.fail(
                f"the tag {event.tag!r} is not allowed",
                event,
                path,
                "take it away; a description is plain data",
            )

    def sequence(self, path: Path) -> list[Any]:
        data: list[Any] = []
        while True:
            kind, event = self.next()
            if kind == "SequenceEnd":
                return data
            place = (*path, len(data))
            self.lines[place] = event.start_mark.line + 1
            data.append(self.value(kind, event, place))

    def mapping(self, path: Path) -> dict[str, Any]:
        data: dict[str, Any] = {}
        while True:
            kind, event = self.next()
            if kind == "MappingEnd":
                return data
            key = self.key(kind, event, path)
            place = (*path, key)
            if key in data:
                message = f"the key {key!r} stands twice, first in line {self.lines[place]}"
                raise self.fail(message, event, place, "keep one of them")
            self.lines[place] = event.start_mark.line + 1
            kind, event = self.next()
            data[key] = self.value(kind, event, place)

    def key(self, kind: str, event: Any, path: Path) -> str:
        self.refuse_clever(kind, event, path)
        if kind != "Scalar":
            raise self.fail("a list or mapping stands as a key", event, path, "a { or [ too many?")
        if event.value == "<<" and not event.style:
            raise self.fail("the merge key << is not allowed", event, path, "write the keys out")
        if not event.style and not isinstance(scalar(event.value), str):
            raise self.fail(
                f"the key {event.value!r} is not text", event, path, f'put it in quotes: "{event.value}"'
            )
        return event.value
