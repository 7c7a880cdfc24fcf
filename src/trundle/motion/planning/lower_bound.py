"""A time below which no motion gets from one twist to another one (docs/planner.md has the proof)."""

from __future__ import annotations

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.mechanics.steering import STILL
from trundle.motion.drive.drive import Drive
from trundle.motion.pieces.least_times import change_time, move_time

# Half turns by which the angle on the way and the one at the end may differ from the nearest, (2, 9).
_TURNS = np.pi * np.array([[a, b] for a in (-1.0, 0.0, 1.0) for b in (-1.0, 0.0, 1.0)]).T


def lower_bound(drive: Drive, start: FloatArray, end: FloatArray, angles: FloatArray) -> float:
    """The least time of the cheapest class of motions: all wheels as they are, all reversed, or some of them.

    Parameters
    ----------
    drive : Drive
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
    steered = ~drive.still(u1)
    turn = np.where(steered, np.angle(u1 * np.exp(-1j * angles)), 0.0)
    same = np.maximum(_steer(drive, turn), _drive(drive, s1 - s0))
    back = np.maximum(np.where(steered, _steer(drive, np.pi - np.abs(turn)), 0.0), _drive(drive, s1 + s0))
    apart = float(np.minimum(same, back).max())
    if not steered.all() or drive.still(u0).any():
        return apart
    # with the signs of s0 the classes are: as many as roll forward must still do so, or all the other way round
    kept = np.where(s0 >= 0, same, back)
    turned = np.where(s0 >= 0, back, same)
    rest = max(apart, float(_drive(drive, s0).max() + _drive(drive, s1).max()))
    through = _through_axes(drive, s0, u1, angles)
    return max(apart, min(float(kept.max()), float(turned.max()), rest, through))


def _through_axes(drive: Drive, s0: FloatArray, u1: ComplexArray, angles: FloatArray) -> float:
    """With the centre of rotation on some module's axis at some moment: all others then stand across the line to it.

    Arrays are (k, m, ·) of the module whose axis it is and the others, and (…, 9) of which of parallel angles each
    passes there and comes to.
    """
    offsets = drive.places - drive.places[:, None]
    apart = np.abs(offsets) > STILL  # as velocities when turning about one another at 1 rad/s
    across = np.angle(1j * np.where(apart, offsets, 1.0))
    before = np.where(apart, _halved(across - angles), 0.0)[..., None]
    behind = np.where(apart, _halved(np.angle(u1) - across), 0.0)[..., None]
    limits = drive.steering[:, None, :, None]
    x, y = before + _TURNS[0], behind + _TURNS[1]
    reached, left = _reach(x, limits), _reach(y, limits)
    least = np.stack([reached, left]).min(axis=3)
    speeds = np.stack([np.abs(s0), np.abs(u1)])
    halves = np.maximum(least.max(axis=2), _slow(speeds, drive.rolling[1:]))
    straight = move_time(np.abs(x) + np.abs(y), *limits)
    whole = np.where(x * y >= 0, straight, reached + left).min(axis=2) * apart
    return float(np.maximum(halves.sum(axis=0), whole.max(axis=1)).min())


def _halved(angle: FloatArray) -> FloatArray:
    """The angle between two lines, in [−π/2, π/2)."""
    return (angle + np.pi / 2) % np.pi - np.pi / 2


def _reach(angle: FloatArray, limits: FloatArray) -> FloatArray:
    """Never more than the time in which an angle is reached from rest, at any rate there."""
    size = np.abs(angle)
    return np.maximum.reduce([size / limits[0], np.sqrt(2 * size / limits[1]), np.cbrt(6 * size / limits[2])])


def _slow(speed: FloatArray, limits: FloatArray) -> FloatArray:
    """Never more than the time in which a speed is lost, at any acceleration there."""
    return np.maximum(speed / limits[0], np.sqrt(2 * speed / limits[1]))


def _steer(drive: Drive, turn: FloatArray) -> FloatArray:
    return move_time(turn, *drive.steering)


def _drive(drive: Drive, change: FloatArray) -> FloatArray:
    return change_time(change, *drive.rolling[1:])
