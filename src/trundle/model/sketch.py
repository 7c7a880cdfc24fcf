"""How to draw a robot, as the plain data that `trundle.results.sketch.Sketch` reads."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trundle.mechanics.assembly import Assembly, Read, assemble, mounting
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
        return {"pose": ("x", "y", "theta"), "wheels": _wheels(robot, numeric, read or robot.resolver())}
    if not numeric.base_columns and robot.joints:
        return _linkage(robot, numeric)
    return {}


def yaw(pose: Pose) -> float:
    """The angle of a frame's x axis about z (rad), from a numeric pose."""
    return math.atan2(float(pose.rotation[1][0]), float(pose.rotation[0][0]))


def _wheels(robot: Any, numeric: Assembly, read: Read) -> list[dict[str, Any]]:
    frames = mounting(numeric)
    wheels = []
    for model in numeric.wheels:
        if not model.on_base:
            continue
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
    """Bars from each joint to the joints that hang on it, and from the last ones to their bodies' tips."""
    owner = {joint.body.name: name for name, joint in robot.joints.items() if joint.body.name}
    if robot.body is not None and robot.body.name:
        owner[robot.body.name] = "base"
    upright = [abs(joint.axis[2].number) < 0.5 for joint in robot.joints.values() if joint.type == "revolute"]
    vertical = any(upright) or not upright  # an arm on a turret shows its reach from the side
    across, up = ("x", "z") if vertical else ("x", "y")
    links: list[Mapping[str, Any]] = []
    parents = set()

    def place(name: str) -> tuple[str, str]:
        prefix = "world_" if robot.joints[name].type in ("planar", "floating") else ""
        return f"{name}.{prefix}{across}", f"{name}.{prefix}{up}"

    for name, joint in robot.joints.items():
        parent = owner.get(joint.parent, joint.parent)
        parents.add(parent)
        start = (0.0, 0.0) if parent == "base" else place(parent)
        end = place(name)
        links.append({"name": f"{parent} to {name}", "start": start, "end": end})
    tips = [name for name in robot.joints if name not in parents]
    traced: tuple[str, ...] = ()
    for name in tips:
        start = place(name)
        # a body without mass has no centre to draw to: a tool's frame, say
        massless = is_zero(numeric.tree.links[numeric.links[name]].inertia.mass)
        end = start if massless else (f"{name}.center_{across}", f"{name}.center_{up}")
        if not massless:
            links.append({"name": name, "start": start, "end": end})
        traced = end
    return {"links": links, "traced": traced, "plane": (across, up)}
