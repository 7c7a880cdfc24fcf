"""Where a base stands at the start over terrain: it settles with a yaw, or it has the pose that is given."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from trundle.errors import InputError
from trundle.scalars import Scalar
from trundle.terrain.advance import quaternion_of

ANGLES = ("roll", "pitch", "yaw")
QUATERNION = ("q_w", "q_x", "q_y", "q_z")
# With one of these a robot begins where they say, and doesn't settle.
_POSE = ("z", *QUATERNION)


def is_posed(given: Collection[str]) -> bool:
    """Whether a start says how high the base is or how it is turned, so that it doesn't settle."""
    return any(name in given for name in _POSE)


def turned(given: Collection[str], angles: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The quaternion of roll, pitch and yaw (rad) where the height is given, too; else nothing.

    Raises InputError for angles beside a quaternion, and for roll or pitch of a base that settles.
    """
    told = [name for name in ANGLES if name in given]
    if not told:
        return {}
    key = f"run.initial.{told[0]}"
    if any(name in given for name in QUATERNION):
        raise InputError(f"{told[0]} and a quaternion are given", key=key, hint="give one of both")
    if "z" in given:
        return dict(zip(QUATERNION, quaternion_of(*(angles.get(name, 0.0) for name in ANGLES)), strict=True))
    if told != ["yaw"]:
        message = f"the ground says {told[0]} where a robot settles"
        raise InputError(
            message, key=key, hint=f"give z, too, and it begins as you say; or leave {told[0]} away"
        )
    return {}
