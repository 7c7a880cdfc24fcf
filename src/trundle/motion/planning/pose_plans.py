"""To a pose at rest: one twist along an arc, or straight on and a turn in place, after braking and steering."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.mechanics.steering import STILL
from trundle.motion.drive.drive import Drive
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.pieces.motion import Motion, Piece
from trundle.motion.pieces.pieces import straight
from trundle.motion.pieces.profiles import move
from trundle.motion.planning.search import Candidate, Transition, decided, nearest_turns, transition, turning

Pose = tuple[float, float, float]
# A displacement in the base's frame (m), and a turn (rad).
Arc = tuple[complex, float]


def arc_to(
    who: Kinematics, drive: Drive, twist: FloatArray, angles: FloatArray, begin: Pose, target: FloatArray
) -> Transition:
    """The fastest way to a pose: one arc, or a straight line before or after a turn in place, either way round."""
    braking = transition(drive, twist, np.zeros(3), angles)
    here = begin
    if braking.pieces:
        x, y, theta = Motion(who, braking.pieces, begin).poses([braking.duration])[0].tolist()
        here = (x, y, theta)
    apart = complex(target[0] - here[0], target[1] - here[1]) * np.exp(-1j * here[2])
    turn = math.remainder(target[2] - here[2], 2 * math.pi)
    options: list[tuple[str, tuple[Piece, ...]]] = []
    lost: list[Candidate] = []
    for name, arcs in _ways(apart, turn):
        moved = _arcs(drive, arcs, braking.end_angles)
        if moved is None:
            lost.append(Candidate(name, math.inf, "a steering_range holds no angle for it"))
        else:
            options.append((name, (*braking.pieces, *moved)))
    if not options:
        raise InputError(
            "no arc leads to the pose within the steering ranges",
            key="target",
            hint="plan through a pose between",
        )
    bound = braking.duration if np.abs(twist).max() else chord_time(drive, apart, turn)
    return decided(options, lost, angles, bound)


def _ways(apart: complex, turn: float) -> Iterator[tuple[str, tuple[Arc, ...]]]:
    """Names and arcs of all that leads to a pose: displacements in the base's frame with turns, one after the other."""
    for way, along in (("shorter", turn), ("longer", turn - math.copysign(2 * math.pi, turn))):
        told = f"the {way} turn, {math.degrees(along):.4g}°"
        yield f"arc with {told}", ((apart, along),)
        if abs(apart) > STILL and abs(along) > STILL:  # what would take 1 s at a speed that counts as rest
            yield f"straight, then {told}", ((apart, 0.0), (0j, along))
            yield f"{told}, then straight", ((0j, along), (apart * np.exp(-1j * along), 0.0))


def _arcs(drive: Drive, arcs: tuple[Arc, ...], angles: FloatArray) -> tuple[Piece, ...] | None:
    """Arcs one after the other; None where a steering range forbids one."""
    pieces: list[Piece] = []
    for apart, turn in arcs:
        steps = _arc(drive, apart, turn, angles)
        if steps is None:
            return None
        pieces += steps
        angles = pieces[-1].end_angles if pieces else angles
    return tuple(pieces)


def _arc(drive: Drive, apart: complex, turn: float, angles: FloatArray) -> tuple[Piece, ...] | None:
    """Steer, and move along the arc; None where a steering range forbids it."""
    # the logarithm of the motion: an arc's chord is sinc(turn/2) of its length, and half the turn off its beginning
    half = turn / 2
    velocity = apart * np.exp(-1j * half) / np.sinc(half / np.pi)
    twist = np.array([velocity.real, velocity.imag, turn])
    u = drive.velocities(twist)
    if drive.still(u).all():
        return ()
    turns = nearest_turns(drive, angles, twist)
    if np.isnan(turns).any():
        return None
    moving = ~drive.still(u)
    speed, acceleration, jerk = (drive.rolling[:, moving] / np.abs(u[moving])).min(axis=1)
    go = straight(drive, twist, move(1.0, speed, acceleration, jerk), angles + turns)
    return (*turning(drive, angles, turns), go)


def chord_time(drive: Drive, apart: complex, turn: float) -> float:
    """A time (s) that no motion to a pose beats: below it some module can't get along the chord of its way.

    From rest its speed is at most e(t) = min(v, a t, j t²/2), and as much before the end: ∫ min(e(t), e(T − t)) dt
    is less than its chord for any shorter T. (A least time of one move doesn't serve: a wheel may go back and forth.)
    """
    ways, limits = np.abs(apart + (np.exp(1j * turn) - 1) * drive.places), drive.rolling
    low, high = 0.0, 1e-3
    while (2 * _reached(limits, high / 2) < ways).any():
        low, high = high, 2 * high
    for _ in range(50):  # `low` is a bound whenever one stops; by then it is the least time to rounding
        middle = (low + high) / 2
        low, high = (middle, high) if (2 * _reached(limits, middle / 2) < ways).any() else (low, middle)
    return low


def _reached(limits: FloatArray, time: float) -> FloatArray:
    """(m,): no less than ∫ e dt, exactly so as integrals of the least of three functions one after the other."""
    speed, acceleration, jerk = limits
    with np.errstate(divide="ignore", invalid="ignore"):
        # e = j t²/2 until 2a/j, then a t until v/a; or j t²/2 until √(2 v/j) where that comes before
        curved = np.fmin(np.fmin(2 * acceleration / jerk, np.sqrt(2 * speed / jerk)), time)
        straight = np.clip(speed / acceleration, curved, time)
        first = np.where(np.isinf(jerk), 0.0, jerk * curved**3 / 6)
        second = np.where(straight > curved, acceleration * (straight**2 - curved**2) / 2, 0.0)
        third = np.where(time > straight, speed * (time - straight), 0.0)
    return first + second + third
