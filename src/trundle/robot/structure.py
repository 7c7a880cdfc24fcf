"""Checks on how a robot hangs together: names, the tree of joints, what motors drive, which parameters are used."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

from trundle import scalars
from trundle.errors import did_you_mean, suggest
from trundle.robot.bodies import Body, FixedJoint, Joint, RevoluteJoint, drive_axes
from trundle.robot.couplings import GearCoupling, elastic, followers, linkages, linked_steerings
from trundle.robot.dc_motor import DCMotor
from trundle.robot.expressions import ExpressionError, dimension_of
from trundle.robot.loops import JointLoop
from trundle.robot.motor import WoundMotor
from trundle.robot.parameters import Resolver, dimensions
from trundle.robot.parts import FAMILIES, Parts
from trundle.robot.problems import CircleError, Mistake, Path, in_order
from trundle.robot.units import UNITS
from trundle.robot.values import Value, check_dimension
from trundle.robot.wheels import PivotedWheel
from trundle.scalars import Scalar

# Gravity is along an axis where this share of it is: up to 2.6 degrees off, which no second axis comes near.
_ALONG = 0.999


def check_structure(robot: Parts) -> Iterator[Mistake]:
    """Everything that can be wrong before a number is looked at."""
    yield from _names(robot)
    parents = list(_parents(robot))
    yield from parents
    yield from _base(robot)
    yield from _motors(robot)
    yield from _batteries(robot)
    yield from _couplings(robot)
    yield from _loops(robot, is_tree=not parents)
    yield from _speeds(robot)
    yield from _parameters(robot)


def _names(robot: Parts) -> Iterator[Mistake]:
    """Names of parts and of bodies differ."""
    taken: dict[str, str] = {}
    for family in FAMILIES:
        for name in getattr(robot, family):
            if name in taken:
                message = f"the name {name!r} is taken by {taken[name]}.{name}"
                yield Mistake(
                    (family, name), message, f"names must differ: call it '{name}_{FAMILIES[family]}'"
                )
            taken.setdefault(name, family)
    bodies: list[tuple[Path, Body | None, str]] = [(("body", "name"), robot.body, "")]
    bodies += [(("joints", name, "body", "name"), joint.body, name) for name, joint in robot.joints.items()]
    seen: set[str] = set()
    for path, body, joint in bodies:
        if body is None or body.name is None:
            continue
        if (body.name in taken and body.name != joint) or body.name in seen:
            hint = "names of bodies must differ from all others"
            yield Mistake(path, f"the name {body.name!r} is taken already", hint)
        seen.add(body.name)


def body_names(robot: Parts) -> dict[str, str]:
    """Every name a `parent:` may use, and the joint (or "base") whose body it means."""
    joint_of = {"base": "base"}
    if robot.body is not None and robot.body.name:
        joint_of[robot.body.name] = "base"
    for name, joint in robot.joints.items():
        joint_of[name] = name
        if joint.body.name:
            joint_of[joint.body.name] = name
    return joint_of


def _parents(robot: Parts) -> Iterator[Mistake]:
    """Joints and wheels hang on bodies that exist, and on each other in no circle."""
    known = body_names(robot)
    for family, members in (("joints", robot.joints), ("wheels", robot.wheels)):
        for name, member in members.items():
            if member.parent not in known:
                message = f"there is no body or joint {member.parent!r}"
                yield Mistake((family, name, "parent"), message, suggest(member.parent, known))
    try:
        in_order({name: {known.get(joint.parent, "base")} - {"base"} for name, joint in robot.joints.items()})
    except CircleError as error:
        path: Path = ("joints", error.circle[0], "parent")
        yield Mistake(
            path, f"the joints hang on each other in a circle: {error}", "one of them must hang on 'base'"
        )


def chain(robot: Parts, name: str) -> list[str]:
    """The joints from the base to the body `name`, in this order."""
    known = body_names(robot)
    joints: list[str] = []
    place = known[name]
    while place != "base":
        joints.append(place)
        place = known[robot.joints[place].parent]
    return joints[::-1]


def pose_of(robot: Parts, name: str, read: Callable[[Value], Scalar]) -> tuple[Scalar, Scalar, Scalar]:
    """Where a body is on the base (x, y in m) and its yaw (rad), all joints at zero, by what reads its values."""
    x, y, yaw = 0.0, 0.0, 0.0
    for joint in (robot.joints[each] for each in chain(robot, name)):
        x, y = shifted(x, y, yaw, read(joint.at[0]), read(joint.at[1]))
        yaw = yaw + read(joint.rpy[2])
    return x, y, yaw


def shifted(x: Scalar, y: Scalar, yaw: Scalar, ahead: Scalar, left: Scalar) -> tuple[Scalar, Scalar]:
    """A place in a frame at (x, y) that is turned by `yaw`, seen from outside."""
    c, s = scalars.cos(yaw), scalars.sin(yaw)
    return x + c * ahead - s * left, y + s * ahead + c * left


def reached(start: str, steps: Iterable[tuple[str, str]]) -> list[str]:
    """Where steps (from, to) lead from `start`, which comes first."""
    onward: dict[str, list[str]] = {}
    for here, there in steps:
        onward.setdefault(here, []).append(there)
    places = [start]
    for place in places:
        places += onward.get(place, ())
    return places


def base_bodies(robot: Parts) -> list[Body]:
    """The bodies that are one with the base: its own, and those that only fixed joints part from it."""
    known = body_names(robot)
    fixed = [(known[j.parent], name) for name, j in robot.joints.items() if isinstance(j, FixedJoint)]
    own = [] if robot.body is None else [robot.body]
    return own + [robot.joints[name].body for name in reached("base", fixed)[1:]]


def falls_freely(robot: Parts) -> bool:
    """Whether gravity moves a base that nothing holds: no wheels, and what joints and motors do is between bodies."""
    if robot.base == "fixed" or robot.wheels:
        return False
    pull = Resolver(robot, robot.own_numbers).gravity()
    return any(pull if robot.base == "floating" else pull[:2])


def up_axis(robot: Parts) -> str | None:
    """Which of the axes y and z is up, by gravity; None where neither is."""
    _, y, z = pull = [float(part) for part in Resolver(robot, robot.own_numbers).gravity()]
    least = _ALONG * math.hypot(*pull)
    return "y" if y < -least else "z" if z < -least else None


def _base(robot: Parts) -> Iterator[Mistake]:
    """The base can move as it says with these wheels, feet and joints."""
    if robot.wheels and robot.base == "fixed":
        message = "wheels on a fixed base are not supported"
        yield Mistake(
            ("base",), message, "write base: planar, or floating over terrain, or take the wheels away"
        )
    feet = [name for name, wheel in robot.wheels.items() if not wheel.plane]
    if feet and robot.base == "planar":
        message = f"{feet[0]!r} is a {robot.wheels[feet[0]].called}, which carries no planar base: what has feet tilts"
        yield Mistake(("base",), message, "write base: floating, and run it over a terrain")
    if robot.base == "fixed" and not robot.joints:
        message = "there is nothing that can move: a fixed base without joints"
        yield Mistake((), message, "add joints, or wheels, or choose base: planar or floating")


def drivable(robot: Parts) -> dict[str, str]:
    """Everything a motor may drive, and its key in the description."""
    key_of: dict[str, str] = {}
    for name, wheel in robot.rolling.items():
        key_of[name] = f"wheels.{name}"
        if isinstance(wheel, PivotedWheel):
            key_of[f"{name}.steering"] = f"wheels.{name}"
    key_of |= {
        name + ending: f"joints.{name}"
        for name, joint in robot.joints.items()
        for ending in drive_axes(joint)
    }
    return key_of | {name: f"couplings.{name}" for name in linkages(robot.couplings)}


def _motors(robot: Parts) -> Iterator[Mistake]:
    """A motor drives something that can be driven, that no coupling holds, and that no other motor drives."""
    known = drivable(robot)
    coupled = linked_steerings(robot.couplings)
    driven: dict[str, str] = {}
    for name, motor in robot.motors.items():
        path: Path = ("motors", name, "drives")
        target = motor.drives
        if target not in known:
            yield Mistake(path, no_axis(robot, target, "drive"), suggest(target, known))
        elif target in coupled:
            message = f"{target!r} is held by the coupling {coupled[target]!r}"
            yield Mistake(path, message, f"drive the coupling: drives: {coupled[target]}")
        elif target in driven:
            yield Mistake(
                path, f"{target!r} is driven by the motor {driven[target]!r} already", "one motor each"
            )
        driven.setdefault(target, name)


def _batteries(robot: Parts) -> Iterator[Mistake]:
    """Motors that name no battery that there is, or need one; batteries that feed nothing."""
    for name, motor in robot.motors.items():
        if not isinstance(motor, WoundMotor):
            continue
        path: Path = ("motors", name)
        if motor.battery is not None and motor.battery not in robot.batteries:
            message = f"there is no battery {motor.battery!r}"
            yield Mistake((*path, "battery"), message, suggest(motor.battery, robot.batteries))
        elif motor.battery is None and len(robot.batteries) > 1:
            message = f"there are {len(robot.batteries)} batteries, and it names none"
            yield Mistake(path, message, f"write battery: {next(iter(robot.batteries))}")
        limited = isinstance(motor, DCMotor) and motor.voltage_limit is None and motor.supply_current_limit
        if limited and not robot.batteries:
            message = "what it draws depends on its supply's voltage, and nothing says that"
            yield Mistake((*path, "supply_current_limit"), message, "add a battery, or a voltage_limit")
    for name, motors in robot.fed.items():
        if not motors:
            message, hint = (
                f"the battery {name!r} feeds no motor",
                "dc motors can be fed: write battery: NAME",
            )
            yield Mistake(("batteries", name), message, hint)


def no_axis(robot: Parts, target: str, what: str) -> str:
    """Why there is no such single axis to drive, or to couple."""
    name, _, part = target.partition(".")
    done = {"drive": "driven", "couple": "coupled"}[what]
    if part == "steering" and name in robot.wheels:
        return f"the wheel {name!r} is {robot.wheels[name].type}: it can't be steered"
    if target in robot.joints:
        joint = robot.joints[target]
        parts = " and ".join(target + ending for ending in drive_axes(joint))
        if parts:
            return f"the joint {target!r} is {joint.type}: {what} {parts}"
        return f"the joint {target!r} is {joint.type}: it can't be {done}"
    if target in robot.wheels:
        return f"the wheel {target!r} is a free ball: it can't be {done}"
    if target in (ties := followers(robot.couplings)):
        ends = ", ".join([ties[target].joint, *ties[target].leaders])
        return f"the {ties[target].called} {target!r} has no coordinate of its own: {what} one of {ends}"
    return f"there is nothing called {target!r} to {what}"


def _couplings(robot: Parts) -> Iterator[Mistake]:
    """A linkage couples two different steered wheels on one body, which nothing else holds."""
    holder = linked_steerings(robot.couplings)
    steered = [name for name, wheel in robot.wheels.items() if wheel.is_steered]
    for name, coupling in linkages(robot.couplings).items():
        if coupling.wheels[0] == coupling.wheels[1]:
            yield Mistake(("couplings", name, "wheels"), "the two wheels are the same", "name [left, right]")
        parents = {robot.wheels[wheel].parent for wheel in coupling.wheels if wheel in robot.wheels}
        for place, wheel in enumerate(coupling.wheels):
            path: Path = ("couplings", name, "wheels", place)
            other = holder[f"{wheel}.steering"]
            if wheel not in robot.wheels:
                yield Mistake(path, f"there is no wheel {wheel!r}", suggest(wheel, steered))
            elif wheel not in steered:
                kind = robot.wheels[wheel].type
                yield Mistake(path, f"the wheel {wheel!r} is {kind}", "couple steered wheels")
            elif place and len(parents) > 1:
                message = f"the wheel {wheel!r} is mounted on another body"
                yield Mistake(path, message, "give both the same parent")
            elif other != name:
                yield Mistake(path, f"the wheel {wheel!r} is held by the coupling {other!r} already")


def _loops(robot: Parts, is_tree: bool) -> Iterator[Mistake]:
    """Loops on bodies that aren't there; where the joints make a tree, loops around nothing that moves, too."""
    known = body_names(robot)
    for name, loop in robot.loops.items():
        ends = loop.first.body, loop.second.body
        for end, body in zip(("first", "second"), ends, strict=True):
            if body not in known:
                path: Path = ("loops", name, end, "body")
                yield Mistake(path, f"there is no body or joint {body!r}", _no_body_hint(robot, body, known))
        if is_tree and known.keys() >= set(ends) and moves_with(robot, ends[0]) == moves_with(robot, ends[1]):
            message = f"it holds {ends[0]!r} to {ends[1]!r}, and no joint between them can move"
            hint = "a loop closes a chain of joints: name the last body of the chain and what it is pinned to"
            yield Mistake(("loops", name), message, hint)


