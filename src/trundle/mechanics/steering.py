"""Where wheels on a base move, along which line they roll, and below which speed they stand still."""

from __future__ import annotations

import math
from collections.abc import Sequence

from trundle.mechanics.mobility import WheelPlace
from trundle.scalars import Scalar, minus, plus, times

STILL = 1e-10
"""A wheel stands still where its velocity is less than this share of the fastest wheel's, or of 1 m/s.

Its line is rounding then, and it keeps the angle that it has. Rounding leaves up to 1e-13 of a zero that comes out of
splines and sums; the slip that the rule neglects stays below the 1e-9 m/s that motions promise, up to 10 m/s.
"""

# The speed (m/s) below which steering does less about what is aside: a wheel at rest can't.
CRAWL = 0.2


def velocity_at(place: Sequence[Scalar], twist: Sequence[Scalar]) -> tuple[Scalar, Scalar]:
    """u = v + ω × r of a place (x, y) on a base (m), by its twist (v_x, v_y, ω), both in the base's axes (m/s)."""
    (x, y), (v_x, v_y, omega) = place, twist
    return minus(v_x, times(omega, y)), plus(v_y, times(omega, x))


def steering_gain(along: Scalar) -> Scalar:
    """s/(s² + s₀²): what a velocity across a wheel that rolls at s turns it by (rad by m/s); at rest by nothing."""
    return along / (along * along + CRAWL**2)


def steering_angles(wheels: Sequence[WheelPlace], twist: Sequence[float]) -> tuple[float, ...]:
    """β_i (rad, within ±90°) of steered wheels so that none slips at a base twist (v_x, v_y, ω).

    A wheel rolls along its place's velocity either way. One whose contact is the centre of rotation keeps angle 0:
    there any angle will do, which is the one singularity of coordinated steering (Thuilot, d'Andréa-Novel & Micaelli
    1996).
    """
    fastest = max(map(abs, twist))
    angles = []
    for wheel in wheels:
        x, y = velocity_at((wheel.x, wheel.y), twist)
        still = math.hypot(x, y) <= STILL * fastest
        angles.append(0.0 if still else half_turn(math.atan2(y, x) - wheel.heading))
    return tuple(angles)


def half_turn(angle: float) -> float:
    """The angle of the same line within (−90°, 90°]: a wheel rolls both ways."""
    turned = math.remainder(angle, math.pi)
    # the remainder takes −90° and 90° for equally near: rounding must not choose between them
    return math.pi / 2 if turned <= -math.pi / 2 + 1e-12 else turned
