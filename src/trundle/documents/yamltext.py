"""YAML text to plain data and the line of every key: a small, strict part of YAML 1.2.

Only the parser's events are used; no object is ever built from a tag. Anchors, aliases, merge keys, tags, several
documents, repeated keys and keys that aren't text are refused. Plain scalars follow the core schema of YAML 1.2
(https://yaml.org/spec/1.2.2/#103-core-schema): `on`, `yes` and `1:30` are text, `1e-4` is a number, `010` is ten.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import yaml
from yaml import (
    AliasEvent,
    CollectionEndEvent,
    Event,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
    StreamEndEvent,
)
from yaml.reader import Reader

from trundle.errors import InputError
from trundle.robot.problems import Path, key_of

# What the parser was at when it missed an end that nobody wrote.
_LEFT_OPEN = ("while parsing a flow", "while scanning a quoted", "while scanning a simple key")
# Far deeper than any description, and far from where Python's own recursion ends.
_MOST_DEPTH = 50
# Beyond 15 digits a float's precision is all there is anyway.
_INTEGER = re.compile(r"[-+]?[0-9]{1,15}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_PREFIXED = re.compile(r"0o[0-7]{1,15}|0x[0-9a-fA-F]{1,13}")
_INFINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}


def scalar(text: str) -> str | float | bool | None:
    """Meaning of a plain (unquoted) scalar by the core schema of YAML 1.2."""
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text):
        return float(text)
    if _PREFIXED.fullmatch(text):
        return int(text, 0)
    if _INFINITE.fullmatch(text):
        return float(text.replace(".", "", 1).lower())
    return text


def read_yaml(text: str, file: str | None = None, *, nulls: bool = False) -> tuple[object, dict[Path, int]]:
    """Data and the line (from 1) of every key; raises InputError with the line, also for nulls unless they may be."""
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        builder = _Builder(iter(yaml.parse(text, Loader=loader)), file, nulls)
        return builder.document(), builder.lines
    except (
        yaml.YAMLError,
        UnicodeEncodeError,
    ) as error:  # half of a character is both, by libyaml and without it
        if found := Reader.NON_PRINTABLE.search(text):
            line = text.count("\n", 0, found.start()) + 1
            message = f"not valid YAML: the character U+{ord(found[0]):04X} is not allowed"
            hint = "take it away; inside double quotes it may be written as an escape"
            raise InputError(message, file=file, line=line, hint=hint) from None
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "it can't be read"
        line = _line_of(error, text)
        raise InputError(f"not valid YAML: {problem}", file=file, line=line, hint=_hint(text, line)) from None


def _line_of(error: Exception, text: str) -> int | None:
    """Where a mistake begins, which the parser may see only some lines later: a bracket or a quote that nobody closes,
    a key without its colon, a line that runs on as it is indented too far.
    """
    begun, seen = getattr(error, "context_mark", None), getattr(error, "problem_mark", None)
    context = str(getattr(error, "context", None) or "")
    if begun is not None and context.startswith(_LEFT_OPEN):
        return begun.line + 1
    if seen is None:
        return None if begun is None else begun.line + 1
    line, lines = seen.line, text.splitlines()
    if "mapping values" in str(getattr(error, "problem", "")):
        while line > 1 and lines[line - 1].strip() and ":" not in lines[line - 1]:
            line -= 1
    return line + 1


def _hint(text: str, line: int | None) -> str:
    near = text.splitlines()[max(0, (line or 1) - 2) : line] if line else []
    if any("\t" in each for each in near):
        return "indent with spaces: YAML takes no tabs"
    return "check the indentation, the brackets and the quotes here and in the line above"


class _Builder:
    """Builds data from the parser's events, keeping the line of every key."""

    def __init__(self, events: Iterator[Event], file: str | None, nulls: bool = False) -> None:
        self.events = events
        self.file = file
        self.nulls = nulls
        self.lines: dict[Path, int] = {}

    def fail(self, message: str, event: Event, path: Path, hint: str | None = None) -> InputError:
        return InputError(message, file=self.file, line=_line(event), key=key_of(path) or None, hint=hint)

    def document(self) -> object:
        """The plain data of the one document in the file."""
        next(self.events)  # the stream's start
        if isinstance(next(self.events), StreamEndEvent):
            hint = "`trundle new` writes one to start from"
            raise InputError("the file is empty", file=self.file, hint=hint)
        event = next(self.events)
        self.lines[()] = _line(event)
        data = self.value(event, ())
        next(self.events)  # the document's end
        event = next(self.events)
        if not isinstance(event, StreamEndEvent):
            hint = "a file holds one; take away the '---' between them"
            raise self.fail("a second YAML document", event, (), hint)
        return data

    def value(self, event: Event, path: Path) -> object:
        """The plain data of a value: text, number, list or mapping."""
        self.refuse_clever(event, path)
        if isinstance(event, ScalarEvent):
            data = event.value if event.style else scalar(event.value)
            if data is None and path and not self.nulls:
                raise self.fail("the key has no value", event, path, "give it one, or take the key away")
            return data
        if len(path) >= _MOST_DEPTH:
            raise self.fail(f"nested more than {_MOST_DEPTH} deep", event, path[:5])
        return self.sequence(path) if isinstance(event, SequenceStartEvent) else self.mapping(path)

    def refuse_clever(self, event: Event, path: Path) -> None:
        """Refuse aliases, anchors and tags: they make a small file large, or a class of a text."""
        assert isinstance(event, NodeEvent)  # all that the grammar lets begin a value or a key
        if isinstance(event, AliasEvent):
            what, hint = f"alias *{event.anchor}", "write it out, or name a parameter and use that"
        elif event.anchor is not None:
            what, hint = (
                f"anchor &{event.anchor}",
                "take it away; to use a number twice, name it under parameters",
            )
        elif (tag := getattr(event, "tag", None)) is not None:
            what, hint = f"tag {tag!r}", "take it away; a description is plain data"
        else:
            return
        raise self.fail(f"the {what} is not allowed", event, path, hint)

    def inside(self) -> Iterator[Event]:
        """The entries of the list or mapping that has begun; what stands inside an entry is taken by `value`."""
        while not isinstance(event := next(self.events), CollectionEndEvent):
            yield event

    def sequence(self, path: Path) -> list[object]:
        data: list[object] = []
        for event in self.inside():
            place = (*path, len(data))
            self.lines[place] = _line(event)
            data.append(self.value(event, place))
        return data

    def mapping(self, path: Path) -> dict[str, object]:
        """A mapping whose keys are texts and stand once; `lines` learns where they stand."""
        data: dict[str, object] = {}
        for event in self.inside():
            key = self.key(event, path)
            place = (*path, key)
            if key in data:
                message = f"the key {key!r} stands twice, first in line {self.lines[place]}"
                raise self.fail(message, event, place, "keep one of them")
            self.lines[place] = _line(event)
            data[key] = self.value(next(self.events), place)
        return data

    def key(self, event: Event, path: Path) -> str:
        """A key, which is a plain text."""
        self.refuse_clever(event, path)
        if not isinstance(event, ScalarEvent):
            raise self.fail("a list or mapping stands as a key", event, path, "a { or [ too many?")
        key = event.value
        if key == "<<" and not event.style:
            raise self.fail("the merge key << is not allowed", event, path, "write the keys out")
        if not event.style and not isinstance(scalar(key), str):
            raise self.fail(f"the key {key!r} is not text", event, path, f'put it in quotes: "{key}"')
        return key


def _line(event: Event) -> int:
    return event.start_mark.line + 1
