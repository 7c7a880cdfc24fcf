"""Sobol' indices: how much of a measure's variance is due to what varies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray

# Resamples of the bootstrap, as many as SciPy takes by itself, and how sure its intervals are.
_RESAMPLES, _CONFIDENCE = 999, 0.95


@dataclass(frozen=True)
class SobolIndices:
    """A measure's indices by what varies: the share of its variance that is due to it alone, and with all others.

    Attributes
    ----------
    names : tuple of str
        What varies.
    first, total : ndarray, (names,)
        Of first order, and total.
    first_interval, total_interval : ndarray, (names, 2)
        Where they lie with 95 % confidence, by the bootstrap.
    """

    names: tuple[str, ...]
    first: FloatArray
    total: FloatArray
    first_interval: FloatArray
    total_interval: FloatArray


def sobol_indices(names: tuple[str, ...], values: FloatArray, seed: int) -> SobolIndices:
    """Of the values of A, B and the matrices with one column of the other, (d + 2, n), by `scipy.stats.sobol_indices`.

    Source: A. Saltelli et al., "Variance based sensitivity analysis of model output", 2010, table 2.
    """
    from scipy.stats import sobol_indices as by_scipy

    a, b, mixed = values[:1], values[1:2], values[2:, None, :]
    found = by_scipy(
        func={"f_A": a, "f_B": b, "f_AB": mixed}, n=values.shape[1], rng=np.random.default_rng(seed)
    )
    sure = found.bootstrap(confidence_level=_CONFIDENCE, n_resamples=_RESAMPLES)
    ends = [
        np.column_stack([np.ravel(each.confidence_interval.low), np.ravel(each.confidence_interval.high)])
        for each in (sure.first_order, sure.total_order)
    ]
    return SobolIndices(names, np.ravel(found.first_order), np.ravel(found.total_order), *ends)
