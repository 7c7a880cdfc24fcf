"""Motors, servos, springs, dampers and friction: the torques they put on a joint, and where their energy goes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from trundle.errors import InputError
from trundle.mechanics.quantities import Quantity
from trundle.robot.batteries import Battery, Bus, Winding
from trundle.robot.kinds import Read, ask, ask_states
from trundle.robot.motor import Drive, Effort, Motor, WoundMotor, drag
from trundle.robot.units import ALONG, TORQUE, PhysicalQuantity
from trundle.scalars import Scalar, is_zero, less, maximum, minimum, where

# The share of the most power of a battery that plans take: its voltage, then 0.61 of that without load, falls the more
# steeply the nearer that comes. With `off_below` it keeps the voltage above that, as charge is used.
PLANNED = 0.95


class Aim(NamedTuple):
    """What a wheel or a steering shall do: be at a position (rad), turn at a rate (rad/s), and the torque (N m) that a
    motor needs for it as far as is known.
    """

    position: Scalar
    rate: Scalar
    torque: Scalar = 0.0


@dataclass(frozen=True)
class Actuator:
    """A motor where it acts: on one column of the speeds. `read` turns its fields into scalars.

    `column` is that of what it drives, `shaft` that of what turns between this and the motor's mount: the same column
    but where the motor is mounted on another link than carries the driven. Its torque, rate and angle are the shaft's.
    """

    name: str
    column: int
    shaft: int
    motor: Motor
    read: Read
    slides: bool = False

    @property
    def key(self) -> str:
        """Where it stands in the description."""
        return f"robot.motors.{self.name}"

    @property
    def command(self) -> Quantity:
        """Its input."""
        return Quantity(self.motor.command, self._unit(self.motor.commands), "command").of(self.name)

    @property
    def torque(self) -> Quantity:
        """What it puts on what it drives, behind gear and limit; "delivered" where "torque" is something else."""
        taken = "torque" in (self.motor.command, *self.motor.outputs)
        return Quantity("delivered" if taken else "torque", self._unit(TORQUE), "force").of(self.name)

    @property
    def power(self) -> Quantity:
        """What it takes from outside (W)."""
        return Quantity("power", "W", "power").of(self.name)

    @property
    def turns(self) -> Scalar:
        """Turns of its own shaft per turn of what it drives; 1 without a gear."""
        return ask(self.motor, self.key, self.motor.turns, self.read)

    @cached_property
    def states(self) -> dict[str, Quantity]:
        """The states that it brings along, by its own names for them."""
        return {
            name: Quantity(name, self._unit(state.quantity), "state", start=state.start).of(self.name)
            for name, state in ask_states(self.motor, self.key, self.motor.states, self.read).items()
        }

    @cached_property
    def outputs(self) -> dict[str, Quantity]:
        """What it shows that is no state, by its own names."""
        return {
            name: Quantity(name, self._unit(measured), "other").of(self.name)
            for name, measured in self.motor.outputs.items()
            if name not in self.states
        }

    def _unit(self, measured: PhysicalQuantity) -> str:
        return (ALONG.get(measured, measured) if self.slides else measured).unit

    def drive(self, command: Scalar, position: Scalar, rate: Scalar, states: Mapping[str, Scalar]) -> Drive:
        """What it sees now, with all the model's own states by name."""
        own = {name: states[quantity.name] for name, quantity in self.states.items()}
        return Drive(command, position, rate, own)

    def command_for(self, torque: Scalar, position: Scalar, rate: Scalar) -> Scalar:
        """The command that gives a torque; raises InputError where its kind doesn't say which does."""
        sees = Drive(0.0, position, rate, {})
        command = ask(self.motor, self.key, self.motor.command_for, torque, sees, self.read)
        if command is None:
            message = f"{type(self.motor).__name__} doesn't say by which command it gives a torque"
            raise InputError(message, key=self.key, hint="give its class command_for(torque, drive, read)")
        return command

    def acceleration(self, drive: Drive) -> Scalar:
        """What it gives what it drives, where it holds a rate."""
        return ask(self.motor, self.key, self.motor.acceleration, drive, self.read)

    def leading(
        self, aim: Aim, inertia: Scalar, b: float, rate: Scalar, position: Scalar | None = None
    ) -> Scalar:
        """The command, held for a while, that leads what it drives to an aim from a rate and, of what steers, an angle.

        The torque is τ* + J b (q̇* − q̇), and for an angle τ* + J 2b (ω − q̇) with ω = q̇* + b/2 (q* − q), so that where
        J is all that moves the error decays as (1 + b t) e^(−b t). The command is that for this torque at the rate
        that is wanted: one for the rate that is would hold a motor there whose back-EMF is stronger than its load.
        """
        wanted, most = aim.rate, inertia * b
        if position is not None:
            wanted, most = wanted + b / 2 * (aim.position - position), 2 * most
        return self.command_for(aim.torque + most * (wanted - rate), aim.position, wanted)

    def greatest_torque(self, rate: Scalar, supply: Scalar | None = None) -> Scalar | None:
        """The torque that it can give forward at most, fed by a supply of so many volts; None for any."""
        sees = Drive(0.0, 0.0, rate, {}, supply)
        return ask(self.motor, self.key, self.motor.greatest_torque, sees, self.read)

    def uses(self, torque: Scalar, rate: Scalar, supply: Scalar | None = None) -> Mapping[str, Scalar]:
        """By what holds it back, the share of it that a torque takes."""
        return ask(
            self.motor, self.key, self.motor.uses, torque, Drive(0.0, 0.0, rate, {}, supply), self.read
        )

    def winding(self, drive: Drive) -> Winding:
        """What it wants of its winding, for one that a battery feeds."""
        assert isinstance(self.motor, WoundMotor)
        return ask(self.motor, self.key, self.motor.winding, drive, self.read)

    def settled_winding(self, command: Scalar, position: Scalar, rate: Scalar) -> Winding:
        """The same once its current has settled, whether that is a state or not."""
        return self.winding(Drive(command, position, rate, dict.fromkeys(self.states, 0.0)))

    def effort(self, drive: Drive) -> Effort:
        """What it does now; raises InputError where the rates that come back are not those of its states."""
        own = drive.states
        effort = ask(self.motor, self.key, self.motor.effort, drive, self.read)
        if not isinstance(effort, Effort):
            message = f"{type(self.motor).__name__} gives {effort!r} for the motor {self.name!r}"
            hint = "expected trundle.robot.Effort(torque, power, loss, …)"
            raise InputError(message, key=self.key, hint=hint)
        came, wanted = (effort.rates, effort.outputs), (own, self.motor.outputs)
        if [set(names) for names in came] != [set(names) for names in wanted]:
            message = f"{type(self.motor).__name__} gives {listed(*came)} for the motor {self.name!r}"
            raise InputError(message, key=self.key, hint=f"expected {listed(*wanted)}, as it says itself")
        return effort


