"""Robot: the whole description, checked."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Any, ClassVar, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from trundle.errors import InputError
from trundle.robot import parameters as _parameters
from trundle.robot.bodies import Body, Joint
from trundle.robot.checks import check_robot
from trundle.robot.couplings import Coupling
from trundle.robot.gearing import measured
from trundle.robot.loops import Loop
from trundle.robot.motors import Motor
from trundle.robot.noun import Identifier, Noun, default
from trundle.robot.overrides import override
from trundle.robot.parameters import Resolver
from trundle.robot.values import Gravity, Plain, Value
from trundle.robot.walk import keyed_fields, plain
from trundle.robot.wheels import Wheel

Base = Literal["fixed", "planar", "floating"]


class Robot(Noun):
    """A robot: a base body, the bodies on joints, wheels, motors, and named parameters. All in SI and radians."""

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

    urdf: str | None = Field(
        None,
        description="The URDF text it was read from, for writing back what has no place above.",
        repr=False,
    )

    @model_validator(mode="before")
    @classmethod
    def _default_base(cls, data: Any) -> Any:
        if isinstance(data, Mapping) and "base" not in data:
            return {**data, "base": "planar" if data.get("wheels") else "fixed"}
        return data

    @model_validator(mode="after")
    def _check(self) -> Robot:
        # The model is frozen for its users, but it isn't finished yet: its values learn their keys here.
        vars(self)["couplings"] = measured(self)
        vars(self).update(keyed_fields(self))
        problems = check_robot(self)
        if problems:
            raise PydanticCustomError(
                "robot", "{message}", {"message": problems[0].message, "problems": problems}
            )
        return self

    def __repr__(self) -> str:
        from trundle import to_text

        return to_text(self)

    __str__ = __repr__

    def _repr_svg_(self) -> str:
        from trundle import to_svg

        return to_svg(self)

    def _repr_html_(self) -> str:
        from trundle import to_html

        return to_html(self)

    def default_counts(self, field: str) -> bool:
        """Gravity is a parameter even where nobody wrote it."""
        return field == "gravity"

    def parameter_values(self, changes: Mapping[str, float | str | Value] | None = None) -> dict[str, float]:
        """Every parameter and its number in SI, some of them changed; raises InputError if the changes make no sense.

        The names and their order don't depend on the changes, so equations derived once hold for all of them.
        """
        return override(self, changes) if changes else _parameters.parameter_values(self)

    def parameter_units(self) -> dict[str, str]:
        """Every parameter and its unit as text ("" where the description doesn't show it)."""
        return _parameters.parameter_units(self)

    def resolver(self, scope: Mapping[str, Any] | None = None) -> Resolver:
        """What turns the values of this robot into scalars: by default its own numbers."""
        return Resolver(self, self.parameter_values() if scope is None else scope)

    def number(self, value: Value) -> float:
        """Number of one of this robot's values, in SI."""
        return float(self.resolver()(value))

    def with_parameters(self, changes: Mapping[str, float | str]) -> Robot:
        """Another robot with some parameters (named ones, formulas, or numbers by key path) written anew."""
        data = plain(self)
        for name, written in changes.items():
            target: Any = data
            path = ("parameters", name) if name in self.parameters else _parameters.path_of(self, name)
            for part, after in pairwise(path):
                if isinstance(target, dict):
                    target = target.setdefault(part, {} if isinstance(after, str) else [0.0, 0.0, 0.0])
                else:
                    target = target[part]
            target[path[-1]] = written
        return parse_robot(data)


def parse_robot(data: Mapping[str, Any]) -> Robot:
    """A robot from plain data, as it stands under `robot:` in a file; raises InputError."""
    if not isinstance(data, Mapping):
        raise InputError(f"expected a mapping of the robot's keys, got {type(data).__name__}")
    return Robot(**{str(key): value for key, value in data.items()})
