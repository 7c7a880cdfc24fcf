"""Constraints at the points of a path as Newton's method asks for them: c ≥ 0, its slopes, and where it bends down.

Rows |x| ≤ X are c = X − |x|²/X, so that speeds are affine in b = ż² and cones of forces concave; rows x ≤ X are
c = X − x. Their slopes are differences from what they are a small step aside, whatever a kind's own formula is.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import BoolArray, FloatArray, IntArray
from trundle.mechanics.actuation import Supply
from trundle.motion.constraints.constraint import Moving
from trundle.motion.constraints.motors import BatteryPower
from trundle.motion.forces.demand import Demand, affine
from trundle.motion.forces.forces import MotionForces, greatest_power, settled_forces
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
    """c (n, m) and its slopes (n, L, m); where c bends down: −∇²c of row `owner` is the sum of `weight` (n, h) times
    squares of `bend` (n, L, h); and bounds that change (n, q), which have to stay positive, with theirs (n, L, q).
    """

    value: FloatArray
    slopes: FloatArray
    bend: FloatArray
    weight: FloatArray
    owner: IntArray
    bounds: FloatArray
    bounds_by: FloatArray


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
        return np.zeros((self.count, 0)) if self.demand is None else self._chosen(self.demand, at[:, None])[1]

    def _chosen(self, demand: Demand, parts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """What motion takes (speeds, n W) at places (n, W, L), the second of which has another b, and forces."""
        balance, own = demand.balance, self.null.shape[2]
        b, a, free = parts[..., 0], parts[..., 1], parts[..., self.orders : self.orders + own]
        given = np.repeat(balance.efforts(demand.pace * np.sqrt(b[:, 0]))[..., None], b.shape[1], axis=2)
        if b.shape[1] > 1:
            given[..., 1] = balance.efforts(demand.pace * np.sqrt(b[:, 1]))
        taken = affine(demand.needed[..., None], a, b) - given
        forces = taken[balance.free].transpose(1, 2, 0) @ balance.inverse.transpose(0, 2, 1)
        forces += free @ self.null.transpose(0, 2, 1) * self.typical
        return taken.reshape(len(taken), -1), forces.reshape(-1, forces.shape[2])

    def _aside(self, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Places (n, 1 + L, L), the first of them `at`, and by how far the others are aside of it, (n, L)."""
        steps = np.full(at.shape, _STEP)
        steps[:, 0] *= at[:, 0]
        steps[:, 1 : self.orders] *= np.abs(at[:, : self.orders]).max(axis=0)[1:] + at[:, 0].max()
        parts = np.repeat(at[:, None], 1 + self.wide, axis=1)
        parts[:, 1:] += steps[:, None] * np.eye(self.wide)
        return parts, steps

    def _rows(self, parts: FloatArray) -> list[Row]:
        """All constraints' at places (n, W, L)."""
        many, unit, whole = parts.shape[1], self.looks.unit, parts.reshape(-1, self.wide)
        bend = whole[:, 2] if self.orders == 3 else np.zeros(len(whole))
        tiled = Samples(
            **{field.name: getattr(unit, field.name).repeat(many, axis=0) for field in fields(unit)}
        )
        moving = Moving(
            samples=passed(tiled, whole[:, 0], whole[:, 1], bend), times=self.looks.z.repeat(many)
        )
        rows: list[Row] = []
        if self.demand is not None:
            volts = _SAGS + whole[:, self.wide - len(self.supplies) :].T
            fed = {s.name: v * float(s.full_voltage) for s, v in zip(self.supplies, volts, strict=True)}
            moving.forces = replace(self._forces(self.demand, parts), supplies=fed)
            rows += map(_sagging, self.supplies, BatteryPower().rows(moving), volts)
        return [*(row for each in self.looks.problem.constraints.each for row in each.rows(moving)), *rows]

    def _forces(self, demand: Demand, parts: FloatArray) -> MotionForces:
        """What motors and floor give there."""
        many, (b, a) = parts.shape[1], (parts[..., k].ravel() for k in (0, 1))
        taken, forces = self._chosen(demand, parts)
        pushed = forces.reshape(*parts.shape[:2], -1) @ demand.balance.rows
        loads = affine(demand.loads.repeat(many, axis=1), a[:, None], b[:, None])
        rates = demand.pace.repeat(many, axis=1) * np.sqrt(b)
        where = {name: angle.repeat(many) for name, angle in demand.balance.where.items()}
        needed = taken - pushed.reshape(len(forces), -1).T
        return settled_forces(replace(demand.balance, where=where), rates, needed, forces, loads)

    def held(self, at: FloatArray) -> Held:
        """All constraints at places (n, L)."""
        parts, steps = self._aside(at)
        rows = _joined(self._rows(parts), steps)
        owner, sided, changes = rows.owner, rows.sided, rows.changes
        if self._unit is None:
            size = np.where(np.isfinite(rows.most), np.abs(rows.most), 0.0)
            unit = np.maximum(size, _UNEVEN * size.max(axis=0))
            self._unit = np.where(unit > 0, unit, 1.0)
        margin = np.stack([self.margin(name) for name in rows.names], axis=1)
        # what nothing bounds, and what doesn't move where it may not
        off = ~np.isfinite(rows.most) | ((rows.most == 0) & (rows.summed(np.abs(rows.x)) == 0))
        most = np.where(off, self._unit, rows.most * margin)
        most = np.where(sided, most, np.maximum(most, _NOTHING * self._unit))
        on = np.where(off, 0.0, 1.0)
        by_most = rows.by_most * (on * margin)[:, None, changes]
        x, by_x = rows.x * on[:, owner], rows.by_x * on[:, None, owner]
        # of rows x ≤ X squares are in x
        share = np.where(sided[owner], 0.0, x / most[:, owner])
        value = most - rows.summed(share * x)
        slopes = -2 * rows.summed(share[:, None] * by_x)
        slopes[..., changes] += by_most * (1 + rows.summed(share**2))[:, None, changes]
        value[:, sided] -= rows.plain * on[:, sided]
        slopes[..., sided] -= rows.by_plain * on[:, None, sided]
        for place, k in enumerate(changes):
            own = owner == k
            by_x[..., own] -= share[:, None, own] * by_most[..., [place]]
        return Held(
            value / self._unit,
            slopes / self._unit[:, None],
            by_x,
            2 / np.where(sided, self._unit, most * self._unit)[:, owner],
            owner,
            most[:, changes],
            by_most,
        )

    def margin(self, name: str) -> FloatArray:
        """The share of what binds that is planned with, (n,)."""
        return self.margins.get(name, np.ones(self.count))


