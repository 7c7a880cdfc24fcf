"""Steps of a base in the plane: one along an arc, exactly, and many one after the other with their uncertainty."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from trundle.arrays import FloatArray
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


def chained(
    steps: FloatArray, slopes: FloatArray, noise: FloatArray, pose: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Poses (n + 1, 3) and covariances (n + 1, 3, 3) along n steps that are known of a base at the origin.

    With T = diag(R(θ), 1) of the pose before it, a step's displacement d moves by T d, F = T F₀ Tᵀ, and the covariance
    becomes F Σ Fᵀ + T N₀ Tᵀ. `steps`: the displacements (3, n); `slopes`: F₀ (3, 3, n); `noise`: N₀ (3, 3, n).
    """
    # Headings add up without regard to places, so that they come first, and places by sums of turned steps.
    heading = pose[2] + np.concatenate([[0.0], np.cumsum(steps[2])])
    c, s = np.cos(heading[:-1]), np.sin(heading[:-1])
    moved = np.stack([c * steps[0] - s * steps[1], s * steps[0] + c * steps[1]], axis=1)
    places = pose[:2] + np.concatenate([np.zeros((1, 2)), np.cumsum(moved, axis=0)])
    zero, one = np.zeros(c.size), np.ones(c.size)
    turns = np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]])
    forward = np.einsum("ijn,jkn,lkn->nil", turns, slopes, turns)
    added = np.einsum("ijn,jkn,lkn->nil", turns, noise, turns)
    covariances = [np.array(covariance, dtype=float)]
    for slope, more in zip(forward, added, strict=True):
        covariances.append(slope @ covariances[-1] @ slope.T + more)
    return np.column_stack([places, heading]), np.array(covariances)
