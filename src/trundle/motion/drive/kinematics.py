"""Kinematics of a drive in numbers: from the base's twist to its wheels' angles and speeds, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray, as_numbers
from trundle.errors import InputError
from trundle.mechanics.modules import Module, modules_of
from trundle.model.arguments import Given, robot_of
from trundle.model.mechanism import mechanism
from trundle.motion.drive.drive import Drive, Limits, limits_of
from trundle.motion.drive.programs import (
    ModuleRates,
    ModuleStates,
    affine_slip,
    agreeing,
    following,
    in_numbers,
    lanes,
    pointing,
    speeding,
    twist_lanes,
)
from trundle.program import Program, compile_program
from trundle.robot import Robot

_Call = Callable[..., tuple[FloatArray, ...]]


@dataclass(frozen=True, repr=False)
class Kinematics:
    """u = A ξ: the velocities u of a drive's wheels from its base's twist ξ = (v_x, v_y, ω), in the base's frame.

    `modules` are the wheels on the base that touch the ground, in the robot's order; wheels of trailers and balls
    are none. Everything takes one twist or a batch of them and runs as a compiled program.

    Examples
    --------
    >>> import trundle
    >>> kinematics = trundle.kinematics(trundle.catalog.swerve())
    >>> states = kinematics.module_states(1.0, 0.0, 1.0)
    >>> states.speeds.round(3).tolist()
    [0.707, 0.707, 1.581, 1.581]
    >>> kinematics.twist(states).round(12).tolist()
    [1.0, 0.0, 1.0]
    """

    robot: Robot
    modules: tuple[Module, ...]

    @property
    def name(self) -> str:
        """The robot's name."""
        return self.robot.name

    @cached_property
    def drive(self) -> Drive:
        """The modules with the limits that the description declares."""
        declared = limits_of(self.robot)
        limits = tuple(declared.get(module.name, Limits()) for module in self.modules)
        return Drive(self.modules, limits, self.robot)

    @property
    def names(self) -> tuple[str, ...]:
        """The modules' names."""
        return self.drive.names

    @cached_property
    def places(self) -> FloatArray:
        """Where the modules stand on the base, (m, 2) in m."""
        return np.array([module.place for module in self.modules], dtype=float)

    @property
    def headings(self) -> FloatArray:
        """The modules' angles without steering, (m,) in rad: a module's angle is its heading plus its steering."""
        return self.drive.headings

    @cached_property
    def matrix(self) -> FloatArray:
        """A (2 m, 3) in u = A ξ: rows (1, 0, −y) and (0, 1, x) of the modules."""
        columns = self.drive.map.T
        return np.stack([columns.real, columns.imag], axis=1).reshape(-1, 3)

    @cached_property
    def inverse(self) -> Program:
        """Twist → angle, speed, steering rate, every wheel rolling forward; for arrays (3, count)."""
        return pointing(in_numbers(self.modules))

    @cached_property
    def following(self) -> Program:
        """Twist, angle, speed → angle, speed, steering rate: on from the states that the modules are in."""
        return following(in_numbers(self.modules))

    @cached_property
    def speeding(self) -> Program:
        """Twist, its rate, angle → steering rate, drive acceleration and steering acceleration."""
        return speeding(in_numbers(self.modules))

    @cached_property
    def forward(self) -> Program:
        """Angle, speed, steering rate → twist and slip, by least squares over all wheels."""
        return agreeing(in_numbers(self.modules))

    def module_states(
        self, vx: npt.ArrayLike, vy: npt.ArrayLike, omega: npt.ArrayLike, previous: ModuleStates | None = None
    ) -> ModuleStates:
        """The angles and speeds at which no wheel slips, as far as its kind allows.

        Parameters
        ----------
        vx, vy : float or array (n,), m/s
            Velocity of the base, in its frame.
        omega : float or array (n,), rad/s
            Its turning rate.
        previous : ModuleStates, optional
            What the modules do before. Wheels then turn from these angles without a jump, roll backward where that
            saves turning, all choosing together, and hold their angles where they stand still. Without it all roll
            forward, at angles within (−π, π]; a wheel that stands still has its angle without steering.

        Returns
        -------
        ModuleStates
            Arrays (m,), or (n, m) for batches.

        Raises
        ------
        InputError
            The twist is not of finite numbers, or `previous` of another number of modules.
        """
        twist = twist_lanes(vx, vy, omega)
        if previous is None:
            one, many = self._inverse
            return self._states(one(twist) if twist.ndim == 1 else many(twist))
        angles, speeds = lanes(previous.angles), lanes(previous.speeds)
        one, many = self._following
        return self._states((one if twist.ndim == angles.ndim == 1 else many)(twist, angles, speeds))

    def states(
        self, angles: npt.ArrayLike, speeds: npt.ArrayLike, steering_rates: npt.ArrayLike = 0.0
    ) -> ModuleStates:
        """What was measured of all modules, or is wanted of them, in the order of `names`.

        Parameters
        ----------
        angles : array (m,) or (n, m), rad
            Along which they roll, in the base's frame.
        speeds : array (m,) or (n, m), m/s
            Negative backward.
        steering_rates : array (m,) or (n, m), rad/s
            They count for wheels whose contact is beside its pivot.

        Returns
        -------
        ModuleStates
            The same, of one shape.

        Raises
        ------
        InputError
            There are not as many numbers as modules, or one is not finite.
        """
        try:
            parts = np.broadcast_arrays(
                *(as_numbers(values, "states of modules") for values in (angles, speeds, steering_rates))
            )
        except (TypeError, ValueError):
            parts = [np.zeros(0)]
        if parts[0].ndim not in (1, 2) or parts[0].shape[-1] != len(self.modules):
            wanted = f"({len(self.modules)},) or (n, {len(self.modules)}): {', '.join(self.names)}"
            raise InputError(
                f"angles and speeds of the modules don't fit: expected arrays {wanted}", key="angles"
            )
        if not np.isfinite(parts).all():
            raise InputError("angles and speeds hold something that is not a finite number", key="angles")
        return ModuleStates(self.names, *parts)

    def module_rates(
        self, twist: npt.ArrayLike, twist_rate: npt.ArrayLike, states: ModuleStates
    ) -> ModuleRates:
        """Steering rates and drive accelerations that keep wheels rolling while the twist changes.

        δ̇ = n·u̇/s and ṡ = e·u̇ with u̇ = v̇ + ω̇ × r (derivatives of the components in the base's frame).

        Parameters
        ----------
        twist, twist_rate : array (3,) or (n, 3)
            v_x, v_y (m/s), ω (rad/s), and their derivatives.
        states : ModuleStates
            What `module_states` gives for this twist.

        Returns
        -------
        ModuleRates
            A wheel that stands still while its place is accelerated across it has an infinite steering rate.
        """
        groups = lanes(twist), lanes(twist_rate), lanes(states.angles)
        outputs = compile_program(self.speeding)(*groups)
        return ModuleRates(self.names, *(output.T for output in outputs))

    def twist_rate(self, states: ModuleStates, rates: ModuleRates) -> FloatArray:
        """ξ̇: how fast the twist of least squares changes while the modules' angles and speeds do.

        ξ̇ = ∂ξ/∂α δ̇ + ∂ξ/∂s ṡ (+ ∂ξ/∂δ̇ δ̈ of wheels beside their pivots).

        Parameters
        ----------
        states : ModuleStates
            Angles and speeds.
        rates : ModuleRates
            Their derivatives.

        Returns
        -------
        array (3,) or (n, 3)
            v̇_x, v̇_y (m/s²) and ω̇ (rad/s²), derivatives of the components in the base's frame.

        Raises
        ------
        InputError
            The wheels leave a motion of the base free.
        """
        self._require_determined()
        _, *slopes = compile_program(self._slopes)(*_groups(states))
        moved = (rates.steering_rates, rates.drive_accelerations, rates.steering_accelerations)
        count = len(self.modules)
        total = np.zeros(())
        for slope, rate in zip(slopes, moved, strict=True):
            matrix = slope.reshape(3, count, *slope.shape[1:])
            total = total + np.einsum("ij...,j...->i...", matrix, lanes(rate))
        return total.T

    def twist(self, states: ModuleStates) -> FloatArray:
        """The twist ξ that makes Σ |A ξ − u|² of the wheels' slips least.

        Parameters
        ----------
        states : ModuleStates
            Angles and speeds of all modules.

        Returns
        -------
        array (3,) or (n, 3)
            v_x, v_y (m/s) and ω (rad/s), in the base's frame.

        Raises
        ------
        InputError
            The wheels leave a motion of the base free.
        """
        return self._agreed(states)[0]

    def slip(self, states: ModuleStates) -> FloatArray:
        """How fast the wheels slip on the ground, |(1 − A A⁺) u|, at the twist of least squares.

        Parameters
        ----------
        states : ModuleStates
            Angles and speeds of all modules.

        Returns
        -------
        array (m,) or (n, m)
            In m/s.

        Raises
        ------
        InputError
            The wheels leave a motion of the base free.
        """
        return self._agreed(states)[1]

    def desaturate(self, states: ModuleStates, limit: npt.ArrayLike) -> ModuleStates:
        """The same motion, slowed so that no wheel is faster than its limit: all speeds by one factor.

        Parameters
        ----------
        states : ModuleStates
            Angles and speeds.
        limit : float or array (m,), m/s
            The largest speed of all wheels, or theirs one by one.

        Returns
        -------
        ModuleStates
            The same angles; the base moves in the same direction about the same centre.

        Raises
        ------
        InputError
            A limit is not positive, or there are not as many as modules.
        """
        bound = as_numbers(limit, "limits")
        if bound.shape not in ((), (len(self.names),)) or not (bound > 0).all():
            many = f"one or {len(self.names)}"
            raise InputError(f"expected positive limits, {many}, got {limit!r}", key="limit")
        worst = np.max(np.abs(states.speeds) / bound, axis=-1, keepdims=True)
        factor = 1 / np.maximum(worst, 1.0)
        return replace(states, speeds=states.speeds * factor, steering_rates=states.steering_rates * factor)

    @cached_property
    def _inverse(self) -> tuple[_Call, _Call]:
        return _calls(self.inverse)

    @cached_property
    def _following(self) -> tuple[_Call, _Call]:
        return _calls(self.following)

    @cached_property
    def _forward(self) -> tuple[_Call, _Call]:
        return _calls(self.forward)

    @cached_property
    def _slopes(self) -> Program:
        slopes = self.forward.with_jacobians("twist", "angle", "speed", "steering_rate")
        return replace(slopes, name="twist_slopes")

    def __repr__(self) -> str:
        return f"<Kinematics of {self.name}: {', '.join(self.names)}>"

    def _states(self, outputs: tuple[FloatArray, ...]) -> ModuleStates:
        angles, speeds, *trailing = outputs
        rates = np.zeros_like(angles)
        for rate in trailing:
            rates[self._trailing] = rate
        return ModuleStates(self.names, angles.T, speeds.T, rates.T)

    @cached_property
    def _trailing(self) -> list[int]:
        return [k for k, module in enumerate(self.modules) if module.is_caster]

    def _agreed(self, states: ModuleStates) -> tuple[FloatArray, ...]:
        self._require_determined()
        groups = _groups(states)
        one, many = self._forward
        outputs = (one if max(group.ndim for group in groups) == 1 else many)(*groups)
        return tuple(output.T for output in outputs)

    def _require_determined(self) -> None:
        if not self.determined:
            raise InputError(
                f"the wheels on the base of '{self.name}' leave one of its motions free",
                hint="more wheels on the base tell it",
            )

    @cached_property
    def determined(self) -> bool:
        """Whether every motion of the base turns or drags some wheel, at almost all angles."""
        # a rank is the same at almost all angles: any that no symmetry chooses will do, the same every time
        angles = np.random.default_rng(0).uniform(-1.2, 1.2, len(self.modules))
        rows = [
            row
            for module, angle in zip(self.modules, angles, strict=True)
            for row, _ in affine_slip(module, module.along(angle))
        ]
        return bool(np.linalg.matrix_rank(np.array(rows, dtype=float)) == 3)


