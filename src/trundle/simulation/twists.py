"""Twists of the base as inputs of kinematic runs: what isn't given of them, and steering that follows."""

from __future__ import annotations

import cmath
import math
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from trundle.errors import InputError
from trundle.mechanics.assembly import Assembly
from trundle.mechanics.mobility import WheelPlace, base_rows
from trundle.mechanics.steering import STILL, half_turn, velocity_at
from trundle.model.classification import wheel_places
from trundle.model.constraints import rolling_rows
from trundle.model.mechanism import Mechanism
from trundle.simulation.signals import Signal

# Times at which the direction of a steered wheel's velocity is looked at over a run; more where it turns by more
# than `MOST_TURN` (rad) between two, until they are closer together than `LEAST` of the run: then it jumps.
LOOKS, MOST_TURN, LEAST = 200, 0.2, 1e-10
# Steering that is given at the start may differ by this from what rolls (rad).
ROUNDING = 1e-9


@dataclass(frozen=True)
class Steered:
    """What a twist steers: a wheel, or the wheel in the middle that stands for a linkage's, and its coordinate."""

    coordinate: str
    place: WheelPlace

    def velocity(self, twist: Sequence[float]) -> complex:
        """v + ω × r, from the wheel's heading when unsteered."""
        x, y = velocity_at((self.place.x, self.place.y), twist)
        return complex(x, y) * cmath.exp(-1j * self.place.heading)


def with_twist(
    here: Mechanism, signals: Mapping[str, Signal], initial: Mapping[str, float], end: float
) -> dict[str, Signal]:
    """The signals, and where the base's speeds are among them those of the whole twist and of the steering that rolls.

    What isn't given of the twist follows from wheels that can't steer, where they say anything about it, else it is 0:
    z = −C_z⁺ C_k k, with C what they demand of the base. `initial` are the coordinates that are given at the start.
    Raises InputError where a wheel would have to turn in no time, or starts across its way.
    """
    assembly = here.assembly
    speeds = [assembly.speeds[column] for column in assembly.base_columns]
    if not any(name in signals for name in speeds):
        return dict(signals)
    for name in speeds:
        if name in signals and signals[name].feedback is not None:
            hint = "give the steering and the rates of the wheels instead"
            raise InputError(f"'{name}' can't follow the motion", key=f"run.inputs.{name}", hint=hint)
    twist = _whole(here, [signals.get(name) for name in speeds])
    made = dict(zip(speeds, twist, strict=True))
    for steered in _steered(assembly, signals):
        made[steered.coordinate] = _steering(steered, twist, end, initial.get(steered.coordinate))
    return {**signals, **made}


def _whole(here: Mechanism, given: Sequence[Signal | None]) -> list[Signal]:
    """Signals of v_x, v_y, ω where some are given."""
    rigid = [w for w in here.assembly.wheels if w.grips and w.on_base and w.steering is None]
    rows = np.array(rolling_rows(here.assembly, here.at, rigid)[0], dtype=float)
    demands = base_rows(rows, here.assembly.base_columns) if len(rows) else np.zeros((0, 3))
    known = [k for k, signal in enumerate(given) if signal is not None]
    open_ = [k for k, signal in enumerate(given) if signal is None]
    follow = -np.linalg.pinv(demands[:, open_], rcond=1e-9) @ demands[:, known]
    follow[np.abs(follow) < STILL] = 0.0
    parts = [signal for signal in given if signal is not None]
    made = dict(zip(open_, (_sum(row.tolist(), parts) for row in follow), strict=True))
    return [made[k] if signal is None else signal for k, signal in enumerate(given)]


def _sum(factors: Sequence[float], signals: Sequence[Signal]) -> Signal:
    """Σ c s(t)."""
    parts = [(c, signal) for c, signal in zip(factors, signals, strict=True) if c]
    looks = [signal.resolution for _, signal in parts if signal.resolution is not None]
    return Signal(
        lambda t: sum(c * signal.value(t) for c, signal in parts),
        tuple(sorted({t for _, signal in parts for t in signal.jumps})),
        tuple(sorted({t for _, signal in parts for t in signal.kinks})),
        resolution=min(looks, default=None),
        held=all(signal.held for _, signal in parts),
    )


def _steered(assembly: Assembly, given: Mapping[str, Signal]) -> Iterator[Steered]:
    """What steers by itself and isn't given: wheels, and linkages in place of their wheels."""
    columns = {wheel.name: wheel.steering for wheel in assembly.wheels}
    linkages = {axis.column: linkage for linkage in assembly.linkages for axis in linkage.followers}
    pairs: dict[str, list[WheelPlace]] = {}
    for place, grips in wheel_places(assembly):
        column = columns[place.name]
        if not (place.steered and grips) or column is None:
            continue
        linkage = linkages.get(column)
        if _is_given(assembly, column if linkage is None else linkage.column, place.name, given):
            continue
        if linkage is None:
            yield Steered(assembly.quantities.coordinate_of(assembly.speeds[column]), place)
        else:
            pairs.setdefault(linkage.axis.coordinate, []).append(place)
    for coordinate, pair in pairs.items():
        x, y = (float(np.mean([getattr(place, axis) for place in pair])) for axis in "xy")
        yield Steered(coordinate, WheelPlace(coordinate, x, y, 0.0, True))


