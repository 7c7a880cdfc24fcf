"""Feet: wheels without an axle, which stand on terrain."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from trundle.robot.component import default
from trundle.robot.contact import LAWS, ContactLaw
from trundle.robot.kinds import Read
from trundle.robot.values import Length, NotNegative, problem
from trundle.robot.wheels import WHEELS, ContactDirection, ContactShape, GrippingWheel


def _linear() -> ContactLaw:
    law = LAWS.read({"type": "linear"})
    assert isinstance(law, ContactLaw)
    return law


class FootWheel(GrippingWheel):
    """A foot: a point or a sphere that stands on terrain, held to its parent. It has no axle, so it slides or stands.

    Its directions are the world's x and y, laid onto the ground.
    """

    shape: ClassVar[ContactShape] = "sphere"
    plane: ClassVar[bool] = False
    standard: ClassVar[str] = "linear"
    called: ClassVar[str] = "foot"

    type: Literal["foot"] = "foot"
    radius: NotNegative[Length] = default(0.0, "Radius of its sphere (m), default 0: a point.")
    contact: Annotated[ContactLaw, LAWS] = Field(
        default_factory=_linear,
        description="How it meets the ground, by the name of a contact law. Default linear.",
    )

    def directions(self, read: Read) -> tuple[ContactDirection, ...]:
        """Along the world's x and y."""
        return ContactDirection("friction_x", "x", 1, 0), ContactDirection("friction_y", "y", 0, 1)

    @model_validator(mode="after")
    def _still(self) -> FootWheel:
        """Refuse laws of wheels that spin."""
        if self.contact.spins:
            message = f"a foot doesn't spin, as the contact law {self.contact.type} needs it"
            raise problem(message, "write contact: linear, or slip", ("contact",))
        return self


WHEELS.add(FootWheel)
