"""Kinds of motors: the keys of each, and its physics in any scalar; the DC motor has a file of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from trundle.robot import units
from trundle.robot.component import default
from trundle.robot.dc_motor import DCMotor
from trundle.robot.kinds import Read, State
from trundle.robot.motor import MOTORS, Drive, Effort, Motor, limited, optional
from trundle.robot.motor import WoundMotor as WoundMotor
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import (
    AngularDamping,
    AngularStiffness,
    Duration,
    NotNegative,
    NotZero,
    Positive,
    Ratio,
    Torque,
)
from trundle.scalars import Scalar, absolute, is_zero


class TorqueMotor(Motor):
    """An ideal source of torque behind a gear: τ = N · NAME.torque, held within the limit."""

    letters: ClassVar[Mapping[str, str]] = {"torque": "T"}

    type: Literal["torque"] = "torque"
    gear_ratio: NotZero[Ratio] = default(1.0, "Turns of the motor per turn of what it drives, default 1.")
    torque_limit: Positive[Torque] | None = default(
        None, "Greatest torque on its shaft (N m). Default: none."
    )

    def effort(self, drive: Drive, read: Read) -> Effort:
        """The source at a commanded torque."""
        torque = read(self.gear_ratio) * limited(drive.command, self.torque_limit, read)
        return Effort(torque, power=torque * drive.rate)

    def command_for(self, torque: Scalar, drive: Drive, read: Read) -> Scalar:
        """τ/N."""
        return torque / read(self.gear_ratio)

    def greatest_torque(self, drive: Drive, read: Read) -> Scalar | None:
        """N times its limit."""
        limit = self.torque_limit
        return None if limit is None else absolute(read(self.gear_ratio)) * read(limit)

    def command_limit(self, read: Read) -> Scalar | None:
        """The limit on its shaft's torque."""
        return optional(self.torque_limit, read)


class ServoMotor(Motor):
    """Holds what it drives at the angle NAME.angle: torque = stiffness (target − angle) − damping rate.

    Its power counts as work put in.
    """

    command: ClassVar[str] = "angle"
    commands: ClassVar[PhysicalQuantity] = units.ANGLE
    letters: ClassVar[Mapping[str, str]] = {"angle": "ref"}

    type: Literal["servo"] = "servo"
    stiffness: AngularStiffness = Field(description="Torque per error (N m/rad).")
    damping: AngularDamping = default(0.0, "Torque per rate (N m s/rad), default 0.")
    torque_limit: Positive[Torque] | None = default(None, "Greatest torque (N m). Default: none.")

    def effort(self, drive: Drive, read: Read) -> Effort:
        """The servo at a target angle."""
        error = drive.command - drive.position
        torque = limited(
            read(self.stiffness) * error - read(self.damping) * drive.rate, self.torque_limit, read
        )
        return Effort(torque, power=torque * drive.rate)

    def command_for(self, torque: Scalar, drive: Drive, read: Read) -> Scalar:
        """Ahead of the angle by (τ + damping rate)/stiffness."""
        return drive.position + (torque + read(self.damping) * drive.rate) / read(self.stiffness)

    def greatest_torque(self, drive: Drive, read: Read) -> Scalar | None:
        """Its limit."""
        return optional(self.torque_limit, read)


class VelocityMotor(Motor):
    """Holds the rate of what it drives at NAME.rate, as a motor controller does that takes rates.

    torque = gain (reference − rate) + integral σ, with the reference behind the command by a first-order lag T:
    d reference/dt = (command − reference)/T (state NAME.reference; without a lag it is the command). Where there is an
    integral, dσ/dt = reference − rate (state NAME.sum); at the torque's limit σ is led back, dσ/dt = (torque − integral
    σ)/gain. Its power counts as work put in.
    """

    command: ClassVar[str] = "rate"
    commands: ClassVar[PhysicalQuantity] = units.RATE
    letters: ClassVar[Mapping[str, str]] = {"rate": "omega_ref", "reference": "omega_lag", "sum": "sigma"}

    type: Literal["velocity"] = "velocity"
    gain: Positive[AngularDamping] = Field(description="Torque per error of the rate (N m s/rad).")
    integral: NotNegative[AngularStiffness] = default(
        0.0, "Torque per integral of that error (N m/rad), default 0: none."
    )
    lag: Duration = default(0.0, "Time constant of the reference (s), default 0: it is the command.")
    torque_limit: Positive[Torque] | None = default(None, "Greatest torque (N m). Default: none.")

    def states(self, read: Read) -> Mapping[str, State]:
        """The reference, where it lags; the error's integral, where it counts."""
        lagging = {} if is_zero(read(self.lag)) else {"reference": State(units.RATE)}
        return lagging | ({} if is_zero(read(self.integral)) else {"sum": State(units.ANGLE)})

    def effort(self, drive: Drive, read: Read) -> Effort:
        """The motor at a target rate."""
        reference, gain = drive.states.get("reference", drive.command), read(self.gain)
        summed = read(self.integral) * drive.states["sum"] if "sum" in drive.states else 0
        torque = limited(gain * (reference - drive.rate) + summed, self.torque_limit, read)
        rates: dict[str, Scalar] = {}
        if "reference" in drive.states:
            rates["reference"] = (drive.command - reference) / read(self.lag)
        if "sum" in drive.states:
            rates["sum"] = (torque - summed) / gain
        return Effort(torque, power=torque * drive.rate, rates=rates)

    def command_for(self, torque: Scalar, drive: Drive, read: Read) -> Scalar:
        """Above the rate by τ/gain, at the rate itself with an integral, which gives the torque; the lag is not made up
        for.
        """
        if not is_zero(read(self.integral)):
            return drive.rate
        return drive.rate + torque / read(self.gain)

    def greatest_torque(self, drive: Drive, read: Read) -> Scalar | None:
        """Its limit."""
        return optional(self.torque_limit, read)


class IdealMotor(Motor):
    """Turns what it drives at NAME.rate, whatever torque that takes.

    The rate follows its command, d rate/dt = (command − rate)/T, as a jump would take a blow; a step over terrain takes
    the command at once. The torque follows from the motion, and its power counts as work put in.
    """

    command: ClassVar[str] = "rate"
    commands: ClassVar[PhysicalQuantity] = units.RATE
    letters: ClassVar[Mapping[str, str]] = {"rate": "omega_ref"}
    holds: ClassVar[bool] = True

    type: Literal["ideal"] = "ideal"
    # Runge and Kutta's method is stable up to steps of 2.785 T, and off by 1 % of a jump with steps of T.
    lag: Positive[Duration] = default(
        0.01, "Time constant T of the rate (s), default 10 ms; without effect over terrain."
    )

    def command_for(self, torque: Scalar, drive: Drive, read: Read) -> Scalar:
        """The rate: any torque comes with it."""
        return drive.rate

    def effort(self, drive: Drive, read: Read) -> Effort:
        """Nothing: the torque follows from the motion."""
        return Effort(0)

    def acceleration(self, drive: Drive, read: Read) -> Scalar:
        """To the command."""
        return (drive.command - drive.rate) / read(self.lag)


MOTORS.add(DCMotor, TorqueMotor, ServoMotor, VelocityMotor, IdealMotor)
