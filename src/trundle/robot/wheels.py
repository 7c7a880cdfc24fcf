"""Wheels, by type: the keys of each, and what it can do."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Mapping
from functools import partial
from operator import lt
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, NamedTuple

from pydantic import Field, GetJsonSchemaHandler, model_validator
from pydantic_core import CoreSchema

from trundle.robot.bodies import Body
from trundle.robot.component import Component, default
from trundle.robot.contact import LAWS, ContactLaw, Free, Ideal
from trundle.robot.kinds import Kind, Read, Registry
from trundle.robot.values import (
    Acceleration,
    Angle,
    AngularAcceleration,
    AngularDamping,
    AngularJerk,
    Direction,
    Force,
    Jerk,
    Length,
    Mass,
    Moment,
    NotNegative,
    NumberBound,
    Position,
    Positive,
    Rate,
    Speed,
    Torque,
    Value,
)
from trundle.scalars import Scalar, cos, sin

if TYPE_CHECKING:
    from pydantic.json_schema import JsonSchemaValue

_ROLLER = (
    "Angle from the axle (+y) toward forward (+x) of the axis of the roller that touches the ground (rad)"
)

WHEELS = Registry("wheel", "fixed")

# What of a wheel touches terrain.
ContactShape = Literal["circle", "sphere", "points"]


class ContactDirection(NamedTuple):
    """A direction (along the heading, across it) in which the ground can push a wheel, the name of that force, and of
    the motion that it opposes.
    """

    force: str
    what: str
    along: Scalar
    across: Scalar


class WheelAppearance(NamedTuple):
    """What pictures show of a wheel beside its radius: its width (m), whether it is a ball, and the angle from the axle
    toward forward of the roller that touches the ground (rad; None without rollers).
    """

    width: Scalar = 0
    ball: bool = False
    roller_angle: Scalar | None = None


TRACTION = ContactDirection("traction", "rolling", 1, 0)
SIDE_FORCE = ContactDirection("side_force", "lateral", 0, 1)


class PlaneMass(NamedTuple):
    """A mass (kg), where it is in the plane (x + iy, m), and its moment about the vertical (kg m²)."""

    mass: float
    at: complex
    moment: float


class WheelInertia(Component):
    """A wheel's moments of inertia about its centre; what is left out is a solid cylinder's."""

    called: ClassVar[str] = "wheel inertia"

    axle: NotNegative[Moment] | None = default(None, "About the axle (kg m^2). Default m r^2/2.")
    diameter: NotNegative[Moment] | None = default(
        None, "About a diameter (kg m^2). Default m (3 r^2 + w^2)/12."
    )


class DriveLimits(Component):
    """What a wheel's drive can do, for plans of motions; nothing in the equations."""

    called: ClassVar[str] = "wheel's limits"
    in_equations: ClassVar[bool] = False

    drive_speed: Positive[Speed] | None = default(
        None, "Greatest speed of rolling, R times the rate (m/s). Default: none."
    )
    drive_acceleration: Positive[Acceleration] | None = default(
        None, "Greatest rate of that (m/s^2). Default: none."
    )
    drive_jerk: Positive[Jerk] | None = default(None, "Greatest rate of that (m/s^3). Default: none.")


class ModuleLimits(DriveLimits):
    """What a wheel's drive and steering can do, for plans of motions; nothing in the equations."""

    steering_rate: Positive[Rate] | None = default(None, "Greatest rate of steering (rad/s). Default: none.")
    steering_acceleration: Positive[AngularAcceleration] | None = default(
        None, "Greatest rate of that (rad/s^2). Default: none."
    )
    steering_jerk: Positive[AngularJerk] | None = default(
        None, "Greatest rate of that (rad/s^3). Default: none."
    )
    lower: Angle | None = default(None, "Least angle of steering (rad), from its heading. Default: none.")
    upper: Angle | None = default(None, "Greatest angle of steering (rad), from its heading. Default: none.")


