"""Inverse kinematics over a tree: the coordinates at which a robot's markers come closest to where they were seen.

In each sample ½ Σ w² |p(q) − y|² over the markers that were seen is made least by Levenberg's and Marquardt's steps,
within the joints' limits, from the sample before (Lu & O'Connor 1999). A step δ moves q by E(q) δ, and quaternions back
to length 1: three of its numbers turn each of them, about the child's axes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.arrays import FloatArray
from trundle.capture.marker_model import MarkerModel
from trundle.errors import InputError, NumericsError
from trundle.simulation.progress import Progress

# Steps (rad, m) below which a posture is found, and below which one that brings no gain is rounding.
_STILL, _ROUNDING = 1e-12, 1e-8
_MOST_STEPS = 200
# Damping once a plain step has failed, and how it grows and shrinks (Marquardt 1963).
_DAMPING, _GROW, _SHRINK = 1e-3, 10.0, 0.1
# Least singular value, relative to the greatest, at which markers still say what every coordinate is.
_RANK = 1e-6
# Postures that the first sample is looked for from, besides the start; so is a sample that fits this many times worse
# than the one before, by more than a micrometre.
_TRIES, _LOST, _WORSE = 24, 3.0, 1e-6
_SEED = 20250101


@dataclass(frozen=True, eq=False)
class Postures:
    """Coordinates (n, c) at which the markers fit best, and how far off each is then (n, m), m; NaN where unseen."""

    coordinates: FloatArray
    distances: FloatArray


@dataclass(frozen=True, eq=False)
class _Place:
    """A posture with its weighted residuals (3k,), their slopes along δ (3k, t), and their cost."""

    q: FloatArray
    residuals: FloatArray
    slopes: FloatArray
    cost: float


@dataclass(frozen=True, eq=False)
class _Sample:
    """What is to be fitted at one time: where markers were seen (3m,), NaN where not, and their weights."""

    model: MarkerModel
    seen: FloatArray
    weights: FloatArray

    def at(self, q: FloatArray) -> _Place:
        """What the markers say of a posture."""
        there, slopes = self.model.evaluate(q)
        rows = ~np.isnan(self.seen)
        residuals = self.weights[rows] * (there - self.seen)[rows]
        inward = self.weights[rows, None] * slopes[rows] @ self.model.motions(q)
        return _Place(q, residuals, inward, float(residuals @ residuals) / 2)


def fit_postures(
    model: MarkerModel,
    time: FloatArray,
    seen: Mapping[str, FloatArray],
    known: Mapping[str, FloatArray],
    weights: Sequence[float],
    progress: bool = True,
) -> Postures:
    """The postures of markers seen at (n, 3) m, NaN where they weren't, each found from the one before.

    `known` coordinates (n,) are held at their values. Raises InputError where the markers of a sample leave another one
    open, and NumericsError where no posture is found.
    """
    found, count = np.empty((time.size, len(model.names))), len(model.markers)
    flat = np.concatenate([seen[name] for name in model.markers], axis=1)
    each_weight = np.repeat(weights, 3).astype(float)
    held = [model.names.index(name) for name in known]
    given = np.array([known[name] for name in known]).reshape(len(held), time.size)
    q, before = model.start.copy(), np.inf
    with Progress(progress, time.size, "inverse kinematics", "samples") as bar:
        for k in range(time.size):
            sample = _Sample(model, flat[k], each_weight)
            q[held] = given[:, k]
            place = _nearest(sample, q) if k else None
            if place is None or _rms(place) > _LOST * before + _WORSE:
                place = _searched(sample, q, place)
            _require_rank(sample, place, float(time[k]))
            found[k] = q = place.q.copy()
            before = _rms(place)
            bar.at(float(k))
    off = (model.places(found) - flat).reshape(time.size, count, 3)
    return Postures(found, np.linalg.norm(off, axis=2))


def _rms(place: _Place) -> float:
    return float(np.sqrt(2 * place.cost * 3 / max(place.residuals.size, 1)))


def _nearest(sample: _Sample, q: FloatArray) -> _Place:
    """The posture of least cost that a descent from q ends in."""
    here, damping = sample.at(q), 0.0
    for _ in range(_MOST_STEPS):
        step = _step(sample.model, here, damping)
        there = sample.at(sample.model.moved(here.q, step))
        size = float(np.abs(step).max(initial=0.0))
        if there.cost < here.cost or size < _STILL:
            here, damping = there if there.cost <= here.cost else here, _SHRINK * damping
            damping = damping if damping > _ROUNDING else 0.0
        elif size < _ROUNDING:
            return here
        else:
            damping = max(_GROW * damping, _DAMPING)
        if size < _STILL:
            return here
    return here


def _step(model: MarkerModel, here: _Place, damping: float) -> FloatArray:
    """(JᵀJ + μ diag JᵀJ) δ = −Jᵀr over the motions that no limit stops."""
    gradient = here.slopes.T @ here.residuals
    free = model.unstopped(here.q, gradient)
    slopes = here.slopes[:, free]
    normal = slopes.T @ slopes
    # a share of the whole trace, too, so that motions no marker sees stay where they are
    extra = damping * (np.diag(normal) + np.trace(normal) / max(len(normal), 1) + np.finfo(float).tiny)
    step = np.zeros(len(gradient))
    try:
        step[free] = np.linalg.solve(normal + np.diag(extra), -gradient[free])
    except np.linalg.LinAlgError:
        return step if damping > 1 / _ROUNDING else _step(model, here, max(_GROW * damping, _DAMPING))
    return step


def _searched(sample: _Sample, q: FloatArray, first: _Place | None) -> _Place:
    """The best posture found from here and from others all over."""
    best = _nearest(sample, q) if first is None else first
    for start in sample.model.anywhere(np.random.default_rng(_SEED), q, _TRIES):
        other = _nearest(sample, start)
        if other.cost < 0.99 * best.cost - _WORSE**2:
            best = other
    return best


def _require_rank(sample: _Sample, place: _Place, time: float) -> None:
    """InputError where the markers that were seen leave a motion open."""
    model = sample.model
    free = model.unstopped(place.q, place.slopes.T @ place.residuals)
    if not np.isfinite(place.cost):
        raise NumericsError(f"no posture fits the markers at t = {time:g} s: their error is {place.cost}")
    values, vectors = np.linalg.eigh(place.slopes[:, free].T @ place.slopes[:, free])
    if not values.size or values[0] > _RANK**2 * values[-1]:
        return
    motion = np.flatnonzero(free)[int(np.abs(vectors[:, 0]).argmax())]
    missing = [
        name for name, row in zip(model.markers, sample.seen.reshape(-1, 3), strict=True) if np.isnan(row[0])
    ]
    unseen = f" without {', '.join(missing)}" if missing else ""
    raise InputError(
        f"at t = {time:g} s the markers{unseen} leave {model.coordinate_of(int(motion))} open",
        key=model.coordinate_of(int(motion)),
        hint="add markers to its body, fill their gaps (gaps=), or give the coordinate as a channel",
    )
