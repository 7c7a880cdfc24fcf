"""Motors, servos, springs, dampers and friction: the torques they put on a joint, and where their energy goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from trundle.mechanics.quantities import Quantity
from trundle.scalars import Scalar, clamp, is_zero, maximum, minimum, smooth_sign


class Effort(NamedTuple):
    """What one actuator or element does now.

    torque on the joint (N m or N), its shaft's or winding's current (A; 0 without one), the current's rate (A/s;
    None without an electrical state), power taken from outside (W), power lost to heat (W), energy stored (J).
    """

    torque: Scalar
    current: Scalar = 0
    current_rate: Scalar | None = None
    power: Scalar = 0
    loss: Scalar = 0
    stored: Scalar = 0


class _Driving:
    """The quantities that every actuator has; `slides` says whether what it drives goes along an axis."""

    name: str
    slides: bool

    @property
    def current(self) -> Quantity | None:
        """The current in its winding (A); None without one."""
        return None

    @property
    def torque(self) -> Quantity:
        """What it puts on what it drives, behind gear and limit (N m, or N)."""
        return Quantity("torque", self._effort_unit, "force").of(self.name)

    @property
    def power(self) -> Quantity:
        """What it takes from outside (W)."""
        return Quantity("power", "W", "power").of(self.name)

    @property
    def _effort_unit(self) -> str:
        return "N" if self.slides else "N m"


@dataclass(frozen=True)
class Motor(_Driving):
    """A DC motor behind a gear: L di/dt = V − R i − K_e ω_m, τ = N (K_t i − b ω_m − friction), ω_m = N q̇.

    Its rotor's inertia stands in the tree as armature N² J. SI units; `limit` is the supply's voltage (None:
    unlimited).
    """

    name: str
    column: int
    torque_constant: Scalar
    back_emf_constant: Scalar
    resistance: Scalar
    inductance: Scalar = 0
    ratio: Scalar = 1
    friction: Scalar = 0
    coulomb: Scalar = 0
    coulomb_speed: Scalar = 0
    limit: Scalar | None = None
    slides: bool = False

    kind = "dc"

    @property
    def command(self) -> Quantity:
        """The voltage at its terminals (V)."""
        return Quantity("voltage", "V", "command").of(self.name)

    @property
    def current(self) -> Quantity:
        """The current in its winding (A)."""
        return Quantity("current", "A", "current").of(self.name)

    @property
    def electrical(self) -> bool:
        """Whether its current is a state."""
        return not is_zero(self.inductance)

    def effort(self, command: Scalar, _position: Scalar, rate: Scalar, current: Scalar | None) -> Effort:
        """The motor at a voltage (V), with its joint at a rate (rad/s or m/s) and its current (A) where that is a
        state.
        """
        voltage = command if self.limit is None else clamp(command, self.limit)
        shaft = self.ratio * rate
        across = voltage - self.back_emf_constant * shaft
        if current is None:
            current = across / self.resistance
            change = None
        else:
            change = (across - self.resistance * current) / self.inductance
        drag = _drag(shaft, self.friction, self.coulomb, self.coulomb_speed)
        torque = self.ratio * (self.torque_constant * current - drag)
        power = voltage * current
        # What the winding turns into heat, what the shaft rubs away, and what unequal constants would invent or lose.
        heat = self.resistance * current * current + drag * shaft
        heat = heat + (self.back_emf_constant - self.torque_constant) * current * shaft
        stored = 0 if change is None else self.inductance * current * current / 2
        return Effort(torque, current, change, power, heat, stored)


@dataclass(frozen=True)
class TorqueSource(_Driving):
    """An ideal actuator: τ = N · command, held within ±limit."""

    name: str
    column: int
    ratio: Scalar = 1
    limit: Scalar | None = None
    slides: bool = False

    kind = "torque"
    electrical = False

    @property
    def command(self) -> Quantity:
        """The torque on its shaft, before gear and limit (N m, or N)."""
        return Quantity("torque", self._effort_unit, "command").of(self.name)

    @property
    def torque(self) -> Quantity:
        """What it puts on what it drives (N m, or N), under a name of its own beside the commanded torque."""
        return Quantity("delivered", self._effort_unit, "force").of(self.name)

    def effort(self, command: Scalar, _position: Scalar, rate: Scalar, _current: Scalar | None) -> Effort:
        """The source at a commanded torque (N m)."""
        torque = self.ratio * (command if self.limit is None else clamp(command, self.limit))
        return Effort(torque, power=torque * rate)


@dataclass(frozen=True)
class Servo(_Driving):
    """A position loop: τ = k (target − q) − d q̇, held within ±limit; its power counts as work put in."""

    name: str
    column: int
    stiffness: Scalar
    damping: Scalar
    limit: Scalar | None = None
    slides: bool = False

    kind = "servo"
    electrical = False

    @property
    def command(self) -> Quantity:
        """Where it shall hold what it drives (rad, or m)."""
        return Quantity("angle", "m" if self.slides else "rad", "command").of(self.name)

    def effort(self, command: Scalar, position: Scalar, rate: Scalar, _current: Scalar | None) -> Effort:
        """The servo at a target angle (rad), its joint at a position and a rate."""
        torque = self.stiffness * (command - position) - self.damping * rate
        if self.limit is not None:
            torque = clamp(torque, self.limit)
        return Effort(torque, power=torque * rate)


Actuator = Motor | TorqueSource | Servo


@dataclass(frozen=True)
class Stop:
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
    stops: tuple[Stop, ...] = ()

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
        drag = _drag(rate, self.damping, self.coulomb, self.coulomb_speed)
        pull = self.stiffness * stretch
        torque, loss, stored = -pull - drag, drag * rate, pull * stretch / 2
        for stop in self.stops:
            effort = stop.effort(position, rate)
            torque, loss, stored = torque + effort.torque, loss + effort.loss, stored + effort.stored
        return Effort(torque, loss=loss, stored=stored)


def _drag(rate: Scalar, viscous: Scalar, coulomb: Scalar, width: Scalar) -> Scalar:
    """Viscous and regularised dry friction against a rate, as a positive drag."""
    dry = 0 if is_zero(coulomb) else coulomb * smooth_sign(rate, width)
    return viscous * rate + dry