def _no_body_hint(robot: Parts, name: str, known: Mapping[str, str]) -> str:
    if name in robot.wheels:
        return "a wheel's frame doesn't spin with it, so nothing can be pinned to a wheel: add a joint with a body"
    return suggest(name, known)


def moves_with(robot: Parts, body: str) -> str:
    """The last joint on the way to a body that can move, or "base"."""
    moving = [joint for joint in chain(robot, body) if robot.joints[joint].speeds]
    return moving[-1] if moving else "base"


def speed_names(robot: Parts) -> tuple[str, ...]:
    """Names of all generalised speeds: the base's, then joints', wheels' and couplings'."""
    base: dict[str, tuple[str, ...]] = {
        "fixed": (),
        "planar": ("v_x", "v_y", "omega"),
        "floating": ("v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z"),
    }
    names = [*base[robot.base]]
    closing = {name: loop.joint for name, loop in robot.loops.items() if isinstance(loop, JointLoop)}
    joints = {**robot.joints, **closing}
    names += [f"{name}.{speed}" for name, joint in joints.items() for speed in joint.speeds]
    coupled = linked_steerings(robot.couplings)
    for name, wheel in robot.rolling.items():
        names.append(f"{name}.rate")
        if isinstance(wheel, PivotedWheel) and f"{name}.steering" not in coupled:
            names.append(f"{name}.steering_rate")
    return (*names, *(f"{name}.rate" for name in linkages(robot.couplings)))


