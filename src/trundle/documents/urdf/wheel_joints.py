"""Wheels in the place of a URDF file's joints: which joints and links they take, and what these say of them.

A wheel's joint turns about a level axis. Its link, with all that is fixed to it, is the wheel's mass. A joint about the
vertical above it, which carries this wheel alone, is its steering, and the link between them its fork.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import cast

from pydantic_core import PydanticCustomError

from trundle.arrays import Triple
from trundle.documents.urdf.additions import Addition
from trundle.documents.urdf.elements import Urdf, UrdfData, UrdfJoint
from trundle.documents.urdf.links import LinkTree, body_in, vector, without_noise
from trundle.errors import choose, suggest
from trundle.robot import units
from trundle.robot.expressions import ExpressionError
from trundle.robot.values import read_value
from trundle.robot.wheels import WHEELS, PivotedWheel, RollingWheel, Wheel
from trundle.spatial.motions import Pose, compose, inverse, transform_point
from trundle.spatial.vectors import apply, dot, principal_rotation, scale, subtract

# Files round quarter and half turns (rpy="-1.57 0 0" is 8e-4 rad off, 3.14 is 1.6e-3); a tilt that is meant is larger.
_ROUNDED = 2e-3
# Metres: contact heights may differ by as much, too (robot/checks.py).
_NEAR = 1e-6
# Of a wheel's own size: from where on it is told that its mass isn't round about its axle, or its shape another's.
_UNBALANCED = 0.01
# From where on a velocity is a way to say that there is no limit.
_NO_LIMIT = 1e15


@dataclass(frozen=True)
class WheelJoints:
    """Wheels in the place of joints.

    `given` is what the file says of the wheels by their names, before their own keys; `called` maps the joints that
    they took to what a motor would drive ("left", "front.steering"), and `turned` names those whose sense is the other;
    `links` are gone with them, to the wheels that have their masses. `weights` are joints, fixed, with the masses of
    wheels whose mass lies beside their middle.
    """

    given: Mapping[str, UrdfData] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)
    turned: frozenset[str] = frozenset()
    links: Mapping[str, str] = field(default_factory=dict)
    weights: Mapping[str, UrdfData] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def took(self, joint: UrdfJoint) -> bool:
        """Whether a joint is gone: a wheel's own, or one that holds a link to a wheel or a fork."""
        return joint.child in self.links

    def sense(self, joint: str) -> float:
        """1, or -1 where what a wheel makes of a joint turns the other way."""
        return -1.0 if joint in self.turned else 1.0


@dataclass(frozen=True)
class _Place:
    """Where a wheel is: the joint that it takes and its steering's, if any, its body's link, and poses at zero.

    `pose` is that of the wheel's joint, `pivot` that of the steering's, both in the link `parent`.
    """

    addition: Addition
    joint: UrdfJoint
    parent: str
    pose: Pose
    steering: UrdfJoint | None
    pivot: Pose


def wheel_joints(urdf: Urdf, root: str) -> WheelJoints:
    """The wheels that <wheel joint="..."/> puts in the place of joints; raises InputError where one can't be."""
    asked = list(urdf.extension.on_joints)
    tree = LinkTree(urdf, root)
    carriers: dict[str, Addition] = {}
    for addition in asked:
        joint = _carrier(urdf, addition)
        if joint.name in carriers:
            message = f"the joint {joint.name!r} is the wheel {carriers[joint.name].name!r} already"
            raise addition.part.fail(message, "joint", "a joint carries one wheel")
        carriers[joint.name] = addition
    made = WheelJoints()
    for name, addition in carriers.items():
        joint = urdf.joints[name]
        if joint.type == "fixed":
            made = replace(made, given={**made.given, addition.name: _ball(tree, joint)})
        else:
            made = _with(made, tree, _place(tree, addition, joint))
    return made


def _floats(urdf: Urdf) -> bool:
    """Whether wheels stand on terrain alone, by a base that floats: joints may lift and tilt them."""
    return urdf.extension.base == "floating"


def wheel_like(urdf: Urdf, root: str) -> list[str]:
    """The joints on which wheels may spin: continuous, level, with nothing that moves behind them, and not alone."""
    tree, by_axis = LinkTree(urdf, root), dict[tuple[int, int], list[str]]()
    for joint in urdf.joints.values():
        if joint.type != "continuous" or joint.mimic is not None or tree.moving_under(joint.child):
            continue
        x, y, z = tree.axis_at_zero(joint)
        if abs(z) <= _ROUNDED:
            way = round(100 * x), round(100 * y)  # of one line, either way along it
            by_axis.setdefault(max(way, (-way[0], -way[1])), []).append(joint.name)
    found = max(by_axis.values(), key=len, default=[])
    return found if len(found) > 1 else []