def _sagging(supply: Supply, power: Row, volts: FloatArray) -> Row:
    """V (E − V)/R ≥ P: by the row of a battery's power and V by that without load, P/(E²/4R) + (2V/E − 1)² ≤ 1."""
    most, off = greatest_power(supply), 2 * volts[:, None] - 1
    bends = *(part / np.sqrt(most) for part in power.bends), off
    return Row(["sag"], (power.x[0] / most + off**2,), 1.0, one_sided=True, bends=bends)


class _Joined(NamedTuple):
    """Rows together: names and whether they are one-sided, (m,); bounds X (n, m), which of them change with slopes; the
    x of one-sided rows with slopes; and all that is squared, (n, h), with slopes (n, L, h), and whose it is.
    """

    names: list[str]
    sided: BoolArray
    most: FloatArray
    changes: IntArray
    by_most: FloatArray
    plain: FloatArray
    by_plain: FloatArray
    x: FloatArray
    by_x: FloatArray
    owner: IntArray

    def summed(self, each: FloatArray) -> FloatArray:
        """(n, …, m): the sums of what rows have of (n, …, h)."""
        return each @ np.equal.outer(self.owner, np.arange(len(self.names))).astype(float)


def _joined(rows: Sequence[Row], steps: FloatArray) -> _Joined:
    """Rows at places (n, 1 + L), the first of which others are aside of by steps (n, L)."""
    count, wide = steps.shape
    none = np.zeros((count * (1 + wide), 0))

    def joined(each: Iterable[FloatArray]) -> tuple[FloatArray, FloatArray]:
        whole = np.concatenate([none, *each], axis=1).reshape(count, 1 + wide, -1)
        return whole[:, 0], (whole[:, 1:] - whole[:, :1]) / steps[..., None]

    squared = [row.bends if row.one_sided else row.x for row in rows]
    sizes = [len(row.names) for row in rows]
    owners = np.split(np.arange(sum(sizes)), np.cumsum(sizes)[:-1])
    whose = [k for k, own in enumerate(squared) for _ in own]
    empty = np.zeros(0, dtype=int)
    most = [np.broadcast_to(row.most, row.x[0].shape) for row in rows]
    changing = [k for k, row in enumerate(rows) if np.ndim(row.most) == 2 and np.isfinite(row.most).all()]
    one = [k for k, row in enumerate(rows) if row.one_sided]
    return _Joined(
        [name for row in rows for name in row.names],
        np.repeat([row.one_sided for row in rows], sizes),
        np.concatenate(most, axis=1)[:: 1 + wide],
        np.concatenate([empty, *(owners[k] for k in changing)]),
        joined(most[k] for k in changing)[1],
        *joined(rows[k].x[0] for k in one),
        *joined(each for own in squared for each in own),
        np.concatenate([empty, *(owners[k] for k in whose)]),
    )
