"""Poses from twists: integrated to rounding, on panels on which they are Legendre series."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import legendre

from trundle.arrays import FloatArray
from trundle.errors import NumericsError

# A panel's twist is a Legendre series of so many terms; it is resolved where the last two are rounding.
_TERMS = 16
_RESOLVED = 1e-14
# Or where they change the integral by less than this part of the whole length: a thousand panels leave 1e-12 of it.
_OF_LENGTH = 1e-15
_ROUNDING, _TINY = float(np.finfo(float).eps), float(np.finfo(float).tiny)
# Beyond so many panels the rates are no smooth function between breaks. With four modules they are 190 MB of series.
_MOST_PANELS = 200_000

_NODES, _WEIGHTS = legendre.leggauss(_TERMS)
# Values at the nodes to the series' coefficients, by the orthogonality that Gauss' weights keep.
_TO_SERIES = (legendre.legvander(_NODES, _TERMS - 1) * (np.arange(_TERMS) + 0.5)).T * _WEIGHTS
# Values at the nodes to the coefficients of their integral from −1.
_TO_INTEGRAL = legendre.legint(np.eye(_TERMS), lbnd=-1, axis=0) @ _TO_SERIES
_AT_NODES = legendre.legvander(_NODES, _TERMS) @ _TO_INTEGRAL
# Values at the nodes to their derivatives there.
_SLOPES = legendre.legvander(_NODES, _TERMS - 2) @ legendre.legder(np.eye(_TERMS), axis=0) @ _TO_SERIES

ArcRates = Callable[[FloatArray], FloatArray]


@dataclass(frozen=True, eq=False)
class Arcs:
    """Poses as functions of time: on a panel x, y, θ and what else is integrated are Legendre series."""

    edges: FloatArray  # (panels + 1,), s
    series: FloatArray  # (panels, terms + 1, 3 + more)

    def at(self, times: FloatArray) -> FloatArray:
        """Poses (n, 3) at times (n,), and what else is integrated behind them."""
        panel = np.clip(np.searchsorted(self.edges, times, "right") - 1, 0, len(self.series) - 1)
        width = np.diff(self.edges)[panel]
        local = 2 * (times - self.edges[panel]) / np.where(width > 0, width, 1.0) - 1
        return np.einsum("nk,nkj->nj", legendre.legvander(local, _TERMS), self.series[panel])


def integrate(rates: ArcRates, breaks: FloatArray, start: tuple[float, float, float]) -> Arcs:
    """Poses from a start, of a twist in the body's frame that is analytic between breaks: the first three of `rates`,
    functions of time (n, 3 + more); what follows them is integrated by itself, from 0.

    A panel's turn φ and its displacement ∫ R(φ) v dt come by Gauss's quadrature with 16 nodes; panels whose series
    have not died out are halved (as Chebfun does: Battles & Trefethen 2004).
    """
    pending = np.stack([breaks[:-1], breaks[1:]], axis=1)
    length = 0.0
    done: list[FloatArray] = []
    local: list[FloatArray] = []
    while len(pending):
        series, rest, size = _panels(rates, pending)
        if not np.isfinite(series).all():  # no number of halvings would resolve them
            when = float(pending[~np.isfinite(series).all(axis=(1, 2))][0, 0])
            raise NumericsError(f"the speeds are no finite numbers behind t = {when:.6g} s")
        length = length or float(size.sum())  # of all panels, before the first are halved
        smooth = rest <= _OF_LENGTH * length
        # so short a panel is done at any rate: a jump between breaks would be halved for ever
        resolved = smooth | (pending[:, 1] - pending[:, 0] <= 1e-12 * max(1.0, breaks[-1]))
        done.append(pending[resolved])
        local.append(series[resolved])
        rough = pending[~resolved]
        if len(rough) + sum(map(len, done)) > _MOST_PANELS:
            raise NumericsError("the twist is too rough to be integrated to a pose")
        middle = rough.mean(axis=1)
        pending = np.concatenate([np.stack([rough[:, 0], middle], 1), np.stack([middle, rough[:, 1]], 1)])
    spans, series = np.concatenate(done), np.concatenate(local)
    order = np.argsort(spans[:, 0])
    return Arcs(np.append(spans[order, 0], breaks[-1]), _chained(series[order], start))


def _panels(rates: ArcRates, spans: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The series of the panels' displacements in their first frames; what more terms could add to these beyond
    rounding (p,), in m or rad; and how far the panels lead at most (p,).

    Times are rounded to ε t, so that rates are uncertain by ε t |v̇|: no panel is too short for that.
    """
    half = (spans[:, 1] - spans[:, 0])[:, None] / 2
    times = spans[:, :1] + half * (1 + _NODES)
    # rates take rising times, and panels come in the order in which they were halved
    order = np.argsort(times.ravel(), kind="stable")
    values = rates(times.ravel()[order])[np.argsort(order)].reshape(*times.shape, -1)
    turned = half * (values[..., 2] @ _AT_NODES.T)
    cos, sin = np.cos(turned), np.sin(turned)
    values = _turned(values, cos, sin)
    spectrum = np.abs(np.einsum("kj,pjc->pkc", _TO_SERIES, values))
    # below 1e-3 m/s (or rad/s) the tolerance is absolute: a base at rest leaves rounding only
    scale = np.maximum(spectrum.max(axis=(1, 2)), 1e-3)
    slope = np.abs(np.einsum("kj,pjc->pkc", _SLOPES, values)).max(axis=(1, 2)) / np.maximum(half[:, 0], _TINY)
    rounding = _RESOLVED * scale + _ROUNDING * spans[:, 1] * slope
    tail = spectrum[:, -2:].max(axis=(1, 2))
    rest = np.where(tail <= _TERMS * rounding, 0.0, tail * half[:, 0])
    size = half[:, 0] * np.einsum("j,pjc->pc", _WEIGHTS, np.abs(values)).max(axis=1)
    return half[..., None] * np.einsum("kj,pjc->pkc", _TO_INTEGRAL, values), rest, size


def _chained(series: FloatArray, start: tuple[float, float, float]) -> FloatArray:
    """Panels one behind the other: displacements turned to where their panels begin."""
    moved = series.sum(axis=1)  # Legendre polynomials are 1 at 1
    heading = start[2] + np.concatenate([[0.0], np.cumsum(moved[:, 2])])[:-1]
    chained = _turned(series, np.cos(heading)[:, None], np.sin(heading)[:, None])
    ends = np.cumsum(chained.sum(axis=1), axis=0)
    chained[1:, 0] += ends[:-1]
    chained[:, 0, :3] += start
    return chained


def _turned(values: FloatArray, cos: FloatArray, sin: FloatArray) -> FloatArray:
    """The first two of values (..., 3 + more) as a vector turned by an angle."""
    turned = values.copy()
    turned[..., 0] = cos * values[..., 0] - sin * values[..., 1]
    turned[..., 1] = sin * values[..., 0] + cos * values[..., 1]
    return turned
