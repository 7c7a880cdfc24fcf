"""Makes scenes: what of a robot is drawn where, in numbers at one configuration or by the names of a run's values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trundle.mechanics.assembly import Assembly, assemble, mounting
from trundle.model.numeric_loops import posture
from trundle.robot.bodies import DirectedJoint
from trundle.robot.couplings import linkages
from trundle.robot.loops import Loop, RodLoop
from trundle.robot.structure import body_names
from trundle.robot.wheels import PivotedWheel, RollerWheel, RollingWheel
from trundle.scalars import is_zero
from trundle.scene import JointMark, Link, LoopMark, Numbers, Place, Scene, WheelShape
from trundle.spatial.motions import Pose

if TYPE_CHECKING:
    from trundle.robot import Robot
    from trundle.robot.loops import Loop
    from trundle.robot.parameters import Resolver


def yaw(pose: Pose) -> float:
    """The angle of a frame's x axis about z (rad), from a numeric pose."""
    return math.atan2(float(pose.rotation[1][0]), float(pose.rotation[0][0]))


def sketch(
    robot: Robot, assembly: Assembly | None = None, parameters: Mapping[str, float] | None = None
) -> dict[str, object]:
    """How to draw a run of a robot, as plain data (see `Scene`): the wheels and the pose of one on a planar base, the
    links of one on a fixed base.

    `assembly` in numbers, where it is there already; `parameters` are the run's own, where they are not the robot's.
    """
    read = robot.resolver(parameters)
    assembly = assembly or assemble(robot, read)
    scene = Scene()
    if len(assembly.base_columns) == 3:
        on_base = [wheel.name for wheel in assembly.wheels if wheel.on_base]
        scene = Scene(wheels=_wheels(robot, assembly, read, on_base), pose=("x", "y", "theta"))
    elif not assembly.base_columns and robot.joints:
        scene = _linkage(robot, assembly)
    return scene.to_dict()


def scene(robot: Robot, poses: Sequence[Pose] | None = None) -> Scene:
    """All that there is to draw of a robot in one configuration, by default every joint at its zero, or as near to that
    as its loops can be closed; `poses` are T_base_link of its links.
    """
    read = robot.resolver()
    assembly = assemble(robot, read)
    poses = posture(assembly) if poses is None else poses
    drawn = _Drawn(robot, assembly, read, poses)
    bars = [
        (start.owner, Link(name, drawn.at(start), drawn.at(end)))
        for name, start, end in _bars(robot, assembly)
    ]
    bodies = [0, *(assembly.links[name] for name in robot.joints)]
    loops = [
        LoopMark(
            name, noun.symbol, drawn.at(_Spot(name, "first")), drawn.at(_Spot(name, "second")), _is_rod(noun)
        )
        for name, noun in robot.loops.items()
    ]
    return Scene(
        wheels=_wheels(robot, assembly, read, list(robot.wheels), poses),
        links=tuple(bar for owner, bar in bars if owner and bar.start != bar.end),
        base=robot.base,
        joints=tuple(drawn.joint(name) for name in robot.joints),
        mounts=tuple(bar for owner, bar in bars if not owner and robot.base != "fixed"),
        centers=tuple(drawn.center(k) for k in bodies if float(assembly.tree.links[k].inertia.mass) > 0),
        loops=tuple(loops),
        coupled=tuple(linkage.wheels for linkage in linkages(robot.couplings).values()),
    )


@dataclass(frozen=True)
class _Spot:
    """A point that a robot has in every configuration: a joint, the centre of mass of the body on it, an end of a loop;
    without an owner the base's origin.
    """

    owner: str = ""
    what: str = "joint"

    def names(self, robot: Robot, assembly: Assembly, plane: Sequence[str]) -> tuple[Place, Place]:
        """The values that hold it over a run on a fixed base."""
        before = f"{self.owner}."
        if self.what == "center":
            before += "center_"
        elif self.what == "first" and _is_rod(robot.loops[self.owner]):
            before += "first_"
        elif f"{self.owner}.x" in assembly.coordinates:  # a coordinate, counted from where its joint stands
            before += "world_"
        across, up = (f"{before}{axis}" if self.owner else 0.0 for axis in plane)
        return across, up


@dataclass(frozen=True)
class _Drawn:
    """A robot whose links have poses, in numbers."""

    robot: Robot
    assembly: Assembly
    read: Resolver
    poses: Sequence[Pose]

    def at(self, spot: _Spot) -> Numbers:
        """Where a spot is in the base's frame."""
        if not spot.owner:
            return 0.0, 0.0, 0.0
        if spot.what in ("first", "second"):
            loop = self.robot.loops[spot.owner]
            end = loop.first if spot.what == "first" else loop.second
            return _place(self.poses[self.assembly.links[end.body]], [float(self.read(v)) for v in end.at])
        index = self.assembly.links[spot.owner]
        return self.center(index) if spot.what == "center" else _place(self.poses[index])

    def center(self, index: int) -> Numbers:
        """A link's centre of mass."""
        inertia = self.assembly.tree.links[index].inertia
        return _place(self.poses[index], np.array(inertia.first_moment, dtype=float) / float(inertia.mass))

    def joint(self, name: str) -> JointMark:
        """A joint with its axis, where it has one."""
        index = self.assembly.links[name]
        link = self.assembly.tree.links[index]
        x, y, z = np.array(self.poses[index].rotation, dtype=float) @ np.array(link.axis, dtype=float)
        noun = self.robot.joints[name]
        axis = (float(x), float(y), float(z)) if isinstance(noun, DirectedJoint) else None
        at, turns = _place(self.poses[index]), link.joint.turns
        return JointMark(name, noun.symbol, at, axis, link.parent == 0, turns)


