"""The spheres of a URDF file's <collision> elements as feet: what of the robot touches terrain."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trundle.documents.urdf.elements import origin_of
from trundle.documents.urdf.to_robot import free_name, named
from trundle.documents.urdf.xml_tree import Part
from trundle.errors import InputError
from trundle.robot.description import Robot, parse_robot
from trundle.robot.noun import RESERVED, plain
from trundle.robot.parts import FAMILIES
from trundle.robot.structure import body_names


def with_feet(robot: Robot) -> Robot:
    """The robot on feet where its URDF file has collision spheres; itself where it has wheels or feet of its own.

    A foot is called as its link, with "_sphere" behind it. Raises InputError for a sphere that is none.
    """
    if robot.wheels or robot.urdf is None:
        return robot
    bodies = body_names(robot)
    taken = {
        *RESERVED,
        *bodies,
        *robot.parameters,
        *(name for part in FAMILIES for name in getattr(robot, part)),
    }
    feet = {
        free_name(f"{link}_sphere", taken): {"type": "foot", "parent": link, **place}
        for link, place in _spheres(robot.urdf)
        if link in bodies
    }
    return parse_robot({**plain(robot), "base": "floating", "wheels": feet}) if feet else robot


def _spheres(text: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The links by Trundle's names, and where spheres are on them."""
    urdf, names = named(text)
    for name, link in urdf.links.items():
        for collision in link.part.children("collision"):
            for sphere in _of(collision):
                try:
                    place = {"at": list(origin_of(collision)[0]), "radius": sphere.number("radius")}
                except (
                    InputError
                ) as error:  # lines are those of the text that the robot keeps, not the file's
                    message = f"a collision sphere of the link {name!r}: {error.message}"
                    raise InputError(message, key="robot.urdf", hint=error.hint) from None
                yield names.links[name], place


def _of(collision: Part) -> list[Part]:
    geometry = collision.child("geometry")
    return [] if geometry is None else geometry.children("sphere")
