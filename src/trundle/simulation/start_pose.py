"""How a base stands where a run begins: over terrain it settles with a yaw, or it has the pose that is given."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping

from trundle.errors import InputError, warn
from trundle.mechanics.joints import quaternion_rotation
from trundle.model.placed import placed
from trundle.robot import Robot
from trundle.scalars import Scalar
from trundle.simulation.signals import Signal
from trundle.terrain.advance import angles_of, quaternion_of

ANGLES = ("roll", "pitch", "yaw")
_QUATERNION = ("q_w", "q_x", "q_y", "q_z")
# With one of these a robot begins where they say, and doesn't settle.
_POSE = ("z", *_QUATERNION)
# A tracker leads its base back from beside its motion (m, rad); from farther off it drives the wheels to their limits.
_ASIDE, _TURNED = 1.0, math.radians(30)


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
    if any(name in given for name in _QUATERNION):
        raise InputError(f"{told[0]} and a quaternion are given", key=key, hint="give one of both")
    if "z" in given:
        return dict(zip(_QUATERNION, quaternion_of(*(angles.get(name, 0.0) for name in ANGLES)), strict=True))
    if told != ["yaw"]:
        message = f"the ground says {told[0]} where a robot settles"
        raise InputError(
            message, key=key, hint=f"give z, too, and it begins as you say; or leave {told[0]} away"
        )
    return {}


def warn_of_start(robot: Robot | None, signals: Mapping[str, Signal], start: Mapping[str, float]) -> None:
    """A warning where a base starts so far off the motion that a tracker gets that nobody means it."""
    if robot is None or not robot.controllers or not {"x", "y"} <= start.keys():
        return
    for each in placed(robot):
        named = [each.references.get(of, "") for of in ("x", "y", "theta")]
        if any(name not in signals or signals[name].feedback for name in named):
            continue
        # what is rounding is written as 0
        x, y, theta = (round(signals[name].value(0.0), 9) + 0.0 for name in named)
        aside = math.hypot(start["x"] - x, start["y"] - y)
        turned_by = abs(math.remainder(_heading(start) - theta, 2 * math.pi))
        if aside > _ASIDE or turned_by > _TURNED:
            warn(
                f"the run starts {aside:.3g} m and {math.degrees(turned_by):.3g}° off the motion of {each.name!r}, "
                f"which begins at x = {x:.4g} m, y = {y:.4g} m with a heading of {math.degrees(theta):.4g}°"
            )


def _heading(start: Mapping[str, float]) -> float:
    """Of a base that starts so (rad)."""
    if "theta" in start:
        return start["theta"]
    return float(angles_of(quaternion_rotation(*(start[name] for name in _QUATERNION)))[2])
