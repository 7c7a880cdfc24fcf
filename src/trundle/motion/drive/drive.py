"""The drive: all wheels on a base in numbers, what a twist asks of them, and how far and how fast each may go.

Velocities and places in the plane are complex numbers here, u = u_x + i u_y. With u = v + ω × r the velocity of a
wheel's place, a wheel that points along it has angle and speed in ln u = ln |u| + iα, and their rates in its
derivatives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trundle.arrays import BoolArray, ComplexArray, FloatArray
from trundle.errors import InputError, suggest
from trundle.mechanics.steering import STILL
from trundle.motion.drive.half_turns import SLACK
from trundle.motion.drive.limits import Limits
from trundle.motion.drive.modules import Module, followed, pointed


@dataclass(frozen=True, eq=False)
class Drive:
    """The wheels on a base with their limits; arrays are in the order of `modules`.

    Parameters
    ----------
    modules : tuple of Module
        In numbers.
    limits : tuple of Limits
        Of the modules.
    """

    modules: tuple[Module, ...]
    limits: tuple[Limits, ...]

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The modules' names."""
        return tuple(module.name for module in self.modules)

    @cached_property
    def map(self) -> ComplexArray:
        """The matrix (3, m) of u = ξ · map: the modules' velocities at the three unit twists."""
        units = np.eye(3).tolist()
        return np.array([[complex(*m.velocity(unit)) for m in self.modules] for unit in units])

    @cached_property
    def places(self) -> ComplexArray:
        """Where the modules stand on the base, (m,) in m."""
        return np.array([complex(*module.place) for module in self.modules])

    @cached_property
    def headings(self) -> FloatArray:
        """The modules' angles without steering, (m,) in rad."""
        return np.array([module.heading for module in self.modules], dtype=float)

    @cached_property
    def points(self) -> BoolArray:
        """Which modules turn so as to roll along their places' velocities, (m,)."""
        return np.array([module.points for module in self.modules])

    @cached_property
    def axes(self) -> FloatArray:
        """(m, 3): the twists that turn about the modules, of unit length."""
        turning = np.stack([self.places.imag, -self.places.real, np.ones(len(self.modules))], axis=1)
        return turning / np.linalg.norm(turning, axis=1, keepdims=True)

    @cached_property
    def steering(self) -> FloatArray:
        """(3, m): the largest rate, acceleration and jerk of steering."""
        return np.array([[x.steering_rate, x.steering_acceleration, x.steering_jerk] for x in self.limits]).T

    @cached_property
    def rolling(self) -> FloatArray:
        """(3, m): the largest speed, acceleration and jerk of rolling."""
        return np.array([[x.drive_speed, x.drive_acceleration, x.drive_jerk] for x in self.limits]).T

    @cached_property
    def ranges(self) -> FloatArray:
        """(2, m): the least and the greatest angles of the modules."""
        return np.array([x.steering_range or (-np.inf, np.inf) for x in self.limits]).T

    def limited(self, limits: Limits | Mapping[str, Limits] | None) -> Drive:
        """The same under other limits: one for all modules, or by their names; None keeps those that it has."""
        if limits is None:
            return self
        if isinstance(limits, Limits):
            return replace(self, limits=(limits,) * len(self.modules))
        for name in limits:
            if name not in self.names:
                raise InputError(f"there is no module {name!r}", key="limits", hint=suggest(name, self.names))
        missing = [name for name in self.names if name not in limits]
        if missing:
            raise InputError(f"limits lack {', '.join(missing)}", key="limits")
        return replace(self, limits=tuple(limits[name] for name in self.names))

    def velocities(self, twist: npt.ArrayLike) -> ComplexArray:
        """u of the modules' places, (…, m) in m/s, of twists (…, 3)."""
        return np.asarray(twist, dtype=float) @ self.map

    def pointed(self, twist: Sequence[float]) -> tuple[FloatArray, FloatArray]:
        """The angles and speeds (m,) of wheels that all roll forward at a twist (3,).

        In floats: compiling a program takes longer than the few states that plans and commands ask for.
        """
        states = np.array([pointed(module, twist) for module in self.modules], dtype=float)
        return states[:, 0], states[:, 1]

    def followed(self, twist: Sequence[float], angles: FloatArray, speeds: FloatArray) -> FloatArray:
        """The states at a twist (3,), on from angles and speeds (m,): angles, speeds and steering rates, (3, m)."""
        states = followed(self.modules, twist, angles.tolist(), speeds.tolist())
        return np.array(states, dtype=float).T

    def still(self, u: ComplexArray) -> BoolArray:
        """Which modules stand still at velocities u (…, m): see `STILL`."""
        sizes = np.abs(u)
        return sizes <= STILL * np.maximum(sizes.max(axis=-1, keepdims=True), 1.0)

    def beyond(self, angles: FloatArray) -> FloatArray:
        """By how much angles (…, m) are outside the modules' ranges, in rad; 0 within rounding of them."""
        lower, upper = self.ranges
        outside = np.maximum(lower - angles, angles - upper)
        return np.where(outside <= SLACK, 0.0, outside)

    @cached_property
    def _rollers(self) -> ComplexArray:
        """(m,): a + ib along and across a wheel, the only direction in which rollers are pushed; 0 without rollers."""
        return np.array([complex(*map(float, m.rollers)) if m.rollers else 0j for m in self.modules])

    def rolling_axes(self, angles: FloatArray) -> ComplexArray:
        """What a module's velocity u is multiplied with for its speed, s = Re(k* u): k = e^{iα} (1 + i b/a), along the
        wheel or, of one with rollers, along their axes seen from there.
        """
        slopes = [float(m.rollers[1]) / float(m.rollers[0]) if m.rollers else 0.0 for m in self.modules]
        return np.exp(1j * angles) * (1 + 1j * np.array(slopes))

    def slips(self, u: ComplexArray, angles: FloatArray, speeds: FloatArray) -> FloatArray:
        """How fast wheels slide in the directions in which the ground holds them, (n, m) in m/s: |u − s e^{iα}|, with
        rollers its part along their axes.
        """
        turn = np.exp(1j * angles)
        sliding = u - speeds * turn
        pushed = np.abs((np.conj(self._rollers * turn) * sliding).real)
        return np.where(self._rollers == 0, np.abs(sliding), pushed)

    def agreed(self, rims: ComplexArray) -> FloatArray:
        """The twists (n, 3) at which the wheels slip least, by least squares over their rims' velocities w (n, m)."""
        directions, owners, inverse = self._least_squares
        return (directions.conj() * rims[:, owners]).real @ inverse.T

    @cached_property
    def _least_squares(self) -> tuple[ComplexArray, list[int], FloatArray]:
        """Of all slip velocities that the ground holds: their directions, their modules, and the pseudoinverse of their
        rows over the twist (3, rows).
        """
        held = [
            (direction, place)
            for place, (rollers, heading) in enumerate(zip(self._rollers, self.headings, strict=True))
            for direction in ((rollers * np.exp(1j * heading),) if rollers else (1.0, 1j))
        ]
        directions, owners = np.array([d for d, _ in held], dtype=complex), [place for _, place in held]
        rows = (directions.conj() * self.map[:, owners]).real.T
        return directions, owners, np.asarray(np.linalg.pinv(rows), dtype=np.float64)

    def agreeing(self, angles: FloatArray, speeds: FloatArray) -> FloatArray:
        """The twists (n, 3) that the modules' angles and speeds (n, m) make, by least squares of slip."""
        return self.agreed(np.asarray(speeds * np.exp(1j * angles), dtype=np.complex128))


