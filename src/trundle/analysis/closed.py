"""Closed configurations of a robot with loops, in numbers and many at once: found by Newton's method along the speeds.

The loops' rows give φ̇ = A(q) ν exactly, so a step ν with A ν = φ, taken as q − N(q) ν, closes the gaps φ to first
order; what couplings move follows its leaders.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.elimination import generic_rank, plan_pivots
from trundle.mechanics.linear import table
from trundle.mechanics.loops import HELD, close, facing
from trundle.model.closures import CLOSED, CLOSED_ZERO, KICK, KICKS, unclosable
from trundle.model.configuration import coordinate_rates
from trundle.model.constraints import coupling_rows
from trundle.model.samples import damped_step

if TYPE_CHECKING:
    from trundle.analysis.velocity_maps import VelocityMaps

# Entries of rows up to here are rounding: a planar linkage can't break its plane.
_ROUNDING = 1e-13
# Steps of Newton's method, the longest (rad, m), how often one is halved, and after how many idle ones it ends.
_STEPS, _LONGEST, _HALVINGS, _PATIENCE = 60, 1.0, 8, 15
# Zeros are often singular: a start this far off (rad, m) has a way where they have none; then starts from all around.
_NUDGE, _RESTARTS = 0.1, 8
# How often configurations are drawn anew where none of them closes.
_ROUNDS = 5
_SEED = 20260


def gaps_and_rows(maps: VelocityMaps, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """φ (s, r), in m and sines of angles, and A over ν (s, r, n) at configurations (s, coordinates)."""
    at, width = maps.at(q), len(maps.scale)
    closures = [close(maps.assembly.tree, at.poses, loop, width) for loop in maps.assembly.loops]
    gaps = table([[gap] for closure in closures for gap in closure.gaps], len(q), 1)[:, :, 0]
    rows = table([row for closure in closures for row in closure.rows], len(q), width)
    rows[np.abs(rows) < _ROUNDING] = 0.0
    return gaps, rows


def owners_and_lengths(maps: VelocityMaps) -> tuple[list[str], np.ndarray]:
    """The loop of each of the rows, and what turns the row into m/s: 1, or the robot's length for a rotation's."""
    owners: list[str] = []
    lengths: list[float] = []
    for loop in maps.assembly.loops:
        translations, rotations = map(len, HELD.get(loop.kind, ((0,), ())))
        owners += [loop.name] * (translations + rotations)
        lengths += [1.0] * translations + [maps.length] * rotations
    return owners, np.reshape(lengths, (-1, 1))


def led_rows(maps: VelocityMaps, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """φ, and the loops' rows with what couplings move written in what moves it."""
    phi, rows = gaps_and_rows(maps, q)
    coupled, _ = coupling_rows(maps.assembly, maps.at(q))
    relations = table(coupled, len(q), len(maps.scale))
    columns = [axis.column for each in maps.assembly.couplings for axis in each.followers]
    for k in reversed(range(len(columns))):
        rows = rows - rows[:, :, columns[k], None] * relations[:, k : k + 1]
        rows[:, :, columns[k]] = 0.0
    return phi, rows


