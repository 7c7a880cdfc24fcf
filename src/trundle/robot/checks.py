"""Checks on a robot's numbers: bounds, inertias that exist, wheels on the ground, masses to be moved."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import chain as chained
from itertools import islice
from operator import itemgetter

from trundle.robot.bodies import LIMITED, MOMENTS, Body, Inertia, TwoAxisJoint, drive_axes
from trundle.robot.couplings import gears, linkages
from trundle.robot.kinds import ask
from trundle.robot.mounts import check_mounts, stance
from trundle.robot.parameters import numbers
from trundle.robot.parts import Parts
from trundle.robot.problems import Mistake, Path, report
from trundle.robot.structure import (
    base_bodies,
    body_names,
    chain,
    check_followers,
    check_structure,
    is_vertical_axis,
    pose_of,
    shifted,
    tied,
)
from trundle.robot.wheels import ModuleLimits, PivotedWheel, RollingWheel

ParameterNumbers = Mapping[str, float]

# How many problems of the structure are looked for.
_ENOUGH = 20
# Contact heights may differ by rounding of unit conversions, not by a real millimetre.
_HEIGHT_TOLERANCE = 1e-6
# Calibrated radii differ by some of their hundredths: up to this share of the wheels' distance a base is level (0.3°).
_TILT = 0.005
# Sine of the least angle between a universal joint's axes; closer ones are a mistake of rounding or of thought.
_PARALLEL = 1e-6
# Relative; inertias are often given with three or four digits, on the edge of the triangle inequality (thin plates).
_INERTIA_TOLERANCE = 1e-6


def check_parts(robot: Parts) -> list[Mistake]:
    """Everything wrong with how a robot hangs together, before its numbers are looked at."""
    # the first few are enough, and each costs the search for a name that is near
    return list(islice(chained(check_structure(robot), check_followers(robot)), _ENOUGH))


def check_numbers(robot: Parts, scope: ParameterNumbers) -> list[Mistake]:
    """Everything wrong with a robot's numbers, given its parameters."""
    values, problems = numbers(robot, scope)
    if not problems:
        problems = list(_bounds(robot, values))
    if not problems:
        problems = [*_inertias(robot, values), *_axes(robot, values), *_limits(robot, values)]
        problems += [*_switches(robot, values), *_commands(robot, values)]
        problems += [*_couplings(robot, values), *_ratios(robot, values)]
        problems += _ground(robot, values)
        problems = problems or list(check_mounts(robot, lambda value: values[value.key]))
    return problems


# Numbers that come out below zero where they were identified from measurements that tell little of them.
_LOSSES = ("damping", "coulomb", "viscous")
_NOTHING_LOST = "it takes energy and gives none; write 0 where nothing is known of it"


