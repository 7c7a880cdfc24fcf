"""How to draw a robot, as the plain data (no tuples: as JSON holds it) that `trundle.results.sketch.Sketch` reads."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from trundle.mechanics.assembly import Assembly, Read, assemble, mounting
from trundle.mechanics.wheels import WheelModel
from trundle.robot.structure import body_names
from trundle.scalars import is_zero
from trundle.spatial.motions import Pose


def sketch_with(robot: Any, parameters: Mapping[str, float]) -> dict[str, Any]:
    """The sketch of a robot whose parameters have these numbers."""
    read = robot.resolver(parameters)
    return sketch(robot, assemble(robot, read), read)


def sketch(robot: Any, numeric: Assembly, read: Read | None = None) -> dict[str, Any]:
    """Wheels and pose of a robot on a planar base; links between joints for one on a fixed base; lengths in m,
    angles in rad.
    """
    if len(numeric.base_columns) == 3:
        on_base = [wheel for wheel in numeric.wheels if wheel.on_base]
        return {
            "pose": ["x", "y", "theta"],
            "wheels": wheel_sketches(robot, numeric, on_base, read or robot.resolver()),
        }
    if not numeric.base_columns and robot.joints:
        return _linkage(robot, numeric)
    return {}


def yaw(pose: Pose) -> float:
    """The angle of a frame's x axis about z (rad), from a numeric pose."""
    return math.atan2(float(pose.rotation[1][0]), float(pose.rotation[0][0]))


def wheel_sketches(
    robot: Any, numeric: Assembly, shown: Sequence[WheelModel], read: Read
) -> list[dict[str, Any]]:
    """The wheels in `shown` where they stand with every joint at its zero, as a `WheelSketch`'s fields."""
    frames = mounting(numeric)
    wheels = []
    for model in shown:
        noun = robot.wheels[model.name]
        trail = float(read(noun.offset)) if noun.type == "caster" else 0.0
        pivot = frames[numeric.tree.links[model.link].parent if model.steering is not None else model.link]
        wheels.append(
            {
                "name": model.name,
                "x": float(pivot.position[0]),
                "y": float(pivot.position[1]),
                "radius": float(model.radius),
                "width": float(read(noun.width)) if noun.type != "ball" else 0.0,
                "heading": yaw(pivot),
                "kind": noun.type,
                "steering": f"{model.name}.steering" if model.steering is not None else None,
                "offset": trail,
                "roller_angle": float(read(noun.roller_angle)) if noun.type in ("mecanum", "omni") else None,
            }
        )
    return wheels


def _linkage(robot: Any, numeric: Assembly) -> dict[str, Any]:
    """Bars from each joint to the joints that hang on it and to the loops that close on it, and from the last ones to
    their bodies' tips.
    """
    owner = body_names(robot)
    upright = [abs(joint.axis[2].number) < 0.5 for joint in robot.joints.values() if joint.type == "revolute"]
    vertical = any(upright) or not upright  # an arm on a turret shows its reach from the side
    across, up = ("x", "z") if vertical else ("x", "y")
    links: list[Mapping[str, Any]] = []
    carrying = set()

    def place(name: str) -> list[Any]:
        if name == "base":
            return [0.0, 0.0]
        prefix = "world_" if robot.joints[name].type in ("planar", "floating") else ""
        return [f"{name}.{prefix}{across}", f"{name}.{prefix}{up}"]

    def bar(name: str, start: list[Any], end: list[Any]) -> None:
        links.append({"name": name, "start": start, "end": end})

    for name, joint in robot.joints.items():
        parent = owner[joint.parent]
        carrying.add(parent)
        if not (robot.loops and joint.type == "prismatic"):  # a slide moves along no body
            bar(f"{parent} to {name}", place(parent), place(name))
    traced: list[str] = []
    for name, loop in robot.loops.items():
        ends = {"second": f"{name}.", "first": f"{name}.first_" if loop.type == "rod" else f"{name}."}
        points = {end: [f"{label}{across}", f"{label}{up}"] for end, label in ends.items()}
        for end, point in points.items():
            body = owner[getattr(loop, end).body]
            carrying.add(body)
            if body != "base":  # what is pinned to the ground needs no bar along it
                bar(f"{body} to {name}", place(body), point)
        if loop.type == "rod":
            bar(name, points["first"], points["second"])
        first = owner[loop.first.body]
        heavy = first != "base" and not is_zero(numeric.tree.links[numeric.links[first]].inertia.mass)
        # the end of a rocker or a slide goes to and fro; what joins them moves in a curve worth seeing
        traced = [f"{first}.center_{across}", f"{first}.center_{up}"] if heavy else points["second"]
    for name in [name for name in robot.joints if name not in carrying]:
        # a body without mass has no centre to draw to: a tool's frame, say
        massless = is_zero(numeric.tree.links[numeric.links[name]].inertia.mass)
        traced = place(name) if massless else [f"{name}.center_{across}", f"{name}.center_{up}"]
        if not massless:
            bar(name, place(name), traced)
    return {"links": links, "traced": traced, "plane": [across, up]}
