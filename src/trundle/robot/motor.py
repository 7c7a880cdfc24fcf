"""What a motor is: what it sees, what it does, and what it can be asked; its kinds are in `motors`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, NamedTuple

from pydantic import Field

from trundle.robot import units
from trundle.robot.batteries import Winding
from trundle.robot.component import default
from trundle.robot.kinds import Kind, Read, Registry, State, must_define, must_measure
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import Value
from trundle.scalars import Scalar, absolute, clamp, is_zero, less, smooth_sign, where


class Drive(NamedTuple):
    """What a motor sees now: its command, position and rate of what it drives (rad, rad/s; m, m/s along a slide), and
    its own states by name. Where equations are written, `states` also holds its `outputs`. `supply` is the voltage of
    the battery that feeds it (V; None where none does).
    """

    command: Scalar
    position: Scalar
    rate: Scalar
    states: Mapping[str, Scalar]
    supply: Scalar | None = None


class Effort(NamedTuple):
    """What a motor, a spring or a stop does now.

    torque on what is driven (N m; N along a slide), power taken from outside (W), power lost to heat (W), energy stored
    (J), rates of the motor's own states, and further outputs. Energy is kept: power = torque·rate + loss + d stored/dt.
    """

    torque: Scalar
    power: Scalar = 0
    loss: Scalar = 0
    stored: Scalar = 0
    rates: Mapping[str, Scalar] = {}
    outputs: Mapping[str, Scalar] = {}


def drag(rate: Scalar, viscous: Scalar, coulomb: Scalar, width: Scalar) -> Scalar:
    """Viscous and regularised dry friction against a rate, as a positive drag."""
    dry = 0 if is_zero(coulomb) else coulomb * smooth_sign(rate, width)
    return viscous * rate + dry


def limited(torque: Scalar, limit: Value | None, read: Read) -> Scalar:
    """A torque held within a limit, if there is one."""
    return torque if limit is None else clamp(torque, read(limit))


def optional(value: Value | None, read: Read) -> Scalar | None:
    """The scalar of a value that may be left out."""
    return None if value is None else read(value)


def _check_motor(kind: type[Kind]) -> None:
    assert issubclass(kind, Motor)
    must_define(kind, Motor, "effort")
    if kind.holds:
        must_define(kind, Motor, "acceleration")
    if issubclass(kind, WoundMotor):
        must_define(kind, WoundMotor, "winding")
    must_measure(kind, "output", kind.outputs)
    must_measure(kind, "command", {kind.command: kind.commands})


MOTORS = Registry("motor", "dc", check=_check_motor)


class Motor(Kind):
    """What drives a wheel's spin, a steering, a joint or a coupling.

    What a motor can do: `command` names its input and `commands` says what that measures; `outputs` are what it shows
    beside its torque and power; `letters` are symbols for its command and outputs in written equations. `holds`: what
    it drives has the commanded rate, and the torque follows (`acceleration`).
    """

    family: ClassVar[Registry] = MOTORS
    instead: ClassVar[Mapping[str, str]] = {"kind": "type: names a motor's class: dc, servo, torque, …"}
    command: ClassVar[str] = "torque"
    commands: ClassVar[PhysicalQuantity] = units.TORQUE
    outputs: ClassVar[Mapping[str, PhysicalQuantity]] = {}
    letters: ClassVar[Mapping[str, str]] = {}
    holds: ClassVar[bool] = False
    has_winding: ClassVar[bool] = False

    drives: str = Field(
        description="What it drives: a wheel's spin (`right`), its steering (`front.steering`), a joint or a coupling."
    )
    mounted_on: str | None = default(
        None, "The link that holds its stator: a joint, a body or base. Default: what carries the driven."
    )

    def states(self, read: Read) -> Mapping[str, State]:
        """Its own states by name."""
        return {}

    def effort(self, drive: Drive, read: Read) -> Effort:
        """What it does now; `read` turns a field into a scalar."""
        raise NotImplementedError

    def acceleration(self, drive: Drive, read: Read) -> Scalar:
        """The acceleration that it gives what it drives off terrain, where it `holds` (rad/s²)."""
        raise NotImplementedError

    def armature(self, read: Read) -> Scalar:
        """Inertia of its rotor as felt by what it drives (kg m²)."""
        return 0

    def turns(self, read: Read) -> Scalar:
        """Turns of its own shaft per turn of what it drives: its `gear_ratio`, where its class has one."""
        ratio = getattr(self, "gear_ratio", None)
        return 1 if ratio is None else read(ratio)

    def rate_at(self, voltage: Scalar, read: Read) -> Scalar | None:
        """The greatest rate of what it drives at a voltage without load (rad/s); None where a voltage doesn't say."""
        return None

    def command_limit(self, read: Read) -> Scalar | None:
        """The greatest command that it follows; None for any."""
        return None

    def parts(self, drive: Drive, read: Read) -> Mapping[str, tuple[Scalar, str]]:
        """Parts of its effort that written equations show in lines of their own: by their letters what they are, and in
        words that end before the motor's name.
        """
        return {}

    def command_for(self, torque: Scalar, drive: Drive, read: Read) -> Scalar | None:
        """The command by which it gives a torque where it is and as fast as it turns, once its own states have settled;
        its limits don't count. None where nothing says.
        """
        return None

    def greatest_torque(self, drive: Drive, read: Read) -> Scalar | None:
        """The torque that it can give forward at most at a rate, once its own states have settled; None for any."""
        return None

    def uses(self, torque: Scalar, drive: Drive, read: Read) -> Mapping[str, Scalar]:
        """By what holds it back, the share of it that a torque at a rate takes, with its sign; beyond ±1 it can't."""
        ahead, behind = (
            self.greatest_torque(drive._replace(rate=rate), read) for rate in (drive.rate, -drive.rate)
        )
        if ahead is None or behind is None:
            return {}
        return {"torque": where(less(torque, 0), torque / behind, torque / ahead)}


class WoundMotor(Motor):
    """A motor with a winding behind a controller, which a battery can feed."""

    command: ClassVar[str] = "voltage"
    commands: ClassVar[PhysicalQuantity] = units.VOLTAGE
    has_winding: ClassVar[bool] = True

    battery: str | None = default(None, "The battery that feeds it. Default: the robot's only one, if any.")

    def winding(self, drive: Drive, read: Read) -> Winding:
        """What its controller wants of its winding now."""
        raise NotImplementedError

    def rate_at(self, voltage: Scalar, read: Read) -> Scalar | None:
        """The greatest rate of what it drives at a voltage without load (rad/s), by the back-EMF; None for any."""
        moving = Drive(0.0, 0.0, 1.0, dict.fromkeys(self.states(read), 0.0))
        emf = self.winding(moving, read).emf
        return None if is_zero(emf) else voltage / absolute(emf)
