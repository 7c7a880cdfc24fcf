"""Forward dynamics by the articulated-body algorithm (Featherstone 2008, table 7.1): ν̇ from τ in a time linear in
the links; and M⁻¹ times columns, which is the same without gravity and speeds (section 7.3).

Three savings over the textbook's 6×6 matrices: inertias are symmetric and one triangle is computed; a joint of one
freedom divides once; and a free joint along a coordinate axis leaves a row of exact zeros (see `articulated`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

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
from trundle.scalars import Rows, Scalar, is_zero, minus, plus, times
from trundle.spatial.motions import (
    ZERO_FORCE,
    ZERO_MOTION,
    Force,
    Motion,
    Pose,
    add_forces,
    add_motions,
    flat,
    force_to_parent,
    motion_to_child,
    pair,
    scale_force,
    wrench_of,
)
from trundle.spatial.vectors import ZERO, Vector, add, apply, apply_transposed, cross, dot, scale, subtract


@dataclass(frozen=True)
class ArticulatedJoint:
    """What the walks need of a joint: S, U = I S, D = Sᵀ U + armature; inside the tree the gains D⁻¹Uᵀ and what is left
    of the inertia, I − U D⁻¹ Uᵀ.

    `free` is (index, sign) of the coordinate direction that a joint of one freedom without armature moves along.
    """

    subspace: Sequence[Motion]
    u_columns: list[Force]
    d_matrix: Rows
    gains: list[Force]
    left: Articulated
    free: tuple[int, int] | None

    def drives(self, rest: Sequence[Scalar]) -> list[Scalar]:
        """D⁻¹u of u = τ − Sᵀp."""
        if len(rest) == 1:
            return [times(1 / self.d_matrix[0][0], rest[0])]
        return [row[0] for row in solve_positive(self.d_matrix, [[value] for value in rest])]

    def push(self, force: Force, bias: Motion, drives: Sequence[Scalar], tau: Sequence[Scalar]) -> Force:
        """What comes through it of the force p on its link, p + (I − U D⁻¹ Uᵀ) c + U D⁻¹u."""
        total = add_forces(force, momentum_of(self.left, bias))
        for u, drive in zip(self.u_columns, drives, strict=True):
            total = add_forces(total, scale_force(drive, u))
        if self.free is None:
            return total
        index, sign = self.free
        return wrench_of(_replaced(total, index, times(sign, tau[0])))  # nothing but τ comes through along it


class _LinkBias(NamedTuple):
    """What the links bear beside their joints' efforts: bias forces p, bias accelerations c, and how the world
    accelerates (upward by g, which stands for gravity).
    """

    forces: Sequence[Force]
    biases: Sequence[Motion]
    base: Motion


class Walk(NamedTuple):
    """What the algorithm passes by, of each link in its own frame, as in table 7.1.

    Inward the bias forces pᴬ and pᵃ (what comes through the joint; nothing of roots) and D⁻¹u (u of roots); outward a′,
    a and ν̇.
    """

    forces: list[Force]
    pushes: list[Force]
    drives: list[list[Scalar]]
    carried: list[Motion]
    accelerations: list[Motion]
    nu_dot: list[Scalar]


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
    return forward_walk(tree, poses, nu, tau, external).nu_dot


def forward_walk(
    tree: Tree,
    poses: Sequence[Pose],
    nu: Sequence[Scalar],
    tau: Sequence[Scalar],
    external: Sequence[Force] | None = None,
) -> Walk:
    """`forward_dynamics` with all that it passes by."""
    forces, biases = velocity_terms(tree, poses, nu)
    if external is not None:
        forces = [add_forces(f, scale_force(-1, w)) for f, w in zip(forces, external, strict=True)]
    carried = _LinkBias(forces, biases, Motion(scale(-1, tree.gravity), ZERO))
    return _walk(tree, poses, articulated_joints(tree, poses), carried, tau)


def solve_mass(tree: Tree, poses: Sequence[Pose], columns: Sequence[Sequence[Scalar]]) -> list[list[Scalar]]:
    """X with M(q) X = T for the `columns` of T, by columns: forces in N or N m, by speed; armatures included.

    Constraints need M⁻¹Aᵀ. The inertias serve all columns, and a column costs one walk in and one out; solving with the
    matrix itself takes a time that grows with the cube of the links. Every joint needs a body, or an armature, that
    resists it.
    """
    joints = articulated_joints(tree, poses)
    nothing = _LinkBias([ZERO_FORCE] * len(joints), [ZERO_MOTION] * len(joints), ZERO_MOTION)
    return [_walk(tree, poses, joints, nothing, column).nu_dot for column in columns]


def articulated_joints(tree: Tree, poses: Sequence[Pose]) -> list[ArticulatedJoint]:
    """What every joint of a tree feels at its joint poses, by link. Inward: I_parent += X^T (I − U D⁻¹ Uᵀ) X."""
    inertias = [of_body(link.inertia) for link in tree.links]
    joints: list[ArticulatedJoint] = []
    for link, pose in zip(reversed(tree.links), reversed(poses), strict=True):
        joint = _joint(link, link.subspace(pose), inertias.pop())
        joints.append(joint)
        if link.parent != WORLD:
            felt = to_parent(pose, joint.left)
            inertias[link.parent] = add_articulated(inertias[link.parent], felt)
    return joints[::-1]


def _joint(link: Link, columns: Sequence[Motion], inertia: Articulated) -> ArticulatedJoint:
    """The articulated inertia seen along the joint's motions S."""
    u_columns = [momentum_of(inertia, column) for column in columns]
    d_matrix = [[pair(u, column) for u in u_columns] for column in columns]
    for k, armature in enumerate(link.armatures):
        d_matrix[k][k] = plus(d_matrix[k][k], armature)
    free = _free_direction(columns, link.armatures)
    gains: list[Force] = []
    if link.parent != WORLD and len(columns) == 1:
        gain = scale_force(1 / d_matrix[0][0], u_columns[0])
        gains = [gain if free is None else wrench_of(_replaced(gain, *free))]  # there U is D
    elif link.parent != WORLD and columns:
        gains = [wrench_of(row) for row in solve_positive(d_matrix, [flat(u) for u in u_columns])]
    for u, gain in zip(u_columns, gains, strict=False):  # at the root nobody asks what is left
        inertia = less_outer(inertia, u, gain)
    if free is not None:
        inertia = without_direction(inertia, free[0])
    return ArticulatedJoint(columns, u_columns, d_matrix, gains, inertia, free)


