"""The least time over a path: b = ż² and the contacts' forces on its intervals, by Newton's method within barriers.

What is free of the forces is a parabola on every interval, and hangs on nothing beside but b there. So Newton's system
splits: all intervals' forces are eliminated on the spot, at once, and a band matrix over b's coefficients is left.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.errors import NumericsError
from trundle.motion.paths.path_constraints import ConstraintLinearization, PathConstraints, change

# The least b, as a share of what is expected there.
_LEAST = 1e-6
# What the sum of squares of forces counts, all contacts at their grip, as a share of the time: it chooses forces where
# nothing binds, and costs as little.
_EVEN = 1e-5
# Steps at most, and what laws may be passed by at the end.
_STEPS, _PASSED = 80, 1e-4
# A step goes up to this share of the way to what may not become negative.
_TO_EDGE = 0.95
# A gap above this is of laws that contradict one another: their multipliers grow without end.
_ENDLESS = 1e6
# The last steps aim at this share of the gap that ends them.
_AIM = 0.3
# A step is corrected for being longer by this, for what then is below or above these shares of the middle.
_LONGER, _LOW, _HIGH = 0.3, 0.1, 10.0
# Constraints that leave less than this begin with it; so do their multipliers, for a gap of so much of the time.
_BEGIN, _BEGIN_GAP = 0.1, 10.0
_AGAIN, _AGAIN_GAP = 1e-3, 3e-4
# Programmes begin where contacts hold at least this share of what they do at rest, and nothing is further beyond.
_CARRIED, _FAR = 0.3, 30.0
_NONE = "no speeds along the path keep what binds it"
# What laws leave counts as it is where it is at least this share of what the last step said.
_FOLLOWS = 0.5


class BarrierRows(NamedTuple):
    """entries·b on columns, (q, k) both, at most 1; of b's coefficients in units of their scale."""

    entries: FloatArray
    columns: IntArray


class Chosen(NamedTuple):
    """b's coefficients in units of their scale, and the forces that are free on intervals, (K, J r)."""

    b: FloatArray
    free: FloatArray


class Barriers(NamedTuple):
    """What all laws leave, and their multipliers."""

    left: FloatArray
    price: FloatArray

    @property
    def gap(self) -> float:
        """What the time can be less by, as a share of it."""
        # not by BLAS, whose threads wait for one another longer than all this takes
        return float(np.einsum("i,i->", self.left, self.price))

    def reach(self, left: FloatArray, price: FloatArray) -> tuple[float, float]:
        """How far both can change by so much: all the way, or to where something isn't positive."""
        return min(1.0, _reach(self.left, left)), min(1.0, _reach(self.price, price))

    def gone(self, left: FloatArray, price: FloatArray, longer: float = 0.0) -> Barriers:
        """What they are there, or so much further on the way."""
        far, dear = (min(1.0, reach + longer) for reach in self.reach(left, price))
        return Barriers(self.left + far * left, self.price + dear * price)


@dataclass(frozen=True, eq=False)
class Basis:
    """b on intervals: its `columns` (K, k), at their P points its values, half its slopes and bends, (K, P, orders, k),
    what it is expected to be, weights (K, P) of ∫ dz, the values at the points, (P, J), of the parabolas that are free
    there, and rows on b.
    """

    columns: IntArray
    values: FloatArray
    scale: FloatArray
    weights: FloatArray
    shapes: FloatArray
    rows: BarrierRows


