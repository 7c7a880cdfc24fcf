"""Batteries: a source whose voltage falls with its charge, behind a resistance, that feeds motors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from pydantic import Field

from trundle.robot import units
from trundle.robot.expressions import ExpressionError
from trundle.robot.kinds import Read
from trundle.robot.noun import Noun
from trundle.robot.units import Measure
from trundle.robot.values import Capacity, Positive, Reads, Resistance, Value, problem, read_value
from trundle.robot.windings import Winding, supply_voltage
from trundle.scalars import Scalar, maximum, minimum

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

ChargeCurve = tuple[tuple[float, float], ...]


class ReadsCurve(Reads):
    """A voltage, or pairs [charge, voltage] that say how it falls: data of the cell, no parameters."""

    def read(self, written: object) -> object:
        """A voltage, or a curve of pairs (charge, voltage) by increasing charge."""
        if not isinstance(written, (list, tuple)):
            return super().read(written)
        hint = "write pairs [charge, voltage] from empty to full: [[0, 11], [0.5, 12.2], [1, 12.8]]"
        if len(written) < 2 or not all(
            isinstance(each, (list, tuple)) and len(each) == 2 for each in written
        ):
            raise problem("expected a voltage, or two pairs [charge, voltage] at least", hint)
        curve = tuple((self._plain(charge, units.RATIO), self._plain(volts)) for charge, volts in written)
        charges = [charge for charge, _ in curve]
        if charges[0] < 0 or charges[-1] > 1 or any(b <= a for a, b in pairwise(charges)):
            raise problem("the charges must increase, from 0 (empty) at least to 1 (full) at most", hint)
        if any(volts <= 0 for _, volts in curve):
            raise problem("a voltage must be greater than zero", hint)
        return curve

    def _plain(self, written: object, measure: Measure = units.VOLTAGE) -> float:
        try:
            value = read_value(written, measure)
        except ExpressionError as error:
            raise problem(str(error), error.hint) from None
        if value.names:
            raise problem(f"a curve can't use parameters, and {value.source!r} does", "write a number")
        return value.number

    def schema(self) -> JsonSchemaValue:
        one = super().schema()
        pair = {"type": "array", "items": one, "minItems": 2, "maxItems": 2}
        return {"anyOf": [one, {"type": "array", "items": pair, "minItems": 2}]}


OpenCircuit = Annotated[Value | ChargeCurve, ReadsCurve(units.VOLTAGE)]


class Bus(NamedTuple):
    """What a battery does now: its terminals' voltage (V) and current (A, negative while it is charged), the power that
    its cells give (W), the power lost in them (W), and the rate of its charge (1/s).
    """

    voltage: Scalar
    current: Scalar
    power: Scalar
    loss: Scalar
    rate: Scalar


class Battery(Noun):
    """Feeds motors through lossless controllers: V = E(charge) − R i, V i = Σ v_k i_k, |v_k| ≤ V.

    State NAME.charge, 1 when full and at the start; outputs NAME.voltage and NAME.current. What motors give back
    charges it. Its cells count as outside: the work put in is ∫ E i dt, and R i² is lost.
    """

    called: ClassVar[str] = "battery"

    open_circuit_voltage: Positive[OpenCircuit] = Field(
        description="Voltage E without load (V): a number, or pairs [charge, voltage], linear between."
    )
    internal_resistance: Resistance = Field(description="Resistance R of cells and cables (ohm).")
    capacity: Positive[Capacity] = Field(description='Charge of the full battery (A s), such as "18 Ah".')

    def source(self, charge: Scalar, read: Read) -> Scalar:
        """E, the voltage without load (V), at a charge between 0 and 1."""
        if isinstance(self.open_circuit_voltage, Value):
            return read(self.open_circuit_voltage)
        found: Scalar = self.open_circuit_voltage[0][1]
        for (start, low), (end, high) in pairwise(self.open_circuit_voltage):
            found = found + (high - low) / (end - start) * (minimum(maximum(charge, start), end) - start)
        return found

    def feed(self, charge: Scalar, windings: Sequence[Winding], read: Read) -> Bus:
        """What it does at a charge while controllers want what they want."""
        source, resistance = self.source(charge, read), read(self.internal_resistance)
        voltage = supply_voltage(source, resistance, windings)
        current = (source - voltage) / resistance
        rate = -current / read(self.capacity)
        return Bus(voltage, current, source * current, resistance * current * current, rate)


def feeds(batteries: Mapping[str, Battery], named: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """The motors that each battery feeds: those that name it, and where it is the only one those that name none."""
    only = next(iter(batteries), None) if len(batteries) == 1 else None
    return {
        battery: tuple(motor for motor, own in named.items() if (own or only) == battery)
        for battery in batteries
    }
