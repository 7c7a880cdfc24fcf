"""Poses, twists, wrenches and rigid-body inertias (Featherstone 2008, chapter 2), linear part first as in ROS.

A twist (v, ω) holds the velocity of the frame's origin and the angular velocity; a wrench (f, n) the force and the
moment about the frame's origin; all in the axes of that frame. `T_a_b = (R, p)` is the pose of frame b in frame a.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from trundle.scalars import Scalar, minus, plus, times
from trundle.spatial.vectors import (
    IDENTITY,
    ZERO,
    Matrix,
    Vector,
    add,
    add_matrices,
    apply,
    apply_transposed,
    cross,
    dot,
    multiply,
    scale,
    transpose,
)


class Pose(NamedTuple):
    """T_a_b: rotation R_a_b and position p_a of the origin of b."""

    rotation: Matrix
    position: Vector


class Motion(NamedTuple):
    """A twist or a spatial acceleration (linear, angular)."""

    linear: Vector
    angular: Vector


class Force(NamedTuple):
    """A wrench (force, moment)."""

    force: Vector
    moment: Vector


class Inertia(NamedTuple):
    """A rigid body's mass m, first moment h = m c, and rotational inertia about the frame's origin."""

    mass: Scalar
    first_moment: Vector
    rotational: Matrix


IDENTITY_POSE = Pose(IDENTITY, ZERO)
ZERO_MOTION = Motion(ZERO, ZERO)
ZERO_FORCE = Force(ZERO, ZERO)


def compose(a: Pose, b: Pose) -> Pose:
    """T_a_c = T_a_b T_b_c."""
    return Pose(multiply(a.rotation, b.rotation), add(a.position, apply(a.rotation, b.position)))


def transform_point(pose: Pose, point: Vector) -> Vector:
    """p_a = R p_b + p."""
    return add(pose.position, apply(pose.rotation, point))


def inverse(pose: Pose) -> Pose:
    """T_b_a = T_a_b⁻¹ = (Rᵀ, −Rᵀ p)."""
    rotation = transpose(pose.rotation)
    return Pose(rotation, scale(-1, apply(rotation, pose.position)))


def motion_to_child(pose: Pose, m: Motion) -> Motion:
    """A motion vector given in frame a, seen in frame b: ω_b = Rᵀω_a, v_b = Rᵀ(v_a + ω_a × p)."""
    return Motion(
        apply_transposed(pose.rotation, add(m.linear, cross(m.angular, pose.position))),
        apply_transposed(pose.rotation, m.angular),
    )


def force_to_parent(pose: Pose, f: Force) -> Force:
    """A wrench given in frame b, seen in frame a: f_a = R f_b, n_a = R n_b + p × f_a."""
    force = apply(pose.rotation, f.force)
    return Force(force, add(apply(pose.rotation, f.moment), cross(pose.position, force)))


def flat(vector: Motion | Force) -> list[Scalar]:
    """Its six numbers, the linear ones or the force's first."""
    return [*vector[0], *vector[1]]


def wrench_of(six: Sequence[Scalar]) -> Force:
    """The wrench of six numbers."""
    return Force((six[0], six[1], six[2]), (six[3], six[4], six[5]))


def add_motions(a: Motion, b: Motion) -> Motion:
    """a + b."""
    return Motion(add(a.linear, b.linear), add(a.angular, b.angular))


def scale_motion(k: Scalar, m: Motion) -> Motion:
    """k m."""
    return Motion(scale(k, m.linear), scale(k, m.angular))


def add_forces(a: Force, b: Force) -> Force:
    """a + b."""
    return Force(add(a.force, b.force), add(a.moment, b.moment))


def scale_force(k: Scalar, f: Force) -> Force:
    """k f."""
    return Force(scale(k, f.force), scale(k, f.moment))


def cross_motion(a: Motion, b: Motion) -> Motion:
    """a × b for motions: (ω_a × v_b + v_a × ω_b, ω_a × ω_b) (Featherstone 2008, eq. 2.31)."""
    return Motion(add(cross(a.angular, b.linear), cross(a.linear, b.angular)), cross(a.angular, b.angular))


def cross_force(a: Motion, f: Force) -> Force:
    """a ×* f for forces: (ω × f, ω × n + v × f) (Featherstone 2008, eq. 2.32)."""
    return Force(cross(a.angular, f.force), add(cross(a.angular, f.moment), cross(a.linear, f.force)))


def pair(f: Force, m: Motion) -> Scalar:
    """The power f · m of a wrench on a twist, both in the same frame."""
    return plus(dot(f.force, m.linear), dot(f.moment, m.angular))


def inertia_about_origin(mass: Scalar, center: Vector, about_center: Matrix) -> Inertia:
    """The inertia of a body with its centre of mass at c: I_o = I_c + m (cᵀc 1 − c cᵀ) (Steiner)."""
    x, y, z = center
    h = scale(mass, center)
    xx, yy, zz = times(h[0], x), times(h[1], y), times(h[2], z)
    xy, xz, yz = (minus(0, times(a, b)) for a, b in ((h[0], y), (h[0], z), (h[1], z)))
    steiner = ((plus(yy, zz), xy, xz), (xy, plus(xx, zz), yz), (xz, yz, plus(xx, yy)))
    return Inertia(mass, h, add_matrices(about_center, steiner))


def momentum(inertia: Inertia, m: Motion) -> Force:
    """I m = (mass·v + ω × h, I_o ω + h × v)."""
    h = inertia.first_moment
    return Force(
        add(scale(inertia.mass, m.linear), cross(m.angular, h)),
        add(apply(inertia.rotational, m.angular), cross(h, m.linear)),
    )


def add_inertias(a: Inertia, b: Inertia) -> Inertia:
    """The inertia of two bodies as one, both about the same frame."""
    return Inertia(
        plus(a.mass, b.mass), add(a.first_moment, b.first_moment), add_matrices(a.rotational, b.rotational)
    )


def inertia_to_parent(pose: Pose, inertia: Inertia) -> Inertia:
    """The inertia given in frame b, about the origin and in the axes of frame a.

    With h′ = R h: I_a = R I Rᵀ + 2(h′·p)1 − h′pᵀ − p h′ᵀ + m(p·p 1 − p pᵀ) (Featherstone 2008, eq. 2.66).
    """
    rotation, p = pose
    h = apply(rotation, inertia.first_moment)
    rotated = multiply(multiply(rotation, inertia.rotational), transpose(rotation))
    k = scale(inertia.mass, p)
    shifted = add(add(h, h), k)  # 2h + m p: both Steiner terms at once
    trace = dot(shifted, p)
    twice = add(h, k)
    outer = [[plus(times(twice[i], p[j]), times(p[i], h[j])) for j in range(3)] for i in range(3)]
    steiner = tuple(tuple(minus(trace if i == j else 0, outer[i][j]) for j in range(3)) for i in range(3))
    return Inertia(inertia.mass, twice, add_matrices(rotated, steiner))  # type: ignore[arg-type]