def kinematics(robot: Given) -> Kinematics:
    """The kinematics of a robot's drive: from twists of its base to its wheels' angles and speeds, and back.

    u = A ξ over the wheels on the base, ξ = A⁺ u back.

    Parameters
    ----------
    robot : Robot, Model, Document, path or mapping
        Whose wheels; of a model those of the robot that it was derived from.

    Returns
    -------
    Kinematics
        Its modules, and the verbs on them.

    Raises
    ------
    InputError
        The base isn't planar, no wheel on it touches the ground, or gears tie the steering of one to something else. An
        Ackermann linkage doesn't: its wheels point at the centre of rotation, too.

    References
    ----------
    Muir & Neuman 1987, "Kinematic modeling of wheeled mobile robots".

    Examples
    --------
    >>> import trundle
    >>> trundle.kinematics(trundle.catalog.mecanum()).module_states(0, 1.0, 0).speeds.round(12).tolist()
    [-1.0, 1.0, 1.0, -1.0]
    """
    described = robot_of(robot, "kinematics", "it has no wheels")
    if described.base != "planar":
        raise InputError(
            f"kinematics need a planar base, and '{described.name}' has a {described.base} one",
            key="robot.base",
        )
    modules = modules_of(mechanism(described, terrain=True).assembly)
    if not modules:
        raise InputError(f"no wheel on the base of '{described.name}' touches the ground", key="robot.wheels")
    return Kinematics(described, modules)


def _calls(program: Program) -> tuple[_Call, _Call]:
    """A program as a function of one state, which takes no time to look at it, and of batches."""
    kernel = compile_program(program)
    return kernel.single(), kernel


def _groups(states: ModuleStates) -> tuple[FloatArray, ...]:
    """States as the groups of inputs of `forward`."""
    return lanes(states.angles), lanes(states.speeds), lanes(states.steering_rates)


def planned(who: Kinematics) -> Kinematics:
    """The wheels that plans are made for: casters that no motor moves go where they are drawn.

    InputError where a motor drives one: how it stands hangs on where the base went before.
    """
    driven = {motor.drives for motor in who.robot.motors.values()}
    for module in who.modules:
        if module.is_caster and {module.name, f"{module.name}.steering"} & driven:
            raise InputError(
                f"a motor drives the caster {module.name!r}, and no motions are planned for such wheels",
                key=f"robot.wheels.{module.name}",
                hint="kinematics(robot).module_states gives its wheels' rates for a twist; roll takes these, and "
                "simulate its motors' inputs",
            )
    return replace(who, modules=tuple(module for module in who.modules if not module.is_caster))
