"""Constraints at the points of a path as Newton's method asks for them: c ≥ 0, its slopes, and where it bends down.

Rows |x| ≤ X are c = X − |x|²/X, so that speeds are affine in b = ż² and cones of forces concave; rows x ≤ X are
c = X − x. Their slopes are differences from what they are a small step aside, whatever a kind's own formula is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import BoolArray, FloatArray, IntArray
from trundle.mechanics.actuation import Supply
from trundle.motion.constraints.constraint import Moving
from trundle.motion.constraints.motors import BatteryPower
from trundle.motion.forces.creeping import ContactState, Creep
from trundle.motion.forces.forces import Demand, MotionForces, affine, greatest_power, settled_forces
from trundle.motion.paths.looks import Looks
from trundle.motion.paths.path_scaling import passed
from trundle.motion.pieces.motion import Samples
from trundle.robot.constraint import Row

# What a bound is at least, as a share of what it is at first: that of a wheel that carries nothing stays a cone.
_NOTHING = 1e-6
# Bounds that are less than this share of what they are elsewhere count as that much for their unit.
_UNEVEN = 1e-2
# By which share of what is usual slopes are differences.
_STEP = 1e-6
# Batteries begin at this share of their voltage without load, which is between that and what laws leave of it.
_SAGS = 0.9


class Held(NamedTuple):
    """c (m, n), its slopes, and where it bends down.

    `ways` (q + t, L, n) are the slopes of `mixed` rows (q,), and behind them those of what c are made of, of which the
    first m times `by` (m, n) are the slopes of all other rows. −∇²c of row `owner` is the sum of `weight` (t, n) times
    their squares. Bounds that change (r, n) have to stay positive, and have slopes (r, L, n).
    """

    value: FloatArray
    ways: FloatArray
    mixed: IntArray
    by: FloatArray
    weight: FloatArray
    owner: IntArray
    bounds: FloatArray
    bounds_by: FloatArray

    def along(self, way: FloatArray) -> FloatArray:
        """By how much c changes along ways (n, L), (m, n)."""
        own, rest = np.split(along(self.ways[: len(self.mixed) + len(self.value)], way), [len(self.mixed)])
        rest *= self.by
        rest[self.mixed] += own
        return rest

    def onto(self, price: FloatArray) -> FloatArray:
        """The sum of c's slopes with prices (m, n), (n, L)."""
        prices = np.concatenate([price[self.mixed], self.by * price])
        return np.einsum("mln,mn->nl", self.ways[: len(prices)], prices)

    def squares(self, weight: FloatArray, price: FloatArray) -> FloatArray:
        """(n, L, L): the sum of squares of c's slopes with weights (m, n), and of where it bends with prices (m, n)."""
        bent = self.weight * price[self.owner]
        bent[: len(weight)] += self.by**2 * weight
        weights = np.concatenate([weight[self.mixed], bent])
        wide, count = self.ways.shape[1:]
        squares = np.empty((wide, wide, count))
        for i in range(wide):
            weighted = weights * self.ways[:, i]
            for j in range(i + 1):
                squares[i, j] = squares[j, i] = np.einsum("mn,mn->n", weighted, self.ways[:, j])
        return squares.transpose(2, 0, 1)


def along(slopes: FloatArray, way: FloatArray) -> FloatArray:
    """By how much what has slopes (m, L, n) changes along ways (n, L), (m, n)."""
    return np.einsum("mln,ln->mn", slopes, np.ascontiguousarray(way.T))