def _speeds(robot: Parts) -> Iterator[Mistake]:
    known = speed_names(robot)
    for place, name in enumerate(robot.speeds or ()):
        if name not in known:
            yield Mistake(("speeds", place), f"there is no speed {name!r}", suggest(name, known))
        elif name in (robot.speeds or ())[:place]:
            yield Mistake(("speeds", place), f"{name!r} stands twice", "name each speed once")


def _parameters(robot: Parts) -> Iterator[Mistake]:
    """Formulas use parameters that exist, in no circle, and measure what their fields do; no parameter is unused."""
    used: set[str] = set()
    try:
        known = dimensions(robot)
    except CircleError as error:
        path: Path = ("parameters", error.circle[0])
        yield Mistake(path, f"is defined in a circle: {error}", "give one of them a number")
        return
    for path, value in robot.every_value:
        used.update(value.names)
        missing = [name for name in value.names if name not in robot.parameters]
        for name in missing:
            yield Mistake(path, f"the parameter {name!r} is used and never given", _missing_hint(robot, name))
        if not missing:  # without a name, too: what gears' numbers measure is known only here
            try:
                check_dimension(dimension_of(value.expression, known.__getitem__), value.quantity)
            except ExpressionError as error:
                yield Mistake(path, f"{value.source!r}: {error}", error.hint)
    for name in robot.parameters:
        if name not in used:
            unknown = {other for _, value in robot.every_value for other in value.names} - set(
                robot.parameters
            )
            hint = did_you_mean(name, unknown) or "use its name in place of a number, or take it away"
            yield Mistake(("parameters", name), f"the parameter {name!r} is given but nothing uses it", hint)
        if name == "gravity" and not isinstance(robot.gravity, tuple) and robot.gravity.is_parameter:
            hint = "write gravity: gravity, or choose another name"
            yield Mistake(("parameters", name), "'gravity' is the name of the robot's own gravity", hint)


