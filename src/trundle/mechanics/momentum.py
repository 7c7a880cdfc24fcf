"""What the masses of a whole tree amount to: centre of mass and momentum (Orin, Goswami & Lee 2013), energy summed body
by body as a second way beside the equations of motion, and the mass matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from trundle.arrays import FloatArray
from trundle.mechanics.frames import velocities
from trundle.mechanics.inverse_dynamics import joint_wrenches
from trundle.mechanics.linear import dot
from trundle.mechanics.tree import WORLD, Tree
from trundle.scalars import Scalar, minus, sqrt
from trundle.spatial.motions import (
    ZERO_FORCE,
    Force,
    Inertia,
    Motion,
    Pose,
    add_forces,
    add_inertias,
    cross_force,
    flat,
    force_to_parent,
    inertia_to_parent,
    momentum,
    pair,
    wrench_of,
)
from trundle.spatial.vectors import Vector, add, cross, scale, subtract, transform_sum
from trundle.spatial.vectors import dot as dot3


class Momentum(NamedTuple):
    """Linear momentum p (kg m/s) and angular momentum about the centre of mass L (kg m²/s), in world axes."""

    linear: Vector
    angular: Vector


def center_of_mass(tree: Tree, poses: Sequence[Pose]) -> tuple[Scalar, Vector]:
    """Total mass (kg) and its centre (m), in the frame the poses are given in (a pose T_frame_link a link)."""
    mass: Scalar = 0
    moment: Vector = (0, 0, 0)
    for link, pose in zip(tree.links, poses, strict=True):
        mass = mass + link.inertia.mass
        moment = add(
            moment, transform_sum(pose.rotation, link.inertia.first_moment, link.inertia.mass, pose.position)
        )
    return mass, scale(1 / mass, moment)


def weight(tree: Tree, world: Sequence[Pose]) -> Scalar:
    """m |g| of the whole (N); `world` are the poses T_world_link."""
    return center_of_mass(tree, world)[0] * sqrt(dot3(tree.gravity, tree.gravity))


def total_momentum(tree: Tree, world: Sequence[Pose], twists: Sequence[Motion]) -> Momentum:
    """p = Σ R (m v + ω × h) and L = Σ (moments of momentum) about the centre of mass, in world axes.

    `world` are T_world_link, `twists` the links' in their own frames. A rotor that stands in the tree as an
    armature has no momentum here: its axis is not known.
    """
    total = ZERO_FORCE
    for link, pose, twist in zip(tree.links, world, twists, strict=True):
        total = add_forces(total, force_to_parent(pose, momentum(link.inertia, twist)))
    _, center = center_of_mass(tree, world)
    return Momentum(total.force, subtract(total.moment, cross(center, total.force)))


def kinetic_energy(tree: Tree, twists: Sequence[Motion], nu: Sequence[Scalar]) -> Scalar:
    """T = ½ Σ v·I v + ½ Σ J_armature ν², in J; twists of the links in their own frames."""
    total: Scalar = 0
    for link, twist, at in zip(tree.links, twists, tree.speed_slices(), strict=True):
        total = total + pair(momentum(link.inertia, twist), twist) / 2
        total = total + dot(link.armatures, [rate * rate for rate in nu[at]]) / 2
    return total


def potential_energy(tree: Tree, world: Sequence[Pose]) -> Scalar:
    """U = −Σ g·(m p + R h), in J, zero at the world's origin; `world` are the poses T_world_link."""
    total: Scalar = 0
    for link, pose in zip(tree.links, world, strict=True):
        moment = transform_sum(pose.rotation, link.inertia.first_moment, link.inertia.mass, pose.position)
        total = total - dot3(tree.gravity, moment)
    return total


def mass_matrix(tree: Tree, poses: Sequence[Pose]) -> list[list[Scalar]]:
    """M(q) by the composite-rigid-body algorithm (Featherstone 2008, table 6.2), symmetric, as rows; kg, kg m, kg m².

    Entries between joints of different branches are structural zeros.
    """
    links, composite = tree.links, composites(tree, poses)
    slices = tree.speed_slices()
    subspaces = [link.subspace(pose) for link, pose in zip(links, poses, strict=True)]
    count = tree.speed_count
    matrix: list[list[Scalar]] = [[0] * count for _ in range(count)]
    for index, link in enumerate(links):
        columns = range(slices[index].start, slices[index].stop)
        for column, motion, armature in zip(columns, subspaces[index], link.armatures, strict=True):
            force = momentum(composite[index], motion)
            for ancestor in tree.ancestors(index):
                rows = range(slices[ancestor].start, slices[ancestor].stop)
                for row, other in zip(rows, subspaces[ancestor], strict=True):
                    matrix[row][column] = matrix[column][row] = pair(force, other)
                force = force_to_parent(poses[ancestor], force)
            matrix[column][column] = matrix[column][column] + armature
    return matrix


