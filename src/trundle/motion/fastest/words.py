"""Ways of a car that turns within a radius: arcs and straight lines, forward and backward (Reeds and Shepp's words).

A circle that a car drives on to the left (s = 1) or right (s = −1) has its centre at c = z + i s e^{iθ}, in radii. What
leads from the first circle to the last one is c₁ − c₀; a heading where two parts meet follows from it.
"""

from __future__ import annotations

import math
from cmath import exp, phase
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from trundle.arrays import ComplexArray, FloatArray

_TURN = 2 * math.pi
# Circles whose centres are no farther apart (radii) are the same: any direction leads from one to the other.
_SAME = 1e-12
# Parts this much shorter than a radius don't count.
_NONE = 1e-9


@dataclass(frozen=True)
class Word:
    """Parts of a way: left (1), straight (0) or right (−1), and how far (radii), below 0 backward."""

    steering: tuple[int, ...]
    lengths: tuple[float, ...]

    @property
    def length(self) -> float:
        """Of all parts, in radii."""
        return sum(map(abs, self.lengths))

    @property
    def cusps(self) -> int:
        """How often it changes between forward and backward."""
        return sum(a * b < 0 for a, b in pairwise(self.lengths))

    @property
    def backward(self) -> bool:
        """Whether it begins so."""
        return self.lengths[0] < 0

    def part(
        self, place: int, shares: FloatArray, begin: tuple[complex, float]
    ) -> tuple[ComplexArray, FloatArray]:
        """Places (n,), complex, and headings (n,) at shares of a part that begins at a place with a heading."""
        z, theta = begin
        s, at = self.steering[place], self.lengths[place] * shares
        if not s:
            return z + at * np.complex128(exp(1j * theta)), theta + 0 * at
        center = z + 1j * s * exp(1j * theta)
        return center - 1j * s * np.exp(1j * (theta + s * at)), theta + s * at


def words(goal: complex, theta: float) -> list[Word]:
    """Words from (0, 0, 0) to a place (radii) and a heading (rad), the shortest first.

    All that Reeds and Shepp need for the shortest way, and those of Dubins: forward, and backward, without a cusp.

    References
    ----------
    Reeds and Shepp 1990, "Optimal paths for a car that goes both forwards and backwards", Pacific Journal of
    Mathematics 145(2), theorem 8. Dubins 1957, American Journal of Mathematics 79(3).
    """
    found = {}
    for first, last in product((1, -1), repeat=2):
        between = goal + 1j * last * exp(1j * theta) - 1j * first
        for steering, headings, straight in (*_lined(between, first, last), *_circled(between, first, last)):
            turned = [b - a for a, b in pairwise((0.0, *headings, theta))]
            for way in (0, 1, -1):
                word = _word(steering, turned, straight, way)
                if word is not None:
                    found[word] = word.length
    return sorted(found, key=found.__getitem__)


_Curve = tuple[tuple[int, ...], tuple[float, ...], float]


def _word(steering: Sequence[int], turned: Sequence[float], straight: float, way: int) -> Word | None:
    """The word of turns, any whole ones more: the shortest one (0), all forward (1) or backward (−1); None for none."""
    lengths: list[tuple[int, float]] = []
    for s, turn in zip(steering, turned, strict=True):
        length = math.remainder(s * turn, _TURN) if s else straight
        if s and way and way * length < -_NONE:
            length += way * _TURN
        if way * length < -_NONE:
            return None
        if abs(length) > _NONE:
            lengths.append((s, length))
    return Word(*map(tuple, zip(*lengths, strict=True))) if lengths else None  # pyright: ignore[reportArgumentType]


def _lined(between: complex, first: int, last: int) -> Iterator[_Curve]:
    """C S C, and the same with an arc of a quarter behind the first or before the last one: steering, headings where
    parts meet, and the straight part's length.

    c₁ − c₀ = (2 σ + u + i (s_b − s_a) + 2 σ′) e^{iψ}, ψ the line's heading.
    """
    for before, behind in product((0, 1, -1), repeat=2):
        a, b = -first if before else first, -last if behind else last
        across = b - a
        square = abs(between) ** 2 - across**2
        if square < -_SAME:
            continue
        along = math.sqrt(max(square, 0.0))
        for sign in (1, -1):
            reached = complex(sign * along, across)
            psi = phase(between / reached) if abs(reached) > _SAME else 0.0
            headings = [psi, psi]
            steering = [first, 0, last]
            if before:
                steering.insert(1, a)
                headings.insert(0, psi + first * before * math.pi / 2)
            if behind:
                steering.insert(-1, b)
                headings.append(psi - last * behind * math.pi / 2)
            yield tuple(steering), tuple(headings), sign * along - 2 * before - 2 * behind


def _circled(between: complex, first: int, last: int) -> Iterator[_Curve]:
    """C C C, and C C C C whose inner arcs are as long, by the same names.

    c₁ − c₀ = e (1 − e^{iδ}), or e (1 − e^{iδ} + e^{i(δ + δ′)}) with δ′ = ±δ: |e| = 2, δ what an inner arc turns.
    """
    apart = abs(between)
    if apart < _SAME:
        return
    turns: list[tuple[float, ...]] = []
    if first == last:
        turns = [(2 * math.asin(apart / 4),)] if apart <= 4 else []
    else:
        both = [(1 + sign * apart / 2) / 2 for sign in (1, -1)]
        turns = [(math.acos(cosine),) * 2 for cosine in both if abs(cosine) <= 1]
        against = (5 - apart**2 / 4) / 4
        turns += [(math.acos(against), -math.acos(against))] if abs(against) <= 1 else []
    for turn, sign in product(turns, (1, -1)):
        inner = np.cumsum([0.0, *(sign * angle for angle in turn)])
        reached = complex(np.sum(np.exp(1j * inner) * (-1.0) ** np.arange(len(inner))))
        begin = phase(1j * first * between / reached) if abs(reached) > _SAME else 0.0
        steering = tuple(first * (-1) ** k for k in range(len(turn) + 2))
        yield steering, tuple((begin + inner).tolist()), 0.0
