"""What a C3D file holds, as numbers and texts: parameters by name, points, and analogue samples in their units.

Source: The C3D File Format User Guide (c3d.org), "Header section", "Data section".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.limbs.capture.c3d_layout import C3dLayout, read_layout
from trundle.limbs.capture.c3d_parameters import (
    BLOCK,
    PROCESSORS,
    C3dParameters,
    Reader,
    read_parameters,
)
from trundle.limbs.capture.faults import Faults, printable

# What ANALOG:FORMAT may say of samples that are integers; nothing: the first.
_FORMATS = ("SIGNED", "UNSIGNED")


@dataclass(frozen=True, eq=False)
class C3dContent:
    """A file's parameters, how its samples are laid out, and their numbers as they are written, (frames, width).

    `first` is the number of the first frame, from 1; `rate` counts frames a second.
    """

    parameters: C3dParameters
    layout: C3dLayout
    table: FloatArray
    rate: float
    first: int

    @cached_property
    def points(self) -> FloatArray:
        """Points (frames, points, 4): x, y, z in POINT:UNITS and the residual, negative where one wasn't seen."""
        layout = self.layout
        points = self.table[:, : 4 * layout.points].reshape(layout.frames, layout.points, 4)
        if layout.scale > 0:
            # an integer residual has its cameras in the high byte, and is -1 where the point wasn't seen
            seen = points[..., 3] >= 0
            points = points * layout.scale
            points[..., 3] = np.where(seen, 0.0, -1.0)
        return points

    def channels(self, places: Sequence[int]) -> FloatArray:
        """Analogue channels in their units (k, n), by their places from 0: (sample - OFFSET) SCALE GEN_SCALE."""
        layout, parameters = self.layout, self.parameters
        if max(places) >= layout.channels or min(places) < 0:
            raise InputError(f"there is no channel {max(places) + 1} among {layout.channels}")
        said = (*parameters.texts("ANALOG:FORMAT"), "")[0]
        if (form := said.strip().upper() or _FORMATS[0]) not in _FORMATS:
            message = f"is SIGNED or UNSIGNED, got '{printable(said)}'"
            raise InputError(message, key="ANALOG:FORMAT")
        offset, scale = (self._of_channels(name, places) for name in ("OFFSET", "SCALE"))
        samples = self.table[:, 4 * layout.points :].reshape(-1, layout.channels)[:, places]
        if form == "UNSIGNED" and not layout.scale < 0:
            # Words are read as signed numbers: from 32768 on an unsigned one comes 65536 too low.
            samples = np.where(samples < 0, samples + 65536, samples)
        with np.errstate(over="ignore", invalid="ignore"):  # what isn't finite is refused where it is used
            return (samples - offset) * (scale * parameters.number("ANALOG:GEN_SCALE", 1.0))

    def numbers_of_channels(self, name: str) -> FloatArray:
        """A number a channel: 255 in ANALOG:NAME, the others in ANALOG:NAME2 and so on."""
        parts = map(self.parameters.numbers, self.parameters.parts(f"ANALOG:{name}"))
        return np.concatenate([part.ravel() for part in parts if part is not None] or [np.empty(0)])

    def _of_channels(self, name: str, places: Sequence[int]) -> FloatArray:
        """The numbers of these channels."""
        numbers = self.numbers_of_channels(name)
        if max(places) >= len(numbers):
            message = f"channel {max(places) + 1} has no number there"
            raise InputError(message, key=f"ANALOG:{name}", hint="without it the samples have no unit")
        return numbers[places]


def read_content(content: bytes, faults: Faults) -> C3dContent:
    """What the bytes of a C3D file hold, with its faults; InputError where they are none, or hold no frame."""
    if len(content) < 2 * BLOCK or content[1] != 0x50:
        hint = "one begins with a block of 512 bytes whose second byte is 80"
        raise InputError("is not a C3D file", hint=hint)
    reader, start = _reader(content, faults)
    parameters = read_parameters(reader, start, faults)
    layout, rate = read_layout(reader, parameters, faults)
    raw = content[layout.begin :][: layout.frames * layout.size]
    table = reader.floats(raw) if layout.scale < 0 else reader.words(raw, "i")
    found = C3dContent(parameters, layout, table.reshape(layout.frames, layout.width), rate, reader.word(6))
    for name in ("OFFSET", "SCALE") if layout.channels else ():
        with faults.part(f"ANALOG:{name}"):
            count = len(found.numbers_of_channels(name))
            if count < layout.channels:
                message = f"there are {layout.channels} analogue channels, and numbers for {count}"
                faults.note(message, f"ANALOG:{name}")
    return found


def _reader(content: bytes, faults: Faults) -> tuple[Reader, int]:
    """How the file writes numbers, and where its parameters begin: as the header says, or else in the second block."""
    for block in dict.fromkeys((content[0], 2)):
        start = (block - 1) * BLOCK
        if start >= BLOCK and start + 4 <= len(content) and content[start + 3] in PROCESSORS:
            if block != content[0]:
                faults.note(f"is damaged: its parameters do not begin in block {content[0]}")
            return Reader(faults.file, content, content[start + 3]), start
    raise InputError("is damaged: it has no parameters of a known processor")