def listed(rates: Iterable[str], outputs: Iterable[str]) -> str:
    """The names of rates and outputs, for messages on what a kind answers."""
    return f"rates of {', '.join(rates) or 'none'} and outputs {', '.join(outputs) or 'none'}"


@dataclass(frozen=True)
class SoftStop:
    """A soft stop that pushes on what goes beyond `limit` by p > 0: a spring and a damper that set in over a width w.

    The spring's force is k p²/(2w) up to p = w and k (p − w/2) from there on, once differentiable; the damper's
    d ṗ times the share min(p/w, 1). Together they push, never pull: a joint that leaves faster than the spring
    follows is let go, and what the spring still held counts as lost. `side` is 1 for an upper limit, −1 for a
    lower one.
    """

    limit: Scalar
    side: int
    stiffness: Scalar
    damping: Scalar = 0
    width: Scalar = 1e-3

    def effort(self, position: Scalar, rate: Scalar) -> Effort:
        """The stop with its joint at a position and a rate."""
        depth = maximum(self.side * (position - self.limit), 0)
        entered = minimum(depth, self.width)
        beyond = depth - entered
        share = entered / self.width
        spring = self.stiffness * (share * entered / 2 + beyond)
        approach = self.side * rate
        push = maximum(spring + self.damping * share * approach, 0)
        stored = self.stiffness * (share * entered * entered / 6 + (beyond + entered) * beyond / 2)
        return Effort(-self.side * push, loss=(push - spring) * approach, stored=stored)


