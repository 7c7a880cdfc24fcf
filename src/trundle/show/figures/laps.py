"""Which parts of a path it comes back along, so that a picture can show what lies below."""

from __future__ import annotations

import numpy as np

from trundle.arrays import FloatArray

# As many points of a path are looked at, evenly along it.
_POINTS = 500
# Ways that meet at a smaller angle than this one's go along one another; others cross (cosine).
_ALONG = 0.9


def later_passes(points: FloatArray, near: float) -> FloatArray:
    """How often a path goes along its places (T, 2) again later, nearer than that, to and fro alike: (T,).

    Crossings are no passes.
    """
    progress = np.concatenate([[0.0], np.cumsum(np.hypot(*np.diff(points, axis=0).T))])
    if progress[-1] <= 4 * near:
        return np.zeros(len(points))
    even = np.linspace(0.0, progress[-1], _POINTS)
    place = np.column_stack([np.interp(even, progress, coordinate) for coordinate in points.T])
    way = np.diff(place, axis=0)
    length = np.hypot(*way.T)
    way /= np.maximum(length, 1e-300)[:, None]
    # Of every place but the last: how far along every piece it is, from where that begins, and how far beside it.
    across = np.column_stack([-way[:, 1], way[:, 0]])
    start = place[:-1]
    along, off = (start @ axis.T - (start * axis).sum(axis=1) for axis in (way, across))
    beside = (np.abs(off) < near) & (np.abs(along - length / 2) < length / 2 + near)
    beside &= np.abs(way @ way.T) > _ALONG
    # What is beside a place without a gap is that place's own.
    begins = np.triu(beside[:, 1:] & ~beside[:, :-1])
    return np.interp(progress, even[:-1], _steady(begins.sum(axis=1).astype(float))).round()


def _steady(passes: FloatArray) -> FloatArray:
    """Counts without what lasts for a few places only, where a path touches itself."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(passes, 4, mode="edge"), 9)
    return np.median(around, axis=1)
