"""What the robots of the catalogue share: how they are put together, and their motors.

Every measure takes a number in SI or text with a unit ("6 in"). What several parts share becomes a named parameter
(r, track, wheelbase), so that `--set track=0.8` moves all of them. Motors are sized so that 24 V reaches a few metres
a second; the numbers are of no particular product.
"""

from __future__ import annotations

from collections.abc import Mapping

from trundle.robot.description import Robot, parse_robot

Measure = float | str
Data = dict[str, object]


def described(name: str, parameters: dict[str, Measure], **parts: Mapping[str, object]) -> Robot:
    """A robot of these parts."""
    return parse_robot({"name": name, **parts, "parameters": parameters})


def drive(target: str, gear_ratio: float = 20.0) -> Data:
    """A geared DC motor: 24 rad/s at the wheel without load at 24 V, 48 N m when it stands still."""
    winding = {"torque_constant": 0.05, "resistance": 0.5, "inductance": 5e-4, "voltage_limit": 24.0}
    return {"drives": target, **winding, "gear_ratio": gear_ratio, "rotor_inertia": 2e-5}


def servo(target: str, stiffness: float = 40.0, damping: float = 4.0) -> Data:
    """A servo on a steering (N m/rad, N m s/rad)."""
    return {"type": "servo", "drives": target, "stiffness": stiffness, "damping": damping}
