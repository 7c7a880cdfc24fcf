"""M(q)⁻¹ times columns in a time linear in the links: the articulated-body recursion without gravity and speeds
(Featherstone 2008, section 7.3).

Constraints need M⁻¹Aᵀ. The recursion's inertias serve all columns, and a column costs one walk in and one out; solving
with the matrix itself takes a time that grows with the cube of the links.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trundle.mechanics.articulated import (
    Articulated,
    add_articulated,
    less_outer,
    momentum_of,
    of_body,
    to_parent,
    without_direction,
)
from trundle.mechanics.forward_dynamics import free_direction
from trundle.mechanics.linear import apply, solve_positive
from trundle.mechanics.tree import WORLD, Link, Tree, combine
from trundle.scalars import Scalar, minus, plus
from trundle.spatial.motions import (
    ZERO_FORCE,
    ZERO_MOTION,
    Force,
    Motion,
    Pose,
    add_forces,
    add_motions,
    force_to_parent,
    motion_to_child,
    pair,
    scale_force,
)


@dataclass(frozen=True)
class _Joint:
    """Of each joint: S, U = I S, D⁻¹ and the gains D⁻¹Uᵀ."""

    subspace: Sequence[Motion]
    u_columns: list[Force]
    inverse: list[list[Scalar]]
    gains: list[Force]


def solve_mass(tree: Tree, poses: Sequence[Pose], columns: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """X with M(q) X = T for the `columns` of T, by columns: forces in N or N m, by speed; armatures included.

    `poses` are the joint poses `tree.joint_poses(q)`. Every joint needs a body, or an armature, that resists it.
    """
    joints = _articulated(tree, poses)
    return [_solve(tree, poses, joints, column) for column in columns]


def _articulated(tree: Tree, poses: Sequence[Pose]) -> list[_Joint]:
    """Inward: I_parent += X^T (I − U D⁻¹ Uᵀ) X."""
    inertias = [of_body(link.inertia) for link in tree.links]
    joints: list[_Joint] = []
    for index in range(len(tree.links) - 1, -1, -1):
        link = tree.links[index]
        joint = _joint(link, link.subspace(poses[index]), inertias[index])
        joints.append(joint)
        if link.parent != WORLD:
            felt = inertias[index]
            for u, gain in zip(joint.u_columns, joint.gains, strict=True):
                felt = less_outer(felt, u, gain)
            free = free_direction(joint.subspace, link.armatures)
            if free is not None:
                felt = without_direction(felt, free[0])
            inertias[link.parent] = add_articulated(inertias[link.parent], to_parent(poses[index], felt))
    return joints[::-1]


def _joint(link: Link, columns: Sequence[Motion], inertia: Articulated) -> _Joint:
    u_columns = [momentum_of(inertia, column) for column in columns]
    d_matrix = [[pair(u, column) for u in u_columns] for column in columns]
    for k, armature in enumerate(link.armatures):
        d_matrix[k][k] = plus(d_matrix[k][k], armature)
    count = len(columns)
    if count == 1:
        inverse: list[list[Scalar]] = [[1 / d_matrix[0][0]]]
    else:
        inverse = solve_positive(d_matrix, [[int(i == j) for j in range(count)] for i in range(count)])
    gains = [_combined(u_columns, row) for row in inverse]
    return _Joint(columns, u_columns, inverse, gains)


def _combined(forces: Sequence[Force], weights: Sequence[Scalar]) -> Force:
    total = ZERO_FORCE
    for force, weight in zip(forces, weights, strict=True):
        total = add_forces(total, scale_force(weight, force))
    return total


def _solve(
    tree: Tree, poses: Sequence[Pose], joints: Sequence[_Joint], tau: Sequence[Scalar]
) -> list[Scalar]:
    """One column: inward the bias forces p and u = τ − Sᵀp, outward x = D⁻¹u − D⁻¹Uᵀ a′, a = a′ + S x."""
    forces = [ZERO_FORCE] * len(tree.links)
    drives: list[list[Scalar]] = [[]] * len(tree.links)
    slices = tree.speed_slices()
    for index in range(len(tree.links) - 1, -1, -1):
        joint, force, parent = joints[index], forces[index], tree.links[index].parent
        rest = [minus(t, pair(force, s)) for t, s in zip(tau[slices[index]], joint.subspace, strict=True)]
        drives[index] = apply(joint.inverse, rest)
        if parent != WORLD:
            push = add_forces(force, _combined(joint.gains, rest))
            forces[parent] = add_forces(forces[parent], force_to_parent(poses[index], push))
    accelerations: list[Motion] = []
    solution: list[Scalar] = []
    for link, pose, joint, drive in zip(tree.links, poses, joints, drives, strict=True):
        carried = ZERO_MOTION if link.parent == WORLD else motion_to_child(pose, accelerations[link.parent])
        own = [minus(d, pair(gain, carried)) for d, gain in zip(drive, joint.gains, strict=True)]
        solution.extend(own)
        accelerations.append(add_motions(carried, combine(joint.subspace, own)))
    return solution
