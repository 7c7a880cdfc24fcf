"""The description's nouns in scalars: vectors, inertias, springs and stops."""

from __future__ import annotations

from trundle.mechanics.actuation import Element, Stop
from trundle.mechanics.tree import NO_INERTIA
from trundle.robot.bodies import Body, Sliding, Turning
from trundle.robot.kinds import Read
from trundle.robot.parts import Parts
from trundle.robot.values import Value, ValueVector
from trundle.robot.wheels import RollingWheel
from trundle.scalars import Scalar, is_zero
from trundle.spatial.motions import Inertia, inertia_about_origin
from trundle.spatial.vectors import ZERO, Vector


def gravity_of(robot: Parts, read: Read) -> Vector:
    """Gravity in the world frame (m/s²)."""
    gravity = robot.gravity
    if isinstance(gravity, tuple):
        return (read(gravity[0]), read(gravity[1]), read(gravity[2]))
    down = read(gravity)
    return (0, 0, 0 if is_zero(down) else -down)


def vector(values: ValueVector, read: Read) -> Vector:
    """Three values."""
    return (read(values[0]), read(values[1]), read(values[2]))


def inertia_of(body: Body | None, read: Read) -> Inertia:
    """A body's mass, first moment and inertia about its frame's origin."""
    if body is None:
        return NO_INERTIA
    i = {k: read(getattr(body.inertia, k)) for k in ("xx", "yy", "zz", "xy", "xz", "yz")}
    about_center = (
        (i["xx"], i["xy"], i["xz"]),
        (i["xy"], i["yy"], i["yz"]),
        (i["xz"], i["yz"], i["zz"]),
    )
    return inertia_about_origin(read(body.mass), vector(body.center_of_mass, read), about_center)


def element_of(column: int, noun: Turning | Sliding, read: Read) -> Element:
    """Springs, friction and stops as one axis of a joint has them; limits without a stiffness stop nothing."""
    stops: list[Stop] = []
    stiffness = read(noun.limit_stiffness)
    if not is_zero(stiffness):
        damping, width = read(noun.limit_damping), read(noun.limit_width)
        limits = ((noun.lower, -1), (noun.upper, 1))
        stops = [
            Stop(read(limit), side, stiffness, damping, width) for limit, side in limits if limit is not None
        ]
    return Element(
        column,
        read(noun.stiffness),
        read(noun.rest),
        read(noun.damping),
        read(noun.coulomb),
        read(noun.coulomb_speed),
        tuple(stops),
    )


def unit_axis(axis: ValueVector) -> Vector:
    """The axis as a constant unit vector: directions are structure, not parameters, so that zeros stay zero."""
    x, y, z = (value.number for value in axis)
    length = (x * x + y * y + z * z) ** 0.5
    return tuple(int(c) if c in (-1.0, 0.0, 1.0) else c for c in (x / length, y / length, z / length))  # type: ignore[return-value]


def wheel_inertia(wheel: RollingWheel, read: Read) -> Inertia:
    """A solid cylinder about its centre, I_axle = m R²/2 and I_diameter = m (3R² + w²)/12, unless given."""
    mass, radius, width = read(wheel.mass), read(wheel.radius), read(wheel.width)
    given = wheel.inertia
    axle = mass * radius * radius / 2 if given.axle is None else read(given.axle)
    cylinder = mass * (3 * radius * radius + width * width) / 12
    diameter = cylinder if given.diameter is None else read(given.diameter)
    return Inertia(mass, ZERO, ((diameter, 0, 0), (0, axle, 0), (0, 0, diameter)))


def optional(value: Value | None, read: Read) -> Scalar | None:
    """A value that may be left out."""
    return None if value is None else read(value)
