"""Which ways a twist's direction may go: straight, along the modules' angles, through a module's axis; over time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from trundle.arrays import FloatArray
from trundle.motion.drive.drive import Drive
from trundle.motion.pieces.profiles import move, move_time
from trundle.motion.planning.courses import Crossing, end_points, pinned
from trundle.motion.planning.splines import CUBIC, INTERVALS, greville

# Points of a way. From one to the next a wheel has to turn by less than half a turn, as the nearest turn is taken. All
# ways, 2 (2 + 12 m) of them, are compared at all points, so more points cost time in every plan.
_POINTS = 31
_SHARE = np.linspace(0.0, 1.0, _POINTS)
# A crossing's place on the way and how far the way is drawn to it; both are only where polishing begins.
_THROUGH = [(place, pull) for place in (0.35, 0.5, 0.65) for pull in (-1.0, -0.5, 0.5, 1.0)]
# Knots between a crossing and the ends: the conditions at it are of a uniform spline, and ends are clamped.
_MARGIN = 3


@dataclass(frozen=True, eq=False)
class Way:
    """A way for the direction: what it is called, points (n, 3) on it, how far they are (in s, at the full
    steering rate), and the least time of that distance.

    `sign` is −1 where it leads to the opposite of the twist, so that the speed changes its sign at some moment.
    """

    kind: str
    sign: int
    points: FloatArray
    reached: FloatArray
    crossing: tuple[tuple[int, float], ...]
    estimate: float


@dataclass(frozen=True)
class Unit:
    """The strictest limits of steering, in units of the modules' largest rates."""

    speed: float
    acceleration: float
    jerk: float


def unit_of(drive: Drive) -> Unit:
    """Limits of a way's distance, which no module's angle exceeds."""
    rate = _weights(drive)
    return Unit(
        1.0 if np.isfinite(drive.steering[0]).any() else np.inf,
        float((drive.steering[1] / rate).min()),
        float((drive.steering[2] / rate).min()),
    )


def _weights(drive: Drive) -> FloatArray:
    """The largest rates of steering (m,); 1 rad/s where none is declared, so that turns still compare."""
    return np.where(np.isfinite(drive.steering[0]), drive.steering[0], 1.0)


def ways(drive: Drive, start: FloatArray, end: FloatArray) -> list[Way]:
    """Ways from a direction to another one or its opposite, the best of every kind, those first that seem fastest."""
    first, last = start / np.linalg.norm(start), end / np.linalg.norm(end)
    kinds, factors = _kinds(len(drive.places))
    curves = []
    for sign in (1, -1):
        corners = [np.broadcast_to(corner, drive.axes.shape) for corner in (first, drive.axes, sign * last)]
        through = _parabolas() @ np.stack(corners, axis=1)[:, None]
        curves += [
            (first + _SHARE[:, None] * (sign * last - first))[None],
            _along_angles(drive, first, sign * last)[None],
            through.reshape(-1, _POINTS, 3),
        ]
    points = np.concatenate(curves)
    reached = _distances(drive, points, factors)
    unit = unit_of(drive)
    times = move_time(reached[:, -1], unit.speed, unit.acceleration, unit.jerk)
    still = np.flatnonzero(drive.still(drive.velocities(last)))
    fastest = []
    for group in _groups(len(drive.places)):
        best = group.start + int(times[group].argmin())
        kind, sign, crossing = kinds[best]
        if not (crossing and crossing[0][0] in still):
            fastest.append(Way(kind, sign, points[best], reached[best], crossing, float(times[best])))
    return sorted(fastest, key=lambda way: way.estimate)


@lru_cache
def _parabolas() -> FloatArray:
    """(ways, n, 3): the shares of start, axis and end in the points of the ways through an axis."""
    t = _SHARE
    return np.array(
        [
            np.stack(
                [
                    (t - place) * (t - 1) / place,
                    pull * t * (t - 1) / (place * (place - 1)),
                    t * (t - place) / (1 - place),
                ],
                axis=1,
            )
            for place, pull in _THROUGH
        ]
    )


@lru_cache
def _groups(modules: int) -> list[slice]:
    """Which of `_kinds` are the same but for where and how far they are drawn."""
    through = len(_THROUGH)
    half = 2 + modules * through
    groups = []
    for start in (0, half):
        groups += [slice(start, start + 1), slice(start + 1, start + 2)]
        groups += [slice(begin, begin + through) for begin in range(start + 2, start + half, through)]
    return groups


