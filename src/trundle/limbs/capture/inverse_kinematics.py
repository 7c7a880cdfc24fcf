"""Inverse kinematics over a tree: the coordinates at which a robot's markers come closest to where they were seen.

Levenberg's and Marquardt's steps make ½ Σ w² |p(q) − y|² least in every sample, over the markers that were seen and
within the joints' limits (Lu & O'Connor 1999). A step δ moves q by E(q) δ, and quaternions back to length 1. Samples
are followed from one to the next in strides; those between begin between their neighbours, many at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.errors import InputError
from trundle.limbs.capture.branches import Branches, are_less, branches_of
from trundle.limbs.capture.marker_model import MarkerModel
from trundle.progress import Progress

# Steps (rad, m) below which a posture counts as reached, and below which one that brings no gain is rounding.
_STILL, _ROUNDING = 1e-12, 1e-8
# So near (rad, m) a posture is good enough to begin the next one's from, and to see whether it has lost track: what is
# left after such a step is a thousandth of it, and less. All of them together are brought to rest afterwards.
_FOLLOWED = 1e-5
_MOST_STEPS = 200
# Damping once a plain step has failed, how it grows and shrinks (Marquardt 1963), and what keeps motions that no marker
# sees where they are, as a share of all.
_DAMPING, _GROW, _SHRINK, _UNSEEN = 1e-3, 10.0, 0.1, 1e-14
# Least singular value, relative to the greatest, at which markers still say what every coordinate is.
_RANK = 1e-6
# Postures that the first sample is looked for from, besides the start; so is a sample that fits this many times worse
# than its neighbour, by more than a micrometre. Nor may a turn of what drives others fit worse than that.
_TRIES, _LOST, _WORSE, _SEED = 24, 3.0, 1e-6, 20250101
# Samples from one that is followed to the next, the most that are fitted at once, and how far (rad) nothing turns from
# one sample to the next: beyond it every sample is followed from the one before.
_STRIDE, _MOST, _JUMP = 16, 1024, 0.5
# How long a sample takes that is followed alone, in those that many are fitted at once: four to six, as measured.
_ALONE = 5
# The step (rad, m) of differences of exact slopes. Residuals r of 1e-3 m leave 1e-10 of JᵀJ by the next order and 1e-12
# by rounding.
_DIFFERENCE = 1e-7


@dataclass(frozen=True, eq=False)
class _Postures:
    """Postures (k, c) with their weighted residuals (k, 3m), 0 where unseen, Jᵀr (k, t), JᵀJ (k, t, t), and costs."""

    q: FloatArray
    residuals: FloatArray
    gradient: FloatArray
    normal: FloatArray
    cost: FloatArray

    def rows(self, chosen: IntArray) -> _Postures:
        """Some of them."""
        return _Postures(*(getattr(self, name)[chosen] for name in _PARTS))

    def put(self, chosen: IntArray, other: _Postures) -> None:
        """Others in their places."""
        for name in _PARTS:
            getattr(self, name)[chosen] = getattr(other, name)


_PARTS = tuple(each.name for each in fields(_Postures))


@dataclass(frozen=True, eq=False)
class _Sight:
    """Where markers were seen (n, 3m), NaN where not, their weights (3m,), and what is known of the postures."""

    model: MarkerModel
    seen: FloatArray
    weights: FloatArray
    held: list[int]
    given: FloatArray

    def at(self, samples: IntArray, q: FloatArray) -> _Postures:
        """What the markers of samples (k,) say of postures (k, c)."""
        residuals, slopes = self.slopes(samples, q)
        across, inward = np.swapaxes(slopes, 1, 2), self.model.inward
        # By the coordinates first: there are far fewer of them than of markers' places.
        gradient = inward(residuals[:, None, :] @ slopes, q)[:, 0]
        normal = inward(np.swapaxes(inward(across @ slopes, q), 1, 2), q)
        return _Postures(q, residuals, gradient, normal, (residuals**2).sum(axis=1) / 2)

    def slopes(self, samples: IntArray, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weighted residuals (k, 3m), 0 where unseen, of samples (k,) at postures q (k, c); their slopes (k, 3m, c)."""
        there, slopes = self.model.evaluate(q)
        residuals = there - self._places[samples]
        if self._even:
            return residuals, slopes
        weights = self._weighing[samples]
        return weights * residuals, weights[:, :, None] * slopes

    @cached_property
    def _places(self) -> FloatArray:
        """Where markers were seen (n, 3m). One that wasn't weighs nothing; it stands somewhere all the same, as 0 · NaN
        is NaN.
        """
        return np.nan_to_num(self.seen)

    @cached_property
    def _weighing(self) -> FloatArray:
        """The weights of what was seen (n, 3m), 0 of what was not."""
        return np.where(np.isnan(self.seen), 0.0, self.weights)

    @cached_property
    def _even(self) -> bool:
        """Whether all were seen and weigh 1."""
        return bool((self._weighing == 1).all())

    def nearest(self, samples: IntArray, q: FloatArray, still: float = _STILL) -> _Postures:
        """The postures of least cost that descents from q (k, c) end in, with steps below `still`."""
        q = q.copy()
        q[:, self.held] = self.given[samples]
        here, damping, busy = self.at(samples, q), np.zeros(len(q)), np.arange(len(q))
        sizes = np.full(len(q), np.inf)
        for _ in range(_MOST_STEPS):
            now = here.rows(busy)
            step = _step(self.model, now, damping[busy])
            there = self.at(samples[busy], self.model.moved(now.q, step))
            size = np.abs(step).max(axis=1, initial=0.0)
            # So near, the cost no longer tells which is better, but the step still does: it is the gradient's.
            near = (size < _ROUNDING) & (size < sizes[busy] / 2)
            better, sizes[busy] = (there.cost < now.cost) | near, size
            here.put(busy[better], there.rows(np.flatnonzero(better)))
            # A step that helped needs less damping, and below rounding none: then the steps are Gauss's and Newton's.
            less = np.where(damping[busy] > _ROUNDING, _SHRINK * damping[busy], 0.0)
            damping[busy] = np.where(better, less, np.maximum(_GROW * damping[busy], _DAMPING))
            busy = busy[(size > still) & (better | (size > _ROUNDING))]
            if not busy.size:
                break
        return here

    def searched(self, sample: int, q: FloatArray, near: FloatArray) -> _Postures:
        """What is meant for one sample, near another posture (c,), among searches that start here (c,) and all over."""
        starts = np.array([q, *self.model.anywhere(np.random.default_rng(_SEED), q, _TRIES)])
        places = self.nearest(np.full(len(starts), sample), starts, _FOLLOWED)
        good = np.flatnonzero(places.cost <= 1.01 * places.cost.min() + _WORSE**2)
        meant = self.choose(np.full(len(good), sample), places.rows(good), near)
        count, excess = self.branches.rank(meant.q)
        return self.nearest(np.array([sample]), meant.q[np.lexsort((meant.cost, excess, count))[:1]])

    def choose(self, samples: IntArray, place: _Postures, near: FloatArray) -> _Postures:
        """What is meant by postures, near others (k, c); fitted again where turns move the robot."""
        branches = self.branches
        here = self.at(samples, branches.choose(place.q, near))
        turned = branches.turned(here.q, here.q)
        again = np.flatnonzero((turned != here.q).any(axis=1))
        if again.size:
            some = samples[again]
            there = self.nearest(some, turned[again])
            there = self.at(some, branches.choose(there.q, turned[again]))
            better = are_less(branches.rank(there.q), branches.rank(here.q[again]))
            better &= self.error(some, there) <= _LOST * self.error(some, here.rows(again)) + _WORSE
            here.put(again[better], there.rows(np.flatnonzero(better)))
        return here

    @cached_property
    def branches(self) -> Branches:
        """Which postures have one pose."""
        return branches_of(self.model)

    def error(self, samples: IntArray, place: _Postures) -> FloatArray:
        """Roots of the mean squares of the weighted distances, (k,) m."""
        count = np.maximum((~np.isnan(self.seen[samples])).sum(axis=1) / 3, 1)
        return np.sqrt(2 * place.cost / count)


