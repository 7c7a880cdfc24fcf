"""The drive: all wheels on a base in numbers, what a twist asks of them, and how far and how fast each may go.

Velocities and places in the plane are complex numbers here, u = u_x + i u_y. With u = v + ω × r the velocity of a
wheel's place, a wheel that points along it has angle and speed in ln u = ln |u| + iα, and their rates in its
derivatives.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from trundle.arrays import BoolArray, ComplexArray, FloatArray, as_numbers
from trundle.errors import InputError, require_known
from trundle.expected import check_type
from trundle.mechanics.modules import ALIGNED, SLACK, Module, followed, pointed
from trundle.mechanics.steering import STILL
from trundle.robot import Read, Robot, RollingWheel, Value

LimitedQuantity = Literal[
    "steering_rate",
    "steering_acceleration",
    "steering_jerk",
    "drive_speed",
    "drive_acceleration",
    "drive_jerk",
]

# The quantities that limits hold, with their units and the order of the derivative of a twist that they hang on:
# slowing a motion k times divides it by k to that power.
QUANTITIES: dict[LimitedQuantity, tuple[str, int]] = {
    "steering_rate": ("rad/s", 1),
    "steering_acceleration": ("rad/s^2", 2),
    "steering_jerk": ("rad/s^3", 3),
    "drive_speed": ("m/s", 0),
    "drive_acceleration": ("m/s^2", 1),
    "drive_jerk": ("m/s^3", 2),
}


@dataclass(frozen=True)
class Limits:
    """What one module can do at most, in either direction; inf where nothing is declared.

    Parameters
    ----------
    steering_rate : float, rad/s
    steering_acceleration : float, rad/s^2
    steering_jerk : float, rad/s^3
    drive_speed : float, m/s
        Of the wheel's rolling, R times its rate.
    drive_acceleration : float, m/s^2
    drive_jerk : float, m/s^3
    steering_range : tuple of two floats, rad, optional
        The least and the greatest angle in the body's frame; None where it turns without end.

    Raises
    ------
    InputError
        A limit is not positive, or a range holds nothing.
    """

    steering_rate: float = math.inf
    steering_acceleration: float = math.inf
    steering_jerk: float = math.inf
    drive_speed: float = math.inf
    drive_acceleration: float = math.inf
    drive_jerk: float = math.inf
    steering_range: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Refuse limits that let nothing move, NaN among them, and ranges that hold no angle."""
        for name in QUANTITIES:
            limit = getattr(self, name)
            if not isinstance(limit, numbers.Real) or not float(limit) > 0:
                raise InputError(f"expected a positive {name}, got {limit!r}", key=name, hint="in SI units")
        if self.steering_range is None:
            return
        ends = as_numbers(self.steering_range, "steering_range")
        if ends.shape != (2,) or not ends[0] < ends[1]:
            message = f"the range {self.steering_range!r} rad holds no angle"
            raise InputError(message, key="steering_range", hint="give (least, greatest)")

    def of(self, quantity: LimitedQuantity) -> float:
        """The limit of one quantity.

        Parameters
        ----------
        quantity : str
            Its name, such as "steering_rate".

        Returns
        -------
        float
            In its unit; inf where there is none.

        Raises
        ------
        AttributeError
            There is no such quantity.

        Examples
        --------
        >>> import trundle
        >>> trundle.Limits(steering_rate=2).of("steering_rate")
        2.0
        """
        return float(getattr(self, quantity))

    @property
    def declared(self) -> tuple[LimitedQuantity, ...]:
        """The quantities that have a finite limit."""
        return tuple(name for name in QUANTITIES if math.isfinite(self.of(name)))


def limits_of(robot: Robot) -> dict[str, Limits]:
    """The limits that a description declares for the wheels that roll, by their names."""
    read = robot.resolver()
    return {name: _limits(wheel, read) for name, wheel in robot.rolling.items()}


def _limits(wheel: RollingWheel, read: Read) -> Limits:
    def number(key: str, otherwise: float) -> float:
        value = getattr(wheel.limits, key, None)
        return float(read(value)) if isinstance(value, Value) else otherwise

    heading = float(read(wheel.heading))
    ends = heading + number("lower", -math.inf), heading + number("upper", math.inf)
    bounded = any(map(math.isfinite, ends))
    return Limits(*(number(name, math.inf) for name in QUANTITIES), steering_range=ends if bounded else None)


