"""Bodies and the joints that carry them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from trundle.robot.noun import Identifier, Noun, default, family
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
    Position,
    Rate,
    Speed,
    Stiffness,
    Torque,
)

_SPEED_TEXT = "below it the friction is smoothed to zero"


class Inertia(Noun):
    """Moments and products of inertia about the centre of mass, in the body's axes; xy = ∫ -x y dm."""

    called: ClassVar[str] = "inertia"
    bounds: ClassVar[dict[str, str]] = {"xx": ">= 0", "yy": ">= 0", "zz": ">= 0"}

    xx: Moment = default(0.0, "Moment about x (kg m^2), default 0.")
    yy: Moment = default(0.0, "Moment about y (kg m^2), default 0.")
    zz: Moment = default(0.0, "Moment about z (kg m^2), default 0.")
    xy: Moment = default(0.0, "Product of x and y (kg m^2), default 0.")
    xz: Moment = default(0.0, "Product of x and z (kg m^2), default 0.")
    yz: Moment = default(0.0, "Product of y and z (kg m^2), default 0.")
    as_given: bool = default(
        False,
        "Take moments that no rigid body can have, as files from elsewhere may hold them. Default false.",
    )


class Body(Noun):
    """A rigid body: mass, centre of mass and inertia."""

    called: ClassVar[str] = "body"
    bounds: ClassVar[dict[str, str]] = {"mass": ">= 0"}

    name: Identifier | None = default(None, "Another name for the body, for `parent:`. Default: its joint's.")
    mass: Mass = default(0.0, "Mass (kg), default 0.")
    center_of_mass: Position = default((0.0, 0.0, 0.0), "Centre of mass in the body's frame (m).")
    inertia: Inertia = default({}, "Inertia about the centre of mass.")


class _Joint(Noun):
    parent: str = default("base", 'What it hangs on: "base", a joint, or a body\'s name. Default base.')
    at: Position = default((0.0, 0.0, 0.0), "Where the joint is, in the parent's frame (m).")
    rpy: Angles = default((0.0, 0.0, 0.0), "Roll, pitch, yaw of the joint's frame (rad), R = Rz Ry Rx.")
    body: Body = default({}, "The body it carries. Default: a massless one.")


class FixedJoint(_Joint):
    """Holds its body to its parent."""

    called: ClassVar[str] = "fixed joint"

    type: Literal["fixed"] = Field(description="fixed: no motion.")


class _MovingJoint(_Joint):
    bounds: ClassVar[dict[str, str]] = {
        "stiffness": ">= 0",
        "damping": ">= 0",
        "coulomb": ">= 0",
        "coulomb_speed": "> 0",
        "armature": ">= 0",
    }

    axis: Axis = default((0.0, 0.0, 1.0), "Axis in the joint's frame; need not have length 1. Default z.")

    def default_counts(self, field: str) -> bool:
        """The smoothing speed matters where there is Coulomb friction."""
        return field == "coulomb_speed" and "coulomb" in self.model_fields_set


class RevoluteJoint(_MovingJoint):
    """Turns about its axis: coordinate NAME.angle, speed NAME.rate."""

    called: ClassVar[str] = "revolute joint"

    type: Literal["revolute"] = Field(description="revolute: turns about the axis.")
    stiffness: AngularStiffness = default(0.0, "Spring (N m/rad), default 0.")
    rest: Angle = default(0.0, "Angle at which the spring is at rest (rad), default 0.")
    damping: AngularDamping = default(0.0, "Viscous damping (N m s/rad), default 0.")
    coulomb: Torque = default(0.0, "Dry friction torque (N m), default 0.")
    coulomb_speed: Rate = default(
        1e-3, f"Dry friction's smoothing rate (rad/s), {_SPEED_TEXT}. Default 1e-3."
    )
    armature: Moment = default(0.0, "Inertia of the drive about the axis (kg m^2), default 0.")


class PrismaticJoint(_MovingJoint):
    """Slides along its axis: coordinate NAME.position, speed NAME.rate."""

    called: ClassVar[str] = "prismatic joint"

    type: Literal["prismatic"] = Field(description="prismatic: slides along the axis.")
    stiffness: Stiffness = default(0.0, "Spring (N/m), default 0.")
    rest: Length = default(0.0, "Position at which the spring is at rest (m), default 0.")
    damping: Damping = default(0.0, "Viscous damping (N s/m), default 0.")
    coulomb: Force = default(0.0, "Dry friction force (N), default 0.")
    coulomb_speed: Speed = default(
        1e-3, f"Dry friction's smoothing speed (m/s), {_SPEED_TEXT}. Default 1e-3."
    )
    armature: Mass = default(0.0, "Mass of the drive along the axis (kg), default 0.")


family(RevoluteJoint, PrismaticJoint, FixedJoint)


def _type(data: Any) -> str:
    kind = data.get("type", "revolute") if isinstance(data, Mapping) else getattr(data, "type", "revolute")
    return f"<{kind}>"


Joint = Annotated[
    Annotated[RevoluteJoint, Tag("<revolute>")]
    | Annotated[PrismaticJoint, Tag("<prismatic>")]
    | Annotated[FixedJoint, Tag("<fixed>")],
    Discriminator(_type),
]