def inverse_kinematics(
    model: MarkerModel,
    time: FloatArray,
    seen: Mapping[str, FloatArray],
    known: Mapping[str, FloatArray],
    weights: Sequence[float],
    progress: bool = True,
) -> tuple[FloatArray, FloatArray]:
    """Postures (n, c) of markers seen at (n, 3) m, NaN where they weren't, and the markers' distances then (n, m), m.

    `known` coordinates (n,) are held at their values. Raises InputError where the markers of a sample leave another one
    open.
    """
    sight = _sight(model, seen, known, weights)
    with Progress(progress, time.size, "inverse kinematics", "samples") as bar:
        postures, off = _followed(sight, time, _STRIDE, bar)
        if model.jumps(postures, _JUMP):
            postures, off = _followed(sight, time, 1, bar)
    distances = np.linalg.norm((off / sight.weights).reshape(time.size, -1, 3), axis=2)
    distances[np.isnan(sight.seen[:, ::3])] = np.nan
    return postures, distances


def _sight(
    model: MarkerModel,
    seen: Mapping[str, FloatArray],
    known: Mapping[str, FloatArray],
    weights: Sequence[float],
) -> _Sight:
    """What was seen of a model's markers, and the coordinates that are known."""
    flat = np.concatenate([seen[name] for name in model.markers], axis=1)
    held = [model.names.index(name) for name in known]
    given = np.array(list(known.values())).reshape(len(held), len(flat)).T
    return _Sight(model, flat, np.repeat(np.asarray(weights, dtype=float), 3), held, given)


