"""What a motion takes of ground, motors and batteries over time, by the names that a simulation's values have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from trundle.arrays import FloatArray
from trundle.motion.constraints.real_limits import real_limits
from trundle.motion.forces.driven_robot import DrivenRobot
from trundle.motion.forces.forces import motion_forces
from trundle.motion.pieces.extremes import Peak
from trundle.motion.pieces.motion import Motion

# Slip below this (m/s) is rounding, as everywhere in motions.
_NO_SLIP = 1e-9


@dataclass(frozen=True, eq=False)
class Taken:
    """Values over time with their units, by name: the motors' commands, and what comes of them."""

    who: DrivenRobot
    inputs: dict[str, tuple[FloatArray, str]]
    outputs: dict[str, tuple[FloatArray, str]]


def taken(motion: Motion, times: FloatArray, maxima: Sequence[Peak]) -> Taken | None:
    """What a motion takes at times (n,), its largest values being `maxima`.

    None where masses or motors aren't known, and where wheels slip or jump, so that no forces give the motion.
    """
    samples = motion.samples(times)
    jumps = any(peak.quantity == "drive_acceleration" and math.isinf(peak.value) for peak in maxima)
    real = real_limits(motion.kinematics, 1.0)
    if jumps or float(samples.slip.max()) > _NO_SLIP or real is None:
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
    return Taken(who, inputs, found)