def _is_given(assembly: Assembly, column: int, wheel: str, given: Mapping[str, Signal]) -> bool:
    """Whether a rate, or what it follows by gears, is given; InputError for what follows something that isn't."""
    rate = assembly.speeds[column]
    if rate in given or assembly.quantities.coordinate_of(rate) in given:
        return True
    gears = [gear for gear in assembly.couplings if column in [axis.column for axis in gear.followers]]
    leaders = [axis for gear in gears for axis in gear.leaders]
    if not leaders or any(_is_given(assembly, axis.column, wheel, given) for axis in leaders):
        return bool(leaders)
    raise InputError(
        f"the steering of '{wheel}' follows others by the gear '{gears[0].name}'",
        key="run.inputs",
        hint=f"give the angle that it follows: {', '.join(axis.coordinate for axis in leaders)}",
    )


@dataclass(frozen=True)
class _RollingLine:
    """Along which line a wheel rolls, δ(t) up to half turns; below `least` (m/s) it stands still and has none."""

    steered: Steered
    twist: Sequence[Signal]
    end: float
    least: float

    def velocity(self, t: float) -> complex:
        """Of the wheel's place, from its heading."""
        return self.steered.velocity([signal.value(t) for signal in self.twist])

    def near(self, t: float, angle: float) -> float:
        """The steering angle at t that is nearest to another one; that one where the wheel stands still."""
        velocity = self.velocity(t)
        if abs(velocity) <= self.least:
            return angle
        return angle + math.remainder(cmath.phase(velocity) - angle, math.pi)

    def slope(self, t: float) -> float:
        """δ̇ = (u × u̇)/|u|²; 0 at rest."""
        velocity = self.velocity(t)
        if abs(velocity) <= self.least:
            return 0.0
        faster = self.steered.velocity([signal.derivative(t, 0.0, self.end) for signal in self.twist])
        return (velocity.conjugate() * faster).imag / abs(velocity) ** 2


def _steering(steered: Steered, twist: Sequence[Signal], end: float, start: float | None) -> Signal:
    """The steering angle along which a wheel rolls, without jumps, from the half that `start` is in.

    Raises InputError where that is across the way, or where the way itself jumps.
    """
    breaks = sorted({t for signal in twist for t in (*signal.jumps, *signal.kinks)})
    before = [math.nextafter(t, -math.inf) for signal in twist for t in signal.jumps]
    held = all(signal.held for signal in twist)
    looks = [] if held else np.linspace(0.0, end, LOOKS + 1).tolist()
    times = sorted(t for t in {0.0, *breaks, *before, *looks} if 0.0 <= t <= end)
    sizes = [max(abs(signal.value(t)) for signal in twist) for t in times]
    way = _RollingLine(steered, twist, end, STILL * max(sizes))
    first = next((t for t in times if abs(way.velocity(t)) > way.least), 0.0)
    begin = half_turn(way.near(first, 0.0))
    if start is not None:
        begin = _started(way, first, begin, start)
    times, angles = _followed(way, times, begin)

    def value(t: float) -> float:
        return way.near(t, angles[max(bisect_right(times, t) - 1, 0)])

    resolutions = [signal.resolution for signal in twist if signal.resolution is not None]
    return Signal(value, (), tuple(breaks), way.slope, min(resolutions, default=None), held)


def _started(way: _RollingLine, first: float, needed: float, start: float) -> float:
    """The angle along the way that is the one at the start; InputError where none is."""
    across = math.remainder(start - needed, math.pi)
    if abs(across) <= ROUNDING:
        return start - across
    slip = abs(way.velocity(first)) * abs(math.sin(across))
    raise InputError(
        f"'{way.steered.coordinate}' starts at {start:g} rad, and the twist at t = {first:g} s moves its wheel along "
        f"{needed:g} rad: it would slip by {slip:.3g} m/s",
        key=f"run.initial.{way.steered.coordinate}",
        hint="leave it out: wheels start where the first twist needs them",
    )


def _followed(way: _RollingLine, looks: Sequence[float], begin: float) -> tuple[list[float], list[float]]:
    """Times and angles along a way, with more times between where the angles differ by much."""
    times, angles, waiting = [looks[0]], [begin], list(looks[:0:-1])
    while waiting:
        t, angle = waiting[-1], way.near(waiting[-1], angles[-1])
        if abs(angle - angles[-1]) <= MOST_TURN:
            times.append(waiting.pop())
            angles.append(angle)
        elif t - times[-1] > LEAST * way.end:
            waiting.append((times[-1] + t) / 2)
        else:
            raise InputError(
                f"at t = {t:.6g} s the twist turns the way of '{way.steered.place.name}' from {angles[-1]:.4g} to "
                f"{angle:.4g} rad, which no wheel can in no time",
                key="run.inputs",
                hint="turn the base's velocity over some time, or give "
                f"'{way.steered.coordinate}' and stand still meanwhile",
            )
    return times, angles
