"""Kinematics of a drive in numbers: from the base's twist to its wheels' angles and speeds, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from trundle.errors import InputError
from trundle.mechanics.assembly import assemble
from trundle.model.arguments import Given, robot_of
from trundle.motion.module_programs import affine_slip, agreeing, following, pointing
from trundle.motion.modules import Module, modules_of
from trundle.program import Program, compile_program
from trundle.results.arrays import FloatArray

_Call = Callable[..., tuple[FloatArray, ...]]


@dataclass(frozen=True, eq=False)
class ModuleStates:
    """What wheels do at one moment, or at many: arrays (m,) or (n, m) in the order of `names`.

    angles: along which they roll, in the base's frame (rad); speeds: R φ̇ (m/s), negative backward; steering_rates:
    of wheels whose contact is ahead of or behind its pivot, which a twist of the base turns (rad/s), else 0.
    """

    names: tuple[str, ...]
    angles: FloatArray
    speeds: FloatArray
    steering_rates: FloatArray

    def __getitem__(self, name: str) -> tuple[FloatArray, FloatArray]:
        """The angle and the speed of a module."""
        place = self.names.index(name)
        return self.angles[..., place], self.speeds[..., place]


@dataclass(frozen=True)
class Kinematics:
    """u = A ξ: the velocities u of a drive's wheels from its base's twist ξ = (v_x, v_y, ω), in the base's frame.

    `modules` are the wheels on the base that touch the ground, by the robot's own order; wheels of trailers and balls
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

    name: str
    modules: tuple[Module, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The modules' names."""
        return tuple(module.name for module in self.modules)

    @cached_property
    def places(self) -> FloatArray:
        """Where they stand on the base, (m, 2) in m."""
        return np.array([module.place for module in self.modules], dtype=float)

    @cached_property
    def headings(self) -> FloatArray:
        """Their angles without steering, (m,) in rad: a module's angle is its heading plus its steering."""
        return np.array([module.heading for module in self.modules], dtype=float)

    @cached_property
    def matrix(self) -> FloatArray:
        """A (2 m, 3) in u = A ξ: rows (1, 0, −y) and (0, 1, x) of each module."""
        x, y = self.places.T
        one, zero = np.ones(len(x)), np.zeros(len(x))
        return np.stack([one, zero, -y, zero, one, x], axis=1).reshape(-1, 3)

    @cached_property
    def inverse(self) -> Program:
        """Twist → angle, speed, steering rate, every wheel rolling forward; for arrays (3, count)."""
        return pointing(self.modules)

    @cached_property
    def following(self) -> Program:
        """Twist, angle, speed → angle, speed, steering rate: on from the states that the modules are in."""
        return following(self.modules)

    @cached_property
    def forward(self) -> Program:
        """Angle, speed, steering rate → twist and slip, by least squares over all wheels."""
        return agreeing(self.modules)

    def module_states(
        self,
        vx: npt.ArrayLike,
        vy: npt.ArrayLike,
        omega: npt.ArrayLike,
        previous: ModuleStates | None = None,
    ) -> ModuleStates:
        """The angles and speeds at which no wheel slips, as far as its kind allows.

        Parameters
        ----------
        vx, vy : float or array (n,), m/s
            Velocity of the base, in its own frame.
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
        """
        twist = _stacked(vx, vy, omega)
        if previous is None:
            return self._states(
                self._inverse(twist) if twist.ndim == 1 else compile_program(self.inverse)(twist)
            )
        groups = twist, _lanes(previous.angles), _lanes(previous.speeds)
        single = max(group.ndim for group in groups) == 1
        return self._states((self._following if single else compile_program(self.following))(*groups))

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
        """How fast each wheel slips on the ground, |(1 − A A⁺) u|, at the twist of least squares.

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
            The largest speed of all wheels, or of each.

        Returns
        -------
        ModuleStates
            The same angles; the base moves in the same direction about the same centre.

        Raises
        ------
        InputError
            A limit is not positive.
        """
        bound = np.asarray(limit, dtype=float)
        if not (bound > 0).all():
            raise InputError(f"expected positive limits, got {limit}", key="limit")
        worst = np.max(np.abs(states.speeds) / bound, axis=-1, keepdims=True)
        factor = 1 / np.maximum(worst, 1.0)
        return replace(states, speeds=states.speeds * factor, steering_rates=states.steering_rates * factor)

    @cached_property
    def _inverse(self) -> _Call:
        return compile_program(self.inverse).single()

    @cached_property
    def _following(self) -> _Call:
        return compile_program(self.following).single()

    def _states(self, outputs: tuple[FloatArray, ...]) -> ModuleStates:
        angles, speeds, rates = outputs
        return ModuleStates(self.names, angles.T, speeds.T, rates.T)

    def _agreed(self, states: ModuleStates) -> tuple[FloatArray, FloatArray]:
        if not self._determined:
            raise InputError(
                f"the wheels on the base of '{self.name}' leave one of its motions free",
                hint="more wheels on the base tell it",
            )
        groups = [_lanes(each) for each in (states.angles, states.speeds, states.steering_rates)]
        twist, slip = compile_program(self.forward)(*groups)
        return twist.T, slip.T

    @cached_property
    def _determined(self) -> bool:
        """Whether every motion of the base turns or drags some wheel, at almost all angles."""
        angles = np.random.default_rng(0).uniform(-1.2, 1.2, len(self.modules))
        rows = [
            row
            for module, angle in zip(self.modules, angles, strict=True)
            for row, _ in affine_slip(module, angle)
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
        The base isn't planar, or no wheel on it touches the ground.

    References
    ----------
    Muir & Neuman 1987, "Kinematic modeling of wheeled mobile robots".

    Examples
    --------
    >>> import trundle
    >>> trundle.kinematics(trundle.catalog.mecanum()).module_states(0, 1.0, 0).speeds.tolist()
    [-1.0, 1.0, 1.0, -1.0]
    """
    found = robot_of(robot, "kinematics", "it has no wheels")
    if found.base != "planar":
        raise InputError(
            f"kinematics need a planar base, and '{found.name}' has a {found.base} one", key="robot.base"
        )
    modules = modules_of(assemble(found, found.resolver()))
    if not modules:
        raise InputError(f"no wheel on the base of '{found.name}' touches the ground", key="robot.wheels")
    return Kinematics(found.name, modules)


def _stacked(*parts: npt.ArrayLike) -> FloatArray:
    """Numbers as a vector, arrays as rows of a batch."""
    return np.array(
        parts if all(np.ndim(part) == 0 for part in parts) else np.broadcast_arrays(*parts), dtype=float
    )


def _lanes(values: npt.ArrayLike) -> FloatArray:
    """Modules first, as programs take them."""
    return np.ascontiguousarray(np.asarray(values, dtype=float).T)
