"""The elements of a URDF file to its links and joints, each checked by URDF's own rules and with its defaults."""

from __future__ import annotations

import math
from collections.abc import Mapping

from trundle.documents.urdf.nouns import (
    AS_GIVEN,
    DEFAULT_AXIS,
    EXTENSION,
    LIMITED,
    NOUNS,
    ONE_AXIS,
    ZERO,
    Inertial,
    Joint,
    Limit,
    Link,
    Mimic,
    Urdf,
)
from trundle.documents.urdf.part import Numbers, Part
from trundle.documents.urdf.xml_tree import Element
from trundle.errors import suggest

# Moments below it (kg m²) are what is left of rounding, whatever their sign.
_NOTHING = 1e-12
_OTHER_FORMATS = {"sdf": "an SDF file", "mujoco": "a MuJoCo model", "COLLADA": "a mesh"}


def read_elements(root: Element, file: str | None = None) -> Urdf:
    """Links and joints of a root element; raises InputError. How they hang together is checked elsewhere."""
    part = Part(root, "", file)
    if root.tag != "robot":
        other = _OTHER_FORMATS.get(root.tag)
        hint = f"this is {other}; Trundle reads URDF" if other else None
        raise part.fail(f"expected <robot> around everything, got <{root.tag}>", hint=hint)
    for element in root.iter():
        if isinstance(element, Element) and element.tag.startswith("xacro:"):
            hint = "this is a xacro file: write it out as URDF first (xacro FILE > robot.urdf)"
            raise Part(element, "", file).fail("is a macro, not URDF", hint=hint)
    part.checked()
    links: dict[str, Link] = {}
    joints: dict[str, Joint] = {}
    for each in part.children():
        if each.element.tag == "link":
            link = _link(each.named())
            _once(link, links)
            links[link.name] = link
        elif each.element.tag == "joint":
            joint = _joint(each.named())
            _once(joint, joints)
            joints[joint.name] = joint
    base, gravity, as_given = _extension(part.child(EXTENSION))
    return Urdf(part.text("name"), links, joints, base, gravity, as_given, part)


def _once(noun: Link | Joint, taken: Mapping[str, Link] | Mapping[str, Joint]) -> None:
    if noun.name in taken:
        message = f"the name {noun.name!r} is taken already, in line {taken[noun.name].part.element.line}"
        raise noun.part.fail(message, hint="names must differ")


def _link(part: Part) -> Link:
    inertial = part.child("inertial")
    return Link(part.text("name"), None if inertial is None else _inertial(inertial), part)


def _inertial(part: Part) -> Inertial:
    mass = part.needed("mass", 'write <mass value="..."/>').positive("value", called="mass")
    xyz, rpy = _origin(part)
    inertia = part.needed("inertia", 'write <inertia ixx="..." iyy="..." izz="..."/>')
    xy, xz, yz = (inertia.number(name, 0.0) for name in ("ixy", "ixz", "iyz"))
    xx, yy, zz = (_moment(inertia, name) for name in ("ixx", "iyy", "izz"))
    return Inertial(mass, xyz, rpy, (xx, xy, xz, yy, yz, zz))


def _moment(inertia: Part, name: str) -> float:
    moment = inertia.number(name)
    if moment < -_NOTHING:
        raise inertia.fail(f"a moment of inertia must not be negative, got {moment:g}", name)
    return max(moment, 0.0)


def _origin(part: Part) -> tuple[Numbers, Numbers]:
    origin = part.child("origin")
    if origin is None:
        return ZERO, ZERO
    rpy = origin.numbers("rpy", ZERO)
    worst = max(rpy, key=abs)
    if abs(worst) > 4 * math.pi:
        hint = f"URDF takes radians; {worst:g} degrees are {math.radians(worst):.6g}"
        raise origin.fail(f"{worst:g} radians are more than two full turns", "rpy", hint)
    return origin.numbers("xyz", ZERO), rpy


def _joint(part: Part) -> Joint:
    kind = part.text("type", f"one of {', '.join(NOUNS)}")
    if kind not in NOUNS:
        listed = f"the types are {', '.join(NOUNS)}"
        near = suggest(kind, NOUNS)
        hint = f"{near} ({listed})" if near.startswith("did") else listed
        raise part.fail(f"unknown type {kind!r}", "type", hint)
    parent = part.needed("parent", 'write <parent link="..."/>')
    child = part.needed("child", 'write <child link="..."/>')
    xyz, rpy = _origin(part)
    dynamics = part.child("dynamics") if kind in ONE_AXIS else None
    extension = part.child(EXTENSION)
    return Joint(
        part.text("name"),
        kind,
        parent.text("link"),
        child.text("link"),
        xyz,
        rpy,
        _axis(part) if kind in (*ONE_AXIS, "planar") else DEFAULT_AXIS,
        0.0 if dynamics is None else dynamics.positive("damping", 0.0),
        0.0 if dynamics is None else dynamics.positive("friction", 0.0),
        _limit(part, kind),
        _mimic(part, kind),
        {} if extension is None else {key: extension.number(key) for key in extension.element.attrib},
        part,
    )


def _axis(part: Part) -> Numbers:
    axis = part.child("axis")
    if axis is None:
        return DEFAULT_AXIS
    found = axis.numbers("xyz")
    if math.hypot(*found) < 1e-12:
        raise axis.fail("the axis is a zero vector", "xyz", 'write for example xyz="0 0 1"')
    return found


def _limit(part: Part, kind: str) -> Limit | None:
    limit = part.child("limit")
    if limit is None:
        if kind in LIMITED:
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


def _mimic(part: Part, kind: str) -> Mimic | None:
    """What the joint follows; on a fixed joint nothing, as exporters leave it there when they freeze a joint."""
    mimic = part.child("mimic")
    if mimic is None or kind == "fixed":
        return None
    if kind not in ONE_AXIS:
        hint = f"joints with one axis follow others: {', '.join(ONE_AXIS)}"
        raise mimic.fail(f"a {kind} joint can't mimic another one", hint=hint)
    found = Mimic(mimic.text("joint"), mimic.number("multiplier", 1.0), mimic.number("offset", 0.0))
    if found.multiplier == 0.0:
        hint = f"make the joint fixed, its <origin> moved by {found.offset:g}, or write another multiplier"
        raise mimic.fail("the multiplier is zero, so it would follow nothing", "multiplier", hint)
    return found


def _extension(part: Part | None) -> tuple[str | None, float | Numbers | None, bool]:
    """Base, gravity and whether inertias stand as given: what URDF has no words for."""
    if part is None:
        return None, None, False
    said = part.element.attrib
    for name in said:
        if name not in ("base", "gravity", "inertia"):
            raise part.fail(
                f"unknown attribute {name!r}", name, suggest(name, ("base", "gravity", "inertia"))
            )
    if said.get("inertia", AS_GIVEN) != AS_GIVEN:
        hint = f"write inertia='{AS_GIVEN}', or take it away"
        raise part.fail(f"unknown choice {said['inertia']!r}", "inertia", hint)
    gravity: float | Numbers | None = None
    if "gravity" in said:
        gravity = part.numbers("gravity") if len(said["gravity"].split()) > 1 else part.number("gravity")
    return said.get("base"), gravity, "inertia" in said
