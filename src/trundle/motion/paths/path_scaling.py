"""How fast a path can be followed: the quickest z(t) for which all that moves along with it stays within its limits.

What moves are coordinates F(z), with limits V, A, J of their first three derivatives by time. With b(z) = ż² these
are linear in b up to one factor (Verscheure et al. 2009, "Time-optimal path tracking for robots"; Debrouwere et al.
2013 for jerks):

    F′² b ≤ V²,   |F″ b + F′ b′/2| ≤ A,   √b |F‴ b + 3/2 F″ b′ + F′ b″/2| ≤ J,   T = ∫ dz/√b.

b is a spline, of degree 1 where no jerk is limited and else 2, so that what is limited highest may jump at its knots.
J/√b is convex: its tangent lies below it, so a linear programme with that tangent keeps all limits, and improves on the
one before. Between its points limits are held by bounds on Chebyshev series: what is beyond slows the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev

from trundle.arrays import FloatArray, IntArray
from trundle.errors import NumericsError

# Points of an interval at which a programme holds the limits, its ends from within.
_POINTS = np.array([1e-9, 1 / 3, 2 / 3, 1 - 1e-9])
# Programmes at most, and the share of the time that the next one has to gain: a round takes one linear programme.
_MOST_ROUNDS = 12
_ENOUGH = 5e-4
# So often at most limits are made tighter where they are passed between points, while the whole would be slowed by
# more than this share of b for it.
_TIGHTER, _TIGHT = 4, 5e-3
# Limits are bounded on so many parts of an interval by Chebyshev series through so many points.
_PARTS, _NODES = 4, 8
# The whole is slowed by this share more than the bounds ask for, against rounding in the bounds themselves.
_SPARE = 1e-10
# Coefficients of b, as shares of what is expected there. The first programme knows no jerks and would leave some at the
# least, from where the tangents of J/√b let them rise slowly: it has to keep to the largest of these that it can.
_LEAST, _GREATEST = 1e-6, 1e3
_FIRST = (1e-2, 1e-3, 1e-4, _LEAST)
# Towards rest z is stretched: with steering's jerk limited and rolling's not, b grows there like 1/z. Coefficients
# scaled by that would break their neighbours' rows at their least; by this many times the median, times don't change.
_STRETCHED = 100.0
# Rows with at least this share of their bound at the last solution are in a programme from its start; others join when
# they are broken. The first one has all that push, as it is far from what is guessed.
_NEAR = 0.6
# A row that is beyond its bound by less than this share isn't broken: that is rounding.
_BROKEN = 1e-9
# After so many programmes, each with the rows that the one before broke, all rows count.
_PATIENT = 2
# Easing jerks leaves this share of what is allowed, so that the first programme with jerks has room inside its bounds.
_EASED = 0.99
# Newton's steps to z(t) at most; the share of an interval below which they are rounding.
_NEWTON, _EXACT = 12, 1e-15
# Below this root artanh(r)/r and arctan(r)/r are taken from their series, whose next term is of order r⁶.
_STRAIGHT = 1e-4

# Derivatives of the coordinates, (3, n, c), and their limits, (3, n, c), at z (n,).
Course = Callable[[FloatArray], tuple[FloatArray, FloatArray]]


def carried(rates: Sequence[FloatArray] | FloatArray, inner: Sequence[FloatArray]) -> list[FloatArray]:
    """The first three derivatives of F(s(t)): of F by s, and of s by t (Faà di Bruno)."""
    one, two, three = rates
    a, b, c = (speed.reshape(-1, *(1,) * (one.ndim - 1)) for speed in inner)
    return [one * a, two * a**2 + one * b, three * a**3 + 3 * two * a * b + one * c]


def _speeds(b: FloatArray, slope: FloatArray, bend: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """ż, z̈ and z⃛ from b, b′/2 and b″/2."""
    return np.sqrt(b), slope, bend * np.sqrt(b)


@dataclass(frozen=True, eq=False)
class Scaling:
    """z(t) from b(z) = ż² on pieces between knots: `squares` (K, 3) are b's coefficients, the constant first."""

    knots: FloatArray
    squares: FloatArray

    @cached_property
    def times(self) -> FloatArray:
        """When the knots are passed, (K + 1,) in s."""
        piece = np.arange(len(self.squares))
        return np.concatenate([[0.0], np.cumsum(self._spent(piece, np.diff(self.knots)))])

    def at(self, times: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
        """z, ż, z̈, z⃛ at times (n,)."""
        piece, inside = self.within(times)
        return self.knots[piece] + inside, *_speeds(*self.squared(piece, inside))

    def within(self, times: FloatArray) -> tuple[IntArray, FloatArray]:
        """The pieces at times (n,), where one begins that one, and how far inside of them z is."""
        piece = np.clip(np.searchsorted(self.times, times, "right") - 1, 0, len(self.squares) - 1)
        width, since = np.diff(self.knots)[piece], times - self.times[piece]
        inside = width * since / np.diff(self.times)[piece]
        for _ in range(_NEWTON):  # t(z) is smooth and rises, with t′ = 1/√b
            step = (self._spent(piece, inside) - since) * np.sqrt(self.squared(piece, inside)[0])
            inside = np.clip(inside - step, 0.0, width)
            if np.all(np.abs(step) <= _EXACT * width):
                break
        return piece, inside

    def when(self, z: float) -> float:
        """The time at which z is passed."""
        piece, inside = self.placed(np.array([z]))
        return float((self.times[piece] + self._spent(piece, inside))[0])

    def placed(self, z: FloatArray) -> tuple[IntArray, FloatArray]:
        """The pieces at z (n,), where one begins that one, and how far inside of them it is."""
        piece = np.clip(np.searchsorted(self.knots, z, "right") - 1, 0, len(self.squares) - 1)
        return piece, z - self.knots[piece]

    def slowed(self, factor: float) -> Scaling:
        """The same with b times a factor."""
        return Scaling(self.knots, self.squares * factor)

    def squared(self, piece: IntArray, inside: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """b, b′/2 and b″/2, so far inside of pieces."""
        zero, one, two = self.squares[piece].T
        return zero + inside * (one + inside * two), one / 2 + inside * two, two

    def _spent(self, piece: IntArray, inside: FloatArray) -> FloatArray:
        """∫ dz/√b from a piece's begin: 2/√c artanh(√c z/(√b(0) + √b(z))) with b's coefficient c of z².

        In that form nothing cancels where b begins or ends at zero; c < 0 makes it an arctan.
        """
        ends = np.sqrt(self.squares[piece, 0]) + np.sqrt(self.squared(piece, inside)[0])
        bent = self.squares[piece, 2] * (inside / ends) ** 2
        root = np.sqrt(np.abs(bent))
        with np.errstate(divide="ignore", invalid="ignore"):
            curved = np.where(bent > 0, np.arctanh(root), np.arctan(root)) / root
        return 2 * inside / ends * np.where(root > _STRAIGHT, curved, 1 + bent / 3 + bent**2 / 5)


def quickest(course: Course, knots: FloatArray, jerks: bool, ends: tuple[float, float]) -> Scaling:
    """The least time that a spline b on these knots takes, no limit passed at any instant.

    ends: what b may be at most at both ends.
    """
    programme, room = Programme(course, knots, 2 if jerks else 1, ends), Room.on(knots, course)
    found: list[Scaling] = []
    b: FloatArray | None = None
    for _ in range(_TIGHTER):
        try:
            b = _solved(programme, jerks, b)
            scaling = Scaling(knots, programme.pieces(b))
        except NumericsError:
            if found:
                break
            raise
        left = room.left(scaling)
        share = float(left.min()) * (1 - _SPARE)
        # from rest to rest it may also be hastened; elsewhere that would pass the speed at an end
        found.append(scaling.slowed(share if np.isinf(ends).all() else min(share, 1.0)))
        if share > 1 - _TIGHT:
            break
        programme.tighten(left)
    return min(found, key=lambda each: float(each.times[-1]))


def _solved(programme: Programme, jerks: bool, before: FloatArray | None) -> FloatArray:
    """The coefficients of the last programme: with jerks of several, each about the one before."""
    b = before if jerks and before is not None else programme.first(_FIRST if jerks else (_LEAST,))
    if jerks:
        b = b * programme.ease(b)
        for _ in range(_MOST_ROUNDS):
            better = programme.solved(b)
            gain = 1 - programme.time(better) / programme.time(b)
            b = better if gain > 0 else b
            if gain < _ENOUGH:
                break
    return b


# Intervals whose splines are evaluated at once: with all of them a path of 10,000 intervals would take 8 GB.
_BLOCK = 64


def splines_at(full: FloatArray, degree: int, z: FloatArray, points: int) -> list[FloatArray]:
    """By order the derivatives (n, degree + 1) of those splines on knots `full` that aren't zero at the points z."""
    from scipy.interpolate import BSpline

    count = len(full) - 2 * degree - 1
    blocks: list[list[FloatArray]] = []
    for first in range(0, count, _BLOCK):
        last = min(first + _BLOCK, count)
        basis = BSpline(full[first : last + 2 * degree + 1], np.eye(last - first + degree), degree)
        under = np.repeat(np.arange(last - first), points)[:, None] + np.arange(degree + 1)
        inside = z[first * points : last * points]
        blocks.append([np.take_along_axis(basis(inside, k), under, axis=1) for k in range(degree + 1)])
    return [np.concatenate(parts) for parts in zip(*blocks, strict=True)]


class Programme:
    """The linear programme for b's coefficients on a spline basis, its rows at the points of all intervals."""

    def __init__(
        self,
        course: Course,
        knots: FloatArray,
        degree: int,
        ends: tuple[float, float],
        cap: Callable[[FloatArray], FloatArray] | None = None,
    ) -> None:
        """The course at all points, the basis there, and what b is expected to be, which scales its coefficients.

        cap: what b is at most by what else binds it, at z (n,).

        A point lies under degree + 1 splines of the basis: `columns` (n, degree + 1) says which, `values` their
        derivatives there. So rows stay short, and a programme grows with its intervals, not with their square.
        """
        self.knots, self.degree, self.ends = knots, degree, ends
        self.full = full = self.nodes()
        self.z = (knots[:-1, None] + np.diff(knots)[:, None] * _POINTS).ravel()
        self.rates, self.limits = course(self.z)
        self.columns, self.values = self.basis(_POINTS)
        self.most = self._most(np.full(len(self.z), np.inf) if cap is None else cap(self.z))
        greville = np.array([full[i + 1 : i + 1 + degree].mean() for i in range(len(full) - degree - 1)])
        self.scale = np.interp(greville, self.z, self.most)

    def nodes(self) -> FloatArray:
        """The splines' nodes: the knots, and the ends as often again as the degree."""
        knots, degree = self.knots, self.degree
        return np.concatenate([knots[:1].repeat(degree), knots, knots[-1:].repeat(degree)])

    def basis(self, points: FloatArray) -> tuple[np.ndarray, list[FloatArray]]:
        """Which splines aren't zero at these shares of all intervals, (n, degree + 1), and derivatives by order."""
        z = (self.knots[:-1, None] + np.diff(self.knots)[:, None] * points).ravel()
        first = np.repeat(np.arange(len(self.knots) - 1), len(points))
        columns = first[:, None] + np.arange(self.degree + 1)
        return columns, splines_at(self.full, self.degree, z, len(points))

    def tighten(self, left: FloatArray) -> None:
        """Leave less of the limits on intervals, as b is to be multiplied there with less than 1 (K,)."""
        share = np.repeat(np.minimum(left, 1.0), len(_POINTS))
        self.limits = self.limits * (share ** np.array([[0.5], [1.0], [1.5]]))[:, :, None]
        self.fastest = self.fastest * share

    def _most(self, cap: FloatArray) -> FloatArray:
        """What b can be at the points by its speeds, and where nothing changes by its accelerations and jerks."""
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            shares = [(limit / np.abs(rate)) for limit, rate in zip(self.limits, self.rates, strict=True)]
        # 0/0 is a coordinate that may not move and doesn't
        by_order = [np.nan_to_num(share, nan=np.inf, posinf=np.inf).min(axis=1) for share in shares]
        self.fastest = by_order[0] ** 2
        most = np.minimum(np.minimum(self.fastest, cap), np.minimum(by_order[1], by_order[2] ** (2 / 3)))
        most = np.where(np.isfinite(most), most, np.max(most[np.isfinite(most)], initial=1.0))
        return np.minimum(most, _STRETCHED * np.median(most))

    def at(self, b: FloatArray, order: int = 0) -> FloatArray:
        """A derivative of b at the points, of coefficients b."""
        return np.einsum("nk,nk->n", self.values[order], b[self.columns])

    def time(self, b: FloatArray) -> float:
        """T."""
        return float(Scaling(self.knots, self.pieces(b)).times[-1])

    def pieces(self, b: FloatArray) -> FloatArray:
        """Power coefficients of b on the intervals, (K, 3)."""
        from scipy.interpolate import BSpline

        spline = BSpline(self.full, b, self.degree)
        # b′ and b″ jump at knots, where a spline's derivative is that of one side: they are taken in the middle
        begin, middle = self.knots[:-1], (self.knots[:-1] + self.knots[1:]) / 2
        two = spline(middle, 2) / 2 if self.degree == 2 else np.zeros(len(begin))
        half = middle - begin
        one = spline(middle, 1) - 2 * two * half
        return np.stack([spline(begin), one, two], axis=1)

    def ease(self, b: FloatArray) -> float:
        """What b has to be multiplied with so that jerks are within their limits at the points."""
        jerk = carried(self.rates, _speeds(self.at(b), self.at(b, 1) / 2, self.at(b, 2) / 2))[2]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.nan_to_num(self.limits[2] / np.abs(jerk), nan=np.inf)
        # jerks go with b^(3/2)
        return min(1.0, _EASED * float(share.min()) ** (2 / 3))

    def first(self, leasts: Sequence[float]) -> FloatArray:
        """The coefficients of the programme without jerks, with the first of these shares that leaves any."""
        for least in leasts[:-1]:
            with suppress(NumericsError):
                return self.solved(None, least)
        return self.solved(None, leasts[-1])

    @np.errstate(over="ignore", invalid="ignore")  # what isn't finite is refused
    def solved(self, last: FloatArray | None, least: float = _LEAST) -> FloatArray:
        """The coefficients of the programme about the last ones; the first one is without jerks."""
        rows, most = self.rows(last)
        where = np.tile(self.columns, (len(rows) // len(self.z), 1))
        scaled = rows * self.scale[where] / most[:, None]
        about = self.most if last is None else self.at(last)
        # −dT/db ~ b^(−3/2): the gain of a linear programme is the time's slope at the last one
        worth = np.repeat(np.diff(self.knots), len(_POINTS)) * about**-1.5
        gain = np.bincount(self.columns.ravel(), (worth[:, None] * self.values[0]).ravel()) * self.scale
        x = np.ones(len(self.scale)) if last is None else last / self.scale
        # the last coefficients stay allowed, also where easing their jerks left less than the least
        bounds = [(low, _GREATEST) for low in np.minimum(least, x)]
        for place, end in ((0, self.ends[0]), (-1, self.ends[1])):
            if np.isfinite(end):
                bounds[place] = (min(bounds[place][0], end / self.scale[place]), end / self.scale[place])
        held, near, looks = np.zeros(len(rows), dtype=bool), 0.0 if last is None else _NEAR, 0
        while True:
            # most rows never matter: those near to their bounds, and then those that are broken without them
            shares = np.einsum("rk,rk->r", scaled, x[where])
            missing = ~held & ((shares > (1 + _BROKEN if held.any() else near)) | (looks > _PATIENT))
            if not missing.any() and held.any():
                return x * self.scale
            held, looks = held | missing, looks + 1
            x = _maximum(gain / gain.max(), scaled[held], where[held], bounds)

    def rows(self, last: FloatArray | None) -> tuple[FloatArray, FloatArray]:
        """Rows (r n, degree + 1) on the points' columns, and what they may be at most."""
        zero, one = self.values[:2]
        rates, limits = self.rates[..., None], self.limits
        plain = (rates[1] * zero[:, None] + 0.5 * rates[0] * one[:, None]).transpose(1, 0, 2)
        rows, most = [zero[None], plain, -plain], [self.fastest[None], limits[1].T, limits[1].T]
        if last is not None:
            b = self.at(last)
            twisted = (
                rates[2] * zero[:, None]
                + 1.5 * rates[1] * one[:, None]
                + 0.5 * rates[0] * self.values[2][:, None]
            ).transpose(1, 0, 2)
            # J/√b ≥ J (3/2 b₀^(−1/2) − 1/2 b₀^(−3/2) b)
            tangent = 0.5 * limits[2].T[..., None] * (b**-1.5)[None, :, None] * zero
            finite = np.isfinite(limits[2].T)
            tangent[~finite] = 0.0
            rows += [twisted + tangent, tangent - twisted]
            most += [1.5 * limits[2].T * b**-0.5] * 2
        all_rows = np.concatenate(rows)
        return all_rows.reshape(-1, all_rows.shape[2]), np.concatenate(most).ravel()


def _maximum(
    gain: FloatArray, rows: FloatArray, where: np.ndarray, bounds: list[tuple[float, float]]
) -> FloatArray:
    """The x with the greatest gain·x for which all rows, on their columns `where`, are at most 1."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix

    if not (np.isfinite(rows).all() and np.isfinite(gain).all() and not np.isnan(bounds).any()):
        raise NumericsError("the path is too sharp or too long: what moves along it has no finite rates")
    starts = np.arange(len(rows) + 1) * rows.shape[1]
    matrix = csr_matrix((rows.ravel(), where.ravel(), starts), (len(rows), len(gain)))
    # the dual simplex ends in a corner of the bounds, where as many limits as possible are used to the full
    result = linprog(-gain, A_ub=matrix, b_ub=np.ones(len(rows)), bounds=bounds, method="highs-ds")
    if result.x is None:
        raise NumericsError(f"no speeds along the path keep its limits: {result.message}")
    return result.x


@dataclass(frozen=True, eq=False)
class Room:
    """A course's rates and limits at the nodes of parts of its intervals."""

    z: FloatArray
    rates: FloatArray
    limits: FloatArray

    @classmethod
    def on(cls, knots: FloatArray, course: Course) -> Room:
        """The course between these knots."""
        edges = knots[:-1, None] + np.diff(knots)[:, None] * np.arange(_PARTS + 1) / _PARTS
        begin, end = edges[:, :-1].ravel(), edges[:, 1:].ravel()
        z = begin[:, None] + (end - begin)[:, None] * (1 + chebyshev.chebpts1(_NODES)) / 2
        return cls(z.ravel(), *course(z.ravel()))

    def left(self, scaling: Scaling) -> FloatArray:
        """What b can be multiplied with on the intervals, (K,)."""
        count = len(scaling.squares)
        piece = np.repeat(np.arange(count), _PARTS * _NODES)
        by_time = carried(self.rates, _speeds(*scaling.squared(piece, self.z - scaling.knots[piece])))
        nodes = chebyshev.chebpts1(_NODES)
        series = chebyshev.chebvander(nodes, _NODES - 1).T * (2 - (np.arange(_NODES) == 0))[:, None] / _NODES
        left = np.full(count, np.inf)
        # velocities go with √b, accelerations with b, jerks with b^(3/2)
        for value, limit, power in zip(by_time, self.limits, (2.0, 1.0, 2 / 3), strict=True):
            with np.errstate(invalid="ignore"):
                share = np.where(np.isfinite(limit), value / limit, 0.0)
            parts = share.reshape(count * _PARTS, _NODES, -1)
            terms = np.abs(np.einsum("kj,pjc->kpc", series, parts))
            # the sum of all terms, and once more the last one for those that are left out
            worst = (terms.sum(axis=0) + terms[-1]).max(axis=1).reshape(count, _PARTS).max(axis=1)
            with np.errstate(divide="ignore"):
                left = np.minimum(left, worst**-power)
        return left