def _carrier(urdf: Urdf, addition: Addition) -> UrdfJoint:
    """The joint that a wheel names, which can carry it."""
    name, part = str(addition.joint), addition.part
    if name not in urdf.joints:
        raise part.fail(f"there is no joint {name!r}", "joint", suggest(name, urdf.joints))
    joint = urdf.joints[name]
    kind = addition.data.get("type")
    rolls = kind is None or issubclass(kind_of(addition), RollingWheel)
    if rolls and joint.type not in ("continuous", "revolute"):
        still = "; a ball stands on one: type: ball" if joint.type == "fixed" else ""
        hint = f"name the joint that the wheel spins on, type continuous{still}"
        raise part.fail(f"the joint {name!r} is {joint.type}, and a wheel spins", "joint", hint)
    if not rolls and joint.type != "fixed":
        hint = f"make {name!r} fixed: a ball's own turning has no inertia here"
        raise part.fail(f"a ball stands on a fixed joint, and {name!r} is {joint.type}", "joint", hint)
    extra = joint.data.keys() - {"at", "rpy", "axis", "damping", "coulomb", "coulomb_speed"}
    if extra:
        hint = "a wheel turns on and on: type continuous, without limits and springs"
        raise joint.part.fail(f"a wheel's joint has no {', '.join(sorted(extra))}", hint=hint)
    return joint


def kind_of(addition: Addition) -> type[Wheel]:
    """The class that a wheel's `type` names."""
    kind = addition.data.get("type", WHEELS.default)
    try:
        found = WHEELS.named(kind)
    except PydanticCustomError:
        raise addition.part.fail(f"unknown type {kind!r}", "type", choose(kind, WHEELS)) from None
    assert issubclass(found, Wheel)
    return found


def _ball(tree: LinkTree, joint: UrdfJoint) -> dict[str, object]:
    """A ball where a fixed joint is; its link's mass stays with what it is fixed to."""
    parent, _, pose = tree.mounted(joint)
    return {"parent": parent, "at": list(without_noise(vector(pose.position)))}


def _place(tree: LinkTree, addition: Addition, joint: UrdfJoint) -> _Place:
    """Where a wheel is; raises where its axis isn't level."""
    parent, above, pose = tree.mounted(joint)
    off = abs(tree.axis_at_zero(joint)[2])
    if off > _ROUNDED:
        degrees = math.degrees(math.asin(min(off, 1.0)))
        message = (
            f"the axis of the joint {joint.name!r} is {degrees:.3g} degrees off level: no wheel rolls on it"
        )
        raise joint.part.near("axis").fail(message, None, _level_hint(addition))
    upright = tree.at_zero(parent).rotation[2][2]
    if _floats(tree.urdf) and upright < math.cos(_ROUNDED):
        message = f"the link {parent!r}, which carries the wheel on {joint.name!r}, doesn't stand upright"
        hint = "turn its joint's <origin rpy> so that z is up with all joints at zero"
        raise joint.part.fail(message, hint=hint)
    asked = kind_of(addition) if "type" in addition.data else None
    pivoted = asked is not None and issubclass(asked, PivotedWheel)
    may = asked is None or pivoted
    if above is not None and may and tree.is_vertical(above, _ROUNDED):
        alone = [name for name in tree.moving_under(above.child) if name != joint.name]
        if not alone:
            parent, carrier, pivot = tree.mounted(above)
            _refuse_tilting(tree, joint, carrier)
            return _Place(addition, joint, parent, compose(pivot, pose), above, pivot)
    if pivoted:
        hint = "its link must hang on a joint about the vertical that moves nothing else; or take type away"
        message = f"a {addition.data['type']} wheel needs a steering joint above {joint.name!r}"
        raise addition.part.fail(message, "type", hint)
    _refuse_tilting(tree, joint, above)
    return _Place(addition, joint, parent, pose, None, pose)


def _level_hint(addition: Addition) -> str:
    return f"name the joint that the wheel {addition.name!r} spins on, or turn its <axis> or <origin rpy>"


def _refuse_tilting(tree: LinkTree, joint: UrdfJoint, above: UrdfJoint | None) -> None:
    """Raise where a joint between a wheel and the base would lift or tilt it, which terrain alone can do."""
    while above is not None and not _floats(tree.urdf):
        if not tree.is_vertical(above, _ROUNDED):
            does = "lifts" if above.type == "prismatic" else "tilts"
            message = f"it {does} the wheel on {joint.name!r}, which stands on level ground"
            hint = f"make it fixed (fixed: {{{above.name}: 0}}); or write base: floating beside urdf, with a terrain"
            raise above.part.fail(message, hint=hint)
        _, above, _ = tree.mounted(above)


