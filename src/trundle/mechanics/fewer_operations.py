"""A tree as the articulated-body algorithm walks it fastest: rigid bodies as one, frames where turning costs least."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from trundle.mechanics.articulated import rotate
from trundle.mechanics.joints import Turn, rotation_about
from trundle.mechanics.normal_frames import normal_frames
from trundle.mechanics.tree import WORLD, Link, Tree
from trundle.scalars import Scalar, plus, times
from trundle.spatial.motions import (
    IDENTITY_POSE,
    ZERO_FORCE,
    Force,
    Inertia,
    Pose,
    add_forces,
    add_inertias,
    compose,
    force_to_parent,
    inertia_to_parent,
)
from trundle.spatial.vectors import IDENTITY, ZERO, Matrix, Vector, apply


class Still(NamedTuple):
    """The tree in its still frames, its joint poses, and the links' rotations from their frames to the still ones."""

    tree: Tree
    poses: list[Pose]
    turns: list[Matrix]


def still_frames(tree: Tree, q: Sequence[Scalar | Turn]) -> Still:
    """`tree` at the coordinates q with still frames wherever they save rotations: for hinges about a coordinate axis on
    which nothing hangs, or nothing but hinges about the same axis. Speeds and accelerations are the same numbers.

    All equations of motion hold in any frame, so a link may be described in one at its joint whose axes stay its
    parent's (as a wheel's stay its carrier's). Its own inertia then turns by the hinge's angle, a rigid body's few
    numbers; in return nothing turns on the way between it and a parent that stands still too. Along a chain of parallel
    hinges angles add up and no rotation follows from another.
    """
    axes = [_hinge_axis(link, q[at]) for link, at in zip(tree.links, tree.coordinate_slices(), strict=True)]
    stands = [axis is not None for axis in axes]
    for link, axis in zip(tree.links, axes, strict=True):
        parallel = axis == axes[link.parent] and _along_parent(link)
        if link.parent != WORLD and not parallel:
            stands[link.parent] = False
    links, poses = list(tree.links), tree.joint_poses(q)
    turns: list[Matrix] = [IDENTITY] * len(links)
    angles: list[Scalar] = [0] * len(links)
    for index, (link, at) in enumerate(zip(tree.links, tree.coordinate_slices(), strict=True)):
        carried = link.parent != WORLD and stands[link.parent]  # by a link that stands still
        if not (stands[index] or carried):
            continue
        rotation, position = link.placement
        angle = times(sum(link.axis), q[at][0])  # about the positive axis
        if carried:
            angle = plus(angles[link.parent], angle)
            position = apply(turns[link.parent], position)
        turned = rotation_about(_positive(link.axis), angle)
        angles[index] = angle
        if stands[index]:
            links[index] = replace(link, kind="spin", inertia=_turned(turned, link.inertia))
            turns[index], poses[index] = turned, Pose(rotation, position)
        else:
            poses[index] = Pose(turned, position)
    return Still(replace(tree, links=tuple(links)), poses, turns)


def _hinge_axis(link: Link, q: Sequence[Scalar | Turn]) -> int | None:
    """Which coordinate axis a hinge of known angle turns about, either way round."""
    if not link.joint.hinge or isinstance(q[0], Turn):
        return None
    plain = all(isinstance(x, (int, float)) for x in link.axis)
    places = [k for k, x in enumerate(link.axis) if not plain or x != 0]
    return places[0] if len(places) == 1 and abs(link.axis[places[0]]) == 1 else None


def _along_parent(link: Link) -> bool:
    """Whether the joint's frame has its parent's axes by structure, not by a value."""
    entries = [x for row in link.placement.rotation for x in row]
    plain = all(isinstance(x, (int, float)) for x in entries)
    return plain and entries == [x for row in IDENTITY for x in row]


def _positive(axis: Vector) -> Vector:
    return (abs(axis[0]), abs(axis[1]), abs(axis[2]))


def _turned(rotation: Matrix, inertia: Inertia) -> Inertia:
    """The inertia in axes from which the body's are turned by `rotation`."""
    return Inertia(
        inertia.mass,
        apply(rotation, inertia.first_moment),
        rotate(rotation, inertia.rotational, symmetric=True),
    )


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
