"""What a robot needs for a run over terrain: contacts, laws that give forces, heights, inertias, soil that carries."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from trundle.choices import Mode
from trundle.errors import InputError, warn
from trundle.mechanics.frames import world_poses
from trundle.mechanics.momentum import weight
from trundle.mechanics.wheels import WheelModel
from trundle.model.mechanism import Mechanism, mechanism
from trundle.robot import Robot
from trundle.robot.bodies import MOMENTS, Inertia
from trundle.robot.contact import Bearing
from trundle.robot.problems import Mistake, report
from trundle.robot.structure import has_heights
from trundle.robot.terrain import Ground, Terrain
from trundle.scalars import Scalar, plus, times

# Random points at which a surface is looked at, the step of differences (m), and by how much they may be off.
_POINTS, _NEAR, _APART = 8, 1e-5, 1e-3
# Contacts that a base needs to stand on.
_STANDS = 3


def require_ground(described: Robot, numbers: Mechanism, terrain: Terrain, mode: Mode) -> None:
    """Raise InputError for what no run over terrain can do, and for all that a robot lacks for one."""
    if not numbers.assembly.wheels:
        raise InputError(
            f"'{described.name}' has no wheels and no feet: nothing of it touches the terrain",
            key="robot.wheels",
            hint="say what does: wheels: {toe: {type: foot, parent: LINK, at: [0, 0, -0.1], radius: 2 cm}}; "
            "a URDF file's collision spheres are feet by themselves",
        )
    for ground in terrain.grounds:
        _check_slopes(ground)
    if described.loops:
        raise InputError("loops are not closed on terrain", key="robot.loops", hint="use couplings")
    for motor in numbers.assembly.actuators:
        rated = motor.motor.holds or (mode == "kinematic" and motor.motor.command == "rate")
        if rated and motor.shaft != motor.column:
            message = f"{motor.name!r} sets the rate of a wheel against another link, which terrain doesn't know yet"
            hint = "take mounted_on away, or give the motor type: velocity and the run mode: dynamic"
            raise InputError(message, key=f"{motor.key}.mounted_on", hint=hint)
    if mode == "kinematic":
        return
    if terrain.body_slip is not None:
        message = "body_slip stands in place of forces, and a dynamic run has forces"
        hint = "take it away, or write mode: kinematic under run"
        raise InputError(message, key="terrain.body_slip", hint=hint)
    lacks = [*_ideal(numbers), *_standing(described, numbers), *_heights(described), *_inertias(numbers)]
    if lacks:
        raise report([replace(mistake, path=("robot", *mistake.path)) for mistake in lacks])


def _check_slopes(ground: Ground) -> None:
    """A warning where most random points show that a surface of a user's own contradicts itself: that its normal isn't
    of length 1 or points inside, or that its gradient isn't ∂distance/∂p.
    """
    if all(type(surface).__module__.startswith("trundle.") for surface in ground.surfaces):
        return
    points = np.random.default_rng(0).uniform([-2.0, -2.0, -0.5], [2.0, 2.0, 0.5], (_POINTS, 3)).tolist()
    wrong = Counter(said for point in points for said in _contradictions(ground, point))
    for said, count in wrong.items():
        if count > _POINTS / 2:
            warn(
                f"the surface {ground.name!r} contradicts itself at {count} of {_POINTS} random points: {said}"
            )


def _contradictions(ground: Ground, point: Sequence[float]) -> Iterator[str]:
    """What a surface says of a point that can't be."""
    spot = ground.spot((point[0], point[1], point[2]))
    normal, gradient = (np.array([float(part) for part in each]) for each in (spot.normal, spot.gradient))  # pyright: ignore[reportArgumentType]
    distances = [
        float(ground.spot(tuple(np.add(point, sign * _NEAR * np.eye(3)[k]))).distance)  # pyright: ignore[reportArgumentType]
        for k in range(3)
        for sign in (1, -1)
    ]
    slopes = (np.array(distances[::2]) - distances[1::2]) / (2 * _NEAR)
    if not np.isfinite([*normal, *gradient, *distances]).all():
        yield "it isn't a number"
    elif abs(np.linalg.norm(normal) - 1) > _APART:
        yield "its normal isn't of length 1"
    elif normal @ slopes < 0:
        yield "its distance falls along its normal"
    elif np.abs(gradient - slopes).max() > _APART:
        yield "its gradient isn't the distance's derivative"


def _ideal(numbers: Mechanism) -> Iterator[Mistake]:
    """Wheels that roll ideally."""
    names = [wheel.name for wheel in numbers.assembly.wheels if wheel.law.rolls and wheel.directions]
    if names:
        who = f"the wheel {names[0]!r} rolls" if len(names) == 1 else f"the wheels {', '.join(names)} roll"
        message = f"{who} ideally, and forces on terrain come from slip"
        hint = "write contact: linear (or pacejka, soil, slip, bristle) among their keys; or mode: kinematic"
        yield Mistake(("wheels", names[0], "contact"), message, hint)


def _standing(described: Robot, numbers: Mechanism) -> Iterator[Mistake]:
    """A planar robot on two contacts, which something that wasn't described keeps upright."""
    contacts = [len(wheel.component.touches(wheel.read)) or 1 for wheel in numbers.assembly.wheels]
    if described.base == "planar" and sum(contacts) < _STANDS:
        message = f"it touches the ground at {sum(contacts)} points: nothing says what keeps it upright"
        hint = "describe what else it stands on: {caster: {type: ball, at: [0.3, 0, -0.1], radius: 0.05}}"
        yield Mistake(("wheels",), message, hint)


