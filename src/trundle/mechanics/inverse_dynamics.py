"""Inverse dynamics by the recursive Newton-Euler algorithm (Featherstone 2008, table 5.1): M(q) ν̇ + c(q, ν) = τ."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple

from trundle.mechanics.tree import WORLD, Tree, combine
from trundle.scalars import Scalar, minus, plus, times
from trundle.spatial.motions import (
    ZERO_FORCE,
    Force,
    Motion,
    Pose,
    add_forces,
    add_motions,
    cross_force,
    cross_motion,
    force_to_parent,
    momentum,
    motion_to_child,
    pair,
    scale_force,
)
from trundle.spatial.vectors import IDENTITY, ZERO, Matrix, Vector, add, apply, apply_transposed, cross, scale


def link_accelerations(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar], nu_dot: Sequence[Scalar]
) -> tuple[list[Motion], list[Motion]]:
    """Twists and spatial accelerations of all links in their own frames; gravity enters as the base's acceleration
    −g.
    """
    twists: list[Motion] = []
    accelerations: list[Motion] = []
    base = Motion(scale(-1, tree.gravity), ZERO)
    for link, pose, at in zip(tree.links, poses, tree.speed_slices(), strict=True):
        own = link.own_motion(pose, nu[at])
        if link.parent == WORLD:
            twist, carried = own, motion_to_child(pose, base)
        else:
            twist = add_motions(motion_to_child(pose, twists[link.parent]), own)
            carried = motion_to_child(pose, accelerations[link.parent])
        driven = add_motions(combine(link.subspace(pose), nu_dot[at]), link.velocity_product(pose, nu[at]))
        twists.append(twist)
        accelerations.append(add_motions(add_motions(carried, driven), cross_motion(twist, own)))
    return twists, accelerations


def link_forces(tree: Tree, twists: Sequence[Motion], accelerations: Sequence[Motion]) -> list[Force]:
    """Newton-Euler: the wrenches that links need, f = I a + v ×* I v, in their own frames."""
    return [
        add_forces(momentum(link.inertia, a), cross_force(v, momentum(link.inertia, v)))
        for link, v, a in zip(tree.links, twists, accelerations, strict=True)
    ]


def joint_wrenches(tree: Tree, poses: Sequence[Pose], forces: Sequence[Force]) -> list[Force]:
    """The wrenches through joints, on their links, in the links' frames: a link's own plus its children's."""
    total = list(forces)
    for index in range(len(tree.links) - 1, -1, -1):
        parent = tree.links[index].parent
        if parent != WORLD:
            total[parent] = add_forces(total[parent], force_to_parent(poses[index], total[index]))
    return total


def inverse_dynamics(
    tree: Tree,
    poses: Sequence[Pose],
    nu: Sequence[Scalar],
    nu_dot: Sequence[Scalar],
    external: Sequence[Force] | None = None,
) -> list[Scalar]:
    """τ = M(q) ν̇ + c(q, ν) − Σ J_iᵀ w_i, gravity in c; N or N m by speed, armatures included.

    `poses` are the joint poses `tree.joint_poses(q)`; `external` the wrenches w_i from outside, one for each
    link, in its own frame (`link_wrenches` makes them of pushes at points).
    """
    twists, accelerations = link_accelerations(tree, poses, nu, nu_dot)
    needed = link_forces(tree, twists, accelerations)
    if external is not None:
        needed = [add_forces(f, scale_force(-1, w)) for f, w in zip(needed, external, strict=True)]
    wrenches = joint_wrenches(tree, poses, needed)
    tau: list[Scalar] = []
    for link, pose, wrench, at in zip(tree.links, poses, wrenches, tree.speed_slices(), strict=True):
        for column, armature, rate in zip(link.subspace(pose), link.armatures, nu_dot[at], strict=True):
            tau.append(pair(wrench, column) + armature * rate)
    return tau


def needed_wrenches(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar], nu_dot: Sequence[Scalar]
) -> list[Force]:
    """The wrenches through joints, on their links about their origins in their frames, that a motion needs, with the
    weight; the first one carries the whole tree.
    """
    own, rates = joint_motions(tree, poses, nu, nu_dot)
    return joint_wrenches(tree, poses, needed_forces(tree, poses, own, rates))


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


def joint_motions(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar], nu_dot: Sequence[Scalar]
) -> tuple[list[Motion], list[Motion]]:
    """Every joint's own twist S ν and its rate S ν̇ + Ṡ ν, as seen from the link, in its frame."""
    slices = tree.speed_slices()
    own = [link.own_motion(pose, nu[at]) for link, pose, at in zip(tree.links, poses, slices, strict=True)]
    rates = [
        add_motions(combine(link.subspace(pose), nu_dot[at]), link.velocity_product(pose, nu[at]))
        for link, pose, at in zip(tree.links, poses, slices, strict=True)
    ]
    return own, rates


def needed_forces(
    tree: Tree, poses: Sequence[Pose], own: Sequence[Motion], rates: Sequence[Motion]
) -> list[Force]:
    """The wrenches that the links need, about its origin in its frame: f = m a + E h, n = I α + ω × I ω + h × a.

    As observers on the links write it (Luh, Walker & Paul 1980): one without acceleration may move along with a link's
    origin at the moment that counts. Velocities of origins then never enter, and what a link needs takes two thirds of
    the operations of `link_forces`.

    E = [α]× + [ω]×² gives every point r of a link its acceleration a + E r. Gravity is the world's acceleration −g.
    """
    moving: list[tuple[Vector, Vector, Vector, Matrix]] = []  # ω, α, a of the origin, E
    forces: list[Force] = []
    for link, pose, twist, rate in zip(tree.links, poses, own, rates, strict=True):
        rotation, position = pose
        if link.parent == WORLD:
            omega, alpha, a = ZERO, ZERO, scale(-1, tree.gravity)
        else:
            omega, alpha, a, field = moving[link.parent]
            a = add(a, apply(field, position))
        carried = apply_transposed(rotation, omega)
        omega = add(carried, twist.angular)
        alpha = add(add(apply_transposed(rotation, alpha), rate.angular), cross(carried, twist.angular))
        a = add(apply_transposed(rotation, a), rate.linear)
        a = add(a, cross(add(carried, omega), twist.linear))  # Coriolis' share: 2 ω_parent + ω_joint
        field = acceleration_field(omega, alpha)
        moving.append((omega, alpha, a, field))
        mass, h, inertia = link.inertia
        force = add(scale(mass, a), apply(field, h))
        turning = add(apply(inertia, alpha), cross(omega, apply(inertia, omega)))
        forces.append(Force(force, add(turning, cross(h, a))))
    return forces


def acceleration_field(omega: Vector, alpha: Vector) -> Matrix:
    """E = [α]× + ω ωᵀ − ω² 1."""
    x, y, z = omega
    xx, yy, zz = times(x, x), times(y, y), times(z, z)
    xy, yz, zx = times(x, y), times(y, z), times(z, x)
    return (
        (minus(0, plus(yy, zz)), minus(xy, alpha[2]), plus(zx, alpha[1])),
        (plus(xy, alpha[2]), minus(0, plus(zz, xx)), minus(yz, alpha[0])),
        (minus(zx, alpha[1]), plus(yz, alpha[0]), minus(0, plus(xx, yy))),
    )
