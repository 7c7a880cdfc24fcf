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
from trundle.motion.pieces.pieces import straight, turning
from trundle.motion.pieces.profiles import move
from trundle.motion.planning.search import Candidate, Transition, decided, nearest_turns, transition

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
    return decided(options, lost, angles)


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
