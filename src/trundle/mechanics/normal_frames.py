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
from typing import NamedTuple

import numpy as np

from trundle.mechanics.articulated import principal_turn
from trundle.mechanics.joints import Turn
from trundle.mechanics.tree import NO_INERTIA, WORLD, Link, Tree
from trundle.scalars import Scalar, plus
from trundle.spatial.motions import Inertia, Pose, compose, inertia_to_parent, inverse
from trundle.spatial.vectors import IDENTITY, ZERO, Matrix, Vector

Array = np.ndarray

# Axes closer to parallel than this (sine) have their common normal too far away to reckon from it.
_APART = 0.3
# What is smaller (against 1, or against a body's largest entry) is the rounding of a zero.
_ROUNDING = 1e-15


class Normal(NamedTuple):
    """The tree in its new frames, its coordinates, and where each link went: its number and its own frame's pose in the
    new one.
    """

    tree: Tree
    q: list[Scalar]
    places: list[tuple[int, Pose]]


class _Frame(NamedTuple):
    """A pose (R, p) in numbers."""

    rotation: Array
    position: Array


class _Way(NamedTuple):
    """From a carrier to a link: constant steps, then with the hinge a way (m) and an angle more than its own (rad); the
    link's new frame in its own.
    """

    steps: list[_Frame]
    along: Array
    angle: float
    frame: _Frame


_OWN = _Frame(np.eye(3), np.zeros(3))


def normal_frames(tree: Tree, q: Sequence[Scalar | Turn]) -> Normal:
    """`tree` with the frames of its limbs of hinges on their common normals, wherever axes or placements in other
    directions than the coordinate axes make that shorter. Speeds and accelerations are the same numbers.

    Only links of plain numbers are changed: those with parameters would have their inertias turned at every evaluation.
    """
    chosen = _chosen(tree, q)
    heirs = {tree.links[k].parent: k for k in reversed(chosen) if tree.links[k].parent in chosen}
    frames = [_OWN] * len(tree.links)
    links: list[Link] = []
    coordinates: list[Scalar] = []
    places: list[tuple[int, Pose]] = []
    for index, (link, at) in enumerate(zip(tree.links, tree.coordinate_slices(), strict=True)):
        carrier, parent = (
            (_OWN, WORLD) if link.parent == WORLD else (frames[link.parent], places[link.parent][0])
        )
        if index in chosen:
            heir = tree.links[heirs[index]] if index in heirs else None
            way = _way(link, carrier, index in heirs.values(), heir)
            frames[index] = way.frame
            for step in way.steps:
                links.append(Link(f"{link.name}.normal", parent, "fixed", (0, 0, 1), _pose(step), NO_INERTIA))
                parent = len(links) - 1
            links.append(replace(_in_frame(link, way), parent=parent))
            coordinates.append(plus(_plain(way.angle), q[at][0]))
        else:
            placement = (
                link.placement if carrier is _OWN else compose(inverse(_pose(carrier)), link.placement)
            )
            links.append(replace(link, parent=parent, placement=placement))
            coordinates.extend(q[at])
        places.append((len(links) - 1, _pose(_seen(_OWN, frames[index]))))
    return Normal(replace(tree, links=tuple(links)), coordinates, places)


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


def _axis(link: Link) -> tuple[Array, Array]:
    """Direction and a point of the hinge's axis, in the parent's own frame."""
    rotation, position = (np.array(part, float) for part in link.placement)
    return rotation @ np.array(link.axis, float), position


def _way(link: Link, carrier: _Frame, is_heir: bool, heir: Link | None) -> _Way:
    """The way from a carrier's frame to a new one of the link: towards its heir, or where its hinge is reached."""
    steps, hinge = _approach(link, carrier, is_heir)
    frame = hinge if heir is None else _toward(link, heir)
    if link.parent == WORLD:  # nothing is gained by two steps from what doesn't move
        hinge, steps = frame, [_seen(_placed(link, frame), carrier)]
    ahead = _seen(frame, hinge)
    along = np.array([0, 0, ahead.position[2]])
    if _is_unturned(steps[-1]):
        along = along + steps.pop().position
    return _Way(steps, along, float(np.arctan2(ahead.rotation[1, 0], ahead.rotation[0, 0])), frame)