def _bounds(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    for path, value in robot.every_value:
        number = values[value.key]
        if value.bound is not None and not value.bound.allows(number):
            written = f"{number:g}" if isinstance(value.source, float) else f"{value.source} = {number:g}"
            name = path[-1]
            meant = _NOTHING_LOST if path[-1] in _LOSSES else f"did you mean {-number:g}?"
            hint = value.bound.hint or (meant if number < 0 else None)
            yield Mistake(path, f"{name} {value.bound.words}, got {written}", hint)


def _inertias(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    """Moments of inertia are those that a rigid body can have."""
    for path, part in robot.every_component:
        if isinstance(part, Inertia) and not part.as_given:
            message = inertia_problem(**{axes: values[getattr(part, axes).key] for axes in MOMENTS})
            if message:
                hint = "a body has xx + yy >= zz (and so on) and products small enough; check units and axes"
                yield Mistake(path, message, hint)
    for name, wheel in robot.rolling.items():
        yield from _wheel_inertia(("wheels", name, "inertia"), wheel, values)


def inertia_problem(xx: float, yy: float, zz: float, xy: float, xz: float, yz: float) -> str | None:
    """What makes six numbers (kg m²) no inertia; one moment alone is fine, all that a motion about one axis needs."""
    if not any((xy, xz, yz)):
        moments = {"xx": xx, "yy": yy, "zz": zz}
        name, most = max(moments.items(), key=itemgetter(1))
        rest = sum(moments.values()) - most
        if rest == 0.0 or most <= rest + _INERTIA_TOLERANCE * (most + rest):
            return None
        others = " + ".join(other for other in moments if other != name)
        return f"breaks the triangle inequality: {name} = {most:g} is more than {others} = {rest:g}"
    # With products: the density's second moments Σ = tr(I)/2 1 - I must be positive semidefinite (Wensing, Kim
    # and Slotine, 2018), which is the triangle inequality on the principal moments.
    half = (xx + yy + zz) / 2
    a, b, c, d, e, f = half - xx, half - yy, half - zz, -xy, -xz, -yz
    scale = half or max(abs(xy), abs(xz), abs(yz))
    minors = (a, b, c, a * b - d * d, a * c - e * e, b * c - f * f)
    determinant = a * (b * c - f * f) - d * (d * c - f * e) + e * (d * f - b * e)
    orders = (1, 1, 1, 2, 2, 2)
    bad = any(minor < -_INERTIA_TOLERANCE * scale**order for minor, order in zip(minors, orders, strict=True))
    if bad or determinant < -_INERTIA_TOLERANCE * scale**3:
        return "its principal moments break the triangle inequality (or are negative)"
    return None


def _wheel_inertia(path: Path, wheel: RollingWheel, values: ParameterNumbers) -> Iterator[Mistake]:
    """A wheel's moment about its axle may be twice that about a diameter at most, as a thin disc's is."""
    axle, diameter = wheel.moments(lambda value: values[value.key])
    if axle > 2 * diameter * (1 + _INERTIA_TOLERANCE):
        message = (
            f"breaks the triangle inequality: {axle:g} about the axle, only {diameter:g} about a diameter"
        )
        yield Mistake(path, message, "give both moments (a thin hoop has m r^2 and m r^2/2)")


def _axes(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    """Axes need a direction, and two axes of a joint must not be parallel."""
    for path, part in robot.every_component:
        keys = [key for key in ("axis", "axis2") if hasattr(part, key)]
        directions = [tuple(values[value.key] for value in getattr(part, key)) for key in keys]
        for key, direction in zip(keys, directions, strict=True):
            if math.hypot(*direction) < 1e-12:
                yield Mistake(
                    (*path, key), "the axis is a zero vector", f"write for example {key}: [0, 0, 1]"
                )
                return
        if isinstance(part, TwoAxisJoint) and _angle(*directions) < _PARALLEL:
            yield Mistake((*path, "axis2"), *part.parallel)


def _angle(a: tuple[float, ...], b: tuple[float, ...]) -> float:
    """Sine of the angle between two vectors."""
    (x, y, z), (u, v, w) = a, b
    across = math.hypot(y * w - z * v, z * u - x * w, x * v - y * u)
    return across / (math.hypot(*a) * math.hypot(*b))


def _limits(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    """A lower limit lies below the upper one."""
    for path, part in robot.every_component:
        if isinstance(part, (*LIMITED, ModuleLimits)) and part.lower is not None and part.upper is not None:
            lower, upper = values[part.lower.key], values[part.upper.key]
            if lower >= upper:
                message = f"the lower limit {lower:g} is not below the upper one, {upper:g}"
                yield Mistake((*path, "lower"), message, "swap them, or leave one out")


def _switches(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    """A battery switches off below the voltage at which it switches on, and has both without load."""
    for name, battery in robot.batteries.items():
        source, off, on = battery.open_circuit_voltage, battery.off_below, battery.on_above
        most = max(v for _, v in source) if isinstance(source, tuple) else values[source.key]
        for key, level in (("off_below", off), ("on_above", on)):
            if level is not None and values[level.key] >= most:
                message = (
                    f"the battery never has more than {values[level.key]:g} V: without load it has {most:g} V"
                )
                yield Mistake(("batteries", name, key), message, "its motors would stay off; write less")
        if on is not None and off is None:
            message = "on_above needs off_below, which switches the motors off"
            yield Mistake(("batteries", name, "on_above"), message, "write off_below, or leave on_above out")
        elif on is not None and off is not None and values[on.key] <= values[off.key]:
            message = f"{values[on.key]:g} V must be greater than off_below, {values[off.key]:g} V"
            yield Mistake(("batteries", name, "on_above"), message, "exchange them, or leave on_above out")


def _commands(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    """What limits a controller's command leaves something between."""
    if not robot.controllers:
        return
    from trundle.robot.linear_feedback import FeedbackRow  # late: most robots have no controllers
    from trundle.robot.pid import PidController

    for path, part in robot.every_component:
        if not isinstance(part, (PidController, FeedbackRow)) or part.lowest is None or part.highest is None:
            continue
        lowest, highest = values[part.lowest.key], values[part.highest.key]
        if lowest >= highest:
            message = f"lowest ({lowest:g}) is not below highest ({highest:g})"
            yield Mistake((*path, "lowest"), message, "exchange them, or leave one away")


def _couplings(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    """The wheels of an Ackermann linkage stand side by side, and not on the axle that it turns about."""
    for name, coupling in linkages(robot.couplings).items():
        left, right = (robot.wheels[wheel] for wheel in coupling.wheels)
        (left_x, left_y), (right_x, right_y) = (
            (values[wheel.at[0].key], values[wheel.at[1].key]) for wheel in (left, right)
        )
        path: Path = ("couplings", name)
        if abs(left_x - right_x) > _HEIGHT_TOLERANCE:
            message = f"the wheels are not side by side: x = {left_x:g} and {right_x:g}"
            yield Mistake((*path, "wheels"), message, "give both the same at.x")
        elif abs(left_x - values[coupling.axle.key]) < _HEIGHT_TOLERANCE:
            yield Mistake(
                (*path, "axle"),
                "the steered wheels stand on the fixed axle",
                "set axle to the other axle's x",
            )
        if left_y <= right_y:
            message = f"the left wheel's y = {left_y:g} is not greater than the right one's {right_y:g}"
            yield Mistake((*path, "wheels"), message, "name them [left, right]; y points left")


def _ratios(robot: Parts, values: Mapping[str, float]) -> Iterator[Mistake]:
    """Ratios that are zero: such a gear holds its follower and moves nothing."""
    for name, gear in gears(robot.couplings).items():
        for leader, ratio in gear.follows.items():
            if values[ratio.key] == 0.0:
                written = "0" if isinstance(ratio.source, float) else f"{ratio.source} = 0"
                message = f"a ratio must not be zero, got {written}"
                yield Mistake(("couplings", name, "follows", leader), message, "take it out of 'follows'")


def _ground(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    """Wheels of a planar base touch one ground, and no joint under them lifts or tilts them."""
    if robot.base == "floating":
        return
    for name, wheel in robot.wheels.items():
        for joint in chain(robot, stance(robot, wheel, lambda value: values[value.key])[0]):
            if not is_vertical_axis(robot, joint, values):
                message = f"the wheel would leave the ground when the joint {joint!r} moves or tilts it"
                yield Mistake(
                    ("wheels", name, "parent"),
                    message,
                    "mount wheels on joints about z only, without roll or pitch, or on hinges about their own axles",
                )
                return
    heights, most = _heights(robot, values)
    near = {z: [name for name, other in heights.items() if abs(other - z) < most] for z in heights.values()}
    # the height that most wheels share is the ground; the others are off it
    ground = max(near, key=lambda z: len(near[z]), default=0.0)
    standing = near.get(ground, [])
    for name, height in heights.items():
        if name not in standing:
            message = f"stands off the ground: it touches z = {height:g}, {', '.join(standing)} {ground:g}"
            z = values[robot.wheels[name].at[2].key] + ground - height
            radius = values[robot.wheels[name].radius.key] + height - ground
            other = f"give it the radius {radius:g} m" if radius > 0 else "change its radius"
            leading = next((r for other in standing if (r := robot.wheels[other].radius).names), None)
            if leading is not None and not robot.wheels[name].radius.names:
                less = radius - values[leading.key]
                other += (
                    f"; radius: {leading.source} {'-' if less < 0 else '+'} {abs(less):g} follows the others"
                )
            yield Mistake(("wheels", name), message, f"put its centre at.z = {z:g}, or {other}")


def _heights(robot: Parts, values: ParameterNumbers) -> tuple[dict[str, float], float]:
    """How high wheels touch the ground (m), all joints at zero, and by how much they may differ."""
    heights: dict[str, float] = {}
    places = [(0.0, 0.0)] * (not robot.wheels)
    for name, wheel in robot.wheels.items():
        x, y, z = (values[value.key] for value in wheel.at)
        joints = chain(robot, wheel.parent)
        heights[name] = z - values[wheel.radius.key] + sum(values[robot.joints[j].at[2].key] for j in joints)
        places.append(shifted(*pose_of(robot, wheel.parent, lambda value: values[value.key]), x, y))
    size = math.hypot(*(max(each) - min(each) for each in zip(*places, strict=True)))
    return heights, max(_TILT * size, _HEIGHT_TOLERANCE)


def tilt(robot: Parts, scope: ParameterNumbers) -> Iterator[Mistake]:
    """That wheels of a planar base touch the ground at heights that differ, which is no mistake."""
    values, problems = numbers(robot, scope)
    if problems or robot.base != "planar" or not robot.wheels:
        return
    heights, most = _heights(robot, values)
    apart = max(heights.values()) - min(heights.values())
    if apart > max(_HEIGHT_TOLERANCE, most / 10):  # less than that is rounding of lengths
        angle = math.degrees(_TILT * apart / most)
        note = f"its wheels' heights differ by {1e3 * apart:.2g} mm, a tilt of {angle:.2g}°: it is taken as level"
        yield Mistake(("wheels",), note)


def dynamic_problems(robot: Parts, scope: ParameterNumbers | None = None) -> list[Mistake]:
    """What keeps a robot from being simulated with forces: motions that no mass opposes.

    A kinematic run needs none of this, so it isn't part of the robot's own checks.
    """
    values, problems = numbers(robot, robot.own_numbers if scope is None else scope)
    if problems:
        return problems
    opposed = _opposed(robot, values)
    return [*_base_mass(robot, values), *_joint_mass(robot, opposed), *_wheel_mass(robot, opposed)]


def require_dynamic(robot: Parts, scope: ParameterNumbers | None = None) -> None:
    """Raise InputError where `dynamic_problems` finds something.

    Parameters
    ----------
    robot : Robot
        To be derived.
    scope : mapping of str to float, optional
        Values of parameters instead of its own.

    Raises
    ------
    InputError
        Each problem, with its key.

    Examples
    --------
    >>> import trundle
    >>> from trundle.robot import require_dynamic
    >>> require_dynamic(trundle.catalog.pendulum())
    """
    problems = dynamic_problems(robot, scope)
    if problems:
        raise report(problems)


def require_base_mass(robot: Parts) -> None:
    """Raise InputError for a base that may move and that nothing resists: described for its kinematics alone.

    Parameters
    ----------
    robot : Robot
        To be derived.

    Raises
    ------
    InputError
        Nothing on a base that may move has a mass.

    Examples
    --------
    >>> import trundle
    >>> from trundle.robot import require_base_mass
    >>> require_base_mass(trundle.catalog.swerve())
    """
    values, problems = numbers(robot, robot.own_numbers)
    problems = problems or list(_base_mass(robot, values))
    if problems:
        raise report(problems)


def _base_mass(robot: Parts, values: ParameterNumbers) -> Iterator[Mistake]:
    """A base that moves has a mass to resist it."""
    if robot.base == "fixed":
        return
    massive = [body for body in base_bodies(robot) if values[body.mass.key]]
    if not massive:
        path: Path = () if robot.body is None else ("body", "mass")
        message = f"a {robot.base} base needs a body with a mass greater than zero"
        yield Mistake(path, message, "write body: {mass: ..., inertia: {zz: ...}}")
        return
    moving = any(joint.speeds for joint in robot.joints.values())
    if len(massive) > 1 or moving or any(values[wheel.mass.key] for wheel in robot.wheels.values()):
        return
    needed = ("xx", "yy", "zz") if robot.base == "floating" else ("zz",)
    if any(values[getattr(massive[0].inertia, axes).key] == 0.0 for axes in needed):
        message = f"nothing resists turning: inertia {', '.join(needed)} must be greater than zero"
        yield Mistake(("body", "inertia"), message)


def _has_mass(body: Body, values: ParameterNumbers) -> bool:
    inertia = body.inertia
    return any(values[value.key] for value in (body.mass, inertia.xx, inertia.yy, inertia.zz))


def _opposed(robot: Parts, values: ParameterNumbers) -> set[str]:
    """Everything a motor could drive whose motion some mass opposes, its own or one that a gear ties to it; and the
    joints that carry one.
    """
    carries = _carrying(robot, values)
    direct = {
        motor.drives
        for name, motor in robot.motors.items()
        if ask(motor, f"motors.{name}", motor.armature, lambda value: values[value.key])
    }
    direct |= carries | {
        name + ending
        for name, joint in robot.joints.items()
        for ending, (_, part) in drive_axes(joint).items()
        if name in carries or values[part.armature.key]
    }
    direct.update(*(_opposed_wheel(name, wheel, values) for name, wheel in robot.rolling.items()))
    return direct | {name for name, group in tied(robot).items() if group & direct}


def _carrying(robot: Parts, values: ParameterNumbers) -> set[str]:
    """The joints with a mass behind them."""
    known = body_names(robot)
    carried = [(name, _has_mass(joint.body, values)) for name, joint in robot.joints.items()]
    carried += [(known[wheel.parent], values[wheel.mass.key] > 0) for wheel in robot.wheels.values()]
    # what a loop is pinned to resists too; whether that is enough is seen when the equations are there
    carried += [(known[end.body], True) for loop in robot.loops.values() for end in (loop.first, loop.second)]
    carriers: set[str] = set()
    for name in (name for name, massive in carried if massive):
        while name != "base" and name not in carriers:
            carriers.add(name)
            name = known[robot.joints[name].parent]
    return carriers


def _opposed_wheel(name: str, wheel: RollingWheel, values: ParameterNumbers) -> Iterator[str]:
    """A wheel's spin and steering, as far as its own mass opposes them, or the robot's where it can't slip."""
    axle, diameter = wheel.inertia.axle, wheel.inertia.diameter
    massive, ideal = values[wheel.mass.key] > 0, wheel.law.rolls
    if ideal or (massive if axle is None else values[axle.key] > 0):
        yield name
    if isinstance(wheel, PivotedWheel):
        trails = wheel.is_caster and (massive or ideal)
        turns = massive if diameter is None else values[diameter.key] > 0
        if trails or turns or values[wheel.fork.inertia.zz.key] > 0:
            yield f"{name}.steering"


def _joint_mass(robot: Parts, opposed: set[str]) -> Iterator[Mistake]:
    """What a joint moves has a mass or an inertia."""
    for name, joint in robot.joints.items():
        driven = [name + ending for ending in drive_axes(joint)]
        if not opposed.issuperset(driven or ([name] if joint.speeds else [])):
            message = (
                f"nothing behind the joint {name!r} has a mass, so forces would accelerate it without bound"
            )
            yield Mistake(
                ("joints", name), message, "give its body a mass and an inertia, or the joint an armature"
            )


def _wheel_mass(robot: Parts, opposed: set[str]) -> Iterator[Mistake]:
    """What spins and steers a wheel meets an inertia."""
    for name, wheel in robot.rolling.items():
        if name not in opposed:
            message = (
                f"a wheel with contact: {wheel.law.type} needs inertia: forces would spin it up without bound"
            )
            yield Mistake(("wheels", name), message, "give it a mass, or inertia: {axle: ...}")
        if isinstance(wheel, PivotedWheel) and f"{name}.steering" not in opposed:
            message = "nothing resists steering it: forces would turn it without bound"
            yield Mistake(("wheels", name), message, "give it a mass, or fork: {inertia: {zz: ...}}")
