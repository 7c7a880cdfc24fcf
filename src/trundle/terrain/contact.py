"""Where a wheel touches a surface: the point of its circle that is deepest, and the axes of the contact there.

A wheel's frame has x along its heading and y along its axle. Its circle is p(α) = o − r (sin α X + cos α Z), X and Z
the frame's axes in the world. The contact's axes are z = N, x = unit(Y × N), y = z × x: x points along the heading,
as in ISO 8855, and y to its left.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from trundle.mechanics.wheels import WheelModel
from trundle.robot.surfaces import Spot
from trundle.robot.terrain import Ground, Terrain
from trundle.scalars import Scalar, clamp, less, maximum, minimum, sqrt, where
from trundle.spatial.motions import Pose, transform_point
from trundle.spatial.vectors import IDENTITY, Vector, apply_transposed, cross, dot, scale, subtract

# What a ground says of a point.
Says = Callable[[Vector], Spot]

# Newton's steps on the circle, from the point that faces the surface below it. On hills whose curvature times the
# wheel's radius is 0.1 they leave 0.1, 1e-3, 1e-6, 1e-10 rad (the curvature of the distance lacks one small term).
ROUNDS = 4
# On rough ground: where else on the circle to look first (rad from its lowest point), and Newton's steps from there.
# Beside the least of 721 points, on random ground of slope 0.3 rms whose waves are a wheel's radius long: of 20,000
# contacts one in 10,000 is more than 0.1 mm off, and none 0.3 mm; with 15 degrees between 1.5 mm, without these 69 mm.
# Where no wave is longer than four radii, the worst of 50,000 is 0.8 mm off, and without these 134 mm.
FAN = tuple(math.radians(sign * turn) for turn in (12, 24, 36, 48, 60) for sign in (1, -1))
ROUGH_ROUNDS = 4
# A step turns by less than about a radian; the surface may be no more curved than the wheel by this share.
_LONGEST, _ROUNDEST = 0.5, 0.05
# By the deepest of the fan's points lies a minimum, nearer than the next of them: on rough ground no step is longer.
_NEXT = math.tan(math.radians(12) / 2)
# A wheel that lies flat on the ground, or beside a wall, has no deepest point: its middle counts, and no friction acts.
_FLAT = 1e-24
# Less deep than this (m) a contact bears nothing that could be shared.
_TOUCHES = 1e-9


class Contact(NamedTuple):
    """A contact of a link: its point in the link's frame, its axes in the link's frame as rows (x, y, z), the signed
    distance of the point from the ground (m), and the point and the normal in the world.

    gradient : the slope of the distance, in the link's frame: on hills it is about the normal, as they are no planes
    ground : the name of the ground that it touches
    others : the distances of its point from other grounds that the same wheel touches apart (m)
    """

    point: Vector
    axes: tuple[Vector, Vector, Vector]
    distance: Scalar
    place: Vector
    normal: Vector
    gradient: Vector
    ground: str = ""
    others: tuple[Scalar, ...] = ()

    def share(self, depth: Scalar) -> Scalar:
        """How much of what a contact at a depth (m) bears is its own, 1 where its point lies in no other ground.

        A layer of the ground bears once: one that k others bear, too, gives each 1/(1 + k). With the others' depths at
        the point in falling order, h₁ ≥ h₂ ≥ …, that is 1 − Σ h_k/(k (k + 1))/h. So two grounds that coincide bear as
        one, and tread and riser bear alone.
        """
        deep = maximum(depth, _TOUCHES)
        # All move alike in a step: the others are as much deeper than this one as where the step begins.
        beside = [minimum(maximum((self.distance - other) / deep + 1, 0), 1) for other in self.others]
        return 1 - sum(h / (k * (k + 1)) for k, h in enumerate(_falling(beside), 1))


def _falling(values: Sequence[Scalar]) -> list[Scalar]:
    """Numbers in falling order, whatever they are: largest and least of neighbours, over and over."""
    ordered = list(values)
    for end in range(len(ordered) - 1, 0, -1):
        for k in range(end):
            a, b = ordered[k], ordered[k + 1]
            ordered[k], ordered[k + 1] = maximum(a, b), minimum(a, b)
    return ordered


def wheel_contact(
    ground: Says, pose: Pose, radius: Scalar, rounds: int = ROUNDS, rough: bool = False
) -> Contact:
    """The contact of a wheel, its frame at `pose` (T_world_wheel): the minimum of the distance on its circle.

    On rough ground, which may be more curved than the wheel, there are several minima: the search begins at the deepest
    of some points of the circle.
    """
    heading, up = (tuple(row[k] for row in pose.rotation) for k in (0, 2))
    at, longest = _lowest(heading[2], up[2]), _LONGEST
    if rough:
        at, rounds, longest = _deepest(ground, pose, radius, at), ROUGH_ROUNDS, _NEXT
    else:
        spot = ground(_on_circle(pose, radius, at))
        at = _lowest(dot(spot.normal, heading), dot(spot.normal, up))
    for _ in range(rounds):
        spot = ground(_on_circle(pose, radius, at))
        at = _newton(spot, at, radius, heading, up, longest)
    place = _on_circle(pose, radius, at)
    spot = ground(place)
    point = (-radius * at[0], 0, -radius * at[1])
    gradient = apply_transposed(pose.rotation, spot.gradient)
    return Contact(point, contact_axes(pose, spot.normal), spot.distance, place, spot.normal, gradient)


def sphere_contact(ground: Says, pose: Pose, radius: Scalar, rounds: int = ROUNDS) -> Contact:
    """The contact of a sphere about the frame's origin: p = o − r ∇d/|∇d|, which is the normal on a plane.

    It has no heading, so its axes are the world's, laid onto the ground.
    """
    spot = ground(pose.position)
    for _ in range(rounds):
        spot = ground(_toward(pose, radius, spot.gradient))
    place = _toward(pose, radius, spot.gradient)
    spot = ground(place)
    point = apply_transposed(pose.rotation, subtract(place, pose.position))
    gradient = apply_transposed(pose.rotation, spot.gradient)
    return Contact(point, _resting(pose, spot.normal), spot.distance, place, spot.normal, gradient)


def _resting(pose: Pose, normal: Vector) -> tuple[Vector, Vector, Vector]:
    """The world's axes laid onto the ground, in a sphere's frame."""
    x, y, z = (apply_transposed(pose.rotation, axis) for axis in ground_axes(normal))
    return x, y, z


def _toward(pose: Pose, radius: Scalar, gradient: Vector) -> Vector:
    return subtract(pose.position, scale(radius / sqrt(dot(gradient, gradient)), gradient))


def point_contact(ground: Says, pose: Pose, point: Vector) -> Contact:
    """The contact of a point of a flat, fixed in the frame: the flat presses along its own normal, the frame's z."""
    place = transform_point(pose, point)
    spot = ground(place)
    gradient = apply_transposed(pose.rotation, spot.gradient)
    return Contact(point, IDENTITY, spot.distance, place, spot.normal, gradient)


