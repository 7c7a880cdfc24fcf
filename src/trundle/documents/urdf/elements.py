"""The links and joints of a URDF file, as it says them: names, numbers and defaults by the URDF's own rules.

The rules are those of the XML specification of URDF (http://wiki.ros.org/urdf/XML).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from trundle.documents.urdf.part import Numbers, Part
from trundle.documents.urdf.xmltext import Element
from trundle.errors import suggest
from trundle.robot.bodies import RevoluteJoint

ZERO: Numbers = (0.0, 0.0, 0.0)
# Trundle's own element: what a Robot says and URDF has no word for. Other readers of URDF skip it.
EXTENSION = "trundle"
AS_GIVEN = "as_given"
# Moments below it (kg m²) are what is left of rounding, whatever their sign.
_NOTHING = 1e-12

_ROBOT = ("link", "joint", "transmission", "gazebo", "material", "sensor", "ros2_control", EXTENSION)
_LINK = ("inertial", "visual", "collision", "contact", "sensor")
_JOINT = (
    *("origin", "parent", "child", "axis", "calibration", "dynamics", "limit", "mimic"),
    *("safety_controller", EXTENSION),
)
_MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")
TYPES = ("fixed", "revolute", "continuous", "prismatic", "planar", "floating")
# Types about or along one axis: with damping, friction and limits, and such as can follow each other.
ONE_AXIS = ("revolute", "continuous", "prismatic")
# Types with stops.
LIMITED = ("revolute", "prismatic")


# URDF's types that a description has joints for, and what it calls them.
NOUNS = {kind: "revolute" if kind == "continuous" else kind for kind in TYPES}
# Whether the joints of a description have limits, and from where on a limit is a way to say that there is none.
HAS_LIMITS = "lower" in RevoluteJoint.model_fields
NO_LIMIT = 1e15


@dataclass(frozen=True)
class Inertial:
    """A link's mass (kg), the pose of its inertial frame in the link's (m, rad), and the moments there (kg m²)."""

    mass: float
    xyz: Numbers
    rpy: Numbers
    moments: tuple[float, float, float, float, float, float]  # xx, xy, xz, yy, yz, zz

    @property
    def is_weightless(self) -> bool:
        """Whether it resists no motion."""
        return self.mass == 0.0 and not any(self.moments)


@dataclass(frozen=True)
class UrdfLink:
    """A link."""

    name: str
    part: Part
    inertial: Inertial | None


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
class UrdfJoint:
    """A joint; `axis` is in the joint's own frame, `origin` (xyz, rpy) the joint's frame in the parent link's."""

    name: str
    part: Part
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


@dataclass(frozen=True)
class UrdfFile:
    """Everything a file says that Trundle reads, in the order of the file."""

    name: str
    part: Part
    links: Mapping[str, UrdfLink]
    joints: Mapping[str, UrdfJoint]
    base: str | None = None
    gravity: float | Numbers | None = None
    as_given: bool = False


def read_elements(root: Element, file: str | None = None) -> UrdfFile:
    """Links and joints of a root element; raises InputError. How they hang together is checked elsewhere."""
    part = Part(root, "", file)
    if root.tag != "robot":
        raise part.fail(f"expected <robot> around everything, got <{root.tag}>", hint=_other_format(root.tag))
    for element in root.walk():
        if element.tag.startswith("xacro:"):
            hint = "this is a xacro file: write it out as URDF first (xacro FILE > robot.urdf)"
            raise Part(element, "", file).fail("is a macro, not URDF", hint=hint)
    part.check(_ROBOT, ("name",))
    links: dict[str, UrdfLink] = {}
    joints: dict[str, UrdfJoint] = {}
    for element in root.children:
        each = Part(element, "", file)
        if element.tag == "link":
            link = _link(each)
            _once(link.name, each, links)
            links[link.name] = link
        elif element.tag == "joint":
            joint = _joint(each)
            _once(joint.name, each, joints)
            joints[joint.name] = joint
    extension = part.child(EXTENSION)
    return UrdfFile(part.text("name"), part, links, joints, *_extension_of_robot(extension))


