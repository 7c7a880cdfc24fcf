"""The spheres of a URDF file's <collision> elements as feet: what of the robot touches terrain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from trundle.arrays import Triple
from trundle.documents.urdf.elements import Urdf, origin_of
from trundle.documents.urdf.links import LinkTree, vector
from trundle.documents.urdf.to_robot import free_name, named
from trundle.documents.urdf.xml_tree import XmlPart
from trundle.errors import InputError
from trundle.robot.component import RESERVED, plain
from trundle.robot.description import Robot, parse_robot
from trundle.robot.parts import FAMILIES
from trundle.robot.structure import body_names
from trundle.spatial.motions import transform_point

# Feet are in the lowest quarter of a robot; spheres above are those of hands and heads.
_LOWEST = 0.25


class _Sphere(NamedTuple):
    """A sphere of a link, by the file's name: its middle in the link's frame and its radius (m)."""

    link: str
    at: Triple
    radius: float


def with_feet(robot: Robot) -> Robot:
    """The robot on feet where its URDF file has collision spheres; itself where it has wheels or feet of its own.

    Spheres in the lowest quarter count, with all joints at zero. A foot is called as its link, with "_sphere" behind
    it. Raises InputError for a sphere that is none.
    """
    if robot.wheels or robot.urdf is None:
        return robot
    urdf, names = named(robot.urdf)
    bodies = body_names(robot)
    taken = {
        *RESERVED,
        *bodies,
        *robot.parameters,
        *(name for part in FAMILIES for name in getattr(robot, part)),
    }
    spheres = [sphere for sphere in _spheres(urdf) if names.links[sphere.link] in bodies]
    feet: dict[str, Mapping[str, object]] = {}
    for link, at, radius in _lowest(LinkTree(urdf, names.root), spheres):
        parent = names.links[link]
        name = free_name(f"{parent}_sphere", taken)
        feet[name] = {"type": "foot", "parent": parent, "at": list(at), "radius": radius}
    return parse_robot({**plain(robot), "base": "floating", "wheels": feet}) if feet else robot


def _lowest(tree: LinkTree, spheres: list[_Sphere]) -> list[_Sphere]:
    """Those in the lowest quarter of the robot."""
    poses = {name: tree.at_zero(name) for name in tree.urdf.links}
    bottoms = [vector(transform_point(poses[s.link], s.at))[2] - s.radius for s in spheres]
    tops = [vector(pose.position)[2] for pose in poses.values()]
    least = min(bottoms, default=0.0)
    most = least + _LOWEST * (max(*tops, *bottoms, least) - least)
    return [sphere for sphere, bottom in zip(spheres, bottoms, strict=True) if bottom <= most]


def _spheres(urdf: Urdf) -> Iterator[_Sphere]:
    """The collision spheres of all links; an error names the link: lines are those of the text that the robot keeps."""
    for name, link in urdf.links.items():
        for collision in link.part.children("collision"):
            for sphere in _of(collision):
                try:
                    yield _Sphere(name, origin_of(collision)[0], sphere.number("radius"))
                except InputError as error:
                    message = f"a collision sphere of the link {name!r}: {error.message}"
                    raise InputError(message, key="robot.urdf", hint=error.hint) from None


def _of(collision: XmlPart) -> list[XmlPart]:
    geometry = collision.child("geometry")
    return [] if geometry is None else geometry.children("sphere")
