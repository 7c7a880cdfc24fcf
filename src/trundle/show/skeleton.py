"""Where a robot's joints, bars and masses stand with every joint at its zero (or where its loops can be closed), and
from which side they are seen best.

Positions in the base's frame, in m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from trundle.mechanics.assembly import Assembly, assemble
from trundle.model.numeric_loops import posture
from trundle.model.sketch import wheel_sketches
from trundle.results.arrays import FloatArray
from trundle.results.sketch import Sketch
from trundle.robot.couplings import linkages
from trundle.spatial.motions import Pose

# The pictures' two axes, by the direction that is looked along.
PLANES = {"x": ("y", "z"), "y": ("x", "z"), "z": ("x", "y")}
_UNITS = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
# Directions that differ by less in how much they show are the same; then the side view is the customary one.
_AS_GOOD = 1e-6

Bar = tuple[FloatArray, FloatArray]


@dataclass(frozen=True)
class JointMark:
    """A joint: its kind, where it is, its axis (None for kinds without), and whether it hangs on the base."""

    name: str
    kind: str
    at: FloatArray
    axis: FloatArray | None
    on_base: bool


@dataclass(frozen=True)
class LoopMark:
    """A loop: its kind, and where its two ends are; they are in one place where it is closed, but for a rod."""

    name: str
    kind: str
    first: FloatArray
    second: FloatArray


@dataclass(frozen=True)
class Skeleton:
    """A robot's joints, the bars between them, what mounts them on a base that moves, centres of mass, loops' two ends,
    wheels, and which of them are coupled; `normal` is the axis that the best view is along.
    """

    base: str
    joints: tuple[JointMark, ...]
    bars: tuple[Bar, ...]
    mounts: tuple[Bar, ...]
    centers: tuple[FloatArray, ...]
    loops: tuple[LoopMark, ...]
    wheels: Sketch
    coupled: tuple[tuple[str, ...], ...]
    normal: str

    def flat(self, point: FloatArray) -> FloatArray:
        """A point's place in the picture."""
        return np.array([np.dot(point, _UNITS[axis]) for axis in PLANES[self.normal]])


def skeleton(robot: Any, poses: list[Pose] | None = None) -> Skeleton:
    """The skeleton of a described robot, by default in its own posture; `poses` are T_base_link of its links."""
    read = robot.resolver()
    assembly = assemble(robot, read)
    frames = posture(assembly) if poses is None else poses
    joints = tuple(_mark(assembly, frames, name) for name in robot.joints)
    bodies = [0, *(assembly.links[name] for name in robot.joints)]
    masses = [index for index in bodies if float(assembly.tree.links[index].inertia.mass) > 0]
    centers = {index: _center(assembly, frames, index) for index in masses}
    loops = tuple(
        LoopMark(
            name,
            noun.type,
            _end(assembly, frames, noun.first, read),
            _end(assembly, frames, noun.second, read),
        )
        for name, noun in robot.loops.items()
    )
    return Skeleton(
        robot.base,
        joints,
        _bars(robot, assembly, frames, centers, loops),
        () if robot.base == "fixed" else tuple((np.zeros(3), joint.at) for joint in joints if joint.on_base),
        tuple(centers.values()),
        loops,
        Sketch.from_dict({"wheels": wheel_sketches(robot, assembly, assembly.wheels, read)}),
        tuple(linkage.wheels for linkage in linkages(robot.couplings).values()),
        "z" if robot.wheels or robot.base == "planar" else _best_view(joints, centers.values()),
    )


def _place(pose: Pose, point: Any = (0.0, 0.0, 0.0)) -> FloatArray:
    return np.array(pose.rotation, dtype=float) @ np.array(point, dtype=float) + np.array(
        pose.position, dtype=float
    )


def _mark(assembly: Assembly, frames: list[Pose], name: str) -> JointMark:
    index = assembly.links[name]
    link = assembly.tree.links[index]
    directed = link.kind not in ("fixed", "spherical", "floating")
    axis = np.array(frames[index].rotation, dtype=float) @ np.array(link.axis, dtype=float)
    return JointMark(name, link.kind, _place(frames[index]), axis if directed else None, link.parent == 0)


def _center(assembly: Assembly, frames: list[Pose], index: int) -> FloatArray:
    inertia = assembly.tree.links[index].inertia
    return _place(frames[index], np.array(inertia.first_moment, dtype=float) / float(inertia.mass))


def _end(assembly: Assembly, frames: list[Pose], side: Any, read: Any) -> FloatArray:
    return _place(frames[assembly.links[side.body]], [float(read(value)) for value in side.at])


def _bars(
    robot: Any,
    assembly: Assembly,
    frames: list[Pose],
    centers: dict[int, FloatArray],
    loops: tuple[LoopMark, ...],
) -> tuple[Bar, ...]:
    """From each joint to those that hang on it and to the loops' ends, or else to its body's centre of mass."""
    moving = [assembly.links[name] for name in robot.joints]
    found: list[Bar] = []
    carrying = set()
    for index in moving:
        parent = assembly.tree.links[index].parent
        carrying.add(parent)
        if parent != 0:
            found.append((_place(frames[parent]), _place(frames[index])))
    for loop, noun in zip(loops, robot.loops.values(), strict=True):
        if loop.kind == "rod":
            found.append((loop.first, loop.second))
        for end, side in ((loop.first, noun.first), (loop.second, noun.second)):
            carrying.add(assembly.links[side.body])
            if assembly.links[side.body] != 0:
                found.append((_place(frames[assembly.links[side.body]]), end))
    found += [(_place(frames[i]), centers[i]) for i in moving if i not in carrying and i in centers]
    return tuple((start, end) for start, end in found if np.linalg.norm(end - start) > 0)


def _best_view(joints: tuple[JointMark, ...], centers: Any) -> str:
    """Along the axes that most joints turn about, or else square to where the robot reaches."""
    shown = dict.fromkeys("yzx", 0.0)
    for joint in joints:
        if joint.axis is not None and joint.kind != "prismatic":
            for name, unit in _UNITS.items():
                shown[name] += float(np.dot(joint.axis, unit)) ** 2
    if max(shown.values()) <= _AS_GOOD:
        points = np.array([np.zeros(3), *(joint.at for joint in joints), *centers])
        reach = dict(zip("xyz", np.ptp(points, axis=0), strict=True))
        shown = {name: -float(reach[name]) for name in shown}
    best = max(shown.values())
    return next(name for name, value in shown.items() if value >= best - _AS_GOOD)
