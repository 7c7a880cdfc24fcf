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
from trundle.mechanics.base_motion import base_rows
from trundle.mechanics.coupling import Linkage
from trundle.mechanics.mobility import WheelPlace
from trundle.mechanics.steering import half_turn
from trundle.model.classification import wheel_places
from trundle.model.constraints import rolling_rows
from trundle.model.mechanism import Mechanism
from trundle.simulation.signals import Signal

# Times at which the direction of each steered wheel's velocity is looked at over a run; more where it turns by more
# than `MOST_TURN` (rad) between two, until they are closer together than `LEAST` of the run: then it jumps.
LOOKS, MOST_TURN, LEAST = 200, 0.2, 1e-10
# Of the twist's largest velocity, what is still.
STILL = 1e-12
# Steering that is given at the start may differ by this from what rolls (rad).
ROUNDING = 1e-9


@dataclass(frozen=True)
class Steered:
    """What a twist steers: a wheel, or the wheel in the middle that stands for a linkage's, and its coordinate."""

    coordinate: str
    place: WheelPlace

    def velocity(self, twist: Sequence[float]) -> complex:
        """v + ω × r, from the wheel's heading when unsteered."""
        v_x, v_y, omega = twist
        moved = complex(v_x - omega * self.place.y, v_y + omega * self.place.x)
        return moved * cmath.exp(-1j * self.place.heading)


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
    for each in _steered(assembly, signals):
        made[each.coordinate] = _Steering(each, twist, end).signal(initial.get(each.coordinate))
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
    """What steers by itself and isn't given: wheels, linkages in place of their wheels; raises InputError for gears."""
    columns = {wheel.name: wheel.steering for wheel in assembly.wheels}
    followers = {axis.column: each for each in assembly.couplings for axis in each.followers}
    linkages: dict[str, list[WheelPlace]] = {}
    for place, grips in wheel_places(assembly):
        column = columns[place.name]
        if not (place.steered and grips) or column is None:
            continue
        led = followers.get(column)
        rate = led.name + ".rate" if isinstance(led, Linkage) else assembly.speeds[column]
        coordinate = assembly.quantities.coordinate_of(rate)
        if rate in given or coordinate in given:
            continue
        if isinstance(led, Linkage):
            linkages.setdefault(led.name, []).append(place)
            continue
        if led is not None:
            message = f"the steering of '{place.name}' follows others by the gear '{led.name}'"
            hint = f"give the angle that it follows: {', '.join(axis.coordinate for axis in led.leaders)}"
            raise InputError(message, key="run.inputs", hint=hint)
        yield Steered(coordinate, place)
    for name, pair in linkages.items():
        x, y = (float(np.mean([getattr(place, axis) for place in pair])) for axis in "xy")
        yield Steered(f"{name}.angle", WheelPlace(name, x, y, 0.0, True))


class _Steering:
    """The steering angle δ(t) along which a wheel rolls, without jumps: known up to half turns at each time, and at
    `nodes` close enough together to tell which.
    """

    def __init__(self, steered: Steered, twist: Sequence[Signal], end: float) -> None:
        self.steered, self.twist, self.end = steered, twist, end
        breaks = {t for signal in twist for t in (*signal.jumps, *signal.kinks)}
        looks = [] if all(signal.held for signal in twist) else np.linspace(0, end, LOOKS + 1).tolist()
        before = [math.nextafter(t, -math.inf) for signal in twist for t in signal.jumps]
        self.times = sorted(t for t in {0.0, *breaks, *before, *looks} if 0.0 <= t <= end)
        sizes = [max(map(abs, self._twist(t))) for t in self.times]
        self.least = STILL * max(sizes)
        moving = [t for t in self.times if self._line(t) is not None]
        self.first = moving[0] if moving else 0.0
        self.angles = [half_turn(self._line(self.first) or 0.0)]
        self._follow()

    def signal(self, start: float | None) -> Signal:
        """δ(t) and its rate; from the half that `start` is in. Raises InputError where that is across the way."""
        shift = 0.0 if start is None else start - self.angles[0]
        across = math.remainder(shift, math.pi)
        if abs(across) > ROUNDING:
            slip = abs(self._velocity(self.first)) * abs(math.sin(across))
            raise InputError(
                f"'{self.steered.coordinate}' starts at {start:g} rad, and the twist at t = {self.first:g} s moves its "
                f"wheel along {self.angles[0]:g} rad: it would slip by {slip:.3g} m/s",
                key=f"run.initial.{self.steered.coordinate}",
                hint="leave it out: wheels start where the first twist needs them",
            )
        shift -= across
        kinks = tuple(sorted({t for signal in self.twist for t in (*signal.jumps, *signal.kinks)}))
        looks = [signal.resolution for signal in self.twist if signal.resolution is not None]
        held = all(signal.held for signal in self.twist)
        return Signal(
            lambda t: self._value(t) + shift, (), kinks, self._slope, min(looks, default=None), held
        )

    def _twist(self, t: float) -> list[float]:
        return [signal.value(t) for signal in self.twist]

    def _velocity(self, t: float) -> complex:
        return self.steered.velocity(self._twist(t))

    def _line(self, t: float) -> float | None:
        """The direction of the velocity, which half turns leave the same line; None where it stands still."""
        velocity = self._velocity(t)
        return cmath.phase(velocity) if abs(velocity) > self.least else None

    def _value(self, t: float) -> float:
        before = self.angles[max(bisect_right(self.times, t) - 1, 0)]
        return self._near(t, before)

    def _near(self, t: float, angle: float) -> float:
        """The steering angle at t that is nearest to another one; that one where the wheel stands still."""
        line = self._line(t)
        return angle if line is None else angle + math.remainder(line - angle, math.pi)

    def _slope(self, t: float) -> float:
        """δ̇ = (u × u̇)/|u|²; 0 at rest."""
        velocity = self._velocity(t)
        if abs(velocity) <= self.least:
            return 0.0
        faster = self.steered.velocity([signal.derivative(t, 0.0, self.end) for signal in self.twist])
        return (velocity.conjugate() * faster).imag / abs(velocity) ** 2

    def _follow(self) -> None:
        """The angles at all times, with more times between where they differ by much."""
        waiting, times = self.times[:0:-1], self.times[:1]
        while waiting:
            t, before = waiting[-1], times[-1]
            angle = self._near(t, self.angles[-1])
            if abs(angle - self.angles[-1]) > MOST_TURN:
                if t - before <= LEAST * self.end:
                    raise self._jump(t, self.angles[-1], angle)
                waiting.append((before + t) / 2)
                continue
            times.append(waiting.pop())
            self.angles.append(angle)
        self.times = times

    def _jump(self, t: float, before: float, after: float) -> InputError:
        name = self.steered.coordinate
        return InputError(
            f"at t = {t:.6g} s the twist turns the way of '{self.steered.place.name}' from {before:.4g} to "
            f"{after:.4g} rad, which no wheel can in no time",
            key="run.inputs",
            hint=f"turn the base's velocity over some time, or give '{name}' and stand still meanwhile",
        )
