"""The lowest and the highest value of a run's columns, between its samples too."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError, suggest


class NoPeakError(InputError, KeyError):
    """A name that the run doesn't hold; a KeyError, too, so that `peaks.get` and `in` work."""


class Peak(NamedTuple):
    """The extremes of one column, in its own unit.

    lowest, highest: the least and the greatest value of the whole run; lowest_time, highest_time: when (s). sampled:
    whether only the stored samples are known, between which the value may have gone further.
    """

    lowest: float
    lowest_time: float
    highest: float
    highest_time: float
    sampled: bool = False

    def joined(self, other: Peak) -> Peak:
        """The extremes of both, sampled as this one; of equal values this one's."""
        low, high = (self.lowest, self.lowest_time), (self.highest, self.highest_time)
        low = (other.lowest, other.lowest_time) if other.lowest < self.lowest else low
        high = (other.highest, other.highest_time) if other.highest > self.highest else high
        return Peak(*low, *high, self.sampled)


class Peaks(Mapping[str, Peak]):
    """The peaks of a run's values: those that were `given`, never within the samples; of others the samples' own."""

    def __init__(self, given: Mapping[str, Peak], time: FloatArray, values: Mapping[str, FloatArray]) -> None:
        self._values, self._time = values, time
        # Another run's peaks, which `dataclasses.replace` hands on, are those of the values that it hands on, too.
        self._given = given._given if isinstance(given, Peaks) else given
        before = given._values if isinstance(given, Peaks) else values
        self._alike = {name for name, array in values.items() if before.get(name) is array}

    def __getitem__(self, name: str) -> Peak:
        if not isinstance(name, str) or name not in self._values:
            raise NoPeakError(f"the run has no value {name!r} here", hint=suggest(str(name), self._values))
        sampled = sampled_peak(self._time, self._values[name])
        given = self._given.get(name) if name in self._alike else None
        return sampled if given is None else given.joined(sampled)

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __reduce__(self) -> tuple[type, tuple[dict[str, Peak]]]:
        return dict, ({name: peak for name, peak in self.items() if not peak.sampled},)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({dict(self)})"


def peak_rows(peaks: Mapping[str, Peak], units: Mapping[str, str]) -> list[list[object]]:
    """Rows of a table: its head, then a name with its unit, its peak and whether that is of the samples alone."""
    rows = [[name, units.get(name, ""), *peak[:4], str(peak.sampled).lower()] for name, peak in peaks.items()]
    return [["name", "unit", *Peak._fields], *rows]


def sampled_peak(time: FloatArray, values: FloatArray) -> Peak:
    """The extremes of the samples that are numbers; NaN where none is."""
    known = np.flatnonzero(~np.isnan(values))
    if not known.size:
        return Peak(np.nan, np.nan, np.nan, np.nan, True)
    low, high = known[np.argmin(values[known])], known[np.argmax(values[known])]
    return Peak(float(values[low]), float(time[low]), float(values[high]), float(time[high]), True)