def _other_format(tag: str) -> str | None:
    known = {"sdf": "an SDF file", "mujoco": "a MuJoCo model", "COLLADA": "a mesh"}
    return f"this is {known[tag]}; Trundle reads URDF" if tag in known else None


def _once(name: str, part: Part, taken: Mapping[str, UrdfLink | UrdfJoint]) -> None:
    if name in taken:
        first = taken[name].part.element.line
        message = f"the name {name!r} is taken already, in line {first}"
        raise part.owned(f"{part.element.tag} {name!r}").fail(message, hint="names must differ")


def _link(part: Part) -> UrdfLink:
    name = part.text("name")
    part = part.owned(f"link {name!r}")
    part.check(_LINK, ("name",))
    inertial = part.child("inertial")
    return UrdfLink(name, part, None if inertial is None else _inertial(inertial))


def _inertial(part: Part) -> Inertial:
    part.check(("origin", "mass", "inertia"), ())
    mass_part = part.needed("mass", 'write <mass value="..."/>')
    mass_part.check((), ("value",))
    mass = mass_part.number("value")
    if mass < 0.0:
        raise mass_part.fail(f"mass must not be negative, got {mass:g}", "value", f"did you mean {-mass:g}?")
    xyz, rpy = _origin(part)
    inertia = part.needed("inertia", 'write <inertia ixx="..." iyy="..." izz="..."/>')
    inertia.check((), _MOMENTS)
    products = {name: inertia.number(name, 0.0) for name in ("ixy", "ixz", "iyz")}
    moments = {name: inertia.number(name) for name in ("ixx", "iyy", "izz")}
    for name, moment in moments.items():
        if abs(moment) < _NOTHING:
            moments[name] = max(moment, 0.0)
        elif moment < 0.0:
            raise inertia.fail(f"a moment of inertia must not be negative, got {moment:g}", name)
    xx, xy, xz, yy, yz, zz = ((moments | products)[name] for name in _MOMENTS)
    return Inertial(mass, xyz, rpy, (xx, xy, xz, yy, yz, zz))


def _origin(part: Part) -> tuple[Numbers, Numbers]:
    origin = part.child("origin")
    if origin is None:
        return ZERO, ZERO
    origin.check((), ("xyz", "rpy"))
    rpy = origin.numbers("rpy", ZERO)
    if max(map(abs, rpy)) > 4 * math.pi:
        worst = max(rpy, key=abs)
        hint = f"URDF takes radians; {worst:g} degrees are {math.radians(worst):.6g}"
        raise origin.fail(f"{worst:g} radians are more than two full turns", "rpy", hint)
    return origin.numbers("xyz", ZERO), rpy


def _joint(part: Part) -> UrdfJoint:
    name = part.text("name")
    part = part.owned(f"joint {name!r}")
    part.check(_JOINT, ("name", "type"))
    kind = part.text("type", f"one of {', '.join(TYPES)}")
    if kind not in TYPES:
        listed = f"the types are {', '.join(TYPES)}"
        near = suggest(kind, TYPES)
        hint = f"{near} ({listed})" if near.startswith("did") else listed
        raise part.fail(f"unknown type {kind!r}", "type", hint)
    if kind not in NOUNS:
        hint = (
            "for a base that moves so, take the joint away and load the file with base='floating' or 'planar'"
        )
        raise part.fail(f"Trundle has no {kind} joints yet", "type", hint)
    parent = part.needed("parent", 'write <parent link="..."/>')
    child = part.needed("child", 'write <child link="..."/>')
    axis = _axis(part) if kind in (*ONE_AXIS, "planar") else (1.0, 0.0, 0.0)
    xyz, rpy = _origin(part)
    damping, friction = _dynamics(part) if kind in ONE_AXIS else (0.0, 0.0)
    extension = part.child(EXTENSION)
    return UrdfJoint(
        name,
        part,
        kind,
        parent.text("link"),
        child.text("link"),
        xyz,
        rpy,
        axis,
        damping,
        friction,
        _limit(part, kind),
        _mimic(part, kind),
        {} if extension is None else {key: extension.number(key) for key in extension.element.attributes},
    )


