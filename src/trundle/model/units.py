"""The SI unit of every name that a model shows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from trundle.mechanics.assembly import Assembly

_BY_NAME = {
    "time": "s",
    "x": "m",
    "y": "m",
    "z": "m",
    "theta": "rad",
    "v_x": "m/s",
    "v_y": "m/s",
    "v_z": "m/s",
    "omega": "rad/s",
    "omega_x": "rad/s",
    "omega_y": "rad/s",
    "omega_z": "rad/s",
    "speed": "m/s",
    "constraint_residual": "m/s",
    "slip_residual": "m/s",
    "loop_residual": "m",
    "power.in": "W",
    "power.lost": "W",
}
_BY_SUFFIX = {
    "angle": "rad",
    "angle_1": "rad",
    "angle_2": "rad",
    "rate_1": "rad/s",
    "rate_2": "rad/s",
    "theta": "rad",
    "v_x": "m/s",
    "v_y": "m/s",
    "v_z": "m/s",
    "omega": "rad/s",
    "omega_x": "rad/s",
    "omega_y": "rad/s",
    "omega_z": "rad/s",
    "position": "m",
    "steering": "rad",
    "rate": "rad/s",
    "steering_rate": "rad/s",
    "speed": "m/s",
    "current": "A",
    "voltage": "V",
    "torque": "N m",
    "delivered": "N m",
    "power": "W",
    "force_x": "N",
    "force_y": "N",
    "force_z": "N",
    "moment_x": "N m",
    "moment_y": "N m",
    "moment_z": "N m",
    "traction": "N",
    "side_force": "N",
    "roller_force": "N",
    "load": "N",
    "rolling_slip": "m/s",
    "lateral_slip": "m/s",
    "x": "m",
    "y": "m",
    "z": "m",
    "world_x": "m",
    "world_y": "m",
    "world_z": "m",
    "first_x": "m",
    "first_y": "m",
    "first_z": "m",
    "center_x": "m",
    "center_y": "m",
    "center_z": "m",
}


def unit(name: str, sliding: Sequence[str] = ()) -> str:
    """Unit of a name; `sliding` are the joints whose rates are m/s, and the motors and gears that push with N."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    owner, _, what = name.rpartition(".")
    if owner == "energy":
        return "J"
    if owner in sliding and what in ("rate", "torque", "delivered"):
        return "m/s" if what == "rate" else "N"
    return _BY_SUFFIX.get(what, "")


def units_of(
    robot: Any, assembly: Assembly, coordinates: Sequence[str], speeds: Sequence[str], outputs: Sequence[str]
) -> dict[str, str]:
    """Unit text of every state, speed, input and output."""
    slides = sliding_names(robot)
    motors = [a.command for a in assembly.actuators]
    names = ["time", *coordinates, *speeds, *assembly.coordinates, *assembly.speeds, *motors, *outputs]
    found = {name: unit(name, slides) for name in names}
    for each in assembly.actuators:
        found |= {f"{each.name}.{what}": quantity.unit for what, quantity in each.motor.outputs.items()}
    for wheel in assembly.wheels:
        found |= {f"{wheel.name}.{what}": quantity.unit for what, quantity in wheel.law.outputs.items()}
    return found | {name: state.quantity.unit for name, state in assembly.own_states.items()}


def sliding_names(robot: Any) -> list[str]:
    """Prismatic joints, and the motors and gears that move one or the slide of a cylindrical one."""
    joints = [name for name, joint in robot.joints.items() if joint.type == "prismatic"]
    moved = {*joints, *(f"{name}.slide" for name in robot.joints)}
    motors = [name for name, motor in robot.motors.items() if motor.drives in moved]
    gears = [name for name, each in robot.couplings.items() if each.type == "gear" and each.joint in moved]
    return [*joints, *motors, *gears]
