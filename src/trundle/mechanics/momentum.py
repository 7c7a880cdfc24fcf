"""Centre of mass and momentum of a whole tree (Orin, Goswami & Lee 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trundle.mechanics.tree import Tree
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    ZERO_FORCE,
    Motion,
    Pose,
    add_forces,
    force_to_parent,
    momentum,
)
from trundle.spatial.vectors import Vector, add, cross, scale, subtract, transform_sum


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