class Wheel(Kind):
    """What touches the ground.

    What a wheel can do: `is_steered`: something points it (a motor or a coupling) by a pivot through its axle's line;
    `is_caster`: it follows a pivot that nothing need hold; `binds`: it can't move along its axle, so that the base
    turns about a point of the axle's line. `shape` is what touches terrain: its circle or a sphere where that is
    deepest, or the points of `touches`. `plane`: it can carry a planar base.
    """

    family: ClassVar[Registry] = WHEELS
    instead: ClassVar[Mapping[str, str]] = {
        "joint": "joints are a URDF file's: write `urdf: robot.urdf` under robot, too; else `parent`"
    }
    is_steered: ClassVar[bool] = False
    is_caster: ClassVar[bool] = False
    binds: ClassVar[bool] = False
    shape: ClassVar[ContactShape] = "circle"
    plane: ClassVar[bool] = True

    parent: str = default("base", 'The body it is mounted on: "base", a joint, or a body\'s name.')
    at: Position = default((0.0, 0.0, 0.0), "The wheel's centre in the parent's frame (m).")
    radius: Positive[Length] = Field(description="Radius (m).")
    mass: Mass = default(0.0, "Mass (kg), default 0.")

    @property
    def law(self) -> ContactLaw:
        """How it meets the ground."""
        return Free()

    @property
    def fixed_load(self) -> Value | None:
        """The normal force that its description fixes (N); None for its share of the weight."""
        return None

    def directions(self, read: Read) -> tuple[ContactDirection, ...]:
        """The directions in which the ground can push it."""
        return ()

    def touches(self, read: Read) -> tuple[tuple[Scalar, Scalar, Scalar], ...]:
        """The points, in its frame, at which it touches terrain, of one that is of points."""
        return ()

    def moments(self, read: Read) -> tuple[Scalar, Scalar]:
        """About its axle and about a diameter (kg m²)."""
        return 0, 0

    def plane_masses(self, number: Callable[[Value], float]) -> list[PlaneMass]:
        """What stands about its `at`, in the parent's axes."""
        return [PlaneMass(number(self.mass), 0j, float(self.moments(number)[1]))]

    def look(self, read: Read) -> WheelAppearance:
        """What pictures show of it."""
        return WheelAppearance(ball=True)


class BallWheel(Wheel):
    """A free ball: carries weight, resists nothing."""

    shape: ClassVar[ContactShape] = "sphere"

    type: Literal["ball"] = "ball"
    contact: Literal["free"] = default("free", "A ball is always free.")


class GrippingWheel(Wheel):
    """What the ground pushes along it, too, by a contact law whose keys stand among its own."""

    standard: ClassVar[str] = LAWS.default

    contact: Annotated[ContactLaw, LAWS] = Field(
        default_factory=Ideal,
        description="How it meets the ground, by the name of a contact law. Default ideal.",
    )

    @property
    def law(self) -> ContactLaw:
        """How it meets the ground."""
        return self.contact

    @classmethod
    def keys_of(cls, data: Mapping[str, object]) -> list[str]:
        """Its own keys and those of its contact law."""
        law = data.get("contact")
        own = type(law).model_fields if isinstance(law, ContactLaw) else LAWS.named(cls.standard).model_fields
        return [*cls.model_fields, *(key for key in own if key != "type")]

    @model_validator(mode="before")
    @classmethod
    def _lawful(cls, data: object) -> object:
        """The wheel's keys with the contact law's put into a component of their own."""
        if not isinstance(data, Mapping) or isinstance(data.get("contact"), ContactLaw):
            return data
        given = data.get("contact", cls.standard)
        if isinstance(given, Mapping):
            return data
        kind = LAWS.named(given)
        keys = kind.model_fields.keys() - {"type"}
        law = {key: data[key] for key in data if key in keys}
        rest = {key: value for key, value in data.items() if key not in keys}
        read = LAWS.read(law | {"type": given}) if "contact" in data else kind.model_validate(law)
        return rest | {"contact": read}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """The keys of all contact laws stand among the wheel's own."""
        found = handler.resolve_ref_schema(handler(schema))
        properties = found["properties"]
        words = cls.model_fields["contact"].description
        properties["contact"] = {"enum": list(LAWS), "default": cls.standard, "description": words}
        for law in LAWS:
            own = LAWS.named(law).model_json_schema()["properties"]
            properties |= {key: value for key, value in own.items() if key != "type"}
        return found


