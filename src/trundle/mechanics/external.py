"""Wrenches from outside, at any point of any link, made into what the dynamics algorithms take: one a link."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from trundle.mechanics.tree import Tree
from trundle.spatial.motions import ZERO_FORCE, Force, Pose, add_forces, force_to_parent
from trundle.spatial.vectors import IDENTITY, ZERO, Vector, apply_transposed

Axes = Literal["link", "world"]


class ExternalWrench(NamedTuple):
    """A wrench (force in N, moment in N m) on the link `link` at a point of it (m, in the link's frame).

    `axes` says along whose axes force and moment are given; the moment is about the point.
    """

    link: int
    wrench: Force
    point: Vector = ZERO
    axes: Axes = "link"


def link_wrenches(tree: Tree, world: Sequence[Pose], pushes: Iterable[ExternalWrench]) -> list[Force]:
    """The sums of the pushes on the links, in the links' frames and about their origins; `world` are T_world_link."""
    total = [ZERO_FORCE] * len(tree.links)
    for push in pushes:
        wrench = push.wrench
        if push.axes == "world":
            rotation = world[push.link].rotation
            wrench = Force(*(apply_transposed(rotation, part) for part in wrench))
        moved = force_to_parent(Pose(IDENTITY, push.point), wrench)
        total[push.link] = add_forces(total[push.link], moved)
    return total
