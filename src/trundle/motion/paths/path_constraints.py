"""Constraints at the points of a path as Newton's method asks for them: c ≥ 0, gradients, and how they curve.

    symbol    what it is                                                                    here
    y         what a point is: b = ż², b′/2, with jerks b″/2, and what is free              `at`, (n, L)
    x_i, X    parts of a row and its bound, at all points                                   `Row.x`, `Row.most`
    c         what a row leaves, in units of its bound                                      `value`, (m, n)
    ∇         slopes along y: differences from what is a small step aside                   `_differences`
    λ         multipliers, and w weights, of rows at points                                 (m, n)

    |x| ≤ X:    c = X − Σ x_i²/X,    ∇c = (1 + Σ x_i²/X²) ∇X − Σ (2 x_i/X) ∇x_i
                −∇²c ≈ Σ (2/X) g_i g_iᵀ  with  g_i = ∇x_i − (x_i/X) ∇X
    x ≤ X:      c = X − x,           ∇c = ∇X − ∇x
                −∇²c ≈ Σ 2 g_i g_iᵀ  with  g_i = ∇z_i,  where x has squares z_i² in it (`Row.bends`)

So speeds are affine in b, and cones of forces concave. How x_i itself bends along y doesn't count: it changes Newton's
steps, and not where they lead. Most rows have one part and a bound that stays: their ∇c is a number times g_1. Those of
several parts, or whose bound changes, have gradients of their own (`mixed`).
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
from trundle.motion.paths.collocation_grid import CollocationGrid
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


class ConstraintLinearization(NamedTuple):
    """c (m, n) at n points, ∇c and −∇²c.

    `gradients` (q + t, L, n) are ∇c of `mixed` rows (q,), and behind them all g_i, the first part of every row first:
    so ∇c of row k that isn't mixed is `factors` (m, n) times g_k. −∇²c of a row is the sum of `curvature` (t, n) times
    g gᵀ over those g whose `owner` (t,) it is. Bounds X that change (r, n) have to stay positive; `bound_slopes` are
    theirs, (r, L, n).
    """

    value: FloatArray
    gradients: FloatArray
    mixed: IntArray
    factors: FloatArray
    curvature: FloatArray
    owner: IntArray
    bounds: FloatArray
    bound_slopes: FloatArray

    def change(self, step: FloatArray) -> FloatArray:
        """∇c·Δy along steps (n, L), (m, n)."""
        count = len(self.mixed)
        mixed, rest = np.split(change(self.gradients[: count + len(self.value)], step), [count])
        rest *= self.factors
        rest[self.mixed] += mixed
        return rest

    def pull(self, multipliers: FloatArray) -> FloatArray:
        """Σ λ ∇c, (n, L)."""
        scaled = np.concatenate([multipliers[self.mixed], self.factors * multipliers])
        return np.einsum("mln,mn->nl", self.gradients[: len(scaled)], scaled)

    def hessian(self, weights: FloatArray, multipliers: FloatArray) -> FloatArray:
        """Σ w ∇c ∇cᵀ − Σ λ ∇²c, (n, L, L)."""
        curved = self.curvature * multipliers[self.owner]
        curved[: len(weights)] += self.factors**2 * weights
        scaled = np.concatenate([weights[self.mixed], curved])
        wide, count = self.gradients.shape[1:]
        squares = np.empty((wide, wide, count))
        for i in range(wide):
            weighted = scaled * self.gradients[:, i]
            for j in range(i + 1):
                squares[i, j] = squares[j, i] = np.einsum("mn,mn->n", weighted, self.gradients[:, j])
        return squares.transpose(2, 0, 1)


def change(slopes: FloatArray, step: FloatArray) -> FloatArray:
    """By how much what has slopes (m, L, n) changes along steps (n, L), (m, n)."""
    return np.einsum("mln,ln->mn", slopes, np.ascontiguousarray(step.T))


class PathConstraints:
    """Constraints where a path is looked at; `margins`: by name the share of a bound (n,) that is planned with.

    They are asked at places y (n, L): b, b′/2, with jerks b″/2, and what is free: parts of the contacts' forces in
    typical ones, and of the batteries' voltages.
    """

    def __init__(self, grid: CollocationGrid) -> None:
        self.margins: dict[str, FloatArray] = {}
        self.grid, self.demand, self.count = grid, grid.demand, len(grid.z)
        self.orders = 3 if grid.problem.jerks else 2
        self.supplies = self.demand.balance.assembly.supplies if self.demand else ()
        self._unit: FloatArray | None = None

    @cached_property
    def typical(self) -> float:
        """A force of a contact (N), to scale them."""
        driven = self.grid.problem.constraints.driven
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
        moving = Moving(samples=self._samples(parts), times=np.tile(self.grid.z, many))
        if self.demand is not None:
            volts = _SAGS + whole[:, self.wide - len(self.supplies) :].T
            fed = {s.name: v * float(s.full_voltage) for s, v in zip(self.supplies, volts, strict=True)}
            moving.forces = replace(self._forces(self.demand, parts), supplies=fed)
            rows += map(_sagging, self.supplies, BatteryPower().rows(moving), volts)
        return [*(row for each in self.grid.problem.constraints.each for row in each.rows(moving)), *rows]

    def _samples(self, parts: FloatArray) -> Samples:
        """What moves at places (W, n, L), of which only the first ones differ by how."""
        count, moved = self.count, parts[: 1 + self.orders].reshape(-1, self.wide)
        places = np.arange(parts[..., 0].size)
        b, slope, bend = (moved[:, k] if k < self.orders else np.zeros(len(moved)) for k in range(3))
        first = passed(self.grid.unit.chosen(places[: len(moved)] % count), b, slope, bend)
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

    def linearized(self, at: FloatArray) -> ConstraintLinearization:
        """All constraints at places (n, L)."""
        parts, steps = self._aside(at)
        table = _tabled(self._rows(parts), steps)
        one_sided, unit = table.one_sided[:, None], self._units(table)
        margin = np.stack([self.margin(name) for name in table.names])
        # what nothing bounds, and what doesn't move where it may not
        off = ~np.isfinite(table.most) | ~one_sided & (table.most == 0) & (table.summed(np.abs(table.x)) == 0)
        most = np.where(off, unit, table.most * margin)
        most = np.where(one_sided, most, np.maximum(most, _NOTHING * unit))
        bound_slopes = table.bound_slopes * np.where(off, 0.0, margin)[table.changing][:, None]
        on, own = ~off[table.owner], slice(len(table.x))
        linear = (on & one_sided[table.owner])[own]
        scale = np.where(one_sided, 1.0, most)[table.owner]
        share = np.where(on[own] & ~linear, 1 / scale[own], 0.0) * table.x  # x_i/X
        value = most - table.summed(np.where(linear, 1.0, share) * table.x)
        factors = np.where(linear, -1.0, -2 * share) / unit[table.owner[own]]
        self._mix(table, factors, share, bound_slopes, (1 + table.summed(share**2)) / unit)
        factors[table.mixed] = 0.0
        curvature = np.where(on, 2 / unit[table.owner] / scale, 0.0)
        curvature[own][linear] = 0.0
        parts = factors[: len(value)], curvature, table.owner, most[table.changing], bound_slopes
        return ConstraintLinearization(value / unit, table.gradients, table.mixed, *parts)

    def _units(self, table: _RowTable) -> FloatArray:
        """What rows are counted in, (m, n): their bounds at the first places, no less than a share of the largest."""
        if self._unit is None:
            size = np.where(np.isfinite(table.most), np.abs(table.most), 0.0)
            unit = np.maximum(size, _UNEVEN * size.max(axis=1, keepdims=True))
            self._unit = np.where(unit > 0, unit, 1.0)
        return self._unit

    @staticmethod
    def _mix(
        table: _RowTable, factors: FloatArray, share: FloatArray, bound_slopes: FloatArray, grown: FloatArray
    ) -> None:
        """Put ∇c of mixed rows into their places, and −(x_i/X) ∇X to g_i of those whose bounds change.

        factors: of ∇x_i in ∇c, (p, n); share: x_i/X; grown: that of ∇X in ∇c, (m, n).
        """
        mixed, each = np.split(table.gradients, [len(table.mixed)])
        owner = table.owner[: len(factors)]
        for gradient, k in zip(mixed, table.mixed, strict=True):
            own = np.flatnonzero(owner == k)
            np.einsum("pn,pln->ln", factors[own], each[own], out=gradient)
        for slope, k in zip(bound_slopes, table.changing, strict=True):
            mixed[table.mixed == k] += slope * grown[k]
            own = np.flatnonzero(owner == k)
            each[own] -= share[own, None] * slope

    def margin(self, name: str) -> FloatArray:
        """The share of what binds that is planned with, (n,)."""
        return self.margins.get(name, np.ones(self.count))


def _sagging(supply: Supply, power: Row, volts: FloatArray) -> Row:
    """V (E − V)/R ≥ P: by the row of a battery's power and V by that without load, P/(E²/4R) + (2V/E − 1)² ≤ 1."""
    most, off = greatest_power(supply), 2 * volts[:, None] - 1
    bends = *(part / np.sqrt(most) for part in power.bends), off
    return Row(["sag"], (power.x[0] / most + off**2,), 1.0, one_sided=True, bends=bends)


