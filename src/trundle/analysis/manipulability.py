"""How fast a robot moves each way for given motor rates: the manipulability ellipsoid (Yoshikawa 1985)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trundle.mechanics.elimination import ZERO, null_space
from trundle.shown import Explained


@dataclass(frozen=True)
class Manipulability(Explained):
    """The ellipsoid {t = G a : ‖a‖ ≤ 1} of twists t, angular parts multiplied by `length` (m) so that all are m/s.

    `axes`: one row an axis of the ellipsoid, longest first, as a twist whose parts are named `parts` (m/s, rad/s), at
    the end of the axis; `radii` (m/s) their lengths. `undriven`: twists of the motions that go on with every motor held
    still, which have no bound. `rates` says what ‖a‖ = 1 stands for.

    `fastest` are the same axes as far as they go while no single motor's rate is above 1, which `limit` puts in words;
    None where other motors could take over a part.
    """

    parts: tuple[str, ...]
    axes: tuple[tuple[float, ...], ...]
    radii: tuple[float, ...]
    undriven: tuple[tuple[float, ...], ...]
    length: float
    rates: str = ""
    fastest: tuple[tuple[float, ...], ...] | None = None
    limit: str = ""

    @property
    def weights(self) -> tuple[float, ...]:
        """What the parts are multiplied by to be in m/s."""
        return weights_of(self.parts, self.length)

    @property
    def units(self) -> tuple[str, ...]:
        """The units of the parts."""
        return tuple("rad/s" if part.startswith("omega") else "m/s" for part in self.parts)

    @property
    def condition(self) -> float:
        """Longest over shortest axis, of those that are not zero: 1 is isotropic; infinite with undriven motions."""
        if self.undriven or not self.radii:
            return float("inf")
        return self.radii[0] / self.radii[-1]

    @property
    def measure(self) -> float:
        """Yoshikawa's w = √det(G Gᵀ) over the directions there are: the product of the radii."""
        return float(np.prod(self.radii)) if self.radii else 0.0


def weights_of(parts: Sequence[str], length: float) -> tuple[float, ...]:
    """What the parts of a twist are multiplied by to be in m/s: `length` (m) for angular ones, 1 for the others."""
    return tuple(length if part.startswith("omega") else 1.0 for part in parts)


def manipulability(
    task: np.ndarray, drive: np.ndarray, parts: Sequence[str], length: float, rates: str = "", limit: str = ""
) -> Manipulability:
    """The twists t = T z of all motions z whose motor rates B z stay within ‖B z‖ ≤ 1 (Yoshikawa 1985).

    task T (k, n) and drive B (m, n) over any basis z of the admissible motions; rates already divided by their limits.
    Angular parts of the twist count as speeds of a point at `length` (m). With more motors than motions, rates that
    fight one another are left out, as B z holds none: t = T B⁺ a. Motions with B z = 0 and T z ≠ 0 are `undriven`.
    """
    weights = np.array(weights_of(parts, length))
    scaled = task * weights[:, None]
    scaled = np.where(np.abs(scaled) > ZERO * np.abs(drive).max(initial=1.0), scaled, 0.0)
    motors, values, vectors = (
        np.linalg.svd(drive) if drive.size else (np.eye(len(drive)), np.zeros(0), np.eye(task.shape[1]))
    )
    rank = int((values > ZERO * max(values.max(initial=0.0), 1e-300)).sum())
    loose = scaled @ vectors[rank:].T
    reach = scaled @ (vectors[:rank].T / values[:rank]) if rank else np.zeros((len(task), 0))
    # The last singular vectors of B are orthogonal to the others: what is undriven adds to what is driven.
    u, radii, _ = np.linalg.svd(reach, full_matrices=False)
    u = _aligned(u, radii)
    kept = [k for k, radius in enumerate(radii) if radius > ZERO * max(radii[0], 1e-300)]
    free, sizes, _ = np.linalg.svd(loose, full_matrices=False)
    loose_kept = [k for k, size in enumerate(sizes) if size > ZERO]
    return Manipulability(
        tuple(parts),
        tuple(_plain(radii[k] * _upward(u[:, k]) / weights) for k in kept),
        tuple(float(radii[k]) for k in kept),
        tuple(_plain(_upward(free[:, k]) / weights) for k in loose_kept),
        length,
        rates,
        _fastest(motors[:, :rank], reach, u[:, kept], weights),
        limit,
    )


def _fastest(
    motors: np.ndarray, reach: np.ndarray, axes: np.ndarray, weights: np.ndarray
) -> tuple[tuple[float, ...], ...] | None:
    """The axes (columns) of t = reach · c as far as no rate a = motors · c exceeds 1; None where other c with reach · c
    = 0 move motors that an axis needs.
    """
    idle = motors @ null_space(reach)
    rates = motors @ np.linalg.pinv(reach, rcond=ZERO) @ axes
    shares = rates / np.maximum(np.linalg.norm(rates, axis=0), 1e-300)
    if (np.abs(shares).max(axis=1, initial=0.0) * np.abs(idle).max(axis=1, initial=0.0) > ZERO).any():
        return None
    largest = np.abs(rates).max(axis=0, initial=0.0)
    return tuple(_plain(_upward(axes[:, k]) / (largest[k] * weights)) for k in range(axes.shape[1]))


def _aligned(axes: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Axes (columns); those of one length, which could be any in their plane, lie along the parts if they can."""
    axes = axes.copy()
    start = 0
    while start < len(radii):
        end = start + 1
        while end < len(radii) and radii[start] - radii[end] <= 1e-9 * radii[0]:
            end += 1
        within = axes[:, start:end] @ axes[:, start:end].T
        chosen: list[np.ndarray] = []
        for _ in range(end - start):
            left = within - sum((np.outer(axis, axis) for axis in chosen), np.zeros_like(within))
            # Rounded, so that of parts that lie in it alike the first is taken.
            column = left[:, int(np.argmax(np.round(np.diag(left), 9)))]
            chosen.append(column / np.linalg.norm(column))
        axes[:, start:end] = np.array(chosen).T
        start = end
    return axes


def _upward(vector: np.ndarray) -> np.ndarray:
    """The vector or its opposite, so that its largest component is positive."""
    return vector if vector[np.argmax(np.abs(vector))] >= 0 else -vector


def _plain(vector: np.ndarray) -> tuple[float, ...]:
    """Floats, in which rounding of numbers about 1 is an exact zero."""
    return tuple(0.0 if abs(v) < 1e-12 else float(v) for v in vector)