def mass_numbers(tree: Tree, poses: Sequence[Pose]) -> FloatArray:
    """M(q) (n, n) of numbers, as `mass_matrix` has it: a link carries the forces of all that hangs on it to its parent
    at once, as arrays, so that a chain of a thousand takes a second and no minute.
    """
    composite, matrix = composites(tree, poses), np.zeros((tree.speed_count, tree.speed_count))
    hanging: list[list[FloatArray]] = [[] for _ in tree.links]
    columns: list[list[int]] = [[] for _ in tree.links]
    slices = tree.speed_slices()
    for index in range(len(tree.links) - 1, -1, -1):
        link, pose, own = tree.links[index], poses[index], range(slices[index].start, slices[index].stop)
        subspace = link.subspace(pose)
        forces = [np.array(flat(momentum(composite[index], motion)), dtype=float) for motion in subspace]
        six = np.concatenate([np.array(forces).reshape(-1, 6).T, *hanging[index]], axis=1)
        force, at = wrench_of(list(six)), [*own, *columns[index]]
        for row, motion, armature in zip(own, subspace, link.armatures, strict=True):
            matrix[row, at] = matrix[at, row] = pair(force, motion)
            matrix[row, row] += armature
        hanging[index] = []
        if link.parent != WORLD:
            carried = [np.broadcast_to(part, len(at)) for part in flat(force_to_parent(pose, force))]
            hanging[link.parent].append(np.array(carried))
            columns[link.parent] += at
    return matrix


def composites(tree: Tree, poses: Sequence[Pose]) -> list[Inertia]:
    """The inertia of each link with all that hangs on it as one body, in the link's frame."""
    composite = [link.inertia for link in tree.links]
    for index in range(len(composite) - 1, -1, -1):
        parent = tree.links[index].parent
        if parent != WORLD:
            composite[parent] = add_inertias(
                composite[parent], inertia_to_parent(poses[index], composite[index])
            )
    return composite


def base_columns(tree: Tree, poses: Sequence[Pose]) -> list[Force]:
    """For each speed, the wrench on the first link that 1 m/s² or rad/s² of it needs, about that link's origin in its
    frame: the rows of M of a base that can move any way. Armatures have no part in it.
    """
    composite, columns = composites(tree, poses), []
    for index, (link, pose) in enumerate(zip(tree.links, poses, strict=True)):
        for motion in link.subspace(pose):
            force = momentum(composite[index], motion)
            for ancestor in tree.ancestors(index):
                if tree.links[ancestor].parent != WORLD:
                    force = force_to_parent(poses[ancestor], force)
            columns.append(force)
    return columns


def momentum_forces(tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar]) -> list[Scalar]:
    """∂ℓ/∂s of the kinetic energy over joint s, as a force (N, N m): −Sᵀ(V ×* H) + Ṡᵀ H, one for each speed.

    H is the momentum of a link and all behind it, V the link's twist (Featherstone 2008, eq. 2.36: what a momentum
    changes by in a frame that moves along). The first link floats: its rows are 0. A frame that stays where its link
    turns alone, as a wheel's, sees none.
    """
    twists = velocities(tree, poses, nu)
    momenta = joint_wrenches(
        tree, poses, [momentum(k.inertia, v) for k, v in zip(tree.links, twists, strict=True)]
    )
    forces: list[Scalar] = []
    for index, (link, pose, at) in enumerate(zip(tree.links, poses, tree.speed_slices(), strict=True)):
        columns, turning = link.subspace(pose), cross_force(twists[index], momenta[index])
        if index == 0 or link.joint.frame_stays:
            forces += [0] * len(columns)
            continue
        rates = link.joint.subspace_rate(columns, nu[at])
        forces += [
            minus(pair(momenta[index], rate), pair(turning, column))
            for column, rate in zip(columns, rates, strict=True)
        ]
    return forces
