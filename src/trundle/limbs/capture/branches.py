"""Which of the postures with one pose is meant: whole turns, and the two branches of three axes through one point.

Meant is the posture with the fewest angles beyond their usual range, then the least excess, then the nearest to another
one. What leads to the same pose is seen on the markers, whatever kinds of joints lead there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from operator import lt

import numpy as np

from trundle.arrays import BoolArray, FloatArray, IntArray
from trundle.limbs.capture.marker_model import MARGIN, MarkerModel
from trundle.scalars import Scalar, atan2, cos, sin
from trundle.spatial.vectors import Vector, apply, axis_rotation, cross, dot

# Of the markers' distances from the origin, how near the same poses bring them to each other.
_SAME = 1e-9
_SEED = 20250101


@dataclass(frozen=True, eq=False)
class _Triple:
    """Three angles about axes through one point, R = R₁(a) R₂(b) R₃(c): the axes in the world at a posture."""

    columns: list[int]
    axes: tuple[Vector, Vector, Vector]
    at: float

    def second(self, q: FloatArray) -> FloatArray:
        """The postures (k, c) of the other branch, e₁ · R₂(b) e₃ = A cos b + B sin b + const at b' = 2 atan2(B, A) − b.

        About square axes that is (a + π, π − b, c + π).
        """
        first, middle, last = self.axes
        b = q[:, self.columns[1]] - self.at
        mirrored = 2 * _about(middle, last, first) - b

        def turned(angle: FloatArray, vector: Vector) -> Vector:
            return apply(axis_rotation(middle, cos(angle), sin(angle)), vector)

        other = q.copy()
        other[:, self.columns[0]] += _about(first, turned(mirrored, last), turned(b, last))
        other[:, self.columns[1]] += mirrored - b
        other[:, self.columns[2]] += _about(last, turned(-b, first), turned(-mirrored, first))
        return other


def _about(axis: Vector, start: Vector, end: Vector) -> Scalar:
    """The angle about a unit axis from one vector to another."""
    return atan2(dot(axis, cross(start, end)), dot(start, end) - dot(axis, start) * dot(axis, end))


@dataclass(frozen=True, eq=False)
class Branches:
    """Of a model which coordinates' whole turns change no pose (c,), and which three have two branches."""

    model: MarkerModel
    turning: BoolArray
    triples: list[_Triple]

    def rank(self, q: FloatArray) -> tuple[FloatArray, FloatArray]:
        """How many angles of postures (k, c) are beyond their usual ranges, and by how much (rad) together."""
        beyond = self.model.beyond(q)
        return (beyond > 0).sum(axis=1), beyond.sum(axis=1)

    def choose(self, q: FloatArray, near: FloatArray) -> FloatArray:
        """The postures (k, c) of the same poses that are meant, of equal ones the nearest to others (k, c)."""
        q = self._unturned(q, near)
        for triple in self.triples:
            other = self._unturned(triple.second(q), near)
            keys = [(*self.rank(each), ((each - near) ** 2).sum(axis=1)) for each in (other, q)]
            better = are_less(*keys) & self._inside(other).all(axis=1)
            q[better] = other[better]
        return q

    def turned(self, q: FloatArray, near: FloatArray) -> FloatArray:
        """Postures (k, c) with angles turned to usual ones, and there near others (k, c), to the same pose or not."""
        low, high = self.model.least - MARGIN + np.pi, self.model.greatest + MARGIN - np.pi
        # In the middle of a range that is narrower than a turn, where these two are on either side of it.
        ends = np.minimum(np.maximum(near, low), high), np.maximum(np.minimum(near, high), low)
        return q + 2 * np.pi * np.round((sum(ends) / 2 - q) / (2 * np.pi))

    def _unturned(self, q: FloatArray, near: FloatArray) -> FloatArray:
        """The same where that leads to the same poses."""
        turned = self.turned(q, near)
        return np.where(self.turning & self._inside(turned), turned, q)

    def _inside(self, q: FloatArray) -> BoolArray:
        return (q >= self.model.lower) & (q <= self.model.upper)


def are_less(one: Iterable[FloatArray], other: Iterable[FloatArray]) -> BoolArray:
    """Whether keys (k,), the first of which counts most, are less than others."""
    return np.array([*map(lt, zip(*one, strict=True), zip(*other, strict=True))], dtype=bool)


def branches_of(model: MarkerModel) -> Branches:
    """What leads a model's markers to the same places, seen at a random posture."""
    posture = np.random.default_rng(_SEED).uniform(-1, 1, (1, len(model.names)))
    q = model.unit(posture)
    angles = [k for k, axis in model.motions_of if axis < 0 and not model.slides[k]]
    turned = q + 2 * np.pi * np.eye(len(model.names))[angles]
    turning = np.zeros(len(model.names), dtype=bool)
    turning[angles] = _same(model, turned, q)
    return Branches(model, turning, list(_triples(model, q, np.flatnonzero(turning))))


def _same(model: MarkerModel, postures: FloatArray, q: FloatArray) -> BoolArray:
    """Whether markers are at postures (k, c) where they are at q (1, c)."""
    places, _ = model.evaluate(np.concatenate([q, postures]))
    off = np.abs(places[1:] - places[0]).max(axis=1)
    return off < _SAME * np.abs(places[0]).max()


def _triples(model: MarkerModel, q: FloatArray, columns: IntArray) -> Iterator[_Triple]:
    """Of the turning coordinates those three in a row that move the same markers, and have a second branch."""
    places, slopes = (each[0].reshape(-1, 3, *each.shape[2:]) for each in model.evaluate(q))
    moved = (slopes != 0).any(axis=1)
    rows: dict[bytes, list[int]] = defaultdict(list)
    for k in columns:
        rows[moved[:, k].tobytes()].append(int(k))
    for row in rows.values():
        for three in zip(row, row[1:], row[2:], strict=False):
            at = moved[:, three[0]]
            axes = _axes(places[at], slopes[at][:, :, list(three)])
            triple = _Triple(list(three), axes, q[0, three[1]])
            if _same(model, triple.second(q), q)[0]:
                yield triple


def _axes(places: FloatArray, slopes: FloatArray) -> tuple[Vector, Vector, Vector]:
    """The axes about which points at places (m, 3) turn with slopes (m, 3, 3): ω with slope = ω × place + const."""
    arm, rate = places - places.mean(axis=0), slopes - slopes.mean(axis=0)
    inertia = (arm**2).sum() * np.eye(3) - arm.T @ arm
    moment = np.cross(arm[:, :, None], rate, axis=1).sum(axis=0)
    first, middle, last = (tuple(axis) for axis in (np.linalg.pinv(inertia) @ moment).T.tolist())
    return first, middle, last