class FitSlopes(NamedTuple):
    """Postures (n, c), how they change with where markers are seen (n, c, 3m), and what is left of these (n, 3m), m.

    `moving` (n,): how many motions the markers of a sample tell.
    """

    postures: FloatArray
    slopes: FloatArray
    residuals: FloatArray
    moving: IntArray


def fit_slopes(
    model: MarkerModel,
    seen: Mapping[str, FloatArray],
    known: Mapping[str, FloatArray],
    weights: Sequence[float],
    near: FloatArray,
) -> FitSlopes:
    """∂q/∂y = E H⁻¹ (J E)ᵀ W² at the fit near postures (n, c), H = ∂(Eᵀ Jᵀ W² r)/∂δ with the markers' curvature.

    The fit's gradient is 0, so that H is its derivative along every motion, JᵀJ and the slope of Jᵀ r at this r; a
    motion that a limit stops stays.
    """
    sight = _sight(model, seen, known, weights)
    samples = np.arange(len(near))
    here = sight.nearest(samples, near)
    free = model.unstopped(here.q, here.gradient)
    along = model.motions(here.q)
    curved = here.normal + _curvature(sight, samples, here, along)
    curved = np.where(free[:, :, None] & free[:, None, :], curved, 0.0)
    np.einsum("ktt->kt", curved)[...] += ~free
    weighted = np.where(np.isnan(sight.seen), 0.0, sight.weights)
    _, slopes = sight.slopes(samples, here.q)
    moved = np.swapaxes(model.inward(slopes, here.q) * free[:, None, :], 1, 2) * weighted[:, None, :]
    slopes = along @ np.linalg.solve(curved, moved)
    left = np.divide(here.residuals, weighted, out=np.zeros_like(weighted), where=weighted > 0)
    return FitSlopes(here.q, np.asarray(slopes), left, free.sum(axis=1))


def _curvature(sight: _Sight, samples: IntArray, here: _Postures, along: FloatArray) -> FloatArray:
    """Σ r ∂²r/∂δ², (k, t, t), of residuals as they are, by differences of exact slopes."""
    gradient, curved = here.gradient, np.empty_like(here.normal)
    for j in range(gradient.shape[1]):
        ahead = sight.model.unit(here.q + _DIFFERENCE * along[:, :, j])
        _, slopes = sight.slopes(samples, ahead)
        pulled = sight.model.inward(here.residuals[:, None, :] @ slopes, ahead)[:, 0]
        curved[:, :, j] = (pulled - gradient) / _DIFFERENCE
    return curved


