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
    force_to_parent,
    motion_to_child,
    pair,
    scale_force,
)
from trundle.spatial.vectors import ZERO, Vector, add, apply, apply_transposed, cross, dot, scale, subtract

Rows = list[list[Scalar]]


@dataclass(frozen=True)
class _Joint:
    """What the way out needs of a joint: S, U = I S, D = Sᵀ U + armature, u = τ − Sᵀ p; inside the tree the gains D⁻¹Uᵀ
    and drives D⁻¹u, at its root the three themselves, for one solution there is less than a matrix.

    `free` is (index, sign) of the coordinate direction that a joint of one freedom without armature moves along.
    """

    subspace: Sequence[Motion]
    u_columns: list[Force]
    d_matrix: Rows
    rest: list[Scalar]
    gains: list[Force]
    drives: list[Scalar]
    free: tuple[int, int] | None


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
    forces, biases = _velocity_terms(tree, poses, nu)
    inertias = [of_body(link.inertia) for link in links]
    if external is not None:
        forces = [add_forces(f, scale_force(-1, w)) for f, w in zip(forces, external, strict=True)]
    joints: list[_Joint] = []
    for index in range(len(links) - 1, -1, -1):
        link, inertia, force, own_tau = links[index], inertias[index], forces[index], tau[slices[index]]
        joint = _project(link, link.subspace(poses[index]), inertia, force, own_tau)
        joints.append(joint)
        if link.parent != WORLD:
            felt, push = _articulate(joint, inertia, force, biases[index], own_tau)
            inertias[link.parent] = add_articulated(inertias[link.parent], to_parent(poses[index], felt))
            forces[link.parent] = add_forces(forces[link.parent], force_to_parent(poses[index], push))
    return _accelerate(tree, poses, biases, joints[::-1])


def _velocity_terms(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar]
) -> tuple[list[Force], list[Motion]]:
    """What speeds do, of each link in its own frame: the wrench (ω × (ω × h), ω × J ω) that turning takes, and the
    acceleration of its origin and its turning beyond what its parent's and ν̇ give,

        R^T (ω_p × (ω_p × p)) + (ω_p + ω) × v_J + Ṡν,   ω_p × ω_J + Ṡν,   (v_J, ω_J) = S ν.

    Accelerations are the origins' own, not spatial ones, so that only angular velocities enter: dynamics are
    the same in all uniformly moving frames.
    """
    turning: list[Vector] = []
    forces: list[Force] = []
    biases: list[Motion] = []
    for link, pose, at in zip(tree.links, poses, tree.speed_slices(), strict=True):
        own, product = link.own_motion(pose, nu[at]), link.velocity_product(pose, nu[at])
        before = ZERO if link.parent == WORLD else turning[link.parent]
        carried = apply_transposed(pose.rotation, before)
        omega = add(carried, own.angular)
        centripetal = apply_transposed(pose.rotation, _turned_twice(before, pose.position))
        relative = cross(add(carried, omega), own.linear)
        biases.append(
            Motion(
                add(add(centripetal, relative), product.linear),
                add(cross(carried, own.angular), product.angular),
            )
        )
        _, h, rotational = link.inertia
        forces.append(Force(_turned_twice(omega, h), cross(omega, apply(rotational, omega))))
        turning.append(omega)
    return forces, biases


def _turned_twice(omega: Vector, r: Vector) -> Vector:
    """ω × (ω × r) = (ω · r) ω − ω² r."""
    return subtract(scale(dot(omega, r), omega), scale(dot(omega, omega), r))


def _project(
    link: Link, columns: Sequence[Motion], inertia: Articulated, force: Force, tau: Sequence[Scalar]
) -> _Joint:
    """The articulated inertia and bias force seen along the joint's motions S."""
    u_columns = [momentum_of(inertia, column) for column in columns]
    d_matrix = [[pair(u, column) for u in u_columns] for column in columns]
    for k, armature in enumerate(link.armatures):
        d_matrix[k][k] = plus(d_matrix[k][k], armature)
    rest = [minus(t, pair(force, column)) for t, column in zip(tau, columns, strict=True)]
    free = free_direction(columns, link.armatures)
    gains: list[Force] = []
    drives: list[Scalar] = []
    if link.parent != WORLD and len(columns) == 1:
        inverse = 1 / d_matrix[0][0]
        gain = _flat(scale_force(inverse, u_columns[0]))
        if free is not None:
            gain[free[0]] = free[1]  # there U is D
        gains, drives = [_force(gain)], [times(inverse, rest[0])]
    elif link.parent != WORLD and columns:
        flat = [_flat(u) for u in u_columns]
        solved = solve_positive(d_matrix, [[*row, r] for row, r in zip(flat, rest, strict=True)])
        gains, drives = [_force(row) for row in solved], [row[6] for row in solved]
    return _Joint(columns, u_columns, d_matrix, rest, gains, drives, free)


def _articulate(
    joint: _Joint, inertia: Articulated, force: Force, bias: Motion, tau: Sequence[Scalar]
) -> tuple[Articulated, Force]:
    """One step inward: what the parent feels, I − U D⁻¹ Uᵀ and p + (I − U D⁻¹ Uᵀ) c + U D⁻¹ u."""
    for u, gain in zip(joint.u_columns, joint.gains, strict=True):
        inertia = less_outer(inertia, u, gain)
    if joint.free is not None:
        inertia = without_direction(inertia, joint.free[0])
    push = add_forces(force, momentum_of(inertia, bias))
    for u, drive in zip(joint.u_columns, joint.drives, strict=True):
        push = add_forces(push, scale_force(drive, u))
    if joint.free is None:
        return inertia, push
    flat = _flat(push)
    flat[joint.free[0]] = times(joint.free[1], tau[0])  # along a free joint nothing but τ comes through
    return inertia, _force(flat)


def free_direction(subspace: Sequence[Motion], armatures: Sequence[Scalar]) -> tuple[int, int] | None:
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
        elif joint.free is not None:
            rate, total = _freely(joint, joint.free, carried)
            nu_dot.append(rate)
            accelerations.append(total)
            continue
        else:
            own = [minus(d, pair(gain, carried)) for d, gain in zip(joint.drives, joint.gains, strict=True)]
        nu_dot.extend(own)
        accelerations.append(add_motions(carried, combine(joint.subspace, own)))
    return nu_dot


def _freely(joint: _Joint, free: tuple[int, int], carried: Motion) -> tuple[Scalar, Motion]:
    """ν̇ and the link's acceleration across a free joint: what it has along the joint is known without its parent's."""
    index, sign = free
    total, gain = _flat(carried), _flat(joint.gains[0])
    others = [k for k in range(6) if k != index]
    along = joint.drives[0]
    for k in others:
        along = minus(along, times(gain[k], total[k]))
    rate = minus(along, times(sign, total[index]))
    total[index] = times(sign, along)
    return rate, _motion(total)


def _flat(vector: Force | Motion) -> list[Scalar]:
    return [*vector[0], *vector[1]]


def _force(flat: Sequence[Scalar]) -> Force:
    return Force((flat[0], flat[1], flat[2]), (flat[3], flat[4], flat[5]))


def _motion(flat: Sequence[Scalar]) -> Motion:
    return Motion((flat[0], flat[1], flat[2]), (flat[3], flat[4], flat[5]))
