"""The same tree seen from frames on the common normals of its hinges, which leaves each step two turns about
coordinate axes.

Denavit & Hartenberg (1955), for trees Khalil & Kleinfinger (1986): a link's z lies along its hinge and x along the
shortest way to the next hinge. From there the next hinge is a turn by α about x and a way a along it, and the next
link's frame a turn about z and a way d along it. To turn an inertia twice about coordinate axes takes half the
products of turning it by a matrix, and to move it along one a third of those of moving it anywhere. The turn by α and
the way a are a link of their own without mass.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce
from typing import NamedTuple

import numpy as np

from trundle.mechanics.articulated import principal_turn
from trundle.mechanics.joints import Turn
from trundle.mechanics.tree import NO_INERTIA, WORLD, Link, Tree
from trundle.scalars import Scalar, plus
from trundle.spatial.motions import IDENTITY_POSE, Inertia, Pose, compose, inertia_to_parent, inverse
from trundle.spatial.vectors import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    principal_rotation,
    transpose,
)

# Axes closer to parallel than this (sine) have their common normal too far away to reckon from it.
_APART = 0.3
# What is smaller (against 1, or against a body's largest entry) is the rounding of a zero.
_ROUNDING = 1e-15


class NormalTree(NamedTuple):
    """The tree in its new frames, its coordinates, and where each link went: its number and its own frame's pose in the
    new one.
    """

    tree: Tree
    q: list[Scalar]
    places: list[tuple[int, Pose]]


class _HingeWay(NamedTuple):
    """From a carrier to a link: constant steps, then with the hinge a way (m) and an angle more than its own (rad); the
    link's new frame in its own. All poses here are in floats.
    """

    steps: list[Pose]
    along: Vector
    angle: float
    frame: Pose


def normal_frames(tree: Tree, q: Sequence[Scalar | Turn]) -> NormalTree:
    """`tree` with the frames of its limbs of hinges on their common normals, wherever axes or placements in other
    directions than the coordinate axes make that shorter. Speeds and accelerations are the same numbers.

    Only links of plain numbers are changed: those with parameters would have their inertias turned at every evaluation.
    """
    chosen = _chosen(tree, q)
    heirs = {tree.links[k].parent: k for k in reversed(chosen) if tree.links[k].parent in chosen}
    frames = [IDENTITY_POSE] * len(tree.links)
    links: list[Link] = []
    coordinates: list[Scalar] = []
    places: list[tuple[int, Pose]] = []
    for index, (link, at) in enumerate(zip(tree.links, tree.coordinate_slices(), strict=True)):
        on_world = link.parent == WORLD
        carrier, parent = (
            (IDENTITY_POSE, WORLD) if on_world else (frames[link.parent], places[link.parent][0])
        )
        if index in chosen:
            heir = tree.links[heirs[index]] if index in heirs else None
            way = _way(link, carrier, index in heirs.values(), heir)
            frames[index] = way.frame
            for step in way.steps:
                links.append(Link(f"{link.name}.normal", parent, "fixed", (0, 0, 1), _tidy(step), NO_INERTIA))
                parent = len(links) - 1
            links.append(replace(_in_frame(link, way), parent=parent))
            coordinates.append(plus(_plain(way.angle), q[at][0]))
        else:
            if carrier is not IDENTITY_POSE:
                link = replace(link, placement=compose(inverse(_tidy(carrier)), link.placement))
            links.append(replace(link, parent=parent))
            coordinates.extend(q[at])
        places.append((len(links) - 1, _tidy(inverse(frames[index]))))
    return NormalTree(replace(tree, links=tuple(links)), coordinates, places)


def _chosen(tree: Tree, q: Sequence[Scalar | Turn]) -> list[int]:
    """The links of all limbs of hinges in plain numbers of which one stands otherwise than along coordinate axes."""
    limbs: dict[int, int] = {}  # link → the first link of its limb
    wanting: set[int] = set()
    for index, (link, at) in enumerate(zip(tree.links, tree.coordinate_slices(), strict=True)):
        if link.joint.hinge and not isinstance(q[at][0], Turn) and _is_plain(_numbers(link)):
            limbs[index] = limbs.get(link.parent, index)
            if not _is_simple(link):
                wanting.add(limbs[index])
    return [index for index, first in limbs.items() if first in wanting]


def _numbers(link: Link) -> list[Scalar]:
    mass, moment, rotational = link.inertia
    rows = (*link.placement.rotation, *rotational)
    return [*link.axis, *link.placement.position, mass, *moment, *(x for row in rows for x in row)]


def _is_plain(numbers: Iterable[Scalar]) -> bool:
    return all(isinstance(x, (int, float)) for x in numbers)


def _is_simple(link: Link) -> bool:
    """Whether the link turns against its parent about a coordinate axis of both, or hangs on the world by one."""
    along = [k for k in range(3) if link.axis[k] != 0]
    if len(along) > 1 or link.parent == WORLD:
        return len(along) == 1
    turn = principal_turn(link.placement.rotation)
    return link.placement.rotation == IDENTITY or (turn is not None and turn.axis == along[0])


def _axis(link: Link) -> tuple[np.ndarray, np.ndarray]:
    """Direction and a point of the hinge's axis, in the parent's own frame."""
    return np.array(apply(link.placement.rotation, link.axis), float), np.array(
        link.placement.position, float
    )


def _way(link: Link, carrier: Pose, is_heir: bool, heir: Link | None) -> _HingeWay:
    """The way from a carrier's frame to a new one of the link: towards its heir, or where its hinge is reached."""
    steps, hinge = _approach(link, carrier, is_heir)
    frame = hinge if heir is None else _toward(link, heir)
    if link.parent == WORLD:  # nothing is gained by two steps from what doesn't move
        hinge, steps = frame, [compose(inverse(carrier), compose(link.placement, frame))]
    ahead = compose(inverse(hinge), frame)
    along: Vector = (0, 0, ahead.position[2])
    if _is_unturned(steps[-1]):
        along = add(along, steps.pop().position)
    return _HingeWay(steps, along, float(np.arctan2(ahead.rotation[1][0], ahead.rotation[0][0])), frame)


