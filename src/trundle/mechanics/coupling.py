"""Couplings: joint angles that are functions of one shared coordinate, such as an Ackermann linkage."""

from __future__ import annotations

from dataclasses import dataclass

from trundle.mechanics.joints import Turn
from trundle.scalars import Scalar, atan2, cos, sin, sqrt


@dataclass(frozen=True)
class Coupling:
    """Steered wheels whose axles meet on the fixed axle's line: tan δ_i = sin δ/(cos δ − (y_i/L) sin δ).

    δ is the angle of the bicycle's wheel at the middle, L (`wheelbase`, m) how far that stands ahead of the fixed
    axle (negative where the rear wheels steer), y_i (`offsets`, m) the wheels' places beside the middle; `column` is
    δ̇'s column and `steering` those of the wheels' rates. Dividing by L, whatever its sign, keeps the wheels straight
    at δ = 0.
    """

    name: str
    column: int
    steering: tuple[int, ...]
    offsets: tuple[Scalar, ...]
    wheelbase: Scalar
    armature: Scalar = 0

    def turns(self, delta: Scalar) -> list[Turn]:
        """Cosine and sine of each wheel's angle."""
        s, c = sin(delta), cos(delta)
        result = []
        for y in self.offsets:
            ahead = c - y / self.wheelbase * s
            length = sqrt(ahead * ahead + s * s)
            result.append(Turn(ahead / length, s / length))
        return result

    def angles(self, delta: Scalar) -> list[Scalar]:
        """Each wheel's angle δ_i in rad."""
        return [atan2(turn.sin, turn.cos) for turn in self.turns(delta)]

    def slopes(self, delta: Scalar) -> list[Scalar]:
        """dδ_i/dδ = 1/((cos δ − (y_i/L) sin δ)² + sin² δ)."""
        s, c = sin(delta), cos(delta)
        result = []
        for y in self.offsets:
            ahead = c - y / self.wheelbase * s
            result.append(1 / (ahead * ahead + s * s))
        return result
