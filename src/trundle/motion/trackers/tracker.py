"""A tracker: from what is wanted to a robot's inputs, by what the robot does.

    reference (a motion, or what a hand sets)
        ──► aims: what every wheel and steering shall do, by its rate's name   (`Aim`)
        ──► laws: inputs, by the error and by the motors' own physics          (`Law`)
        ──► inputs of `simulate` and `roll` (`Tracker.inputs`), or one step of a loop (`Tracker.command`)

What shows that it is right: on the motion itself the commands are those of inverse dynamics, to rounding, so that the
motion is a fixed point; beside it the error of a steering decays as (1 + b t) e^(−b t), the one of a pose as e^(−k t).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.mechanics.actuation import Actuator, Aim
from trundle.mechanics.assembly import Assembly
from trundle.model.motored_base import SPIN, STEER
from trundle.motion.drive.kinematics import Kinematics
from trundle.motion.drive.programs import ModuleStates
from trundle.robot import units
from trundle.scalars import Scalar
from trundle.simulation.signals import Signal, function


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
    require_gains(gains)
    given = {"wanted": wanted, "velocity": velocity, "pose": pose}
    goal, rate, here = (_three(part, key) for key, part in given.items())
    wish = rate + np.array([gains[0], gains[0], gains[1]]) * (goal - here)
    # The shorter way round: 2π more or less of the heading is the same pose.
    wish[2] = rate[2] + gains[1] * math.remainder(goal[2] - here[2], 2 * math.pi)
    local = complex(wish[0], wish[1]) * np.exp(-1j * here[2])
    return np.array([local.real, local.imag, wish[2]])


def require_gains(gains: object) -> None:
    """Raise InputError where gains aren't two positive numbers."""
    both = tuple(gains) if isinstance(gains, (Sequence, np.ndarray)) else ()
    if len(both) != 2 or not all(isinstance(gain, Real) and float(gain) > 0 for gain in both):
        message = f"expected two gains above 0 1/s, got {gains!r}"
        raise InputError(message, key="gains", hint="of places and of headings, such as (2, 2)")


def _three(given: npt.ArrayLike, key: str) -> FloatArray:
    """x, y, theta or their rates (3,); InputError for anything else."""
    numbers = as_numbers(given, key)
    if numbers.shape != (3,):
        raise InputError(f"expected x, y and theta, got an array of shape {numbers.shape}", key=key)
    return numbers


# From an aim, and states and outputs by name, to an input.
Law = Callable[[Aim, Mapping[str, float]], float]


@dataclass(frozen=True)
class ByTorque:
    """A motor that gives torques: τ = τ* + J b (b (q* − q) + 2 (q̇* − q̇)), and the command for it where the motor is.

    Where the inertia J is what moves, the error decays as (1 + b t) e^(−b t), critically damped. Without a
    `coordinate`, of wheels that turn for ever, τ = τ* + J b (q̇* − q̇): the error of the rate decays as e^(−b t).
    A motor that holds a rate is told the one at which its part of this vanishes, q̇* + b/2 (q* − q).
    """

    actuator: Actuator
    rate: str
    coordinate: str | None
    inertia: float
    bandwidth: float

    def __call__(self, aim: Aim, state: Mapping[str, float]) -> float:
        return float(self.command(self.aim_torque(*aim), state))

    def aim_torque(self, position: Scalar, rate: Scalar, torque: Scalar) -> Scalar:
        """The torque that an aim asks for at place and rate 0, of the aim alone; of arrays, too."""
        return self._back(position, rate) + (0.0 if self.actuator.motor.holds else torque)

    def command(self, wished: Scalar, state: Mapping[str, Scalar]) -> Scalar:
        """The command for it where the motor is, in any scalar."""
        position: Scalar = 0.0 if self.coordinate is None else state[self.coordinate]
        if self.actuator.motor.holds:
            return (wished - self._back(position, 0.0)) / self._back(0.0, 1.0)
        rate = state[self.rate]
        return self.actuator.command_for(wished - self._back(position, rate), position, rate)

    def _back(self, position: Scalar, rate: Scalar) -> Scalar:
        """J b (b q + 2 q̇), without a coordinate J b q̇."""
        wish = rate if self.coordinate is None else self.bandwidth * position + 2 * rate
        return self.inertia * self.bandwidth * wish


@dataclass(frozen=True)
class ByHeldTorque:
    """A motor whose commands are held from step to step, led to its aim (`Actuator.leading`).

    `ByTorque`'s command is that for the rate of its instant. Held, it would keep a steering there whose back-EMF is
    stronger than what it moves.
    """

    actuator: Actuator
    rate: str
    coordinate: str | None
    inertia: float
    bandwidth: float

    def __call__(self, aim: Aim, state: Mapping[str, float]) -> float:
        position = None if self.coordinate is None else state[self.coordinate]
        command = self.actuator.leading(aim, self.inertia, self.bandwidth, state[self.rate], position)
        return float(command)


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


# Aims at a time, for states and outputs by name; by the names of the rates that they are of.
Aims = Callable[[float, Mapping[str, float]], Mapping[str, Aim]]