class Laws:
    """Constraints where a path is looked at; `margins`: by name the share of a bound (n,) that is planned with.

    They are asked at places (n, L): b, b′/2, with jerks b″/2, and what is free: parts of the contacts' forces in
    typical ones, and of the batteries' voltages.
    """

    def __init__(self, looks: Looks) -> None:
        self.margins: dict[str, FloatArray] = {}
        self.looks, self.demand, self.count = looks, looks.demand, len(looks.z)
        self.orders = 3 if looks.problem.jerks else 2
        self.supplies = self.demand.balance.assembly.supplies if self.demand else ()
        self._unit: FloatArray | None = None

    @cached_property
    def typical(self) -> float:
        """A force of a contact (N), to scale them."""
        driven = self.looks.problem.constraints.driven
        if driven is None:
            return 1.0
        finite = driven.grips[np.isfinite(driven.grips)]
        return float(finite.max()) if finite.size and finite.max() > 0 else float(driven.loads.max())

    @cached_property
    def null(self) -> FloatArray:
        """(n, forces, r): directions in which the contacts' forces can change, and nothing else does."""
        if self.demand is None:
            return np.zeros((self.count, 0, 0))
        pushing = self.demand.balance.pushing
        return np.linalg.svd(pushing)[2][:, pushing.shape[1] :].transpose(0, 2, 1)

    @property
    def wide(self) -> int:
        """What laws hang on at a point."""
        return self.orders + self.null.shape[2] + len(self.supplies)

    def wishes(self, at: FloatArray) -> FloatArray:
        """The contacts' forces (n, forces) in N that are wished for."""
        return (
            np.zeros((self.count, 0))
            if self.demand is None
            else self._chosen(self.demand, at[None])[1][:, 0].T
        )

    def _chosen(self, demand: Demand, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What motion takes (speeds, W, n) at places (W, n, L), the second of which has another b, and the contacts'
        forces (forces, W, n).
        """
        balance, own = demand.balance, self.null.shape[2]
        b, a, free = parts[..., 0], parts[..., 1], parts[..., self.orders : self.orders + own]
        taken = affine(demand.needed[:, :, None], a, b)
        given = balance.efforts(demand.pace * np.sqrt(b[0]))
        taken -= given[:, None]
        if len(b) > 1:
            taken[:, 1] += given - balance.efforts(demand.pace * np.sqrt(b[1]))
        forces = taken[balance.free].transpose(2, 1, 0) @ balance.inverse.transpose(0, 2, 1)
        forces += free.swapaxes(0, 1) @ self.null.transpose(0, 2, 1) * self.typical
        return taken, forces.transpose(2, 1, 0)

    def _aside(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places (1 + L, n, L), the first of them `at`, and by how far the others are aside of it, (L, n)."""
        steps = np.full(at.T.shape, _STEP)
        steps[0] *= at[:, 0]
        steps[1 : self.orders] *= (np.abs(at[:, : self.orders]).max(axis=0)[1:] + at[:, 0].max())[:, None]
        parts = np.repeat(at[None], 1 + self.wide, axis=0)
        parts[1:] += steps[:, :, None] * np.eye(self.wide)[:, None]
        return parts, steps

    def _rows(self, parts: FloatArray) -> list[Row]:
        """All constraints' at places (W, n, L)."""
        many, whole, rows = len(parts), parts.reshape(-1, self.wide), list[Row]()
        moving = Moving(samples=self._samples(parts), times=np.tile(self.looks.z, many))
        if self.demand is not None:
            volts = _SAGS + whole[:, self.wide - len(self.supplies) :].T
            fed = {s.name: v * float(s.full_voltage) for s, v in zip(self.supplies, volts, strict=True)}
            moving.forces = replace(self._forces(self.demand, parts), supplies=fed)
            rows += map(_sagging, self.supplies, BatteryPower().rows(moving), volts)
        return [*(row for each in self.looks.problem.constraints.each for row in each.rows(moving)), *rows]

    def _samples(self, parts: FloatArray) -> Samples:
        """What moves at places (W, n, L), of which only the first ones differ by how."""
        count, moved = self.count, parts[: 1 + self.orders].reshape(-1, self.wide)
        places = np.arange(parts[..., 0].size)
        b, slope, bend = (moved[:, k] if k < self.orders else np.zeros(len(moved)) for k in range(3))
        first = passed(self.looks.unit.chosen(places[: len(moved)] % count), b, slope, bend)
        return first.chosen(np.where(places < len(moved), places, places % count))

    def _forces(self, demand: Demand, parts: FloatArray) -> MotionForces:
        """What motors and floor give there."""
        many, (b, a) = len(parts), (parts[..., k] for k in (0, 1))
        taken, forces = self._chosen(demand, parts)
        pushed = forces.transpose(2, 1, 0) @ demand.balance.rows
        loads = affine(demand.loads.swapaxes(1, 2)[:, :, None], a, b)
        where = {name: np.tile(angle, many) for name, angle in demand.balance.where.items()}
        # places one after the other for what is told of one wheel: no strides
        rates, needed, forces, loads = (
            each.reshape(len(each), -1)
            for each in (demand.pace[:, None] * np.sqrt(b), taken - pushed.transpose(2, 1, 0), forces, loads)
        )
        creep = Creep.none(demand.balance.driven, forces.shape[1])
        contacts = ContactState(forces.T, loads.T, rates, needed, creep)
        return settled_forces(replace(demand.balance, where=where), contacts)

    def held(self, at: FloatArray) -> Held:
        """All constraints at places (n, L)."""
        parts, steps = self._aside(at)
        rows = _joined(self._rows(parts), steps)
        owner, changes, sided = rows.owner, rows.changes, rows.sided[:, None]
        if self._unit is None:
            size = np.where(np.isfinite(rows.most), np.abs(rows.most), 0.0)
            unit = np.maximum(size, _UNEVEN * size.max(axis=1, keepdims=True))
            self._unit = np.where(unit > 0, unit, 1.0)
        unit, margin = self._unit, np.stack([self.margin(name) for name in rows.names])
        # what nothing bounds, and what doesn't move where it may not
        off = ~np.isfinite(rows.most) | ~sided & (rows.most == 0) & (rows.summed(np.abs(rows.x)) == 0)
        most = np.where(off, unit, rows.most * margin)
        most = np.where(sided, most, np.maximum(most, _NOTHING * unit))
        by_most = rows.by_most * np.where(off, 0.0, margin)[changes][:, None]
        # of rows x ≤ X squares are in what x bends by
        on, parts = ~off[owner], slice(len(rows.x))
        plain, scale = on & sided[owner], np.where(sided, 1.0, most)[owner]
        share = np.where(on & ~plain, 1 / scale, 0.0)[parts] * rows.x
        value = most - rows.summed(np.where(plain[parts], 1.0, share) * rows.x)
        by = np.where(plain[parts], -1.0, -2 * share) / unit[owner[parts]]
        grown, own, bends = (1 + rows.summed(share**2)) / unit, *np.split(rows.ways, [len(rows.mixed)])
        for way, k in zip(own, rows.mixed, strict=True):
            which = np.flatnonzero(owner[parts] == k)
            np.einsum("pn,pln->ln", by[which], bends[which], out=way)
        for change, k in zip(by_most, changes, strict=True):
            own[rows.mixed == k] += change * grown[k]
            which = np.flatnonzero(owner[parts] == k)
            bends[which] -= share[which, None] * change
        by[rows.mixed] = 0.0
        weight = np.where(on, 2 / unit[owner] / scale, 0.0)
        weight[parts][plain[parts]] = 0.0
        by = by[: len(value)]
        return Held(value / unit, rows.ways, rows.mixed, by, weight, owner, most[changes], by_most)

    def margin(self, name: str) -> FloatArray:
        """The share of what binds that is planned with, (n,)."""
        return self.margins.get(name, np.ones(self.count))


def _sagging(supply: Supply, power: Row, volts: FloatArray) -> Row:
    """V (E − V)/R ≥ P: by the row of a battery's power and V by that without load, P/(E²/4R) + (2V/E − 1)² ≤ 1."""
    most, off = greatest_power(supply), 2 * volts[:, None] - 1
    bends = *(part / np.sqrt(most) for part in power.bends), off
    return Row(["sag"], (power.x[0] / most + off**2,), 1.0, one_sided=True, bends=bends)


class _Joined(NamedTuple):
    """Rows together: names and whether they are one-sided, (m,); bounds X (m, n), which of them change with slopes
    (r, L, n); and their parts x (p, n), the first one of all first. Slopes of these and, behind them, of what one-sided
    ones bend by, with their `owner` (t,), are (q + t, L, n), behind room for those of the `mixed` rows (q,), whose
    parts are several or whose bounds change.
    """

    names: list[str]
    sided: BoolArray
    most: FloatArray
    changes: IntArray
    by_most: FloatArray
    x: FloatArray
    owner: IntArray
    mixed: IntArray
    ways: FloatArray

    def summed(self, each: FloatArray) -> FloatArray:
        """(m, …): the sums over rows' parts, (p, …)."""
        # not by BLAS, whose threads wait for one another longer than all this takes
        sums = each[: len(self.names)].copy()
        for place in range(len(sums), len(each)):
            sums[self.owner[place]] += each[place]
        return sums


def _joined(rows: Sequence[Row], steps: FloatArray) -> _Joined:
    """Rows at places (1 + L, n), the first of which others are aside of by steps (L, n)."""
    count, rows = steps.shape[1], [row for row in rows if row.names]
    names = [name for row in rows for name in row.names]
    owners = np.split(np.arange(len(names)), np.cumsum([len(row.names) for row in rows])[:-1])
    most = [np.broadcast_to(row.most, row.x[0].shape) for row in rows]
    changing = [k for k, row in enumerate(rows) if np.ndim(row.most) == 2 and np.isfinite(row.most).all()]
    groups = [row.x[:1] for row in rows], [row.x[1:] for row in rows], [row.bends for row in rows]
    whose = [[owners[k] for k, own in enumerate(group) for _ in own] for group in groups]
    first, others, bends = (np.concatenate([np.zeros(0, dtype=int), *each]) for each in whose)
    changes = np.concatenate([others[:0], *(owners[k] for k in changing)])
    mixed = np.union1d(others, changes)
    x, ways = _differences([part for group in groups for own in group for part in own], steps, len(mixed))
    return _Joined(
        names,
        np.repeat([row.one_sided for row in rows], [len(own) for own in owners]),
        np.concatenate([each[:count].T for each in most]),
        changes,
        _differences([most[k] for k in changing], steps)[1],
        x[: len(first) + len(others)],
        np.concatenate([first, others, bends]),
        mixed,
        ways,
    )


def _differences(
    parts: Sequence[FloatArray], steps: FloatArray, room: int = 0
) -> tuple[FloatArray, FloatArray]:
    """What parts are at the first places, (t, n), and their slopes behind some room, (room + t, L, n)."""
    each = [part.T.reshape(part.shape[1], -1, steps.shape[1]) for part in parts]
    x = np.concatenate([np.zeros((0, steps.shape[1])), *(values[:, 0] for values in each)])
    # one array of all: where memory is given back and taken again at every step, that costs a third of it
    slopes = np.empty((room + len(x), *steps.shape))
    for values, own in zip(
        each, np.split(slopes[room:], np.cumsum([len(values) for values in each])), strict=False
    ):
        np.subtract(values[:, 1:], values[:, :1], out=own)
        own /= steps
    return x, slopes
