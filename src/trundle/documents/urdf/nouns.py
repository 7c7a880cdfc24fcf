"""What a URDF file says of links and joints, in its own names and in numbers: what is read, and what is written.

The rules are those of the XML specification of URDF (http://wiki.ros.org/urdf/XML).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from trundle.documents.urdf.part import NOWHERE, Numbers, Part
from trundle.spatial.vectors import Matrix, euler_rotation, multiply, transpose

ZERO: Numbers = (0.0, 0.0, 0.0)
# URDF's own default, where a description has z.
DEFAULT_AXIS: Numbers = (1.0, 0.0, 0.0)
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
# Types with stops.
LIMITED = ("revolute", "prismatic")
# From where on a limit is a way to say that there is none, and how that is written.
NO_LIMIT = 1e15
UNLIMITED = 1e16
# Trundle's own element: what a Robot says and URDF has no word for. Other readers of URDF skip it.
EXTENSION = "trundle"
AS_GIVEN = "as_given"
# Root links that mean the ground (as Gazebo and MoveIt have it).
GROUND = "world"
# Products that are only the rounding of a rotation by a quarter turn become exact zeros again, relative to the largest.
_ROUNDING = 4e-16

Six = tuple[float, float, float, float, float, float]


@dataclass(frozen=True)
class Inertial:
    """A link's mass (kg), the pose of its inertial frame in the link's (m, rad), and the moments there (kg m²)."""

    mass: float = 0.0
    xyz: Numbers = ZERO
    rpy: Numbers = ZERO
    moments: Six = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # xx, xy, xz, yy, yz, zz

    @property
    def is_weightless(self) -> bool:
        """Whether it resists no motion."""
        return self.mass == 0.0 and not any(self.moments)

    @property
    def in_link(self) -> Six:
        """The moments about the centre of mass in the link's axes: R I Rᵀ, with R the inertial frame's rotation."""
        if not any(self.rpy):
            return self.moments
        xx, xy, xz, yy, yz, zz = self.moments
        matrix: Matrix = ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))
        rotation = euler_rotation(*self.rpy)
        turned = multiply(multiply(rotation, matrix), transpose(rotation))
        ((xx, xy, xz), (_, yy, yz), (_, _, zz)) = ((float(x), float(y), float(z)) for x, y, z in turned)
        floor = _ROUNDING * max(map(abs, (xx, xy, xz, yy, yz, zz)))
        xy, xz, yz = (0.0 if abs(product) <= floor else product for product in (xy, xz, yz))
        return xx, xy, xz, yy, yz, zz


@dataclass(frozen=True)
class Limit:
    """A joint's limits: position (rad or m, none for continuous joints), effort (N m or N), velocity (rad/s or m/s)."""

    lower: float
    upper: float
    effort: float
    velocity: float

    @property
    def stops(self) -> dict[str, float]:
        """Where the joint's stops are. Equal numbers are how exporters say nothing, and so are huge ones."""
        if self.lower >= self.upper:
            return {}
        both = {"lower": self.lower, "upper": self.upper}
        return {name: number for name, number in both.items() if abs(number) < NO_LIMIT}


@dataclass(frozen=True)
class Mimic:
    """The joint follows another: q = multiplier · q_joint + offset, in rad or m of both."""

    joint: str
    multiplier: float
    offset: float


@dataclass(frozen=True)
class Link:
    """A link; `part` is where the file says it."""

    name: str
    inertial: Inertial | None
    part: Part = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Joint:
    """A joint; `axis` is in the joint's own frame, `xyz` and `rpy` are the joint's frame in the parent link's."""

    name: str
    type: str
    parent: str
    child: str
    xyz: Numbers
    rpy: Numbers
    axis: Numbers
    damping: float
    friction: float
    limit: Limit | None
    mimic: Mimic | None
    extension: Mapping[str, float]
    part: Part = field(default=NOWHERE, compare=False, repr=False)


@dataclass(frozen=True)
class Urdf:
    """Everything a file says that Trundle reads, in the order of the file."""

    name: str
    links: Mapping[str, Link]
    joints: Mapping[str, Joint]
    base: str | None = None
    gravity: float | Numbers | None = None
    as_given: bool = False
    part: Part = field(default=NOWHERE, compare=False, repr=False)


# What is said of a robot that came from no file.
NO_FILE = Urdf("", {}, {})


def default_base(root: Link) -> str:
    """The base that a file means by its root link: fixed for one without mass or called world, else floating."""
    return (
        "fixed" if root.inertial is None or root.inertial.is_weightless or root.name == GROUND else "floating"
    )
