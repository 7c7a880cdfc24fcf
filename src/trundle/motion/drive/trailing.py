"""Wheels that trail behind a pivot which a motor turns, along a motion: how they stand follows from how the base moves.

With u the velocity of the pivot and ω the base's rate, by time or by a path's length, and c < 0 how far the contact is
ahead of the pivot, rolling asks α′ = −Im(u e^{−iα})/c − ω of the angle α.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from trundle.arrays import ComplexArray, FloatArray
from trundle.motion.drive.drive import Drive
from trundle.motion.drive.kinematics import Kinematics

if TYPE_CHECKING:
    from scipy.integrate import OdeSolution

# Angles are integrated to this (rad, and relative): limits are promised to 1e-6, slip to 1e-9.
_PRECISE = 1e-11

# Of the steps that integrating takes every so many are marks: looks between breaks see what happens between them.
_APART = 16

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
        if not self.end:
            return np.tile(self.start[self.places], (len(at), 1))
        angles = np.empty((len(at), len(self.places)))
        # both ends are reached by rounding only, and a place beyond one belongs to what lies beside it
        owner = np.clip(np.searchsorted(self._cuts, at, "right") - 1, 0, len(self._cuts) - 2)
        for piece in np.unique(owner).tolist():
            inside = owner == piece
            angles[inside] = self._solved[piece](at[inside]).T
        return angles

    @cached_property
    def marks(self) -> FloatArray:
        """Places between which angles change gently, closer where they swing round."""
        if not self.end:
            return np.zeros(1)
        return np.unique(np.concatenate([[*part.ts[::_APART], part.ts[-1]] for part in self._solved]))

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


def powered(who: Kinematics) -> Kinematics:
    """The wheels that plans are made for: those that trail and that no motor moves go where they are drawn."""
    driven = {motor.drives for motor in who.robot.motors.values()}
    kept = tuple(m for m in who.modules if not m.trails or {m.name, f"{m.name}.steering"} & driven)
    return replace(who, modules=kept)


def settled(drive: Drive, twist: FloatArray, angles: FloatArray) -> FloatArray:
    """Angles (m,) at which modules that trail stay as they are at a steady twist (3,), near those before (rad).

    Im(u e^{−iα}) = −ω c, with the contact behind: sin(arg u − α) = −ω c/|u|. About a place nearer to the pivot than
    its contact no angle stays; that at which it turns least is taken. The others' are as before, and of pivots that
    stand still.
    """
    u, placed = drive.velocities(twist), angles.copy()
    for k in np.flatnonzero(drive.trails & ~drive.still(u)).tolist():
        ahead = float(drive.modules[k].offset[0])
        aside = math.asin(float(np.clip(-twist[2] * ahead / np.abs(u[k]), -1.0, 1.0)))
        angle = float(np.angle(u[k])) - (aside if ahead < 0 else math.pi - aside)
        placed[k] = angle + 2 * math.pi * round((angles[k] - angle) / (2 * math.pi))
    return placed


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
