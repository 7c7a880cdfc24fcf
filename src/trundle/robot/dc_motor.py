"""The DC motor: a winding behind a controller's limits, and a gear."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field, GetJsonSchemaHandler, ModelWrapValidatorHandler, model_validator
from pydantic_core import CoreSchema

from trundle.errors import choose
from trundle.robot import units
from trundle.robot.batteries import Winding
from trundle.robot.component import default
from trundle.robot.kinds import Read, State
from trundle.robot.motor import Drive, Effort, WoundMotor, drag, optional
from trundle.robot.real_motors import REAL_MOTORS
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import (
    AngularDamping,
    Current,
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
    Voltage,
    describe,
    problem,
)
from trundle.scalars import Scalar, absolute, clamp, is_zero, maximum, minimum

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

# A voltage (V) that every limit holds back.
_MOST_VOLTAGE = 1e9


class DCMotor(WoundMotor):
    """A motor with a winding behind a gear: L di/dt = V − R i − K_e ω, τ = N (K i − friction), ω = N q̇.

    State NAME.current, input NAME.voltage. Without an inductance the current follows at once: i = (V - K_e ω)/R. V is
    the input held within K_e ω ± R I (`current_limit` I), the voltage limit, and what the battery allows.
    """

    outputs: ClassVar[Mapping[str, PhysicalQuantity]] = {"current": units.CURRENT}
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
        return self._limited_command(drive, drive.states["current"] if self.states(read) else None, read)

    def _limited_command(self, drive: Drive, current: Scalar | None, read: Read) -> Winding:
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
        winding = self._limited_command(ahead, None, read)
        current = winding.flow(self._voltage(winding, ahead, read))
        return ratio * (read(self.torque_constant) * current - self._rub(ahead, read))

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

    def rate_at(self, voltage: Scalar, read: Read) -> Scalar | None:
        """Where K_e ω takes the voltage that the current through R, for the shaft's own friction, leaves."""
        resistive = read(self.resistance) / read(self.torque_constant)
        per_rate = read(self.gear_ratio) * (self._emf(read) + resistive * read(self.friction))
        if is_zero(per_rate):
            return None
        return maximum(voltage - resistive * read(self.coulomb), 0) / absolute(per_rate)

    def _emf(self, read: Read) -> Scalar:
        return read(self.torque_constant if self.back_emf_constant is None else self.back_emf_constant)
