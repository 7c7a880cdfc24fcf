"""Batteries: a source whose voltage falls with its charge, behind a resistance; and the windings that it feeds behind
lossless controllers, several at once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, Annotated, ClassVar, NamedTuple

from pydantic import Field

from trundle.robot import units
from trundle.robot.component import Component, default
from trundle.robot.expressions import ExpressionError
from trundle.robot.kinds import Read
from trundle.robot.units import PhysicalQuantity
from trundle.robot.values import Capacity, Positive, Reads, Resistance, Value, Voltage, problem, read_value
from trundle.scalars import Scalar, absolute, clamp, less, maximum, minimum, sqrt, where

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue


# A winding's current (A) below which a limit on what its controller draws has nothing to divide by.
_NO_CURRENT = 1e-6
# How far beyond an edge (relative) a voltage still counts as being on it, so that rounding loses none.
_EDGE = 1e-12
# How quickly a battery's relay follows (1/s): halfway after 1 ms, the order of controllers' filters. Long explicit
# steps go on as if no more than so much were left.
_RELAY_RATE, _RELAY_MOST = log(2) / 1e-3, 3.0


class Winding(NamedTuple):
    """What a controller wants of its winding now.

    request : voltage asked for, within the winding's own limits (V)
    emf : back-EMF (V)
    resistance : ohm
    current : the winding's current where that is a state; None where it follows the voltage at once (A)
    draw_limit : greatest current that the controller may draw from its supply; None for any (A)
    """

    request: Scalar
    emf: Scalar
    resistance: Scalar
    current: Scalar | None = None
    draw_limit: Scalar | None = None

    def flow(self, voltage: Scalar) -> Scalar:
        """The current at a voltage (A)."""
        return (voltage - self.emf) / self.resistance if self.current is None else self.current

    def voltage(self, supply: Scalar) -> Scalar:
        """What the controller gives from a supply of so many volts: |v| ≤ V, and v i ≤ I V for a limit I."""
        voltage = clamp(self.request, supply)
        if self.draw_limit is None:
            return voltage
        span = self.span(supply)
        if self.current is None:
            half = self.emf / 2
            return half + clamp(voltage - half, span)
        excess = maximum(voltage * self.current - self.draw_limit * supply, 0)
        return voltage - excess * self.current / (self.current * self.current + _NO_CURRENT**2)

    def span(self, supply: Scalar) -> Scalar | None:
        """How far from half the back-EMF the limit on its draw lets the voltage go (V); None where a root doesn't say.

        Where the current follows at once, v (v − e) ≤ R I V holds between the roots e/2 ± span.
        """
        if self.draw_limit is None or self.current is not None:
            return None
        half = self.emf / 2
        return sqrt(half * half + self.resistance * (self.draw_limit * supply))

    def edges(self) -> Iterator[Scalar]:
        """The supply's voltages at which what limits the winding changes."""
        yield absolute(self.request)
        if self.draw_limit is not None:
            yield self.request * self.flow(self.request) / self.draw_limit
            if self.current is None:
                yield self.resistance * self.draw_limit + self._sign * self.emf

    def draw(self, supply: Scalar) -> tuple[Scalar, Scalar, Scalar]:
        """a, b, c of the power a V² + b V + c that it draws around a supply's voltage V (W)."""
        held = less(supply, absolute(self.request))
        power = self.request * self.flow(self.request)
        if self.current is None:
            square, linear = held / self.resistance, -held * self._sign * self.emf / self.resistance
        else:
            square, linear = 0, held * self._sign * self.current
        constant = (1 - held) * power
        if self.draw_limit is None:
            return square, linear, constant
        drawn = (square * supply + linear) * supply + constant
        limited = less(self.draw_limit * supply, drawn)
        free = 1 - limited
        return free * square, free * linear + limited * self.draw_limit, free * constant

    @property
    def _sign(self) -> Scalar:
        return 1 - 2 * less(self.request, 0)


def supply_voltage(source: Scalar, resistance: Scalar, windings: Sequence[Winding]) -> Scalar:
    """The voltage V of a source behind a resistance that feeds windings: V (E − V)/R = Σ v i, with v as V allows.

    Between the voltages at which some limit changes, the power drawn is quadratic in V. The greatest V that solves one
    of these pieces and lies on it is where the battery works; 0 where there is none: the windings' currents are more
    than the battery gives into a short circuit.
    """
    edges = [edge for winding in windings for edge in winding.edges()]
    best: Scalar = 0
    for upper in [None, *edges]:
        lower: Scalar = 0
        for edge in edges:
            lower = maximum(lower, edge if upper is None else edge * less(edge, upper))
        inside = lower + 1 if upper is None else (lower + upper) / 2
        pieces = [winding.draw(inside) for winding in windings]
        square, linear, constant = (resistance * sum(group) for group in zip(*pieces, strict=True))
        a, b = 1 + square, linear - source
        discriminant = b * b - 4 * a * constant
        # the root of a negative number would be a NaN even where it doesn't count, and that of 0 has no slope
        root = (sqrt(maximum(discriminant, 1e-24 * source * source)) - b) / (2 * a)
        counts = (1 - less(discriminant, 0)) * (1 - less(root, lower * (1 - _EDGE)))
        if upper is not None:
            counts = counts * (1 - less(upper * (1 + _EDGE), root))
        best = maximum(best, counts * root)
    return best


