"""Force plates: what they measured as forces on the person, in the laboratory's frame."""

from __future__ import annotations

from dataclasses import dataclass

from trundle.arrays import FloatArray
from trundle.frozen import Rebuilt


@dataclass(frozen=True, eq=False)
class ForcePlate(Rebuilt):
    """A force plate over time."""

    name: str
    corners: FloatArray
    time: FloatArray
    force: FloatArray
    moment: FloatArray
