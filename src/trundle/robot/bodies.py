"""Bodies and the joints that carry them.

What resists or stops a joint's motion about or along one axis (springs, dampers, dry friction, a drive's inertia,
stops) is the same set of keys wherever such an axis is: on the joint itself where it has one, in a part of its own
where it has two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal, NamedTuple

from pydantic import AfterValidator, Field

from trundle.errors import InputError
from trundle.robot.anatomy import checked_movement
from trundle.robot.component import Component, Identifier, default
from trundle.robot.kinds import Kind, Registry
from trundle.robot.shapes import SHAPES, Shape
from trundle.robot.values import (
    Angle,
    Angles,
    AngularDamping,
    AngularStiffness,
    Axis,
    Damping,
    Force,
    Length,
    Mass,
    Moment,
    NotNegative,
    Position,
    Positive,
    Rate,
    Speed,
    Stiffness,
    Torque,
)

_SPEED_TEXT = "below it the friction is smoothed to zero"


MOMENTS = ("xx", "yy", "zz", "xy", "xz", "yz")


class Inertia(Component):
    """Moments and products of inertia about the centre of mass, in the body's axes; xy = ∫ -x y dm."""

    called: ClassVar[str] = "inertia"

    xx: NotNegative[Moment] = default(0.0, "Moment about x (kg m^2), default 0.")
    yy: NotNegative[Moment] = default(0.0, "Moment about y (kg m^2), default 0.")
    zz: NotNegative[Moment] = default(0.0, "Moment about z (kg m^2), default 0.")
    xy: Moment = default(0.0, "Product of x and y (kg m^2), default 0.")
    xz: Moment = default(0.0, "Product of x and z (kg m^2), default 0.")
    yz: Moment = default(0.0, "Product of y and z (kg m^2), default 0.")
    as_given: bool = default(
        False,
        "Take moments that no rigid body can have, as files from elsewhere may hold them. Default false.",
    )


class Body(Component):
    """A rigid body: mass, centre of mass and inertia."""

    called: ClassVar[str] = "body"
    instead: ClassVar[Mapping[str, str]] = {
        key: f"write it under robot.{key}, with `parent:` and this body's name or its joint's"
        for key in ("wheels", "joints")
    }

    name: Identifier | None = default(None, "Another name for the body, for `parent:`. Default: its joint's.")
    mass: Mass = default(0.0, "Mass (kg), default 0.")
    center_of_mass: Position = default(
        (0.0, 0.0, 0.0),
        "Centre of mass in the body's frame (m). On wheels that slip, a z that is no plain 0 shifts their loads.",
    )
    inertia: Inertia = default({}, "Inertia about the centre of mass.")
    shapes: dict[Identifier, Annotated[Shape, SHAPES]] = default(
        {}, "What it looks like, by name; nothing in the equations. Default: drawn from joints and inertia."
    )


class DriveAxis(NamedTuple):
    """One axis of a joint that a motor can drive: the part of the joint that holds its keys ("" for the joint itself),
    its place among the joint's speeds, and the label of its coordinate.
    """

    part: str
    place: int
    coordinate: str
    sliding: bool = False


def _check_drives(kind: type[Kind]) -> None:
    """Raise InputError where a joint's class drives an axis that it doesn't have."""
    assert issubclass(kind, Joint)
    for axis in kind.drives:
        keys = kind if not axis.part else getattr(kind.model_fields.get(axis.part), "annotation", None)
        if not (isinstance(keys, type) and issubclass(keys, (Turning, Sliding))):
            raise InputError(
                f"{kind.__name__} has nothing to drive by {axis.part or kind.__name__!r}",
                hint="name a field of its own that is a Turning or a Sliding, or derive the joint from one of them",
            )
        if axis.place >= len(kind.speeds) or axis.coordinate not in kind.coordinates:
            raise InputError(
                f"{kind.__name__} drives speed {axis.place} and the coordinate {axis.coordinate!r}",
                hint=f"its speeds are {', '.join(kind.speeds)}, its coordinates {', '.join(kind.coordinates)}",
            )


JOINTS = Registry("joint", "revolute", check=_check_drives)


