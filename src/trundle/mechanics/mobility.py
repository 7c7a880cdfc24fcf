"""What a wheeled robot can do: degrees of mobility and steerability (Campion, Bastin & d'Andréa-Novel 1996, eqs. 18
to 24).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.mechanics.combinations import null_rows
from trundle.mechanics.elimination import SEED, ZERO, generic_rank, null_space
from trundle.shown import Explained

# Random steering angles: the rank is the largest of them, which one already has, but by rare chance.
_SAMPLES = 5


@dataclass(frozen=True)
class WheelPlace:
    """A conventional wheel on the base: name, contact (x, y) in m, heading in rad, whether it steers about its
    contact.
    """

    name: str
    x: float
    y: float
    heading: float
    steered: bool


@dataclass(frozen=True)
class Mobility(Explained):
    """Degrees of mobility δ_m and steerability δ_s, the ranks behind them, and the wheels that constrain the base.

    δ_m velocities of the base can be chosen at once; δ_s more through steering. `fixed_rank` is the rank of the
    fixed wheels' lateral rows, `steered_rank` what independently turned steered wheels would add; beyond rank 2 they
    must be coordinated.
    """

    mobility: int
    steerability: int
    fixed_rank: int
    generic_rank: int
    fixed: tuple[str, ...]
    steered: tuple[str, ...]

    @property
    def coordinated(self) -> bool:
        """Whether the steered wheels must turn together, their axles meeting in one point, for the robot to move at
        all.
        """
        return self.generic_rank > 2 >= self.fixed_rank and bool(self.steered)


def classify(wheels: Sequence[WheelPlace]) -> Mobility:
    """δ_m = 3 − ρ and δ_s = ρ − rank C_f, ρ the rank of fixed and (coordinated) steered wheels' lateral rows.

    Casters and wheels with rollers add no row: their rates adapt to any motion of the base. The generic rank is
    taken at random steering angles; more than 2 there means that the angles must be coordinated, which keeps ρ at 2.
    """
    rng = np.random.default_rng(SEED)
    fixed = [w for w in wheels if not w.steered]
    steered = [w for w in wheels if w.steered]
    fixed_rank = generic_rank(_lateral(fixed, np.zeros((1, len(fixed))))) if fixed else 0
    angles = rng.uniform(-1.2, 1.2, (_SAMPLES, len(steered)))
    rows = np.concatenate(
        [_lateral(fixed, np.zeros((_SAMPLES, len(fixed)))), _lateral(steered, angles)], axis=1
    )
    rank = generic_rank(rows) if wheels else 0
    admissible = fixed_rank if not steered else max(fixed_rank, min(rank, 2))
    return Mobility(
        mobility=3 - admissible,
        steerability=admissible - fixed_rank,
        fixed_rank=fixed_rank,
        generic_rank=rank,
        fixed=tuple(w.name for w in fixed),
        steered=tuple(w.name for w in steered),
    )


def classify_by_demands(by_wheels: Mobility, demands: Sequence[np.ndarray]) -> Mobility | None:
    """The same from what all constraints demand of the base, rows over (v_x, v_y, ω), (k, 3), at random configurations.

    For wheels on bodies that move and steering held by gears: a pivot at the middle of an axle steers, one beside it
    lets the base go any way. What is demanded in every configuration takes the place of the fixed wheels' rows: the
    intersection of the rows' spans, which is what the sum of their null spaces leaves. `by_wheels` is the class by the
    wheels on the base. None where the robot moves only if its steering is coordinated.
    """
    rows = [_normed(demand) for demand in demands]
    rank = max(generic_rank(demand[None]) for demand in rows)
    if rank > 2:
        return by_wheels if by_wheels.mobility == 0 else None
    free = [null_rows(demand.T) if len(demand) else np.eye(3) for demand in rows]
    always = 3 - generic_rank(np.concatenate(free)[None])
    return replace(
        by_wheels, mobility=3 - rank, steerability=rank - always, fixed_rank=always, generic_rank=rank
    )


def _normed(rows: np.ndarray) -> np.ndarray:
    """The rows that aren't zero, scaled to length 1."""
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    kept = size[:, 0] > ZERO
    return rows[kept] / size[kept]


def _lateral(wheels: Sequence[WheelPlace], angles: np.ndarray) -> np.ndarray:
    """Rows (−sin β, cos β, x cos β + y sin β) of shape (samples, wheels, 3)."""
    x, y, heading = np.array([(w.x, w.y, math.fmod(w.heading, 2 * math.pi)) for w in wheels]).reshape(-1, 3).T
    sine, cosine = np.sin(heading + angles), np.cos(heading + angles)
    return np.stack([-sine, cosine, x * cosine + y * sine], axis=-1)


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
    return null_space(rows[:, others].T).T @ rows[:, list(base)]


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
