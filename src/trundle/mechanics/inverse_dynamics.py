"""Inverse dynamics by the recursive Newton-Euler algorithm (Featherstone 2008, table 5.1): M(q) ν̇ + c(q, ν) = τ."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.tree import WORLD, Tree, combine
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    Force,
    Motion,
    Pose,
    add_forces,
    add_motions,
    cross_force,
    cross_motion,
    force_to_parent,
    momentum,
    motion_to_child,
    pair,
    scale_force,
)
from trundle.spatial.vectors import ZERO, scale


def link_accelerations(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar], nu_dot: Sequence[Scalar]
) -> tuple[list[Motion], list[Motion]]:
    """Twists and spatial accelerations of all links in their own frames; gravity enters as the base's acceleration
    −g.
    """
    twists: list[Motion] = []
    accelerations: list[Motion] = []
    base = Motion(scale(-1, tree.gravity), ZERO)
    for link, pose, at in zip(tree.links, poses, tree.speed_slices(), strict=True):
        own = link.own_motion(pose, nu[at])
        if link.parent == WORLD:
            twist, carried = own, motion_to_child(pose, base)
        else:
            twist = add_motions(motion_to_child(pose, twists[link.parent]), own)
            carried = motion_to_child(pose, accelerations[link.parent])
        driven = add_motions(combine(link.subspace(pose), nu_dot[at]), link.velocity_product(pose, nu[at]))
        twists.append(twist)
        accelerations.append(add_motions(add_motions(carried, driven), cross_motion(twist, own)))
    return twists, accelerations


def link_forces(tree: Tree, twists: Sequence[Motion], accelerations: Sequence[Motion]) -> list[Force]:
    """Newton-Euler: the wrenches that links need, f = I a + v ×* I v, in their own frames."""
    return [
        add_forces(momentum(link.inertia, a), cross_force(v, momentum(link.inertia, v)))
        for link, v, a in zip(tree.links, twists, accelerations, strict=True)
    ]


def joint_wrenches(tree: Tree, poses: Sequence[Pose], forces: Sequence[Force]) -> list[Force]:
    """The wrenches through joints, on their links, in the links' frames: a link's own plus its children's."""
    total = list(forces)
    for index in range(len(tree.links) - 1, -1, -1):
        parent = tree.links[index].parent
        if parent != WORLD:
            total[parent] = add_forces(total[parent], force_to_parent(poses[index], total[index]))
    return total


def inverse_dynamics(
    tree: Tree,
    poses: Sequence[Pose],
    nu: Sequence[Scalar],
    nu_dot: Sequence[Scalar],
    external: Sequence[Force] | None = None,
) -> list[Scalar]:
    """τ = M(q) ν̇ + c(q, ν) − Σ J_iᵀ w_i, gravity in c; N or N m by speed, armatures included.

    `poses` are the joint poses `tree.joint_poses(q)`; `external` the wrenches w_i from outside, one for each
    link, in its own frame (`mechanics.external` makes them of pushes at points).
    """
    twists, accelerations = link_accelerations(tree, poses, nu, nu_dot)
    needed = link_forces(tree, twists, accelerations)
    if external is not None:
        needed = [add_forces(f, scale_force(-1, w)) for f, w in zip(needed, external, strict=True)]
    wrenches = joint_wrenches(tree, poses, needed)
    tau: list[Scalar] = []
    for link, pose, wrench, at in zip(tree.links, poses, wrenches, tree.speed_slices(), strict=True):
        for column, armature, rate in zip(link.subspace(pose), link.armatures, nu_dot[at], strict=True):
            tau.append(pair(wrench, column) + armature * rate)
    return tau
