"""The recursion as programs: from a motion and the wrenches from outside to the wrench through every joint.

Newton and Euler's equations up a tree (Featherstone 2008, section 5.3), traced once with the robot's numbers folded in
and run in native code over all samples: what is zero by the description is not computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.errors import InputError
from trundle.mechanics.frames import world_poses
from trundle.mechanics.inverse_dynamics import (
    Axes,
    joint_motions,
    joint_wrenches,
    link_accelerations,
    needed_forces,
)
from trundle.mechanics.tree import Tree
from trundle.model.constraints import Configuration
from trundle.model.forces import element_effort
from trundle.model.mechanism import Mechanism, mechanism
from trundle.program import Program, Tracer
from trundle.robot import Robot
from trundle.scalars import Scalar, is_zero, minus, plus, times
from trundle.spatial.motions import (
    Force,
    Motion,
    Pose,
    add_forces,
    compose,
    force_to_parent,
    inverse,
    pair,
    scale_force,
)
from trundle.spatial.vectors import Vector, add, apply, cross

PARTS = ("force_x", "force_y", "force_z", "moment_x", "moment_y", "moment_z")
# What is kept of a link's motion: T_world_link row by row, then its frame's velocity, angular velocity,
# acceleration and angular acceleration, in world axes.
MOTION = tuple(f"R_{a}{b}" for a in "xyz" for b in "xyz") + tuple(
    f"{what}_{axis}" for what in ("p", "v", "omega", "a", "alpha") for axis in "xyz"
)
_MOST_KEPT = 4
"""Gravities of a robot whose programs are kept: a study on earth, on the moon and in orbit asks for three."""


class Pushed(NamedTuple):
    """A link on which a wrench acts, about its own origin in its own axes, or about the world's origin in the
    world's.
    """

    link: int
    axes: Axes


@dataclass(frozen=True, eq=False)
class Recursion:
    """A robot's tree in numbers, and its programs, which are traced when first asked for.

    Programs are functions of `coordinate`, `speed` and `acceleration` of the tree, in the assembly's order.
    """

    mechanism: Mechanism
    tree: Tree
    _kept: dict[tuple[Pushed, ...], Program] = field(default_factory=dict)

    @property
    def coordinates(self) -> tuple[str, ...]:
        """The tree's coordinates, in order."""
        return self.mechanism.assembly.coordinates

    @property
    def speeds(self) -> tuple[str, ...]:
        """The tree's speeds ν, in order."""
        return self.mechanism.assembly.speeds

    def loads(self, pushed: tuple[Pushed, ...]) -> Program:
        """(…, `wrench`: six parts for every wrench in `pushed`) → `wrench` and `effort`.

        `wrench` acts through the joints, on the link in its frame. `effort` acts on the speeds: what
        drives give beside springs and friction, rotors' inertia with it (N, N m).
        """
        if pushed not in self._kept:
            self._kept[pushed] = _loads_program(self, pushed)
        return self._kept[pushed]

    def freedoms(self, index: int, q: FloatArray) -> Sequence[Motion]:
        """S of a link's joint at coordinates (n, c), in the link's frame."""
        link, at = self.tree.links[index], self.tree.coordinate_slices()[index]
        return link.subspace(compose(link.placement, link.joint.pose(link.shape, list(q[:, at].T))))

    @cached_property
    def carrying(self) -> frozenset[int]:
        """Links that carry a mass, a loop's end or a coupled axis, on themselves or farther out."""
        tree, assembly = self.tree, self.mechanism.assembly
        loaded = {end.link for loop in assembly.loops for end in (loop.first, loop.second)}
        tied = {axis.column for tie in assembly.couplings for axis in (*tie.leaders, *tie.followers)}
        for index, (link, at) in enumerate(zip(tree.links, tree.speed_slices(), strict=True)):
            if tied.intersection(range(at.start, at.stop)) or not (
                is_zero(link.inertia.mass) and all(is_zero(x) for row in link.inertia.rotational for x in row)
            ):
                loaded.add(index)
        return frozenset(ancestor for index in loaded for ancestor in tree.ancestors(index))

    @cached_property
    def kinematics(self) -> Program:
        """→ `motion` of the links' frames, as `MOTION` says."""
        return _kinematics_program(self)


