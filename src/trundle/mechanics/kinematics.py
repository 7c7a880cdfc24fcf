"""Forward kinematics of a tree: poses, velocities, and the Jacobian of a point (Featherstone 2008, chapters 2 to 4)."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.tree import WORLD, Tree
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    IDENTITY_POSE,
    ZERO_MOTION,
    Motion,
    Pose,
    add_motions,
    compose,
    motion_to_child,
)
from trundle.spatial.vectors import Vector, add, cross


def world_poses(tree: Tree, poses: Sequence[Pose]) -> list[Pose]:
    """T_world_link of every link, from the joint poses T_parent_link."""
    result: list[Pose] = []
    for link, pose in zip(tree.links, poses, strict=True):
        parent = IDENTITY_POSE if link.parent == WORLD else result[link.parent]
        result.append(compose(parent, pose))
    return result


def velocities(tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar]) -> list[Motion]:
    """The twist of every link in its own frame: v_i = X v_parent + S_i ν_i."""
    result: list[Motion] = []
    for link, pose, at in zip(tree.links, poses, tree.speed_slices(), strict=True):
        own = link.own_motion(pose, nu[at])
        carried = ZERO_MOTION if link.parent == WORLD else motion_to_child(pose, result[link.parent])
        result.append(add_motions(carried, own))
    return result


def frame_jacobian(tree: Tree, poses: Sequence[Pose], index: int) -> list[Motion]:
    """Columns J_j with twist of link `index` = Σ J_j ν_j, in the link's own frame; joints off its path give zero
    columns.
    """
    columns = [ZERO_MOTION] * tree.speed_count
    slices = tree.speed_slices()
    to_link = IDENTITY_POSE  # T_ancestor_link
    for ancestor in tree.ancestors(index):
        own = tree.links[ancestor].subspace(poses[ancestor])
        columns[slices[ancestor]] = [motion_to_child(to_link, column) for column in own]
        to_link = compose(poses[ancestor], to_link)
    return columns


def point_jacobian(tree: Tree, poses: Sequence[Pose], index: int, point: Vector) -> list[Vector]:
    """Columns of the velocity of a point fixed in link `index`, in that link's axes: v + ω × p. SI: m/s per unit of
    ν.
    """
    return [add(column.linear, cross(column.angular, point)) for column in frame_jacobian(tree, poses, index)]
