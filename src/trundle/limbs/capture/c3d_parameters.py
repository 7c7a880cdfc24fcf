"""A C3D file's parameters by name, and how its processor writes numbers.

The format is read here because the library for it, ezc3d, believes every count: of files with a few bytes changed one
in twenty-five crashed it or kept it busy without end. Here nothing is allocated that the file doesn't hold.
Source: The C3D File Format User Guide (c3d.org), "Header section", "Parameter section".
"""

from __future__ import annotations

import math
import re
import struct
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.limbs.capture.faults import Faults, printable

# Bytes of a block, by which the format's header counts places.
BLOCK = 512
# How the format says whose numbers it holds: the order of bytes, and DEC's floats.
_INTEL, _DEC, _MIPS = PROCESSORS = 84, 85, 86
# Types of parameters: what NumPy calls them, but for characters (-1) and floats (4), and how many bytes they have.
_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}
_MOST_DIMENSIONS = 7  # of the format
# A parameter has so many entries at most; more are in NAME2, NAME3 and so on.
_MOST_PARTS = 100
_LONGEST_NAME = 127
# Names by which a place is recognised as a parameter's where pointers lead astray.
_NAME = re.compile(r"[A-Z][A-Z0-9_]*")

Parameter = FloatArray | tuple[str, ...]


@dataclass(frozen=True)
class Reader:
    """A file's bytes, and how its processor writes numbers."""

    file: str
    content: bytes
    processor: int

    @property
    def order(self) -> str:
        """The order of bytes as `struct` has it."""
        return ">" if self.processor == _MIPS else "<"

    def floats(self, raw: bytes) -> FloatArray:
        """Floats of four bytes as float64. DEC's have their halves swapped and an exponent greater by two."""
        if self.processor == _DEC:
            halves = np.frombuffer(raw, "<u2").reshape(-1, 2)[:, ::-1]
            return np.ascontiguousarray(halves).view("<f4").ravel().astype(np.float64) / 4
        with np.errstate(invalid="ignore"):  # NaNs of a kind that processors signal
            return np.frombuffer(raw, f"{self.order}f4").astype(np.float64)

    def words(self, raw: bytes, kind: str) -> FloatArray:
        """Words of two bytes, "u" without a sign or "i" with one."""
        return np.frombuffer(raw, f"{self.order}{kind}2").astype(np.float64)

    def word(self, at: int) -> int:
        """The count at a place."""
        return struct.unpack_from(f"{self.order}H", self.content, at)[0]


