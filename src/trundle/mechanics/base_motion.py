"""What the wheels let a planar base do at one configuration: its admissible twists and their centres of rotation.

A twist (v_x, v_y, ω) of the base, in the base's own frame, turns it about the point c = (−v_y/ω, v_x/ω), and a wheel
that rolls at p along heading β allows it if its axle's line runs through c (Campion, Bastin & d'Andréa-Novel 1996,
sec. II). So the twists of one, two or three dimensions are those about a point, about the points of a line, and all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trundle.shown import Explained

# Relative size below which a singular value counts as zero; the elimination's own (see `elimination.ZERO`).
ZERO = 1e-9
PlanePoint = tuple[float, float]
PlaneTwist = tuple[float, float, float]


def centre_of_rotation(twist: Sequence[float]) -> PlanePoint | None:
    """The point (m, in the base's frame) that stands still under a twist (v_x, v_y, ω); None where it only shifts."""
    v_x, v_y, omega = (float(value) for value in twist)
    if abs(omega) <= ZERO * math.hypot(v_x, v_y, omega) or omega == 0:
        return None
    return (-v_y / omega, v_x / omega)


@dataclass(frozen=True)
class BaseMotion(Explained):
    """The twists that the wheels allow a planar base without slipping, at one configuration.

    `basis`: k rows (v_x, v_y, ω) that span them, a pure shift first where there is one. `centre`: the centre of
    rotation for k = 1; for k = 2 the nearest to the base's origin of the line on which it can be chosen; else None.
    `heading`: the direction (rad) of the shift for k ≤ 2; for k = 2 the line of centres runs across it. Where nothing
    is allowed, `nearest` is the twist with the least slip, and `slip` its contact velocity (m/s) at a speed of 1 m/s.
    """

    basis: tuple[PlaneTwist, ...]
    centre: PlanePoint | None = None
    heading: float | None = None
    nearest: PlaneTwist | None = None
    slip: float = 0.0

    @property
    def dimension(self) -> int:
        """How many velocities can be chosen at once: the degree of mobility here."""
        return len(self.basis)


def base_rows(rows: np.ndarray, base: Sequence[int]) -> np.ndarray:
    """What constraint rows (m, n) demand of the base alone: the combinations of rows free of all other speeds, (k, 3).

    Zᵀ A_base with Zᵀ A_other = 0. Wheels' spins and casters drop out; lateral rows of fixed and steered wheels stay.
    """
    others = [j for j in range(rows.shape[1]) if j not in base]
    u, values, _ = np.linalg.svd(rows[:, others])
    rank = int((values > ZERO * max(values.max(initial=0.0), 1e-300)).sum()) if values.size else 0
    return u[:, rank:].T @ rows[:, list(base)]


def base_motion(rows: np.ndarray, base: Sequence[int], length: float) -> BaseMotion:
    """The twists of the base (its columns `base`) that rows A (m, n) allow; `length` (m) compares ω with v.

    Raises nothing: where the wheels block each other it says what slips least.
    """
    demands = base_rows(rows, base) / (1.0, 1.0, length)
    demands = demands[np.abs(demands).max(axis=1, initial=0.0) > ZERO]
    if not len(demands):
        return BaseMotion(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)))
    _, values, vectors = np.linalg.svd(demands)
    rank = int((values > ZERO * values[0]).sum())
    twists = vectors / (1.0, 1.0, length)
    if rank == 1:
        return _about_a_line(vectors[0] * (1.0, 1.0, length))
    if rank == 2:
        return _about_a_point(twists[2])
    nearest = twists[2] if centre_of_rotation(twists[2].tolist()) is None else twists[2] / twists[2][2]
    contact = np.abs(demands @ (nearest * (1.0, 1.0, length))).max()
    speed = float(np.linalg.norm(nearest * (1.0, 1.0, length)))
    return BaseMotion((), nearest=_twist(nearest), slip=float(contact) / speed)


def _about_a_line(demand: np.ndarray) -> BaseMotion:
    """a v_x + b v_y + e ω = 0: a shift along (b, −a), and turns about points with a c_y − b c_x + e = 0."""
    a, b, e = demand
    if math.hypot(a, b) <= ZERO * abs(e):
        return BaseMotion(((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)))
    size = math.hypot(a, b)
    along = _forward(b / size, -a / size)
    c_x, c_y = b * e / size**2, -a * e / size**2
    shift = (*along, 0.0)
    return BaseMotion(
        (_twist(shift), _twist((c_y, -c_x, 1.0))), (_clean(c_x), _clean(c_y)), math.atan2(along[1], along[0])
    )


def _about_a_point(twist: np.ndarray) -> BaseMotion:
    centre = centre_of_rotation(twist.tolist())
    if centre is None:
        along = _forward(*(twist[:2] / np.linalg.norm(twist[:2])))
        return BaseMotion((_twist((*along, 0.0)),), None, math.atan2(along[1], along[0]))
    point = (_clean(centre[0]), _clean(centre[1]))
    return BaseMotion((_twist((point[1], -point[0], 1.0)),), point)


def _forward(x: float, y: float) -> PlanePoint:
    """The direction or its opposite, whichever points forward (to the left where it points to neither)."""
    x, y = _clean(x), _clean(y)
    return (_clean(-x), _clean(-y)) if x < 0 or (x == 0 and y < 0) else (x, y)


def _clean(value: float) -> float:
    """Without rounding around 0, and without its sign."""
    return 0.0 if abs(value) < 1e-12 else float(value)


def _twist(values: Sequence[float] | np.ndarray) -> PlaneTwist:
    x, y, turn = (_clean(float(value)) for value in values)
    return x, y, turn
