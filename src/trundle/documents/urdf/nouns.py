"""The links and joints of a URDF file as they are read: names are the file's, numbers as a description has them.

The rules are those of the XML specification of URDF (http://wiki.ros.org/urdf/XML).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from trundle.arrays import Triple
from trundle.documents.urdf.part import Part

# URDF's types of joints, and what a description calls them.
NOUNS = {
    "fixed": "fixed",
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "planar": "planar",
    "floating": "floating",
}
# Types about or along one axis: with damping, friction and limits, and such as can follow each other.
ONE_AXIS = ("revolute", "continuous", "prismatic")
# Trundle's own element: what a Robot says and URDF has no word for. Other readers of URDF skip it.
EXTENSION = "trundle"
AS_GIVEN = "as_given"
# Root links that mean the ground (as Gazebo and MoveIt have it).
GROUND = "world"

# Plain data as it stands in a description.
UrdfData = Mapping[str, object]


@dataclass(frozen=True)
class Limit:
    """A joint's limits: position (rad or m, none for continuous joints), effort (N m or N), velocity (rad/s or m/s)."""

    lower: float
    upper: float
    effort: float
    velocity: float


@dataclass(frozen=True)
class Mimic:
    """The joint follows another: q = multiplier · q_joint + offset, in rad or m of both."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class UrdfLink:
    """A link; `body` is its mass, centre of mass and inertia in its own axes, without zeros."""

    name: str
    body: UrdfData
    part: Part


@dataclass(frozen=True)
class UrdfJoint:
    """A joint; `data` is where it stands and how it moves, without zeros."""

    name: str
    type: str
    parent: str
    child: str
    data: UrdfData
    limit: Limit | None
    mimic: Mimic | None
    part: Part


@dataclass(frozen=True)
class Urdf:
    """Everything a file says that Trundle reads, in the order of the file."""

    name: str
    links: Mapping[str, UrdfLink]
    joints: Mapping[str, UrdfJoint]
    base: str | None
    gravity: float | Triple | None
    as_given: bool
    part: Part


def default_base(root: str, weighs: bool) -> str:
    """The base that a file means by its root link: fixed for one called world, and where neither the link nor what is
    fixed to it `weighs`; else floating.
    """
    return "floating" if weighs and root != GROUND else "fixed"