class Joint(Kind):
    """What carries a body and lets it move."""

    family: ClassVar[Registry] = JOINTS
    # How diagrams show it: "hinge" a ring, "slide" a box with an arrow along its axis, "ball" filled, "weld" a square.
    symbol: ClassVar[str] = "hinge"
    # Whether it has an axis, which its key `axis` gives.
    directed: ClassVar[bool] = False
    # Whether it takes its body away from its parent in more than one direction: no bar between them is drawn.
    roams: ClassVar[bool] = False
    coordinates: ClassVar[tuple[str, ...]] = ()
    speeds: ClassVar[tuple[str, ...]] = ()
    drives: ClassVar[tuple[DriveAxis, ...]] = ()
    # Of a joint from outside the package its formulas, a `trundle.mechanics.joints.JointKind`.
    formulas: ClassVar[object] = None

    parent: str = default("base", 'What it hangs on: "base", a joint, or a body\'s name. Default base.')
    at: Position = default((0.0, 0.0, 0.0), "Where the joint is, in the parent's frame (m).")
    rpy: Angles = default((0.0, 0.0, 0.0), "Roll, pitch, yaw of the joint's frame (rad), R = Rz Ry Rx.")
    body: Body = default({}, "The body it carries. Default: a massless one.")

    @property
    def tilts(self) -> bool:
        """Whether it only turns, and about another axis than z."""
        return False


class FixedJoint(Joint):
    """Holds its body to its parent."""

    symbol: ClassVar[str] = "weld"

    type: Literal["fixed"] = "fixed"


class _Resisted(Component):
    """What every axis with springs and stops shares."""

    def default_counts(self, field: str) -> bool:
        """The smoothing widths matter where there is dry friction, or a stop."""
        given = self.model_fields_set
        if field == "limit_width":
            return "limit_stiffness" in given and bool({"lower", "upper"} & given)
        return field == "coulomb_speed" and "coulomb" in given


class UsualAngle(Component):
    """What an angle usually is: inverse kinematics begins there and chooses by it; it neither stops nor weighs."""

    called: ClassVar[str] = "usual angle"
    in_equations: ClassVar[bool] = False

    lower: Angle | None = default(None, "Least usual angle (rad). Default: the stop's.")
    upper: Angle | None = default(None, "Greatest usual angle (rad). Default: the stop's.")
    value: Angle = default(0.0, "Where inverse kinematics begins (rad), default 0.")


class UsualPosition(Component):
    """What a position usually is: inverse kinematics begins there."""

    called: ClassVar[str] = "usual position"
    in_equations: ClassVar[bool] = False

    lower: Length | None = default(None, "Least usual position (m). Default: the stop's.")
    upper: Length | None = default(None, "Greatest usual position (m). Default: the stop's.")
    value: Length = default(0.0, "Where inverse kinematics begins (m), default 0.")


class Turning(_Resisted):
    """Springs, friction, a drive's inertia and stops about an axis."""

    called: ClassVar[str] = "turning axis"

    stiffness: AngularStiffness = default(0.0, "Spring (N m/rad), default 0.")
    rest: Angle = default(0.0, "Angle at which the spring is at rest (rad), default 0.")
    damping: AngularDamping = default(0.0, "Viscous damping (N m s/rad), default 0.")
    coulomb: NotNegative[Torque] = default(0.0, "Dry friction torque (N m), default 0.")
    coulomb_speed: Positive[Rate] = default(
        1e-3, f"Dry friction's smoothing rate (rad/s), {_SPEED_TEXT}. Default 1e-3."
    )
    armature: NotNegative[Moment] = default(0.0, "Inertia of the drive about the axis (kg m^2), default 0.")
    lower: Angle | None = default(None, "Least angle (rad). Default: none.")
    upper: Angle | None = default(None, "Greatest angle (rad). Default: none.")
    limit_stiffness: AngularStiffness = default(
        0.0, "Spring of the stops at lower and upper (N m/rad). Default 0: nothing stops it there."
    )
    limit_damping: AngularDamping = default(0.0, "Damping of the stops (N m s/rad), default 0.")
    limit_width: Positive[Angle] = default(1e-3, "Angle over which a stop sets in (rad), default 1e-3.")
    usual: UsualAngle = default({}, "What the angle usually is: inverse kinematics chooses by it.")
    movement: Annotated[str, AfterValidator(checked_movement)] | None = default(
        None,
        'What a person\'s joint does as the angle grows: "right knee flexion". Default: read off names of gait models.',
    )