def _with(made: WheelJoints, tree: LinkTree, place: _Place) -> WheelJoints:
    """The wheels with one more."""
    addition, joint, steering = place.addition, place.joint, place.steering
    name = addition.name
    links = tree.fixed_to(joint.child)
    moving = tree.moving_under(joint.child)
    if moving:
        hint = "what hangs on a wheel doesn't turn with it here: hang it on the link that carries the wheel"
        raise tree.urdf.joints[moving[0]].part.fail(f"it hangs on the wheel {name!r}", hint=hint)
    mass, beside, notes = _mass(tree, place)
    data, turned = _data(tree, place, beside)
    called = {joint.name: name}
    if steering is not None:
        called[steering.name] = f"{name}.steering"
        links = [*links, *tree.fixed_to(steering.child)]
        if tree.axis_at_zero(steering)[2] < 0:
            turned |= {steering.name}
    weights: dict[str, UrdfData] = {}
    if beside and steering is None:
        weight, point = _weight(tree, place)
        body = {"mass": weight, "center_of_mass": list(without_noise(point))}
        weights[f"{name}_weight"] = {"type": "fixed", "parent": place.parent, "body": body}
    return WheelJoints(
        {**made.given, name: data | mass},
        {**made.called, **called},
        made.turned | turned,
        {**made.links, **dict.fromkeys(links, name)},
        {**made.weights, **weights},
        (*made.notes, *notes, *_other_size(tree, place)),
    )


def _data(tree: LinkTree, place: _Place, beside: float) -> tuple[dict[str, object], frozenset[str]]:
    """Where a wheel stands and points, its kind, its losses and its limits; the joints whose sense is the other."""
    axis = apply(place.pose.rotation, tree.axis(place.joint))
    heading = math.atan2(-float(axis[0]), float(axis[1]))
    data: dict[str, object] = {}
    turned: frozenset[str] = frozenset()
    x, y, z = vector(place.pose.position)
    if place.steering is not None:
        kind, heading, away = _kind(place, heading)
        if away:
            turned = frozenset({place.joint.name})
        data |= kind | _steering(place)
        x, y, _ = vector(place.pivot.position)
    data |= {"parent": place.parent, "at": list(without_noise((x, y, z)))}
    if abs(heading) > 1e-12:
        data["heading"] = heading
    if place.steering is not None:
        data |= _fork(tree, place, heading, beside)
    for key in ("damping", "coulomb", "coulomb_speed"):
        if key in place.joint.data:
            data[key] = place.joint.data[key]
    return data | _limits(tree, place), turned


def _kind(place: _Place, heading: float) -> tuple[dict[str, object], float, bool]:
    """Steered, kingpin or caster, by where the wheel's centre is beside its pivot; the heading, and whether it is the
    other way round so that a caster trails.
    """
    apart = subtract(place.pose.position, place.pivot.position)
    x, y, z = vector(apart)
    ahead = x * math.cos(heading) + y * math.sin(heading)
    left = y * math.cos(heading) - x * math.sin(heading)
    rounded = _NEAR + _ROUNDED * math.hypot(x, y, z)
    asked = place.addition.data.get("type")
    if abs(ahead) > rounded and abs(left) > rounded:
        message = (
            f"the wheel's centre is {abs(ahead):.4g} m {'ahead of' if ahead > 0 else 'behind'} its pivot and "
            f"{abs(left):.4g} m beside it"
        )
        hint = "a caster's wheel is straight behind its pivot, a steered one's on its axle's line: move the <origin>"
        raise place.joint.part.near("origin").fail(message, None, hint)
    found: dict[str, object] = {"type": "steered"}
    away = ahead > rounded
    if abs(ahead) > rounded:
        found = {"type": "caster", "offset": abs(ahead)}
        heading += math.pi if away and heading <= 0.0 else -math.pi if away else 0.0
    elif abs(left) > rounded:
        found = {"type": "kingpin", "scrub": left}
    if asked is not None and asked != found["type"] and WHEELS.named(asked).__module__.startswith("trundle."):
        message = f"the wheel on {place.joint.name!r} is {found['type']} by where its centre is, not {asked}"
        raise place.addition.part.fail(message, "type", f"write type: {found['type']}, or take type away")
    return found, heading, away


def _steering(place: _Place) -> dict[str, object]:
    """What the joint of the steering says: friction, and what plans of motions keep."""
    joint = place.steering
    assert joint is not None
    other = joint.data.keys() - {"at", "rpy", "axis", "damping", "lower", "upper", "coulomb_speed"}
    if other:
        keys = ", ".join("friction" if key == "coulomb" else key for key in sorted(other))
        hint = "a steering has damping alone; a servo's stiffness is a motor: {type: servo, drives: NAME.steering}"
        raise joint.part.fail(f"a steering has no {keys}", hint=hint)
    return {"steering_damping": joint.data["damping"]} if "damping" in joint.data else {}