@dataclass(frozen=True, eq=False)
class LogRates:
    """Derivatives of ln u = ln |u| + iα by time or length: `inverse` is 1/u, `orders` (3, …) are the first three."""

    inverse: ComplexArray
    orders: ComplexArray

    @property
    def steering(self) -> FloatArray:
        """(3, …): rate, acceleration and jerk of the angle."""
        return self.orders.imag

    @property
    def growth(self) -> tuple[FloatArray, FloatArray]:
        """|u|′/|u| and |u|″/|u|: Re w and Re w′ + (Re w)² of w = u′/u."""
        first = self.orders[0].real
        return first, self.orders[1].real + first**2


def log_rates(u: Sequence[ComplexArray] | ComplexArray) -> LogRates:
    """The first three derivatives of ln u, from u ≠ 0 and its derivatives (4, …).

    w = u̇/u (its imaginary part is (u × u̇)/|u|², its real one u·u̇/|u|²), ẇ = ü/u − w², ẅ = u⃛/u − 3 w ü/u + 2 w³.
    """
    inverse = 1 / u[0]
    first, second = u[1] * inverse, u[2] * inverse
    square = first * first
    third = u[3] * inverse - 3 * first * second + 2 * first * square
    return LogRates(inverse, np.array([first, second - square, third]))
