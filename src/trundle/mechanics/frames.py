"""Velocity, Jacobian and its rate of a point and its frame, in world axes: what tasks and contacts are written in."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.inverse_dynamics import link_accelerations
from trundle.mechanics.kinematics import frame_jacobian, velocities, world_poses
from trundle.mechanics.tree import Tree
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    Motion,
    Pose,
    transform_point,
)
from trundle.spatial.vectors import ZERO, Vector, add, apply, cross


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