def exact_contact(ground: Says, pose: Pose, radius: Scalar, sphere: bool = False) -> Contact:
    """The contact of a wheel or a sphere with ground whose distances outside are exact: by what its centre sees.

    The ground's nearest point q has the normal n. Of the circle the point that is deepest below the plane there counts:
    p = o − r u/|u|, u = n less its share along the axle; its distance is n · (o − q) − r |u|. For planes that is the
    least distance on the circle, at an edge it is where edge and axle are parallel.
    """
    spot = ground(pose.position)
    own = apply_transposed(pose.rotation, spot.normal)
    toward = own if sphere else (own[0], 0, own[2])
    size = 1 if sphere else sqrt(own[0] * own[0] + own[2] * own[2] + _FLAT)
    point = scale(-radius / size, toward)
    axes = _resting(pose, spot.normal) if sphere else contact_axes(pose, spot.normal)
    place, distance = transform_point(pose, point), spot.distance - radius * size
    return Contact(point, axes, distance, place, spot.normal, own)


def contacts_of(terrain: Terrain, pose: Pose, wheel: WheelModel) -> list[list[Contact]]:
    """The contacts of a wheel with its frame at a pose, by where it can touch: one of its circle or sphere with every
    ground that lies apart, or one of every point of a track with the nearest surface.
    """
    if wheel.component.shape == "points":
        return [[point_contact(terrain.spot, pose, point)] for point in wheel.component.touches(wheel.read)]
    return [touched(terrain, pose, wheel.radius, wheel.component.shape == "sphere")]


def touched(terrain: Terrain, pose: Pose, radius: Scalar, sphere: bool) -> list[Contact]:
    """The contacts of a circle, or a sphere, with every ground that lies apart."""
    return apart(terrain.grounds, lambda ground: _touching(ground, pose, radius, sphere))


