"""From a configuration to the next at given speeds, in one explicit step: the base by a kind of step, joints by Euler.

A base's place goes by p + R v dt. Kinds differ in how it turns:
exponential: R exp([ω]× dt), the rotation at a constant ω; what a step loses is of the second order.
euler_angles: roll, pitch and yaw, R = Rz Ry Rx, by their own rates times dt, as many simulators of vehicles do.
Steps by momenta turn it by Cayley's map, R (1 − b)⁻¹ (1 + b) with b = [ω]× dt/2: it has slopes at ω = 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from trundle.choices import Attitude
from trundle.mechanics.joints import quaternion_rotation
from trundle.mechanics.tree import Tree
from trundle.scalars import Scalar, asin, atan2, clamp, cos, sin, sinc, sqrt
from trundle.spatial.vectors import Matrix, Vector, apply, scale

Turned = Callable[[Sequence[Scalar], Vector, Scalar], tuple[Scalar, ...]]


def advanced(
    tree: Tree, q: Sequence[Scalar], nu: Sequence[Scalar], dt: Scalar, turned: Turned
) -> list[Scalar]:
    """q after a step of a tree whose first link floats; `turned` is one of `STEPS`."""
    velocity = apply(quaternion_rotation(*q[3:7]), (nu[0], nu[1], nu[2]))
    place = [p + v * dt for p, v in zip(q[:3], velocity, strict=True)]
    rates = tree.coordinate_rates(q, nu)
    joints = [value + rate * dt for value, rate in zip(q[7:], rates[7:], strict=True)]
    return [*place, *turned(q[3:7], (nu[3], nu[4], nu[5]), dt), *joints]


def by_exponential(quaternion: Sequence[Scalar], omega: Vector, dt: Scalar) -> tuple[Scalar, ...]:
    """q ⊗ (cos(θ/2), sin(θ/2) ω/|ω|), θ = |ω| dt, ω in the body's axes."""
    half = sqrt(omega[0] * omega[0] + omega[1] * omega[1] + omega[2] * omega[2]) * dt / 2
    return _turned(quaternion, cos(half), scale(sinc(half) * dt / 2, omega))


def by_cayley(quaternion: Sequence[Scalar], omega: Vector, dt: Scalar) -> tuple[Scalar, ...]:
    """q ⊗ (1, ω dt/2) at length 1: a turn by 2 atan(|ω| dt/2), ω in the body's axes."""
    return _turned(quaternion, 1, scale(dt / 2, omega))


def _turned(quaternion: Sequence[Scalar], c: Scalar, share: Vector) -> tuple[Scalar, ...]:
    """q ⊗ (c, share) at length 1."""
    a, b, d = share
    w, x, y, z = quaternion
    turned = (
        w * c - x * a - y * b - z * d,
        w * a + x * c + y * d - z * b,
        w * b - x * d + y * c + z * a,
        w * d + x * b - y * a + z * c,
    )
    # Rounding alone would let its length walk away.
    size = 1 / sqrt(sum(part * part for part in turned))
    return tuple(part * size for part in turned)


def by_euler_angles(quaternion: Sequence[Scalar], omega: Vector, dt: Scalar) -> tuple[Scalar, ...]:
    """The quaternion of the angles after a step of theirs; it fails where the body points straight up or down."""
    roll, pitch, yaw = angles_of(quaternion_rotation(*quaternion))
    across = omega[1] * sin(roll) + omega[2] * cos(roll)
    roll_rate = omega[0] + across * sin(pitch) / cos(pitch)
    pitch_rate = omega[1] * cos(roll) - omega[2] * sin(roll)
    yaw_rate = across / cos(pitch)
    return quaternion_of(roll + roll_rate * dt, pitch + pitch_rate * dt, yaw + yaw_rate * dt)


def angles_of(rotation: Matrix) -> tuple[Scalar, Scalar, Scalar]:
    """Roll, pitch and yaw of R = Rz(yaw) Ry(pitch) Rx(roll) (rad), the pitch within a quarter turn."""
    pitch = -asin(clamp(rotation[2][0], 1))
    return atan2(rotation[2][1], rotation[2][2]), pitch, atan2(rotation[1][0], rotation[0][0])


def quaternion_of(roll: Scalar, pitch: Scalar, yaw: Scalar) -> tuple[Scalar, ...]:
    """The unit quaternion of R = Rz(yaw) Ry(pitch) Rx(roll)."""
    a, b, c = cos(roll / 2), cos(pitch / 2), cos(yaw / 2)
    d, e, f = sin(roll / 2), sin(pitch / 2), sin(yaw / 2)
    return (
        a * b * c + d * e * f,
        d * b * c - a * e * f,
        a * e * c + d * b * f,
        a * b * f - d * e * c,
    )


STEPS: dict[Attitude, Turned] = {"exponential": by_exponential, "euler_angles": by_euler_angles}
