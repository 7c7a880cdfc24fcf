"""Kinetic and potential energy of a tree, summed body by body: a second way beside the equations of motion."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.linear import dot
from trundle.mechanics.tree import Tree
from trundle.scalars import Scalar
from trundle.spatial.motions import Motion, Pose, momentum, pair
from trundle.spatial.vectors import dot as dot3
from trundle.spatial.vectors import transform_sum


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
