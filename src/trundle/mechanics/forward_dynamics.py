"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1): ν̇ from τ in a time linear in
the links.

Three savings over the textbook's 6×6 matrices: inertias are symmetric and one triangle is computed; a joint of one
freedom divides once; and a free joint along a coordinate axis leaves a row of exact zeros (see `articulated`).
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
from trundle.mechanics.linear import solve_positive
from trundle.mechanics.tree import WORLD, Link, Tree, combine
from trundle.scalars import Scalar, is_zero, minus, plus, times
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

Rows = list[list[Scalar]]


@dataclass(frozen=True)
class _Joint:
    """What the way out needs of a joint: S, U = I S, D = Sᵀ U + armature, u = τ − Sᵀ p; inside the tree the gains D⁻¹Uᵀ
    and drives D⁻¹u, at its root the three themselves, for one solution there is less than a matrix.
    """

    subspace: Sequence[Motion]
    u_columns: list[Force]
    d_matrix: Rows
    rest: list[Scalar]
    gains: list[Force]
    drives: list[Scalar]


def forward_dynamics(
    tree: Tree,
    poses: Sequence[Pose],
    nu: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Sequence[Force] | None = None,
) -> list[Scalar]:
    """ν̇ = M(q)⁻¹ (τ − c(q, ν) + Σ J_iᵀ w_i), armatures included; τ in N or N m and ν̇ in m/s² or rad/s², by speed.

    `poses` are the joint poses `tree.joint_poses(q)`; `external` the wrenches w_i from outside, one for each
    link, in its own frame.
    """
    links, slices = tree.links, tree.speed_slices()
    twists, biases = _velocity_terms(tree, poses, nu)
    inertias = [of_body(link.inertia) for link in links]
    forces = [cross_force(v, momentum(link.inertia, v)) for link, v in zip(links, twists, strict=True)]
    if external is not None:
        forces = [add_forces(f, scale_force(-1, w)) for f, w in zip(forces, external, strict=True)]
    joints: list[_Joint] = []
    for index in range(len(links) - 1, -1, -1):
        link, inertia, force, own_tau = links[index], inertias[index], forces[index], tau[slices[index]]
        joint = _project(link, link.subspace(poses[index]), inertia, force, own_tau)
        joints.append(joint)
        if link.parent != WORLD:
            felt, push = _articulate(link, joint, inertia, force, biases[index], own_tau)
            inertias[link.parent] = add_articulated(inertias[link.parent], to_parent(poses[index], felt))
            forces[link.parent] = add_forces(forces[link.parent], force_to_parent(poses[index], push))
    return _accelerate(tree, poses, biases, joints[::-1])


def _velocity_terms(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar]
) -> tuple[list[Motion], list[Motion]]:
    """Twists v_i and velocity-product accelerations c_i = Ṡ_i ν_i + v_i × S_i ν_i, without the second term at a root:
    there v = S ν.
    """
    twists: list[Motion] = []
    biases: list[Motion] = []
    for link, pose, at in zip(tree.links, poses, tree.speed_slices(), strict=True):
        own, product = link.own_motion(pose, nu[at]), link.velocity_product(pose, nu[at])
        if link.parent == WORLD:
            twists.append(own)
            biases.append(product)
            continue
        twists.append(add_motions(motion_to_child(pose, twists[link.parent]), own))
        biases.append(add_motions(product, cross_motion(twists[-1], own)))
    return twists, biases


def _project(
    link: Link, columns: Sequence[Motion], inertia: Articulated, force: Force, tau: Sequence[Scalar]
) -> _Joint:
    """The articulated inertia and bias force seen along the joint's motions S."""
    u_columns = [momentum_of(inertia, column) for column in columns]
    d_matrix = [[pair(u, column) for u in u_columns] for column in columns]
    for k, armature in enumerate(link.armatures):
        d_matrix[k][k] = plus(d_matrix[k][k], armature)
    rest = [minus(t, pair(force, column)) for t, column in zip(tau, columns, strict=True)]
    gains: list[Force] = []
    drives: list[Scalar] = []
    if link.parent != WORLD and len(columns) == 1:
        inverse = 1 / d_matrix[0][0]
        gains, drives = [scale_force(inverse, u_columns[0])], [times(inverse, rest[0])]
    elif link.parent != WORLD and columns:
        flat = [_flat(u) for u in u_columns]
        solved = solve_positive(d_matrix, [[*row, r] for row, r in zip(flat, rest, strict=True)])
        gains, drives = [_force(row) for row in solved], [row[6] for row in solved]
    return _Joint(columns, u_columns, d_matrix, rest, gains, drives)


def _articulate(
    link: Link, joint: _Joint, inertia: Articulated, force: Force, bias: Motion, tau: Sequence[Scalar]
) -> tuple[Articulated, Force]:
    """One step inward: what the parent feels, I − U D⁻¹ Uᵀ and p + (I − U D⁻¹ Uᵀ) c + U D⁻¹ u."""
    for u, gain in zip(joint.u_columns, joint.gains, strict=True):
        inertia = less_outer(inertia, u, gain)
    direction = _free_direction(joint.subspace, link.armatures)
    if direction is not None:
        inertia = without_direction(inertia, direction[0])
    push = add_forces(force, momentum_of(inertia, bias))
    for u, drive in zip(joint.u_columns, joint.drives, strict=True):
        push = add_forces(push, scale_force(drive, u))
    if direction is None:
        return inertia, push
    flat = _flat(push)
    flat[direction[0]] = times(direction[1], tau[0])  # along a free joint nothing but τ comes through
    return inertia, _force(flat)


def _free_direction(subspace: Sequence[Motion], armatures: Sequence[Scalar]) -> tuple[int, int] | None:
    """(index, sign) of the coordinate direction that a joint of one freedom without armature moves along."""
    if len(subspace) != 1 or not is_zero(armatures[0]):
        return None
    entries = [*subspace[0].linear, *subspace[0].angular]
    places = [k for k, x in enumerate(entries) if not is_zero(x)]
    if len(places) != 1 or not isinstance(entries[places[0]], (int, float)) or abs(entries[places[0]]) != 1:
        return None
    return places[0], int(entries[places[0]])


def _accelerate(
    tree: Tree, poses: Sequence[Pose], biases: Sequence[Motion], joints: Sequence[_Joint]
) -> list[Scalar]:
    """Outward: ν̇_i = D⁻¹u − D⁻¹Uᵀ a′, a_i = a′ + S_i ν̇_i with a′ = X a_parent + c_i."""
    base = Motion(scale(-1, tree.gravity), ZERO)
    accelerations: list[Motion] = []
    nu_dot: list[Scalar] = []
    for link, pose, bias, joint in zip(tree.links, poses, biases, joints, strict=True):
        parent = base if link.parent == WORLD else accelerations[link.parent]
        carried = add_motions(motion_to_child(pose, parent), bias)
        if link.parent == WORLD:
            right = [[minus(r, pair(u, carried))] for r, u in zip(joint.rest, joint.u_columns, strict=True)]
            own = [row[0] for row in solve_positive(joint.d_matrix, right)]
        else:
            own = [minus(d, pair(gain, carried)) for d, gain in zip(joint.drives, joint.gains, strict=True)]
        nu_dot.extend(own)
        accelerations.append(add_motions(carried, combine(joint.subspace, own)))
    return nu_dot


def _flat(f: Force) -> list[Scalar]:
    return [*f.force, *f.moment]


def _force(flat: Sequence[Scalar]) -> Force:
    return Force((flat[0], flat[1], flat[2]), (flat[3], flat[4], flat[5]))
