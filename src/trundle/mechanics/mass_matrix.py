"""The mass matrix by the composite-rigid-body algorithm (Featherstone 2008, table 6.2)."""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.tree import WORLD, Tree
from trundle.scalars import Scalar
from trundle.spatial.motions import Pose, add_inertias, force_to_parent, inertia_to_parent, momentum, pair


def mass_matrix(tree: Tree, poses: Sequence[Pose]) -> list[list[Scalar]]:
    """M(q), symmetric, as rows; entries between joints of different branches are structural zeros. kg, kg m, kg m²."""
    links = tree.links
    composite = [link.inertia for link in links]
    for index in range(len(links) - 1, -1, -1):
        parent = links[index].parent
        if parent != WORLD:
            composite[parent] = add_inertias(
                composite[parent], inertia_to_parent(poses[index], composite[index])
            )
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
