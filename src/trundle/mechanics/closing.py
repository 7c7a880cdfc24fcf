"""Where constraints hold: φ(q) = 0, by a damped Newton method at many configurations at once.

The one solver behind initial states, the configurations at which ranks are decided, analysis and drawing. What φ is,
and along what a configuration moves, comes as `Conditions`: a linkage in numbers moves along its speeds, a model along
its states.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

import numpy as np

from trundle.mechanics.elimination import null_space

# Residuals (m, or sines of angles) up to here count as closed: far below what anyone measures, far above rounding.
CLOSED = 1e-9
# Random configurations are good enough with this left; initial states go on as long as steps halve what is left.
_POLISHED = 1e-15
# Where conditions repeat each other, |φ| grows with the square of the distance from where they hold: residuals of
# 1e-15 are distances of 3e-8, and such singular values of slopes are zeros.
CLOSED_ZERO = 1e-6
# The method converges quadratically, within ten steps, or not at all; from afar it first strays for about twenty.
_STEPS = 50
# Steps in a row that don't halve the residual, after which it is stuck: damping makes it slow at times, and then quick.
_PATIENCE = 15
# A step goes no further than this (rad or m) at once: sines and cosines are not linear beyond.
_LONGEST = 1.0
# How often a step is halved that doesn't bring the residual down: if 1/128 of it doesn't, none will.
_HALVINGS = 7
# A search from nearby ends where a step promises less than this part of |φ|: it is at a place that doesn't close.
_PROMISE = 1e-3
# Zeros are often singular: a start this far off (rad or m) has a way where they have none. Then starts from all
# around, as linkages close far from where their joints are at zero.
_NUDGE, _RESTARTS = 0.1, 8
# How far (rad or m) and how often a configuration is moved along its freedoms before it counts as a general one.
_KICK, _KICKS = 0.2, 2

RowMask = Callable[[np.ndarray], np.ndarray]


def _any(q: np.ndarray) -> np.ndarray:
    return np.ones(len(q), dtype=bool)


@dataclass(frozen=True)
class Conditions:
    """Residuals that are to vanish.

    `at`: φ (s, r) and its slopes (s, r, m) along m directions, at configurations (s, n). `moved`: the configurations
    after steps (s, m) along these directions. `counts`: which of the closed configurations are meant, (s,), where φ
    vanishes at others, too.
    """

    at: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
    moved: Callable[[np.ndarray, np.ndarray], np.ndarray]
    counts: RowMask = _any


def closed(
    conditions: Conditions, q: np.ndarray, free: Collection[int] | None = None, near: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations (s, n) moved along the `free` directions (all) to where φ vanishes; the largest residuals left.

    `near`: steps are halved until they bring |φ| down, so that it ends near where it began, in the same way of
    assembly; without, it finds more often a way from afar. What is left is infinite where a closed configuration
    doesn't count.
    """
    phi, slope = conditions.at(q)
    places = sorted(range(slope.shape[2]) if free is None else free)
    q, size = q.copy(), sizes(phi)
    best, least, idle = q.copy(), size.copy(), np.zeros(len(q), dtype=int)
    busy, enough = np.arange(len(q)), 0.0 if near else _POLISHED
    for _ in range(_STEPS):
        patience = np.where(least[busy] > CLOSED, _STEPS if near else _PATIENCE, 1)
        busy = busy[np.isfinite(size[busy]) & (least[busy] > enough) & (idle[busy] < patience)]
        step = np.zeros((len(busy), slope.shape[2]))
        if len(busy):
            step[:, places] = damped_step(slope[busy][:, :, places], phi[busy])
        if near:
            going = _promises(slope[busy], phi[busy], step)
            busy, step = busy[going], step[going]
        if not len(busy):
            break
        limits = np.full(len(busy), np.inf)
        if near:
            longest = np.abs(step).max(axis=1, keepdims=True)
            step *= np.minimum(1.0, _LONGEST / np.maximum(longest, 1e-300))
            limits = np.linalg.norm(phi[busy], axis=1)
        q[busy], phi[busy], slope[busy] = _shortened(conditions, q[busy], step, limits)
        size[busy] = sizes(phi[busy])
        idle[busy] = np.where(size[busy] < least[busy] / 2, 0, idle[busy] + 1)
        better = busy[size[busy] < least[busy]]
        best[better], least[better] = q[better], size[better]
    done = np.flatnonzero(least <= CLOSED)
    least[done] = np.where(conditions.counts(best[done]), least[done], np.inf)
    return best, least


def sizes(phi: np.ndarray) -> np.ndarray:
    """The largest of each configuration's residuals (s, r); infinite where one is no number."""
    largest = np.abs(phi).max(axis=1, initial=0.0)
    largest[np.isnan(largest)] = np.inf
    return largest


