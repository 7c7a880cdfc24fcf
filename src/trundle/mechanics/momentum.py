"""Centre of mass and momentum of a whole tree (Orin, Goswami & Lee 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trundle.mechanics.tree import WORLD, Tree
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    IDENTITY_POSE,
    ZERO_FORCE,
    Force,
    Motion,
    Pose,
    add_forces,
    add_inertias,
    compose,
    force_to_parent,
    inertia_to_parent,
    momentum,
)
from trundle.spatial.vectors import IDENTITY, Vector, add, scale, subtract, transform_sum


class Momentum(NamedTuple):
    """Linear momentum p (kg m/s) and angular momentum about the centre of mass L (kg m²/s), in world axes."""

    linear: Vector
    angular: Vector


def center_of_mass(tree: Tree, poses: Sequence[Pose]) -> tuple[Scalar, Vector]:
    """Total mass (kg) and its centre (m), in the frame the poses are given in (one pose T_frame_link for each link)."""
    mass: Scalar = 0
    moment: Vector = (0, 0, 0)
    for link, pose in zip(tree.links, poses, strict=True):
        mass = mass + link.inertia.mass
        moment = add(
            moment, transform_sum(pose.rotation, link.inertia.first_moment, link.inertia.mass, pose.position)
        )
    return mass, scale(1 / mass, moment)


def total_momentum(tree: Tree, world: Sequence[Pose], twists: Sequence[Motion]) -> Momentum:
    """p = Σ R (m v + ω × h) and L = Σ (moments of momentum) about the centre of mass, in world axes.

    `world` are T_world_link, `twists` the links' in their own frames. A rotor that stands in the tree as an
    armature has no momentum here: its axis is not known.
    """
    total = ZERO_FORCE
    for link, pose, twist in zip(tree.links, world, twists, strict=True):
        total = add_forces(total, force_to_parent(pose, momentum(link.inertia, twist)))
    _, center = center_of_mass(tree, world)
    return _about(total, center)


def centroidal_map(tree: Tree, poses: Sequence[Pose]) -> list[Momentum]:
    """The columns of A_G(q), with (p, L) = A_G ν: the momentum that each unit speed brings along.

    One column is the momentum of everything that the joint carries, by composite inertias (Orin et al. 2013, eq. 27).
    """
    links = tree.links
    composite = [link.inertia for link in links]
    for index in range(len(links) - 1, -1, -1):
        parent = links[index].parent
        if parent != WORLD:
            lifted = inertia_to_parent(poses[index], composite[index])
            composite[parent] = add_inertias(composite[parent], lifted)
    world: list[Pose] = []
    for link, pose in zip(links, poses, strict=True):
        world.append(compose(IDENTITY_POSE if link.parent == WORLD else world[link.parent], pose))
    _, center = center_of_mass(tree, world)
    return [
        _about(force_to_parent(world[index], momentum(composite[index], column)), center)
        for index, link in enumerate(links)
        for column in link.subspace(poses[index])
    ]


def _about(at_origin: Force, center: Vector) -> Momentum:
    """Momentum about the world's origin moved to the centre of mass: L = L_o − c × p."""
    moved = force_to_parent(Pose(IDENTITY, subtract((0, 0, 0), center)), at_origin)
    return Momentum(moved.force, moved.moment)