def recursion_of(robot: Robot | Mechanism, gravity: Vector | None) -> Recursion:
    """The recursion of a tree, or of its mechanism in floats, kept for the next motion of the same robot.

    `gravity` (m/s², world) stands in for the robot's own.
    """
    numbers = robot if isinstance(robot, Mechanism) else None
    robot = robot.robot if isinstance(robot, Mechanism) else robot
    # The robot has them, as it would have cached properties: they go when nobody has the robot any more.
    kept: dict[Vector | None, Recursion] = vars(robot).setdefault("recursions", {})
    if gravity not in kept:
        numbers = numbers or mechanism(robot)
        tree = numbers.assembly.tree
        while len(kept) >= _MOST_KEPT:
            kept.pop(next(iter(kept)))
        kept[gravity] = Recursion(numbers, tree if gravity is None else replace(tree, gravity=gravity))
    return kept[gravity]


def require_tree(robot: Robot) -> None:
    """InputError for wheels: they have forces of their own that no motion tells."""
    if robot.wheels:
        raise InputError(
            f"'{robot.name}' is not a tree of bodies: the forces of its wheels don't follow from the motion",
            key=f"robot.wheels.{next(iter(robot.wheels))}",
            hint="joint loads are those of trees and closed loops; simulate a robot on wheels",
        )


class Needed(NamedTuple):
    """Poses, the motion's (q, ν, ν̇) and the forces that bodies need beside what pushes them, as they are traced."""

    tracer: Tracer
    poses: list[Pose]
    motion: tuple[Sequence[Scalar], Sequence[Scalar], Sequence[Scalar]]
    forces: list[Force]
    inputs: dict[str, Sequence[str]]


def needed(recursion: Recursion, pushed: Sequence[Pushed]) -> Needed:
    """What bodies need of their joints, and the program's inputs: q, ν, ν̇ and the wrenches from outside."""
    tree = recursion.tree
    tracer, motion = traced(recursion, "wrench")
    given = tracer.inputs("wrench", 6 * len(pushed))
    poses = tree.joint_poses(motion[0])
    forces = needed_forces(tree, poses, *joint_motions(tree, poses, *motion[1:]))
    # What pushes from outside the joints need not give: W_i = f_i − w_i + Σ W_children.
    for link, wrench in outside_forces(tree, poses, pushed, given):
        forces[link] = add_forces(forces[link], scale_force(-1, wrench))
    inputs = groups(recursion) | {"wrench": [f"{k}.{part}" for k in range(len(pushed)) for part in PARTS]}
    return Needed(tracer, poses, motion, forces, inputs)


def _loads_program(recursion: Recursion, pushed: Sequence[Pushed]) -> Program:
    """q, ν, ν̇ and the wrenches from outside → the wrenches through joints and the efforts on speeds, traced."""
    tree, (tracer, poses, motion, forces, inputs) = recursion.tree, needed(recursion, pushed)
    wrenches = joint_wrenches(tree, poses, forces)
    efforts = _efforts(recursion, poses, motion, wrenches)
    labels = [f"{link.name}.{part}" for link in tree.links for part in PARTS]
    values = [value for wrench in wrenches for value in (*wrench.force, *wrench.moment)]
    outputs = {"wrench": (labels, values), "effort": (recursion.speeds, efforts)}
    return tracer.program("loads", inputs, outputs)


def outside_forces(
    tree: Tree, poses: Sequence[Pose], pushed: Sequence[Pushed], given: Sequence[Scalar]
) -> list[tuple[int, Force]]:
    """The links that wrenches act on, and these wrenches, six numbers each, about the link's origin in its axes."""
    wrenches = [
        Force(tuple(given[6 * k : 6 * k + 3]), tuple(given[6 * k + 3 : 6 * k + 6]))  # type: ignore[arg-type]
        for k in range(len(pushed))
    ]
    links = [place.link for place in pushed]
    if not any(place.axes == "world" for place in pushed):
        return list(zip(links, wrenches, strict=True))
    world = world_poses(tree, poses)
    own = [
        force_to_parent(inverse(world[place.link]), wrench) if place.axes == "world" else wrench
        for place, wrench in zip(pushed, wrenches, strict=True)
    ]
    return list(zip(links, own, strict=True))


def _efforts(
    recursion: Recursion, poses: Sequence[Pose], motion: Sequence[Sequence[Scalar]], wrenches: Sequence[Force]
) -> list[Scalar]:
    """τ = Sᵀ W + armature ν̇ − what springs, dampers, friction and stops give."""
    q, nu, nu_dot = motion
    tree, assembly = recursion.tree, recursion.mechanism.assembly
    efforts: list[Scalar] = []
    for link, pose, wrench, at in zip(tree.links, poses, wrenches, tree.speed_slices(), strict=True):
        for column, armature, rate in zip(link.subspace(pose), link.armatures, nu_dot[at], strict=True):
            efforts.append(plus(pair(wrench, column), times(armature, rate)))
    at = Configuration(tuple(q), list(poses), dict(zip(recursion.coordinates, q, strict=True)))
    for element in assembly.elements:
        passive = element_effort(assembly, element, at, nu).torque
        efforts[element.column] = minus(efforts[element.column], passive)
    return efforts


