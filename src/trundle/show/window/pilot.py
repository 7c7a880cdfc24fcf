"""A robot's inputs from what somebody wants of its base: a wish is a setpoint, and a tracker holds it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import cached_property

import numpy as np

from trundle.mechanics.actuation import Actuator, Supply
from trundle.mechanics.assembly import assemble
from trundle.model import Model
from trundle.motion.trackers.tracker import Aim, Tracker, drive_laws, measured, module_aims
from trundle.robot import units
from trundle.scalars import Scalar
from trundle.show.window.bases import Wish, base_of
from trundle.simulation.problem import Problem

# The top speed where somebody steers: this share of what the wheels' motors do without load, as the rest is needed to
# accelerate and to turn; or, where nothing says, so many of the robot's lengths a second.
_SHARE, _LENGTHS = 0.6, 1.5
# How far a robot turns (rad) while it goes as far as it is long.
_TURN = 1.3
# What moves at a speed that follows from others, where nothing else says (kg m²).
_INERTIA = 0.01


class Pilot:
    """Wishes held by `laws` of those inputs that follow from what is wanted of the base; its `top` speed (m/s)."""

    def __init__(self, problem: Problem, size: float) -> None:
        """Set up the laws by which a problem's robot, `size` m long, follows the keys."""
        robot = problem.system.robot
        assert robot is not None
        self.assembly = assemble(robot, robot.resolver({**robot.parameter_values(), **problem.parameters}))
        self.actuators = {actuator.command.name: actuator for actuator in self.assembly.actuators}
        self.size, self.problem = size, problem
        laws = drive_laws(self.assembly, problem.signals, lambda rate: self.inertias.get(rate, _INERTIA))
        driven = {self.assembly.speeds.index(rate) for rate, _ in laws.values()}
        self.base = base_of(robot, self.assembly, driven)
        self.laws = {} if self.base is None else laws
        self.top = self._top()

    def commands(self, wish: Wish, speed: float, state: Mapping[str, float]) -> dict[str, float]:
        """The inputs for a wish at a top speed (m/s), by what the robot does now."""
        tracker = Tracker(lambda time, state: self._aims(wish, speed, state), self.laws)
        return {name: self._held(name, value, state) for name, value in tracker.command(0.0, state).items()}

    def _held(self, name: str, value: float, state: Mapping[str, float]) -> float:
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

    def _top(self) -> float:
        """A top speed (m/s) that fits the robot."""
        tops = [
            _SHARE * float(rate) * float(wheel.radius)
            for wheel in self.assembly.wheels
            for actuator in self.assembly.actuators
            if actuator.column == wheel.spin
            for rate in self._free_rates(actuator)
        ]
        return min(tops, default=_LENGTHS * self.size)

    def _free_rates(self, actuator: Actuator) -> Iterator[Scalar]:
        """How fast a motor turns what it drives without load (rad/s): by its limit, and by the full batteries."""
        fed = [supply for supply in self.assembly.supplies if actuator.name in supply.feeds]
        rates = [actuator.motor.no_load_rate(actuator.read)]
        rates += [actuator.motor.rate_at(volts(supply, {}), actuator.read) for supply in fed]
        yield from (rate for rate in rates if rate is not None)


def volts(supply: Supply, state: Mapping[str, float]) -> float:
    """What a battery has without load (V), full where no state says."""
    return float(supply.battery.source(state.get(supply.charge.name, 1.0), supply.read))
