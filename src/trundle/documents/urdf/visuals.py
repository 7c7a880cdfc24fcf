"""What the links of a URDF file look like: its <visual> elements as shapes of a description, by Trundle's names.

They are read where something is drawn: nothing in the equations needs them, and a file whose visuals are spoilt is a
robot all the same. So what can't be read is left out and told, and never an error.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from pydantic import ValidationError

from trundle.documents.meshes import SUFFIXES
from trundle.documents.urdf.elements import origin_of, within_a_turn
from trundle.documents.urdf.to_robot import named
from trundle.documents.urdf.xml_tree import XmlPart
from trundle.errors import InputError
from trundle.robot.problems import input_error
from trundle.robot.shapes import Box, Cylinder, Mesh, Shape, Sphere


def names_meshes(text: str) -> bool:
    """Whether a URDF text names files of meshes."""
    return "<mesh" in text


def urdf_shapes(text: str) -> tuple[dict[str, list[Shape]], list[str]]:
    """The shapes of a URDF text's links by Trundle's names of their bodies, and what is wrong with those left out.

    A link without a <visual> that can be read has the shapes of its <collision>s.
    """
    urdf, names = named(text)
    colours = dict(_colours(urdf.part.children("material")))
    shapes_of: dict[str, list[Shape]] = {}
    wrong: list[str] = []
    for name, link in urdf.links.items():
        for tag in ("visual", "collision"):
            shapes = list(_shapes(link.part.children(tag), colours, wrong))
            if shapes:
                shapes_of[names.links[name]] = shapes
                break
    return shapes_of, wrong


def _colours(materials: Sequence[XmlPart]) -> Iterator[tuple[str, str]]:
    for material in materials:
        colour = _colour(material)
        if colour is not None:
            yield material.element.get("name", ""), colour


def _colour(material: XmlPart) -> str | None:
    """A material's own colour, as "#rrggbbaa"."""
    for part in material.children("color"):
        try:
            numbers = [float(share) for share in part.element.get("rgba", "").split()]
        except ValueError:
            continue
        if len(numbers) == 4 and all(map(math.isfinite, numbers)):
            return "#" + "".join(f"{round(255 * min(max(share, 0.0), 1.0)):02x}" for share in numbers)
    return None


def _shapes(parts: Sequence[XmlPart], colours: Mapping[str, str], wrong: list[str]) -> Iterator[Shape]:
    for part in parts:
        try:
            data = _look(part, colours)
            yield from (kind.model_validate({**data, **own}) for kind, own in _geometry(part))
        except InputError as error:
            wrong.append(str(error))
        except ValidationError as error:
            wrong.append(str(input_error(error, f"line {part.element.line}: {part.owner}")))


def _look(part: XmlPart, colours: Mapping[str, str]) -> dict[str, object]:
    """Where a shape is, and its colour."""
    at, rpy = origin_of(part)
    data: dict[str, object] = {"at": at, "rpy": within_a_turn(rpy)}
    for material in part.children("material"):
        colour = _colour(material) or colours.get(material.element.get("name", ""))
        data |= {} if colour is None else {"colour": colour}
    return data


def _geometry(part: XmlPart) -> Iterator[tuple[type[Shape], dict[str, object]]]:
    """The class and the fields of the shape that an element holds."""
    geometry = part.child("geometry")
    for body in () if geometry is None else geometry.children():
        tag = body.element.tag
        if tag == "box":
            yield Box, {"size": body.numbers("size")}
        elif tag == "cylinder":
            yield Cylinder, {"radius": body.number("radius"), "length": body.number("length")}
        elif tag == "sphere":
            yield Sphere, {"radius": body.number("radius")}
        elif tag == "mesh":
            file, scale = body.text("filename"), body.numbers("scale", (1.0, 1.0, 1.0))
            if not file.lower().endswith(SUFFIXES):
                raise body.fail(f"{PurePath(file).name!r} is neither STL nor OBJ", "filename")
            yield Mesh, {"file": file, "scale": scale}
        else:
            raise body.fail(f"a shape <{tag}> isn't known", hint="box, cylinder, sphere, mesh")
