"""Loop closures: what a joint between two links of the tree asks of their poses and velocities.

The closing joint holds frame b of one link to frame a of another. With T_a_b = (R, p) the pose of b in a and both
frames' z along the joint's axis, kinds hold some components of p and some of R (Featherstone 2008, section 8.3,
by constraint subspaces). The residuals φ(q) are those components, and their rows A give dφ/dt = A(q) ν exactly, on and
off the closed configurations, which is what Newton's method and projections need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trundle.mechanics.tree import WORLD, Tree
from trundle.scalars import Scalar, minus, times
from trundle.spatial.motions import (
    ZERO_FORCE,
    ZERO_MOTION,
    Force,
    Motion,
    Pose,
    add_forces,
    compose,
    inverse,
    motion_to_child,
    pair,
    scale_force,
)
from trundle.spatial.vectors import IDENTITY, ZERO, Matrix, Vector, add, apply, cross, dot, scale

# Components of p and of the rotation that the kinds hold: x and y across the axis, z along it.
HELD: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
    "fixed": ((0, 1, 2), (0, 1, 2)),
    "revolute": ((0, 1, 2), (0, 1)),
    "prismatic": ((0, 1), (0, 1, 2)),
    "cylindrical": ((0, 1), (0, 1)),
    "spherical": ((0, 1, 2), ()),
    "planar": ((2,), (0, 1)),
}


@dataclass(frozen=True)
class End:
    """A frame on a link: the link's index and T_link_frame, z along the joint's axis."""

    link: int
    placement: Pose


@dataclass(frozen=True)
class LoopJoint:
    """A closing joint of one kind of `HELD`, or a `rod` of a `length` (m) between the frames' origins.

    `axes` turns components in a's frame, whose z is the joint's axis, into those of the frame that was described.
    """

    name: str
    kind: str
    first: End
    second: End
    axes: Matrix = IDENTITY
    length: Scalar = 0


@dataclass(frozen=True)
class Closure:
    """A loop at one configuration: residuals φ (m, or sines of angles), rows A over all of ν with φ̇ = A ν, and for each
    row the wrench on b, about its origin and in a's axes, that a multiplier of 1 stands for.
    """

    gaps: tuple[Scalar, ...]
    rows: tuple[list[Scalar], ...]
    wrenches: tuple[Force, ...]

    def wrench(self, loop: LoopJoint, multipliers: Sequence[Scalar]) -> Force:
        """The wrench of the loop's joint on its second body, about b's origin, in the described axes of a (N, N m)."""
        total = ZERO_FORCE
        for unit, value in zip(self.wrenches, multipliers, strict=True):
            total = add_forces(total, scale_force(value, unit))
        return Force(apply(loop.axes, total.force), apply(loop.axes, total.moment))


def close(tree: Tree, poses: Sequence[Pose], loop: LoopJoint, width: int) -> Closure:
    """The loop's residuals and rows at joint poses T_parent_link; rows padded with zeros to `width` columns."""
    pose, columns = relative_motion(tree, poses, loop)
    held = HELD.get(loop.kind)
    if held is None:  # a rod
        directions = [Force(scale(1 / loop.length, pose.position), ZERO)]
        square = dot(pose.position, pose.position)
        gaps = [minus(square / loop.length, loop.length) / 2]
    else:
        translations, rotations = held
        turned = _turned(pose.rotation)
        directions = [Force(IDENTITY[k], ZERO) for k in translations]
        directions += [Force(ZERO, turned[k][1]) for k in rotations]
        gaps = [pose.position[k] for k in translations] + [turned[k][0] for k in rotations]
    padding = [0] * (width - len(columns))
    rows = [[*(pair(direction, column) for column in columns), *padding] for direction in directions]
    return Closure(tuple(gaps), tuple(rows), tuple(directions))


def relative_motion(tree: Tree, poses: Sequence[Pose], loop: LoopJoint) -> tuple[Pose, list[Motion]]:
    """T_a_b, and columns J_j in a's axes: b's origin moves past a with Σ J_j ν_j (m/s; rad/s).

    Only the joints between the two links and the last one that carries both have a part in it: what is common cancels
    by structure, not by rounding.
    """
    carriers = set(tree.ancestors(loop.first.link))
    common = next((index for index in tree.ancestors(loop.second.link) if index in carriers), WORLD)
    to_a, of_a = _branch(tree, poses, loop.first, common)
    to_b, of_b = _branch(tree, poses, loop.second, common)
    pose = compose(inverse(to_a), to_b)
    columns = [ZERO_MOTION] * tree.speed_count
    for j, column in of_b.items():
        columns[j] = Motion(apply(pose.rotation, column.linear), apply(pose.rotation, column.angular))
    for j, column in of_a.items():
        carried = add(column.linear, cross(column.angular, pose.position))
        columns[j] = Motion(scale(-1, carried), scale(-1, column.angular))
    return pose, columns


def _branch(tree: Tree, poses: Sequence[Pose], end: End, stop: int) -> tuple[Pose, dict[int, Motion]]:
    """The end's pose in link `stop`, and its twist's columns by speed, in its own frame."""
    slices = tree.speed_slices()
    pose, columns = end.placement, {}
    for index in tree.ancestors(end.link):
        if index == stop:
            break
        own = tree.links[index].subspace(poses[index])
        for j, column in zip(range(slices[index].start, slices[index].stop), own, strict=True):
            columns[j] = motion_to_child(pose, column)
        pose = compose(poses[index], pose)
    return pose, columns


def _turned(rotation: Matrix) -> tuple[tuple[Scalar, Vector], ...]:
    """By axis of a: a component of R that turning about it changes, and the w with its rate = w · ω.

    z_b·(−y_a), z_b·x_a and x_b·y_a; where R = 1, w is x, y and z. They vanish where b stands as a does, or turned by
    half a turn.
    """
    x_b, z_b = ((rotation[0][k], rotation[1][k], rotation[2][k]) for k in (0, 2))
    x, y, _ = IDENTITY
    return ((times(-1, z_b[1]), cross(z_b, scale(-1, y))), (z_b[0], cross(z_b, x)), (x_b[1], cross(x_b, y)))


def facing(tree: Tree, poses: Sequence[Pose], loop: LoopJoint) -> list[Scalar]:
    """What is positive where the loop's closed ends face each other the right way round, which the residuals don't see:
    components of R that are 1 there and −1 after half a turn.
    """
    _, rotations = HELD.get(loop.kind, ((), ()))
    rotation = relative_motion(tree, poses, loop)[0].rotation
    held = [rotation[2][2]] if rotations else []
    return [*held, *([rotation[0][0]] if 2 in rotations else [])]