class Sliding(_Resisted):
    """Springs, friction, a drive's mass and stops along an axis."""

    called: ClassVar[str] = "sliding axis"

    stiffness: Stiffness = default(0.0, "Spring (N/m), default 0.")
    rest: Length = default(0.0, "Position at which the spring is at rest (m), default 0.")
    damping: Damping = default(0.0, "Viscous damping (N s/m), default 0.")
    coulomb: NotNegative[Force] = default(0.0, "Dry friction force (N), default 0.")
    coulomb_speed: Positive[Speed] = default(
        1e-3, f"Dry friction's smoothing speed (m/s), {_SPEED_TEXT}. Default 1e-3."
    )
    armature: Mass = default(0.0, "Mass of the drive along the axis (kg), default 0.")
    lower: Length | None = default(None, "Least position (m). Default: none.")
    upper: Length | None = default(None, "Greatest position (m). Default: none.")
    limit_stiffness: Stiffness = default(
        0.0, "Spring of the stops at lower and upper (N/m). Default 0: nothing stops it there."
    )
    limit_damping: Damping = default(0.0, "Damping of the stops (N s/m), default 0.")
    limit_width: Positive[Length] = default(1e-3, "Distance over which a stop sets in (m), default 1e-3.")
    usual: UsualPosition = default({}, "What the position usually is: inverse kinematics begins there.")


# What has a `lower` and an `upper`.
LIMITED = (Turning, Sliding, UsualAngle, UsualPosition)


class DirectedJoint(Joint):
    """A joint with an axis."""

    directed: ClassVar[bool] = True

    axis: Axis = default((0.0, 0.0, 1.0), "Axis in the joint's frame; need not have length 1. Default z.")


class RevoluteJoint(Turning, DirectedJoint):
    """Turns about its axis: coordinate NAME.angle, speed NAME.rate."""

    coordinates = ("angle",)
    speeds = ("rate",)
    drives = (DriveAxis("", 0, "angle"),)

    type: Literal["revolute"] = "revolute"

    @property
    def tilts(self) -> bool:
        """Whether its axis isn't z."""
        return any(each.number for each in self.axis[:2])


class PrismaticJoint(Sliding, DirectedJoint):
    """Slides along its axis: coordinate NAME.position, speed NAME.rate."""

    symbol: ClassVar[str] = "slide"
    coordinates = ("position",)
    speeds = ("rate",)
    drives = (DriveAxis("", 0, "position", sliding=True),)

    type: Literal["prismatic"] = "prismatic"


class ScrewJoint(Turning, DirectedJoint):
    """Turns about its axis and advances along it: coordinate NAME.angle, speed NAME.rate."""

    symbol: ClassVar[str] = "slide"
    coordinates = ("angle",)
    speeds = ("rate",)
    drives = (DriveAxis("", 0, "angle"),)

    type: Literal["screw"] = "screw"
    pitch: Length = Field(
        description='Advance per angle (m/rad), negative for a left-hand thread; "5 mm/rev".'
    )


class CylindricalJoint(DirectedJoint):
    """Turns about its axis and slides along it: NAME.angle, NAME.position; speeds NAME.rate, NAME.speed."""

    symbol: ClassVar[str] = "slide"
    coordinates = ("angle", "position")
    speeds = ("rate", "speed")
    drives = (DriveAxis("turn", 0, "angle"), DriveAxis("slide", 1, "position", sliding=True))

    type: Literal["cylindrical"] = "cylindrical"
    turn: Turning = default({}, "Springs, friction and stops about the axis.")
    slide: Sliding = default({}, "Springs, friction and stops along the axis.")


