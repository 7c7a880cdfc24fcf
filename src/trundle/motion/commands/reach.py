"""What motors, battery and floor leave of commands: twists that they hold, limits of modules that they imply."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.motion.drive.drive import QUANTITIES, Drive
from trundle.motion.forces.motor_limits import rest_acceleration, with_steering
from trundle.motion.forces.pacing import HELD, held_share
from trundle.motion.forces.real_limits import RealLimits
from trundle.motion.pieces.pieces import TwistLine
from trundle.motion.pieces.profiles import unit_shape


def within_reach(
    drive: Drive, real: RealLimits | None, twist: FloatArray, angles: FloatArray
) -> tuple[FloatArray, tuple[str, ...]]:
    """A twist in the same direction that motors, battery and floor hold, the modules at angles (m,), and a note where
    it is less than what was asked for.
    """
    if real is None or not twist.any():
        return twist, ()
    steady = TwistLine(drive, twist, np.zeros(3), unit_shape("linear"), angles)
    share, name = held_share(steady.samples(np.array([0.5])), real)
    if share == 1:
        return twist, ()
    if not share:
        raise InputError(f"the {name} doesn't hold the twist at any pace", key="robot")
    note = f"the twist is {share:.4g} of what was asked: it takes more than {HELD:.0%} of the {name}"
    return twist * share, (note,)


def implied(drive: Drive, real: RealLimits, acceleration: float = math.inf) -> Drive:
    """The drive within an acceleration (m/s²), and what the motors of its steering imply."""
    held = [with_steering(real.driven, k, own, acceleration) for k, own in enumerate(drive.limits)]
    return drive.limited(dict(zip(drive.names, held, strict=True)))


def implied_at_rest(drive: Drive, real: RealLimits) -> Drive:
    """The drive with what its motors and the friction of its wheels imply at rest, where no accelerations are told."""
    told = all(math.isfinite(own.drive_acceleration) for own in drive.limits)
    return implied(drive, real, math.inf if told else rest_acceleration(real.driven))


def at_pace(drive: Drive, pace: float) -> Drive:
    """The drive whose limits make the same motions at a share of the pace: speeds of twists stay as they are."""
    held = {
        name: replace(own, **{what: own.of(what) * pace**order for what, (_, order) in QUANTITIES.items()})
        for name, own in zip(drive.names, drive.limits, strict=True)
    }
    return drive.limited(held)
