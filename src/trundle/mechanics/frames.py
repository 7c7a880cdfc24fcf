"""Forward kinematics of a tree: poses, velocities and Jacobians (Featherstone 2008, chapters 2 to 4), in links' own
axes; and of a point and its frame in world axes, with the Jacobian's rate: what tasks and contacts are written in.
"""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.inverse_dynamics import link_accelerations
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
    transform_point,
)
from trundle.spatial.vectors import ZERO, Vector, add, apply, cross


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


def frame_pose(tree: Tree, poses: Sequence[Pose], index: int, point: Vector = ZERO) -> Pose:
    """Rotation of link `index` and position of a point fixed in it, in the world."""
    pose = world_poses(tree, poses)[index]
    return Pose(pose.rotation, transform_point(pose, point))


def frame_velocity(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar], index: int, point: Vector = ZERO
) -> Motion:
    """Velocity of a point fixed in link `index` (m/s) and the link's angular velocity (rad/s), in world axes."""
    rotation = world_poses(tree, poses)[index].rotation
    return _in_world(rotation, velocities(tree, poses, nu)[index], point)


def world_jacobian(tree: Tree, poses: Sequence[Pose], index: int, point: Vector = ZERO) -> list[Motion]:
    """Columns J_j with (v_point, ω) = Σ J_j ν_j in world axes."""
    rotation = world_poses(tree, poses)[index].rotation
    return [_in_world(rotation, column, point) for column in frame_jacobian(tree, poses, index)]


def frame_acceleration(
    tree: Tree,
    poses: Sequence[Pose],
    nu: Sequence[Scalar],
    nu_dot: Sequence[Scalar],
    index: int,
    point: Vector = ZERO,
) -> Motion:
    """J ν̇ + J̇ ν in world axes: the point's acceleration (m/s²) and the link's angular acceleration (rad/s²).

    From the spatial acceleration a: v̇ = a_lin + α × p + ω × (v + ω × p) (Featherstone 2008, eq. 2.50). At ν̇ = 0
    it is J̇ ν.
    """
    twists, accelerations = link_accelerations(Tree(tree.links, ZERO), poses, nu, nu_dot)
    v, a = twists[index], accelerations[index]
    velocity = add(v.linear, cross(v.angular, point))
    linear = add(add(a.linear, cross(a.angular, point)), cross(v.angular, velocity))
    rotation = world_poses(tree, poses)[index].rotation
    return Motion(apply(rotation, linear), apply(rotation, a.angular))


def _in_world(rotation: tuple[Vector, Vector, Vector], motion: Motion, point: Vector) -> Motion:
    linear = add(motion.linear, cross(motion.angular, point))
    return Motion(apply(rotation, linear), apply(rotation, motion.angular))
