"""The least time over a path: b = ż² and the contacts' forces on its intervals, by Newton's method within barriers.

What is free of the forces is a parabola on every interval, and hangs on nothing beside but b there. So Newton's system
splits: all intervals' forces are eliminated on the spot, at once, and a band matrix over b's coefficients is left.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.errors import NumericsError
from trundle.motion.paths.force_laws import NOTHING, Held, Laws, Place
from trundle.motion.paths.law_slopes import products

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
# Laws that leave less than this begin with it; so do their multipliers, for a gap of so much of the time.
_BEGIN, _BEGIN_GAP = 0.1, 10.0
_AGAIN, _AGAIN_GAP = 1e-3, 1e-3
# Programmes begin where contacts hold at least this share of what they do at rest.
_CARRIED = 0.3
# Batteries begin at this share of their voltage without load, which is between that and what laws leave of it.
_SAGS = 0.9
_NONE = "no speeds along the path keep what binds it"
# The places of b's first and last coefficients.
_ENDS = np.array([0, -1])
# What laws leave counts as it is where it is at least this share of what the last step said.
_FOLLOWS = 0.5


class Rows(NamedTuple):
    """entries·b on columns, (q, k) both, at most 1; of b's coefficients in units of their scale."""

    entries: FloatArray
    columns: IntArray


class Chosen(NamedTuple):
    """b's coefficients in units of their scale; on intervals what is free, (K, J r) forces and (K, J s) voltages."""

    b: FloatArray
    free: FloatArray
    volts: FloatArray


class Barriers(NamedTuple):
    """What all laws leave, and their multipliers."""

    left: FloatArray
    price: FloatArray

    @property
    def gap(self) -> float:
        """What the time can be less by, as a share of it."""
        # not by BLAS, whose threads wait for one another longer than all this takes
        return float(np.einsum("i,i->", self.left, self.price))


@dataclass(frozen=True, eq=False)
class Basis:
    """b on intervals: its `columns` (K, k), at their P points its values and half its slopes, (K, P, 2, k), what it is
    expected to be, weights (K, P) of ∫ dz, what its first and last coefficients may be at most, and the values at the
    points, (P, J), of the polynomials that are free there: parabolas, or constants at one point.
    """

    columns: IntArray
    values: FloatArray
    scale: FloatArray
    weights: FloatArray
    ends: tuple[float, float]
    shapes: FloatArray


