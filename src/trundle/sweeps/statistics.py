"""What rows say of all robots together, from blocks that come one after the other: memory stays small."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray

Blocks = Callable[[], Iterable[FloatArray]]
# Bins of a pass that looks for a quantile, and values few enough to be sorted.
_BINS, _SORTED = 65_536, 1_000_000


@dataclass(frozen=True)
class Moments:
    """Of finite values: how many, mean, standard deviation (of a sample), least and greatest; NaN where none is."""

    count: int
    mean: float
    deviation: float
    least: float
    greatest: float


def moments(blocks: Iterable[FloatArray]) -> Moments:
    """Chan's formula joins blocks without losing digits (T. F. Chan et al., "Updating formulae", 1979, eq. 2.1)."""
    count, mean, squares, least, greatest = 0, 0.0, 0.0, math.inf, -math.inf
    for values in _finite(blocks):
        own, middle = values.size, float(values.mean())
        change, total = middle - mean, count + own
        squares += float(((values - middle) ** 2).sum()) + change**2 * count * own / total
        mean += change * own / total
        count, least, greatest = total, min(least, float(values.min())), max(greatest, float(values.max()))
    if not count:
        return Moments(0, math.nan, math.nan, math.nan, math.nan)
    deviation = math.sqrt(squares / (count - 1)) if count > 1 else 0.0
    return Moments(count, mean, deviation, least, greatest)


def histogram(blocks: Blocks, bins: int) -> tuple[FloatArray, FloatArray]:
    """Counts in bins of equal width, and their edges; as `numpy.histogram` of all values."""
    whole = moments(blocks())
    if not whole.count:
        return np.zeros(bins), np.linspace(0.0, 1.0, bins + 1)
    span = (whole.least, whole.greatest)
    edges = np.histogram_bin_edges(np.array(span), bins)
    counts = np.zeros(bins)
    for values in _finite(blocks()):
        counts += np.histogram(values, edges)[0]
    return counts, edges


def quantiles(blocks: Blocks, shares: FloatArray) -> FloatArray:
    """Exact quantiles, linear between neighbours, as `numpy.quantile` has them."""
    count = sum(values.size for values in _finite(blocks()))
    if not count:
        return np.full(shares.shape, np.nan)
    places = shares * (count - 1)
    below = np.floor(places).astype(int)
    wanted = sorted({int(k) for k in (*below, *np.minimum(below + 1, count - 1))})
    found = {rank: _at(blocks, rank) for rank in wanted}
    low = np.array([found[int(k)] for k in below])
    high = np.array([found[min(int(k) + 1, count - 1)] for k in below])
    return low + (places - below) * (high - low)


def _at(blocks: Blocks, rank: int) -> float:
    """The value with this rank, by bins that get narrower until those within can be sorted."""
    low, high, before = -math.inf, math.inf, 0
    while True:
        inside = sum(_within(values, low, high).size for values in _finite(blocks()))
        if inside <= _SORTED:
            there = np.concatenate([_within(values, low, high) for values in _finite(blocks())])
            return float(np.partition(there, rank - before)[rank - before])
        least = min(float(part.min()) for part in _parts(blocks, low, high))
        greatest = max(float(part.max()) for part in _parts(blocks, low, high))
        if least == greatest:
            return least
        edges = np.linspace(least, greatest, _BINS + 1)
        counts = np.zeros(_BINS, dtype=np.int64)
        for part in _parts(blocks, low, high):
            counts += np.bincount(
                np.clip(np.searchsorted(edges, part, "right") - 1, 0, _BINS - 1), minlength=_BINS
            )
        bin_ = int(np.searchsorted(np.cumsum(counts), rank - before, "right"))
        before += int(counts[:bin_].sum())
        low = edges[bin_]
        high = math.inf if bin_ == _BINS - 1 else float(edges[bin_ + 1])


def _parts(blocks: Blocks, low: float, high: float) -> Iterator[FloatArray]:
    return (part for values in _finite(blocks()) if (part := _within(values, low, high)).size)


def _within(values: FloatArray, low: float, high: float) -> FloatArray:
    return values[(values >= low) & (values < high)] if low > -math.inf or high < math.inf else values


def _finite(blocks: Iterable[FloatArray]) -> Iterator[FloatArray]:
    return (own for values in blocks if (own := values[np.isfinite(values)]).size)