class _Trail:
    """Postures over time while they are found (n, c), what is left of the markers (n, 3m), and its size (n,)."""

    def __init__(self, sight: _Sight, time: FloatArray, bar: Progress) -> None:
        self.sight, self.time, self._bar = sight, time, bar
        self.postures = np.empty((time.size, sight.model.start.size))
        self.left, self.error = np.empty_like(sight.seen), np.empty(time.size)
        self._done, self._total = 0, time.size

    def keep(self, samples: IntArray, place: _Postures, before: FloatArray, near: FloatArray) -> None:
        """Store postures; one that fits much worse than those before is searched for all over, and of one that has left
        usual ranges since then what is meant.
        """
        sight, rank = self.sight, self.sight.branches.rank
        for k in np.flatnonzero(sight.error(samples, place) > _LOST * before + _WORSE):
            place.put(np.array([k]), sight.searched(int(samples[k]), place.q[k], near[k]))
        left = np.flatnonzero(rank(place.q)[0] > rank(near)[0])
        if left.size:
            place.put(left, sight.choose(samples[left], place.rows(left), near[left]))
        self._store(samples, place)

    def settle(self, samples: IntArray) -> None:
        """Bring stored postures to rest, and see that the markers tell all of them."""
        for start in range(0, samples.size, _MOST):
            some = samples[start : start + _MOST]
            place = self.sight.nearest(some, self.postures[some])
            _require_rank(self.sight, some, self.time, place)
            self._store(some, place)
        self._came(samples.size)

    def along(self, samples: IntArray) -> None:
        """Samples one from the one before; the first is looked for all over, however well the start fits."""
        q, before = self.sight.model.start, np.array([-_WORSE / _LOST])
        self._total += _ALONE * samples.size
        for k in samples.tolist():
            sample = np.array([k])
            near = q.reshape(1, -1)
            self.keep(sample, self.sight.nearest(sample, near, _FOLLOWED), before, near)
            q, before = self.postures[sample], self.error[sample]
            self._came(_ALONE)

    def between(self, samples: IntArray, half: int) -> None:
        """Samples from their neighbours so many before and behind."""
        time, left, right = self.time, samples - half, np.minimum(samples + half, self.time.size - 1)
        share = ((time[samples] - time[left]) / (time[right] - time[left]))[:, None]
        guess = self.sight.model.between(self.postures[left], self.postures[right], share)
        place = self.sight.nearest(samples, guess)
        self.keep(samples, place, np.maximum(self.error[left], self.error[right]), self.postures[left])
        _require_rank(self.sight, samples, time, place)
        self._came(samples.size)

    def _store(self, samples: IntArray, place: _Postures) -> None:
        self.postures[samples], self.left[samples] = place.q, place.residuals
        self.error[samples] = self.sight.error(samples, place)

    def _came(self, amount: int) -> None:
        self._done += amount
        self._bar.fraction(self._done / self._total)


def _followed(sight: _Sight, time: FloatArray, stride: int, bar: Progress) -> tuple[FloatArray, FloatArray]:
    """Postures (n, c): in strides, one from the one before, then all between from their neighbours; and residuals."""
    last, trail = time.size - 1, _Trail(sight, time, bar)
    first = np.array(sorted({*range(0, last, stride), last}))
    trail.along(first)
    trail.settle(first)
    while stride > 1:
        half = stride // 2
        for start in range(half, last, stride * _MOST):
            trail.between(np.arange(start, min(last, start + stride * _MOST), stride), half)
        stride = half
    return trail.postures, trail.left


def _step(model: MarkerModel, here: _Postures, damping: FloatArray) -> FloatArray:
    """(JᵀJ + μ diag JᵀJ) δ = −Jᵀr over the motions that no limit stops, (k, t)."""
    gradient = here.gradient
    free = model.unstopped(here.q, gradient)
    normal = here.normal * (free[:, :, None] & free[:, None, :])
    own = np.einsum("ktt->kt", normal)
    mean = own.mean(axis=1, keepdims=True) if own.size else own
    own += damping[:, None] * (own + mean) + _UNSEEN * mean + (mean == 0)
    return np.asarray(-np.linalg.solve(normal, (gradient * free)[:, :, None])[:, :, 0], dtype=np.float64)


def _require_rank(sight: _Sight, samples: IntArray, time: FloatArray, place: _Postures) -> None:
    """InputError for the first sample whose markers leave a motion open."""
    model = sight.model
    free = model.unstopped(place.q, place.gradient)
    # a motion that a limit stops is not open
    normal = place.normal * (free[:, :, None] & free[:, None, :])
    greatest = np.einsum("ktt->k", normal)
    np.einsum("ktt->kt", normal)[...] += ~free * greatest[:, None]
    if _is_above(normal, _RANK**2 * greatest):
        return
    values, vectors = np.linalg.eigh(normal)
    bad = np.flatnonzero(values[:, 0] <= _RANK**2 * greatest) if values.shape[1] else []
    if not len(bad):
        return
    k = int(bad[0])
    coordinate = model.coordinate_of(int(np.abs(vectors[k, :, 0]).argmax()))
    lost = np.isnan(sight.seen[samples[k], ::3])
    missing = [name for j, name in enumerate(model.markers) if lost[j]]
    raise InputError(
        f"at t = {time[samples[k]]:g} s the markers{' without ' if missing else ''}{', '.join(missing)} leave it open",
        key=coordinate,
        hint="add markers to its body, fill their gaps (gaps=, --gaps), or give the coordinate as a channel",
    )


def _is_above(matrices: FloatArray, least: FloatArray) -> bool:
    """Whether all eigenvalues of symmetric matrices (k, t, t) are above (k,): what is left without these has roots."""
    try:
        np.linalg.cholesky(matrices - least[:, None, None] * np.eye(matrices.shape[1]))
    except np.linalg.LinAlgError:
        return False
    return True
