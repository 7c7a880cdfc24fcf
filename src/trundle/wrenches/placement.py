"""How a frame stands and moves in another: pose, twist and acceleration, and how they are composed along a chain.

Twists and spatial accelerations (Featherstone 2008, sections 2.9 and 2.11) are in the moved frame's axes, at its
origin. A motion that is not known is None: positions are there without it, and nobody takes it for rest.
"""

from __future__ import annotations

from typing import NamedTuple

from trundle.spatial.motions import (
    IDENTITY_POSE,
    ZERO_MOTION,
    Motion,
    Pose,
    add_motions,
    compose,
    cross_motion,
    inverse,
    motion_to_child,
    scale_motion,
)
from trundle.spatial.vectors import ZERO, Matrix, Vector, apply_transposed, cross, subtract
from trundle.wrenches.components import BatchShape, batch_shape


class Placement(NamedTuple):
    """T_a_b with the twist and the acceleration of b in a, both in b's axes at b's origin; None: not known."""

    pose: Pose
    twist: Motion | None
    acceleration: Motion | None


AT_REST = Placement(IDENTITY_POSE, ZERO_MOTION, ZERO_MOTION)


def composed(a: Placement, b: Placement) -> Placement:
    """c in a, from b in a and c in b: V = X V_a + V_b, A = X A_a + A_b + V × V_b."""
    twist = acceleration = None
    if a.twist is not None and b.twist is not None:
        twist = add_motions(motion_to_child(b.pose, a.twist), b.twist)
        if a.acceleration is not None and b.acceleration is not None:
            carried = add_motions(motion_to_child(b.pose, a.acceleration), b.acceleration)
            acceleration = add_motions(carried, cross_motion(twist, b.twist))
    return Placement(compose(a.pose, b.pose), twist, acceleration)


def inverted(a: Placement) -> Placement:
    """a in b, from b in a: composed with it, it is rest."""
    back = inverse(a.pose)
    twist, acceleration = (
        None if m is None else scale_motion(-1, motion_to_child(back, m)) for m in (a.twist, a.acceleration)
    )
    return Placement(back, twist, acceleration)


def placed(
    rotation: Placement, origin: Vector, velocity: Vector | None, acceleration: Vector | None
) -> Placement:
    """A turning frame with its origin, whose velocity and acceleration are in the axes of a."""
    pose = Pose(rotation.pose.rotation, origin)
    if rotation.twist is None or velocity is None:
        return Placement(pose, None, None)
    omega = rotation.twist.angular
    own = apply_transposed(pose.rotation, velocity)
    twist = Motion(own, omega)
    if rotation.acceleration is None or acceleration is None:
        return Placement(pose, twist, None)
    # The spatial acceleration is the rate of the twist's components in b's own axes, which turn.
    linear = subtract(apply_transposed(pose.rotation, acceleration), cross(omega, own))
    return Placement(pose, twist, Motion(linear, rotation.acceleration.angular))


def turned(rotation: Matrix, omega: Vector | None, alpha: Vector | None) -> Placement:
    """A frame that turns on the spot: angular velocity and acceleration in its own axes."""
    twist = None if omega is None else Motion(ZERO, omega)
    return Placement(
        Pose(rotation, ZERO), twist, None if twist is None or alpha is None else Motion(ZERO, alpha)
    )


def shape_of(what: str, placement: Placement) -> BatchShape:
    """The shape of the batch that it holds."""
    pose, twist, acceleration = placement
    motions = [vector for motion in (twist, acceleration) if motion is not None for vector in motion]
    return batch_shape(what, *pose.rotation, pose.position, *motions)