def _heights(described: Robot) -> Iterator[Mistake]:
    """A planar robot whose masses have no height: slopes load its wheels by it."""
    if described.base == "planar" and not has_heights(described):
        message = "the body's center_of_mass has no height, and how slopes load the wheels hangs on it"
        hint = "write its height above the base's frame, such as center_of_mass: [0, 0, 0.2]"
        yield Mistake(("body", "center_of_mass"), message, hint)


def _inertias(numbers: Mechanism) -> Iterator[Mistake]:
    """Bodies with a moment about one axis alone, which is all that a motion on a plane needs."""
    values = numbers.robot.parameter_values()
    read = numbers.robot.resolver(values)
    for path, component in numbers.robot.every_component:
        if not isinstance(component, Inertia) or component.as_given:
            continue
        moments = {axes: float(read(getattr(component, axes))) for axes in MOMENTS}
        given = [axes for axes, moment in moments.items() if moment]
        if len(given) == 1:
            lacking = [axes for axes in MOMENTS[:3] if axes not in given]
            message = f"a body has an inertia {given[0]} alone, and over terrain it turns about all axes"
            yield Mistake(
                path, message, f"write {' and '.join(lacking)}, too: {given[0]} <= {' + '.join(lacking)}"
            )


def require_carried(robot: Robot, parameters: Mapping[str, Scalar], lost: np.ndarray | None = None) -> None:
    """Raise InputError for a robot whose wheels would sink into their soil by more than their radius; parameters are
    numbers, or arrays (robots,). With truths `lost` (robots,) those of arrays become true, and nothing is raised.

    All that wheels carry there as they roll without slip is set against the weight, however it is spread among them.
    """
    if not all(wheel.law.carries for wheel in robot.wheels.values()):
        return
    own = {name: parameters[name] for name in robot.parameter_values()}
    with np.errstate(all="ignore"):
        numbers = mechanism(robot, own, terrain=True)
        weak = np.logical_not(_soil_load(numbers, 1.0) >= _weight(numbers))
    if lost is not None and any(map(np.ndim, own.values())):
        lost |= weak
    elif np.any(weak):
        lane = int(np.argmax(weak))
        who = f"robot {lane} of " if np.size(weak) > 1 else ""
        raise _too_weak(robot, {name: float(np.ravel(v)[lane % np.size(v)]) for name, v in own.items()}, who)


def _weight(numbers: Mechanism) -> Scalar:
    """What the robot weighs (N)."""
    tree = numbers.assembly.tree
    return weight(tree, world_poses(tree, numbers.at.poses))


def _soil_load(numbers: Mechanism, share: float, firm: float | None = None) -> Scalar:
    """What soil carries (N) where wheels that roll without slip are in by a share of their radii; with a `firm` number
    in place of the one in which laws are linear.
    """
    total: Scalar = 0
    for wheel in numbers.assembly.wheels:
        states = {state.name: state.start for state in wheel.states.values()}
        bearing = Bearing(share * wheel.radius, 0.0, 1.0, 0.0)
        still = [0.0] * len(wheel.directions)
        count = len(wheel.component.touches(wheel.read)) or 1
        load = _firmer(wheel, firm).push(still, 0.0, 1.0, states, bearing).load
        total = plus(total, times(count, load))
    return total


def _firmer(wheel: WheelModel, firm: float | None) -> WheelModel:
    if firm is None:
        return wheel
    field, read = getattr(wheel.law, wheel.law.firmness), wheel.read
    return replace(wheel, read=lambda value: firm if value is field else read(value))


# A modulus (N/m^(n+1)) at which, and at twice which, the line of the load is found: no robot is too heavy for it.
_FIRM = 1e9


def _too_weak(robot: Robot, parameters: Mapping[str, float], who: str) -> InputError:
    """What to say of soil that can't carry a robot, and which number would do."""
    numbers = mechanism(robot, parameters, terrain=True)
    carried, heavy, wheel = _soil_load(numbers, 1.0), _weight(numbers), numbers.assembly.wheels[0]
    message = (
        f"the soil carries {carried:.4g} of {heavy:.4g} N at a sinkage of the whole radius: "
        f"the wheels of {who}'{robot.name}' would sink out of sight"
    )
    field = wheel.law.firmness
    if any(each.law.firmness != field for each in numbers.assembly.wheels) or not field:
        return InputError(
            message, key=wheel.key, hint="make the soil firmer, the wheels larger, or the robot lighter"
        )

    def least(share: float) -> float:
        once, twice = (_soil_load(numbers, share, firm) for firm in (_FIRM, 2 * _FIRM))
        needed = _FIRM + _FIRM * (heavy - once) / (twice - once)
        unit = 10.0 ** (math.floor(math.log10(needed)) - 2)
        return unit * math.ceil(needed / unit)

    hint = f"a {field} of at least {least(1.0):.3g} would carry it, {least(0.5):.3g} at a sinkage of half the radius"
    return InputError(message, key=f"robot.wheels.{wheel.name}.{field}", hint=hint)
