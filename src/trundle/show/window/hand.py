"""Inputs that somebody sets one by one with pairs of keys: forces while a key is held, targets that stay."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import pygame

from trundle.mechanics.actuation import Actuator
from trundle.model import Model
from trundle.robot import units
from trundle.show.window.pilot import Pilot
from trundle.simulation.problem import Problem

# More and less, by what is written on the keys; the first four only where no base is driven.
PAIRS = (
    (pygame.K_RIGHT, pygame.K_LEFT, "→ ←"),
    (pygame.K_UP, pygame.K_DOWN, "↑ ↓"),
    (pygame.K_d, pygame.K_a, "D A"),
    (pygame.K_w, pygame.K_s, "W S"),
    (pygame.K_u, pygame.K_j, "U J"),
    (pygame.K_i, pygame.K_k, "I K"),
    (pygame.K_o, pygame.K_l, "O L"),
    (pygame.K_t, pygame.K_g, "T G"),
)
# The pairs that drive a base where there is one: the arrows, W S and A D.
_OF_BASE = 4
# A force accelerates what it moves by so much (rad/s², m/s²): a joint is at 1 rad/s in a sixth of a second.
_ACCELERATION = 6.0
# Targets and rates of motors change by so much a second (rad, m), which a person can follow; rates that nothing has to
# reach, in kinematic runs, are five times that (rad/s): a wheel of 10 cm then rolls at half a metre a second.
_PACE, _FREE = 1.0, 5.0
# What a command measures that stays where it is when the key is let go, and what it measures that is a rate.
_TARGETS, _RATES = (units.ANGLE, units.LENGTH), (units.RATE, units.SPEED)


@dataclass
class Hand:
    """The inputs `names` that somebody sets, how much a key gives of them, which are `targets`, and their `values` now.

    `first` is the first that has keys.
    """

    names: tuple[str, ...]
    amounts: Mapping[str, float]
    targets: frozenset[str]
    values: dict[str, float]
    pairs: tuple[tuple[int, int, str], ...]
    first: int = 0

    @property
    def keys(self) -> dict[str, tuple[int, int, str]]:
        """The inputs that have keys now."""
        return dict(zip(self.names[self.first :], self.pairs, strict=False))

    def turn_over(self) -> None:
        """Keys for the next inputs."""
        following = self.first + len(self.pairs)
        self.first = following if following < len(self.names) else 0

    def set(self, held: set[int], share: float, seconds: float) -> dict[str, float]:
        """All of them now, at a share of what a key gives."""
        for name, (more, less, _) in self.keys.items():
            way = share * self.amounts[name] * ((more in held) - (less in held))
            self.values[name] = self.values[name] + way * seconds if name in self.targets else way
        return dict(self.values)


def hand_of(problem: Problem, pilot: Pilot) -> Hand:
    """The inputs of a problem that don't follow from what is wanted of its base; targets begin where the robot is."""
    names = tuple(name for name in problem.signals if name not in pilot.laws)
    start = dict(zip(problem.system.states, problem.start, strict=False))
    targets = [name for name in names if name in pilot.actuators and _measured(pilot, name) in _TARGETS]
    values = dict.fromkeys(names, 0.0)
    values |= {name: start.get(_coordinate(pilot.actuators[name], pilot), 0.0) for name in targets}
    amounts = {name: _amount(name, problem, pilot) for name in names}
    pairs = PAIRS[_OF_BASE:] if pilot.laws else PAIRS
    return Hand(names, amounts, frozenset(targets), values, pairs)


def _measured(pilot: Pilot, name: str) -> units.PhysicalQuantity:
    """What the command of a motor measures."""
    return pilot.actuators[name].motor.commands


def _coordinate(actuator: Actuator, pilot: Pilot) -> str:
    """The coordinate that a motor drives; "" where it drives none of its own."""
    axes = pilot.assembly.axes.values()
    return next((axis.coordinate for axis in axes if axis.column == actuator.column), "")


def _amount(name: str, problem: Problem, pilot: Pilot) -> float:
    """What a key gives: of a force what accelerates the joint well with gravity held, within the motor's limits."""
    if name not in pilot.actuators:
        return _FREE
    if _measured(pilot, name) in _TARGETS + _RATES:
        return _PACE
    actuator = pilot.actuators[name]
    rate = pilot.assembly.speeds[actuator.column]
    torque = _ACCELERATION * pilot.inertia(rate) + _weight(problem, rate)
    most = actuator.greatest_torque(0.0)
    torque = torque if most is None else min(torque, float(most))
    return abs(float(actuator.command_for(torque, 0.0, 0.0)))


def _weight(problem: Problem, rate: str) -> float:
    """The larger of gravity's pulls on a speed (N or N m) at the start and with all coordinates a quarter turn on.

    A key's push has to hold it: one that can't lift a body would seem to do nothing.
    """
    model = problem.system
    if not isinstance(model, Model) or rate not in model.speeds:
        return 0.0
    pulls = []
    for turned in (0.0, math.pi / 2):
        q = {name: value + turned for name, value in zip(model.coordinates, problem.start, strict=False)}
        gravity = model.gravity(q, parameters=problem.parameters)
        pulls.append(abs(float(gravity[model.speeds.index(rate)])))
    return max(pulls)
