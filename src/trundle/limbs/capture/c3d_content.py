"""What a C3D file holds, as numbers and texts: parameters by name, points, and analogue samples in their units.

The format is read here because the library for it, ezc3d, believes every count: of files with a few bytes changed one
in twenty-five crashed it or kept it busy without end. Here nothing is allocated that the file doesn't hold.
Source: The C3D File Format User Guide (c3d.org), "Header section", "Parameter section", "Data section".
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError

# Bytes of a block, by which the format's header counts places.
_BLOCK = 512
# How the format says whose numbers it holds: the order of bytes, and DEC's floats.
_INTEL, _DEC, _MIPS = 84, 85, 86
# Types of parameters: what NumPy calls them, but for characters (-1) and floats (4), and how many bytes they have.
_SIZES = {-1: 1, 1: 1, 2: 2, 4: 4}
_MOST_DIMENSIONS = 7  # of the format
# Beyond so many a 16-bit count says "at least".
_MOST_COUNTED = 65535

Parameter = FloatArray | tuple[str, ...]


@dataclass(frozen=True)
class C3dContent:
    """Parameters by "GROUP:NAME" (arrays in the format's order of indices, or texts), points, analogue samples.

    `points` are (frames, points, 4): x, y, z and the residual, in POINT:UNITS; `analogs` (samples, channels), scaled.
    `first` is the number of the first frame, from 1.
    """

    file: str
    parameters: Mapping[str, Parameter]
    points: FloatArray
    analogs: FloatArray
    first: int

    def numbers(self, name: str) -> FloatArray | None:
        """A parameter of numbers; None where it isn't there or is empty."""
        value = self.parameters.get(name)
        if isinstance(value, tuple):
            raise InputError("expected numbers, got text", file=self.file, key=name)
        return None if value is None or not value.size else np.atleast_1d(value)

    def texts(self, name: str) -> tuple[str, ...]:
        """A parameter of texts; () where it isn't there."""
        value = self.parameters.get(name, ())
        if not isinstance(value, tuple):
            raise InputError("expected text, got numbers", file=self.file, key=name)
        return value

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


@dataclass(frozen=True)
class _Reader:
    """A file's bytes, and how its processor writes numbers."""

    file: str
    content: bytes
    processor: int

    @property
    def order(self) -> str:
        return ">" if self.processor == _MIPS else "<"

    def floats(self, raw: bytes) -> FloatArray:
        """Floats of four bytes as float64. DEC's have their halves swapped and an exponent greater by two."""
        if self.processor == _DEC:
            halves = np.frombuffer(raw, "<u2").reshape(-1, 2)[:, ::-1]
            return np.ascontiguousarray(halves).view("<f4").ravel().astype(np.float64) / 4
        with np.errstate(invalid="ignore"):  # NaNs of a kind that processors signal
            return np.frombuffer(raw, f"{self.order}f4").astype(np.float64)

    def words(self, raw: bytes, kind: str) -> FloatArray:
        return np.frombuffer(raw, f"{self.order}{kind}2").astype(np.float64)

    def damaged(self, message: str) -> InputError:
        return InputError(f"is damaged: {message}", file=self.file, hint="is the file whole?")


def read_content(content: bytes, file: str) -> C3dContent:
    """What the bytes of a C3D file hold; InputError where they are none or hold less than they say."""
    if len(content) < 2 * _BLOCK or content[1] != 0x50:
        hint = "one begins with a block of 512 bytes whose second byte is 80"
        raise InputError("is not a C3D file", file=file, hint=hint)
    start = (content[0] - 1) * _BLOCK
    if start < _BLOCK or start + 4 > len(content):
        raise InputError("is damaged: its parameters begin beyond its end", file=file)
    reader = _Reader(file, content, content[start + 3])
    if reader.processor not in (_INTEL, _DEC, _MIPS):
        raise reader.damaged(f"numbers of the unknown processor {reader.processor}")
    parameters = _parameters(reader, start)
    points, per_frame, first, last = struct.unpack_from(f"{reader.order}4H", content, 2)
    begin, ratio = struct.unpack_from(f"{reader.order}2H", content, 16)
    if not begin or last < first:
        raise reader.damaged(f"its header says frames {first} to {last}, from block {begin}")
    empty = C3dContent(file, parameters, np.empty((0, points, 4)), np.empty((0, 0)), first)
    for name, said in (("POINT:USED", points), ("POINT:DATA_START", begin)):
        if empty.count(name, said) != said:
            raise reader.damaged(f"its header says {said}, and {name} {empty.count(name, said)}")
    channels = empty.count("ANALOG:USED", 0)
    if channels * ratio != per_frame:
        message = f"its header says {per_frame} analogue samples a frame, and ANALOG:USED {channels} channels"
        raise reader.damaged(f"{message}, {ratio} times a frame")
    raw = _samples(reader, empty, (begin - 1) * _BLOCK, 4 * points + per_frame, last - first + 1)
    with np.errstate(over="ignore", invalid="ignore"):  # what isn't finite is refused where it is used
        return _scaled(empty, raw, points, channels)


def _samples(
    reader: _Reader, empty: C3dContent, start: int, width: int, frames: int
) -> tuple[FloatArray, bool]:
    """(frames, width) numbers as they are written, and whether they are floats."""
    floats = empty.number("POINT:SCALE", -1.0) < 0
    size = 4 if floats else 2
    held = (len(reader.content) - start) // (size * width) if width else frames
    if frames == _MOST_COUNTED or empty.count("POINT:FRAMES", frames) == _MOST_COUNTED:
        frames = max(held, 0)
    if held < frames:
        raise reader.damaged(f"its header says {frames:,} frames, and it holds {max(held, 0):,}")
    raw = reader.content[start : start + frames * width * size]
    table = reader.floats(raw) if floats else reader.words(raw, "i")
    return table.reshape(frames, width), floats


def _scaled(empty: C3dContent, read: tuple[FloatArray, bool], points: int, channels: int) -> C3dContent:
    """Points and analogue samples in their units: (sample - OFFSET) SCALE GEN_SCALE."""
    table, floats = read
    positions = table[:, : 4 * points].reshape(len(table), points, 4)
    analogs = table[:, 4 * points :].reshape(-1, channels) if channels else np.empty((0, 0))
    if not floats:
        # an integer residual has its cameras in the high byte, and is -1 where the point wasn't seen
        seen = positions[..., 3] >= 0
        positions = positions * abs(empty.number("POINT:SCALE", 1.0))
        positions[..., 3] = np.where(seen, 0.0, -1.0)
    if channels:
        scale, offset = (_of_channels(empty, name, channels) for name in ("SCALE", "OFFSET"))
        if not floats and (empty.texts("ANALOG:FORMAT") or ("SIGNED",))[0].upper() == "UNSIGNED":
            # Words are read as signed numbers: from 32768 on an unsigned one comes 65536 too low.
            analogs, offset = (np.where(counts < 0, counts + 65536, counts) for counts in (analogs, offset))
        analogs = (analogs - offset) * (scale * empty.number("ANALOG:GEN_SCALE", 1.0))
    return C3dContent(empty.file, empty.parameters, positions, analogs, empty.first)


def _of_channels(content: C3dContent, name: str, channels: int) -> FloatArray:
    """A number a channel: 255 in ANALOG:NAME, the others in ANALOG:NAME2 and so on."""
    parts = [
        content.numbers(f"ANALOG:{name}{number or ''}") for number in (0, *range(2, 2 + channels // 255))
    ]
    numbers = np.concatenate([part.ravel() for part in parts if part is not None] or [np.empty(0)])
    if len(numbers) < channels:
        message = f"there are {channels} analogue channels, and numbers for {len(numbers)}"
        raise InputError(
            message, file=content.file, key=f"ANALOG:{name}", hint="without it the samples have no unit"
        )
    return numbers[:channels]


def _parameters(reader: _Reader, start: int) -> dict[str, Parameter]:
    groups: dict[int, str] = {}
    entries: list[tuple[int, str, Parameter]] = []
    for group, name, rest in _chain(reader, start):
        if group < 0:
            groups[-group] = name
            continue
        entries.append((group, name, _parameter(reader, name, rest)))
    return {f"{groups.get(group, '')}:{name}": value for group, name, value in entries}


def _parameter(reader: _Reader, name: str, rest: bytes) -> Parameter:
    """Numbers or texts of a type byte, a count of dimensions, the dimensions, and the data."""
    kind, count = struct.unpack_from("bB", rest) if len(rest) >= 2 else (0, 0)
    dimensions = tuple(rest[2 : 2 + count])
    begin = 2 + count
    room = _SIZES.get(kind, 0) * math.prod(dimensions)
    if kind not in _SIZES or count > _MOST_DIMENSIONS or len(dimensions) < count or begin + room > len(rest):
        raise reader.damaged(f"its parameter {name} is longer than its place")
    raw = rest[begin : begin + room]
    if kind == -1:
        length = dimensions[0] if dimensions else 1
        texts = (raw[k : k + length] for k in range(0, len(raw), length or 1))
        return tuple(text.decode("utf-8", "replace").rstrip(" \0") for text in texts)
    if kind == 4:
        numbers = reader.floats(raw)
    elif kind == 2:
        # counts beyond 32767 are written without a sign; OFFSET alone can be negative
        numbers = reader.words(raw, "i" if name.startswith("OFFSET") else "u")
    else:
        numbers = np.frombuffer(raw, "u1").astype(np.float64)
    return numbers.reshape(dimensions, order="F")


def _chain(reader: _Reader, start: int) -> Iterator[tuple[int, str, bytes]]:
    """Groups (of negative numbers) and parameters, one after the other: number, name, and what follows the name."""
    at, content = start + 4, reader.content
    while at + 2 <= len(content):
        length, group = struct.unpack_from("bb", content, at)
        if not length or not group:
            return
        behind = at + 2 + abs(length)
        if behind + 2 > len(content):
            break
        name = content[at + 2 : behind].decode("latin-1").strip().upper()
        (step,) = struct.unpack_from(f"{reader.order}H", content, behind)
        end = behind + step if step else len(content)
        if end > len(content) or 0 < step < 3:
            break
        yield group, name, content[behind + 2 : end]
        if not step:
            return
        at = end
    raise reader.damaged("its parameters lead beyond its end")
