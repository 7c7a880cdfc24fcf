"""What motors reach by their rates and their batteries' voltages, and what their windings take: alike ones at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray, IntArray
from trundle.mechanics.actuation import Actuator, Supply
from trundle.motion.forces.demand import Demand, aside, slope
from trundle.robot.motors import WoundMotor
from trundle.robot.values import Value

# Slopes by torque and voltage are differences over this share of what there is.
_STEP = 1e-4


class Reach(NamedTuple):
    """Torques (n, rows) that motors reach, with their slopes by b and by the supply's voltage."""

    torque: FloatArray
    by_b: FloatArray
    by_volts: FloatArray


class Flow(NamedTuple):
    """Of windings (n, motors): the current without torque (A) and back-EMF (V); (n, motors, 2): slopes by b and z̈."""

    idle: FloatArray
    idle_by: FloatArray
    emf: FloatArray
    emf_by: FloatArray


@dataclass(frozen=True, eq=False)
class Alike:
    """Motors with the same numbers: one of them answers for all. `columns` are those of what they drive.

    `names` are what holds them back, `supply` the place of the one that feeds them.
    """

    motors: tuple[Actuator, ...]
    columns: IntArray
    supply: int | None
    strength: dict[str, float]

    @property
    def one(self) -> Actuator:
        """Any of them."""
        return self.motors[0]

    @property
    def wound(self) -> bool:
        """Whether they have windings, which take currents."""
        return isinstance(self.one.motor, WoundMotor)

    @property
    def names(self) -> tuple[str, ...]:
        """What the rows of `reach` are called: all motors forward, then backward, by what holds them back."""
        return tuple(f"{what} of {m.name}" for what in self.strength for _ in (1, -1) for m in self.motors)

    def reach(self, pace: FloatArray, b: FloatArray, volts: FloatArray) -> Reach:
        """Of paces (speeds, n) at b (n,) and supplies' voltages (n, supplies)."""
        signed = np.concatenate([pace[self.columns], -pace[self.columns]])
        roots = np.array([*aside(b), np.sqrt(b), np.sqrt(b)])
        rates = signed * roots[:, None]
        supply = None
        if self.supply is not None:
            supply = np.ones((4, len(signed), len(b))) * volts[:, self.supply]
            supply[3] *= 1 + _STEP
        given = self.one.reaches(rates, supply)
        low, high, here, more = np.concatenate(
            [np.broadcast_to(given[what], rates.shape) for what in self.strength], axis=1
        )
        rate = slope(low, high, b)
        by_volts = np.zeros_like(here) if supply is None else (more - here) / (volts[:, self.supply] * _STEP)
        return Reach(here.T, rate.T, by_volts.T)

    def spared(
        self, torque: FloatArray, rates: FloatArray, volts: FloatArray, margins: FloatArray
    ) -> FloatArray:
        """Torques (n, rows) by which what they reach is less where a share of it, `margins`, is planned with."""
        spared, many = np.zeros_like(torque), 2 * len(self.motors)
        signed = np.concatenate([rates[self.columns], -rates[self.columns]]).T
        supply = None if self.supply is None else volts[:, [self.supply]]
        for place, (what, strength) in enumerate(self.strength.items()):
            own = slice(place * many, (place + 1) * many)
            step = strength * _STEP
            low, high = (self.one.uses(torque[:, own] + more, signed, supply)[what] for more in (0.0, step))
            spared[:, own] = (1 - margins[:, own]) * step / (high - low)
        return spared

    def flow(self, pace: FloatArray, b: FloatArray) -> Flow:
        """What their windings take beside torque."""
        rates = pace[self.columns] * np.array([*aside(b), np.sqrt(b)])[:, None]
        volts = self.one.command_for(0.0, 0.0, rates)
        winding = self.one.settled_winding(0.0, 0.0, rates)
        emf = np.zeros(rates.shape) + winding.emf
        idle = (volts - emf) / winding.resistance
        by_b = [slope(low, high, b).T for low, high, _ in (idle, emf)]
        idle_by, emf_by = (np.stack([by, np.zeros_like(by)], axis=2) for by in by_b)
        return Flow(idle[2].T, idle_by, emf[2].T, emf_by)

    @cached_property
    def winding(self) -> tuple[float, float]:
        """The current by torque (A/(N m)) and the resistance (ohm)."""
        one = self.one
        ohms = float(one.settled_winding(0.0, 0.0, 0.0).resistance)
        volts = [float(one.command_for(torque, 0.0, 0.0)) for torque in (0.0, 1.0)]
        return (volts[1] - volts[0]) / ohms, ohms


def alike(demand: Demand, supplies: Sequence[Supply], sources: FloatArray) -> list[Alike]:
    """The motors of what a demand moves, those with the same numbers together."""
    groups: dict[int, list[tuple[int, Actuator]]] = {}
    keys: list[object] = []
    places = {name: place for place, supply in enumerate(supplies) for name in supply.feeds}
    for column in demand.columns:
        for motor in demand.driven.actuators[column]:
            key = (type(motor.motor), places.get(motor.name), _numbers(motor))
            if key not in keys:
                keys.append(key)
            groups.setdefault(keys.index(key), []).append((column, motor))
    made = []
    for own in groups.values():
        one = own[0][1]
        place = places.get(one.name)
        source = None if place is None else float(sources[place])
        strength = {what: float(torque) for what, torque in one.reaches(0.0, source).items()}
        made.append(Alike(tuple(m for _, m in own), np.array([c for c, _ in own]), place, strength))
    return made


def _numbers(motor: Actuator) -> list[object]:
    """All that a motor's kind knows, but for names."""
    named = ("drives", "battery")
    values = [getattr(motor.motor, field) for field in type(motor.motor).model_fields if field not in named]
    return [float(motor.read(value)) if isinstance(value, Value) else value for value in values]
