"""What a robot is made of: the fields of a description, not yet checked against each other."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from trundle.choices import Base
from trundle.errors import InputError
from trundle.robot.batteries import Battery, feeds
from trundle.robot.bodies import JOINTS, Body, Joint
from trundle.robot.component import Component, Identifier, components, default, own_values
from trundle.robot.constraint import CONSTRAINTS, Constraint
from trundle.robot.controllers import CONTROLLERS, Controller
from trundle.robot.couplings import COUPLINGS, Coupling
from trundle.robot.loops import LOOPS, Loop
from trundle.robot.motor import MOTORS, Motor, WoundMotor
from trundle.robot.problems import NO_NAME, Path
from trundle.robot.sensor import SENSORS, Sensor
from trundle.robot.values import Gravity, Plain, Value, describe, problem
from trundle.robot.wheels import WHEELS, RollingWheel, Wheel

if TYPE_CHECKING:
    from trundle.robot.axles import WheelAxle

FAMILIES = {
    "joints": "joint",
    "wheels": "wheel",
    "motors": "motor",
    "batteries": "battery",
    "couplings": "coupling",
    "loops": "loop",
    "controllers": "controller",
    "sensors": "sensor",
    "constraints": "constraint",
}
# More than this is a mistake or an attack; checks that compare everything with everything stay quick.
_MOST = {**dict.fromkeys(FAMILIES, 1000), "parameters": 10_000}


def named(description: str) -> Any:
    """A field that maps names to components, empty by default."""
    return Field(default_factory=dict, description=description)


def _short(name: str) -> str:
    """Refuse a name of more than 80 signs. In the pattern, {0,79} of all letters there are takes 30 ms to build."""
    if len(name) > 80:
        message, hint = NO_NAME
        raise problem(message.format(came=describe(name)), hint)
    return name


def base_by(wheels: object) -> Base:
    """The base that a robot with these wheels, as components or plain data, has where nobody says it."""
    if not wheels:
        return "fixed"
    return (
        "planar"
        if not isinstance(wheels, Mapping) or all(_on_plane(wheel) for wheel in wheels.values())
        else "floating"
    )


def _on_plane(wheel: object) -> bool:
    """Whether a wheel can carry a planar base; one that can't be read is told of later."""
    if isinstance(wheel, Wheel):
        return wheel.plane
    kind = wheel.get("type", WHEELS.default) if isinstance(wheel, Mapping) else WHEELS.default
    try:
        found = WHEELS.named(kind)
    except (PydanticCustomError, InputError):
        return True
    return not issubclass(found, Wheel) or found.plane


class Parts(Component):
    """The fields of a robot. `Robot` adds the checks that need several of them, and the methods."""

    tunable: ClassVar[tuple[str, ...]] = ("gravity",)
    called: ClassVar[str] = "robot"

    name: Annotated[str, Field(pattern=r"^\w[\w .+-]*$"), AfterValidator(_short)] = Field(
        default="robot",
        description="Its name, for titles and files.",
        json_schema_extra={"pattern": r"^\w[\w .+-]{0,79}$"},
    )
    base: Base = Field(
        default="fixed",
        description="How the base moves. Default: planar with wheels, floating with feet, else fixed.",
    )
    gravity: Gravity = default(
        9.81,
        "Gravity (m/s^2): straight down, or a vector in the world frame; a tilted one is a slope, for wheels too.",
    )
    body: Body | None = Field(default=None, description="The base's body. A fixed base needs none.")
    joints: dict[Identifier, Annotated[Joint, JOINTS]] = named("Joints by name.")
    wheels: dict[Identifier, Annotated[Wheel, WHEELS]] = named("Wheels by name, tracks and feet among them.")
    motors: dict[Identifier, Annotated[Motor, MOTORS]] = named("Motors by name.")
    batteries: dict[Identifier, Battery] = named("Batteries by name.")
    couplings: dict[Identifier, Annotated[Coupling, COUPLINGS]] = named("Couplings by name.")
    loops: dict[Identifier, Annotated[Loop, LOOPS]] = named("Loop closures by name.")
    controllers: dict[Identifier, Annotated[Controller, CONTROLLERS]] = named(
        "Controllers by name: what drives the motors by what the robot does."
    )
    sensors: dict[Identifier, Annotated[Sensor, SENSORS]] = named(
        "Sensors by name: what they tell of the robot on a plane, with noise, for logs and estimators."
    )
    constraints: dict[Identifier, Annotated[Constraint, CONSTRAINTS]] = named(
        "Constraints by name: what limits planned motions beside wheels, motors, batteries and the floor."
    )
    parameters: dict[Identifier, Plain] = Field(
        default_factory=dict, description="Named numbers, for use anywhere below, and formulas over them."
    )
    speeds: tuple[str, ...] | None = Field(
        default=None,
        description="The independent speeds, by name. Default: chosen for the shortest equations.",
    )
    urdf: Annotated[str | None, Field(repr=False)] = Field(
        default=None,
        description="The URDF file that it adds to, relative to this file; or that file's text, for writing it back.",
    )
    folder: Annotated[str | None, Field(repr=False)] = Field(
        default=None,
        description="Where the names of mesh files start from. Default: the folder of the file it was read from.",
    )

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, data: object) -> object:
        """Families that are too large are refused before they are read, which takes a millisecond a wheel."""
        for family, most in _MOST.items():
            given = data.get(family) if isinstance(data, Mapping) else None
            if isinstance(given, Mapping) and len(given) > most:
                raise problem(f"{len(given)} {family}; a description may have {most}", at=(family,))
        return data

    @model_validator(mode="before")
    @classmethod
    def _default_base(cls, data: object) -> object:
        if isinstance(data, Mapping) and "base" not in data:
            return {**data, "base": base_by(data.get("wheels"))}
        return data

    @cached_property
    def every_component(self) -> tuple[tuple[Path, Component], ...]:
        """Every component inside the robot, with its key path: robots are frozen, so one walk serves all."""
        return tuple(components(self))[
            1:
        ]  # without the robot: one that held itself could be compared with no other

    @cached_property
    def every_value(self) -> tuple[tuple[Path, Value], ...]:
        """Every Value of the robot with its key path."""
        places: list[tuple[Path, Component]] = [((), self), *self.every_component]
        return tuple(value for path, component in places for value in own_values(component, path))

    @cached_property
    def own_numbers(self) -> dict[str, float]:
        """Every parameter and its number in SI: named ones first, then automatic ones in the order of the fields."""
        named = {name: value.number for name, value in self.parameters.items() if value.is_parameter}
        places = [(path, value) for path, value in self.every_value if path[0] != "parameters"]
        return named | {value.key: value.number for _, value in places if value.is_parameter}

    @cached_property
    def axles(self) -> tuple[WheelAxle, ...]:
        """The axles that wheels form, exactly or but for rounding."""
        from trundle.robot.axles import axles_of  # late: it is about these fields

        return axles_of(self)

    @cached_property
    def said(self) -> set[Path]:
        """Of which places of this robot something was said."""
        return set()

    @property
    def rolling(self) -> dict[str, RollingWheel]:
        """The wheels that spin about an axle."""
        return {name: wheel for name, wheel in self.wheels.items() if isinstance(wheel, RollingWheel)}

    @property
    def fed(self) -> dict[str, tuple[str, ...]]:
        """The motors that each battery feeds."""
        wound = {name: motor.battery for name, motor in self.motors.items() if isinstance(motor, WoundMotor)}
        return feeds(self.batteries, wound)