ChargeCurve = tuple[tuple[float, float], ...]


class ReadsCurve(Reads):
    """A voltage, or pairs [charge, voltage] that say how it falls: data of the cell, no parameters."""

    def read(self, written: object) -> object:
        """A voltage, or a curve of pairs (charge, voltage) by increasing charge."""
        if not isinstance(written, (list, tuple)):
            return super().read(written)
        hint = "write pairs [charge, voltage] from empty to full: [[0, 11], [0.5, 12.2], [1, 12.8]]"
        if len(written) < 2 or not all(
            isinstance(pair, (list, tuple)) and len(pair) == 2 for pair in written
        ):
            raise problem("expected a voltage, or two pairs [charge, voltage] at least", hint)
        curve = tuple((self._plain(charge, units.RATIO), self._plain(volts)) for charge, volts in written)
        charges = [charge for charge, _ in curve]
        if charges[0] < 0 or charges[-1] > 1 or any(b <= a for a, b in pairwise(charges)):
            raise problem("the charges must increase, from 0 (empty) at least to 1 (full) at most", hint)
        if any(volts <= 0 for _, volts in curve):
            raise problem("a voltage must be greater than zero", hint)
        return curve

    def _plain(self, written: object, measure: PhysicalQuantity = units.VOLTAGE) -> float:
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
    its cells give (W), the power lost in them (W), and the rates of its states (1/s).
    """

    voltage: Scalar
    current: Scalar
    power: Scalar
    loss: Scalar
    rates: Mapping[str, Scalar]


class Battery(Component):
    """Feeds motors through lossless controllers: V = E(charge) − R i, V i = Σ v_k i_k, |v_k| ≤ V.

    State NAME.charge, 1 when full and at the start; outputs NAME.voltage and NAME.current. What motors give back
    charges it. Its cells count as outside: the work put in is ∫ E i dt, and R i² is lost. With `off_below` also a state
    NAME.relay, 1 when closed, -1 when open: below 0 its motors get their back-EMF, so that no current is driven.
    """

    called: ClassVar[str] = "battery"

    open_circuit_voltage: Positive[OpenCircuit] = Field(
        description="Voltage E without load (V): a number, or pairs [charge, voltage], linear between."
    )
    internal_resistance: Resistance = Field(description="Resistance R of cells and cables (ohm).")
    capacity: Positive[Capacity] = Field(description='Charge of the full battery (A s), such as "18 Ah".')
    off_below: Positive[Voltage] | None = default(
        None, "Voltage between its terminals (V) below which its motors are switched off. Default: none."
    )
    on_above: Positive[Voltage] | None = default(
        None, "Voltage (V) above which they are switched on again. Default: none, they stay off."
    )

    def source(self, charge: Scalar, read: Read) -> Scalar:
        """E, the voltage without load (V), at a charge between 0 and 1."""
        if isinstance(self.open_circuit_voltage, Value):
            return read(self.open_circuit_voltage)
        voltage: Scalar = self.open_circuit_voltage[0][1]
        for (start, low), (end, high) in pairwise(self.open_circuit_voltage):
            voltage = voltage + (high - low) / (end - start) * (minimum(maximum(charge, start), end) - start)
        return voltage

    def relay_rates(self, states: Mapping[str, Scalar], voltage: Scalar, read: Read) -> dict[str, Scalar]:
        """The rates of its relay (1/s), which goes to the other side while the voltage says so, else to its own; and
        of a lock that follows its side and holds it there until the lock has come, so that it never trembles between.
        """
        if self.off_below is None:
            return {}
        relay, lock = states["relay"], states["relay_lock"]
        is_open = less(relay, 0)
        low = less(voltage, read(self.off_below))
        high = 0 if self.on_above is None else less(read(self.on_above), voltage)
        side = 1 - 2 * is_open
        goes = side * (1 - 2 * where(is_open, high * less(lock, -0.5), low * less(0.5, lock)))
        # a lag, so that implicit steps of any length stay between the sides; never back, as long explicit ones don't
        return {
            name: to * minimum(maximum(1 - to * states[name], 0), _RELAY_MOST) * _RELAY_RATE
            for name, to in (("relay", goes), ("relay_lock", side))
        }

    def feed(self, states: Mapping[str, Scalar], windings: Sequence[Winding], read: Read) -> Bus:
        """What it does in its states while controllers want what they want."""
        source, resistance = self.source(states["charge"], read), read(self.internal_resistance)
        voltage = supply_voltage(source, resistance, windings)
        current = (source - voltage) / resistance
        rates = {"charge": -current / read(self.capacity), **self.relay_rates(states, voltage, read)}
        return Bus(voltage, current, source * current, resistance * current * current, rates)


def feeds(batteries: Mapping[str, Battery], named: Mapping[str, str | None]) -> dict[str, tuple[str, ...]]:
    """The motors that each battery feeds: those that name it, and where it is the only one those that name none."""
    only = next(iter(batteries), None) if len(batteries) == 1 else None
    return {
        battery: tuple(motor for motor, own in named.items() if (own or only) == battery)
        for battery in batteries
    }
