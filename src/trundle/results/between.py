"""Points of a run's columns between its samples, where straight lines from sample to sample would miss them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.frozen import frozen
from trundle.results.of_values import OfValues

if TYPE_CHECKING:
    from trundle.results.run import Run


class Between(OfValues[FloatArray]):
    """Times and values (2, k) between the samples of a run's values: those that were `given`, of others none."""

    def _read(self, name: str, given: FloatArray | None) -> FloatArray:
        return frozen(np.zeros((2, 0)) if given is None else _checked(name, given))

    def __reduce__(self) -> tuple[type, tuple[dict[str, FloatArray]]]:
        return dict, ({name: points for name, points in self.items() if points.size},)

    def __repr__(self) -> str:
        counts = {name: points.shape[1] for name, points in self.items() if points.size}
        return f"<points between samples, by how many: {counts}>"


def _checked(name: str, points: npt.ArrayLike) -> FloatArray:
    """Points (2, k) whose times don't fall; InputError for others."""
    array = as_numbers(points, f"between of {name!r}")
    if array.ndim != 2 or len(array) != 2 or not np.all(np.diff(array[0]) >= 0):
        message = f"times and values between the samples of {name!r} are two rows, whose times never fall"
        raise InputError(f"{message}; these have the shape {array.shape}", key="between")
    return array


def further_points(run: Run, name: str) -> FloatArray:
    """Times and values (2, k) that a curve runs through beside the samples: what is known between, and its peaks."""
    peak, known = run.peaks[name], run.between[name]
    times, values = known.tolist()
    if not peak.sampled:
        times += [peak.lowest_time, peak.highest_time]
        values += [peak.lowest, peak.highest]
    points = np.array([times, values])
    inside = (points[0] > run.time[0]) & (points[0] < run.time[-1]) & np.isfinite(points[1])
    apart, first = np.unique(points[0, inside], return_index=True)
    new = ~_among(run.time, apart)
    return np.array([apart[new], points[1, inside][first[new]]])


def _among(time: FloatArray, moments: FloatArray) -> np.ndarray:
    """Which moments are among the times, that don't fall."""
    return time[np.minimum(np.searchsorted(time, moments), time.size - 1)] == moments


def with_points(
    time: FloatArray, values: FloatArray, points: FloatArray | None
) -> tuple[FloatArray, FloatArray]:
    """A curve's samples, and between them points (2, k) that it runs through, too, if there are any."""
    if points is None:
        return time, values
    at = np.searchsorted(time, points[0])
    return np.insert(time, at, points[0]), np.insert(values, at, points[1])
