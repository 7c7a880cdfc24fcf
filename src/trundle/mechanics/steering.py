"""Steering angles that let a base move as it should: each wheel along the velocity of its own contact."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trundle.mechanics.mobility import WheelPlace


def steering_angles(wheels: Sequence[WheelPlace], twist: Sequence[float]) -> tuple[float, ...]:
    """β_i (rad, within ±90°) of steered wheels so that none slips at a base twist (v_x, v_y, ω).

    Wheel i at (x, y) moves with (v_x − ω y, v_y + ω x); it rolls along that either way. A wheel whose contact is the
    centre of rotation keeps angle 0: there any angle will do, which is the one singularity of coordinated steering
    (Thuilot, d'Andréa-Novel & Micaelli 1996).
    """
    v_x, v_y, omega = twist
    angles = []
    for wheel in wheels:
        x, y = v_x - omega * wheel.y, v_y + omega * wheel.x
        still = math.hypot(x, y) <= 1e-12 * max(abs(v_x), abs(v_y), abs(omega))
        angles.append(0.0 if still else half_turn(math.atan2(y, x) - wheel.heading))
    return tuple(angles)


def half_turn(angle: float) -> float:
    """The angle of the same line within (−90°, 90°]: a wheel rolls both ways."""
    turned = math.remainder(angle, math.pi)
    return math.pi / 2 if turned <= -math.pi / 2 + 1e-12 else turned
