"""Modules that stand at other angles than a motion begins with are steered first, at rest."""

from __future__ import annotations

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import NumericsError
from trundle.mechanics.modules import ALIGNED
from trundle.motion.commands.reach import implied
from trundle.motion.drive.drive import Drive
from trundle.motion.forces.forces import motion_forces
from trundle.motion.forces.real_limits import RealLimits, planned_use
from trundle.motion.pieces.motion import Piece
from trundle.motion.pieces.pieces import turning
from trundle.motion.pieces.profiles import move

# Turns are made so much slower, and so often at most, until motors and battery give them; looks at one.
_SLOWER, _MOST_SLOWER, _LOOKS = 0.9, 60, 401


def aligned(
    drive: Drive, now: FloatArray | None, angles: FloatArray, real: RealLimits | None
) -> tuple[Piece, ...]:
    """The modules steered from where they stand (m,) to other angles (m,), at rest; nothing where they are there.

    By the drive's limits and, with motors and battery, slower until these give it.
    """
    if now is None or np.abs(angles - now).max() <= ALIGNED:
        return ()
    bounds = (drive if real is None else implied(drive, real)).steering.T
    for place in range(_MOST_SLOWER):
        rates = bounds * _SLOWER ** (place * np.arange(1, 4))  # rates by k, accelerations by k², jerks by k³
        profiles = [move(float(turn), *own) for turn, own in zip(angles - now, rates, strict=True)]
        piece = turning(drive, now, profiles)
        if real is None or piece.duration == 0 or _is_given(piece, real):
            return (piece,)
    raise NumericsError("motors and battery don't turn the modules at rest, however slowly")


def _is_given(piece: Piece, real: RealLimits) -> bool:
    """Whether motors and battery give a turn."""
    times = np.unique(np.concatenate([np.linspace(0, piece.duration, _LOOKS), piece.breaks]))
    use = planned_use(motion_forces(real.driven, piece.samples(times)).use, real.grip)
    return max(float(share.max()) for share in use.values()) <= 1
