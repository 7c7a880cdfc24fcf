"""The texts of new elements; numbers are written so that they read back exactly."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from trundle.documents.urdf.elements import EXTENSION, LIMITED
from trundle.documents.urdf.measures import Follow, Mass, Measure
from trundle.documents.urdf.part import Numbers
from trundle.documents.urdf.xmltext import tag_text

_MOST_WHOLE = 1e6
# How URDF files say that there is no limit.
_NONE = "1e+16"
_ORDER = ("xx", "xy", "xz", "yy", "yz", "zz")


def three(numbers: Numbers) -> str:
    """Three numbers that read back exactly."""
    return " ".join(number_text(number) for number in numbers)


def number_text(number: float) -> str:
    """One number that reads back exactly; whole ones without a point."""
    return str(int(number)) if number.is_integer() and abs(number) < _MOST_WHOLE else repr(number)


def moments(mass: Mass) -> dict[str, str]:
    """The attributes of <inertia>."""
    return {f"i{name}": number_text(number) for name, number in zip(_ORDER, mass.inertia, strict=True)}


def inertial_text(mass: Mass) -> str:
    """An <inertial>, or nothing for a link that weighs nothing."""
    if mass.is_empty:
        return ""
    origin = [f"  {tag_text('origin', {'xyz': three(mass.center)})}"] if any(mass.center) else []
    body = [
        f"  {tag_text('mass', {'value': number_text(mass.mass)})}",
        f"  {tag_text('inertia', moments(mass))}",
    ]
    return "\n".join(["<inertial>", *origin, *body, "</inertial>"])


def extension_text(extension: Mapping[str, float]) -> str:
    """Trundle's own element of a joint, or nothing."""
    numbers = {name: number_text(number) for name, number in extension.items()}
    return tag_text(EXTENSION, numbers) if numbers else ""


def link_text(name: str, mass: Mass) -> str:
    """A <link>."""
    return _nested("link", {"name": name}, [inertial_text(mass)])


def joint_text(name: str, joint: Measure, parent: str, child: str, leader: str | None) -> str:
    """A <joint>; a revolute one without stops is `continuous`; `leader` is the file's name for what it follows."""
    kind = "continuous" if joint.type == "revolute" and not joint.limits else joint.type
    inside = [tag_text("parent", {"link": parent}), tag_text("child", {"link": child})]
    if any(joint.at) or any(joint.rpy):
        inside.append(tag_text("origin", {"xyz": three(joint.at), "rpy": three(joint.rpy)}))
    if kind not in ("fixed", "floating"):
        inside.append(tag_text("axis", {"xyz": three(joint.axis)}))
    if kind in LIMITED:
        inside.append(tag_text("limit", limits_of(joint.limits) | {"effort": _NONE, "velocity": _NONE}))
    if joint.damping or joint.friction:
        numbers = {"damping": number_text(joint.damping), "friction": number_text(joint.friction)}
        inside.append(tag_text("dynamics", numbers))
    if joint.follows is not None and leader is not None:
        inside.append(tag_text("mimic", follow_of(joint.follows, leader)))
    return _nested("joint", {"name": name, "type": kind}, [*inside, extension_text(joint.extension)])


def follow_of(follows: Follow, leader: str) -> dict[str, str]:
    """The attributes of <mimic>."""
    return {
        "joint": leader,
        "multiplier": number_text(follows.multiplier),
        "offset": number_text(follows.offset),
    }


def limits_of(limits: Mapping[str, float]) -> dict[str, str]:
    """The attributes `lower` and `upper` of <limit>, which URDF wants both."""
    return {
        name: number_text(limits[name]) if name in limits else none
        for name, none in (("lower", f"-{_NONE}"), ("upper", _NONE))
    }


def _nested(tag: str, attributes: Mapping[str, str], inside: Iterable[str]) -> str:
    lines = [f"  {each}".replace("\n", "\n  ") for each in inside if each]
    if not lines:
        return tag_text(tag, attributes)
    return "\n".join([tag_text(tag, attributes, closed=False), *lines, f"</{tag}>"])


def robot_text(name: str, inside: Iterable[str]) -> str:
    """A whole file."""
    return f'<?xml version="1.0"?>\n{_nested("robot", {"name": name}, inside)}\n'


def gravity_text(gravity: Numbers) -> str:
    """Gravity as one number where it points straight down."""
    x, y, z = gravity
    return number_text(-z) if x == y == 0.0 else three(gravity)