class _RowTable(NamedTuple):
    """Rows one below the other: names and whether they are one-sided, (m,); bounds X (m, n), with slopes (r, L, n) of
    those that are `changing` (r,); and parts x_i (p, n), the first ones of all rows first, with their `owner` (t,).

    Behind the parts `owner` goes on with what one-sided rows bend by. `gradients` (q + t, L, n) has room for those of
    the `mixed` rows (q,), and then the slopes of parts and of what bends.
    """

    names: list[str]
    one_sided: BoolArray
    most: FloatArray
    changing: IntArray
    bound_slopes: FloatArray
    x: FloatArray
    owner: IntArray
    mixed: IntArray
    gradients: FloatArray

    def summed(self, each: FloatArray) -> FloatArray:
        """(m, …): the sums over rows' parts, (p, …)."""
        # not by BLAS, whose threads wait for one another longer than all this takes
        sums = each[: len(self.names)].copy()
        for place in range(len(sums), len(each)):
            sums[self.owner[place]] += each[place]
        return sums


def _tabled(rows: Sequence[Row], steps: FloatArray) -> _RowTable:
    """Rows at places (1 + L, n), the first of which others are aside of by steps (L, n)."""
    count, rows = steps.shape[1], [row for row in rows if row.names]
    names = [name for row in rows for name in row.names]
    places = np.split(np.arange(len(names)), np.cumsum([len(row.names) for row in rows])[:-1])
    most = [np.broadcast_to(row.most, row.x[0].shape) for row in rows]
    changes = [k for k, row in enumerate(rows) if np.ndim(row.most) == 2 and np.isfinite(row.most).all()]
    groups = [row.x[:1] for row in rows], [row.x[1:] for row in rows], [row.bends for row in rows]
    first, others, bends = (
        _concatenated([places[k] for k, parts in enumerate(group) for _ in parts]) for group in groups
    )
    changing = _concatenated([places[k] for k in changes])
    mixed = np.union1d(others, changing)
    every = [part for group in groups for parts in group for part in parts]
    x, gradients = _differences(every, steps, len(mixed))
    return _RowTable(
        names,
        np.repeat([row.one_sided for row in rows], [len(own) for own in places]),
        np.concatenate([each[:count].T for each in most]),
        changing,
        _differences([most[k] for k in changes], steps)[1],
        x[: len(first) + len(others)],
        np.concatenate([first, others, bends]),
        mixed,
        gradients,
    )


def _concatenated(places: Sequence[IntArray]) -> IntArray:
    """Places one after the other; there may be none."""
    return np.concatenate([np.zeros(0, dtype=int), *places])


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
