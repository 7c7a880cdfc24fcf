"""A warning where a run starts so far off the motion that a tracker gets that nobody means it."""

from __future__ import annotations

import math
from collections.abc import Mapping

from trundle.errors import warn
from trundle.mechanics.joints import quaternion_rotation
from trundle.model.base_pose import QUATERNION
from trundle.model.placed import placed
from trundle.robot import Robot
from trundle.simulation.signals import Signal
from trundle.terrain.advance import angles_of

# A tracker leads its base back from beside its motion (m, rad); from farther off it drives the wheels to their limits.
_ASIDE, _TURNED = 1.0, math.radians(30)


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
    return float(angles_of(quaternion_rotation(*(start[name] for name in QUATERNION)))[2])
