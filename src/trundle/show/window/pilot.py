"""A robot's inputs from what is wanted of its base: which wheel or steering each drives, and what it takes to do so.

Motors that take a rate or an angle get it. Others get the command for the torque that takes what they drive there in
time, by their own physics (`command_for`): voltage or torque, with or without gears.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np

from trundle.mechanics.actuation import Actuator
from trundle.mechanics.assembly import assemble
from trundle.mechanics.wheels import WheelModel
from trundle.model import Model
from trundle.motion.drive.module_states import ModuleStates
from trundle.robot import units
from trundle.show.window.bases import LOCK, Wish, base_of
from trundle.simulation.problem import Problem

State = Mapping[str, float]
Way = Callable[[State], float]
# How soon a wheel is as fast as it has to be, and a steering where it has to be (s).
_SPIN_TIME, _STEER_TIME = 0.15, 0.08
# The top speed: this share of what the wheels' motors can do, or so many lengths of the robot a second; how far it
# turns (rad) while it goes as far as it is long.
_SHARE, _LENGTHS, _TURN = 0.6, 1.5, 1.3
# What moves at a speed that follows from others, where nothing else says (kg m²).
_INERTIA = 0.01


class Pilot:
    """Inputs from wishes: `ways` of those that follow from what is wanted of the base; its `top` speed (m/s)."""

    def __init__(self, problem: Problem, size: float) -> None:
        robot = problem.system.robot
        assert robot is not None
        self.assembly = assemble(robot, robot.resolver({**robot.parameter_values(), **problem.parameters}))
        self.actuators = {each.command.name: each for each in self.assembly.actuators}
        self.wheels = {wheel.name: wheel for wheel in self.assembly.wheels}
        self.base = base_of(robot, self.assembly, self._driven(problem))
        self.names = self.base.kinematics.names if self.base is not None else ()
        self.size, self.problem = size, problem
        self.wish, self.aims = Wish(), dict[str, tuple[float, float]]()
        found = {name: self._way(name) for name in problem.signals if self.base is not None}
        self.ways = {name: way for name, way in found.items() if way is not None}
        self.top = self._top()

    def commands(self, wish: Wish, speed: float, state: State) -> dict[str, float]:
        """The inputs for a wish at a top speed (m/s), by what the robot does now."""
        if self.base is None:
            return {}
        found, self.wish = self.base.kinematics, wish
        now = [(state.get(f"{name}.steering", 0.0), state.get(f"{name}.rate", 0.0)) for name in self.names]
        radii = np.array([float(self.wheels[name].radius) for name in self.names])
        turned, rates = np.array(now).T
        wanted = self.base.wheels(
            wish, speed, _TURN * speed / self.size, found.states(found.headings + turned, rates * radii)
        )
        self.aims = self._aims(wanted, turned, radii)
        return {name: way(state) for name, way in self.ways.items()}

    def _aims(
        self, wanted: ModuleStates, turned: np.ndarray, radii: np.ndarray
    ) -> dict[str, tuple[float, float]]:
        """Each wheel's steering (rad) and rate (rad/s): of a steering that is far from where it points the same line
        the other way round, where that is nearer.
        """
        assert self.base is not None
        off = np.remainder(wanted.angles - self.base.kinematics.headings - turned + np.pi, 2 * np.pi) - np.pi
        flips = (np.abs(off) > np.pi / 2) & (self.base.axle is not None)
        off = np.where(flips, off - np.pi * np.sign(off), off)
        rates = np.where(flips, -1.0, 1.0) * wanted.speeds / radii
        return dict(zip(self.names, zip((turned + off).tolist(), rates.tolist(), strict=True), strict=True))

    @cached_property
    def inertias(self) -> Mapping[str, float]:
        """What each independent speed moves (kg, kg m²) where the robot starts: the mass matrix's diagonal."""
        model = self.problem.system
        if not isinstance(model, Model):
            return {}
        q = dict(zip(model.coordinates, self.problem.start, strict=False))
        found = np.atleast_2d(model.mass_matrix(q, parameters=self.problem.parameters))
        return dict(zip(model.speeds, np.diag(found).tolist(), strict=False))

    @property
    def mass(self) -> float:
        """The whole robot's (kg)."""
        return sum(float(link.inertia.mass) for link in self.assembly.tree.links)

    def inertia(self, rate: str) -> float:
        """What moves at a speed (kg, kg m²): at one that isn't independent the whole robot on its wheels."""
        radius = max((float(wheel.radius) for wheel in self.wheels.values()), default=0.0)
        other = self.mass * radius**2 or max(self.inertias.values(), default=1.0)
        return self.inertias.get(rate, other)

    def _driven(self, problem: Problem) -> set[int]:
        """The columns of the speeds that inputs act on: motors, or in kinematic runs the rates themselves."""
        if isinstance(problem.system, Model):
            return {actuator.column for actuator in self.assembly.actuators}
        return {k for k, name in enumerate(self.assembly.speeds) if name in problem.signals}

    def _way(self, name: str) -> Way | None:
        """How an input follows from the aims; None of one that drives something else than the base."""
        actuator = self.actuators.get(name)
        for wheel in (self.wheels[each] for each in self.names):
            if name == f"{wheel.name}.rate":
                return lambda state, of=wheel.name: self.aims[of][1]
            if name == f"{wheel.name}.steering_rate":
                return lambda state, of=wheel.name: (self.aims[of][0] - state[f"{of}.steering"]) / _STEER_TIME
            if actuator is not None and actuator.column == wheel.spin:
                return self._spin(actuator, wheel)
            if actuator is not None and actuator.column == wheel.steering:
                return self._steer(actuator, f"{wheel.name}.steering", lambda of=wheel.name: self.aims[of][0])
        for linkage in self.assembly.linkages:
            column, coordinate = linkage.axis.column, linkage.axis.coordinate
            ratio = (
                float(linkage.wheelbase) / self.base.wheelbase
                if self.base and self.base.axle is not None
                else 0.0
            )

            def aim(ratio: float = ratio) -> float:
                return math.atan(ratio * math.tan(LOCK * self.wish.turn))

            if name == self.assembly.speeds[column]:
                return lambda state, of=coordinate, aim=aim: (aim() - state[of]) / _STEER_TIME
            if actuator is not None and actuator.column == column:
                return self._steer(actuator, coordinate, aim)
        return None

    def _spin(self, actuator: Actuator, wheel: WheelModel) -> Way | None:
        """A wheel's motor: to the rate that is wanted, against the wheel's share of the robot's mass."""
        if actuator.motor.commands is units.ANGLE:
            return None
        if actuator.motor.commands is units.RATE:
            return lambda state: self.aims[wheel.name][1]
        spins = {each.spin for each in self.wheels.values()}
        sharing = sum(each.column in spins for each in self.assembly.actuators)
        inertia = self.mass * float(wheel.radius) ** 2 / sharing

        def command(state: State) -> float:
            rate = state[f"{wheel.name}.rate"]
            torque = inertia * (self.aims[wheel.name][1] - rate) / _SPIN_TIME
            return float(actuator.command_for(torque, 0.0, rate))

        return command

    def _steer(self, actuator: Actuator, coordinate: str, aim: Callable[[], float]) -> Way:
        """A steering's motor: to the angle that is wanted, critically damped."""
        if actuator.motor.commands is units.ANGLE:
            return lambda state: aim()
        if actuator.motor.commands is units.RATE:
            return lambda state: (aim() - state[coordinate]) / _STEER_TIME
        rate = self.assembly.speeds[actuator.column]
        inertia = self.inertias.get(rate, _INERTIA)

        def command(state: State) -> float:
            off, now = aim() - state[coordinate], state.get(rate, 0.0)
            torque = inertia * (off / _STEER_TIME - 2 * now) / _STEER_TIME
            return float(actuator.command_for(torque, state[coordinate], now))

        return command

    def _top(self) -> float:
        """A top speed (m/s) that fits the robot."""
        found = [
            _SHARE * float(rate) * float(wheel.radius)
            for wheel in self.wheels.values()
            for actuator in self.assembly.actuators
            if actuator.column == wheel.spin
            and (rate := actuator.motor.no_load_rate(actuator.read)) is not None
        ]
        return min(found, default=_LENGTHS * self.size)
