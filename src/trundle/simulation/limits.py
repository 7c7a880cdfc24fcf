"""Limits of joints that runs went beyond: without a stiffness they are kept and stop nothing, as URDF's are."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from trundle.results import Run
from trundle.robot import Robot
from trundle.robot.bodies import Sliding, Turning

# Beyond a limit by less than this (rad or m, relative to 1 + its value) is rounding.
_ROUNDING = 1e-6


def passed(robot: Robot, run: Run) -> Iterator[tuple[str, str, float, float]]:
    """Coordinate, "lower" or "upper", that limit, and how far the run went, of each limit that was passed."""
    values = run.description["parameters"]
    for owner, joint in robot.joints.items():
        if not isinstance(joint, Turning | Sliding) or joint.limit_stiffness.number_in(values):
            continue
        name = f"{owner}.{joint.drives[0].coordinate}"
        for key, side, furthest in (("lower", -1, np.nanmin), ("upper", 1, np.nanmax)):
            limit = getattr(joint, key)
            if limit is None or name not in run:
                continue
            at = float(values.get(f"joints.{owner}.{key}", limit.number_in(values)))
            most = float(furthest(run[name]))
            if side * (most - at) > _ROUNDING * (1 + abs(at)):
                yield name, key, at, most
