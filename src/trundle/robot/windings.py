"""Windings behind lossless controllers, and the voltage at which a battery feeds several of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from trundle.scalars import Scalar, absolute, clamp, less, maximum, sqrt

# A winding's current (A) below which a limit on what its controller draws has nothing to divide by.
_NO_CURRENT = 1e-6
# How far beyond an edge (relative) a voltage still counts as being on it, so that rounding loses none.
_EDGE = 1e-12


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
        square, linear, constant = (resistance * sum(each) for each in zip(*pieces, strict=True))
        a, b = 1 + square, linear - source
        discriminant = b * b - 4 * a * constant
        # the root of a negative number would be a NaN even where it doesn't count, and that of 0 has no slope
        root = (sqrt(maximum(discriminant, 1e-24 * source * source)) - b) / (2 * a)
        counts = (1 - less(discriminant, 0)) * (1 - less(root, lower * (1 - _EDGE)))
        if upper is not None:
            counts = counts * (1 - less(upper * (1 + _EDGE), root))
        best = maximum(best, counts * root)
    return best
