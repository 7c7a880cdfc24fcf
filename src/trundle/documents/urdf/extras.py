"""What a URDF file says beyond the robot's own nouns: names, limits, mimics, meshes, other tools' tags."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trundle.documents.urdf.elements import EXTENSION, Limit, Mimic
from trundle.documents.urdf.urdf_reader import read
from trundle.errors import InputError
from trundle.robot.description import Robot


@dataclass(frozen=True)
class Mesh:
    """A mesh that a link shows (`visual`) or touches things with (`collision`); its file is never opened."""

    link: str
    use: str
    filename: str


@dataclass(frozen=True)
class UrdfExtras:
    """What the equations don't use, and the mimics, which they do; under Trundle's names of links and joints.

    `joints` and `links` map Trundle's names to the file's. `limits` in SI, `mimics` (whose leader is named in Trundle,
    too), `meshes` in the order of the file. `kept` counts the tags that Trundle only carries along.
    """

    joints: Mapping[str, str]
    links: Mapping[str, str]
    limits: Mapping[str, Limit]
    mimics: Mapping[str, Mimic]
    meshes: tuple[Mesh, ...]
    kept: Mapping[str, int]


_USED = frozenset({"link", "joint", EXTENSION})


def urdf_extras(robot: Robot) -> UrdfExtras:
    """The extras of a robot that was read from URDF; raises InputError for any other."""
    if robot.urdf is None:
        raise InputError("the robot was not read from URDF", hint="use trundle.robot.load_urdf")
    reading = read(robot.urdf, strict=False)
    urdf, names = reading.urdf, reading.names
    joints = {identifier: urdf.joints[name] for name, identifier in names.joints.items()}
    limits = {name: joint.limit for name, joint in joints.items() if joint.limit is not None}
    mimics = {
        name: Mimic(names.joints[joint.mimic.joint], joint.mimic.multiplier, joint.mimic.offset)
        for name, joint in joints.items()
        if joint.mimic is not None
    }
    meshes = tuple(
        Mesh(names.links[name], shape.tag, mesh.attributes.get("filename", ""))
        for name, link in urdf.links.items()
        for shape in link.part.element.children
        if shape.tag in ("visual", "collision")
        for mesh in shape.walk()
        if mesh.tag == "mesh"
    )
    kept: dict[str, int] = {}
    for child in urdf.part.element.children:
        if child.tag not in _USED:
            kept[child.tag] = kept.get(child.tag, 0) + 1
    own_names = {identifier: name for name, identifier in names.joints.items()}
    links = {identifier: name for name, identifier in names.links.items()}
    return UrdfExtras(own_names, links, limits, mimics, meshes, kept)
