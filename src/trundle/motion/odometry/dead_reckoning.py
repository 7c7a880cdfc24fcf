"""Steps of a base one after the other: poses in the world, and how their uncertainty grows."""

from __future__ import annotations

import numpy as np

from trundle.results.arrays import FloatArray


def chained(
    steps: FloatArray, slopes: FloatArray, noise: FloatArray, pose: FloatArray, covariance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Poses (n + 1, 3) and covariances (n + 1, 3, 3) along n steps, each known from a base at the origin.

    With T = diag(R(θ), 1) of the pose before it, a step's displacement d moves by T d, F = T F₀ Tᵀ, and the covariance
    becomes F Σ Fᵀ + T N₀ Tᵀ. `steps`: the displacements (3, n); `slopes`: F₀ (3, 3, n); `noise`: N₀ (3, 3, n).
    """
    heading = pose[2] + np.concatenate([[0.0], np.cumsum(steps[2])])
    c, s = np.cos(heading[:-1]), np.sin(heading[:-1])
    moved = np.stack([c * steps[0] - s * steps[1], s * steps[0] + c * steps[1]], axis=1)
    places = pose[:2] + np.concatenate([np.zeros((1, 2)), np.cumsum(moved, axis=0)])
    zero, one = np.zeros(c.size), np.ones(c.size)
    turns = np.array([[c, -s, zero], [s, c, zero], [zero, zero, one]])
    forward = np.einsum("ijn,jkn,lkn->nil", turns, slopes, turns)
    added = np.einsum("ijn,jkn,lkn->nil", turns, noise, turns)
    found = [np.array(covariance, dtype=float)]
    for each, more in zip(forward, added, strict=True):
        found.append(each @ found[-1] @ each.T + more)
    return np.column_stack([places, heading]), np.array(found)
