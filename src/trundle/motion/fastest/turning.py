"""Starts for bases that turn within a radius: their axle, and the words that lead from stop to stop."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.modules import SLACK
from trundle.motion.fastest.problem import Problem
from trundle.motion.fastest.words import Word, words

# Words beside the quickest one that are tried, and how many times its time they may take.
_WORDS, _LONGER = 4, 1.5
# Places along a part of a word.
_ALONG = 17
# Directions closer than this (sine) are the same.
_ALONGSIDE = 1e-9


@dataclass(frozen=True)
class Axle:
    """The place on the base (m) that goes along one direction (rad) alone, and the least radius it turns within (m)."""

    place: complex
    direction: float
    radius: float

    def pose(self, x: float, y: float, heading: float) -> tuple[complex, float]:
        """Where it stands and points with the base at a pose."""
        return complex(x, y) + cmath.exp(1j * heading) * self.place, heading + self.direction

    def words(self, begin: tuple[complex, float], end: tuple[complex, float]) -> list[Word]:
        """Those from one pose of it to another one, the shortest first."""
        ahead = cmath.exp(-1j * begin[1]) / self.radius
        return words((end[0] - begin[0]) * ahead, end[1] - begin[1])


def axle(problem: Problem) -> tuple[complex, complex] | None:
    """The place (m) that goes in one direction alone, nearest to the origin, and that direction, of length 1.

    None for a base that goes aside, or turns about one place alone.
    """
    if len(problem.basis) != 2 or not problem.basis[:, 2].any():
        return None
    first, second = problem.basis * [1.0, 1.0, 1 / problem.size]
    ahead = first * second[2] - second * first[2]
    along = complex(ahead[0], ahead[1])
    along /= abs(along)
    turn = max((first, second), key=lambda twist: abs(twist[2]))
    velocity = complex(turn[0], turn[1]) / float(turn[2])
    return (1j * velocity * along.conjugate()).real * along, along


def axle_of(problem: Problem) -> Axle | None:
    """The axle of a base that can neither go aside nor turn in place; None for the others."""
    held = axle(problem)
    if held is None:
        return None
    place, along = held
    # the way round that points wheels into their ranges is forward
    for forward in (along, -along):
        if (ends := _bent(problem, place, forward)) is not None:
            # centres of rotation are no nearer than these to the place between them
            left, right = (1 / end for end in ends)
            middle = place + 1j * forward * (left + right) / 2
            return Axle(middle, cmath.phase(forward), (left - right) / 2)
    return None


def _bent(problem: Problem, place: complex, along: complex) -> tuple[float, float] | None:
    """The greatest curvatures (1/m) to the left and right; None where steering ranges don't hold straight on, or leave
    a centre of rotation on the place's own side of the axle.
    """
    drive, left, right = problem.drive, math.inf, -math.inf
    for at, ends in zip(drive.places.tolist(), drive.ranges.T.tolist(), strict=True):
        if not ends[1] - ends[0] <= math.pi + SLACK:
            continue
        low, high = (cmath.exp(1j * end) for end in ends)
        if _cross(low, along) < _ALONGSIDE or _cross(along, high) < _ALONGSIDE:
            return None
        about = 1j * (at - place)
        for end in (low, high):
            if abs(_cross(end, about)) > _ALONGSIDE * abs(about):
                bent = -_cross(end, along) / _cross(end, about)
                left, right = (min(left, bent), right) if bent > 0 else (left, max(right, bent))
    return (left, right) if left < math.inf and right > -math.inf else None


def _cross(a: complex, b: complex) -> float:
    return (a.conjugate() * b).imag


def curved(
    problem: Problem, held: Axle, headings: list[float]
) -> Iterator[tuple[str, list[list[FloatArray]]]]:
    """Names of starts, and the base's poses (n, 3) on the parts of all their legs.

    The k-th one takes the k-th best word on every leg: the quickest of those that change direction as often, and begin
    as they do, in the time of a car that stops at cusps.
    """
    poses = [
        held.pose(stop.x, stop.y, heading) for stop, heading in zip(problem.stops, headings, strict=True)
    ]
    ranked = [_ranked(problem, held, *ends) for ends in pairwise(poses)]
    for k in range(max(map(len, ranked), default=0)):
        chosen = [own[min(k, len(own) - 1)] for own in ranked if own]
        if len(chosen) == len(ranked):
            legs = [_poses(word, held, begin) for word, begin in zip(chosen, poses[:-1], strict=True)]
            yield ", then ".join(map(_named, chosen)), legs


def _ranked(
    problem: Problem, held: Axle, begin: tuple[complex, float], end: tuple[complex, float]
) -> list[Word]:
    """The best words from one pose of the axle to another one, the quickest first."""
    speed, acceleration, _ = problem.drive.rolling.min(axis=1)
    best: dict[tuple[int, bool], Word] = {}
    for word in held.words(begin, end):
        best.setdefault((word.cusps, word.backward), word)

    def time(word: Word) -> float:
        return float(word.length * held.radius / speed + word.cusps * speed / acceleration)

    ranked = sorted(best.values(), key=time)[:_WORDS]
    return [word for word in ranked if time(word) <= _LONGER * time(ranked[0])]


def _poses(word: Word, held: Axle, begin: tuple[complex, float]) -> list[FloatArray]:
    """The base's poses on the parts of a word."""
    parts: list[FloatArray] = []
    for place in range(len(word.lengths)):
        z, heading = word.part(place, np.linspace(0.0, 1.0, _ALONG), (begin[0] / held.radius, begin[1]))
        begin = complex(z[-1]) * held.radius, float(heading[-1])
        base = z * held.radius - np.exp(1j * (heading - held.direction)) * held.place
        parts.append(np.column_stack([base.real, base.imag, heading - held.direction]))
    return parts


def _named(word: Word) -> str:
    """Such as L+ S+ R-: left, straight and right, forward and backward."""
    letters = {1: "L", 0: "S", -1: "R"}
    parts = zip(word.steering, word.lengths, strict=True)
    return " ".join(letters[s] + ("+" if length > 0 else "-") for s, length in parts)
