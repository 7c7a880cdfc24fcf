"""The top speed of a base on wheels: what check, the driving window and velocities of the base tell is this one."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from trundle.analysis.velocity_maps import VelocityMaps
from trundle.arrays import FloatArray
from trundle.mechanics.actuation import Actuator, Supply
from trundle.model.classification import rolling
from trundle.model.constraints import Configuration
from trundle.model.forces import (
    contact_span,
    element_effort,
    is_tilted,
    touching_wheels,
    wheel_loads,
)
from trundle.scalars import Scalar
from trundle.shown import Explained

# Speeds (m/s) among which the first is looked for at which a robot slows down: 1 nm/s to 1,000 km/s.
_SPEEDS = 2.0 ** np.arange(-30.0, 21.0)
# As many as a double has digits.
_HALVINGS = 52
# Full command, in batteries' voltages without load: more than all that motors give back raises them to.
_ALL = 1e3
# Of a rate (rad/m) and a row that should vanish: rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class TopSpeed(Explained):
    """The greatest steady `speed` (m/s) straight ahead on level ground, and the `limit` that allows no more, in words.

    `rates` are those of all that motors then turn, by the speeds' names (rad/s, m/s).
    """

    speed: float
    limit: str
    rates: Mapping[str, float]


def top_speed(maps: VelocityMaps, voltage: float | None = None) -> TopSpeed | str:
    """The speed v of a robot that goes straight ahead at full command: Σ ρ τ(ρ v) = 0 over all that turns by ρ rad/m.

    Torques τ are those that motors give at most, batteries being full and sagging under all their currents; what
    bearings and joints rub; and what contacts resist while wheels roll. Declared limits of wheels' speeds count, too.

    Parameters
    ----------
    maps : VelocityMaps
        The robot's, in numbers.
    voltage : float, V, optional
        The greatest of motors that have no limit and no battery.

    Returns
    -------
    TopSpeed or str
        Why there is none, where it can't go straight ahead, no motor moves it so, or nothing limits these.
    """
    ahead = _ahead(maps)
    if isinstance(ahead, str):
        return ahead
    straight = _StraightAhead(maps, ahead, voltage)
    if not straight.motors:
        return "no motor turns while it goes straight ahead"
    speed, limit = min(straight.by_motors(), straight.declared(), key=lambda pair: pair[0])
    if math.isinf(speed):
        return "no voltage_limit, battery or friction ends it below 1,000 km/s"
    columns = [motor.column for motor in straight.motors]
    return TopSpeed(speed, limit, {maps.assembly.speeds[k]: float(speed * ahead[k]) for k in columns})


def _ahead(maps: VelocityMaps) -> FloatArray | str:
    """All speeds ν (n,) at v_x = 1 m/s, no other motion of the base and nothing else but what wheels and couplings ask
    for; why there are none where they don't allow it, and on a slope.
    """
    if not maps.base or not rolling(maps.assembly):
        return "it has no wheels on a plane"
    if is_tilted(maps.assembly):
        return "gravity pulls along the ground; on a slope it depends on the heading"
    rows = maps.constraints(maps.place({})[None])[0]
    others = np.setdiff1d(np.arange(rows.shape[1]), maps.base)
    wanted = -rows[:, maps.base[0]]
    found = np.linalg.lstsq(rows[:, others], wanted, rcond=maps.zero)[0]
    if np.abs(rows[:, others] @ found - wanted).max() > _ROUNDING:
        return "its wheels don't let it go straight ahead"
    ahead = np.zeros(rows.shape[1])
    ahead[maps.base[0]] = 1.0
    ahead[others] = np.where(np.abs(found) > _ROUNDING, found, 0.0)
    return np.asarray(ahead * maps.scale)


@dataclass(frozen=True)
class _StraightAhead:
    """A robot that goes straight ahead: `ahead` are all speeds at 1 m/s."""

    maps: VelocityMaps
    ahead: FloatArray
    voltage: float | None

    @cached_property
    def motors(self) -> dict[Actuator, float]:
        """The motors that turn then, and how fast what they drive turns (rad/m), forward."""
        rates = {motor: abs(float(self.ahead[motor.shaft])) for motor in self.maps.assembly.actuators}
        return {motor: rate for motor, rate in rates.items() if rate}

    @cached_property
    def at(self) -> Configuration:
        """Where everything is."""
        return self.maps.mechanism.configured(self.maps.place({}).tolist()).at

    @cached_property
    def loads(self) -> Mapping[str, Scalar]:
        """What the wheels carry (N)."""
        return wheel_loads(self.maps.assembly, self.at, contact_span(self.maps.assembly))

    def declared(self) -> tuple[float, str]:
        """The speed up to which all wheels keep to their limits, and whose they are."""
        told = {
            wheel.name: float(wheel.read(limit)) / abs(float(self.ahead[wheel.spin] * wheel.radius))
            for wheel in self.maps.assembly.wheels
            if wheel.spin is not None and self.ahead[wheel.spin]
            if (limit := self.maps.mechanism.robot.rolling[wheel.name].limits.drive_speed) is not None
        }
        least = min(told.values(), default=math.inf)
        return least, f"drive_speed of {', '.join(name for name, speed in told.items() if speed == least)}"

    def by_motors(self) -> tuple[float, str]:
        """The least speed from which on motors give no more than is lost, and what holds them back there."""
        slow = next((float(speed) for speed in _SPEEDS if self._push(float(speed)) <= 0), math.inf)
        if math.isinf(slow):
            return slow, ""
        low = slow / 2 if slow > _SPEEDS[0] else 0.0
        for _ in range(_HALVINGS):
            middle = (low + slow) / 2
            low, slow = (middle, slow) if self._push(middle) > 0 else (low, middle)
        return slow, self._held_back(slow)

    def _push(self, speed: float) -> float:
        """What pushes the robot on (N): motors at full command, less what bearings, joints and contacts take."""
        assembly, nu, volts = self.maps.assembly, (speed * self.ahead).tolist(), self._volts(speed)
        total = 0.0
        for motor, rate in self.motors.items():
            most = motor.greatest_torque(speed * rate, volts[motor.name])
            total += math.inf if most is None else rate * float(most)
        for element in assembly.elements:
            if self.ahead[element.column]:
                torque = element_effort(assembly, element, self.at, nu).torque
                total += float(self.ahead[element.column] * torque)
        for touching in touching_wheels(assembly, self.at, nu):
            wheel = touching.wheel
            if wheel.law.resists and wheel.spin is not None:
                own = {state.name: 0.0 for state in wheel.states.values()}
                total += float(self.ahead[wheel.spin] * touching.push(self.loads[wheel.name], own).moment)
        return total

    def _volts(self, speed: float) -> dict[str, float | None]:
        """The voltage that each motor is fed with, batteries under what all motors draw at full command."""
        volts: dict[str, float | None] = {motor.name: self.voltage for motor in self.motors}
        for supply in self.maps.assembly.supplies:
            volts |= dict.fromkeys(supply.feeds, self._supplied(supply, speed)[0])
        return volts

    def _supplied(self, supply: Supply, speed: float) -> tuple[float, float | None]:
        """The voltage of a battery under what all motors draw at full command; where that is below its `off_below` the
        greatest at which motors draw no more than takes it there, and that one; else None.
        """
        windings = [
            motor.settled_winding(
                _ALL * supply.full_voltage, 0.0, math.copysign(speed * rate, motor.turns)
            )._replace(current=None)
            for motor, rate in self.motors.items()
            if motor.name in supply.feeds
        ]
        states = {quantity.name: quantity.start for quantity in supply.states.values()}
        most = float(supply.feed(windings, states).voltage)
        switch = supply.battery.off_below
        if switch is None or most >= (off := float(supply.read(switch))):
            return most, None
        low, high, power = 0.0, most, float(supply.power_at(off))
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            voltages = [winding.voltage(middle) for winding in windings]
            drawn = sum(v * winding.flow(v) for v, winding in zip(voltages, windings, strict=True))
            low, high = (middle, high) if drawn <= power else (low, middle)
        return low, off

    def _held_back(self, speed: float) -> str:
        """What holds the motors back at a speed: "battery of left_motor, right_motor (11.9 V)"."""
        volts, held = self._volts(speed), defaultdict[str, list[str]](list)
        fed = {name: supply for supply in self.maps.assembly.supplies for name in supply.feeds}
        for motor, rate in self.motors.items():
            volt, fast, supply = volts[motor.name], speed * rate, fed.get(motor.name)
            uses = motor.uses(motor.greatest_torque(fast, volt) or 0.0, fast, volt)
            what = max(uses, key=lambda name: abs(float(uses[name])))
            shown = f" ({volt:.4g} V)" if what == "battery" else ""
            if supply is None:
                what = what.replace("battery", "largest voltage")
            elif what in ("battery", "supply current") and (off := self._supplied(supply, speed)[1]):
                what, shown = "battery", f" ({off:.4g} V, its off_below)"
            held[f"{what} of {{}}{shown}"].append(motor.name)
        return "; ".join(what.format(", ".join(names)) for what, names in held.items())
