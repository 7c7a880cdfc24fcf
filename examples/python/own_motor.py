"""A motor of your own: series-wound, with a winding that gets warm. How long may a trolley's motor pull at its limit?

Field and rotor are in series: torque grows with the square of the current, τ = k i², L di/dt = V − R(T) i − k i ω.
The copper's resistance grows with its temperature, C dT/dt = R(T) i² − (T − T₀)/R_th.
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

import trundle
from trundle.robot import Drive, Effort, Motor, Read, State, default, parse_robot, units
from trundle.robot.values import Inductance, Plain, Positive, Resistance

AMBIENT, COPPER = 293.15, 0.0039  # K, and how much resistance grows with temperature (1/K)


@trundle.register
class SeriesMotor(Motor):
    """A series-wound motor: states NAME.current and NAME.temperature, input NAME.voltage."""

    called: ClassVar[str] = "series motor"
    command: ClassVar[str] = "voltage"
    commands = units.VOLTAGE
    letters: ClassVar[Mapping[str, str]] = {"voltage": "V", "current": "i", "temperature": "T"}

    type: Literal["series"] = "series"
    field: Plain = Field(description="Torque per square of the current k (N m/A^2).")
    resistance: Resistance = Field(description="Of the winding when cold (ohm).")
    inductance: Positive[Inductance] = Field(description="Of the winding (H).")
    capacity: Positive[Plain] = default(200.0, "Heat that warms the winding by a degree C (J/K).")
    cooling: Positive[Plain] = default(2.0, "Thermal resistance to the air R_th (K/W).")

    def states(self, read: Read) -> Mapping[str, State]:
        """Its current, and how warm it is."""
        return {"current": State(units.CURRENT), "temperature": State(units.TEMPERATURE, AMBIENT)}

    def effort(self, drive: Drive, read: Read) -> Effort:
        """Heat counts as lost where it arises, in the winding; only the magnetic energy is stored."""
        current, warmth = drive.states["current"], drive.states["temperature"] - AMBIENT
        field, inductance = read(self.field), read(self.inductance)
        heat = read(self.resistance) * (1 + COPPER * warmth) * current * current
        across = drive.command - field * current * drive.rate
        rates = {
            "current": (across - read(self.resistance) * (1 + COPPER * warmth) * current) / inductance,
            "temperature": (heat - warmth / read(self.cooling)) / read(self.capacity),
        }
        stored = inductance * current * current / 2
        return Effort(field * current * current, drive.command * current, heat, stored, rates)


def trolley() -> trundle.Robot:
    """A mass on rails, pulled by the motor's pinion."""
    motor = {"type": "series", "drives": "axle", "field": 0.01, "resistance": 0.4, "inductance": 0.02}
    axle = {"type": "revolute", "damping": 0.05, "body": {"inertia": {"zz": 0.8}}}
    return parse_robot({"name": "trolley", "joints": {"axle": axle}, "motors": {"pull": motor}})


if __name__ == "__main__":
    model = trundle.derive(trolley())
    run = trundle.simulate(model, 120.0, {"pull.voltage": 24.0})
    print(f"{run.final['axle.rate']:.1f} rad/s, {run.final['pull.temperature'] - 273.15:.0f} °C")
