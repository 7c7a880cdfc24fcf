"""Laws of feedback: from an error to the twist of a base, and to the commands of motors.

`holonomic_twist` leads a pose back, `Homing` does so along a motion. A `Law` makes one input of an `Aim`, which says
what a wheel or a steering shall do, and of the state.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator
from trundle.motion.pieces.motion import Motion


def holonomic_twist(
    wanted: npt.ArrayLike,
    velocity: npt.ArrayLike,
    pose: npt.ArrayLike,
    gains: tuple[float, float] = (2.0, 2.0),
) -> FloatArray:
    """The twist that leads back to a moving pose: ξ = (R(−θ) (ṗ* + k (p* − p)), θ̇* + k_θ (θ* − θ)).

    A base that does it at once comes nearer as e^(−k t), position and heading each by itself.

    Parameters
    ----------
    wanted, velocity : array_like (3,), m, rad and their rates
        p*, θ*, and ṗ*, θ̇* in the world.
    pose : array_like (3,), m, rad
        p, θ.
    gains : tuple of two floats, 1/s, optional
        k and k_θ.

    Returns
    -------
    array (3,)
        v_x, v_y, ω in the base's frame.

    Raises
    ------
    InputError
        A gain is not positive.

    Examples
    --------
    >>> import trundle
    >>> trundle.holonomic_twist((1, 0, 0), (0.5, 0, 0), (0.9, 0, 0)).round(12).tolist()
    [0.7, 0.0, 0.0]
    """
    if not min(gains) > 0:
        raise InputError(f"expected gains > 0, got {gains}", key="gains")
    goal, rate, here = (as_numbers(part, "poses and velocities") for part in (wanted, velocity, pose))
    wish = rate + np.array([gains[0], gains[0], gains[1]]) * (goal - here)
    # The shorter way round: 2π more or less of the heading is the same pose.
    wish[2] = rate[2] + gains[1] * math.remainder(goal[2] - here[2], 2 * math.pi)
    local = complex(wish[0], wish[1]) * np.exp(-1j * here[2])
    return np.array([local.real, local.imag, wish[2]])


@dataclass(frozen=True, eq=False)
class Homing:
    """The twist that leads back to a motion, by `holonomic_twist` with its `gains` (1/s)."""

    motion: Motion
    gains: tuple[float, float] = (2.0, 2.0)

    def twist(self, time: float, pose: npt.ArrayLike, reached: float | None = None) -> FloatArray:
        """v_x, v_y, ω in the base's frame for a pose at a time (s); behind the motion's end it waits there.

        `reached` is the time whose velocity is wanted, where the base takes a while to have the twist.
        """
        end = self.motion.duration
        wanted = self.motion.poses([min(time, end)])[0]
        then = time if reached is None else reached
        velocity = self._velocity(then) if then <= end else np.zeros(3)
        return holonomic_twist(wanted, velocity, pose, self.gains)

    def _velocity(self, time: float) -> FloatArray:
        """ṗ and θ̇ in the world."""
        twist, theta = self.motion.samples([time]).twist[0], self.motion.poses([time])[0, 2]
        v = complex(twist[0], twist[1]) * np.exp(1j * theta)
        return np.array([v.real, v.imag, twist[2]])


class Aim(NamedTuple):
    """What a wheel or a steering shall do: be at a position (rad), turn at a rate (rad/s), and the torque (N m) that a
    motor needs for it as far as is known.
    """

    position: float
    rate: float
    torque: float = 0.0


# From an aim, and states and outputs by name, to an input.
Law = Callable[[Aim, Mapping[str, float]], float]


@dataclass(frozen=True)
class ByTorque:
    """A motor that gives torques: τ = τ* + J b (b (q* − q) + 2 (q̇* − q̇)), and the command for it where the motor is.

    Where the inertia J is what moves, the error decays as (1 + b t) e^(−b t), critically damped. Without a
    `coordinate`, of wheels that turn for ever, τ = τ* + J b (q̇* − q̇): the error of the rate decays as e^(−b t).
    """

    actuator: Actuator
    rate: str
    coordinate: str | None
    inertia: float
    bandwidth: float

    def __call__(self, aim: Aim, state: Mapping[str, float]) -> float:
        rate = state[self.rate]
        position = 0.0 if self.coordinate is None else state[self.coordinate]
        slower = aim.rate - rate
        behind = (
            slower if self.coordinate is None else self.bandwidth * (aim.position - position) + 2 * slower
        )
        torque = aim.torque + self.inertia * self.bandwidth * behind
        return float(self.actuator.command_for(torque, position, rate))


@dataclass(frozen=True)
class ByRate:
    """A rate that is set, or a motor that holds rates: q̇* + b (q* − q), of wheels without a `coordinate` q̇*."""

    coordinate: str | None
    bandwidth: float

    def __call__(self, aim: Aim, state: Mapping[str, float]) -> float:
        if self.coordinate is None:
            return aim.rate
        return aim.rate + self.bandwidth * (aim.position - state[self.coordinate])


def by_angle(aim: Aim, state: Mapping[str, float]) -> float:
    """A motor that holds angles by itself: q*."""
    return aim.position
