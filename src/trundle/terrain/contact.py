"""Where a wheel touches a surface: the point of its circle that is deepest, and the axes of the contact there.

A wheel's frame has x along its heading and y along its axle. Its circle is p(α) = o − r (sin α X + cos α Z), X and Z
the frame's axes in the world. The contact's axes are z = N, x = unit(Y × N), y = z × x: x points along the heading,
as in ISO 8855, and y to its left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from trundle.mechanics.wheels import WheelModel
from trundle.robot.surfaces import Spot
from trundle.scalars import Scalar, clamp, maximum, sqrt
from trundle.spatial.motions import Pose, transform_point
from trundle.spatial.vectors import IDENTITY, Vector, apply_transposed, cross, dot, scale, subtract

# What a terrain says of a point.
Ground = Callable[[Vector], Spot]

# Newton's steps on the circle, from the point that faces the surface below it. On hills whose curvature times the
# wheel's radius is 0.1 they leave 0.1, 1e-3, 1e-6, 1e-10 rad (the curvature of the distance lacks one small term).
ROUNDS = 4
# A step turns by less than about a radian; the surface may be no more curved than the wheel by this share.
_LONGEST, _ROUNDEST = 0.5, 0.05


class Contact(NamedTuple):
    """A contact of a link: its point in the link's frame, its axes in the link's frame as rows (x, y, z), the signed
    distance of the point from the ground (m), and the point and the normal in the world.
    """

    point: Vector
    axes: tuple[Vector, Vector, Vector]
    distance: Scalar
    place: Vector
    normal: Vector


def wheel_contact(ground: Ground, pose: Pose, radius: Scalar, rounds: int = ROUNDS) -> Contact:
    """The contact of a wheel, its frame at `pose` (T_world_wheel): the minimum of the distance on its circle."""
    heading, up = (tuple(row[k] for row in pose.rotation) for k in (0, 2))
    at = _lowest(heading[2], up[2])
    spot = ground(_on_circle(pose, radius, at))
    at = _lowest(dot(spot.normal, heading), dot(spot.normal, up))
    for _ in range(rounds):
        spot = ground(_on_circle(pose, radius, at))
        at = _newton(spot, at, radius, heading, up)
    place = _on_circle(pose, radius, at)
    spot = ground(place)
    point = (-radius * at[0], 0, -radius * at[1])
    return Contact(point, contact_axes(pose, spot.normal), spot.distance, place, spot.normal)


def sphere_contact(ground: Ground, pose: Pose, radius: Scalar, rounds: int = ROUNDS) -> Contact:
    """The contact of a sphere about the frame's origin: p = o − r ∇d/|∇d|, which is the normal on a plane.

    It has no heading, so its axes are the world's, laid onto the ground.
    """
    spot = ground(pose.position)
    for _ in range(rounds):
        spot = ground(_toward(pose, radius, spot.gradient))
    place = _toward(pose, radius, spot.gradient)
    spot = ground(place)
    point = apply_transposed(pose.rotation, subtract(place, pose.position))
    x, y, z = (apply_transposed(pose.rotation, axis) for axis in ground_axes(spot.normal))
    return Contact(point, (x, y, z), spot.distance, place, spot.normal)


def _toward(pose: Pose, radius: Scalar, gradient: Vector) -> Vector:
    return subtract(pose.position, scale(radius / sqrt(dot(gradient, gradient)), gradient))


def point_contact(ground: Ground, pose: Pose, point: Vector) -> Contact:
    """The contact of a point of a flat, fixed in the frame: the flat presses along its own normal, the frame's z."""
    place = transform_point(pose, point)
    spot = ground(place)
    return Contact(point, IDENTITY, spot.distance, place, spot.normal)


def contacts_of(ground: Ground, pose: Pose, wheel: WheelModel) -> list[Contact]:
    """All contacts of a wheel with its frame at a pose: one of its circle or sphere, or one a point."""
    if wheel.noun.shape == "points":
        return [point_contact(ground, pose, point) for point in wheel.noun.touches(wheel.read)]
    touches = sphere_contact if wheel.noun.shape == "sphere" else wheel_contact
    return [touches(ground, pose, wheel.radius)]


def contact_axes(pose: Pose, normal: Vector) -> tuple[Vector, Vector, Vector]:
    """x along the heading, y along the axle, both in the plane that touches, and the normal; in the wheel's frame."""
    z = apply_transposed(pose.rotation, normal)
    size = 1 / sqrt(z[0] * z[0] + z[2] * z[2])
    x = (z[2] * size, 0, -z[0] * size)
    return x, cross(z, x), z


def ground_axes(normal: Vector) -> tuple[Vector, Vector, Vector]:
    """The world's axes turned the shortest way until z is the normal: smooth but on a ceiling (Duff et al. 2017)."""
    x, y, z = normal
    share = 1 / (1 + z)
    across = -x * y * share
    return (1 - x * x * share, across, -x), (across, 1 - y * y * share, -y), normal


def _on_circle(pose: Pose, radius: Scalar, at: tuple[Scalar, Scalar]) -> Vector:
    """p(α) in the world; `at` is (sin α, cos α)."""
    rotation, origin = pose
    s, c = radius * at[0], radius * at[1]
    x, y, z = (o - s * row[0] - c * row[2] for o, row in zip(origin, rotation, strict=True))
    return x, y, z


def _lowest(along_x: Scalar, along_z: Scalar) -> tuple[Scalar, Scalar]:
    """The (sin α, cos α) of the point that lies farthest against a direction, by its shares along the wheel's x and
    z.
    """
    size = 1 / sqrt(along_x * along_x + along_z * along_z)
    return along_x * size, along_z * size


def _newton(
    spot: Spot, at: tuple[Scalar, Scalar], radius: Scalar, heading: Vector, up: Vector
) -> tuple[Scalar, Scalar]:
    """One step on d distance/dα = 0; the turn by δ as (1 − t², 2 t)/(1 + t²), t = δ/2, which needs no sine."""
    s, c = at
    ahead = tuple(radius * (s * z - c * x) for x, z in zip(heading, up, strict=True))  # dp/dα
    inward = tuple(radius * (s * x + c * z) for x, z in zip(heading, up, strict=True))  # d²p/dα²
    xx, xy, yy, xz, yz = spot.curvature
    x, y, z = ahead
    bend = x * (xx * x + 2 * (xy * y + xz * z)) + y * (yy * y + 2 * yz * z)
    facing = dot(spot.gradient, inward)
    rise = maximum(facing + bend, _ROUNDEST * radius)
    t = clamp(-dot(spot.gradient, ahead) / rise / 2, _LONGEST)
    size = 1 / (1 + t * t)
    turned_c, turned_s = (1 - t * t) * size, 2 * t * size
    return s * turned_c + c * turned_s, c * turned_c - s * turned_s
