"""A robot's inputs from what somebody wants of its base: a wish is a setpoint, and a tracker holds it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from trundle.analysis.top_speed import TopSpeed, top_speed
from trundle.analysis.velocity_maps import velocity_maps
from trundle.mechanics.actuation import Supply
from trundle.model import Model
from trundle.motion.trackers.tracker import Aim, Tracker, drive_laws, measured, module_aims
from trundle.robot import units
from trundle.show.window.bases import Wish, base_of
from trundle.simulation.problem import Problem

# What keys give at first: this share of the top speed, as the rest is needed to accelerate and to turn; or, where
# nothing says, so many of the robot's lengths a second.
_SHARE, _LENGTHS = 0.6, 1.5
# How far a robot turns (rad) while it goes as far as it is long.
_TURN = 1.3
# What moves at a speed that follows from others, where nothing else says (kg m²).
_INERTIA = 0.01


class Pilot:
    """Wishes held by `laws` of those inputs that follow from what is wanted of the base; its `top` speed (m/s), None
    where nothing says, and the `usual` one that keys give at first.
    """

    def __init__(self, problem: Problem, size: float, voltage: float | None = None) -> None:
        """Set up the laws by which a problem's robot, `size` m long, follows the keys; `voltage` as for `top_speed`."""
        robot = problem.system.robot
        assert robot is not None
        maps = velocity_maps(robot, {**robot.parameter_values(), **problem.parameters})
        self.assembly = maps.assembly
        self.actuators = {actuator.command.name: actuator for actuator in self.assembly.actuators}
        self.size, self.problem = size, problem
        laws = drive_laws(self.assembly, problem.signals, lambda rate: self.inertias.get(rate, _INERTIA))
        driven = {self.assembly.speeds.index(rate) for rate, _ in laws.values()}
        self.base = base_of(robot, self.assembly, driven)
        self.laws = {} if self.base is None else laws
        found = top_speed(maps, voltage)
        self.top = found.speed if isinstance(found, TopSpeed) else None
        self.usual = _SHARE * self.top if self.top else _LENGTHS * size

    def commands(self, wish: Wish, speed: float, state: Mapping[str, float]) -> dict[str, float]:
        """The inputs for a wish at a greatest speed (m/s), by what the robot does now."""
        tracker = Tracker(lambda time, state: self._aims(wish, speed, state), self.laws)
        return {
            name: self._limited(name, value, state) for name, value in tracker.command(0.0, state).items()
        }

    def _limited(self, name: str, value: float, state: Mapping[str, float]) -> float:
        """A command within what its motor follows, and its battery has now without load."""
        motor = self.actuators.get(name)
        if motor is None:
            return value
        limit = motor.motor.command_limit(motor.read)
        limits = [] if limit is None else [float(limit)]
        if motor.motor.commands is units.VOLTAGE:
            limits += [
                volts(supply, state) for supply in self.assembly.supplies if motor.name in supply.feeds
            ]
        most = min(limits, default=math.inf)
        return min(max(value, -most), most)

    def _aims(self, wish: Wish, speed: float, state: Mapping[str, float]) -> dict[str, Aim]:
        """What wheels, steering and linkages shall do for a wish, going on from what they do."""
        assert self.base is not None
        before = measured(self.base.kinematics, state)
        wanted = self.base.wheels(wish, speed, _TURN * speed / self.size, before)
        aims = module_aims(self.base.kinematics, wanted)
        for linkage in self.assembly.linkages:
            angle = self.base.steering(wish, float(linkage.wheelbase))
            aims[self.assembly.speeds[linkage.axis.column]] = Aim(angle, 0.0)
        return aims

    @cached_property
    def inertias(self) -> Mapping[str, float]:
        """The masses and inertias (kg, kg m²) that independent speeds move at the start: the mass matrix's diagonal."""
        model = self.problem.system
        if not isinstance(model, Model):
            return {}
        q = dict(zip(model.coordinates, self.problem.start, strict=False))
        matrix = np.atleast_2d(model.mass_matrix(q, parameters=self.problem.parameters))
        return dict(zip(model.speeds, np.diag(matrix).tolist(), strict=False))

    def inertia(self, rate: str) -> float:
        """What moves at a speed (kg, kg m²): at one that isn't independent the whole robot on its wheels."""
        radius = max((float(wheel.radius) for wheel in self.assembly.wheels), default=0.0)
        mass = sum(float(link.inertia.mass) for link in self.assembly.tree.links)
        return self.inertias.get(rate, mass * radius**2 or max(self.inertias.values(), default=1.0))


def volts(supply: Supply, state: Mapping[str, float]) -> float:
    """What a battery has without load (V), full where no state says."""
    return float(supply.battery.source(state.get(supply.charge.name, 1.0), supply.read))