def _bars(robot: Robot, assembly: Assembly) -> list[tuple[str, _Spot, _Spot]]:
    """Names and ends of the bars: from each joint to the joints that hang on it and the loops that close on it,
    from the last ones to their bodies' centres of mass. A body without mass has none: a tool's frame, say.
    """
    owner = _owners(robot)
    bars: list[tuple[str, _Spot, _Spot]] = []
    for name, joint in robot.joints.items():
        parent = owner[joint.parent]
        if not (
            robot.loops and assembly.tree.links[assembly.links[name]].joint.slides
        ):  # a slide moves along no body
            bars.append((f"{parent or 'base'} to {name}", _Spot(parent), _Spot(name)))
    for name, loop in robot.loops.items():
        ends = {"second": loop.second, "first": loop.first}
        for what, end in ends.items():
            body = owner[end.body]
            if body:  # what is pinned to the ground needs no bar along it
                bars.append((f"{body} to {name}", _Spot(body), _Spot(name, what)))
        if _is_rod(loop):
            bars.append((name, _Spot(name, "first"), _Spot(name, "second")))
    last = [name for name in _last(robot) if not _massless(assembly, name)]
    return [*bars, *((name, _Spot(name), _Spot(name, "center")) for name in last)]


def _owners(robot: Robot) -> dict[str, str]:
    """Every name a body may have, and its joint ("" for the base)."""
    return {name: "" if joint == "base" else joint for name, joint in body_names(robot).items()}


def _last(robot: Robot) -> list[str]:
    """The joints on whose bodies nothing hangs and no loop closes."""
    owner = _owners(robot)
    carrying = {owner[joint.parent] for joint in robot.joints.values()}
    carrying |= {owner[end.body] for loop in robot.loops.values() for end in (loop.first, loop.second)}
    return [name for name in robot.joints if name not in carrying]


def _massless(assembly: Assembly, name: str) -> bool:
    return is_zero(assembly.tree.links[assembly.links[name]].inertia.mass)


def _is_rod(loop: Loop) -> bool:
    return isinstance(loop, RodLoop)


def _place(pose: Pose, point: Sequence[float] | np.ndarray = (0.0, 0.0, 0.0)) -> Numbers:
    rotated = np.array(pose.rotation, dtype=float) @ np.array(point, dtype=float)
    x, y, z = rotated + np.array(pose.position, dtype=float)
    return float(x), float(y), float(z)


def _wheels(
    robot: Robot,
    assembly: Assembly,
    read: Resolver,
    shown: Sequence[str],
    poses: Sequence[Pose] | None = None,
) -> tuple[WheelShape, ...]:
    """The wheels in `shown`, by default where they stand with every joint at its zero."""
    frames = mounting(assembly) if poses is None else poses
    links, found = assembly.tree.links, []
    for model in assembly.wheels:
        if model.name not in shown:
            continue
        noun = robot.wheels[model.name]
        steered = model.steering is not None
        pivot = frames[links[model.link].parent if steered else model.link]
        behind, aside = noun.centre(read) if isinstance(noun, PivotedWheel) else (0.0, 0.0)
        found.append(
            WheelShape(
                name=model.name,
                x=float(pivot.position[0]),
                y=float(pivot.position[1]),
                radius=float(model.radius),
                width=float(read(noun.width)) if isinstance(noun, RollingWheel) else 0.0,
                heading=yaw(pivot),
                kind=noun.type,
                steering=f"{model.name}.steering" if steered else None,
                offset=-float(behind) if behind else 0.0,
                aside=float(aside),
                round=not isinstance(noun, RollingWheel),
                roller_angle=float(read(noun.roller_angle)) if isinstance(noun, RollerWheel) else None,
            )
        )
    return tuple(found)


def _linkage(robot: Robot, assembly: Assembly) -> Scene:
    """The bars of a robot on a fixed base and the path of its tip, from the side that shows an arm's reach."""
    links = (assembly.tree.links[assembly.links[name]] for name in robot.joints)
    upright = [abs(float(link.axis[2])) < 0.5 for link in links if link.joint.hinge]
    vertical = any(upright) or not upright  # an arm on a turret shows its reach from the side
    plane = ("x", "z") if vertical else ("x", "y")

    def names(spot: _Spot) -> tuple[Place, Place]:
        return spot.names(robot, assembly, plane)

    bars = tuple(Link(name, names(start), names(end)) for name, start, end in _bars(robot, assembly))
    across, up = names(_tip(robot, assembly))
    return Scene(links=bars, traced=(str(across), str(up)), plane=plane)


def _tip(robot: Robot, assembly: Assembly) -> _Spot:
    """The point whose path is worth seeing: of a chain its end; of a linkage the body that joins the others: the end of
    a rocker or a slide only goes to and fro.
    """
    free = _last(robot)
    if free:
        return _Spot(free[-1], "joint" if _massless(assembly, free[-1]) else "center")
    name, loop = list(robot.loops.items())[-1]
    first = _owners(robot)[loop.first.body]
    heavy = first and not _massless(assembly, first)
    return _Spot(first, "center") if heavy else _Spot(name, "second")