def _axis(part: Part) -> Numbers:
    axis = part.child("axis")
    if axis is None:
        return (1.0, 0.0, 0.0)
    axis.check((), ("xyz",))
    found = axis.numbers("xyz")
    if math.hypot(*found) < 1e-12:
        raise axis.fail("the axis is a zero vector", "xyz", 'write for example xyz="0 0 1"')
    return found


def _dynamics(part: Part) -> tuple[float, float]:
    dynamics = part.child("dynamics")
    if dynamics is None:
        return 0.0, 0.0
    dynamics.check((), ("damping", "friction"))
    for name in ("damping", "friction"):
        number = dynamics.number(name, 0.0)
        if number < 0.0:
            message = f"{name} must not be negative, got {number:g}"
            raise dynamics.fail(message, name, f"did you mean {-number:g}?")
    return dynamics.number("damping", 0.0), dynamics.number("friction", 0.0)


def _limit(part: Part, kind: str) -> Limit | None:
    limit = part.child("limit")
    if limit is None:
        if kind in LIMITED:
            other = ", or type='continuous' for a joint without stops" if kind == "revolute" else ""
            hint = f'write <limit lower="..." upper="..." effort="..." velocity="..."/>{other}'
            raise part.fail(f"a {kind} joint needs a <limit>", hint=hint)
        return None
    limit.check((), ("lower", "upper", "effort", "velocity"))
    lower, upper = (limit.number(name, 0.0, infinite=True) for name in ("lower", "upper"))
    if lower > upper:
        raise limit.fail(f"the lower limit {lower:g} is above the upper one, {upper:g}", "lower")
    # other joints' limits mean nothing, and generators leave all kinds of them there
    given = (
        limit.number(name, None if kind in ONE_AXIS else 0.0, infinite=True)
        for name in ("effort", "velocity")
    )
    return Limit(lower, upper, *given)


def _mimic(part: Part, kind: str) -> Mimic | None:
    """What the joint follows; on a fixed joint nothing, as exporters leave it there when they freeze a joint."""
    mimic = part.child("mimic")
    if mimic is None or kind == "fixed":
        return None
    if kind not in ONE_AXIS:
        hint = f"joints with one axis follow others: {', '.join(ONE_AXIS)}"
        raise mimic.fail(f"a {kind} joint can't mimic another one", hint=hint)
    mimic.check((), ("joint", "multiplier", "offset"))
    found = Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
    if found.multiplier == 0.0:
        hint = f"make the joint fixed, its <origin> moved by {found.offset:g}, or write another multiplier"
        raise mimic.fail("the multiplier is zero, so it would follow nothing", "multiplier", hint)
    return found


def _extension_of_robot(part: Part | None) -> tuple[str | None, float | Numbers | None, bool]:
    """Base, gravity and whether inertias stand as given: what URDF has no words for."""
    if part is None:
        return None, None, False
    known = ("base", "gravity", "inertia")
    for name in part.element.attributes:
        if name not in known:
            raise part.fail(f"unknown attribute {name!r}", name, suggest(name, known))
    base = part.element.attributes.get("base")
    inertia = part.element.attributes.get("inertia", AS_GIVEN)
    if inertia != AS_GIVEN:
        raise part.fail(
            f"unknown choice {inertia!r}", "inertia", f"write inertia='{AS_GIVEN}', or take it away"
        )
    as_given = "inertia" in part.element.attributes
    written = part.element.attributes.get("gravity")
    if written is None:
        return base, None, as_given
    return base, part.numbers("gravity") if len(written.split()) > 1 else part.number("gravity"), as_given