class RollingWheel(GrippingWheel):
    """A wheel that spins about an axle: coordinate NAME.angle, speed NAME.rate."""

    heading: Direction = default(0.0, "Angle of its rolling direction about z, from the parent's x (rad).")
    width: NotNegative[Length] = default(0.0, "Width (m), default 0.")
    inertia: WheelInertia = default({}, "Default: a solid cylinder.")
    load: NotNegative[Force] | None = default(
        None, "Weight on the wheel (N). Default: its share of the robot's."
    )
    damping: AngularDamping = default(0.0, "Viscous friction of the bearing (N m s/rad), default 0.")
    coulomb: NotNegative[Torque] = default(0.0, "Dry friction of the bearing (N m), default 0.")
    coulomb_speed: Positive[Rate] = default(
        1e-3, "Rate below which dry friction is smoothed (rad/s), default 1e-3."
    )
    limits: DriveLimits = default({}, "What its drive can do, for plans of motions. Default: anything.")

    def moments(self, read: Read) -> tuple[Scalar, Scalar]:
        """About its axle and about a diameter (kg m²): a solid cylinder's, m R²/2 and m (3R² + w²)/12, unless given."""
        mass, radius, width = read(self.mass), read(self.radius), read(self.width)
        axle = mass * radius * radius / 2 if self.inertia.axle is None else read(self.inertia.axle)
        cylinder = mass * (3 * radius * radius + width * width) / 12
        return axle, cylinder if self.inertia.diameter is None else read(self.inertia.diameter)

    def directions(self, read: Read) -> tuple[ContactDirection, ...]:
        """Along its heading and along its axle."""
        return TRACTION, SIDE_FORCE

    @property
    def fixed_load(self) -> Value | None:
        """Its key `load`."""
        return self.load

    def look(self, read: Read) -> WheelAppearance:
        """A disc or a cylinder."""
        return WheelAppearance(read(self.width))

    def default_counts(self, field: str) -> bool:
        """The smoothing rate matters where the bearing has dry friction."""
        return field == "coulomb_speed" and "coulomb" in self.model_fields_set


class TrackWheel(RollingWheel):
    """A track around a sprocket: it touches terrain at points along its lower flat, and runs along all of them.

    Its frame is the sprocket's. The flat lies the radius below and runs forward from it by `length`.
    """

    binds: ClassVar[bool] = True
    shape: ClassVar[ContactShape] = "points"
    shaping: ClassVar[tuple[str, ...]] = ("points",)

    type: Literal["track"] = "track"
    length: Length = Field(description="Length of its lower flat (m), forward from the sprocket.")
    points: int = Field(3, ge=2, le=20, strict=True, description="Points at which it touches, default 3.")

    def touches(self, read: Read) -> tuple[tuple[Scalar, Scalar, Scalar], ...]:
        """Evenly along the flat."""
        length, radius, last = read(self.length), read(self.radius), self.points - 1
        return tuple((length * (place / last), 0, -radius) for place in range(self.points))


class PivotedWheel(RollingWheel):
    """A wheel on a fork that turns about the vertical at `at`: also NAME.steering, NAME.steering_rate."""

    fork: Body = default({}, "What turns with it. Default: massless.")
    steering_damping: AngularDamping = default(0.0, "Friction of the pivot (N m s/rad), default 0.")
    limits: ModuleLimits = default({}, "What its drive and steering can do, for plans of motions.")

    def centre(self, read: Read) -> tuple[Scalar, Scalar]:
        """Where the wheel's centre lies in the fork's frame, x along the heading (m)."""
        return 0, 0

    def plane_masses(self, number: Callable[[Value], float]) -> list[PlaneMass]:
        """The fork's and the wheel's."""
        turned, fork = cmath.exp(1j * number(self.heading)), self.fork
        (wheel,) = super().plane_masses(number)
        at = turned * complex(*map(number, fork.center_of_mass[:2]))
        pivot = PlaneMass(number(fork.mass), at, number(fork.inertia.zz))
        return [pivot, wheel._replace(at=turned * complex(*map(float, self.centre(number))))]