def _missing_hint(robot: Parts, name: str) -> str:
    """What to write where a formula names no parameter: what is spelt alike, a number, or a new parameter."""
    if near := did_you_mean(name, robot.parameters):
        return near
    if name.lower() in ("nan", "inf", "infinity"):
        return f"{name!r} is not a finite number: write one, with a unit if you like"
    if name in UNITS:
        return (
            f"{name!r} is a unit too: it must stand straight after its number, without spaces around * and /"
        )
    known = f" ({suggest(name, robot.parameters)})" if robot.parameters else ""
    return f"add it under robot.parameters: {name}: ...{known}"


def is_vertical_axis(robot: Parts, name: str, numbers: Mapping[str, float]) -> bool:
    """Whether a joint keeps its body's wheels upright and on the ground: fixed, or revolute about z; no tilt."""
    joint = robot.joints[name]
    across = [*joint.rpy[:2], *(joint.axis[:2] if isinstance(joint, RevoluteJoint) else ())]
    level = all(abs(numbers[value.key]) <= 1e-12 for value in across)
    return level and isinstance(joint, (FixedJoint, RevoluteJoint))


def has_heights(robot: Parts) -> bool:
    """Whether the description says how high masses are: in the base's frame, the z of some body's centre of mass is
    more than a plain 0.
    """
    known, raised = body_names(robot), {"base": False}

    def is_raised(name: str) -> bool:
        climbed: list[str] = []
        while name not in raised and not _raises(robot.joints[name]):
            climbed.append(name)
            name = known[robot.joints[name].parent]
        raised.update(dict.fromkeys((*climbed, name), raised.get(name, True)))
        return raised[name]

    bodies = {} if robot.body is None else {"base": robot.body}
    bodies |= {name: joint.body for name, joint in robot.joints.items()}
    heavy = {name: body for name, body in bodies.items() if _says(body.mass)}
    return any(_says(body.center_of_mass[2]) or is_raised(name) for name, body in heavy.items())


