"""What binds a motion, and when: declared limits, motors, batteries and the floor, by the shares that it takes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace

import numpy as np
import numpy.typing as npt

from trundle.arrays import FloatArray
from trundle.motion.commands.drive import Driven
from trundle.motion.constraints.constraint import Moving, shares
from trundle.motion.constraints.real_limits import ActuationLimits, of_motion, real_limits
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import MotionForces, motion_forces
from trundle.motion.pieces.extremes import ModulePeak
from trundle.motion.pieces.motion import Motion, Samples
from trundle.simulation.battery_use import BatteryUse

# What is used to this share of what was planned with binds: along paths the margins between samples leave up to 2.1 %
# of it (swerve drives of competitions), the polygon in the circle of a zone's accelerations up to 0.9 % more.
_BINDS = 0.96
# What is used within this of the most binds alike: shares of equal wheels and motors differ by rounding.
_ALIKE = 1e-3
# Slip below this (m/s) is rounding, as everywhere in motions.
_NO_SLIP = 1e-9


@dataclass(frozen=True, eq=False)
class LimitUsage:
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
    """

    times: FloatArray
    samples: Samples
    shares: Mapping[str, FloatArray]
    forces: MotionForces | None

    @property
    def currents(self) -> Mapping[str, FloatArray]:
        """Out of the batteries (A), by name."""
        return {} if self.forces is None else self.forces.battery_currents

    @property
    def batteries(self) -> Mapping[str, BatteryUse]:
        """What full batteries give and get back, by name."""
        return {} if self.forces is None else self.forces.battery_use(self.times)

    @property
    def binding(self) -> list[tuple[str, float, float]]:
        """What binds most, from when to when (s), in order; times at which nothing does are left out.

        What binds alike all along stands together: "grip of rear_left, rear_right".
        """
        if not self.shares:
            return []
        names, rows = list(self.shares), np.array(list(self.shares.values()))
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
    def summary(self) -> dict[str, object]:
        """As plain data: the largest share of friction, the lowest voltage (V) and the greatest current (A) of a
        battery, what batteries give and get back, for how long (s) what binds does, and what binds most from when to
        when (s).
        """
        seconds: dict[str, float] = {}
        binding = self.binding
        for name, begin, end in binding:
            seconds[name] = seconds.get(name, 0.0) + end - begin
        told = extremes(self.forces)
        return told | {
            "batteries": {name: asdict(use) for name, use in self.batteries.items()},
            "binding": dict(sorted(seconds.items(), key=lambda each: -each[1])),
            "binds": [{"what": name, "from": begin, "to": end} for name, begin, end in binding],
        }


def _together(names: list[str], alike: npt.NDArray[np.bool_]) -> str:
    """What binds alike in one name; what is of another kind than the first is left out."""
    kinds = [name.partition(" of ") for name, counts in zip(names, alike, strict=True) if counts]
    return f"{kinds[0][0]} of {', '.join(owner for kind, _, owner in kinds if kind == kinds[0][0])}"


def limit_usage(driven: Driven) -> LimitUsage:
    """What was driven takes of declared limits, and of motors, batteries and floor where the robot tells them."""
    times = dense(driven.motion)
    moving = Moving(samples=driven.motion.samples(times), times=times)
    real, forces = forces_apply(driven), None
    if real is not None:
        moving.forces = forces = motion_forces(real.driven, moving.samples, driven.motion.pushes(times))
    drive = replace(driven.motion.kinematics.drive, limits=driven.limits)
    return LimitUsage(
        times, moving.samples, shares(of_motion(drive, real, driven.zones).each, moving), forces
    )


def extremes(forces: MotionForces | None) -> dict[str, object]:
    """The largest share of friction, the lowest voltage (V) and the greatest current (A) of a battery."""
    volts, currents = ({}, {}) if forces is None else (forces.supplies, forces.battery_currents)
    return {
        "friction_use": None if forces is None or forces.floorless else float(forces.friction_use.max()),
        "battery": min((float(row.min()) for row in volts.values()), default=None),
        "supply_current": max((float(row.max()) for row in currents.values()), default=None),
    }


def forces_apply(driven: Driven) -> ActuationLimits | None:
    """Motors and floor, where a motion is one that forces can give."""
    if driven.level == "module" or _jumps(driven.peaks):
        return None
    return real_limits(driven.motion.kinematics, 1.0 if driven.grip is None else driven.grip, driven.margin)


@dataclass(frozen=True, eq=False)
class ForceSeries:
    """Values over time with their units, by name: the motors' commands, and what comes of them."""

    who: DrivenRobot
    inputs: dict[str, tuple[FloatArray, str]]
    outputs: dict[str, tuple[FloatArray, str]]


def force_series(motion: Motion, times: FloatArray, maxima: Sequence[ModulePeak]) -> ForceSeries | None:
    """What a motion takes at times (n,), its largest values being `maxima`.

    None where masses or motors aren't known, and where wheels slip or jump, so that no forces give the motion.
    """
    samples = motion.samples(times)
    real = real_limits(motion.kinematics, 1.0)
    if _jumps(maxima) or float(samples.slip.max()) > _NO_SLIP or real is None:
        return None
    who = real.driven
    forces = motion_forces(who, samples, motion.pushes(times))
    found: dict[str, tuple[FloatArray, str]] = {}
    for k, wheel in enumerate(forces.names):
        found[f"{wheel}.traction"] = forces.traction[:, k], "N"
        found[f"{wheel}.side_force"] = forces.side_force[:, k], "N"
        found[f"{wheel}.load"] = forces.load[:, k], "N"
        found[f"{wheel}.rolling_slip"] = forces.slip_along[:, k], "m/s"
        found[f"{wheel}.lateral_slip"] = forces.slip_across[:, k], "m/s"
    motors = [motor for motors in who.actuators.values() for motor in motors if motor.name in forces.torques]
    for motor in motors:
        found[motor.torque.name] = forces.torques[motor.name], motor.torque.unit
        if motor.name in forces.currents:
            found[f"{motor.name}.current"] = forces.currents[motor.name], "A"
    for supply in who.here.assembly.supplies:
        found[supply.voltage.name] = forces.supplies[supply.name], "V"
        found[supply.current.name] = forces.battery_currents[supply.name], "A"
    inputs = {
        motor.command.name: (forces.commands[motor.command.name], motor.command.unit) for motor in motors
    }
    return ForceSeries(who, inputs, found)


def _jumps(maxima: Sequence[ModulePeak]) -> bool:
    """Whether wheels change their speed at once: no force does."""
    return any(peak.quantity == "drive_acceleration" and np.isinf(peak.value) for peak in maxima)


def dense(motion: Motion) -> FloatArray:
    """A thousand times and all breaks, from both sides: values jump there."""
    breaks = motion.breaks
    return np.unique(
        np.concatenate([np.linspace(0, motion.duration, 1001), breaks, np.nextafter(breaks[1:], 0)])
    )