def asked_together(
    answer: Callable[[float, Mapping[str, float]], Mapping[str, float]], names: Iterable[str]
) -> dict[str, Signal]:
    """Inputs by name as functions of time and state that one answer gives together."""
    # Their questions at one instant come with one and the same state: it is answered once.
    last: tuple[object, float, Mapping[str, float]] = (None, 0.0, {})

    def input_of(name: str) -> Callable[[float, Mapping[str, float]], float]:
        def follow(time: float, state: Mapping[str, float]) -> float:
            nonlocal last
            if last[0] is not state or last[1] != time:
                last = (state, time, answer(time, state))
            return last[2][name]

        return follow

    return {name: function(input_of(name), name) for name in names}


@dataclass(frozen=True, eq=False)
class Tracker:
    """What feeds a robot's inputs.

    Parameters
    ----------
    aims : callable
        (time, state) → what rates that are driven shall be, by name: the reference.
    laws : mapping of str to (str, callable)
        Of inputs that follow the state: the rate that the input drives, and from its aim and the state to the input.
    ahead : mapping of str to Signal
        Inputs that hang on time alone.
    """

    aims: Aims
    laws: Mapping[str, tuple[str, Law]]
    ahead: Mapping[str, Signal] = field(default_factory=dict)

    def command(self, time: float, state: Mapping[str, float]) -> dict[str, float]:
        """All inputs by name, for states and outputs at a time (s)."""
        fed = {name: signal.value(time) for name, signal in self.ahead.items()}
        return fed | self._followed(time, state)

    @property
    def inputs(self) -> dict[str, Signal]:
        """The same for `simulate` and `roll`, which ask for the inputs one by one."""
        return {**self.ahead, **asked_together(self._followed, self.laws)}

    def _followed(self, time: float, state: Mapping[str, float]) -> dict[str, float]:
        aims = self.aims(time, state) if self.laws else {}
        return {name: law(aims[rate], state) for name, (rate, law) in self.laws.items()}


def measured(kinematics: Kinematics, state: Mapping[str, float]) -> ModuleStates:
    """What modules do by a state; steering and rates that it doesn't hold count as 0."""
    steering = np.array([state.get(f"{name}.steering", 0.0) for name in kinematics.names])
    rolled = [float(wheel.radius) * state.get(f"{wheel.name}.rate", 0.0) for wheel in kinematics.modules]
    return kinematics.states(kinematics.headings + steering, rolled)


def module_aims(kinematics: Kinematics, wanted: ModuleStates) -> dict[str, Aim]:
    """Aims of wheels and steering, by their rates' names, for what modules shall do."""
    aims: dict[str, Aim] = {}
    for module, angle, speed in zip(kinematics.modules, wanted.angles, wanted.speeds, strict=True):
        aims[f"{module.name}.rate"] = Aim(0.0, float(speed) / float(module.radius))
        aims[f"{module.name}.steering_rate"] = Aim(float(angle) - float(module.heading), 0.0)
    return aims


def drive_laws(
    assembly: Assembly, inputs: Collection[str], inertia: Callable[[str], float]
) -> dict[str, tuple[str, Law]]:
    """The laws of those inputs that drive wheels on the base, their steering, or linkages that steer.

    A wheel's motor moves its share of the robot's mass; what a steering's moves (kg m²) is asked for by its rate.
    """
    speeds, actuators = assembly.speeds, {motor.command.name: motor for motor in assembly.actuators}
    wheels = [wheel for wheel in assembly.wheels if wheel.on_base and wheel.grips]
    spins = {wheel.spin for wheel in assembly.wheels}
    sharing = max(sum(motor.column in spins for motor in assembly.actuators), 1)
    share = sum(float(link.inertia.mass) for link in assembly.tree.links) / sharing
    spun = {
        speeds[wheel.spin]: share * float(wheel.radius) ** 2 for wheel in wheels if wheel.spin is not None
    }
    steering = {wheel.steering for wheel in wheels} | {linkage.axis.column for linkage in assembly.linkages}
    steered = {speeds[column] for column in steering if column is not None}

    def law_of(name: str) -> tuple[str, Law] | None:
        """The rate that an input drives, and its law by what its motor takes."""
        motor = actuators.get(name)
        rate = name if motor is None else speeds[motor.column]
        turns = rate in spun
        if not turns and rate not in steered:
            return None
        coordinate, bandwidth = (None, SPIN) if turns else (assembly.quantities.coordinate_of(rate), STEER)
        if motor is None or motor.motor.commands is units.RATE:
            return rate, ByRate(coordinate, bandwidth)
        if motor.motor.commands is units.ANGLE:
            # A motor that holds an angle can't drive what turns for ever.
            return None if turns else (rate, by_angle)
        if turns:
            return rate, ByTorque(motor, rate, coordinate, spun[rate], bandwidth)
        # asked for only here: the inertia of a steering takes a mass matrix
        return rate, ByHeldTorque(motor, rate, coordinate, inertia(rate), bandwidth)

    return {name: law for name in inputs if (law := law_of(name)) is not None}
