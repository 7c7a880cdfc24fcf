"""The class of a wheeled robot, after Campion, Bastin & d'Andréa-Novel 1996, as if none of its wheels slipped."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from trundle.mechanics.assembly import Assembly, mounting
from trundle.mechanics.coupling import Tie
from trundle.mechanics.mobility import Mobility, WheelPlace, base_rows, classify, classify_by_demands
from trundle.mechanics.wheels import WheelModel
from trundle.model.constraints import configure, constraint_rows, independent_coordinates
from trundle.model.mechanism import mechanism
from trundle.spatial.motions import Pose

if TYPE_CHECKING:
    from trundle.robot import Robot

# Any number: the same robot is told the same on every machine and day.
_SEED = 20260
# Random configurations, of coordinates within ±1.2 rad or m: general ones, away from the axes' zeros.
_SAMPLES, _SPREAD = 6, 1.2


def mobility_class(robot: Robot) -> Mobility | None:
    """The degrees of mobility and steerability of a robot, which need not be derivable; None without wheels."""
    return mobility_of(mechanism(robot, terrain=True).assembly)


def mobility_of(numeric: Assembly) -> Mobility | None:
    """The degrees of mobility and steerability of an assembly in numbers, on a planar base with wheels; else None.

    None, too, where loops hold the bodies that carry wheels: their configurations are not free to be drawn.
    """
    if len(numeric.base_columns) != 3 or not numeric.wheels:
        return None
    by_wheels = classify([place for place, grips in wheel_places(numeric) if grips])
    carried = any(not wheel.on_base for wheel in rolling(numeric))
    columns = {column for wheel in rolling(numeric) for column in wheel.columns}
    tied = any(
        axis.column in columns
        for tie in numeric.couplings
        if isinstance(tie, Tie)
        for axis in (*tie.leaders, *tie.followers)
    )
    if not (carried or tied):
        return by_wheels
    return None if numeric.loops else classify_by_demands(by_wheels, _demands(numeric))


def _demands(numeric: Assembly) -> list[np.ndarray]:
    """What the wheels demand of the base's twist, (k, 3), at random configurations."""
    names = independent_coordinates(numeric)
    rng = np.random.default_rng(_SEED)
    demands = []
    for _ in range(_SAMPLES):
        at = configure(numeric, names, rng.uniform(-_SPREAD, _SPREAD, len(names)).tolist())
        rows, _ = constraint_rows(numeric, at, rolling(numeric))
        demands.append(base_rows(np.array(rows, dtype=float), numeric.base_columns))
    return demands


def rolling(assembly: Assembly) -> list[WheelModel]:
    """The wheels that touch the ground, whatever their contact law."""
    return [wheel for wheel in assembly.wheels if wheel.grips]


def _yaw(pose: Pose) -> float:
    """The angle of a frame's x axis about z (rad), from a numeric pose."""
    return math.atan2(float(pose.rotation[1][0]), float(pose.rotation[0][0]))


def wheel_places(numeric: Assembly) -> list[tuple[WheelPlace, bool]]:
    """The conventional wheels on the base of an assembly in numbers, each with whether it grips."""
    frames = mounting(numeric)
    return [
        (
            WheelPlace(
                wheel.name,
                float(wheel.position[0]),
                float(wheel.position[1]),
                _yaw(frames[wheel.link]),
                wheel.component.is_steered,
            ),
            wheel.grips,
        )
        for wheel in numeric.wheels
        if wheel.component.binds and wheel.on_base
    ]