class BarrierSolver:
    """The programme on some intervals: what stays from round to round."""

    def __init__(self, laws: PathConstraints, basis: Basis) -> None:
        self.laws, self.basis = laws, basis
        self.intervals, self.points = basis.weights.shape
        self.parts = basis.shapes.shape[1]
        # (K, orders P, k): b, z̈ and z⃛/ż at points by b's coefficients
        self.map = (basis.values * basis.scale[basis.columns][:, None, None]).reshape(
            self.intervals, self.points * laws.orders, -1
        )
        self.free = self._free()

    def _free(self) -> FloatArray:
        """(K, P r, J r): what is free at points, by its polynomials in the axes of an interval's middle."""
        null = self.laws.null.reshape(self.intervals, self.points, *self.laws.null.shape[1:])
        middle = null[:, self.points // 2]
        count, own = self.laws.wide - self.laws.orders, null.shape[3]
        turned = np.tile(np.eye(count), (*null.shape[:2], 1, 1))
        turned[:, :, :own, :own] = np.einsum("kpfr,kfs->kprs", null, middle)
        free = turned[:, :, :, None, :] * self.basis.shapes[:, None, :, None]
        return free.reshape(self.intervals, self.points * free.shape[2], free.shape[3] * free.shape[4])

    def place(self, chosen: Chosen) -> FloatArray:
        """What is chosen, at the points of all intervals, (n, L)."""
        moved = products(self.map, chosen.b[self.basis.columns]).reshape(-1, self.laws.orders)
        free = products(self.free, chosen.free).reshape(len(moved), -1)
        return np.concatenate([moved, free], axis=1)

    def begin(self, b: FloatArray) -> Chosen:
        """The same b, less by what leaves all bounds a share of what they are at rest, and takes no row far beyond."""
        chosen, rest = self.start(b), self.laws.linearized(self.place(self.start(_LEAST * b))).bounds
        while chosen.b.max() > _LEAST:
            linear = self.laws.linearized(self.place(chosen))
            if (linear.bounds >= _CARRIED * rest).all() and linear.value.min() > -_FAR:
                break
            chosen = self.start(chosen.b / 2)
        return chosen

    def start(self, b: FloatArray, free: FloatArray | None = None) -> Chosen:
        """Of b's coefficients in units of their scale."""
        return Chosen(b, np.zeros((self.intervals, self.free.shape[2])) if free is None else free)

    def solved(self, start: Chosen, goal: float, last: Barriers | None = None) -> tuple[Chosen, Barriers]:
        """The b that takes the least time, within a share `goal` of it; from what is near, and its barriers."""
        chosen, barriers = start, last
        unit = float((self.basis.weights.ravel() / np.sqrt(self.place(start)[:, 0])).sum())
        for step in range(_STEPS):
            system = _Newton(self, chosen, unit)
            barriers = _near(system.left, barriers, again=step == 0)
            if barriers.gap < goal and (barriers.left - system.left).max() < _PASSED:
                return chosen, barriers
            chosen, barriers = self._stepped(system, chosen, barriers, _AIM * goal)
            if not barriers.gap < _ENDLESS:
                break
        raise NumericsError(_NONE)

    def _stepped(
        self, system: _Newton, chosen: Chosen, barriers: Barriers, aim: float
    ) -> tuple[Chosen, Barriers]:
        """Mehrotra's step: a first one all the way shows how near to the middle the second one has to stay. A third one
        brings back to it what would leave it if that were longer (Gondzio 1996), and counts where it goes further.
        """
        system.factorise(barriers)
        _, left, price = system.step(barriers, np.zeros_like(system.left))
        after = barriers.gone(left, price)
        centre = max((after.gap / barriers.gap) ** 3, min(1.0, aim / barriers.gap)) * barriers.gap / len(left)
        middle = centre - left * price
        step = system.step(barriers, middle)
        product = np.prod(barriers.gone(*step[1:], _LONGER), axis=0)
        back = np.clip(product, _LOW * centre, _HIGH * centre) - product
        other = system.step(barriers, middle + np.maximum(back, -_HIGH * centre))
        way, left, price = max(step, other, key=lambda each: sum(barriers.reach(*each[1:])))
        # what laws are made of stays positive, too
        bounds = change(system.linear.bound_slopes, self.place(way))
        ways = ((barriers.left, left), (system.linear.bounds.ravel(), bounds.ravel()))
        far = min(1.0, *(_TO_EDGE * _reach(*pair) for pair in ways))
        dear = min(1.0, _TO_EDGE * _reach(barriers.price, price))
        gone = Chosen(*(x + far * dx for x, dx in zip(chosen, way, strict=True)))
        # each b goes to its own edge: one that all but stops would stop all others
        return (
            gone._replace(b=np.maximum(gone.b, (1 - _TO_EDGE) * chosen.b)),
            Barriers(barriers.left + far * left, barriers.price + dear * price),
        )


def _near(left: FloatArray, last: Barriers | None, again: bool) -> Barriers:
    """Barriers where laws leave so much: new ones, those of another round, or those after a step."""
    if last is None:
        positive = np.maximum(left, _BEGIN)
        return Barriers(positive, _BEGIN_GAP / len(left) / positive)
    if again:
        positive = np.maximum(left, _AGAIN)
        return Barriers(positive, np.maximum(last.price, _AGAIN_GAP / len(left) / positive))
    return Barriers(np.where(left > _FOLLOWS * last.left, left, last.left), last.price)


def _reach(value: FloatArray, change: FloatArray) -> float:
    """How far a change can go before something isn't positive."""
    fastest = float(np.max(change / -value, initial=0.0))
    return 1 / fastest if fastest else np.inf


class _Newton:
    """Newton's system where something is chosen: what laws leave there, its matrix in factors, and steps."""

    def __init__(self, programme: BarrierSolver, chosen: Chosen, unit: float) -> None:
        """unit: the time that counts as 1."""
        self.programme, self.chosen, self.rows = programme, chosen, programme.basis.rows
        self.at = programme.place(chosen)
        self.linear: ConstraintLinearization = programme.laws.linearized(self.at)
        asked = 1 - np.einsum("qk,qk->q", self.rows.entries, chosen.b[self.rows.columns])
        self.cuts = np.cumsum([self.linear.value.size, len(asked)])
        self.left = np.concatenate([self.linear.value.ravel(), asked, chosen.b - _LEAST])
        self.even = 2 * _EVEN / (programme.intervals * programme.parts * max(programme.laws.grid.pushes, 1))
        self.worth = programme.basis.weights.ravel() / unit
        self.shape = programme.intervals, programme.points

    def factorise(self, barriers: Barriers) -> None:
        """The matrix ∇²T + Σ λ (−∇²c) + Jᵀ (λ/c) J, intervals' own part eliminated."""
        from scipy.linalg import cholesky_banded

        linear, at, free = self.linear, self.at, self.programme.free
        weight, asked, low = np.split(barriers.price / barriers.left, self.cuts)
        price = barriers.price[: self.cuts[0]].reshape(linear.value.shape)
        local = linear.hessian(weight.reshape(price.shape), price)
        local[:, 0, 0] += 0.75 * self.worth * at[:, 0] ** -2.5
        local = local.reshape(*self.shape, *local.shape[1:])
        orders = self.programme.laws.orders
        inner = self._inner(local[:, :, orders:, orders:])
        inner += self.even * np.eye(free.shape[2])
        try:
            self.inverse: FloatArray = np.asarray(np.linalg.inv(inner), dtype=np.float64)
        except np.linalg.LinAlgError:
            raise NumericsError(_NONE) from None
        onto, k = self.programme.map, self.programme.map.shape[2]
        # (K, k, P, L): by b's coefficients instead of b, z̈ and z⃛/ż
        half = (onto.reshape(*self.shape, orders, k).swapaxes(2, 3) @ local[:, :, :orders]).swapaxes(1, 2)
        self.cross = self._parabolas(half[..., orders:])
        outer = half[..., :orders].reshape(len(half), k, -1) @ onto
        outer -= self.cross @ self.inverse @ self.cross.transpose(0, 2, 1)
        try:
            self.factor = cholesky_banded(self._band(outer, asked, low), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise NumericsError(_NONE) from None

    def _band(self, outer: FloatArray, asked: FloatArray, low: FloatArray) -> FloatArray:
        """The band matrix over b's coefficients, its lower part by diagonals."""
        columns, size = self.programme.basis.columns, len(low)
        rows = self.rows.entries[:, :, None] * self.rows.entries[:, None, :] * asked[:, None, None]
        band = np.zeros((columns.shape[1], size))
        for i in range(columns.shape[1]):
            for j in range(i + 1):
                for where, part in ((columns, outer), (self.rows.columns, rows)):
                    band[i - j] += np.bincount(where[:, j], part[:, i, j], minlength=size)
        band[0] += low
        return band

    def _parabolas(self, part: FloatArray) -> FloatArray:
        """What hangs on forces at points, (K, …, P, r), by the parabolas that those are, (K, …, J r)."""
        free = self.programme.free
        return part.reshape(len(part), math.prod(part.shape[1:-2]), free.shape[1]) @ free

    def _inner(self, part: FloatArray) -> FloatArray:
        """The same of both indices of (K, P, r, r), (K, J r, J r)."""
        free = self.programme.free
        each = free.reshape(*part.shape[:3], free.shape[2])
        return free.swapaxes(1, 2) @ (part @ each).reshape(free.shape)

    def step(self, barriers: Barriers, centre: FloatArray) -> tuple[Chosen, FloatArray, FloatArray]:
        """The step of what is chosen, of what laws leave, and of their multipliers: c λ → centre."""
        from scipy.linalg import cho_solve_banded

        programme, linear, (entries, columns) = self.programme, self.linear, self.rows
        basis, missing = programme.basis, self.left - barriers.left
        own, asked, low = np.split((centre - barriers.price * missing) / barriers.left, self.cuts)
        local = linear.pull(own.reshape(linear.value.shape))
        local[:, 0] += 0.5 * self.worth * self.at[:, 0] ** -1.5
        local = local.reshape(*self.shape, -1)
        orders = programme.laws.orders
        inner = self._parabolas(local[..., orders:])[:, 0]
        inner -= self.even * self.chosen.free
        outer = (local[..., :orders].reshape(len(local), 1, -1) @ programme.map)[:, 0]
        outer -= products(self.cross, products(self.inverse, inner))
        size = len(basis.scale)
        right = low + np.bincount(basis.columns.ravel(), outer.ravel(), minlength=size)
        right -= np.bincount(columns.ravel(), (entries * asked[:, None]).ravel(), minlength=size)
        b = cho_solve_banded((self.factor, True), right, check_finite=False)
        rest = products(self.inverse, inner - products(self.cross.transpose(0, 2, 1), b[basis.columns]))
        way = Chosen(b, rest)
        moved = linear.change(programme.place(way)).ravel()
        left = np.concatenate([moved, -np.einsum("qk,qk->q", entries, b[columns]), b]) + missing
        return way, left, centre / barriers.left - barriers.price - barriers.price / barriers.left * left


def products(matrices: FloatArray, vectors: FloatArray) -> FloatArray:
    """The products of n matrices with as many vectors."""
    return (matrices @ vectors[:, :, None])[:, :, 0]
