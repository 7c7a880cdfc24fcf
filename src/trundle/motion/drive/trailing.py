"""Wheels that trail behind a pivot which a motor turns, along a motion: how they stand follows from how the base moves.

With u the velocity of the pivot and ω the base's rate, by time or by a path's length, and c < 0 how far the contact is
ahead of the pivot, rolling asks α′ = −Im(u e^{−iα})/c − ω of the angle α.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.motion.drive.drive import Drive

if TYPE_CHECKING:
    from scipy.integrate import OdeSolution

# Angles are integrated to this (rad, and relative): limits are promised to 1e-6, slip to 1e-9.
_PRECISE = 1e-11

# What moves modules at places (n,), with derivatives: pivots' velocities (orders, n, m), the base's rate (orders, n).
Moving = Callable[[FloatArray], tuple[ComplexArray, FloatArray]]


@dataclass(frozen=True, eq=False)
class Trailing:
    """The angles of a drive's modules that trail, over a way from 0 to `end` on which `moving` says how they move.

    `start` are the angles of all modules (m,) where it begins (rad).
    """

    drive: Drive
    moving: Moving
    end: float
    start: FloatArray
    breaks: FloatArray = field(default_factory=lambda: np.zeros(0))

    @cached_property
    def places(self) -> list[int]:
        """Which modules trail."""
        return np.flatnonzero(self.drive.trails).tolist()

    def angles(self, at: FloatArray) -> FloatArray:
        """Their angles (n, trailing) in rad, at places of the way (n,)."""
        angles = np.empty((len(at), len(self.places)))
        # both ends are reached by rounding only, and a place beyond one belongs to what lies beside it
        owner = np.clip(np.searchsorted(self._cuts, at, "right") - 1, 0, len(self._cuts) - 2)
        for piece in np.unique(owner).tolist():
            inside = owner == piece
            angles[inside] = self._solved[piece](at[inside]).T
        return angles

    @cached_property
    def _cuts(self) -> FloatArray:
        """The ends of the dense solutions: the breaks, and both ends of the way."""
        inner = self.breaks[(self.breaks > 0) & (self.breaks < self.end)]
        return np.array([0.0, *np.unique(inner).tolist(), self.end])

    @cached_property
    def _solved(self) -> list[OdeSolution]:
        """Dense solutions between the cuts; they reach beyond both ends by rounding."""
        from scipy.integrate import solve_ivp

        angles, solved = self.start[self.places], []
        for first, last in pairwise(self._cuts.tolist()):
            # what holds up to a break is its left side's law
            ends = np.nextafter(last, first) if last > first else last
            found = solve_ivp(
                lambda at, held, ends=ends: self._rate(min(at, ends), held),
                (first, last),
                angles,
                method="DOP853",
                dense_output=True,
                rtol=_PRECISE,
                atol=_PRECISE,
            )
            angles = found.y[:, -1]
            solved.append(found.sol)
        return solved

    def _rate(self, at: float, angles: FloatArray) -> FloatArray:
        u, omega = self.moving(np.array([at]))
        return trailed(self.drive, u[:1], omega[:1], angles[None])[0][0, 0]


def trailed(
    drive: Drive,
    u: Sequence[ComplexArray] | ComplexArray,
    omega: Sequence[FloatArray] | FloatArray,
    angles: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Derivatives of the angles of modules that trail, from the first on, and of how far they roll, (orders, n,
    trailing) both.

    u: velocities of all modules' pivots and derivatives of them, (orders, n, m); omega: of the base's rate (orders, n);
    angles: of those that trail (n, trailing), in rad.
    """
    places = np.flatnonzero(drive.trails)
    ahead, left = (
        np.array([[float(part) for part in drive.modules[k].offset] for k in places]).reshape(-1, 2).T
    )
    back = np.exp(-1j * angles)
    local = [part[:, places] * back for part in u]  # u⁽ᵏ⁾ e^{−iα}
    turning: list[FloatArray] = []
    rolling: list[FloatArray] = []
    whole: list[ComplexArray] = []  # v = u e^{−iα} and its derivatives
    for order, part in enumerate(local):
        # v′ = u′ e^{−iα} − iα′ v, and so on: −i times what the product α′ v and those before it leave
        v = part
        if order == 1:
            v = part - 1j * turning[0] * whole[0]
        if order == 2:
            v = part - 1j * (turning[0] * local[1] + turning[1] * whole[0] + turning[0] * whole[1])
        whole.append(v)
        rate = np.asarray(omega[order])[:, None]
        turning.append(-v.imag / ahead - rate)
        rolling.append(v.real - left * (rate + turning[-1]))
    return np.array(turning), np.array(rolling)