def _approach(link: Link, carrier: Pose, is_heir: bool) -> tuple[list[Pose], Pose]:
    """The constant steps from the carrier's frame to one with z along the hinge, and that one in the link's own frame
    at q = 0: a turn about z onto the common normal, where x doesn't lie on it already, and the turn by α about x.
    """
    seen = compose(inverse(carrier), link.placement)
    z, o = np.array(apply(seen.rotation, link.axis), float), np.array(seen.position, float)
    steps: list[Pose] = []
    if not is_heir:
        x, _ = _normal(np.array([0.0, 0.0, 1.0]), z, o)
        steps.append(Pose(principal_rotation(2, x[0], x[1]), ZERO))
        z, o = (np.array(apply_transposed(steps[0].rotation, tuple(v)), float) for v in (z, o))
    cosine, sine = z[2], -z[1]
    if (
        abs(sine) > _APART
    ):  # the foot of the normal on the hinge: along it the next frame's way makes up for it
        o = o + o[1] / sine * np.array([0, -sine, cosine])
    steps.append(Pose(principal_rotation(0, cosine, sine), tuple(o)))
    hinge = reduce(compose, steps, carrier)
    taken = [step for step in steps[:-1] if not _is_unturned(step)]
    return [*taken, steps[-1]], compose(inverse(link.placement), hinge)


def _toward(link: Link, heir: Link) -> Pose:
    """The link's new frame in its own: z along its hinge, x along the normal to the heir's."""
    z = np.array(link.axis, float)
    x, foot = _normal(z, *_axis(heir))
    return Pose(transpose((tuple(x), tuple(np.cross(z, x)), tuple(z))), tuple(foot * z))


def _in_frame(link: Link, way: _HingeWay) -> Link:
    """The link in its new frame, its hinge about z."""
    inertia = inertia_to_parent(_tidy(inverse(way.frame)), link.inertia)
    rotational = np.array(inertia.rotational, float)
    inertia = Inertia(inertia.mass, _vector(inertia.first_moment), _matrix((rotational + rotational.T) / 2))
    return replace(link, axis=(0, 0, 1), placement=Pose(IDENTITY, _vector(way.along)), inertia=inertia)


def _normal(z: np.ndarray, direction: np.ndarray, point: np.ndarray) -> tuple[np.ndarray, float]:
    """Of the axis z through the origin and another one: the unit vector across both, and where on z their normal
    stands, 0 where they are too near parallel.
    """
    across = np.cross(z, direction)
    sine = float(np.linalg.norm(across))
    if sine <= _ROUNDING:
        across = point - (point @ z) * z
        if np.linalg.norm(across) <= _ROUNDING:
            across = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
        return across / np.linalg.norm(across), 0.0
    x = across / sine
    y = np.cross(z, x)
    foot = point - (point @ y) / (direction @ y) * direction if sine > _APART else np.zeros(3)
    return x, float(foot @ z)


def _is_unturned(step: Pose) -> bool:
    return bool(np.abs(np.array(step.rotation, float) - np.eye(3)).max() <= _ROUNDING)


def _tidy(pose: Pose) -> Pose:
    return Pose(_matrix(pose.rotation), _vector(pose.position) if any(pose.position) else ZERO)


def _matrix(rows: Matrix | np.ndarray) -> Matrix:
    size = float(np.abs(np.array(rows, float)).max(initial=0.0))
    first, second, third = (_vector(row, size) for row in rows)
    return first, second, third


def _vector(x: Vector | np.ndarray, size: float = 1.0) -> Vector:
    return (_plain(x[0], size), _plain(x[1], size), _plain(x[2], size))


def _plain(x: float, size: float = 1.0) -> Scalar:
    """The number, where it is zero or one but for rounding as the integer that vanishes from what is made of it."""
    for whole in (0, 1, -1):
        if abs(x - whole) <= _ROUNDING * size:
            return whole
    return float(x)