def _raises(joint: Joint) -> bool:
    """Whether a joint puts its body higher or lower than its parent, or can."""
    out = [joint.at[2], *joint.rpy[:2], *(joint.axis[:2] if isinstance(joint, RevoluteJoint) else ())]
    return not isinstance(joint, (FixedJoint, RevoluteJoint)) or any(map(_says, out))


def _says(value: Value) -> bool:
    """Whether a number is more than a plain 0, which stands for what isn't there."""
    return bool(value.names) or value.number != 0.0


def leaders(robot: Parts) -> dict[str, tuple[str, ...]]:
    """What each coordinate that follows depends on directly, by gears, cams and linkages alike."""
    depends = {steering: (linkage,) for steering, linkage in linked_steerings(robot.couplings).items()}
    return depends | {tie.joint: tie.leaders for tie in followers(robot.couplings).values()}


def check_followers(robot: Parts) -> Iterator[Mistake]:
    """What is wrong with gears and cams, before a number is looked at."""
    known = drivable(robot)
    holder = linked_steerings(robot.couplings)
    problems: list[Mistake] = []
    for name, tie in followers(robot.couplings).items():
        path: Path = ("couplings", name)
        wanted: list[tuple[Path, str]] = [((*path, "joint"), tie.joint)]
        several = isinstance(tie, GearCoupling)
        wanted += [((*path, "follows", *([leader] if several else [])), leader) for leader in tie.leaders]
        problems += [
            Mistake(place, no_axis(robot, target, "couple"), suggest(target, known))
            for place, target in wanted
            if target not in known
        ]
        if other := holder.get(tie.joint):
            message = f"{tie.joint!r} is held by the coupling {other!r} already"
            problems.append(Mistake((*path, "joint"), message, _one_coupling(robot, other)))
        holder.setdefault(tie.joint, name)
    problems += _elastic(robot, known)
    yield from problems or _circles(robot)


def _elastic(robot: Parts, known: Mapping[str, str]) -> Iterator[Mistake]:
    """What elastic couplings act on is there."""
    for name, spring in elastic(robot.couplings).items():
        targets = {("joint",): spring.joint} | {("follows", leader): leader for leader in spring.follows}
        for place, target in targets.items():
            if target not in known:
                message = no_axis(robot, target, "couple")
                yield Mistake(("couplings", name, *place), message, suggest(target, known))


def _one_coupling(robot: Parts, name: str) -> str:
    if isinstance(robot.couplings[name], GearCoupling):
        return f"let {name} alone follow all of them: follows: {{a: ..., b: ...}}; or turn this one round"
    if name in followers(robot.couplings):
        return f"take this one or {name} away"
    return f"let the coupling follow: joint: {name}"


def _circles(robot: Parts) -> Iterator[Mistake]:
    """Joints that follow each other in a circle."""
    owners = {tie.joint: name for name, tie in followers(robot.couplings).items()}
    follows = leaders(robot)
    try:
        in_order({name: follows[name] for name in sorted(follows, key=lambda name: name not in owners)})
    except CircleError as error:
        first = error.circle[0]
        message = f"they follow each other in a circle: {error}"
        if len(error.circle) == 1:
            message = f"{first!r} follows itself"
        yield Mistake(("couplings", owners[first], "follows"), message, "one of them must be free")


def tied(robot: Parts) -> dict[str, frozenset[str]]:
    """The names that move together with each name that some gear or cam ties to others."""
    groups: dict[str, frozenset[str]] = {}
    for follower, others in leaders(robot).items():
        together = frozenset({follower, *others}).union(*(groups.get(n, ()) for n in (follower, *others)))
        groups |= dict.fromkeys(together, together)
    return groups