@dataclass(frozen=True)
class Element:
    """A spring, damper, dry friction and soft stops on one joint: τ = −k (q − rest) − d q̇ − friction − stops."""

    column: int
    stiffness: Scalar = 0
    rest: Scalar = 0
    damping: Scalar = 0
    coulomb: Scalar = 0
    coulomb_speed: Scalar = 0
    stops: tuple[SoftStop, ...] = ()

    @property
    def stiff(self) -> bool:
        """Whether its force changes within a width that explicit methods would have to resolve."""
        return bool(self.stops) or not is_zero(self.coulomb)

    @property
    def idle(self) -> bool:
        """Whether it never does anything."""
        return not self.stops and all(is_zero(k) for k in (self.stiffness, self.damping, self.coulomb))

    def effort(self, position: Scalar, rate: Scalar) -> Effort:
        """The element with its joint at a position and a rate."""
        stretch = 0 if is_zero(self.stiffness) else position - self.rest
        resistance = drag(rate, self.damping, self.coulomb, self.coulomb_speed)
        pull = self.stiffness * stretch
        torque, loss, stored = -pull - resistance, resistance * rate, pull * stretch / 2
        for stop in self.stops:
            effort = stop.effort(position, rate)
            torque, loss, stored = torque + effort.torque, loss + effort.loss, stored + effort.stored
        return Effort(torque, loss=loss, stored=stored)


@dataclass(frozen=True)
class Supply:
    """A battery and the names of the motors it feeds. `read` turns its fields into scalars."""

    name: str
    battery: Battery
    feeds: tuple[str, ...]
    read: Read

    @property
    def full_voltage(self) -> Scalar:
        """Without load when it is full (V)."""
        return self.battery.source(1.0, self.read)

    def power_at(self, voltage: Scalar) -> Scalar:
        """V (E − V)/R, what it gives at a voltage between its terminals when it is full (W)."""
        return voltage * (self.full_voltage - voltage) / self.read(self.battery.internal_resistance)

    @property
    def least_voltage(self) -> Scalar:
        """The voltage (V) down to which more current of the full battery is more power, and its motors stay on."""
        half, off = self.full_voltage / 2, self.battery.off_below
        return half if off is None else maximum(half, self.read(off))

    @property
    def charge(self) -> Quantity:
        """Its state: 1 when full."""
        return Quantity("charge", "", "state", start=1.0, within=(0.0, 1.0)).of(self.name)

    @property
    def voltage(self) -> Quantity:
        """Between its terminals."""
        return Quantity("voltage", "V").of(self.name)

    @property
    def current(self) -> Quantity:
        """Out of it; negative while it is charged."""
        return Quantity("current", "A").of(self.name)

    @property
    def states(self) -> dict[str, Quantity]:
        """The states that it brings along, by its own names for them."""
        names = () if self.battery.off_below is None else ("relay", "relay_lock")
        relay = {
            name: Quantity(name, "", "state", start=1.0, within=(-1.0, 1.0)).of(self.name) for name in names
        }
        return {"charge": self.charge} | relay

    def feed(self, windings: Sequence[Winding], own: Mapping[str, Scalar]) -> Bus:
        """What it does now, with the model's own states by name."""
        states = {name: own[state.name] for name, state in self.states.items()}
        return self.battery.feed(states, windings, self.read)

    def switched(self, actuator: Actuator, drive: Drive, own: Mapping[str, Scalar]) -> Drive:
        """What a motor sees behind the relay, where there is one: open, it is asked for its back-EMF."""
        relay = self.states.get("relay")
        if relay is None:
            return drive
        free = actuator.winding(drive).emf
        return drive._replace(command=where(less(own[relay.name], 0), free, drive.command))
