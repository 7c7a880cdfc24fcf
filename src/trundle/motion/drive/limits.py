"""What a module can do: limits of its steering and of its drive, as a description declares them."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Literal

from trundle.errors import InputError
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
        if self.steering_range is not None and not self.steering_range[0] < self.steering_range[1]:
            raise InputError(
                f"the range from {self.steering_range[0]:g} to {self.steering_range[1]:g} rad holds no angle",
                key="steering_range",
                hint="give (least, greatest)",
            )

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
