"""Wheels, by type."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag

from trundle.robot.bodies import Body
from trundle.robot.noun import Noun, default, family
from trundle.robot.values import (
    AngularDamping,
    Direction,
    Force,
    Length,
    Mass,
    Moment,
    Position,
    Rate,
    Ratio,
    Speed,
    Torque,
)

_ROLLER = (
    "Angle from the axle (+y) toward forward (+x) of the axis of the roller that touches the ground (rad)"
)


class WheelInertia(Noun):
    """A wheel's moments of inertia about its centre; what is left out is a solid cylinder's."""

    called: ClassVar[str] = "wheel inertia"
    bounds: ClassVar[dict[str, str]] = {"axle": ">= 0", "diameter": ">= 0"}

    axle: Moment | None = default(None, "About the axle (kg m^2). Default m r^2/2.")
    diameter: Moment | None = default(None, "About a diameter (kg m^2). Default m (3 r^2 + w^2)/12.")


class _Wheel(Noun):
    bounds: ClassVar[dict[str, str]] = {"radius": "> 0", "mass": ">= 0"}

    parent: str = default("base", 'The body it is mounted on: "base", a joint, or a body\'s name.')
    at: Position = default((0.0, 0.0, 0.0), "The wheel's centre in the parent's frame (m).")
    radius: Length = Field(description="Radius (m).")
    mass: Mass = default(0.0, "Mass (kg), default 0.")


class BallWheel(_Wheel):
    """A free ball: carries weight, resists nothing."""

    called: ClassVar[str] = "ball wheel"

    type: Literal["ball"] = Field(description="ball: a free ball.")
    contact: Literal["free"] = default("free", "A ball is always free.")


class _RollingWheel(_Wheel):
    bounds: ClassVar[dict[str, str]] = {
        **_Wheel.bounds,
        "width": ">= 0",
        "friction": ">= 0",
        "slip_speed": "> 0",
        "load": ">= 0",
        "damping": ">= 0",
        "coulomb": ">= 0",
        "coulomb_speed": "> 0",
        "steering_damping": ">= 0",
    }

    heading: Direction = default(0.0, "Angle of its rolling direction about z, from the parent's x (rad).")
    width: Length = default(0.0, "Width (m), default 0.")
    inertia: WheelInertia = default({}, "Default: a solid cylinder.")
    contact: Literal["ideal", "slip", "free"] = default(
        "ideal",
        "ideal: rolls without slipping (a constraint); slip: regularised friction; free: no force at all.",
    )
    friction: Ratio = default(0.8, "Friction coefficient of a slipping contact, default 0.8.")
    slip_speed: Speed = default(0.01, "Slip at which friction nears its full force (m/s), default 0.01.")
    load: Force | None = default(None, "Weight on the wheel (N). Default: its share of the robot's.")
    damping: AngularDamping = default(0.0, "Viscous friction of the bearing (N m s/rad), default 0.")
    coulomb: Torque = default(0.0, "Dry friction of the bearing (N m), default 0.")
    coulomb_speed: Rate = default(1e-3, "Rate below which dry friction is smoothed (rad/s), default 1e-3.")

    def default_counts(self, field: str) -> bool:
        """Friction matters where the wheel slips, the smoothing rate where the bearing has dry friction."""
        if field in ("friction", "slip_speed"):
            return self.contact == "slip"
        return field == "coulomb_speed" and "coulomb" in self.model_fields_set


class FixedWheel(_RollingWheel):
    """Rolls in one direction of its parent. Coordinate NAME.angle, speed NAME.rate."""

    called: ClassVar[str] = "fixed wheel"

    type: Literal["fixed"] = default("fixed", "fixed: rolls straight on (the default).")


class SteeredWheel(_RollingWheel):
    """Turns about the vertical through its centre. Also NAME.steering, NAME.steering_rate."""

    called: ClassVar[str] = "steered wheel"

    type: Literal["steered"] = Field(description="steered: turns about the vertical through its centre.")
    fork: Body = default({}, "What turns with it. Default: massless.")
    steering_damping: AngularDamping = default(0.0, "Friction of the steering (N m s/rad), default 0.")


class CasterWheel(_RollingWheel):
    """Trails behind a free vertical pivot. Also NAME.steering, NAME.steering_rate."""

    called: ClassVar[str] = "caster wheel"
    bounds: ClassVar[dict[str, str]] = {**_RollingWheel.bounds, "offset": "> 0"}

    type: Literal["caster"] = Field(
        description="caster: trails behind a free vertical pivot; `at` is the pivot."
    )
    offset: Length = Field(description="Trail (m), > 0: the wheel's centre is this far behind the pivot.")
    fork: Body = default({}, "What turns with it. Default: massless.")
    steering_damping: AngularDamping = default(0.0, "Friction of the pivot (N m s/rad), default 0.")


class MecanumWheel(_RollingWheel):
    """Rollers at an angle on its rim."""

    called: ClassVar[str] = "mecanum wheel"

    type: Literal["mecanum"] = Field(description="mecanum: rollers at an angle.")
    roller_angle: Direction = Field(
        description=f"{_ROLLER}: -45 deg at the front left and rear right, 45 deg at the others."
    )


class OmniWheel(_RollingWheel):
    """Rollers across its rim: it slides sideways freely."""

    called: ClassVar[str] = "omni wheel"

    type: Literal["omni"] = Field(description="omni: rollers across the rim.")
    roller_angle: Direction = default("90 deg", f"{_ROLLER}, default 90 deg.")


family(FixedWheel, SteeredWheel, CasterWheel, MecanumWheel, OmniWheel, BallWheel)


def _type(data: Any) -> str:
    kind = data.get("type", "fixed") if isinstance(data, Mapping) else getattr(data, "type", "fixed")
    return f"<{kind}>"


Wheel = Annotated[
    Annotated[FixedWheel, Tag("<fixed>")]
    | Annotated[SteeredWheel, Tag("<steered>")]
    | Annotated[CasterWheel, Tag("<caster>")]
    | Annotated[MecanumWheel, Tag("<mecanum>")]
    | Annotated[OmniWheel, Tag("<omni>")]
    | Annotated[BallWheel, Tag("<ball>")],
    Discriminator(_type),
]