def velocity_terms(
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


def _free_direction(subspace: Sequence[Motion], armatures: Sequence[Scalar]) -> tuple[int, int] | None:
    """(index, sign) of the coordinate direction that a joint of one freedom without armature moves along."""
    if len(subspace) != 1 or not is_zero(armatures[0]):
        return None
    entries = flat(subspace[0])
    places = [k for k, x in enumerate(entries) if not is_zero(x)]
    if len(places) != 1 or not isinstance(entries[places[0]], (int, float)) or abs(entries[places[0]]) != 1:
        return None
    return places[0], int(entries[places[0]])


def _walk(
    tree: Tree,
    poses: Sequence[Pose],
    joints: Sequence[ArticulatedJoint],
    carried: _LinkBias,
    tau: Sequence[Scalar],
) -> Walk:
    """Inward the bias forces p and u = τ − Sᵀp; outward ν̇_i = D⁻¹u − D⁻¹Uᵀ a′, a_i = a′ + S_i ν̇_i with
    a′ = X a_parent + c_i.
    """
    forces, pushes, drives = list(carried.forces), [ZERO_FORCE] * len(joints), [[]] * len(joints)
    taus = [tau[at] for at in tree.speed_slices()]
    for index in range(len(joints) - 1, -1, -1):
        link, joint, force = tree.links[index], joints[index], forces[index]
        rest = [minus(t, pair(force, s)) for t, s in zip(taus[index], joint.subspace, strict=True)]
        drives[index] = rest if link.parent == WORLD else joint.drives(rest)
        if link.parent != WORLD:
            pushes[index] = joint.push(force, carried.biases[index], drives[index], taus[index])
            felt = force_to_parent(poses[index], pushes[index])
            forces[link.parent] = add_forces(forces[link.parent], felt)
    before: list[Motion] = []
    accelerations: list[Motion] = []
    nu_dot: list[Scalar] = []
    for link, pose, bias, joint, drive in zip(tree.links, poses, carried.biases, joints, drives, strict=True):
        parent = carried.base if link.parent == WORLD else accelerations[link.parent]
        before.append(add_motions(motion_to_child(pose, parent), bias))
        own, total = _across(joint, drive, before[-1], link.parent == WORLD)
        nu_dot.extend(own)
        accelerations.append(total)
    return Walk(forces, pushes, drives, before, accelerations, nu_dot)


def _across(
    joint: ArticulatedJoint, drives: list[Scalar], carried: Motion, root: bool
) -> tuple[list[Scalar], Motion]:
    """ν̇ and the link's acceleration across a joint, from what its parent's carries there.

    A root's own D is solved with once, which is less than with all of U; and what a link has along a free joint is
    known without its parent's.
    """
    if root:
        own = joint.drives([minus(r, pair(u, carried)) for r, u in zip(drives, joint.u_columns, strict=True)])
    elif joint.free is None:
        own = [minus(d, pair(gain, carried)) for d, gain in zip(drives, joint.gains, strict=True)]
    else:
        index, sign = joint.free
        gain = wrench_of(_replaced(joint.gains[0], index, 0))
        along = minus(drives[0], pair(gain, carried))
        rate = minus(along, times(sign, flat(carried)[index]))
        return [rate], Motion(*wrench_of(_replaced(carried, index, times(sign, along))))
    return own, add_motions(carried, combine(joint.subspace, own))


def _replaced(vector: Force | Motion, index: int, value: Scalar) -> list[Scalar]:
    six = flat(vector)
    six[index] = value
    return six