def damped_step(slope: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """Newton's step by Levenberg and Marquardt, (JᵀJ + μ)⁻¹ Jᵀ r with μ = |r|, at most a tenth of |J|².

    It converges quadratically even where rows repeat each other on the solutions (Fan & Yuan 2005), and then to a near
    one; the plain step slides along them into singular configurations. Shapes J (…, rows, columns), r (…, rows).
    """
    size = np.square(slope).sum(axis=(-2, -1))
    damping = np.minimum(np.sqrt(np.square(residual).sum(axis=-1)), size / 10)
    gram = slope @ np.swapaxes(slope, -2, -1)
    # Scaled by hand: below this share of the largest, eigenvalues of J Jᵀ are rounding.
    values, vectors = np.linalg.eigh(gram)
    kept = values > 1e-15 * np.maximum(values[..., -1:], 1e-300)
    inverse = np.where(kept, 1 / np.where(kept, values + damping[..., None], 1.0), 0.0)
    along = np.einsum("...ij,...i->...j", vectors, residual) * inverse
    return np.einsum("...ij,...i->...j", slope, np.einsum("...ij,...j->...i", vectors, along))


def _promises(slope: np.ndarray, phi: np.ndarray, step: np.ndarray) -> np.ndarray:
    """Where |φ − J δ| is less than |φ|: elsewhere |φ| is as small as it gets around here."""
    left = np.linalg.norm(phi - np.einsum("sij,sj->si", slope, step), axis=1)
    return left < (1 - _PROMISE) * np.linalg.norm(phi, axis=1)


def _shortened(
    conditions: Conditions, q: np.ndarray, step: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Configurations after a step back, halved where |φ| is not below its limit; with φ and its slopes."""
    trial = conditions.moved(q, -step)
    phi, slope = conditions.at(trial)
    for _ in range(_HALVINGS):
        worse = ~(np.linalg.norm(phi, axis=1) < limits) & (
            limits > CLOSED
        )  # below it is the last digits' noise
        if not worse.any():
            break
        step = np.where(worse[:, None], step / 2, step)
        trial = conditions.moved(q, -step)
        phi, slope = conditions.at(trial)
    return trial, phi, slope


def close_constraints(
    conditions: Conditions, q: np.ndarray, free: Collection[int], dependent: Collection[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations (s, n) that meet the conditions near the given ones, and the largest residual left, (s,).

    What is not `free` stays. First only the free `dependent` directions are moved, those that follow from others; then
    all that are free. What is dependent and not free is a guess, which chooses between ways of assembly: it is moved
    last, from where the others fit it best, and only where nothing else would do.
    """
    left = sizes(conditions.at(q)[0])
    nearest, gap = _search(conditions, q, left, [k for k in dependent if k in free])
    q, left = _where_closed((nearest, gap), (q, left))
    q, left = _where_closed(_search(conditions, q, left, free), (q, left))
    if (left <= CLOSED).all():
        return q, left
    moved, gap = _search(conditions, nearest, gap, dependent, 0)
    good = ~(left <= CLOSED) & (gap <= CLOSED)
    return np.where(good[:, None], moved, q), np.where(good, gap, left)


def _where_closed(
    one: tuple[np.ndarray, np.ndarray], other: tuple[np.ndarray, np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """The first of two searches' configurations and residuals where it closes, else the other's."""
    good = one[1] <= CLOSED
    return np.where(good[:, None], one[0], other[0]), np.where(good, one[1], other[1])


def restarts(places: int) -> np.ndarray:
    """Where else searches of so many places begin, beside where they are (restarts, places)."""
    return np.random.default_rng(0).uniform(-np.pi, np.pi, (_RESTARTS, places))


def _search(
    conditions: Conditions, q: np.ndarray, left: np.ndarray, free: Collection[int], most: int = _RESTARTS
) -> tuple[np.ndarray, np.ndarray]:
    """From where they are, then a bit beside, then from all around: the first that closes, or comes closest.

    Only those of the configurations (s, n) are moved whose largest residual, `left`, isn't closed; it is returned too.
    """
    places = sorted(free)
    best, least = q.copy(), left.copy()
    for offset in (0.0, _NUDGE, *restarts(len(places))[:most]):
        still = np.flatnonzero(~(least <= CLOSED))
        if not (len(still) and places):
            break
        offsets = np.zeros((len(still), conditions.at(q[still[:1]])[1].shape[2]))
        offsets[:, places] = offset
        moved, gap = closed(conditions, conditions.moved(q[still], offsets), places, near=True)
        better = gap < least[still]
        best[still[better]], least[still[better]] = moved[better], gap[better]
    return best, least


def closed_samples(
    conditions: Conditions, drawn: Iterable[np.ndarray], rng: np.random.Generator, enough: int
) -> tuple[np.ndarray, np.ndarray]:
    """At least `enough` closed configurations (s, n), if as many are found from batches of random ones, `drawn`; and
    of the others the one nearest to closing, (n,).

    Each is moved a bit along its freedoms and closed again: Newton's method likes to end in singular configurations,
    where constraints seem to hold less than they do. What doesn't close starts again from beside where it began.
    """
    ends_that_close: list[np.ndarray] = []
    nearest, least = np.zeros(0), np.inf
    for q in drawn:
        ends, left = closed(conditions, q)
        for _ in range(_KICKS):
            q = _kicked(conditions, np.where(left[:, None] <= CLOSED, ends, q), rng)
            ends, left = closed(conditions, q)
        ends_that_close += list(ends[left <= CLOSED])
        if len(ends_that_close) >= enough:
            break
        if not nearest.size or left.min() < least:
            nearest, least = ends[int(np.argmin(left))], float(left.min())
    return np.array(ends_that_close), nearest


def _kicked(conditions: Conditions, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each configuration a bit further in a random direction in which φ doesn't change to first order."""
    slopes = conditions.at(q)[1]
    step = np.zeros((len(q), slopes.shape[2]))
    for k, slope in enumerate(slopes):
        free = null_space(slope, CLOSED_ZERO)
        if free.size:
            direction = free @ rng.normal(size=free.shape[1])
            step[k] = _KICK * direction / np.linalg.norm(direction)
    return conditions.moved(q, step)


def most_mobile(q: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Of closed configurations (s, n) with slopes (s, r, m) those that leave the most motions.

    Where ways of assembly differ in rank, the one that moves counts: in others a motion that is held twice may be
    locked.
    """
    sigma = np.linalg.svd(slopes, compute_uv=False)
    ranks = (sigma > CLOSED_ZERO * np.maximum(sigma[:, :1], 1e-300)).sum(axis=1)
    return q[ranks == ranks.min(initial=slopes.shape[1])]