def _limits(tree: LinkTree, place: _Place) -> dict[str, object]:
    """What the joints' limits say, as the limits that plans of motions keep."""
    limits: dict[str, object] = {}
    radius = place.addition.data.get("radius")
    most = _velocity(place.joint)
    if most is not None and isinstance(radius, (int, float)):
        limits["drive_speed"] = most * radius
    elif most is not None and isinstance(radius, str) and _is_length(radius):
        limits["drive_speed"] = f"{most!r} rad/s*({radius})"
    if place.steering is not None:
        rate = _velocity(place.steering)
        up = 1.0 if tree.axis_at_zero(place.steering)[2] > 0 else -1.0
        limits |= {} if rate is None else {"steering_rate": rate}
        for key, stop in (
            (("lower", "lower"), ("upper", "upper")) if up > 0 else (("lower", "upper"), ("upper", "lower"))
        ):
            if stop in place.steering.data:
                limits[key] = up * cast("float", place.steering.data[stop])
    return {"limits": limits} if limits else {}


def _is_length(text: str) -> bool:
    """Whether a formula is one of a length; what is wrong with others is told of the wheel's own key."""
    try:
        read_value(text, units.LENGTH)
    except ExpressionError:
        return False
    return True


def _velocity(joint: UrdfJoint) -> float | None:
    most = None if joint.limit is None else joint.limit.velocity
    return most if most is not None and 0.0 < most < _NO_LIMIT else None


def _fork(tree: LinkTree, place: _Place, heading: float, beside: float) -> dict[str, object]:
    """What turns with a wheel about its pivot, in the fork's frame: at the wheel's height, x along the heading. Where
    the wheel's mass lies `beside` its middle it is a part of the fork.
    """
    steering = place.steering
    assert steering is not None
    x, y, _ = vector(place.pivot.position)
    z = vector(place.pose.position)[2]
    frame = Pose(principal_rotation(2, math.cos(heading), math.sin(heading)), (x, y, z))
    points: list[tuple[float, Triple]] = []
    if beside:
        weight, point = _weight(tree, place)
        points.append((weight, vector(transform_point(inverse(frame), point))))
    fork = body_in(tree, steering.child, compose(inverse(frame), place.pivot), *points)
    return {"fork": fork.data} if fork.data else {}


def _mass(tree: LinkTree, place: _Place) -> tuple[dict[str, object], float, tuple[str, ...]]:
    """A wheel's mass and moments from its link, how far along the axle from the wheel's middle the mass lies (m), and
    what isn't round about the axle, in words.
    """
    body, axis = body_in(tree, place.joint.child), tree.axis(place.joint)
    beside = float(dot(body.center, axis))
    off = math.hypot(*(part - beside * unit for part, unit in zip(body.center, vector(axis), strict=True)))
    central, across = body.round_about(axis)
    axle = central + body.mass * off**2
    size = math.sqrt(axle / body.mass) if body.mass else 0.0
    notes: tuple[str, ...] = ()
    if off > _UNBALANCED * size or body.unevenness(axis) > _UNBALANCED * axle:
        notes = (
            f"the link {place.joint.child!r} isn't round about its axle; the wheel {place.addition.name!r} is "
            "balanced, with its mean moments",
        )
    inertia = {name: moment for name, moment in (("axle", axle), ("diameter", across)) if moment}
    data: dict[str, object] = {"inertia": inertia} if inertia else {}
    beside = beside if abs(beside) > _NEAR and body.mass else 0.0
    return data | ({"mass": body.mass} if body.mass and not beside else {}), beside, notes


def _other_size(tree: LinkTree, place: _Place) -> tuple[str, ...]:
    """That the cylinder or ball that the file shows of a wheel has another radius than it was given, in words."""
    radius, link = place.addition.data.get("radius"), place.joint.child
    size = shown_radius(tree.urdf, link)
    if not isinstance(radius, (int, float)) or size is None or abs(size - radius) <= _UNBALANCED * abs(size):
        return ()
    return (
        f"the wheel {place.addition.name!r} has radius {radius:g} m, and the shape of {link!r} {size:g} m",
    )


def shown_radius(urdf: Urdf, link: str) -> float | None:
    """The radius (m) of the cylinders or balls that a file shows of a link; None where they differ, or are none."""
    element = urdf.links[link].part.element
    sizes = {shape.get("radius", "") for tag in ("cylinder", "sphere") for shape in element.iter(tag)}
    try:
        return float(sizes.pop()) if len(sizes) == 1 else None
    except ValueError:
        return None  # whoever draws it tells that


def _weight(tree: LinkTree, place: _Place) -> tuple[float, Triple]:
    """A wheel's mass (kg) where its centre is in the link that the wheel is mounted on (m): on its axle."""
    body, axis = body_in(tree, place.joint.child), tree.axis(place.joint)
    along = scale(dot(body.center, axis), axis)
    return body.mass, vector(transform_point(place.pose, along))
