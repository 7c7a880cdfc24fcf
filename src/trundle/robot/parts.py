"""What a robot is made of: the fields of a description, not yet checked against each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from trundle.robot.bodies import Body, Joint
from trundle.robot.couplings import Coupling
from trundle.robot.loops import Loop
from trundle.robot.motors import Motor
from trundle.robot.noun import Identifier, Noun, default
from trundle.robot.values import Gravity, Plain
from trundle.robot.wheels import Wheel

Base = Literal["fixed", "planar", "floating"]


class Parts(Noun):
    """The fields of a robot. `Robot` adds the checks that need several of them, and the methods."""

    called: ClassVar[str] = "robot"

    name: str = Field("robot", description="Its name, for titles and files.", pattern=r"^\w[\w .+-]{0,79}$")
    base: Base = Field("fixed", description="How the base moves. Default: planar with wheels, else fixed.")
    gravity: Gravity = default(9.81, "Gravity (m/s^2): straight down, or a vector in the world frame.")
    body: Body | None = Field(None, description="The base's body. A fixed base needs none.")
    joints: dict[Identifier, Joint] = Field(default_factory=dict, description="Joints by name.")
    wheels: dict[Identifier, Wheel] = Field(default_factory=dict, description="Wheels by name.")
    motors: dict[Identifier, Motor] = Field(default_factory=dict, description="Motors by name.")
    couplings: dict[Identifier, Coupling] = Field(default_factory=dict, description="Couplings by name.")
    loops: dict[Identifier, Loop] = Field(default_factory=dict, description="Loop closures by name.")
    parameters: dict[Identifier, Plain] = Field(
        default_factory=dict, description="Named numbers, for use anywhere below, and formulas over them."
    )
    speeds: tuple[str, ...] | None = Field(
        None, description="The independent speeds, by name. Default: chosen for the shortest equations."
    )
    urdf: Annotated[str | None, Field(repr=False)] = Field(
        None, description="The URDF text it was read from, for writing back what has no place above."
    )

    @model_validator(mode="before")
    @classmethod
    def _default_base(cls, data: object) -> object:
        if isinstance(data, Mapping) and "base" not in data:
            return {**data, "base": "planar" if data.get("wheels") else "fixed"}
        return data

    def default_counts(self, field: str) -> bool:
        """Gravity is a parameter even where nobody wrote it."""
        return field == "gravity"
