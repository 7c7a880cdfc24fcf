"""The elements of a URDF file to its links and joints, checked by URDF's own rules and with its defaults.

Names are the file's, numbers as a description has them. The rules are those of the XML specification of URDF
(http://wiki.ros.org/urdf/XML).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trundle.arrays import Triple
from trundle.documents.urdf.additions import EXTENSION, Extension, read_extension
from trundle.documents.urdf.xml_tree import XACRO, XmlElement, XmlPart
from trundle.errors import choose
from trundle.spatial.vectors import Matrix, euler_rotation, multiply, transpose

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
    part: XmlPart


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
    part: XmlPart


@dataclass(frozen=True)
class Urdf:
    """Everything a file says that Trundle reads, in the order of the file."""

    name: str
    links: Mapping[str, UrdfLink]
    joints: Mapping[str, UrdfJoint]
    extension: Extension
    part: XmlPart


def default_base(root: str, weighs: bool, wheeled: bool) -> str:
    """The base that a file means by its root link: planar on wheels; fixed for one called world, and where neither the
    link nor what is fixed to it `weighs`; else floating.
    """
    if wheeled:
        return "planar"
    return "floating" if weighs and root != GROUND else "fixed"


# Where URDF's <origin> is left out, or one of its attributes.
_ZERO: Triple = (0.0, 0.0, 0.0)
# URDF's own default, where a description has z.
_DEFAULT_AXIS: Triple = (1.0, 0.0, 0.0)
# Types with stops.
_LIMITED = ("revolute", "prismatic")
# From where on a limit is a way to say that there is none.
_NO_LIMIT = 1e15
# Products that are only the rounding of a rotation by a quarter turn become exact zeros again, relative to the largest.
_ROUNDING = 4e-16
# Moments below it (kg m²) are what is left of rounding, whatever their sign.
_NOTHING = 1e-12


def read_elements(root: XmlElement, file: str | None = None) -> Urdf:
    """Links and joints of a root element; raises InputError. How they hang together is checked elsewhere."""
    part = XmlPart(root, "", file)
    if root.tag != "robot":
        raise part.fail(f"expected <robot> around everything, got <{root.tag}>")
    for element in root.iter():
        if isinstance(element, XmlElement) and element.tag.startswith("xacro:"):
            raise XmlPart(element, "", file).fail("is a macro, not URDF", hint=XACRO)
    part.checked()
    links: dict[str, UrdfLink] = {}
    joints: dict[str, UrdfJoint] = {}
    for child in part.children():
        if child.element.tag == "link":
            link = _link(child.named())
            _once(link, links)
            links[link.name] = link
        elif child.element.tag == "joint":
            joint = _joint(child.named())
            _once(joint, joints)
            joints[joint.name] = joint
    return Urdf(part.text("name"), links, joints, read_extension(part.child(EXTENSION)), part)


def _once(element: UrdfLink | UrdfJoint, taken: Mapping[str, UrdfLink] | Mapping[str, UrdfJoint]) -> None:
    if element.name in taken:
        line = taken[element.name].part.element.line
        message = f"the name {element.name!r} is taken already, in line {line}"
        raise element.part.fail(message, hint="names must differ")


def _link(part: XmlPart) -> UrdfLink:
    inertial = part.child("inertial")
    return UrdfLink(part.text("name"), {} if inertial is None else _body(inertial), part)


def _body(part: XmlPart) -> UrdfData:
    """Mass, centre of mass and inertia of an <inertial>; products that are only a rotation's rounding are left out."""
    mass = part.needed("mass", 'write <mass value="..."/>').positive("value", called="mass")
    xyz, rpy = origin_of(part)
    inertia = part.needed("inertia", 'write <inertia ixx="..." iyy="..." izz="..."/>')
    principal = [_moment(inertia, name) for name in ("ixx", "iyy", "izz")]
    products = [inertia.number(name, 0.0) for name in ("ixy", "ixz", "iyz")]
    moments = moments_in(euler_rotation(*rpy), [*principal, *products])
    floor = _ROUNDING * max(map(abs, moments.values())) if any(rpy) else 0.0
    kept = {name: number for name, number in moments.items() if abs(number) > floor or name[0] == name[1]}
    return _nonzero(mass=mass, center_of_mass=xyz, inertia=_nonzero(**kept))


def moments_in(rotation: Matrix, six: Sequence[float]) -> dict[str, float]:
    """Moments xx, yy, zz, xy, xz, yz about the centre of mass in axes from which their own are turned: R I Rᵀ."""
    xx, yy, zz, xy, xz, yz = six
    turned = multiply(multiply(rotation, ((xx, xy, xz), (xy, yy, yz), (xz, yz, zz))), transpose(rotation))
    places = {"xx": (0, 0), "yy": (1, 1), "zz": (2, 2), "xy": (0, 1), "xz": (0, 2), "yz": (1, 2)}
    return {name: float(turned[i][j]) for name, (i, j) in places.items()}


