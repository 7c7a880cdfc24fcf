"""Robots on feet: a leg that hops, and a quadruped that stands by its servos."""

from __future__ import annotations

import math

from trundle.catalog.entry import Data, MeasureLike, described, entry
from trundle.catalog.rover_parts import box_inertia, positive, size
from trundle.robot import units
from trundle.robot.bodies import Sliding
from trundle.robot.description import Robot

# A hopper's foot by its body, and its sphere by its leg.
_FOOT, _SPHERE = 1 / 16, 1 / 16
# How far a hopper's leg is squeezed where it starts, by its length.
_SQUEEZED = 0.16
# A servo's damping over its stiffness (s).
_LAG = 0.02
# A quadruped's knees where it stands (rad), how deep it crouches, and how high above the ground it begins (m).
_BENT, _CROUCH, _DROP = -1.6, -2.2, 0.05
_CORNERS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}


def _squeezed(robot: Robot) -> Data:
    leg = robot.joints["leg"]
    assert isinstance(leg, Sliding)
    rest = robot.number(leg.rest)
    return {"duration": 5.0, "step": 0.002, "initial": {"leg.position": round(rest * (1 - _SQUEEZED), 6)}}


@entry(_squeezed, terrain={"sinkage": 0.002})
def hopper(
    *,
    body_mass: MeasureLike = 8.0,
    leg_length: MeasureLike = 0.5,
    leg_stiffness: MeasureLike = 4000.0,
    friction: MeasureLike = 0.8,
) -> Robot:
    """A body on a leg with a spring, which hops: a motor pushes while the leg stretches, and no harder than a limit.

    Each hop loses what the foot's blow and the leg's damper take. What the limited push gives settles its height.

    Examples
    --------
    >>> import trundle
    >>> list(trundle.catalog.hopper().wheels)
    ['toe']
    """
    mass, length = positive("body_mass", body_mass, units.MASS), size("leg_length", leg_length)
    stiffness = positive("leg_stiffness", leg_stiffness, units.STIFFNESS)
    critical = math.sqrt(stiffness * mass)
    push: Data = {
        "type": "pid", "reads": "leg.rate", "drives": "thrust.torque", "target": 0.0,
        "proportional": -round(1.1 * critical, 6), "lowest": 0.0, "highest": round(1.9 * mass * 9.81, 6),
    }  # fmt: skip
    return described(
        "hopper",
        {},
        base="floating",
        body={"mass": mass, "inertia": box_inertia(mass, length / 2, length / 2, length / 3)},
        joints={
            "leg": {
                "type": "prismatic", "axis": [0, 0, -1], "stiffness": stiffness, "rest": length,
                "damping": round(0.11 * critical, 6), "body": {"mass": round(_FOOT * mass, 6)},
            }
        },
        wheels={"toe": {"type": "foot", "parent": "leg", "radius": round(_SPHERE * length, 6), "friction": friction}},
        motors={"thrust": {"type": "torque", "drives": "leg"}},
        controllers={"push": push},
    )  # fmt: skip


def _knees(robot: Robot) -> Data:
    """It falls, stands, crouches and stands again."""
    reach = -robot.number(robot.wheels["front_left_toe"].at[2])
    tip = robot.number(robot.wheels["front_left_toe"].radius)
    height = 2 * reach * math.cos(_BENT / 2) + tip + _DROP
    times, down = [0, 3, 4, 6, 7], (_BENT, _BENT, _CROUCH, _CROUCH, _BENT)
    inputs: Data = {}
    initial: Data = {"z": round(height, 6)}
    for name in _CORNERS:
        for joint, share in (("thigh", -0.5), ("shank", 1.0)):
            values = [round(share * angle, 6) for angle in down]
            table: Data = {"times": times, "values": values, "interpolation": "linear"}
            inputs[f"{name}_{joint}_servo.angle"] = table
            initial[f"{name}_{joint}.angle"] = values[0]
    return {"duration": 10.0, "step": 0.005, "inputs": inputs, "initial": initial}


@entry(_knees, terrain={"sinkage": 0.002})
def quadruped(
    *,
    body_mass: MeasureLike = 8.0,
    leg_length: MeasureLike = 0.4,
    servo_stiffness: MeasureLike = 100.0,
    friction: MeasureLike = 0.8,
) -> Robot:
    """A dog of twelve servos: hips, thighs and shanks, and a sphere for every foot.

    Examples
    --------
    >>> import trundle
    >>> len(trundle.catalog.quadruped().motors)
    12
    """
    mass, length = positive("body_mass", body_mass, units.MASS), size("leg_length", leg_length)
    stiffness = positive("servo_stiffness", servo_stiffness, units.ANGULAR_STIFFNESS)
    half = length / 2
    joints: dict[str, Data] = {}
    wheels: dict[str, Data] = {}
    for name, (ahead, left) in _CORNERS.items():
        joints |= _leg(name, (ahead * half, left * half / 2), mass, length)
        wheels[f"{name}_toe"] = {
            "type": "foot", "parent": f"{name}_shank", "at": [0, 0, -half], "radius": length / 20,
            "friction": friction,
        }  # fmt: skip
    hull = [length, half, length / 4]
    return described(
        "quadruped",
        {},
        base="floating",
        body={"mass": mass, "inertia": box_inertia(mass, *hull), "shapes": {"hull": {"type": "box", "size": hull}}},
        joints=joints,
        wheels=wheels,
        motors={
            f"{name}_servo": {
                "type": "servo", "drives": name, "stiffness": stiffness, "damping": round(_LAG * stiffness, 9)
            }
            for name in joints
        },
    )  # fmt: skip


def _leg(name: str, place: tuple[float, float], mass: float, length: float) -> dict[str, Data]:
    """A hip at a place of the body (x, y in m), a thigh outside of it, and a shank."""
    hip, thigh, shank = (f"{name}_{part}" for part in ("hip", "thigh", "shank"))
    heavy, light, half = round(mass / 12, 6), round(mass / 48, 6), length / 2
    hull = {"mass": heavy, "inertia": box_inertia(heavy, half / 2, half / 2, half / 2)}
    hinge: Data = {"axis": [0, 1, 0]}
    return {
        hip: {"axis": [1, 0, 0], "at": [*place, 0], "body": hull},
        thigh: {**hinge, "parent": hip, "at": [0, place[1] / 2, 0], "body": _limb(heavy, half)},
        shank: {**hinge, "parent": thigh, "at": [0, 0, -half], "body": _limb(light, half)},
    }


def _limb(mass: float, length: float) -> Data:
    """A rod that hangs from its joint."""
    thick = length / 10
    rod: Data = {"type": "cylinder", "radius": thick / 2, "length": length, "at": [0, 0, -length / 2]}
    return {
        "mass": mass,
        "center_of_mass": [0, 0, -length / 2],
        "inertia": box_inertia(mass, thick, thick, length),
        "shapes": {"rod": rod},
    }