class ForceProgramme:
    """The programme on some intervals: what stays from round to round."""

    def __init__(self, laws: Laws, basis: Basis) -> None:
        self.laws, self.basis = laws, basis
        self.intervals, self.points = basis.weights.shape
        self.parts = basis.shapes.shape[1]
        # (K, 2 P, k): b and z̈ at points by b's coefficients
        self.map = (basis.values * basis.scale[basis.columns][:, None, None]).reshape(
            self.intervals, 2 * self.points, -1
        )
        self.ends = np.array(basis.ends) / basis.scale[_ENDS]
        self.ended = np.isfinite(self.ends)
        self.free = self._free()

    def _free(self) -> FloatArray:
        """(K, P r, J r): what is free at points, by its polynomials in the axes of an interval's middle."""
        null = self.laws.null.reshape(self.intervals, self.points, *self.laws.null.shape[1:])
        middle = null[:, self.points // 2]
        turned = np.einsum("kpfr,kfs->kprs", null, middle)
        free = turned[:, :, :, None, :] * self.basis.shapes[:, None, :, None]
        return free.reshape(self.intervals, self.points * free.shape[2], free.shape[3] * free.shape[4])

    def place(self, chosen: Chosen) -> Place:
        """What is chosen, at the points of all intervals."""
        moved = products(self.map, chosen.b[self.basis.columns]).reshape(-1, 2).T
        free = products(self.free, chosen.free)
        supplies = len(self.laws.supplies)
        volts = chosen.volts.reshape(self.intervals, self.parts, supplies)
        volts = self.basis.shapes @ volts
        n, r = self.intervals * self.points, self.laws.null.shape[2]
        return Place(moved[0], moved[1], free.reshape(n, r), volts.reshape(n, supplies))

    def carrying(self, b: FloatArray) -> FloatArray:
        """b's coefficients, less by what leaves all contacts a share of what they hold at rest."""
        at = self.place(self.start(b))
        parts = self.laws.holds(at)[1]
        taken = parts[1] * at.a[:, None] + parts[2] * at.b[:, None]
        held = parts[0] > NOTHING
        return b * min(1.0, (1 - _CARRIED) * _reach(parts[0][held], taken[held]))

    def start(self, b: FloatArray, free: FloatArray | None = None) -> Chosen:
        """Of b's coefficients in units of their scale."""
        supplies = len(self.laws.supplies)
        zeros = np.zeros((self.intervals, self.free.shape[2]))
        volts = np.full((self.intervals, self.parts * supplies), _SAGS)
        return Chosen(b, zeros if free is None else free, volts)

    def solved(
        self, start: Chosen, rows: Callable[[FloatArray], Rows], goal: float, last: Barriers | None = None
    ) -> tuple[Chosen, Barriers]:
        """The b that takes the least time, within a share `goal` of it; from what is near, and its barriers.

        rows: further ones, by b's coefficients.
        """
        chosen, barriers = start, last
        unit = float((self.basis.weights.ravel() / np.sqrt(self.place(start).b)).sum())
        for step in range(_STEPS):
            system = _Newton(self, chosen, rows(chosen.b * self.basis.scale), unit)
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
        """Mehrotra's step: a first one all the way shows how near to the middle the second one has to stay."""
        system.factorise(barriers)
        _, left, price = system.step(barriers, np.zeros_like(system.left))
        after = Barriers(
            barriers.left + min(1.0, _reach(barriers.left, left)) * left,
            barriers.price + min(1.0, _reach(barriers.price, price)) * price,
        )
        centre = max((after.gap / barriers.gap) ** 3, min(1.0, aim / barriers.gap)) * barriers.gap / len(left)
        way, left, price = system.step(barriers, centre - left * price)
        holds, (_, by_a, by_b) = self.laws.holds(system.at)
        moving = self.place(way)
        change = by_a * moving.a[:, None] + by_b * moving.b[:, None]
        # what laws are made of stays positive, too
        held = holds > NOTHING
        ways = ((barriers.left, left), (holds[held], change[held]))
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

    def __init__(self, programme: ForceProgramme, chosen: Chosen, rows: Rows, unit: float) -> None:
        """unit: the time that counts as 1."""
        self.programme, self.chosen, self.rows = programme, chosen, rows
        self.at = programme.place(chosen)
        self.held: Held = programme.laws.held(self.at)
        asked = 1 - np.einsum("qk,qk->q", rows.entries, chosen.b[rows.columns])
        ends = (programme.ends - chosen.b[_ENDS])[programme.ended]
        self.cuts = np.cumsum([self.held.value.size, len(asked), len(chosen.b)])
        self.left = np.concatenate([self.held.value.ravel(), asked, chosen.b - _LEAST, ends])
        self.even = 2 * _EVEN / (programme.intervals * programme.parts * programme.laws.pushes)
        self.worth = programme.basis.weights.ravel() / unit
        self.shape = programme.intervals, programme.points

    def factorise(self, barriers: Barriers) -> None:
        """The matrix ∇²T + Σ λ (−∇²c) + Jᵀ (λ/c) J, intervals' own part eliminated."""
        from scipy.linalg import cholesky_banded

        held, at, free = self.held, self.at, self.programme.free
        weight, asked, low, ends = np.split(barriers.price / barriers.left, self.cuts)
        price = barriers.price[: self.cuts[0]].reshape(held.value.shape)
        bent = held.weight * price[:, held.owner]
        local = held.slopes.squared(weight.reshape(price.shape))
        local += held.bend.transpose(0, 2, 1) @ (bent[:, :, None] * held.bend)
        local[:, 0, 0] += 0.75 * self.worth * at.b**-2.5
        local = local.reshape(*self.shape, *local.shape[1:])
        inner = self._inner(local[:, :, 2:, 2:])
        inner[:, np.arange(free.shape[2]), np.arange(free.shape[2])] += self.even
        self.inverse: FloatArray = np.asarray(np.linalg.inv(inner), dtype=np.float64)
        onto, k = self.programme.map, self.programme.map.shape[2]
        # (K, k, P, L): by b's coefficients instead of b and z̈
        half = (onto.reshape(*self.shape, 2, k).swapaxes(2, 3) @ local[:, :, :2]).swapaxes(1, 2)
        self.cross = self._parabolas(half[..., 2:])
        outer = half[..., :2].reshape(len(half), k, -1) @ onto
        outer -= self.cross @ self.inverse @ self.cross.transpose(0, 2, 1)
        try:
            self.factor = cholesky_banded(self._band(outer, asked, low, ends), lower=True, check_finite=False)
        except np.linalg.LinAlgError:
            raise NumericsError(_NONE) from None

    def _band(self, outer: FloatArray, asked: FloatArray, low: FloatArray, ends: FloatArray) -> FloatArray:
        """The band matrix over b's coefficients, its lower part by diagonals."""
        columns, size = self.programme.basis.columns, len(low)
        rows = self.rows.entries[:, :, None] * self.rows.entries[:, None, :] * asked[:, None, None]
        band = np.zeros((columns.shape[1], size))
        for i in range(columns.shape[1]):
            for j in range(i + 1):
                for where, part in ((columns, outer), (self.rows.columns, rows)):
                    band[i - j] += np.bincount(where[:, j], part[:, i, j], minlength=size)
        band[0] += low
        band[0, _ENDS[self.programme.ended]] += ends
        return band

    def _parabolas(self, part: FloatArray) -> FloatArray:
        """What hangs on forces and voltages at points, (K, …, P, L), by the parabolas that those are, (K, …, S)."""
        programme = self.programme
        free, basis, s = programme.free, programme.basis, len(programme.laws.supplies)
        cut = part.shape[-1] - s
        many = math.prod(part.shape[1:-2])
        forces = part[..., :cut].reshape(len(part), many, free.shape[1]) @ free
        volts = (part[..., cut:].swapaxes(-1, -2) @ basis.shapes).swapaxes(-1, -2)
        return np.concatenate([forces, volts.reshape(len(part), many, programme.parts * s)], axis=2)

    def _inner(self, part: FloatArray) -> FloatArray:
        """The same of both indices of (K, P, L, L), (K, S, S)."""
        free, parabolas = self.programme.free, self.programme.basis.shapes
        (n, p, wide), s = part.shape[:3], len(self.programme.laws.supplies)
        r, j = wide - s, parabolas.shape[1]
        back, each = free.swapaxes(1, 2), free.reshape(n, p, r, j * r)
        own = back @ (part[..., :r, :r] @ each).reshape(free.shape)
        if not s:
            return own
        mixed = part[..., :r, None, r:] * parabolas[:, None, :, None]
        mixed = back @ mixed.reshape(n, p * r, j * s)
        squares = (parabolas[:, :, None] * parabolas[:, None]).reshape(p, j * j)
        volts = (part[..., r:, r:].transpose(0, 2, 3, 1) @ squares).reshape(n, s, s, j, j)
        volts = volts.transpose(0, 3, 1, 4, 2).reshape(n, j * s, j * s)
        return np.block([[own, mixed], [mixed.swapaxes(1, 2), volts]])

    def step(self, barriers: Barriers, centre: FloatArray) -> tuple[Chosen, FloatArray, FloatArray]:
        """The step of what is chosen, of what laws leave, and of their multipliers: c λ → centre."""
        from scipy.linalg import cho_solve_banded

        programme, held, (entries, columns) = self.programme, self.held, self.rows
        basis, free, missing = programme.basis, programme.free.shape[2], self.left - barriers.left
        own, asked, low, ends = np.split((centre - barriers.price * missing) / barriers.left, self.cuts)
        local = held.slopes.pulled(own.reshape(held.value.shape))
        local[:, 0] += 0.5 * self.worth * self.at.b**-1.5
        local = local.reshape(*self.shape, -1)
        inner = self._parabolas(local[..., 2:])[:, 0]
        inner[:, :free] -= self.even * self.chosen.free
        outer = (local[..., :2].reshape(len(local), 1, -1) @ programme.map)[:, 0]
        outer -= products(self.cross, products(self.inverse, inner))
        size = len(basis.scale)
        right = low + np.bincount(basis.columns.ravel(), outer.ravel(), minlength=size)
        right -= np.bincount(columns.ravel(), (entries * asked[:, None]).ravel(), minlength=size)
        right[_ENDS[programme.ended]] -= ends
        b = cho_solve_banded((self.factor, True), right, check_finite=False)
        rest = products(self.inverse, inner - products(self.cross.transpose(0, 2, 1), b[basis.columns]))
        way = Chosen(b, rest[:, :free], rest[:, free:])
        moved = programme.place(way)
        together = np.concatenate([moved.b[:, None], moved.a[:, None], moved.free, moved.volts], axis=1)
        change = [held.slopes.times(together).ravel(), -np.einsum("qk,qk->q", entries, b[columns]), b]
        left = np.concatenate([*change, -b[_ENDS][programme.ended]]) + missing
        return way, left, centre / barriers.left - barriers.price - barriers.price / barriers.left * left
