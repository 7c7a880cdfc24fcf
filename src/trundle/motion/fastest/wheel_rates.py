"""What a wheel does on one interval of a programme of `trundle.fastest`, in CasADi's symbols."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trundle.scalars import SX

# Squares of a wheel's velocity below this share of the direction's own are kept away from a division by zero.
_TINY = 1e-8


@dataclass(frozen=True)
class WheelShape:
    """What a programme knows of a wheel: whether it points, its heading and slope of rollers, and which limits it has
    (of steering rate, acceleration, jerk; of drive speed, acceleration, jerk), whether a steering range.
    """

    points: bool
    heading: float
    slope: float
    limited: tuple[bool, ...]
    ranged: bool


def wheel_rates(wheel: WheelShape, w: list[SX], rho: list[SX], d: SX) -> list[SX]:
    """Steering's rate, acceleration and jerk, the drive's speed, acceleration and jerk, by an interval."""
    import casadi as ca

    if not wheel.points:
        c, s = np.cos(wheel.heading), np.sin(wheel.heading)
        # along the wheel or its rollers' axes: Re(conj(e^{iα}(1 + i b/a)) u)
        along = [(c - wheel.slope * s) * part[0] + (s + wheel.slope * c) * part[1] for part in w]
        return [0.0, 0.0, 0.0, *_leibniz(along, rho)]
    square = w[0][0] ** 2 + w[0][1] ** 2 + _TINY * ca.sumsqr(d)
    dots = [w[0][0] * part[0] + w[0][1] * part[1] for part in w]
    crosses = [w[0][0] * part[1] - w[0][1] * part[0] for part in w]
    inner = [w[1][0] * part[0] + w[1][1] * part[1] for part in w]
    # α′ = N₁/D, α″ = N₂/D², α‴ = N₃/D³ with Nₖ₊₁ = Nₖ′ D − k Nₖ D′ (docs/planner.md)
    n1, n1_1, n1_2 = crosses[1], crosses[2], crosses[3] + w[1][0] * w[2][1] - w[1][1] * w[2][0]
    d_1, d_2 = 2 * dots[1], 2 * (dots[2] + inner[1])
    n2 = n1_1 * square - n1 * d_1
    n3 = (n1_2 * square - n1 * d_2) * square - 2 * n2 * d_1
    size = ca.sqrt(square)
    sizes = [size, dots[1] / size, (inner[1] + dots[2] - (dots[1] / size) ** 2) / size]
    return [n1 / square, n2 / square**2, n3 / square**3, *_leibniz(sizes, rho)]


def _leibniz(a: Sequence[SX], b: Sequence[SX]) -> list[SX]:
    return [a[0] * b[0], a[1] * b[0] + a[0] * b[1], a[2] * b[0] + 2 * a[1] * b[1] + a[0] * b[2]]
