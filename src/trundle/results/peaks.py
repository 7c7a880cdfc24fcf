"""The lowest and the highest value of a run's columns, between its samples too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.results.of_values import OfValues


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


class Peaks(OfValues[Peak]):
    """The peaks of a run's values: those that were `given`, never within the samples; of others the samples' own."""

    def _read(self, name: str, given: Peak | None) -> Peak:
        sampled = sampled_peak(self._time, self._values[name])
        return sampled if given is None else given.joined(sampled)

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
