"""Where a C3D file's samples are and how many: what header and parameters say, held against the file's length.

Source: The C3D File Format User Guide (c3d.org), "Header section", "Data section".
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from itertools import product

from trundle.errors import InputError
from trundle.limbs.capture.c3d_parameters import BLOCK, C3dParameters, Reader
from trundle.limbs.capture.faults import Faults

# Beyond so many a 16-bit count says "at least".
_MOST_COUNTED = 65535
# Rates are written with four digits and more.
_SAME_RATE = 1e-3
_MOST_RATE = 1e6  # Hz; more is no rate of cameras
# A scale that says that numbers are floats.
_FLOATS = -1.0


@dataclass(frozen=True)
class C3dLayout:
    """How samples are laid out: in each frame x, y, z and residual of all points, then `ratio` times all channels.

    `block` is where they begin, `scale` what a step of integers is; negative: numbers are floats.
    """

    block: int
    points: int
    frames: int
    scale: float
    channels: int
    ratio: int

    @property
    def begin(self) -> int:
        """The first byte of the samples."""
        return (self.block - 1) * BLOCK

    @property
    def width(self) -> int:
        """Numbers of a frame."""
        return 4 * self.points + self.channels * self.ratio

    @property
    def size(self) -> int:
        """Bytes of a frame."""
        return self.width * (4 if self.scale < 0 else 2)

    def whole(self, length: int) -> C3dLayout:
        """The layout of those frames that a file of so many bytes holds."""
        held = max(length - self.begin, 0) // self.size if self.size else self.frames
        return replace(self, frames=held if self.frames == _MOST_COUNTED else min(held, self.frames))

    def fits(self, length: int) -> bool:
        """Whether a file of so many bytes ends where the frames do, but for the padding of a block."""
        left = length - self.begin - self.frames * self.size
        return 0 <= left < BLOCK or self.frames == _MOST_COUNTED


@dataclass(frozen=True)
class _Statements:
    """What a file's parameters and its header say, one beside the other."""

    reader: Reader
    parameters: C3dParameters
    faults: Faults

    def of(self, name: str, header: float, may_be: Callable[[float], bool]) -> list[float]:
        """What a parameter says, and what the header does: as far as it may be."""
        said = math.nan
        try:
            said = self.parameters.number(name, math.nan)
        except InputError as error:
            if error is not self.parameters.lost:
                self.faults.note(error.message, name)
        if not may_be(said) and not math.isnan(said + header):
            self.faults.note(f"is {said:g}, which can't be: the header's {header:g} is taken", name)
        return list(dict.fromkeys(value for value in (said, header) if may_be(value)))

    def counts(self, name: str, header: float, least: int) -> list[int]:
        """The same of a count."""
        counts = self.of(name, header, lambda value: least <= value < math.inf and value == int(value))
        return [int(count) for count in counts]

    def note_missing(self, name: str, taken: float) -> None:
        """Say that the header alone says something that parameters should."""
        if name not in self.parameters.values:
            self.faults.note(f"is missing: the header's {taken:g} is taken", name)

    def rate(self) -> float:
        """Frames a second: what POINT:RATE says, else the header."""
        name, (header,) = "POINT:RATE", self.reader.floats(self.reader.content[20:24])
        rates = self.of(name, header, lambda value: 0 < value < _MOST_RATE)
        if not rates:
            raise InputError("nothing says how many frames a second there are", key=name)
        self.note_missing(name, rates[0])
        if not _alike(rates[0], rates[-1]):
            self.faults.note(f"is {rates[0]:g}, and the header says {rates[-1]:g}: the first is taken", name)
        return rates[0]

    def analogs(self, ratios: list[float]) -> list[tuple[int, int]]:
        """How many analogue channels there may be, and how often in a frame, if rates say these ratios."""
        per_frame, ratio = self.reader.word(4), self.reader.word(18)
        used = self.counts("ANALOG:USED", math.nan, 0)
        times = [round(each) for each in ratios if _alike(each, round(each))] + [ratio]
        pairs = [(count, each) for count in used for each in times]
        pairs += [(count, per_frame // count) for count in used if count and not per_frame % count]
        pairs += [(per_frame // each, each) for each in times if each and not per_frame % each]
        return list(dict.fromkeys(pair if all(pair) else (0, 0) for pair in pairs or [(per_frame, 1)]))

    def readings(self, ratios: list[float]) -> list[C3dLayout]:
        """All layouts that the statements allow, the parameters' first."""
        used, first, last, start = map(self.reader.word, (2, 6, 8, 16))
        (step,) = self.reader.floats(self.reader.content[12:16])
        scales = self.of("POINT:SCALE", step, lambda value: value != 0 and math.isfinite(value))
        said = product(
            self.counts("POINT:DATA_START", start, 2),
            self.counts("POINT:USED", used, 0),
            self.counts("POINT:FRAMES", last - first + 1, 1),
            dict.fromkeys(_FLOATS if scale < 0 else scale for scale in scales),
            self.analogs(ratios),
        )
        return [
            C3dLayout(block, points, frames, scale, channels, ratio)
            for block, points, frames, scale, (channels, ratio) in said
        ]


def _alike(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=_SAME_RATE)


def read_layout(reader: Reader, parameters: C3dParameters, faults: Faults) -> tuple[C3dLayout, float]:
    """The layout of the frames that are whole, and how many frames a second there are, as parameters and header say.

    Where the two contradict each other, it is the layout that fits the file's length, and the parameters' if none does.
    """
    statements, length = _Statements(reader, parameters, faults), len(reader.content)
    rate = statements.rate()
    ratios = [
        each / rate for each in statements.of("ANALOG:RATE", math.nan, lambda value: 0 < value < math.inf)
    ]
    readings = statements.readings(ratios)
    possible = [reading for reading in readings if reading.whole(length).frames]
    if not possible:
        raise InputError("is damaged: it holds no whole frame", hint="is the file whole?")
    fitting = [reading for reading in possible if reading.fits(length)]
    layout = (fitting or possible)[0]
    if len(readings) > 1:
        taken = [
            f"{field.name} {getattr(layout, field.name):g}"
            for field in fields(layout)
            if len({getattr(each, field.name) for each in readings}) > 1
        ]
        fits = {0: "no reading fits", 1: "one reading fits"}.get(len(fitting), "several readings fit")
        message = f"parameters and header contradict each other, and {fits} the file's length"
        faults.note(f"{message}: read with {', '.join(taken)}")
    if layout.scale > 0:
        statements.note_missing("POINT:SCALE", layout.scale)
    if layout.channels and ratios and not _alike(ratios[0], layout.ratio):
        said = f"{rate * ratios[0]:g} Hz, and there are {rate * layout.ratio:g} samples a second"
        faults.note(f"is {said}", "ANALOG:RATE")
    whole = layout.whole(length)
    if whole.frames < layout.frames < _MOST_COUNTED:
        faults.note(f"is damaged: its header says {layout.frames:,} frames, and it holds {whole.frames:,}")
    return whole, rate