def apart(grounds: Sequence[Ground], touching: Callable[[Ground], Contact]) -> list[Contact]:
    """The contacts of one body with all grounds that it can touch apart, each with how far it is from the others."""
    found = [(ground, touching(ground)) for ground in grounds]
    return [
        contact._replace(
            ground=own.name,
            others=tuple(other.spot(contact.place).distance for other in grounds if other is not own),
        )
        for own, contact in found
    ]


def _touching(ground: Ground, pose: Pose, radius: Scalar, sphere: bool) -> Contact:
    """The contact of a circle, or a sphere, with one ground."""
    if ground.exact:
        return exact_contact(ground.spot, pose, radius, sphere)
    if sphere:
        return sphere_contact(ground.spot, pose, radius)
    return wheel_contact(ground.spot, pose, radius, rough=ground.rough)


def contact_names(terrain: Terrain, wheel: WheelModel) -> dict[str, list[str]]:
    """The names of a wheel's contacts by those of its places, in the order of `contacts_of`.

    Places have the wheel's name, numbered where they are several; contacts of grounds apart have the grounds', too.
    """
    if wheel.component.shape == "points":
        count = len(wheel.component.touches(wheel.read))
        places = [wheel.name] if count == 1 else [f"{wheel.name}.{place}" for place in range(1, count + 1)]
        return {place: [place] for place in places}
    grounds = terrain.grounds
    return {
        wheel.name: [wheel.name] if len(grounds) == 1 else [f"{wheel.name}.{each.name}" for each in grounds]
    }


def contact_axes(pose: Pose, normal: Vector) -> tuple[Vector, Vector, Vector]:
    """x along the heading, y along the axle, both in the plane that touches, and the normal; in the wheel's frame."""
    z = apply_transposed(pose.rotation, normal)
    size = 1 / sqrt(z[0] * z[0] + z[2] * z[2] + _FLAT)
    x = (z[2] * size, 0, -z[0] * size)
    return x, cross(z, x), z


def ground_axes(normal: Vector) -> tuple[Vector, Vector, Vector]:
    """The world's axes turned the shortest way until z is the normal: smooth but on a ceiling (Duff et al. 2017)."""
    x, y, z = normal
    share = 1 / (1 + z)
    across = -x * y * share
    return (1 - x * x * share, across, -x), (across, 1 - y * y * share, -y), normal


def _deepest(
    ground: Says, pose: Pose, radius: Scalar, lowest: tuple[Scalar, Scalar]
) -> tuple[Scalar, Scalar]:
    """The deepest of the points of the circle about its lowest."""
    found, distance = lowest, ground(_on_circle(pose, radius, lowest)).distance
    for turn in FAN:
        c, s = math.cos(turn), math.sin(turn)
        at = lowest[0] * c + lowest[1] * s, lowest[1] * c - lowest[0] * s
        there = ground(_on_circle(pose, radius, at)).distance
        deeper = less(there, distance)
        found = where(deeper, at[0], found[0]), where(deeper, at[1], found[1])
        distance = where(deeper, there, distance)
    return found


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
    size = 1 / sqrt(along_x * along_x + along_z * along_z + _FLAT)
    return along_x * size, along_z * size


def _newton(
    spot: Spot, at: tuple[Scalar, Scalar], radius: Scalar, heading: Vector, up: Vector, longest: float
) -> tuple[Scalar, Scalar]:
    """One step on d distance/dα = 0; the turn by δ as (1 − t², 2 t)/(1 + t²), t = δ/2 of at most `longest`, which needs
    no sine.
    """
    s, c = at
    ahead = tuple(radius * (s * z - c * x) for x, z in zip(heading, up, strict=True))  # dp/dα
    inward = tuple(radius * (s * x + c * z) for x, z in zip(heading, up, strict=True))  # d²p/dα²
    xx, xy, yy, xz, yz = spot.curvature
    x, y, z = ahead
    bend = x * (xx * x + 2 * (xy * y + xz * z)) + y * (yy * y + 2 * yz * z)
    facing = dot(spot.gradient, inward)
    rise = maximum(facing + bend, _ROUNDEST * radius)
    t = clamp(-dot(spot.gradient, ahead) / rise / 2, longest)
    size = 1 / (1 + t * t)
    turned_c, turned_s = (1 - t * t) * size, 2 * t * size
    return s * turned_c + c * turned_s, c * turned_c - s * turned_s