def _nonzero(**numbers: float | Triple | UrdfData) -> UrdfData:
    """Plain data without what is zero."""
    return {name: x for name, x in numbers.items() if (any(x) if isinstance(x, tuple) else x)}


def _moment(inertia: XmlPart, name: str) -> float:
    moment = inertia.number(name)
    if moment < -_NOTHING:
        raise inertia.fail(f"a moment of inertia must not be negative, got {moment:g}", name)
    return max(moment, 0.0)


def origin_of(part: XmlPart) -> tuple[Triple, Triple]:
    """xyz (m) and rpy (rad) of an element's <origin>; zeros where there is none."""
    origin = part.child("origin")
    if origin is None:
        return _ZERO, _ZERO
    rpy = origin.numbers("rpy", _ZERO)
    worst = max(rpy, key=abs)
    if abs(worst) > 4 * math.pi:
        hint = f"URDF takes radians; {worst:g} degrees are {math.radians(worst):.6g}"
        raise origin.fail(f"{worst:g} radians are more than two full turns", "rpy", hint)
    return origin.numbers("xyz", _ZERO), rpy


def _joint(part: XmlPart) -> UrdfJoint:
    """A joint with what it connects, its stops, what it follows, and Trundle's own attributes."""
    kind = part.text("type", f"one of {', '.join(NOUNS)}")
    if kind not in NOUNS:
        raise part.fail(f"unknown type {kind!r}", "type", choose(kind, NOUNS))
    parent = part.needed("parent", 'write <parent link="..."/>')
    child = part.needed("child", 'write <child link="..."/>')
    xyz, rpy = origin_of(part)
    data = {**_nonzero(at=xyz, rpy=within_a_turn(rpy))}
    if kind in (*ONE_AXIS, "planar"):
        data["axis"] = _axis(part)
    dynamics = part.child("dynamics") if kind in ONE_AXIS else None
    if dynamics is not None:
        data |= _nonzero(
            damping=dynamics.positive("damping", 0.0), coulomb=dynamics.positive("friction", 0.0)
        )
    limit, extension = _limit(part, kind), part.child(EXTENSION)
    if limit is not None and kind in _LIMITED:
        data |= _stops(limit)
    if extension is not None:
        data |= {key: extension.number(key) for key in extension.element.attrib}
    return UrdfJoint(
        part.text("name"),
        kind,
        parent.text("link"),
        child.text("link"),
        data,
        limit,
        _mimic(part, kind),
        part,
    )


def within_a_turn(rpy: Triple) -> Triple:
    """The same angles within a full turn, which is as far as a description lets them go."""
    r, p, y = (angle if abs(angle) <= 2 * math.pi else math.remainder(angle, 2 * math.pi) for angle in rpy)
    return r, p, y


def _stops(limit: Limit) -> dict[str, float]:
    """Where a joint's stops are. Equal numbers are how exporters say nothing, and so are huge ones."""
    if limit.lower >= limit.upper:
        return {}
    both = {"lower": limit.lower, "upper": limit.upper}
    return {name: number for name, number in both.items() if abs(number) < _NO_LIMIT}


def _axis(part: XmlPart) -> Triple:
    axis = part.child("axis")
    if axis is None:
        return _DEFAULT_AXIS
    direction = axis.numbers("xyz")
    if math.hypot(*direction) < 1e-12:
        raise axis.fail("the axis is a zero vector", "xyz", 'write for example xyz="0 0 1"')
    return direction


def _limit(part: XmlPart, kind: str) -> Limit | None:
    """The limits of a joint; URDF asks for them where a joint has stops."""
    limit = part.child("limit")
    if limit is None:
        if kind in _LIMITED:
            other = ", or type='continuous' for a joint without stops" if kind == "revolute" else ""
            hint = f'write <limit lower="..." upper="..." effort="..." velocity="..."/>{other}'
            raise part.fail(f"a {kind} joint needs a <limit>", hint=hint)
        return None
    lower, upper = (limit.number(name, 0.0, infinite=True) for name in ("lower", "upper"))
    if lower > upper:
        raise limit.fail(f"the lower limit {lower:g} is above the upper one, {upper:g}", "lower")
    # other joints' limits mean nothing, and generators leave all kinds of them there
    default = None if kind in ONE_AXIS else 0.0
    effort, velocity = (limit.number(name, default, infinite=True) for name in ("effort", "velocity"))
    return Limit(lower, upper, effort, velocity)


def _mimic(part: XmlPart, kind: str) -> Mimic | None:
    """What the joint follows; on a fixed joint nothing, as exporters leave it there when they freeze a joint."""
    mimic = part.child("mimic")
    if mimic is None or kind == "fixed":
        return None
    if kind not in ONE_AXIS:
        hint = f"joints with one axis follow others: {', '.join(ONE_AXIS)}"
        raise mimic.fail(f"a {kind} joint can't mimic another one", hint=hint)
    follows = Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
    if follows.multiplier == 0.0:
        hint = f"make the joint fixed, its <origin> moved by {follows.offset:g}, or write another multiplier"
        raise mimic.fail("the multiplier is zero, so it would follow nothing", "multiplier", hint)
    return follows