def _approach(link: Link, carrier: _Frame, is_heir: bool) -> tuple[list[_Frame], _Frame]:
    """The constant steps from the carrier's frame to one with z along the hinge, and that one in the link's own frame
    at q = 0: a turn about z onto the common normal, where x doesn't lie on it already, and the turn by α about x.
    """
    direction, point = _axis(link)
    z = carrier.rotation.T @ direction
    o = carrier.rotation.T @ (point - carrier.position)
    steps: list[_Frame] = []
    if not is_heir:
        x, _ = _normal(np.array([0.0, 0.0, 1.0]), z, o)
        steps.append(_Frame(np.array([[x[0], -x[1], 0], [x[1], x[0], 0], [0, 0, 1.0]]), np.zeros(3)))
        z, o = steps[0].rotation.T @ z, steps[0].rotation.T @ o
    cosine, sine = z[2], -z[1]
    if (
        abs(sine) > _APART
    ):  # the foot of the normal on the hinge: along it the next frame's way makes up for it
        o = o + o[1] / sine * np.array([0, -sine, cosine])
    steps.append(_Frame(np.array([[1, 0, 0], [0, cosine, -sine], [0, sine, cosine]]), o))
    hinge = carrier
    for step in steps:
        hinge = _Frame(hinge.rotation @ step.rotation, hinge.position + hinge.rotation @ step.position)
    taken = [step for step in steps[:-1] if not _is_unturned(step)]
    return [*taken, steps[-1]], _seen(hinge, _Frame(*(np.array(part, float) for part in link.placement)))


def _toward(link: Link, heir: Link) -> _Frame:
    """The link's new frame in its own: z along its hinge, x along the normal to the heir's."""
    z = np.array(link.axis, float)
    x, foot = _normal(z, *_axis(heir))
    return _Frame(np.column_stack([x, np.cross(z, x), z]), foot * z)


def _in_frame(link: Link, way: _Way) -> Link:
    """The link in its new frame, its hinge about z."""
    return replace(
        link,
        axis=(0, 0, 1),
        placement=Pose(IDENTITY, _vector(way.along)),
        inertia=_inertia_in(way.frame, link.inertia),
    )


def _normal(z: Array, direction: Array, point: Array) -> tuple[Array, float]:
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


def _is_unturned(step: _Frame) -> bool:
    return bool(np.abs(step.rotation - np.eye(3)).max() <= _ROUNDING)


def _placed(link: Link, frame: _Frame) -> _Frame:
    """A frame given in the link's own, in its parent's at q = 0."""
    rotation, position = (np.array(part, float) for part in link.placement)
    return _Frame(rotation @ frame.rotation, position + rotation @ frame.position)


def _seen(frame: _Frame, other: _Frame) -> _Frame:
    """`frame` in the axes and from the origin of `other`, both given in the same."""
    turned = other.rotation.T
    return _Frame(turned @ frame.rotation, turned @ (frame.position - other.position))


def _inertia_in(frame: _Frame, inertia: Inertia) -> Inertia:
    """The inertia, given in the link's own frame, in `frame`."""
    mass, moment, rotational = inertia_to_parent(_pose(_seen(_OWN, frame)), inertia)
    table = np.array(rotational, float)
    return Inertia(mass, _vector(np.array(moment, float)), _matrix((table + table.T) / 2))


def _pose(frame: _Frame) -> Pose:
    return Pose(_matrix(frame.rotation), _vector(frame.position) if frame.position.any() else ZERO)


def _matrix(rows: Array) -> Matrix:
    size = float(np.abs(rows).max(initial=0.0))
    first, second, third = (_vector(row, size) for row in rows)
    return first, second, third


def _vector(x: Array, size: float = 1.0) -> Vector:
    return (_plain(x[0], size), _plain(x[1], size), _plain(x[2], size))


def _plain(x: float, size: float = 1.0) -> Scalar:
    """The number, where it is zero or one but for rounding as the integer that vanishes from what is made of it."""
    for whole in (0, 1, -1):
        if abs(x - whole) <= _ROUNDING * size:
            return whole
    return float(x)
