"""Logs of WPILib and AdvantageKit, WPILOG: entries of numbers, arrays of them, JSON and structs.

The format is WPILib's "WPILib Data Log File Format Specification", version 1.0, with its "Struct Serialization".
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np

from trundle.errors import counted, warn
from trundle.estimation.message_logs import MessageLog, Topic
from trundle.files import read_bytes

MAGIC = b"WPILOG"
# Magic, version and the length of a header beyond them.
_HEADER = 12
# A log of a match has some 30 MB; with more its numbers would not fit into memory.
_MOST_BYTES = 1_000_000_000
# Records of entry 0 say where entries start, end and change their metadata.
_CONTROL, _START = 0, 0
_MICROSECOND = 1000  # ns
_SCHEMA = ".schema/struct:"
# A struct's member: "double x", "float y[3]", "enum {a=1} int8 state", "uint8 flag : 1".
_MEMBER = re.compile(
    r"(?:(?:enum\s*)?\{[^}]*\}\s*)?(?P<type>\S+)\s+(?P<name>\w+)\s*(?:\[\s*(?P<count>\d+)\s*\]|(?P<bits>:.*))?"
)
# Types of numbers, by their names in entries and in structs.
_TYPES = {
    "double": "<f8",
    "float64": "<f8",
    "float": "<f4",
    "float32": "<f4",
    "boolean": "?",
    "bool": "?",
    **{f"int{8 * size}": f"<i{size}" for size in (1, 2, 4, 8)},
    **{f"uint{8 * size}": f"<u{size}" for size in (1, 2, 4, 8)},
    "char": "S1",
}


def read_wpilog(file: Path, wanted: Callable[[str], bool]) -> MessageLog:
    """The records of entries that are `wanted`, and the first of every other.

    A damaged file is read as far as it is whole, with a warning.
    """
    content = read_bytes(file, _MOST_BYTES)
    topics, entries, count = dict[str, Topic](), dict[int, Topic](), 0
    schemas = dict[str, str]()

    @cache
    def type_of(kind: str) -> np.dtype:
        return _type(kind.removesuffix("[]").removeprefix("struct:"), schemas, ())

    try:
        for entry, time, payload in _records(content):
            if entry == _CONTROL and payload[0] == _START:
                number, name, kind = _started(payload)
                topic = Topic(name, kind, wanted(name), partial(_decoded, kind, type_of))
                entries[number] = topics.setdefault(name, topic)
            elif entry in entries:
                entries[entry].add(time * _MICROSECOND, payload)
                count += 1
    except (IndexError, UnicodeDecodeError, struct.error):
        warn(f"'{file}' isn't whole. What stands before was read, {counted(count, 'record')}.")
    for name, topic in topics.items():
        if _SCHEMA in name and topic.records:
            schemas[name.partition(_SCHEMA)[2]] = topic.records[0][1].decode(errors="replace")
    return MessageLog(topics, holds=True)


def _records(content: bytes) -> Iterator[tuple[int, int, bytes]]:
    """The number of an entry, a time (µs) and what was logged, record by record; IndexError where one isn't whole."""
    end = _HEADER + int.from_bytes(content[8:_HEADER], "little")
    while end < len(content):
        lengths = content[end]
        size = end + 2 + (lengths & 3)
        time = size + 1 + (lengths >> 2 & 3)
        begin = time + 1 + (lengths >> 4 & 7)
        entry, number, when = (
            int.from_bytes(content[first:last], "little")
            for first, last in ((end + 1, size), (size, time), (time, begin))
        )
        end = begin + number
        if end > len(content):
            raise IndexError
        yield entry, when, content[begin:end]


def _started(payload: bytes) -> tuple[int, str, str]:
    """The number, the name and the type of an entry."""
    number, size = struct.unpack_from("<xII", payload)
    name, rest = payload[9 : 9 + size], payload[9 + size :]
    return number, name.decode(), rest[4 : 4 + int.from_bytes(rest[:4], "little")].decode()


def _decoded(kind: str, type_of: Callable[[str], np.dtype], raw: bytes) -> object:
    """What a record holds by its entry's type; ValueError for types without numbers."""
    if kind == "json":
        return json.loads(raw)
    numbers = np.frombuffer(raw, type_of(kind))
    return numbers if kind.endswith("[]") else numbers[0]


def _type(name: str, schemas: Mapping[str, str], outer: tuple[str, ...]) -> np.dtype:
    """The type of a number, or of a struct by the log's schema of it, which may have more structs inside."""
    if name in _TYPES:
        return np.dtype(_TYPES[name])
    if name not in schemas or name in outer:
        known = "numbers, arrays of them, JSON and structs whose schemas the log has are read"
        raise ValueError(f"it is of type '{name}'; {known}")
    members = list[tuple[str, np.dtype, tuple[int, ...]]]()
    for text in filter(None, map(str.strip, schemas[name].split(";"))):
        member = _MEMBER.fullmatch(text)
        if member is None or member["bits"]:
            raise ValueError(f"the struct '{name}' has a member {text!r}, and no such is read")
        count = () if member["count"] is None else (int(member["count"]),)
        members.append((member["name"], _type(member["type"], schemas, (*outer, name)), count))
    return np.dtype(members)
