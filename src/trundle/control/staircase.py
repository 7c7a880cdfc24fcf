"""Which directions of ẋ = A x + B u no input can move, by a staircase whose decisions don't hang on units."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.mechanics.elimination import ZERO

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Uncontrollable:
    """Rows w with w x beyond the reach of every input: w B = 0, and w A is a combination of the rows.

    rows: (k, n), orthonormal where states are measured in multiples of `scale`, (n,). poles: (k,), the eigenvalues of
    A that no feedback moves (1/s).
    """

    rows: FloatArray
    scale: FloatArray
    poles: npt.NDArray[np.complex128]


def uncontrollable(a: FloatArray, b: FloatArray) -> Uncontrollable:
    """The uncontrollable part of A (n, n), B (n, m).

    States to which no path of entries leads from an input are one part of it. The others are measured in what unit
    inputs bring them to within the time 1/ρ of the fastest, d = |A| d/ρ + |B| 1: then every row of (A/ρ, B) has the
    sum 1, whatever the units. There the span of B, AB, A²B, … is built orthonormally block by block, and a direction
    is new where it sticks out by more than 1e-9 (the controllability staircase: Van Dooren 1981, IEEE Transactions on
    Automatic Control 26(1), sec. III).
    """
    reached = _reached(a, b)
    inner, driven, scale = _measured(a[reached[:, None], reached], b[reached])
    span = _krylov(inner, driven)
    outside = np.setdiff1d(np.arange(len(a)), reached)
    count = len(reached) - span.shape[1]
    rows = np.zeros((count + len(outside), len(a)))
    if count:
        rows[:count, reached] = np.linalg.svd(span)[0][:, span.shape[1] :].T if span.size else np.eye(count)
    rows[range(count, len(rows)), outside] = 1.0
    # What nothing reaches has no measure of its own: it counts like what is hardest to reach, mostly a coordinate, too.
    measure = np.full(len(a), scale.min(initial=1.0))
    measure[reached] = scale
    own = rows @ (a * measure / measure[:, None]) @ rows.T
    return Uncontrollable(rows / measure, measure, np.linalg.eigvals(own).astype(complex))


def _reached(a: FloatArray, b: FloatArray) -> Indices:
    """Indices of the states to which a path of entries that aren't 0 leads from an input."""
    reached = np.abs(b).sum(axis=1) > 0
    for _ in range(len(a)):
        reached |= (a[:, reached] != 0).any(axis=1)
    return np.flatnonzero(reached)


def _measured(a: FloatArray, b: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A/ρ and B for states in multiples of d = |A| d/ρ + |B| 1, and d; inputs by their largest effect."""
    size, largest = np.abs(a), np.abs(b).max(axis=0, initial=0.0)
    b = b / np.where(largest > 0, largest, 1.0)
    # Twice the spectral radius makes the sum over paths converge; a second where the states only integrate.
    rho = max(2 * np.abs(np.linalg.eigvals(size)).max(initial=0.0), 1.0)
    scale = np.linalg.solve(np.eye(len(a)) - size / rho, np.abs(b).sum(axis=1))
    return a * scale / scale[:, None] / rho, b / scale[:, None], scale


def _krylov(a: FloatArray, b: FloatArray) -> FloatArray:
    """An orthonormal basis (n, k) of the span of B, AB, A²B, …"""
    basis = np.zeros((len(a), 0))
    block = b
    # Powers of A themselves would all turn to its largest eigenvector: only what a block adds is carried on.
    while basis.shape[1] < len(a):
        for _ in range(2):  # twice is enough for orthogonality to rounding (Parlett 1998, sec. 6.9)
            block = block - basis @ (basis.T @ block)
        left, values, _ = np.linalg.svd(block, full_matrices=False)
        new = left[:, values > ZERO]
        if not new.shape[1]:
            break
        basis = np.hstack([basis, new])
        block = a @ new
    return basis