class TwoAxisJoint(DirectedJoint):
    """A joint with two axes; `parallel` says what is wrong with two that are, and what to do about it."""

    parallel: ClassVar[tuple[str, str]] = (
        "its two axes are parallel: together they turn about one axis only",
        "choose axes across each other, or type: revolute",
    )

    axis2: Axis = default((0.0, 1.0, 0.0), "Second axis, in the frame that the first turns. Default y.")


class UniversalJoint(TwoAxisJoint):
    """Turns about two axes, the second carried by the first: NAME.angle_1, .angle_2; NAME.rate_1, .rate_2."""

    symbol: ClassVar[str] = "ball"
    coordinates = ("angle_1", "angle_2")
    speeds = ("rate_1", "rate_2")
    drives = (DriveAxis("first", 0, "angle_1"), DriveAxis("second", 1, "angle_2"))

    type: Literal["universal"] = "universal"
    axis: Axis = default((1.0, 0.0, 0.0), "First axis, fixed in the joint's frame. Default x.")
    first: Turning = default({}, "Springs, friction and stops about the first axis.")
    second: Turning = default({}, "Springs, friction and stops about the second axis.")


class PinSlotJoint(TwoAxisJoint):
    """A pin in a slot: turns about the pin and slides along the slot: NAME.angle, .position; NAME.rate, .speed."""

    symbol: ClassVar[str] = "slide"
    parallel: ClassVar[tuple[str, str]] = (
        "its slot runs along its pin",
        "let axis2 lie across axis, or choose type: cylindrical",
    )
    coordinates = ("angle", "position")
    speeds = ("rate", "speed")
    drives = (DriveAxis("turn", 0, "angle"), DriveAxis("slide", 1, "position", sliding=True))

    type: Literal["pin_slot"] = "pin_slot"
    axis2: Axis = default((1.0, 0.0, 0.0), "The slot, in the joint's frame. Default x.")
    turn: Turning = default({}, "Springs, friction and stops about the pin.")
    slide: Sliding = default({}, "Springs, friction and stops along the slot.")


class SphericalJoint(Joint):
    """Turns any way: the quaternion NAME.q_w to .q_z; NAME.omega_x to .omega_z in the body's own axes."""

    symbol: ClassVar[str] = "ball"
    coordinates = ("q_w", "q_x", "q_y", "q_z")
    speeds = ("omega_x", "omega_y", "omega_z")

    type: Literal["spherical"] = "spherical"
    damping: AngularDamping = default(0.0, "Viscous damping about every axis (N m s/rad), default 0.")


class PlanarJoint(DirectedJoint):
    """Slides in a plane and turns in it: NAME.x, .y, .theta; NAME.v_x, .v_y, .omega in the body's own axes."""

    symbol: ClassVar[str] = "ball"
    roams: ClassVar[bool] = True
    coordinates = ("x", "y", "theta")
    speeds = ("v_x", "v_y", "omega")

    type: Literal["planar"] = "planar"


class FloatingJoint(Joint):
    """Moves any way: NAME.x to .z, .q_w to .q_z; in the body's own axes NAME.v_x to .v_z, .omega_x to .omega_z."""

    symbol: ClassVar[str] = "ball"
    roams: ClassVar[bool] = True
    coordinates = ("x", "y", "z", "q_w", "q_x", "q_y", "q_z")
    speeds = ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z")

    type: Literal["floating"] = "floating"


JOINTS.add(
    RevoluteJoint,
    PrismaticJoint,
    FixedJoint,
    ScrewJoint,
    CylindricalJoint,
    UniversalJoint,
    PinSlotJoint,
    SphericalJoint,
    PlanarJoint,
    FloatingJoint,
)


def drive_axes(joint: Joint) -> dict[str, tuple[DriveAxis, Turning | Sliding]]:
    """What a motor may drive on a joint: the ending of its name ("" or ".slide"), the axis, what has its keys."""
    axes: dict[str, tuple[DriveAxis, Turning | Sliding]] = {}
    for axis in joint.drives:
        component = getattr(joint, axis.part) if axis.part else joint
        assert isinstance(component, (Turning, Sliding))
        axes[f".{axis.part}" if axis.part else ""] = axis, component
    return axes