@lru_cache
def _kinds(modules: int) -> tuple[list[tuple[str, int, tuple[tuple[int, float], ...]]], FloatArray]:
    """What all ways are called, and factors (ways, n − 1, m) that turn a crossing's velocity back: there its module's
    velocity turns round and its angle doesn't.
    """
    kinds: list[tuple[str, int, tuple[tuple[int, float], ...]]] = []
    for sign in (1, -1):
        kinds += [("line", sign, ()), ("angles", sign, ())]
        kinds += [("axis", sign, ((module, place),)) for module in range(modules) for place, _ in _THROUGH]
    factors = np.ones((len(kinds), _POINTS - 1, modules))
    for way, (_, _, crossing) in enumerate(kinds):
        for module, place in crossing:
            side = np.sign(np.where(np.abs(_SHARE - place) < 1e-9, 0.0, _SHARE - place))
            factors[way, :, module] = side[1:] * side[:-1]
    return kinds, factors


def _along_angles(drive: Drive, first: FloatArray, last: FloatArray) -> FloatArray:
    """The twists that suit modules best whose angles all change evenly: least eigenvectors of the wheels' rows."""
    start, end = drive.velocities(first), drive.velocities(last)
    turn = np.angle(end * start.conj())
    normal = 1j * np.exp(1j * (np.angle(start) + _SHARE[:, None] * turn))
    rows = np.real(normal.conj()[:, :, None] * drive.map.T)
    points = np.linalg.eigh(rows.transpose(0, 2, 1) @ rows)[1][:, :, 0]
    # an eigenvector's sign is chance: successive points keep to one side
    same = np.sign((points[1:] * points[:-1]).sum(axis=1)) + 0.0
    points[1:] *= np.cumprod(np.where(same == 0, 1.0, same))[:, None]
    points *= 1.0 if points[0] @ first >= 0 else -1.0
    return np.concatenate([first[None], points[1:-1], last[None]])


def _distances(drive: Drive, points: FloatArray, factors: FloatArray) -> FloatArray:
    """(ways, n): the steering on the way, at the full rate of whoever has most to turn (a smooth largest)."""
    w = drive.velocities(points)
    # at the centre of rotation a direction is chance: any small velocity does, but 0 has no angle
    w[np.abs(w) < 1e-12] = 1e-12
    steps = w[:, 1:] * w[:, :-1].conj() * factors
    # a module that stands still at the end has no angle to reach
    steps[:, -1, drive.still(w[0, -1])] = 1.0
    turns = np.arctan2(steps.imag, steps.real) / _weights(drive)
    squares = turns * turns
    lengths = (squares**2 * squares**2).sum(axis=2) ** (1 / 8)
    return np.concatenate([np.zeros((len(points), 1)), np.cumsum(lengths, axis=1)], axis=1)


def laid(drive: Drive, way: Way) -> tuple[FloatArray, Crossing]:
    """A way's control points (K + 3, 3), taken in least time by whoever steers most, and the knots of its crossings."""
    unit = unit_of(drive)
    length = way.reached[-1]
    times = greville(3)
    crossing: Crossing = ()
    if length > 1e-9:
        profile = move(length, unit.speed, unit.acceleration, unit.jerk)
        whole = profile.duration
        if way.crossing:
            module, place = way.crossing[0]
            shares = np.linspace(0, 1, 101)
            reach = np.interp(place, _SHARE, way.reached)
            time = np.interp(reach, profile.at(shares * whole), shares)
            knot = int(np.clip(round(time * INTERVALS), _MARGIN, INTERVALS - _MARGIN))
            crossing = ((module, knot),)
            times = np.interp(times, [0, knot / INTERVALS, 1], [0, time, 1])
        distance = profile.at(times * whole) if whole else times * length
    else:
        distance = times * length
    # interp needs rising places, also where no wheel steers from one point to the next
    along = np.interp(distance, way.reached + 1e-12 * np.arange(_POINTS), _SHARE)
    controls = np.stack([np.interp(along, _SHARE, coordinate) for coordinate in way.points.T], axis=1)
    ends = end_points(drive)
    controls[:ends], controls[CUBIC - ends :] = way.points[0], way.points[-1]
    still = np.flatnonzero(drive.still(drive.velocities(way.points[-1])))
    crossing += tuple((int(module), INTERVALS) for module in still)
    return pinned(drive, controls, crossing), crossing
