"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1): ν̇ from τ in a time linear in
the links.
"""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.linear import apply, dot, product, solve_positive, transpose
from trundle.mechanics.tree import WORLD, Link, Tree, combine
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    Force,
    Inertia,
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
    subspaces = [link.subspace(pose) for link, pose in zip(links, poses, strict=True)]
    twists, biases = _velocity_terms(tree, poses, nu)
    inertias = [_matrix(link.inertia) for link in links]
    forces = [cross_force(v, momentum(link.inertia, v)) for link, v in zip(links, twists, strict=True)]
    if external is not None:
        forces = [add_forces(f, scale_force(-1, w)) for f, w in zip(forces, external, strict=True)]
    joints: list[tuple[Rows, Rows, list[Scalar]]] = [([], [], [])] * len(links)
    for index in range(len(links) - 1, -1, -1):
        link = links[index]
        articulated, force, joints[index] = _articulate(
            link, subspaces[index], inertias[index], forces[index], biases[index], tau[slices[index]]
        )
        if link.parent != WORLD:
            transform = _transform(poses[index])
            lifted = product(transpose(transform), product(articulated, transform))
            inertias[link.parent] = _sum(inertias[link.parent], lifted)
            forces[link.parent] = add_forces(forces[link.parent], force_to_parent(poses[index], force))
    return _accelerate(tree, poses, subspaces, biases, joints)


def _velocity_terms(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar]
) -> tuple[list[Motion], list[Motion]]:
    """Twists v_i and velocity-product accelerations c_i = Ṡ_i ν_i + v_i × S_i ν_i."""
    twists: list[Motion] = []
    biases: list[Motion] = []
    for link, pose, at in zip(tree.links, poses, tree.speed_slices(), strict=True):
        own = link.own_motion(pose, nu[at])
        twist = own if link.parent == WORLD else add_motions(motion_to_child(pose, twists[link.parent]), own)
        twists.append(twist)
        biases.append(add_motions(link.velocity_product(pose, nu[at]), cross_motion(twist, own)))
    return twists, biases


def _articulate(
    link: Link, subspace: Sequence[Motion], inertia: Rows, force: Force, bias: Motion, tau: Sequence[Scalar]
) -> tuple[Rows, Force, tuple[Rows, Rows, list[Scalar]]]:
    """One step inward: the articulated inertia and bias force that the parent feels, and (D⁻¹Uᵀ, U, D⁻¹u) for the
    way out.
    """
    if not subspace:
        felt = add_forces(force, _force(apply(inertia, _flat(bias))))
        return inertia, felt, ([], [], [])
    columns = transpose([_flat(column) for column in subspace])
    u_matrix = product(inertia, columns)  # U = I S, (6, size)
    d_matrix = product(transpose(columns), u_matrix)  # D = Sᵀ I S + armature
    for k, armature in enumerate(link.armatures):
        d_matrix[k][k] = d_matrix[k][k] + armature
    rest = [t - pair(force, column) for t, column in zip(tau, subspace, strict=True)]
    right = [[*row, r] for row, r in zip(transpose(u_matrix), rest, strict=True)]
    solved = solve_positive(d_matrix, right)  # D⁻¹ [Uᵀ | u]
    gains = [row[:6] for row in solved]
    drive = [row[6] for row in solved]
    correction = product(u_matrix, gains)
    articulated = [[inertia[i][j] - correction[i][j] for j in range(6)] for i in range(6)]
    felt = _flat_force(force)
    along = apply(articulated, _flat(bias))
    driven = apply(u_matrix, drive)
    total = [felt[i] + along[i] + driven[i] for i in range(6)]
    return articulated, _force(total), (gains, u_matrix, drive)


def _accelerate(
    tree: Tree,
    poses: Sequence[Pose],
    subspaces: Sequence[Sequence[Motion]],
    biases: Sequence[Motion],
    joints: Sequence[tuple[Rows, Rows, list[Scalar]]],
) -> list[Scalar]:
    """Outward: ν̇_i = D⁻¹u − D⁻¹Uᵀ a′, a_i = a′ + S_i ν̇_i with a′ = X a_parent + c_i."""
    base = Motion(scale(-1, tree.gravity), ZERO)
    accelerations: list[Motion] = []
    nu_dot: list[Scalar] = []
    for link, pose, subspace, bias, (gains, _, drive) in zip(
        tree.links, poses, subspaces, biases, joints, strict=True
    ):
        parent = base if link.parent == WORLD else accelerations[link.parent]
        carried = add_motions(motion_to_child(pose, parent), bias)
        flat = _flat(carried)
        own = [d - dot(gain, flat) for d, gain in zip(drive, gains, strict=True)]
        nu_dot.extend(own)
        accelerations.append(add_motions(carried, combine(subspace, own)))
    return nu_dot


def _flat(m: Motion) -> list[Scalar]:
    return [*m.linear, *m.angular]


def _flat_force(f: Force) -> list[Scalar]:
    return [*f.force, *f.moment]


def _force(flat: Sequence[Scalar]) -> Force:
    return Force((flat[0], flat[1], flat[2]), (flat[3], flat[4], flat[5]))


def _matrix(inertia: Inertia) -> Rows:
    """The 6×6 matrix of `momentum`: columns are the momenta of the six unit motions."""
    unit = [[1 if i == j else 0 for j in range(3)] for i in range(3)]
    motions = [Motion((e[0], e[1], e[2]), ZERO) for e in unit] + [
        Motion(ZERO, (e[0], e[1], e[2])) for e in unit
    ]
    return transpose([_flat_force(momentum(inertia, m)) for m in motions])


def _transform(pose: Pose) -> Rows:
    """The 6×6 matrix of `motion_to_child`."""
    unit = [[1 if i == j else 0 for j in range(3)] for i in range(3)]
    motions = [Motion((e[0], e[1], e[2]), ZERO) for e in unit] + [
        Motion(ZERO, (e[0], e[1], e[2])) for e in unit
    ]
    return transpose([_flat(motion_to_child(pose, m)) for m in motions])


def _sum(a: Rows, b: Rows) -> Rows:
    return [[x + y for x, y in zip(row, other, strict=True)] for row, other in zip(a, b, strict=True)]