@dataclass(frozen=True, eq=False)
class Drive:
    """The wheels on a base with their limits; arrays are in the order of `modules`.

    Parameters
    ----------
    modules : tuple of Module
        In numbers.
    limits : tuple of Limits
        Of the modules.
    robot : Robot, optional
        Whose further constraints count.
    """

    modules: tuple[Module, ...]
    limits: tuple[Limits, ...]
    robot: Robot | None = None

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
        return np.array([module.is_steered for module in self.modules])

    @cached_property
    def slides(self) -> bool:
        """Whether wheels slide for the base to turn: all hold one direction, stand one behind the other, and slip."""
        if not all(m.is_fixed and m.slips for m in self.modules) or np.ptp(self.headings) > SLACK:
            return False
        return bool(np.ptp((self.places * np.exp(-1j * self.headings)).real) > ALIGNED)

    @property
    def holding(self) -> tuple[Module, ...]:
        """The modules across which the base can't go: those that hold their direction; of a base whose wheels slide to
        turn one at its origin.
        """
        held = tuple(m for m in self.modules if m.is_fixed)
        return (replace(held[0], place=(0.0, 0.0)),) if self.slides else held

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
        if not isinstance(limits, Mapping):
            motors = isinstance(limits, str) and limits == "motors"
            hint = "motor_limits(robot) gives those of its motors" if motors else None
            message = f"expected trundle.Limits, or a mapping of them by module, got {limits!r}"
            raise InputError(message, key="limits", hint=hint)
        for name in limits:
            require_known(name, self.names, f"there is no module {name!r}", key="limits")
        missing = [name for name in self.names if name not in limits]
        if missing:
            raise InputError(f"limits lack {', '.join(missing)}", key="limits")
        return replace(self, limits=tuple(check_type(limits[name], Limits, name) for name in self.names))

    def angles_by_name(self, angles: Mapping[str, float]) -> FloatArray:
        """The modules' angles (m,) in rad by their names; modules without one stand along their headings."""
        for name in angles:
            require_known(name, self.names, f"there is no module {name!r}", key="angles")
        pairs = zip(self.names, self.headings.tolist(), strict=True)
        return np.array([angles.get(name, heading) for name, heading in pairs])

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

    def at_contacts(self, u: ComplexArray, angles: FloatArray, turning: FloatArray) -> ComplexArray:
        """The velocities of the modules' contacts as forks carry them, u + (ω + δ̇) (c₁ n − c₂ e), (n, m) in m/s: of
        pivots' velocities u, angles, and rates ω + δ̇ at which the forks turn in the world.
        """
        return u + turning * self._offsets * np.exp(1j * angles)

    @cached_property
    def _offsets(self) -> ComplexArray:
        """(m,): i c₁ − c₂ of contacts that lie c₁ ahead and c₂ to the left of pivots (m)."""
        return np.array(
            [complex(-float(m.offset[1]), float(m.offset[0])) if m.pivots else 0j for m in self.modules]
        )

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


def require_speeds(drive: Drive) -> None:
    """InputError where nothing limits how fast a module rolls."""
    for module, limits in zip(drive.modules, drive.limits, strict=True):
        if not math.isfinite(limits.drive_speed):
            raise InputError(
                f"nothing limits how fast {module.name} rolls",
                key=f"robot.wheels.{module.name}.limits.drive_speed",
                hint="declare `limits: {drive_speed: ...}` of the wheel, or give limits=Limits(drive_speed=...), or "
                "give its motor a voltage_limit or a battery (and the body its mass); on slopes, and where "
                "wheels slide to turn, plans keep to declared limits alone",
            )


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


def product_rates(
    a: Sequence[FloatArray] | FloatArray, b: Sequence[FloatArray] | FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """A product a b and its first two derivatives, from those of its factors."""
    return a[0] * b[0], a[0] * b[1] + a[1] * b[0], a[0] * b[2] + 2 * a[1] * b[1] + a[2] * b[0]


def log_rates(u: Sequence[ComplexArray] | ComplexArray) -> LogRates:
    """The first three derivatives of ln u, from u ≠ 0 and its derivatives (4, …).

    w = u̇/u (its imaginary part is (u × u̇)/|u|², its real one u·u̇/|u|²), ẇ = ü/u − w², ẅ = u⃛/u − 3 w ü/u + 2 w³.
    """
    inverse = 1 / u[0]
    first, second = u[1] * inverse, u[2] * inverse
    square = first * first
    third = u[3] * inverse - 3 * first * second + 2 * first * square
    return LogRates(inverse, np.array([first, second - square, third]))
