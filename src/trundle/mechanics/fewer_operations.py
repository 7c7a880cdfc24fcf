"""A tree as the articulated-body algorithm walks it fastest: rigid bodies as one, frames where turning costs least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from trundle.mechanics.joints import Turn
from trundle.mechanics.normal_frames import normal_frames
from trundle.mechanics.still_frames import still_frames
from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.scalars import Scalar
from trundle.spatial.motions import (
    IDENTITY_POSE,
    ZERO_FORCE,
    Force,
    Pose,
    add_forces,
    add_inertias,
    compose,
    force_to_parent,
    inertia_to_parent,
)
from trundle.spatial.vectors import ZERO


class Recast(NamedTuple):
    """A tree of the same motions, its joint poses, and where each link of the first went: a link's number there (WORLD:
    it can't move) and the pose of its own frame in that link's.
    """

    tree: Tree
    poses: list[Pose]
    places: list[tuple[int, Pose]]

    def wrenches(self, own: Sequence[Force] | None) -> list[Force] | None:
        """Wrenches on the first tree's links, in their own frames, as wrenches on this one's; None stays None."""
        if own is None:
            return None
        total = [ZERO_FORCE] * len(self.tree.links)
        for (index, pose), wrench in zip(self.places, own, strict=True):
            if index != WORLD:
                total[index] = add_forces(total[index], force_to_parent(pose, wrench))
        return total


def recast(tree: Tree, q: Sequence[Scalar | Turn]) -> Recast:
    """`tree` at the coordinates q, recast: its speeds, and so their accelerations and forces, stay the same numbers."""
    whole, carried = _fused(tree)
    normal = normal_frames(whole, q)
    still = still_frames(normal.tree, normal.q)
    places: list[tuple[int, Pose]] = []
    for index, pose in carried:
        if index != WORLD:
            index, frame = normal.places[index]
            pose = compose(Pose(still.turns[index], ZERO), compose(frame, pose))
        places.append((index, pose))
    return Recast(still.tree, still.poses, places)


def _fused(tree: Tree) -> tuple[Tree, list[tuple[int, Pose]]]:
    """The tree without its fixed joints: what they hold is one body with what holds it, or part of the world."""
    links: list[Link] = []
    places: list[tuple[int, Pose]] = []
    for link in tree.links:
        index, pose = (WORLD, IDENTITY_POSE) if link.parent == WORLD else places[link.parent]
        placement = compose(pose, link.placement)
        if link.moves:
            places.append((len(links), IDENTITY_POSE))
            links.append(replace(link, parent=index, placement=placement))
            continue
        places.append((index, placement))
        if index != WORLD:
            whole = add_inertias(links[index].inertia, inertia_to_parent(placement, link.inertia))
            links[index] = replace(links[index], inertia=whole)
    return replace(tree, links=tuple(links)), places
