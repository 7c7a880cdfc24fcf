"""What motors and batteries give."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from trundle.mechanics.actuation import PLANNED
from trundle.motion.constraints.constraint import Moving
from trundle.robot.constraint import Row


@dataclass(frozen=True)
class MotorLimits:
    """|V| ≤ V_max, |i| ≤ i_max, V i ≤ P_max, …: whatever a kind of motor says of its torque τ and its rate ω.

    volts: the share of voltages that counts.
    """

    volts: float = 1.0

    def rows(self, at: Moving) -> Iterator[Row]:
        """One row for all that limits one motor."""
        forces = at.forces
        supplies = forces.driven.here.assembly.supplies
        fed = {motor: forces.supplies[supply.name] for supply in supplies for motor in supply.feeds}
        for column, actuators in forces.driven.actuators.items():
            for motor in actuators:
                taken = motor.uses(forces.torques[motor.name], forces.rates[column], fed.get(motor.name))
                for what, share in taken.items():
                    most = self.volts if what in ("voltage", "battery") else 1.0
                    yield Row([f"{what} of {motor.name}"], (share[:, None],), most)


@dataclass(frozen=True)
class BatteryPower:
    """Σ V i ≤ 0.95 U (E − U)/R over the motors that a full battery feeds, with U = E/2, or `off_below` if that is more:
    V ≥ ½ (1 + √(1 − 0.95)) E, and V > `off_below`.
    """

    def rows(self, at: Moving) -> Iterator[Row]:
        """One row a battery."""
        for supply in at.forces.driven.here.assembly.supplies:
            power, currents = at.forces.powers[supply.name][:, None], at.forces.currents
            # V i = e i + R i²
            heats = tuple(
                currents[motor.name][:, None]
                * math.sqrt(float(motor.settled_winding(0.0, 0.0, 0.0).resistance))
                for motor in at.forces.driven.here.assembly.actuators
                if motor.name in supply.feeds and motor.name in currents
            )
            least = supply.least_voltage
            name = "off_below" if least > supply.full_voltage / 2 else "power"
            most = PLANNED * float(supply.power_at(least))
            yield Row([f"{name} of {supply.name}"], (power,), most, one_sided=True, bends=heats)
