"""Motors, by type: the keys of each, and its physics in any scalar."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple

from pydantic import Field, GetJsonSchemaHandler, ModelWrapValidatorHandler, model_validator
from pydantic_core import CoreSchema

from trundle.errors import choose
from trundle.robot import units
from trundle.robot.batteries import Winding
from trundle.robot.kinds import Family, Kind, Read, State, must_define, must_measure
from trundle.robot.noun import default
from trundle.robot.real_motors import REAL_MOTORS
from trundle.robot.units import Measure
from trundle.robot.values import (
    AngularDamping,
    AngularStiffness,
    Current,
    Duration,
    Inductance,
    Moment,
    NotNegative,
    NotZero,
    Positive,
    Rate,
    Ratio,
    Resistance,
    Torque,
    TorqueConstant,
    Value,
    Voltage,
    describe,
    problem,
)
from trundle.scalars import Scalar, absolute, clamp, is_zero, less, maximum, minimum, smooth_sign, sqrt, where

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue


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


def _limited(torque: Scalar, limit: Value | None, read: Read) -> Scalar:
    """A torque held within a limit, if there is one."""
    return torque if limit is None else clamp(torque, read(limit))


def optional(value: Value | None, read: Read) -> Scalar | None:
    """The scalar of a value that may be left out."""
    return None if value is None else read(value)


def _check_motor(kind: type[Kind]) -> None:
    assert issubclass(kind, Motor)
    must_define(kind, Motor, "effort")
    if issubclass(kind, WoundMotor):
        must_define(kind, WoundMotor, "winding")
    must_measure(kind, "output", kind.outputs)
    must_measure(kind, "command", {kind.command: kind.commands})


# A voltage (V) that every limit holds back.
_MOST_VOLTAGE = 1e9

MOTORS = Family("motor", "dc", formerly="kind", check=_check_motor)


class Motor(Kind):
    """What drives a wheel's spin, a steering, a joint or a coupling.

    What a motor can do: `command` names its input and `commands` says what that measures; `outputs` are what it shows
    beside its torque and power; `letters` are symbols for its command and outputs in written equations. `holds`: what
    it drives has the commanded rate, and the torque follows.
    """

    family: ClassVar[Family] = MOTORS
    command: ClassVar[str] = "torque"
    commands: ClassVar[Measure] = units.TORQUE
    outputs: ClassVar[Mapping[str, Measure]] = {}
    letters: ClassVar[Mapping[str, str]] = {}
    holds: ClassVar[bool] = False

    drives: str = Field(
        description="What it drives: a wheel's spin (`right`), its steering (`front.steering`), a joint or a coupling."
    )

    def states(self, read: Read) -> Mapping[str, State]:
        """Its own states by name."""
        return {}

    def effort(self, drive: Drive, read: Read) -> Effort:
        """What it does now; `read` turns a field into a scalar."""
        raise NotImplementedError

    def armature(self, read: Read) -> Scalar:
        """Inertia of its rotor as felt by what it drives (kg m²)."""
        return 0

    def turns(self, read: Read) -> Scalar:
        """Turns of its own shaft per turn of what it drives: its `gear_ratio`, where its class has one."""
        ratio = getattr(self, "gear_ratio", None)
        return 1 if ratio is None else read(ratio)

    def no_load_rate(self, read: Read) -> Scalar | None:
        """The greatest rate of what it drives without load (rad/s); None where nothing says."""
        return None

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

    def reaches(self, drive: Drive, read: Read) -> Mapping[str, Scalar]:
        """By what holds it back, the torque that this alone lets it give forward at most at a rate; the least counts.

        As a function of the rate one of them has no kinks, so that plans may take its tangents.
        """
        most = self.greatest_torque(drive, read)
        return {} if most is None else {"torque": most}

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
    commands: ClassVar[Measure] = units.VOLTAGE

    battery: str | None = default(None, "The battery that feeds it. Default: the robot's only one, if any.")

    def winding(self, drive: Drive, read: Read) -> Winding:
        """What its controller wants of its winding now."""
        raise NotImplementedError

    def rate_at(self, voltage: Scalar, read: Read) -> Scalar | None:
        """The greatest rate of what it drives at a voltage without load (rad/s), by the back-EMF; None for any."""
        moving = Drive(0.0, 0.0, 1.0, dict.fromkeys(self.states(read), 0.0))
        emf = self.winding(moving, read).emf
        return None if is_zero(emf) else voltage / absolute(emf)


class DCMotor(WoundMotor):
    """A motor with a winding behind a gear: L di/dt = V − R i − K_e ω, τ = N (K i − friction), ω = N q̇.

    State NAME.current, input NAME.voltage. Without an inductance the current follows at once: i = (V - K_e ω)/R. V is
    the input held within K_e ω ± R I (`current_limit` I), the voltage limit, and what the battery allows.
    """

    outputs: ClassVar[Mapping[str, Measure]] = {"current": units.CURRENT}
    letters: ClassVar[Mapping[str, str]] = {"voltage": "V", "current": "i"}

    type: Literal["dc"] = "dc"
    model: str | None = default(
        None, f"A real motor, whose published numbers it has: {', '.join(REAL_MOTORS)}."
    )
    torque_constant: Positive[TorqueConstant] = Field(description="Torque per current K (N m/A).")
    back_emf_constant: NotNegative[TorqueConstant] | None = default(
        None, "Voltage per rate (V s/rad). Default: K."
    )
    resistance: Resistance = Field(description="Resistance of the winding (ohm).")
    inductance: Inductance = default(0.0, "Inductance (H), default 0: the current follows at once.")
    gear_ratio: NotZero[Ratio] = default(1.0, "Turns of the motor per turn of what it drives, default 1.")
    rotor_inertia: NotNegative[Moment] = default(0.0, "Rotor's inertia on its own shaft (kg m^2), default 0.")
    friction: AngularDamping = default(0.0, "Viscous friction on the motor's shaft (N m s/rad), default 0.")
    coulomb: NotNegative[Torque] = default(0.0, "Dry friction on the motor's shaft (N m), default 0.")
    coulomb_speed: Positive[Rate] = default(0.1, "Rate below which that is smoothed (rad/s), default 0.1.")
    voltage_limit: Positive[Voltage] | None = default(
        None, "Greatest voltage the supply gives (V). Default: none."
    )
    current_limit: Positive[Current] | None = default(
        None, "Winding current (A) beyond which its controller gives less voltage. Default: none."
    )
    supply_current_limit: Positive[Current] | None = default(
        None, "Greatest current (A) its controller draws from battery or voltage limit. Default: none."
    )

    @model_validator(mode="wrap")
    @classmethod
    def _published(cls, data: object, read: ModelWrapValidatorHandler[DCMotor]) -> DCMotor:
        """A real motor's numbers, where a model is named and nothing else is written in their place."""
        model = data.get("model") if isinstance(data, Mapping) else None
        if model is None or not isinstance(data, Mapping):
            return read(data)
        if not isinstance(model, str) or model not in REAL_MOTORS:
            raise problem(f"there is no model {describe(model)}", choose(model, REAL_MOTORS), ("model",))
        published = REAL_MOTORS[model].keys
        motor = read({**published, **data})
        motor.model_fields_set.difference_update(published.keys() - data.keys())  # nobody wrote them
        return motor

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """A model may stand for the constants."""
        whole = handler.resolve_ref_schema(handler(schema))
        constants = ["torque_constant", "resistance"]
        whole["required"] = [name for name in whole["required"] if name not in constants]
        return whole | {"anyOf": [{"required": ["model"]}, {"required": constants}]}

    def default_counts(self, field: str) -> bool:
        """The smoothing rate matters where there is dry friction; a model's numbers do."""
        if self.model is not None and field in REAL_MOTORS[self.model].keys:
            return True
        return field == "coulomb_speed" and "coulomb" in self.model_fields_set

    def states(self, read: Read) -> Mapping[str, State]:
        """The current, where the winding has an inductance."""
        return {} if is_zero(read(self.inductance)) else {"current": State(units.CURRENT)}

    def winding(self, drive: Drive, read: Read) -> Winding:
        """The command within the motor's own limits."""
        return self._wanted(drive, drive.states["current"] if self.states(read) else None, read)

    def _wanted(self, drive: Drive, current: Scalar | None, read: Read) -> Winding:
        """The command held within K_e ω ± R I and the voltage limit, as the winding gets it."""
        emf = self._emf(read) * (read(self.gear_ratio) * drive.rate)
        request, resistance = drive.command, read(self.resistance)
        if self.current_limit is not None:
            reach = resistance * read(self.current_limit)
            request = minimum(maximum(request, emf - reach), emf + reach)
        if self.voltage_limit is not None:
            request = clamp(request, read(self.voltage_limit))
        return Winding(request, emf, resistance, current, optional(self.supply_current_limit, read))

    def effort(self, drive: Drive, read: Read) -> Effort:
        """The motor at a voltage, and at a current where that is a state."""
        winding = self.winding(drive, read)
        voltage = self._voltage(winding, drive, read)
        constant, resistance, emf = read(self.torque_constant), winding.resistance, self._emf(read)
        ratio = read(self.gear_ratio)
        shaft = ratio * drive.rate
        current = drive.states.get("current")
        if current is None:
            current = winding.flow(voltage)
        rates, stored = {}, 0
        if self.states(read):
            inductance = read(self.inductance)
            rates = {"current": (voltage - winding.emf - resistance * current) / inductance}
            stored = inductance * current * current / 2
        rub = self._rub(drive, read)
        # What the winding turns into heat, what the shaft rubs away, and what unequal constants would invent or lose.
        heat = resistance * current * current + rub * shaft + (emf - constant) * current * shaft
        torque = ratio * (constant * current - rub)
        return Effort(torque, voltage * current, heat, stored, rates, {"current": current})

    def _voltage(self, winding: Winding, drive: Drive, read: Read) -> Scalar:
        """What the controller gives, from the battery or else within the voltage limit."""
        supply = drive.supply
        if supply is None and self.supply_current_limit is not None and self.voltage_limit is not None:
            supply = read(self.voltage_limit)
        return winding.request if supply is None else winding.voltage(supply)

    def _rub(self, drive: Drive, read: Read) -> Scalar:
        """What the shaft's own friction takes (N m)."""
        shaft = read(self.gear_ratio) * drive.rate
        return drag(shaft, read(self.friction), read(self.coulomb), read(self.coulomb_speed))

    def command_for(self, torque: Scalar, drive: Drive, read: Read) -> Scalar:
        """V = R i + K_e ω, with K i = τ/N + friction."""
        ratio = read(self.gear_ratio)
        current = (torque / ratio + self._rub(drive, read)) / read(self.torque_constant)
        return read(self.resistance) * current + self._emf(read) * ratio * drive.rate

    def greatest_torque(self, drive: Drive, read: Read) -> Scalar | None:
        """That at the voltage that its limits and its supply leave."""
        if all(limit is None for limit in (drive.supply, self.voltage_limit, self.current_limit)):
            return None
        ratio = absolute(read(self.gear_ratio))  # either way round
        ahead = drive._replace(command=_MOST_VOLTAGE, rate=drive.rate * ratio / read(self.gear_ratio))
        winding = self._wanted(ahead, None, read)
        current = winding.flow(self._voltage(winding, ahead, read))
        return ratio * (read(self.torque_constant) * current - self._rub(ahead, read))

    def reaches(self, drive: Drive, read: Read) -> Mapping[str, Scalar]:
        """Those at the currents that its own limit, the voltages and its controller's draw allow."""
        ratio, resistance = absolute(read(self.gear_ratio)), read(self.resistance)  # either way round
        ahead = drive._replace(rate=drive.rate * ratio / read(self.gear_ratio))
        emf, rub = self._emf(read) * ratio * drive.rate, self._rub(ahead, read)
        currents: dict[str, Scalar] = {}
        if self.current_limit is not None:
            currents["current"] = read(self.current_limit)
        if self.voltage_limit is not None:
            currents["voltage"] = (read(self.voltage_limit) - emf) / resistance
        if drive.supply is not None:
            currents["battery"] = (drive.supply - emf) / resistance
        if (drawn := self._drawn(drive, read)) is not None:
            currents["supply current"] = (sqrt(emf * emf / 4 + resistance * drawn) - emf / 2) / resistance
        constant = read(self.torque_constant)
        return {name: ratio * (constant * current - rub) for name, current in currents.items()}

    def uses(self, torque: Scalar, drive: Drive, read: Read) -> Mapping[str, Scalar]:
        """Shares of its greatest current, of the voltages, and of what its controller draws at most."""
        voltage = self.command_for(torque, drive, read)
        current = (voltage - self._emf(read) * read(self.gear_ratio) * drive.rate) / read(self.resistance)
        shares: dict[str, Scalar] = {}
        if self.current_limit is not None:
            shares["current"] = current / read(self.current_limit)
        if self.voltage_limit is not None:
            shares["voltage"] = voltage / read(self.voltage_limit)
        if drive.supply is not None:
            shares["battery"] = voltage / drive.supply
        if (drawn := self._drawn(drive, read)) is not None:
            # what flows back while it brakes isn't drawn
            shares["supply current"] = maximum(voltage * current, 0) / drawn
        return shares

    def _drawn(self, drive: Drive, read: Read) -> Scalar | None:
        """The power (W) that its controller draws at most: from the battery, or else within the voltage limit."""
        source = optional(self.voltage_limit, read) if drive.supply is None else drive.supply
        if self.supply_current_limit is None or source is None:
            return None
        return read(self.supply_current_limit) * source

    def command_limit(self, read: Read) -> Scalar | None:
        """The voltage limit."""
        return optional(self.voltage_limit, read)

    def parts(self, drive: Drive, read: Read) -> Mapping[str, tuple[Scalar, str]]:
        """What its limits on currents make of the voltage."""
        if self.current_limit is None and self.supply_current_limit is None:
            return {}
        winding = self.winding(drive, read)
        held = {} if winding.request is drive.command else {"U": (winding.request, "voltage asked for by")}
        span = None if drive.supply is None else winding.span(drive.supply)
        return held if span is None else held | {"rho": (span, "voltage about half the back-EMF left to")}

    def armature(self, read: Read) -> Scalar:
        """N² J."""
        ratio = read(self.gear_ratio)
        return ratio * ratio * read(self.rotor_inertia)

    def no_load_rate(self, read: Read) -> Scalar | None:
        """That at the greatest voltage."""
        return None if self.voltage_limit is None else self.rate_at(read(self.voltage_limit), read)

    def rate_at(self, voltage: Scalar, read: Read) -> Scalar | None:
        """Where K_e ω takes the voltage that the current through R, for the shaft's own friction, leaves."""
        resistive = read(self.resistance) / read(self.torque_constant)
        per_rate = read(self.gear_ratio) * (self._emf(read) + resistive * read(self.friction))
        if is_zero(per_rate):
            return None
        return maximum(voltage - resistive * read(self.coulomb), 0) / absolute(per_rate)

    def _emf(self, read: Read) -> Scalar:
        return read(self.torque_constant if self.back_emf_constant is None else self.back_emf_constant)


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
        torque = read(self.gear_ratio) * _limited(drive.command, self.torque_limit, read)
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
    commands: ClassVar[Measure] = units.ANGLE
    letters: ClassVar[Mapping[str, str]] = {"angle": "ref"}

    type: Literal["servo"] = "servo"
    stiffness: AngularStiffness = Field(description="Torque per error (N m/rad).")
    damping: AngularDamping = default(0.0, "Torque per rate (N m s/rad), default 0.")
    torque_limit: Positive[Torque] | None = default(None, "Greatest torque (N m). Default: none.")

    def effort(self, drive: Drive, read: Read) -> Effort:
        """The servo at a target angle."""
        error = drive.command - drive.position
        torque = _limited(
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
    commands: ClassVar[Measure] = units.RATE
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
        torque = _limited(gain * (reference - drive.rate) + summed, self.torque_limit, read)
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
    """Turns what it drives at NAME.rate exactly, whatever torque that takes; on terrain alone.

    A step over terrain takes the rate as it is told. Elsewhere a motor gives a torque: `velocity`, with a gain.
    """

    command: ClassVar[str] = "rate"
    commands: ClassVar[Measure] = units.RATE
    letters: ClassVar[Mapping[str, str]] = {"rate": "omega_ref"}
    holds: ClassVar[bool] = True

    type: Literal["ideal"] = "ideal"

    def command_for(self, torque: Scalar, drive: Drive, read: Read) -> Scalar:
        """The rate: any torque comes with it."""
        return drive.rate

    def effort(self, drive: Drive, read: Read) -> Effort:
        """Nothing: the torque follows from the motion."""
        return Effort(0)


MOTORS.add(DCMotor, TorqueMotor, ServoMotor, VelocityMotor, IdealMotor)