@dataclass(frozen=True)
class C3dParameters:
    """Parameters by "GROUP:NAME": arrays in the format's order of indices, or texts, or why they can't be read.

    `lost` says why some are missing: then nobody knows what isn't there.
    """

    file: str
    values: Mapping[str, Parameter | InputError]
    lost: InputError | None = None

    def _value(self, name: str) -> Parameter | None:
        value = self.values.get(name, self.lost)
        if isinstance(value, InputError):
            raise value
        return value

    def numbers(self, name: str) -> FloatArray | None:
        """A parameter of numbers; None where it isn't there or is empty."""
        value = self._value(name)
        if isinstance(value, tuple):
            raise InputError("expected numbers, got text", file=self.file, key=name)
        return None if value is None or not value.size else np.atleast_1d(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A parameter of texts, and of those that continue it; () where it isn't there."""
        texts: tuple[str, ...] = ()
        for value in map(self._value, self.parts(name)):
            if isinstance(value, np.ndarray):
                raise InputError("expected text, got numbers", file=self.file, key=name)
            texts += value or ()
        return texts

    def parts(self, name: str) -> list[str]:
        """A parameter's name, and those of the parameters that continue it."""
        more = (f"{name}{number}" for number in range(2, _MOST_PARTS))
        return [name, *(part for part in more if part in self.values)]

    def number(self, name: str, default: float) -> float:
        """A parameter of one number."""
        value = self.numbers(name)
        return default if value is None else float(value.flat[0])

    def count(self, name: str, default: int) -> int:
        """A parameter that counts."""
        number = self.number(name, default)
        if not 0 <= number < 1e9 or number != int(number):
            raise InputError(f"expected a count, got {number:g}", file=self.file, key=name)
        return int(number)


def read_parameters(reader: Reader, start: int, faults: Faults) -> C3dParameters:
    """All parameters of the section that begins there, by their groups' names."""
    entries, lost = _chain(reader, start + 4, faults)
    groups = {-entry.group: entry.name for entry in entries if entry.group < 0}
    named = {f"{groups.get(entry.group, '')}:{entry.name}": entry for entry in entries if entry.group > 0}
    form = named.get("ANALOG:FORMAT")
    # Counts beyond 32767 are written without a sign. OFFSET alone can be negative, where samples are.
    unsigned = form is not None and form.raw.rstrip(b" \0").upper() == b"UNSIGNED"
    values: dict[str, Parameter | InputError] = {}
    for name, entry in named.items():
        signed = name.startswith("ANALOG:OFFSET") and not unsigned
        if entry.whole:
            values[name] = _parameter(reader, entry, signed)
        else:
            values[name] = faults.note(f"is damaged: its parameter {name} does not fit its place")
    return C3dParameters(reader.file, values, lost)


def _parameter(reader: Reader, entry: _RawParameter, signed: bool) -> Parameter:
    """An entry's texts or numbers."""
    raw, dimensions = entry.raw, entry.dimensions
    if entry.kind == -1:
        length = dimensions[0] if dimensions else 1
        texts = (raw[k : k + length] for k in range(0, len(raw), length or 1))
        return tuple(_text(text.rstrip(b" \0")) for text in texts)
    if entry.kind == 4:
        numbers = reader.floats(raw)
    elif entry.kind == 2:
        numbers = reader.words(raw, "i" if signed else "u")
    else:
        numbers = np.frombuffer(raw, "u1").astype(np.float64)
    return numbers.reshape(dimensions, order="F")


def _text(raw: bytes) -> str:
    """UTF-8, with U+FFFD in place of a character that was cut at the end; else as programs for Windows write."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        is_cut = error.reason == "unexpected end of data"
        return raw.decode("utf-8", "replace") if is_cut else raw.decode("cp1252", "replace")


@dataclass(frozen=True)
class _RawParameter:
    """A group (of a negative number) or a parameter as it stands in the file.

    `pointer` is where it says that the next one begins, 0 if it is the last; `ends` is where its data end and where its
    description does, none where its type or its dimensions can't be.
    """

    group: int
    name: str
    pointer: int
    kind: int
    dimensions: tuple[int, ...]
    raw: bytes
    ends: tuple[int, ...]
    whole: bool = True

    def ended_at(self, place: int) -> _RawParameter:
        """The entry if the next one begins there."""
        fits = self.ends and self.ends[0] <= place and (place <= self.ends[-1] or not self.pointer)
        return self if fits else replace(self, whole=False)

    def is_among(self, groups: Collection[int]) -> bool:
        """Whether this may be an entry beside those of these groups, or begins another group."""
        return bool(_NAME.fullmatch(self.name)) and (self.group < 0 or self.group in groups)


def _chain(reader: Reader, at: int, faults: Faults) -> tuple[list[_RawParameter], InputError | None]:
    """Groups and parameters, one after the other, and why there may be more."""
    entries: list[_RawParameter] = []
    groups: set[int] = set()
    lost = None
    while found := _next_entry(reader, at, groups, faults):
        entry, at = found
        entries.append(entry)
        groups.add(abs(entry.group))
        if entry.pointer and entry.ends and at > entry.ends[-1] and 0 not in entry.dimensions:
            lost = faults.note(f"is damaged: parameters may be missing behind {entry.name}")
    ended = reader.content[at : at + 1] in (b"", b"\0")
    # A name of no length is the end, if it isn't a parameter's that lost its length.
    if ended and not any(other.group in groups for other in _renamed(reader, at)):
        return entries, lost
    last = entries[-1].name if entries else "their beginning"
    return entries, faults.note(f"is damaged: its parameters can't be followed behind {last}")


def _next_entry(
    reader: Reader, at: int, groups: Collection[int], faults: Faults
) -> tuple[_RawParameter, int] | None:
    """The entry at a place and where the next one begins; None where there is none.

    Where an entry leads nowhere, the length of its name may be wrong: with the right one its pointer leads to its end.
    """
    entry = _entry(reader, at)
    if entry and entry.pointer in entry.ends and entry.is_among({*groups, entry.group}):
        return entry, entry.pointer
    for other in _renamed(reader, at):
        if other.is_among(groups):
            faults.note(f"is damaged: the name of its parameter {other.name} has another length")
            return other, other.pointer
    place = _end(reader, entry, {*groups, entry.group}) if entry else None
    if entry is None or place is None:
        return None
    if place != entry.pointer and (entry.pointer or place < len(reader.content)):
        faults.note(f"is damaged: the pointer of its parameter {entry.name} leads astray")
    return entry.ended_at(place), place


def _renamed(reader: Reader, at: int) -> Iterator[_RawParameter]:
    """What stands at a place, with names of such lengths that its pointer leads to its end."""
    for length in range(1, _LONGEST_NAME + 1):
        entry = _entry(reader, at, length)
        if entry and entry.pointer in entry.ends:
            yield entry


def _entry(reader: Reader, at: int, length: int | None = None) -> _RawParameter | None:
    """What stands at a place, with a name of that length or of the one that is said; None where that can't be."""
    content = reader.content
    said, group = struct.unpack_from("bb", content, at) if at + 2 <= len(content) else (0, 0)
    length = abs(said) if length is None else length
    behind = at + 2 + length
    if not length or not group or behind + 4 > len(content):
        return None
    name = printable(content[at + 2 : behind].decode("latin-1").strip().upper())
    step = reader.word(behind)
    kind, count = struct.unpack_from("bB", content, behind + 2) if group > 0 else (1, 0)
    begin = behind + (4 if group > 0 else 2) + count
    dimensions = tuple(content[begin - count : begin])
    end = begin + (_SIZES.get(kind, 0) * math.prod(dimensions) if group > 0 else 0)
    fits = kind in _SIZES and count <= _MOST_DIMENSIONS and end <= len(content)
    described = end + 1 + (content[end] if end < len(content) else 0)
    pointer, raw = behind + step if step else 0, content[begin:end] if fits else b""
    return _RawParameter(group, name, pointer, kind, dimensions, raw, (end, described) if fits else ())


def _end(reader: Reader, entry: _RawParameter, groups: Collection[int]) -> int | None:
    """Where the next entry begins: where the pointer leads, if that is the end of this one's data or description.

    Else it is the nearest place with an entry, or one with padding; the file's end, if the entry says it is the last.
    None where no place is, or where already the name is none.
    """
    if entry.pointer in entry.ends:
        return entry.pointer
    if not entry.is_among(groups):
        return None
    for place in sorted({entry.pointer, *entry.ends} - {0}):
        others = (_entry(reader, place), *_renamed(reader, place))
        if any(other and other.is_among(groups) for other in others):
            return place
    for place in entry.ends:
        padding = reader.content[place : -(-place // BLOCK) * BLOCK]
        if not padding.strip(b"\0"):
            return place if entry.pointer else len(reader.content)
    return None
