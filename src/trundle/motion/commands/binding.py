"""What binds a motion, and when: declared limits, motors, batteries and the floor, by the shares that it takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.mechanics.actuation import Supply
from trundle.motion.commands.drive import Driven
from trundle.motion.drive.drive import QUANTITIES
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import MotionForces, motion_forces
from trundle.motion.forces.real_limits import RealLimits, planned_use, real_limits
from trundle.motion.pieces.motion import Motion, Samples

# What is used to this share of what was planned with binds: along paths the margins between samples leave up to 2.1 %
# of it (swerve drives of competitions), the polygon in the circle of a zone's accelerations up to 0.9 % more.
_BINDS = 0.96
# What is used within this of the most binds alike: shares of equal wheels and motors differ by rounding.
_ALIKE = 1e-3


@dataclass(frozen=True, eq=False)
class Uses:
    """What a motion takes of what binds it.

    Parameters
    ----------
    times : array (n,), s
        A thousand and all breaks, from both sides.
    samples : Samples
        The motion there.
    shares : mapping of str to array (n,)
        By what binds ("grip of rear_left", "drive_speed of front_left"), of what was planned with.
    forces : MotionForces or None
        None where no motors and floor are known, or where wheels slip or jump, so that no forces give the motion.
    currents : mapping of str to array (n,), A
        Out of the batteries, by name.
    """

    times: FloatArray
    samples: Samples
    shares: Mapping[str, FloatArray]
    forces: MotionForces | None
    currents: Mapping[str, FloatArray]

    @property
    def binding(self) -> list[tuple[str, float, float]]:
        """What binds most, from when to when (s), in order; times at which nothing does are left out.

        What binds alike all along stands together: "grip of rear_left, rear_right".
        """
        if not self.shares:
            return []
        names, rows = list(self.shares), np.nan_to_num(np.array(list(self.shares.values())), posinf=0.0)
        binds = rows >= np.maximum(rows.max(axis=0) - _ALIKE, _BINDS)
        # what holds at a look holds up to the next one; looks on both sides of a break are no time apart
        lasting = np.flatnonzero(np.diff(self.times) > 1e-9)
        edges = [*self.times[lasting].tolist(), float(self.times[-1])]
        spans: list[tuple[npt.NDArray[np.bool_], float, float]] = []
        for now, begin, end in zip(binds.T[lasting], edges, edges[1:], strict=False):
            alike, since, until = spans[-1] if spans else (now, begin, -1.0)
            if until == begin and (alike & now).any():
                spans[-1] = alike & now, since, end
            elif now.any():
                spans.append((now, begin, end))
        return [(_together(names, alike), begin, end) for alike, begin, end in spans]

    @property
    def told(self) -> dict[str, object]:
        """As plain data: the largest share of friction, the lowest voltage (V) and the greatest current (A) of a
        battery, for how long (s) what binds does, and what binds most from when to when (s).
        """
        seconds: dict[str, float] = {}
        binding = self.binding
        for name, begin, end in binding:
            seconds[name] = seconds.get(name, 0.0) + end - begin
        told = _extremes(self.forces, self.currents)
        return told | {
            "binding": dict(sorted(seconds.items(), key=lambda each: -each[1])),
            "binds": [{"what": name, "from": begin, "to": end} for name, begin, end in binding],
        }


def _together(names: list[str], alike: npt.NDArray[np.bool_]) -> str:
    """What binds alike in one name; what is of another kind than the first is left out."""
    kinds = [name.partition(" of ") for name, counts in zip(names, alike, strict=True) if counts]
    return f"{kinds[0][0]} of {', '.join(owner for kind, _, owner in kinds if kind == kinds[0][0])}"


def uses(driven: Driven) -> Uses:
    """What was driven takes of declared limits, and of motors, batteries and floor where the robot tells them."""
    times = dense(driven.motion)
    samples = driven.motion.samples(times)
    shares = dict(_declared(driven, samples)) | _zones(driven, times, samples)
    real = forces_apply(driven)
    if real is None:
        return Uses(times, samples, shares, None, {})
    forces = motion_forces(real.driven, samples, driven.motion.pushes(times))
    shares |= planned_use(forces.use, real.grip)
    return Uses(times, samples, shares, forces, _currents(real.driven, forces))


def _currents(driven: DrivenRobot, forces: MotionForces) -> dict[str, FloatArray]:
    """Currents out of batteries by name (A)."""
    return {
        supply.name: battery_current(supply, forces.supplies[supply.name])
        for supply in driven.here.assembly.supplies
        if supply.name in forces.supplies
    }


def extremes(driven: DrivenRobot, forces: MotionForces) -> dict[str, object]:
    """The largest share of friction, the lowest voltage (V) and the greatest current (A) of a battery."""
    return _extremes(forces, _currents(driven, forces))


def _extremes(forces: MotionForces | None, currents: Mapping[str, FloatArray]) -> dict[str, object]:
    volts = [] if forces is None else [float(row.min()) for row in forces.supplies.values()]
    return {
        "friction_use": None if forces is None or forces.floorless else float(forces.friction_use.max()),
        "battery": min(volts, default=None),
        "supply_current": max((float(row.max()) for row in currents.values()), default=None),
    }


def forces_apply(driven: Driven) -> RealLimits | None:
    """Motors and floor, where a motion is one that forces can give."""
    jumps = any(peak.quantity == "drive_acceleration" and np.isinf(peak.value) for peak in driven.peaks)
    if driven.level == "module" or jumps:
        return None
    return real_limits(driven.motion.kinematics, 1.0 if driven.grip is None else driven.grip)


def battery_current(supply: Supply, volts: FloatArray) -> FloatArray:
    """(E − V)/R of a full battery (A), at voltages (V)."""
    source, resistance = supply.full_voltage, supply.battery.internal_resistance
    return (float(source) - volts) / float(supply.read(resistance))


def _declared(driven: Driven, samples: Samples) -> Iterator[tuple[str, FloatArray]]:
    for name in QUANTITIES:
        sizes = np.abs(getattr(samples, name))
        for size, module, limits in zip(sizes.T, driven.names, driven.limits, strict=True):
            if np.isfinite(limit := limits.of(name)):
                yield f"{name} of {module}", size / limit


def _zones(driven: Driven, times: FloatArray, samples: Samples) -> dict[str, FloatArray]:
    """Shares of what a path's zones limit of the base; where several hold, the first one counts."""
    v, rate = samples.twist.T, samples.twist_rate.T
    sizes = {
        "velocity": np.hypot(v[0], v[1]),
        "acceleration": np.hypot(rate[0] - v[2] * v[1], rate[1] + v[2] * v[0]),
        "rate": np.abs(v[2]),
        "rate_change": np.abs(rate[2]),
    }
    most = {name: np.full(times.size, np.inf) for name in sizes}
    for begin, end, limits in reversed(driven.zones):
        inside = (times >= begin) & (times <= end)
        for name, limit in limits.items():
            most[name][inside] = limit
    return {
        f"{name} of a zone": size / most[name]
        for name, size in sizes.items()
        if np.isfinite(most[name]).any()
    }


def dense(motion: Motion) -> FloatArray:
    """A thousand times and all breaks, from both sides: values jump there."""
    breaks = motion.breaks
    return np.unique(
        np.concatenate([np.linspace(0, motion.duration, 1001), breaks, np.nextafter(breaks[1:], 0)])
    )