class FixedWheel(RollingWheel):
    """Rolls in one direction of its parent. Coordinate NAME.angle, speed NAME.rate."""

    binds: ClassVar[bool] = True

    type: Literal["fixed"] = "fixed"


class SteeredWheel(PivotedWheel):
    """Turns about the vertical through its centre. Also NAME.steering, NAME.steering_rate."""

    is_steered: ClassVar[bool] = True
    binds: ClassVar[bool] = True

    type: Literal["steered"] = "steered"


class KingpinWheel(PivotedWheel):
    """Steered about a pivot beside it, as a car's front wheels are: turning it rolls it. Also NAME.steering.

    A force along the wheel turns it, too, with the scrub radius as its arm: R φ̇ = v − s (ω + δ̇), v at the pivot.
    """

    is_steered: ClassVar[bool] = True
    binds: ClassVar[bool] = True

    type: Literal["kingpin"] = "kingpin"
    scrub: Length = Field(
        description="Scrub radius (m): the wheel's centre is this far to the left of the pivot."
    )

    def centre(self, read: Read) -> tuple[Scalar, Scalar]:
        """Beside the pivot, on the axle's line."""
        return 0, read(self.scrub)


_TRAIL = NumberBound(
    partial(lt, 0.0),
    "must be greater than zero",
    "a caster trails behind its pivot; for a wheel on its own pivot use type: steered",
)


class CasterWheel(PivotedWheel):
    """Trails behind a free vertical pivot. Also NAME.steering, NAME.steering_rate."""

    is_caster: ClassVar[bool] = True

    type: Literal["caster"] = "caster"
    offset: Annotated[Length, _TRAIL] = Field(
        description="Trail (m), > 0: the wheel's centre is this far behind the pivot."
    )

    def centre(self, read: Read) -> tuple[Scalar, Scalar]:
        """Behind the pivot."""
        return -read(self.offset), 0


class RollerWheel(RollingWheel):
    """A wheel with rollers on its rim, on which it slides freely."""

    roller_angle: Direction

    def directions(self, read: Read) -> tuple[ContactDirection, ...]:
        """Along the axis of the roller on the ground; straight ahead where that is 90° and no parameter."""
        given = self.roller_angle
        if not (given.is_parameter or given.names) and abs(given.number - math.pi / 2) < 1e-12:
            return (ContactDirection("roller_force", "rolling", 1, 0),)
        angle = read(given)
        return (ContactDirection("roller_force", "rolling", sin(angle), cos(angle)),)

    def look(self, read: Read) -> WheelAppearance:
        """A cylinder with rollers on it."""
        return WheelAppearance(read(self.width), roller_angle=read(self.roller_angle))


class MecanumWheel(RollerWheel):
    """Rollers at an angle on its rim."""

    type: Literal["mecanum"] = "mecanum"
    roller_angle: Direction = Field(
        description=f"{_ROLLER}: -45 deg at the front left and rear right, 45 deg at the others."
    )


class OmniWheel(RollerWheel):
    """Rollers across its rim: it slides sideways freely."""

    type: Literal["omni"] = "omni"
    roller_angle: Direction = default("90 deg", f"{_ROLLER}, default 90 deg.")


WHEELS.add(
    FixedWheel, SteeredWheel, KingpinWheel, CasterWheel, MecanumWheel, OmniWheel, BallWheel, TrackWheel
)  # fmt: skip
LAWS.reserve(key for wheel in WHEELS for key in WHEELS.named(wheel).model_fields)
# Feet, in a file of their own.
WHEELS.later("trundle.robot.feet", "foot")