def closed(
    maps: VelocityMaps, q: np.ndarray, columns: Collection[int] | None = None, near: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """Configurations (s, coordinates) moved along the speeds in `columns` (all) until the loops close, and the gaps
    that are left, the norm of φ.

    `near`: steps are halved until they bring the gaps down, so that it ends near where it began; without, it finds more
    often a way from afar. Goes on to the last digit: where loops hold a motion twice, the gap grows with the square of
    the distance only.
    """
    q, held = _with_unit_quaternions(maps, q), np.ones(len(maps.scale), dtype=bool)
    held[list(range(len(held)) if columns is None else columns)] = False
    phi, rows = led_rows(maps, q)
    best, least = q.copy(), np.linalg.norm(phi, axis=1)
    size, busy, idle = least.copy(), np.arange(len(q)), np.zeros(len(q), dtype=int)
    for _ in range(_STEPS):
        busy = busy[(least[busy] > 0) & (idle[busy] < np.where(least[busy] > CLOSED, _PATIENCE, 2))]
        if not len(busy):
            break
        step = damped_step(np.where(held, 0.0, rows[busy]), phi[busy])
        step /= np.maximum(np.abs(step).max(axis=1, keepdims=True) / _LONGEST, 1.0)
        limits = size[busy] if near else np.full(len(busy), np.inf)
        q[busy], phi[busy], rows[busy], size[busy] = _shortened(maps, q[busy], step, limits)
        idle[busy] = np.where(size[busy] < least[busy] / 2, 0, idle[busy] + 1)
        better = busy[size[busy] < least[busy]]
        best[better], least[better] = q[better], size[better]
    return best, least


def _shortened(
    maps: VelocityMaps, q: np.ndarray, step: np.ndarray, limits: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Configurations after the step, halved where the gaps are not below the limits; with gaps, rows and their size."""
    trial = _moved(maps, q, -step)
    phi, rows = led_rows(maps, trial)
    for _ in range(_HALVINGS):
        worse = ~(np.linalg.norm(phi, axis=1) < limits) & (limits > CLOSED)
        if not worse.any():
            break
        step = np.where(worse[:, None], step / 2, step)
        trial = _moved(maps, q, -step)
        phi, rows = led_rows(maps, trial)
    return trial, phi, rows, np.linalg.norm(phi, axis=1)


def _moved(maps: VelocityMaps, q: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """q + N(q) ν (s, coordinates), what is independent of couplings given in ν; quaternions of length 1."""
    rates = coordinate_rates(maps.assembly, maps.names, maps.at(q), list(nu.T))
    return _with_unit_quaternions(maps, q + table([[rate] for rate in rates], len(q), 1)[:, :, 0])


def _with_unit_quaternions(maps: VelocityMaps, q: np.ndarray) -> np.ndarray:
    """The configurations (s, coordinates) with quaternions of length 1."""
    return maps.assembly.quantities.normalised(maps.names, q.T).T


def faces_well(maps: VelocityMaps, q: np.ndarray) -> np.ndarray:
    """At which closed configurations (s, coordinates) no end faces the other the wrong way round."""
    poses, result = maps.at(q).poses, np.ones(len(q), dtype=bool)
    for loop in maps.assembly.loops:
        for value in facing(maps.assembly.tree, poses, loop):
            result &= np.asarray(value) > 0
    return result


def closed_samples(maps: VelocityMaps, draw: Callable[[], np.ndarray]) -> np.ndarray:
    """Of configurations drawn at random those that close, moved a bit along their freedoms: Newton's method likes to
    end in singular ones. Of several ways of assembly those that move most. InputError where none closes.
    """
    rng, tried, nearest = np.random.default_rng(_SEED), 0, (np.inf, maps.start)
    for _ in range(_ROUNDS):
        q, left = closed(maps, draw())
        tried += len(q)
        for _ in range(KICKS):
            q, left = closed(maps, _kicked(maps, q, rng))
        good = (left <= CLOSED) & faces_well(maps, q)
        if good.any():
            q = q[good]
            ranks = [generic_rank(each[None], CLOSED_ZERO) for each in led_rows(maps, q)[1]]
            return q[[k for k, rank in enumerate(ranks) if rank == min(ranks)]]
        nearest = min(nearest, (float(left.min()), q[int(np.argmin(left))]), key=lambda each: each[0])
    raise unclosable(maps.name, tried, _culprit(maps, nearest[1]))


def _kicked(maps: VelocityMaps, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Each configuration a bit further in a random direction that keeps the loops closed to first order."""
    _, rows = led_rows(maps, q)
    _, sizes, right = np.linalg.svd(rows)
    padded = np.zeros(right.shape[:2])
    padded[:, : sizes.shape[1]] = sizes
    free = padded <= CLOSED_ZERO * np.maximum(sizes[:, :1], 1e-300)
    along = np.einsum("sk,skn->sn", free * rng.normal(size=free.shape), right)
    return _moved(maps, q, KICK * along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-300))


def _culprit(maps: VelocityMaps, q: np.ndarray) -> str:
    """The loop that stays open the widest."""
    phi, _ = gaps_and_rows(maps, q[None])
    return owners_and_lengths(maps)[0][int(np.abs(phi[0]).argmax())]


def dependent_columns(maps: VelocityMaps, general: np.ndarray) -> set[int]:
    """Speeds that follow from the others by the loops at general configurations: best those that nothing drives."""
    _, rows = led_rows(maps, general)
    rank = generic_rank(rows, CLOSED_ZERO)
    driven = {actuator.column for actuator in maps.assembly.actuators}
    pivots = plan_pivots(rows, [k for k in range(rows.shape[2]) if k not in driven], CLOSED_ZERO)
    if len(pivots) < rank:
        pivots = plan_pivots(rows, range(rows.shape[2]), CLOSED_ZERO)
    return {column for _, column in pivots}


def closed_at(
    maps: VelocityMaps, q: np.ndarray, given: Collection[str], dependent: set[int], general: np.ndarray
) -> np.ndarray:
    """The closed configuration (coordinates,) with the `given` coordinates as in q, as `manifold.settle` finds it.

    Only what follows from the others is moved, then whatever isn't given; given ones that follow from the others are a
    guess, which is moved where nothing else closes the loops. Where nothing is given and nothing found, one of the
    `general` ones. Raises InputError where what is given leaves the loops open.
    """
    frozen = _columns(maps, given)
    everything = set(range(len(maps.scale)))
    nearest, left = _tried(maps, q, dependent - frozen, _RESTARTS)
    if left > CLOSED:
        other, left = _tried(maps, q, everything - frozen, _RESTARTS)
        if left > CLOSED:
            other, left = _tried(maps, nearest, dependent, 0)
        nearest = other
    if left > CLOSED and not given:
        return general[0]
    if left > CLOSED:
        raise InputError(
            f"the loops of '{maps.name}' stay open by {left:.3g} m at this configuration",
            key="at",
            hint=f"give fewer coordinates, the others are then found to fit; given: {', '.join(given) or 'none'}",
        )
    return nearest


def _tried(
    maps: VelocityMaps, q: np.ndarray, columns: Collection[int], restarts: int
) -> tuple[np.ndarray, float]:
    """From where it is, then a bit beside, then from all around: the first that closes, or comes closest; its gap."""
    rng = np.random.default_rng(_SEED)
    places = sorted(columns)
    offsets = np.zeros((2 + restarts, len(maps.scale)))
    offsets[1, places] = _NUDGE
    offsets[2:, places] = rng.uniform(-np.pi, np.pi, (restarts, len(places)))
    best, least = q, np.inf
    for some in (offsets[:1], offsets[1:]):
        moved, sizes = closed(
            maps, _moved(maps, np.repeat(q[None], len(some), axis=0), some), columns, near=True
        )
        sizes = np.where(faces_well(maps, moved), sizes, np.inf)
        closing = np.flatnonzero(sizes <= CLOSED)
        k = int(closing[0]) if len(closing) else int(np.argmin(sizes))
        if sizes[k] < least:
            best, least = moved[k], float(sizes[k])
        if least <= CLOSED:
            break
    return best, least


def _columns(maps: VelocityMaps, names: Collection[str]) -> set[int]:
    """The speeds that move those coordinates: one each, but for bases and balls all that the joint has."""
    tree, found = maps.assembly.tree, set()
    slices = zip(tree.links, tree.coordinate_slices(), tree.speed_slices(), strict=True)
    for k, (_, coordinates, speeds) in enumerate(slices):
        own = maps.assembly.coordinates[coordinates]
        columns = range(speeds.start, speeds.stop)
        if k and len(own) == len(columns):
            found |= {c for name, c in zip(own, columns, strict=True) if name in names}
        elif any(name in names for name in own):
            found |= set(columns)
    return found | {e.column for e in maps.assembly.linkages if e.axis.coordinate in names}
