"""Tables of numbers that programs look things up in, such as the heights of a map."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, IntArray
from trundle.errors import InputError
from trundle.frozen import Rebuilt, frozen

# Places are computed as 32-bit integers: every processor turns a vector of numbers into those.
MOST = 2**31 - 1


@dataclass(frozen=True, eq=False, repr=False)
class Table(Rebuilt):
    """Numbers in a row; a lookup at an index i reads element i + k, k from 0 to `reach` known beforehand.

    Indices are cut to whole numbers and held within the table; what is no number reads as index 0.
    """

    values: FloatArray
    reach: int = 0

    def __post_init__(self) -> None:
        """Keep a read-only row, and refuse what can't be looked up."""
        values = frozen(np.ascontiguousarray(self.values, dtype=np.float64))
        if values.ndim != 1 or not 0 <= self.reach < values.size <= MOST:
            raise InputError(
                f"a table needs 1 to {MOST:,} numbers in a row, more than its reach of {self.reach}; "
                f"got shape {values.shape}"
            )
        object.__setattr__(self, "values", values)

    @property
    def last(self) -> int:
        """The greatest index."""
        return self.values.size - 1 - self.reach

    @cached_property
    def digest(self) -> str:
        """Of its content."""
        return hashlib.sha256(self.values.tobytes() + str(self.reach).encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Table) and (self is other or self.digest == other.digest)

    def __hash__(self) -> int:
        return hash(self.digest)

    def __repr__(self) -> str:
        return f"<table of {self.values.size} numbers>"

    def at(self, index: npt.ArrayLike, place: int) -> FloatArray:
        """The numbers at indices, in NumPy."""
        return np.asarray(self.values[self.clipped(index) + place])

    def clipped(self, index: npt.ArrayLike) -> IntArray:
        """Indices as whole numbers within the table."""
        asked = np.asarray(index, dtype=np.float64)
        return np.minimum(np.where(asked > 0, asked, 0.0), self.last).astype(np.int64)
