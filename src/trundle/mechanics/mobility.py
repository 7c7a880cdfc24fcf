"""What a wheeled robot can do: degrees of mobility and steerability (Campion, Bastin & d'Andréa-Novel 1996, eqs. 18
to 24).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from trundle.mechanics.combinations import null_rows
from trundle.mechanics.elimination import ZERO, generic_rank
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


def classify(wheels: Sequence[WheelPlace], seed: int = 20260) -> Mobility:
    """δ_m = 3 − ρ and δ_s = ρ − rank C_f, ρ the rank of fixed and (coordinated) steered wheels' lateral rows.

    Casters and wheels with rollers add no row: their rates adapt to any motion of the base. The generic rank is
    taken at random steering angles; more than 2 there means that the angles must be coordinated, which keeps ρ at 2.
    """
    rng = np.random.default_rng(seed)
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
