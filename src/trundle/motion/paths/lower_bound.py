"""A time that no motion along a path beats: a curve above every b = ż² that the laws leave, from multipliers.

At a place and a pace all laws c ≥ 0 are concave in z̈, the contacts' forces and voltages. So multipliers λ ≥ 0, whatever
they are, make one inequality of them, 0 ≤ Σ λ c, in which forces cancel out: p z̈ + q b ≤ r, tangent in b where the
curve passes. No b crosses a curve upward that keeps to it with equality: forward from where p > 0 begins, backward from
where p < 0 ends. The multipliers are those of a programme with b linear on fine cells and the laws in their middles.
Jerks count only in how far wheels roll and steer from rest to rest. The quickest of all b is nowhere below a plan's:
the largest of two that keep laws keeps them, too.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.motion.forces.creeping import CRAWL, creeps, force_places, steering_gain
from trundle.motion.paths.along_path import AlongPath, wishes_within
from trundle.motion.paths.base_limits import DIRECTIONS, OUTSIDE
from trundle.motion.paths.force_laws import Laws, NoLaws
from trundle.motion.paths.force_programme import PASSED, Barriers, Basis, Chosen, ForceProgramme, Rows
from trundle.motion.paths.looks import NODES, WEIGHTS
from trundle.motion.paths.passages import Passage
from trundle.motion.paths.scrub_bound import Asked, PhasePlane
from trundle.motion.planning.pose_plans import least_time

# A plan's intervals are cut in so many cells, twice: what the finer ones change is taken off the bound once more.
_CELLS = (2, 4)
# The same of bases whose wheels slide to turn, whose laws take longer to ask.
_SLIDING_CELLS = (1, 2)
# The programme for the multipliers is solved within this share of the time, which the bound is less by, or more.
_GOAL = 1e-5
# It begins at this share of a plan's b, where no b is below this share of the greatest.
_WITHIN, _LEAST = 0.97, 1e-3
# Wheels that hold whatever comes push by this many times their load at most.
_STICKY = 10.0
# The largest share of its grip up to which a contact's slip is told.
_GRIPPED = 0.99


class _Cut(NamedTuple):
    """What all b keep on cells: first b₀ + last b₁ ≤ most, (K,) all."""

    first: FloatArray
    last: FloatArray
    most: FloatArray


def least_time_along(passage: Passage, piece: AlongPath) -> float:
    """A time (s) that no motion along a section beats that begins and ends as slowly as a plan does."""
    plain = replace(passage, stretched=replace(passage.stretched, order=2))
    knots = _moved(piece, plain, piece.scaling.knots)
    slides = passage.real is not None and passage.real.driven.sides
    cells, timed = (_SLIDING_CELLS, _time_sliding) if slides else (_CELLS, _time)
    coarse, fine = (timed(plain, piece, _cells(knots, parts)) for parts in cells)
    # both are bounds but for their cells' error, of second order
    return min(max(fine - abs(fine - coarse), _from_rest(passage, piece)), piece.duration)


def _from_rest(passage: Passage, piece: AlongPath) -> float:
    """What wheels need at least for how far they roll and steer in all, from rest to rest; 0 between speeds."""
    if passage.section.entry or passage.section.exit:
        return 0.0
    knots = piece.scaling.knots
    z = (knots[:-1, None] + np.diff(knots)[:, None] * NODES).ravel()
    rates = passage.course(z)[0][0, :, : passage.drive.steering.shape[1] * 2]
    ways = np.abs((np.diff(knots)[:, None] * WEIGHTS).ravel() @ rates)
    limits = np.concatenate([passage.drive.steering, passage.drive.rolling], axis=1)
    known = np.isfinite(limits).any(axis=0)
    return least_time(ways[known] * (1 - _GOAL), limits[:, known]) if known.any() else 0.0


def _cells(knots: FloatArray, parts: int) -> FloatArray:
    """The knots with so many parts between each two."""
    inside = knots[:-1, None] + np.diff(knots)[:, None] * np.arange(parts) / parts
    return np.append(inside.ravel(), knots[-1])


def _moved(piece: AlongPath, plain: Passage, z: FloatArray) -> FloatArray:
    """z of a plan's stretching in that of another one."""
    if piece.stretched.order == plain.stretched.order:
        return z
    return plain.stretched.reached(piece.stretched.at(z)[0])