def _kinematics_program(recursion: Recursion) -> Program:
    """q, ν, ν̇ → pose, velocities and accelerations of the links' frames in world axes, traced."""
    tracer, (q, nu, nu_dot) = traced(recursion)
    # True accelerations are asked for: with gravity on, the base would be taken to accelerate upwards.
    tree = replace(recursion.tree, gravity=(0, 0, 0))
    poses = tree.joint_poses(q)
    twists, accelerations = link_accelerations(tree, poses, nu, nu_dot)
    values: list[Scalar] = []
    for (rotation, position), v, a in zip(world_poses(tree, poses), twists, accelerations, strict=True):
        # the frame's origin as a point: v̇ + ω × v of the spatial acceleration's linear part (eq. 2.50)
        linear = add(a.linear, cross(v.angular, v.linear))
        turned = [apply(rotation, vector) for vector in (v.linear, v.angular, linear, a.angular)]
        values += [*(entry for row in (*rotation, position, *turned) for entry in row)]
    labels = [f"{link.name}.{part}" for link in tree.links for part in MOTION]
    return tracer.program("kinematics", groups(recursion), {"motion": (labels, values)})


def traced(
    recursion: Recursion, *more: str
) -> tuple[Tracer, tuple[list[Scalar], list[Scalar], list[Scalar]]]:
    """A tracer with the motion's groups and `more`, and its nodes q, ν and ν̇."""
    tracer = Tracer("coordinate", "speed", "acceleration", *more)
    q = list(tracer.inputs("coordinate", len(recursion.coordinates)))
    nu, nu_dot = (list(tracer.inputs(group, len(recursion.speeds))) for group in ("speed", "acceleration"))
    return tracer, (q, nu, nu_dot)


def groups(recursion: Recursion) -> dict[str, Sequence[str]]:
    speeds = recursion.speeds
    return {"coordinate": recursion.coordinates, "speed": speeds, "acceleration": speeds}


def along_freedoms(columns: Sequence[Motion], wrench: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Sᵀ W, (k, n), and the wrench (6, n) that does the same work along S and holds nothing: forces along what slides,
    moments about what turns. A screw is turned, not pushed.

    `columns` are S in the frame of W, whose first three rows are its force.
    """
    count = wrench.shape[1]
    linear = _stacked([column.linear for column in columns], count)
    angular = _stacked([column.angular for column in columns], count)
    work = np.einsum("nik,in->kn", linear, wrench[:3]) + np.einsum("nik,in->kn", angular, wrench[3:])
    return work, doing(columns, work)


def doing(columns: Sequence[Motion], work: FloatArray) -> FloatArray:
    """The wrench (6, n) along the k freedoms that does this work (k, n) along them."""
    count = work.shape[1]
    slides = [all(is_zero(x) for x in column.angular) for column in columns]
    linear = _stacked([column.linear for column in columns], count)
    angular = _stacked([column.angular for column in columns], count)
    along, about = np.flatnonzero(slides), np.flatnonzero(~np.array(slides, dtype=bool))
    force = _spanned(linear[:, :, along], work[along])
    left = work[about] - np.einsum("nik,in->kn", linear[:, :, about], force)
    return np.vstack([force, _spanned(angular[:, :, about], left)])


def _stacked(vectors: Sequence[Vector], count: int) -> FloatArray:
    """(n, 3, k), one column a vector of scalars or batches."""
    table = np.empty((count, 3, len(vectors)))
    for k, vector in enumerate(vectors):
        for axis in range(3):
            entry: Scalar = vector[axis]
            table[:, axis, k] = entry
    return table


def _spanned(vectors: FloatArray, products: FloatArray) -> FloatArray:
    """The x (3, n) in the span of the vectors with vectorₖ · x = productₖ: A (AᵀA)⁻¹ p."""
    if not vectors.shape[2]:
        return np.zeros((3, len(vectors)))
    gram = np.swapaxes(vectors, 1, 2) @ vectors
    return (vectors @ np.linalg.solve(gram, products.T[:, :, None]))[:, :, 0].T
