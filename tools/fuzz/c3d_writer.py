"""C3D files byte by byte, of any processor, as floats or integers, and where everything stands in them.

Nothing here is Trundle's: what is read is held against the numbers that were written.
Source: The C3D File Format User Guide (c3d.org).
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass, field
from typing import Any

import numpy as np

PROCESSORS = {"Intel": 84, "DEC": 85, "MIPS": 86}
BLOCK = 512
# Where a parameter stands: the place of its name's length, of its pointer, of its type, of its data, and its end.
Place = tuple[int, int, int, int, int]


@dataclass
class C3dFile:
    """What a file holds; `points` (n, m, 4) and `samples` (k, c) are written as they are, in steps of `scale`.

    `header` has words in place of those that are right, by where they stand; `description` follows each parameter.
    """

    points: np.ndarray
    samples: np.ndarray
    parameters: dict[str, Any]
    processor: str = "Intel"
    scale: float = -1.0
    rate: float = 100.0
    first: int = 1
    header: dict[int, int] = field(default_factory=dict)
    description: bytes = b"what it is"

    @property
    def order(self) -> str:
        """The order of bytes."""
        return ">" if self.processor == "MIPS" else "<"

    def word(self, number: int) -> bytes:
        """A count of 16 bits, or a signed number."""
        return struct.pack(f"{self.order}H", number % 65536)

    def real(self, number: float) -> bytes:
        """A float as the processor writes it."""
        if self.processor == "DEC":
            raw = struct.pack("<f", number * 4)
            return raw[2:] + raw[:2]
        return struct.pack(f"{self.order}f", number)

    def _data(self, value: Any) -> bytes:
        """Type, dimensions and data of a parameter."""
        if isinstance(value, np.ndarray):
            flat = value.ravel(order="F")
            whole = value.dtype.kind == "i"
            raw = b"".join(self.word(int(x)) if whole else self.real(float(x)) for x in flat)
            return bytes([2 if whole else 4, value.ndim, *value.shape]) + raw
        if value and isinstance(value[0], str | bytes):
            texts = [text.encode() if isinstance(text, str) else text for text in value]
            length = max(map(len, texts))
            return bytes([255, 2, length, len(texts)]) + b"".join(text.ljust(length) for text in texts)
        return self._data(np.asarray(value))

    def parts(self) -> tuple[bytes, dict[str, Place]]:
        """The section of parameters, and where each one stands in the file; groups are there by their names."""
        names = {name.partition(":")[0]: 0 for name in self.parameters}
        groups = {name: number for number, name in enumerate(names, 1)}
        raw, places = bytearray(), dict[str, Place]()
        for name, number in groups.items():
            self._add(raw, places, name, (256 - number, name.encode(), b""))
        for name, value in self.parameters.items():
            group, _, own = name.partition(":")
            self._add(raw, places, name, (groups[group], own.encode(), self._data(value)))
        raw += b"\0\0"
        blocks = math.ceil((4 + len(raw)) / BLOCK)
        head = bytes([1, 0x50, blocks, PROCESSORS[self.processor]])
        return head + bytes(raw) + bytes(blocks * BLOCK - 4 - len(raw)), places

    def _add(
        self, raw: bytearray, places: dict[str, Place], name: str, written: tuple[int, bytes, bytes]
    ) -> None:
        group, own, data = written
        at = BLOCK + 4 + len(raw)
        behind = data + bytes([len(self.description)]) + self.description
        raw += bytes([len(own), group]) + own + self.word(2 + len(behind)) + behind
        pointer = at + 2 + len(own)
        begin = pointer + 4 + (data[1] if data else 0)
        places[name] = at, pointer, pointer + 2, begin, pointer + 2 + len(data)

    def content(self) -> bytes:
        """The file."""
        count, ratio = len(self.points), len(self.samples) // len(self.points)
        start = 2 + len(self.parts()[0]) // BLOCK
        self.parameters = {
            name: [start] if name == "POINT:DATA_START" and tuple(value) == (-1,) else value
            for name, value in self.parameters.items()
        }
        per_frame = self.samples.shape[1] * ratio
        words = {2: self.points.shape[1], 4: per_frame, 6: self.first, 8: self.first + count - 1}
        words |= {16: start, 18: ratio} | self.header
        head = bytearray(BLOCK)
        head[:2] = 2, 0x50
        for place, number in words.items():
            head[place : place + 2] = self.word(number)
        head[12:16], head[20:24] = self.real(self.scale), self.real(self.rate)
        points = self.points / [*[abs(self.scale)] * 3, 1] if self.scale > 0 else self.points
        table = np.hstack([points.reshape(count, -1), self.samples.reshape(count, -1)])
        if self.scale > 0:
            raw = b"".join(self.word(round(x)) for x in table.ravel())
        else:
            raw = b"".join(self.real(float(x)) for x in table.ravel())
        return bytes(head) + self.parts()[0] + raw + bytes(-len(raw) % BLOCK)


# Two plates that lie flat, x along the laboratory's, y and z against its: their corners and sensors' origins, mm.
AXES = np.diag([1.0, -1.0, -1.0])
HALF = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * [250.0, 200.0]
CENTRES = np.array([[0.0, 0.0, 0.0], [600.0, 50.0, 0.0]])
ORIGINS = np.array([[1.0, -2.0, -40.0], [0.0, 3.0, -38.0]])
SCALES = np.array([*[0.5, 0.5, 0.5, 16.0, 16.0, 16.0] * 2, 0.25])
OFFSETS = np.array([*range(5, 17), 3])
LABELS = ("hip", "knee")


@dataclass
class Scene:
    """Two markers over two plates of type 2, and one channel that no plate uses; `counts` are the samples' (k, 13).

    Positions are multiples of an eighth of a millimetre, so that floats and integers have them exactly.
    """

    places: np.ndarray
    counts: np.ndarray

    @staticmethod
    def random(rng: np.random.Generator, frames: int = 8, ratio: int = 3) -> Scene:
        """Some scene."""
        places = rng.integers(-2000, 2000, (frames, 2, 3)) / 8 + [200, 0, 900]
        counts = rng.integers(-300, 300, (frames * ratio, 13))
        counts[:, [2, 8]] -= 1500  # the plates push upward, against their z
        return Scene(places, counts + OFFSETS)

    def wrench(self, plate: int) -> tuple[np.ndarray, np.ndarray]:
        """Force and moment about the centre of a plate's surface (k, 3), N and N m, in the laboratory's axes."""
        channels = ((self.counts - OFFSETS) * SCALES)[:, 6 * plate : 6 * plate + 6]
        force = channels[:, :3]
        moment = (channels[:, 3:] + np.cross(force, ORIGINS[plate])) / 1000
        return force @ AXES.T, moment @ AXES.T

    def file(self, processor: str = "Intel", *, integers: bool = False) -> C3dFile:
        """It as a file."""
        frames = len(self.places)
        points = np.concatenate([self.places, np.zeros((frames, 2, 1))], axis=2)
        flat = np.pad(HALF @ AXES[:2, :2], ((0, 0), (0, 1)))
        parameters: dict[str, Any] = {
            "POINT:USED": [2], "POINT:FRAMES": [frames], "POINT:DATA_START": [-1], "POINT:LABELS": LABELS,
            "POINT:SCALE": [0.125 if integers else -1.0], "POINT:UNITS": ["mm"], "POINT:RATE": [100.0],
            "ANALOG:USED": [13], "ANALOG:RATE": [100.0 * len(self.counts) / frames], "ANALOG:SCALE": SCALES,
            "ANALOG:GEN_SCALE": [1.0], "ANALOG:OFFSET": OFFSETS, "ANALOG:FORMAT": ["SIGNED"],
            "ANALOG:UNITS": [*["N"] * 3, *["Nmm"] * 3] * 2 + ["V"],
            "ANALOG:LABELS": [f"ch{k + 1}" for k in range(13)],
            "FORCE_PLATFORM:USED": [2], "FORCE_PLATFORM:TYPE": [2, 2],
            "FORCE_PLATFORM:CORNERS": np.stack([(flat + centre).T for centre in CENTRES], axis=2),
            "FORCE_PLATFORM:ORIGIN": ORIGINS.T, "FORCE_PLATFORM:CHANNEL": np.arange(1, 13).reshape(2, 6).T,
            "EVENT:USED": [1], "EVENT:CONTEXTS": ["Left"], "EVENT:LABELS": ["Foot Strike"],
            "EVENT:TIMES": np.array([[0.0], [0.03125]]),
        }  # fmt: skip
        scale = 0.125 if integers else -1.0
        return C3dFile(points, self.counts.astype(float), parameters, processor, scale)