def _planned(piece: AlongPath, plain: Passage, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A plan's b at z, and z of its own stretching; no b where the two are stretched differently at rest."""
    if piece.stretched.order == plain.stretched.order:
        return piece.scaling.squared(*piece.scaling.placed(z))[0], z
    length, slope, *_ = plain.stretched.at(z)
    own = piece.stretched.reached(length)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = piece.stretched.at(own)[1] / slope
    b = piece.scaling.squared(*piece.scaling.placed(own))[0]
    return np.where(slope > 0, np.nan_to_num(b * share**2), 0.0), own


def _time(passage: Passage, piece: AlongPath, z: FloatArray) -> float:
    """∫ dz/√b of the curve over cells between z (K + 1,)."""
    planned = _planned(piece, passage, z)[0]
    cut = _cuts(passage, piece, z, planned)
    return _spent(z, _curve(cut, planned, passage.ends))


def _spent(z: FloatArray, b: FloatArray) -> float:
    """∫ dz/√b of b linear on cells (s)."""
    return float((2 * np.diff(z) / (np.sqrt(b[1:]) + np.sqrt(b[:-1]))).sum())


def _time_sliding(passage: Passage, piece: AlongPath, z: FloatArray) -> float:
    """The same of a base whose wheels slide to turn."""
    assert passage.real is not None
    b = _planned(piece, passage, z)[0]
    plan = (b[1:] + b[:-1]) / 2, np.diff(b) / (2 * np.diff(z))

    def declared(z: FloatArray, a: FloatArray, b: FloatArray) -> FloatArray:
        rates, limits = passage.course(z)
        moved = np.abs([rates[0] * np.sqrt(b)[:, None], rates[1] * b[:, None] + rates[0] * a[:, None]])
        return (moved / limits[:2]).max(axis=(0, 2))

    asked = Asked(passage.demand, declared, passage.real.grip)
    first, last = (
        end if np.isfinite(end) else asked.at_rest(place, planned)
        for end, place, planned in zip(passage.ends, (z[0], z[-1]), (b[0], b[-1]), strict=True)
    )
    return _spent(z, np.maximum(PhasePlane.of(z, plan, asked).above((first, last)), b))


def _cuts(passage: Passage, piece: AlongPath, z: FloatArray, planned: FloatArray) -> _Cut:
    """The inequalities that a programme's multipliers make of all laws in the cells' middles."""
    widths, middles = np.diff(z), (z[1:] + z[:-1]) / 2
    count = len(widths)
    laws = NoLaws(count) if passage.real is None else Laws(passage.demand(middles), passage.real.grip)
    columns = np.arange(count)[:, None] + np.arange(2)
    slopes = np.stack([-1 / (2 * widths), 1 / (2 * widths)], axis=1)
    values = np.stack([np.full((count, 2), 0.5), slopes], axis=1)[:, None]
    scale = np.maximum(planned, _LEAST * planned.max())
    basis = Basis(columns, values, scale, widths[:, None], passage.ends, np.ones((1, 1)))
    programme: ForceProgramme[Any] = ForceProgramme(laws, basis)
    rows = _declared(passage, middles, slopes, basis)
    start = _start(programme, passage, piece, middles)
    chosen, barriers = start, Barriers(np.zeros(0), np.zeros(0))
    with suppress(NumericsError):  # the last multipliers are as good as any
        for step in programme.steps(start, lambda _: rows, _GOAL):
            chosen, barriers, missing = step
            # where laws are passed still multipliers may be those of no place: then they bound nothing there
            if barriers.gap < _GOAL and missing < PASSED:
                break
    return _cut(programme, rows, chosen, barriers, planned)


def _start(programme: ForceProgramme[Any], passage: Passage, piece: AlongPath, z: FloatArray) -> Chosen:
    """A programme's start within a plan."""
    planned, own = _planned(piece, passage, z)
    ends = np.concatenate([planned[:1], (planned[1:] + planned[:-1]) / 2, planned[-1:]])
    b = np.maximum(ends / programme.basis.scale, _LEAST)
    carrying = programme.carrying(b)
    share = _WITHIN * float(carrying[0] / b[0])
    b = share * b
    if piece.wished is None or isinstance(programme.laws, NoLaws):
        return programme.start(b)
    wished = wishes_within(piece.scaling, piece.wished, *piece.scaling.placed(own))
    free = np.einsum("kfr,kf->kr", programme.laws.null, wished) / programme.laws.typical
    return programme.start(b, share * free)


def _declared(passage: Passage, z: FloatArray, slopes: FloatArray, basis: Basis) -> Rows:
    """Rows of declared limits in the cells' middles, |F′|² b ≤ V² and |F″ b + F′ z̈| ≤ A; circles have tangents."""
    rates, limits = passage.course(z)
    around = limits[1].copy()
    around[:, -DIRECTIONS - 2 : -2] *= OUTSIDE
    with np.errstate(divide="ignore", invalid="ignore"):
        speeds = np.nan_to_num((np.abs(rates[0]) / limits[0]) ** 2, nan=0.0).max(axis=1)
        by_b, by_a = (np.nan_to_num(rates[order] / around, nan=0.0) for order in (1, 0))
    own = by_b[:, :, None] * 0.5 + by_a[:, :, None] * slopes[:, None]
    entries = np.concatenate([speeds[:, None, None] * np.full(2, 0.5), own, -own], axis=1)
    scaled = entries * basis.scale[basis.columns][:, None]
    where = np.broadcast_to(basis.columns[:, None], entries.shape)
    kept = np.abs(scaled).max(axis=2) > 0
    return Rows(scaled[kept], where[kept])


def _cut(
    programme: ForceProgramme[Any], rows: Rows, chosen: Chosen, barriers: Barriers, planned: FloatArray
) -> _Cut:
    """0 ≤ Σ λ c as an inequality in b at the cells' ends."""
    laws, at = programme.laws, programme.place(chosen)
    held = laws.held(at)
    price = barriers.price[: held.value.size].reshape(held.value.shape)
    asked = barriers.price[held.value.size :][: len(rows.entries)]
    slopes = held.slopes.pulled(price)
    most = (price * held.value).sum(axis=1) - slopes[:, 0] * at.b - slopes[:, 1] * at.a
    if isinstance(laws, Laws):
        # what is left of the slopes by forces and voltages counts with all that these can be
        forces = 2 * np.fmin(laws.driven.grips, _STICKY * laws.driven.loads).sum() / laws.typical
        free = 2 + laws.null.shape[2]
        most = most + np.abs(slopes[:, 2:free]).sum(axis=1) * forces + np.abs(slopes[:, free:]).sum(axis=1)
        middles = (planned[1:] + planned[:-1]) / 2
        most = most + _spared(laws, programme, chosen, price, middles)
    ends = -np.einsum("ki,kij->kj", slopes[:, :2], programme.basis.values[:, 0])
    cells = rows.columns[:, 0]
    for side in range(2):
        scaled = asked * rows.entries[:, side] / programme.basis.scale[rows.columns[:, side]]
        ends[:, side] += np.bincount(cells, scaled, minlength=len(ends))
    return _Cut(ends[:, 0], ends[:, 1], most + np.bincount(cells, asked, minlength=len(most)))


def _spared(
    laws: Laws, programme: ForceProgramme[Any], chosen: Chosen, price: FloatArray, planned: FloatArray
) -> FloatArray:
    """What slip might spare of Σ λ c, (K,): wheels that stand aside brake, by f_y v_y/v, which plans may count on."""
    at, demand = programme.place(chosen), laws.demand
    spared, before = np.zeros(laws.count), laws.held(at).value
    for k, wheel in enumerate(laws.driven.wheels):
        if len(wheel.directions) != 2 or wheel.spin is None or not creeps(wheel):
            continue
        x, _ = force_places(laws.driven, k)
        rolled = demand.pace[wheel.spin] * np.sqrt(planned) * float(wheel.radius)
        slip = float(wheel.law.creep(min(laws.grip, _GRIPPED), wheel.read))
        load = np.maximum(at.of(demand.loads[:, :, [laws.balance.on[k]]])[:, 0], 0.0)
        side = laws.grip * laws.driven.friction[k] * load
        lost = side * slip * steering_gain(np.maximum(np.abs(rolled), CRAWL)) * np.sign(rolled)
        needed = demand.needed.copy()
        needed[0, wheel.spin] -= laws.balance.rows[:, x, wheel.spin] * lost / laws.driven.directions[x][1]
        after = laws.on(replace(demand, needed=needed)).held(at).value
        spared += np.maximum((price * (after - before)).sum(axis=1), 0.0)
    return spared


def _curve(cut: _Cut, planned: FloatArray, ends: tuple[float, float]) -> FloatArray:
    """b between cells, (K + 1,), that no motion is above of: what cells leave alone, then forward, then backward."""
    first, last, most = cut
    above = np.full(len(planned), np.inf)
    above[0], above[-1] = ends
    with np.errstate(divide="ignore", invalid="ignore"):
        alone = (last >= 0) & (first > 0), (first >= 0) & (last > 0)
        begin = np.where(alone[0], (most - last * planned[1:]) / first, np.inf)
        end = np.where(alone[1], (most - first * planned[:-1]) / last, np.inf)
    above[:-1] = np.minimum(above[:-1], begin)
    above[1:] = np.minimum(above[1:], end)
    b, least = np.maximum(above, planned).tolist(), planned.tolist()
    cells = list(enumerate(zip(first.tolist(), last.tolist(), most.tolist(), strict=True)))
    for k, (one, two, held) in cells:
        if one < 0 < two:
            b[k + 1] = max(min(b[k + 1], (held - one * b[k]) / two), least[k + 1])
    for k, (one, two, held) in reversed(cells):
        if two < 0 < one:
            b[k] = max(min(b[k], (held - two * b[k + 1]) / one), least[k])
    return np.array(b)
