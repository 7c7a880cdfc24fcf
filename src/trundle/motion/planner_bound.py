"""A time below which no motion gets from one twist to another one (docs/planner.md has the proof)."""

from __future__ import annotations

import itertools

import numpy as np

from trundle.motion.least_times import change_time, move_time
from trundle.motion.planner_courses import ComplexArray, SteeredDrive
from trundle.results.arrays import FloatArray

_STILL = 1e-9
_PARALLEL = np.array([-1.0, 0.0, 1.0])  # turns by half a turn that may come to an angle on its way


def lower_bound(drive: SteeredDrive, start: FloatArray, end: FloatArray, angles: FloatArray) -> float:
    """The least time of the cheapest class of motions: all wheels as they are, all reversed, or some of them.

    Parameters
    ----------
    drive : SteeredDrive
    start, end : array (3,)
        The twists.
    angles : array (m,), rad
        Of the modules at the start.

    Returns
    -------
    float
        In s.
    """
    u0, u1 = drive.velocities(start), drive.velocities(end)
    s0, s1 = np.real(u0 * np.exp(-1j * angles)), np.abs(u1)
    steered = s1 > _STILL
    turn = np.where(steered, np.angle(u1 * np.exp(-1j * angles)), 0.0)
    same = np.maximum(_steer(drive, turn), _drive(drive, s1 - s0))
    back = np.maximum(np.where(steered, _steer(drive, np.pi - np.abs(turn)), 0.0), _drive(drive, s1 + s0))
    apart = float(np.minimum(same, back).max())
    if not steered.all() or (np.abs(u0) <= _STILL).any():
        return apart
    # with the signs of s0 the classes are: as many as roll forward must still do so, or all the other way round
    kept = np.where(s0 >= 0, same, back)
    turned = np.where(s0 >= 0, back, same)
    rest = max(apart, float(_drive(drive, s0).max() + _drive(drive, s1).max()))
    through = [_through_axis(drive, module, s0, u1, angles) for module in range(len(angles))]
    return max(apart, min(float(kept.max()), float(turned.max()), rest, *through))


def _through_axis(
    drive: SteeredDrive, module: int, s0: FloatArray, u1: ComplexArray, angles: FloatArray
) -> float:
    """With the centre of rotation on a module's axis at some moment: all others then stand across the line to it."""
    offsets = drive.places - drive.places[module]
    others = np.flatnonzero(np.abs(offsets) > _STILL)
    across = np.angle(1j * offsets[others])
    before = _halved(across - angles[others])
    behind = _halved(np.angle(u1[others]) - across)
    limits = drive.steering[:, others]
    first = np.max(_reach(before, limits), initial=0.0)
    second = np.max(_reach(behind, limits), initial=0.0)
    _, acceleration, jerk = drive.rolling[:, module]
    first = max(first, _slow(abs(s0[module]), acceleration, jerk))
    second = max(second, _slow(abs(u1[module]), acceleration, jerk))
    both = np.full(len(others), np.inf)
    for a, b in itertools.product(_PARALLEL, repeat=2):
        x, y = before + a * np.pi, behind + b * np.pi
        straight = move_time(np.abs(x) + np.abs(y), *limits)
        around = _reach(x, limits) + _reach(y, limits)
        both = np.minimum(both, np.where(x * y >= 0, straight, around))
    return max(float(first + second), float(np.max(both, initial=0.0)))


def _halved(angle: FloatArray) -> FloatArray:
    """The angle between two lines, in [−π/2, π/2)."""
    return (angle + np.pi / 2) % np.pi - np.pi / 2


def _reach(angle: FloatArray, limits: FloatArray) -> FloatArray:
    """Never more than the time in which an angle is reached from rest, at any rate there."""
    size = np.abs(angle)
    return np.maximum.reduce([size / limits[0], np.sqrt(2 * size / limits[1]), np.cbrt(6 * size / limits[2])])


def _slow(speed: float, acceleration: float, jerk: float) -> float:
    """Never more than the time in which a speed is lost, at any acceleration there."""
    return max(speed / acceleration, float(np.sqrt(2 * speed / jerk)))


def _steer(drive: SteeredDrive, turn: FloatArray) -> FloatArray:
    return move_time(turn, *drive.steering)


def _drive(drive: SteeredDrive, change: FloatArray) -> FloatArray:
    return change_time(change, *drive.rolling[1:])
