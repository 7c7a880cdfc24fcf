"""Joints: how a child frame moves in its parent's, and the motion subspace it moves in.

Each kind gives its pose T_parent_child(q), its motion subspace S (constant in the child's frame) and the rates q̇ =
N(q) ν of its coordinates (Featherstone 2008, table 4.1). Adding a kind is adding one `JointKind`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from trundle.scalars import Scalar, cos, sin
from trundle.spatial.motions import IDENTITY_POSE, Motion, Pose
from trundle.spatial.vectors import (
    IDENTITY,
    ZERO,
    Vector,
    apply,
    axis_rotation,
    principal_rotation,
    scale,
)


class Turn(NamedTuple):
    """An angle known by its cosine and sine, where those are cheaper than the angle itself."""

    cos: Scalar
    sin: Scalar


class JointKind(NamedTuple):
    """What one kind of joint is: labels of its coordinates and speeds, and its three functions of (axis, q[, ν])."""

    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    pose: Callable[[Vector, Sequence[Scalar]], Pose]
    subspace: Callable[[Vector], tuple[Motion, ...]]
    rates: Callable[[Sequence[Scalar], Sequence[Scalar]], tuple[Scalar, ...]]


def _turn(angle: Scalar | Turn) -> Turn:
    return angle if isinstance(angle, Turn) else Turn(cos(angle), sin(angle))


def rotation_about(axis: Vector, angle: Scalar | Turn) -> tuple[Vector, Vector, Vector]:
    """The rotation by an angle about a constant unit axis; structural zeros are kept along coordinate axes."""
    c, s = _turn(angle)
    for index in range(3):
        others = [axis[k] for k in range(3) if k != index]
        if all(isinstance(k, (int, float)) and k == 0 for k in others):
            return principal_rotation(index, c, s if axis[index] > 0 else -s)
    return axis_rotation(axis, c, s)


def _quaternion_rotation(w: Scalar, x: Scalar, y: Scalar, z: Scalar) -> tuple[Vector, Vector, Vector]:
    return (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def _planar_pose(_axis: Vector, q: Sequence[Scalar]) -> Pose:
    x, y, theta = q
    return Pose(rotation_about((0, 0, 1), theta), (x, y, 0))


def _planar_rates(q: Sequence[Scalar], nu: Sequence[Scalar]) -> tuple[Scalar, ...]:
    c, s = _turn(q[2])
    return (c * nu[0] - s * nu[1], s * nu[0] + c * nu[1], nu[2])


def _floating_pose(_axis: Vector, q: Sequence[Scalar]) -> Pose:
    return Pose(_quaternion_rotation(*q[3:7]), (q[0], q[1], q[2]))


def _floating_rates(q: Sequence[Scalar], nu: Sequence[Scalar]) -> tuple[Scalar, ...]:
    """ṗ = R v and q̇ = ½ q ⊗ (0, ω), with ω in the body's frame (Featherstone 2008, eq. 4.13)."""
    w, x, y, z = q[3:7]
    a, b, c = nu[3:6]
    velocity = apply(_quaternion_rotation(w, x, y, z), (nu[0], nu[1], nu[2]))
    quaternion = (
        (-x * a - y * b - z * c) / 2,
        (w * a + y * c - z * b) / 2,
        (w * b - x * c + z * a) / 2,
        (w * c + x * b - y * a) / 2,
    )
    return (*velocity, *quaternion)


def _same(_q: Sequence[Scalar], nu: Sequence[Scalar]) -> tuple[Scalar, ...]:
    return tuple(nu)


_X, _Y, _Z = IDENTITY

KINDS: dict[str, JointKind] = {
    "fixed": JointKind((), (), lambda axis, q: IDENTITY_POSE, lambda axis: (), _same),
    "revolute": JointKind(
        ("angle",),
        ("rate",),
        lambda axis, q: Pose(rotation_about(axis, q[0]), ZERO),
        lambda axis: (Motion(ZERO, axis),),
        _same,
    ),
    # The spin of a body that is symmetric about its axle: its frame stays with the carrier, which leaves every
    # formula true (the inertia looks the same from both frames) and keeps the sine and cosine of the spin angle out
    # of the equations.
    "spin": JointKind(
        ("angle",),
        ("rate",),
        lambda axis, q: IDENTITY_POSE,
        lambda axis: (Motion(ZERO, axis),),
        _same,
    ),
    "prismatic": JointKind(
        ("position",),
        ("rate",),
        lambda axis, q: Pose(IDENTITY, scale(q[0], axis)),
        lambda axis: (Motion(axis, ZERO),),
        _same,
    ),
    "planar": JointKind(
        ("x", "y", "theta"),
        ("v_x", "v_y", "omega"),
        _planar_pose,
        lambda axis: (Motion(_X, ZERO), Motion(_Y, ZERO), Motion(ZERO, _Z)),
        _planar_rates,
    ),
    "floating": JointKind(
        ("x", "y", "z", "q_w", "q_x", "q_y", "q_z"),
        ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z"),
        _floating_pose,
        lambda axis: (
            *(Motion(e, ZERO) for e in IDENTITY),
            *(Motion(ZERO, e) for e in IDENTITY),
        ),
        _floating_rates,
    ),
}
