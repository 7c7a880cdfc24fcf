"""Where curves bend too much for straight lines between their samples: the few points that show them there."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray

# Of what a column spans: a pixel of a thousand; the share of which pages keep samples, too.
CLOSE = 1e-3
# What spans less than this share of the largest value of all columns (or of 1 in its unit) is rounding; figures show
# what spans a hundred times as much as flat lines.
_ROUNDING = 1e-6
# Points of a column that are kept: so many are a pixel of a panel apart, or two.
MOST_POINTS = 256
# A gap between looks is cut into so many parts at most, and all of them into so many further looks.
_PARTS, _MOST_FURTHER = 8, 4000
# Samples so near (1 where lines between them miss a parabola by the bound) show all that there is: by a tenth of it.
_QUIET = 0.3
# A round halves the stretches that still miss the curve: more of them than points need.
_ROUNDS = 16
# Columns are looked at together up to so many numbers: as many as caches hold.
_TOGETHER = 2**16

Mask = npt.NDArray[np.bool_]


def bounds(low: FloatArray, high: FloatArray) -> FloatArray:
    """How far lines may miss columns that go from `low` to `high`; infinite for those that are rounding."""
    size = np.maximum(np.abs(low), np.abs(high))
    largest = float(np.max(size, where=np.isfinite(size), initial=0.0))
    span = high - low
    moves = span > np.maximum(_ROUNDING * min(1.0, largest), 1e-6 * size)
    return np.where(moves, CLOSE * span, np.inf)


def parts(
    time: FloatArray, columns: FloatArray, owner: np.ndarray, bound: FloatArray, gaps: FloatArray
) -> tuple[np.ndarray, Mask]:
    """Into how many parts each gap between looks (count - 1,) must be cut, so that lines miss no column (c, count) by
    more than its bound; 1 where samples are as near. And at which looks (count,) lines between samples may miss one.

    owner: whose looks they are; across pieces there are no gaps. gaps: how far samples lie apart there (s).
    """
    length = np.diff(time)
    joined = owner[1:] == owner[:-1]
    moving = np.isfinite(bound)
    with np.errstate(all="ignore"):
        slope = np.diff(columns[moving], axis=1) / (length * bound[moving, None])
        bend = np.abs(2 * np.diff(slope, axis=1) / (length[1:] + length[:-1])).max(axis=0, initial=0.0)
    bend = np.where(joined[1:] & joined[:-1] & np.isfinite(bend), bend, 0.0)
    around = np.maximum(np.append(bend, 0.0), np.append(0.0, bend))
    # A line misses a parabola by an eighth of its bend times the length squared.
    count = length * np.sqrt(around / 8)
    needed = joined & (count > 1) & (gaps * np.sqrt(around / 8) > 1)
    most = max(2, min(_PARTS, _MOST_FURTHER // max(1, int(needed.sum()))))
    cut = np.where(needed, np.clip(np.ceil(count), 1, most), 1).astype(int)
    lively = ~joined | (gaps * np.sqrt(around / 8) > _QUIET)
    return cut, np.append(lively, True) | np.append(True, lively)


def points(
    samples: FloatArray, rows: Sequence[FloatArray], times: FloatArray, columns: FloatArray, bound: FloatArray
) -> list[FloatArray]:
    """Times and values (2, k) by column: those of columns (c, n) at times that lines through the `rows` at the samples
    need, so that they miss none by more than its bound.
    """
    found = [np.zeros((2, 0)) for _ in rows]
    after = np.searchsorted(samples, times)
    inside = (after > 0) & (after < samples.size)
    inside[inside] = samples[after[inside]] != times[inside]
    times, columns, after = times[inside], columns[:, inside], after[inside]
    # Most samples are near enough to one another, and most columns are straight between the others: little is left.
    far, gap = np.unique(after, return_inverse=True)
    first, last = (np.array([row[far - before] for row in rows])[:, gap] for before in (1, 0))
    share = (times - samples[after - 1]) / (samples[after] - samples[after - 1])
    missed = np.abs(columns - first - share * (last - first)) > bound[:, None]
    which, bent = np.flatnonzero(missed.any(axis=1)), np.isin(after, after[missed.any(axis=0)])
    if not which.size:
        return found
    known = np.union1d(after[bent] - 1, after[bent])
    every = np.append(samples[known], times[bent])
    order = np.argsort(every)
    every, fixed = every[order], order < known.size
    there = np.array([rows[k][known] for k in which.tolist()])
    values = np.hstack([there, columns[which][:, bent]])[:, order]
    kept = chosen(every, values, fixed, bound[which], MOST_POINTS)
    for k, row, mask in zip(which.tolist(), values, kept, strict=True):
        found[k] = np.array([every[mask], row[mask]])
    return found


def chosen(time: FloatArray, columns: FloatArray, fixed: Mask, bound: FloatArray, most: int) -> Mask:
    """Which points of columns (c, n) lines have to run through, beside the `fixed` ones (n,), so that they miss none of
    the others by more than its column's bound; (c, n), at most so many a column.

    A round adds the worst point of every stretch of every column (Douglas & Peucker 1973). The first and the last point
    are fixed.
    """
    together = max(1, _TOGETHER // max(1, time.size))
    groups = [slice(k, k + together) for k in range(0, len(columns), together)] or [slice(None)]
    return np.vstack([_chosen(time, columns[group], fixed, bound[group], most) for group in groups])


def _chosen(time: FloatArray, columns: FloatArray, fixed: Mask, bound: FloatArray, most: int) -> Mask:
    """Which points of columns that stay in the processor's caches together."""
    kept = np.repeat(fixed[None], len(columns), axis=0)
    active = np.arange(len(columns))
    for _ in range(_ROUNDS):
        # All columns in a row: as their ends are kept, no stretch goes from one to the next.
        starts, stretch = np.flatnonzero(kept[active]), np.cumsum(kept[active]) - 1
        off = _misses(np.tile(time, active.size), columns[active].ravel(), starts, stretch)
        worst = np.maximum.reduceat(off, starts)[stretch].reshape(-1, time.size)
        off = off.reshape(worst.shape)
        marked = (off == worst) & (off > bound[active][:, None])
        room = most - (kept[active] & ~fixed).sum(axis=1)
        for row in np.flatnonzero(marked.sum(axis=1) > room):  # of too many the worst
            best = np.argsort(np.where(marked[row], -off[row], 0.0), kind="stable")
            marked[row, best[room[row] :]] = False
        kept[active] |= marked
        active = active[marked.any(axis=1)]
        if not active.size:
            break
    return kept & ~fixed


def _misses(time: FloatArray, values: FloatArray, starts: np.ndarray, stretch: np.ndarray) -> FloatArray:
    """How far lines from start to start miss values that lie on these stretches; no number counts as none."""
    before, after = starts[stretch], starts[np.minimum(stretch + 1, starts.size - 1)]
    with np.errstate(all="ignore"):
        share = (time - time[before]) / (time[after] - time[before])
        off = np.abs(values - values[before] - share * (values[after] - values[before]))
    off[starts] = 0.0
    return np.nan_to_num(off, nan=0.0, posinf=0.0)
