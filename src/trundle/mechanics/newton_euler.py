"""Newton's and Euler's equations as observers on the links write them (Luh, Walker & Paul 1980).

An observer without acceleration may move along with a link's origin at the moment that counts: velocities of origins
then never enter, and what a link needs takes two thirds of the operations of `inverse_dynamics.link_forces`.
"""

from __future__ import annotations

from collections.abc import Sequence

from trundle.mechanics.tree import WORLD, Tree, combine
from trundle.scalars import Scalar, minus, plus, times
from trundle.spatial.motions import Force, Motion, Pose, add_motions
from trundle.spatial.vectors import ZERO, Matrix, Vector, add, apply, apply_transposed, cross, scale


def joint_motions(
    tree: Tree, poses: Sequence[Pose], nu: Sequence[Scalar], nu_dot: Sequence[Scalar]
) -> tuple[list[Motion], list[Motion]]:
    """Each joint's own twist S ν and its rate S ν̇ + Ṡ ν, as seen from the link, in its frame."""
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
