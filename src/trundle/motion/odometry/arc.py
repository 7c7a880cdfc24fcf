"""Motion in the plane at a constant twist: along an arc, exactly, straight lines included."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.scalars import Scalar, cos, sin, sinc


def advance(pose: Sequence[Scalar], displacement: Sequence[Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """The pose (x, y, θ) (m, m, rad) after a twist held constant in the base's own axes.

    T' = T exp(ξ̂): with the twist's integral ξ = (a, b, φ), forward and sideways (m) and turned (rad), half of the turn
    comes before the chord and half behind it:

        (x', y') = (x, y) + sinc(φ/2) R(θ + φ/2) (a, b),  θ' = θ + φ

    (the exponential of SE(2): Lynch & Park 2017, eq. 13.35, in half angles; nothing to divide by where φ = 0).
    """
    x, y, heading = pose
    a, b, turn = displacement
    half = turn / 2
    chord, c, s = sinc(half), cos(heading + half), sin(heading + half)
    return x + chord * (a * c - b * s), y + chord * (a * s + b * c), heading + turn
