"""What bodies look like: boxes, cylinders, spheres and meshes in a body's frame. Nothing of it is in the equations."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from trundle.errors import InputError
from trundle.robot import units
from trundle.robot.component import default
from trundle.robot.kinds import Kind, Registry
from trundle.robot.values import Angles, Length, Position, Positive, ReadsVector, ValueVector, problem


def _check(kind: type[Kind]) -> None:
    if not issubclass(kind, (Box, Cylinder, Sphere, Mesh)):
        raise InputError(
            f"{kind.__name__} is not a shape that can be drawn",
            hint="derive it from trundle.robot.shapes.Box, Cylinder, Sphere or Mesh",
        )


SHAPES = Registry("shape", "box", check=_check)


class Shape(Kind):
    """A shape on a body."""

    family: ClassVar[Registry] = SHAPES
    in_equations: ClassVar[bool] = False

    at: Position = default((0.0, 0.0, 0.0), "Its centre (a mesh's origin) in the body's frame (m).")
    rpy: Angles = default((0.0, 0.0, 0.0), "Roll, pitch, yaw of its axes there (rad), R = Rz Ry Rx.")
    colour: Annotated[str, Field(pattern=r"^#[0-9a-fA-F]{6}([0-9a-fA-F]{2})?$")] | None = default(
        None, 'As "#rrggbb", or "#rrggbbaa" for what shows what is behind it. Default: a body\'s own.'
    )


class Box(Shape):
    """A box with its edges along its axes."""

    type: Literal["box"] = "box"
    size: Position = Field(description="Its edges along x, y and z (m), > 0.")

    @field_validator("size")
    @classmethod
    def _has_size(cls, size: ValueVector) -> ValueVector:
        for place, edge in enumerate(size):
            if edge.constant is not None and edge.constant <= 0:
                raise problem("must be greater than zero", at=(place,))
        return size


class Cylinder(Shape):
    """A cylinder about its z axis."""

    type: Literal["cylinder"] = "cylinder"
    radius: Positive[Length] = Field(description="Radius (m), > 0.")
    length: Positive[Length] = Field(description="Length along z (m), > 0.")


class Sphere(Shape):
    """A sphere."""

    type: Literal["sphere"] = "sphere"
    radius: Positive[Length] = Field(description="Radius (m), > 0.")


class Mesh(Shape):
    """A surface of triangles from a file."""

    type: Literal["mesh"] = "mesh"
    file: Annotated[str, Field(min_length=1, max_length=1000)] = Field(
        description="An STL or OBJ file in the description's folder, beside it, or in its package (package://NAME/…)."
    )
    scale: Annotated[ValueVector, ReadsVector(units.RATIO)] = default(
        (1.0, 1.0, 1.0), "Metres that the file's unit is, along its x, y and z. Default 1, 1, 1."
    )


SHAPES.add(Box, Cylinder, Sphere, Mesh)
